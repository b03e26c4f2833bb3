"""What must hold of a request at every pause, each with its name.

The reference itself breaks some of these in odd cases (spec/request.md §10): then this is where a reader sees it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from google.genai import types

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
    return [check(contents, events) for check in CHECKS]


def broken(contents: Sequence[types.Content], events: Iterable[Event]) -> list[Invariant]:
    """The invariants that do not hold."""
    return [found for found in invariants(contents, events) if not found.holds]


def _pairs_adjacent(contents: Sequence[types.Content], events: Iterable[Event]) -> Invariant:
    """A call that is answered has its answer in the very next content."""
    answered = {r.id for c in contents for r in function_responses_of(c) if r.id}
    far = []
    for i, content in enumerate(contents):
        wanted = {c.id for c in function_calls_of(content) if c.id in answered}
        near = {r.id for r in function_responses_of(contents[i + 1])} if i + 1 < len(contents) else set()
        if wanted - near:
            far.append(i)
    why = "a call is answered, but not in the content right behind it"
    return _told("pairs adjacent", far, why)


def _no_orphan(contents: Sequence[types.Content], events: Iterable[Event]) -> Invariant:
    """An answer with an id stands behind a call of that id."""
    called: set[str | None] = set()
    orphans = []
    for i, content in enumerate(contents):
        if any(r.id and r.id not in called for r in function_responses_of(content)):
            orphans.append(i)
        called |= {c.id for c in function_calls_of(content)}
    return _told("no orphan", orphans, "an answer has no call in front of it")


def _last_is_user(contents: Sequence[types.Content], events: Iterable[Event]) -> Invariant:
    """The model is asked by a user content; a request without contents is let pass, as in the reference."""
    wrong = [len(contents) - 1] if contents and contents[-1].role != "user" else []
    return _told("last content is user", wrong, "the last content has another role than `user`")


def _ids_stripped(contents: Sequence[types.Content], events: Iterable[Event]) -> Invariant:
    """Generated call ids are ADK's own affair."""
    ids = [[x.id for x in function_calls_of(c)] + [r.id for r in function_responses_of(c)] for c in contents]
    kept = [i for i, of_content in enumerate(ids) if any((x or "").startswith(CLIENT_ID) for x in of_content)]
    return _told("ids stripped", kept, "a generated call id is still there")


def _no_alias(contents: Sequence[types.Content], events: Iterable[Event]) -> Invariant:
    """Editing the request must not change the session."""
    stored = {id(part) for e in events for part in parts_of(e.content)} | {id(e.content) for e in events}
    shared = [i for i, c in enumerate(contents) if id(c) in stored or any(id(p) in stored for p in parts_of(c))]
    return _told("no alias with the session", shared, "a content is the session's own object, not a copy")


def _told(name: str, where: list[int], why: str) -> Invariant:
    return Invariant(name, not where, why if where else "", tuple(where))


CHECKS: tuple[Callable[[Sequence[types.Content], Iterable[Event]], Invariant], ...] = (
    _pairs_adjacent,
    _no_orphan,
    _last_is_user,
    _ids_stripped,
    _no_alias,
)
