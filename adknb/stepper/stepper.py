"""Stepper: pdb for a turn. It asks the run for its next item when the reader says so.

Everything happens under one lock, on whatever thread a command comes from: a cell and a button call the same methods,
and a command returns when the run has reached its next pause. Nothing ever waits for a click.
"""

from __future__ import annotations

import difflib
import os
import re
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from adknb.engine.context import RunConfig
from adknb.engine.errors import AdknbError, BadData
from adknb.engine.model import LLMRequest
from adknb.engine.platform import TaskRunner
from adknb.engine.stops import Phase, Raise, Return, Seam, Stop
from adknb.scenarios import Turn
from adknb.stepper.compare import Comparison, changed_tree, compare
from adknb.stepper.edits import apply_request
from adknb.stepper.fitting import fitting
from adknb.stepper.looking import Looking
from adknb.stepper.nest import NotebookLoop
from adknb.stepper.patches import Patch
from adknb.stepper.plays import Message, Play, UnknownName, as_message, known_names, play_of
from adknb.stepper.record import StopRecord
from adknb.stepper.run import Run
from adknb.stepper.sound import must_be_sound
from adknb.stepper.waiting import finished
from adknb.stepper.wishes import Wish, at, when

if TYPE_CHECKING:
    pass

OVER = "the run is over; send(message) adds a turn, step(…) begins a new run"


SETTABLE = ("request", "breakpoints", "notice", "problem", "lock")
"""What may be assigned to a Stepper."""


class NotPaused(AdknbError):
    """The run is over: there is nothing to edit or to answer for."""


def step(
    agent_or_scenario: Any,
    message: Message | Sequence[Message] | None = None,
    *,
    runner: TaskRunner | None = None,
    run_config: RunConfig | None = None,
    strict: bool = False,
    nest: bool = False,
) -> Stepper:
    """Begin a run and pause at its first stop.

    `agent_or_scenario` is an agent or Runner with the message (or messages, one a turn) it is sent, or a scenario dict.
    `runner` says how several calls of one answer are run: `platform.in_order`, `reverse`, `interleaved`, `concurrent`.
    `run_config` holds for every turn of an agent: `RunConfig(streaming_mode="sse")` lets its model stream.
    `strict` stops where an invariant breaks (`lens.invariants`), whatever else was wished.
    What is `async def` runs on a loop of the run's own; with `nest` on the notebook's, to which a client made in an
    earlier cell is bound (nest-asyncio2 or nest-asyncio, extra `lab`).

    Raises:
        TypeError, BadData: see `plays.play_of`.
        CannotNest: see `nest.NotebookLoop`.
    """
    run = Run(play_of(agent_or_scenario, message, runner, run_config), NotebookLoop() if nest else None)
    run.advance()
    dbg = Stepper(run=run)
    if strict:
        dbg.breakpoints.append(when(dbg.is_broken))
    return dbg


