"""Runner: one turn. Find the agent, run it, store every event, hand it up.

Go: runner/runner.go, Runner.Run, findAgentToRun, appendMessageToSession

Plain Flow events are stored here and nowhere else; only then does the producer go on, which is why a tool runs after
its call was stored and the next request sees its answer (seed 000, 三).
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from functools import partial
from typing import Any

from google.genai import types

from adknb.engine.agent import Agent
from adknb.engine.compaction import CompactionConfig, CompactionRuntime
from adknb.engine.compaction.config import prepare
from adknb.engine.context import (
    ArtifactService,
    Context,
    InMemoryArtifactService,
    InvocationContext,
    LiveConfig,
    RunConfig,
)
from adknb.engine.coordinator import refuse, run_turn, scope_of_message
from adknb.engine.delegation import Delegation
from adknb.engine.errors import FlowError, SetupRefused
from adknb.engine.event import Event, function_calls_of, function_responses_of
from adknb.engine.live.handle import Live
from adknb.engine.live.reconnect import Backoff
from adknb.engine.live.running import LiveRun
from adknb.engine.live.session import LiveSession
from adknb.engine.llm_settings import CHAT, SINGLE_TURN, TASK, is_llm, settings_of
from adknb.engine.loops import on_one_loop
from adknb.engine.platform import Platform
from adknb.engine.plugin import Plugin, hooks_of
from adknb.engine.session import InMemorySessionService, Session, SessionMissing, SessionService
from adknb.engine.stops import Seam, Steps, Stop, call, drain, events_only, first_answer


class Runner:
    """Runs turns of an agent tree over a session service.

    A session that is not there is created, unless `auto_create_session` is off. `compaction` is a CompactionConfig.
    `live_backoff`: seconds before a live run connects again, or a function that gives them (live.reconnect.Backoff).

    Raises:
        SetupRefused: two agents of the tree have one name, or the compaction cannot be as it is configured.

    Go: runner/runner.go, New
    """

    def __init__(
        self,
        agent: Agent,
        app_name: str = "adknb",
        session_service: SessionService | None = None,
        artifact_service: ArtifactService | None = None,
        plugins: Sequence[Plugin] = (),
        platform: Platform | None = None,
        compaction: CompactionConfig | None = None,
        auto_create_session: bool = True,
        live_backoff: Backoff = None,
    ) -> None:
        names = [a.name for a in agent.tree()]
        twice = sorted({n for n in names if names.count(n) > 1})
        if twice:
            raise SetupRefused(f"the agent tree has two agents called {twice[0]!r}; names must be unique")
        self.agent = agent
        self.app_name = app_name
        self.session_service: SessionService = session_service or InMemorySessionService()
        self.artifact_service: ArtifactService = artifact_service or InMemoryArtifactService()
        for plugin in plugins:
            if not isinstance(plugin, Plugin):
                raise TypeError(f"a plugin is a Plugin, not {plugin!r}")
        self.plugins = list(plugins)
        self.platform = platform or Platform()
        self.compaction = prepare(compaction, agent)
        self.auto_create_session = auto_create_session
        self.live_backoff = live_backoff

    def run(self, message: str | types.Content | None, **options: Any) -> Iterator[Event]:
        """One turn; the events as they are stored, chunks included. Options as for `iter`."""
        return events_only(on_one_loop(self.iter(message, **options)))

    def iter(
        self,
        message: str | types.Content | None,
        user_id: str = "user",
        session_id: str = "session-1",
        run_config: RunConfig | None = None,
        state_delta: dict[str, Any] | None = None,
    ) -> Generator[Any, None, None]:
        """One turn as a generator of Events and Stops: what a Stepper steps.

        Raises:
            SessionMissing: there is no such session and none may be created.
            FlowError, Exception: what ended the turn; see spec/execution.md 1.10.

        Go: runner/runner.go, Runner.Run
        """
        if isinstance(message, str):
            message = types.Content(role="user", parts=[types.Part(text=message)])
        session = self._session(user_id, session_id)
        root = settings_of(self.agent)
        if root is not None and root.mode not in ("", CHAT):
            raise FlowError(
                f"the root agent {self.agent.name!r} is declared {root.mode!r}; a root must be 'chat' or unset"
            )
        agent = find_agent_to_run(self.agent, session.events, message)
        ctx = InvocationContext(
            agent=agent,
            session=session,
            session_service=self.session_service,
            platform=self.platform,
            run_config=run_config or RunConfig(),
            plugins=self.plugins,
            artifact_service=self.artifact_service,
            user_content=message,
            compaction=self._compaction_runtime(),
            delegation=Delegation(len(session.events)) if root is not None else None,
            binding=(agent.name, getattr(agent, "mode", "") or CHAT) if root is not None else None,
        )
        ctx.invocation_id = _invocation_id(session.events, message) or f"e-{self.platform.new_id()}"
        given = message
        if message is not None:
            scope = scope_of_message(session.events)
            answer = yield from self._hook(ctx, Seam.ON_USER_MESSAGE, message, content=message)
            ctx.user_content = message = message if answer is None else answer
            yield from self._append_user_event(ctx, message, scope, state_delta)
            if getattr(agent, "mode", "") == SINGLE_TURN and is_llm(self.agent) and not _resumes(session, message):
                given_to_it = types.Content(role="user", parts=message.parts)  # its input: it has no place to read from
                ctx.private_events = [ctx.new_event(author="user", content=given_to_it)]
                ctx.private_after = len(session.events)
        try:
            yield from self._run_agent(ctx, given)
            if ctx.compaction is not None:
                yield from ctx.compaction.compact_after_run(ctx, partial(self._show_summary, ctx))
        except GeneratorExit:  # the reader has left: the hooks still run, but nobody can stop there
            drain(self._after_run(ctx))
            if ctx.compaction is not None:
                ctx.compaction.compact_when_left(ctx, partial(self._show_summary, ctx))
            raise
        except Exception:
            yield from self._after_run(ctx)
            raise
        yield from self._after_run(ctx)

    def run_live(
        self,
        user_id: str = "user",
        session_id: str = "session-1",
        live_config: LiveConfig | None = None,
        **ignored: Any,
    ) -> Live:
        """A live run, on a thread of its own: send to it, read its events, close it (spec/live.md).

        Options of a normal run are taken and ignored, as in Go.

        Raises:
            SessionMissing: there is no such session and none may be created.
            LiveUnsupported, LiveConfigMissing: nothing was sent. What goes wrong later comes through the iterator.
            Exception: a plugin's, before the run.

        Go: runner/runner.go, Runner.RunLive
        """
        run = self._live_run(LiveSession(stepped=False), user_id, session_id, live_config)
        drain(run.begin())
        return Live(on_one_loop(run.items()), run.live)

    def iter_live(
        self,
        session: LiveSession,
        user_id: str = "user",
        session_id: str = "session-1",
        live_config: LiveConfig | None = None,
        **ignored: Any,
    ) -> Generator[Any, None, None]:
        """A live run as a generator of Events, Stops and YieldedErrors: what a Stepper steps.

        Nothing happens but between two items: what is sent to `session` waits until the generator goes on, and what
        the server sends queues meanwhile. Raises as `run_live`, but at the first item.

        Go: runner/runner.go, Runner.RunLive
        """
        run = self._live_run(session, user_id, session_id, live_config)
        return on_one_loop(run.stepped())

    def _live_run(self, live: LiveSession, user_id: str, session_id: str, config: LiveConfig | None) -> LiveRun:
        session = self._session(user_id, session_id)
        agent = last_speaker(self.agent, session.events) if is_llm(self.agent) else self.agent
        return LiveRun(self, agent, session, live, config)

    def _run_agent(self, ctx: InvocationContext, given: types.Content | None) -> Generator[Any, None, None]:
        try:
            instead = yield from self._hook(ctx, Seam.BEFORE_RUN)
        except Exception:
            if given is not None:
                yield from self._append_user_event(ctx, given, ctx.isolation_scope)
            raise
        if instead is not None:  # its content is dropped; the message is stored again and echoed, as in Go
            if given is not None:
                yield (yield from self._append_user_event(ctx, given, ctx.isolation_scope))
            return
        run = run_turn(ctx.agent, ctx)
        for item in run:
            if isinstance(item, Stop):
                yield item
                continue
            try:
                yield (yield from self._store(ctx, item))
            except BaseException:  # the reader has left, too
                if not ctx.is_own(item):
                    refuse(run, ctx)
                raise

    def _store(self, ctx: InvocationContext, event: Event) -> Steps[Event]:
        """Store an event; its stops say whose it is, and in which step it was made."""
        storing = self._replace_and_append(ctx, event)
        try:
            while True:
                item = next(storing)
                item.agent, item.step = item.agent or event.author, item.step or ctx.steps.get(event.author, 0)
                yield item
        except StopIteration as done:
            return done.value  # type: ignore[no-any-return]

    def _replace_and_append(self, ctx: InvocationContext, event: Event) -> Steps[Event]:
        """Plugins may replace the event; what they leave is stored unless it is a chunk, then handed up (1.2, 1.3)."""
        if is_llm(self.agent) and event.content is not None and not event.content.role:
            event.content.role = "user" if function_responses_of(event.content) else "model"
        stored: Event = yield from call(Seam.EVENT, event.author, self._on_event, ctx, event, event=event, ctx=ctx)
        if not stored.partial:
            append = self.session_service.append_event
            yield from call(Seam.APPEND, stored.author, append, ctx.session, stored, event=stored, ctx=ctx)
        return stored

    def _on_event(self, ctx: InvocationContext, event: Event) -> Steps[Event]:
        record = event.actions.compaction
        replaced = yield from self._hook(ctx, Seam.ON_EVENT, event, event=event)
        kept: Event = event if replaced is None else replaced
        kept.actions.compaction = record  # a plugin cannot hide history behind a record of its own
        return kept

    def _show_summary(self, ctx: InvocationContext, record: Event) -> Steps[Event | None]:
        replaced: Event | None = yield from self._hook(ctx, Seam.ON_EVENT, record, event=record)
        return replaced

    def _append_user_event(
        self, ctx: InvocationContext, message: types.Content, scope: str, state_delta: dict[str, Any] | None = None
    ) -> Steps[Event]:
        """Store the user's message; no plugin is shown it as an event (1.1.6)."""
        event = ctx.new_event(author="user", content=message)
        event.isolation_scope = scope
        event.actions.state_delta.update(state_delta or {})
        append = self.session_service.append_event
        yield from call(Seam.APPEND, "user", append, ctx.session, event, event=event, ctx=ctx)
        return event

    def _hook(self, ctx: InvocationContext, seam: Seam, *args: Any, **holds: Any) -> Steps[Any]:
        hook_ctx = Context(ctx)
        return (yield from first_answer(seam, hooks_of(self.plugins, seam), hook_ctx, *args, ctx=hook_ctx, **holds))

    def _after_run(self, ctx: InvocationContext) -> Steps[None]:
        """Every plugin is told, whatever the others say."""
        hook_ctx = Context(ctx)
        for hook in hooks_of(self.plugins, "after_run"):
            yield from first_answer(Seam.AFTER_RUN, [hook], hook_ctx, ctx=hook_ctx)

    def _session(self, user_id: str, session_id: str) -> Session:
        try:
            return self.session_service.get(self.app_name, user_id, session_id)
        except SessionMissing:
            if not self.auto_create_session:
                raise
            return self.session_service.create(self.app_name, user_id, session_id)

    def _compaction_runtime(self) -> CompactionRuntime | None:
        return None if self.compaction is None else CompactionRuntime(self.compaction, self.session_service)


