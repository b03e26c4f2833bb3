"""The state of a session as it stood after an event.

A file has the state of the end, and what each event wrote. So a key that no event writes is taken to have been there
from the start; one that events do write is known from the first of them on. `app:` and `user:` keys stand beside the
session's own; `temp:` keys that events write live for a turn, those given at creation for good.

Go: session/session.go, State; spec/execution.md 2.1 to 2.6
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

from adknb.engine.event import Event
from adknb.engine.session import TEMP
from adknb.lens.table import turns


def state_after(events: Sequence[Event], position: int, final: dict[str, Any]) -> dict[str, Any]:
    """The state once `events[position]` was stored; -1: before the first event. A copy, to change at will.

    Deltas are applied key by key at top level, chunks left aside: those were never stored (X2.3).

    Example: final {"a": 1, "b": 3}, deltas {"b": 2}, {"b": 3}; after the first -> {"a": 1, "b": 2}
    """
    written = {key for event in events for key in event.actions.state_delta if not event.partial}
    state = {key: value for key, value in final.items() if key not in written or key.startswith(TEMP)}
    numbers = turns(events) if position >= 0 else []
    now = numbers[position] if numbers else 0
    for event, turn in zip(events[: position + 1], numbers, strict=False):
        if event.partial:
            continue
        for key, value in event.actions.state_delta.items():
            if turn == now or not key.startswith(TEMP):
                state[key] = value
    return copy.deepcopy(state)


def unknown_until_written(events: Sequence[Event], final: dict[str, Any]) -> dict[str, int]:
    """Keys whose first value is not known, with the event that first writes them: they may have been there before."""
    first: dict[str, int] = {}
    for i, event in enumerate(events):
        if not event.partial:
            for key in event.actions.state_delta:
                first.setdefault(key, i)
    return {key: i for key, i in first.items() if key in final and not key.startswith(TEMP)}
