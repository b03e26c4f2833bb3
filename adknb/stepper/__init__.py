"""The stepper: holds a paused run. It knows Stops and Events, and nothing of how the Flow makes them.

Reading order: `stepper.py` (the commands), `wishes.py` (where to stop), `record.py` (what a stop leaves behind),
`plays.py` (what is run: an agent or a scenario), `edits.py` (a request changed as JSON).
"""

from __future__ import annotations

from adknb.stepper.plays import UnknownName
from adknb.stepper.stepper import Stepper, step
from adknb.stepper.wishes import Wish, at, changed, event, when

__all__ = ["Stepper", "UnknownName", "Wish", "at", "changed", "event", "step", "when"]
