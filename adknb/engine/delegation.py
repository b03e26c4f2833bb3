"""Delegation: an agent declared task or single_turn is a tool of its parent. Here are the tools.

Go: agent/llmagent/llmagent.go, New, ProcessLLMAgentOutput; internal/workflowinternal/task_agent_tool.go, TaskAgentTool;
internal/workflowinternal/single_turn_tool.go; internal/workflowinternal/finish_task_tool.go, FinishTaskTool

A *task* is a conversation of its own, in the isolation scope named by the call's id: it may ask the user back, over
several turns, and ends with `finish_task`; its parent's run (coordinator.py) runs it. A *single_turn* agent is an
ordinary tool call on a branch of its own.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, NoReturn

from google.genai import types

from adknb.engine.agent import Agent
from adknb.engine.context import Context, InvocationContext
from adknb.engine.errors import FlowError
from adknb.engine.event import Event, function_calls_of, visible_text_of
from adknb.engine.go_text import as_go_reads_json, go_json
from adknb.engine.llm_settings import SINGLE_TURN, TASK, LlmSettings, backend_of, delegates_to, settings_of
from adknb.engine.model import LLMRequest
from adknb.engine.schema import check_strict
from adknb.engine.stops import Seam, Steps, Stop, call
from adknb.engine.tool import Tool

FINISH_TASK = "finish_task"
TASK_FINISHED = "The task is finished; its result has been handed back."
"""The sentence by which a successful `finish_task` is recognised."""


@dataclass
class Delegation:
    """What delegation keeps over one turn of an LLM root.

    `runs`: how often each single_turn agent ran. `outcomes`: (agent, call id) -> what a task call came to.
    `of_children`: ids of events that delegated children have given. They pass through the run of whoever delegates,
    which must not take them for its own. `refused`: such an event has not been taken, and no more will be.
    `started_at`: how many events were stored when the turn began.
    """

    started_at: int = 0
    runs: dict[str, int] = field(default_factory=dict)
    outcomes: dict[tuple[str, str], Outcome] = field(default_factory=dict)
    of_children: set[str] = field(default_factory=set)
    refused: bool = False

    def hand_up(self, item: Any) -> Steps[None]:
        """Pass up what a child has given. Raises FlowError if it is an event, and is not taken."""
        if not isinstance(item, Stop):
            self.of_children.add(item.id)
        yield item
        if self.refused and not isinstance(item, Stop):
            raise FlowError("the event of a delegated agent was not taken")


@dataclass
class Outcome:
    """What a task call came to: finished with a value, asking back, or waiting for somebody's answer to a call."""

    finished: bool = False
    value: Any = None
    waits: bool = False


# ---------------------------------------------------------------------------------------------------------- the tools


def delegation_tools(agent: Agent, mode: str, output_schema: types.Schema | None) -> list[Tool]:
    """`finish_task` for a task agent, then a tool for each direct sub-agent that is delegated to (R8.5)."""
    found: list[Tool] = [FinishTask(output_schema)] if mode == TASK else []
    for child in agent.sub_agents:
        if delegates_to(child):
            found.append(TaskTool(child) if settings(child).mode == TASK else SingleTurnTool(child))
    return found


def settings(agent: Agent) -> LlmSettings:
    """The settings of an agent that is known to be an LLM agent."""
    found = settings_of(agent)
    assert found is not None
    return found


class DelegationTool(Tool):
    """A sub-agent under its own name. Parameters: its input schema, else one required text `request`."""

    def __init__(self, child: Agent) -> None:
        self.child = child
        self.name = child.name
        self.description = child.description

    def parameters(self, about: str = "") -> dict[str, Any]:
        """The JSON schema of the call's arguments."""
        schema = settings(self.child).input_schema
        if schema is not None:
            return _json_schema(schema)
        request = {"type": "string", **({"description": about} if about else {})}
        return {"type": "object", "properties": {"request": request}, "required": ["request"]}


class TaskTool(DelegationTool):
    """Starts a task. The tool itself never answers: the coordinator's run supplies the answer later (R8.6)."""

    is_task = True

    def run(self, ctx: Context, args: dict[str, Any]) -> None:
        """Reached only where nobody may delegate a task: nothing runs, and there is no answer (11.2)."""

    def declaration(self) -> types.FunctionDeclaration:
        """The child's description with a note, and what type of result to expect."""
        child = settings(self.child)
        note = "Delegates to this specialist agent. Do not call it in parallel with other tools."
        result = (
            None if backend_of(child.model) == "gemini_api" else {"type": "object" if child.output_schema else "string"}
        )
        return types.FunctionDeclaration(
            name=self.name,
            description=f"{self.description}\n{note}".strip(),
            parameters_json_schema=self.parameters("What the specialist is to do."),
            response_json_schema=result,
        )


