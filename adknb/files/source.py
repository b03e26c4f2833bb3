"""What a path or an address leads to: bytes, a database, or a folder. Nothing is ever written there.

turn.json            a file                     sqlite:///sessions.db     a database beside the notebook
-                    standard input             sqlite:////var/s.db       a database, by its whole path
case/                a folder                   http://localhost:8000/…   what a server answers
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

from adknb.engine.errors import BadData
from adknb.json_text import name_of, read_bytes

SQLITE = b"SQLite format 3\x00"
"""How every SQLite database begins."""

SECONDS = 20
"""How long a server may take to answer."""

LARGEST = 1 << 30
"""More bytes than this are not fetched from a server."""

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+)://")


@dataclass(frozen=True)
class Source:
    """What was found: `data`, or a `database` or `folder` by its path. `name` is what messages call it."""

    name: str
    data: bytes = b""
    database: Path | None = None
    folder: Path | None = None


def source_of(given: str | os.PathLike[str]) -> Source:
    """Find out what a path or an address leads to, and fetch it.

    Raises:
        BadData: there is nothing, it may not be read, or it is an address of a kind that is not read.
    """
    where = os.fspath(given)
    scheme = _SCHEME.match(where)
    if scheme is None or Path(where).exists():
        return _at(where)
    kind = scheme.group(1).lower()
    if kind == "sqlite" or kind.startswith("sqlite+"):
        return _database(where)
    if kind == "file":
        return _at(unquote(urlsplit(where).path))
    if kind in ("http", "https"):
        return Source(_last_step(where), _fetched(where))
    if kind.partition("+")[0] in ("postgresql", "postgres", "mysql", "mariadb", "mssql", "oracle", "spanner"):
        raise BadData(f"{kind}://…", "of databases only SQLite is read; export the session as JSON")
    raise BadData(f"{kind}://…", "expected a path, sqlite:///FILE or http(s)://…")


def _at(path: str) -> Source:
    """What is at a path."""
    try:
        if path != "-" and Path(path).is_dir():
            return Source(name_of(path), folder=Path(path))
    except (OSError, ValueError):
        pass  # read_bytes says what is wrong
    if path != "-" and _begins_with(path, SQLITE):
        return Source(name_of(path), database=Path(path))
    return Source(name_of(path), read_bytes(path))


def _begins_with(path: str, start: bytes) -> bool:
    try:
        with Path(path).open("rb") as file:
            return file.read(len(start)) == start
    except (OSError, ValueError):
        return False


def _database(url: str) -> Source:
    """SQLAlchemy's way to write it: the path begins after the third slash."""
    path = unquote(re.sub(r"^[^:]+://[^/]*/?", "", url).partition("?")[0])
    if path in ("", ":memory:"):
        raise BadData("sqlite://", "names no file: sqlite:///FILE is one here, sqlite:////FILE one by its whole path")
    if not Path(path).exists():
        raise BadData(path, "there is no such file")
    if not _begins_with(path, SQLITE):
        raise BadData(name_of(path), "is no SQLite database")
    return Source(name_of(path), database=Path(path))


def _last_step(url: str) -> str:
    """The end of an address: no user, no password, no key of the query."""
    parts = urlsplit(url)
    return unquote(parts.path.rstrip("/").rpartition("/")[2]) or parts.hostname or "the address"


def _fetched(url: str) -> bytes:
    """What a server answers. Raises BadData."""
    from http.client import HTTPException
    from urllib.error import HTTPError
    from urllib.request import Request, urlopen

    name = _last_step(url)
    try:
        with urlopen(Request(url, headers={"Accept": "application/json, */*"}), timeout=SECONDS) as answer:
            data: bytes = answer.read(LARGEST + 1)
    except HTTPError as error:
        raise BadData(name, f"the server answers {error.code} {error.reason}") from None
    except OSError as error:
        raise BadData(name, f"cannot be fetched: {getattr(error, 'reason', None) or error}") from None
    except (HTTPException, ValueError):  # their texts quote the address, which may hold a password
        raise BadData(name, "cannot be fetched: the address, or what is there, is not HTTP as it should be") from None
    if len(data) > LARGEST:
        raise BadData(name, f"is larger than {LARGEST >> 30} GiB")
    return data
