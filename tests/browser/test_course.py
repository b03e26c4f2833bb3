"""A question's card as a reader uses it: by keys, a hint, the reveal, without a kernel; and the twin that asks in Chinese."""

from __future__ import annotations

import shutil
from pathlib import Path

from playwright.sync_api import expect

from tests.browser import harness

NOTEBOOK = "03-why-is-my-message-not-in-it.ipynb"
ANSWERS = "__import__('adknb.course.quiz', fromlist=['_now'])._now[0].answers"


def test_a_question_is_answered_by_keys_and_its_reveal_opens(
    lab: harness.Lab, folder: Path, screen: harness.Screen
) -> None:
    page = screen.page
    shutil.copytree(folder / "notebooks", folder / "course")
    harness.open_notebook(page, lab, f"course/{NOTEBOOK}")
    committed = harness.cell_outputs(page)
    assert harness.run_all(page)
    assert harness.cell_outputs(page) == committed
    assert harness.evaluate(page, ANSWERS) == "{}"
    page.evaluate("() => window.jupyterapp.shell.currentWidget.content.scrollToItem(4)")
    card, reveal = page.locator(".adkcard").nth(0), page.locator(".adkcard").nth(1)
    expect(reveal.get_by_text("Question 1: what happens, and why")).to_be_visible()
    expect(reveal.get_by_text("It is b")).to_have_count(0)

    cells = page.locator(".jp-Notebook .jp-Cell").count()
    card.get_by_role("radio").first.focus()
    page.keyboard.press("ArrowDown")  # JupyterLab would go to the next cell
    expect(card.get_by_role("status")).to_have_text("Noted: b. Step on; then comes why.")
    page.keyboard.press("a")  # JupyterLab would insert a cell
    expect(card.get_by_role("status")).to_have_text("Noted: a. Step on; then comes why.")
    expect(card.get_by_role("radio").first).to_be_focused()
    expect(reveal.get_by_text("It is b) no.")).to_be_visible()
    assert harness.evaluate(page, ANSWERS) == "{1: ['b', 'a']}"
    card.get_by_role("button", name="Hint").click()
    expect(card.get_by_text("Hint 1 of 3.")).to_be_visible()
    assert page.locator(".jp-Notebook .jp-Cell").count() == cells
    assert harness.axe_findings(page, ".adkcard") == []
    harness.shut_down(page)
    card.get_by_role("radio").nth(2).click()
    expect(card.get_by_role("status")).to_contain_text("No kernel: run the notebook's first cell")

    harness.open_notebook(page, lab, f"course/{NOTEBOOK.replace('.ipynb', '.zh.ipynb')}")
    assert harness.run_first_cells(page, 3)
    expect(page.locator(".adkcard").get_by_text("先预测，再往下走")).to_be_visible()
    assert screen.real_errors() == []
    harness.shut_down(page)
