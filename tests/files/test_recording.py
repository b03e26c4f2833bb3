"""What one can ask a Recording: state, agents, sessions, requests, differences."""

import copy
import json
from pathlib import Path
from typing import Any

import pytest

import adknb
from adknb.engine.errors import BadData
from adknb.files import Recording
from adknb.files.reading import session_of
from adknb.files.walk import walk

Json = dict[str, Any]


def says(author: str, text: str, **fields: Any) -> Json:
    role = "user" if author == "user" else "model"
    return {"author": author, "content": {"role": role, "parts": [{"text": text}]}, **fields}


def writes(author: str, *, text: str = "", **delta: Any) -> Json:
    delta = {key.replace("__", ":"): value for key, value in delta.items()}
    return {**(says(author, text) if text else {"author": author}), "actions": {"stateDelta": delta}}


def calls(author: str, name: str, id: str = "", **args: Any) -> Json:
    call = {"name": name, "args": args, **({"id": id} if id else {})}
    return {"author": author, "content": {"role": "model", "parts": [{"functionCall": call}]}}


def answers(author: str, name: str, id: str = "", **result: Any) -> Json:
    response = {"name": name, "response": result, **({"id": id} if id else {})}
    return {"author": author, "content": {"role": "user", "parts": [{"functionResponse": response}]}}


def recording(*events: Json, **fields: Any) -> Recording:
    return Recording(session_of({"events": list(events), **fields}, "f.json"))


@pytest.mark.parametrize(
    "event, state",
    [
        (0, {"given": 1}),  # `late` is written later: what it was before is not known
        (1, {"given": 1, "late": 1, "app:n": 1, "temp:t": 1}),
        (2, {"given": 1, "late": 1, "app:n": 1, "temp:t": 1, "user:u": 2}),
        (3, {"given": 1, "late": 1, "app:n": 1, "user:u": 2}),  # temp: lives for a turn
        (4, {"given": 1, "late": {"b": 2}, "app:n": 1, "user:u": 2, "gone": None}),  # whole values, no deep merge
    ],
)
def test_the_state_after_an_event(event: int, state: Json) -> None:
    tape = recording(
        says("user", "hi"),
        writes("desk", late=1, app__n=1, temp__t=1),
        writes("desk", text="hello", user__u=2),
        says("user", "more"),
        writes("desk", text="done", late={"b": 2}, gone=None),
        state={"given": 1, "late": {"b": 2}, "app:n": 1, "user:u": 2},
    )
    assert tape.state_at(event) == state


def test_the_state_after_an_event_is_a_copy_and_chunks_write_nothing() -> None:
    tape = recording(
        says("user", "hi"), {**writes("desk", a=[1]), "partial": True}, writes("desk", b=[2]), state={"b": [2]}
    )
    assert tape.state_at(2) == {"b": [2]}
    tape.state_at(2)["b"].append(3)
    assert tape.events[2].actions.state_delta == {"b": [2]}


def test_temp_keys_that_were_given_at_creation_stay() -> None:
    tape = recording(says("user", "hi"), writes("desk", temp__t=2), says("user", "more"), state={"temp:t": 1})
    assert [tape.state_at(i)["temp:t"] for i in range(3)] == [1, 2, 1]


