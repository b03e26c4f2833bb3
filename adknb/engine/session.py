"""Session, and what it means to append an event to it.

Go: session/session.go, Session; session/inmemory.go, AppendEvent; internal/sessionutils/utils.go, ExtractStateDeltas

State has four scopes, told by the key's prefix: `app:` is shared by all sessions of an app, `user:` by all of a user's,
`temp:` lives for a turn, anything else belongs to the session. A session shows them merged, prefixes kept.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from adknb.engine.errors import AdknbError
from adknb.engine.event import Event

APP, USER, TEMP = "app:", "user:", "temp:"


@dataclass
class Session:
    """A conversation: its events in order, and the state they have written."""

    id: str
    app_name: str
    user_id: str
    state: dict[str, Any] = field(default_factory=dict)
    events: list[Event] = field(default_factory=list)
    last_update_time: float = 0.0


class SessionMissing(AdknbError, LookupError):
    """No session of that name."""


class SessionService(Protocol):
    """Where sessions are kept.

    Go: session/service.go, Service
    """

    def create(self, app_name: str, user_id: str, session_id: str = "", state: dict[str, Any] | None = None) -> Session:
        """Make a session; `state` may hold `app:` and `user:` keys, which go to their shared maps."""

    def get(self, app_name: str, user_id: str, session_id: str) -> Session:
        """A session as stored. Raises SessionMissing."""

    def append_event(self, session: Session, event: Event) -> None:
        """Store an event: in the session at hand and in the one that is kept."""


class InMemorySessionService:
    """Sessions in a dict. Events and their contents are shared between the running session and the stored one.

    Go: session/inmemory.go
    """

    def __init__(self) -> None:
        self._kept: dict[tuple[str, str, str], Session] = {}
        self._app_state: dict[str, dict[str, Any]] = {}
        self._user_state: dict[tuple[str, str], dict[str, Any]] = {}

    def create(self, app_name: str, user_id: str, session_id: str = "", state: dict[str, Any] | None = None) -> Session:
        """Make a session and give it back. Raises AdknbError if there is one of that name."""
        key = (app_name, user_id, session_id or f"session-{len(self._kept) + 1}")
        if key in self._kept:
            raise AdknbError(f"there is a session {key[2]!r} of user {user_id!r} in app {app_name!r} already")
        self._kept[key] = Session(key[2], app_name, user_id)
        self._write(self._kept[key], state or {}, keep_temp=True)
        return self.get(*key)

    def get(self, app_name: str, user_id: str, session_id: str) -> Session:
        """The session with the three kinds of state merged. Raises SessionMissing."""
        kept = self._kept.get((app_name, user_id, session_id))
        if kept is None:
            raise SessionMissing(f"no session {session_id!r} of user {user_id!r} in app {app_name!r}")
        merged = {
            **self._app_state.get(app_name, {}),
            **self._user_state.get((app_name, user_id), {}),
            **kept.state,
        }
        return replace(kept, state=merged, events=list(kept.events))

    def append_event(self, session: Session, event: Event) -> None:
        """Store a whole event and apply its delta, key by key at top level; a partial event is not stored.

        Only the delta maps are copied, as they are now: content and args stay shared, as in Go.
        """
        if event.partial:
            return
        kept = self._kept.get((session.app_name, session.user_id, session.id))
        if kept is None:
            raise SessionMissing(f"no session {session.id!r} of user {session.user_id!r} in app {session.app_name!r}")
        delta = dict(event.actions.state_delta)
        artifacts = dict(event.actions.artifact_delta)
        stored = replace(event, actions=replace(event.actions, state_delta=delta, artifact_delta=artifacts))
        session.state.update(delta)
        session.events.append(stored)
        session.last_update_time = kept.last_update_time = event.timestamp
        kept.events.append(stored)
        self._write(kept, delta)

    def _write(self, kept: Session, delta: dict[str, Any], keep_temp: bool = False) -> None:
        """Put each key where its prefix says. State given at creation keeps even its `temp:` keys, as in Go."""
        for key, value in delta.items():
            if key.startswith(APP):
                self._app_state.setdefault(kept.app_name, {})[key] = value
            elif key.startswith(USER):
                self._user_state.setdefault((kept.app_name, kept.user_id), {})[key] = value
            elif keep_temp or not key.startswith(TEMP):
                kept.state[key] = value
