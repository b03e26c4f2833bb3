"""A live run with a thread of its own: send to it, close it, read its events, in a cell or in async code.

Go: runner/runner.go, Runner.RunLive; internal/llminternal/base_flow.go, recvIter, pushEvent

The thread goes one event ahead of the reader at most: it waits until the event at hand was taken (§9). Between two
members of a sequence it ends, and another begins when somebody reads on (§16.2).
"""

from __future__ import annotations

import asyncio
import threading
import weakref
from collections.abc import AsyncIterator, Generator, Iterator
from contextvars import copy_context
from types import TracebackType
from typing import Any

from adknb.engine.event import Event
from adknb.engine.live.items import Gate, YieldedError
from adknb.engine.live.session import LiveSession
from adknb.engine.loops import PATIENCE
from adknb.engine.stops import Stop

_NOTHING = object()


class Driver:
    """Runs the items of a live run in a thread, and hands them over one by one."""

    def __init__(self, items: Generator[Any, None, None], session: LiveSession) -> None:
        self.session = session
        self._items = items
        self._changed = threading.Condition()
        self._at_hand: Any = _NOTHING
        self._error: BaseException | None = None
        self._finished = False
        self._readers = 0
        self._async_readers: list[tuple[asyncio.AbstractEventLoop, asyncio.Future[None]]] = []
        self._thread: threading.Thread | None = None

    # --------------------------------------------------------------------------------------------------------- the run

    def start(self) -> None:
        """Go on in a new thread, unless one runs, or all is over."""
        with self._changed:
            if self._thread is None and not self._finished:
                self._thread = threading.Thread(
                    target=copy_context().run, args=(self._drive,), name="adknb-live", daemon=True
                )
                self._thread.start()

    def _drive(self) -> None:
        error: BaseException | None = None
        try:
            for item in self._items:
                if isinstance(item, Gate):
                    if not self._pass(item):
                        return
                elif not isinstance(item, Stop):
                    self._hand_over(item)
        except BaseException as raised:  # told to whoever reads
            error = raised
        with self._changed:
            self._error, self._finished, self._thread = error, True, None
            self._tell()

    def _pass(self, gate: Gate) -> bool:
        """Wait for a reader, or a close; at a gate that parks the thread ends instead."""
        with self._changed:
            if not gate.parks:
                self._changed.wait_for(lambda: self._readers or self._async_readers or self.session.drops)
                return True
            go_on = bool(self._readers or self._async_readers or self.session.over)
            if not go_on:
                self._thread = None
            return go_on

    def _hand_over(self, item: Any) -> None:
        """Wait until a reader has taken it; at a close it is dropped."""
        with self._changed:
            if self.session.drops:
                return
            self._at_hand = item
            self._tell()
            self._changed.wait_for(lambda: self._at_hand is _NOTHING)

    def _tell(self) -> None:
        self._changed.notify_all()
        waiting, self._async_readers = self._async_readers, []
        for loop, ready in waiting:
            if not loop.is_closed():
                loop.call_soon_threadsafe(_set, ready)

    def close(self) -> None:
        """End the session; what is at hand is dropped. Waits a second for the thread to end."""
        with self._changed:
            self.session.close()
            if self.session.drops or self.session.over:
                self._at_hand = _NOTHING
            self._changed.notify_all()
            thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join(PATIENCE)

    def shut(self) -> None:
        """Close for good, also a sequence that waits for a reader."""
        self.session.over = True
        self.close()
        with self._changed:
            parked = self._thread is None and not self._finished
            self._finished = self._finished or parked
        if parked:
            self._items.close()

    # ------------------------------------------------------------------------------------------------------ the reader

    def take(self) -> Event:
        """The next event, as soon as there is one. Raises StopIteration, or the run's error."""
        with self._changed:
            self._readers += 1
            self._changed.notify_all()
            try:
                self.start()
                self._changed.wait_for(lambda: self._at_hand is not _NOTHING or self._finished)
                return self._taken()
            finally:
                self._readers -= 1

    async def take_async(self) -> Event:
        """As `take`, without holding up the loop. Raises StopAsyncIteration."""
        loop = asyncio.get_running_loop()
        while True:
            with self._changed:
                if self._at_hand is not _NOTHING or self._finished:
                    try:
                        return self._taken()
                    except StopIteration:
                        raise StopAsyncIteration from None
                ready: asyncio.Future[None] = loop.create_future()
                self._async_readers.append((loop, ready))
                self._changed.notify_all()
                self.start()
            try:
                await ready
            finally:
                with self._changed:
                    self._async_readers = [pair for pair in self._async_readers if pair[1] is not ready]

    def _taken(self) -> Event:
        if self._at_hand is not _NOTHING:
            item, self._at_hand = self._at_hand, _NOTHING
            self._changed.notify_all()
            if isinstance(item, YieldedError):
                raise item.error
            return item  # type: ignore[no-any-return]
        error, self._error = self._error, None
        if error is not None:
            raise error
        raise StopIteration


def _set(ready: asyncio.Future[None]) -> None:
    if not ready.done():
        ready.set_result(None)


class Live:
    """A live run: `send` to it, go through its events, `close` it.

        with runner.run_live(live_config=LiveConfig()) as live:
            live.send("Hello")
            for event in live.turn():
                print(event.content)

    `for event in live` and `async for event in live` wait for the next event; leaving the loop leaves everything
    running, and a new loop goes on where the old one stopped. An error of the run is raised there: one that the run
    survives may be followed by more events.

    Go: runner/runner.go, Runner.RunLive; agent/live.go, LiveSession
    """

    def __init__(self, items: Generator[Any, None, None], session: LiveSession) -> None:
        self._driver = Driver(items, session)
        self.session = session
        self.shut = weakref.finalize(self, self._driver.shut)
        """End all of it, even the members of a sequence that have not begun."""
        self._driver.start()

    def send(self, request: Any) -> None:
        """Send a text, a Content, a Blob, an ActivityStart or ActivityEnd, or a LiveRequest; see LiveSession.send.

        Waits while the line is being dialled.
        """
        self.session.send(request)

    def close(self) -> None:
        """End the run: no error, no further events; see LiveSession.close. A second time does nothing."""
        self._driver.close()

    def cancel(self) -> None:
        """End the run with LiveCancelled."""
        self.session.cancel()

    def turn(self) -> Iterator[Event]:
        """The events up to the one that completes the model's turn; or to the end of the run."""
        for event in self:
            yield event
            if event.turn_complete:
                return

    def __iter__(self) -> Iterator[Event]:
        return self

    def __next__(self) -> Event:
        return self._driver.take()

    def __aiter__(self) -> AsyncIterator[Event]:
        return self

    async def __anext__(self) -> Event:
        return await self._driver.take_async()

    def __enter__(self) -> Live:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.shut()

    async def __aenter__(self) -> Live:
        return self

    async def __aexit__(self, *ended: object) -> None:
        await asyncio.to_thread(self.shut)
