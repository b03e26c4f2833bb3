"""A progress bar for what takes more than a second, where somebody looks on: a terminal, or a notebook.

tqdm draws it where it is installed; else a line on standard error counts.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from importlib import import_module
from typing import Any, TypeVar

T = TypeVar("T")

WORTH_IT = 2_000
"""Fewer items than this are done before a bar could be drawn."""

PATIENCE = 1.0
"""Seconds before the bar shows."""

PAUSE = 0.2
"""Seconds between two drawings of it."""

WIDTH = 30


def with_progress(items: Sequence[T], unit: str, patience: float = PATIENCE) -> Iterator[T]:
    """The items one by one; a bar counts them on standard error, if there are many and somebody looks on."""
    if len(items) < WORTH_IT or not _somebody_looks():
        return iter(items)
    bar = _tqdm()
    if bar is None:
        return _counted(items, unit, patience)
    return iter(bar(items, unit=f" {unit}", delay=patience, leave=False, mininterval=PAUSE, dynamic_ncols=True))


def _somebody_looks() -> bool:
    """Whether there is a terminal, or a notebook."""
    python = sys.modules.get("IPython.core.getipython")
    return (python is not None and python.get_ipython() is not None) or (sys.stderr is not None and sys.stderr.isatty())


def _tqdm() -> Any:
    """The kind of tqdm that fits the place, if it is installed."""
    try:
        return import_module("tqdm.auto").tqdm
    except ImportError:
        return None


def _counted(items: Sequence[T], unit: str, patience: float) -> Iterator[T]:
    """The items; a line with a bar is drawn again and again, and wiped at the end."""
    drawn, due, many = "", time.monotonic() + patience, len(items)
    try:
        for i, item in enumerate(items):
            if not i % 64 and time.monotonic() >= due:
                full = WIDTH * i // many
                drawn = f"\r[{'#' * full}{'.' * (WIDTH - full)}] {i:,} of {many:,} {unit}"
                sys.stderr.write(drawn)
                sys.stderr.flush()
                due = time.monotonic() + PAUSE
            yield item
    finally:
        if drawn:
            sys.stderr.write("\r" + " " * len(drawn) + "\r")
            sys.stderr.flush()
