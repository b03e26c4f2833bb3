"""The agents of a session: who they are, and who stands under whom, as near as events tell.

A file without definitions does not say how agents are built together. Two things give it away: a branch, whose parts
are agents one below the other, and a transfer, which mostly goes down the first time and back up or across later. Both
are guesses, and the reader may know better: `recording.agents.put("guide", under="boss")`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from adknb.engine.errors import BadData
from adknb.engine.event import Event, function_calls_of
from adknb.files.glance import TRANSFER_TOOLS

Parents = dict[str, str | None]


class Agents(list[str]):
    """Names of agents in the order they appear; `parents` says under whom each stands (None: under nobody).

    `parents` also has agents that never speak: workflow agents, whose names stand in branches only. `put` corrects it.
    """

    def __init__(self, names: Iterable[str], parents: Mapping[str, str | None], corrections: Parents) -> None:
        super().__init__(names)
        self.parents: Parents = {**dict.fromkeys(names, None), **parents}
        self._corrections = corrections
        self.parents |= corrections
        for parent in list(self.parents.values()):
            if parent is not None:
                self.parents.setdefault(parent, None)

    def put(self, name: str, under: str | None) -> Agents:
        """Say that an agent stands under another, or under none. The recording remembers it.

        Raises:
            BadData: the other stands under this one already.
        """
        if under is not None and (under == name or name in _above(under, self.parents)):
            raise BadData("agents", f"{under!r} stands under {name!r}; move it first")
        self._corrections[name] = self.parents[name] = under
        if under is not None:
            self.parents.setdefault(under, None)
        return self

    def children(self, name: str | None) -> list[str]:
        """Who stands right under an agent, or under nobody."""
        return [child for child, parent in self.parents.items() if parent == name]

    def tree(self) -> str:
        """The tree as indented lines; a name in brackets never speaks."""
        lines: list[str] = []
        waiting = [(root, 0) for root in reversed(self.children(None))]
        while waiting:
            name, depth = waiting.pop()
            lines.append("  " * depth + (name if name in self else f"({name})"))
            waiting += [(child, depth + 1) for child in reversed(self.children(name))]
        return "\n".join(lines)


def guessed_parents(events: Sequence[Event]) -> Parents:
    """Who stands under whom, as branches and transfers tell: child -> parent.

    Example: an event of `guide` on branch `trip.guide` -> {"guide": "trip"}
    """
    parents: Parents = {}
    inside: list[tuple[str, str]] = []
    for branch, author in dict.fromkeys((e.branch, e.author) for e in events if e.branch):
        names = [step.partition("@")[0] for step in branch.split(".") if step]
        for parent, child in pairwise(names):
            _put(parents, child, parent)
        if names and "@" not in branch and author not in ("user", "") and author not in names:
            inside.append((author, names[-1]))
    by_branch = set(parents)
    first = next((e.author for e in events if e.author not in ("", "user")), "")
    pairs = _transfers(events)
    for giver, taker in pairs:
        if taker != first and taker not in parents and giver not in _below(taker, parents):
            _put(parents, taker, giver)
    for giver, taker in pairs:  # up to its parent an agent may transfer, and no further (spec/execution.md 10.2)
        if giver not in by_branch and taker in _above(giver, parents)[1:]:
            parents[giver] = taker
    for author, last in inside:  # nobody handed over to it, so it stands where it speaks
        _put(parents, author, last)
    return parents


def _transfers(events: Sequence[Event]) -> list[tuple[str, str]]:
    """Who handed over to whom, each pair once, in order."""
    pairs: dict[tuple[str, str], None] = {}
    for event in events:
        if event.author in ("", "user"):
            continue
        if event.actions.transfer_to_agent:
            pairs.setdefault((event.author, event.actions.transfer_to_agent))
        for call in function_calls_of(event.content):
            target = (call.args or {}).get("agent_name")
            if call.name in TRANSFER_TOOLS and isinstance(target, str) and target:
                pairs.setdefault((event.author, target))
    return list(pairs)


def _put(parents: Parents, child: str, parent: str) -> None:
    if child != parent and child not in parents and child not in _above(parent, parents):
        parents[child] = parent


def _above(name: str, parents: Mapping[str, str | None]) -> list[str]:
    """All agents above one, the nearest first."""
    above: list[str] = []
    at = parents.get(name)
    while at is not None and at not in above:
        above.append(at)
        at = parents.get(at)
    return above


def _below(name: str, parents: Mapping[str, str | None]) -> set[str]:
    return {child for child in parents if name in _above(child, parents)}
