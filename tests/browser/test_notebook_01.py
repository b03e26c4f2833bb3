"""Notebook 01 as a reader uses it: run all; step by mouse and by key, edit the request, resume, read the answer."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser import harness

NOTEBOOK = "01-one-turn.ipynb"


@pytest.fixture
def page(lab: harness.Lab, folder: Path, screen: harness.Screen, request: pytest.FixtureRequest) -> Iterator[Page]:
    """A copy of the notebook, opened, with a kernel of its own; a page error fails the test like anything else."""
    copy = folder / re.sub(r"\W+", "-", request.node.name)
    shutil.copytree(folder / "notebooks", copy)
    harness.open_notebook(screen.page, lab, f"{copy.name}/{NOTEBOOK}")
    yield screen.page
    harness.shut_down(screen.page)
    assert screen.real_errors() == []


def paused(page: Page) -> Locator:
    """Run the first cell: the living panel, at the first stop. (After *Run All* a later cell shows one too.)"""
    assert harness.run_first_cells(page, 1)
    harness.settle(page, ".adk")
    return page.locator(".adk").first


def position(page: Page) -> int:
    return int(harness.evaluate(page, "dbg.position"))


def wait_for_stop(panel: Locator, number: int) -> None:
    expect(panel.get_by_text(f"stop {number}", exact=True)).to_be_visible()


def editing_as_json(panel: Locator) -> Locator:
    """Open the editor of the request; gives its field."""
    panel.get_by_role("button", name="Edit", exact=True).click()
    panel.get_by_role("radio", name="JSON").click()
    draft = panel.get_by_role("textbox", name="As JSON")
    draft.wait_for()
    return draft


def test_run_all_gives_what_is_committed(page: Page) -> None:
    committed = harness.cell_outputs(page)
    assert harness.run_all(page)
    assert harness.cell_outputs(page) == committed
    assert harness.evaluate(page, "dbg.here") == "None"


def test_a_panel_that_was_shown_while_the_run_went_on_has_missed_nothing(page: Page) -> None:
    """*Run All* is faster than a browser loads a module: messages get lost, and must be asked for again."""
    assert harness.run_all(page)
    page.wait_for_function(
        """() => [...document.querySelectorAll('.adk')].every(({ panel: { app: { st } } }) =>
            st.view.nstops > 30 && st.stops.length === st.view.nstops && Object.keys(st.stops).length === st.view.nstops
            && st.events.length === st.view.nrows)"""
    )
    panel = page.locator(".adk").first
    panel.get_by_role("tab", name="Events").click()
    expect(panel.get_by_role("grid", name="Events")).to_contain_text("杭州当前气温为 31°C。")


def test_a_reader_steps_by_mouse_and_by_key_edits_the_request_and_resumes(page: Page) -> None:
    assert harness.run_all(page)
    panel = paused(page)
    first = position(page)
    cells = page.locator(".jp-Notebook .jp-Cell").count()

    for k in (1, 2, 3):
        panel.get_by_role("button", name="Step", exact=True).click()
        wait_for_stop(panel, first + k)
    panel.focus()
    for k in (4, 5, 6):
        page.keyboard.press("s")
        wait_for_stop(panel, first + k)
    assert position(page) == first + 6
    page.keyboard.press("b")  # JupyterLab would insert a cell
    assert page.locator(".jp-Notebook .jp-Cell").count() == cells

    panel.get_by_role("button", name="model", exact=False).first.click()  # the model's place in the track
    panel.get_by_role("button", name="Run to here").click()
    expect(panel.get_by_role("list", name="Where the run stands")).to_contain_text("Step 2")
    assert harness.evaluate(page, "str(dbg.here), dbg.turn") == "('before model offline-demo', 1)"

    panel.get_by_role("tab", name="Request").click()
    draft = editing_as_json(panel)
    request = json.loads(draft.input_value())
    assert request["contents"][2]["parts"][0]["functionResponse"]["response"]["temperature"] == 26

    request["contents"][2]["parts"][0]["functionResponse"]["response"] = "warm"  # not an object
    draft.fill(json.dumps(request, indent=2))
    expect(panel.get_by_role("alert")).to_contain_text("response")
    expect(panel.get_by_role("button", name="Apply")).to_be_disabled()

    request["contents"][2]["parts"][0]["functionResponse"]["response"] = {"city": "Hangzhou", "temperature": 31}
    draft.fill(json.dumps(request, indent=2))
    expect(panel.get_by_role("button", name="Apply")).to_be_enabled()
    page.keyboard.press("Control+Enter")
    expect(draft).to_be_hidden()
    assert harness.evaluate(page, "dbg.request.contents[2].parts[0].function_response.response['temperature']") == "31"

    panel.focus()
    page.keyboard.press("r")
    panel.get_by_role("tab", name="Events").click()
    expect(panel.get_by_role("grid", name="Events")).to_contain_text("杭州当前气温为 31°C。")
    sent = harness.evaluate(page, "dbg.requests[1]['contents'][2]['parts'][0]['functionResponse']['response']")
    assert sent == "{'city': 'Hangzhou', 'temperature': 31}"
    stored = harness.evaluate(page, "dbg.events[2].content.parts[0].function_response.response")
    assert stored == "{'city': 'Hangzhou', 'temperature': 26}"


def test_axe_finds_nothing_serious_in_any_tab_light_or_dark(page: Page) -> None:
    panel = paused(page)
    found = {}
    for theme in ("light", "dark"):
        harness.set_theme(page, theme == "dark")
        expect(panel).to_have_attribute("data-theme", theme)
        tabs = [name for name in panel.get_by_role("tab").all_inner_texts() if name != "Timeline"]
        assert "Request" in tabs
        for name in tabs:
            panel.get_by_role("tab", name=name).click()
            page.mouse.move(0, 0)
            expect(panel.get_by_role("tab", name=name)).to_have_attribute("aria-selected", "true")
            found[theme, name] = harness.axe_findings(page, ".adk")
        panel.get_by_role("tab", name="Request").click()
        panel.get_by_role("button", name="Edit", exact=True).click()
        panel.get_by_role("radio", name="Form").click()  # the editor opens as it was last used
        panel.get_by_role("textbox", name="temperature").wait_for()
        found[theme, "the form"] = harness.axe_findings(page, ".adk")
        page.keyboard.press("Escape")
        editing_as_json(panel)
        found[theme, "the editor"] = harness.axe_findings(page, ".adk")
        page.keyboard.press("Escape")
    assert {where: faults for where, faults in found.items() if faults} == {}
