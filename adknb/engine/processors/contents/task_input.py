"""The task of a scoped agent opens its request (R5.31 to R5.32; seed 000, 四.2.3).

An isolation scope is the id of the call that set the task. That call stands in an event of the parent, outside of the
scope, where the filter has just left it out; so the task is built again from its arguments.
"""

from __future__ import annotations

from google.genai import types

from adknb.engine.copies.frozen import copy_record, text_part
from adknb.engine.go_text import go_json
from adknb.engine.processors.contents.fates import ALSO, Because, Ledger, said
from adknb.engine.processors.contents.records import Record

RULE = "R5.31"
SET_THE_TASK = Because("task input", RULE, "the arguments of its call {} open the request as the task")
SINGLE_TURN_NOTE = (
    "Important: You will not receive any user replies or clarifications."
    " Complete the task using only the information provided above."
)


def task_input(ledger: Ledger) -> tuple[types.Content, str] | None:
    """The content that goes in front of all others, and where it comes from; None without scope or without input.

    First the arguments of the first call in the list whose id is the scope, as JSON; if there is none, or it has no
    arguments, the message of this run. A single_turn agent is told that nobody will answer its questions.

    scope fc-1, call fc-1 {"request": "r"} -> user '{"request":"r"}'

    Go: internal/llminternal/contents_processor.go, buildTaskInputUserContent
    """
    viewer = ledger.viewer
    if not viewer.isolation_scope:
        return None
    if (found := _task_call(ledger.turn, viewer.isolation_scope)) is not None:
        record, call = found
        parts = [text_part(_as_text(call.args))]
        why = f"the arguments of the call {viewer.isolation_scope!r} of {said(record.at)} are the task of this scope"
        ledger.note(record.at, ALSO, SET_THE_TASK, viewer.isolation_scope)
    elif viewer.user_content is not None and viewer.user_content.parts:
        parts = [copy_record(part) for part in viewer.user_content.parts if part is not None]
        why = f"no visible call {viewer.isolation_scope!r} has arguments, so the message of this run is its task"
    else:
        return None
    if viewer.effective_mode == "single_turn":
        parts.append(text_part(SINGLE_TURN_NOTE))
    return types.Content(role="user", parts=parts), why


def _task_call(records: list[Record], scope: str) -> tuple[Record, types.FunctionCall] | None:
    """The first call with that id and with arguments, even one of an old turn."""
    for record in records:
        if scope in record.calls:
            for part in record.parts:
                call = part.function_call if part is not None else None
                if call is not None and call.id == scope and call.args:
                    return record, call
    return None


def _as_text(args: object) -> str:
    try:
        return go_json(args)
    except (TypeError, ValueError):
        return str(args)
