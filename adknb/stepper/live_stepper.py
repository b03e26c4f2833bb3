"""A Stepper of a live run: the reader speaks at any pause, and nothing waits longer than it was told to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from google.genai import types

from adknb.engine.agent import Agent
from adknb.engine.context import LiveConfig
from adknb.engine.runner import Runner
from adknb.engine.stops import Raise, Return, Seam, Stop
from adknb.lens.doctor.finding import Finding
from adknb.lens.doctor.live import reconnects_in_vain
from adknb.stepper.live_play import LivePlay, live_play
from adknb.stepper.nest import NotebookLoop
from adknb.stepper.run import Run
from adknb.stepper.stepper import NotPaused, Stepper
from adknb.stepper.wishes import when

NOTHING_CAME = "nothing has come from the model yet: send(…), close(), or step again to go on waiting"


def step_live(
    agent: Agent | Runner,
    config: LiveConfig | None = None,
    *,
    patience: float = 1.0,
    strict: bool = False,
    nest: bool = False,
) -> LiveStepper:
    """Begin a live run and pause at its first stop; nothing is dialled yet.

        dbg = adknb.step_live(agent, adknb.LiveConfig(response_modalities=["AUDIO"]))
        dbg.send("hello").until(adknb.at(seam="live_receive"))

    `config` is as for `Runner.run_live`. `patience` is how many seconds a command waits for a message of the model
    before it pauses at the wait. `strict` and `nest` are as for `step`.

    Raises:
        TypeError: it is neither an agent nor a runner. ValueError: the patience is no number of seconds.
        CannotNest: see `nest.NotebookLoop`.
    """
    if not patience >= 0:
        raise ValueError(f"patience is in seconds, 0 or more, not {patience}")
    run = Run(live_play(agent, config), NotebookLoop() if nest else None)
    run.advance()
    dbg = LiveStepper(run=run)
    dbg._patience = patience
    if strict:
        dbg.breakpoints.append(when(dbg.is_broken))
    return dbg


class LiveStepper(Stepper):
    """A paused live run. Commands, breakpoints, journal and panel are the Stepper's.

    At a `live_receive` edit `message`, `skip(None)` to drop it, `skip({…})` to have another in its place, `fail(…)` to
    break the line; at a `live_send` the same, but that nothing can take its place. While it is paused, what the model
    sends queues. Going back plays what was recorded; where the recording ends, the line breaks and is dialled anew.
    """

    _patience = 1.0

    @property
    def live(self) -> LivePlay:
        """What is played."""
        assert isinstance(self._run.play, LivePlay)
        return self._run.play

    @property
    def message(self) -> Any:
        """The live message of this stop: a LiveServerMessage received, a LiveClientMessage to be sent; else None."""
        return None if self.here is None else self.here.holds.get("message")

    def send(self, message: Any) -> LiveStepper:
        """Send a text, a Content, a Blob, an ActivityStart or ActivityEnd, or a LiveRequest; see `LiveSession.send`.

        It goes on the line when the run goes on; the run stays where it is.

        Raises:
            LiveSessionClosed: the run is over, or was closed. TypeError: it is none of these.
            NoActiveAgent: no member of a sequence runs.
        """
        with self.lock:
            self.live.send(message)
            self.notice = ""
            self._tell()
        return self

    def close(self) -> None:
        """End the live session: the connection is closed now, what is left of the run can be stepped.

        A second time, or once the run is over, leaves for good, as `Stepper.close`.
        """
        with self.lock:
            if self.here is not None and not self.live.live.closed:
                self.live.close()
                self.notice = "the live session is closed; going on ends the run"
                self._tell()
            else:
                super().close()

    @property
    def wire(self) -> Any:
        """The messages to and from the model, in two lanes; audio as a waveform that can be played (a LiveLanes)."""
        from adknb.widgets.live_lanes import LiveLanes

        return LiveLanes(self.live)

    def live_findings(self) -> list[Finding]:
        """What the doctor says of the connections of this run, besides what it finds in the session."""
        brought = [
            sum(isinstance(m, types.LiveServerMessage) and m.setup_complete is None for m in one.received)
            for one in self.live.tape.connections
            if not isinstance(one, Exception)
        ]
        return reconnects_in_vain(brought, self.events)

    def restart(self, fresh: bool = False) -> LiveStepper:
        """Begin the run anew, from the recording; `fresh`: the model is dialled again, nothing is sent by itself."""
        if not fresh:
            super().restart()
            return self
        with self.lock:
            self._must_be_open()
            play = self.live.again()
            play.forget()
            run = Run(play, self._run.loop)
            run.advance()
            self._change_to(run, "begun anew")
        return self

    def fork(self) -> LiveStepper:
        """As `Stepper.fork`. Behind what was recorded the fork dials a connection of its own."""
        other = super().fork()
        assert isinstance(other, LiveStepper)
        other._patience = self._patience
        return other

    # -------------------------------------------------------------------------------------------------------- mechanism

    def _go(self, wanted: Callable[[Stop], bool], by_breakpoints: bool = False) -> Stepper:
        with self.lock:
            if self._waits_in_vain(self.here):
                self.notice = NOTHING_CAME
                self._tell()
                return self
            stuck: list[Stop] = []

            def there(stop: Stop) -> bool:
                if wanted(stop):
                    return True
                if self._waits_in_vain(stop):
                    stuck.append(stop)
                return bool(stuck)

            super()._go(there, by_breakpoints)
            if stuck:
                self.notice = NOTHING_CAME
                self._tell()
            return self

    def _waits_in_vain(self, stop: Stop | None) -> bool:
        """Whether the run stands where it waits for the model, and nothing comes in time."""
        if stop is None or stop.seam is not Seam.LIVE_WAIT:
            return False
        line = self.live.live.line
        return line is not None and not line.closed and not line.wait(self._patience)

    def _answer(self, answer: Return | Raise) -> Stepper:
        if self.here is not None and self.here.seam is Seam.LIVE_WAIT:
            raise NotPaused("there is no call to answer for where the run waits: send(…), close(), or go on")
        return super()._answer(answer)

    def _change_to(self, run: Run, notice: str) -> None:
        left = self.live
        super()._change_to(run, notice)
        left.live.end()  # its connection is nobody's any more
