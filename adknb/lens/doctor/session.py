"""The session as the checks read it: its events with their turns, who calls and who answers, what is known besides.

Source: spec/doctor.md 0.1 (what is given), 0.5 to 0.7 (words, model events, turns)
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from adknb.engine.copies.frozen import is_set
from adknb.engine.event import Event
from adknb.engine.processors.contents import Viewer
from adknb.lens.doctor.definitions import Definition, Definitions
from adknb.lens.doctor.entry import SET_MODEL_RESPONSE, Call, Entry, Response, id_of, name_of, ordinary
from adknb.lens.doctor.templates import Template, keys_read, reads, templates

if TYPE_CHECKING:
    from adknb.lens.doctor.requests import Requests
    from adknb.lens.doctor.secrets import Secrets


@dataclass(frozen=True)
class SentRequest:
    """A request that was really sent: what it was answered by, and what is recorded of it. None: not recorded."""

    event: int | None
    agent: str = ""
    config: dict[str, Any] | None = None
    tools: list[str] | None = None


@dataclass
class DoctorSession:
    """What the doctor is given (0.1). None means unknown, never empty.

    `stream`: the events are what a reader of the run received, chunks included. `viewer`: who is about to be asked.
    `expectations`: the events are what an evaluation expects; ids and results may be their reader's own.
    `acted`: the positions of events that came with an `actions` object; None where the file's shape does not tell.
    """

    events: Sequence[Event]
    state: dict[str, Any] | None = None
    definitions: Definitions | None = None
    instruction: str = ""
    compaction: bool | None = None
    stream: bool = False
    sent: list[SentRequest] = field(default_factory=list)
    viewer: Viewer | None = None
    expectations: bool = False
    acted: frozenset[int] | None = None

    # ------------------------------------------------------------------------------------------------ events and turns

    @cached_property
    def entries(self) -> list[Entry]:
        """All events, chunks too, each with its turn."""
        entries = [Entry(at, event) for at, event in enumerate(self.events)]
        _number_turns(entries)
        return entries

    @cached_property
    def whole(self) -> list[Entry]:
        """The events that are no chunks: what a check means by an event unless it says otherwise."""
        return [entry for entry in self.entries if not entry.event.partial]

    @cached_property
    def chunks(self) -> list[Entry]:
        """The partial events."""
        return [entry for entry in self.entries if entry.event.partial]

    @cached_property
    def turns(self) -> list[list[Entry]]:
        """The whole events by turn; the first list is of those before any turn has begun, perhaps empty."""
        turns: list[list[Entry]] = [[] for _ in range(self.entries[-1].turn + 1 if self.entries else 1)]
        for entry in self.whole:
            turns[entry.turn].append(entry)
        return turns

    @cached_property
    def full(self) -> list[Entry]:
        """The whole events with content."""
        return [entry for entry in self.whole if entry.full]

    @cached_property
    def scopes(self) -> set[str]:
        """The isolation scopes of all events: ids of calls that tasks were given by."""
        return {entry.scope for entry in self.entries if entry.scope}

    @cached_property
    def speakers(self) -> set[str]:
        """The agents that say something."""
        return {entry.author for entry in self.full if entry.author not in ("", "user")}

    @cached_property
    def last_agent(self) -> Entry | None:
        """The last event by an agent, with content or not."""
        return next((entry for entry in reversed(self.whole) if entry.author not in ("", "user")), None)

    @cached_property
    def transcribed(self) -> bool:
        """Whether the file holds transcriptions."""
        return any(entry.transcribed for entry in self.whole)

    @cached_property
    def model_events(self) -> list[Entry]:
        """The events that a model wrote (0.6)."""
        finals = self.structured_finals
        return [entry for entry in self.full if is_answer(entry) and entry.at not in finals]

    @cached_property
    def model_places(self) -> set[int]:
        """Their positions."""
        return {entry.at for entry in self.model_events}

    @cached_property
    def structured_finals(self) -> set[int]:
        """Positions of the texts that the Flow makes of a `set_model_response`: right after it, by the same agent."""
        finals = set()
        last: dict[tuple[str, str], Entry] = {}
        for entry in self.full:
            if entry.protocol:
                continue
            before = last.get(entry.place)
            if before is not None and before.author == entry.author and not entry.calls and not entry.responses:
                structured = any(name_of(response) == SET_MODEL_RESPONSE for response in before.responses)
                finals |= {entry.at} if structured else set()
            last[entry.place] = entry
        return finals

    # --------------------------------------------------------------------------------------------- calls and responses

    @cached_property
    def calls(self) -> dict[str, list[tuple[Entry, Call]]]:
        """Id -> the calls that carry it, in order; the empty id too. A record counts with compaction on only (R5.1)."""
        calls: dict[str, list[tuple[Entry, Call]]] = {}
        for entry in self.counted:
            for call in entry.calls:
                calls.setdefault(id_of(call), []).append((entry, call))
        return calls

    @cached_property
    def answers(self) -> dict[str, list[tuple[Entry, Response]]]:
        """Id -> the responses that carry it, in order; the empty id too."""
        answers: dict[str, list[tuple[Entry, Response]]] = {}
        for entry in self.counted:
            for response in entry.responses:
                answers.setdefault(id_of(response), []).append((entry, response))
        return answers

    @cached_property
    def counted(self) -> list[Entry]:
        """The whole events without the records that do not count (R5.1)."""
        return self.whole if self.compacting else [entry for entry in self.whole if entry.record is None]

    def call_of(self, entry: Entry, call_id: str) -> tuple[Entry, Call] | None:
        """The call that a response in an event answers: the nearest before, else the first; None if there is none."""
        calls = self.calls.get(call_id, []) if call_id else []
        return next((one for one in reversed(calls) if one[0].at < entry.at), calls[0] if calls else None)

    def answer_to(self, entry: Entry, call: Call) -> Response | None:
        """What answers a call: the last response with its id; for a call without id, the next such of its name."""
        if id_of(call):
            answers = self.answers.get(id_of(call))
            return answers[-1][1] if answers else None
        told = self._told_without_id.get(call.name, ([], []))
        n = bisect_right(told[0], entry.at)
        if n == len(told[0]):
            return None
        first = told[1][n : bisect_right(told[0], told[0][n])]
        alike = [one for one in entry.calls if not id_of(one) and one.name == call.name]
        nth = next(i for i, one in enumerate(alike) if one is call)
        return first[min(nth, len(first) - 1)]

    def is_answered(self, entry: Entry, call: Call) -> bool:
        """Whether a response has a call's id, or comes later without id under its name."""
        if id_of(call) and id_of(call) in self.answers:
            return True
        places, _ = self._told_without_id.get(call.name, ([], []))
        return bool(places) and places[-1] > entry.at

    @cached_property
    def _told_without_id(self) -> dict[str | None, tuple[list[int], list[Response]]]:
        """Name -> the positions of the responses without id under it, in order, and the responses."""
        told: dict[str | None, tuple[list[int], list[Response]]] = {}
        for entry, response in self.answers.get("", []):
            places, responses = told.setdefault(response.name, ([], []))
            places.append(entry.at)
            responses.append(response)
        return told

    # ----------------------------------------------------------------------------------------------- what else is known

    @cached_property
    def records(self) -> list[Entry]:
        """The events that carry a compaction record."""
        return [entry for entry in self.whole if entry.record is not None]

    @cached_property
    def compacting(self) -> bool:
        """Whether records count: as given, else if the file holds any (0.1)."""
        return bool(self.records) if self.compaction is None else self.compaction

    def definition(self, agent: str) -> Definition | None:
        """What an agent was defined as; None if that is unknown."""
        return self.definitions.get(agent) if self.definitions is not None else None

    @cached_property
    def templates(self) -> list[Template]:
        """The templates of all instructions (0.1)."""
        return templates(self.definitions, self.instruction)

    def keys_read_by(self, agent: str) -> set[str]:
        """The state keys that an agent's instructions ask for, as far as they are known."""
        if self.definitions is None:
            return keys_read([self.instruction])
        one = self.definitions.get(agent)
        return keys_read(reads(one)) if one is not None else set()

    def has_actions(self, entry: Entry) -> bool:
        """Whether an event came with an `actions` object; guessed from the other events where that is not recorded."""
        return self._actions_seen if self.acted is None else entry.at in self.acted

    @cached_property
    def _actions_seen(self) -> bool:
        nothing = type(self.events[0].actions)() if self.events else None
        return any(event.actions != nothing for event in self.events)

    @cached_property
    def deltas(self) -> dict[str, list[Entry]]:
        """State key -> the events that write it, in order."""
        writers: dict[str, list[Entry]] = {}
        for entry in self.whole:
            for key in entry.delta:
                writers.setdefault(key, []).append(entry)
        return writers

    @cached_property
    def requests(self) -> Requests:
        """The requests that the events tell of (0.8)."""
        from adknb.lens.doctor.requests import Requests

        return Requests(self)

    @cached_property
    def secrets(self) -> Secrets:
        """Everything in the session that looks like a secret; none of it may be told."""
        from adknb.lens.doctor.secrets import Secrets

        return Secrets(self)

    def once(self, work: Callable[[DoctorSession], Any]) -> Any:
        """What a function of the session gives, worked out once: for what several checks share."""
        done = self.__dict__.setdefault("_done", {})
        if work not in done:
            done[work] = work(self)
        return done[work]


