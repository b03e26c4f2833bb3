"""Why: what became of each event of the session, written down by the very passes that decide it.

A pass that drops, rewords or moves something notes it in the Ledger: a sentence with holes, and what goes into them.
Sentences are put together only when somebody reads `Assembly.fates`, so a plain run pays for little more than a list.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from google.genai import types

from adknb.engine.processors.contents.records import PassSnapshot, Record, Viewer

KEPT, REWORDED, MERGED, MOVED = "kept", "reworded", "merged", "moved"
SUMMARISED, LEFT_OUT = "summarised", "left_out"
ALSO = "also"
"""Not a fate: the kind of a note that would have decided, had another not done so first."""

CLIENT_ID_PREFIX = "adk-"
"""How ids begin that ADK made up itself, for calls to which a model gave none."""


class Reason(NamedTuple):
    """One reason for a fate: the pass that decided, its rule in spec/request.md, and a sentence."""

    stage: str
    rule: str
    why: str


class Fate(NamedTuple):
    """What became of one event of the session. The deciding reason comes first.

    kind         in the contents?
    kept         as it is, or short of some parts: a reason says which
    reworded     in other words: another agent's, told as context; a transcription, as text
    merged       in one content with parts of other events
    moved        elsewhere than it stood: a call and its response belong together
    summarised   only as part of a summary; `contents` says which
    left_out     no; `contents` is empty

    `contents` are positions in `Assembly.contents`, two or more when it is shown more than once.
    """

    event: int
    kind: str
    reasons: tuple[Reason, ...]
    contents: tuple[int, ...]


class Added(NamedTuple):
    """A content that no event of the session has: the task input, a delegated input, the continuation turn."""

    content: int
    rule: str
    why: str


class Because(NamedTuple):
    """A sentence with holes. Into them go event positions (int), ids and names (str), and Plain text."""

    stage: str
    rule: str
    sentence: str

    def fill(self, args: Sequence[object]) -> Reason:
        """The finished reason."""
        return Reason(self.stage, self.rule, self.sentence.format(*map(said, args)))


class Plain(str):
    """A text that goes into a sentence without quotes."""


def said(value: object) -> str:
    """How a sentence names a thing: 7 -> event 7; 'a' in quotes; several with commas and `and`."""
    if isinstance(value, Plain):
        return value
    if isinstance(value, int):
        return f"event {value}" if value >= 0 else "the input of this run"
    if isinstance(value, (tuple, list)):
        if len(value) > 6 and all(isinstance(item, int) for item in value):
            return f"{len(value)} events from {said(value[0])} to {said(value[-1])}"
        *others, last = map(said, value)
        return f"{', '.join(others)} and {last}" if others else last
    return repr(value)


AS_IT_IS = Because("emit", "R5.27", "it is visible to {} and nothing changes it")
MADE_UP_IDS = Because("emit", "R5.30", "the ids that ADK made up itself are taken off: {}")

Note = tuple[str, Because, tuple[object, ...]]


class Ledger:
    """What the passes look up and write down while one request's contents are assembled."""

    def __init__(self, viewer: Viewer, event_count: int) -> None:
        self.viewer = viewer
        self.event_count = event_count
        self.all: list[Record] = []
        """Every event of the session but the compaction records that do not count (R5.1), whatever the viewer sees."""
        self.turn: list[Record] = []
        """What is left of them after the current-turn cut (R5.4)."""
        self.notes: dict[int, list[Note]] = {}
        self.covered: dict[int, tuple[int, ...]] = {}
        """Position of an event -> those of the compaction records whose summaries stand for it."""
        self.sent: list[int | tuple[int, ...] | None] = []
        """Whose each content is: one event's, several events', or of none because the assembly added it itself."""
        self.made_up: dict[int, tuple[str, ...]] = {}
        """Position of an event -> the ids of its calls and responses, where some of them were taken off."""

    @cached_property
    def known_calls(self) -> dict[str, int]:
        """Call id -> position of the first event with that call: anywhere in the session, seen by the viewer or not."""
        known: dict[str, int] = {}
        for record in self.all:
            for call_id in record.calls:
                known.setdefault(call_id, record.at)
        return known

    def note(self, at: int, kind: str, because: Because, *args: object) -> None:
        """Write down what happens to an event, and why."""
        notes = self.notes.get(at)
        if notes is None:
            self.notes[at] = [(kind, because, args)]
        else:
            notes.append((kind, because, args))

    def left_out(self, record: Record, because: Because, *args: object) -> None:
        """Write down that a record goes, and with it whatever it had of each event it stems from."""
        for at in record.stems:
            self.note(at, LEFT_OUT, because, *args)

    def ids_taken_off(self, record: Record) -> None:
        """Write down that ids were taken off a record's calls or responses."""
        for at in record.stems:
            self.made_up[at] = record.calls + record.responses

    def forget_events(self) -> None:
        """Let go of what only the passes needed: an Assembly may be kept for long."""
        self.all, self.turn = [], []

    def fates(self) -> list[Fate]:
        """One fate for each event of the session, in order."""
        where = self._where()
        kept = (AS_IT_IS.fill([self.viewer.agent_name]),)
        filled: dict[tuple[Because, tuple[object, ...]], Reason] = {}  # many events have the same reason
        return [self._fate(at, where, kept, filled) for at in range(self.event_count)]

    def verdicts(self) -> list[tuple[str, Because]]:
        """The kind of every fate and what decided it, without the sentences: enough where many viewers are compared."""
        where = self._where()
        as_it_is = (KEPT, AS_IT_IS)
        found = []
        for at in range(self.event_count):
            notes = self.notes.get(at)
            if notes is None and at in where:
                found.append(as_it_is)
                continue
            kind, _ = self._decided(at, where)
            found.append((kind, _sorted(kind, notes)[0][1] if notes else AS_IT_IS))
        return found

    def _where(self) -> dict[int, tuple[int, ...]]:
        """Position of an event -> those of the contents that hold something of it."""
        where: dict[int, tuple[int, ...]] = {}
        for index, whose in enumerate(self.sent):
            for at in (whose,) if isinstance(whose, int) else whose or ():
                where[at] = (*where[at], index) if at in where else (index,)
        return where

    def _decided(self, at: int, where: dict[int, tuple[int, ...]]) -> tuple[str, tuple[int, ...]]:
        """Kind and contents of an event's fate."""
        contents, notes = where.get(at, ()), self.notes.get(at, [])
        if contents:
            return self._kind(contents, notes) if notes else KEPT, contents
        if covered := sorted({index for by in self.covered.get(at, ()) for index in where.get(by, ())}):
            return SUMMARISED, tuple(covered)
        return LEFT_OUT, ()

    def _fate(
        self,
        at: int,
        where: dict[int, tuple[int, ...]],
        kept: tuple[Reason, ...],
        filled: dict[tuple[Because, tuple[object, ...]], Reason],
    ) -> Fate:
        kind, contents = self._decided(at, where)
        notes = self.notes.get(at, [])
        reasons = tuple(_filled(because, args, filled) for _, because, args in _sorted(kind, notes)) if notes else kept
        if at in self.made_up and kind not in (SUMMARISED, LEFT_OUT):
            ids = dict.fromkeys(i for i in self.made_up[at] if i.startswith(CLIENT_ID_PREFIX))
            reasons = (*reasons, MADE_UP_IDS.fill([tuple(ids)]))
        return Fate(at, kind, reasons, contents)

    def _kind(self, contents: tuple[int, ...], notes: list[Note]) -> str:
        if any(isinstance(whose, tuple) and len(whose) > 1 for whose in map(self.sent.__getitem__, contents)):
            return MERGED
        noted = {kind for kind, _, _ in notes}
        return next((kind for kind in (MOVED, REWORDED) if kind in noted), KEPT)


