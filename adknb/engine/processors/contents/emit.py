"""Last passes: from records to contents (R5.27 to R5.30), and the continuation turn (R5.34; seed 000, 四.2.8)."""

from __future__ import annotations

from google.genai import types

from adknb.engine.copies.packed import Packed, pack_set, take_ids_off
from adknb.engine.copies.promises import promise
from adknb.engine.processors.contents.fates import ALSO, CLIENT_ID_PREFIX, KEPT, Added, Because, Ledger, Plain
from adknb.engine.processors.contents.records import Record

EMPTY = Because("emit", "R5.29", "no part of it is set: {}")
EMPTY_PARTS = Because("emit", "R5.28", "it is sent without {} of its {} parts, which are empty")

CONTINUE = (
    "Continue processing previous requests as instructed. Exit or provide a summary if no more outputs are needed."
)


def emit(records: list[Record], ledger: Ledger) -> list[types.Content]:
    """Copy each record into a content of its own, without empty parts; drop what then is empty.

    Roles stay whatever they are, and neighbours of the same role are not joined. Ids that ADK made up are taken off.

    Go: internal/llminternal/contents_processor.go, buildContentsDefaultWithCallSource
    """
    contents = []
    for record in records:
        parts = record.packed if record.packed is not None else pack_set(record.parts)
        if (record.calls or record.responses) and remove_client_function_call_ids(parts):
            ledger.ids_taken_off(record)
        if parts:
            contents.append(promise(record.role, parts))
            ledger.sent.append(record.shared_by or record.at)
        if len(parts) != len(record.parts) or not parts:
            _note(record, len(parts), ledger)
    return contents


def remove_client_function_call_ids(parts: list[Packed]) -> bool:
    """Take ids that begin with `adk-` off the calls and responses: the model never gave them (R5.30). Was there one?

    Go: internal/utils/utils.go, RemoveClientFunctionCallID
    """
    return take_ids_off(parts, CLIENT_ID_PREFIX)


def _note(record: Record, left: int, ledger: Ledger) -> None:
    if not left:
        what = "it has parts, all of them empty" if record.parts else "it has no content, and no transcribed text"
        ledger.left_out(record, EMPTY, Plain(what))
        return
    for at in record.stems:
        empty = len(record.parts) - left
        ledger.note(at, KEPT if len(record.stems) == 1 else ALSO, EMPTY_PARTS, Plain(empty), Plain(len(record.parts)))


def add_continuation_turn(contents: list[types.Content], added: list[Added]) -> None:
    """Let the user ask the model to go on, if it would else have the last word itself. No contents: no such turn.

    Go: internal/llminternal/contents_processor.go, ContentsRequestProcessor
    """
    if contents and (last := contents[-1].role) != "user":
        added.append(
            Added(len(contents), "R5.34", f"the last content has the role {last or ''!r}, and a model answers a user")
        )
        contents.append(types.Content(role="user", parts=[types.Part(text=CONTINUE)]))
