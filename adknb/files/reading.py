"""A session file, read: sniffed by its content, whatever its name.

Go: session/session.go, Session; server/adkrest/internal/models/session.go, Session
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Any

from adknb.engine.errors import BadData, NotBuiltYet
from adknb.engine.event import Event
from adknb.engine.event_json import time_from_json
from adknb.files import kinds
from adknb.files.shapes import as_they_happened, event_of, expect, found
from adknb.json_text import name_of, parse, read_bytes, utf8

_SESSION_FIELDS = {
    "id": ("id", "session_id", "sessionId", "ID"),
    "app_name": ("app_name", "appName", "AppName"),
    "user_id": ("user_id", "userId", "UserID"),
    "state": ("state", "context", "State"),
    "last_update_time": ("last_update_time", "lastUpdateTime", "LastUpdateTime"),
}
"""Our name for a field, and its published spellings: the first one that is there counts, the others stay extra."""

_EVENT_LISTS = (("past_events", "pastEvents"), ("events", "Events"), ("pending_events", "pendingEvents"))
"""The lists that may hold events, in the order they happened."""


@dataclass
class SessionFile:
    """What a session file says. `extra` holds every field of the session that has no home here."""

    name: str
    session_id: str = ""
    app_name: str = ""
    user_id: str = ""
    state: dict[str, Any] = field(default_factory=dict)
    events: list[Event] = field(default_factory=list)
    last_update_time: float = 0.0
    extra: dict[str, Any] = field(default_factory=dict)
    bare_list: bool = False
    """The file is a list of events and nothing else: perhaps what a client received, chunks included."""


def read_session(path: str | os.PathLike[str]) -> SessionFile:
    """Read a session file of any published shape of ADK's session JSON, or a bare list of events.

    Raises:
        BadData: the file is missing, no JSON, or not shaped as a session; names file and place.
        NotBuiltYet: the file is something of ADK's world that this version does not read; names it.
    """
    name = name_of(path)
    data = read_bytes(path)
    kinds.refuse_binary(data, name)
    text = utf8(data, name)
    kinds.refuse_other_text(text, name)
    try:
        value = parse(text, name)
    except BadData as error:
        if "extra data" in error.message and kinds.is_json_lines(text):
            raise NotBuiltYet(f"reading events as JSON lines ({name})") from None
        raise
    return session_of(value, name)


def session_of(value: Any, name: str) -> SessionFile:
    """The session that a JSON document describes.

    Raises:
        BadData: naming the place; NotBuiltYet: naming the feature.
    """
    kinds.refuse_other_document(value, name)
    if isinstance(value, list):
        return SessionFile(name, events=_events(value, f"{name}: "), bare_list=True)
    if not isinstance(value, dict):
        raise BadData(name, f"expected a session (an object) or a list of events, found {found(value)}")
    if not _has_events(value) and isinstance(value.get("session"), dict) and _has_events(value["session"]):
        inner = _session(value["session"], name, f"{name}: session.")
        inner.extra.update({key: kept for key, kept in value.items() if key != "session"})
        return inner
    if not _has_events(value):
        fields = ", ".join(repr(key) for key in list(value)[:6]) + (", …" if len(value) > 6 else "")
        hint = "; this looks like one event: put it into a list" if kinds.EVENT_FIELDS & value.keys() else ""
        what = f"found the fields {fields}{hint}" if fields else "found an empty object"
        raise BadData(name, f"expected a session, an object with `events`; {what}")
    return _session(value, name, f"{name}: ")


def _has_events(value: dict[str, Any]) -> bool:
    return any(key in value for key in _EVENT_LISTS[1])


def _session(value: dict[str, Any], name: str, where: str) -> SessionFile:
    left = dict(value)
    groups = [_group(left, keys, where) for keys in _EVENT_LISTS]
    read = {ours: _take(left, theirs) for ours, theirs in _SESSION_FIELDS.items()}
    session = SessionFile(
        name,
        session_id=_text(read["id"], where),
        app_name=_text(read["app_name"], where),
        user_id=_text(read["user_id"], where),
        events=as_they_happened(groups),
        extra=left,
    )
    if read["state"] is not None:
        key, state = read["state"]
        session.state = expect(state, dict, where + key)
    if read["last_update_time"] is not None:
        key, time = read["last_update_time"]
        session.last_update_time = time_from_json(time, where + key)
    return session


def _group(left: dict[str, Any], keys: tuple[str, ...], where: str) -> list[Event]:
    """The events under one of the keys, taken out of `left`."""
    key = next((k for k in keys if k in left), None)
    if key is None:
        return []
    raw = left[key]
    if keys[0] == "pending_events" and isinstance(raw, dict):
        raw = list(raw.values())  # by call id
        if not all(kinds.EVENT_FIELDS & item.keys() if isinstance(item, dict) else False for item in raw):
            return []  # not events as we know them: it stays in `extra`
    del left[key]
    return _events(expect(raw, list, where + key) if raw is not None else [], where + key)


def _events(raw: list[Any], where: str) -> list[Event]:
    return [event_of(item, f"{where}[{i}]") for i, item in enumerate(raw)]


def _take(left: dict[str, Any], names: tuple[str, ...]) -> tuple[str, Any] | None:
    """The first of the names that is there and not null, taken out of `left`."""
    for name in names:
        if left.get(name) is not None:
            return name, left.pop(name)
        left.pop(name, None)
    return None


def _text(read: tuple[str, Any] | None, where: str) -> str:
    return "" if read is None else str(expect(read[1], str, where + read[0]))
