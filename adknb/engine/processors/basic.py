"""The config: a copy of the agent's, so that nothing later touches what was configured.

Go: internal/llminternal/basic_processor.go, basicRequestProcessor
"""

from __future__ import annotations

from typing import Any

from google.genai import types

from adknb.engine.context import InvocationContext
from adknb.engine.llm_settings import TASK, settings_of
from adknb.engine.model import LLMRequest
from adknb.engine.processors.output_schema import needs_fallback


def basic(ctx: InvocationContext, request: LLMRequest, flow: Any) -> None:
    """Start the config; ask for JSON directly when the agent has an output schema and the model can take it.

    A task agent carries its schema in `finish_task` instead; where a tool must carry it, `output_schema` does.

    Spec: request.md §2
    """
    agent = settings_of(ctx.agent)
    if agent is None:
        return
    configured = agent.generate_content_config
    request.config = configured.model_copy(deep=True) if configured else types.GenerateContentConfig()
    if agent.output_schema is not None and agent.mode != TASK and not needs_fallback(agent):
        request.config.response_schema = agent.output_schema.model_copy(deep=True)
        request.config.response_mime_type = "application/json"
