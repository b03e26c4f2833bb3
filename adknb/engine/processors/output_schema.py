"""Structured output by a tool, where the model cannot take a schema beside tools.

Go: internal/llminternal/outputschema_processor.go, outputSchemaRequestProcessor, needOutputSchemaProcessor;
internal/llminternal/googlellm/variant.go

The answer of `set_model_response` is taken by name only: an error, or another tool of that name, becomes the final
text just the same (seed 000, 四.6.2).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from google.genai import types

from adknb.engine.context import Context, InvocationContext
from adknb.engine.event import Event, function_responses_of
from adknb.engine.go_text import go_json
from adknb.engine.llm_settings import TASK, LlmSettings, backend_of, settings_of
from adknb.engine.schema import check_strict
from adknb.engine.tool import Tool

if TYPE_CHECKING:
    from adknb.engine.model import LLMRequest

SET_MODEL_RESPONSE = "set_model_response"


def output_schema(ctx: InvocationContext, request: LLMRequest, flow: Any) -> None:
    """Add `set_model_response` and say that the final answer goes through it.

    Raises:
        DuplicateTool: an agent's own tool has that name.
    """
    agent = settings_of(ctx.agent)
    if agent is None or agent.output_schema is None or not needs_fallback(agent):
        return
    request.pack_tool(SetModelResponse(agent.output_schema))
    request.append_instructions(
        f"Your final answer must be given in a required structure: call the tool {SET_MODEL_RESPONSE} with it. "
        "You may use other tools first, but do not answer in plain text."
    )


def needs_fallback(agent: LlmSettings) -> bool:
    """Whether a tool must carry the schema (spec/request.md R6.1; R6.2 for model names).

    Needed: a schema, not declared task, some tool or toolset (delegation tools count), and a Gemini model that is not
    2.0 or newer on Vertex.
    """
    if agent.output_schema is None or agent.mode == TASK or agent.model is None:
        return False
    if not (agent.tools or agent.toolsets):
        return False
    name = agent.model.name.rsplit("/", 1)[-1].lower()
    if not name.startswith("gemini-"):
        return False
    return not (backend_of(agent.model) == "vertex" and _version(name) >= 2.0)


def _version(name: str) -> float:
    """`gemini-2.5-flash` -> 2.5; no number -> 0."""
    found = re.match(r"gemini-(\d+(?:\.\d+)?)", name)
    return float(found.group(1)) if found else 0.0


class SetModelResponse(Tool):
    """Takes the final answer as its arguments.

    Go: internal/llminternal/outputschema_processor.go, setModelResponseTool
    """

    name = SET_MODEL_RESPONSE
    description = "Gives the final answer in the required structure. Call it once everything else is done."

    def __init__(self, schema: types.Schema) -> None:
        self.schema = schema

    def declaration(self) -> types.FunctionDeclaration:
        """The output schema itself is the schema of the parameters (R6.3)."""
        return types.FunctionDeclaration(
            name=self.name,
            description=self.description,
            parameters_json_schema=self.schema.model_dump(mode="json", by_alias=True, exclude_none=True),
        )

    def run(self, ctx: Context, args: dict[str, Any]) -> dict[str, Any]:
        """Valid arguments are the answer. Raises ValueError otherwise."""
        check_strict(args, self.schema)
        return args


def structured_answer(event: Event) -> str | None:
    """The text of the first `set_model_response` answer of a tool event, if there is one (R6.5).

    Go: internal/llminternal/outputschema_processor.go, retrieveStructuredModelResponse
    """
    for response in function_responses_of(event.content):
        if response.name == SET_MODEL_RESPONSE:
            return go_json(response.response)
    return None
