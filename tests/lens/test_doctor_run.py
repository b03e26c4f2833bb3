"""The doctor on a run of our own, finished or on its way; and on sessions that somebody has tampered with."""

import copy
import json
from collections.abc import Iterator
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adknb import LlmAgent, SequentialAgent
from adknb.engine.errors import BadData
from adknb.engine.event import Event
from adknb.engine.tool import FunctionTool
from adknb.lens.doctor import examine, findings_of_run, session_from_json
from tests.lens.doctor_sessions import delta, fc, me, needs, result, user, vectors


def stored(*events: dict[str, Any]) -> list[Event]:
    return [Event.from_json(event) for event in events]


def look(q: str = "") -> dict[str, Any]:
    """A tool."""
    return {"v": 1}


ROUND = stored(user("Go"), me(fc("c1")), result("c1"), me("Ok.", **delta(k="Ok.")))


def test_a_finished_run_is_examined_with_its_agents_and_its_state() -> None:
    root = LlmAgent("me", tools=[look], output_key="k", instruction="Read {plan}.")
    assert [f.check for f in findings_of_run(ROUND, {"k": "Ok."}, root)] == ["state-key-unwritten"]
    assert [f.check for f in findings_of_run(ROUND, {"k": "Ok.", "plan": "x"}, root)] == []
    assert [f.check for f in findings_of_run(ROUND, {"k": "other", "plan": "x"}, root)] == ["state-disagrees"]


@pytest.mark.parametrize(
    "root, finds",
    [
        (LlmAgent("me", tools=[look], output_key="k"), []),
        (LlmAgent("me", output_key="k"), ["unknown-tool-called"]),
        (LlmAgent("me", tools=[look], output_key="j"), ["output-key-misses-text"]),
        (LlmAgent("me", tools=[look], instruction="{gone}"), ["state-key-unwritten"]),
        (LlmAgent("me", tools=[look], instruction=lambda ctx: "{gone}"), []),
        (LlmAgent("you", sub_agents=[LlmAgent("it")]), ["unknown-author"]),
        (SequentialAgent("line", sub_agents=[LlmAgent("me", tools=[look])]), []),
    ],
)
def test_an_agent_s_own_settings_are_its_definition(root: Any, finds: list[str]) -> None:
    assert [finding.check for finding in findings_of_run(ROUND, {"k": "Ok."}, root)] == finds


def test_a_long_running_tool_of_the_agent_may_keep_its_call_open() -> None:
    events = stored(user("Go"), me(fc("c1")))
    waiting = LlmAgent("me", tools=[FunctionTool(look, long_running=True)])
    assert findings_of_run(events, root=waiting) == []
    assert [f.check for f in findings_of_run(events, root=LlmAgent("me", tools=[look]))] == ["unanswered-call"]


@pytest.mark.parametrize(
    "events, finished, running",
    [
        ([user("Go"), me(fc("c1"))], ["unanswered-call"], []),
        ([user("Go"), me(fc("c1")), user("And?"), me("Hm.")], ["unanswered-call"], ["unanswered-call"]),
        ([user("Go"), me("")], ["empty-answer"], ["empty-answer"]),
        ([user("Go"), me(fc("c1", "pay")), needs("c1"), {"author": "me", "actions": {"stateDelta": {"k": 1}}}], ["confirmation-unanswered"], []),
    ],
)  # fmt: skip
def test_what_the_next_step_can_still_bring_is_no_finding_while_a_run_is_paused(
    events: list[Any], finished: list[str], running: list[str]
) -> None:
    assert [finding.check for finding in findings_of_run(stored(*events))] == finished
    assert [finding.check for finding in findings_of_run(stored(*events), running=True)] == running


def test_the_requests_of_a_run_are_examined_as_they_were_sent() -> None:
    sent = {"agent": "me", "event": 1, "config": {"tools": [{"functionDeclarations": [{"name": "book"}]}]}, "tools": []}
    [finding] = findings_of_run(stored(user("Hi"), me("Hello.")), requests=[sent])
    assert (finding.check, finding.events, finding.facts["declared_only"]) == ("tool-table-mismatch", (1,), ["book"])
    with pytest.raises(BadData, match=r"requests\[0\]\.event: expected the position of an event, 0 to 1, found 7"):
        findings_of_run(stored(user("Hi"), me("Hello.")), requests=[{"event": 7}])


def test_what_a_reader_of_the_run_received_has_chunks() -> None:
    chunks = stored(user("Hi"), me("Hel", partial=True), me("Hello."))
    assert findings_of_run(chunks, stream=True) == []
    assert [finding.check for finding in findings_of_run(chunks)] == ["partial-misused"]


# ------------------------------------------------------------------------------------------------------------ tampered

SMALL = [vector["session"] for vector in vectors() if len(json.dumps(vector["session"])) < 5_000]
JUNK = [None, 0, -1, 1.5, "", "x", "user", [], {}, True, [None], {"a": None}, "c1", "k1", 1e308, "\ud800"]


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place in a JSON value."""
    for key, item in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield (*path, key)
        yield from places(item, (*path, key))


def tampered(draw: Random) -> Any:
    """A vector's session with some of its values gone, replaced or doubled."""
    data = copy.deepcopy(draw.choice(SMALL))
    for _ in range(draw.choice([1, 1, 2, 3])):
        *way, last = draw.choice(list(places(data)) or [("events",)])
        at = data
        for key in way:
            at = at[key]
        if draw.random() < 0.3:
            del at[last]
        elif isinstance(at, list) and draw.random() < 0.4:
            at.insert(last, copy.deepcopy(at[last]))
        else:
            at[last] = copy.deepcopy(draw.choice(JUNK))
        if not data:
            break
    return data


@settings(max_examples=300, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_a_session_that_was_tampered_with_is_examined_or_refused(seed: int) -> None:
    data = tampered(Random(seed))
    try:
        read = session_from_json(data)
    except BadData:
        return
    told = [finding.to_json() for finding in examine(read)]
    assert json.loads(json.dumps(told)) == told
