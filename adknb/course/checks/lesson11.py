"""The checks of lesson 11: a screen's two filters and a streaming adapter of the reader's own (seed 003)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from google.genai import types

from adknb.course.checks.trying import verdict, want
from adknb.engine.event import Event
from adknb.engine.llm_agent import LlmAgent
from adknb.front import shown
from adknb.scenarios import ScriptedModel
from adknb.stepper import step


def said(author: str, text: str, partial: bool = False) -> Event:
    """An event in which an agent says something: a chunk, or a whole answer."""
    return Event(author=author, partial=partial, content=types.Content(role="model", parts=[types.Part(text=text)]))


def asks(author: str) -> Event:
    """An event in which an agent calls a tool."""
    call = types.Part(function_call=types.FunctionCall(id="c", name="look", args={}))
    return Event(author=author, content=types.Content(role="model", parts=[call]))


STREAMS: dict[str, tuple[list[Event], str]] = {
    "two agents in a row": (
        [said("a", "1", partial=True), said("a", "1"), said("b", "2", partial=True), said("b", "2")],
        "12",
    ),
    "an agent that answers in one piece behind one that streams": (
        [said("a", "1", partial=True), said("a", "1"), said("b", "2")],
        "12",
    ),
    "whole answers only": ([said("a", "1"), said("a", "2")], "12"),
    "a tool in between": (
        [said("a", "1", partial=True), said("a", "1"), asks("a"), said("a", "2", partial=True), said("a", "2")],
        "12",
    ),
    "the same words twice, by two agents": ([said("a", "1", partial=True), said("a", "1"), said("b", "1")], "11"),
}
"""What comes, and what a screen shows of it."""

DRAWINGS = "<mxfile><diagram>1</diagram></mxfile>", '<mxfile host="app"><diagram>2</diagram></mxfile>'
PLAN = "# plan: three steps"


@verdict
def check_shown_once(mine: Callable[[Iterable[Event]], Iterable[Event]]) -> str:
    """11 A: a filter of events after which no answer is shown twice and none is lost."""
    for case, (events, expected) in STREAMS.items():
        got = shown(mine(list(events)))
        want(got == expected, f"{case}: expected {expected!r} on the screen, got {got!r}")
    return f"{len(STREAMS)} streams, a tool in between among them."


@verdict
def check_xml_alone(mine: Callable[[], Any]) -> str:
    """11 B: `mine().accept(text)` gives the texts to send on: XML documents alone, however the answer is cut in two."""
    answer = f"Sure. {DRAWINGS[0]} And: {DRAWINGS[1]} That is all."
    for at in range(len(answer) + 1):
        xml = mine()
        got = "".join([*xml.accept(answer[:at]), *xml.accept(answer[at:])])
        want(got == "".join(DRAWINGS), f"cut into {answer[:at]!r} and {answer[at:]!r}: sent {got!r}")
    want("".join(mine().accept("No drawing today.")) == "", "an answer without XML: something is sent")
    return f"two documents in one answer, cut at {len(answer) + 1} places."


@verdict
def check_adapter(mine: Callable[[Any], Any]) -> str:
    """11 C: a function that takes a model that streams whole-looking chunks, and gives one that marks them."""
    for cut in range(1, len(PLAN)):
        model = mine(ScriptedModel([[PLAN[:cut], PLAN[cut:]]]))
        run = step(LlmAgent("analystAgent", model=model, output_key="analysis_result"), "go").resume()
        where = f"cut into {PLAN[:cut]!r} and {PLAN[cut:]!r}"
        want(run.error is None, f"{where}: the run ended with {run.error}")
        key = run.state.get("analysis_result")
        want(key == PLAN, f"{where}: the key holds {key!r}")
        told = [said_by(event) for event in run.events[1:]]
        want(told == [PLAN], f"{where}: stored is {told}")
    return f"{len(PLAN) - 1} cuts, one whole answer stored for each."


def said_by(event: Event) -> str:
    """An event's text."""
    parts: Sequence[types.Part] = (event.content.parts if event.content else None) or []
    return "".join(part.text or "" for part in parts)
