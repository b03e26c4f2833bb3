"""Async code under a synchronous engine: `async def` tools and callbacks, and models that answer asynchronously.

A run has one loop of its own, so that what is bound to it (a client that a tool keeps) lives on from call to call. It
runs only while a call lasts: in the calling thread, or, where a loop is running there already (a notebook), in a thread
that ends with the call. Between two calls nothing of it runs.

Go has no counterpart: a goroutine waits wherever it likes.
"""

from __future__ import annotations

import asyncio
import contextlib
import sys
import threading
from collections.abc import Callable, Coroutine, Generator, Iterator
from concurrent.futures import Future
from contextvars import Context, ContextVar, copy_context
from typing import Any, Protocol, TypeVar

T = TypeVar("T")
PATIENCE = 1.0
"""Seconds that an interrupted coroutine has to end before it is left behind."""


class Loop(Protocol):
    """What runs coroutines to their end."""

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Give what the coroutine comes to; raises what it raises."""

    def close(self) -> None:
        """End what is still open on the loop."""


class PrivateLoop:
    """The loop of one run. Closed, or dropped, it ends its open streams and its worker threads."""

    def __init__(self) -> None:
        self._runner: asyncio.Runner | None = None
        self._mine = threading.Lock()

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine to its end, in this thread if no loop is running here."""
        context = copy_context()
        context.run(_LOOP.set, None)  # an engine that the coroutine runs in its turn needs a loop of its own
        if not _a_loop_runs_here():
            return self._run_here(coroutine, context)
        task: list[asyncio.Task[Any]] = []
        interrupted = threading.Event()

        async def interruptible() -> T:
            task[:] = [t for t in (asyncio.current_task(),) if t is not None]
            if interrupted.is_set():
                coroutine.close()
                raise asyncio.CancelledError
            return await coroutine

        def interrupt() -> None:
            interrupted.set()
            for t in task:
                t.get_loop().call_soon_threadsafe(t.cancel)

        return _in_a_thread(lambda: self._run_here(interruptible(), context), interrupt)

    def close(self) -> None:
        """Cancel what is left, close open async generators and the loop. The next `run` would open another."""
        runner, self._runner = self._runner, None
        if runner is None:
            return
        if _a_loop_runs_here():
            _in_a_thread(runner.close)
        else:
            runner.close()

    def __del__(self) -> None:
        with contextlib.suppress(Exception):
            if sys.is_finalizing() and self._runner is not None:  # nothing can be run any more
                self._runner.get_loop().close()
            else:
                self.close()

    def _run_here(self, coroutine: Coroutine[Any, Any, T], context: Context) -> T:
        if not self._mine.acquire(blocking=False):  # calls overlap in threads: this one has a loop for itself
            with context.run(_new_runner) as runner:
                return runner.run(coroutine, context=context)
        try:
            if self._runner is None:
                self._runner = context.run(_new_runner)
            return self._runner.run(coroutine, context=context)
        finally:
            self._mine.release()


_LOOP: ContextVar[Loop | None] = ContextVar("adknb_loop", default=None)


@contextlib.contextmanager
def on(loop: Loop) -> Iterator[None]:
    """Within this block coroutines are run by this loop. Never held across a yield: it would leak to the consumer."""
    token = _LOOP.set(loop)
    try:
        yield
    finally:
        _LOOP.reset(token)


def on_one_loop(items: Generator[Any, None, T]) -> Generator[Any, None, T]:
    """Step a generator with all its coroutines on one loop, which ends with it; on the loop around it, if any."""
    around = _LOOP.get()
    loop = around or PrivateLoop()
    try:
        while True:
            with on(loop):
                item = next(items)
            yield item
    except StopIteration as done:
        return done.value  # type: ignore[no-any-return]
    finally:
        with on(loop):
            items.close()
        if around is None:
            loop.close()


def run_to_its_end(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run an `async def` callback or tool to its end, on the loop of the run it belongs to."""
    loop = _LOOP.get()
    if loop is not None:
        return loop.run(coroutine)
    with contextlib.closing(PrivateLoop()) as alone:
        return alone.run(coroutine)


def in_step(stream: Any) -> Iterator[Any]:
    """An async iterable as a plain one: each item is asked for when it is wanted. Closing it closes the stream."""
    loop: Loop = _LOOP.get() or PrivateLoop()
    items, end = aiter(stream), object()

    async def following() -> Any:
        return await anext(items, end)

    async def closed() -> None:
        if hasattr(items, "aclose"):
            await items.aclose()

    try:
        while (item := loop.run(following())) is not end:
            yield item
    finally:
        loop.run(closed())


def _new_runner() -> asyncio.Runner:
    """A loop that is not made the thread's current one. It is made at once: it keeps the context it is made in."""
    runner = asyncio.Runner(loop_factory=asyncio.new_event_loop)
    runner.get_loop()
    return runner


def _a_loop_runs_here() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def _in_a_thread(work: Callable[[], T], interrupt: Callable[[], None] = lambda: None) -> T:
    """Do some work in a thread and wait for it. An interrupt of the waiting is passed on to the work."""
    outcome: Future[T] = Future()

    def do() -> None:
        try:
            outcome.set_result(work())
        except BaseException as error:  # told to the one who waits
            outcome.set_exception(error)

    thread = threading.Thread(target=copy_context().run, args=(do,), name="adknb-async", daemon=True)
    try:
        thread.start()
        return outcome.result()
    except BaseException:
        if not outcome.done():
            interrupt()
        raise
    finally:
        if thread.ident is not None:  # it was started
            thread.join(PATIENCE)
