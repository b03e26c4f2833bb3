"""The seam under the live path: `connect_live` gives an object with `send`, `receive` and `close`.

A real one dials (gemini_live.py), a scripted one plays (scenarios/live_script.py); the Flow sees no difference.
Messages are google-genai's own records, one a call.

Go: internal/llminternal/googlellm/live_connection.go, LiveConnection
"""

from __future__ import annotations

import threading
from collections import deque
from typing import Protocol, runtime_checkable

from google.genai import types


class Bell(Protocol):
    """How a connection tells that something has arrived, and learns that nobody waits for it any more."""

    @property
    def closed(self) -> bool:
        """The run is over: give up connecting."""

    def ring(self) -> None:
        """Wake whoever waits for the connection. May be called from any thread."""


class LiveConnection(Protocol):
    """One open connection.

    Go: internal/llminternal/googlellm/live_connection.go, LiveConnection
    """

    def send(self, message: types.LiveClientMessage) -> None:
        """Put one message on the wire; one writer at a time. Raises what went wrong."""

    def receive(self) -> types.LiveServerMessage | None:
        """The next message that has arrived, None if there is none yet.

        The first one is the acknowledgement of the setup. Behind the last one the error that ended the connection is
        raised, again and again.
        """

    def close(self) -> None:
        """End the connection and all that belongs to it; a second time does nothing."""


@runtime_checkable
class LiveModel(Protocol):
    """A model that can be talked to live. Go: model/gemini/gemini.go, Client"""

    name: str

    def connect_live(self, config: types.LiveConnectConfig, bell: Bell) -> LiveConnection:
        """Connect, wait for the acknowledgement, give the connection. Raises what went wrong."""


class Arrivals:
    """Messages that have arrived and wait to be taken, however many; then the error behind them.

    They are queued without a limit: while a reader pauses nothing is lost, and the server is not held up.
    """

    def __init__(self, bell: Bell) -> None:
        self._bell = bell
        self._waiting: deque[types.LiveServerMessage] = deque()
        self._end: Exception | None = None
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._waiting)

    def put(self, arrived: types.LiveServerMessage | Exception) -> None:
        """Add a message, or say how it ended; the first end counts."""
        with self._lock:
            if isinstance(arrived, Exception):
                self._end = self._end or arrived
            else:
                self._waiting.append(arrived)
        self._bell.ring()

    def take(self) -> types.LiveServerMessage | None:
        """The oldest message, or None. Raises the end when there is no message left."""
        with self._lock:
            if self._waiting:
                return self._waiting.popleft()
            if self._end is not None:
                raise self._end
            return None
