"""A cell that ends in a name asks for the panel; one that ends in a command gets the caption."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import pytest

from adknb.widgets.asked import asked_by_name


@pytest.mark.parametrize(
    "cell, by_name",
    [
        ("dbg", True),
        ("x = 1\nlab.dbg", True),
        ("dbg.next()", False),
        ("dbg = adknb.step(agent, 'hi')\ndbg.until('model')", False),
        ("x = dbg.next()", True),  # shows nothing by itself; whoever displays it later asks for it
        ("%time dbg.next()", True),
        ("", True),
    ],
)
@pytest.mark.parametrize("kernel", [True, False], ids=["ipykernel", "plain IPython"])
def test_the_last_line_of_the_cell_decides(monkeypatch: Any, cell: str, by_name: bool, kernel: bool) -> None:
    shell: Any = SimpleNamespace(user_ns={"In": ["", "something else" if kernel else cell]})
    if kernel:
        shell.get_parent = lambda: {"content": {"code": cell}}
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    assert asked_by_name() is by_name


def test_outside_ipython_there_is_no_cell(monkeypatch: Any) -> None:
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: None))
    assert asked_by_name() is True
