"""Branches: who sees what, as a matrix of agents × events for the panel, and as text.

The rows are `lens.visibility`'s. An assembly costs as much as the session is long, so a row is made once for a state of
the session, and of a long session only as many at once as keep the kernel free; the panel asks for the rest.
"""

from __future__ import annotations

import itertools
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any

from adknb.engine.processors.contents import Viewer
from adknb.lens.visibility import LOOKS, Meeting, Row, row_of, viewers_of
from adknb.lens.words import cells as width_of
from adknb.lens.words import one_line, pad, shorten
from adknb.widgets.brief import Json, plural

AT_ONCE = 0.03
"""Seconds of assembling after which the rows that are not ready yet are left for the next message."""

WIDEST = 60
"""Events to a line of the text form."""

SIGNS = {"own": "●", "sees": "━", "reworded": "═", "summarised": "≈", "branch": "┄", "scope": "·"}
"""How the text form draws a look; every other one is a cross, an event without content a blank."""

SIGN_WORDS = {
    "●": "speaks",
    "━": "sees",
    "═": "sees reworded",
    "≈": "in a summary",
    "┄": "hidden by branch",
    "·": "hidden by scope",
    "×": "excluded",
}
"""What the signs mean."""


class Matrix:
    """The rows of a run's agents, kept in step with the session's events.

    `version` counts the states there have been; who holds one is told only that it is still right.
    """

    def __init__(self) -> None:
        self.version = 0
        self.rows: dict[tuple[Any, ...], Row] = {}
        self.viewers: list[Viewer] = []
        self._last: Any = None
        self._n = -1

    def update(self, events: Sequence[Any], viewers: list[Viewer]) -> None:
        """Take in what there is now: rows of other events are let go, those of viewers that stay are kept."""
        last = events[-1] if events else None
        if len(events) != self._n or last is not self._last:
            self.rows.clear()
        elif [*map(_key, viewers)] == [*map(_key, self.viewers)]:
            return
        self.viewers, self._n, self._last = viewers, len(events), last
        self.rows = {_key(v): self.rows[_key(v)] for v in viewers if _key(v) in self.rows}
        self.version += 1

    def forget(self) -> None:
        """Make all rows anew: somebody looks who may have changed stored events in place."""
        self._n = -1

    def make(
        self, events: Sequence[Any], private: Callable[[Viewer], dict[str, Any]], seconds: float = AT_ONCE
    ) -> bool:
        """Make missing rows, one at least; gives whether all are there. After so many seconds no more is begun."""
        end = time.perf_counter() + seconds
        for viewer in self.viewers:
            if _key(viewer) not in self.rows:
                self.rows[_key(viewer)] = row_of(events, viewer, **private(viewer))
                if time.perf_counter() > end:
                    break
        return len(self.rows) == len(self.viewers)

    def message(self, agents: Sequence[Json], have: int | None = None) -> Json:
        """The matrix on the wire; rows that are not made yet are empty. To one who has this version: no rows.

        rows   [name, depth, mode, branch, scope, cells, problem]; cells are run-length coded: `o3b12s`
        looks  letter -> [look, words, whether it sees, sentence]
        """
        whole = len(self.rows) == len(self.viewers)
        if have == self.version and whole:
            return {"v": self.version, "n": self._n, "same": True}
        about = {a["name"]: a for a in agents}
        rows: list[list[Any]] = []
        for viewer in self.viewers:
            agent, row = about.get(viewer.agent_name, {}), self.rows.get(_key(viewer))
            place = [viewer.branch, viewer.isolation_scope]
            cells = [packed(row.cells), row.problem] if row is not None else ["", ""]
            rows.append([viewer.agent_name, agent.get("depth", 0), viewer.effective_mode, *place, *cells])
        looks = {letter: [x.name, x.words, x.sees, x.says] for letter, x in LOOKS.items()}
        return {"v": self.version, "n": self._n, "rows": rows, "looks": looks, "more": not whole}


def _key(viewer: Viewer) -> tuple[Any, ...]:
    """What of a viewer its row depends on."""
    place = (viewer.agent_name, viewer.branch, viewer.isolation_scope)
    return (*place, viewer.include_contents, viewer.mode, viewer.bound_mode, viewer.compaction)


def packed(cells: str) -> str:
    """Letters run-length coded: `sssb` -> `s3b`. A letter alone has no number."""
    return "".join(letter + (str(n) if (n := len(list(run))) > 1 else "") for letter, run in itertools.groupby(cells))


def unpacked(text: str) -> str:
    """The letters of a run-length coded row."""
    return "".join(letter * int(n or 1) for letter, n in re.findall(r"(\D)(\d*)", text))


def cell(told: Meeting) -> Json:
    """One cell in full, on the wire: why, by which rule, with the branches compared."""
    return {
        "agent": told.agent,
        "event": told.event,
        "letter": told.letter,
        "steps": [[s.passed, s.rule, s.go, s.why, s.go_file] for s in told.steps],
        "contents": list(told.contents),
        "branch": asdict(told.branch),
    }


def viewers_at(stepper: Any, now: Viewer | None) -> list[Viewer]:
    """The LLM agents of the tree as viewers of the run's session; the one that runs as it runs.

    A recording has no tree: its own `viewers` are the agents that speak in it.
    """
    if hasattr(stepper, "viewers"):
        return list(stepper.viewers(now))
    runner = stepper.play.runner
    return viewers_of(stepper.events, runner.agent, runner.compaction is not None, now)


def text(stepper: Any, now: Viewer | None = None) -> str:
    """The matrix as text: a line for each agent, a sign for each event, and what the signs mean.

    branches  3 agents, 5 events
      writer  ━●┄═━  4 of 5  root.writer
    """
    events = stepper.events
    rows = [row_of(events, viewer) for viewer in viewers_at(stepper, now)]
    first = max(0, len(events) - WIDEST)
    names = [shorten(one_line(row.agent), 24) for row in rows]
    widest = max(map(width_of, names), default=0)
    since = f", the last {WIDEST} shown" if first else ""
    lines = [f"branches  {plural(len(rows), 'agent')}, {plural(len(events), 'event')}{since}"]
    for name, row in zip(names, rows, strict=True):
        drawn = "".join(sign_of(letter) for letter in row.cells[first:])
        place = [one_line(row.branch, 40) or "no branch", *([f"scope {one_line(row.scope, 24)}"] if row.scope else [])]
        lines.append(f"  {pad(name, widest)}  {drawn}  {row.sees} of {len(row.cells)}  {', '.join(place)}".rstrip())
        lines += [f"  {' ' * widest}  {one_line(row.problem, 90)}"] if row.problem else []
    used = dict.fromkeys(LOOKS[letter].name for row in rows for letter in row.cells[first:])
    keys = [f"{SIGNS[name]} {SIGN_WORDS[SIGNS[name]]}" for name in SIGNS if name in used]
    keys += ["× excluded"] if used.keys() & {"excluded", "fails"} else []
    return "\n".join(lines + ([f"  {' · '.join(keys)}"] if keys else []))


def sign_of(letter: str) -> str:
    """How a cell is drawn in one character."""
    name = LOOKS[letter].name
    return " " if name == "empty" else SIGNS.get(name, "×")
