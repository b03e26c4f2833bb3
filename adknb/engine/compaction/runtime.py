"""One turn's compaction: when to try, the summarizer's call, storing the record.

Go: internal/agent/compactionctx/compactionctx.go, Runtime; internal/llminternal/compaction_processor.go,
CompactionRequestProcessor; runner/runner.go, compactAfterInvocation

The summarizer's call is a stop: a reader may answer for it or let it fail. A turn never fails because of tail
retention: what went wrong is logged, and the turn goes on with the whole history.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import Any

from google.genai import types

from adknb.engine.compaction.config import CompactionConfig, CompactionFailed, Usage
from adknb.engine.compaction.record import as_summary, clean, for_summarizer, identities, raced, summary_event
from adknb.engine.compaction.window import sliding_window, tail_window
from adknb.engine.context import InvocationContext
from adknb.engine.event import Event
from adknb.engine.session import Session, SessionService
from adknb.engine.stops import Seam, Steps, call, drain

log = logging.getLogger("adknb")

Show = Callable[[Event], Steps[Event | None]]
"""Shows a record to the plugins; gives what one of them wants in its place, or None."""


class Gate(StrEnum):
    """Why no further attempt is made for an agent; one that is not there is open (4)."""

    STORED = "the last record has not brought the prompt below the threshold"
    """Opens when the prompt is seen below it."""
    FAILED = "the last attempt of this invocation gave no summary"
    """Stays until the next invocation."""


class CompactionRuntime:
    """What compaction knows during one invocation. The runner makes one and puts it on the context.

    Go: internal/agent/compactionctx/compactionctx.go, Runtime
    """

    def __init__(self, config: CompactionConfig, session_service: SessionService) -> None:
        self.config = config
        self.session_service = session_service
        self.gates: dict[tuple[str, str, str], Gate] = {}
        """By agent name, branch and scope; missing is open."""
        self.has_compacted = False
        self._is_over = False

    def compact_tail(self, ctx: InvocationContext, tokens: int | None) -> Steps[None]:
        """Tail retention, before a model call: sum old events up if the prompt has at least `token_threshold` tokens.

        `tokens` is the size of the prompt, None if it is not known. At most one useful attempt until a reading below
        the threshold, at most one failed attempt in an invocation (4).

        Go: internal/compactioninternal/tail_retention.go, TailRetention
        """
        config, name = self.config, ctx.agent.name
        place = (name, ctx.branch, ctx.isolation_scope)
        if not config.token_threshold or tokens is None:
            return
        if tokens < config.token_threshold:
            if self.gates.get(place) is Gate.STORED:
                del self.gates[place]
            return
        if place in self.gates:
            log.debug("no compaction for agent %r at %d tokens: %s", name, tokens, self.gates[place])
            return
        events = list(ctx.session.events)
        window = tail_window(events, config.event_retention_size, ctx.invocation_id)
        if not window:
            log.debug("no compaction for agent %r at %d tokens: no events that could be summed up", name, tokens)
            return
        try:
            record = yield from self._summarize(ctx, window, events)
            if record is None:
                self.gates[place] = Gate.FAILED
            elif not self._raced(ctx.session, events, record):
                yield from self._store(ctx, ctx.session, record)
                self.gates[place] = Gate.STORED
                self.has_compacted = True
        except Exception as error:
            self.gates[place] = Gate.FAILED
            log.warning("compaction failed, the turn of agent %r goes on with the whole history: %s", name, error)

    def compact_after_run(self, ctx: InvocationContext, show: Show) -> Steps[None]:
        """The sliding window, behind a turn: once, and not if tail retention has stored a summary in this turn (12).

        Raises:
            CompactionFailed: the turn's events are stored, its summary is not; the next turn tries again.

        Go: runner/runner.go, compactAfterInvocation
        """
        if self._is_over or self.has_compacted or not self.config.compaction_interval:
            return
        self._is_over = True
        try:
            yield from self._slide(ctx, show)
        except Exception as error:
            raise CompactionFailed(f"the events of past turns could not be summed up: {error}") from error

    def compact_when_left(self, ctx: InvocationContext, show: Show) -> None:
        """The same when the reader has left the turn early: nobody can stop there, and a failure is only logged."""
        try:
            drain(self.compact_after_run(ctx, show))
        except CompactionFailed as error:
            log.warning("%s", error)

    def _slide(self, ctx: InvocationContext, show: Show) -> Steps[None]:
        session = self._read_again(ctx.session)  # another invocation may have stored events meanwhile
        events = list(session.events)
        window = sliding_window(events, self.config.compaction_interval, self.config.overlap_size)
        if not window:
            return
        record = yield from self._summarize(ctx, window, events)
        if record is None or self._raced(session, events, record):
            return
        shown = yield from show(record)
        if shown is not None:
            if not clean(shown):
                log.warning("a summary is dropped: a plugin has left no text in it")
                return
            record = shown
        if not self._raced(session, events, record):  # plugins take their time too
            yield from self._store(ctx, session, record)

    def _summarize(self, ctx: InvocationContext, window: list[Event], stored: list[Event]) -> Steps[Event | None]:
        """Ask the summarizer; the record of its summary, or None if it declines.

        Raises:
            CompactionFailed: the summary holds no prose.
            Exception: the summarizer's own, or a reader's.
        """
        content, usage = yield from self._ask(ctx, for_summarizer(window))
        if content is None:
            log.debug("the summarizer declined to sum up %d events", len(window))
            return None
        return summary_event(window, stored, content, usage, ctx.platform)

    def _ask(self, ctx: InvocationContext, events: list[Event]) -> Steps[tuple[types.Content | None, Usage | None]]:
        ask: Any = getattr(self.config.summarizer, "summarize_events", self.config.summarizer)
        return as_summary((yield from call(Seam.SUMMARIZE, "summarize", ask, events, events=events, ctx=ctx)))

    def _raced(self, session: Session, events: Sequence[Event], record: Event) -> bool:
        """Whether the session has changed within the record's range since the window was chosen (8.1)."""
        if not raced(self._read_again(session).events, identities(events), record):
            return False
        log.warning("a summary is dropped: the session has changed within its range meanwhile")
        return True

    def _read_again(self, session: Session) -> Session:
        return self.session_service.get(session.app_name, session.user_id, session.id)

    def _store(self, ctx: InvocationContext, session: Session, record: Event) -> Steps[None]:
        """Append the record straight to the session: it is no event of the run, and callers are not told (8)."""

        def append(session: Session, record: Event) -> None:
            if not clean(record):  # a reader may have edited it
                raise CompactionFailed("the summary holds no text any more")
            self.session_service.append_event(session, record)

        yield from call(Seam.APPEND, record.author, append, session, record, event=record, ctx=ctx)
