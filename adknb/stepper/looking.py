"""What there is to see of a paused run: its live objects, what has happened so far, and how it shows itself."""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from adknb.engine.event import Event
from adknb.engine.model import LLMRequest
from adknb.engine.response import LLMResponse
from adknb.engine.session import Session
from adknb.engine.stops import Phase, Return, Seam, Stop
from adknb.lens.invariants import Invariant, broken, invariants
from adknb.lens.state_changes import MergedCall
from adknb.stepper.dumps import AsItWas
from adknb.stepper.edits import request_json
from adknb.stepper.plays import Play
from adknb.stepper.record import StopRecord
from adknb.stepper.run import Run
from adknb.stepper.stages import Paragraph, Stage, paragraphs

if TYPE_CHECKING:
    import graphviz
    import pandas as pd

    from adknb.lens.doctor import Finding


class Looking:
    """A paused run as it is seen. Looking changes nothing; the live objects may be changed by whoever looks."""

    lock: threading.RLock
    _run: Run
    _before: AsItWas | None = None
    _shown = False

    @property
    def here(self) -> Stop | None:
        """The present stop; None once the run is over."""
        return self._run.here

    @property
    def turn(self) -> int:
        """The turn that is running, from 1."""
        return self._run.turn

    @property
    def stops(self) -> list[StopRecord]:
        """Every stop so far, a small record each."""
        return self._run.stops

    @property
    def position(self) -> int:
        """The position of `here` in `stops`; their number once the run is over."""
        return len(self.stops) - 1 if self.here is not None else len(self.stops)

    @property
    def requests(self) -> list[dict[str, Any]]:
        """Every model request as it was sent, as JSON."""
        return [request.json for request in self._run.requests]

    @property
    def merges(self) -> list[list[MergedCall]]:
        """For every answer that several calls share: the calls in their order, each with what it wrote to the state."""
        return self._run.merges

    @property
    def tools_run(self) -> list[str]:
        """The names of the tools that ran, in order."""
        return self._run.tools_run

    @property
    def error(self) -> Exception | None:
        """What ended the last turn, if it was an error."""
        return self._run.error

    @property
    def play(self) -> Play:
        """What is run."""
        return self._run.play

    @property
    def request(self) -> LLMRequest | None:
        """The live request of this stop, else the latest one of the turn."""
        return self._held("request") or self._run.request

    @property
    def args(self) -> dict[str, Any] | None:
        """The live arguments of a tool call."""
        args: dict[str, Any] | None = self._held("args")
        return args

    @property
    def response(self) -> LLMResponse | None:
        """The live response: what the model gave, whole or as a chunk."""
        response: LLMResponse | None = self._held("response") or self._outcome(Seam.MODEL)
        return response

    @property
    def result(self) -> Any:
        """What a tool came to: behind it, and at its `after_tool` callbacks."""
        return self._outcome(Seam.TOOL) if self._held("result") is None else self._held("result")

    @property
    def event(self) -> Event | None:
        """The live event: on its way to the runner, about to be stored, or merged from several answers."""
        event: Event | None = self._outcome(Seam.EVENT) or self._outcome(Seam.MERGE) or self._held("event")
        return event

    @property
    def session(self) -> Session:
        """The running session of the turn; between turns, as it is stored."""
        return self._run.session

    @property
    def events(self) -> list[Event]:
        """The stored events, the user's included."""
        return self.session.events

    @property
    def told(self) -> list[Event]:
        """The events that whoever runs the agent has received so far, chunks included (those are not stored)."""
        return self._run.told

    @property
    def screen(self) -> Any:
        """What a user's screen shows of the events, chunk by chunk, with and without each filter of `adknb.front`."""
        from adknb.widgets.screen import Screen

        return Screen(self)

    @property
    def state(self) -> dict[str, Any]:
        """The session's state as it is now."""
        return self.session.state

    @property
    def assembly(self) -> Any:
        """How the contents of the latest request came about (processors.contents.Assembly), or None."""
        return getattr(self._held("flow") or self._run.flow, "assembly", None)

    @property
    def invariants(self) -> list[Invariant]:
        """What must hold of the request, checked now; empty before its contents are there."""
        request = self.request
        if request is None or not request.contents:
            return []
        return invariants(request.contents, self.events)

    def is_broken(self, stop: Stop) -> bool:
        """Whether an invariant breaks at this stop: behind the contents, and where the model is about to be asked."""
        contents = stop.seam is Seam.PROCESSOR and stop.name == "contents" and stop.phase is Phase.AFTER
        asked = stop.seam is Seam.MODEL and stop.phase is Phase.BEFORE
        if not (contents or asked) or not stop.holds["request"].contents:
            return False
        return bool(broken(stop.holds["request"].contents, self.events))

    @property
    def fates(self) -> list[Any]:
        """What became of each session event in the latest request."""
        return list(self.assembly.fates) if self.assembly is not None else []

    @property
    def request_shown(self) -> dict[str, Any] | None:
        """`request_now` for the views: its parts are shared with what the run keeps, so it is to be looked at only."""
        with self.lock:
            now = self._as_it_is()
            return None if now is None else now.json

    @property
    def request_before(self) -> dict[str, Any] | None:
        """The request as it stood when the reader left the last pause, as JSON, to be looked at only."""
        return None if self._before is None else self._before.json

    @property
    def request_now(self) -> dict[str, Any] | None:
        """The request as it stands, as JSON."""
        return None if self.request is None else request_json(self.request)

    @property
    def stages(self) -> list[Stage]:
        """The latest request as it stood after every stage so far: `start`, the processors, the tools' declarations.

        Callbacks before the model, and edits made at a stop (`reader`), are stages too. Kept until the next turn.
        """
        with self.lock:
            return list(self._run.stages.of(self.request))

    def stages_at(self, number: int) -> list[Stage]:
        """`stages` as they were when the run came to a stop, whether or not a reader paused there."""
        with self.lock:
            stages, there = self._run.built[number]
            return stages[:there]

    def past(self, stop: StopRecord | int) -> Any:
        """A stop of the run so far as it was (widgets.past.Moment): `request`, `paragraphs`, `record`.

        Nothing is run again for it.

        Raises:
            ValueError: the run has no such stop.
        """
        from adknb.widgets.past import Past

        with self.lock:
            return Past().at(self, stop if isinstance(stop, int) else stop.number)

    def text(self, view: str = "") -> str:
        """A view as stable text, for terminals, screen readers and nbval: `dbg.text("Contents")`.

        Without a name it is the `repr`.

        Raises:
            BadData: there is no such view; names those that there are.
        """
        from adknb.widgets.text_forms import text_form

        return text_form(self, view) if view else repr(self)

    @property
    def paragraphs(self) -> list[Paragraph]:
        """The latest request's system instruction: (text, stage that wrote it) for each paragraph."""
        return paragraphs(self.stages)

    def table(self) -> pd.DataFrame:
        """The stored events as a pandas table."""
        from adknb.lens.frame import event_frame

        return event_frame(self.events)

    def findings(self) -> list[Finding]:
        """What the doctor says of the session as it stands, the worst first (spec/doctor.md)."""
        from adknb.widgets.findings import findings_of

        with self.lock:
            return findings_of(self)

    def flow_graph(self) -> graphviz.Source:
        """The Flow as a drawing: the present stage lit, finished ones ticked, no-ops dashed. Needs the extra `lab`."""
        from adknb.widgets.graphs import flow_graph

        with self.lock:
            return flow_graph(self)

    def agent_graph(self) -> graphviz.Source:
        """The tree of agents as a drawing, with their modes and who may transfer to whom. Needs the extra `lab`."""
        from adknb.widgets.graphs import agent_graph

        with self.lock:
            return agent_graph(self)

    def to_html(self, path: str | os.PathLike[str], redact: Iterable[str | re.Pattern[str]] = ()) -> None:
        """Write the panel, every view of it, as one file for a browser that needs neither kernel nor network.

        Keys, tokens and passwords are taken out, and what fits the patterns of `redact`. The same run gives the same
        file.

        Raises:
            BadData: the file cannot be written, or a pattern is none; an older file stays as it was.
        """
        from adknb.widgets.export import to_html

        with self.lock:
            to_html(self, path, redact)

    def __repr__(self) -> str:
        from adknb.widgets.text import describe

        with self.lock:
            try:
                return describe(self)
            except Exception as error:  # a broken edit: told with its place when the run goes on (sound.py)
                return f"stop {self.position} · {self.here}\n  problem   something here cannot be shown: {error}"

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> Any:
        from adknb.widgets.asked import asked_by_name
        from adknb.widgets.panel.panel import mimebundle

        with self.lock:
            if self._shown and not asked_by_name():  # the panel that is there follows along
                return {"text/plain": repr(self)}
            self._shown = True
            try:
                return mimebundle(self)
            except Exception:  # as above
                return {"text/plain": repr(self)}

    # ---- mechanism

    def _as_it_is(self) -> AsItWas | None:
        return None if self.request is None else self._run.dumps.request(self.request)

    def _held(self, name: str) -> Any:
        return None if self.here is None else self.here.holds.get(name)

    def _outcome(self, seam: Seam) -> Any:
        """What the call came to, at the stop after one of this seam."""
        stop = self.here
        if stop is None or stop.seam is not seam or stop.phase is not Phase.AFTER:
            return None
        outcome = stop.holds["outcome"]
        return outcome.value if isinstance(outcome, Return) else None
