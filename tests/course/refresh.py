"""Run notebooks and keep their outputs, without the widgets that are gone tomorrow; then bring their twins in step.

python -m tests.course.refresh notebooks/02-*.ipynb
"""

from __future__ import annotations

import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient

from adknb.course import twin

WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"


def refresh(path: Path) -> None:
    """Run one notebook in its own folder and write what it showed."""
    notebook = nbformat.read(path, as_version=4)
    NotebookClient(notebook, timeout=60, kernel_name="python3", resources={"metadata": {"path": path.parent}}).execute()
    notebook.metadata = {
        "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    for cell in notebook.cells:
        if cell.cell_type != "code":
            continue
        cell.metadata = {}
        cell.outputs = [output for output in cell.outputs if not is_only_a_widget(output)]
        for output in cell.outputs:
            output.get("data", {}).pop(WIDGET_VIEW, None)
    path.write_text(nbformat.writes(notebook, indent=1).rstrip("\n") + "\n", encoding="utf-8")
    if twin.twin_of(path).exists():
        twin.main([str(path)])


def is_only_a_widget(output: nbformat.NotebookNode) -> bool:
    """Whether an output is nothing but a widget's view: its text form would tell its address."""
    return set(output.get("data", {})) == {WIDGET_VIEW}


if __name__ == "__main__":
    for name in sys.argv[1:]:
        if not name.endswith(".zh.ipynb"):
            refresh(Path(name))
            print(name)
