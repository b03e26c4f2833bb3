"""A file, read: sniffed by its content, whatever its name. The file is only ever read."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from adknb.engine.copies.frozen import garbage_collection_waits
from adknb.engine.errors import BadData
from adknb.files.json_lines import is_json_lines, lines_sessions
from adknb.files.kinds import sessions_in
from adknb.files.session_file import SessionFile
from adknb.files.source import Source, source_of
from adknb.json_text import parse, utf8

__all__ = ["Entry", "SessionFile", "SessionFiles", "read_file", "read_session", "session_of"]


@dataclass(frozen=True)
class Entry:
    """One session of a file, before it is read: what it is called, and how to read it."""

    session_id: str
    load: Callable[[], SessionFile] = field(repr=False)
    app_name: str = ""
    user_id: str = ""
    events: int | None = None
    """How many events it has, where that is known."""
    updated: float = 0.0


@dataclass
class SessionFiles:
    """All that a file says: its sessions, and what is needed to write it again."""

    name: str
    entries: Sequence[Entry]
    form: str = "json"
    """How it is written: `json`, `lines`, `yaml`, `database` or `folder`."""
    document: Any = None
    """The whole document; None for a database or a folder."""
    indent: int | None = 2
    """How far JSON is indented; None: all on one line."""


def read_file(path: str | os.PathLike[str], trust: bool = False) -> SessionFiles:
    """Find out what a path or an address holds, and read it. Sessions of a database are read when they are wanted.

    `trust`: pickled actions of an old database are read, by an unpickler that makes plain data only.

    Raises:
        BadData: it cannot be read, or is nothing that holds a session; names file and place.
    """
    source = source_of(path)
    if source.database is not None:
        from adknb.files.databases import database_entries

        return SessionFiles(source.name, database_entries(source.database, source.name, trust), "database")
    if source.folder is not None:
        from adknb.files.conformance import folder_sessions

        return SessionFiles(source.name, _entries(folder_sessions(source.folder, source.name)), "folder")
    with garbage_collection_waits():
        return _document(source)


def read_session(path: str | os.PathLike[str]) -> SessionFile:
    """The first session of a file. Raises BadData, as `read_file` does."""
    return read_file(path).entries[0].load()


def session_of(value: Any, name: str) -> SessionFile:
    """The first session that a JSON document describes. Raises BadData, naming the place."""
    return sessions_in(value, name)[0]


def _document(source: Source) -> SessionFiles:
    data, name = source.data, source.name
    if data.startswith((b"PK\x03\x04", b"\x1f\x8b", b"BZh", b"\xfd7zXZ", b"(\xb5/\xfd")):
        raise BadData(name, "is an archive; unpack it first")
    if data.startswith(b"SQLite format 3\x00"):
        raise BadData(name, "is a database: open the file itself, not a copy that is sent")
    text = utf8(data, name)
    del data
    form, value, sessions = _read(text, name)
    return SessionFiles(name, _entries(sessions), form, value, _indent(text))


def _read(text: str, name: str) -> tuple[str, Any, list[SessionFile]]:
    """The form of a text, its document, and the sessions in it. Raises BadData."""
    if is_yaml(text):
        from adknb.files.yaml_text import parse_yaml

        value = parse_yaml(text, name)
        return "yaml", value, sessions_in(value, name)
    if is_json_lines(text):
        value, sessions = lines_sessions(text, name)
        return "lines", value, sessions
    value = _inside(parse(text, name), name)
    return "json", value, sessions_in(value, name)


def is_yaml(text: str) -> bool:
    """Whether a text begins as YAML does: `key:`, a dash, `---` or `%YAML`."""
    start = text.lstrip("\ufeff \t\r\n")[:4000]
    if start[:1] in ("{", "["):
        return False
    first = next((line for line in start.splitlines() if line.strip() and not line.startswith(("#", "---"))), "")
    if re.match(r"(data|event|id|retry): ?[{\"]", first):  # server-sent events
        return False
    return start.startswith("%YAML") or bool(
        re.match(r"(- +)*(\"[^\"]+\"|'[^']+'|[A-Za-z_][\w.-]*) *:(\s|$)|- *$|- [^ ]", first)
    )


def _inside(value: Any, name: str) -> Any:
    """Older evaluation results are JSON inside of a JSON text: the value inside, if it is one."""
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
        try:
            return parse(value, name)
        except BadData:
            return value
    return value


def _entries(sessions: list[SessionFile]) -> list[Entry]:
    return [
        Entry(s.session_id, (lambda s=s: s), s.app_name, s.user_id, len(s.events), s.last_update_time)  # type: ignore[misc]
        for s in sessions
    ]


def _indent(text: str) -> int | None:
    """How far the second line of a JSON text is indented."""
    start = text[:2000].lstrip()
    found = re.match(r"[\[{]\r?\n([ \t]+)\S", start)
    return len(found.group(1)) if found else (None if "\n" not in text.strip()[:2000] else 2)
