"""Keeps what is printed while a button is handled: Jupyter shows a callback's output nowhere."""

from __future__ import annotations

import contextlib
import io
import sys
import threading
from collections.abc import Iterator
from typing import Any, TextIO


class _ByThread(io.TextIOBase):
    """A stream that goes to a buffer for the threads that asked for one, and to where it went before for all others."""

    def __init__(self, before: TextIO) -> None:
        self.before = before
        self.buffers: dict[int, io.StringIO] = {}

    def _target(self) -> Any:
        return self.buffers.get(threading.get_ident(), self.before)

    def write(self, text: str) -> int:
        """Write where this thread's prints go."""
        return int(self._target().write(text))

    def flush(self) -> None:
        """Flush it."""
        self._target().flush()

    def writable(self) -> bool:
        """It is."""
        return True

    def __getattr__(self, name: str) -> Any:
        return getattr(self.before, name)


_lock = threading.Lock()


@contextlib.contextmanager
def caught_prints() -> Iterator[io.StringIO]:
    """A buffer that receives what this thread prints, here and nowhere else; other threads print as ever."""
    buffer, me = io.StringIO(), threading.get_ident()
    with _lock:
        stream = sys.stdout if isinstance(sys.stdout, _ByThread) else _ByThread(sys.stdout)
        sys.stdout = stream
        nested = stream.buffers.get(me)
        stream.buffers[me] = buffer
    try:
        yield buffer
    finally:
        with _lock:
            if nested is not None:
                stream.buffers[me] = nested
            else:
                del stream.buffers[me]
            if not stream.buffers and sys.stdout is stream:
                sys.stdout = stream.before
