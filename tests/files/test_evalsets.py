"""Evaluation sets, old and new: each case a session of what is expected."""

import json
from pathlib import Path
from typing import Any

import pytest

import adknb
from adknb.engine.errors import BadData
from adknb.files.evalsets import eval_sessions
from adknb.lens.table import event_text

SAMPLES = Path(__file__).parent / "samples"
Json = dict[str, Any]


def lines(session: Any) -> list[str]:
    return [f"{e.author}: {event_text(e)}" for e in session.events]


def old(*turns: Json, **fields: Any) -> list[Json]:
    return [{"name": "dice", "data": list(turns), **fields}]


def use(name: str, **args: Any) -> Json:
    return {"tool_name": name, "tool_input": args}


def told(author: str, text: str) -> Json:
    return {"author": author, "text": text}


@pytest.mark.parametrize(
    "turns, expected",
    [
        (
            [{"query": "Roll!", "expected_tool_use": [use("roll", sides=17)], "reference": "13"}],
            ["user: Roll!", "agent: call roll(sides=17)", "agent: 13"],
        ),
        ([{"query": "Hi", "reference": "", "expected_tool_use": []}], ["user: Hi"]),
        (  # who speaks on the way is who spoke at all
            [{"query": "Hi", "expected_intermediate_agent_responses": [told("desk", "wait")], "reference": "hello"}],
            ["user: Hi", "desk: wait", "desk: hello"],
        ),
        (  # a hand-over makes its target the speaker, for the turns that follow too
            [
                {
                    "query": "Hi",
                    "expected_tool_use": [use("transfer_to_agent", agent_name="guide"), use("look", at="map")],
                    "expected_intermediate_agent_responses": [
                        told("desk", "I hand you over"),
                        told("guide", "Looking"),
                    ],
                    "reference": "north",
                },
                {"query": "And then?", "reference": "east"},
            ],
            [
                "user: Hi",
                "desk: I hand you over",
                'desk: call transfer_to_agent(agent_name="guide")',
                "guide: Looking",
                'guide: call look(at="map")',
                "guide: north",
                "user: And then?",
                "guide: east",
            ],
        ),
    ],
)
def test_an_old_case_becomes_a_session(turns: list[Json], expected: list[str]) -> None:
    (session,) = eval_sessions(old(*turns), "f")
    assert lines(session) == expected
    assert session.session_id == "dice"
    assert session.expectations


def test_calls_of_an_old_case_get_ids_that_no_model_sees() -> None:
    (session,) = eval_sessions(old({"query": "Roll!", "expected_tool_use": [use("roll"), use("roll")]}), "f")
    ids = [p.function_call.id for e in session.events[1:] for p in e.content.parts]  # type: ignore[union-attr]
    assert ids == ["adk-eval-1", "adk-eval-2"]
    assert any("adk-eval-" in note for note in session.notes)
    assert any("order" in note for note in session.notes)


def test_the_beginning_of_an_old_case_is_its_state() -> None:
    start = {"state": {"cart": []}, "app_name": "shop", "user_id": "ann", "mood": "good"}
    (session,) = eval_sessions(old({"query": "Hi"}, initial_session=start, colour="red"), "f")
    assert (session.state, session.state_known, session.app_name, session.user_id) == (
        {"cart": []},
        True,
        "shop",
        "ann",
    )
    assert session.extra == {"colour": "red", "session_input": {"mood": "good"}}


def test_the_new_format_as_google_adk_writes_it() -> None:
    tape = adknb.open(SAMPLES / "new.evalset.json")
    assert lines(tape) == [
        "user: Where is my parcel?",
        "desk: One moment.",
        'desk: call track(order="O-88")',
        'desk: answer track → {"where":"Lyon"}',
        'desk: call track(order="O-89")',
        "desk: In Lyon.",
        "user: A guide, please",
        'desk: call transfer_to_agent(agent_name="guide")',
        "desk: answer transfer_to_agent → {}",
        "guide: Plant in autumn.",
    ]
    assert [e.invocation_id for e in tape.events[::6]] == ["inv-1", "inv-2"]
    assert (tape.app_name, tape.user_id, tape.state) == ("shop", "ann", {"cart": ["spade"]})
    assert [one.session_id for one in tape.sessions] == ["parcel", "simulated"]
    assert any("simulated" in note for note in tape.sessions[1].notes)
    assert tape.extra["eval_set"]["name"] == "Garden shop"


