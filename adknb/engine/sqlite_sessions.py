"""Sessions in an SQLite file: what a run has yielded is stored, whatever becomes of the kernel afterwards.

    with SqliteSessionService("weather.db") as sessions:
        for event in Runner(agent, session_service=sessions).run("What is the weather in Hangzhou?"): ...

Go: session/database/service.go, NewSessionService, databaseService.AppendEvent

The tables are those of google-adk's SqliteSessionService (2.13), and either opens the files of the other. Go keeps its
own; what ours share with Go's is that an append is one transaction, and that a session which somebody else has written
to since it was read is refused.

Rules and results are those of InMemorySessionService, with what a file brings along: a session that is read back shares
no object with the one that ran, so a hook that changes a stored event in place changes the running session only; and
values come back as JSON has them (a tuple as a list). Events come back in the order in which they were appended, where
google-adk sorts them by their timestamps.
"""

from __future__ import annotations

import json
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any

from adknb.engine.errors import AdknbError, BadData
from adknb.engine.event import Event
from adknb.engine.event_json import to_json
from adknb.engine.session import APP, TEMP, USER, Session, SessionMissing

if TYPE_CHECKING:
    from sqlite3 import Connection

TABLES = {
    "app_states": ("app_name TEXT, state TEXT, update_time REAL", "PRIMARY KEY (app_name)"),
    "user_states": ("app_name TEXT, user_id TEXT, state TEXT, update_time REAL", "PRIMARY KEY (app_name, user_id)"),
    "sessions": (
        "app_name TEXT, user_id TEXT, id TEXT, state TEXT, create_time REAL, update_time REAL",
        "PRIMARY KEY (app_name, user_id, id)",
    ),
    "events": (
        "id TEXT, app_name TEXT, user_id TEXT, session_id TEXT, invocation_id TEXT, timestamp REAL, event_data TEXT",
        "PRIMARY KEY (app_name, user_id, session_id, id), FOREIGN KEY (app_name, user_id, session_id) "
        "REFERENCES sessions (app_name, user_id, id) ON DELETE CASCADE",
    ),
}
"""google-adk's layout: columns and keys. A state is a JSON object without prefixes; `event_data` is a whole event."""

OTHER_LAYOUT = "adk_internal_metadata"
"""The table that tells a file of google-adk's DatabaseSessionService, whose columns have the same names."""

OWNER = ("app_name", "user_id")
"""The columns that say whose a shared state is: an app's by the first, a user's by both."""

Key = tuple[str, str, str]
"""App name, user id, session id."""


class StaleSession(AdknbError):
    """Somebody else has stored an event in the session since it was read."""


