"""What the panel is told once: the commands, the keys, and the stages of the Flow with a sentence each."""

from __future__ import annotations

from typing import Any

from adknb.lens.contents_fates import GO_OF_RULE, PASS_OF_STAGE, PASSES, TAGS
from adknb.lens.flow_position import (
    BEHIND,
    DECLARE,
    MERGE,
    MODEL,
    NOTHING_YET,
    PROCESSORS,
    STAGE_OF_PROCESSOR,
    STAGE_OF_SEAM,
    TOOLS,
)

__all__ = [
    "BEHIND", "COMMANDS", "DECLARE", "GO_OF_RULE", "KEYS", "MERGE", "MODEL", "NOTHING_YET", "PASSES", "PASS_OF_STAGE",
    "PROCESSORS", "STAGE_OF_PROCESSOR", "STAGE_OF_SEAM", "TAGS", "TOOLS", "book",
]  # fmt: skip

COMMANDS: list[tuple[str, str, str, str]] = [
    ("step", "Step", "s", "Stop at the very next seam"),
    ("next", "Next", "n", "Go over this call"),
    ("finish", "Finish", "f", "Go on until this level is done"),
    ("resume", "Resume", "r", "Go on to the next breakpoint, or to the end"),
    ("back", "Back", "b", "One stop back; no model and no tool runs again"),
    ("restart", "Restart", "R", "Begin this run again"),
]
"""Method of the Stepper, label, key, what it does. A panel offers those that its Stepper has."""

KEYS: list[tuple[str, str]] = [
    ("t", "To the timeline"),
    ("← ↑ → ↓", "Move in the focused list, track or table"),
    ("Home End", "To its first or last, with PageUp and PageDown by a page"),
    ("Enter Space", "Open: fold or unfold, look at a past stop, go to the event"),
    ("< >", "Look at the stop before, or behind"),
    ("Shift+Enter", "Rewind here: to the stop that is looked at"),
    ("e", "Request: edit what the stop holds"),
    ("u", "Request: undo the last edit"),
    ("c", "Request: copy as JSON, curl or Python"),
    ("j k", "Request: to the next change, to the one before"),
    ("[ ]", "Contents: one pass back or on"),
    ("p", "Contents: play the passes"),
    ("/", "Events: filter"),
    ("Backspace", "State: all keys again"),
    ("Ctrl+Enter", "Apply the edit"),
    ("Esc", "Leave a field, the editor or a past stop; stop a command that takes long"),
    ("?", "This sheet"),
]
"""Keys beside those of the commands and the tabs."""


def book(commands: set[str], breakpoints: bool, rewind: bool, tabs: int) -> dict[str, Any]:
    """Everything above as JSON, without commands that the Stepper at hand does not have."""
    offered = [list(c) for c in COMMANDS if c[0] in commands]
    stages = [
        {"id": name, "key": ("processor:" if k < DECLARE else "stage:") + name, "go": go, "says": says or NOTHING_YET}
        | {"noop": not says}
        for k, (name, go, says) in enumerate(PROCESSORS + BEHIND)
    ]
    digits = "1 … 9 0" if tabs > 9 else f"1 … {tabs}"
    keys = [[key, label] for _, label, key, _ in offered] + [[digits, "The tabs"]]
    keys += [[".", "Breakpoint on the focused stage or stop"]] if breakpoints else []
    return {
        "commands": offered,
        "stages": stages,
        "processors": len(PROCESSORS),
        "passes": [list(p) for p in PASSES],
        "keys": keys + [list(k) for k in KEYS],
        "breakpoints": breakpoints,
        "rewind": rewind,
    }
