"""Responses without a call (R5.15; seed 000, 四.2.7, the first of its six steps)."""

from __future__ import annotations

import logging

from google.genai import types

from adknb.engine.processors.contents.fates import KEPT, Because, Ledger
from adknb.engine.processors.contents.records import Changed, Record, Viewer

log = logging.getLogger(__name__)

STAGE = "orphans"
ORPHAN = Because(STAGE, "R5.15", "no event of the session makes the call {} that it answers")
CUT = Because(STAGE, "R5.15", "it is sent without its response to {}: no event of the session makes that call")
WITH_TEXT = Because(STAGE, "R5.15", "the text {} goes too: it is in the same part as a response without a call")


def drop_orphaned_function_responses(records: list[Record], viewer: Viewer, ledger: Ledger) -> list[Record]:
    """Drop the parts that answer a call which no event of the session has made.

    Every event counts, whatever its branch, scope, author or turn: a call that the viewer cannot see still keeps its
    response from being an orphan. A response without id stays: nothing can be said of it.

    Go: internal/llminternal/contents_processor.go, dropOrphanedFunctionResponses
    """
    known = ledger.known_calls
    lost = {call_id for record in records for call_id in record.responses if call_id and call_id not in known}
    if not lost:
        return records
    log.warning("dropping function responses whose call no event has made: %s", ", ".join(map(repr, sorted(lost))))
    kept = []
    for record in records:
        orphans = tuple(call_id for call_id in record.responses if call_id in lost)
        if orphans:
            parts = [part for part in record.parts if not _is_orphan(part, lost)]
            _note(record, orphans, bool(parts), lost, ledger)
            if not parts:
                continue
            record = Changed(record, parts)
        kept.append(record)
    return kept


def _is_orphan(part: types.Part | None, lost: set[str]) -> bool:
    response = part.function_response if part is not None else None
    return response is not None and response.id in lost


def _note(record: Record, orphans: tuple[str, ...], some_left: bool, lost: set[str], ledger: Ledger) -> None:
    if some_left:
        ledger.note(record.at, KEPT, CUT, orphans)
    else:
        ledger.left_out(record, ORPHAN, orphans)
    for part in record.parts:
        if part is not None and part.text and _is_orphan(part, lost):
            ledger.note(record.at, KEPT, WITH_TEXT, part.text)
