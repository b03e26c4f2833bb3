"""The harness itself, on a small notebook with a small anywidget: what fails here is not the panel's fault."""

from __future__ import annotations

from pathlib import Path

from tests.browser import harness

COUNTER = '''\
import anywidget, traitlets

class Counter(anywidget.AnyWidget):
    _esm = """
    export default { render({ model, el }) {
        const button = document.createElement("button");
        const draw = () => { button.textContent = `count ${model.get("n")}`; };
        button.onclick = () => model.send({ type: "more" });
        model.on("change:n", draw); draw(); el.append(button);
    } }"""
    n = traitlets.Int(0).tag(sync=True)

    def __init__(self):
        super().__init__()
        self.on_msg(self.more)

    def more(self, widget, content, buffers):
        self.n += 1

counter = Counter()
counter'''


def test_a_click_reaches_the_kernel_and_comes_back(folder: Path, lab: harness.Lab, screen: harness.Screen) -> None:
    notebook = harness.write_notebook(folder / "counter.ipynb", COUNTER, "counter.n")
    harness.open_notebook(screen.page, lab, notebook.name)
    assert harness.run_all(screen.page)
    screen.page.get_by_role("button", name="count 0").click()
    screen.page.get_by_role("button", name="count 1").wait_for()
    assert harness.cell_outputs(screen.page)[1] == "0"
    assert screen.real_errors() == []


def test_a_cell_that_raises_is_told_apart(folder: Path, lab: harness.Lab, screen: harness.Screen) -> None:
    notebook = harness.write_notebook(folder / "raises.ipynb", "1 + 1", "1 / 0", "2 + 2")
    harness.open_notebook(screen.page, lab, notebook.name)
    assert harness.run_first_cells(screen.page, 1)
    assert harness.cell_outputs(screen.page) == ["2", "", ""]
    assert not harness.run_all(screen.page)
    assert harness.cell_outputs(screen.page) == ["2", "division by zero", ""]


def test_errors_of_the_page_are_seen(screen: harness.Screen) -> None:
    screen.page.evaluate("() => { setTimeout(() => { throw new Error('on purpose'); }); console.error('said aloud'); }")
    screen.page.wait_for_timeout(100)
    assert any("on purpose" in error for error in screen.real_errors())
    assert "said aloud" in screen.real_errors()


def test_faults_in_accessibility_are_found(screen: harness.Screen) -> None:
    screen.page.set_content("<main><img src='x.png'><p style='color:#ccc;background:#fff'>pale</p></main>")
    found = " ".join(harness.axe_findings(screen.page, "main"))
    assert "image-alt" in found
    assert "color-contrast" in found
    assert "image-alt" not in " ".join(harness.axe_findings(screen.page, "main", frozenset({"image-alt"})))
