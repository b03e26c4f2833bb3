"""Which events are summed up: the window.

Notation in the examples: `u1` a user's text, `a1` an agent's, `F(x)` `R(x)` a call and its response, `@5` a time.

Go: internal/compactioninternal/tail_retention.go, selectTailRetentionWindow; internal/compactioninternal/window.go,
selectSlidingWindow, trimToOneScope, longestSelfContainedPrefix, skipBlockedHead
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from heapq import heappop, heappush
from itertools import accumulate

from adknb.engine.compaction.coverage import Coverage, latest_record, records_of
from adknb.engine.event import Event, EventActions, function_calls_of, function_responses_of

Key = tuple[int, str]
"""What is open: (0, id), or (n, "") for the n-th event's call without id, which nothing can ever answer."""


def tail_window(events: Sequence[Event], retention: int, invocation_id: str) -> list[Event]:
    """What tail retention sums up: all but the newest events that no record covers; empty if there is nothing.

    The first event of the running invocation is held back: it is the question that is being answered. What follows it
    may go. An earlier summary of the same branch and scope comes first, so that the new one replaces it (5.1-5.9).

    u1 a1 u2 F(x) R(x), retain 1, u2 being answered -> u1 a1

    Go: internal/compactioninternal/tail_retention.go, selectTailRetentionWindow
    """
    records = records_of(events)
    question = _question_id(events, invocation_id)
    coverage = Coverage(records)
    candidates = [
        event
        for at, event in enumerate(events)
        if at not in records and not (question and event.id == question) and not coverage.covers(at, event)
    ]
    if len(candidates) <= retention:
        return []
    window = self_contained(one_place(candidates[: before_group(candidates, len(candidates) - retention)]))
    return _seed(events, window) + window


def _question_id(events: Sequence[Event], invocation_id: str) -> str:
    """The id of the invocation's first event; on a resumed invocation that is the original question."""
    for event in events:
        if invocation_id and event.invocation_id == invocation_id and event.actions.compaction is None:
            return event.id
    return ""


def _seed(events: Sequence[Event], window: Sequence[Event]) -> list[Event]:
    """The standing summary as an event in front of the window, if it belongs to the same branch and scope (5.9)."""
    latest = latest_record(events) if window else None
    if latest is None or latest.actions.compaction is None or _place(latest) != _place(window[0]):
        return []
    record = latest.actions.compaction
    return [
        Event(
            id=latest.id,
            author="model",
            content=record.compacted_content,
            timestamp=record.start_timestamp,
            branch=latest.branch,
            isolation_scope=latest.isolation_scope,
            actions=EventActions(compaction=record),
        )
    ]


def sliding_window(events: Sequence[Event], interval: int, overlap: int) -> list[Event]:
    """What the sliding window sums up: whole invocations; empty while fewer than `interval` are new (12.3).

    An invocation is new while one of its events is covered by no record. The window reaches from `overlap` invocations
    before the first new one to the `interval`-th new one; what is covered already comes in only by overlap.
    Summaries are never summed up again.

    invocations 1 2, none covered, interval 2 -> both;   1 2 covered, 3 4 new, overlap 1 -> 2 3 4

    Go: internal/compactioninternal/window.go, selectSlidingWindow
    """
    records = records_of(events)
    coverage = Coverage(records)
    covered = [at in records or coverage.covers(at, event) for at, event in enumerate(events)]
    order: dict[str, int] = {}
    new: set[int] = set()
    for at, event in enumerate(events):
        if at not in records and event.invocation_id:
            number = order.setdefault(event.invocation_id, len(order))
            if not covered[at]:
                new.add(number)
    if not new or len(new) < interval:
        return []
    first_new, last = min(new), sorted(new)[interval - 1]
    first = max(0, first_new - overlap)

    def is_out(at: int) -> bool:
        return at in records or (covered[at] and order.get(events[at].invocation_id, 0) >= first_new)

    left = {at: order[e.invocation_id] for at, e in enumerate(events) if e.invocation_id in order and not is_out(at)}
    starts = [at for at, number in left.items() if number >= first]
    ends = [at for at, number in left.items() if number <= last]
    if not starts or not ends:
        return []
    # one slice, whatever lies between: an event left out of it would still lie in the record's range
    return self_contained(one_place([events[at] for at in range(starts[0], ends[-1] + 1) if not is_out(at)]))


