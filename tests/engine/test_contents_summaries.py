"""Compaction summaries stand for what they cover (R5.13, spec/compaction.md §9; seed 000, 四.2.6)."""

from typing import Any

import pytest

from adknb.engine.event import Event
from tests.engine.histories import call, fates, heard, lines, me, other, record, response, seen, timed, user

CONTINUE = "user: <continue>"


def talk(*later: Event) -> list[Event]:
    """u1 a2 u3 a4 at times 1 to 4, then what is given."""
    return timed(user("u1"), me("a2"), user("u3"), me("a4"), *later)


def test_a_history_without_records_is_left_alone() -> None:
    assert lines(seen(talk(user("u5")), compaction=True).contents) == [
        "user: u1",
        "model: a2",
        "user: u3",
        "model: a4",
        "user: u5",
    ]


SUM, END = "model: SUM", "user: end"


@pytest.mark.parametrize(
    "records, sent, became",
    [
        # where its first covered event stood, in the role it has
        (
            [record(2, 3)],
            ["user: u1", SUM, "model: a4"],
            "kept 0 · summarised 1 R5.13 · summarised 1 R5.13 · kept 2 · kept 1 R5.13",
        ),
        (
            [record(1, 4)],
            [SUM],
            "summarised 0 R5.13 · summarised 0 R5.13 · summarised 0 R5.13 · summarised 0 R5.13 · kept 0 R5.13",
        ),
        # nothing covered: where the record stands
        ([record(9, 9)], ["user: u1", "model: a2", "user: u3", "model: a4", SUM], None),
        # no summary, or a range that ends before it starts: no effect at all, and the record is never shown
        ([record(1, 4, None)], ["user: u1", "model: a2", "user: u3", "model: a4"], None),
        ([record(4, 1)], ["user: u1", "model: a2", "user: u3", "model: a4"], None),
        # what is excluded stays
        ([record(1, 4, excluded=[3])], [SUM, "user: u3"], None),
        # a range in a wider one goes, whichever comes first; of equal ones the later stays
        ([record(1, 2, "old"), record(1, 3)], [SUM, "model: a4"], None),
        ([record(1, 3), record(1, 2, "new")], [SUM, "model: a4"], None),
        ([record(1, 3, "old"), record(1, 3)], [SUM, "model: a4"], None),
        # ... unless the wider one excludes what the other covers
        ([record(2, 3, "in"), record(1, 4, excluded=[3])], [SUM, "model: in"], None),
        ([record(2, 3, "in", [3]), record(1, 4, excluded=[3])], [SUM, "user: u3"], None),
        # of equal ranges the one with fewer exclusions stays
        ([record(1, 3), record(1, 3, "less", [3])], [SUM, "model: a4"], None),
        # ... but one that excludes what it does not reach anyway makes the other superfluous too, and both are gone
        ([record(1, 3), record(1, 3, "later", [9])], ["user: u1", "model: a2", "user: u3", "model: a4"], None),
        ([record(1, 3, "first", [9]), record(1, 3)], [SUM, "model: a4"], None),
        # ranges that only overlap are both shown
        ([record(1, 2, "one"), record(2, 3, "two")], ["model: one", "model: two", "model: a4"], None),
        ([record(2, 3, "two"), record(1, 2, "one")], ["model: one", "model: two", "model: a4"], None),
    ],
)
def test_a_summary_stands_for_the_events_of_its_range(
    records: list[Event], sent: list[str], became: str | None
) -> None:
    assembly = seen(talk(*records, user("end")), compaction=True)
    assert lines(assembly.contents) == [*sent, END]
    if became is not None:
        assert " · ".join(fates(assembly)[:-1]) == became


def test_an_event_behind_the_record_is_not_covered_whatever_its_time() -> None:
    late = user("late", timestamp=2.0)
    assert lines(seen(talk(record(1, 4), late), compaction=True).contents) == [SUM, "user: late"]


def test_a_subsumed_or_useless_record_is_told_why() -> None:
    history = talk(record(1, 2, "old"), record(1, 4), record(1, 9, None), record(4, 1), user("end"))
    became = seen(history, compaction=True).fates
    assert [fate.kind for fate in became[4:]] == ["left_out", "kept", "left_out", "left_out", "kept"]
    assert became[4].reasons[0].why == "the compaction record of event 5 covers all that its own does"
    assert became[5].reasons[0].why.startswith("its summary stands for event 0, event 1, event 2 and event 3")
    assert became[6].reasons[0].rule == "R5.5"
    assert "ends before it starts" in became[7].reasons[0].why
    assert became[0].reasons[0].why == "the summary of event 5 stands for it"


