"""Two recordings side by side: where they part, and how.

What differs between any two runs is left aside: ids, times, and by which id a call is known. An id counts as the same
if it stands in the same places.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from adknb.engine.event import Event, function_calls_of, function_responses_of
from adknb.lens.table import event_summary
from adknb.lens.words import one_line

if TYPE_CHECKING:
    from adknb.files.recording import Recording

AROUND = 3
"""Lines of what is the same that are shown around a difference."""

MOST_LINES = 200
"""A difference is told in at most so many lines."""

_IDS = {"id", "invocationId", "timestamp"}
"""Fields of an event that differ from run to run."""


@dataclass(frozen=True)
class Comparison:
    """Where two recordings part. `event` is the first that differs, None if none does; `same`: all is equal.

    An event that only one of them has differs too. `state` lists the keys of the final states that differ.
    """

    names: tuple[str, str]
    counts: tuple[int, int]
    event: int | None
    events: tuple[Event | None, Event | None] = field(repr=False)
    state: tuple[str, ...] = ()

    @property
    def same(self) -> bool:
        """Whether events and state say the same."""
        return self.event is None and not self.state

    def __bool__(self) -> bool:
        return not self.same

    def text(self, width: int = 100) -> str:
        """The difference in words: what comes first, then the event's JSON line by line."""
        left, right = self.names
        lines = [f"- {left}: {_events(self.counts[0])}", f"+ {right}: {_events(self.counts[1])}", ""]
        if self.same:
            return "\n".join([*lines, "They say the same: ids and times apart, every event and the state are equal."])
        if self.event is not None:
            lines.append(
                f"The first event that differs is {self.event}" + ("" if self.event else ", the very first") + ":"
            )
            lines += [f"{mark} {self._said(event, width - 2)}" for mark, event in zip("-+", self.events, strict=True)]
            lines += ["", *self._lines(width)]
        elif self.counts[0]:
            lines.append("The events are equal.")
        if self.state:
            lines += ["", *(one_line(f"state: {key} differs", width) for key in self.state)]
        return "\n".join(line.rstrip() for line in lines)

    def _said(self, event: Event | None, width: int) -> str:
        return event_summary(event, width) if event is not None else "(no event: the recording ends here)"

    def _lines(self, width: int) -> list[str]:
        """The JSON of the two events as a diff, without ids and times."""
        before, after = (_pretty(event) for event in self.events)
        found = list(difflib.unified_diff(before, after, n=AROUND, lineterm=""))[3:]
        shown = [one_line_kept(line, width) for line in found[:MOST_LINES] if not line.startswith("@@")]
        return shown + ([f"… and {len(found) - MOST_LINES} more lines"] if len(found) > MOST_LINES else [])

    def __str__(self) -> str:
        return self.text()

    def _repr_html_(self) -> str:
        from html import escape

        return f'<pre style="white-space:pre-wrap">{escape(self.text())}</pre>'


def compare(first: Recording, second: Recording) -> Comparison:
    """Compare two recordings event by event, ids and times apart."""
    at = _first_difference(first.events, second.events)
    pair: tuple[Event | None, Event | None] = (None, None)
    if at is not None:
        pair = (
            first.events[at] if at < len(first.events) else None,
            second.events[at] if at < len(second.events) else None,
        )
    keys = [*first.state, *(key for key in second.state if key not in first.state)]
    state = tuple(k for k in keys if k not in first.state or k not in second.state or first.state[k] != second.state[k])
    names = (first.label, second.label)
    if names[0] == names[1]:
        names = (f"{names[0]} (this)", f"{names[1]} (other)")
    return Comparison(names, (len(first.events), len(second.events)), at, pair, state)


def _first_difference(left: Sequence[Event], right: Sequence[Event]) -> int | None:
    ids: tuple[dict[str, str], dict[str, str]] = ({}, {})
    for i, (a, b) in enumerate(zip(left, right, strict=False)):
        bare = _lacks_ids(a) != _lacks_ids(b)
        if _said(a, ids[0], bare) != _said(b, ids[1], bare):
            return i
    return None if len(left) == len(right) else min(len(left), len(right))


def _lacks_ids(event: Event) -> bool:
    """Whether a call or an answer in it has no id, as in some exports."""
    calls, answers = function_calls_of(event.content), function_responses_of(event.content)
    return any(not call.id for call in calls) or any(not answer.id for answer in answers)


def _said(event: Event, ids: dict[str, str], bare: bool = False) -> Any:
    """What an event says, its ids replaced by the order in which they appear; `bare`: without ids of calls."""
    data = {key: value for key, value in event.to_json().items() if key not in _IDS}
    if bare:
        for part in (data.get("content") or {}).get("parts") or []:
            for kind in ("functionCall", "functionResponse"):
                part.get(kind, {}).pop("id", None)
    return _renamed(data, ids)


def _renamed(value: Any, ids: dict[str, str], key: str = "") -> Any:
    if isinstance(value, dict):
        if key in ("args", "response", "stateDelta"):  # what is said, not how it is known
            return value
        names = {_known(k, ids) if key == "requestedToolConfirmations" else k: v for k, v in value.items()}
        return {name: _renamed(item, ids, name) for name, item in names.items()}
    if isinstance(value, list):
        return [_renamed(item, ids, key) for item in value]
    if key in ("id", "longRunningToolIds", "isolationScope") and isinstance(value, str):
        return _known(value, ids)
    return value


def _known(name: str, ids: dict[str, str]) -> str:
    return ids.setdefault(name, f"id {len(ids) + 1}")


def _pretty(event: Event | None) -> list[str]:
    if event is None:
        return []
    data = {key: value for key, value in event.to_json().items() if key not in _IDS}
    return json.dumps(data, indent=2, ensure_ascii=False, sort_keys=True, default=str).splitlines()


def one_line_kept(line: str, width: int) -> str:
    """A line of a diff, its indent kept, cut to the width."""
    indent = len(line) - len(line[1:].lstrip()) if line else 0
    return line[:1] + " " * max(0, indent - 1) + one_line(line[1:], max(20, width - indent))


def _events(n: int) -> str:
    return "1 event" if n == 1 else f"{n} events"
