"""An attached agent as a Play: turns of google-adk's own Runner, as a generator of Stops.

The first run and every other one start from copies of the session; the reader's own session service is not written to.
Ids and clock of a run repeat, so that a second run meets the stops of the first.
"""

from __future__ import annotations

import asyncio
import copy
import itertools
import time
import uuid
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field
from typing import Any

from google.genai import types

from adknb.attach.adk import adk
from adknb.attach.convert import from_adk
from adknb.attach.mirrors import Mirrors
from adknb.attach.pausing import ACTIVE, Gate, Lanes
from adknb.attach.seams import append, seams
from adknb.attach.tree import ShownRunner, names_of, shown_agent
from adknb.engine.context import RunConfig
from adknb.engine.loops import on_one_loop, run_to_its_end
from adknb.engine.session import Session
from adknb.engine.stops import Stop
from adknb.scenarios import Turn

_LIVE: set[Any] = set()
"""The tasks of live runs: the event loop alone would let go of them."""


@dataclass
class Subject:
    """What is attached: google-adk's agent or app, its services, and the session at the start."""

    root: Any
    app: Any
    app_name: str
    plugins: list[Any]
    services: dict[str, Any]
    first: Any
    run_config: Any = None
    prefix: str = field(default_factory=lambda: uuid.uuid4().hex[:12])
    times: list[float] = field(default_factory=list)

    def runner(self, sessions: Any) -> Any:
        """A Runner of google-adk's on a session service of its own."""
        kind = adk("google.adk.runners").Runner
        if self.app is not None:
            return kind(app=self.app, app_name=self.app_name, session_service=sessions, **self.services)
        given = {"plugins": self.plugins} if self.plugins else {}
        return kind(agent=self.root, app_name=self.app_name, session_service=sessions, **self.services, **given)


class AdkPlay:
    """One run of an attached agent."""

    def __init__(self, subject: Subject, messages: Sequence[Any], order: Sequence[str] = ()) -> None:
        self.subject = subject
        self.turns = [Turn(m) for m in messages]
        self.name = str(subject.root.name)
        self.run_config = RunConfig()
        self.lanes = Lanes()
        """Taken by the Run in the place of its own."""
        self.runner = ShownRunner(shown_agent(subject.root), subject.app_name)
        self.runner.more_stops = frozenset(names_of(subject.root, subject.plugins))
        self.order = list(order)
        self._gates: list[Gate] = []
        self._service = adk("google.adk.sessions.in_memory_session_service").InMemorySessionService()
        self._theirs = subject.runner(self._sessions())
        self._mirrors = Mirrors(self.runner)
        self._began = False
        self._ids, self._ticks = itertools.count(1), itertools.count()

    def iter(self, turn: Turn) -> Generator[Any, None, None]:
        """One turn, as Stops, on the loop of the run."""
        return on_one_loop(self._turn(turn))

    def again(self) -> AdkPlay:
        """The same agent and messages from the start."""
        met = [key for gate in self._gates for key in gate.order]
        play = AdkPlay(self.subject, [], met + self.order[len(met) :])
        play.turns = list(self.turns)
        return play

    @property
    def session(self) -> Session:
        """The session as it is stored now."""
        first = self.subject.first
        found = run_to_its_end(
            self._service.get_session(app_name=first.app_name, user_id=first.user_id, session_id=first.id)
        )
        ours: Session = from_adk(found or first)
        return ours

    @property
    def adk_session(self) -> Any:
        """The session as google-adk's, as it is stored now."""
        first = self.subject.first
        return run_to_its_end(
            self._service.get_session(app_name=first.app_name, user_id=first.user_id, session_id=first.id)
        )

    # ------------------------------------------------------------------------------------------------------- mechanism

    def _turn(self, turn: Turn) -> Generator[Any, None, None]:
        met = sum(len(gate.order) for gate in self._gates)
        task: asyncio.Task[None] | None = None
        gate: Gate | None = None

        async def begin() -> None:
            nonlocal task, gate
            gate = Gate(self.lanes, self.order[met:])
            gate.mirrors = self._mirrors
            self._gates.append(gate)
            task = asyncio.get_running_loop().create_task(self._run(gate, copy.deepcopy(turn)))
            task.add_done_callback(lambda _: gate.ring() if gate else None)
            _LIVE.add(task)
            task.add_done_callback(_LIVE.discard)

        async def following() -> Stop | None:
            assert gate is not None and task is not None
            return await gate.next_stop(task)

        async def leave() -> None:
            if task is None or gate is None or task.get_loop() is not asyncio.get_running_loop():
                return
            gate.closing = True  # first: callbacks that run while it is cancelled must not pause again
            task.cancel()
            gate.open()
            await asyncio.gather(task, return_exceptions=True)

        with seams():
            try:
                run_to_its_end(begin())
                while (stop := run_to_its_end(following())) is not None:
                    yield stop
                assert task is not None
                task.result()
            finally:
                if task is not None and not task.done():
                    run_to_its_end(leave())

    async def _run(self, gate: Gate, turn: Turn) -> None:
        ACTIVE.set(gate)
        adk("google.adk.platform.uuid").set_id_provider(self._new_id)
        adk("google.adk.platform.time").set_time_provider(self._now)
        first = self.subject.first
        if not self._began:
            self._began = True
            session = await self._service.create_session(
                app_name=first.app_name, user_id=first.user_id, session_id=first.id, state=copy.deepcopy(first.state)
            )
            for event in first.events:
                await type(self._service).append_event(self._service, session, event.model_copy(deep=True))
        given = {"run_config": self.subject.run_config} if self.subject.run_config is not None else {}
        async for _ in self._theirs.run_async(
            user_id=first.user_id,
            session_id=first.id,
            new_message=turn.message,
            **({"state_delta": turn.state_delta} if turn.state_delta else {}),
            **given,
        ):
            pass

    def _sessions(self) -> Any:
        """The session service of this run; a stop before and behind every event that it stores."""
        service = self._service
        kind = type(service)

        class Stepped(kind):  # type: ignore[misc,valid-type]
            async def append_event(self, session: Any, event: Any) -> Any:
                gate = ACTIVE.get()
                work: Callable[[], Any] = lambda: kind.append_event(self, session, event)  # noqa: E731
                return await work() if gate is None else await append(gate, session, event, work)

        service.__class__ = Stepped
        return service

    def _new_id(self) -> str:
        return f"{self.subject.prefix[:8]}-{self.subject.prefix[8:]}-4000-8000-{next(self._ids):012d}"

    def _now(self) -> float:
        tick, times = next(self._ticks), self.subject.times
        while tick >= len(times):
            times.append(time.time())
        return times[tick]


def as_content(given: Any) -> types.Content:
    """A user message from a text or a Content. Raises TypeError."""
    if isinstance(given, str):
        return types.Content(role="user", parts=[types.Part(text=given)])
    if isinstance(given, types.Content):
        return given
    raise TypeError(f"a message is a text or a Content, not {type(given).__name__}")
