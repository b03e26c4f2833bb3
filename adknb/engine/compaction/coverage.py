"""Which events a compaction record stands for, and which record makes another one superfluous.

Whoever asks has the last word on which records count: choosing a window believes every record, a prompt only the usable
ones that its reader sees (spec/compaction.md 14.3).

Go: internal/compactioninternal/apply.go, inRange, excludes; internal/compactioninternal/window.go, coversAllOf,
isCompactionSubsumed, LatestCompactionEvent
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence

from adknb.engine.event import Event, EventCompaction


def records_of(events: Sequence[Event]) -> dict[int, EventCompaction]:
    """The compaction records among the events, by position."""
    return {at: e.actions.compaction for at, e in enumerate(events) if e.actions.compaction is not None}


def reference(invocation_id: str, timestamp: float) -> tuple[str, int]:
    """How an exclusion names an event: its invocation, and its time cut to the microsecond, which every store keeps.

    A float of today's size is right to about a quarter of one, so that a time exactly on it may read a little less.
    """
    return invocation_id, math.floor(timestamp * 1e6 + 0.125)


def represents(record: EventCompaction, event: Event) -> bool:
    """Whether the event's time lies in the record's range, both ends included, and no exclusion names it.

    record 2..8 but not (i1, 4): an event at 2, 5 or 8, yes; at 9, no; of i1 at 4, no
    """
    return record.start_timestamp <= event.timestamp <= record.end_timestamp and (
        reference(event.invocation_id, event.timestamp) not in {reference(*e) for e in record.excluded}
    )


def covers_all_of(wide: EventCompaction, narrow: EventCompaction) -> bool:
    """Whether one record stands for all that the other stands for.

    Its range holds the other's, and it excludes nothing in there that the other does not exclude too.

    Go: internal/compactioninternal/window.go, coversAllOf
    """
    if wide.start_timestamp > narrow.start_timestamp or wide.end_timestamp < narrow.end_timestamp:
        return False
    inside = {reference(*e) for e in wide.excluded if narrow.start_timestamp <= e[1] <= narrow.end_timestamp}
    return not inside or inside <= {reference(*e) for e in narrow.excluded}


def subsumes(other_at: int, other: EventCompaction, at: int, record: EventCompaction) -> bool:
    """Whether another record makes this one superfluous (9.3).

    It stands for all of it, and is wider, has fewer exclusions, or comes later. One without a summary never does.

    Go: internal/compactioninternal/window.go, isCompactionSubsumed
    """
    return (
        other.compacted_content is not None
        and covers_all_of(other, record)
        and (
            other.start_timestamp < record.start_timestamp
            or other.end_timestamp > record.end_timestamp
            or len(other.excluded) < len(record.excluded)
            or other_at > at
        )
    )


def latest_record(events: Sequence[Event]) -> Event | None:
    """The last event whose record no other makes superfluous, whatever its branch and scope; None if there is none.

    Go: internal/compactioninternal/window.go, LatestCompactionEvent
    """
    records = records_of(events)
    for at in reversed(records):
        if not any(subsumes(i, other, at, records[at]) for i, other in records.items() if i != at):
            return events[at]
    return None


class Coverage:
    """Some records of a list of events, asked which of them stand for an event.

    They are sorted by their start, and each knows the latest end of those up to it: an event behind all ranges, the
    usual one, is settled at once, however many records there are.
    """

    def __init__(self, records: Mapping[int, EventCompaction]) -> None:
        self.by_start = sorted(records.items(), key=lambda kept: kept[1].start_timestamp)
        self.starts = [record.start_timestamp for _, record in self.by_start]
        self.excluded = {at: {reference(*e) for e in record.excluded} for at, record in records.items()}
        self.latest_end: list[float] = []
        for _, record in self.by_start:
            self.latest_end.append(max([record.end_timestamp, *self.latest_end[-1:]]))

    def of(self, at: int, event: Event) -> Iterator[int]:
        """The positions of the records that stand for the event at that position: only later ones can (9.4)."""
        i = bisect_right(self.starts, event.timestamp) - 1
        while i >= 0 and self.latest_end[i] >= event.timestamp:
            keeper, record = self.by_start[i]
            if at < keeper and event.timestamp <= record.end_timestamp:
                excluded = self.excluded[keeper]
                if not excluded or reference(event.invocation_id, event.timestamp) not in excluded:
                    yield keeper
            i -= 1

    def covers(self, at: int, event: Event) -> bool:
        """Whether any record stands for the event at that position."""
        return next(self.of(at, event), None) is not None
