"""The requests that a session tells of, and what was in them (spec/doctor.md 0.8).

There is one for each event that a model wrote, and a pending one if the model is about to be asked. All are rebuilt in
one walk over the history, a piece at a time (pieces.py); the checks read what the walk has noted.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

from google.genai import types

from adknb.engine.errors import FlowError
from adknb.engine.processors.compaction import MEASURING
from adknb.engine.processors.contents import Viewer, assemble, event_belongs_to_branch
from adknb.engine.processors.contents.fates import Ledger
from adknb.engine.processors.contents.records import record_of
from adknb.engine.processors.contents.task_input import task_input
from adknb.engine.processors.contents.turn import hides_history
from adknb.lens.doctor.entry import Entry, has_inline_data, id_of, ordinary
from adknb.lens.doctor.pieces import Cuts, Piece, Settled, Work, last_pieces, piece

if TYPE_CHECKING:
    from adknb.lens.doctor.session import DoctorSession


@dataclass
class Request:
    """One request: whose, in which turn, and what it was built from: the first `before` events of the history.

    `answer` is the event it was answered by; None while it is pending. The other fields are filled in by the walk, in
    positions of the session.
    """

    viewer: Viewer
    turn: int
    before: int
    answer: Entry | None
    fails: bool = False
    empty: bool = False
    """Nothing is left for the model to read."""
    begins: Entry | None = None
    """Where the current turn begins, if that cut something off (R5.3)."""
    late: Entry | None = None
    """The late response that ends the history, if something between it and its call was dropped (R5.19)."""
    dropped: list[Entry] = field(default_factory=list)
    """What was."""

    @property
    def agent(self) -> str:
        """The agent that asks."""
        return self.viewer.agent_name

    def is_after(self, entry: Entry) -> bool:
        """Whether it was made after an event was stored."""
        return self.answer is None or entry.at < self.answer.at

    def sees(self, entry: Entry) -> bool:
        """Whether branch and scope let the agent see an event (R5.6, R5.7)."""
        return self.sees_branch(entry) and entry.scope == self.viewer.isolation_scope

    def sees_branch(self, entry: Entry) -> bool:
        """Whether the branch lets it (R5.6)."""
        return event_belongs_to_branch(self.viewer.branch, entry.branch)


class Requests:
    """All requests, in order, and what the walk has noted, by positions in the session.

    `shown`: the events that some request holds. `readers`: an event by an agent -> the other agents whose requests hold
    it, reworded. `copies`: an event with inline data -> how many requests hold it. `odd`: an event with calls -> the
    event whose words stand right before it in a request; None: the calls come first. `covered`: (beginning of a turn,
    record that hid it from a request of this turn). `unheard`: events whose transcription a request leaves out.
    """

    def __init__(self, session: DoctorSession) -> None:
        self.session = session
        stored = session.whole if session.stream else session.entries
        self.history = [entry for entry in stored if session.compacting or entry.record is None]  # R5.1
        self._places = [entry.at for entry in self.history]
        self.shown: set[int] = set()
        self.readers: dict[int, dict[str, None]] = {}
        self.copies: dict[int, int] = {}
        self.odd: dict[int, int | None] = {}
        self.covered: dict[tuple[int, int], None] = {}
        self.unheard: dict[int, None] = {}
        self.incomplete = 0
        """How many requests could not be rebuilt, or not in full, because too much of the history hangs together."""
        self.large = frozenset(at for at, entry in enumerate(self.history) if has_inline_data(entry))
        self.all = list(self._requests())
        self._walk()
        self.built = [request for request in self.all if not request.fails]
        """Those that the engine does not refuse to build (R5.35)."""

    @cached_property
    def by_turn(self) -> dict[int, list[Request]]:
        """The requests that could be built, by turn."""
        turns: dict[int, list[Request]] = {}
        for request in self.built:
            turns.setdefault(request.turn, []).append(request)
        return turns

    def contents(self, request: Request) -> list[types.Content]:
        """The whole contents of a request."""
        return _whole(self.history[: request.before], request.viewer)

    # -------------------------------------------------------------------------------------------------- which there are

    def _requests(self) -> Iterator[Request]:
        for entry in self.session.model_events:
            viewer = self._viewer(entry.author, entry.branch, entry.scope, entry.turn)
            if not _delegated(viewer):
                yield Request(viewer, entry.turn, bisect_left(self._places, entry.at), entry)
        pending = self._pending()
        if pending is not None and not _delegated(pending):
            turn = self.session.entries[-1].turn if self.session.entries else 0
            yield Request(pending, turn, len(self.history), None)

    def _viewer(self, agent: str, branch: str, scope: str, turn: int) -> Viewer:
        """An agent as its definition has it; the run's message is the one that began the turn (R5.31)."""
        one = self.session.definition(agent)
        first = self.session.turns[turn][:1] if turn else []
        return Viewer(
            agent_name=agent,
            branch=branch,
            isolation_scope=scope,
            include_contents=one.include_contents if one is not None else "",
            mode=one.mode if one is not None else "",
            compaction=self.session.compacting,
            user_content=first[0].event.content if first else None,
        )

    def _pending(self) -> Viewer | None:
        """Who is about to be asked: as given, else the caller of the first call that the last event answers."""
        given = self.session.viewer
        turn = self.session.entries[-1].turn if self.session.entries else 0
        if given is not None:
            known = self._viewer(given.agent_name, given.branch, given.isolation_scope, turn)
            return replace(known, include_contents=given.include_contents or known.include_contents)
        last = self.session.full[-1] if self.session.full else None
        for response in ordinary(last.responses) if last is not None else ():
            if last is not None and (found := self.session.call_of(last, id_of(response))) is not None:
                caller = found[0]
                return self._viewer(caller.author, caller.branch, caller.scope, turn)
        return None

    # --------------------------------------------------------------------------------------------------------- the walk

    def _walk(self) -> None:
        cuts = Cuts(len({entry.place for entry in self.history}) < 2, self.session.compacting)
        seen: dict[str, list[int]] = {}
        settled: dict[Viewer, Settled] = {}
        work = Work()
        read = 0
        for request in sorted(self.all, key=lambda request: request.before):
            for at in range(read, request.before):
                entry = self.history[at]
                cuts.take(at, entry)
                seen.setdefault(entry.scope, []).append(at)
            read = request.before
            viewer = replace(request.viewer, user_content=None)
            before = settled.setdefault(viewer, Settled(self.history, viewer, work))
            self._rebuild(request, cuts.cuts, seen.get(viewer.isolation_scope, []), before)
        for one in settled.values():
            for at, times in one.counted(self.large).items():
                self.copies[self.history[at].at] = self.copies.get(self.history[at].at, 0) + times

    def _rebuild(self, request: Request, cuts: Sequence[int], seen: Sequence[int], before: Settled) -> None:
        """Rebuild the tail of a request and note what the checks want to know."""
        viewer, end = request.viewer, request.before
        nearest = next((at for at in reversed(seen) if request.sees_branch(self.history[at])), None)
        if nearest is None:
            return  # it sees no event at all
        for start in last_pieces(cuts, nearest):
            if not before.work.allows(end - start):
                self.incomplete += 1
                request.fails = True
                return
            tail = piece(self.history, start, end, viewer, last=True)
            if not start or tail.turn is not None or (tail.sent and not hides_history(viewer)):
                break  # else nothing of it has come through to the end, or it is refused: then more must be seen
        request.fails = tail.fails
        if tail.fails:
            return
        request.begins = self.history[tail.turn] if tail.turn is not None else None
        request.dropped = [self.history[at] for at, _ in tail.dropped]
        request.late = self.history[tail.dropped[0][1]] if tail.dropped else None
        older: Sequence[Piece] = ()
        if tail.turn is None and tail.start:
            older = before.up_to(cuts, tail.start)
        else:
            before.new = []
        self.incomplete += any(one.skipped for one in before.new)
        request.empty = not tail.sent and not tail.opened and not any(one.sent for one in older)
        for one in (tail, *before.new):
            self._note(one, request)
        self._note_first([*older[len(older) - len(before.new) :], tail], older, request)
        self._note_turn(request, tail, older)
        for at in tail.sent & self.large:
            place = self.history[at].at
            self.copies[place] = self.copies.get(place, 0) + 1

    def _note(self, one: Piece, request: Request) -> None:
        for at in one.sent:
            entry = self.history[at]
            self.shown.add(entry.at)
            if entry.author not in ("user", request.agent) and entry.record is None and entry.full:
                self.readers.setdefault(entry.at, {})[request.agent] = None
        for at, said in one.odd:
            self.odd.setdefault(self.history[at].at, self.history[said].at)
        for at in one.unheard:
            self.unheard[self.history[at].at] = None

    def _note_first(self, new: Sequence[Piece], older: Sequence[Piece], request: Request) -> None:
        """Calls that open a piece: right behind the words that end the one before it, or first of all."""
        for one in new:
            if one.first is None:
                continue
            earlier = (old for old in reversed(older) if old.end <= one.start)
            ends = next((old.words for old in earlier if old.words is not None), None)
            if ends is None and not self._is_opened(request, one):
                self.odd.setdefault(self.history[one.first].at, None)
            elif ends is not None and ends >= 0:
                self.odd.setdefault(self.history[one.first].at, self.history[ends].at)

    def _is_opened(self, request: Request, one: Piece) -> bool:
        """Whether a task input stands before a piece that opens the request (R5.31)."""
        if one.turn is not None:
            return one.opened
        ledger = Ledger(request.viewer, 0)
        calls = [entry for entry, _ in self.session.calls.get(request.viewer.isolation_scope, ())]
        limit = self._places[request.before] if request.before < len(self._places) else len(self.session.entries)
        ledger.turn = [record_of(e.at, e.event, e.event.content) for e in calls if e.at < limit]
        return task_input(ledger) is not None

    def _note_turn(self, request: Request, tail: Piece, older: Sequence[Piece]) -> None:
        """Whether a record hides what began the request's turn."""
        if not self.session.compacting or not request.turn:
            return
        began = self.session.turns[request.turn][0]
        at = bisect_left(self._places, began.at)
        holder = tail if at >= tail.start else next((one for one in reversed(older) if one.start <= at < one.end), tail)
        for record in holder.covered.get(at, ()):
            self.covered[began.at, self.history[record].at] = None
        begins = request.begins
        if begins is not None and begins.record is not None and began.at < begins.at and request.sees(began):
            self.covered[began.at, begins.at] = None


def _delegated(viewer: Viewer) -> bool:
    """Whether the input of a run is not stored: a single-turn delegate's (R5.33)."""
    return "@" in viewer.branch.rpartition(".")[2]


def _whole(history: Sequence[Entry], viewer: Viewer) -> list[types.Content]:
    """The whole contents that a viewer's request has; none if the engine refuses to build it."""
    quiet = MEASURING.set(True)
    try:
        return assemble([entry.event for entry in history], viewer).contents
    except FlowError:
        return []
    finally:
        MEASURING.reset(quiet)
