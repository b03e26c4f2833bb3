"""What the notebooks ask of anything on the screen: `says(x, text)`, `calls(x)`, `answers(x)`.

`x` may be a request, a response, an event, a content, JSON of these, a list or dict of any of them, a state, a stop, or
what has events and a state: a session, a Recording, a Stepper.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from pydantic import BaseModel

from adknb.engine.event_json import snake
from adknb.engine.model import LLMRequest
from adknb.engine.response import LLMResponse
from adknb.engine.stops import Stop
from adknb.stepper.patches import editable

__all__ = ["answers", "calls", "says"]

SAID = {
    "event": ("content", "actions", "error_message", "input_transcription", "output_transcription"),
    "request": ("contents", "config", "tools"),
    "content": ("parts",),
    "summary": ("compacted_content",),
}
"""Records of which only some fields are said: who spoke, when and under which id stands around it; bytes never are."""


def says(x: Any, text: str) -> bool:
    """Whether a text stands in anything: in a value, not in the name of a field; of an event, in what it says.

    says(request, "Thursday")            in its contents, instruction, declarations or tool names
    says({"parcel": {"day": 31}}, "31")  True: a number is read as JSON writes it
    says(event, "weather_agent")         False if that is only the author
    says(dbg, "aspirin")                 in the stored events, the state, or the present request
    """
    return any(text in found for found in _texts(x))


def calls(x: Any) -> list[str]:
    """The ids of the function calls in anything, in order; "" for a call without one.

    calls(request) == ["order-1"]; of a Stepper, a session or a Recording: those of its stored events.
    """
    return list(_ids(x, "function_call"))


def answers(x: Any) -> list[str]:
    """The ids of the function responses in anything, in order; "" for one without.

    answers(dbg.events) == ["order-1", "order-1"]; a call answered twice, as with a long-running tool.
    """
    return list(_ids(x, "function_response"))


def _texts(x: Any) -> Iterator[str]:
    if isinstance(x, str):
        yield x
    elif isinstance(x, (int, float)) and not isinstance(x, bool):
        yield json.dumps(x)
    else:
        for _, value in _inside(x):
            yield from _texts(value)


def _ids(x: Any, kind: str) -> Iterator[str]:
    for name, value in _inside(x.events if _has_events(x) else x):
        if name == kind and isinstance(value, (Mapping, BaseModel)):
            yield str((value.get("id") if isinstance(value, Mapping) else getattr(value, "id", "")) or "")
        elif name not in ("args", "response"):  # what a tool is given or gives is data, whatever it looks like
            yield from _ids(value, kind)


def _has_events(x: Any) -> bool:
    return hasattr(x, "events") and hasattr(x, "state")


def _inside(x: Any) -> Iterator[tuple[str, Any]]:
    """What a thing holds, one level down: (field in Python's spelling, value) pairs; none for a plain value."""
    if _has_events(x):
        yield from (("events", x.events), ("state", x.state), ("request", getattr(x, "request", None)))
    elif isinstance(x, Stop):
        yield from editable(x).items()
    elif isinstance(x, LLMRequest):
        yield from (("contents", x.contents), ("config", x.config), ("tools", list(x.tools)))
    elif isinstance(x, BaseModel):
        yield from _said([(name, getattr(x, name)) for name in type(x).model_fields])
    elif is_dataclass(x) and not isinstance(x, type):
        held = [(field.name, getattr(x, field.name)) for field in fields(x)]
        yield from _said(held, "event" if isinstance(x, LLMResponse) else "")
    elif isinstance(x, Mapping):
        yield from _said([(snake(str(name)), value) for name, value in x.items()])
    elif isinstance(x, Iterable) and not isinstance(x, (str, bytes, bytearray)):
        yield from (("", item) for item in x)


def _said(held: list[tuple[str, Any]], kind: str = "") -> Iterator[tuple[str, Any]]:
    """The fields of a record that are said; all fields of other records, and of data."""
    names = {name for name, _ in held}
    said = SAID.get(kind or _kind(names, dict(held)))
    for name, value in held:
        is_bytes = name == "thought_signature" or (name == "data" and "mime_type" in names)
        if not is_bytes and (said is None or name in said):
            yield name, value


def _kind(names: set[str], held: dict[str, Any]) -> str:
    """Which record these fields are of, told by their names."""
    if "parts" in names and names <= {"parts", "role"}:
        return "content"
    if {"contents", "config"} <= names:
        return "request"
    if "compacted_content" in names:
        return "summary"
    content = held.get("content")
    is_response = isinstance(content, Mapping) and "parts" in content
    return "event" if is_response or "invocation_id" in names or {"author", "actions"} <= names else ""
