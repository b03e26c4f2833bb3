"""`await dbg.finished()` in JupyterLab: *Run All* waits in that cell for the reader's clicks, and goes on behind it."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import expect

from tests.browser import harness

CELLS = (
    "import adknb\nfrom IPython.display import display",
    "dbg = adknb.step(adknb.scenario('01a-one-turn'))\ndisplay(dbg)",
    "await dbg.finished()\nprint('over:', dbg.here)",
)


def test_a_cell_waits_for_clicks(lab: harness.Lab, folder: Path, screen: harness.Screen) -> None:
    page = screen.page
    harness.write_notebook(folder / "finished.ipynb", *CELLS)
    harness.open_notebook(page, lab, "finished.ipynb")
    page.evaluate("() => { window.ran = window.jupyterapp.commands.execute('notebook:run-all-cells'); }")
    panel = page.locator(".adk").first
    expect(panel.get_by_text("stop 0", exact=True)).to_be_visible(timeout=30_000)
    panel.locator(".cmd.step").click()
    expect(panel.get_by_text("stop 1", exact=True)).to_be_visible()
    assert "over:" not in page.locator(".jp-OutputArea").all_inner_texts()[-1]
    panel.locator(".cmd.resume").click()
    assert page.evaluate("() => window.ran")
    assert harness.cell_outputs(page)[-1].strip() == "over: None"
    harness.shut_down(page)
    assert screen.real_errors() == []