@pytest.mark.parametrize(
    "events, parents",
    [
        ([says("user", "hi"), says("desk", "x")], {"desk": None}),
        (
            [
                calls("boss", "transfer_to_agent", agent_name="guide"),
                says("guide", "x"),
                calls("guide", "transfer_to_agent", agent_name="boss"),
            ],
            {"boss": None, "guide": "boss"},  # the way back makes nobody a parent
        ),
        (
            [
                says("boss", "hi"),
                calls("boss", "transfer_to_agent", agent_name="guide"),
                calls("guide", "transfer_to_agent", agent_name="clerk"),
                calls("clerk", "transfer_to_agent", agent_name="boss"),
            ],
            {"boss": None, "guide": "boss", "clerk": "boss"},  # it goes back to its parent, so it is the guide's peer
        ),
        (
            [
                says("boss", "hi"),
                calls("boss", "transfer_to_agent", agent_name="guide"),
                says("guide", "x"),
                calls("guide", "transfer_to_agent", agent_name="clerk"),
                says("clerk", "x"),
            ],
            {"boss": None, "guide": "boss", "clerk": "guide"},
        ),
        ([says("a", "x", branch="both.a"), says("b", "x", branch="both.b")], {"a": "both", "b": "both", "both": None}),
        ([says("merger", "x", branch="line.both")], {"merger": "both", "both": "line", "line": None}),
        ([says("host", "x"), says("guide", "x", branch="guide@1")], {"host": None, "guide": None}),
        ([{**says("a", "x"), "actions": {"transferToAgent": "b"}}, says("b", "y")], {"a": None, "b": "a"}),
        (
            [says("a", "1", branch="x.y"), says("b", "2", branch="y.x")],
            {"a": "y", "y": "x", "x": None, "b": "x"},
        ),  # no circle
    ],
)
def test_who_stands_under_whom_is_guessed(events: list[Json], parents: Json) -> None:
    assert recording(*events).agents.parents == parents


def test_the_reader_may_know_better() -> None:
    tape = recording(says("user", "hi"), says("boss", "x"), says("guide", "y"))
    tape.agents.put("guide", under="boss")
    assert tape.agents.parents == {"boss": None, "guide": "boss"}
    assert tape.agents.tree() == "boss\n  guide"
    assert tape.agents == ["boss", "guide"]
    with pytest.raises(BadData, match="'guide' stands under 'boss'"):
        tape.agents.put("boss", under="guide")
    assert tape.to_scenario()["agent"]["sub_agents"][0]["name"] == "guide"


def test_a_file_of_several_sessions(tmp_path: Path) -> None:
    path = tmp_path / "two.json"
    sessions = [
        {"id": "a", "events": [says("user", "1")]},
        {"id": "b", "events": [says("user", "2"), says("desk", "3")]},
    ]
    path.write_text(json.dumps(sessions))
    tape = adknb.open(path)
    assert (tape.session_id, len(tape.sessions)) == ("a", 2)
    assert [len(one) for one in tape.sessions] == [1, 2]
    assert tape.sessions[-1].session_id == "b"
    assert [one.session_id for one in tape.sessions[:2]] == ["a", "b"]
    assert adknb.open(path, session="b").events[1].author == "desk"
    assert "two.json, session b" in repr(adknb.open(path, "b"))
    assert recording(says("user", "x")).sessions[0].events[0].author == "user"


ROUND = [says("user", "weather?"), calls("desk", "look", "c1"), answers("desk", "look", "c1", t=26), says("desk", "26")]


def test_requests_are_those_of_the_model_s_events() -> None:
    tape = recording(*ROUND, says("user", "and?"), says("desk", "27"))
    requests = tape.requests()
    assert requests.events == [1, 3, 5]
    assert [len(r.contents) for r in requests] == [1, 3, 5]
    assert requests[-1].event == 5
    assert [r.event for r in requests[:2]] == [1, 3]
    assert all(r.answered for r in requests)


def long(rounds: int, ids: bool = True) -> Recording:
    events = []
    for i in range(rounds):
        one = copy.deepcopy(ROUND)
        for event in one[1:3]:
            part = event["content"]["parts"][0]
            inner = part.get("functionCall") or part["functionResponse"]
            inner.pop("id")
            if ids:
                inner["id"] = f"c{i}"
        events += one
    return recording(*events)


