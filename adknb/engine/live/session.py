"""The reader's end of a live run: what may be sent, and who puts it on the line (spec/live.md §6, §13).

Go: internal/llminternal/base_flow.go, liveSessionImpl; agent/live.go, LiveSession

Two ways of taking what is sent. In a run with a thread of its own whoever sends writes to the line, waiting while there
is none, as in Go. In a stepped run there is one thread only: `send` queues, and the generator takes it as it goes on.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from google.genai import types

from adknb.engine.live.connection import Bell, LiveConnection, LiveModel
from adknb.engine.live.errors import LiveSessionClosed, NoActiveAgent
from adknb.engine.live.reconnect import Backoff
from adknb.engine.live.sending import LiveRequest, as_live_request
from adknb.engine.stops import Steps, drain

Dial = Callable[[LiveModel, types.LiveConnectConfig, Bell], LiveConnection]
Store = Callable[[LiveRequest], Steps[None]]
Write = Callable[[LiveConnection, LiveRequest], Steps[None]]


def _dial(model: LiveModel, config: types.LiveConnectConfig, bell: Bell) -> LiveConnection:
    return model.connect_live(config, bell)


@dataclass(eq=False)
class Pending:
    """A request that waits to be taken by a stepped run."""

    request: LiveRequest
    store: Store | None = None
    by_tool: bool = False
    """Whether a streaming tool sends it, from a thread of its own, and not the reader."""
    taken: threading.Event = field(default_factory=threading.Event)


class Line:
    """One agent's line to its model, over all its connections. It is also the bell that wakes the loop.

    `stepped`: requests are queued in `pending` and the loop takes them. `write` is the loop's way of sending a request;
    a line without it has no loop yet.

    Go: internal/llminternal/base_flow.go, liveSessionImpl
    """

    def __init__(self, stepped: bool = False) -> None:
        self.write: Write | None = None
        self.stepped = stepped
        self.closed = self.cancelled = False
        self.pending: deque[Pending] = deque()
        self._connection: LiveConnection | None = None
        self._failure: Exception | None = None
        self._bell = threading.Event()
        self._changed = threading.Condition()
        self._writing = threading.Lock()

    def send(self, request: LiveRequest, store: Store | None = None, rendezvous: bool = False) -> None:
        """Hand a request over. What goes wrong on the wire is told by the run, not here.

        With `rendezvous` a stepped run is waited for, too. Raises LiveSessionClosed, or what `store` raises.
        """
        if self.stepped:
            self._queue(Pending(request, store, by_tool=rendezvous), rendezvous)
            return
        while True:
            connection = self._when_open()
            with self._writing:
                if self._connection is not connection:  # it broke while another one wrote
                    continue
                try:
                    if store is not None:
                        drain(store(request))
                finally:  # it is on its way, whatever the store says
                    self._write_now(connection, request)
                return

    def respond(self, connection: LiveConnection, message: Any) -> None:
        """Send past the requests: one writer at a time (§18.4). Raises what went wrong."""
        with self._writing:
            connection.send(message)

    def _write_now(self, connection: LiveConnection, request: LiveRequest) -> None:
        try:
            assert self.write is not None
            drain(self.write(connection, request))
        except Exception as error:
            if self._connection is connection:
                self._failure = error
            self.ring()

    def _queue(self, pending: Pending, rendezvous: bool) -> None:
        if self.closed:
            raise LiveSessionClosed("the live session is closed: nothing more can be sent")
        self.pending.append(pending)
        self.ring()
        if rendezvous:
            with self._changed:
                self._changed.wait_for(lambda: self.closed or pending.taken.is_set())
            if not pending.taken.is_set():
                raise LiveSessionClosed("the live session was closed while this waited to be sent")

    def _when_open(self) -> LiveConnection:
        with self._changed:
            self._changed.wait_for(lambda: self.closed or self._connection is not None)
            if self.closed or self._connection is None:
                raise LiveSessionClosed("the live session is closed: nothing more can be sent")
            return self._connection

    # ------------------------------------------------------------------------------------------------------ the loop

    def open(self, connection: LiveConnection) -> None:
        """Whoever sends may write to this connection now."""
        with self._changed:
            self._connection, self._failure = connection, None
            self._changed.notify_all()

    def shut(self) -> None:
        """Whoever sends waits for the next connection."""
        with self._changed:
            self._connection = None

    def failure(self) -> Exception | None:
        """What went wrong when somebody wrote to the present connection."""
        return self._failure

    def take(self) -> Pending | None:
        """The oldest request that waits, in a stepped run."""
        if not self.pending:
            return None
        pending = self.pending.popleft()
        with self._changed:
            pending.taken.set()
            self._changed.notify_all()
        return pending

    def ring(self) -> None:
        """Wake the loop."""
        self._bell.set()

    def quiet(self) -> None:
        """From now on a ring counts again."""
        self._bell.clear()

    def wait(self, seconds: float | None = None) -> bool:
        """Until somebody rings; gives whether somebody has."""
        return self._bell.wait(seconds)

    def over(self) -> bool:
        """Whether it was closed; it may be, at any moment."""
        return self.closed

    def close(self) -> None:
        """End the run, and the connection at once: somebody may be writing to it. Again: nothing happens."""
        with self._changed:
            self.closed = True
            connection = self._connection
            self._changed.notify_all()
        self.ring()
        if connection is not None:
            connection.close()

    def cancel(self) -> None:
        """End the run with an error."""
        self.cancelled = True
        self.ring()


Taking = Callable[[Line], Pending | None]


class LiveSession:
    """What a reader sends to and closes. `line` is that of the agent that runs; a sequence has one after the other.

    `stepped` is for `Runner.iter_live`: `send` only queues there. A session is for one run, which `begin`s it.

    Go: agent/live.go, LiveSession
    """

    def __init__(self, stepped: bool = True) -> None:
        self.stepped = stepped
        self.line: Line | None = Line(stepped)
        self.closed = False
        self.over = False
        """Nothing more of this run will be read: not even a sequence goes on."""
        self.backoff: Backoff = None
        self.store: Store | None = None
        self.dial: Dial = _dial
        """How a model is dialled; a Stepper that goes back answers from what it has recorded instead."""
        self.recall: Callable[[Callable[[], bool]], bool] = lambda question: question()
        """How it is found out whether a streaming tool runs: threads answer otherwise each time."""
        self.taking: Taking = Line.take
        """How the loop takes what waits to be sent; a Stepper that goes back takes the same at the same moment."""

    def begin(self, store: Store, backoff: Backoff, of_sequence: bool) -> None:
        """Belong to a run from now on. A sequence can be sent to only while a member runs.

        Raises:
            ValueError: it belongs to another run already, or something was sent that no member can take.
        """
        if self.store is not None:
            raise ValueError("a LiveSession is for one run; make a new one")
        if of_sequence:
            if self.line is not None and self.line.pending:
                raise ValueError("a sequence can be sent to only while a member runs: send when its events come")
            self.line = None
        self.store, self.backoff = store, backoff
        for pending in self.line.pending if self.line is not None else ():
            pending.store = store

    def new_line(self, write: Write) -> Line:
        """The line of an agent that begins; what was sent before it began waits there already."""
        if self.line is None or self.line.write is not None:
            self.line = Line(self.stepped)
        self.line.write = write
        return self.line

    def send(self, request: Any) -> None:
        """Send a text, a Content, a Blob, an ActivityStart or ActivityEnd, or a LiveRequest with both.

        Success means that it was taken, not that it is on the wire: errors of the wire are told by the run. A content
        with parts that are no call responses is stored as an event of the user (§14.1).

        Raises:
            LiveSessionClosed: too late. NoActiveAgent: no member of a sequence runs. TypeError: it is none of these.
        """
        given = as_live_request(request)
        if self.closed:
            raise LiveSessionClosed("the live session is closed: nothing more can be sent")
        if self.line is None:
            raise NoActiveAgent("no member of the sequence has an active live session: read the run's events first")
        self.line.send(given, self.store)

    def close(self) -> None:
        """End the run: no error, no further events. Of a sequence only the present member ends (§16.4)."""
        self.closed = True
        if self.line is not None:
            self.line.close()

    @property
    def drops(self) -> bool:
        """Whether what was received is not told any more: the reader has closed, and the agent's line is closed."""
        return self.closed and self.line is not None and self.line.closed

    def cancel(self) -> None:
        """End the run with LiveCancelled."""
        if self.line is not None:
            self.line.cancel()

    def end(self) -> None:
        """Close, and let no member of a sequence begin."""
        self.over = True
        self.close()