def find_agent_to_run(root: Agent, events: Sequence[Event], message: types.Content | None) -> Agent:
    """Who runs the turn; a workflow root always starts at the root (spec/execution.md 1.5).

    A function response goes to the author of its call; a text to the last speaker who may keep the conversation.

    Go: runner/runner.go, findAgentToRun
    """
    if not is_llm(root) or any(getattr(child, "mode", "") == TASK for child in root.sub_agents):
        return root
    responses = function_responses_of(message)
    if responses:
        for event in reversed(events):
            if any((c.id or "") == (responses[0].id or "") for c in function_calls_of(event.content)):
                caller = root.find(event.author)
                if caller is not None:
                    return caller
                break
    return last_speaker(root, events)


def last_speaker(root: Agent, events: Sequence[Event]) -> Agent:
    """The author of the newest event by an agent that may keep the conversation; else the root."""
    for event in reversed(events):
        speaker = root.find(event.author) if event.author != "user" else None
        if speaker is not None and _keeps_the_conversation(speaker):
            return speaker
    return root


def _keeps_the_conversation(agent: Agent) -> bool:
    """The agent and all above it are LLM agents that allow transfer to their parent."""
    at: Agent | None = agent
    while at is not None:
        settings = settings_of(at)
        if settings is None or settings.disallow_transfer_to_parent:
            return False
        at = at.parent
    return True


def _invocation_id(events: Sequence[Event], message: types.Content | None) -> str:
    """An answer to a call goes on under the invocation id of the newest event with that call (1.4)."""
    for response in function_responses_of(message):
        for event in reversed(events):
            if response.id and any(c.id == response.id for c in function_calls_of(event.content)):
                return event.invocation_id
    return ""


def _resumes(session: Session, message: types.Content) -> bool:
    """Whether a message answers a long-running call: the agent then goes on from its history, without an input.

    Go: runner/agent_node.go, answeredInterrupts
    """
    answered = {r.id for r in function_responses_of(message) if r.id}
    return any(not answered.isdisjoint(event.long_running_tool_ids) for event in session.events)
