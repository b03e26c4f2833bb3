"""Contents cases: what the viewer is sent, and by which rule the rest is not. Each row is a case of cases.json."""

from __future__ import annotations

import gc
import time
from collections.abc import Iterator
from typing import Any

import pytest

from adknb.engine.errors import UnmatchedResponse
from adknb.engine.event import Event
from adknb.engine.event_json import to_json
from adknb.engine.processors.contents import Viewer, assemble
from adknb.engine.processors.contents.fates import LEFT_OUT, SUMMARISED
from tests.cases import given
from tests.engine.histories import call, heard, lines, me, other, response, spoken, timed, user
from tests.engine.histories import record as summary_of

RULES = {
    "C01": "a late response is found in the whole session",
    "C02": "an unrelated exchange between a call and its late response stays",
    "C04": "a response without a call is dropped and the turn goes on",
    "C05": "of an event with an orphan only the orphan goes",
    "C06": "a text in the very part of an orphan goes with it",
    "C07": "a call without a response is sent as it is",
    "C08": "calls without ids all have the last response without one",
    "C10": "the newest of two responses is moved up to its call and no text is lost",
    "C12": "two response events to one call event are one content in call order",
    "C15": "empty parts and what is left without any are not sent",
    "C17": "the confirmation protocol never reaches the model",
    "C18": "the current turn is found among the events that the viewer may see",
    "C19": "a branch ends at a dot, not at a letter",
    "C20": "a branch that was joined earlier is not seen",
    "C24": "what another agent relays is quoted part by part in Go's JSON",
    "C26": "transcribed fragments of one kind are joined and their role is the kind's",
    "C27": "a summarised long-running call comes back for its late response",
    "C29": "an error event without content is not sent",
    "C30": "another agent's calls and results are text",
    "C31": "one's own tool step belongs to the current turn",
    "C33": "every character arrives as it was written",
    "C34": "a long history keeps its order",
    "X06": "after a transfer the target reads the hand-over as context",
}

VANISHED: dict[str, dict[int, str]] = {
    "C01": {2: "R5.22", 3: "R5.19"},
    "C02": {2: "R5.22"},
    "C04": {3: "R5.15"},
    "C06": {2: "R5.15"},
    "C08": {2: "R5.25"},
    "C10": {3: "R5.25"},
    "C15": {1: "R5.29"},
    "C17": {2: "R5.22", 3: "R5.8", 4: "R5.8"},
    "C18": {1: "R5.6", 3: "R5.6"},
    "C19": {1: "R5.6"},
    "C20": {1: "R5.6", 2: "R5.6"},
    "C26": {4: "R5.29"},
    "C27": {0: "R5.13", 2: "R5.13", 3: "R5.13"},
    "C29": {1: "R5.5"},
    "C31": {0: "R5.3", 1: "R5.3"},
}
"""Case -> events that are not sent as such, and the rule that decided. Of the other cases every event is sent."""


def without_empty_args(contents: Any) -> Any:
    """Absent args and `{}` say the same (README of the cases)."""
    for content in contents:
        for part in content["parts"]:
            if part.get("functionCall", {}).get("args") == {}:
                del part["functionCall"]["args"]
    return contents


@pytest.mark.parametrize("case", given.by_rule(RULES))
def test_the_contents_are_what_adk_go_sends(case: str) -> None:
    expected = given.CASES[case]["expected"][given.CONTENTS]
    assert without_empty_args(to_json(given.assembled(case).contents)) == without_empty_args(expected), given.links(
        case
    )


@pytest.mark.parametrize("case", given.by_rule(RULES))
def test_every_event_has_a_fate_and_those_that_vanish_say_the_rule(case: str) -> None:
    assembly = given.assembled(case)
    assert [fate.event for fate in assembly.fates] == list(range(len(given.events_of(case))))
    gone = {f.event: f.reasons[0].rule for f in assembly.fates if f.kind in (LEFT_OUT, SUMMARISED)}
    assert gone == VANISHED.get(case, {}), given.links(case)
    for fate in assembly.fates:
        assert (fate.contents == ()) is (fate.kind == LEFT_OUT)
        assert all(0 <= at < len(assembly.contents) for at in fate.contents)


@pytest.mark.parametrize("case", given.by_rule(RULES))
def test_the_session_stays_as_it_was(case: str) -> None:
    events = given.events_of(case)
    before = [event.to_json() for event in events]
    for content in assemble(events, given.viewer_of(case)).contents:
        content.role, content.parts = "scribble", []
    assert [event.to_json() for event in events] == before


def test_the_text_that_is_lost_with_an_orphan_is_named_in_its_fate() -> None:
    """C06, google/adk-go#1540."""
    fate = given.assembled("C06").fates[2]
    assert [r.rule for r in fate.reasons] == ["R5.15", "R5.15"]
    assert "'also check the budget'" in fate.reasons[1].why


def test_a_hidden_branch_is_named_in_its_fate() -> None:
    """C20: shown in the debugger, since it is a limit of branches and not a mistake."""
    why = given.assembled("C20").fates[1].reasons[0].why
    assert "'s.p1.a'" in why and "'s.p2.c'" in why


