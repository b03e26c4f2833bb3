"""A live run as a Play: stepped, sent to at its stops, and played again from what its line has brought.

What arrived on each connection, and when the reader sent what, is kept on a tape. A second run (back, rewind, fork)
takes it from there, and nothing goes over the wire, as long as it does the same. As soon as the reader sends something
else the rest of the tape is void: to the engine the line has broken then, and it is dialled anew.
"""

from __future__ import annotations

import copy
from collections.abc import Generator
from dataclasses import dataclass, field
from typing import Any

from google.genai import types

from adknb.engine.agent import Agent
from adknb.engine.context import LiveConfig
from adknb.engine.event_json import to_json
from adknb.engine.live import LiveBroken, LiveSession
from adknb.engine.live.connection import Bell, LiveConnection, LiveModel
from adknb.engine.platform import Platform, counted, interleaved
from adknb.engine.runner import Runner
from adknb.engine.session import Session
from adknb.scenarios import Turn
from adknb.stepper.plays import AgentPlay

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


class LivePlay(AgentPlay):
    """One live run of a runner; `send` and `close` may be called at any stop.

    `config` is as for `Runner.run_live`. What streaming tools send is not on the tape: they run again.
    """

    def __init__(self, runner: Runner, config: LiveConfig, first: Session | None = None) -> None:
        super().__init__(runner, [], first)
        self.turns = [Turn({})]
        self.config = config
        self.live = LiveSession()
        self.live.dial = self._dial
        self.tape = LiveTape()
        self._old = LiveTape()
        self._void = True
        """Whether the old tape counts no more."""
        self._told = 0

    def send(self, request: Any) -> None:
        """Send at this stop; see LiveSession.send. What an earlier run did from here on is not repeated then."""
        self.live.send(request)
        self._note(request)

    def close(self) -> None:
        """Close at this stop; see LiveSession.close."""
        self.live.close()
        self._note(CLOSE)

    def iter(self, turn: Turn) -> Generator[Any, None, None]:
        """The run, as Events, Stops and YieldedErrors."""
        self._send_again()
        for item in self.runner.iter_live(self.live, self.user, self.session_id, copy.deepcopy(self.config)):
            self._told += 1
            yield item
            self._send_again()

    def again(self, platform: Platform | None = None) -> LivePlay:
        """The same run from its start, in a session service of its own, on the tape of this one."""
        runner = super().again(platform).runner
        play = LivePlay(runner, self.config, self.first)
        play.turns, play.files = list(self.turns) or play.turns, self.files
        play._old, play._void = copy.deepcopy(self.tape), False
        if not self._void:  # what this one has not come to itself
            play._old.connections[len(self.tape.connections) - 1 :] = self._rest()
            play._old.sends += [pair for pair in self._old.sends if pair[0] >= self._told]
        return play

    # ------------------------------------------------------------------------------------------------------- mechanism

    def _rest(self) -> list[TapedConnection | Exception]:
        """The last connection made so far, and those behind it, as the old tape has them; all before any was made."""
        return copy.deepcopy(self._old.connections[max(len(self.tape.connections) - 1, 0) :])

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

    def _dial(self, model: LiveModel, config: types.LiveConnectConfig, bell: Bell) -> LiveConnection:
        n = len(self.tape.connections)
        old = self._old.connections[n] if not self._void and n < len(self._old.connections) else None
        if isinstance(old, Exception):
            self.tape.connections.append(old)
            raise old
        try:
            line = None if old is not None else model.connect_live(config, bell)
        except Exception as error:
            self.tape.connections.append(error)
            raise
        taped = TapedConnection()
        self.tape.connections.append(taped)
        return _Connection(self, taped, old, line, bell)


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

    def send(self, message: types.LiveClientMessage) -> None:
        """Send; on an old tape, see whether it is what was sent then."""
        sent, n = to_json(message), len(self._tape.sent)
        self._tape.sent.append(sent)
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
            raise
        self._tape.received.append(copy.deepcopy(arrived))  # the reader may edit the one that goes up
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
        if arrived is None:
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
