"""Calls and responses: orphans, the latest response, history (R5.15 to R5.26; seed 000, 四.2.7)."""

import logging

import pytest
from google.genai import types

from adknb.engine.errors import UnmatchedResponse
from adknb.engine.event import Event
from tests.engine.histories import call, event, fates, lines, me, other, response, seen, user

A, B, AB = me(call("a")), me(call("b")), me(call("a"), call("b"))
CONTINUE = "user: <continue>"


def ra(result: str = "ok", *more: types.Part | str) -> Event:
    return me(response("a", result), *more)


def rb(result: str = "ok", *more: types.Part | str) -> Event:
    return me(response("b", result), *more)


@pytest.mark.parametrize(
    "history, sent, became",
    [
        ([user("u"), me(response("x"))], ["user: u"], ["kept 0", "left_out R5.15"]),
        ([user("u"), user("t", response("x"))], ["user: u", "user: t"], ["kept 0", "kept 1 R5.15"]),
        (  # the call is somewhere, on another branch or in another scope: no orphan, but no partner either
            [other(call("x"), branch="p.other"), me(response("x")), user("u")],
            ["user: u"],
            ["left_out R5.6", "left_out R5.26", "kept 0"],
        ),
        (  # a call that comes later vouches too
            [me(response("a")), A, user("u")],
            ["model: call a", "user: a=ok", "user: u"],
            ["moved 1 R5.24", "kept 0", "kept 2"],
        ),
        ([user("u"), me(response("")), user("v")], ["user: u", "user: v"], ["kept 0", "left_out R5.26", "kept 1"]),
    ],
)
def test_a_response_whose_call_no_event_makes_is_dropped(
    history: list[Event], sent: list[str], became: list[str]
) -> None:
    assembly = seen(history, branch="p.me")
    assert lines(assembly.contents) == sent
    assert fates(assembly) == became


def test_an_orphan_takes_the_text_of_its_part_along_and_is_warned_of_once(caplog: pytest.LogCaptureFixture) -> None:
    part = response("ghost")
    part.text = "check the budget"
    with caplog.at_level(logging.WARNING, logger="adknb"):
        assembly = seen([user("u"), A, user(part, "kept"), ra()])
    assert [record.getMessage() for record in caplog.records] == [
        "dropping function responses whose call no event has made: 'ghost'"
    ]
    assert [reason.rule for reason in assembly.fates[2].reasons] == ["R5.19", "R5.15", "R5.15"]
    assert "'check the budget'" in assembly.fates[2].reasons[2].why


def test_a_healthy_history_warns_of_nothing(caplog: pytest.LogCaptureFixture) -> None:
    seen([user("u"), A, ra(), me("done")])
    assert not caplog.records


LATEST = [
    # nothing to do: fewer than two events, no response at the end, or the call just before it
    ([ra()], None, ["left_out R5.15"]),
    ([me(response(""))], ["user: =ok"], ["kept 0"]),  # a lone response is sent as it is
    ([A, ra()], ["model: call a", "user: a=ok"], ["kept 0", "kept 1"]),
    # the talk between a call and its late response is dropped, responses are merged, the newest wins
    ([A, user("t"), ra()], ["model: call a", "user: a=ok"], ["kept 0", "left_out R5.19", "kept 1"]),
    (
        [A, ra("pending"), me("wait"), ra("done")],
        ["model: call a", "user: a=done"],
        ["kept 0", "left_out R5.22", "left_out R5.19", "kept 1 R5.22"],
    ),
    (
        [AB, me(response("a", "p1"), response("b", "p2"), "x"), user("t"), rb("done", "y")],
        ["model: call a | call b", "user: a=p1 | b=done | x | y"],
        ["kept 0", "merged 1 R5.22", "left_out R5.19", "merged 1 R5.22"],
    ),
    # the base of a merge gives its role
    (
        [AB, event("me", response("a"), role="function"), rb()],
        ["model: call a | call b", "function: a=ok | b=ok", CONTINUE],
        ["kept 0", "merged 1 R5.22", "merged 1 R5.22"],
    ),
    # other tools' exchanges between stay, and the pair goes behind them
    (
        [A, ra("pending"), B, rb(), ra("done")],
        ["model: call b", "user: b=ok", "model: call a", "user: a=done"],
        ["moved 2 R5.24", "left_out R5.22", "kept 0", "kept 1", "kept 3 R5.22"],
    ),
    # an adjacent call that matches one id hides a mixed response: it is answered behind both calls
    (
        [A, B, me(response("a"), response("b"))],
        ["model: call a", "user: a=ok | b=ok", "model: call b", "user: a=ok | b=ok"],
        ["kept 0", "kept 2", "moved 1 3 R5.25"],
    ),
    # the newest of two calls with the same id is the call
    (
        [A, me("t"), A, me("t"), ra()],
        ["model: t", "model: call a", "user: a=ok", "model: call a", "user: a=ok"],
        ["moved 1 R5.24", "kept 0", "kept 3", "left_out R5.19", "moved 2 4 R5.25"],
    ),
]


