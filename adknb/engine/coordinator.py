"""The coordinator: how an LLM agent runs as a node, by its mode, and what a turn of a delegated agent comes to.

Go: agent/llmagent/llmagent.go, llmAgent.RunNode; agent/llmagent/llm_agent_wrapper.go, RunLLMAgentAsNode;
runner/agent_node.go; workflow/dynamic_scheduler.go

    chat          what it delegates as tasks is run between its own runs
    task          its run ends behind a successful `finish_task`
    single_turn   each of its answers is an output
"""

from __future__ import annotations

import re
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Any

from google.genai import types

from adknb.engine.agent import Agent
from adknb.engine.context import InvocationContext
from adknb.engine.delegation import (
    FINISH_TASK,
    TASK_FINISHED,
    Delegation,
    FinishTask,
    Outcome,
    is_an_answer,
    output_of,
    settings,
)
from adknb.engine.errors import FlowError
from adknb.engine.event import Event, function_calls_of, function_responses_of
from adknb.engine.go_text import go_json
from adknb.engine.llm_settings import SINGLE_TURN, TASK, delegates_to
from adknb.engine.stops import Seam, Steps, Stop, call


@dataclass
class Outputs:
    """What the run of a task or single_turn agent gave.

    `events`: how many of its events are outputs. `value`: the last one. `waits`: whether it made a long-running call.
    """

    events: int = 0
    value: Any = None
    waits: bool = False


def run_turn(agent: Agent, ctx: InvocationContext) -> Generator[Any, None, None]:
    """Run the agent of a turn under an LLM root.

    A turn may have one output, and its last value counts as one more: so a task or single_turn agent that has this
    turn (1.5) and comes to a result ends it with an error, when all is stored (11.25). One that waits has no value.

    Raises:
        FlowError: two outputs.
    """
    outputs: Outputs | None = yield from agent.run_node(ctx)
    if outputs is not None and outputs.events + (outputs.value is not None and not outputs.waits) > 1:
        raise FlowError(f"agent {agent.name!r} is only a tool of its parent: it cannot end a turn of its own")


def refuse(run: Generator[Any, None, None], ctx: InvocationContext) -> None:
    """Let the run of a turn know that the event of a delegated child, which it has just given, is not taken.

    The reader has left, or a plugin has raised. The child ends there; where it was a tool call, that fails, so the
    hooks of the parent's tool still run, and the other calls of the same answer. Nothing more is stored (11.22).

    Go: workflow/dynamic_scheduler.go, runNode
    """
    ctx.delegation.refused = True
    try:
        while isinstance(item := next(run), Stop) or not ctx.is_own(item):
            pass
    except Exception:  # the run has ended; nobody is left to tell why
        return
    run.close()


def coordinate(agent: Agent, ctx: InvocationContext) -> Steps[Outputs | None]:
    """Run an LLM agent as a node, in its mode: the bound one, else the declared one, else chat.

    Go: agent/llmagent/llm_agent_wrapper.go, RunLLMAgentAsNode
    """
    if ctx.effective_mode == TASK:
        return (yield from _until_finished(agent, ctx))
    if ctx.effective_mode == SINGLE_TURN:
        return (yield from _with_outputs(agent, ctx))
    yield from _between_tasks(agent, ctx)
    return None


def _with_outputs(agent: Agent, ctx: InvocationContext) -> Steps[Outputs]:
    """Go: agent/llmagent/llm_agent_wrapper.go, runSingleTurn"""
    outputs = Outputs()
    for item in agent.run(ctx):
        if not isinstance(item, Stop) and ctx.is_own(item):
            outputs.waits |= bool(item.long_running_tool_ids)
            if is_an_answer(item):
                outputs.events += 1
                outputs.value = output_of(agent, item)
        yield item
    return outputs


def _until_finished(agent: Agent, ctx: InvocationContext) -> Steps[Outputs]:
    """Run a task agent; cut it off right behind a successful `finish_task` (11.7).

    The value is the arguments of the call, as they were when the model made it: no hook has seen them then.

    Go: agent/llmagent/llm_agent_wrapper.go, runTask
    """
    outputs, given = Outputs(), None
    run = agent.run(ctx)
    for item in run:
        if isinstance(item, Stop) or not ctx.is_own(item):
            yield item
            continue
        outputs.waits |= bool(item.long_running_tool_ids)
        finishing = next((c for c in function_calls_of(item.content) if c.name == FINISH_TASK), None)
        if finishing is not None:
            given = None if finishing.args is None else dict(finishing.args)
        yield item
        if finishing is None and given is not None and finishes(item):
            run.close()
            outputs.events, outputs.value = 1, _tool_of(agent).value_of(given)
            return outputs
    return outputs


def _tool_of(agent: Agent) -> FinishTask:
    return next(t for t in settings(agent).tools if isinstance(t, FinishTask))


# ---------------------------------------------------------------------------------------------------- the coordinator


