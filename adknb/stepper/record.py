"""What a stop leaves behind: one small line of the timeline. The live objects stay with the Stop."""

from __future__ import annotations

from typing import NamedTuple

from adknb.engine.stops import Phase, Raise, Seam, Stop


class StopRecord(NamedTuple):
    """One stop of the run so far. `number` is its position (0-based), `turn` and `step` count from 1.

    `depth` says how many calls it stands inside; `event` is the position of the session event it is about, if any;
    `error` is the message of an outcome that is an error, `wrote` what a stage added to the request: `2 paragraphs`.
    """

    number: int
    seam: Seam
    name: str
    phase: Phase
    turn: int
    step: int
    agent: str
    lane: str
    depth: int
    noop: bool = False
    event: int | None = None
    error: str = ""
    wrote: str = ""

    def __str__(self) -> str:
        """`after processor contents`."""
        return f"{self.phase} {self.seam} {self.name}".rstrip()


def error_of(stop: Stop) -> str:
    """The error an AFTER stop holds as its outcome, as text; empty if it holds none."""
    outcome = stop.holds.get("outcome")
    if isinstance(outcome, Raise):
        return f"{type(outcome.error).__name__}: {outcome.error}"
    return ""


def event_position(stop: Stop) -> int | None:
    """Behind an append: where the event now stands in the session."""
    if stop.seam is not Seam.APPEND or stop.phase is not Phase.AFTER:
        return None
    events = stop.holds["ctx"].session.events
    return len(events) - 1 if events and events[-1].id == stop.holds["event"].id else None


class OpenCalls:
    """The calls that have begun and not ended, so that *next* and *finish* know what they are inside of."""

    def __init__(self) -> None:
        self._open: list[Stop] = []

    def enter(self, stop: Stop) -> int:
        """Take a stop in; gives the depth it stands at. A model call is around nothing: what follows is its answer."""
        if stop.phase is Phase.AFTER and stop.opened_by in self._open:
            self._close(stop.opened_by)
        depth = sum(1 for outer in self._open if _encloses(outer, stop))
        if stop.phase is Phase.BEFORE and stop.seam is not Seam.MODEL:
            self._open.append(stop)
        return depth

    def around(self, stop: Stop) -> list[Stop]:
        """The open calls that a stop stands inside of, innermost last; its own call is not among them."""
        return [outer for outer in self._open if outer is not stop and _encloses(outer, stop)]

    def clear(self) -> None:
        """A turn is over: nothing is open any more."""
        self._open.clear()

    def _close(self, opened: Stop | None) -> None:
        """Close a call, and what was abandoned inside it; other lanes go on."""
        assert opened is not None
        position = self._open.index(opened)
        others = [s for s in self._open[position + 1 :] if not _encloses(opened, s)]
        self._open = self._open[:position] + others


def _encloses(outer: Stop, stop: Stop) -> bool:
    """A call is around a stop if it runs in no lane, in the same lane, or in one that the stop's lane is part of."""
    if outer.lane is None or outer.lane == stop.lane:
        return True
    return (stop.lane or "").startswith(outer.lane + "/")
