"""The panel: one anywidget. `js/` draws what `widget.py` sends; nothing is decided in the browser."""

from __future__ import annotations

from typing import Any


def __getattr__(name: str) -> Any:
    """`Panel`, which needs anywidget, is fetched when it is asked for."""
    if name == "Panel":
        from adknb.widgets.panel.widget import Panel

        return Panel
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
