"""The filter: who sees which events (R5.5 to R5.8; seed 000, 四.2.2, 2.3 and 2.5).

The first refusal decides; the others are noted behind it, so that a reader learns at once that another branch alone
would not bring an event back.
"""

from __future__ import annotations

from typing import Any

from adknb.engine.processors.contents.fates import ALSO, LEFT_OUT, Because, Ledger, Plain
from adknb.engine.processors.contents.records import Record, Viewer

STAGE = "filter"
NO_CONTENT = Because(STAGE, "R5.5", "it has no content to send: {}")
OTHER_BRANCH = Because(STAGE, "R5.6", "its branch {} is not {} and {} does not start with {}")
OTHER_SCOPE = Because(STAGE, "R5.7", "its isolation scope {} is not {}, and only an equal scope is visible{}")
PROTOCOL = Because(STAGE, "R5.8", "it holds {}, which applications and framework exchange and no model sees")

Refusal = tuple[Any, ...]
"""A Because and what goes into its sentence."""


def filter_events(records: list[Record], viewer: Viewer, ledger: Ledger) -> list[Record]:
    """Keep the events that the viewer may see and that have something to show.

    Go: internal/llminternal/contents_processor.go, buildContentsDefault
    """
    seen = []
    branch, scope = viewer.branch, viewer.isolation_scope
    for record in records:
        if record.parts and record.role and record.branch == branch and record.scope == scope and not record.protocol:
            seen.append(record)  # the usual case, of which `refusals_of` would say the same
        elif refusals := refusals_of(record, viewer, ledger):
            for refusal in refusals:
                ledger.note(record.at, LEFT_OUT if refusal is refusals[0] else ALSO, *refusal)
        else:
            seen.append(record)
    return seen


def refusals_of(record: Record, viewer: Viewer, ledger: Ledger) -> tuple[Refusal, ...]:
    """What keeps an event from a viewer; empty if nothing does.

    R5.5  It needs a role and parts (which may still be empty), or a transcription, even an empty one, or a summary.
    R5.6  A child sees its parents' history; siblings do not see each other.
    R5.7  Scopes are compared as they are: the empty scope sees the empty scope only.
    R5.8  An event that asks for a confirmation or credential, or answers, goes whole: its texts and other calls too.
          Go: internal/llminternal/contents_processor.go, shouldExcludeEvent
    """
    refusals: tuple[Refusal, ...] = ()
    if not (record.role and record.parts) and not _shows_without_content(record):
        refusals += ((NO_CONTENT, _missing(record)),)
    if record.branch != viewer.branch and not event_belongs_to_branch(viewer.branch, record.branch):
        refusals += ((OTHER_BRANCH, record.branch, viewer.branch, viewer.branch, record.branch + "."),)
    if record.scope != viewer.isolation_scope:
        refusals += (_other_scope(record.scope, viewer, ledger),)
    if record.protocol:
        refusals += ((PROTOCOL, tuple(dict.fromkeys(record.protocol))),)
    return refusals


def _shows_without_content(record: Record) -> bool:
    event = record.event
    transcribed = event.input_transcription is not None or event.output_transcription is not None
    return transcribed or has_usable_summary(record)


def _missing(record: Record) -> Plain:
    if record.compaction is not None:
        return Plain("its compaction record has no summary")
    if record.event.content is None:
        return Plain("there is none")
    return Plain("its role is empty" if record.parts else "it has no parts")


def _other_scope(scope: str, viewer: Viewer, ledger: Ledger) -> Refusal:
    """R5.7, with the event whose call has opened the scope, if there is one."""
    named = scope or viewer.isolation_scope
    opened = ledger.known_calls.get(named)
    where = Plain("" if opened is None else f"; {named!r} is a call of event {opened}")
    return OTHER_SCOPE, scope, viewer.isolation_scope, where


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
