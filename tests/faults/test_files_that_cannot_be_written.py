"""Whatever writes a file: where it cannot, one error names the file, the old one stands, and nothing lies beside it."""

from __future__ import annotations

import resource
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import adknb
from adknb.engine.errors import BadData
from adknb.new_notebook import new_notebook

SESSION = Path(__file__).parents[2] / "notebooks" / "data"


def paused() -> adknb.Stepper:
    return adknb.step(adknb.scenario("01a-one-turn")).until(adknb.at("model"))


def recording() -> Any:
    return adknb.open(next(SESSION.glob("*.session.json")))


WRITERS: dict[str, tuple[str, Callable[[Path], Any]]] = {
    "a run": ("turn.json", lambda path: paused().save(path)),
    "a run's page": ("turn.html", lambda path: paused().to_html(path)),
    "a test": ("test_turn.py", lambda path: paused().to_test(path)),
    "a notebook of a run": ("turn.ipynb", lambda path: paused().to_notebook(path)),
    "a session": ("turn.json", lambda path: recording().save(path)),
    "a session's page": ("turn.html", lambda path: recording().to_html(path)),
    "a new notebook": ("turn.ipynb", lambda path: new_notebook(path, force=True)),
}


@contextmanager
def no_room() -> Iterator[None]:
    """No file may be longer than 100 bytes: a write fails in its middle, as on a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, before)


@pytest.mark.parametrize("name, write", WRITERS.values(), ids=list(WRITERS))
def test_when_the_disk_is_full_the_old_file_stands(name: str, write: Callable[[Path], Any], tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text("old", encoding="utf-8")
    with no_room(), pytest.raises(BadData, match=r"cannot be written: File too large"):
        write(path)
    assert path.read_text(encoding="utf-8") == "old"
    assert [file.name for file in tmp_path.iterdir()] == [name]


PLACES = [(name, place) for name in WRITERS for place in ("gone", "file", "/proc")]
MAKE_THEIR_FOLDER = ("a test", "a notebook of a run", "a new notebook")


@pytest.mark.parametrize("what, folder", [p for p in PLACES if p[1] != "gone" or p[0] not in MAKE_THEIR_FOLDER])
def test_a_folder_that_takes_no_file_is_told(what: str, folder: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    name, write = WRITERS[what]
    with pytest.raises(BadData, match=rf"{folder}.*: cannot be (written|made): "):
        write(tmp_path / folder / name)
    assert [file.name for file in tmp_path.iterdir()] == ["file"]
