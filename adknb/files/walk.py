"""All requests of a session one after the other, each told by what is new in it since the agent's last one.

Where nothing but the order of events decides (no late answers, no ids used twice, no summaries), a request holds what
the last one held and then what came in between. So one assembly, of the last request, tells all earlier ones: each is
the beginning of it. From the first event on that is moved, merged or summarised every request is rebuilt by itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from adknb.engine.copies.frozen import garbage_collection_waits
from adknb.files.explain import is_unremarkable
from adknb.files.progress import with_progress
from adknb.files.sessions import Requests

if TYPE_CHECKING:
    from google.genai import types

    from adknb.engine.processors.contents import Added, Fate
    from adknb.files.rebuild import Rebuilt

LOCAL = frozenset({"collect", "filter", "foreign", "emit", "stored"})
"""Passes that look at one event at a time: what they do to it does not depend on what comes later."""

MOST_VISITS = 300_000
"""Events that are looked at to rebuild requests one by one; if it takes more, the earliest are left out."""

Key = tuple[str, str, str]
"""Agent, branch, scope: requests of one key go on from each other."""


@dataclass(frozen=True)
class Told:
    """A request, told by what is new. `same` contents are those of the request before event `since`, in front."""

    event: int
    agent: str
    contents: int
    since: int | None
    same: int
    fates: Sequence[Fate]
    """The fates that are new or other than at `since`."""
    gone: int
    """How many events are not in it."""
    changed: int
    """How many are in it, but not as they were stored."""
    added: Sequence[Added] = ()
    problem: str = ""
    rebuilt: Rebuilt | None = field(default=None, repr=False)
    """The request itself, unless it is only the beginning of a later one."""


def walk(requests: Requests, most: int = MOST_VISITS) -> Iterator[Told | None]:
    """Each request in order; None for one that was left out because there are too many."""
    groups = _groups(requests)
    plain = {key: _plain_until(requests, places) for key, places in groups.items()}
    alone = {i for i, event in enumerate(requests.events) if event > plain[_key(requests, event)][1]}
    left_out = _too_many(alone, requests.events, most)
    before: dict[Key, tuple[int, _Shape]] = {}
    with garbage_collection_waits():
        for place in with_progress(range(len(requests)), "requests"):
            event = requests.events[place]
            key = _key(requests, event)
            if place in left_out:
                yield None
                continue
            rebuilt = requests[place] if place in alone else None
            shape = _Shape.of(rebuilt) if rebuilt is not None else plain[key][0].beginning(event)
            last = before.get(key)
            yield _told(event, key[0], shape, last, rebuilt)
            before[key] = (event, shape)


def _too_many(alone: set[int], events: Sequence[int], most: int) -> set[int]:
    """Those of the requests to be rebuilt by themselves that are left out: the earliest."""
    left_out, visits = set(), 0
    for place in sorted(alone, reverse=True):
        visits += events[place]
        if visits > most:
            left_out.add(place)
    return left_out


class _Shape:
    """What a request is made of: a fate for each of the events before `size`, and the contents."""

    def __init__(
        self,
        fates: Sequence[Fate],
        size: int,
        count: int,
        added: Sequence[Added],
        contents: Sequence[types.Content],
        problem: str = "",
        tally: _Tally | None = None,
    ) -> None:
        self.fates, self.size, self.count = fates, size, count
        self.added, self.contents, self.problem = added, contents, problem
        self.tally = tally or _Tally(fates)

    @classmethod
    def of(cls, rebuilt: Rebuilt) -> _Shape:
        fates, contents = rebuilt.fates, rebuilt.contents
        return cls(fates, len(fates), len(contents), rebuilt.added, contents, rebuilt.problem)

    def beginning(self, event: int) -> _Shape:
        """The request that was made before `event`: what of this one stems from earlier events."""
        from adknb.engine.processors.contents import Added

        count = self.tally.contents[event]
        added: list[Added] = []
        role = self.contents[count - 1].role or "" if count else "user"
        if role != "user":
            why = f"the last content has the role {role!r}, and a model answers a user"
            added = [Added(count, "R5.34", why)]
        return _Shape(self.fates, event, count + len(added), added, self.contents, tally=self.tally)


class _Tally:
    """For each event, of the events before it: how many contents they make, how many are gone, how many changed."""

    def __init__(self, fates: Sequence[Fate]) -> None:
        self.contents, self.gone, self.changed = [0], [0], [0]
        for fate in fates:
            out = fate.kind in ("left_out", "summarised")
            self.contents.append(max(self.contents[-1], max(fate.contents, default=-1) + 1))
            self.gone.append(self.gone[-1] + out)
            self.changed.append(self.changed[-1] + (not out and not is_unremarkable(fate)))


def _key(requests: Requests, event: int) -> Key:
    one = requests.material.events[event]
    return (one.author, one.branch, one.isolation_scope)


def _groups(requests: Requests) -> dict[Key, list[int]]:
    groups: dict[Key, list[int]] = {}
    for place, event in enumerate(requests.events):
        groups.setdefault(_key(requests, event), []).append(place)
    return groups


def _plain_until(requests: Requests, places: Sequence[int]) -> tuple[_Shape, int]:
    """The last request of a group, and up to which event the earlier ones are its beginnings; -1: none is."""
    last = requests[places[-1]]
    shape = _Shape.of(last)
    ordinary = all(added.rule == "R5.34" for added in shape.added)
    if shape.problem or not ordinary or last.request is not None or last.scope or len(places) < 3:
        return shape, -1
    if any(reason.stage == "turn" for fate in shape.fates for reason in fate.reasons):
        return shape, -1
    odd = [fate for fate in shape.fates if any(reason.stage not in LOCAL for reason in fate.reasons)]
    if not odd:
        return shape, last.before
    first_moved = min((content for fate in odd for content in fate.contents), default=shape.count)
    pushed = next((f.event for f in shape.fates if any(c > first_moved for c in f.contents)), last.before)
    return shape, min(odd[0].event, pushed)


def _told(event: int, agent: str, shape: _Shape, last: tuple[int, _Shape] | None, rebuilt: Rebuilt | None) -> Told:
    earlier = last[1] if last is not None and not last[1].problem and not shape.problem else None
    new = shape.fates[: shape.size] if earlier is None else _new(earlier, shape)
    same = 0
    if earlier is not None:
        touched = [content for fate in new for content in fate.contents]
        touched += [c for fate in new if fate.event < earlier.size for c in earlier.fates[fate.event].contents]
        touched += [added.content for added in (*earlier.added, *shape.added)]
        same = min([earlier.count, shape.count, *touched])
    return Told(
        event=event,
        agent=agent,
        contents=shape.count,
        since=last[0] if earlier is not None and last is not None else None,
        same=same,
        fates=new,
        gone=shape.tally.gone[shape.size],
        changed=shape.tally.changed[shape.size],
        added=shape.added,
        problem=shape.problem,
        rebuilt=rebuilt,
    )


def _new(earlier: _Shape, shape: _Shape) -> list[Fate]:
    """The fates that are not as they were in an earlier request."""
    fresh = list(shape.fates[earlier.size : shape.size])
    if earlier.fates is shape.fates:  # both are beginnings of one request
        return fresh
    both = min(earlier.size, shape.size)
    return [shape.fates[i] for i in range(both) if shape.fates[i] != earlier.fates[i]] + fresh
