"""The two contexts: one of a run, one of a call.

Go: internal/context/invocation_context.go, InvocationContext; agent/context.go, Context;
internal/toolinternal/context.go

`InvocationContext` says where an agent runs: session, branch, scope, mode. It is derived, never changed, when another
agent starts. `Context` is what callbacks and tools are given: it can write state and artifacts, and collects what it
wrote in the `actions` of the event being built.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, MutableMapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol

from google.genai import types

from adknb.engine.errors import ArtifactError
from adknb.engine.event import Event, EventActions, ToolConfirmation
from adknb.engine.platform import Platform
from adknb.engine.session import Session, SessionService

if TYPE_CHECKING:
    from adknb.engine.agent import Agent
    from adknb.engine.plugin import Plugin


NEVER = threading.Event()
"""Is never set."""


@dataclass
class LiveConfig:
    """How a live run connects (spec/live.md §1). `session_resumption` is written into: it gets the newest handle.

    `save_live_blob` keeps audio as artifacts. The last four are there, as in the reference, and nothing reads them.

    Go: agent/live.go, LiveRunConfig
    """

    response_modalities: list[types.Modality] | None = None
    speech_config: types.SpeechConfig | None = None
    input_audio_transcription: types.AudioTranscriptionConfig | None = None
    output_audio_transcription: types.AudioTranscriptionConfig | None = None
    session_resumption: types.SessionResumptionConfig | None = None
    save_live_blob: bool = False
    realtime_input_config: types.RealtimeInputConfig | None = None
    enable_affective_dialog: bool | None = None
    proactivity: types.ProactivityConfig | None = None
    max_llm_calls: int | None = None


@dataclass
class RunConfig:
    """How one turn is run. `streaming_mode` is `""`, `"none"` or `"sse"`; a live run has `"bidi"` and `live`.

    Go: agent/run_config.go, RunConfig
    """

    streaming_mode: str = ""
    live: LiveConfig | None = None


class ArtifactService(Protocol):
    """Where files are kept, by session. Go: artifact/service.go, Service"""

    def save(self, session: Session, name: str, part: types.Part) -> int:
        """Keep a new version; the first is 1."""

    def load(self, session: Session, name: str) -> types.Part | None:
        """The newest version, or None."""


class InMemoryArtifactService:
    """Artifacts in a dict; names that start with `user:` are shared by a user's sessions. Go: artifact/inmemory.go"""

    def __init__(self) -> None:
        self._kept: dict[tuple[str, ...], list[types.Part]] = {}

    def _key(self, session: Session, name: str) -> tuple[str, ...]:
        owner = "" if name.startswith("user:") else session.id
        return (session.app_name, session.user_id, owner, name)

    def save(self, session: Session, name: str, part: types.Part) -> int:
        """Keep a new version and give its number."""
        versions = self._kept.setdefault(self._key(session, name), [])
        versions.append(part)
        return len(versions)

    def load(self, session: Session, name: str) -> types.Part | None:
        """The newest version, or None."""
        versions = self._kept.get(self._key(session, name))
        return versions[-1] if versions else None


@dataclass
class InvocationContext:
    """One turn as one agent sees it.

    Go: internal/context/invocation_context.go, InvocationContext
    """

    agent: Agent
    session: Session
    session_service: SessionService
    platform: Platform
    invocation_id: str = ""
    branch: str = ""
    isolation_scope: str = ""
    user_content: types.Content | None = None
    run_config: RunConfig = field(default_factory=RunConfig)
    plugins: list[Plugin] = field(default_factory=list)
    artifact_service: ArtifactService | None = None
    binding: tuple[str, str] | None = None
    """(agent name, mode) that a placement has set; it binds the agent of that name only."""
    compaction: Any = None
    ended: bool = False
    delegation: Any = None
    """What a delegation keeps over one turn; None where nothing may be delegated."""
    steps: dict[str, int] = field(default_factory=dict)
    """Agent name -> steps so far in this turn; shared by all contexts of the turn."""
    live: Any = None
    """The streaming tools of a live run (live.streaming_tools); None in a normal one."""
    private_events: list[Event] = field(default_factory=list)
    """Events that only this run sees: a delegated single_turn agent's input, which is never stored."""
    private_after: int = 0
    """How many session events existed when this run started; its private events come right behind them."""

    def derive(self, **changes: Any) -> InvocationContext:
        """A context like this one but for `changes`; `ended` is its own."""
        return replace(self, **{"ended": False, **changes})

    @property
    def bound_mode(self) -> str:
        """The mode that a placement set for this agent, or `""`."""
        return self.binding[1] if self.binding and self.binding[0] == self.agent.name else ""

    @property
    def effective_mode(self) -> str:
        """The bound mode if there is one, else the declared one (spec/request.md §0)."""
        return self.bound_mode or getattr(self.agent, "mode", "")

    @property
    def state(self) -> State:
        """The session's live state, to read."""
        return State(self.session.state, None)

    def is_own(self, event: Event) -> bool:
        """Whether an event that passes through this run belongs to it: not one of a delegated child's."""
        return self.delegation is None or event.id not in self.delegation.of_children

    def new_event(self, author: str = "", **fields: Any) -> Event:
        """An event of this turn: new id, now, this branch and scope.

        Go: session/session.go, NewEvent
        """
        return Event(
            id=self.platform.new_id(),
            timestamp=self.platform.clock(),
            invocation_id=self.invocation_id,
            author=author or self.agent.name,
            branch=self.branch,
            isolation_scope=self.isolation_scope,
            **fields,
        )