LATE = [
    says("user", "start"),
    calls("desk", "job", "j1"),
    says("desk", "wait"),
    says("user", "so?"),
    says("desk", "soon"),
]
SCENES = {
    "in order": long(6),
    "without ids": long(4, ids=False),
    "late answer": recording(*LATE, answers("user", "job", "j1", ok=True), says("desk", "done"), says("user", "ok"), says("desk", "bye")),
    "two agents": recording(*ROUND, says("guide", "hm"), says("user", "go on"), says("guide", "oh"), says("desk", "ah")),
    "branches": recording(says("user", "x"), *(says(a, t, branch=f"p.{a}") for t in "123" for a in "ab")),
    "model last": recording(says("user", "x"), says("a", "1"), says("a", "2"), says("a", "3")),
    "refused": recording(says("user", "x"), answers("user", "look", "none"), says("a", "1"), says("user", "y"), says("a", "2")),
    "scope": recording(says("user", "x"), calls("host", "scout", "d1", request="r"), *(says("scout", t, isolationScope="d1") for t in "1234")),
    "with silent events": recording(writes("m", a=1), *ROUND, writes("m", a=2), *[says("user", "q"), says("desk", "r")] * 3),
}  # fmt: skip


@pytest.mark.parametrize("scene", SCENES)
def test_a_walk_tells_of_each_request_what_is_new(scene: str) -> None:
    requests = SCENES[scene].requests()
    before: dict[int, Any] = {}
    for told, rebuilt in zip(walk(requests), requests, strict=True):
        assert told is not None
        assert (told.event, told.contents, bool(told.problem)) == (
            rebuilt.event,
            len(rebuilt.contents),
            bool(rebuilt.problem),
        )
        assert told.gone == sum(f.kind in ("left_out", "summarised") for f in rebuilt.fates)
        assert [a.content for a in told.added] == [a.content for a in rebuilt.added]
        before[told.event] = rebuilt
        if told.since is None:
            assert list(told.fates) == rebuilt.fates
            continue
        last = before[told.since]
        assert last.agent == rebuilt.agent
        assert last.contents[: told.same] == rebuilt.contents[: told.same]
        changed = {f.event: f for f in last.fates} | {f.event: f for f in told.fates}
        assert [changed[i] for i in range(rebuilt.before)] == rebuilt.fates


def test_a_walk_leaves_the_earliest_out_when_there_is_too_much_to_rebuild() -> None:
    requests = long(6, ids=False).requests()
    told = list(walk(requests, most=40))
    left_out = [i for i, one in enumerate(told) if one is None]
    assert left_out == list(range(left_out[0], left_out[-1] + 1))
    assert told[-1] is not None


@pytest.mark.parametrize(
    "change, event",
    [
        (lambda events: None, None),
        (lambda events: events[1].update(id="other", timestamp=9.5, invocationId="i"), None),  # differs from run to run
        (lambda events: [e.update(json.loads(json.dumps(e).replace("c1", "z9"))) for e in events[1:3]], None),
        (lambda events: events[2]["content"]["parts"][0]["functionResponse"]["response"].update(t=27), 2),
        (lambda events: events[3].update(author="night"), 3),
        (lambda events: events.pop(), 3),
        (lambda events: events.append(says("user", "more")), 4),
        (lambda events: events[2]["content"]["parts"][0]["functionResponse"].update(id="else"), 2),
    ],
)
def test_two_recordings_are_compared_by_what_they_say(change: Any, event: int | None) -> None:
    events = copy.deepcopy(ROUND)
    change(events)
    told = recording(*ROUND).compare(recording(*events))
    assert (told.event, told.same) == (event, event is None)
    assert ("They say the same" in str(told)) is (event is None)


def test_the_difference_is_told_line_by_line() -> None:
    other = copy.deepcopy(ROUND)
    other[2]["content"]["parts"][0]["functionResponse"]["response"]["t"] = 30
    text = recording(*ROUND, state={"a": 1}).compare(recording(*other, state={"a": 2})).text()
    assert "The first event that differs is 2:" in text
    assert '-            "t": 26' in text.replace("  -", "-") or '"t": 26' in text
    assert '"t": 30' in text
    assert "state: a differs" in text


def test_a_recording_finds_what_the_doctor_finds() -> None:
    found = recording(
        says("user", "hi"), says("desk", "x"), answers("desk", "look", "gone", t=1), says("desk", "y")
    ).findings()
    assert "orphan-response" in [finding.check for finding in found]
