"""The runner's part in a live run: who runs, what is stored, what is held back (spec/live.md §2, §14).

Go: runner/runner.go, Runner.RunLive
"""

from __future__ import annotations

import threading
from collections.abc import Generator
from typing import TYPE_CHECKING, Any

from adknb.engine.agent import Agent
from adknb.engine.context import InvocationContext, LiveConfig, RunConfig
from adknb.engine.event import Event, function_calls_of, function_responses_of, parts_of
from adknb.engine.live.items import BEFORE_EVENT, Gate, YieldedError
from adknb.engine.live.sending import LiveRequest
from adknb.engine.live.sequential import live_run_of, runs_live
from adknb.engine.live.session import LiveSession
from adknb.engine.llm_settings import is_llm
from adknb.engine.session import Session
from adknb.engine.stops import Seam, Steps, Stop, call, drain

if TYPE_CHECKING:
    from adknb.engine.runner import Runner

BIDI = "bidi"


class LiveRun:
    """One live run of a runner: `begin` it, then go through its `items`.

    Go: runner/runner.go, Runner.RunLive
    """

    def __init__(
        self, runner: Runner, agent: Agent, session: Session, live: LiveSession, config: LiveConfig | None
    ) -> None:
        self.runner = runner
        self.live = live
        self._early: Event | None = None
        """What a plugin has put in the place of the run."""
        self.held_back = HeldBack()
        self._of_the_agent: Generator[Any, None, None]
        self._storing = threading.Lock()  # the reader's thread stores what it sends
        self.ctx = InvocationContext(
            agent=agent,
            session=session,
            session_service=runner.session_service,
            platform=runner.platform,
            run_config=RunConfig(streaming_mode=BIDI, live=config),
            plugins=runner.plugins,
            artifact_service=runner.artifact_service,
            invocation_id=f"e-{runner.platform.new_id()}",
        )
        live.begin(self.store_sent, runner.live_backoff, of_sequence=not is_llm(agent))

    def begin(self) -> Steps[None]:
        """Ask the plugins, then whether the agent can run live.

        Raises:
            LiveUnsupported, LiveConfigMissing: it cannot. Exception: a plugin's.

        Go: runner/runner.go, Runner.RunLive
        """
        try:
            runs_live(self.ctx.agent)
            instead = yield from self.runner._hook(self.ctx, Seam.BEFORE_RUN)
            if instead is None:
                self._of_the_agent = live_run_of(self.ctx.agent, self.ctx, self.live)
        except BaseException:
            self.live.end()
            raise
        if instead is not None:  # no connection, no other hook (§2.4)
            self.live.closed, self.live.line = True, None
            self._early = self.ctx.new_event(content=instead)
            yield from self._append(self._early)

    def stepped(self) -> Generator[Any, None, None]:
        """Both, without the gates: who steps is a reader."""
        yield from self.begin()
        for item in self.items():
            if not isinstance(item, Gate):
                yield item

    def items(self) -> Generator[Any, None, None]:
        """Events as they are stored, Stops, YieldedErrors and Gates.

        Raises:
            FlowError, Exception: what ended the run.
        """
        if self._early is not None:
            yield self._early
            return
        try:
            for item in self._of_the_agent:
                if isinstance(item, Stop) and item.agent is None:
                    item.agent, item.step = self.ctx.agent.name, item.step or 0
                if isinstance(item, (Stop, YieldedError, Gate)):
                    yield item
                else:
                    yield BEFORE_EVENT
                    if not self.live.drops:
                        yield from self._told(item)
        except GeneratorExit:  # the reader has left: the hooks still run, but nobody can stop there
            drain(self.runner._after_run(self.ctx))
            raise
        except Exception:
            yield from self.runner._after_run(self.ctx)
            raise
        finally:
            self.live.end()
        yield from self.runner._after_run(self.ctx)

    def store_sent(self, request: LiveRequest) -> Steps[None]:
        """Store what the reader has sent, if it is a content with parts that are no call responses (§14.1).

        It is told to nobody: no plugin sees it, the run does not yield it.

        Go: runner/runner.go, runnerLiveSession.Send
        """
        content = request.content
        if parts_of(content) and not function_responses_of(content):
            yield from self._append(self.ctx.new_event(author="user", content=content))

    def _told(self, given: Event) -> Steps[None]:
        """Plugins first, then the rules of what is held back and what is stored.

        An error of either is told, and the run goes on.
        """
        try:
            event: Event = yield from _placed(
                given, call(Seam.EVENT, given.author, self.runner._on_event, self.ctx, given, event=given, ctx=self.ctx)
            )
        except Exception as error:
            yield YieldedError(error)
            return
        for passed, stored in self.held_back.passing(event):
            try:
                if stored:
                    yield from self._append(passed)
            except Exception as error:
                yield YieldedError(error)
                continue
            yield passed

    def _append(self, event: Event) -> Steps[None]:
        yield from _placed(
            event,
            call(Seam.APPEND, event.author, self._append_event, self.ctx.session, event, event=event, ctx=self.ctx),
        )

    def _append_event(self, session: Session, event: Event) -> None:
        with self._storing:
            self.runner.session_service.append_event(session, event)


class HeldBack:
    """Calls and their answers wait while somebody is being transcribed, so that the order reads well (§14.3).

    If the run ends meanwhile they are lost, though the tools have run.

    Go: runner/runner.go, Runner.RunLive
    """

    def __init__(self) -> None:
        self.transcribing = False
        self.kept: list[Event] = []

    def passing(self, event: Event) -> list[tuple[Event, bool]]:
        """What may pass now that this event has come, in order; and whether it is stored.

        A chunk that was kept is told but never stored: its answer is stored without the call (§14.8).
        """
        transcribed = event.input_transcription is not None or event.output_transcription is not None
        if event.partial and transcribed:
            self.transcribing = True
        if self.transcribing and (function_calls_of(event.content) or function_responses_of(event.content)):
            self.kept.append(event)
            return []
        if transcribed and not event.partial:
            self.transcribing = False
            passing, self.kept = [event, *self.kept], []
            return [(one, not one.partial) for one in passing]
        return [(event, is_stored(event))]


def is_stored(event: Event) -> bool:
    """Whether a session keeps it: no chunk, and no part that holds bytes, be they audio or an image (§14.5)."""
    return not event.partial and not any(p is not None and p.inline_data is not None for p in parts_of(event.content))


def _placed(event: Event, steps: Steps[Any]) -> Steps[Any]:
    """Write on the stops of storing whose event it is."""
    try:
        while True:
            item = next(steps)
            item.agent, item.step = item.agent or event.author, item.step or 0
            yield item
    except StopIteration as done:
        return done.value
