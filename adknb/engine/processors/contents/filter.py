"""The filter: who sees which events (R5.5 to R5.8; seed 000, 四.2.2, 2.3 and 2.5).

Four questions, in order. The first that says no decides; the others that say no are noted behind it, so that a reader
learns at once that changing the branch alone would not bring an event back.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from adknb.engine.processors.contents.fates import ALSO, LEFT_OUT, Because, Ledger, Plain
from adknb.engine.processors.contents.records import Record, Viewer

STAGE = "filter"
NO_CONTENT = Because(STAGE, "R5.5", "it has no content to send: {}")
OTHER_BRANCH = Because(STAGE, "R5.6", "its branch {} is not {} and {} does not start with {}")
OTHER_SCOPE = Because(STAGE, "R5.7", "its isolation scope {} is not {}, and only an equal scope is visible{}")
PROTOCOL = Because(STAGE, "R5.8", "it holds {}, which applications and framework exchange and no model sees")

PROTOCOL_NAMES = frozenset({"adk_request_confirmation", "adk_request_credential"})

Refusal = tuple[Any, ...]
"""A Because and what goes into its sentence."""


def filter_events(records: list[Record], viewer: Viewer, ledger: Ledger) -> list[Record]:
    """Keep the events that the viewer may see and that have something to show.

    Go: internal/llminternal/contents_processor.go, buildContentsDefault
    """
    seen = []
    for record in records:
        for question in QUESTIONS:
            refusal = question(record, viewer, ledger)
            if refusal is not None:
                _note(record, question, refusal, viewer, ledger)
                break
        else:
            seen.append(record)
    return seen


def _note(record: Record, asked: Question, refusal: Refusal, viewer: Viewer, ledger: Ledger) -> None:
    ledger.note(record.at, LEFT_OUT, *refusal)
    for question in QUESTIONS[QUESTIONS.index(asked) + 1 :]:
        further = question(record, viewer, ledger)
        if further is not None:
            ledger.note(record.at, ALSO, *further)


def has_content(record: Record, viewer: Viewer, ledger: Ledger) -> Refusal | None:
    """R5.5: a role and parts; or a transcription, even an empty one; or a usable summary. Parts may still be empty."""
    if record.role and record.parts:
        return None
    event = record.event
    if event.input_transcription is not None or event.output_transcription is not None or has_usable_summary(record):
        return None
    missing = "there is none" if event.content is None else "its role is empty" if record.parts else "it has no parts"
    return NO_CONTENT, Plain(missing)


def on_visible_branch(record: Record, viewer: Viewer, ledger: Ledger) -> Refusal | None:
    """R5.6: a child sees its parents' history, siblings do not see each other."""
    branch = record.event.branch
    if event_belongs_to_branch(viewer.branch, branch):
        return None
    return OTHER_BRANCH, branch, viewer.branch, viewer.branch, branch + "."


def in_exact_scope(record: Record, viewer: Viewer, ledger: Ledger) -> Refusal | None:
    """R5.7: scopes are compared as they are; the empty scope sees the empty scope only."""
    scope = record.event.isolation_scope
    if scope == viewer.isolation_scope:
        return None
    named = scope or viewer.isolation_scope
    opened = ledger.known_calls.get(named)
    where = Plain("" if opened is None else f"; {named!r} is a call of event {opened}")
    return OTHER_SCOPE, scope, viewer.isolation_scope, where


def no_protocol(record: Record, viewer: Viewer, ledger: Ledger) -> Refusal | None:
    """R5.8: an event that asks for a confirmation or credential, or answers, goes whole: its texts and other calls too.

    Go: internal/llminternal/contents_processor.go, shouldExcludeEvent
    """
    if not (record.calls or record.responses):
        return None
    for part in record.parts:
        for what in (part.function_call, part.function_response) if part is not None else ():
            if what is not None and what.name in PROTOCOL_NAMES:
                return PROTOCOL, what.name
    return None


Question = Callable[[Record, Viewer, Ledger], Refusal | None]
QUESTIONS: tuple[Question, ...] = (has_content, on_visible_branch, in_exact_scope, no_protocol)


def event_belongs_to_branch(viewer_branch: str, event_branch: str) -> bool:
    """Whether an agent on one branch sees an event of another: its own, one above, or where either is empty (R5.6).

    On `corp.team`: ``, `corp` and `corp.team` yes; `corp.team.x`, `corp.te` and `team` no.

    Go: internal/utils/utils.go, EventBelongsToBranch
    """
    return (
        not viewer_branch
        or not event_branch
        or viewer_branch == event_branch
        or viewer_branch.startswith(event_branch + ".")
    )


def has_usable_summary(record: Record) -> bool:
    """Whether an event carries a compaction record that has a summary to show.

    Go: internal/compactioninternal/apply.go, HasUsableSummary
    """
    return record.compaction is not None and record.compaction.compacted_content is not None