class SqliteSessionService:
    """Sessions in the file at `path`, made if it is not there; `":memory:"` keeps them for the service's life.

    May be used from several threads, and the file from several processes: a writer waits for the others. `close` it, or
    use it in a `with`. `clock` says when a session was created.

    Raises:
        BadData: the file is no SQLite database, or has other tables. It is left as it was.

    Go: session/database/service.go, NewSessionService
    """

    def __init__(self, path: str | PathLike[str], clock: Callable[[], float] = time.time) -> None:
        self.path = fspath(path)
        self._clock = clock
        self._lock = threading.RLock()
        self._db = _open(self.path)
        self._close = weakref.finalize(self, self._db.close)  # also when the service is forgotten, not closed

    def create(self, app_name: str, user_id: str, session_id: str = "", state: dict[str, Any] | None = None) -> Session:
        """Make a session and give it back. Raises AdknbError if there is one of that name.

        Go: session/database/service.go, databaseService.Create
        """
        app, user, own = _by_scope(state or {})
        with self._transaction() as db:
            key = (app_name, user_id, session_id or _free_id(db, app_name, user_id))
            if _session_row(db, key) is not None:
                raise AdknbError(f"there is a session {key[2]!r} of user {user_id!r} in app {app_name!r} already")
            now = self._clock()
            _merge_shared(db, key[:1], app, now)
            _merge_shared(db, key[:2], user, now)
            db.execute(
                "INSERT INTO sessions (app_name, user_id, id, state, create_time, update_time) "
                "VALUES (?, ?, ?, ?, ?, ?)",
                (*key, _text(own, "state"), now, now),
            )
        return self.get(*key)

    def get(self, app_name: str, user_id: str, session_id: str) -> Session:
        """The session as stored, the three kinds of state merged. Raises SessionMissing.

        Go: session/database/service.go, databaseService.Get
        """
        key = (app_name, user_id, session_id)
        with self._transaction("DEFERRED") as db:
            row = _session_row(db, key)
            if row is None:
                raise _missing(key)
            app, user = _shared(db, key[:1]), _shared(db, key[:2])
            texts = db.execute(
                "SELECT event_data FROM events WHERE app_name = ? AND user_id = ? AND session_id = ? ORDER BY rowid",
                key,
            ).fetchall()
        where = f"{self.path}: session {session_id!r}"
        events = [Event.from_json(_json(text, w := f"{where}, event {n}"), w) for n, (text,) in enumerate(texts)]
        state = {APP + name: value for name, value in app.items()}
        state |= {USER + name: value for name, value in user.items()}
        state |= _object(row[0], f"{where}, state")
        return Session(session_id, app_name, user_id, state, events, row[1])

    def append_event(self, session: Session, event: Event) -> None:
        """Store a whole event and apply its delta, key by key at top level; a partial event is not stored.

        On return the event is on file; when it raises, neither the file nor `session` has changed.

        Raises:
            SessionMissing: there is no such session.
            StaleSession: somebody else has appended to it since; get it again.
            BadData: something in the event has no JSON. A `temp:` value may be so: it lives in `session` only.

        Go: session/database/service.go, databaseService.AppendEvent
        """
        if event.partial:
            return
        key = (session.app_name, session.user_id, session.id)
        delta = dict(event.actions.state_delta)
        artifacts = dict(event.actions.artifact_delta)
        stored = replace(event, actions=replace(event.actions, state_delta=delta, artifact_delta=artifacts))
        app, user, own = _by_scope({name: value for name, value in delta.items() if not name.startswith(TEMP)})
        data = _event_text(stored)
        with self._lock:
            with self._transaction() as db:
                row = _session_row(db, key)
                if row is None:
                    raise _missing(key)
                if row[1] != session.last_update_time:
                    raise StaleSession(
                        f"session {session.id!r} was written to by somebody else since it was read: stored as of "
                        f"{row[1]}, read as of {session.last_update_time}. Get it again"
                    )
                _merge_shared(db, key[:1], app, event.timestamp)
                _merge_shared(db, key[:2], user, event.timestamp)
                db.execute(
                    "UPDATE sessions SET state = ?, update_time = ? WHERE app_name = ? AND user_id = ? AND id = ?",
                    (_text({**_object(row[0], "state"), **own}, "state") if own else row[0], event.timestamp, *key),
                )
                db.execute(
                    "INSERT INTO events (id, app_name, user_id, session_id, invocation_id, timestamp, event_data) "
                    "VALUES (?, ?, ?, ?, ?, ?, ?)",
                    (_row_id(db, key, event.id), *key, event.invocation_id, event.timestamp, data),
                )
            session.state.update(delta)
            session.events.append(stored)
            session.last_update_time = event.timestamp

    def close(self) -> None:
        """Close the file. Whoever uses the service afterwards gets an AdknbError."""
        with self._lock:
            self._close()

    def __enter__(self) -> SqliteSessionService:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def _transaction(self, kind: str = "IMMEDIATE") -> Iterator[Connection]:
        """All or nothing, one thread at a time. Raises AdknbError where SQLite has a complaint."""
        import sqlite3

        with self._lock:
            try:
                self._db.execute(f"BEGIN {kind}")
                try:
                    yield self._db
                    self._db.execute("COMMIT")
                finally:
                    if self._db.in_transaction:
                        self._db.execute("ROLLBACK")
            except sqlite3.Error as error:
                raise AdknbError(f"{self.path}: {error}") from error


def _open(path: str) -> Connection:
    """Connect, and see that the tables are there. A file with other tables is not touched."""
    import sqlite3

    db = None
    try:
        db = sqlite3.connect(path, timeout=10, isolation_level=None, check_same_thread=False)
        _check_layout(db, path)
        db.execute("PRAGMA foreign_keys = ON")
        db.execute("PRAGMA journal_mode = WAL")
        for table, (columns, keys) in TABLES.items():
            not_null = columns.replace(",", " NOT NULL,")
            db.execute(f"CREATE TABLE IF NOT EXISTS {table} ({not_null} NOT NULL, {keys})")
    except BaseException as error:
        if db is not None:
            db.close()
        if isinstance(error, sqlite3.Error):
            raise BadData(path, str(error)) from error
        raise
    return db


