"""Requests rebuilt a piece at a time: exactly what `assemble` makes of the whole, at a bounded cost for each.

A session of ten thousand events tells of thousands of requests, and each holds all that came before it. But what the
passes do to an event depends on few others: on calls and responses that share an id, on the compaction record behind
it, on the transcription next to it, and on the end of the list. So the history is cut where nothing reaches across.
What lies before the last cut is the same in every later request; only the *tail* behind it is rebuilt for each.

The rule is always the engine's own. It gets a piece between two neutral messages, which stand for the rest. Tests hold
the pieces against the whole (tests/lens/test_doctor_pieces.py).

Source: spec/request.md §5; what reaches how far: R5.13 (records), R5.14 (transcriptions), R5.15 to R5.26 (ids)
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from google.genai import types

from adknb.engine.errors import FlowError
from adknb.engine.event import Event
from adknb.engine.processors.compaction import MEASURING
from adknb.engine.processors.contents import Assembly, Viewer, assemble
from adknb.engine.processors.contents.fates import ALSO, LEFT_OUT
from adknb.lens.doctor.entry import Entry, id_of

LARGE, MOST_WORK = 200, 1_000_000
"""From which length on a piece is large, and how many events all large pieces together may have."""

MOST_SETTLED = 2_000_000
"""How many events all settled pieces together may have: each agent has its own, so thousands of agents have many."""

STEP = 16
"""Cuts are kept at least so many events apart: a piece costs something in itself."""

REST = types.Content(role="user", parts=[types.Part(text="…")])


@dataclass(frozen=True)
class Piece:
    """What became of `history[start:end]` in a request. Everything is told by positions in the history.

    `sent`: what is in the contents. `covered`: event -> the records that stand for it. `dropped`: what is left out
    between a call and the late response (R5.19), and that response. `unheard`: whose transcription is left out (R5.14).
    `turn`: where the current turn begins, if that cut something off (R5.3). `odd`: an event with calls -> the model's
    words right before it. `first`: an event with calls that opens the contents. `words`: the event whose model's words
    end them; -1: they end in something else; None: there are none.
    """

    start: int
    end: int
    sent: frozenset[int]
    covered: dict[int, tuple[int, ...]]
    dropped: tuple[tuple[int, int], ...] = ()
    unheard: tuple[int, ...] = ()
    turn: int | None = None
    odd: tuple[tuple[int, int], ...] = ()
    first: int | None = None
    words: int | None = None
    opened: bool = False
    """Whether a task input stands in front (R5.31)."""
    fails: bool = False
    """The engine refuses to build the request (R5.35)."""
    skipped: bool = False
    """It was not rebuilt: see Work."""


def piece(history: Sequence[Entry], start: int, end: int, viewer: Viewer, last: bool) -> Piece:
    """Rebuild a piece; `last`: nothing comes behind it."""
    rest = Event(author="user", content=REST, isolation_scope=viewer.isolation_scope)
    before = [rest] if start else []
    events = [*before, *(entry.event for entry in history[start:end]), *([] if last else [rest])]
    quiet = MEASURING.set(True)
    try:
        assembly = assemble(events, viewer, continuation=False)
    except FlowError:
        return Piece(start, end, frozenset(), {}, fails=True)
    finally:
        MEASURING.reset(quiet)
    return _read(assembly, history, start, end, len(before), viewer)


def _read(assembly: Assembly, history: Sequence[Entry], start: int, end: int, before: int, viewer: Viewer) -> Piece:
    ledger, shift = assembly.ledger, start - before
    inside = range(start, end)
    dropped, unheard = [], []
    turn = None
    for at, notes in ledger.notes.items():
        for kind, because, args in notes:
            if because.rule == "R5.19" and kind == LEFT_OUT:
                dropped.append((at + shift, args[1] + shift if isinstance(args[1], int) else -1))
            elif because.rule == "R5.14" and kind in (LEFT_OUT, ALSO):
                unheard.append(at + shift)
            elif because.rule == "R5.3" and isinstance(args[0], int):
                turn = args[0] + shift
    turn = turn if turn in inside else None
    begins = not start or turn is not None  # the contents begin here: a task input in front is the request's own
    items: list[Item] = []
    for whose, content in zip(ledger.sent, assembly.contents, strict=True):
        stems = () if whose is None else (whose,) if isinstance(whose, int) else whose
        places = tuple(stem + shift for stem in stems)
        if places[0] in inside if places else begins:  # else it is the rest
            items.append((places, content))
    odd, first, words = _calls_in(items, history, viewer)
    return Piece(
        start,
        end,
        frozenset(place for stems, _ in items for place in stems),
        {at + shift: tuple(by + shift for by in records) for at, records in ledger.covered.items()},
        tuple(pair for pair in dropped if pair[0] in inside),
        tuple(at for at in unheard if at in inside),
        turn,
        tuple(odd),
        first,
        words,
        opened=bool(items) and not items[0][0],
    )


Item = tuple[tuple[int, ...], types.Content]
"""A content and the events it stems from; of none if it is the task input."""


def _calls_in(
    items: list[Item], history: Sequence[Entry], viewer: Viewer
) -> tuple[list[tuple[int, int]], int | None, int | None]:
    """The calls right behind a model's words; the call that comes first of all; the words at the end."""
    odd, first = [], None
    for i, (stems, _) in enumerate(items):
        if len(stems) == 1 and (entry := history[stems[0]]).calls and _is_own(entry, viewer):
            if i == 0:
                first = stems[0]
            elif (said := _words(items[i - 1], history, viewer)) >= 0:
                odd.append((stems[0], said))
    return odd, first, _words(items[-1], history, viewer) if items else None


