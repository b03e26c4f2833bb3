"""Which events an agent sees: current turn, branch, scope, protocol (R5.1 to R5.8; seed 000, 四.2.1 to 2.3 and 2.5)."""

from typing import Any

import pytest
from google.genai import types

from adknb.engine.event import Event
from adknb.engine.processors.contents import Fate, Reason, event_belongs_to_branch
from tests.engine.histories import (
    call,
    event,
    fates,
    heard,
    lines,
    me,
    other,
    record,
    response,
    seen,
    spoken,
    timed,
    user,
)

CONTINUE = "user: <continue>"
OLD_AND_NEW = [user("old"), me("answer"), user("new"), me(call("a")), me(response("a"))]
ALL = ["user: old", "model: answer", "user: new", "model: call a", "user: a=ok"]
TURN = ["user: new", "model: call a", "user: a=ok"]


@pytest.mark.parametrize(
    "viewer, sent",
    [
        ({}, ALL),
        ({"include_contents": "default"}, ALL),
        ({"include_contents": "none"}, TURN),
        ({"include_contents": "None"}, ALL),  # an unknown word counts as any other
        ({"bound_mode": "single_turn"}, TURN),
        ({"bound_mode": "single_turn", "include_contents": "default"}, ALL),  # the explicit wish wins
        ({"bound_mode": "single_turn", "include_contents": "none"}, TURN),
        ({"bound_mode": "chat", "mode": "single_turn"}, ALL),
        ({"mode": "single_turn"}, ALL),  # declared without a placement
        ({"bound_mode": "task"}, ALL),
    ],
)
def test_history_is_hidden_by_include_contents_or_by_a_single_turn_placement(
    viewer: dict[str, Any], sent: list[str]
) -> None:
    assert lines(seen(OLD_AND_NEW, **viewer).contents) == sent


HIDDEN = {"branch": "p.me"}


@pytest.mark.parametrize(
    "history, viewer, sent",
    [
        ([user("u"), other("o"), me("m")], {}, ["user: <context> | [other] said: o", "model: m", CONTINUE]),
        ([user("u"), event("", "nobody"), me("m")], {}, ["user: <context> | [] said: nobody", "model: m", CONTINUE]),
        # content is not looked at: a state-only event of another agent begins the turn, and nothing is left
        ([user("u"), me("m"), Event(author="other")], {}, []),
        ([user("u"), me("m"), user(response("k", name="adk_request_confirmation"))], {}, []),
        # events that the agent does not see begin nothing
        ([user("u"), other("x", branch="p.other"), me("m", branch="p.me")], HIDDEN, ["user: u", "model: m", CONTINUE]),
        ([user("u"), other("x", isolation_scope="s"), me("m")], {}, ["user: u", "model: m", CONTINUE]),
        # a late result that begins the turn is sent alone; its call, out of the turn, keeps it from being an orphan
        ([user("u"), me(call("a")), user(response("a"))], {}, ["user: a=ok"]),
        ([me("one"), me("two")], {}, ["model: one", "model: two", CONTINUE]),  # no beginning: everything stays
    ],
)
def test_the_turn_begins_at_the_last_visible_event_by_somebody_else(
    history: list[Event], viewer: dict[str, Any], sent: list[str]
) -> None:
    assert lines(seen(history, include_contents="none", **viewer).contents) == sent


def test_a_cut_event_is_told_what_began_the_turn_and_why_history_is_cut() -> None:
    first, *_ = seen(OLD_AND_NEW, include_contents="none").fates
    assert first == Fate(
        0,
        "left_out",
        (
            Reason("turn", "R5.3", "the current turn starts later, at event 2 by 'user'"),
            Reason("turn", "R5.2", "include_contents is 'none': only the current turn is sent"),
        ),
        (),
    )
    assert "bound to single_turn" in seen(OLD_AND_NEW, bound_mode="single_turn").fates[0].reasons[1].why


