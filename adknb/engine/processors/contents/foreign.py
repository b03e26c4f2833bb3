"""Other agents' events, told as context (R5.9 to R5.12; seed 000, 四.2.4).

A model must not take another agent's answer for its own earlier one, so it is put into the user's mouth, labelled.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from google.genai import types

from adknb.engine.copies.frozen import text_part
from adknb.engine.go_text import go_json
from adknb.engine.processors.contents.fates import REWORDED, Because, Ledger
from adknb.engine.processors.contents.filter import has_usable_summary
from adknb.engine.processors.contents.records import Changed, Record, Viewer

TOLD = Because("foreign", "R5.10", "{} is another agent than {}: what it said and called is told as context")
FOR_CONTEXT = "For context:"


def convert_foreign_events(records: list[Record], viewer: Viewer, ledger: Ledger) -> list[Record]:
    """Reword the events of other agents. A summary is nobody's words and stays (R5.9).

    Go: internal/llminternal/contents_processor.go, isOtherAgentReply, ConvertForeignEvent
    """
    told = []
    for record in records:
        author = record.author
        if author == viewer.agent_name or author == "user" or not record.parts or has_usable_summary(record):
            told.append(record)
        else:
            told.append(convert_foreign_event(record))
            ledger.note(record.at, REWORDED, TOLD, author, viewer.agent_name)
    return told


def convert_foreign_event(record: Record) -> Record:
    """One event as a user content: a label, then one part for each of its parts (R5.10).

    Calls and responses become text, so they pair with nothing any more; ids, thought marks, signatures, transcriptions
    and the compaction record of the event do not survive (R5.12).
    """
    return Changed(record, list(_in_words(record)), role="user", reworded=True)


def _in_words(record: Record) -> Iterator[types.Part | None]:
    author = record.author
    yield text_part(FOR_CONTEXT)
    for part in record.parts:
        if part is None:
            yield part
        elif part.text:  # a call on the same part is lost, as in Go
            yield text_part(f"[{author}] said: {part.text}")
        elif (call := part.function_call) is not None:
            yield text_part(f"[{author}] called tool `{call.name or ''}` with parameters: {_json(call.args)}")
        elif (response := part.function_response) is not None:
            name = response.name or ""
            yield text_part(f"[{author}] `{name}` tool returned result: {_json(response.response)}")
        else:
            yield part


def _json(value: Any) -> str:
    """The arguments or result as Go writes them; nothing where that cannot be done, as in Go."""
    try:
        return go_json(value)
    except (TypeError, ValueError):
        return ""
