"""A panel in JupyterLab through its days: in layouts, shown twice, reloaded, its kernel busy, stopped, restarted, gone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser import harness

STEPS = "import adknb\ndbg = adknb.step(adknb.scenario('01a-one-turn'))\nfor _ in range(12): dbg.step()"
SHOWN = ("import adknb\nfrom IPython.display import display", STEPS + "\ndisplay(dbg)")


def opened(page: Page, lab: harness.Lab, folder: Path, name: str, *cells: str) -> Locator:
    """A new notebook with these cells, run; gives its (first) panel."""
    harness.write_notebook(folder / f"{name}.ipynb", *cells)
    harness.open_notebook(page, lab, f"{name}.ipynb")
    assert harness.run_all(page)
    harness.settle(page, ".adk")
    return page.locator(".adk").first


def stands_at(panel: Locator, number: int) -> None:
    expect(panel.get_by_text(f"stop {number}", exact=True)).to_be_visible(timeout=20_000)


def has_all(page: Page) -> None:
    """Every view has every stop and event that the kernel has."""
    page.wait_for_function(
        """() => [...document.querySelectorAll('.adk')].every(({ panel: { app: { st } } }) =>
            st.stops.length === st.view.nstops && st.events.length === st.view.nrows && st.view.nstops > 5)"""
    )


def test_nothing_is_lost_when_the_cell_that_creates_the_panel_steps_on(
    lab: harness.Lab, folder: Path, screen: harness.Screen
) -> None:
    cell = "dbg = adknb.step(adknb.scenario('01a-one-turn'))\ndisplay(dbg)\nfor _ in range(40): dbg.step()"
    panel = opened(screen.page, lab, folder, "on", "import adknb\nfrom IPython.display import display", cell)
    stands_at(panel, 40)
    has_all(screen.page)
    harness.shut_down(screen.page)
    assert screen.real_errors() == []


LAYOUTS = {
    "tab": "W.Tab([W.VBox([W.HBox([W.Button(description='x'), W.Label('beside')]), panel]), W.Label('other')])",
    "box": "W.VBox([W.Label('above'), panel, W.Label('below')])",
    "output": "out = W.Output()\nwith out: display(dbg)\nout",
    "accordion": "W.Accordion([panel], selected_index=0)",
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_panel_works_inside_other_widgets(
    lab: harness.Lab, folder: Path, screen: harness.Screen, layout: str
) -> None:
    cells = (
        "import adknb, ipywidgets as W\nfrom IPython.display import display\n"
        "from adknb.widgets.panel.panel import panel_of",
        f"{STEPS}\npanel = panel_of(dbg)",
        f"{LAYOUTS[layout].replace(chr(10), chr(10))}",
    )
    panel = opened(screen.page, lab, folder, f"in-{layout}", *cells)
    stands_at(panel, 12)
    panel.get_by_role("button", name="Step", exact=True).click()
    stands_at(panel, 13)
    panel.focus()
    screen.page.keyboard.press("s")
    stands_at(panel, 14)
    panel.get_by_role("tab", name="Events").click()
    expect(panel.get_by_role("grid", name="Events")).to_contain_text("杭州现在多少度？")
    box = panel.bounding_box()
    assert box is not None
    assert box["width"] > 300
    has_all(screen.page)
    harness.shut_down(screen.page)
    assert screen.real_errors() == []


def test_two_views_of_a_run_show_the_same(lab: harness.Lab, folder: Path, screen: harness.Screen) -> None:
    again = "from adknb.widgets.panel.panel import panel_of\npanel_of(dbg)"
    opened(screen.page, lab, folder, "twice", *SHOWN, again)
    panels = screen.page.locator(".adk")
    expect(panels).to_have_count(2)
    panels.nth(1).get_by_role("button", name="Step", exact=True).click()
    for k in (0, 1):
        stands_at(panels.nth(k), 13)
    has_all(screen.page)
    harness.shut_down(screen.page)


def test_a_page_that_is_loaded_again_shows_the_state_as_it_stands(
    lab: harness.Lab, folder: Path, screen: harness.Screen
) -> None:
    page = screen.page
    panel = opened(page, lab, folder, "reload", *SHOWN)
    panel.get_by_role("button", name="Step", exact=True).click()
    stands_at(panel, 13)
    page.evaluate("() => window.jupyterapp.commands.execute('docmanager:save')")
    page.reload(wait_until="domcontentloaded")
    panel = page.locator(".adk").first
    stands_at(panel, 13)
    has_all(page)
    panel.get_by_role("button", name="Step", exact=True).click()
    stands_at(panel, 14)
    assert harness.evaluate(page, "dbg.position") == "14"
    harness.shut_down(page)


def test_when_the_kernel_is_gone_the_panel_keeps_what_it_knows_and_says_so(
    lab: harness.Lab, folder: Path, screen: harness.Screen
) -> None:
    page = screen.page
    panel = opened(page, lab, folder, "gone", *SHOWN)
    panel.get_by_role("button", name="Step", exact=True).click()
    stands_at(panel, 13)
    harness.shut_down(page)
    panel.get_by_role("tab", name="State").click()
    expect(panel.locator(".quiet")).to_be_visible(timeout=20_000)
    expect(panel.get_by_role("button", name="Step", exact=True)).to_be_disabled()
    stands_at(panel, 13)
    panel.get_by_role("tab", name="Request").click()
    expect(panel.locator(".page")).to_contain_text("System instruction")
    panel.get_by_role("tab", name="Events").click()
    expect(panel.get_by_role("grid", name="Events")).to_contain_text("杭州现在多少度？")


def test_a_saved_notebook_opens_with_the_last_state_whatever_has_become_of_its_kernel(
    lab: harness.Lab, folder: Path, screen: harness.Screen
) -> None:
    page = screen.page
    in_a_tab = (
        "import ipywidgets as W\nfrom adknb.widgets.panel.panel import panel_of\n"
        "other = adknb.step(adknb.scenario('01a-one-turn')).until('contents')\nW.Tab([W.VBox([panel_of(other)])])"
    )
    panel = opened(page, lab, folder, "saved", *SHOWN, in_a_tab, "W.IntSlider()")
    for k in (13, 14, 15):
        panel.get_by_role("button", name="Step", exact=True).click()
        stands_at(panel, k)
    expect(panel.locator(".page")).to_contain_text("identity")
    page.evaluate("() => window.jupyterapp.commands.execute('docmanager:save')")
    page.wait_for_timeout(500)
    harness.shut_down(page)
    saved = json.loads((folder / "saved.ipynb").read_text(encoding="utf-8"))
    states = saved["metadata"]["widgets"]["application/vnd.jupyter.widget-state+json"]["state"].values()
    assert sorted(s["model_name"] for s in states if s["model_name"] != "LayoutModel") == [
        *("AnyModel", "AnyModel", "TabModel", "VBoxModel")  # and no slider: that is for JupyterLab's own setting
    ]
    static = ["".join(o["data"].get("text/html", "")) for cell in saved["cells"] for o in cell.get("outputs", [])]
    assert "stop 12" in static[0]
    (folder / "saved-too.ipynb").write_text(json.dumps(saved), encoding="utf-8")
    harness.open_notebook(page, lab, "saved-too.ipynb")  # its new kernel knows nothing of the run
    panel = page.locator(".adk").first
    stands_at(panel, 15)
    expect(panel.locator(".page")).to_contain_text("identity", timeout=30_000)
    expect(page.locator(".adk")).to_have_count(2)
    has_all(page)
    panel.get_by_role("button", name="Step", exact=True).click()
    expect(panel.get_by_role("button", name="Step", exact=True)).to_be_disabled(timeout=20_000)
    expect(panel.locator(".quiet")).to_contain_text("kernel was restarted")
    page.evaluate("() => window.jupyterapp.commands.execute('notebook:clear-all-cell-outputs')")
    page.evaluate("() => window.jupyterapp.commands.execute('docmanager:save')")
    page.wait_for_timeout(500)
    harness.shut_down(page)
    cleared = json.loads((folder / "saved-too.ipynb").read_text(encoding="utf-8"))
    assert "AnyModel" not in json.dumps(cleared["metadata"])


SLOW = """
import time
def answer(request):
    for _ in range(200):
        time.sleep(0.05)
    return "late"