def _words(item: Item, history: Sequence[Entry], viewer: Viewer) -> int:
    """The event whose words a content is, if it is a model's and neither calls, nor a summary, nor mere thoughts."""
    stems, content = item
    entry = history[stems[0]] if stems else None
    if entry is None or entry.record is not None:
        return -1
    if len(stems) == 1 and entry.parts:  # what the event tells need not be looked up in the content
        is_words = _is_own(entry, viewer) and entry.role == "model" and not entry.calls and not entry.only_thinks
    else:
        calls = any(part.function_call is not None for part in content.parts or ())
        is_words = content.role == "model" and not calls
    return stems[0] if is_words else -1


def _is_own(entry: Entry, viewer: Viewer) -> bool:
    """Whether an event is not reworded for the viewer (R5.9)."""
    return entry.author in ("user", viewer.agent_name)


class Cuts:
    """Where a history may be cut, as it grows: at `cuts[i]`, nothing from there on reaches back beyond it."""

    def __init__(self, one_place: bool, compacting: bool) -> None:
        self.cuts = [0]
        self.compacting = compacting
        self.one_place = one_place
        """All events stand on one branch and in one scope: then everybody sees what stands between two others."""
        self._seen: dict[str, int] = {}
        self._speech: int | None = None
        self._stuck = False

    def take(self, at: int, entry: Entry) -> None:
        """Take in the next event of the history."""
        if at - self.cuts[-1] >= STEP and not self._stuck:
            self.cuts.append(at)
        for back in self._reaches(at, entry):
            while self.cuts[-1] > back:
                self.cuts.pop()

    def _reaches(self, at: int, entry: Entry) -> Iterator[int]:
        """How far back the event reaches: the positions of those that it touches."""
        for one in [*map(id_of, entry.calls), *map(id_of, entry.responses)]:
            if one in self._seen:
                yield self._seen[one]
            self._seen[one] = at
        if entry.record is not None and self.compacting:
            yield 0  # it may stand for anything before it
        if entry.heard or entry.spoken:
            if self._speech is not None:
                yield self._speech
                self._stuck = self._stuck or bool(entry.parts) or bool(entry.heard and entry.spoken)
            if not entry.parts:
                self._speech = self._speech if self._stuck else at
        elif self.one_place and entry.full and entry.role and not entry.protocol and not self._stuck:
            self._speech = None  # everybody sees what comes next, and it is no speech: nothing waits any more


def last_pieces(cuts: Sequence[int], seen: int) -> Iterator[int]:
    """Where the tail may begin: at the last cut before the last event seen, or if that says too little, further up."""
    i = next(i for i in reversed(range(len(cuts))) if cuts[i] <= seen)
    step = 1
    while i > 0:
        yield cuts[i]
        i -= step
        step *= 2
    yield 0


class Work:
    """What may still be spent on large pieces, and on settled ones.

    In a history where everything hangs together, every call without an id say, each request is a piece of its own as
    long as the history. Of a few thousand events that can be borne; beyond, the rest is left out, and said to be.
    """

    def __init__(self) -> None:
        self.left, self.to_settle = MOST_WORK, MOST_SETTLED

    def allows(self, size: int) -> bool:
        """Whether a piece of that many events may be rebuilt; if so it is counted."""
        if size > LARGE:
            if size > self.left:
                return False
            self.left -= size
        return True

    def settles(self, size: int) -> bool:
        """Whether a settled piece of that many events may be rebuilt; if so it is counted."""
        if size > self.to_settle or not self.allows(size):
            return False
        self.to_settle -= size
        return True


class Settled:
    """The pieces before the tail, as one viewer's requests hold them: the same in each until something reaches back."""

    def __init__(self, history: Sequence[Entry], viewer: Viewer, work: Work) -> None:
        self.history, self.viewer, self.work = history, viewer, work
        self.pieces: list[Piece] = []
        self.new: list[Piece] = []
        """Those that the last request was the first to hold."""
        self._since: list[int] = []
        self._requests = 0
        self._gone: list[tuple[Piece, int]] = []

    def up_to(self, cuts: Sequence[int], end: int) -> Sequence[Piece]:
        """The pieces of `history[:end]`, where `end` is one of the cuts."""
        cuts = cuts[: bisect_right(cuts, end)]
        self.new = []
        while self.pieces and (
            self.pieces[-1].end > end or len(cuts) <= len(self.pieces) or cuts[len(self.pieces)] != self.pieces[-1].end
        ):
            self._drop()
        self._requests += 1
        for start, stop in zip(cuts[len(self.pieces) :], cuts[len(self.pieces) + 1 :], strict=False):
            self.new.append(self._piece(start, stop))
            self.pieces.append(self.new[-1])
            self._since.append(self._requests)
        return self.pieces

    def _piece(self, start: int, end: int) -> Piece:
        if self.work.settles(end - start):
            return piece(self.history, start, end, self.viewer, last=False)
        return Piece(start, end, frozenset(), {}, words=-1, skipped=True)

    def _drop(self) -> None:
        self._gone.append((self.pieces.pop(), self._requests - self._since.pop() + 1))

    def counted(self, wanted: frozenset[int]) -> dict[int, int]:
        """How many requests have held each of the wanted events in a settled piece, once no more requests come."""
        while self.pieces:
            self._drop()
        counts: dict[int, int] = {}
        for one, times in self._gone:
            for at in one.sent & wanted:
                counts[at] = counts.get(at, 0) + times
        return counts
