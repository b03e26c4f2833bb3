"""Delegation: an agent declared task or single_turn is a tool of its parent.

Go: agent/llmagent/llmagent.go, New, llmAgent.RunNode; internal/workflowinternal/task_agent_tool.go, TaskAgentTool;
internal/workflowinternal/single_turn_tool.go; internal/workflowinternal/finish_task_tool.go, FinishTaskTool

A *task* is a conversation of its own, in the isolation scope named by the call's id: it may ask the user back, over
several turns, and ends with `finish_task`. A *single_turn* agent is an ordinary tool call on a branch of its own.
"""

from __future__ import annotations

import json
import re
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from typing import Any

from google.genai import types

from adknb.engine.agent import Agent
from adknb.engine.context import Context, InvocationContext
from adknb.engine.errors import FlowError
from adknb.engine.event import Event, function_calls_of, function_responses_of, visible_text_of
from adknb.engine.go_text import go_json
from adknb.engine.llm_settings import CHAT, SINGLE_TURN, TASK, LlmSettings, backend_of, delegates_to, settings_of
from adknb.engine.model import LLMRequest
from adknb.engine.schema import check_strict
from adknb.engine.stops import Seam, Steps, Stop, call
from adknb.engine.tool import Tool

FINISH_TASK = "finish_task"
TASK_FINISHED = "The task is finished; its result has been handed back."
"""The sentence by which a successful `finish_task` is recognised."""


@dataclass
class Delegation:
    """What delegation keeps over one turn: how often each single_turn agent ran, what each task call came to."""

    runs: dict[str, int] = field(default_factory=dict)
    outcomes: dict[tuple[str, str], Outcome] = field(default_factory=dict)


@dataclass
class Outcome:
    """What a task call came to: finished with a value, or paused."""

    finished: bool
    value: Any = None


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
        output = yield from call(Seam.DELEGATE, child.name, self._run_child, child_ctx, agent=child, ctx=ctx, args=args)
        return {"result": output}

    def _run_child(self, ctx: InvocationContext) -> Steps[Any]:
        output, key = None, settings(self.child).output_key
        for item in self.child.run(ctx):
            if not isinstance(item, Stop) and _is_an_answer(item):
                text = visible_text_of(item.content)
                schema = settings(self.child).output_schema
                output = text
                if schema is not None and text.strip():
                    output = json.loads(text)
                    check_strict(output, schema, "output")
                if key and not (schema is not None and not text.strip()):
                    item.actions.state_delta[key] = output
            yield item
        return output


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
        return args.get("result") if self.wraps else args


_REQUEST = types.Schema(
    type=types.Type.OBJECT, properties={"request": types.Schema(type=types.Type.STRING)}, required=["request"]
)


def _json_schema(schema: types.Schema) -> dict[str, Any]:
    return schema.model_dump(mode="json", by_alias=True, exclude_none=True)


def _is_an_answer(event: Event) -> bool:
    """A whole event of the model's role without calls: what a single_turn agent's output is read from (11.23)."""
    content = event.content
    if event.partial or content is None or function_calls_of(content) or function_responses_of(content):
        return False
    return content.role in ("model", "", None)


# ---------------------------------------------------------------------------------------------------- the coordinator


def coordinate(agent: Agent, ctx: InvocationContext) -> Generator[Any, None, None]:
    """Run an LLM agent as a node: what it delegates as tasks is run between its own runs (11.3, 11.4, 11.10).

    Tasks left open are gone on with first. A call of a task abandons the agent's step; when all called tasks are
    finished the agent starts over, with `before_agent` and a fresh Flow; when one is not, the run ends there.

    Raises:
        FlowError: a task is called where nothing can be delegated, or under an id that cannot be a scope.

    Go: agent/llmagent/llmagent.go, llmAgent.RunNode
    """
    tasks = {child.name: child for child in agent.sub_agents if delegates_to(child) and settings(child).mode == TASK}
    if not tasks or getattr(agent, "mode", "") not in ("", CHAT):
        yield from agent.run(ctx)
        return
    if ctx.delegation is not None and not (yield from _run_tasks(ctx, agent, tasks, _open_calls(ctx, agent, tasks))):
        return
    while True:
        called: list[types.FunctionCall] = []
        run = agent.run(ctx)
        for item in run:
            yield item
            if not isinstance(item, Stop) and item.author == agent.name and not item.partial:
                called = [c for c in function_calls_of(item.content) if c.name in tasks]
                if called:
                    break
        run.close()  # abandons the step: no other call of that answer runs, and no after_agent
        if not called:
            return
        if ctx.delegation is None:
            raise FlowError(
                f"agent {agent.name!r} called task {called[0].name!r}, but no task can be run under a workflow root"
            )
        if not (yield from _run_tasks(ctx, agent, tasks, called)):
            return