def _filled(
    because: Because, args: tuple[object, ...], known: dict[tuple[Because, tuple[object, ...]], Reason]
) -> Reason:
    key = (because, args)
    try:
        reason = known.get(key)
    except TypeError:  # a list among them
        return because.fill(args)
    if reason is None:
        reason = known[key] = because.fill(args)
    return reason


def _sorted(kind: str, notes: list[Note]) -> list[Note]:
    """The notes that decided first. Of several passes that dropped an event, the last had the last word."""
    deciding = [note for note in notes if note[0] == kind]
    others = [note for note in notes if note[0] != kind]
    if kind == LEFT_OUT:
        deciding.reverse()
    return deciding + others


@dataclass
class Assembly:
    """The contents of one request, and where they come from.

    `contents` are independent of the session: edit them as you like. `added` lists those that no event stands behind.
    `passes` holds the working list after every pass, if it was asked for.
    """

    contents: list[types.Content]
    added: list[Added]
    passes: list[PassSnapshot] | None
    ledger: Ledger = field(repr=False)

    @cached_property
    def fates(self) -> list[Fate]:
        """What became of each event of the session: one fate an event, in order."""
        return self.ledger.fates()

    @cached_property
    def verdicts(self) -> list[tuple[str, Because]]:
        """Kind and deciding reason of each fate, its sentence not yet put together."""
        return self.ledger.verdicts()
