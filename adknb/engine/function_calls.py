"""From the calls of one model answer to one tool event.

Go: internal/llminternal/base_flow.go, handleFunctionCalls, callTool, mergeParallelFunctionResponseEvents,
mergeEventActions; internal/llminternal/functions.go, generateRequestConfirmationEvent

Every call is a task; the platform's task runner decides who runs when; results are placed in the order of the calls.
A tool's error becomes an answer, so that the model can read it (seed 000, 四.5.4).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from google.genai import types

from adknb.engine.context import Context, InvocationContext
from adknb.engine.event import Event, EventActions, ToolConfirmation, function_calls_of, parts_of
from adknb.engine.event_json import to_json
from adknb.engine.plugin import hooks_of
from adknb.engine.processors.confirmation import REQUEST_CONFIRMATION
from adknb.engine.stops import Seam, Steps, Stop, call, first_answer
from adknb.engine.tool import FunctionTool, Tool, as_result

CLIENT_ID = "adk-"
"""What generated call ids begin with; contents take such ids off again."""
STOP_STREAMING = "stop_streaming"


@dataclass
class ToolCallbacks:
    """An agent's own callbacks around a tool."""

    before_tool: list[Callable[..., Any]] = field(default_factory=list)
    after_tool: list[Callable[..., Any]] = field(default_factory=list)
    on_tool_error: list[Callable[..., Any]] = field(default_factory=list)


def populate_client_function_call_ids(ctx: InvocationContext, content: types.Content | None) -> None:
    """Give every call without id one of our own.

    Go: internal/utils/utils.go, PopulateClientFunctionCallID
    """
    for function_call in function_calls_of(content):
        if not function_call.id:
            function_call.id = CLIENT_ID + ctx.platform.new_id()


def long_running_ids(content: types.Content | None, tools: dict[str, Any]) -> list[str]:
    """The ids of the calls whose tool is long-running, each once.

    Go: internal/llminternal/base_flow.go, findLongRunningFunctionCallIDs
    """
    calls = [c for c in function_calls_of(content) if (t := tools.get(c.name or "")) and t.is_long_running]
    return list(dict.fromkeys(c.id for c in calls if c.id))


def handle_function_calls(
    ctx: InvocationContext,
    tools: dict[str, Any],
    content: types.Content | None,
    callbacks: ToolCallbacks,
    confirmations: dict[str, ToolConfirmation] | None = None,
) -> Steps[Event | None]:
    """Run the calls of a content; give one event with all answers, or None if there is no answer (yet).

    Go: internal/llminternal/base_flow.go, handleFunctionCalls
    """
    calls = function_calls_of(content)
    if not calls:
        return None
    tasks: list[Any] = [
        _in_lane(c, _answer(ctx, tools, c, callbacks, (confirmations or {}).get(c.id or "")), len(calls) > 1)
        for c in calls
    ]
    for task, function_call in zip(tasks, calls, strict=True):
        task.__name__ = lane_of(function_call)  # so that whoever runs the tasks can tell them apart
    answers = yield from ctx.platform.run_tasks(tasks)
    events = [event for event in answers if event is not None]
    if not events:
        return None
    merged: Event = yield from call(Seam.MERGE, "merge", merge_events, events, events=events)
    return merged


def lane_of(function_call: types.FunctionCall) -> str:
    """What the lane of a call is called: `get_weather#call-1`."""
    return f"{function_call.name}#{function_call.id}"


def _in_lane(function_call: types.FunctionCall, task: Steps[Event | None], several: bool) -> Steps[Event | None]:
    """Write the lane on a task's stops when calls run side by side."""
    if not several:
        return (yield from task)
    lane = lane_of(function_call)
    try:
        while True:
            item = next(task)
            if isinstance(item, Stop) and item.lane is None:
                item.lane = lane
            yield item
    except StopIteration as done:
        return done.value  # type: ignore[no-any-return]
    finally:
        task.close()


