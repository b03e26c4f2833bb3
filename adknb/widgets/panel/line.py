"""Messages wait in a line and are served one after another, on a thread that lives as long as there is something to do.

A command may take long: a model thinks, a tool waits. If it ran on the thread that messages come in on, no message
could follow it, not even *Stop*. So whoever hands a message in waits only a moment for it to be served.
"""

from __future__ import annotations

import contextlib
import ctypes
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Any

PATIENCE = 0.8
"""Seconds that the sender of a message waits for it: nearly all are served by then, in the order of the clicks."""

REPORT = 0.25
"""Seconds between two words about a message that takes longer."""


class Line:
    """`serve` is called with each message, in order; `report` again and again with one that is slow, and its seconds.

    Where there are no threads (Pyodide) a message is served at once, by the one who hands it in.
    """

    def __init__(self, serve: Callable[[Any], None], report: Callable[[Any, float], None]) -> None:
        self._serve, self._report = serve, report
        self._waiting: deque[tuple[Any, threading.Event]] = deque()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._now: tuple[Any, float] | None = None
        """The message that is being served, and since when."""
        self._watched = False

    def take(self, message: Any) -> None:
        """Hand in a message. Back when it has been served, or after PATIENCE seconds."""
        served = threading.Event()
        with self._lock:
            self._waiting.append((message, served))
            start = self._thread is None
            if start:
                self._thread = threading.Thread(target=self._work, name="adknb-panel", daemon=True)
                try:
                    self._thread.start()
                except RuntimeError:  # there are no threads here
                    self._thread = threading.current_thread()
        if self._thread is threading.current_thread():
            return self._work()
        if self._watched or served.wait(PATIENCE):
            return None
        with self._lock:
            start, self._watched = not self._watched, True
        if start:
            threading.Thread(target=self._watch, name="adknb-watch", daemon=True).start()
        return None

    def join(self, seconds: float) -> bool:
        """Wait until nothing is left to do; False if that takes longer."""
        end = time.monotonic() + seconds
        while self._thread is not None and time.monotonic() < end:
            time.sleep(0.001)
        return self._thread is None

    def interrupt(self) -> bool:
        """Raise KeyboardInterrupt in the message that is being served; False if none is.

        Python delivers it between two steps of Python code: a call into C that blocks is not broken off.
        """
        thread = self._thread if self._now is not None else None
        if thread is None or thread.ident is None or thread is threading.current_thread():
            return False
        raised = ctypes.pythonapi.PyThreadState_SetAsyncExc(
            ctypes.c_ulong(thread.ident), ctypes.py_object(KeyboardInterrupt)
        )
        return bool(raised == 1)

    def _work(self) -> None:
        more = True
        while more:
            with contextlib.suppress(KeyboardInterrupt):  # one that comes a moment too late has nothing to break off
                more = self._serve_next()

    def _serve_next(self) -> bool:
        """Serve the first message in the line; False if there is none, and the thread is to end."""
        with self._lock:
            if not self._waiting:
                self._thread = None
                return False
            message, served = self._waiting.popleft()
        try:
            self._now = message, time.monotonic()
            self._serve(message)
        finally:
            self._now = None
            served.set()
        return True

    def _watch(self) -> None:
        """Report what takes long, until nothing is left to do."""
        while self._thread is not None:
            now = self._now
            if now is not None and time.monotonic() - now[1] >= PATIENCE:
                self._report(now[0], time.monotonic() - now[1])
            time.sleep(REPORT)
        self._watched = False
