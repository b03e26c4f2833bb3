"""What the server of a live run does, message by message: a script for each connection, and a model that plays it.

    model = ScriptedLive([[{"get": 1}, {"send": {"serverContent": {"turnComplete": True}}}, {"drop": True}], []])

A connection is a list of steps; one beyond the list is refused. Steps:

    {"get": n}              wait for n messages of the client
    {"send": {…}}           send a message, as the Live API writes it
    {"flood": {…}}          send {"message": {…}} so many {"times": n}, so many {"per_second": n} (left out: at once);
                            the text "#" in it becomes the number of the message, from 0
    {"go_away": "5s"}       send a go-away; the connection stays
    {"error": {…}}          send an error object
    {"text": "…"}           send this text, whatever it is
    {"close": 1008}         close with a code and, if there is one, a "reason"
    {"drop": true}          be gone without a close frame
    {"wait": 0.2}           do nothing for so many seconds
    {"refuse": true}        as the only step: refuse the connection

Behind its last step a connection stays open and takes what comes. What happened stands in a log, in the words of
golden/live_transcripts.txt: `(1, "setup", {…})`, `(1, "got", {…})`, `(1, "sends", {…})`, `(1, "closes", "1008 …")`.

Source: golden/README.md (Live); spec/live.md.
"""

from __future__ import annotations

import json
import threading
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from google.genai import types

from adknb.engine.errors import BadData
from adknb.engine.event_json import to_json
from adknb.engine.live.connection import Arrivals, Bell
from adknb.engine.live.errors import LiveBroken
from adknb.engine.model import LLMRequest

Step = Mapping[str, Any]
LogEntry = tuple[int, str, Any]
KINDS: dict[str, type | tuple[type, ...]] = {
    "get": int,
    "send": Mapping,
    "flood": Mapping,
    "go_away": str,
    "error": Mapping,
    "text": str,
    "close": int,
    "drop": bool,
    "wait": (int, float),
    "refuse": bool,
}
"""The steps, and what each holds."""

GONE = 1006


def checked(connections: Sequence[Sequence[Step]]) -> list[list[Step]]:
    """The connections of a script.

    Raises:
        BadData: a step is none of those above; names it.
    """
    for n, steps in enumerate(connections):
        for i, step in enumerate(steps):
            where = f"connections[{n}][{i}]"
            kinds = [kind for kind in step if kind != "reason"] if isinstance(step, Mapping) else []
            if len(kinds) != 1 or kinds[0] not in KINDS:
                raise BadData(where, f"a step has one of {', '.join(KINDS)}; not {step!r}")
            kind = kinds[0]
            value, wanted = step[kind], KINDS[kind]
            if not isinstance(value, wanted) or (isinstance(value, bool) and wanted is not bool):
                raise BadData(where, f"{kind!r} holds {_named(wanted)}, not {value!r}")
            if "reason" in step and kind != "close":
                raise BadData(where, f"only a close has a reason; not {kind!r}")
            if kind == "flood":
                _check_flood(step["flood"], where)
    return [list(steps) for steps in connections]


def _check_flood(flood: Mapping[str, Any], where: str) -> None:
    """Raises BadData."""
    if set(flood) - {"message", "times", "per_second"} or not isinstance(flood.get("message"), Mapping):
        raise BadData(where, f"a flood has 'message', 'times' and perhaps 'per_second', not {dict(flood)!r}")
    for key in ("times", "per_second"):
        value = flood.get(key, 1 if key == "per_second" else None)
        if type(value) is not int or value < 1:
            raise BadData(where, f"a flood's {key!r} is a whole number from 1, not {value!r}")


def flooding(flood: Mapping[str, Any]) -> Iterator[str]:
    """The messages of a flood, as JSON texts."""
    before, number, behind = json.dumps(flood["message"]).partition('"#"')
    for n in range(flood["times"]):
        yield f'{before}"{n}"{behind}' if number else before


def _named(kind: type | tuple[type, ...]) -> str:
    return " or ".join(k.__name__ for k in (kind if isinstance(kind, tuple) else (kind,)))


def refuses(steps: Sequence[Step]) -> bool:
    """Whether the script of a connection is to refuse it."""
    return any("refuse" in step for step in steps)


