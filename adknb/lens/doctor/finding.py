"""What the doctor says: a Finding, and how findings are ordered (spec/doctor.md 0.2, 0.3)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

ERROR, WARNING, NOTE = "error", "warning", "note"
SEVERITIES = (ERROR, WARNING, NOTE)
"""error: the model cannot see or do what the user expects, or a provider refuses. warning: harm is likely."""


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong with a session, or that will surprise its reader.

    `check` and `case` name the rule, `events` the positions of the events concerned (0-based; none: it lies in the
    state or a definition), `facts` what a program wants to know of it, `why` the harm and `do` the way out, a plain
    sentence or two each.
    """

    check: str
    severity: str
    case: str
    events: tuple[int, ...]
    facts: dict[str, Any]
    why: str
    do: str

    def to_json(self) -> dict[str, Any]:
        """The finding as plain JSON data."""
        return {
            "check": self.check,
            "severity": self.severity,
            "case": self.case,
            "events": list(self.events),
            "facts": self.facts,
            "why": self.why,
            "do": self.do,
        }


@dataclass(frozen=True)
class Sign:
    """What a check has seen, before it is known to be reported: a Finding without the check's own name.

    `severity` is empty where it is the check's usual one.
    """

    events: Sequence[int]
    facts: Mapping[str, Any] = field(default_factory=dict)
    why: str = ""
    do: str = ""
    case: str = ""
    severity: str = ""


def in_order(findings: Iterable[Finding]) -> list[Finding]:
    """By severity, then by the first event; those that concern no event come first, the rest as the checks stand."""
    return sorted(findings, key=lambda f: (SEVERITIES.index(f.severity), f.events[0] if f.events else -1))


def name(text: str) -> str:
    """A name or id as a sentence quotes it."""
    return f"'{text}'"


def names(texts: Iterable[str]) -> str:
    """Several names: 'a', 'b' and 'c'."""
    *others, last = [name(text) for text in texts] or ["nothing"]
    return f"{', '.join(others)} and {last}" if others else last


def place(at: int | Sequence[int]) -> str:
    """Events as a sentence names them: event 3; events 3, 4 and 9; of many, the first and the last."""
    positions = [at] if isinstance(at, int) else sorted(set(at))
    if len(positions) > 8:
        return f"{len(positions)} events from {positions[0]} to {positions[-1]}"
    *others, last = map(str, positions) if positions else ["none"]
    return f"events {', '.join(others)} and {last}" if others else f"event {last}"


def count(n: int, noun: str) -> str:
    """A number with its noun: 1 call, 2 calls."""
    return f"{n} {noun}" + ("" if n == 1 else "s")
