"""Compaction summaries stand in for what they cover (R5.13, spec/compaction.md §9; seed 000, 四.2.6).

Nothing is ever deleted from a session: a compaction *record*, an event that carries a summary and a range of time, says
which earlier events the summary stands for.
"""

from __future__ import annotations

from adknb.engine.compaction.coverage import Coverage, covers_all_of
from adknb.engine.event import EventCompaction
from adknb.engine.processors.contents.fates import KEPT, LEFT_OUT, MOVED, SUMMARISED, Because, Ledger
from adknb.engine.processors.contents.filter import has_usable_summary
from adknb.engine.processors.contents.records import Record, Viewer, record_of

STAGE = "summaries"
COVERED = Because(STAGE, "R5.13", "the summary of {} stands for it")
STANDS_FOR = Because(STAGE, "R5.13", "its summary stands for {}, in the place of the first of them")
COVERS_NONE = Because(STAGE, "R5.13", "its summary covers no event of this list and stands where the record does")
UNUSABLE = Because(STAGE, "R5.13", "its compaction record has no summary or ends before it starts")
SUBSUMED = Because(STAGE, "R5.13", "the compaction record of {} covers all that its own does")
CALL_BACK = Because(STAGE, "R5.13", "it was summarised, but its long-running call {} is answered later, by {}")
SIBLING_BACK = Because(STAGE, "R5.13", "it was summarised, but it answers {} of {}, which is shown again")


def apply_summaries(records: list[Record], viewer: Viewer, ledger: Ledger) -> list[Record]:
    """Replace what compaction records cover by their summaries; bring calls back that are answered later.

    user "1" · me "2" · user "3" · record(1..2) "sum" -> model "sum" · user "3"

    Go: internal/compactioninternal/apply.go, Apply
    """
    if not viewer.compaction or all(record.compaction is None for record in records):
        return records
    return _recover_calls(_substitute(records, ledger), records, ledger)


def _substitute(records: list[Record], ledger: Ledger) -> list[Record]:
    """Go: internal/compactioninternal/apply.go, substituteSummaries"""
    survivors = _surviving(records, ledger)
    cover = Coverage(survivors)
    covered_by = [[] if record.compaction else list(cover.of(i, record.event)) for i, record in enumerate(records)]
    stands_for: dict[int, list[int]] = {index: [] for index in survivors}
    for index, by in enumerate(covered_by):
        for keeper in by:
            stands_for[keeper].append(index)
    shown_at: dict[int, list[int]] = {}
    for keeper, covered in sorted(stands_for.items()):
        shown_at.setdefault(covered[0] if covered else keeper, []).append(keeper)
    out = []
    for index, record in enumerate(records):
        for keeper in shown_at.get(index, ()):
            out.append(_summary(records[keeper], [records[i].at for i in stands_for[keeper]], ledger))
        if by := covered_by[index]:
            positions = tuple(records[i].at for i in by)
            ledger.covered[record.at] = positions
            ledger.note(record.at, SUMMARISED, COVERED, positions)
        elif record.compaction is None:
            out.append(record)
    return out


def _summary(record: Record, covered: list[int], ledger: Ledger) -> Record:
    """What a compaction record shows: its summary, with the role and the parts that this has."""
    assert record.compaction is not None
    if covered:
        ledger.note(record.at, KEPT, STANDS_FOR, tuple(covered))
    else:
        ledger.note(record.at, KEPT, COVERS_NONE)
    return record_of(record.at, record.event, record.compaction.compacted_content)


def _surviving(records: list[Record], ledger: Ledger) -> dict[int, EventCompaction]:
    """The records that count: usable, in the right order of times, and not covered whole by another one.

    Sorted so that whoever covers another comes first; then only those that nobody before them covers need be asked.
    Two of one range may cover each other: the later one is gone by its exclusions, the earlier one by its place.
    """
    usable: list[tuple[int, EventCompaction]] = []
    for index, record in enumerate(records):
        compaction = record.compaction
        if compaction is None:
            continue
        if has_usable_summary(record) and compaction.start_timestamp <= compaction.end_timestamp:
            usable.append((index, compaction))
        else:
            ledger.note(record.at, LEFT_OUT, UNUSABLE)
    usable.sort(key=lambda u: (u[1].start_timestamp, -u[1].end_timestamp, len(u[1].excluded), -u[0]))
    survivors: dict[int, EventCompaction] = {}
    open_ones: dict[int, EventCompaction] = {}
    for index, compaction in usable:
        open_ones = {i: c for i, c in open_ones.items() if c.end_timestamp >= compaction.start_timestamp}
        by = next((i for i, c in open_ones.items() if covers_all_of(c, compaction)), None)
        if by is None:
            survivors[index] = open_ones[index] = compaction
            continue
        ledger.note(records[index].at, LEFT_OUT, SUBSUMED, records[by].at)
        if by in survivors and by < index and covers_all_of(compaction, open_ones[by]):
            del survivors[by]
            ledger.note(records[by].at, LEFT_OUT, SUBSUMED, records[index].at)
    return survivors


def _recover_calls(shown: list[Record], source: list[Record], ledger: Ledger) -> list[Record]:
    """Bring back summarised long-running calls whose responses are still there, each just before its response.

    The whole event comes back; for its other calls that have no response left, the newest one comes with it.

    Go: internal/compactioninternal/apply.go, recoverCompactedFunctionCalls
    """
    made = {call_id for record in shown for call_id in record.calls}
    answered = {call_id for record in shown for call_id in record.responses}
    open_ids = answered - made - {""}
    callers: dict[str, Record] = {}
    for record in source if open_ids else ():
        for call_id in record.calls:
            if call_id in open_ids and call_id in record.event.long_running_tool_ids:
                callers.setdefault(call_id, record)
    if not callers:
        return shown
    newest: dict[str, Record] = {}
    for record in source:
        for call_id in record.responses:
            if call_id not in newest or record.event.timestamp >= newest[call_id].event.timestamp:
                newest[call_id] = record
    out = []
    back: set[str] = set()
    for record in shown:
        for call_id in record.responses:
            if call_id in callers and call_id not in back:
                caller = callers[call_id]
                out.append(caller)
                ledger.note(caller.at, MOVED, CALL_BACK, call_id, record.at)
                siblings = {newest[c].at: newest[c] for c in caller.calls if c not in answered and c in newest}
                for sibling in siblings.values():
                    out.append(sibling)
                    ledger.note(sibling.at, MOVED, SIBLING_BACK, sibling.responses, caller.at)
                back.update(caller.calls)
        out.append(record)
    return out