@pytest.mark.parametrize(
    "viewer, sent",
    [
        ({"branch": "p.me"}, ["user: u1", "model: a2", "user: u3", "model: a4"]),  # the record is on a sibling's branch
        ({"branch": "p.x"}, [SUM]),
        ({"branch": ""}, [SUM]),
    ],
)
def test_a_record_counts_only_where_it_is_visible(viewer: dict[str, Any], sent: list[str]) -> None:
    history = talk(record(1, 4, branch="p.x"), user("end"))
    assert lines(seen(history, compaction=True, **viewer).contents) == [*sent, END]


def test_a_record_starts_the_current_turn_and_hides_the_question() -> None:
    history = talk(user("question"), record(1, 4))
    assert lines(seen(history, compaction=True, include_contents="none").contents) == [SUM, CONTINUE]


def test_a_summary_by_another_agent_is_not_told_as_context_and_an_excluded_event_of_it_stays() -> None:
    foreign = record(1, 3, excluded=[2])
    foreign.author = "other"
    history = timed(user("u1"), other("o2"), me("a3"), foreign, user("end"))
    assert lines(seen(history, compaction=True).contents) == [SUM, "user: <context> | [other] said: o2", END]


def test_covered_speech_is_not_heard_again() -> None:
    history = timed(heard("x"), record(1, 1), heard("y"))
    assert lines(seen(history, compaction=True).contents) == [SUM, "user: y"]


def lro(*ids: str) -> Event:
    return me(*map(call, ids), long_running_tool_ids=list(ids))


def test_a_summarised_long_running_call_comes_back_before_its_late_response() -> None:
    history = timed(user("u"), lro("a"), me(response("a", "pending")), record(1, 3), user(response("a", "done")))
    assembly = seen(history, compaction=True)
    assert lines(assembly.contents) == [SUM, "model: call a", "user: a=done"]
    assert fates(assembly) == ["summarised 0 R5.13", "moved 1 R5.13", "summarised 0 R5.13", "kept 0 R5.13", "kept 2"]
    assert "'a' is answered later, by event 4" in assembly.fates[1].reasons[0].why


def test_the_siblings_of_a_call_that_comes_back_bring_their_newest_response() -> None:
    history = timed(
        lro("a", "b"),
        me(response("b", "1")),
        me(response("b", "2")),
        record(1, 3),
        me("t"),
        user(response("a", "done")),
    )
    assembly = seen(history, compaction=True)
    assert lines(assembly.contents) == [SUM, "model: t", "model: call a | call b", "user: b=2 | a=done"]
    assert fates(assembly)[:3] == ["moved 2 R5.13", "summarised 0 R5.13", "merged 3 R5.22"]


def test_a_summarised_call_that_is_not_long_running_stays_summarised_and_its_response_goes() -> None:
    history = timed(me(call("a")), record(1, 1), me(response("a")), user("end"))
    assembly = seen(history, compaction=True)
    assert lines(assembly.contents) == [SUM, END]
    assert fates(assembly) == ["summarised 0 R5.13", "kept 0 R5.13", "left_out R5.26", "kept 1"]


def test_what_a_summary_without_words_covers_is_left_out() -> None:
    assembly = seen(talk(record(1, 4, ""), user("end")), compaction=True)
    assert lines(assembly.contents) == [END]
    assert fates(assembly) == ["left_out R5.13"] * 4 + ["left_out R5.29", "kept 0"]


@pytest.mark.parametrize(
    "named, stays",
    [
        (0.0, True),
        (0.0000004, True),  # what a store with fewer digits has cut off
        (0.000001, False),
        (-0.000001, False),
    ],
)
def test_an_exclusion_names_an_event_to_the_microsecond(named: float, stays: bool) -> None:
    now = 1_767_225_600.000001
    holder = record(now - 1, now + 1)
    assert holder.actions.compaction is not None
    holder.actions.compaction.excluded = [("i", now + named), ("another", now)]
    history = [user("t", timestamp=now, invocation_id="i"), holder, user("end", timestamp=now + 2)]
    assert ("user: t" in lines(seen(history, compaction=True).contents)) is stays