def _check_layout(db: Connection, path: str) -> None:
    there = {name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    for table in there & TABLES.keys():
        found = {column[1] for column in db.execute(f"PRAGMA table_info({table})")}
        if OTHER_LAYOUT in there or not {column.split()[0] for column in TABLES[table][0].split(", ")} <= found:
            raise BadData(path, "has tables of another layout than google-adk's SqliteSessionService")


def _session_row(db: Connection, key: Key) -> tuple[str, float] | None:
    """A session's own state, as text, and when it was last written."""
    found: tuple[str, float] | None = db.execute(
        "SELECT state, update_time FROM sessions WHERE app_name = ? AND user_id = ? AND id = ?", key
    ).fetchone()
    return found


def _missing(key: Key) -> SessionMissing:
    return SessionMissing(f"no session {key[2]!r} of user {key[1]!r} in app {key[0]!r}")


def _free_id(db: Connection, app_name: str, user_id: str) -> str:
    (number,) = db.execute("SELECT count(*) + 1 FROM sessions").fetchone()
    while _session_row(db, (app_name, user_id, f"session-{number}")) is not None:
        number += 1
    return f"session-{number}"


def _row_id(db: Connection, key: Key, event_id: str) -> str:
    """The key of an event's row: its id, or one of its own where the session has that id already.

    Counted ids begin anew with every kernel. Nobody reads this column back: `event_data` has the event's id.
    """
    same = "SELECT 1 FROM events WHERE app_name = ? AND user_id = ? AND session_id = ? AND id = ?"
    if db.execute(same, (*key, event_id)).fetchone() is None:
        return event_id
    (last,) = db.execute("SELECT max(rowid) FROM events").fetchone()
    return f"{event_id}#{last + 1}"


def _by_scope(state: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """The app's, the user's and the session's part of a state, as JSON. Raises BadData, which names the key."""
    app: dict[str, Any] = {}
    user: dict[str, Any] = {}
    own: dict[str, Any] = {}
    for name, value in state.items():
        value = to_json(value)
        _text(value, f"state key {name!r}")
        if name.startswith(APP):
            app[name.removeprefix(APP)] = value
        elif name.startswith(USER):
            user[name.removeprefix(USER)] = value
        else:
            own[name] = value
    return app, user, own


def _shared(db: Connection, owner: tuple[str, ...]) -> dict[str, Any]:
    """The state that all sessions of an app share (`owner` is its name), or all of a user's (app name, user id)."""
    table, where = _table_of(owner), " AND ".join(f"{column} = ?" for column in OWNER[: len(owner)])
    row = db.execute(f"SELECT state FROM {table} WHERE {where}", owner).fetchone()
    return _object(row[0], table) if row else {}


def _merge_shared(db: Connection, owner: tuple[str, ...], delta: dict[str, Any], now: float) -> None:
    """Write a delta into a shared state, key by key at top level."""
    if not delta:
        return
    table, columns = _table_of(owner), ", ".join(OWNER[: len(owner)])
    db.execute(
        f"INSERT INTO {table} ({columns}, state, update_time) VALUES ({'?, ' * len(owner)}?, ?) "
        f"ON CONFLICT ({columns}) DO UPDATE SET state = excluded.state, update_time = excluded.update_time",
        (*owner, _text({**_shared(db, owner), **delta}, table), now),
    )


def _table_of(owner: tuple[str, ...]) -> str:
    return "app_states" if len(owner) == 1 else "user_states"


def _event_text(event: Event) -> str:
    """An event as it is stored. Raises BadData if it has no JSON; a `temp:` value that has none is left out."""
    try:
        data = event.to_json()
    except (ValueError, RecursionError) as error:
        raise BadData(f"event {event.id!r}", f"cannot be stored as JSON: {error}") from None
    delta = data.get("actions", {}).get("stateDelta", {})
    for name in [name for name in delta if name.startswith(TEMP) and not _is_json(delta[name])]:
        del delta[name]
    return _text(data, f"event {event.id!r}")


def _is_json(value: Any) -> bool:
    try:
        _text(value, "")
    except BadData:
        return False
    return True


def _text(value: Any, where: str) -> str:
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise BadData(where, f"cannot be stored as JSON: {error}") from None
    try:
        text.encode()
    except UnicodeEncodeError:  # half a surrogate pair, cut off by whoever made the text: kept as an escape
        text = json.dumps(value)
    return text


def _json(text: str, where: str) -> Any:
    try:
        return json.loads(text)
    except (TypeError, ValueError, RecursionError) as error:
        raise BadData(where, f"is not JSON: {error}") from None


def _object(text: str, where: str) -> dict[str, Any]:
    value = _json(text, where)
    if not isinstance(value, dict):
        raise BadData(where, "expected an object")
    return value