class Stepper(Looking):
    """A paused run.

    `here` is the present stop, None once the run is over; `request`, `args`, `response`, `result` and `event` are its
    live objects: change them in place, then go on. Every command gives the Stepper back, so that a cell shows it.
    """

    def __init__(self, play: Play | None = None, run: Run | None = None) -> None:
        self.lock = threading.RLock()
        self.breakpoints: list[Wish] = []
        self.notice = ""
        self.problem = ""
        self._listeners: list[Callable[[], None]] = []
        self._closed = False
        if run is None:
            assert play is not None
            run = Run(play)
            run.advance()
        self._run = run
        self._run.pause()

    def __setattr__(self, name: str, value: Any) -> None:
        """Set `request`, `breakpoints`, …; a name that is none of them is refused, as an edit that would do nothing."""
        if not (name.startswith("_") or name in SETTABLE):
            near = difflib.get_close_matches(name, SETTABLE, 1)
            hint = f"did you mean {near[0]!r}?" if near else "edit what it shows in place: dbg.args['city'] = …"
            raise AttributeError(f"nothing is called {name!r} that could be set here; {hint}")
        super().__setattr__(name, value)

    # ------------------------------------------------------------------------------------------------------- going on

    def step(self) -> Stepper:
        """Go to the very next stop."""
        return self._go(lambda stop: True)

    def next(self) -> Stepper:
        """Go over a call: from before it to after it; from after it to after the one that follows."""
        start = self.here
        if start is None:
            return self._over()
        opened = start if start.phase is Phase.BEFORE else None
        outer = self._run.open.around(start)

        def over(stop: Stop) -> bool:
            nonlocal opened
            if stop.seam is Seam.TURN:
                return True
            if opened is None and stop.phase is Phase.BEFORE and start.lane in (None, stop.lane):
                opened = stop
                return False
            if stop.phase is not Phase.AFTER:
                return False
            return stop.opened_by is opened or stop.opened_by in outer

        return self._go(over)

    def finish(self) -> Stepper:
        """Go out of what is running: to after the call around this stop, else to the end of this step of the agent."""
        start = self.here
        if start is None:
            return self._over()
        outer = self._run.open.around(start)
        place = (start.agent, start.step)

        def out(stop: Stop) -> bool:
            if stop.seam is Seam.TURN:
                return True
            if outer:
                return stop.phase is Phase.AFTER and stop.opened_by in outer
            inside = any((call.agent, call.step) == place for call in self._run.open.around(stop))
            return (stop.agent, stop.step) != place and not inside

        return self._go(out)

    def until(self, wish: Wish | str) -> Stepper:
        """Go on until the wish comes true; breakpoints stop on the way. One that never does runs to the end.

        Raises:
            UnknownName: the wish names what this run can never stop at; nothing has moved.
        """
        wish = self._checked(wish)
        with self.lock:
            if self.here is None:
                return self._over()
            wish(self.here, self.turn)  # one that compares must know what it starts from
            over = self._go(lambda stop: wish(stop, self.turn), by_breakpoints=True).position == len(self.stops)
            if over:
                self.notice = f"{wish.words} never came true: the run is over"
            return self

    def resume(self) -> Stepper:
        """Go on to the next breakpoint, or to the end of the last turn."""
        return self._go(lambda stop: False, by_breakpoints=True)

    @property
    def lanes(self) -> list[str]:
        """The lanes that can go on: calls of one answer, or agents, that run side by side and take turns."""
        return self._run.lanes.names() if self._run.lanes is not None else []

    def choose(self, lane: str) -> Stepper:
        """Let this lane go next: to its next stop. So every order of finishing can be produced.

        Raises:
            UnknownName: no such lane can go on; names those that can.
        """
        with self.lock:
            names = {*self.lanes, *([self.here.lane] if self.here is not None and self.here.lane else [])}
            if lane not in names:
                raise UnknownName("lane", lane, names)
            self._run.choose(lane)
            return self.step()

    def break_at(self, wish: Wish | str) -> Stepper:
        """Stop there from now on, when resuming or going on until something else.

        Raises:
            UnknownName: the wish names what this run can never stop at.
        """
        wish = self._checked(wish)
        with self.lock:
            self.breakpoints.append(wish)
            self._tell()
        return self

    def unbreak(self, wish: Wish | str | None = None) -> Stepper:
        """Take a breakpoint away, or all of them."""
        with self.lock:
            words = None if wish is None else (at(wish) if isinstance(wish, str) else wish).words
            self.breakpoints = [b for b in self.breakpoints if words is not None and b.words != words]
            self._tell()
        return self

    def send(self, message: Message) -> Stepper:
        """Add one more turn to the run; if it was over, it goes on to that turn's first stop."""
        with self.lock:
            self._run.play.turns.append(Turn(as_message(message)))  # type: ignore[arg-type]
            self.notice = ""
            if self.here is None:
                with self._interruptible():
                    self._run.advance()
                self._run.pause()
                self._tell()
        return self

    async def finished(self, timeout: float | None = None) -> Stepper:
        """Wait until the run is over: somebody steps it by click, or from another task. An interrupt ends the waiting.

        Raises:
            HeadlessPause: there is neither a connected panel nor a terminal; names the stop. At once.
            TimeoutError: it is not over after so many seconds.
        """
        await finished(self, timeout)
        return self

    def close(self) -> None:
        """Leave: the run's generators are closed, an open model stream too."""
        with self.lock:
            self._run.close()
            self._closed = True
            self._tell()

    # ---------------------------------------------------------------------------------------------- answering, editing

    def skip(self, value: Any = None) -> Stepper:
        """Answer for the call that the run stands before: it is not made, `value` is what it comes to.

        After a call, `value` takes the place of what it came to, and the run stays where it is.

        Raises:
            TypeError: the value is nothing this call could come to, or has no JSON form; the run stays where it is.
            NotPaused: there is no call here.
        """
        return self._answer(Return(fitting(self._paused(), value)))

    def fail(self, error: Exception | str) -> Stepper:
        """Make the call fail instead of making it: the run takes the error as the real thing."""
        if not isinstance(error, (str, Exception)):
            raise TypeError(f"fail() takes an exception or a text, not {error!r}")
        return self._answer(Raise(RuntimeError(error) if isinstance(error, str) else error))

    def edit(self, what: str, data: Any) -> Stepper:
        """Change a live object as a whole: `"request"` from JSON (a text or plain data).

        Raises:
            BadData: naming the place in the JSON; nothing is changed and the run stays where it is.
            NotPaused: there is no request here.
        """
        with self.lock:
            self._paused()
            if what != "request":
                raise BadData(what, "only 'request' can be edited as a whole; change the others in place")
            if self.request is None:
                raise NotPaused("there is no request yet at this stop")
            if not _is_still_to_be_sent(self._paused()):
                raise NotPaused("this request has been sent; go back to a stop before the model, or edit the next one")
            apply_request(self.request, data)
            self._tell()
        return self

    @property
    def request(self) -> LLMRequest | None:
        """The live request of this stop, else the latest one of the turn. Assigning is `edit("request", …)`."""
        return super().request

    @request.setter
    def request(self, value: Any) -> None:
        self.edit("request", value)

    @property
    def edits(self) -> Patch:
        """What the reader has changed at this stop, as a JSON patch (RFC 6902)."""
        with self.lock:
            return self._run.edits()

    # ------------------------------------------------------------------------------------------------------------ time

    def rewind(self, to: Stop | StopRecord | int) -> Stepper:
        """Go back to a stop: a new run is brought there from the journal; nothing that ran is run again.

        Processors and callbacks do run again, so a changed one shows its effect. Going on from there, a model or tool
        that is asked what it was asked before is answered from the journal, too; asked something else, it is used.
        The reader's own edits and answers at and behind that stop are not made again.

        Raises:
            ReplayDiverged: the code has changed before that stop; the run stays where it is.
            ValueError: the run has no such stop.
        """
        with self.lock:
            self._must_be_open()
            number = to if isinstance(to, int) else to.number
            if number is None or not 0 <= number < len(self.stops):
                raise ValueError(f"there is no stop {number}; the run so far has stops 0 to {len(self.stops) - 1}")
            self._change_to(self._run.again(number), f"back at stop {number}")
        return self

    def back(self) -> Stepper:
        """One stop back."""
        with self.lock:
            behind = len(self.stops) - 1 if self.here is None else self.position - 1
            if behind < 0:
                self.notice = "this is the first stop"
                return self
            return self.rewind(behind)

    def restart(self, fresh: bool = False) -> Stepper:
        """Begin the run anew, the agent as it is now. `fresh` asks models and tools again, whatever they said."""
        if not fresh:
            return self.rewind(0)
        with self.lock:
            self._must_be_open()
            run = Run(self._run.play.again(), self._run.loop)
            run.advance()
            self._change_to(run, "begun anew")
        return self

    def fork(self) -> Stepper:
        """A second Stepper at the same place, edits made here included; the two go their own ways from here.

        Raises:
            ReplayDiverged: the code has changed since; this run stays usable.
        """
        with self.lock:
            self._must_be_open()
            if self.here is not None:
                must_be_sound(self.here, self._run.request, self._run.dumps)
            other = type(self)(run=self._run.again())
            other.breakpoints = list(self.breakpoints)
            other._before = self._before
            return other

    # --------------------------------------------------------------------------------------------------------- keeping

    def save(
        self, path: str | os.PathLike[str], redact: Iterable[str | re.Pattern[str]] = (), agent: str = ""
    ) -> Stepper:
        """Write the run to a file that `adknb.replay` plays again without a model; see `journal_file`.

        Keys, tokens and passwords are taken out, and what fits the patterns of `redact`. `agent` says where the agent
        can be imported from, `"package.module:name"`; left out, it is looked for.

        Raises:
            NoJsonForm: a tool came to a value that has no JSON form; names the stop. Nothing is written.
            CannotSave, BadData: see `journal_file.document_of`.
        """
        from adknb.stepper.writing_tests import save

        return save(self, path, redact, agent)

    def to_test(
        self, path: str | os.PathLike[str], agent: str = "", redact: Iterable[str | re.Pattern[str]] = ()
    ) -> Stepper:
        """Keep the run so far as a pytest file: it replays it and asserts requests, events, tools and state.

        Raises:
            AgentNeeded: the agent cannot be imported; says what to do.
            CannotSave: it would not pass, since the agent that can be imported does otherwise.
        """
        from adknb.stepper.writing_tests import write_test

        return write_test(self, path, agent, redact)

    def to_notebook(
        self, path: str | os.PathLike[str], agent: str = "", redact: Iterable[str | re.Pattern[str]] = ()
    ) -> Stepper:
        """Keep the run so far as a notebook that nbval checks; as `to_test`. Needs nbformat (the extra `lab`)."""
        from adknb.stepper.writing_tests import write_notebook

        return write_notebook(self, path, agent, redact)

    def compare(self, other: Stepper) -> Comparison:
        """Where two runs part, and what is different in each request they sent."""
        with self.lock, other.lock:
            return compare(self, other)

    def what_if(self, agent: str | None = None, **changes: Any) -> Comparison:
        """The same turns from the start with an agent changed, beside this run; `.other` is the Stepper of that run.

        `agent` names it, default: the one that runs the turn. A model or tool that is asked what it was asked in this
        run is answered from its journal. The other run goes on to where this one stands, or to its end.

            dbg.what_if(instruction="Be brief.")
            dbg.what_if(request_processors=[p for p in REQUEST_PROCESSORS if p.__name__ != "identity"])

        Raises:
            AdknbError: there is no such agent or setting.
        """
        with self.lock:
            play = self._run.play.again()
            name = agent or next((s.agent for s in reversed(self.stops) if s.agent), play.runner.agent.name)
            play.runner.agent = changed_tree(play.runner.agent, name, changes)
            run = Run(play, self._run.loop)
            run.offline, run.unused = self._run.offline, self._run.unused
            run.memory = self._run.memory.with_more(self._run.journal)
            run.advance()
            other = type(self)(run=run)
            here, turn = self.here, self.turn
            if here is None or (str(other.here), other.turn) != (str(here), turn):
                other._go(lambda s: here is not None and _same_place(s, here) and other.turn == turn)
            return compare(self, other)

    # -------------------------------------------------------------------------------------------------------- mechanism

    def subscribe(self, listener: Callable[[], None]) -> None:
        """Have a function called after each command, on the thread of that command."""
        self._listeners.append(listener)

    def _paused(self) -> Stop:
        if self.here is None:
            raise NotPaused(OVER)
        return self.here

    def _must_be_open(self) -> None:
        if self._closed:
            raise NotPaused("this run was closed; step(…) begins a new one")

    def _over(self) -> Stepper:
        """A command on a run that is over does nothing but say so: a cell run again must not fail for it."""
        self.notice = OVER
        return self

    def _checked(self, wish: Wish | str) -> Wish:
        wish = at(wish) if isinstance(wish, str) else wish
        wish.check(known_names(self.play.runner))
        return wish

    def _go(self, wanted: Callable[[Stop], bool], by_breakpoints: bool = False) -> Stepper:
        """Leave this pause; go on until a stop is wanted, or until the run is over."""
        with self.lock:
            if self.here is None:
                return self._over()
            must_be_sound(self.here, self._run.request, self._run.dumps)
            with self._interruptible():
                self._run.advance()
                self._before, self.notice, self.problem = self._run.left, "", ""
                while (stop := self.here) is not None and not wanted(stop):
                    marks = [b for b in self.breakpoints if by_breakpoints or b.always]
                    hit = next((b for b in marks if b(stop, self.turn)), None)
                    if hit is not None:
                        self.notice = f"breakpoint {hit.words}"
                        break
                    self._run.advance()
            self._run.pause()
            self._tell()
        return self

    @contextmanager
    def _interruptible(self) -> Iterator[None]:
        """An interrupt of the kernel, or what else kills a generator, brings the run back to where the command began.

        It is told by the `notice` and raised again. What had come to its end in between is not run again.
        """
        start, was_over, before = self.position, self.here is None, self._before
        try:
            yield
        except Exception:  # the run is as it was, or has told it as a turn's end
            raise
        except BaseException as error:
            at = "the first stop of the turn" if self.here is None else str(self.here)
            self.problem = ""
            try:
                if was_over:  # the command was to add a turn
                    self._run.play.turns.pop()
                self._run = self._run.again() if was_over else self._run.begun_again(start)
                self._before = before
                self.notice = f"interrupted ({type(error).__name__}) behind {at}; back where the command began"
            except (AdknbError, KeyboardInterrupt) as wrong:  # the latter: a reader who does not want to wait for it
                self.notice = f"interrupted ({type(error).__name__}) behind {at}; the run could not be brought back"
                self.problem = str(wrong) or type(wrong).__name__
                self._run.break_off(self.notice)
            self._run.pause()
            self._tell()
            raise

    def _answer(self, answer: Return | Raise) -> Stepper:
        with self.lock:
            stop = self._paused()
            if stop.seam is Seam.TURN or (stop.phase is Phase.AFTER and "outcome" not in stop.holds):
                raise NotPaused(f"there is no call to answer for at the stop {str(stop)!r}")
            self._run.answer(answer)
            if stop.phase is Phase.AFTER:
                self._tell()
                return self
            return self._go(lambda s: s.opened_by is stop or s.seam is Seam.TURN)

    def _change_to(self, run: Run, notice: str) -> None:
        before = self._as_it_is()
        self._run = run
        self._run.pause()
        self._before, self.notice, self.problem = before, notice, ""
        self._tell()

    def _tell(self) -> None:
        for listener in list(self._listeners):
            try:
                listener()
            except Exception as error:  # a view that breaks must not break the run
                self.problem = f"a view failed: {type(error).__name__}: {error}"


def _same_place(stop: Stop, other: Stop) -> bool:
    return (str(stop), stop.agent, stop.step, stop.lane) == (str(other), other.agent, other.step, other.lane)


def _is_still_to_be_sent(stop: Stop) -> bool:
    if stop.seam is Seam.MODEL:
        return stop.phase is Phase.BEFORE
    return stop.seam in (Seam.PROCESSOR, Seam.TOOL_DECLARATION, Seam.BEFORE_MODEL)
