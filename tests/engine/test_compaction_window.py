"""Which events are summed up (spec/compaction.md 5, 9.3, 9.4, 12.3), on histories in a line."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adknb.engine.compaction.coverage import Coverage, latest_record, records_of, represents, subsumes
from adknb.engine.compaction.record import summary_event
from adknb.engine.compaction.window import before_group, self_contained, sliding_window, tail_window
from adknb.engine.event import Event, function_calls_of, function_responses_of
from adknb.engine.platform import counted
from adknb.engine.processors.contents import Viewer, assemble
from tests.engine.compaction_notation import history, names


@pytest.mark.parametrize(
    "line, retain, window",
    [
        ("u1 a1 u2 a2", 1, "u1 a1 u2"),
        ("u1 a1", 2, ""),  # not more candidates than are kept
        ("u1 a1", 9, ""),
        ("", 1, ""),
        # the question being answered is held back, what follows it is not
        ("u1 a1 u2%now", 1, "u1"),
        ("u1 a1 u2%now F(x)%now R(x)%now a2%now", 1, "u1 a1 F(x) R(x)"),
        ("u1%now", 1, ""),
        ("u1%now F(x)%now u2 R(x)%now a2%now", 1, "F(x) u2 R(x)"),  # resumed: the original question, not the answer
        ("<1..2!>%now#b u1 a1 u2%now a2", 1, "u1 a1"),  # a record is no question
        # a cut never parts events of one time
        ("u1@1 a1@2 u2@2 a2@3", 2, "u1"),
        ("u1@5 a1@10 u2@12 a2@7", 1, "u1"),
        ("u1@1 a1@1 u2@1", 1, ""),
        ("u1@3 a1@2 u2@4", 1, "u1 a1"),  # out of order, and yet nothing to part
        # events without content take part, and take up places
        ("u1 a1 . .", 2, "u1 a1"),
        ("u1 . a1 u2", 1, "u1 . a1"),
    ],
)
def test_all_but_the_newest_events_are_summed_up(line: str, retain: int, window: str) -> None:
    assert names(tail_window(history(line), retain, "now")) == window


@pytest.mark.parametrize(
    "line, retain, window",
    [
        ("u1 a1#b u2", 1, "u1"),
        ("a1#b a2#b u1 u2", 1, "a1 a2"),  # the first candidate's branch, whoever runs
        ("u1~s a1~s a2 u2", 1, "u1 a1"),
        ("u1 u2 a1#b", 1, "u1 u2"),
    ],
)
def test_a_window_is_of_one_branch_and_one_scope(line: str, retain: int, window: str) -> None:
    assert names(tail_window(history(line), retain, "now")) == window


@pytest.mark.parametrize(
    "line, window",
    [
        ("u1 F(x) R(x) u2", "u1 F(x) R(x)"),
        ("u1 F(x) u2 a2", "u1"),
        ("u1 F(x)+F(y) R(x) R(y) u2", "u1 F(x)+F(y) R(x) R(y)"),
        ("u1 F(x)+F(y) R(x) u2 a2", "u1"),
        ("u1 R(x)+F(y) R(y) u2", "u1 R(x)+F(y) R(y)"),  # a response closes before a call of the same event opens
        ("u1 R(x)+F(x) u2 a2", "u1"),
        ("u1 F() R() u2", "u1"),  # a call without id is never answered
        ("F() R() u1 a1", "R() u1"),  # not even the very first event's, by a response without id
        # a request for a confirmation opens the answered call again, and its own call besides
        ("u1 F(x) R(x)+C(x) F(ask) u2 a2", "u1"),
        ("u1 F(x) R(x)+C(x) F(ask) R(ask) u2 a2", "u1"),
        ("u1 F(x) R(x)+C(x) F(ask) R(ask) R(x) a2", "u1 F(x) R(x)+C(x) F(ask) R(ask) R(x)"),
        # the cut before a group does not ask again whether anything is open (14.4)
        ("u1@1 F(a)@2 R(a)@3 F(b)@3 u2@4 a2@5", "u1 F(a)"),
        ("u1@1 a1@2 F(b)@2 u2@4 a2@5", "u1"),
    ],
)
def test_no_tool_exchange_is_summed_up_in_halves(line: str, window: str) -> None:
    assert names(tail_window(history(line), 1, "now")) == window


@pytest.mark.parametrize(
    "line, window",
    [
        ("F(p) u1 a1 u2 a2", "u1 a1 u2"),
        ("F(p)+F(c) R(c) u1 a1", "u1"),
        ("F(p)+F(c) u1 R(c) a1 u2", "a1"),  # not what answers a call that was left
        ("F(p) F(q) u1 R(q) a1 u2", "F(q) u1 R(q) a1"),
        ("u1#x F(p)#x u2#x a1#x a2#x", "u1"),  # a prefix is there: no later start is looked for
        ("F(p) F(q) F(r) u1", ""),
        ("R(x)+C(x) u1 a1", "u1"),  # an open confirmation blocks as well
        ("F(p) u1@2 F(q)@2 u2@2 a2", "u2"),  # u1 is of the time of F(q), so it cannot go
        ("F(p) u1 a1", "u1"),
    ],
)
def test_behind_an_unanswered_call_at_the_head_a_later_start_is_found(line: str, window: str) -> None:
    assert names(tail_window(history(line), 1, "now")) == window


@pytest.mark.parametrize(
    "line, window",
    [
        ("u1 a1 <1..2> u2 a2 u3", "SUM u2 a2"),
        ("u1 a1 u2 <1..2> a2", "SUM u2"),
        ("u1 a1 u2 <1..3> a2 u3", "SUM a2"),
        ("u1 a1 u2 <1..3-2> a2", "SUM a1"),  # an exclusion is a candidate again
        ("u1@1 a1@2 <1..2>@3 a2@2 u3@4", "SUM a2"),  # a record covers nothing behind it
        ("u1 a1 <1..2> u2", ""),
        # the last of those that no other makes superfluous
        ("u1 a1 <1..1> <1..2> u2 a2", "SUM u2"),
        ("u1 a1 u2 a2 <1..4> <2..3> u3 a3", "SUM u3"),
        # another branch's or scope's record hides, but is not rolled on (14.3)
        ("u1 a1 <1..2>~s u2 a2", "u2"),
        ("u1 a1 <1..2>#b u2 a2", "u2"),
        # even a record without a summary hides, and is rolled on
        ("u1 a1 <1..2!> u2 a2", "SUM u2"),
        ("u1 a1 <1..2> <0..9!> u2@10 a2@11", "SUM u2"),
    ],
)
def test_what_a_record_covers_is_not_summed_up_again_but_for_its_summary(line: str, window: str) -> None:
    assert names(tail_window(history(line), 1, "now")) == window


@pytest.mark.parametrize(
    "line, last",
    [
        ("u1", None),
        ("<1..2> <3..4>", "<3..4>"),
        ("<1..9> <3..4>", "<1..9>"),  # the wide one, although older
        ("<1..2> <1..2>", "<1..2>"),
        ("<1..5> <4..8>", "<4..8>"),
        ("<1..9-3> <2..4>", "<2..4>"),  # excludes what the narrow one stands for
        ("<1..9-3> <2..4-3>", "<1..9-3>"),
        ("<1..9-12> <2..4>", "<1..9-12>"),  # an exclusion outside is none of its business
        ("<1..9!> <3..4>", "<3..4>"),  # nothing is superfluous beside a record without summary
        ("<1..9> <1..9!>", "<1..9!>"),
    ],
)
def test_the_latest_record_is_the_last_that_no_other_makes_superfluous(line: str, last: str | None) -> None:
    found = latest_record(history(line))
    assert (found and found.id) == last


def test_of_two_equal_records_the_later_stays() -> None:
    events = history("u1 <1..1> <1..1>")
    assert latest_record(events) is events[2]


def test_a_seed_is_the_old_summary_by_the_model_at_the_start_of_its_range() -> None:
    events = history("u1#b a1#b <1..2>#b u2#b a2#b")
    seed, *rest = tail_window(events, 1, "now")
    old = events[2].actions.compaction
    assert old is not None
    assert (seed.author, seed.timestamp, seed.branch, seed.content) == ("model", 1, "b", old.compacted_content)
    assert seed.actions.compaction is old
    assert names(rest) == "u2"


@pytest.mark.parametrize(
    "line, cut, moved",
    [
        ("u1@1 a1@2 u2@2 a2@3", 2, 1),
        ("u1 a1 u2", 2, 2),
        ("u1 a1", 0, 0),
        ("u1@1 a1@1", 2, 2),  # nothing stands behind
        ("u1@9 a1@9 u2@1", 2, 0),
    ],
)
def test_a_cut_moves_back_until_what_is_before_it_is_older(line: str, cut: int, moved: int) -> None:
    assert before_group(history(line), cut) == moved


def test_a_second_answer_to_a_call_opens_nothing() -> None:
    assert names(self_contained(history("F(x) R(x) R(x)"))) == "F(x) R(x) R(x)"


# ------------------------------------------------------------------------------------------------------- sliding window


@pytest.mark.parametrize(
    "line, interval, overlap, window",
    [
        ("u1%1 a1%1", 2, 0, ""),
        ("u1%1 a1%1 u2%2 a2%2", 2, 0, "u1 a1 u2 a2"),
        ("u1%1 a1%1 u2%2 a2%2 u3%3", 2, 0, "u1 a1 u2 a2"),  # never more than the interval
        ("u1%1 u2%2 <1..2>%r u3%3", 2, 0, ""),
        ("u1%1 u2%2 <1..2>%r u3%3 u4%4", 2, 0, "u3 u4"),  # no summary is summed up again
        ("u1%1 u2%2 <1..2>%r u3%3 u4%4", 2, 1, "u2 u3 u4"),
        ("u1%1 u2%2 <1..2>%r u3%3 u4%4", 2, 9, "u1 u2 u3 u4"),
        ("u1%1 a1%1 <1..1>%r u2%2", 2, 0, "a1 u2"),  # half summed up is new, and its summed up half stays out
        ("u1%1 a1%1 u2%2 <2..3>%r u3%3", 2, 0, "u1 u3"),
        ("u1%1 a1%1 u2%2 a2%1", 1, 0, "u1 a1 u2 a2"),  # one slice, whatever lies between
        ("u1%1 .%1 u2%2", 2, 0, "u1 . u2"),
        ("u1%1 a1%1#b u2%2", 2, 0, "u1"),
        ("F(p)%1 u1%1 u2%2", 2, 0, "u1 u2"),
        ("u1%1 F(x)%1 u2%2", 2, 0, "u1"),
        ("u1%1@1 a1%2@2 F(x)%2@2", 2, 0, "u1"),
        ("", 1, 0, ""),
    ],
)
def test_the_sliding_window_sums_up_whole_invocations(line: str, interval: int, overlap: int, window: str) -> None:
    assert names(sliding_window(history(line), interval, overlap)) == window


# ------------------------------------------------------------------------------------------------------------- records


@pytest.mark.parametrize(
    "line, retain, span, excluded",
    [
        ("u1 a1 u2", 1, (1, 2), []),
        ("u1 a1 u2%now F(x)%now R(x)%now a2%now", 1, (1, 5), [("now", 3)]),  # the question that was held back
        ("F(p) u1 a1 u2 a2", 1, (2, 4), []),
        ("u1@5 a1@6 u2@2 a2@9", 1, (2, 6), []),
        ("u1@1 a1@7#b a2@2 u2@9", 1, (1, 1), []),
        ("u1@1 a1@5 u2@3%x a2@9 a3@10", 3, (1, 1), []),
        ("u1@1 a1@6 a2@3%x#b u2@9", 1, (1, 6), [("x", 3)]),  # another branch's event
        ("u1@1 a1@6 a2@3%x#b a3@3%x#b u2@9", 1, (1, 6), [("x", 3)]),  # named once
        ("u1@2 a1@6 u2@2%old#b u3@9", 1, (2, 6), [("old", 2)]),  # named although one in the window has the same name
        # a rolled summary brings its start along, and what it stands for is no exclusion
        ("u1 a1 <1..2> u2 a2 u3", 1, (1, 5), []),
        ("u1 a1 u2%now <1..3-2> a2 u3", 1, (1, 5), []),
        ("u1 F(p) u2 <1..3-2> u4 a4 u5", 1, (1, 6), [("old", 2)]),  # still not summed up
    ],
)
def test_a_record_spans_its_window_and_names_what_it_leaves_out(
    line: str, retain: int, span: tuple[float, float], excluded: list[tuple[str, float]]
) -> None:
    events = history(line)
    made = recorded(events, tail_window(events, retain, "now")).actions.compaction
    assert made is not None
    assert (made.start_timestamp, made.end_timestamp) == span
    assert made.excluded == excluded


def recorded(events: list[Event], window: list[Event]) -> Event:
    summary = history("a1")[0].content
    assert summary is not None
    return summary_event(window, events, summary, None, counted())


# ---------------------------------------------------------------------------------------------------------- properties


def within(time: int, span: str) -> bool:
    """Records that were made by adknb exclude nothing outside of their range."""
    start, end = map(int, span[1:].split(".."))
    return start <= time <= end


TIMES = st.integers(1, 9)
SPANS = st.tuples(TIMES, TIMES).map(lambda span: f"<{min(span)}..{max(span)}")
RECORDS = st.tuples(SPANS, st.sets(TIMES, max_size=2), st.sampled_from(["", "", "!"])).map(
    lambda r: f"{r[0]}{''.join(f'-{t}' for t in r[1] if within(t, r[0]))}{r[2]}>"
)
ITEMS = st.sampled_from(["u", "a", ".", "F(x)", "R(x)", "F(y)", "R(y)", "R(x)+C(x)", "F()"])
WORDS = st.tuples(
    st.one_of(ITEMS, ITEMS, RECORDS),
    TIMES,
    st.sampled_from(["", "#b"]),
    st.sampled_from(["", "~s"]),
    st.sampled_from("123"),
).map(lambda w: f"{w[0]}@{w[1]}{w[2]}{w[3]}%{w[4]}")
HISTORIES = st.lists(WORDS, max_size=14).map(" ".join)


@settings(max_examples=60, deadline=None)
@given(HISTORIES)
def test_coverage_is_what_it_is_by_its_definition(line: str) -> None:
    events = history(line)
    records = records_of(events)
    coverage = Coverage(records)
    for at, event in enumerate(events):
        by = {i for i, record in records.items() if i > at and represents(record, event)}
        assert set(coverage.of(at, event)) == by


def by_the_letter(events: list[Event]) -> list[Event]:
    """Rules 5.6 to 5.8 as they are written, without a thought for how long it takes."""

    def left_open(events: list[Event]) -> set[str]:
        ids: set[str] = set()
        for at, event in enumerate(events):
            ids -= {r.id for r in function_responses_of(event.content) if r.id}
            ids |= {c.id or f"none {at}" for c in function_calls_of(event.content)}
            ids |= set(event.actions.requested_tool_confirmations)
        return ids

    for start in range(len(events)):
        before = events[start - 1]
        traffic = function_calls_of(before.content) or function_responses_of(before.content)
        if start and not (traffic or before.actions.requested_tool_confirmations):
            continue
        rest = events[start:]
        length = max((n for n in range(len(rest) + 1) if not left_open(rest[:n])), default=0)
        run = rest[: before_group(rest, length)]
        answers = {r.id for event in run for r in function_responses_of(event.content)}
        if run and not answers & left_open(events[:start]):
            return run
    return []


TRAFFIC = st.lists(st.tuples(ITEMS, TIMES).map(lambda w: f"{w[0]}@{w[1]}"), max_size=10).map(" ".join)


@settings(max_examples=150, deadline=None)
@given(st.one_of(TRAFFIC, st.lists(ITEMS, max_size=12).map(" ".join)))
def test_runs_are_those_of_the_rules_by_the_letter(line: str) -> None:
    events = history(line)
    assert names(self_contained(events)) == names(by_the_letter(events))


def test_a_blocked_head_of_a_long_history_costs_no_more_than_any() -> None:
    """It was quadratic once: a minute at each model call of a session with 5,000 events."""
    events = history("F(p)+F(q) " + " ".join(f"u{n} F({n}) R({n})" for n in range(700)) + " R(q) a1")
    begun = time.perf_counter()
    assert names(tail_window(events, 1, "now")) == ""
    assert time.perf_counter() - begun < 1


@settings(max_examples=60, deadline=None)
@given(HISTORIES, st.integers(1, 3), st.sampled_from(["1", "2"]))
def test_a_record_stands_for_nothing_that_was_not_summed_up(line: str, retain: int, now: str) -> None:
    events = history(line)
    for window in (tail_window(events, retain, now), sliding_window(events, retain, 1)):
        if not window:
            continue
        record = recorded(events, window)
        made = record.actions.compaction
        assert made is not None
        rolled = [e.actions.compaction for e in window if e.actions.compaction is not None]
        known = {id(e) for e in window}
        for event in events:
            if event.actions.compaction is None and represents(made, event):
                assert id(event) in known or any(represents(old, event) for old in rolled)
        assert len({(e.branch, e.isolation_scope) for e in [record, *window]}) == 1


@settings(max_examples=60, deadline=None)
@given(st.lists(st.one_of(st.just("u"), RECORDS), max_size=8).map(" ".join))
def test_a_prompt_shows_the_summaries_that_no_other_makes_superfluous(line: str) -> None:
    events = history(line)
    usable = {i: r for i, r in records_of(events).items() if r.compacted_content is not None}
    shown = {
        f"sum {events[i].id}"
        for i, record in usable.items()
        if not any(subsumes(j, other, i, record) for j, other in usable.items() if j != i)
    }
    contents = assemble(events, Viewer("me", compaction=True), continuation=False).contents
    texts = {part.text for content in contents for part in content.parts or ()}
    assert {text for text in texts if text and text.startswith("sum")} == shown
