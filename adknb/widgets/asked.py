"""Whether a cell asks for the panel: it shows a Stepper by its name, and not what a command gave back.

A command gives the Stepper back, so a cell that ends in `dbg.next()` would draw a whole panel each time. The panel that
is there already follows along; such a cell gets the caption alone.
"""

from __future__ import annotations

import ast
import sys
from typing import Any


def asked_by_name() -> bool:
    """Whether the last line of the cell that runs now is a bare name. Where there is no cell: yes."""
    try:
        body = ast.parse(_cell_that_runs()).body
    except SyntaxError:  # a magic or a shell line
        return True
    return not body or not isinstance(body[-1], ast.Expr) or isinstance(body[-1].value, (ast.Name, ast.Attribute))


def _cell_that_runs() -> str:
    """The source of the cell: of the message the kernel is answering, else the last of the history."""
    ipython = sys.modules.get("IPython")
    shell: Any = ipython.get_ipython() if ipython is not None else None
    if shell is None:
        return ""
    if hasattr(shell, "get_parent"):  # ipykernel's; the history does not have cells that are run without it (nbval)
        return str((shell.get_parent() or {}).get("content", {}).get("code", ""))
    return str((shell.user_ns.get("In") or [""])[-1])
