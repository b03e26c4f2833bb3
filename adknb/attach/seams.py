"""The seams in google-adk: put in while an attached run lives, taken out after the last one. Inert in every other task.

Everything is found by name at run time (adk.SEAMS); see notes in adk.py for versions.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Any

from adknb.attach.adk import adk, must_have_seams
from adknb.attach.mirrors import Context, ValueMirror, theirs_of
from adknb.attach.model_tape import answers
from adknb.attach.pausing import ACTIVE, CALL_LANE, Gate, after_of, before
from adknb.engine.stops import Raise, Return, Seam, Stop

_LOCK = threading.Lock()
_USERS = 0
_SAVED: list[tuple[Any, str, Any, bool]] = []


@contextlib.contextmanager
def seams() -> Iterator[None]:
    """Have the seams in while the block lasts. Raises NoGoogleAdk, MissingSeam."""
    global _USERS
    with _LOCK:
        if _USERS == 0:
            must_have_seams()
            _put_in()
        _USERS += 1
    try:
        yield
    finally:
        with _LOCK:
            _USERS -= 1
            if _USERS == 0:
                while _SAVED:
                    owner, name, value, own = _SAVED.pop()
                    setattr(owner, name, value) if own else delattr(owner, name)


def _put_in() -> None:
    llm_agent = adk("google.adk.agents.llm_agent")
    for name in ("SingleFlow", "AutoFlow"):
        _patch(llm_agent, name, _stepped(getattr(llm_agent, name)))
    base = adk("google.adk.plugins.plugin_manager")
    _patch(base.PluginManager, "_run_callbacks", _plugins(base.PluginManager._run_callbacks, base))
    for module in ("agents.base_agent", "flows.llm_flows.core._finalizer", "flows.llm_flows.tools._caller"):
        _patch_callbacks(adk(f"google.adk.{module}"))
    _patch_callbacks(adk("google.adk.flows.llm_flows.tools._error_handler"))
    caller = adk("google.adk.flows.llm_flows.tools._caller")
    _patch(caller, "_call_tool_async", _tool(caller._call_tool_async))


def _patch(owner: Any, name: str, value: Any) -> None:
    _SAVED.append((owner, name, getattr(owner, name), name in vars(owner)))
    setattr(owner, name, value)


def _patch_callbacks(module: Any) -> None:
    _patch(module, "_run_callbacks", _callbacks(module._run_callbacks))


# ----------------------------------------------------------------------------------------------------- stops and places


def placed(gate: Gate, stop: Stop, context: Any) -> Stop:
    """Write agent, step and lane on a stop."""
    agent = getattr(context, "agent", None)
    name = str(getattr(agent, "name", "") or "")
    lanes: list[str] = []
    child = agent
    parallel = adk("google.adk.agents.parallel_agent").ParallelAgent
    while child is not None:
        parent = getattr(child, "parent_agent", None)
        if isinstance(parent, parallel):
            lanes.insert(0, child.name)
        child = parent
    lanes += [CALL_LANE.get()] if CALL_LANE.get() else []
    stop.agent, stop.step, stop.lane = name or None, gate.steps.get(name, 0), "/".join(lanes) or None
    return stop


def ends(outcome: Return | Raise, given: ValueMirror | None = None) -> Any:
    """What google-adk gets for an outcome. Raises what it holds."""
    return theirs_of(outcome.unwrap(), given)


async def _through(
    gate: Gate,
    seam: Seam,
    name: str,
    context: Any,
    own: Any,
    work: Callable[[], Awaitable[Any]],
    function: Callable[..., Any] | None = None,
    **holds: Any,
) -> Any:
    """A call with its two stops; mirrors are brought up before each and taken back after each."""
    shown = _shown(gate, holds)
    ctx = Context(gate.mirrors, context, own)
    stop = placed(
        gate, before(seam, name, **{k: m.ours if hasattr(m, "ours") else m for k, m in shown.items()}), context
    )
    stop.holds["ctx"], stop.function = ctx, function
    gave: list[ValueMirror] = []

    def take_back() -> None:
        ctx.push()
        for mirror in shown.values():
            if hasattr(mirror, "push"):
                mirror.push()

    def opening(value: Any) -> Any:
        if value is None or isinstance(value, dict | list | str | int | float | bool):
            return value
        gave.append(ValueMirror(value))
        return gave[-1].ours

    await gate.pause(stop)
    take_back()
    outcome: Return | Raise
    if stop.answer is not None:
        outcome = stop.answer
    else:
        try:
            outcome = Return(opening(await work()))
        except Exception as error:
            outcome = Raise(error)
    for mirror in shown.values():
        if hasattr(mirror, "pull"):
            mirror.pull()
    ctx = stop.holds["ctx"] = Context(gate.mirrors, context, own)
    after = after_of(stop, outcome)
    await gate.pause(after)
    take_back()
    return ends(after.answer or after.holds["outcome"], gave[0] if gave else None)


def _shown(gate: Gate, holds: dict[str, Any]) -> dict[str, Any]:
    shown: dict[str, Any] = {}
    for name, value in holds.items():
        if value is None:
            continue
        if name == "request":
            shown[name] = gate.mirrors.request(value)
        else:
            shown[name] = ValueMirror(value) if name in ("response", "event") else value
    return shown


async def append(gate: Gate, session: Any, event: Any, work: Callable[[], Awaitable[Any]]) -> Any:
    """Store an event, with a stop before it and one behind."""
    place = type("Place", (), {"agent": None, "session": session, "invocation_id": event.invocation_id})()
    place.branch, place.isolation_scope, place.user_content = event.branch, None, None
    mirror = ValueMirror(event)
    stop = placed(gate, before(Seam.APPEND, event.author, event=mirror.ours), place)
    stop.agent = event.author if event.author != "user" else None
    stop.step = gate.steps.get(event.author, 0)
    stop.holds["ctx"] = Context(gate.mirrors, place)
    await gate.pause(stop)
    mirror.push()
    stored = await work()
    after = after_of(stop, Return(None))
    after.holds["ctx"] = Context(gate.mirrors, place)
    await gate.pause(after)
    return stored


# ------------------------------------------------------------------------------------------------------------ callbacks

HOOK = {
    "llm_request": Seam.BEFORE_MODEL,
    "llm_response": Seam.AFTER_MODEL,
    "tool_response": Seam.AFTER_TOOL,
    "tool": Seam.BEFORE_TOOL,
    "error": Seam.ON_MODEL_ERROR,
}


def _holds(given: dict[str, Any]) -> dict[str, Any]:
    names = {
        "llm_request": "request",
        "llm_response": "response",
        "tool_args": "args",
        "args": "args",
        "tool": "tool",
        "result": "result",
        "tool_response": "result",
        "error": "error",
        "event": "event",
        "user_message": "content",
        "agent": "agent",
    }
    return {names[key]: value for key, value in given.items() if key in names}


def _contexts(given: dict[str, Any]) -> tuple[Any, Any]:
    own = given.get("callback_context") or given.get("tool_context")
    return (own._invocation_context if own is not None else given["invocation_context"]), own


def _plugins(original: Any, module: Any) -> Any:
    async def _run_callbacks(self: Any, callback_name: str, **given: Any) -> Any:
        gate = ACTIVE.get()
        if gate is None:
            return await original(self, callback_name, **given)
        context, own = _contexts(given)
        for plugin in list(self.plugins):
            if getattr(type(plugin), callback_name) is getattr(module.BasePlugin, callback_name):
                continue  # not overridden
            alone = module.PluginManager.__new__(module.PluginManager)
            alone.plugins = [plugin]

            async def work(alone: Any = alone) -> Any:
                return await original(alone, callback_name, **given)

            seam = Seam(callback_name.removesuffix("_callback"))
            answer = await _through(gate, seam, plugin.name, context, own, work, **_holds(given))
            if answer is not None:
                return answer
        return None

    return _run_callbacks


def _callbacks(original: Any) -> Any:
    async def _run_callbacks(callbacks: Any, stops: Any, *args: Any, **given: Any) -> Any:
        gate = ACTIVE.get()
        if gate is None or args:
            return await original(callbacks, stops, *args, **given)
        context, own = _contexts(given)
        result = None
        for callback in callbacks:

            async def work(callback: Any = callback) -> Any:
                return await original([callback], stops, **given)

            name = str(getattr(callback, "__name__", type(callback).__name__))
            result = await _through(gate, _seam_of(given, callback, context), name, context, own, work, **_holds(given))
            if stops(result):
                return result
        return result

    return _run_callbacks


def _seam_of(given: dict[str, Any], callback: Any, context: Any) -> Seam:
    """Which callback it is, told by what it is given; an agent's two are told apart by where they are registered."""
    if "error" in given:
        return Seam.ON_TOOL_ERROR if "tool" in given else Seam.ON_MODEL_ERROR
    for name in ("llm_response", "llm_request", "tool_response", "tool"):
        if name in given:
            return HOOK[name]
    is_first = callback in context.agent.canonical_before_agent_callbacks
    is_last = callback in context.agent.canonical_after_agent_callbacks
    ran = ACTIVE.get().steps.get(context.agent.name, 0) > 0  # type: ignore[union-attr]
    return Seam.AFTER_AGENT if is_last and (ran or not is_first) else Seam.BEFORE_AGENT


