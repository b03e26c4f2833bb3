"""What has become of the session's state: every delta by event, the merged value of each key, and who wrote it last.

State has four scopes, told by the key's prefix: `app:`, `user:`, `temp:`, none (engine/session.py). A callback or tool
writes at once into the live session; the event that carries the write comes later. Until then it is *pending*.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from adknb.engine.event import Event, function_responses_of
from adknb.engine.function_calls import deep_merge
from adknb.engine.session import APP, TEMP, USER

KEPT_FOR = {"app": "all sessions of the app", "user": "all sessions of the user", "temp": "this turn", "session": ""}
"""How long, or for whom, the values of a scope are kept; the session's own need no words."""


@dataclass(frozen=True)
class Write:
    """One key of a delta. `before` is what earlier events had made of it; `fresh`: no event had written it before."""

    key: str
    value: Any
    before: Any = None
    fresh: bool = True


@dataclass(frozen=True)
class Delta:
    """What one event wrote. `call` names the tool call whose answer the event is, if it answers just one."""

    event: int
    author: str
    writes: tuple[Write, ...]
    call: str = ""


@dataclass(frozen=True)
class Key:
    """One key as it stands. `event` and `author` wrote it last (-1: no event has), `writes` counts how often."""

    key: str
    value: Any
    scope: str
    event: int = -1
    author: str = ""
    writes: int = 0
    pending: bool = False
    """Whether the value stands in the live session only: no stored event carries it yet."""


@dataclass(frozen=True)
class Pending:
    """A write that no stored event carries: who holds it (a call, a callback, an event on its way) and what it is."""

    holder: str
    key: str
    value: Any


@dataclass(frozen=True)
class MergedCall:
    """One of several calls whose answers became one event: its tool, its id, and what it wrote."""

    tool: str
    call_id: str
    delta: Mapping[str, Any]


@dataclass(frozen=True)
class MergedKey:
    """One path of a merged delta: what each call wrote there (absent: nothing), which call won, and what came of it.

    `winner` is the position of the call, the last in the order of the calls that wrote this path; -1 where nothing is
    left of it, since a later call has written something else in the place of the map around it.
    """

    path: tuple[str, ...]
    written: tuple[tuple[bool, Any], ...]
    winner: int
    value: Any


@dataclass(frozen=True)
class Merge:
    """Several calls' writes in one event. `event` is -1 while it is not stored."""

    event: int
    calls: tuple[MergedCall, ...]
    keys: tuple[MergedKey, ...]


@dataclass(frozen=True)
class StateChanges:
    """The state explained: every key by scope and name, deltas in the order of events, what is pending, merges."""

    keys: tuple[Key, ...]
    deltas: tuple[Delta, ...]
    pending: tuple[Pending, ...] = ()
    merges: tuple[Merge, ...] = ()


def state_changes(
    events: Sequence[Event],
    live: Mapping[str, Any] | None = None,
    stored: Mapping[str, Any] | None = None,
    held: Iterable[tuple[str, Mapping[str, Any]]] = (),
    merged: Iterable[Sequence[MergedCall]] = (),
) -> StateChanges:
    """Explain a session's state.

    `live` is the running session's state (left out: what the events made of it), `stored` the session's as it is kept:
    where they differ, a write is pending. `held` are deltas that are on their way with who holds them, `merged` the
    calls of each merged answer; see `merge_of`.

        user {"lang": "en"} · agent {"lang": "zh", "n": 1}
            -> lang "zh" by event 1, written twice; n 1 by event 1; deltas of 0 and 1
    """
    made: dict[str, Any] = {}
    last: dict[str, tuple[int, str]] = {}
    count: dict[str, int] = {}
    deltas = []
    for i, event in enumerate(events):
        delta = event.actions.state_delta
        if not delta:
            continue
        writes = tuple(Write(k, v, made.get(k), k not in made) for k, v in delta.items())
        responses = function_responses_of(event.content)
        deltas.append(Delta(i, event.author, writes, responses[0].name or "" if len(responses) == 1 else ""))
        for key, value in delta.items():
            made[key], last[key], count[key] = value, (i, event.author), count.get(key, 0) + 1
    now = dict(made if live is None else live)
    on_their_way = [Pending(holder, k, v) for holder, delta in held for k, v in delta.items()]
    waiting = {p.key for p in on_their_way if _holds(now, p.key, p.value) and not _holds(made, p.key, p.value)}
    if stored is not None:
        waiting |= {k for k, v in now.items() if not _holds(made, k, v) and not _holds(stored, k, v)}
    keys = [Key(k, v, scope_of(k), *last.get(k, (-1, "")), count.get(k, 0), k in waiting) for k, v in now.items()]
    keys.sort(key=lambda key: (SCOPES.index(key.scope), key.key))
    return StateChanges(tuple(keys), tuple(deltas), tuple(on_their_way), tuple(_merges(events, merged)))


