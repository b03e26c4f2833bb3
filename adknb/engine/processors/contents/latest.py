"""The response that ends the history goes to its call (R5.16 to R5.22; seed 000, 四.2.7, steps 2, 4 and 5).

A late answer, to a long-running tool say, is what the model is about to react to. So the call and its answer are
brought together, and the talk between them is left out of this one request.
"""

from __future__ import annotations

from adknb.engine.errors import UnmatchedResponse
from adknb.engine.processors.contents.fates import Because, Ledger, said
from adknb.engine.processors.contents.merge import merge_function_response_events
from adknb.engine.processors.contents.records import Record, Viewer

STAGE = "latest"
BETWEEN = Because(
    STAGE, "R5.19", "it stands between the call of {} and the late response of {} that ends the history, and is neither"
)


def rearrange_for_latest_function_response(records: list[Record], viewer: Viewer, ledger: Ledger) -> list[Record]:
    """Join the last response with earlier ones to the same event's calls; drop what is said between call and response.

    Other calls and responses between them stay. Nothing is done if the last event has no response, or if the event
    just before it makes any of the calls that it answers.

    call a · FR a=pending · "wait" · FR a=done -> call a · FR a=done

    Raises:
        UnmatchedResponse: no visible event makes a call that the last event answers (R5.20), or the event that does
            does not make all of them (R5.18).

    Go: internal/llminternal/contents_processor.go, rearrangeEventsForLatestFunctionResponse
    """
    if len(records) < 2 or not records[-1].responses:
        return records
    last = records[-1]
    answered = set(last.responses)
    if not answered.isdisjoint(records[-2].calls):
        return records
    at = next((i for i in reversed(range(len(records) - 1)) if not answered.isdisjoint(records[i].calls)), None)
    if at is None:
        raise UnmatchedResponse(_no_call(last, viewer, ledger))
    caller = records[at]
    if not answered <= set(caller.calls):
        raise UnmatchedResponse(_mixed(last, caller))
    together, kept = [], records[: at + 1]
    for record in records[at + 1 : -1]:
        if record.calls:
            kept.append(record)
        elif not record.responses:
            ledger.left_out(record, BETWEEN, caller.at, last.at)
        elif set(caller.calls).isdisjoint(record.responses):
            kept.append(record)
        else:
            together.append(record)
    return [*kept, merge_function_response_events([*together, last], STAGE, ledger)]


def _no_call(last: Record, viewer: Viewer, ledger: Ledger) -> str:
    """R5.20 as an error text: which response, what became of its call, what to do."""
    sentences = []
    for call_id in dict.fromkeys(last.responses):
        if (made_by := ledger.known_calls.get(call_id)) is None:
            sentences.append(f"no event makes a call with the id {call_id!r}")
            continue
        reasons = [because.fill(args).why for _, because, args in ledger.notes.get(made_by, [])][:1]
        why = f": {reasons[0]}" if reasons else ""
        sentences.append(f"the call {call_id!r} of {said(made_by)} is none that {viewer.agent_name!r} can answer{why}")
    return (
        f"{said(last.at)} ends the history with a response to {said(tuple(dict.fromkeys(last.responses)))}, but no "
        f"visible event makes that call (R5.20): {'; '.join(sentences)}. Store a response with the author, branch and "
        "isolation scope of its call, or let the agent that made the call take this turn."
    )


def _mixed(last: Record, caller: Record) -> str:
    """R5.18 as an error text."""
    foreign = tuple(i for i in dict.fromkeys(last.responses) if i not in caller.calls)
    return (
        f"{said(last.at)} ends the history with responses that do not belong together (R5.18): its calls are made by "
        f"{said(caller.at)}, which makes {said(caller.calls)}, but not {said(foreign)}. Store the response to "
        f"{said(foreign)} in an event of its own."
    )
