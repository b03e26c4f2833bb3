"""A recording in the panel, where a notebook has what it takes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adknb.engine.errors import AdknbError

if TYPE_CHECKING:
    from adknb.files.recording import Recording


def panel_of(recording: Recording) -> Any:
    """The panel of a recording. Raises AdknbError where anywidget is not installed."""
    try:
        from adknb.widgets.recording_panel import RecordingPanel
    except ImportError as error:
        raise AdknbError(f"the panel needs {error.name}: pip install 'adknb[lab]'") from None
    return RecordingPanel(recording)
