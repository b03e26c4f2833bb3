"""What a file says of one session, whichever kind of file it is.

Go: session/session.go, Session; server/adkrest/internal/models/session.go, Session
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from adknb.engine.errors import BadData
from adknb.engine.event import Event
from adknb.engine.event_json import time_from_json
from adknb.files.progress import with_progress
from adknb.files.shapes import as_they_happened, event_of, expect, found

Json = dict[str, Any]
Origins = dict[int, tuple[Event, Any]]

EVENT_FIELDS = {"author", "content", "actions", "invocationId", "invocation_id", "InvocationID", "Author", "Content"}
"""An object with one of these may be an event."""

MANY = 1_000
"""A list longer than this holds events only if one of so many looks like one."""

SESSION_FIELDS = {
    "id": ("id", "session_id", "sessionId", "ID"),
    "app_name": ("app_name", "appName", "AppName"),
    "user_id": ("user_id", "userId", "UserID"),
    "state": ("state", "context", "State"),
    "last_update_time": ("last_update_time", "lastUpdateTime", "LastUpdateTime"),
}
"""Our name for a field, and its published spellings: the first one that is there counts, the others stay extra."""

EVENT_LISTS = (("past_events", "pastEvents"), ("events", "Events"), ("pending_events", "pendingEvents"))
"""The lists that may hold events, in the order they happened."""


@dataclass
class SessionFile:
    """What a file says of one session. `extra` holds every field of the session that has no home here."""

    name: str
    session_id: str = ""
    app_name: str = ""
    user_id: str = ""
    state: Json = field(default_factory=dict)
    events: list[Event] = field(default_factory=list)
    last_update_time: float = 0.0
    extra: Json = field(default_factory=dict)
    bare_list: bool = False
    """The file is a list of events and nothing else: perhaps what a client received, chunks included."""
    kind: str = "session"
    """What it was: `session`, `evaluation case`, `recordings`, `test spec`, `database`."""
    state_known: bool = False
    """Whether the file has a state at all; an absent one is unknown, not empty."""
    expectations: bool = False
    """The events are what an evaluation expects: ids, authors and order are partly this reader's."""
    notes: list[str] = field(default_factory=list)
    """What one must know about how these events came about: a sentence each."""
    sent: dict[int, Json] = field(default_factory=dict)
    """Position of an answer -> the request that was really sent for it, as JSON, where the file has it."""
    raw: Any = None
    """The session as it stands in the file: what `save` starts from. None if the events were made, not read."""
    wrapper: Any = None
    """The object that has the session under `session`, if there is one around it."""
    origins: Origins = field(default_factory=dict, repr=False)
    """id() of an event -> the event, and the JSON that it was read from."""


def session_of_object(value: Json, name: str, where: str) -> SessionFile:
    """A session from an object that has a list of events.

    Raises:
        BadData: naming the place.
    """
    left = dict(value)
    origins: Origins = {}
    groups = [_group(left, keys, where, origins) for keys in EVENT_LISTS]
    read = {ours: _take(left, theirs) for ours, theirs in SESSION_FIELDS.items()}
    events = as_they_happened(groups)
    if len(events) < len(origins):  # one that stood in two lists is read once
        origins = {id(event): origins[id(event)] for event in events}
    session = SessionFile(
        name,
        session_id=_text(read["id"], where),
        app_name=_text(read["app_name"], where),
        user_id=_text(read["user_id"], where),
        events=events,
        extra=left,
        raw=value,
        origins=origins,
    )
    if read["state"] is not None:
        key, state = read["state"]
        session.state = expect(state, dict, where + key)
        session.state_known = True
    if read["last_update_time"] is not None:
        key, time = read["last_update_time"]
        session.last_update_time = time_from_json(time, where + key)
    return session


def session_of_list(value: list[Any], name: str, where: str = "") -> SessionFile:
    """A session from a bare list of events. Raises BadData."""
    origins: Origins = {}
    events = _events(value, where or f"{name}: ", origins)
    return SessionFile(name, events=events, bare_list=True, raw=value, origins=origins)


def has_events(value: Any) -> bool:
    """Whether it is an object with a list of events."""
    return isinstance(value, dict) and any(key in value for key in EVENT_LISTS[1])


def looks_like_event(value: Any) -> bool:
    """Whether it is an object with a field that events have."""
    return isinstance(value, dict) and bool(EVENT_FIELDS & value.keys())


def no_session(value: Any, name: str) -> BadData:
    """The error for a JSON value that is no session."""
    if not isinstance(value, dict):
        return BadData(name, f"expected a session (an object) or a list of events, found {found(value)}")
    fields = ", ".join(repr(key) for key in list(value)[:6]) + (", …" if len(value) > 6 else "")
    hint = "; this looks like one event: put it into a list" if EVENT_FIELDS & value.keys() else ""
    what = f"found the fields {fields}{hint}" if fields else "found an empty object"
    return BadData(name, f"expected a session, an object with `events`; {what}")


def sent_in(requests: Any, events: int) -> dict[int, Json]:
    """Requests that a file brings along, as the doctor's vectors do: each says which event answers it."""
    if not isinstance(requests, list) or not all(isinstance(one, dict) for one in requests):
        return {}
    known = [one for one in requests if type(one.get("event")) is int and isinstance(one.get("config", {}), dict)]
    return {one["event"]: one for one in known if 0 <= one["event"] < events}


def _group(left: Json, keys: tuple[str, ...], where: str, origins: Origins) -> list[Event]:
    """The events under one of the keys, taken out of `left`."""
    key = next((k for k in keys if k in left), None)
    if key is None:
        return []
    raw = left[key]
    if keys[0] == "pending_events" and isinstance(raw, dict):
        raw = list(raw.values())  # by call id
        if not all(EVENT_FIELDS & item.keys() if isinstance(item, dict) else False for item in raw):
            return []  # not events as we know them: it stays in `extra`
    del left[key]
    return _events(expect(raw, list, where + key) if raw is not None else [], where + key, origins)


def _events(raw: list[Any], where: str, origins: Origins) -> list[Event]:
    if len(raw) > MANY and not any(map(looks_like_event, raw[:MANY])):
        raise BadData(where.rstrip(" :"), f"expected events; of the first {MANY} none has an `author` or `content`")
    events = []
    for i, item in enumerate(with_progress(raw, "events")):
        event = event_of(item, f"{where}[{i}]")
        origins[id(event)] = (event, item)
        events.append(event)
    return events


def _take(left: Json, names: tuple[str, ...]) -> tuple[str, Any] | None:
    """The first of the names that is there and not null, taken out of `left`."""
    for name in names:
        if left.get(name) is not None:
            return name, left.pop(name)
        left.pop(name, None)
    return None


def _text(read: tuple[str, Any] | None, where: str) -> str:
    return "" if read is None else str(expect(read[1], str, where + read[0]))
