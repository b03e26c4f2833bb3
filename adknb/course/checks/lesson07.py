"""Checks of lesson 07: tools that wait, finish in any order, and write to one state."""

from __future__ import annotations

import inspect
import itertools
import time
from collections.abc import Callable, Sequence
from typing import Any

from google.genai import types

from adknb.course.checks.trying import verdict, want
from adknb.engine.event import Event, function_responses_of
from adknb.engine.llm_agent import LlmAgent
from adknb.engine.platform import TaskRunner, concurrent, counted, in_order, interleaved, reverse
from adknb.engine.runner import Runner
from adknb.engine.stops import Phase, Seam
from adknb.engine.tool import FunctionTool
from adknb.scenarios import ScriptedModel
from adknb.stepper import Stepper, step

Function = Callable[..., Any]


WAIT = 0.2
"""Seconds that each of the tools of 07 A waits."""


@verdict
def check_tools_that_wait(first: Function, second: Function) -> str:
    """07 A: two `async def` tools of one parameter, each waiting 0.2 s: side by side in threads, one by one in order.

    Whether they overlap is read off their own starts and ends, so a slow machine does not matter.
    """
    for tool in (first, second):
        name = getattr(tool, "__name__", repr(tool))
        want(inspect.iscoroutinefunction(tool), f"{name}: expected an `async def`")
        want(len(inspect.signature(tool).parameters) == 1, f"{name}: expected one parameter")
    together, answers = _watched(first, second, concurrent)
    want(all(end - start >= WAIT * 0.95 for start, end in together), f"each tool must wait {WAIT} seconds")
    want(_overlap(together), "in threads the second tool began only when the first had ended: the wait blocks")
    apart, same = _watched(first, second, in_order)
    want(not _overlap(apart), "in order the two tools overlap: the wait goes on behind the tool's back")
    want(answers == same, f"the merged answers differ: {answers} and {same}")
    return "they overlap in threads, they do not in order, and the merged event is the same."


def _watched(first: Function, second: Function, run_tasks: TaskRunner) -> tuple[list[tuple[float, float]], list[Any]]:
    """(start and end of each tool, the merged event's answers) of one plain run."""
    spans: dict[int, tuple[float, float]] = {}

    def watched(number: int, tool: Function) -> FunctionTool:
        async def timed(item: str) -> Any:
            start = time.monotonic()
            try:
                return await tool(item)
            finally:
                spans[number] = (start, time.monotonic())

        return FunctionTool(timed, name=f"tool_{number}", description="Waits.")

    calls = [_call(f"tool_{n}", {"item": "sugar"}) for n in (0, 1)]
    model = ScriptedModel([types.Content(role="model", parts=calls), "Done."])
    agent = LlmAgent("clerk", model=model, tools=[watched(0, first), watched(1, second)])
    events = list(Runner(agent, platform=counted(run_tasks)).run("Prepare the sugar."))
    return [spans[0], spans[1]], [(r.name, r.response) for e in events for r in function_responses_of(e.content)]


def _overlap(spans: Sequence[tuple[float, float]]) -> bool:
    (start, end), (other_start, other_end) = spans
    return start < other_end and other_start < end


@verdict
def check_every_finishing_order(produce: Callable[[Stepper, Sequence[str]], Any]) -> str:
    """07 B: `produce(dbg, order)` lets the tools of a paused run finish in this order, by `dbg.choose`.

    `dbg` stands where the lanes have begun; held against all orders of three tools the reader has not seen.
    """
    names = ("boil", "grind", "pour")
    merged = []
    for order in itertools.permutations(names):
        dbg = _three_lanes(names)
        produce(dbg, order)
        dbg.resume()
        want(finished(dbg) == list(order), f"wanted {list(order)}, the tools finished as {finished(dbg)}")
        merged.append([r.name for r in function_responses_of(dbg.events[2].content)])
    as_called = sum(answers == list(names) for answers in merged)
    return f"all {len(merged)} orders, and the answers stand as called in {as_called} of them."


def finished(dbg: Stepper) -> list[str]:
    """The tools of a run in the order in which they finished; `dbg.tools_run` has the order in which they began."""
    return [stop.name for stop in dbg.stops if stop.seam is Seam.TOOL and stop.phase is Phase.AFTER]


def _three_lanes(names: Sequence[str]) -> Stepper:
    def tool(name: str) -> FunctionTool:
        return FunctionTool(lambda: {"done": name}, name=name, description="Works.", parameters={"type": "object"})

    model = ScriptedModel([types.Content(role="model", parts=[_call(name) for name in names]), "Done."])
    agent = LlmAgent("cook", model=model, tools=[tool(name) for name in names])
    dbg = step(agent, "Coffee!", runner=interleaved)
    while dbg.here is not None and len(dbg.lanes) < len(names):
        dbg.step()
    return dbg


@verdict
def check_both_are_kept(north: Function, south: Function) -> str:
    """07 C: two tools `(ctx)` that write into `ctx.state["log"]`; nothing is lost in whatever order they run."""
    for run_tasks in (in_order, reverse, interleaved, concurrent):
        model = ScriptedModel([types.Content(role="model", parts=[_call("north"), _call("south")]), "Done."])
        tools = [FunctionTool(north, name="north", description="Reserves."),
                 FunctionTool(south, name="south", description="Reserves.")]  # fmt: skip
        runner = Runner(LlmAgent("clerk", model=model, tools=tools), platform=counted(run_tasks))
        log = _log_of(list(runner.run("Reserve.")))
        found = [name for name in ("north", "south") if _says(log, name)]
        want(found == ["north", "south"], f"{run_tasks.__name__}: the state's log is {log!r}; {_lost(found)} is lost")
    return "both are in the log, in order, in reverse, interleaved and in threads."


def _log_of(events: Sequence[Event]) -> Any:
    state: dict[str, Any] = {}
    for event in events:
        state.update(event.actions.state_delta)
    return state.get("log")


def _lost(found: Sequence[str]) -> str:
    return " and ".join(name for name in ("north", "south") if name not in found)


def _says(value: Any, text: str) -> bool:
    if isinstance(value, dict):
        return any(text in (key, inside) or _says(inside, text) for key, inside in value.items())
    if isinstance(value, (list, tuple)):
        return any(inside == text or _says(inside, text) for inside in value)
    return bool(value == text)


def _call(name: str, args: dict[str, Any] | None = None) -> types.Part:
    return types.Part(function_call=types.FunctionCall(name=name, args=args or {}, id=f"{name}-1"))
