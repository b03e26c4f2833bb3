"""One run and its journal: the mechanism under the commands. It goes on one stop at a time, and can be replayed.

A second run is made by playing again from the start: the journal answers for models and tools, and does again what the
reader did. The first run stays as it was.
"""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import replace
from typing import Any

from adknb.engine.errors import AdknbError
from adknb.engine.event import Event
from adknb.engine.loops import Loop, PrivateLoop, on
from adknb.engine.model import LLMRequest
from adknb.engine.platform import interleaved
from adknb.engine.session import Session
from adknb.engine.stops import Phase, Raise, Return, Seam, Stop
from adknb.engine.tool import ConfirmationRejected, ConfirmationRequired
from adknb.lens.state_changes import MergedCall, merged_calls
from adknb.stepper.dumps import AsItWas, Dumps
from adknb.stepper.journal import (
    Effect,
    Entry,
    Memory,
    Question,
    ReplayDiverged,
    answer_again,
    counting,
    effect_of,
    is_performed,
    leave_behind,
    place_of,
    use_key,
)
from adknb.stepper.lanes import Lanes
from adknb.stepper.patches import Patch, put_back, snapshot, taken
from adknb.stepper.plays import Play
from adknb.stepper.record import OpenCalls, StopRecord, error_of, event_position
from adknb.stepper.stages import Stage, Stages
from adknb.stepper.tape import Tape, TapeEnded


class Busy(AdknbError):
    """The run is in the middle of a stop: a tool or callback of this very run tries to step it."""