def _between_tasks(agent: Agent, ctx: InvocationContext) -> Generator[Any, None, None]:
    """Run a chat agent, and between its runs what it delegates as tasks (11.3, 11.4, 11.10).

    Tasks left open are gone on with first. A call of a task abandons the agent's step; when all called tasks are
    finished the agent starts over, with `before_agent` and a fresh Flow; when one is not, the run ends there.

    Raises:
        FlowError: a task is called, or open, where nothing can be delegated, or under an id that cannot be a scope.

    Go: agent/llmagent/llm_agent_wrapper.go, runChat
    """
    tasks = {child.name: child for child in agent.sub_agents if delegates_to(child) and settings(child).mode == TASK}
    if not tasks:
        yield from agent.run(ctx)
        return
    if not (yield from _run_tasks(ctx, agent, tasks, _open_calls(ctx, agent, tasks))):
        return
    while True:
        called: list[types.FunctionCall] = []
        run = agent.run(ctx)
        for item in run:
            yield item
            if not isinstance(item, Stop) and not item.partial and ctx.is_own(item):  # a transfer target's, too
                called = [c for c in function_calls_of(item.content) if c.name in tasks and c.id]
                if called:
                    break
        run.close()  # abandons the step: no other call of that answer runs, and no after_agent
        if not called or not (yield from _run_tasks(ctx, agent, tasks, called)):
            return


def _open_calls(ctx: InvocationContext, agent: Agent, tasks: dict[str, Agent]) -> list[types.FunctionCall]:
    """Task calls of this agent that have no answer yet, in order; of one id only the first.

    Go: agent/llmagent/llm_agent_wrapper.go, findUnresolvedTaskDelegations
    """
    ours = [event for event in ctx.session.events if event.author in (agent.name, "user")]
    answered = {r.id for event in ours for r in function_responses_of(event.content)}
    calls: dict[str, types.FunctionCall] = {}
    for event in ours:
        for c in function_calls_of(event.content):
            if c.name in tasks and c.id and c.id not in answered:
                calls.setdefault(c.id, c)
    return list(calls.values())


def _run_tasks(
    ctx: InvocationContext, agent: Agent, tasks: dict[str, Agent], calls: Sequence[types.FunctionCall]
) -> Steps[bool]:
    """Run task calls one after the other; give each finished one its answer. False: one is not finished."""
    for function_call in calls:
        child = tasks[function_call.name or ""]
        if ctx.delegation is None:
            raise FlowError(
                f"agent {agent.name!r} has a call of task {child.name!r}, but no task can be run here: under a "
                "workflow root, or by an agent that is delegated to"
            )
        outcome = yield from _outcome(ctx, child, function_call)
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


def _outcome(ctx: InvocationContext, child: Agent, function_call: types.FunctionCall) -> Steps[Outcome]:
    """What a task call comes to: remembered under its id, or by running the child (11.5). A wait is not remembered.

    Go: workflow/dynamic_scheduler.go, runNode
    """
    outcomes, key = ctx.delegation.outcomes, (child.name, function_call.id or "")
    outcome: Outcome | None = outcomes.get(key) or _of_an_earlier_turn(ctx, child, function_call)
    if outcome is None:
        outcome = yield from call(
            Seam.DELEGATE, child.name, _run_task, child, _task_context(ctx, child, function_call), ctx.delegation,
            agent=child, ctx=ctx, args=function_call.args,
        )  # fmt: skip
    if not outcome.waits:
        outcomes[key] = outcome
    return outcome


def _of_an_earlier_turn(ctx: InvocationContext, child: Agent, function_call: types.FunctionCall) -> Outcome | None:
    """The value that the task has finished with in an earlier turn of this invocation id, if it has (11.5)."""
    given, outcome = None, None
    for event in ctx.session.events[: ctx.delegation.started_at]:
        if event.invocation_id == ctx.invocation_id and event.isolation_scope == function_call.id:
            finishing = next((c for c in function_calls_of(event.content) if c.name == FINISH_TASK), None)
            if finishing is not None:
                given = finishing.args
            elif given is not None and finishes(event):
                outcome = Outcome(True, _tool_of(child).value_of(given))
    return outcome


def _task_context(ctx: InvocationContext, child: Agent, function_call: types.FunctionCall) -> InvocationContext:
    """The scope of a task is its call's id. Raises FlowError for an id that cannot be one (11.5)."""
    scope = function_call.id or ""
    if re.fullmatch(r"[0-9]+", scope) or re.search(r"[/@]", scope):
        raise FlowError(
            f"task {child.name!r}: the call id {scope!r} cannot name a scope (digits only, or with '/' or '@')"
        )
    given = types.Content(role="user", parts=[types.Part(text=go_json(function_call.args or {}))])
    return ctx.derive(
        agent=child,
        isolation_scope=scope,
        binding=(child.name, TASK),
        user_content=given,
        delegation=None,
        private_events=[],
    )


def _run_task(child: Agent, ctx: InvocationContext, delegation: Delegation) -> Steps[Outcome]:
    """Run a task until it finishes, asks, or says nothing more; its events are noted as a child's.

    It waits, whatever else it has done, while a long-running call of it has no answer of its own giving (11.11).
    """
    open_ids: set[str] = set()
    run = _until_finished(child, ctx)
    while True:
        try:
            item = next(run)
        except StopIteration as done:
            outputs: Outputs = done.value
            break
        if not isinstance(item, Stop):
            open_ids |= {c.id for c in function_calls_of(item.content) if c.id and c.id in item.long_running_tool_ids}
            open_ids -= {r.id or "" for r in function_responses_of(item.content)}
        yield from delegation.hand_up(item)
    return Outcome(bool(outputs.events) and not open_ids, outputs.value, bool(open_ids))


def finishes(event: Event) -> bool:
    """Whether the *first* `finish_task` answer of an event is the success (11.8)."""
    first = next((r for r in function_responses_of(event.content) if r.name == FINISH_TASK), None)
    return first is not None and (first.response or {}).get("result") == TASK_FINISHED


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