class SingleTurnTool(DelegationTool):
    """Runs the child once, inside the call.

    Go: internal/workflowinternal/single_turn_tool.go
    """

    def declaration(self) -> types.FunctionDeclaration:
        """The child's own description, verbatim."""
        return types.FunctionDeclaration(
            name=self.name, description=self.description or None, parameters_json_schema=self.parameters()
        )

    def run(self, ctx: Context, args: dict[str, Any]) -> Steps[dict[str, Any]]:
        """Run the child on branch `name@n`; its events go up while this call is still open (spec/execution.md 11.20).

        Its request starts from the arguments, as a user text that only it sees. The last text it gives is the result.

        Raises:
            ValueError: the arguments, or the output, do not fit the schema.
            FlowError: nothing may be delegated here.
        """
        invocation, child = ctx.invocation, self.child
        if invocation.delegation is None:
            raise FlowError(f"agent {child.name!r} cannot be delegated to from here: delegation is one level deep")
        check_strict(args, settings(child).input_schema or _REQUEST)
        runs = invocation.delegation.runs
        runs[child.name] = runs.get(child.name, 0) + 1
        branch = ".".join(filter(None, (invocation.branch, f"{child.name}@{runs[child.name]}")))
        given = types.Content(role="user", parts=[types.Part(text=go_json(args))])
        asked = invocation.new_event(author="user", content=given)
        asked.branch = ""
        child_ctx = invocation.derive(
            branch=branch,
            binding=(child.name, SINGLE_TURN),
            user_content=given,
            delegation=None,
            private_events=[asked],
            private_after=len(invocation.session.events),
        )
        output = yield from call(
            Seam.DELEGATE,
            child.name,
            self._run_child,
            child_ctx,
            invocation.delegation,
            agent=child,
            ctx=ctx,
            args=args,
        )
        return {"result": output}

    def _run_child(self, ctx: InvocationContext, delegation: Delegation) -> Steps[Any]:
        output = None
        for item in self.child.run(ctx):
            if not isinstance(item, Stop) and is_an_answer(item):
                output = output_of(self.child, item)
            yield from delegation.hand_up(item)
        return output


def is_an_answer(event: Event) -> bool:
    """A whole event of the model's role without calls: what a single_turn agent's output is read from (11.23)."""
    content = event.content
    return not event.partial and content is not None and content.role == "model" and not function_calls_of(content)


def output_of(agent: Agent, event: Event) -> Any:
    """What an answer of a single_turn agent comes to; it is written under the output key, too (11.23).

    The visible text; with an output schema the object that it is the JSON of. A blank text stays a text and is not
    written then.

    Raises:
        ValueError: the text is no JSON, or does not fit the schema.

    Go: agent/llmagent/llm_agent_wrapper.go, ProcessLLMAgentOutput
    """
    given = settings(agent)
    output: Any = visible_text_of(event.content)
    if given.output_schema is not None:
        if not output.strip():
            return output
        output = as_go_reads_json(json.loads(output, parse_constant=_not_json))
        check_strict(output, given.output_schema, "output")
    if given.output_key:
        event.actions.state_delta[given.output_key] = output
    return output


def _not_json(word: str) -> NoReturn:
    raise ValueError(f"output: {word} is no JSON value")


class FinishTask(Tool):
    """Ends a task; the arguments are its result. A schema that is no object is wrapped under `result` (R8.7).

    Go: internal/workflowinternal/finish_task_tool.go, FinishTaskTool
    """

    name = FINISH_TASK

    def __init__(self, schema: types.Schema | None) -> None:
        self.wraps = schema is not None and (schema.type or "").upper() != "OBJECT"
        inner = schema or types.Schema(type=types.Type.STRING, description="The result of the task.")
        self.schema = inner
        if schema is None or self.wraps:
            self.schema = types.Schema(type=types.Type.OBJECT, properties={"result": inner}, required=["result"])
        self.description = "Signals that the delegated task is complete." + (
            " Give the result in the parameters." if schema else ""
        )

    def declaration(self) -> types.FunctionDeclaration:
        """The schema of the result."""
        return types.FunctionDeclaration(
            name=self.name, description=self.description, parameters_json_schema=_json_schema(self.schema)
        )

    def process_request(self, ctx: Context, request: LLMRequest) -> None:
        """Add oneself, and say how a task ends (R8.8)."""
        request.pack_tool(self)
        request.append_instructions(
            f"Complete the task you were given before anything else; if something is unclear, ask the user. Then call "
            f"the tool {FINISH_TASK}, alone and without other text."
        )

    def run(self, ctx: Context, args: dict[str, Any]) -> dict[str, Any]:
        """The sentence of success, or an error that invites another try: the task goes on then (R8.9)."""
        try:
            check_strict(args, self.schema)
        except ValueError as error:
            return {"error": f"the result does not fit: {error}. Correct it and call {FINISH_TASK} again."}
        return {"result": TASK_FINISHED}

    def value_of(self, args: dict[str, Any]) -> Any:
        """The result that the arguments of a successful call stand for."""
        return args["result"] if self.wraps and "result" in args else args


_REQUEST = types.Schema(
    type=types.Type.OBJECT, properties={"request": types.Schema(type=types.Type.STRING)}, required=["request"]
)


def _json_schema(schema: types.Schema) -> dict[str, Any]:
    return schema.model_dump(mode="json", by_alias=True, exclude_none=True)
