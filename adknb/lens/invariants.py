"""What must hold of a request at every pause, each with its name.

The reference itself breaks some of these in odd cases (spec/request.md §10): then this is where a reader sees it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from google.genai import types

from adknb.engine.copies.packed import CALL
from adknb.engine.copies.promises import packed_of
from adknb.engine.event import Event, function_calls_of, function_responses_of, parts_of

CLIENT_ID = "adk-"


@dataclass(frozen=True)
class Invariant:
    """One thing that must hold: whether it does, and if not why, with the positions of the contents concerned."""

    name: str
    holds: bool
    why: str = ""
    contents: tuple[int, ...] = ()


def invariants(contents: Sequence[types.Content], events: Iterable[Event]) -> list[Invariant]:
    """Check the contents of a request against the session they were made from."""
    read = [_read(content) for content in contents]
    return [check(contents, read, events) for check in CHECKS]


def broken(contents: Sequence[types.Content], events: Iterable[Event]) -> list[Invariant]:
    """The invariants that do not hold."""
    return [found for found in invariants(contents, events) if not found.holds]


class _Read(NamedTuple):
    """What the checks want of a content. `promised`: nobody has touched it, and it stays so, as that is cheaper."""

    calls: list[str | None]
    responses: list[str | None]
    promised: bool


TEXT = _Read([], [], True)
"""What most contents of a long history are to the checks."""


def _read(content: types.Content) -> _Read:
    packed = packed_of(content)
    if packed is None:
        return _Read([c.id for c in function_calls_of(content)], [r.id for r in function_responses_of(content)], False)
    calls: list[str | None] = []
    responses: list[str | None] = []
    for part in packed[1]:
        if type(part) is tuple:
            (calls if part[0] == CALL else responses).append(part[1])
    return _Read(calls, responses, True) if calls or responses else TEXT


def _pairs_adjacent(contents: Sequence[types.Content], read: Sequence[_Read], events: Iterable[Event]) -> Invariant:
    """A call that is answered has its answer in the very next content."""
    answered = {r for content in read for r in content.responses if r}
    far = []
    for i, content in enumerate(read):
        if not content.calls:
            continue
        behind = read[i + 1].responses if i + 1 < len(read) else []
        for call in content.calls:
            if call in answered and call not in behind:
                far.append(i)
                break
    why = "a call is answered, but not in the content right behind it"
    return _told("pairs adjacent", far, why)


def _no_orphan(contents: Sequence[types.Content], read: Sequence[_Read], events: Iterable[Event]) -> Invariant:
    """An answer with an id stands behind a call of that id."""
    called: set[str | None] = set()
    orphans = []
    for i, content in enumerate(read):
        if content is TEXT:
            continue
        for response in content.responses:
            if response and response not in called:
                orphans.append(i)
                break
        called.update(content.calls)
    return _told("no orphan", orphans, "an answer has no call in front of it")


def _last_is_user(contents: Sequence[types.Content], read: Sequence[_Read], events: Iterable[Event]) -> Invariant:
    """The model is asked by a user content; a request without contents is let pass, as in the reference."""
    wrong = [len(contents) - 1] if contents and contents[-1].role != "user" else []
    return _told("last content is user", wrong, "the last content has another role than `user`")


def _ids_stripped(contents: Sequence[types.Content], read: Sequence[_Read], events: Iterable[Event]) -> Invariant:
    """Generated call ids are ADK's own affair."""
    kept = []
    for i, content in enumerate(read):
        for call_id in content.calls + content.responses if content is not TEXT else ():
            if call_id and call_id.startswith(CLIENT_ID):
                kept.append(i)
                break
    return _told("ids stripped", kept, "a generated call id is still there")


def _no_alias(contents: Sequence[types.Content], read: Sequence[_Read], events: Iterable[Event]) -> Invariant:
    """Editing the request must not change the session."""
    touched = [(i, c) for i, c in enumerate(contents) if not read[i].promised]  # the parts of others are not made yet
    if not touched:
        return _told("no alias with the session", [], "")
    stored = {id(part) for e in events for part in parts_of(e.content)} | {id(e.content) for e in events}
    shared = [i for i, c in touched if id(c) in stored or any(id(p) in stored for p in parts_of(c))]
    return _told("no alias with the session", shared, "a content is the session's own object, not a copy")


def _told(name: str, where: list[int], why: str) -> Invariant:
    return Invariant(name, not where, why if where else "", tuple(where))


CHECKS: tuple[Callable[[Sequence[types.Content], Sequence[_Read], Iterable[Event]], Invariant], ...] = (
    _pairs_adjacent,
    _no_orphan,
    _last_is_user,
    _ids_stripped,
    _no_alias,
)
