"""Waiting for a reader: `await dbg.finished()` while somebody steps, by click or from another task.

It asks ten times a second. An idle `await future` could not be interrupted in a kernel, and a click need not arrive on
this thread (notes/jupyter.md); a wait that looks up again and again can.
"""

from __future__ import annotations

import asyncio
import os
import sys
import time
from typing import TYPE_CHECKING, Any

from adknb.engine.errors import AdknbError

if TYPE_CHECKING:
    from adknb.stepper.stepper import Stepper

INTERVAL = 0.1
TO_APPEAR = 20.0
"""Seconds that a front end has to draw a panel that was shown a moment ago (Run All), before nobody is there."""


class HeadlessPause(AdknbError):
    """The run waits for a reader where there is none: no panel that is connected, and no terminal."""

    def __init__(self, stop: str) -> None:
        super().__init__(
            f"the run is paused at {stop}, and nobody is here to step it: no panel is connected and there is no "
            "terminal. Step it by commands, or let it run: resume()"
        )
        self.stop = stop


def where(dbg: Stepper) -> str:
    """The present stop, in words: `stop 14, before processor contents (turn 1, weather_agent, step 1)`."""
    record = dbg.stops[dbg.position]
    place = [f"turn {record.turn}", record.agent, f"step {record.step}" if record.step else "", record.lane]
    return f"stop {record.number}, {record} ({', '.join(p for p in place if p)})"


async def finished(dbg: Stepper, timeout: float | None = None) -> None:
    """Wait until the run is over.

    Raises:
        HeadlessPause: nobody can step it.
        TimeoutError: it is not over in time; it stays where it is.
    """
    begun = time.monotonic()
    while dbg.here is not None:
        waited = time.monotonic() - begun
        if not (panel_is_connected(dbg) or has_terminal() or (waited < TO_APPEAR and panel_may_appear(dbg))):
            raise HeadlessPause(where(dbg))
        if timeout is not None and waited >= timeout:
            raise TimeoutError(f"the run is not over after {timeout:g} s: it is paused at {where(dbg)}")
        await asyncio.sleep(INTERVAL if timeout is None else max(0.0, min(INTERVAL, timeout - waited)))


def panel_is_connected(dbg: Stepper) -> bool:
    """Whether a front end has drawn the panel: it then asks the kernel for what it shows."""
    return bool(getattr(getattr(dbg, "_panel", None), "heard", False))


def panel_may_appear(dbg: Stepper) -> bool:
    """Whether the panel was shown, in a cell that a front end with widgets has sent.

    Such a front end says which cell it runs (JupyterLab, Notebook, VS Code), nbval, nbconvert and papermill do not; a
    Jupyter server names the notebook in the kernel's environment, which these do not have either.
    """
    return getattr(dbg, "_panel", None) is not None and ("JPY_SESSION_NAME" in os.environ or _cell_has_a_name())


def has_terminal() -> bool:
    """Whether a person can type here. A kernel's standard input is none, whatever it was started from."""
    if "ipykernel" in sys.modules and _kernel() is not None:
        return False
    try:
        return sys.stdin is not None and sys.stdin.isatty()
    except ValueError:  # closed
        return False


def _kernel() -> Any:
    """The running IPython kernel, or None."""
    ipython = sys.modules.get("IPython")
    return getattr(ipython.get_ipython(), "kernel", None) if ipython is not None else None


def _cell_has_a_name() -> bool:
    kernel = _kernel()
    parent = kernel.get_parent() if kernel is not None else {}
    return bool((parent.get("metadata") or {}).get("cellId"))