def _answer(
    ctx: InvocationContext,
    tools: dict[str, Any],
    function_call: types.FunctionCall,
    callbacks: ToolCallbacks,
    decision: ToolConfirmation | None,
) -> Steps[Event | None]:
    """One call's answer as an event: which of the four kinds of tool is it?"""
    name, args = function_call.name or "", function_call.args  # one map for event, callbacks and tool, as in Go
    if args is None:
        args = {}
    actions = EventActions()
    tool_ctx = Context(ctx, actions, function_call.id or "", decision)
    tool = tools.get(name)
    if name == STOP_STREAMING:
        result: Any = {"status": "no streaming tool of that name is running"}
        if ctx.live is not None:
            result = ctx.live.stop(args.get("function_name"))
    elif tool is None:
        result = yield from _not_found(tool_ctx, tools, name, args, callbacks)
    elif tool.is_streaming:
        result = yield from (_run_stream if ctx.live is None else ctx.live.start)(tool_ctx, tool, args)
    else:
        result = yield from call_tool(tool_ctx, tool, args, callbacks)
    if args and function_call.args is None:  # a callback has put something there
        function_call.args = args
    if result is None and tool is not None and (tool.is_long_running or tool.is_task):
        return None  # the answer comes later, as a user message
    actions.compaction = None  # a tool cannot hide history behind a record of its own
    response = types.FunctionResponse(id=function_call.id, name=name, response=result)
    content = types.Content(role="user", parts=[types.Part(function_response=response)])
    return ctx.new_event(content=content, actions=actions)


def call_tool(ctx: Context, tool: Tool, args: dict[str, Any], callbacks: ToolCallbacks) -> Steps[dict[str, Any] | None]:
    """before_tool -> tool -> on_tool_error -> after_tool; an error that is left over is the answer (6.4).

    A `before_tool` answer skips the tool but not `after_tool` (seed 000, 四.5.1).

    Go: internal/llminternal/base_flow.go, callTool
    """
    plugins = ctx.invocation.plugins
    result: dict[str, Any] | None = None
    error: Exception | None = None
    try:
        before = hooks_of(plugins, "before_tool") + callbacks.before_tool
        result = yield from first_answer(Seam.BEFORE_TOOL, before, ctx, tool, args, tool=tool, args=args, ctx=ctx)
        if result is None:
            result = as_result(
                (yield from call(Seam.TOOL, tool.name, tool.run, ctx, args, tool=tool, args=args, ctx=ctx))
            )
        result = _map_or_none(result, "before_tool")
    except Exception as raised:
        error = raised
    if error is not None:
        result, error = yield from _on_tool_error(ctx, tool, args, error, callbacks)
    try:
        after = hooks_of(plugins, "after_tool") + callbacks.after_tool
        altered = yield from first_answer(
            Seam.AFTER_TOOL, after, ctx, tool, args, result, error,
            tool=tool, args=args, result=result, error=error, ctx=ctx,
        )  # fmt: skip
        if altered is not None:
            result, error = _map_or_none(altered, "after_tool"), None
    except Exception as raised:
        error = raised
    return {"error": str(error)} if error is not None else result


def _on_tool_error(
    ctx: Context, tool: Tool, args: dict[str, Any], error: Exception, callbacks: ToolCallbacks
) -> Steps[tuple[dict[str, Any] | None, Exception | None]]:
    """What the error hooks make of an error: a result in its place, another error, or the same."""
    hooks = hooks_of(ctx.invocation.plugins, "on_tool_error") + callbacks.on_tool_error
    try:
        answer = yield from first_answer(
            Seam.ON_TOOL_ERROR, hooks, ctx, tool, args, error, tool=tool, args=args, error=error, ctx=ctx
        )
        answer = _map_or_none(answer, "on_tool_error")
    except Exception as raised:
        return None, raised
    return (None, error) if answer is None else (answer, None)


def _not_found(
    ctx: Context, tools: dict[str, Any], name: str, args: dict[str, Any], callbacks: ToolCallbacks
) -> Steps[dict[str, Any]]:
    """The model asked for a tool that is not there: the error hooks are asked with a stand-in, no others (6.3)."""
    stand_in = Tool()
    stand_in.name = name
    error = LookupError(
        f"tool {name!r} not found. Available tools: {', '.join(sorted(tools)) or 'none'}. Likely causes: the model "
        "invented the name, the tool was not given to this agent, or it belongs to another agent. Fix: give the tool "
        "to the agent, or name the available ones in its instruction."
    )
    result, left = yield from _on_tool_error(ctx, stand_in, args, error, callbacks)
    return {"error": str(left)} if left is not None else result or {}


