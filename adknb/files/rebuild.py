"""A model call's request, rebuilt from a recorded session, with the fate of every earlier event.

The assembly is the engine's own (`engine/processors/contents`): what is said here is what the Flow does, not a second
opinion. What a file does not hold (the agent's definition, texts that are never stored) is listed as unknown.

Go: internal/llminternal/contents_processor.go, ContentsRequestProcessor
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from google.genai import types

from adknb.engine.copies.frozen import garbage_collection_waits
from adknb.engine.errors import FlowError
from adknb.engine.event import Event
from adknb.files.delegates import Seed, seed_of
from adknb.files.glance import Glance
from adknb.files.states import state_after
from adknb.files.unknown import what_the_file_cannot_tell
from adknb.files.whose import Question, ask
from adknb.files.wording import in_plain_words, not_read

if TYPE_CHECKING:
    from adknb.engine.model import LLMRequest
    from adknb.engine.processors.contents import Added, Assembly, Fate
    from adknb.files.definition import Definition


@dataclass(frozen=True)
class Material:
    """What requests are rebuilt from: the events of a session, and what is known beside them."""

    events: Sequence[Event]
    name: str
    seen: Glance
    bare_list: bool = False
    state: dict[str, Any] = field(default_factory=dict)
    """The state at the end."""
    definition: Definition | None = None
    sent: dict[int, dict[str, Any]] = field(default_factory=dict)
    """Position of an answer -> the request that was really sent for it."""
    notes: Sequence[str] = ()


@dataclass
class _Made:
    """What came of building: the assembly, or the problem why there is none."""

    contents: list[types.Content] = field(default_factory=list)
    assembly: Assembly | None = None
    request: LLMRequest | None = None
    problem: str = ""
    defined: list[str] | None = None
    """What an attached definition leaves open; None where there is none."""


class Rebuilt:
    """The request of an agent's model call, or of the call that would have come, at one event of a recording.

    `contents` are the request's; `fates` has one entry for each of `events`, the part of the session that the call
    could have seen, in order; `added` is what the assembly put in itself. `request` is the whole request, where the
    agent's definition is attached, else None. `unknown` says in plain words what cannot be told. `problem` is the
    error, if ADK-Go refuses to build the request; then there are no contents and no fates. `sent` is the request as it
    was really sent, as JSON, where the file has it.

    `event` is what was asked about; the call was made after `before` events were stored: `event`, if a model wrote it,
    else one more. `answered` says whether `event` is the answer to this very request.
    """

    def __init__(self, material: Material, question: Question) -> None:
        self.agent = question.agent
        self.event = question.event
        self.before = question.before
        self.answered = question.answered
        self.branch = question.branch
        self.scope = question.scope
        self.name = material.name
        self.all_events = material.events
        self._material, self._question = material, question

    @property
    def events(self) -> Sequence[Event]:
        """The part of the session that the call could have seen."""
        return self.all_events[: self.before]

    @property
    def contents(self) -> list[types.Content]:
        """The contents of the request; independent of the session."""
        return self._made.contents

    @property
    def request(self) -> LLMRequest | None:
        """The whole request; None without the agent's definition."""
        return self._made.request

    @property
    def problem(self) -> str:
        """Why ADK-Go does not build this request; empty if it does."""
        return self._made.problem

    @property
    def sent(self) -> dict[str, Any] | None:
        """The request as it was really sent, as JSON; None if the file does not have it."""
        return self._material.sent.get(self.event) if self.answered else None

    @property
    def assembly(self) -> Assembly | None:
        """How the contents were put together, as the engine tells it; None where there is a problem."""
        return self._made.assembly

    @property
    def seed(self) -> Seed | None:
        """The text that only a delegate sees, and where it stands; None if the agent is no delegate."""
        return self._seed

    def stored(self) -> list[Event]:
        """`events`, with an empty event in the place of each that was never stored (a chunk of a stream)."""
        chunks = self._chunks
        return [Event() if i in chunks else event for i, event in enumerate(self.events)]

    @cached_property
    def fates(self) -> list[Fate]:
        """What became of each of `events`, in order."""
        from adknb.engine.processors.contents import Reason

        if self._made.assembly is None:
            return []
        never_stored = (Reason("stored", "", "a chunk of a stream: it was sent to the client and never stored"),)
        chunks = self._chunks
        return [
            f._replace(reasons=never_stored) if f.event in chunks else in_plain_words(f, self.all_events[f.event])
            for f in self._made.assembly.fates
        ]

    @cached_property
    def added(self) -> list[Added]:
        """Contents that no event stands behind."""
        if self._made.assembly is None:
            return []
        seed = self._seed
        return [
            added._replace(why=seed.why) if seed is not None and added.rule == "R5.33" else added
            for added in self._made.assembly.added
        ]

    @cached_property
    def unknown(self) -> list[str]:
        """What cannot be told, a sentence each."""
        seen, defined, sent = self._material.seen, self._made.defined, self.sent is not None
        told = what_the_file_cannot_tell(self.all_events, self._question, self._seed, seen, defined, sent)
        unread = not_read(self.fates, self.events) if self.fates else []
        return [*unread, *told, *self._material.notes]

    def text(self, width: int = 100, full: bool = False) -> str:
        """The explanation in plain words: what was asked, what is not in it and why, what is unknown.

        `full`: with every content in full, on as many lines as it takes; else a line for each part, cut to `width`.
        """
        from adknb.files.explain import explanation

        return explanation(self, width, full)

    def to_json(self) -> dict[str, Any]:
        """All of it as JSON: who, when, the contents, each event's fate with its reasons, what is unknown."""
        from adknb.files.as_json import rebuilt_json

        return rebuilt_json(self)

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        kinds: dict[str, int] = {}
        for fate in self.fates:
            kinds[fate.kind] = kinds.get(fate.kind, 0) + 1
        count = "1 content" if len(self.contents) == 1 else f"{len(self.contents)} contents"
        of = "1 event" if self.before == 1 else f"{self.before} events"
        fates = ", ".join(f"{n} {kind.replace('_', ' ')}" for kind, n in kinds.items())
        what = f"{count} from {of}" + (f": {fates}" if fates else "") if not self.problem else "cannot be built"
        return f"Rebuilt({self.agent} at event {self.event}, {what})"

    def _repr_html_(self) -> str:
        from adknb.files.html import rebuilt_html

        return rebuilt_html(self)

    # ------------------------------------------------------------------------------------------------------- building

    @cached_property
    def _seed(self) -> Seed | None:
        return seed_of(self.all_events, self._question)

    @cached_property
    def _chunks(self) -> set[int]:
        """Events of a bare list that were never stored, so that no request held them."""
        if not self._material.bare_list:
            return set()
        return {i for i in range(self.before) if self.all_events[i].partial}

    @cached_property
    def _made(self) -> _Made:
        seed = self._seed
        if seed is not None and seed.content is None:
            return _Made(problem=seed.problem)
        try:
            with garbage_collection_waits(), _without_log():
                return self._assembled(seed)
        except FlowError as error:
            return _Made(problem=f"ADK-Go does not build this request: {error}")

    def _assembled(self, seed: Seed | None) -> _Made:
        """What the engine makes of the earlier events. Raises FlowError where it refuses."""
        earlier = self.stored()
        private = [Event(author="user", content=seed.content)] if seed is not None else []
        after = seed.position if seed is not None else 0
        definition = self._material.definition
        agent = definition.agent(self.agent) if definition is not None else None
        if definition is not None and agent is not None:
            return self._with_definition(earlier, definition, agent, private, after)
        from adknb.engine.processors.contents import Viewer, assemble

        viewer = Viewer(
            agent_name=self.agent,
            branch=self.branch,
            isolation_scope=self.scope,
            bound_mode="single_turn" if seed is not None else "",
            compaction=bool(self._material.seen.records),
            user_content=_last_words_of_the_user(earlier),
        )
        assembly = assemble(earlier, viewer, private_events=private, private_after=after)
        return _Made(assembly.contents, assembly)

    def _with_definition(
        self, earlier: Sequence[Event], definition: Definition, agent: Any, private: list[Event], after: int
    ) -> _Made:
        from adknb.files.attached import Place, build_request, not_told

        place = Place(
            events=earlier,
            state=state_after(self.all_events, self.before - 1, self._material.state),
            branch=self.branch,
            scope=self.scope,
            delegate=bool(private),
            user_content=_last_words_of_the_user(earlier),
            private_events=private,
            private_after=after,
            compaction=bool(self._material.seen.records),
        )
        made = build_request(agent, place)
        defined = [*made.untold, *not_told(agent, definition, self.all_events, self.before, self._material.state)]
        return _Made(made.request.contents, made.assembly, made.request, defined=defined)


def rebuild(material: Material, position: int, agent: str | None) -> Rebuilt:
    """The request of the model call that `whose.ask` finds at `position`.

    Chunks of a stream were never stored, so no request held them; in a bare list of events (perhaps what a client
    received) they are left out here. In a session they are kept, as the reference sends what is stored.

    Raises:
        BadData: there is no such agent, or nobody to ask for.
    """
    agents = material.seen.agents
    if material.definition is not None:
        agents = list(dict.fromkeys([*agents, *material.definition.names()]))
        if agent is None and not material.seen.agents:  # nobody has answered yet: the root would
            agent = material.definition.first()
    return Rebuilt(material, ask(material.events, position, agent, material.name, agents))


@contextmanager
def _without_log() -> Iterator[None]:
    """Keep the engine's warnings off the terminal: here the fates say the same. A configured log still gets them."""
    logger, handler = logging.getLogger("adknb.engine"), logging.NullHandler()
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)


def _last_words_of_the_user(earlier: Sequence[Event]) -> types.Content | None:
    """What the run was started with, as near as a file can tell (spec R5.31)."""
    return next((e.content for e in reversed(earlier) if e.author == "user" and e.content is not None), None)