@pytest.mark.parametrize("history, sent, became", LATEST)
def test_a_response_that_ends_the_history_goes_to_its_call(
    history: list[Event], sent: list[str] | None, became: list[str]
) -> None:
    assembly = seen(history)
    assert lines(assembly.contents) == (sent or [])
    assert fates(assembly) == became


HISTORY = [
    # a late response moves up to its call; what stood between comes after it
    (
        [A, me("t"), ra(), user("u")],
        ["model: call a", "user: a=ok", "model: t", "user: u"],
        ["kept 0", "kept 2", "moved 1 R5.24", "kept 3"],
    ),
    (
        [A, B, ra(), rb(), user("u")],
        ["model: call a", "user: a=ok", "model: call b", "user: b=ok", "user: u"],
        ["kept 0", "kept 2", "moved 1 R5.24", "kept 3", "kept 4"],
    ),
    # responses of one call event are merged, in the order in which they stand
    (
        [AB, rb("2"), ra("1"), user("u")],
        ["model: call a | call b", "user: b=2 | a=1", "user: u"],
        ["kept 0", "merged 1 R5.22", "merged 1 R5.22", "kept 2"],
    ),
    # an earlier response to the same call disappears, with its texts
    (
        [A, ra("pending", "soon"), me("t"), ra("done"), user("u")],
        ["model: call a", "user: a=done", "model: t", "user: u"],
        ["kept 0", "left_out R5.25", "kept 2", "moved 1 R5.24", "kept 3"],
    ),
    # an unanswered call stays
    ([A, user("u")], ["model: call a", "user: u"], ["kept 0", "kept 1"]),
    # one event answers two: it is sent twice
    (
        [A, B, me(response("a"), response("b")), user("u")],
        ["model: call a", "user: a=ok | b=ok", "model: call b", "user: a=ok | b=ok", "user: u"],
        ["kept 0", "kept 2", "moved 1 3 R5.25", "kept 4"],
    ),
    # two calls with one id both get the last response
    (
        [A, ra("1"), A, ra("2"), user("u")],
        ["model: call a", "user: a=2", "model: call a", "user: a=2", "user: u"],
        ["kept 0", "left_out R5.25", "kept 2", "moved 1 3 R5.25", "kept 4"],
    ),
    # all calls without id share the last response without id
    (
        [me(call("")), me(response("", "1")), me(call(None)), me(response(None, "2")), user("u")],
        ["model: call ", "user: None=2", "model: call None", "user: None=2", "user: u"],
        ["kept 0", "left_out R5.25", "kept 2", "moved 1 3 R5.25", "kept 4"],
    ),
    # an event with a call and a response counts as a response: it moves, and its own call's response is lost
    (
        [A, me("t"), me(response("a"), call("b")), rb(), user("u")],
        ["model: call a", "user: a=ok | call b", "model: t", "user: u"],
        ["kept 0", "kept 2", "moved 1 R5.24", "left_out R5.26", "kept 3"],
    ),
    # one that answers itself is lost
    ([me(call("a"), response("a")), user("u")], ["user: u"], ["left_out R5.26", "kept 0"]),
    # a merge may replace all that one event had, and in another merge not
    (
        [AB, ra("p"), me(response("a", "q"), response("b")), user("u")],
        ["model: call a | call b", "user: a=q | b=ok", "user: u"],
        ["kept 0", "left_out R5.25", "kept 1", "kept 2"],
    ),
    # pairs that the last event answers go to the end, those of other calls stay
    (
        [AB, rb("1"), me(call("c")), me(response("a", "2"), response("c", "3"))],
        ["model: call a | call b", "user: b=1 | a=2 | c=3", "model: call c", "user: a=2 | c=3"],
        ["kept 0", "merged 1 R5.22", "kept 2", "merged 1 3 R5.22"],
    ),
]


@pytest.mark.parametrize("history, sent, became", HISTORY)
def test_every_call_has_its_last_response_right_behind_it(
    history: list[Event], sent: list[str], became: list[str]
) -> None:
    assembly = seen(history)
    assert lines(assembly.contents) == sent
    assert fates(assembly) == became


@pytest.mark.parametrize(
    "history, named",
    [
        # R5.20: the call is foreign, on another branch, in another scope, cut off with its turn, or missing
        ([user("u"), other(call("a")), user(response("a"))], ["event 2", "'a'", "event 1", "'other' is another agent"]),
        ([me(call("a"), branch="p.x"), user("u"), user(response("a"))], ["event 2", "its branch 'p.x' is not 'p.me'"]),
        ([me(call("a"), isolation_scope="s"), user("u"), user(response("a"))], ["event 2", "isolation scope 's'"]),
        ([user("u"), user(response(""))], ["event 1", "no event makes a call with the id ''"]),
        # R5.18: responses that do not belong together
        (
            [me(call("b")), user("u"), me(call("a")), user("v"), user(response("a"), response("b"))],
            ["event 4", "event 2, which makes 'a', but not 'b'", "event of its own"],
        ),
    ],
)
def test_a_last_response_without_a_visible_call_ends_the_run_saying_where_the_call_is(
    history: list[Event], named: list[str]
) -> None:
    with pytest.raises(UnmatchedResponse) as caught:
        seen(history, branch="p.me")
    for words in named:
        assert words in str(caught.value)
