"""Calls that run side by side: the reader says whose turn is next; the merged answer stays in call order."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import pytest
from google.genai import types

import adknb
from adknb import LlmAgent, ParallelAgent, ScriptedModel, Stepper, at
from adknb.engine.platform import in_order, interleaved
from adknb.stepper import UnknownName


def three_tools() -> tuple[Stepper, list[str]]:
    """A run paused before the first of three calls; and the order in which the tools really ran."""
    ran: list[str] = []

    def tool(name: str) -> Any:
        def run(ctx: Any) -> dict[str, Any]:
            ran.append(name)
            ctx.state["last"] = name
            return {"ran": len(ran)}

        return adknb.FunctionTool(run, name=name)

    parts = [types.Part(function_call=types.FunctionCall(id=n, name=n)) for n in "abc"]
    model = ScriptedModel([types.Content(role="model", parts=parts), "done"])
    dbg = adknb.step(LlmAgent("x", model=model, tools=[tool(n) for n in "abc"]), "go")
    return dbg.until(at(tool="a")), ran


@pytest.mark.parametrize("order", list(permutations("abc")))
def test_every_order_of_finishing_can_be_produced(order: tuple[str, ...]) -> None:
    dbg, ran = three_tools()
    assert dbg.lanes == ["a#a", "b#b", "c#c"]
    for name in order:
        while name not in ran:
            dbg.choose(f"{name}#{name}")
    dbg.until(at("merge", phase="after"))
    assert ran == list(order)
    assert [p.function_response.name for p in dbg.event.content.parts] == ["a", "b", "c"]  # type: ignore[union-attr]
    assert dbg.event.actions.state_delta == {"last": "c"}  # type: ignore[union-attr]  # the later call, whoever ran last
    fork = dbg.fork()
    assert [str(s) + s.lane for s in fork.stops] == [str(s) + s.lane for s in dbg.stops]
    assert ran == list(order)


def test_a_choice_lands_on_a_stop_of_that_lane_and_holds_for_one_step() -> None:
    dbg, _ = three_tools()
    assert dbg.choose("c#c").here.lane == "c#c"  # type: ignore[union-attr]
    assert dbg.step().here.lane == "a#a"  # type: ignore[union-attr]


def test_a_lane_that_is_not_there_is_refused() -> None:
    dbg, _ = three_tools()
    with pytest.raises(UnknownName, match="Did you mean 'a#a'"):
        dbg.choose("a#")
    serial = adknb.step(LlmAgent("x", model=ScriptedModel(["hi"])), "go", runner=in_order)
    with pytest.raises(UnknownName):
        serial.choose("a#a")


def test_agents_side_by_side_have_lanes_too() -> None:
    def member(name: str) -> LlmAgent:
        call = types.Part(function_call=types.FunctionCall(id=f"{name}1", name="look"))

        def look() -> str:
            """Looks."""
            return name

        both = types.Content(role="model", parts=[call, call.model_copy(deep=True)])
        return LlmAgent(name, model=ScriptedModel([both, f"{name} is done"]), tools=[look])

    both = ParallelAgent("both", sub_agents=[member("left"), member("right")])
    dbg = adknb.step(both, "go", runner=interleaved).until(at("basic", agent="left"))
    assert dbg.lanes == ["left", "right"]
    while "right is done" not in [p.text for e in dbg.events for p in e.content.parts]:  # type: ignore[union-attr]
        dbg.choose("right")
    assert "left is done" not in [p.text for e in dbg.events for p in e.content.parts]  # type: ignore[union-attr]
    dbg.until(at(tool="look", agent="left"))
    assert dbg.here.lane == "left/look#left1"  # type: ignore[union-attr]
    assert dbg.resume().error is None
