"""Assembling a history once more, with fixes: the frame that those behind `contents` share.

A fix has two sides, either of which may be missing. `stored` gives the events as they should have been stored; the
engine's own passes then work on these. `sent` touches the contents that the passes have made. All fixes that stand in
the list so far are applied anew, `stored` sides first, so their order does not matter; and each event's fate says which
fix has touched it. The session is never written to.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from google.genai import types

from adknb.engine.agent import Agent
from adknb.engine.context import InvocationContext
from adknb.engine.errors import FlowError, UnmatchedResponse
from adknb.engine.event import Event, parts_of
from adknb.engine.model import LLMRequest
from adknb.engine.processors.contents import Assembly, Fate, Viewer, assemble, viewer_of
from adknb.engine.processors.contents import contents as engines_contents
from adknb.engine.processors.contents.emit import CONTINUE
from adknb.engine.processors.contents.fates import ALSO, Added, Because

log = logging.getLogger(__name__)

RULE = "fix"
"""What a fate's reason names as its rule where a fix has decided; its stage is the name of the fix."""

Stage = Callable[[InvocationContext, LLMRequest, Any], None]
Note = Callable[..., None]
"""`note(at, sentence, *args)`: write down what a fix does to the event at a position."""


@dataclass(frozen=True)
class Fix:
    """One fix: `stored(events, viewer, agent, note)` gives the events anew, `sent(mended, note)` changes contents."""

    name: str
    stored: Callable[[Sequence[Event], Viewer, Agent | None, Note], list[Event]] | None = None
    sent: Callable[[Mended, Note], None] | None = None


@dataclass
class Mended(Assembly):
    """An assembly with fixes. `events` are the session's as the fixes see them, at the same positions."""

    events: Sequence[Event] = field(default_factory=list, repr=False)
    fixes: tuple[Fix, ...] = ()

    def whose(self, index: int) -> tuple[int, ...]:
        """The positions of the events that a content holds something of; none if it was added."""
        sent = self.ledger.sent
        owner = sent[index] if index < len(sent) else None
        return (owner,) if isinstance(owner, int) else tuple(owner or ())

    def insert(self, index: int, content: types.Content, event: int | None = None, why: Added | None = None) -> None:
        """Put a content in; `event` is the one that it stems from, else `why` says where it comes from."""
        self.contents.insert(index, content)
        self.ledger.sent.insert(index, event)
        self.added = [a if a.content < index else a._replace(content=a.content + 1) for a in self.added]
        if why is not None:
            self.added.append(why._replace(content=index))

    def end_properly(self) -> None:
        """Take a continuation turn back that is no longer needed: somebody else has the last word now (R5.34)."""
        if len(self.contents) < 2 or self.contents[-2].role != "user":
            return
        last = len(self.contents) - 1
        if any(a.content == last and a.rule == "R5.34" for a in self.added) and _is_nudge(self.contents[-1]):
            self.contents.pop()
            self.added = [a for a in self.added if a.content != last]


class Waiting(Assembly):
    """No assembly yet: the history as it is stored cannot be sent, and a fix further on may mend it."""

    def __init__(self, error: UnmatchedResponse, fixes: tuple[Fix, ...] = ()) -> None:
        super().__init__([], [], None, None)  # type: ignore[arg-type]  # nothing was noted
        self.error, self.applied = error, fixes

    @cached_property
    def fates(self) -> list[Fate]:
        """None is decided yet."""
        return []


def mended(
    events: Sequence[Event], viewer: Viewer, fixes: Sequence[Any], agent: Agent | None = None, **private: Any
) -> Mended:
    """What a viewer's next request holds of a history when these fixes are on: `assemble`, with fixes.

    `fixes` are stages of this package; `agent` is whose request it is, for those that look at the agents' tree.

        mended(events, Viewer("clerk"), [ids_by_order]).contents

    Raises:
        UnmatchedResponse: as `assemble` does; fixes may be what prevents it.
    """
    chosen = tuple(dict.fromkeys(getattr(fix, "fix", fix) for fix in fixes))
    view: Sequence[Event] = events
    notes: list[tuple[int, Because, tuple[object, ...]]] = []
    for fix in chosen:
        if fix.stored is not None:
            view = fix.stored(view, viewer, agent, _noting(fix, lambda *noted: notes.append(noted)))
    made = assemble(view, viewer, **private)
    for at, because, args in notes:
        made.ledger.note(at, ALSO, because, *args)
    result = Mended(made.contents, made.added, made.passes, made.ledger, view, chosen)
    for fix in chosen:
        if fix.sent is not None:
            fix.sent(result, _noting(fix, lambda at, because, args: made.ledger.note(at, ALSO, because, *args)))
    result.end_properly()
    return result


def _noting(fix: Fix, write: Callable[[int, Because, tuple[object, ...]], None]) -> Note:
    def note(at: int, sentence: str, *args: object) -> None:
        write(at, Because(fix.name, RULE, sentence), args)

    return note


def behind_contents(fix: Fix) -> Callable[[Stage], Stage]:
    """Make a stage of a fix: the decorated function gives it name and docstring."""

    def decorate(described: Stage) -> Stage:
        def stage(ctx: InvocationContext, request: LLMRequest, flow: Any) -> None:
            _assemble_again(ctx, request, flow, stage)

        stage.__name__ = stage.__qualname__ = described.__name__
        stage.__doc__, stage.__module__ = described.__doc__, described.__module__
        stage.fix = fix  # type: ignore[attr-defined]
        return stage

    return decorate


def contents(ctx: InvocationContext, request: LLMRequest, flow: Any) -> None:
    """ADK's `contents`, for a list with fixes behind it: a history that it cannot send is left to them.

    If none of them can, the last one raises what this stage would have raised.
    """
    try:
        engines_contents(ctx, request, flow)
    except UnmatchedResponse as error:
        flow.assembly = Waiting(error)


def _assemble_again(ctx: InvocationContext, request: LLMRequest, flow: Any, stage: Any) -> None:
    before = flow.assembly
    if before is None:
        raise FlowError(f"{stage.__name__} stands in front of contents, which it mends; put it behind")
    applied = before.applied if isinstance(before, Waiting) else before.fixes if isinstance(before, Mended) else ()
    at = len(request.contents) - len(before.contents)
    if at < 0 or any(a is not b for a, b in zip(request.contents[at:], before.contents, strict=True)):
        log.warning("%s: the contents were written by somebody else since; they stay as they are", stage.__name__)
        return
    private = {"private_events": ctx.private_events, "private_after": ctx.private_after}
    try:
        after: Assembly = mended(ctx.session.events, viewer_of(ctx), [*applied, stage.fix], ctx.agent, **private)
    except UnmatchedResponse as error:
        if not any(hasattr(later, "fix") for later in _behind(flow.request_processors, stage)):
            raise
        after = Waiting(error, (*applied, stage.fix))
    request.contents[at:] = after.contents
    flow.assembly = after


def _behind(stages: Sequence[Any], stage: Any) -> Iterator[Any]:
    yield from stages[list(stages).index(stage) + 1 :] if stage in stages else ()


def _is_nudge(content: types.Content) -> bool:
    return [part.text for part in parts_of(content)] == [CONTINUE]
