"""The eight checks of seed 003, over events of runs good and bad."""

from __future__ import annotations

from typing import Any

import pytest
from google.genai import types

import adknb
from adknb import Event, LlmAgent, LoopAgent, Runner, ScriptedModel, at, event
from adknb.course import key_checks, says
from adknb.engine.context import RunConfig
from adknb.engine.errors import BadData
from adknb.engine.event import EventActions
from adknb.scenarios import DRAW, drawing_line, faulty_stream, safe_stream, scenario, trace
from tests.front.test_front import ANSWER, CALL, chunk, said

NAMES = [
    "author, partial, final and text are there to read",
    "fragments are marked partial",
    "a complete answer closes each stream",
    "the key is written by the complete answer only",
    "the append has applied the delta",
    "one agent speaks, so the screen needs no author filter",
    "no prose stands before the XML",
    "usage figures are not taken for the cure",
]


def verdicts(x: Any, state: Any = None) -> str:
    """One letter a check: y(es), n(o), - (look)."""
    return "".join({True: "y", False: "n", None: "-"}[check.ok] for check in key_checks(x, state))


def wrote(author: str, text: str, key: str = "k", **fields: Any) -> Event:
    return said(author, text, actions=EventActions(state_delta={key: text}), **fields)


def of_scenario(name: str) -> str:
    done = trace(scenario(name))
    return verdicts([e["event"] for e in done["trace"] if e["at"] == "event"], done["session"]["state"])


@pytest.mark.parametrize(
    "name, told",
    [
        ("11a-line-faulty", "ynnny---"),
        ("11b-line-safe", "yyyyy--y"),
        ("f03-a-label-with-one-letter", "ynnny-y-"),
        ("f03-a-label-with-one-letter.mended", "yyyyy-yy"),
        ("05b-the-loop-agent", "yyyyy-yy"),
        ("01a-one-turn", "yyy--yyy"),
        ("10a-transfer", "yyy---yy"),
        ("07a-merging", "yyy-yyyy"),
    ],
)
def test_a_shipped_run_is_told_right(name: str, told: str) -> None:
    assert of_scenario(name) == told


@pytest.mark.parametrize("adapter, told", [(faulty_stream, "ynnny---"), (safe_stream, "yyyyy--y")])
def test_a_run_behind_an_adapter_is_told_right(adapter: Any, told: str) -> None:
    runner = Runner(drawing_line(adapter))
    events = list(runner.run(DRAW, run_config=RunConfig("sse")))
    assert verdicts(events, runner.session_service.get("adknb", "user", "session-1").state) == told
    dbg = adknb.step(drawing_line(adapter), DRAW).resume()
    assert verdicts(dbg) == told  # what is stored, the state with it
    assert verdicts(dbg.session) == told


def test_there_are_eight_in_the_articles_order_each_with_a_name() -> None:
    checks = key_checks([])
    assert [(c.number, c.name) for c in checks] == list(enumerate(NAMES, 1))
    assert verdicts([]) == "nyy--yyy"  # of nothing only the first is missing


def test_the_fault_is_named_with_its_events_and_its_author() -> None:
    done = trace(scenario("11a-line-faulty"))
    checks = key_checks([e["event"] for e in done["trace"] if e["at"] == "event"])
    assert checks[1].events == checks[3].events == tuple(range(8))
    assert 'event 0 writes analysis_result = "#"' in checks[3].found
    assert "analystAgent, drawAgent, reviewerAgent" in checks[2].found
    assert checks[4].ok is None  # the state was not given
    assert str(checks[1]).startswith(
        '2 fragments are marked partial: no. events 0, 1, 2, 3, 4, 5, 6, 7 are fragments and final: "#"'
    )


FRAGMENTS = [
    ("a blank in front", ["#", " need", "s"], "nnn"),
    ("each repeats the last and a little more", ["Three", "Three steps", "Three steps are needed."], "nyn"),
    ("the last is all before it", ["杭州", "26度", "杭州26度"], "nyn"),
    ("what ends a sentence in front", ["Done", "."], "nnn"),
    ("cut inside a tag", ["Ok <mx", "file></mxfile>"], "nnn"),
    ("two drafts of a loop", ["A first draft.", "A better draft."], "yyy"),
    ("two lines of a loop", ["one", "two"], "yyy"),
    ("less than is no tag", ["a < b", "b > a"], "yyy"),
    ("one answer", ["one"], "yyy"),
]


@pytest.mark.parametrize("texts, told", [r[1:] for r in FRAGMENTS], ids=[r[0] for r in FRAGMENTS])
def test_fragments_are_known_by_their_texts(texts: list[str], told: str) -> None:
    assert verdicts([said("user", "x"), *[wrote("a", text) for text in texts]], {"k": texts[-1]})[1:4] == told


