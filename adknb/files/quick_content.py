"""Contents as almost all are, made without pydantic: a long session has tens of thousands of them.

A text, a call or a response and nothing else in each part: these are checked and built by hand, ten times as fast.
Whatever is not exactly so is left to `Event.from_json`, which also has the words for what is wrong with it. Tests hold
the outcome against pydantic's own.
"""

from __future__ import annotations

from typing import Any

from google.genai import types

from adknb.engine.copies.frozen import thaw

CALLS = {"function_call": "function_call", "functionCall": "function_call"}
RESPONSES = {"function_response": "function_response", "functionResponse": "function_response"}
PAIRS = {**CALLS, **RESPONSES}
DATA = {"function_call": "args", "function_response": "response"}
"""The field of a call or response that holds plain data."""


def quick_content(raw: Any) -> types.Content | None:
    """The content that a JSON object stands for, if it is of the plain sort; None if it is not."""
    if type(raw) is not dict or not raw.keys() <= {"role", "parts"}:
        return None
    fields: dict[str, Any] = {}
    for name, value in raw.items():
        if name == "role":
            if type(value) is not str or not value.isascii():
                return None
            fields[name] = value
            continue
        if type(value) is not list:
            return None
        parts = []
        for item in value:
            part = _part(item)
            if part is None:
                return None
            parts.append(part)
        fields[name] = parts
    return thaw(types.Content, fields)


def _part(raw: Any) -> types.Part | None:
    if type(raw) is not dict or len(raw) != 1:
        return None
    ((name, value),) = raw.items()
    if name == "text":
        return thaw(types.Part, {"text": value}) if _is_text(value) else None
    kind = PAIRS.get(name)
    if kind is None or type(value) is not dict:
        return None
    fields: dict[str, Any] = {}
    data = DATA[kind]
    for key, item in value.items():
        if key in ("id", "name"):
            if not _is_text(item):
                return None
            fields[key] = item
        elif key == data and type(item) is dict and all(map(str.isascii, item)):
            fields[key] = item.copy()  # as pydantic does: what is deeper in it stays shared with the file's own data
        else:
            return None
    return thaw(types.Part, {kind: fields})


def _is_text(value: Any) -> bool:
    """Whether it is a text without half a surrogate pair."""
    if type(value) is not str:
        return False
    if value.isascii():
        return True
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True
