"""Every call is followed by its response (R5.23 to R5.26; seed 000, 四.2.7, steps 3, 4 and 6).

Model protocols want a response right behind its call, whatever was said or done while a tool was at work.
"""

from __future__ import annotations

from adknb.engine.processors.contents.fates import MOVED, Because, Ledger, Plain
from adknb.engine.processors.contents.merge import merge_function_response_events
from adknb.engine.processors.contents.records import Record, Viewer

STAGE = "history"
BEHIND = Because(STAGE, "R5.24", "it answers {} and goes right behind it")
TO_THE_END = Because(STAGE, "R5.24", "its call is answered by the last event, so the two go to the end")
TWICE = Because(STAGE, "R5.25", "it answers {} and stands behind each of them")
NEWER = Because(STAGE, "R5.25", "the call {} is answered again by {}, and the last answer counts")
UNREACHED = Because(STAGE, "R5.26", "no visible call of {} has the id {} that it answers{}")
ITSELF = Because(STAGE, "R5.26", "it answers the call {} that it makes itself, and such an event is never sent")


def rearrange_for_function_responses_in_history(records: list[Record], viewer: Viewer, ledger: Ledger) -> list[Record]:
    """Put behind each event with calls, in one content, the last response to each of them; drop all other responses.

    An event with a response never stands where it stood, not even for its own calls. The pairs that the last event
    answers go to the end, so that what the model reacts to comes last.

    call a · FR a=pending · call b · FR b · FR a=done -> call b · FR b · call a · FR a=done

    Go: internal/llminternal/contents_processor.go, rearrangeEventsForFunctionResponsesInHistory
    """
    if len(records) < 2:
        return records
    answering = [index for index, record in enumerate(records) if record.responses]
    if not answering:
        return records
    answers = {call_id: index for index in answering for call_id in records[index].responses}
    last = len(records) - 1
    out: list[Record] = []
    tail: list[Record] = []
    pairs: list[tuple[int, list[int]]] = []
    for index, record in enumerate(records):
        if record.responses:
            continue
        if not record.calls:
            out.append(record)
            continue
        found = sorted({answers[call_id] for call_id in record.calls if call_id in answers})
        place = tail if last in found else out
        place.append(record)
        if found:
            place.append(_one_response([records[i] for i in found], ledger))
            pairs.append((index, found))
    if len(pairs) < len(answering) or any(found != [index + 1] for index, found in pairs):  # else all is in order
        _note_what_moved(records, answers, pairs, ledger)
    return out + tail


def _one_response(found: list[Record], ledger: Ledger) -> Record:
    return found[0] if len(found) == 1 else merge_function_response_events(found, STAGE, ledger)


def _note_what_moved(
    records: list[Record], answers: dict[str, int], pairs: list[tuple[int, list[int]]], ledger: Ledger
) -> None:
    callers: Callers = {}
    for index, found in pairs:
        for i in found:
            callers.setdefault(i, []).append(index)
    _note_responses(records, answers, callers, ledger)
    _note_calls_at_the_end(records, callers, ledger)


Callers = dict[int, list[int]]
"""Index of a record with responses -> those of the records whose calls it answers."""


def _note_responses(records: list[Record], answers: dict[str, int], callers: Callers, ledger: Ledger) -> None:
    """Say which responses have moved, are sent more than once, or not at all."""
    visible: set[str] = set()
    standing = [0]  # how many of the first i records stand where they stood
    for record in records:
        if not record.responses:
            visible.update(record.calls)
        standing.append(standing[-1] + (not record.responses))
    for index, record in enumerate(records):
        if not record.responses:
            continue
        called_by = callers.get(index)
        if called_by is None:
            _note_gone(record, records, answers, visible, ledger)
            continue
        call = called_by[0]
        if len(called_by) > 1:
            _note_moved(record, ledger, TWICE, tuple(records[i].at for i in called_by))
        elif call > index or (standing[index] > standing[call + 1] and index < len(records) - 1):
            _note_moved(record, ledger, BEHIND, records[call].at)


def _note_calls_at_the_end(records: list[Record], callers: Callers, ledger: Ledger) -> None:
    """Say which calls have moved to the end because the last event answers them."""
    moved = callers.get(len(records) - 1, [])
    staying = next((i for i in reversed(range(len(records))) if not records[i].responses and i not in moved), -1)
    for index in moved:
        if index < staying:
            _note_moved(records[index], ledger, TO_THE_END)


def _note_moved(record: Record, ledger: Ledger, because: Because, *args: object) -> None:
    for at in record.stems:
        ledger.note(at, MOVED, because, *args)


def _note_gone(
    record: Record, records: list[Record], answers: dict[str, int], visible: set[str], ledger: Ledger
) -> None:
    for call_id in dict.fromkeys(record.responses):
        if call_id in visible:
            ledger.left_out(record, NEWER, call_id, records[answers[call_id]].at)
        elif call_id in record.calls:
            ledger.left_out(record, ITSELF, call_id)
        else:
            made_by = ledger.known_calls.get(call_id)
            where = "" if made_by is None else f"; event {made_by} makes it, out of sight"
            ledger.left_out(record, UNREACHED, ledger.viewer.agent_name, call_id, Plain(where))