def is_answer(entry: Entry) -> bool:
    """Whether an event looks like a model's, structured finals not told apart (0.6)."""
    return (
        entry.full
        and entry.author not in ("", "user")
        and entry.role != "user"
        and not entry.responses
        and len(ordinary(entry.calls)) == len(entry.calls)
        and entry.record is None
    )


def _number_turns(entries: list[Entry]) -> None:
    """Write each event's turn into it (0.7): 0 before the first has begun."""
    scopes = {entry.scope for entry in entries if entry.scope}
    turn, last, others_spoke = 0, None, False
    for entry in entries:
        if entry.full and not entry.event.partial:
            if not entry.by_user:
                others_spoke = True
            else:
                if _begins(entry, last, others_spoke, scopes):
                    turn += 1
                last, others_spoke = entry, False
        entry.turn = turn


def _only_responses(entry: Entry) -> bool:
    return not entry.text and all(part.function_response is not None for part in entry.parts if is_set(part))


def _begins(entry: Entry, last: Entry | None, others_spoke: bool, scopes: set[str]) -> bool:
    """Whether a full user event begins a turn: not a record, a task's result, live audio, or its own repetition."""
    if entry.record is not None or entry.live_audio:
        return False
    if entry.responses and all(id_of(response) in scopes for response in entry.responses) and _only_responses(entry):
        return False
    return (
        last is None
        or others_spoke
        or not entry.event.invocation_id
        or entry.event.invocation_id != last.event.invocation_id
        or entry.parts != last.parts
    )
