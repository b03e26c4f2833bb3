"""The gate: where a google-adk task parks at a Stop, until whoever steps lets it go on.

The task runs on an event loop that is driven only while a command lasts, so nothing moves while the run is paused.
Several tasks (parallel tools, a ParallelAgent) may be parked; they are shown one at a time.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

from adknb.engine.stops import Phase, Raise, Return, Seam, Stop

ACTIVE: ContextVar[Gate | None] = ContextVar("adknb_gate", default=None)
"""The gate of the run that this task belongs to. Where there is none, the seams do nothing."""

CALL_LANE: ContextVar[str] = ContextVar("adknb_call_lane", default="")
"""The lane of a tool call that runs beside others."""

PATIENCE = 0.5
"""Seconds that a replay waits for the lane that went next in the run it follows."""


class Lanes:
    """Which lane the reader wants to go next; the names of those that can."""

    def __init__(self) -> None:
        self.wish: str | None = None
        self.parked: list[str] = []

    def names(self) -> list[str]:
        """The lanes that can go on."""
        return list(dict.fromkeys(self.parked))


class Gate:
    """Parks tasks at Stops and hands the Stops over, one at a time."""

    def __init__(self, lanes: Lanes, order: list[str]) -> None:
        self.lanes = lanes
        self.closing = False
        self.steps: dict[str, int] = {}
        """Agent -> model steps so far in this turn."""
        self.mirrors: Any = None
        self._hints = deque(order)
        self.order: list[str] = []
        """Which stop came when, so that a second run takes the lanes in the same order."""
        self._parked: deque[tuple[Stop, asyncio.Future[None]]] = deque()
        self._bell = asyncio.Event()
        self._shown: asyncio.Future[None] | None = None

    async def pause(self, stop: Stop) -> None:
        """Park here until the reader goes on; an answer may have been filled in by then."""
        if self.closing:
            return
        parked: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._parked.append((stop, parked))
        self.ring()
        try:
            await parked
        finally:
            if (stop, parked) in self._parked:  # cancelled before it was shown
                self._parked.remove((stop, parked))

    def ring(self) -> None:
        """Wake whoever waits for the next stop."""
        self._bell.set()

    async def next_stop(self, task: asyncio.Task[Any]) -> Stop | None:
        """Let the task shown last go on, and wait for the next stop; None once the run's task has ended."""
        self.go_on()
        while not self._parked and not task.done():
            self._bell.clear()
            await self._bell.wait()
        if not self._parked:
            return None
        stop, self._shown = await self._picked()
        self.order.append(key_of(stop))
        return stop

    def go_on(self) -> None:
        """Let the task whose stop was shown last go on."""
        if self._shown is not None and not self._shown.done():
            self._shown.set_result(None)
        self._shown = None

    def open(self) -> None:
        """From now on nothing pauses; what is parked goes on."""
        self.closing = True
        self.go_on()
        while self._parked:
            _, parked = self._parked.popleft()
            if not parked.done():
                parked.set_result(None)

    async def _picked(self) -> tuple[Stop, asyncio.Future[None]]:
        """The reader's lane, else the one that went next in the run that is followed, else who came first."""
        wish, self.lanes.wish = self.lanes.wish, None
        if wish is not None:
            self._hints.clear()
            found = await self._await_one(lambda s: s.lane == wish or (s.lane or "").startswith(f"{wish}/"))
        elif self._hints:
            hint = self._hints.popleft()
            found = await self._await_one(lambda s: key_of(s) == hint)
        else:
            await asyncio.sleep(0)  # let those that are ready park, so that who comes first is no accident
            found = self._parked[0]
        self._parked.remove(found)
        self.lanes.parked = [s.lane for s in (found[0], *(p[0] for p in self._parked)) if s.lane]
        return found

    async def _await_one(self, wanted: Callable[[Stop], bool]) -> tuple[Stop, asyncio.Future[None]]:
        loop = asyncio.get_running_loop()
        until = loop.time() + PATIENCE
        while True:
            found = next((p for p in self._parked if wanted(p[0])), None)
            if found is not None:
                return found
            if loop.time() > until:
                return self._parked[0]
            await asyncio.sleep(0)


def key_of(stop: Stop) -> str:
    """What tells a stop from those that other lanes stand at."""
    return f"{stop.lane or ''}|{stop.agent or ''}|{stop}"


def after_of(before: Stop, outcome: Return | Raise) -> Stop:
    """The stop behind a call that a stop stands before."""
    return Stop(
        before.seam,
        before.name,
        Phase.AFTER,
        {**before.holds, "outcome": outcome},
        opened_by=before,
        function=before.function,
        agent=before.agent,
        step=before.step,
        lane=before.lane,
    )


def before(seam: Seam, name: str, **holds: Any) -> Stop:
    """A stop before a call."""
    return Stop(seam, name, Phase.BEFORE, holds)