# ---------------------------------------------------------------------------------------------------------------- tools


RUN_AGAIN = ("AgentTool", "NodeTool", "SetModelResponseTool", "TransferToAgentTool")
"""Tools that reach nothing outside by themselves, or whose own models and tools are stops: a replay runs them again."""


def _not_performed() -> Iterator[None]:
    """Being a generator function, it says that the journal shall not answer for a call (journal.is_performed)."""
    yield


def _tool(original: Any) -> Any:
    async def _call_tool_async(tool: Any, args: dict[str, Any], tool_context: Any) -> Any:
        gate = ACTIVE.get()
        if gate is None:
            return await original(tool, args=args, tool_context=tool_context)

        async def work() -> Any:
            return await original(tool, args=args, tool_context=tool_context)

        lane = CALL_LANE.set(_lane_of(tool, tool_context))
        try:
            context = tool_context._invocation_context
            inside = _not_performed if type(tool).__name__ in RUN_AGAIN else None
            return await _through(gate, Seam.TOOL, tool.name, context, tool_context, work, inside, tool=tool, args=args)
        finally:
            CALL_LANE.reset(lane)

    return _call_tool_async


def _lane_of(tool: Any, tool_context: Any) -> str:
    """`get_weather#call-1` where several calls of one answer run side by side."""
    events = tool_context._invocation_context.session.events
    calls: list[Any] = next((c for e in reversed(events) if len(c := e.get_function_calls())), [])
    return f"{tool.name}#{tool_context.function_call_id}" if len(calls) > 1 else CALL_LANE.get()