class Run:
    """A play under way. `here` is the present stop, None once all turns are over."""

    def __init__(self, play: Play, loop: Loop | None = None) -> None:
        self.play = play
        self.loop: Loop = loop or PrivateLoop()
        """Runs what is `async def`. Runs that are made from this one share it: a client may be bound to it."""
        self.here: Stop | None = None
        self.turn = 0
        self.stops: list[StopRecord] = []
        self.journal: list[Entry] = []
        """An entry for each stop, the present one included."""
        self.requests: list[AsItWas] = []
        self.tools_run: list[str] = []
        self.error: Exception | None = None
        self.request: LLMRequest | None = None
        self.flow: Any = None
        self.open = OpenCalls()
        self._items: Generator[Any, None, None] | None = None
        self._session: Session | None = None
        self._held: dict[str, Any] | None = None
        self.left: AsItWas | None = None
        """The request as it stood when edits were last asked for: when a reader has left a pause, as it was left."""
        self._sent: dict[int, AsItWas] = {}
        """Stop before a model -> the request it is being asked with, until its first answer."""
        self._heard = 0
        self.told: list[Event] = []
        """The events that whoever runs the agent has received, chunks included."""
        self._busy = False
        self.unused: dict[str, int] = {}
        """How often each such double had been used before any run of this family used it; all its runs share this."""
        self._uses: dict[str, int] = {}
        """How often this run has used each double that counts its uses."""
        self._promised: dict[int, Effect] = {}
        """Stop before a call -> the effect, of an earlier run, that answers for it."""
        self.lanes: Lanes | None = getattr(play, "lanes", None)  # an attached agent's tasks have lanes of their own
        if play.runner.platform.run_tasks is interleaved:
            self.lanes = Lanes()
            play.runner.platform = replace(play.runner.platform, run_tasks=self.lanes.run)
        self.offline = False
        """Whether models and tools are never used: where the record ends, they fail with TapeEnded."""
        self.dumps = Dumps()
        self.memory = Memory()
        """What an earlier run performed behind the stop this one was brought to."""
        self.stages = Stages(self.dumps)
        """The request of the present step after every stage."""
        self.built: list[tuple[list[Stage], int]] = []
        """For each stop the stages of the request at hand, a list that stops share, and how many there were by then."""
        self.merges: list[list[MergedCall]] = []
        """What each of several calls wrote, for every merge so far."""

    # --------------------------------------------------------------------------------------------------------- going on

    def advance(self) -> None:
        """Leave this stop and go on to the next.

        Raises:
            Busy: the run is going on already, below in this very call stack.
        """
        if self._busy:
            raise Busy("the run is busy: a tool or callback of this very run cannot step it")
        self._busy = True
        try:
            with on(self.loop):
                self._go_on()
        finally:
            self._busy = False

    def pause(self) -> None:
        """A reader looks now: remember what there is, so that an edit can be told."""
        if self.here is None:
            self._held = None
        elif self._held is None:
            self._held = snapshot(self.here, self.request, self.dumps)

    def edits(self) -> Patch:
        """What the reader has changed at this stop so far."""
        if self.here is None or self._held is None:
            return []
        now = snapshot(self.here, self.request, self.dumps)
        self.left = now.get("request")
        return taken(self._held, now)

    def close(self) -> None:
        """Leave for good: generators are closed, an open model stream too."""
        if self._items is not None:
            with on(self.loop):
                self._items.close()
        self._items, self.here = None, None
        self.play.turns.clear()

    @property
    def session(self) -> Session:
        """The running session of the turn; between turns, as it is stored."""
        if self.here is None or self._session is None or self.here.seam is Seam.TURN:
            return self.play.session
        return self._session

    # ----------------------------------------------------------------------------------------------------------- replay

    def again(self, to: int | None = None) -> Run:
        """A second run, brought to stop `to`; without it, to where this one stands, edits made here included.

        Raises:
            ReplayDiverged: it does not meet the stops of this one; both runs stay usable.
        """
        last = len(self.journal) - 1 if to is None else to
        if to is None and self.here is not None:
            self.journal[-1].edits = self.edits()
        run = Run(self.play.again(), self.loop)
        run.offline, run.unused = self.offline, self.unused
        known = self.journal[: last + 1]  # what ran behind that stop is not known there yet
        run.follow(known, as_it_was_left=to is None, over=to is None and self.here is None)
        run.memory = self.memory.with_more(self.journal[last:])
        return run

    def begun_again(self, number: int) -> Run:
        """A second run in the place of one that an interrupt has broken: at the stop where the command had begun.

        Edits made there are kept, the command is not: an answer or a choice it gave is taken back. What had come to its
        end behind that stop is remembered, and not run again.

        Raises:
            ReplayDiverged: it does not meet the stops of this one.
        """
        entry = replace(self.journal[number], tape=None, lane=None)
        if self.stops[number].phase is Phase.BEFORE:
            entry.answer = None
        run = Run(self.play.again(), self.loop)
        run.offline = self.offline
        run.follow([*self.journal[:number], entry], as_it_was_left=True, over=False)
        run.memory = self.memory.with_more(self.journal[number:])
        return run

    def break_off(self, why: str) -> None:
        """End a turn that an interrupt has broken and that cannot be brought back."""
        self._end_turn(Raise(RuntimeError(why)))
        self._held = None

    def follow(self, known: Sequence[Entry], as_it_was_left: bool, over: bool) -> None:
        """Bring this new run to the last stop of a journal; there too do what the reader did, or go on to be over.

        Raises:
            ReplayDiverged: it does not meet the stops of the journal.
        """
        last = len(known) - 1
        with contextlib.redirect_stdout(io.StringIO()):  # what was printed once is not printed again
            for number, entry in enumerate(known):
                self.advance()
                self._meet(number, entry)
                if number == last and as_it_was_left and self.here is not None:
                    self._held = snapshot(
                        self.here, self.request, self.dumps
                    )  # what is done here can still be told as an edit
                if number < last or as_it_was_left:
                    self._do_again(number, known)
            if over:
                self.advance()

    def answer(self, answer: Return | Raise | None) -> None:
        """The reader answers for the call this stop stands before, or replaces the outcome of the one it is behind."""
        assert self.here is not None
        self.journal[-1].answer = answer
        if self.here.phase is Phase.AFTER:
            self.here.holds["outcome"] = answer
        else:
            self.here.answer = answer

    def _meet(self, number: int, entry: Entry) -> None:
        """The stop reached must be the one recorded."""
        met = "the end of the run" if self.here is None else place_of(self.here, self.turn)
        if met != entry.place:
            raise ReplayDiverged(number, entry.place, met)

    def _do_again(self, number: int, known: Sequence[Entry]) -> None:
        """What the reader did at this stop of the first run; and who answers for the model or tool that ran there."""
        assert self.here is not None
        entry, own = known[number], self.journal[-1]
        put_back(self.here, entry.edits, self.request)
        own.edits = entry.edits
        if entry.answer is not None:
            self.answer(answer_again(entry.answer))
        elif is_performed(self.here):
            closing = next((e for e in known[number + 1 :] if e.closes == number), None)
            if closing is not None and closing.effect is not None:
                self._promised[number] = closing.effect
        own.tape = entry.tape
        self.choose(entry.lane)

    def choose(self, lane: str | None) -> None:
        """Which lane goes next."""
        self.journal[-1].lane = lane
        if self.lanes is not None:
            self.lanes.wish = lane

    # -------------------------------------------------------------------------------------------------------- mechanism

    def _go_on(self) -> None:
        self._leave()
        while True:
            if self._items is None and not self._begin_turn():
                self.here = None
                return
            assert self._items is not None
            try:
                item = next(self._items)
            except StopIteration:
                self._end_turn(Return())
                return
            except Exception as error:
                self._end_turn(Raise(error))
                return
            if isinstance(item, Stop):
                self._arrive(item)
                return
            self._heard += 1
            if isinstance(item, Event):
                self.told.append(item)
            if self._heard == self.play.turns[self.turn - 1].stop_after:  # this reader leaves here
                self._items.close()
                self._end_turn(Return("the reader left"))
                return

    def _leave(self) -> None:
        """Write down what the reader changed here; see that a model or tool that ran before does not run again."""
        stop = self.here
        if stop is None:
            return
        entry = self.journal[-1]
        if self._held is not None:
            entry.edits, self._held = self.edits(), None
        self.stages.edited(self.request, entry.edits)
        if stop.phase is Phase.AFTER or entry.answer is not None:
            return
        if stop.seam is Seam.MODEL:
            sent = self.dumps.request(stop.holds["request"])
            self.requests.append(sent)
            self._sent[entry.number] = sent
            entry.question = Question(stop, sent)
            entry.tape = entry.tape or self.memory.tape(entry.question) or Tape()
            if entry.tape.waits and not self.offline:
                entry.tape.go_on_with(self._ask(stop))
            stop.answer = Return(entry.tape)
        elif is_performed(stop):
            entry.question = Question(stop)
            effect = self._promised.get(len(self.journal) - 1) or self.memory.effect(entry.question)
            if effect is None and self.offline:
                stop.answer = Raise(TapeEnded(f"the recording ends here: {stop.name!r} was not run when it was made"))
                return
            if stop.seam is Seam.TOOL:
                self.tools_run.append(stop.name)
            if effect is None:
                self._tell_uses(stop)
            else:
                self._promised[len(self.journal) - 1] = effect
                stop.answer = answer_again(effect.outcome)

    def _ask(self, stop: Stop) -> Callable[[], Iterable[Any]]:
        """How the model is asked, when the run wants an answer that is not on the tape."""
        request, stream, ask, double = stop.holds["request"], stop.holds["stream"], stop.function, counting(stop)
        assert ask is not None
        uses = None if double is None else self._uses_of(stop, double)

        def source() -> Iterable[Any]:
            if double is not None:
                double.uses = uses
            answers: Iterable[Any] = ask(request, stream)
            return answers

        return source

    def _tell_uses(self, stop: Stop) -> None:
        """Before a model or tool is really used: one that counts is told how often *this* run has used it.

        Another run may have used the same object in between (scenarios.ScriptedModel).
        """
        double = counting(stop)
        if double is not None:
            double.uses = self._uses_of(stop, double)

    def _uses_of(self, stop: Stop, double: Any) -> int:
        key = use_key(stop)
        return self._uses.setdefault(key, self.unused.setdefault(key, double.uses))

    def _keep(self, stop: Stop, entry: Entry) -> None:
        """Behind a call: keep what it came to, or do here what it did in the run that it is answered from."""
        before = stop.opened_by
        if stop.phase is not Phase.AFTER or before is None or before.number is None:
            return
        entry.closes = before.number
        self._take_back(stop)
        tape, effect = self.journal[before.number].tape, self._promised.get(before.number)
        double = counting(stop)
        if stop.seam is Seam.MODEL and tape is not None:
            if tape.uses is None and double is not None:
                tape.uses = double.uses
            self._keep_what_the_adapter_wrote(stop, tape)
            uses = tape.uses
        elif effect is not None:
            leave_behind(stop, effect)
            entry.effect, uses = effect, effect.uses
        else:
            entry.effect = effect_of(stop)
            uses = None if entry.effect is None else entry.effect.uses
        if uses is not None:
            self._uses[use_key(stop)] = uses

    def _keep_what_the_adapter_wrote(self, stop: Stop, tape: Tape) -> None:
        """What an adapter writes into the request itself (Gemini's asks to go on) is written by its tape, too."""
        assert stop.opened_by is not None and stop.opened_by.number is not None
        sent = self._sent.pop(stop.opened_by.number, None)
        if sent is None:  # this is not the first answer
            return
        if tape.wrote is None:
            now = self.dumps.request(stop.holds["request"])
            tape.wrote = [] if now == sent else taken({"request": sent}, {"request": now})
        elif tape.wrote:
            put_back(stop, tape.wrote, stop.holds["request"])

    def _take_back(self, stop: Stop) -> None:
        """A tool that asked for approval, or was refused it, has not run."""
        outcome, before = stop.holds["outcome"], stop.opened_by
        refused = isinstance(outcome, Raise) and isinstance(outcome.error, ConfirmationRequired | ConfirmationRejected)
        if not refused or stop.seam is not Seam.TOOL or before is None or stop.name not in self.tools_run:
            return
        if before.number is not None and self.journal[before.number].answer is None:  # not the reader's own error
            del self.tools_run[len(self.tools_run) - 1 - self.tools_run[::-1].index(stop.name)]

    def _begin_turn(self) -> bool:
        if self.turn >= len(self.play.turns):
            return False
        self.turn += 1
        self._heard = 0
        self.error = None
        self.request = self.flow = self._session = None
        self.stages = Stages(self.dumps)
        self._items = self.play.iter(self.play.turns[self.turn - 1])
        return True

    def _end_turn(self, outcome: Return | Raise) -> None:
        """A turn's end is a stop too: everything can still be looked at, and the next turn can be stepped."""
        self._items = None
        self.open.clear()
        self.error = outcome.error if isinstance(outcome, Raise) else None
        self._arrive(Stop(Seam.TURN, f"turn {self.turn}", Phase.AFTER, {"outcome": outcome}))

    def _arrive(self, stop: Stop) -> None:
        self.request = stop.holds.get("request") or self.request
        self.flow = stop.holds.get("flow") or self.flow
        self._session = getattr(stop.holds.get("ctx"), "session", None) or self._session
        self.here = stop
        wrote = self.stages.at(stop)
        if stop.seam is Seam.MERGE and stop.phase is Phase.AFTER and len(stop.holds["events"]) > 1:
            self.merges.append(merged_calls(stop.holds["events"]))
        built = self.stages.of(self.request)
        self.built.append((built, len(built)))
        stop.number, stop.turn = len(self.stops), self.turn
        if self.lanes is not None:
            self.lanes.wish = None
        self.journal.append(Entry(stop.number, place_of(stop, self.turn)))
        self._keep(stop, self.journal[-1])
        self.stops.append(
            StopRecord(
                number=stop.number,
                seam=stop.seam,
                name=stop.name,
                phase=stop.phase,
                turn=self.turn,
                step=stop.step or 0,
                agent=stop.agent or "",
                lane=stop.lane or "",
                depth=self.open.enter(stop),
                noop=stop.noop,
                event=event_position(stop),
                error=error_of(stop),
                wrote=wrote,
            )
        )
