"""Several responses as one (R5.22): what the two pairing passes share."""

from __future__ import annotations

from google.genai import types

from adknb.engine.copies.frozen import is_set
from adknb.engine.processors.contents.fates import ALSO, LEFT_OUT, MERGED, Because, Ledger
from adknb.engine.processors.contents.records import Changed, Record


def merge_function_response_events(records: list[Record], stage: str, ledger: Ledger) -> Record:
    """Make one record of several.

    The first is the base, and its role counts. A later response takes the place of an earlier one to the same call; any
    other part goes to the end.

    FR a=p1, b=p2, "x" + FR b=done, "y" -> FR a=p1, b=done, "x", "y"

    Go: internal/llminternal/contents_processor.go, mergeFunctionResponseEvents
    """
    base, *later = records
    if not later:
        return base
    parts = list(base.parts)
    owners = _owners_of(base)
    place = {_answered(part): index for index, part in enumerate(parts)}
    replaced: list[tuple[int, str, int]] = []
    for record in later:
        for part, owner in zip(record.parts, _owners_of(record), strict=True):
            call_id = _answered(part)
            if call_id is not None and call_id in place:
                index = place[call_id]
                replaced.append((owners[index], call_id, owner))
                parts[index], owners[index] = part, owner
            else:
                place[call_id] = len(parts)
                parts.append(part)
                owners.append(owner)
    stems = dict.fromkeys(owner for part, owner in zip(parts, owners, strict=True) if is_set(part))
    merged = Changed(base, parts, owners=owners, shared_by=tuple(stems))
    _note(merged, replaced, stage, ledger)
    return merged


def _owners_of(record: Record) -> list[int]:
    """Whose each part is."""
    return list(record.owners or [record.at] * len(record.parts))


def _answered(part: types.Part | None) -> str | None:
    """The id of the call that a part answers; None for any other part."""
    response = part.function_response if part is not None else None
    return (response.id or "") if response is not None else None


def _note(merged: Record, replaced: list[tuple[int, str, int]], stage: str, ledger: Ledger) -> None:
    together = Because(stage, "R5.22", "one content holds what {} answer to the calls of one event")
    newer = Because(stage, "R5.22", "its response to {} gives way to the newer one of {}")
    older = Because(stage, "R5.22", "its response to {} takes the place of the older one of {}")
    if len(merged.stems) > 1:
        for at in merged.stems:
            ledger.note(at, MERGED, together, merged.stems)
    for old, call_id, new in replaced:
        if old != new:
            ledger.note(old, ALSO if old in merged.stems else LEFT_OUT, newer, call_id, new)
            ledger.note(new, ALSO, older, call_id, old)
