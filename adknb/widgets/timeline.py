"""The stops so far as the rows of a tree: turn, agent, step, and one row for each call with its stops before and after.

Rows are made once, from the records that are new; a stop's cost does not grow with the history.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from adknb.lens.flow_position import StepOfAgent, stage_of
from adknb.widgets import brief
from adknb.widgets.wire import clean_text, cut

KINDS = {
    "processor": "processor",
    "response_processor": "processor",
    "tool_declaration": "declare",
    "model": "model",
    "tool": "tool",
    "merge": "merge",
    "append": "append",
    "event": "event",
    "handover": "handover",
    "delegate": "agent",
    "summarize": "summary",
    "turn": "over",
}
"""Which icon a seam has; every other seam is a hook."""

NAMES = {
    "tool_declaration": "declare",
    "event": "event",
    "append": "append",
    "merge": "merge",
    "turn": "end of the turn",
    "model": "model",
}
"""Rows that are called by what happens; the others by who is called."""

NOTES = {"event": "on its way"}

OF_THE_TURN = ("on_user_message", "before_run", "after_run", "turn")
"""Seams that belong to the turn, whichever agent ran last."""


@dataclass
class Row:
    """One row of the tree. `depth` counts from 0, the turn.

    `first` and `last` are the indices of its first and last stop, -1 for a heading. `tokens` are those of the model's
    answers, `seconds` are told by the events' own times; both 0 if unknown.
    """

    depth: int
    kind: str
    name: str
    note: str = ""
    lanes: int = 0
    lane: int = 0
    key: str = ""
    noop: bool = False
    agent: str = ""
    stage: int = -1
    event: int = -1
    first: int = -1
    failed: bool = False
    last: int = -1
    tokens: int = 0
    seconds: float = 0.0

    def to_json(self) -> list[Any]:
        """The row as the panel has it."""
        return [
            self.depth,
            self.kind,
            clean_text(self.name),
            clean_text(cut(self.note, 200)),
            self.lanes,
            self.lane,
            clean_text(self.key),
            int(self.noop),
            clean_text(self.agent),
            self.stage,
            self.event,
            self.first,
            int(self.failed),
            self.last,
            self.tokens,
            round(self.seconds, 1),
        ]


@dataclass
class Frame:
    """An agent whose rows are being written: `calls` is how many calls it runs inside, `depth` that of its heading."""

    calls: int
    depth: int
    agent: str
    step: int = 0

    @property
    def inner(self) -> int:
        """The depth of its stops."""
        return self.depth + (2 if self.step else 1)


class Timeline:
    """Rows for the stop records of a Stepper, kept in step with them by `update`."""

    def __init__(self) -> None:
        self.rows: list[Row] = []
        self.row_of: list[int] = []
        """Index of a stop -> its row."""
        self.steps: dict[tuple[Any, ...], StepOfAgent] = {}
        self.turn_of_event: dict[int, int] = {}
        """Position of an event that this run has stored -> its turn."""
        self._last: Any = None
        self._forget()

    def update(self, records: Sequence[Any], events: Sequence[Any] = ()) -> tuple[int, set[int]]:
        """Take in the new records; `events` are the session's, so that a turn can say how it began.

        Gives the number of rows that stayed and, of these, the ones that changed. After a restart no row stays.
        """
        old = len(self.row_of)
        if old > len(records) or (old and records[old - 1] is not self._last):
            self._forget()
            old = 0
        kept = len(self.rows)
        changed = {self._take(i, records[i]) for i in range(old, len(records))}
        changed |= self._name_turns(events)
        changed |= self._count(records[old:], events)
        self._last = records[-1] if records else None
        return kept, {row for row in changed if row < kept}

    def step_of(self, record: Any) -> StepOfAgent:
        """The step a stop belongs to; at a turn's end, and once the run is over, the one that ran last."""
        if record is None or not (record.agent and record.step):
            return self.current
        return self.steps.get(_place(record)) or StepOfAgent()

    def _forget(self) -> None:
        self.rows.clear()
        self.row_of.clear()
        self.steps.clear()
        self.turn_of_event.clear()
        self._last = None
        self._turn: Any = None
        self._frames: list[Frame] = []
        self._open: dict[tuple[Any, ...], int] = {}
        self._lanes: list[str] = []
        self._headed: set[tuple[Any, ...]] = set()
        self._unnamed: dict[int, int] = {}
        self._headings_of: dict[tuple[Any, ...], int] = {}
        """Turn, or turn, agent and step -> the row of its heading; with "model" behind it, of its latest model call."""
        self._began: dict[int, float] = {}
        """Row of a heading -> when it began: the time of the event before its first, in a turn of its first."""
        self.current = StepOfAgent()
        """The step that the last stop belongs to, or that ran last in this turn."""

    def _take(self, i: int, record: Any) -> int:
        """Write a stop into its row; gives the row."""
        seam = str(record.seam)
        step = self.steps.setdefault(_place(record), StepOfAgent())
        stage = step.take(stage_of(record), record)
        call = (seam, record.name, record.lane, record.depth)
        row = None
        if record.phase == "after":  # a model has one stop after each response
            row = self._open.get(call) if seam == "model" else self._open.pop(call, None)
        if row is None:
            row = self._new_row(i, record, stage)
            if record.phase == "before":
                self._open[call] = row
        r = self.rows[row]
        r.note = record.error or record.wrote or r.note
        r.failed = bool(record.error)
        if record.event is not None:
            r.event = record.event
            self.turn_of_event[record.event] = record.turn
            if seam == "append":
                r.name, r.note = f"event {record.event}", record.name
        if record.agent and record.step:
            self.current = step
        self.row_of.append(row)
        r.last = i
        if seam == "model":
            self._headings_of[(*_place(record), "model")] = row
        return row

    def _count(self, records: Sequence[Any], events: Sequence[Any]) -> set[int]:
        """Add tokens and time of the events that have been stored to the rows they belong to."""
        counted: set[int] = set()
        for record in records:
            if record.event is None or record.event >= len(events):
                continue
            event = events[record.event]
            tokens = getattr(event.usage_metadata, "total_token_count", None) or 0
            for key in ((record.turn,), _place(record), (*_place(record), "model")):
                row = self._headings_of.get(key)
                if row is None:
                    continue
                r, before = self.rows[row], (self.rows[row].tokens, self.rows[row].seconds)
                r.tokens += tokens
                if event.timestamp and key[-1] != "model":
                    earlier = events[record.event - 1] if len(key) > 1 and record.event else event
                    began = self._began.setdefault(row, earlier.timestamp or event.timestamp)
                    r.seconds = max(0.0, event.timestamp - began)
                if before != (r.tokens, r.seconds):
                    counted.add(row)
        return counted

    def _name_turns(self, events: Sequence[Any]) -> set[int]:
        """Write the user's message beside the turns that do not have it yet."""
        named = set()
        for row, turn in list(self._unnamed.items()):
            first = next((i for i, t in self.turn_of_event.items() if t == turn and i < len(events)), None)
            if first is not None:
                self.rows[row].note = brief.event_line(events[first], 80)
                named.add(row)
                del self._unnamed[row]
        return named

    def _new_row(self, i: int, record: Any, stage: int) -> int:
        seam = str(record.seam)
        lane = self._lane(record)
        depth, agent = self._headings(record)
        self.rows.append(
            Row(
                depth=depth,
                kind=KINDS.get(seam, "hook"),
                name=NAMES.get(seam, record.name) or seam.replace("_", " "),
                note=NOTES.get(seam, "") or (record.name if seam in ("append", "model") else ""),
                lanes=(1 << len(self._lanes)) - 1,
                lane=lane,
                key=seam if seam in NAMES else f"{seam}:{record.name}",
                noop=bool(record.noop),
                agent=agent,
                stage=stage,
                first=i,
            )
        )
        return len(self.rows) - 1

    def _headings(self, record: Any) -> tuple[int, str]:
        """Open the turn, agent and step a stop belongs to, if they are not open; gives its depth and agent."""
        if record.turn != self._turn:
            self._turn = record.turn
            self._frames.clear()
            self._headed.clear()
            self._open.clear()
            self.current = StepOfAgent()
            self._unnamed[len(self.rows)] = record.turn
            self._headings_of[(record.turn,)] = len(self.rows)
            self.rows.append(Row(0, "turn", f"Turn {record.turn}"))
        if record.seam in OF_THE_TURN:
            self._frames.clear()
        if not record.agent:  # the runner's own: an event on its way, from whoever runs
            if not self._frames:
                return 1 + record.depth, ""
            last = self._frames[-1]
            return last.inner + max(0, record.depth - last.calls), last.agent
        if self._lanes:  # side by side: in the order of time, each step headed once
            return self._headings_in_lanes(record)
        while self._frames and self._frames[-1].calls > record.depth:
            self._frames.pop()
        top = self._frames[-1] if self._frames else None
        if top is None or top.agent != record.agent:
            if top is not None and top.calls == record.depth:
                self._frames.pop()
            above = self._frames[-1] if self._frames else None
            depth = above.inner + record.depth - above.calls if above else 1
            top = Frame(record.depth, depth, record.agent)
            self._frames.append(top)
            self.rows.append(Row(depth, "agent", record.agent, agent=record.agent))
        if record.step != top.step and record.depth == top.calls:
            top.step = record.step
            if record.step:
                self._headings_of[_place(record)] = len(self.rows)
                self.rows.append(Row(top.depth + 1, "step", f"Step {record.step}", agent=record.agent))
        return top.inner + record.depth - top.calls, record.agent

    def _headings_in_lanes(self, record: Any) -> tuple[int, str]:
        depth = self._frames[-1].inner if self._frames else 1
        owner = record.lane.partition("/")[0]
        place = (owner, record.agent, record.step)
        heads = record.lane and record.step and place not in self._headed
        if heads and not any(f.agent == record.agent for f in self._frames):
            self._headed.add(place)
            self._headings_of[_place(record)] = len(self.rows)
            lane = self._lanes.index(owner) if owner in self._lanes else 0
            self.rows.append(
                Row(
                    depth,
                    "step",
                    f"{record.agent}, step {record.step}",
                    lanes=(1 << len(self._lanes)) - 1,
                    lane=lane,
                    agent=record.agent,
                )
            )
        return depth, record.agent

    def _lane(self, record: Any) -> int:
        """Which of the lanes that run side by side a stop is in; opens and closes them."""
        if record.lane:
            if record.lane not in self._lanes:
                self._lanes.append(record.lane)
            return self._lanes.index(record.lane)
        if record.seam in ("event", "on_event", "append") and self._lanes:
            return self._lanes.index(record.name) if record.name in self._lanes else 0
        self._lanes.clear()
        return 0


def _place(record: Any) -> tuple[Any, ...]:
    return (record.turn, record.agent, record.step)