class State(MutableMapping[str, Any]):
    """State as callbacks and tools see it. A write goes to the event's delta and, at once, to the live session.

    So another tool of the same answer, or the next instruction template, sees it before any event carries it
    (spec/execution.md 2.2).
    """

    def __init__(self, live: dict[str, Any], delta: dict[str, Any] | None) -> None:
        self._live, self._delta = live, delta

    def __getitem__(self, key: str) -> Any:
        if self._delta is not None and key in self._delta:
            return self._delta[key]
        return self._live[key]

    def __setitem__(self, key: str, value: Any) -> None:
        if self._delta is None:
            raise TypeError("this state is for reading; callbacks and tools write through their own context")
        self._delta[key] = value
        self._live[key] = value

    def __delitem__(self, key: str) -> None:
        raise TypeError(f"state keys cannot be deleted (ADK has no such delta); set {key!r} to None")

    def __iter__(self) -> Iterator[str]:
        return iter({**self._live, **(self._delta or {})})

    def __len__(self) -> int:
        return len({**self._live, **(self._delta or {})})

    def __repr__(self) -> str:
        return f"State({dict(self)!r})"


class Context:
    """What a callback or a tool is given.

    Go: agent/context.go, Context
    """

    def __init__(
        self,
        invocation: InvocationContext,
        actions: EventActions | None = None,
        function_call_id: str = "",
        tool_confirmation: ToolConfirmation | None = None,
        cancelled: threading.Event = NEVER,
    ) -> None:
        self.invocation = invocation
        self.actions = actions if actions is not None else EventActions()
        self.function_call_id = function_call_id
        self.tool_confirmation = tool_confirmation
        self.cancelled = cancelled
        """Set when a streaming tool of a live run has been stopped: look at it, or wait for it, between two texts."""
        self.state = State(invocation.session.state, self.actions.state_delta)

    @property
    def agent_name(self) -> str:
        """The agent that runs."""
        return self.invocation.agent.name

    @property
    def session(self) -> Session:
        """The running session."""
        return self.invocation.session

    @property
    def invocation_id(self) -> str:
        """The turn's id."""
        return self.invocation.invocation_id

    @property
    def user_content(self) -> types.Content | None:
        """The message that started the turn."""
        return self.invocation.user_content

    def save_artifact(self, name: str, part: types.Part | str) -> int:
        """Keep a file (a text is taken as a text part); gives its version, from 1.

        Raises:
            ArtifactError: the run has no artifact service.
        """
        service = self._artifacts(name)
        version = service.save(self.session, name, types.Part(text=part) if isinstance(part, str) else part)
        self.actions.artifact_delta[name] = version
        return version

    def load_artifact(self, name: str) -> types.Part | None:
        """The newest version of a file, or None. Raises ArtifactError without an artifact service."""
        return self._artifacts(name).load(self.session, name)

    def _artifacts(self, name: str) -> ArtifactService:
        if self.invocation.artifact_service is None:
            raise ArtifactError(f"artifact {name!r}: this run has no artifact service")
        return self.invocation.artifact_service

    def request_confirmation(self, hint: str = "", payload: Any = None) -> None:
        """Ask a person to approve this tool call; the turn ends behind the tool's answer (seed 000, 四.6.1).

        Go: internal/toolinternal/context.go, RequestConfirmation
        """
        self.actions.requested_tool_confirmations[self.function_call_id] = ToolConfirmation(hint, False, payload)
        self.actions.skip_summarization = True