def _open_calls(ctx: InvocationContext, agent: Agent, tasks: dict[str, Agent]) -> list[types.FunctionCall]:
    """Task calls of this agent that have no answer yet, in order."""
    answered = {r.id for e in ctx.session.events for r in function_responses_of(e.content)}
    return [
        c
        for e in ctx.session.events
        if e.author in (agent.name, "user")
        for c in function_calls_of(e.content)
        if c.name in tasks and c.id not in answered
    ]


def _run_tasks(
    ctx: InvocationContext, agent: Agent, tasks: dict[str, Agent], calls: Sequence[types.FunctionCall]
) -> Steps[bool]:
    """Run task calls one after the other; give each finished one its answer. False: one is not finished."""
    for function_call in calls:
        child = tasks[function_call.name or ""]
        key = (child.name, function_call.id or "")
        outcome = ctx.delegation.outcomes.get(key)
        if outcome is None:
            child_ctx = _task_context(ctx, child, function_call)
            outcome = yield from call(
                Seam.DELEGATE, child.name, _run_task, child, child_ctx, agent=child, ctx=ctx, args=function_call.args
            )
            ctx.delegation.outcomes[key] = outcome
        if not outcome.finished:
            return False
        value = outcome.value if isinstance(outcome.value, dict) else {"output": outcome.value}
        response = types.FunctionResponse(id=function_call.id, name=function_call.name, response=value)
        answer = ctx.new_event(
            author="user", content=types.Content(role="user", parts=[types.Part(function_response=response)])
        )
        answer.branch = answer.isolation_scope = ""
        yield answer
    return True


def _task_context(ctx: InvocationContext, child: Agent, function_call: types.FunctionCall) -> InvocationContext:
    """The scope of a task is its call's id. Raises FlowError for an id that cannot be one (11.5)."""
    scope = function_call.id or ""
    if not scope or scope.isdigit() or re.search(r"[/@]", scope):
        raise FlowError(
            f"task {child.name!r}: the call id {scope!r} cannot name a scope (digits only, or with '/' or '@')"
        )
    given = types.Content(role="user", parts=[types.Part(text=go_json(function_call.args or {}))])
    return ctx.derive(
        isolation_scope=scope, binding=(child.name, TASK), user_content=given, delegation=None, private_events=[]
    )


def _run_task(child: Agent, ctx: InvocationContext) -> Steps[Outcome]:
    """Run a task until it finishes, asks, or says nothing more; cut it off behind a successful `finish_task` (11.7)."""
    run = child.run(ctx)
    for item in run:
        yield item
        if not isinstance(item, Stop) and not item.partial and finishes(item):
            run.close()
            return Outcome(True, _finish_value(child, ctx))
    return Outcome(False)


def finishes(event: Event) -> bool:
    """Whether the *first* `finish_task` answer of an event is the success (11.8)."""
    first = next((r for r in function_responses_of(event.content) if r.name == FINISH_TASK), None)
    return first is not None and (first.response or {}).get("result") == TASK_FINISHED


def _finish_value(child: Agent, ctx: InvocationContext) -> Any:
    """The arguments of the first `finish_task` call of the latest event that has one."""
    tool = next(t for t in settings(child).tools if isinstance(t, FinishTask))
    for event in reversed(ctx.session.events):
        if event.isolation_scope == ctx.isolation_scope:
            for function_call in function_calls_of(event.content):
                if function_call.name == FINISH_TASK:
                    return tool.value_of(function_call.args or {})
    return None


def scope_of_message(events: Sequence[Event]) -> str:
    """The scope a user's message is stored in: that of the newest task which is not closed (11.12)."""
    closed: set[str] = set()
    for event in reversed(events):
        scope = event.isolation_scope
        if scope and finishes(event):
            closed.add(scope)
        elif scope and scope not in closed:
            return scope
    return ""
