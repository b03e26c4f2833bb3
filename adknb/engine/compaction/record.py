"""What a summarizer is handed, and the record that its answer becomes.

Go: internal/compactioninternal/summary_event.go, newSummaryEvent, SanitizeSummary;
internal/compactioninternal/apply.go, RangeRaced, KnownEventIDs; internal/utils/utils.go, IsProsePart
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from google.genai import types

from adknb.engine.compaction.config import CompactionFailed, Usage
from adknb.engine.compaction.coverage import represents
from adknb.engine.event import Event, EventActions, EventCompaction, parts_of
from adknb.engine.platform import Platform

NO_PROSE = (
    "function_call",
    "function_response",
    "executable_code",
    "code_execution_result",
    "file_data",
    "inline_data",
    "tool_call",
    "tool_response",
)
"""Fields of a part that make it something to act on, whatever text stands beside them."""

Identity = tuple[str, float]
"""Invocation id and time: what every store keeps of an event. Its id is not: one store gives new ones."""


def for_summarizer(window: Iterable[Event]) -> list[Event]:
    """Copies that hold what was said, by whom and when, and nothing else: writing to them changes nothing (6.1).

    Of a record only its range is shown; its summary is the copy's content.
    """
    copies = []
    for event in window:
        record = event.actions.compaction
        copies.append(
            Event(
                id=event.id,
                timestamp=event.timestamp,
                invocation_id=event.invocation_id,
                branch=event.branch,
                isolation_scope=event.isolation_scope,
                author=event.author,
                content=event.content.model_copy(deep=True) if event.content is not None else None,
                actions=EventActions(
                    compaction=EventCompaction(record.start_timestamp, record.end_timestamp) if record else None
                ),
            )
        )
    return copies


def as_summary(answer: Any) -> tuple[types.Content | None, Usage | None]:
    """A summarizer's answer, or a reader's in its place: (summary, usage), a summary alone, a text, or None.

    Raises:
        TypeError: it is none of these.
    """
    content, usage = answer if isinstance(answer, tuple) and len(answer) == 2 else (answer, None)
    if isinstance(content, str):
        content = types.Content(role="model", parts=[types.Part(text=content)])
    if content is not None and not isinstance(content, types.Content):
        raise TypeError(f"a summarizer gives a Content, a text or None, and its usage; not {type(content).__name__}")
    return content, usage


def prose(content: types.Content | None) -> types.Content | None:
    """The parts that are meant to be read, as a model's content; None if there are none (7.1).

    A summary is shown to models as if the framework had said it, so a call in it would stand there without an answer.
    """
    kept = [part.model_copy() for part in parts_of(content) if part is not None and _is_prose(part)]
    return types.Content(role="model", parts=kept) if kept else None


def _is_prose(part: types.Part) -> bool:
    return bool(part.text) and not part.thought and all(getattr(part, name, None) is None for name in NO_PROSE)


def summary_event(
    window: Sequence[Event], stored: Iterable[Event], content: types.Content, usage: Usage | None, platform: Platform
) -> Event:
    """The record of a window's summary: an event by `user` without content, of an invocation of its own (7.2-7.4).

    The range runs from the earliest to the latest of the window. Events in it that were not summed up are named as
    exclusions, but for those that a record in the window already stands for.

    window 2 3 5, stored 2 3 4 5 6 -> range 2..5 without 4

    Raises:
        CompactionFailed: nothing of the summary is prose.

    Go: internal/compactioninternal/summary_event.go, newSummaryEvent; internal/compactioninternal/compactor.go, stamp
    """
    summary = prose(content)
    if summary is None:
        raise CompactionFailed("the summary holds no text that could stand for the events")
    start = min(event.timestamp for event in window)
    end = max(event.timestamp for event in window)
    summed_up = {id(event) for event in window}  # by identity: a time can be shared
    rolled = [event.actions.compaction for event in window if event.actions.compaction is not None]
    excluded: dict[Identity, None] = {}
    for event in stored:
        if event.actions.compaction is not None or not start <= event.timestamp <= end or id(event) in summed_up:
            continue
        if not any(represents(record, event) for record in rolled):
            excluded[(event.invocation_id, event.timestamp)] = None
    return Event(
        id=platform.new_id(),
        invocation_id=f"e-{platform.new_id()}",
        timestamp=platform.clock(),
        author="user",
        branch=window[0].branch,
        isolation_scope=window[0].isolation_scope,
        usage_metadata=usage,
        actions=EventActions(compaction=EventCompaction(start, end, summary, list(excluded))),
    )


def clean(record: Event) -> bool:
    """Keep only the prose of a record's summary; False if nothing is left, or there is no record.

    Go: internal/compactioninternal/summary_event.go, SanitizeSummary
    """
    compaction = record.actions.compaction
    summary = prose(compaction.compacted_content) if compaction is not None else None
    if compaction is None or summary is None:
        return False
    compaction.compacted_content = summary
    return True


def identities(events: Iterable[Event]) -> set[Identity]:
    """The identities of all events, records too."""
    return {(event.invocation_id, event.timestamp) for event in events}


def raced(events: Iterable[Event], known: set[Identity], record: Event) -> bool:
    """Whether something unknown has come in: an event within the record's range, or a record whose range touches it.

    The record would cover the event without having seen it, and both summaries would tell the same.

    Go: internal/compactioninternal/apply.go, RangeRaced
    """
    made = record.actions.compaction
    for event in events:
        if made is None or (event.invocation_id, event.timestamp) in known:
            continue
        other = event.actions.compaction
        start, end = (other.start_timestamp, other.end_timestamp) if other else (event.timestamp, event.timestamp)
        if start <= made.end_timestamp and made.start_timestamp <= end:
            return True
    return False
