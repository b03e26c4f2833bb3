"""What a Stepper steps: a play has turns, and gives a turn as a generator of Events and Stops.

A scenario is a play already (`scenarios.Built`); an agent and messages become one here.
"""

from __future__ import annotations

import copy
from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

from google.genai import types

from adknb.engine.agent import Agent
from adknb.engine.context import RunConfig
from adknb.engine.llm_settings import settings_of
from adknb.engine.platform import Platform, TaskRunner, counted, interleaved
from adknb.engine.plugin import HOOKS, hooks_of
from adknb.engine.runner import Runner
from adknb.engine.session import InMemorySessionService, Session, SessionMissing
from adknb.engine.stops import Seam, name_of
from adknb.scenarios import Turn, build
from adknb.stepper.wishes import UnknownName

__all__ = ["AgentPlay", "Play", "UnknownName", "known_names", "play_of"]

Message = str | types.Content


class Play(Protocol):
    """Something with turns that can be run one after another."""

    runner: Runner
    turns: list[Turn]

    def iter(self, turn: Turn) -> Generator[Any, None, None]:
        """One turn, as Events and Stops."""

    def again(self) -> Play:
        """The same play from its start, beside this one."""

    @property
    def session(self) -> Session:
        """The session as stored."""


class AgentPlay:
    """An agent, or a runner, and the messages it is sent.

    What the session held at the start is kept, so that the play can begin again without touching the runner's service.
    """

    user, session_id = "user", "session-1"

    def __init__(
        self,
        runner: Runner,
        messages: Iterable[Message],
        first: Session | None = None,
        run_config: RunConfig | None = None,
    ) -> None:
        self.runner = runner
        self.run_config = run_config or RunConfig()
        self.turns = [Turn(as_message(m)) for m in messages]  # type: ignore[arg-type]
        self.first = first or self._as_it_is_now()
        self.files = copy.deepcopy(runner.artifact_service) if first is None else None
        """The files there were at the start."""

    def iter(self, turn: Turn) -> Generator[Any, None, None]:
        """One turn of the one session."""
        message = copy.deepcopy(turn.message)
        return self.runner.iter(
            message,  # type: ignore[arg-type]
            user_id=self.user,
            session_id=self.session_id,
            run_config=self.run_config,
            state_delta=copy.deepcopy(turn.state_delta),
        )

    def again(self, platform: Platform | None = None) -> AgentPlay:
        """The same agent and messages from the start, in a session service of its own; clock and ids repeat."""
        old = self.runner
        runner = Runner(
            old.agent,
            old.app_name,
            session_service=InMemorySessionService(),
            artifact_service=copy.deepcopy(self.files),
            plugins=old.plugins,
            platform=platform or old.platform.again(),
            compaction=old.compaction,
        )
        session = runner.session_service.create(old.app_name, self.user, self.session_id, dict(self.first.state))
        for event in copy.deepcopy(self.first.events):
            runner.session_service.append_event(session, event)
        play = AgentPlay(runner, [], self.first, self.run_config)
        play.turns, play.files = list(self.turns), self.files
        return play

    def _as_it_is_now(self) -> Session:
        """The session at the start; its events are shared, since what is stored is not changed any more."""
        session = self.session
        return replace(session, state=copy.deepcopy(session.state), events=list(session.events))

    @property
    def session(self) -> Session:
        """The session as stored; empty before the first turn."""
        service, app = self.runner.session_service, self.runner.app_name
        try:
            return service.get(app, self.user, self.session_id)
        except SessionMissing:
            return Session(self.session_id, app, self.user)


def play_of(
    given: Any,
    message: Message | Sequence[Message] | None,
    run_tasks: TaskRunner | None,
    run_config: RunConfig | None = None,
) -> Play:
    """A play of an agent, a runner or a scenario.

    An agent gets counted ids and a clock of its own, so that the run is the same every time, and side-by-side calls
    take turns, so that they can be stepped. A runner and a scenario keep what they have, unless `run_tasks` is given.

    Raises:
        TypeError: it is none of these, or the message does not go with it.
        BadData: the scenario is not as it should be.
    """
    if isinstance(given, Mapping):
        if message is not None:
            raise TypeError("a scenario brings its own messages; leave message out, or change scenario['turns']")
        if run_config is not None:
            raise TypeError("a scenario brings its own run_config; change scenario['run_config']")
        return build(dict(given), run_tasks=run_tasks)
    if isinstance(given, Agent):
        runner = Runner(given, platform=counted(run_tasks or interleaved))
    elif isinstance(given, Runner):
        runner = given
        runner.platform = replace(runner.platform, run_tasks=run_tasks or runner.platform.run_tasks).recorded()
    else:
        raise TypeError(f"step() takes an agent, a runner or a scenario, not {type(given).__name__}")
    if message is None:
        raise TypeError("an agent needs a message to answer: step(agent, 'What is the weather?')")
    several = isinstance(message, (list, tuple))
    return AgentPlay(runner, message if several else [message], run_config=run_config)  # type: ignore[list-item, arg-type]


def as_message(given: Any) -> types.Content:
    """A user message from a text or a content. Raises TypeError for anything else."""
    if isinstance(given, str):
        return types.Content(role="user", parts=[types.Part(text=given)])
    if isinstance(given, types.Content):
        return given
    raise TypeError(f"a message is a text or a Content, not {type(given).__name__}")


def known_names(runner: Runner) -> dict[str, set[str]]:
    """Every name a wish on this run may use: stops, tools, agents, authors."""
    agents = {a.name for a in runner.agent.tree()}
    tools: set[str] = set()
    stops: set[str] = set(Seam) | {"merge"} | set(getattr(runner, "more_stops", ()))
    for agent in runner.agent.tree():
        callbacks = list(agent.before_agent) + list(agent.after_agent)
        settings = settings_of(agent)
        if settings is not None:
            tools |= {t.name for t in settings.tools}
            stops |= {settings.model.name} if settings.model else set()
            callbacks += getattr(agent, "request_processors", [])
            for group in (getattr(agent, "model_callbacks", None), getattr(agent, "tool_callbacks", None)):
                callbacks += [f for listed in vars(group).values() for f in listed] if group else []
        stops |= {name_of(f) for f in callbacks}
    stops |= {name_of(f) for hook in HOOKS for f in hooks_of(runner.plugins, hook)}
    tools |= {"set_model_response", "transfer_to_agent"}
    return {"stop": stops | tools | agents, "tool": tools, "agent": agents, "author": agents | {"user"}}
