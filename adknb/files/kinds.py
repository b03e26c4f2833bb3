"""What a document is, told by its content: one session or several, or something else that is named, not guessed at."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from adknb.engine.errors import BadData
from adknb.files.conformance import is_recordings, is_spec, recordings_session, spec_session
from adknb.files.evalsets import eval_sessions, is_eval
from adknb.files.session_file import (
    EVENT_FIELDS,
    MANY,
    SessionFile,
    has_events,
    no_session,
    session_of_list,
    session_of_object,
)
from adknb.files.shapes import expect


def sessions_in(value: Any, name: str) -> list[SessionFile]:
    """The sessions that a document (JSON or YAML) describes; one at least.

    Raises:
        BadData: it describes none, or not as it should be; names the place.
    """
    _refuse_others(value, name)
    if is_eval(value):
        sessions = eval_sessions(value, name)
        if not sessions:
            raise BadData(name, "the evaluation set has no cases")
        return sessions
    if is_recordings(value):
        return [recordings_session(value, name)]
    if is_spec(value):
        return [spec_session(value, name)]
    several = value if isinstance(value, list) else value.get("sessions") if isinstance(value, dict) else None
    if isinstance(several, list) and not has_events(value) and any(map(holds_session, several[:MANY])):
        where = f"{name}: " + ("" if isinstance(value, list) else "sessions")
        return [_session(expect(item, dict, f"{where}[{i}]"), name, f"{where}[{i}].") for i, item in enumerate(several)]
    if isinstance(value, list):
        return [session_of_list(value, name)]
    if not isinstance(value, dict):
        raise no_session(value, name)
    return [_session(value, name, f"{name}: ")]


def holds_session(value: Any) -> bool:
    """Whether it is a session, or an object with one under `session`."""
    return has_events(value) or (isinstance(value, dict) and has_events(value.get("session")))


def _session(value: dict[str, Any], name: str, where: str) -> SessionFile:
    if not has_events(value) and has_events(value.get("session")):
        inner = session_of_object(value["session"], name, f"{where}session.")
        inner.extra.update({key: kept for key, kept in value.items() if key != "session"})
        inner.session_id = inner.session_id or (value["id"] if isinstance(value.get("id"), str) else "")
        inner.wrapper = value
        return inner
    if not has_events(value):
        raise no_session(value, where.rstrip(" .:"))
    return session_of_object(value, name, where)


_OTHERS: list[tuple[Callable[[dict[str, Any]], bool], str]] = [
    (lambda v: "agent" in v and "turns" in v, "this is a scenario, not a session: `adknb trace` runs it"),
    (
        lambda v: "format" in v and "entries" in v and "events" not in v,
        "this is a run saved by dbg.save, not a session: adknb.replay(path) opens it",
    ),
    (
        lambda v: "queries" in v and "events" not in v,
        "these are queries to replay; nothing has been answered yet, so there are no events",
    ),
    (
        lambda v: bool({"sessionEvents", "session_events"} & v.keys()),
        "these are session events of Vertex AI's API; save the session that google-adk's VertexAiSessionService gives",
    ),
    (
        lambda v: "agent_class" in v or ("instruction" in v and "model" in v and "events" not in v),
        "this is an agent's definition, not a session: open(session, agent=…) attaches it",
    ),
    (lambda v: "nbformat" in v and "cells" in v, "this is a notebook, not a session"),
]


def _refuse_others(value: Any, name: str) -> None:
    """Say so if a document is something of ADK's or adknb's world that holds no session. Raises BadData."""
    if isinstance(value, dict) and not EVENT_FIELDS & value.keys():
        for fits, message in _OTHERS:
            if fits(value):
                raise BadData(name, message)
