"""A recorded session played again: the same events come of it, and what cannot be brought back is said."""

from typing import Any

import pytest

import adknb
from adknb.engine.errors import BadData
from adknb.files.reading import session_of
from adknb.files.recording import Recording
from adknb.lens.table import event_text, part_texts
from adknb.scenarios import scenario, shipped, trace

Json = dict[str, Any]

NEVER = {
    "03a-who-sees-what": "concierge speaks under no agent of the tree",
    "03c-caught-by-an-open-task": "the same",
    "04b-tidying-up": "results without calls, which no run makes",
    "12a-what-the-summary-hides": "summaries are not made again",
    "12b-the-question-summarised-away": "the same",
    "15a-what-did-my-model-see": "an answer by `model`, which is no agent",
    "16-two-engines": "its past was never run",
}
"""Shipped scenarios whose sessions hold what no run makes."""


def played(name: str) -> Recording | None:
    ran = trace(scenario(name))
    if any(entry["at"] == "error" for entry in ran["trace"]):
        return None
    return Recording(session_of(ran["session"], name))


@pytest.mark.parametrize("name", [name for name in shipped() if name not in NEVER])
def test_the_session_of_a_run_is_played_again_event_for_event(name: str) -> None:
    tape = played(name)
    if tape is None:
        pytest.skip("the run ends with an error, which no session holds")
    told = tape.to_scenario().check()
    assert told.event is None, told.text()


@pytest.mark.parametrize("name", [name for name in shipped() if name not in NEVER])
def test_with_the_definition_it_is_the_same_agent_that_is_played(name: str) -> None:
    tape = played(name)
    if tape is None:
        pytest.skip("the run ends with an error, which no session holds")
    agent = scenario(name)["agent"]
    replay = tape.with_agent(agent).to_scenario()
    assert (replay["agent"]["type"], replay["agent"]["name"]) == (agent["type"], agent["name"])
    assert replay["agent"].get("instruction") == agent.get("instruction")
    assert replay.check().event is None, replay.check().text()


@pytest.mark.parametrize("name", NEVER)
def test_a_session_that_no_run_makes_is_a_scenario_all_the_same(name: str) -> None:
    tape = played(name)
    assert tape is not None
    replay = tape.to_scenario()
    assert trace(dict(replay))["session"]["events"]
    assert replay.unknown


def test_it_can_be_stepped_edited_and_resumed() -> None:
    tape = played("05a-when-does-it-end")
    assert tape is not None
    dbg = adknb.step(tape.to_scenario())
    dbg.until(adknb.at("model", turn=2, step=2))
    assert dbg.request is not None
    seen = [part_texts(content) for content in dbg.request.contents]
    assert seen == [part_texts(content) for content in tape.request_before(6).contents]
    dbg.request.contents.pop()
    dbg.resume()
    assert dbg.here is None
    assert [event_text(e) for e in dbg.events] == [event_text(e) for e in tape.events]
    assert len(dbg.requests[2]["contents"]) == len(seen) - 1


def says(author: str, text: str, **fields: Any) -> Json:
    role = "user" if author == "user" else "model"
    return {"author": author, "content": {"role": role, "parts": [{"text": text}]}, **fields}


def looks(call_id: str, name: str = "look", **args: Any) -> Json:
    call = {"functionCall": {"id": call_id, "name": name, "args": args}}
    return {"author": "desk", "content": {"role": "model", "parts": [call]}}


def recording(*events: Json, **fields: Any) -> Recording:
    return Recording(session_of({"id": "s", "events": list(events), **fields}, "f.json"))


def test_earlier_turns_may_be_the_past() -> None:
    tape = recording(
        says("user", "1", id="e0"), says("desk", "2", id="e1"), says("user", "3"), says("desk", "4"), state={"a": 1}
    )
    replay = tape.to_scenario(from_turn=2)
    assert [e["id"] for e in replay["events"]] == ["e0", "e1"]
    assert len(replay["turns"]) == 1
    dbg = adknb.step(replay)
    dbg.until(adknb.at("model"))
    assert dbg.request is not None
    assert len(dbg.request.contents) == len(tape.request_before(3).contents)


@pytest.mark.parametrize(
    "events, says_so",
    [
        ([says("user", "hi"), says("desk", "x"), {"author": "gone", "actions": {"stateDelta": {"a": 1}}}], "What event 2 wrote"),
        ([says("user", "hi"), says("a", "x"), says("b", "y")], "How a, b are run: nothing in the events says so; taken as a sequence."),
        ([says("user", "hi"), says("a", "x"), says("b", "y"), says("a", "x"), says("b", "y")], "taken as a loop of 2 rounds."),
        (
            [says("user", "hi"), {**says("desk", "x"), "actions": {"compaction": {"startTimestamp": 1, "endTimestamp": 2}}}, says("desk", "y")],
            "The summaries of event 1",
        ),
        ([says("user", "hi"), looks("c", "transfer_to_agent", agent_name="desk"), says("desk", "x")], "What came after event 1: a transfer to oneself"),
        ([says("user", "hi"), looks("c"), says("desk", "x")], "What the tools answered to event 1: their results are not in it."),
        ([says("user", "hi"), {**says("desk", "x"), "content": {"role": "model", "parts": [{"weird": 1}, {"text": "x"}]}}], "All of event 1: it holds"),
    ],
)  # fmt: skip
def test_what_cannot_be_brought_back_is_said(events: list[Json], says_so: str) -> None:
    assert says_so in " ".join(recording(*events).to_scenario().unknown)


def test_after_a_call_without_a_recorded_result_the_model_is_asked_again() -> None:
    replay = recording(says("user", "hi"), looks("c"), looks("d"), says("desk", "So.")).to_scenario()
    assert len(replay["agent"]["model"]["calls"]) == 3
    played = trace(dict(replay))
    assert [e["author"] for e in played["session"]["events"]] == ["user", *["desk"] * 5]
    assert not any(entry["at"] == "error" for entry in played["trace"])


def test_a_turn_that_was_broken_off_is_broken_off_again() -> None:
    replay = recording(says("user", "hi"), looks("c")).to_scenario()
    assert replay["turns"][0]["stop_after"] == 1
    assert replay.check().event is None


def test_a_loop_that_is_guessed_ends_where_each_turn_ended() -> None:
    turns = [says("user", "1"), says("a", "2"), says("b", "3"), says("a", "4")], [says("user", "5"), says("a", "6")]
    replay = recording(*turns[0], *turns[1]).to_scenario()
    assert replay["agent"]["type"] == "loop"
    ran = trace(dict(replay))
    assert [e["content"]["parts"][0]["text"] for e in ran["session"]["events"]] == ["1", "2", "3", "4", "5", "6"]
    assert not any(entry["at"] == "error" for entry in ran["trace"])


@pytest.mark.parametrize(
    "events, turn, message",
    [
        ([], 1, "f.json: the user says nothing in it"),
        ([says("desk", "x")], 1, "f.json: the user says nothing in it"),
        ([says("user", "hi")], 1, "f.json: no agent says anything in it"),
        ([says("user", "hi"), says("desk", "x")], 2, "f.json: there is no turn 2: the session has turns 1 to 1"),
        ([says("user", "hi"), says("desk", "x")], 0, "f.json: there is no turn 0"),
        ([says("user", "hi"), says("desk", "x")], "1", "f.json: there is no turn '1'"),
    ],
)
def test_what_cannot_be_played_is_refused(events: list[Json], turn: Any, message: str) -> None:
    with pytest.raises(BadData) as caught:
        recording(*events).to_scenario(turn)
    assert str(caught.value).startswith(message)
