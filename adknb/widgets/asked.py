"""Whether a cell asks for the panel: it shows a Stepper by its name, and not what a command gave back.

A command gives the Stepper back, so a cell that ends in `dbg.next()` would draw a whole panel each time. The panel that
is there already follows along; such a cell gets the caption alone.
"""

from __future__ import annotations

import ast
import sys


def asked_by_name() -> bool:
    """Whether the last line of the cell that runs now is a bare name. Outside IPython: yes."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    cells = shell.user_ns.get("In") if shell is not None else None
    if not cells:
        return True
    try:
        body = ast.parse(cells[-1]).body
    except SyntaxError:  # a magic or a shell line
        return True
    return not body or not isinstance(body[-1], ast.Expr) or isinstance(body[-1].value, (ast.Name, ast.Attribute))
