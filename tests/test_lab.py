"""`adknb lab`, without starting it: what it would start, and what it refuses. The real start is in tests/browser."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from adknb import lab
from adknb.engine.errors import AdknbError, BadData


@pytest.mark.parametrize(
    "arguments, there, gone",
    [
        ([], "--ServerApp.ip=127.0.0.1", "--ServerApp.port"),
        (["--ip=::1"], "--ip=::1", "--ServerApp.ip=127.0.0.1"),
        (["--ServerApp.ip=::1"], "--ServerApp.ip=::1", "--ServerApp.ip=127.0.0.1"),
        (["--port=8890"], "--port=8890", "--port=8888"),
        (["--log-level=INFO"], "--log-level=INFO", "--Application.log_level=WARN"),
    ],
)
def test_jupyterlab_is_given_our_defaults_unless_the_reader_set_them(
    arguments: list[str], there: str, gone: str
) -> None:
    command = lab.command(Path("root"), arguments)
    assert command[:3] == [sys.executable, "-m", "jupyterlab"]
    assert there in command
    assert gone not in command


def test_a_flag_that_we_always_give_is_not_given_twice() -> None:
    command = lab.command(Path("root"), ["--no-browser", "--allow-root"])
    assert command.count("--no-browser") == command.count("--allow-root") == 1


def test_a_notebook_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadData, match=r"no-such\.ipynb: no such notebook"):
        lab.main(tmp_path / "no-such.ipynb")


def test_without_jupyterlab_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lab, "find_spec", lambda name: None)
    with pytest.raises(AdknbError, match=r"pip install 'adknb\[lab\]'"):
        lab.main()


def test_in_a_clone_the_notebook_is_the_clones() -> None:
    assert lab.our_notebook() == Path(__file__).resolve().parents[1] / "notebooks" / "01-one-turn.ipynb"


def test_without_a_clone_the_reader_gets_a_copy_and_keeps_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    packaged, here = tmp_path / "packaged", tmp_path / "here"
    packaged.mkdir()
    here.mkdir()
    (packaged / lab.FIRST).write_text("first")
    monkeypatch.setattr(lab, "HERE", tmp_path / "site-packages")
    monkeypatch.setattr(lab, "PACKAGED", packaged)
    monkeypatch.chdir(here)
    assert lab.our_notebook().read_text() == "first"
    lab.our_notebook().write_text("mine")
    assert lab.our_notebook().read_text() == "mine"
    assert (packaged / lab.FIRST).read_text() == "first"


def test_an_installation_without_notebooks_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(lab, "HERE", tmp_path)
    monkeypatch.setattr(lab, "PACKAGED", tmp_path / "nowhere")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(AdknbError, match="has no notebooks"):
        lab.our_notebook()


@pytest.mark.parametrize("variable, seen", [("DISPLAY", True), ("WAYLAND_DISPLAY", True), ("OTHER", False)])
def test_a_screen_is_known_by_its_variable(monkeypatch: pytest.MonkeyPatch, variable: str, seen: bool) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv(variable, ":0")
    assert lab.has_screen() is seen
