"""What a notebook shows of a Stepper: the living panel; where no widget runs, its text and static HTML."""

from __future__ import annotations

from typing import Any

WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"


def mimebundle(stepper: Any) -> dict[str, Any]:
    """The three forms of a Stepper. Without anywidget (extra `lab`) it is text and static HTML."""
    from adknb.widgets.static import html
    from adknb.widgets.text import describe

    bundle: dict[str, Any] = {"text/plain": describe(stepper), "text/html": html(stepper)}
    panel = panel_of(stepper)
    if panel is not None:
        view = {"version_major": 2, "version_minor": 0, "model_id": panel.model_id}
        bundle[WIDGET_VIEW] = view
    return bundle


def panel_of(stepper: Any) -> Any:
    """The panel of a Stepper: the same one however often it is shown. None where anywidget is not installed."""
    panel = getattr(stepper, "_panel", None)
    if panel is None:
        try:
            from adknb.widgets.panel.widget import Panel
        except ImportError:
            return None
        panel = stepper._panel = Panel(stepper)
    return panel


def __getattr__(name: str) -> Any:
    if name == "Panel":
        from adknb.widgets.panel.widget import Panel

        return Panel
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
