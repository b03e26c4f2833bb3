"""What a newcomer sees before any cell has run: the first stop of each notebook, in static form."""

from __future__ import annotations

import json
import re
import shutil
from importlib.util import find_spec
from pathlib import Path

import nbformat
import pytest
from nbformat.sign import NotebookNotary
from playwright.sync_api import expect

from tests.browser import harness

NOTEBOOKS = Path(__file__).resolve().parents[2] / "notebooks"


def first_stop(path: Path) -> str:
    """`stop 29`: the first one that a committed panel stands at; empty for a notebook without a panel."""
    outputs = [o for cell in json.loads(path.read_text("utf-8"))["cells"] for o in cell.get("outputs", [])]
    texts = ["".join(o["data"]["text/plain"]) for o in outputs if "text/html" in o.get("data", {})]
    found = [match.group() for text in texts if (match := re.match(r"stop \d+", text))]
    return found[0] if found else ""


PAUSED = {
    path.name: stop
    for path in sorted(NOTEBOOKS.glob("*.ipynb"))
    if not path.name.endswith(".zh.ipynb") and (stop := first_stop(path))
}
NEEDS_ADK = {"16-my-own-adk-agent.ipynb"}
"""Opened everywhere, run where google-adk is."""

TRUSTED = "01-one-turn.ipynb"
"""Opened as by `adknb lab` too; what an untrusted page shows, a trusted one shows as well."""


@pytest.mark.parametrize("name, trusted", [(TRUSTED, True), *((name, False) for name in PAUSED)])
def test_an_opened_notebook_shows_its_first_stop_and_runs_to_its_end(
    name: str, trusted: bool, lab: harness.Lab, folder: Path, screen: harness.Screen
) -> None:
    copy = folder / f"first-sight-{trusted}" / name
    copy.parent.mkdir(exist_ok=True)
    shutil.copytree(NOTEBOOKS / "data", copy.parent / "data", dirs_exist_ok=True)  # what a notebook opens
    shutil.copy(NOTEBOOKS / name, copy)
    if trusted:
        NotebookNotary(data_dir=str(lab.data)).sign(nbformat.read(copy, as_version=4))
    harness.open_notebook(screen.page, lab, f"{copy.parent.name}/{name}")
    outputs = screen.page.locator(".jp-OutputArea-output")
    expect(outputs.get_by_text(re.compile(rf"\b{PAUSED[name]}\b")).first).to_be_visible()
    expect(screen.page.get_by_text("Error displaying widget")).to_have_count(0)
    if not trusted and (find_spec("google.adk") or name not in NEEDS_ADK):
        assert harness.run_all(screen.page), f"{name}: a cell raised"
    harness.shut_down(screen.page)


@pytest.mark.parametrize("name", sorted(path.name for path in NOTEBOOKS.glob("*.ipynb")))
def test_no_committed_output_names_a_widget_that_is_gone(name: str) -> None:
    cells = json.loads((NOTEBOOKS / name).read_text("utf-8"))["cells"]
    kinds = {kind for cell in cells for output in cell.get("outputs", []) for kind in output.get("data", {})}
    assert "application/vnd.jupyter.widget-view+json" not in kinds