def outgoing(step: Step) -> dict[str, Any] | None:
    """The message that a step sends, as JSON; None for a step that sends none."""
    if "send" in step:
        return dict(step["send"])
    if "go_away" in step:
        return {"goAway": {"timeLeft": step["go_away"]}}
    return {"error": dict(step["error"])} if "error" in step else None


class ScriptedLive:
    """A model that is talked to live, and plays the server's part in this process: no socket, no thread.

    It waits for nothing (`wait` is passed over), so that a stepped run is the same every time. Connections are counted
    in `log`. `backend` is `"gemini_api"` or `"vertex"`.
    """

    def __init__(
        self, connections: Sequence[Sequence[Step]], name: str = "gemini-live-x", backend: str = "gemini_api"
    ) -> None:
        self.name = name
        self.backend = backend
        self.connections = checked(connections)
        self.log: list[LogEntry] = []
        self.dialled = 0

    def generate_content(self, request: LLMRequest, stream: bool) -> Sequence[Any]:
        """A live model answers no single request. Raises TypeError."""
        raise TypeError(f"model {self.name!r} is a script for live runs: use run_live or iter_live")

    def connect_live(self, config: types.LiveConnectConfig, bell: Bell) -> ScriptedConnection:
        """The next connection of the script. Raises ConnectionRefusedError behind the last."""
        self.dialled += 1
        n = self.dialled
        if n > len(self.connections) or refuses(self.connections[n - 1]):
            self.log.append((n, "refuses", None))
            raise ConnectionRefusedError(f"connection {n} is refused")
        self.log.append((n, "setup", {"model": f"models/{self.name}", **to_json(config)}))
        return ScriptedConnection(n, self.connections[n - 1], self.log, bell)


class ScriptedConnection:
    """One connection of a ScriptedLive. A step is played as soon as what it waits for is there."""

    def __init__(self, n: int, steps: Sequence[Step], log: list[LogEntry], bell: Bell) -> None:
        self._n, self._log = n, log
        self._arrivals = Arrivals(bell)
        self._steps, self._inbox = deque(steps), deque[dict[str, Any]]()
        self._got = 0
        self._end: Exception | None = None
        self._lock = threading.RLock()
        self._arrivals.put(types.LiveServerMessage(setup_complete=types.LiveServerSetupComplete()))
        self._play()

    def send(self, message: types.LiveClientMessage) -> None:
        """Take a message. Raises LiveBroken when the script has ended the connection."""
        with self._lock:
            if self._end is not None:
                raise self._end
            self._inbox.append(to_json(message))
            self._play()

    def receive(self) -> types.LiveServerMessage | None:
        """The next message that the script has sent, or None; behind the last one raises how it ended."""
        return self._arrivals.take()

    def close(self) -> None:
        """End it from this side."""
        with self._lock:
            if self._end is None:
                self._end = LiveBroken(GONE, "closed on this side")

    def _play(self) -> None:
        while self._steps and self._end is None:
            step = self._steps[0]
            if "get" in step:
                while self._inbox and self._got < step["get"]:
                    self._take()
                if self._got < step["get"]:
                    return
                self._got = 0
            self._steps.popleft()
            self._do(step)
        while self._inbox and self._end is None:
            self._take()

    def _take(self) -> None:
        self._got += 1
        self._log.append((self._n, "got", self._inbox.popleft()))

    def _do(self, step: Step) -> None:
        message = outgoing(step)
        if message is not None:
            self._log.append((self._n, "sends", message))
        if "error" in step or "text" in step:
            self._finish(ValueError("the server sent an error, or something that is no message"))
        elif "flood" in step:
            self._log.append((self._n, "sends", dict(step["flood"])))
            for text in flooding(step["flood"]):
                self._arrivals.put(types.LiveServerMessage.model_validate_json(text))
        elif message is not None:
            self._arrivals.put(types.LiveServerMessage.model_validate_json(json.dumps(message)))
        elif "close" in step:
            self._log.append((self._n, "closes", f"{step['close']} {step.get('reason', '')}".strip()))
            self._finish(LiveBroken(step["close"], step.get("reason", "")))
        elif "drop" in step:
            self._finish(LiveBroken(GONE, "no close frame"))

    def _finish(self, end: Exception) -> None:
        self._end = end
        self._arrivals.put(end)
