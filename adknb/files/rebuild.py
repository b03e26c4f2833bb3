"""The contents of a model call, rebuilt from a recorded session, with the fate of every earlier event.

The assembly is the engine's own (`engine/processors/contents`): what is said here is what the Flow does, not a second
opinion. What a file does not hold (the agent's definition, texts that are never stored) is listed as unknown.

Go: internal/llminternal/contents_processor.go, ContentsRequestProcessor
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from google.genai import types

from adknb.engine.errors import FlowError
from adknb.engine.event import Event
from adknb.files.delegates import Seed, seed_of
from adknb.files.unknown import what_the_file_cannot_tell
from adknb.files.whose import ask
from adknb.files.wording import in_plain_words, not_read

if TYPE_CHECKING:
    from adknb.engine.processors.contents import Added, Fate


@dataclass(frozen=True)
class Rebuilt:
    """The contents that an agent's model call was given, or would have been given, at one event of a recording.

    `contents` are the request's; `fates` has one entry for each of `events`, the part of the session that the call
    could have seen, in order; `added` is what the assembly put in itself. `request` is None: without the agent's
    definition there are only contents. `unknown` says in plain words what the file cannot tell. `problem` is the
    error, if ADK-Go refuses to build the request; then there are no contents and no fates.
    """

    contents: list[types.Content]
    fates: list[Fate]
    request: None
    unknown: list[str]
    agent: str
    before: int
    """The call was made after `before` events were stored: it could see `events[:before]`."""
    event: int
    """The event that was asked about: `before` if a model wrote it, else `before - 1`."""
    answered: bool
    """Whether `event` is the answer to this very request."""
    events: list[Event] = field(repr=False)
    all_events: Sequence[Event] = field(repr=False)
    added: list[Added] = field(default_factory=list)
    problem: str = ""
    branch: str = ""
    scope: str = ""
    name: str = ""
    """The name of the file."""

    def text(self, width: int = 100, full: bool = False) -> str:
        """The explanation in plain words: what was asked, what is not in it and why, what is unknown.

        `full`: with every content in full, on as many lines as it takes; else a line for each part, cut to `width`.
        """
        from adknb.files.explain import explanation

        return explanation(self, width, full)

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


def rebuild(events: Sequence[Event], position: int, agent: str | None, name: str, bare_list: bool = False) -> Rebuilt:
    """Rebuild the contents of the model call that `whose.ask` finds at `position`.

    Chunks of a stream were never stored, so no request held them; in a bare list of events (perhaps what a client
    received) they are left out here. In a session they are kept, as the reference sends what is stored.

    Raises:
        BadData: there is no such agent, or nobody to ask for.
    """
    question = ask(events, position, agent, name)
    earlier = list(events[: question.before])
    seed = seed_of(events, question)
    unbuilt = Rebuilt(
        contents=[],
        fates=[],
        request=None,
        unknown=what_the_file_cannot_tell(events, earlier, question, seed),
        agent=question.agent,
        before=question.before,
        event=question.event,
        answered=question.answered,
        events=earlier,
        all_events=events,
        branch=question.branch,
        scope=question.scope,
        name=name,
    )
    if seed is not None and seed.content is None:
        return replace(unbuilt, problem=seed.problem)
    try:
        return _assembled(unbuilt, seed, bare_list)
    except FlowError as error:
        return replace(unbuilt, problem=f"ADK-Go does not build this request: {error}")


def _assembled(unbuilt: Rebuilt, seed: Seed | None, bare_list: bool) -> Rebuilt:
    """What the engine makes of the earlier events. Raises FlowError where it refuses."""
    from adknb.engine.processors.contents import Reason, Viewer, assemble

    earlier = unbuilt.events
    viewer = Viewer(
        agent_name=unbuilt.agent,
        branch=unbuilt.branch,
        isolation_scope=unbuilt.scope,
        bound_mode="single_turn" if seed is not None else "",
        compaction=any(event.actions.compaction is not None for event in unbuilt.all_events),
        user_content=_last_words_of_the_user(earlier),
    )
    chunks = {i for i, event in enumerate(earlier) if bare_list and event.partial}
    with _without_log():
        assembly = assemble(
            [Event() if i in chunks else event for i, event in enumerate(earlier)],  # places stay what they are
            viewer,
            private_events=[Event(author="user", content=seed.content)] if seed is not None else [],
            private_after=seed.position if seed is not None else 0,
        )
    never_stored = (Reason("stored", "", "a chunk of a stream: it was sent to the client and never stored"),)
    fates = [
        f._replace(reasons=never_stored) if f.event in chunks else in_plain_words(f, earlier[f.event])
        for f in assembly.fates
    ]
    return replace(
        unbuilt,
        contents=assembly.contents,
        fates=fates,
        unknown=[*not_read(fates, earlier), *unbuilt.unknown],
        added=[
            added._replace(why=seed.why) if seed is not None and added.rule == "R5.33" else added
            for added in assembly.added
        ],
    )


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