@pytest.mark.parametrize(
    "uses, results, pairs",
    [
        ([("a", "1"), ("a", "2")], [("a", "2", "y"), ("a", "1", "x")], ["x", "y"]),  # by id
        ([("a", None), ("a", None)], [("a", None, "x"), ("a", None, "y")], ["x", "y"]),  # by name, in order
        ([("a", None), ("b", None)], [("b", None, "y"), ("a", None, "x")], ["x", "y"]),
    ],
)
def test_each_call_of_a_new_case_has_its_own_result(uses: Any, results: Any, pairs: list[str]) -> None:
    case = {
        "evalId": "c",
        "conversation": [
            {
                "userContent": {"parts": [{"text": "hi"}]},
                "intermediateData": {
                    "toolUses": [{"name": n, "id": i} for n, i in uses],
                    "toolResponses": [{"name": n, "id": i, "response": {"r": r}} for n, i, r in results],
                },
            }
        ],
    }
    (session,) = eval_sessions(case, "f")
    got = [
        p.function_response
        for e in session.events
        for p in (e.content.parts if e.content else []) or []
        if p.function_response
    ]
    assert [r.response["r"] for r in got] == pairs  # type: ignore[index]
    called = [p.function_call.id for e in session.events for p in e.content.parts if p.function_call]  # type: ignore[union-attr]
    assert called == [r.id for r in got]


def test_an_unknown_field_of_a_turn_stays_with_its_message() -> None:
    case = {
        "eval_id": "c",
        "conversation": [{"user_content": {"parts": [{"text": "hi"}]}, "rubrics": [{"rubric_id": "r"}]}],
    }
    (session,) = eval_sessions(case, "f")
    assert session.events[0].extra == {"case/rubrics": [{"rubric_id": "r"}]}


def test_the_results_of_an_evaluation_are_the_sessions_that_ran(tmp_path: Path) -> None:
    result = {
        "eval_set_result_id": "r1",
        "eval_case_results": [
            {
                "eval_id": "parcel",
                "final_eval_status": 2,
                "session_id": "s1",
                "session_details": {"id": "s1", "events": [{"author": "user", "content": {"parts": [{"text": "hi"}]}}]},
            },
            {"eval_id": "lost", "session_id": "s2"},
        ],
    }
    path = tmp_path / "r.evalset_result.json"
    path.write_text(json.dumps(json.dumps(result)))  # older versions wrote JSON inside of a JSON text
    tape = adknb.open(path)
    assert [one.session_id for one in tape.sessions] == ["s1", "s2"]
    assert (lines(tape), tape.kind, tape.extra["final_eval_status"]) == (["user: hi"], "evaluation result", 2)
    assert not tape.expectations


@pytest.mark.parametrize(
    "value, message",
    [
        ([{"name": "a", "data": [{}]}], "f: [0].data[0].query: expected a text, found null"),
        ([{"name": "a", "data": {}}], "f: [0].data: expected a list, found an object"),
        ([{"query": 5}], "f: [0].query: expected a text, found a number 5"),
        (
            [{"name": "a", "data": [{"query": "q", "expected_tool_use": [3]}]}],
            "f: [0].data[0].expected_tool_use[0]: expected an",
        ),
        ({"eval_set_id": "e", "eval_cases": 5}, "f: eval_cases: expected a list, found a number 5"),
        ({"eval_set_id": "e", "eval_cases": [5]}, "f: eval_cases[0]: expected an object, found a number 5"),
        (
            {"eval_id": "e", "conversation": [{"user_content": "hi"}]},
            "f: conversation[0].user_content: expected an object, found a text 'hi'",
        ),
        (
            {"eval_id": "e", "conversation": [{"intermediate_data": {"intermediate_responses": [["desk"]]}}]},
            "f: conversation[0].intermediate_responses[0]: expected [author, parts], found a list of 1",
        ),
        ({"eval_id": 5, "conversation": []}, "f: eval_id: expected a text, found a number 5"),
    ],
)
def test_a_malformed_case_is_named(value: Any, message: str) -> None:
    with pytest.raises(BadData) as caught:
        eval_sessions(value, "f")
    assert str(caught.value).startswith(message)