# ----------------------------------------------------------------------------------------------------------------- flow


def _stepped(base: Any) -> Any:
    """A flow class that pauses in a task with a gate, and is `base` in any other."""

    class Stepped(base):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            if ACTIVE.get() is None:
                return
            lists = [self.request_processors, getattr(self, "tool_request_processors", [])]
            for listed in lists:
                listed[:] = [_Processor(p, Seam.PROCESSOR) for p in listed]
            self.response_processors[:] = [_Processor(p, Seam.RESPONSE_PROCESSOR) for p in self.response_processors]

        async def _run_one_step_async(self, invocation_context: Any) -> AsyncIterator[Any]:
            gate = ACTIVE.get()
            if gate is not None:
                name = invocation_context.agent.name
                gate.steps[name] = gate.steps.get(name, 0) + 1
            async with contextlib.aclosing(super()._run_one_step_async(invocation_context)) as events:
                async for event in events:
                    yield event if gate is None else await _passing(gate, invocation_context, event)

        async def _get_llm(self, invocation_context: Any) -> Any:
            gate, llm = ACTIVE.get(), await super()._get_llm(invocation_context)
            return llm if gate is None else _Model(llm, gate, invocation_context)

    Stepped.__name__ = Stepped.__qualname__ = base.__name__
    return Stepped


async def _passing(gate: Gate, context: Any, event: Any) -> Any:
    """An event on its way to the runner, with its two stops."""

    async def work() -> Any:
        return event

    return await _through(gate, Seam.EVENT, event.author, context, None, work, event=event)


class _Processor:
    """A processor with a stop before it and one behind."""

    def __init__(self, inner: Any, seam: Seam) -> None:
        self._inner, self._seam = inner, seam
        self.name = getattr(inner, "name", "") or type(inner).__name__.strip("_")

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    async def run_async(self, context: Any, given: Any) -> AsyncIterator[Any]:
        gate = ACTIVE.get()
        if gate is None:
            async for event in self._inner.run_async(context, given):
                yield event
            return
        is_request = self._seam is Seam.PROCESSOR
        mirror = gate.mirrors.request(given) if is_request else ValueMirror(given)
        name = "request" if is_request else "response"
        stop = placed(gate, before(self._seam, self.name, **{name: mirror.ours}), context)
        ctx = stop.holds["ctx"] = Context(gate.mirrors, context)
        await gate.pause(stop)
        ctx.push()
        mirror.push()
        outcome: Return | Raise = stop.answer or Return()
        if stop.answer is None:
            try:
                async with contextlib.aclosing(self._inner.run_async(context, given)) as events:
                    async for event in events:
                        yield event
            except Exception as error:
                outcome = Raise(error)
        mirror = gate.mirrors.request(given) if is_request else ValueMirror(given)
        after = after_of(stop, outcome)
        ctx = after.holds["ctx"] = Context(gate.mirrors, context)
        after.holds[name] = mirror.ours
        await gate.pause(after)
        ctx.push()
        mirror.push()
        (after.answer or after.holds["outcome"]).unwrap()


class _Model:
    """The model, with a stop before the call and one behind each response."""

    def __init__(self, inner: Any, gate: Gate, context: Any) -> None:
        self._inner, self._gate, self._context = inner, gate, context

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    async def generate_content_async(self, llm_request: Any, stream: bool = False) -> AsyncIterator[Any]:
        gate, mirror = self._gate, self._gate.mirrors.request(llm_request)
        stop = placed(gate, before(Seam.MODEL, self._inner.model, request=mirror.ours, stream=stream), self._context)

        def ask(request: Any, stream: bool) -> Any:
            return self._inner.generate_content_async(llm_request, stream=stream)

        stop.function = ask
        ctx = stop.holds["ctx"] = Context(gate.mirrors, self._context)
        await gate.pause(stop)
        ctx.push()
        mirror.push()
        source = answers(stop.answer, lambda: ask(None, stream))
        async with contextlib.aclosing(source) as outcomes:
            async for outcome, theirs in outcomes:
                given = ValueMirror(theirs) if theirs is not None else None
                shown = outcome if given is None else Return(given.ours)
                mirror.pull()
                after = after_of(stop, shown)
                ctx = after.holds["ctx"] = Context(gate.mirrors, self._context)
                await gate.pause(after)
                ctx.push()
                yield ends(after.answer or after.holds["outcome"], given)