SCOPES = ("session", "user", "app", "temp")


def scope_of(key: str) -> str:
    """`user:lang` -> user; a key without one of the three prefixes is the session's own."""
    return next((p.rstrip(":") for p in (APP, USER, TEMP) if key.startswith(p)), "session")


def merged_calls(answers: Sequence[Event]) -> list[MergedCall]:
    """The calls of a merge by the events it joins (`holds["events"]` of a MERGE stop), their deltas copied."""
    calls = []
    for event in answers:
        response = next(iter(function_responses_of(event.content)), None)
        name, call_id = (response.name or "", response.id or "") if response is not None else ("", "")
        calls.append(MergedCall(name, call_id, copy.deepcopy(event.actions.state_delta)))
    return calls


def merge_of(calls: Sequence[MergedCall], merged: Mapping[str, Any], event: int = -1) -> Merge:
    """Who wrote what of a merged delta, path by path: maps are merged into maps, anything else is the later call's.

    {"city": "H", "p": {"u": "C"}} and {"city": "S", "p": {"l": "zh"}}
        -> ("city",): both, the second wins · ("p", "u"): the first · ("p", "l"): the second
    """
    paths: dict[tuple[str, ...], None] = {}
    for call in calls:
        for path in _leaves(call.delta):
            paths.setdefault(path)
    keys = []
    for path in paths:
        written = tuple(_at(call.delta, path) for call in calls)
        there, value = _at(merged, path)
        winner = max(k for k, (wrote, _) in enumerate(written) if wrote) if there else -1
        keys.append(MergedKey(path, written, winner, value))
    return Merge(event, tuple(calls), tuple(keys))


def _merges(events: Sequence[Event], merged: Iterable[Sequence[MergedCall]]) -> Iterable[Merge]:
    """Each group of calls with the event that carries their answers, found by the calls' ids."""
    groups = [list(calls) for calls in merged]
    if not groups:
        return
    by_id: dict[str, tuple[int, Event | None]] = {}
    for i, event in enumerate(events):
        for response in function_responses_of(event.content):
            by_id[response.id or ""] = (i, event)
    for calls in groups:
        if not any(call.delta for call in calls):
            continue
        at, stored = next((by_id[c.call_id] for c in calls if c.call_id in by_id), (-1, None))
        yield merge_of(calls, stored.actions.state_delta if stored is not None else _together(calls), at)


def _together(calls: Sequence[MergedCall]) -> dict[str, Any]:

    out: dict[str, Any] = {}
    for call in calls:
        out = deep_merge(out, dict(call.delta))
    return out


def _leaves(value: Any, path: tuple[str, ...] = ()) -> Iterable[tuple[str, ...]]:
    if isinstance(value, Mapping) and (value or not path):
        for key, inner in value.items():
            yield from _leaves(inner, (*path, key))
    else:
        yield path


def _at(value: Any, path: tuple[str, ...]) -> tuple[bool, Any]:
    for key in path:
        if not isinstance(value, Mapping) or key not in value:
            return False, None
        value = value[key]
    return True, value


def _holds(state: Mapping[str, Any], key: str, value: Any) -> bool:
    """Whether the state has just this value under the key; what cannot be compared is taken to differ."""
    if key not in state:
        return False
    try:
        return bool(state[key] is value or state[key] == value)
    except Exception:  # values are the reader's own objects
        return False
