"""A recording in the panel: its replay under a Stepper, where the panel is there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adknb.engine.errors import NotBuiltYet

if TYPE_CHECKING:
    from adknb.files.recording import Recording


def panel_of(recording: Recording) -> Any:
    """The panel of a recording. Raises NotBuiltYet."""
    raise NotBuiltYet("the panel of a Recording; adknb.step(recording.to_scenario()) shows its replay")
