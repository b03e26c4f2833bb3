"""Copies of google-genai's records, made by hand.

The contents of a request must be independent of the session, and copying is most of the work of assembling them.
pydantic's own deep copy visits every field of every record; these look at the fields that are set. A test holds the two
against each other.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable
from typing import Any, TypeGuard, TypeVar

from google.genai import types
from pydantic import BaseModel

from adknb.engine.processors.contents.fates import CLIENT_ID_PREFIX

M = TypeVar("M", bound=BaseModel)

_new = object.__new__
_SLOTS = {name: BaseModel.__dict__[name].__set__ for name in BaseModel.__slots__}
_set_dict: Callable[[Any, dict[str, Any]], None] = _SLOTS["__dict__"]
_set_names: Callable[[Any, set[str]], None] = _SLOTS["__pydantic_fields_set__"]
_set_extra: Callable[[Any, None], None] = _SLOTS["__pydantic_extra__"]
_set_private: Callable[[Any, None], None] = _SLOTS["__pydantic_private__"]

ATOMS = frozenset({str, int, float, bool, type(None), bytes})
"""Types whose values cannot change, so that a copy may share them."""

PAIRED = frozenset({types.FunctionCall, types.FunctionResponse})

_TEXT_PART = types.Part(text="")
_CONTENT = types.Content(role="user", parts=[])


def new_content(role: str | None, parts: list[types.Part]) -> types.Content:
    """`Content(role=role, parts=parts)`, unchecked; the list becomes the content's own."""
    made = _shallow(_CONTENT)
    made.__dict__["role"] = role
    made.__dict__["parts"] = parts
    return made


def text_part(text: str) -> types.Part:
    """`Part(text=text)`, unchecked."""
    made = _shallow(_TEXT_PART)
    made.__dict__["text"] = text
    return made


def is_set(part: types.Part | None) -> TypeGuard[types.Part]:
    """Whether a part has any set field: `thought: true` alone is one, an empty text is none (R5.28)."""
    if part is None:
        return False
    if part.text or part.function_call is not None or part.function_response is not None:
        return True
    return any(value is not None and value is not False and value != "" for value in part.__dict__.values())


def copy_part(part: types.Part) -> types.Part:
    """A deep copy of a part."""
    return _deep(part)


def remove_client_function_call_ids(parts: Iterable[types.Part]) -> None:
    """Take ids that begin with `adk-` off calls and responses: the model never gave them (R5.30).

    Go: internal/utils/utils.go, RemoveClientFunctionCallID
    """
    for part in parts:
        for paired in (part.function_call, part.function_response):
            if paired is not None and paired.id and paired.id.startswith(CLIENT_ID_PREFIX):
                paired.__dict__["id"] = None
                paired.__pydantic_fields_set__.discard("id")


def copy_value(value: Any) -> Any:
    """A deep copy of JSON data, of a call or a response; of anything else, what `copy.deepcopy` makes of it."""
    kind = type(value)
    if kind is dict:
        return {key: item if type(item) in ATOMS else copy_value(item) for key, item in value.items()}
    if kind is list:
        return [item if type(item) in ATOMS else copy_value(item) for item in value]
    if kind in PAIRED:
        return _deep(value)
    return value if kind in ATOMS else copy.deepcopy(value)


def _deep(record: M) -> M:
    """A copy of a record, and of the values of its set fields."""
    made = _shallow(record)
    fields = made.__dict__
    for name in record.__pydantic_fields_set__:
        value = fields[name]
        if type(value) not in ATOMS:
            fields[name] = copy_value(value)
    return made


def _shallow(record: M) -> M:
    """Another record with the same field values."""
    made: M = _new(type(record))
    _set_dict(made, record.__dict__.copy())
    _set_names(made, record.__pydantic_fields_set__.copy())
    _set_extra(made, None)
    _set_private(made, None)
    return made
