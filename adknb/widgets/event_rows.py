"""The rows of the event table, kept in step with the session."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from adknb.widgets.brief import event_row

ALL_ROOM = 450_000
"""Bytes for the texts of all rows together: the first panel of a long session is to travel in one go."""

ROOM, LEAST_ROOM = 660, 60
"""At most, and at least, so many bytes for the text of one row."""


class EventRows:
    """One row for each stored event (`brief.event_row`). Rows are made once; a restart makes all anew."""

    def __init__(self) -> None:
        self.rows: list[list[Any]] = []
        self._last: Any = None

    def update(self, events: Sequence[Any], turns: Mapping[int, int]) -> int:
        """Take in new events; gives how many rows stayed. `turns` says in which turn of the run an event was stored.

        Events that the session had before the run are of the turns 0, -1, …, counted back and told apart by invocation.
        """
        kept = len(self.rows)
        if kept > len(events) or (kept and events[kept - 1] is not self._last):
            self.rows, kept = [], 0
        room = min(ROOM, max(LEAST_ROOM, ALL_ROOM // max(1, len(events))))
        self.rows += [event_row(events[i], turns.get(i, 0), room) for i in range(kept, len(events))]
        if kept == 0:
            self._number_back([e.invocation_id for i, e in enumerate(events) if i not in turns])
        self._last = events[-1] if events else None
        return kept

    def _number_back(self, invocations: Sequence[str]) -> None:
        turn = 0
        for i in range(len(invocations) - 1, -1, -1):
            if i + 1 < len(invocations) and invocations[i] != invocations[i + 1]:
                turn -= 1
            self.rows[i][0] = turn
