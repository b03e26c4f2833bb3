"""Opening an SQLite file without leaving a trace: not in it, not beside it.

A database in WAL mode cannot be read in place without files being made beside it, and what was written last may stand
in its `-wal` file only. So where there is such a file, or the journal of a write that was broken off, both are copied
to a folder of our own and read there.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from adknb.engine.errors import BadData
from adknb.lens.words import one_line

if TYPE_CHECKING:
    from sqlite3 import Connection

WAL_MODE = 2
"""The 19th byte of a database in WAL mode."""

TRIES = 5
"""How often a copy is made of files that are written to while they are copied."""


@contextmanager
def opened(path: Path, name: str) -> Iterator[Connection]:
    """A connection that can only read.

    Raises:
        BadData: the file cannot be opened, is damaged, or somebody holds it locked.
    """
    import sqlite3

    with tempfile.TemporaryDirectory(prefix="adknb-") as own:
        try:
            db = sqlite3.connect(_address(path, Path(own)), uri=True, timeout=5)
        except (OSError, sqlite3.Error) as error:
            raise BadData(name, f"cannot be opened: {error}") from None
        try:
            db.execute("PRAGMA query_only = ON")
            db.text_factory = lambda data: _text(data, name)
            yield db
        except sqlite3.Error as error:
            raise BadData(name, f"cannot be read as an SQLite database: {one_line(str(error), 200)}") from None
        except UnicodeDecodeError:  # what is wrong stands in SQLite's message, in bytes that are no text
            raise BadData(name, "cannot be read as an SQLite database: it is damaged") from None
        finally:
            db.close()


def _text(data: bytes, name: str) -> str:
    """The text of a cell. Raises BadData."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise BadData(name, "holds text that is not UTF-8") from None


def _address(path: Path, own: Path) -> str:
    """Where to read: in place, if nothing is pending; else a copy."""
    pending = [p for p in (_beside(path, "-wal"), _beside(path, "-journal")) if p.is_file() and p.stat().st_size]
    if pending:
        copy = own / "copy.db"
        _copy(path, copy)
        return f"file:{quote(str(copy))}"
    with path.open("rb") as file:
        mode = file.read(20)[18:19]
    return f"file:{quote(str(path.absolute()))}?mode=ro" + ("&immutable=1" if mode == bytes([WAL_MODE]) else "")


def _beside(path: Path, end: str) -> Path:
    return path.with_name(path.name + end)


def _copy(path: Path, to: Path) -> None:
    """Copy a database with what is pending; again, if somebody has written meanwhile."""
    for _ in range(TRIES):
        before = _states(path)
        for end in ("", "-wal", "-journal"):
            target = _beside(to, end)
            target.unlink(missing_ok=True)
            if _beside(path, end).is_file():
                shutil.copyfile(_beside(path, end), target)
        if _states(path) == before:
            return


def _states(path: Path) -> list[tuple[int, int] | None]:
    """Size and time of the file and of those beside it."""
    found: list[tuple[int, int] | None] = []
    for end in ("", "-wal", "-journal"):
        try:
            stat = _beside(path, end).stat()
            found.append((stat.st_size, stat.st_mtime_ns))
        except FileNotFoundError:
            found.append(None)
    return found
