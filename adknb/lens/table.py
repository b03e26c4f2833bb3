"""Events as rows of a table, and an event in one line. Plain data, shared by Recording, panel and Stepper.

Words for an event are found here once: what kind it is, what it says, which turn it belongs to.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from google.genai import types

from adknb.engine.copies.frozen import is_set
from adknb.engine.event import Event, function_calls_of, function_responses_of, parts_of
from adknb.lens.words import compact, fit, one_line

PROTOCOL_CALLS = ("adk_request_confirmation", "adk_request_credential")
"""Calls that the Flow makes to ask the user for something; no model wrote them."""

TEXT_WIDTH = 300
"""How much of an event's words a row holds."""


def event_table(events: Sequence[Event]) -> list[dict[str, Any]]:
    """One row for each event, in order, with the same keys in every row.

    `index` (0-based), `turn` (from 1; 0 for records before the first message), `author`, `role`, `kind`, `text`
    (shortened), `branch`, `scope`, `final` (an agent's final response), `partial`, `state` (keys written),
    `notes` (what else the event does), `id`, `invocation`, `time` (seconds since the epoch; 0 if not recorded).

    Go: session/session.go, Event, IsFinalResponse
    """
    return [
        {
            "index": i,
            "turn": turn,
            "author": one_line(event.author),
            "role": one_line(event.content.role or "") if event.content else "",
            "kind": (kind := event_kind(event)),
            "text": event_text(event, TEXT_WIDTH).removeprefix(f"{kind} "),
            "branch": one_line(event.branch),
            "scope": one_line(event.isolation_scope),
            "final": event.author != "user" and event.is_final_response(),
            "partial": event.partial,
            "state": [one_line(key) for key in event.actions.state_delta],
            "notes": event_notes(event),
            "id": one_line(event.id),
            "invocation": one_line(event.invocation_id),
            "time": event.timestamp,
        }
        for i, (event, turn) in enumerate(zip(events, turns(events), strict=True))
    ]


def event_summary(event: Event, width: int = 100) -> str:
    """The event in one line: who, and what it says or does."""
    return one_line(f"{event.author or '(no author)'}: {event_text(event, width)}", width)


def event_text(event: Event, width: int = TEXT_WIDTH) -> str:
    """What the event says, in one line; what it does, if it says nothing."""
    said = part_texts(event.content)
    for label, transcription in (("heard", event.input_transcription), ("spoken", event.output_transcription)):
        if transcription is not None and transcription.text:
            said.append(f"({label}) {transcription.text}")
    compaction = event.actions.compaction
    if compaction is not None:
        said += [f"summary: {t}" for t in part_texts(compaction.compacted_content)] or ["summary without content"]
    if event.error_code or event.error_message:
        said.append(f"error {event.error_code} {event.error_message}".strip())
    if not said:
        said = _deeds(event) or ["(no content)"]
    return fit([one_line(text) for text in said], width)


def part_texts(content: types.Content | None) -> list[str]:
    """Each part of a content in words: its text, `call name(args)`, `answer name → result`, `[image/png, 5 bytes]`."""
    return [_part_text(part) for part in parts_of(content)]


def event_kind(event: Event) -> str:
    """One word: message, text, thought, call, answer, ask, summary, speech, file, code, error, state, action, empty.

    An event with several sorts of parts is called by the first of: ask, call, answer, message or text, …; `ask` is a
    request for confirmation or credentials.
    """
    if event.actions.compaction is not None:
        return "summary"
    calls = function_calls_of(event.content)
    if any(call.name in PROTOCOL_CALLS for call in calls):
        return "ask"
    if calls:
        return "call"
    if function_responses_of(event.content):
        return "answer"
    for kind, found in _PART_KINDS.items():
        if any(found(part) for part in parts_of(event.content)):
            return "message" if kind == "text" and event.author == "user" else kind
    if any(t is not None and t.text for t in (event.input_transcription, event.output_transcription)):
        return "speech"
    if event.error_code or event.error_message:
        return "error"
    if event.actions.state_delta:
        return "state"
    return "action" if event_notes(event) else "empty"


