"""The working list of the passes: a Record is what is to become one content, and knows where it stems from.

Passes share the parts of the session's events and never write to them: a pass that changes something makes a new
Record. Parts are copied once, by the last pass.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from google.genai import types

from adknb.engine.event import Event


@dataclass(frozen=True)
class Viewer:
    """Who is going to read the contents, and what its run allows it to see.

    `mode` is what the agent was declared with, `bound_mode` what a placement has set for this run: two things
    (spec/request.md §0). `compaction` says whether this run is configured for it. `user_content` is the run's message.
    """

    agent_name: str
    branch: str = ""
    isolation_scope: str = ""
    include_contents: str = ""
    mode: str = ""
    bound_mode: str = ""
    compaction: bool = False
    user_content: types.Content | None = None

    @property
    def effective_mode(self) -> str:
        """The bound mode if there is one, else the declared one."""
        return self.bound_mode or self.mode


Parts = Sequence[types.Part | None]
"""A session file may hold null parts."""

NO_IDS: tuple[str, ...] = ()

PROTOCOL_NAMES = frozenset({"adk_request_confirmation", "adk_request_credential"})
"""Calls that application and framework exchange."""


class Record:
    """One item of the working list.

    `at` is the position of the event it stands for; below 0 it is one that only this run sees (R5.33). `packed` are
    copies of its parts, where they have been made already (copies/packed.py). `calls` and `responses` are the ids of
    its function calls and responses, `""` where there is none; `protocol` holds the names of those among them that no
    model may see (R5.8). What the passes ask of the event stands here too: an event is read once, since its parts lie
    scattered in memory.
    """

    __slots__ = (
        "at",
        "author",
        "branch",
        "calls",
        "compaction",
        "event",
        "packed",
        "parts",
        "protocol",
        "responses",
        "role",
        "scope",
    )

    reworded = False
    """Whether of the event itself only author, branch and time are left (R5.12)."""
    shared_by: tuple[int, ...] = ()
    owners: Sequence[int] = ()
    """Whose each part is, after a merge."""

    def __init__(self, at: int, event: Event, role: str | None, parts: Parts) -> None:
        self.at = at
        self.event = event
        self.author = event.author
        self.branch = event.branch
        self.scope = event.isolation_scope
        self.compaction = event.actions.compaction
        self.role = role
        self.parts = parts
        self.packed: list[Any] | None = None
        calls = responses = protocol = NO_IDS
        for part in parts:
            if part is not None:
                fields = part.__dict__  # past pydantic's attribute access, which costs more than the rest of the loop
                if (call := fields["function_call"]) is not None:
                    calls += (call.id or "",)
                    if call.name in PROTOCOL_NAMES:
                        protocol += (call.name,)
                if (response := fields["function_response"]) is not None:
                    responses += (response.id or "",)
                    if response.name in PROTOCOL_NAMES:
                        protocol += (response.name,)
        self.protocol = protocol
        self.calls = calls
        self.responses = responses

    def __repr__(self) -> str:
        return f"Record({self.at}, {self.role}, {kind_of(self)})"

    @property
    def stems(self) -> tuple[int, ...]:
        """The positions of all events that it holds something of: more than one after a merge."""
        return self.shared_by or (self.at,)

    @property
    def heard(self) -> str:
        """The text of the event's input transcription."""
        heard = None if self.reworded else self.event.input_transcription
        return (heard.text or "") if heard is not None else ""

    @property
    def spoken(self) -> str:
        """The text of the event's output transcription."""
        spoken = None if self.reworded else self.event.output_transcription
        return (spoken.text or "") if spoken is not None else ""


class Changed(Record):
    """A record that a pass has made of others: other parts, other words, or those of several events."""

    __slots__ = ("owners", "reworded", "shared_by")

    def __init__(
        self,
        of: Record,
        parts: Parts,
        role: str | None = None,
        reworded: bool = False,
        owners: Sequence[int] = (),
        shared_by: tuple[int, ...] = (),
    ) -> None:
        super().__init__(of.at, of.event, of.role if role is None else role, parts)
        self.reworded = reworded or of.reworded
        if self.reworded:
            self.compaction = None
        self.owners = owners
        self.shared_by = shared_by


def record_of(at: int, event: Event, content: types.Content | None) -> Record:
    """A record of an event that shows this content: its own, or the summary it carries."""
    return Record(at, event, None, ()) if content is None else Record(at, event, content.role, content.parts or ())


class Snapshot(NamedTuple):
    """A record as a slider shows it: the events it stems from, its role, and what it is in a word."""

    events: tuple[int, ...]
    role: str
    kind: str


class PassSnapshot(NamedTuple):
    """The working list as it stood after a pass."""

    name: str
    records: tuple[Snapshot, ...]


class Snapshots(list[PassSnapshot]):
    """The working list after every pass. A record that a pass leaves alone is told once, and shared."""

    def __init__(self) -> None:
        super().__init__()
        self._told: dict[int, tuple[Record, Snapshot]] = {}
        self._last: list[Record] = []

    def take(self, name: str, records: list[Record]) -> None:
        """Keep the working list of this moment, in a few bytes a record."""
        same = bool(self) and records == self._last  # records are equal to themselves only: a quick walk
        self.append(PassSnapshot(name, self[-1].records if same else tuple(map(self._tell, records))))
        self._last = list(records)

    def done(self) -> list[PassSnapshot]:
        """The snapshots alone: the records are let go."""
        return list(self)

    def _tell(self, record: Record) -> Snapshot:
        told = self._told.get(id(record))
        if told is None:
            told = self._told[id(record)] = (record, Snapshot(record.stems, record.role or "", kind_of(record)))
        return told[1]


def kind_of(record: Record) -> str:
    """What a record is, in a word or two."""
    if record.calls and record.responses:
        return "call and response"
    if record.calls:
        return "call"
    if record.responses:
        return "response"
    if record.compaction is not None:
        return "summary" if record.parts else "compaction record"
    if not record.parts:
        return "transcription" if record.heard or record.spoken else "empty"
    return "text" if any(part is not None and part.text for part in record.parts) else "other"
