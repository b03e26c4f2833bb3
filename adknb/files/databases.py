"""google-adk's session databases in SQLite, in all their layouts. Not a byte of them, or beside them, changes.

    v0       DatabaseSessionService before 1.22: a column for each field, `actions` pickled (in Go the same, as JSON)
    v1       DatabaseSessionService since 1.22: `event_data` is JSON, times are text, `adk_internal_metadata`
    service  SqliteSessionService (and ours): `event_data` is JSON, times are numbers

Events come in the order of their times, as google-adk reads them; those of one time in the order they were stored.

Source: google-adk 2.13, sessions/schemas/v0.py, v1.py, sqlite_session_service.py, database_session_service.py.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adknb.engine.copies.frozen import garbage_collection_waits
from adknb.engine.errors import BadData
from adknb.engine.event_json import time_from_json
from adknb.engine.session import APP, USER
from adknb.files.database_file import opened
from adknb.files.progress import with_progress
from adknb.files.reading import Entry
from adknb.files.session_file import Json, SessionFile
from adknb.files.shapes import event_of
from adknb.json_text import parse

if TYPE_CHECKING:
    from sqlite3 import Connection

Key = tuple[str, str, str]
"""App name, user id, session id."""

JSON_COLUMNS = (
    "content",
    "grounding_metadata",
    "custom_metadata",
    "usage_metadata",
    "citation_metadata",
    "input_transcription",
    "output_transcription",
)
FLAGS = ("partial", "turn_complete", "interrupted")
PLACES = ("app_name", "user_id", "session_id")
UTC = "Times are stored without a zone: taken as UTC."
KNOWN_VERSIONS = ("0", "1")


@dataclass(frozen=True)
class Layout:
    """What a database is like: `version`, and the columns that its tables have."""

    version: str
    events: tuple[str, ...]
    tables: frozenset[str]
    notes: tuple[str, ...] = ()


def database_entries(path: Path, name: str, trust: bool) -> list[Entry]:
    """The sessions of a database, the one that was last written to first; each is read when it is wanted.

    Raises:
        BadData: it is damaged, locked, or none of google-adk's.
    """
    with opened(path, name) as db:
        _layout(db, name)
        rows = db.execute(
            "SELECT s.app_name, s.user_id, s.id, s.update_time, count(e.id) FROM sessions s LEFT JOIN events e ON "
            "e.app_name = s.app_name AND e.user_id = s.user_id AND e.session_id = s.id "
            "GROUP BY s.app_name, s.user_id, s.id ORDER BY s.update_time DESC, s.rowid DESC"
        ).fetchall()
    if not rows:
        raise BadData(name, "the database has no sessions yet")

    def loader(key: Key) -> Any:
        return lambda: read_database_session(path, name, key, trust)

    return [
        Entry(
            str(row[2]),
            loader((row[0], row[1], row[2])),
            str(row[0]),
            str(row[1]),
            row[4],
            _time(row[3], f"{name}: sessions"),
        )
        for row in rows
    ]


def read_database_session(path: Path, name: str, key: Key, trust: bool = False) -> SessionFile:
    """One session of a database.

    Raises:
        BadData: naming table, row and column.
    """
    with opened(path, name) as db, garbage_collection_waits():
        layout = _layout(db, name)
        row = db.execute(
            "SELECT state, update_time FROM sessions WHERE app_name = ? AND user_id = ? AND id = ?", key
        ).fetchone()
        if row is None:
            raise BadData(name, f"the session {key[2]!r} is gone")
        where = f"{name}: session {key[2]}"
        session = SessionFile(name, str(key[2]), str(key[0]), str(key[1]), kind="database", state_known=True)
        session.state = _state(db, layout, key, row[0], where)
        session.last_update_time = _time(row[1], f"{where}: update_time")
        session.notes = list(layout.notes)
        _read_events(db, layout, key, session, trust)
    session.raw = {"id": key[2], "app_name": key[0], "user_id": key[1], "state": session.state, "events": []}
    session.raw["events"] = [raw for _, raw in session.origins.values()]
    session.raw["last_update_time"] = session.last_update_time
    return session


# --------------------------------------------------------------------------------------------------------------- layout


def _layout(db: Connection, name: str) -> Layout:
    tables = {row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if not {"sessions", "events"} <= tables:
        shown = ", ".join(sorted(tables)[:6]) or "none"
        raise BadData(
            name, f"is no session database of google-adk: expected tables `sessions` and `events`, found {shown}"
        )
    events = _columns(db, "events")
    missing = [c for c in ("id", *PLACES, "timestamp") if c not in events]
    missing += [
        f"sessions.{c}"
        for c in ("id", "app_name", "user_id", "state", "update_time")
        if c not in _columns(db, "sessions")
    ]
    if missing:
        raise BadData(name, f"is no session database of google-adk: there is no column {missing[0]}")
    if "event_data" not in events:
        if "content" not in events or "author" not in events:
            raise BadData(name, "is no session database of google-adk: `events` has neither `event_data` nor `content`")
        return Layout("0", events, frozenset(tables), (UTC,))
    if "adk_internal_metadata" not in tables:
        return Layout("service", events, frozenset(tables))
    found = db.execute("SELECT value FROM adk_internal_metadata WHERE key = 'schema_version'").fetchone()
    version = str(found[0]) if found else "1"
    unknown = (f"The database says that its layout is version {version}, which is not known here: read as version 1.",)
    return Layout(version, events, frozenset(tables), () if version in KNOWN_VERSIONS else unknown)


def _columns(db: Connection, table: str) -> tuple[str, ...]:
    return tuple(row[1] for row in db.execute(f"PRAGMA table_info({table})"))


# ---------------------------------------------------------------------------------------------------------------- state


def _state(db: Connection, layout: Layout, key: Key, own: Any, where: str) -> Json:
    """The three kinds of state as a session shows them: merged, the prefixes put back."""
    merged: Json = {}
    shared = (("app_states", APP, key[:1]), ("user_states", USER, key[:2]))
    for table, prefix, owner in shared:
        if table in layout.tables:
            of = " AND ".join(f"{column} = ?" for column in PLACES[: len(owner)])
            row = db.execute(f"SELECT state FROM {table} WHERE {of}", owner).fetchone()
            values = _object(row[0], f"{where}: {table}") if row else {}
            merged.update({prefix + name: value for name, value in values.items()})
    return {**merged, **_object(own, f"{where}: state")}


# --------------------------------------------------------------------------------------------------------------- events


def _read_events(db: Connection, layout: Layout, key: Key, session: SessionFile, trust: bool) -> None:
    columns = [c for c in layout.events if c not in PLACES]
    quoted = ", ".join('"' + c.replace('"', '""') + '"' for c in columns)
    rows = db.execute(
        f"SELECT {quoted} FROM events WHERE app_name = ? AND user_id = ? AND session_id = ? ORDER BY timestamp, rowid",
        key,
    ).fetchall()
    as_stored = [r[0] for r in db.execute(
        "SELECT id FROM events WHERE app_name = ? AND user_id = ? AND session_id = ? ORDER BY rowid", key)]  # fmt: skip
    sealed = 0
    for row in with_progress(rows, "events"):
        fields = dict(zip(columns, row, strict=True))
        where = f"{session.name}: session {session.session_id}, event {fields['id']}"
        raw = _of_json(fields, where) if "event_data" in fields else _of_columns(fields, where, trust)
        event = event_of(raw, where)
        sealed += any(path == PICKLED for path in event.extra)
        session.origins[id(event)] = (event, raw)
        session.events.append(event)
    if [row[columns.index("id")] for row in rows] != as_stored:
        session.notes.append(
            "Events are shown by their times, as google-adk reads them; they were stored in another order."
        )
    if sealed:
        session.notes.append(
            f"What {sealed} of the events did besides speaking (state, transfers, files) is pickled, and not read: "
            "open(…, trust=True) does (--trust), as plain data only."
        )


PICKLED = "actions_pickled"


def _of_json(fields: Json, where: str) -> Json:
    """An event whose row has all of it as JSON; the row's own columns fill in what it lacks."""
    raw = _object(fields.pop("event_data"), f"{where}: event_data")
    if "invocation_id" in fields and not ({"invocation_id", "invocationId"} & raw.keys()):
        raw["invocation_id"] = fields["invocation_id"]
    if raw.get("timestamp") is None:
        raw["timestamp"] = _time(fields["timestamp"], f"{where}: timestamp")
    if not raw.get("id"):
        raw["id"] = fields["id"]
    return raw