# ------------------------------------------------------------------------------------------------------------ the parts


def before_group(events: Sequence[Event], cut: int, start: int = 0) -> int:
    """Move a cut back, to `start` at most, until what is before it is older than what stands right behind it.

    A record's range includes its end, so an event of the same time would be covered without having been summed up.

    u1@1 a1@2 | u2@2 a2@3 -> u1@1 | a1@2 u2@2 a2@3

    Go: internal/compactioninternal/window.go, trimToTimestampBoundary
    """
    if start < cut < len(events):
        behind = events[cut].timestamp
        while cut > start and events[cut - 1].timestamp >= behind:
            cut -= 1
    return cut


def _place(event: Event) -> tuple[str, str]:
    return event.branch, event.isolation_scope


def one_place(events: Sequence[Event]) -> list[Event]:
    """The leading events of one branch and scope, which the record will belong to (5.5).

    Go: internal/compactioninternal/window.go, trimToOneScope
    """
    for at, event in enumerate(events):
        if _place(event) != _place(events[0]):
            return list(events[:at])
    return list(events)


def self_contained(events: Sequence[Event]) -> list[Event]:
    """The longest run that leaves no tool exchange in halves: from the start, else behind what blocks it (5.6-5.8).

    A later start is right behind tool traffic, and its run may not answer a call that was left before it. A run ends
    where nothing is open, and then before a group of equal times; that second cut does not ask again whether anything
    is open, so it can part a call from its response (14.4).

    u1 F(a) R(a) F(b) -> u1 F(a) R(a)
    F(p) u1 a1 u2     -> u1 a1 u2         p is never answered: its call stays raw

    Go: internal/compactioninternal/window.go, longestSelfContainedPrefix, skipBlockedHead
    """
    newest_open, exchanges = _follow(events)
    reach = list(accumulate(reversed(newest_open), min))[::-1]  # the least of what follows, so that it can be searched
    exchanges.reverse()
    answers: list[int] = []  # to the calls that a start leaves before it, the next one first
    for start in range(len(events)):
        while exchanges and exchanges[-1][0] < start:
            heappush(answers, exchanges.pop()[1])
        while answers and answers[0] < start:
            heappop(answers)
        if start and not _is_tool_traffic(events[start - 1]):
            continue
        cut = before_group(events, bisect_left(reach, start), start)  # behind the last event with nothing newer open
        if cut > start and not (answers and answers[0] < cut):
            return list(events[start:cut])
    return []


def _follow(events: Sequence[Event]) -> tuple[list[int], list[tuple[int, int]]]:
    """What is open after each event, and the exchanges that come to an end.

    The first list says where the newest of what is open was opened, -1 if nothing is: a run that starts behind there
    and ends here is balanced. The second has (opened, answered) of each exchange, in the order of opening.
    """
    first_opened: dict[Key, int] = {}
    last_opened: dict[Key, int] = {}  # the newest at its end
    newest_open, exchanges = [], []
    for at, event in enumerate(events):
        for response in function_responses_of(event.content):
            key = (0, response.id or "")
            if last_opened.pop(key, None) is not None:
                exchanges.append((first_opened.pop(key), at))
        for key in _asks(at, event):
            first_opened.setdefault(key, at)
            last_opened.pop(key, None)
            last_opened[key] = at
        newest_open.append(next(reversed(last_opened.values()), -1))
    return newest_open, sorted(exchanges)


def _asks(at: int, event: Event) -> Iterator[Key]:
    """What an event opens: its calls, and the calls that it asks a confirmation for."""
    for call in function_calls_of(event.content):
        yield (0, call.id) if call.id else (at + 1, "")
    for call_id in event.actions.requested_tool_confirmations:
        yield (0, call_id)


def _is_tool_traffic(event: Event) -> bool:
    return bool(
        function_calls_of(event.content)
        or function_responses_of(event.content)
        or event.actions.requested_tool_confirmations
    )