@pytest.mark.parametrize(
    "made, visible",
    [
        (user("t"), True),
        (user(""), True),  # parts are not looked at yet
        (Event(author="user"), False),
        (event("user", "t", role=""), False),
        (Event(author="user", content=types.Content(role="user", parts=[])), False),
        (Event(author="user", content=types.Content(role="user")), False),
        (heard("t"), True),
        (heard(""), True),
        (spoken(""), True),
        (event("user", "t", role="", input_transcription=types.Transcription(text="x")), True),
    ],
)
def test_an_event_needs_a_role_and_parts_or_a_transcription(made: Event, visible: bool) -> None:
    (fate,) = seen([made]).fates
    assert (fate.reasons[0].rule != "R5.5") is visible


@pytest.mark.parametrize(
    "event_branch, agent_branch, visible",
    [
        ("", "", True),
        ("", "root.a", True),
        ("root.a", "", True),
        ("root.a", "root.a", True),
        ("root", "root.a", True),  # a parent's history
        ("root", "root.a.b", True),
        ("root.a", "root", False),  # not a child's
        ("root.b", "root.a", False),
        ("root.a", "root.ab", False),  # names that merely begin alike
        ("roo", "root.a", False),
        ("a", "root.a", False),
        ("agent_1.agent_20", "agent_1.agent_2", False),
    ],
)
def test_an_agent_sees_its_own_branch_and_those_above(event_branch: str, agent_branch: str, visible: bool) -> None:
    assert event_belongs_to_branch(agent_branch, event_branch) is visible
    sent = seen([user("t", branch=event_branch)], branch=agent_branch).contents
    assert bool(sent) is visible


@pytest.mark.parametrize(
    "event_scope, agent_scope, visible",
    [("", "", True), ("s", "s", True), ("", "s", False), ("s", "", False), ("s.t", "s", False), ("S", "s", False)],
)
def test_an_agent_sees_its_own_scope_only(event_scope: str, agent_scope: str, visible: bool) -> None:
    sent = seen([user("t", isolation_scope=event_scope)], isolation_scope=agent_scope).contents
    assert bool(sent) is visible


@pytest.mark.parametrize("name", ["adk_request_confirmation", "adk_request_credential"])
@pytest.mark.parametrize("part", [call, response])
def test_events_of_the_protocol_go_whole(name: str, part: Any) -> None:
    assembly = seen([user("u"), me("text", call("b"), part("k", name=name)), user("v")])
    assert lines(assembly.contents) == ["user: u", "user: v"]
    assert fates(assembly) == ["kept 0", "left_out R5.8", "kept 1"]
    assert name in assembly.fates[1].reasons[0].why


def test_every_refusal_is_named_the_first_one_first() -> None:
    hidden = other(call("k", name="adk_request_credential"), branch="root.a", isolation_scope="fc-1")
    assembly = seen([me(call("fc-1")), hidden], branch="root.b")
    assert assembly.fates[1].reasons == (
        Reason("filter", "R5.6", "its branch 'root.a' is not 'root.b' and 'root.b' does not start with 'root.a.'"),
        Reason(
            "filter",
            "R5.7",
            "its isolation scope 'fc-1' is not '', and only an equal scope is visible; 'fc-1' is a call of event 0",
        ),
        Reason(
            "filter",
            "R5.8",
            "it holds 'adk_request_credential', which applications and framework exchange and no model sees",
        ),
    )


@pytest.mark.parametrize(
    "made, missing", [(Event(author="me"), "there is none"), (me("t", role=""), "its role is empty")]
)
def test_an_event_without_content_is_told_what_is_missing(made: Event, missing: str) -> None:
    assert missing in seen([made]).fates[0].reasons[0].why


def test_compaction_records_count_for_nothing_where_compaction_is_off() -> None:
    holder = record(1, 2)
    holder.content = me("own content", call("a")).content
    history = timed(user("1"), me("2"), holder, me(response("a")), me("5"))
    assembly = seen(history)
    assert lines(assembly.contents) == ["user: 1", "model: 2", "model: 5", CONTINUE]
    assert fates(assembly) == ["kept 0", "kept 1", "left_out R5.1", "left_out R5.15", "kept 2"]
    # nor does it start a turn, although it is by `user`
    assert lines(seen(history, include_contents="none").contents)[0] == "user: 1"