def _of_columns(fields: Json, where: str, trust: bool) -> Json:
    """An event whose row has a column for each field."""
    raw: Json = {}
    for column, value in fields.items():
        at = f"{where}: {column}"
        if value is None:
            continue
        if column == "timestamp":
            raw["timestamp"] = _time(value, at)
        elif column == "actions":
            raw.update(_actions(value, at, trust))
        elif column == "long_running_tool_ids_json":
            raw["long_running_tool_ids"] = _parsed(value, at)
        elif column in JSON_COLUMNS:
            raw[column] = _parsed(value, at)
        elif column in FLAGS:
            raw[column] = bool(value)
        else:
            raw[column] = value if isinstance(value, (str, int, float)) else repr(value)
    return raw


def _actions(value: Any, where: str, trust: bool) -> Json:
    """The actions of a row: JSON, as Go writes them, or a pickle."""
    if isinstance(value, str) or (isinstance(value, bytes) and value[:1] in (b"{", b"n")):
        return {"actions": _parsed(value, where)}
    if not isinstance(value, bytes):
        raise BadData(where, f"expected bytes, found {type(value).__name__}")
    if not trust:
        return {PICKLED: f"{len(value)} bytes"}
    from adknb.files.pickled import actions_of

    return {"actions": actions_of(value, where)}


# ---------------------------------------------------------------------------------------------------------------- cells


def _time(value: Any, where: str) -> float:
    return time_from_json(value, where)


def _parsed(value: Any, where: str) -> Any:
    """The JSON in a cell."""
    if isinstance(value, bytes):
        try:
            value = value.decode()
        except UnicodeDecodeError:
            raise BadData(where, "is not UTF-8 text") from None
    if not isinstance(value, str):
        raise BadData(where, f"expected JSON as text, found {type(value).__name__}")
    try:
        return parse(value, where)
    except BadData as error:
        raise BadData(where, error.message) from None


def _object(value: Any, where: str) -> Json:
    if value is None:
        return {}
    parsed = _parsed(value, where)
    if parsed is None:
        return {}
    if not isinstance(parsed, dict):
        raise BadData(where, f"expected an object, found {json.dumps(parsed)[:40]}")
    return parsed