_PART_KINDS: dict[str, Any] = {
    "text": lambda p: p.text and not p.thought,
    "thought": lambda p: p.text or p.thought,
    "file": lambda p: p.inline_data or p.file_data,
    "code": lambda p: p.executable_code or p.code_execution_result,
}


def event_notes(event: Event) -> list[str]:
    """What the event does besides speaking, state apart: hands over, ends a loop, saves a file, waits."""
    actions = event.actions
    notes = []
    if actions.transfer_to_agent:
        notes.append(f"hands over to {one_line(actions.transfer_to_agent)}")
    if actions.escalate:
        notes.append("escalates")
    if actions.skip_summarization:
        notes.append("skips summarization")
    notes += [f"saves {one_line(name)} v{version}" for name, version in actions.artifact_delta.items()]
    if actions.requested_tool_confirmations:
        notes.append(f"asks to confirm {len(actions.requested_tool_confirmations)} call(s)")
    if event.long_running_tool_ids:
        notes.append("long-running call")
    if event.interrupted:
        notes.append("interrupted")
    return notes


def unread_fields(event: Event) -> dict[str, Any]:
    """The event's fields that adknb does not know and that hold something, by path."""
    return {path: value for path, value in event.extra.items() if value not in (None, "", [], {}, False)}


def turns(events: Iterable[Event]) -> list[int]:
    """For each event the turn it belongs to, from 1.

    A turn begins at what the user says. Events before the first message are turn 1 if they carry content (the file
    begins in the middle), else 0. Invocation ids do not bound turns: a resumed turn keeps its old one.

    Source: spec/doctor.md 0.7
    """
    events = list(events)
    scopes = {event.isolation_scope for event in events if event.isolation_scope}
    numbers: list[int] = []
    turn = 0
    last_user: Event | None = None
    answered = False  # whether another author has spoken since the last message
    for event in events:
        full = has_content(event)
        if event.author == "user" and _begins_turn(event, last_user, answered, scopes):
            turn, last_user, answered = turn + 1, event, False
        elif full and event.author != "user":
            turn, answered = max(turn, 1), True
        numbers.append(turn)
    return numbers


def _begins_turn(event: Event, last_user: Event | None, answered: bool, scopes: set[str]) -> bool:
    if not has_content(event) or event.actions.compaction is not None:
        return False
    answers = function_responses_of(event.content)
    parts = parts_of(event.content)
    if answers and len(answers) == len(parts) and all(a.id in scopes for a in answers):
        return False  # a delegate's result, handed to the agent that called it
    if all(p.file_data and "/_adk_live/" in (p.file_data.file_uri or "") for p in parts):
        return False  # audio of a live session
    repeated = (
        last_user is not None
        and not answered
        and bool(event.invocation_id)
        and event.invocation_id == last_user.invocation_id
        and event.content is not None
        and last_user.content is not None
        and event.content.parts == last_user.content.parts
    )
    return not repeated


def has_content(event: Event) -> bool:
    """Whether an event has a part with any field set (spec R5.28)."""
    return any(is_set(part) for part in parts_of(event.content))


def _part_text(part: types.Part) -> str:
    if part.function_call is not None:
        call = part.function_call
        args = ", ".join(f"{name}={compact(value)}" for name, value in (call.args or {}).items())
        return f"call {call.name}({args})" + (f"  {part.text}" if part.text else "")
    if part.function_response is not None:
        return f"answer {part.function_response.name} → {compact(part.function_response.response)}"
    if part.text:
        return f"(thought) {part.text}" if part.thought else part.text
    if part.inline_data is not None:
        return f"[{part.inline_data.mime_type or 'data'}, {len(part.inline_data.data or b'')} bytes]"
    if part.file_data is not None:
        return f"[file {part.file_data.file_uri}]"
    if part.executable_code is not None:
        return f"[code] {part.executable_code.code}"
    if part.code_execution_result is not None:
        return f"[code result] {part.code_execution_result.output}"
    return "[a part with nothing to show]" if is_set(part) else "[empty part]"


def _deeds(event: Event) -> list[str]:
    keys = ", ".join(event.actions.state_delta)
    return ([f"(state: {keys})"] if keys else []) + [f"({note})" for note in event_notes(event)]