NOT_ONE_ANSWER = [
    ("another turn between", [wrote("a", "#"), said("user", "go on"), wrote("a", " need", turn="e-2")]),
    ("a tool round between", [wrote("a", "#"), said("a", CALL), said("a", ANSWER), wrote("a", " need")]),
    ("another agent between", [wrote("a", "#"), wrote("b", "ok"), wrote("a", " need")]),
    ("another branch", [wrote("a", "#", branch="p.a"), wrote("a", " need", branch="q.a")]),
    ("chunks, a whole, and the same again", [chunk("a", "x"), wrote("a", "x"), chunk("a", " x"), wrote("a", " x")]),
]


@pytest.mark.parametrize("events", [r[1] for r in NOT_ONE_ANSWER], ids=[r[0] for r in NOT_ONE_ANSWER])
def test_texts_of_different_answers_are_no_fragments(events: list[Event]) -> None:
    assert verdicts(events)[1:4] == "yyy"


STREAMS = [
    ("chunks without a whole", [chunk("a", "x"), chunk("a", "y")], "yn-"),
    ("a whole first, then chunks", [wrote("a", "P"), chunk("a", "iran"), chunk("a", "esi")], "nnn"),
    ("chunks and the whole", [chunk("a", "x"), chunk("a", "y"), wrote("a", "xy")], "yyy"),
    ("chunks, then a call that closes them", [chunk("a", "Look "), said("a", "Look ", CALL)], "yy-"),
    ("chunks, then another agent's call", [chunk("a", "Look "), said("b", CALL)], "yn-"),
]


@pytest.mark.parametrize("events, told", [r[1:] for r in STREAMS], ids=[r[0] for r in STREAMS])
def test_a_stream_is_closed_by_a_complete_text(events: list[Event], told: str) -> None:
    assert verdicts(events)[1:4] == told


@pytest.mark.parametrize(
    "state, ok",
    [({"k": "v"}, True), ({"k": "other"}, False), ({}, False), (None, None)],
    ids=["as written", "other", "missing", "unknown"],
)
def test_whether_the_append_has_applied_the_delta_is_read_off_the_state(state: Any, ok: Any) -> None:
    assert key_checks([wrote("a", "v")], state)[4].ok is ok


def test_a_temp_key_lives_for_a_turn_and_is_not_missed() -> None:
    assert key_checks([wrote("a", "v", "temp:k")], {})[4].ok is None


def test_usage_figures_beside_unmarked_fragments_are_no_cure() -> None:
    usage = types.GenerateContentResponseUsageMetadata(total_token_count=3)
    events = [wrote("a", "#"), wrote("a", " need", usage_metadata=usage)]
    check = key_checks(events)[7]
    assert (check.ok, check.events) == (False, (1,))
    assert key_checks([wrote("a", "whole", usage_metadata=usage)])[7].ok is True


def test_the_fault_of_the_line_is_found_in_three_pauses_and_mended_by_hand_at_the_chunks() -> None:
    """Notebook 11: five pauses are allowed."""
    dbg = adknb.step(scenario("11a-line-faulty"))
    dbg.until(event(author="analystAgent"))  # pause 1
    assert not dbg.event.partial and dbg.event.is_final_response()
    dbg.until(event(author="analystAgent"))  # pause 2: the first is stored
    assert dbg.state == {"analysis_result": "#"}
    dbg.until(at("instructions", agent="drawAgent"))  # pause 3
    assert says(dbg.request, "：登录流程，三步") and not says(dbg.request, "# 需求")

    dbg = adknb.step(scenario("11a-line-faulty"))
    for text in ("#", " 需求", "：登录流程，三步"):
        dbg.until(at(seam="model", phase="after", agent="analystAgent"))
        assert says(dbg.response, text)
        dbg.response.partial = True
    dbg.resume()
    assert "analysis_result" in str(dbg.error) and dbg.state == {}  # marking is half of it: nothing complete came


def test_a_loop_that_really_ran_is_no_fault() -> None:
    writer = LlmAgent("w", model=ScriptedModel(["Draft one.", "Draft two.", "Draft three."]), output_key="k")
    dbg = adknb.step(LoopAgent("l", sub_agents=[writer], max_iterations=3), "write").resume()
    assert verdicts(dbg) == "yyyyyyyy"


def test_a_recording_can_be_asked(tmp_path: Any) -> None:
    import json

    done = trace(scenario("11a-line-faulty"))
    path = tmp_path / "s.json"
    path.write_text(json.dumps({"id": "s", **done["session"]}, ensure_ascii=False), encoding="utf-8")
    assert verdicts(adknb.open(path)) == "ynnny---"


def test_what_is_no_event_is_named() -> None:
    with pytest.raises(BadData, match=r"events\[1\]"):
        key_checks([{"author": "a"}, {"author": 3}])
