"""`step(…, nest=True)`: coroutines run on the notebook's own loop, for objects that are bound to it.

A client made in an earlier cell belongs to the loop of the kernel. nest-asyncio, or nest-asyncio2 (its maintained fork,
which the extra `lab` brings), lets that loop run while a cell of it is running. It patches asyncio for the whole
process, so it is never loaded unless asked for.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from importlib import import_module
from typing import Any, TypeVar

from adknb.engine.errors import AdknbError

T = TypeVar("T")
PACKAGES = ("nest_asyncio2", "nest_asyncio")


class CannotNest(AdknbError):
    """The notebook's own loop cannot be used; says what is missing."""


class NotebookLoop:
    """The loop that is running here now, made to run again inside itself.

    Raises:
        CannotNest: no loop is running, it is of a kind that cannot be nested, or neither package is installed.
    """

    def __init__(self) -> None:
        try:
            self.loop = asyncio.get_running_loop()
        except RuntimeError:
            raise CannotNest("nest=True is for a notebook: no loop is running here; leave it out") from None
        try:
            _nesting().apply(self.loop)
        except ValueError as error:
            raise CannotNest(f"nest=True: {error}") from None

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine to its end on that loop, also for a command that arrives on another thread (a click)."""
        try:
            here = asyncio.get_running_loop()
        except RuntimeError:
            here = None
        if here is self.loop:
            return self.loop.run_until_complete(coroutine)
        if not self.loop.is_running():
            coroutine.close()
            raise CannotNest("nest=True: the notebook's loop is not running any more")
        outcome = asyncio.run_coroutine_threadsafe(coroutine, self.loop)
        try:
            return outcome.result()
        except BaseException:
            outcome.cancel()
            raise

    def close(self) -> None:
        """The loop is the notebook's: it stays open."""


def _nesting() -> Any:
    for name in PACKAGES:
        try:
            return import_module(name)
        except ImportError:
            continue
    raise CannotNest("nest=True needs nest-asyncio2 (or nest-asyncio): pip install 'adknb[lab]'")
