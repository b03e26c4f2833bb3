"""A recorded session as the panel's views read a run: a reader stands at one event, and goes to others.

A stop is an event, at the same position. Standing at an event that a model wrote, everything is as it was just before:
the request that it answers. At any other event that event counts in. Nothing runs and nothing can be edited.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from functools import cached_property
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from adknb.engine.errors import AdknbError, BadData
from adknb.engine.event import Event
from adknb.engine.processors.contents import Assembly, Viewer
from adknb.engine.stops import Phase, Seam
from adknb.files.whose import ask, is_model_event
from adknb.lens.invariants import Invariant, invariants
from adknb.lens.state_changes import StateChanges, state_changes
from adknb.lens.table import turns
from adknb.stepper.edits import content_json, request_json
from adknb.stepper.record import StopRecord

if TYPE_CHECKING:
    from adknb.files.rebuild import Rebuilt
    from adknb.files.recording import Recording

Json = dict[str, Any]


class Tape:
    """Where a reader stands in a recording, and what the session was there.

    `position`: the event, -1 in a session without any. `rebuilt`: its request, None if nobody can be asked for one;
    `problem` then says why. `notice`: what the last command has to say.
    """

    here = None
    request = None
    error = None
    breakpoints: Sequence[Any] = ()
    merges: Sequence[Any] = ()
    stages: Sequence[Any] = ()
    requests: Sequence[Any] = ()
    paragraphs: Sequence[Any] = ()

    def __init__(self, recording: Recording) -> None:
        self.recording = recording
        self.lock = threading.RLock()
        self.play = SimpleNamespace(name=recording.label)
        self.notice = self.problem = ""
        self.answers = [i for i in range(len(recording.events)) if is_model_event(recording.events, i)]
        self.stops = _stops(recording.events, set(self.answers))
        self.position = -1
        self.rebuilt: Rebuilt | None = None
        self._readers: list[Callable[[], None]] = []
        self._found: list[Any] | None = None
        self._stand_at(self.answers[-1] if self.answers else len(recording.events) - 1)

    def subscribe(self, reader: Callable[[], None]) -> None:
        """Call `reader` whenever the reader of the recording has moved."""
        self._readers.append(reader)

    # ---- moving

    def step(self) -> None:
        """To the next event."""
        self._go(self.position + 1, "This is the last event.")

    def back(self) -> None:
        """To the event before."""
        self._go(self.position - 1, "This is the first event.")

    def next(self) -> None:
        """To the next event that a model wrote."""
        after = (i for i in self.answers if i > self.position)
        self._go(next(after, len(self.stops)), "No model wrote an event after this one.")

    def rewind(self, stop: int) -> None:
        """To any event.

        Raises:
            BadData: there is no such event.
        """
        if not 0 <= stop < len(self.stops):
            raise BadData("stop", f"there is no event {stop}: the recording has events 0 to {len(self.stops) - 1}")
        self._go(stop, "")

    def _go(self, position: int, otherwise: str) -> None:
        self.notice = "" if 0 <= position < len(self.stops) else otherwise
        if not self.notice:
            self._stand_at(position)
        for reader in self._readers:
            reader()

    def _stand_at(self, position: int) -> None:
        self.position, self.rebuilt, self.problem = position, None, ""
        for made in ("events", "state", "request_shown", "request_before", "invariants", "invocation"):
            self.__dict__.pop(made, None)
        if position >= 0:
            try:
                self.rebuilt = self.recording.request_before(position)
                self.problem = self.rebuilt.problem
            except AdknbError as error:  # nobody speaks in the file
                self.problem = str(error)

    # ---- what there was

    @cached_property
    def events(self) -> list[Event]:
        """The events that were there, those that were never stored as empty ones."""
        if self.rebuilt is None:
            return list(self.recording.events[: self.position + 1])
        return self.rebuilt.stored()

    @cached_property
    def state(self) -> Json:
        """The state as it was."""
        last = len(self.events) - 1
        return self.recording.state_at(last) if last >= 0 else dict(self.recording.state if not self.stops else {})

    @property
    def assembly(self) -> Assembly | None:
        """How the contents were put together."""
        return self.rebuilt.assembly if self.rebuilt is not None else None

    @cached_property
    def invocation(self) -> Any:
        """What only the agent that is asked sees, as the views look for it; None if there is nothing."""
        seed = self.rebuilt.seed if self.rebuilt is not None else None
        if self.rebuilt is None or seed is None or seed.content is None:
            return None
        return SimpleNamespace(
            agent=SimpleNamespace(name=self.rebuilt.agent),
            private_events=[Event(author="user", content=seed.content)],
            private_after=seed.position,
        )

    @cached_property
    def request_shown(self) -> Json | None:
        """The request as JSON: the contents, and with a definition the rest; None if there is none."""
        return _json(self.rebuilt)

    @property
    def request_now(self) -> Json | None:
        """The same: nobody edits it."""
        return self.request_shown

    @cached_property
    def request_before(self) -> Json | None:
        """The request that the same agent sent before this one; None if there was none."""
        if self.rebuilt is None:
            return None
        agent = self.rebuilt.agent
        same = (i for i in reversed(self.answers) if i < self.position and self.recording.events[i].author == agent)
        earlier = next(same, None)
        return _json(self.recording.request_before(earlier)) if earlier is not None else None

    @cached_property
    def invariants(self) -> list[Invariant]:
        """What must hold of the contents."""
        built = self.rebuilt is not None and not self.rebuilt.problem
        return invariants(self.rebuilt.contents, self.events) if self.rebuilt is not None and built else []

    def state_changes(self) -> StateChanges:
        """The state, explained."""
        return state_changes(self.events, self.state, self.state, [], [])

    def findings(self) -> list[Any]:
        """The doctor's findings in the whole session."""
        if self._found is None:
            self._found = self.recording.findings()
        return self._found

    def viewers(self, now: Viewer | None) -> list[Viewer]:
        """The agents as viewers of the session, where each last stood; the one that is asked as it is asked."""
        at, names = max(self.position, 0), self.recording.agents
        viewers = []
        for name in names:
            asked = ask(self.recording.events, at, name, self.recording.name, names)
            summaries = now.compaction if now is not None else False
            viewers.append(Viewer(name, branch=asked.branch, isolation_scope=asked.scope, compaction=summaries))
        if now is not None and now.agent_name not in names:
            viewers.append(now)
        return [now if now is not None and v.agent_name == now.agent_name else v for v in viewers]


def _json(rebuilt: Rebuilt | None) -> Json | None:
    if rebuilt is None or rebuilt.problem:
        return None
    if rebuilt.request is not None:
        return request_json(rebuilt.request)
    return {"contents": [content_json(content) for content in rebuilt.contents]}


def _stops(events: Sequence[Event], answers: set[int]) -> list[StopRecord]:
    """A stop for each event; a step of an agent begins at each of its model events."""
    stops = []
    steps: dict[tuple[int, str], int] = {}
    for i, (event, turn) in enumerate(zip(events, turns(events), strict=True)):
        agent = "" if event.author == "user" else event.author
        if agent:
            step = steps.get((turn, agent), 0) + (i in answers)
            steps[(turn, agent)] = step
        else:
            step = 0
        stops.append(StopRecord(i, Seam.APPEND, event.author, Phase.AFTER, turn, step, agent, "", 0, event=i))
    return stops
