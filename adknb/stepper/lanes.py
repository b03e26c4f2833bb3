"""Lanes: calls, or agents, that run side by side. They take turns, and the reader may say whose turn is next.

So every order of finishing can be produced by hand; results stay in the order of the calls (seed 000, 四.5.2).
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from typing import Any

from adknb.engine.platform import Task


@dataclass
class Group:
    """Tasks that were handed to the task runner together; those in `live` have not ended."""

    names: list[str]
    live: dict[int, Task[Any]]
    last: int = -1


@dataclass
class Lanes:
    """A task runner: `interleaved`, but that the reader may choose. `wish` is the lane that shall go next."""

    wish: str | None = None
    groups: list[Group] = field(default_factory=list)

    def run(self, tasks: Sequence[Task[Any]]) -> Generator[Any, None, list[Any]]:
        """Give each task a turn, one item long, in their order; a wish comes first."""
        results: list[Any] = [None] * len(tasks)
        group = Group([str(getattr(t, "__name__", i)) for i, t in enumerate(tasks)], dict(enumerate(tasks)))
        self.groups.append(group)
        try:
            while group.live:
                i = self._next_of(group)
                try:
                    yield next(group.live[i])
                except StopIteration as done:
                    results[i] = done.value
                    del group.live[i]
                group.last = i
        finally:
            self.groups.remove(group)
            for task in group.live.values():
                task.close()
        return results

    def names(self) -> list[str]:
        """The lanes that can go on, in the order of the calls."""
        return [group.names[i] for group in self.groups for i in group.live]

    def _next_of(self, group: Group) -> int:
        for i in group.live:
            if self.wish is not None and _leads_to(group.names[i], self.wish):
                return i
        return next((i for i in group.live if i > group.last), min(group.live))


def _leads_to(name: str, wish: str) -> bool:
    """Whether a lane is the wished one, is around it, or is its innermost part: `a` and `x#1` lead to `a/x#1`."""
    return wish == name or wish.startswith(f"{name}/") or wish.endswith(f"/{name}")
