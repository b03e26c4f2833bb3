"""A live run as a Play: stepped, sent to at its stops, and played again from what its line has brought.

What arrived on each connection, and when the reader sent what, is kept on a tape. A second run (back, rewind, fork)
takes it from there, and nothing goes over the wire, as long as it does the same. As soon as the reader sends something
else the rest of the tape is void: to the engine the line has broken then, and it is dialled anew.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from typing import Any

from google.genai import types

from adknb.engine.agent import Agent
from adknb.engine.context import LiveConfig
from adknb.engine.event_json import to_json
from adknb.engine.live import LiveBroken, LiveRequest, LiveSession
from adknb.engine.live.connection import Bell, LiveConnection, LiveModel
from adknb.engine.live.sending import as_live_request
from adknb.engine.live.session import Line, Pending
from adknb.engine.platform import Platform, counted, interleaved
from adknb.engine.runner import Runner
from adknb.engine.session import Session
from adknb.engine.stops import Stop
from adknb.scenarios import Turn
from adknb.stepper.plays import AgentPlay
from adknb.stepper.tape import TapeEnded

CLOSE = object()
"""Stands among what was sent for a close."""
GONE = 1006

Arrival = types.LiveServerMessage | Exception | None


@dataclass
class TapedConnection:
    """What one connection brought, each time it was asked (None: nothing yet), and what was sent on it, as JSON."""

    received: list[Arrival] = field(default_factory=list)
    sent: list[Any] = field(default_factory=list)


@dataclass
class LiveTape:
    """The connections of one run in order, an error where none could be made; (items told so far, what was sent)."""

    connections: list[TapedConnection | Exception] = field(default_factory=list)
    sends: list[tuple[int, Any]] = field(default_factory=list)
    chunks: list[tuple[int, LiveRequest]] = field(default_factory=list)
    """What streaming tools sent: how often the loop had looked for something to send by then (from 1), and what."""
    taken: list[int] = field(default_factory=list)
    """When the loop took what the reader had sent, counted in the same way."""
    times: list[float] = field(default_factory=list)
    """When each message passed, in the order of `LivePlay.wire`: seconds from the start."""
    running: list[bool] = field(default_factory=list)
    """Whether there was one to stop, each time it was asked."""


@dataclass(frozen=True)
class WireMessage:
    """Something that passed on a connection (from 1): `way` is "to" or "from" the model, or "dial" for its making.

    `stop` is the position of the stop behind which it passed, `at` seconds from the start of the run. `what` is JSON
    for "to", a LiveServerMessage or an error for "from", the error or None for "dial".
    """

    way: str
    connection: int
    stop: int
    at: float
    what: Any


class LivePlay(AgentPlay):
    """One live run of a runner; `send` and `close` may be called at any stop.

    `config` is as for `Runner.run_live`. A streaming tool that ran in the first run does not run in a second
    one: what it sent is on the tape, each chunk at its moment, and behind the tape it sends no more.
    """

    def __init__(self, runner: Runner, config: LiveConfig, first: Session | None = None) -> None:
        super().__init__(runner, [], first)
        self.turns = [Turn({})]
        self.config = config
        self.live = LiveSession()
        self.live.dial, self.live.taking = self._dial, self._take
        self.live.recall = self._recall
        self.tape = LiveTape()
        self.wire: list[WireMessage] = []
        """All that has passed on the wire, in order; what a recording has given, too."""
        self._stops, self._began = 0, 0.0
        self._old = LiveTape()
        self._void = True
        """Whether the old tape counts no more."""
        self._told = self._looked = 0
        self._on: _Connection | None = None
        """The connection under way."""
        self.offline = False
        """Whether nothing is dialled behind the recording."""

    def send(self, request: Any) -> None:
        """Send at this stop; see LiveSession.send. What an earlier run did from here on is not repeated then."""
        given = as_live_request(request)
        self.live.send(given)
        self._note(given)

    def close(self) -> None:
        """Close at this stop; see LiveSession.close."""
        self.live.close()
        self._note(CLOSE)

    def forget(self) -> None:
        """Have no recording: from now on the model itself is dialled."""
        self._old, self._void = LiveTape(), True

    def recorded(self, tape: LiveTape) -> None:
        """Follow this recording from the start, as long as it counts."""
        self._old, self._void = tape, False

    def goes_on(self, n: int) -> bool:
        """Whether the recording has more than the n-th arrival of this connection. If not, the run waits there."""
        at, old = len(self.tape.connections) - 1, self._old
        on = old.connections[at]
        more = not isinstance(on, Exception) and n + 1 < len(on.received)
        return more or at + 1 < len(old.connections) or bool(old.chunks)

    def whole_tape(self) -> LiveTape:
        """All that is known of the run: what it has come to itself, and what it has not of an earlier one.

        What is on a tape is never written to, so tapes share it.
        """
        mine, old = self.tape, self._old
        known = LiveTape(
            [
                c if isinstance(c, Exception) else TapedConnection(list(c.received), list(c.sent))
                for c in mine.connections
            ],
            *(list(mine.sends), list(mine.chunks), list(mine.taken), list(mine.times), list(mine.running)),
        )
        if not self._void:
            begun = max(len(mine.connections) - 1, 0)  # the one under way is whole only on the old tape
            known.connections[begun:] = old.connections[begun:]
            known.sends += old.sends
            known.chunks += old.chunks
            known.taken += old.taken
            known.times += old.times[len(mine.times) :]
            known.running += old.running
        return known

    def iter(self, turn: Turn) -> Generator[Any, None, None]:
        """The run, as Events, Stops and YieldedErrors."""
        self._send_again()
        self._began = time.monotonic()
        for item in self.runner.iter_live(self.live, self.user, self.session_id, copy.deepcopy(self.config)):
            self._told += 1
            self._stops += isinstance(item, Stop)
            yield item
            self._send_again()

    def again(self, platform: Platform | None = None) -> LivePlay:
        """The same run from its start, in a session service of its own, on the tape of this one."""
        runner = super().again(platform).runner
        play = LivePlay(runner, self.config, self.first)
        play.turns, play.files = list(self.turns) or play.turns, self.files
        play.offline = self.offline
        play.recorded(self.whole_tape())
        return play

    # ------------------------------------------------------------------------------------------------------- mechanism

    def _note(self, sent: Any) -> None:
        self._void = True
        self.tape.sends.append((self._told, copy.deepcopy(sent) if sent is not CLOSE else CLOSE))

    def _send_again(self) -> None:
        """Send what the earlier run has sent when it stood here."""
        while not self._void and self._old.sends and self._old.sends[0][0] <= self._told:
            _, sent = self._old.sends.pop(0)
            self.tape.sends.append((self._told, sent))
            if sent is CLOSE:
                self.live.close()
            else:
                self.live.send(copy.deepcopy(sent))

    def _take(self, line: Line) -> Pending | None:
        """What goes on the line next. A chunk of a streaming tool comes when its thread likes: its moment is kept."""
        self._looked += 1
        if self._void and self._on is not None and self._on.ended:
            return None  # what is sent where a recording ended waits for the connection that is dialled next
        if not self._void and self._old.chunks and self._old.chunks[0][0] <= self._looked:
            _, chunk = self._old.chunks.pop(0)
            pending: Pending | None = Pending(copy.deepcopy(chunk), by_tool=True)
        elif not self._void and self._old.taken and self._looked < self._old.taken[0]:
            return None
        else:
            pending = line.take()
        if pending is not None and not pending.by_tool:
            self.tape.taken.append(self._looked)
            if not self._void and self._old.taken:
                del self._old.taken[0]
        elif pending is not None:
            self.tape.chunks.append((self._looked, copy.deepcopy(pending.request)))
        return pending

    def passed(self, way: str, what: Any) -> None:
        """Write down what passes on the present connection."""
        n, old = len(self.wire), self._old.times
        at = old[n] if not self._void and n < len(old) else round(time.monotonic() - self._began, 3)
        self.tape.times.append(at)
        self.wire.append(WireMessage(way, len(self.tape.connections), self._stops - 1, at, what))

    def _recall(self, question: Callable[[], bool]) -> bool:
        answer = self._old.running.pop(0) if not self._void and self._old.running else question()
        self.tape.running.append(answer)
        return answer

    def _dial(self, model: LiveModel, config: types.LiveConnectConfig, bell: Bell) -> LiveConnection:
        n = len(self.tape.connections)
        old = self._old.connections[n] if not self._void and n < len(self._old.connections) else None
        if isinstance(old, Exception):
            self.tape.connections.append(old)
            self.passed("dial", old)
            raise old
        if old is None and self.offline:
            raise TapeEnded("the recording ends here: the model is not dialled again")
        try:
            line = None if old is not None else model.connect_live(config, bell)
        except Exception as error:
            self.tape.connections.append(error)
            self.passed("dial", error)
            raise
        taped = TapedConnection()
        self.tape.connections.append(taped)
        self.passed("dial", None)
        self._on = _Connection(self, taped, old, line, bell)
        return self._on


class _Connection:
    """A connection that writes its tape: from the line, or from an older tape while that counts."""

    def __init__(
        self,
        play: LivePlay,
        tape: TapedConnection,
        old: TapedConnection | None,
        line: LiveConnection | None,
        bell: Bell,
    ) -> None:
        self._play, self._tape, self._old, self._line, self._bell = play, tape, old, line, bell

    @property
    def ended(self) -> bool:
        """Whether it is a recording that counts no more."""
        return self._line is None and self._play._void

    def send(self, message: types.LiveClientMessage) -> None:
        """Send; on an old tape, see whether it is what was sent then."""
        sent, n = to_json(message), len(self._tape.sent)
        self._tape.sent.append(sent)
        self._play.passed("to", sent)
        if self._line is not None:
            self._line.send(message)
        elif self._old is not None and (n >= len(self._old.sent) or self._old.sent[n] != sent):
            self._play._void = True

    def receive(self) -> types.LiveServerMessage | None:
        """The next message, or None. An old tape that ends, or counts no more, is a line that broke."""
        try:
            arrived = self._next()
        except Exception as error:
            self._tape.received.append(error)
            self._play.passed("from", error)
            raise
        self._tape.received.append(copy.deepcopy(arrived))  # the reader may edit the one that goes up
        if arrived is not None:
            self._play.passed("from", self._tape.received[-1])
        return arrived

    def _next(self) -> types.LiveServerMessage | None:
        if self._line is not None:
            return self._line.receive()
        assert self._old is not None
        n = len(self._tape.received)
        if self._play._void or n >= len(self._old.received):
            raise LiveBroken(GONE, "the recording of this connection ends here")
        arrived = self._old.received[n]
        if isinstance(arrived, Exception):
            raise arrived
        if arrived is None and self._play.goes_on(n):
            self._bell.ring()  # nobody will: what came then is on the tape
        return copy.deepcopy(arrived)

    def close(self) -> None:
        """Close the line, if there is one."""
        if self._line is not None:
            self._line.close()


def live_play(given: Agent | Runner, config: LiveConfig | None = None) -> LivePlay:
    """A play of an agent or a runner; an agent gets counted ids and a clock of its own.

    Raises:
        TypeError: it is neither.
    """
    if isinstance(given, Agent):
        return LivePlay(Runner(given, platform=counted(interleaved)), config or LiveConfig())
    if isinstance(given, Runner):
        given.platform = given.platform.recorded()
        return LivePlay(given, config or LiveConfig())
    raise TypeError(f"a live run needs an agent or a runner, not {type(given).__name__}")
