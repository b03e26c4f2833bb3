"""One event as the checks read it: the words of spec/doctor.md 0.5, looked up once."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from google.genai import types

from adknb.engine.copies.frozen import is_set
from adknb.engine.event import Event, parts_of
from adknb.engine.go_text import go_json

CONFIRMATION = "adk_request_confirmation"
PROTOCOL = frozenset({CONFIRMATION, "adk_request_credential"})
TRANSFER, SET_MODEL_RESPONSE, FINISH_TASK = "transfer_to_agent", "set_model_response", "finish_task"
FAILED_STATUS = frozenset({"error", "failed", "failure"})
LIVE_AUDIO = "/_adk_live/"

Call = types.FunctionCall
Response = types.FunctionResponse


class Entry:
    """An event of the session with its position and turn.

    `full`: a part of its content is set. `text`: of its parts, thoughts left out. `protocol`: it asks for a
    confirmation or credential, or answers. `record`: the compaction record it carries. `final`: X3.2. `thought_only`:
    X3.3, where an empty part counts; `only_thinks`: nothing but thoughts would be sent of it.
    """

    __slots__ = (
        "at", "author", "branch", "calls", "event", "final", "full", "only_thinks", "parts", "protocol", "record",
        "responses", "role", "scope", "text", "thought_only", "turn",
    )  # fmt: skip

    def __init__(self, at: int, event: Event) -> None:
        self.at, self.event, self.turn = at, event, 0
        self.author, self.branch, self.scope = event.author, event.branch, event.isolation_scope
        self.role = (event.content.role or "") if event.content is not None else ""
        self.parts = [part for part in parts_of(event.content) if part is not None]
        set_parts = [part for part in self.parts if is_set(part)]
        self.full = bool(set_parts)
        self.only_thinks = self.full and all(part.thought for part in set_parts)
        self.calls = [part.function_call for part in self.parts if part.function_call is not None]
        self.responses = [part.function_response for part in self.parts if part.function_response is not None]
        self.text = "".join([part.text for part in self.parts if part.text and not part.thought])
        self.thought_only = bool(self.parts) and all(part.thought for part in self.parts)
        self.protocol = any(one.name in PROTOCOL for one in self.calls) or any(
            one.name in PROTOCOL for one in self.responses
        )
        self.record = event.actions.compaction
        self.final = event.is_final_response()

    def __repr__(self) -> str:
        return f"Entry({self.at}, {self.author!r})"

    @property
    def by_user(self) -> bool:
        """Whether the user wrote it."""
        return self.author == "user"

    @property
    def has_text(self) -> bool:
        """Whether its text is not blank."""
        return bool(self.text.strip())

    @property
    def delta(self) -> dict[str, Any]:
        """The state keys it writes."""
        return self.event.actions.state_delta

    @property
    def place(self) -> tuple[str, str]:
        """Its branch and scope."""
        return self.branch, self.scope

    @property
    def long_running(self) -> list[str]:
        """The ids it marks as those of long-running calls."""
        return self.event.long_running_tool_ids

    @property
    def heard(self) -> str:
        """The text of its input transcription."""
        said = self.event.input_transcription
        return (said.text or "") if said is not None else ""

    @property
    def spoken(self) -> str:
        """The text of its output transcription."""
        said = self.event.output_transcription
        return (said.text or "") if said is not None else ""

    @property
    def transcribed(self) -> bool:
        """Whether it has a transcription, even an empty one."""
        return self.event.input_transcription is not None or self.event.output_transcription is not None

    @property
    def live_audio(self) -> bool:
        """Whether it is audio of a live session, stored as files: stamped with the time at which it began."""
        files = [part.file_data for part in self.parts]
        return bool(files) and all(file is not None and LIVE_AUDIO in (file.file_uri or "") for file in files)


def id_of(one: Call | Response) -> str:
    """The id of a call or response; empty where it has none."""
    return one.id or ""


def name_of(one: Call | Response) -> str:
    """The name of a call or response; empty where it has none."""
    return one.name or ""


def ordinary(ones: Iterable[Call] | Iterable[Response]) -> list[Any]:
    """Calls or responses without those of the protocol."""
    return [one for one in ones if one.name not in PROTOCOL]


def failed(response: Response) -> bool:
    """Whether a response tells of a failure (0.5): an `error` that holds something, a status, or a flag."""
    told = response.response
    if not isinstance(told, dict):
        return False
    status = told.get("status")
    return (
        bool(told.get("error"))
        or (isinstance(status, str) and status.strip().lower() in FAILED_STATUS)
        or told.get("success") is False
        or told.get("ok") is False
        or told.get("isError") is True
    )


def same(a: Any, b: Any) -> bool:
    """Whether two JSON values say the same: 1 and 1.0 do, 1 and true do not."""
    if isinstance(a, bool) or isinstance(b, bool):
        return a is b
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same(value, b[key]) for key, value in a.items())
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(same, a, b))
    return bool(a == b)


def as_key(value: Any) -> str:
    """A text that two JSON values share if they say the same."""
    try:
        return go_json(value)
    except (TypeError, ValueError):
        return repr(value)


def json_length(value: Any, beyond: int = 0) -> int:
    """How many characters a value has as JSON without blanks; 0 where that is certainly not more than `beyond`."""
    if beyond and _at_most(value) <= beyond:
        return 0
    try:
        return len(json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str))
    except (TypeError, ValueError):
        return len(repr(value))


def _at_most(value: Any) -> int:
    """More characters than this the JSON of a value cannot have; a character is escaped into six at most."""
    if isinstance(value, str):
        return 6 * len(value) + 3
    if isinstance(value, dict):
        return 2 + sum(6 * len(str(key)) + 5 + _at_most(item) for key, item in value.items())
    if isinstance(value, (list, tuple)):
        return 2 + sum(1 + _at_most(item) for item in value)
    return 24 if value is None or isinstance(value, (bool, float)) else len(str(value)) + 3


LARGE_INLINE = 10_000
"""Base64 characters from which on inline data is worth counting."""


def base64_length(data: bytes) -> int:
    """How many characters bytes take as base64."""
    return (len(data) + 2) // 3 * 4


def inline_data(entry: Entry) -> Iterator[bytes]:
    """The inline data of an event's parts and of the parts in its responses."""
    for part in entry.parts:
        blobs = [part.inline_data]
        if part.function_response is not None:
            blobs += [getattr(inner, "inline_data", None) for inner in part.function_response.parts or ()]
        yield from (blob.data for blob in blobs if blob is not None and blob.data)


def has_inline_data(entry: Entry) -> bool:
    """Whether an event has inline data that is worth counting."""
    return any(base64_length(data) >= LARGE_INLINE for data in inline_data(entry))