dbg = adknb.step(adknb.LlmAgent("slow", model=answer), "hi").until("model")
display(dbg)
"""


def test_a_command_that_takes_long_is_shown_and_stopped_from_the_panel(
    lab: harness.Lab, folder: Path, screen: harness.Screen
) -> None:
    page = screen.page
    panel = opened(page, lab, folder, "slow", SHOWN[0], SLOW)
    panel.get_by_role("button", name="Resume", exact=True).click()
    strip = panel.locator(".busy")
    expect(strip).to_be_visible(timeout=10_000)
    expect(strip).to_contain_text("now before model")
    strip.get_by_role("button").click()
    expect(strip).to_contain_text("stops at the next one")
    expect(strip.get_by_role("button", name="Stop now")).to_be_visible(timeout=10_000)
    strip.get_by_role("button").click()
    expect(strip).to_be_hidden(timeout=10_000)
    expect(panel.get_by_text("interrupted (KeyboardInterrupt)").last).to_be_visible()
    assert harness.evaluate(page, "str(dbg.here)") == "'before model answer'"
    harness.shut_down(page)
    assert screen.real_errors() == []


def test_cells_run_while_a_command_of_the_panel_takes_long(
    lab: harness.Lab, folder: Path, screen: harness.Screen
) -> None:
    page = screen.page
    panel = opened(page, lab, folder, "beside", SHOWN[0], SLOW.replace("200", "60"))
    panel.get_by_role("button", name="Next", exact=True).click()
    expect(panel.locator(".busy")).to_be_visible(timeout=10_000)
    assert harness.evaluate(page, "1 + 1") == "2"
    expect(panel.locator(".busy")).to_be_hidden(timeout=20_000)
    assert harness.evaluate(page, "str(dbg.here)") == "'after model answer'"
    harness.shut_down(page)
    assert screen.real_errors() == []
