"""The screen pane: what each event adds to a screen behind each filter, and what comes of a chunk as it stands."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from google.genai import types

import adknb
from adknb.engine.event import Event
from adknb.front import OneDocument, XmlAssembler, one_flag, only_author, without_duplicate_final
from adknb.scenarios.streams import DRAW, drawing_line, faulty_stream, safe_stream
from adknb.widgets.screen import Screen, outcome, page, shown_at, streams

SAFE = [("a", True, "He"), ("a", True, "llo"), ("a", False, "Hello"), ("b", True, "Yes"), ("b", False, "Yes")]
CUT = [("a", True, "x<mx"), ("a", True, "file>1</mxfile> bye"), ("a", False, "x<mxfile>1</mxfile> bye")]


def events(rows: list[tuple[str, bool, str]]) -> list[Event]:
    return [
        Event(
            author=author,
            partial=partial,
            content=types.Content(role="model", parts=[types.Part(text=text)]),
            invocation_id="e-1",
        )
        for author, partial, text in rows
    ]


@pytest.mark.parametrize(
    "rows, filters, added",
    [
        (SAFE, (), ["He", "llo", "Hello", "Yes", "Yes"]),
        (SAFE, (without_duplicate_final,), ["He", "llo", "", "Yes", ""]),
        (SAFE, (only_author("b"),), ["", "", "", "Yes", "Yes"]),
        (SAFE, (only_author("b"), without_duplicate_final), ["", "", "", "Yes", ""]),
        (SAFE, (one_flag,), ["He", "llo", "", "Yes", ""]),
        (CUT, (without_duplicate_final, XmlAssembler()), ["", "<mxfile>1</mxfile>", ""]),
        ([], (OneDocument(),), []),
    ],
)
def test_each_event_adds_what_the_filters_let_through(rows: Any, filters: Any, added: list[str]) -> None:
    assert shown_at(events(rows), filters) == added


def line(adapter: Any) -> adknb.Stepper:
    return adknb.step(drawing_line(adapter), DRAW, run_config=adknb.RunConfig("sse"))


def analyst_chunk(adapter: Any) -> adknb.Stepper:
    return line(adapter).until(adknb.at(seam="model", phase="after", agent="analystAgent"))


def as_it_came(dbg: adknb.Stepper) -> None:
    pass


def other_words(dbg: adknb.Stepper) -> None:
    dbg.response.content.parts[0].text = "edited"  # type: ignore[union-attr, index]


def marked_whole(dbg: adknb.Stepper) -> None:
    dbg.response.partial = False  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "adapter, act, key",
    [
        (safe_stream, as_it_came, "# 需求：登录流程，三步"),
        (safe_stream, other_words, "# 需求：登录流程，三步"),  # the whole answer comes behind
        (safe_stream, marked_whole, "# 需求：登录流程，三步"),
        (faulty_stream, as_it_came, "：登录流程，三步"),  # the last fragment
    ],
)
def test_what_comes_of_a_chunk_is_told_and_the_run_stays(
    adapter: Any, act: Callable[[adknb.Stepper], None], key: str
) -> None:
    dbg = analyst_chunk(adapter)
    act(dbg)
    before = (len(dbg.stops), dict(dbg.state), len(dbg.requests))
    made = outcome(dbg)
    assert made["state"] == [["analysis_result", "None", repr(key)]]
    assert (made["agent"], key in made["prompt"]) == ("drawAgent", True)
    assert (len(dbg.stops), dict(dbg.state), len(dbg.requests)) == before


def test_an_edited_last_chunk_of_the_faulty_line_reaches_the_next_prompt_and_is_told_at_once() -> None:
    dbg = analyst_chunk(faulty_stream)
    while "三步" not in (dbg.response.content.parts[0].text or ""):  # type: ignore[union-attr, index]
        dbg.until(adknb.at(seam="model", phase="after", agent="analystAgent"))
    assert page(dbg)["outcome"] is None  # nothing was edited, nothing asked
    other_words(dbg)
    told = page(dbg)["outcome"]
    assert "edited" in told["prompt"] and ["analysis_result", "'edited'"] in [[k, new] for k, _, new in told["state"]]
    assert "drawAgent is told" in repr(Screen(dbg))


def test_no_tool_runs_for_an_outcome() -> None:
    ran: list[int] = []

    def ring() -> dict[str, int]:
        """Ring."""
        ran.append(1)
        return {"n": 1}

    call = types.Content(role="model", parts=[types.Part.from_function_call(name="ring", args={})])
    dbg = adknb.step(adknb.LlmAgent("a", model=adknb.ScriptedModel([call, "done"]), tools=[ring]), "hi")
    dbg.until(adknb.at(seam="model", phase="after"))
    assert outcome(dbg)["at"] == "before tool ring" and ran == []


def test_texts_are_only_ever_text() -> None:
    model = adknb.ScriptedModel([["<img src=x onerror=alert(1)>"]])
    dbg = adknb.step(adknb.LlmAgent("a", model=safe_stream(model)), "hi", run_config=adknb.RunConfig("sse"))
    dbg.resume()
    assert "<img" not in dbg.screen._repr_html_() and "&lt;img" in dbg.screen._repr_html_()


@pytest.mark.parametrize("mode, there", [("", False), ("sse", True)])
def test_the_pane_is_for_runs_that_stream(mode: str, there: bool) -> None:
    dbg = adknb.step(adknb.LlmAgent("a", model=adknb.ScriptedModel(["hi"])), "hi", run_config=adknb.RunConfig(mode))
    assert streams(dbg) is there