# ----------------------------------------------------------------------------- what the notes of the cases say besides

BOOK = [user("book"), me(call("lro-7"), long_running_tool_ids=["lro-7"]), me(response("lro-7", "pending"))]
BOOKED = [user("book"), me(call("lro-7")), me(response("lro-7", "pending"))]
APPROVED = user(response("lro-7", "approved"))

NOTES = [
    ("C05 two orphans in one event", [user("a"), user(response("g"), "stays", response("h")), user("b")], {},
     ["user: a", "user: stays", "user: b"]),
    ("C06 a text of its own between call and late response", [user("go"), me(call("c")), user("the budget!"), me(response("c"))], {},
     ["user: go", "model: call c", "user: c=ok"]),
    ("C17 an ordinary call beside the protocol goes too",
     [user("x"), me(call("a"), call("c", "adk_request_confirmation")), user("y")], {}, ["user: x", "user: y"]),
    ("C19 one's own parent is seen", [user("pick"), other("42", branch="par"), me("7", branch="par.agent_10")], {"branch": "par.agent_10"},
     ["user: pick", "user: <context> | [other] said: 42", "model: 7", "user: <continue>"]),
    ("C27 without compaction the record does not count", [*timed(*BOOK, me("waiting"), summary_of(1, 4)), APPROVED], {},
     ["user: book", "model: call lro-7", "user: lro-7=approved"]),
    ("C27 without the mark a late response in mid-history is dropped",
     [*timed(*BOOKED, me("waiting"), summary_of(1, 4)), APPROVED, user("so?")], {"compaction": True}, ["model: SUM", "user: so?"]),
    ("C31 nothing visible by anyone else means all of it", [me("answer 1"), me("answer 2")], {"include_contents": "none"},
     ["model: answer 1", "model: answer 2", "user: <continue>"]),
    ("C07 unanswered beside answered", [user("x"), me(call("a"), call("b")), me(response("a")), user("y")], {},
     ["user: x", "model: call a | call b", "user: a=ok", "user: y"]),
]  # fmt: skip


@pytest.mark.parametrize("events, viewer, sent", [row[1:] for row in NOTES], ids=[row[0] for row in NOTES])
def test_what_a_note_of_a_case_says_is_so(events: Any, viewer: dict[str, Any], sent: list[str]) -> None:
    assert lines(assemble(events, Viewer("me", **viewer)).contents) == sent


def test_a_late_response_that_ends_the_history_and_whose_unmarked_call_was_summarised_ends_the_run() -> None:
    """C27: without the mark the call does not come back, and in Go the pairing step refuses the last event."""
    history = [*timed(*BOOKED, me("waiting"), summary_of(1, 4)), APPROVED]
    with pytest.raises(UnmatchedResponse, match=r"R5\.20.*the summary of event 4 stands for it"):
        assemble(history, Viewer("me", compaction=True))


def test_a_part_with_a_signature_alone_is_sent() -> None:
    """C15: only parts without any field set are dropped."""
    signed = me("")
    assert signed.content is not None and signed.content.parts is not None
    signed.content.parts[0].thought_signature = b"sig"
    [_, content, *_] = assemble([user("hi"), signed], Viewer("me")).contents
    assert [part.thought_signature for part in content.parts or []] == [b"sig"]


def test_speech_that_takes_turns_is_not_joined_across_the_other_speaker() -> None:
    """C26: in, out, in, out gives four contents."""
    talk = [heard("a"), spoken("b"), heard("c"), spoken("d")]
    assert lines(assemble(talk, Viewer("me")).contents) == [
        "user: a",
        "model: b",
        "user: c",
        "model: d",
        "user: <continue>",
    ]


@pytest.fixture
def _no_garbage_collection() -> Iterator[None]:
    """Building tens of thousands of events takes twice as long with it."""
    gc.disable()
    yield
    gc.enable()


@pytest.mark.usefixtures("_no_garbage_collection")
def test_forty_thousand_events_are_assembled_in_seconds_and_in_order() -> None:
    """C34, its pattern 10,000 times instead of 25,000: the time grows with the history, not with its square."""

    question, answer = user("q").content, me("a").content

    def history(rounds: int) -> list[Event]:
        made = []
        for n in range(rounds):
            made += [
                Event(author="user", content=question),
                me(call(f"c{n}")),
                me(response(f"c{n}", n)),
                Event(author="me", content=answer),
            ]
        return made

    def seconds(events: list[Event]) -> float:
        began = time.perf_counter()
        assert len(assemble(events, Viewer("me")).contents) == len(events) + 1
        return time.perf_counter() - began

    few = seconds(history(1_000))
    large = history(10_000)
    many = seconds(large)
    assert many < 8
    assert many / few < 40, "ten times the events took more than forty times as long"
    assert lines(assemble(large[-8:], Viewer("me")).contents[-4:]) == [
        "model: call c9999", "user: c9999=9999", "model: a", "user: <continue>",
    ]  # fmt: skip