def _run_stream(ctx: Context, tool: FunctionTool, args: dict[str, Any]) -> Steps[dict[str, Any]]:
    """A streaming tool in a plain run: its texts joined. No tool hook is asked (6.12)."""
    try:
        run = lambda ctx, args: {"result": "".join(tool.run_stream(ctx, args))}  # noqa: E731
        value = yield from call(Seam.TOOL, tool.name, run, ctx, args, tool=tool, args=args, ctx=ctx)
        return as_result(value) or {}
    except Exception as error:
        return {"error": str(error)}


def _map_or_none(answer: Any, hook: str) -> dict[str, Any] | None:
    if answer is None or isinstance(answer, dict):
        return answer
    raise TypeError(f"a {hook} callback returns a dict or None, not {type(answer).__name__}")


def merge_events(events: list[Event]) -> Event:
    """All answers in one event, parts in the order of the calls.

    Go: internal/llminternal/base_flow.go, mergeParallelFunctionResponseEvents
    """
    first = events[0]
    if len(events) == 1:
        return first
    actions = first.actions
    for event in events[1:]:
        actions = merge_actions(actions, event.actions)
    parts = [part for event in events for part in parts_of(event.content)]
    return replace(first, content=types.Content(role="user", parts=parts), actions=actions)


def merge_actions(base: EventActions, later: EventActions) -> EventActions:
    """Fold the actions of a later call into those before it; later means later in the model's list (6.8).

    {"a": {"x": 1}, "k": 1} and {"a": {"y": 2}, "k": 2} -> {"a": {"x": 1, "y": 2}, "k": 2}

    Go: internal/llminternal/base_flow.go, mergeEventActions, deepMergeMap
    """
    artifacts = dict(base.artifact_delta)
    for name, version in later.artifact_delta.items():
        artifacts[name] = max(version, artifacts.get(name, version))
    return EventActions(
        state_delta=deep_merge(base.state_delta, later.state_delta),
        artifact_delta=artifacts,
        requested_tool_confirmations={**base.requested_tool_confirmations, **later.requested_tool_confirmations},
        skip_summarization=base.skip_summarization or later.skip_summarization,
        transfer_to_agent=later.transfer_to_agent or base.transfer_to_agent,
        escalate=base.escalate or later.escalate,
        compaction=later.compaction or base.compaction,
    )


def deep_merge(base: dict[str, Any], later: dict[str, Any]) -> dict[str, Any]:
    """Maps into maps; anything else: the later one."""
    out = dict(base)
    for key, value in later.items():
        old = out.get(key)
        out[key] = deep_merge(old, value) if isinstance(old, dict) and isinstance(value, dict) else value
    return out


def request_confirmation_event(ctx: InvocationContext, content: types.Content | None, answered: Event) -> Event | None:
    """The event that asks a person: a call `adk_request_confirmation` for each request, in call order (8.3).

    Go: internal/llminternal/functions.go, generateRequestConfirmationEvent
    """
    requested = answered.actions.requested_tool_confirmations
    parts = []
    for part in parts_of(content):
        original = part.function_call
        if original is None or original.id not in requested:
            continue
        args = {
            "originalFunctionCall": {k: v for k, v in to_json(original).items() if v or v is False},
            "toolConfirmation": to_json(requested[original.id]),
        }
        asked = types.FunctionCall(id=CLIENT_ID + ctx.platform.new_id(), name=REQUEST_CONFIRMATION, args=args)
        parts.append(types.Part(function_call=asked, thought_signature=part.thought_signature))
    if not parts:
        return None
    ids = [part.function_call.id or "" for part in parts if part.function_call]
    return ctx.new_event(content=types.Content(role="model", parts=parts), long_running_tool_ids=ids)
