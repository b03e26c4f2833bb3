"""Copies of google-genai's records, made by hand.

The contents of a request must be independent of the session, and copying is most of the work of assembling them.
Pydantic copies a record field by field, all nineteen of a part; these start from a blank one and fill in what is set.
Tests hold them against pydantic's own.
"""

from __future__ import annotations

import copy
import gc
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TypeGuard, TypeVar

from google.genai import types
from pydantic import BaseModel

from adknb.engine.processors.contents.fates import CLIENT_ID_PREFIX

M = TypeVar("M", bound=BaseModel)

ATOMS = frozenset({str, int, float, bool, type(None), bytes})
"""Types whose values cannot change, so that a copy may share them."""

BLANK: dict[type[BaseModel], dict[str, Any]] = {
    kind: kind().__dict__ for kind in (types.Content, types.Part, types.FunctionCall, types.FunctionResponse)
}
"""The fields of a record of which nothing is set."""

# pydantic keeps a record's state in four slots; filling them ourselves is what its own `copy` does
_new = object.__new__
_slot = {name: BaseModel.__dict__[name].__set__ for name in BaseModel.__slots__}
_set_fields: Callable[[Any, dict[str, Any]], None] = _slot["__dict__"]
_set_names: Callable[[Any, set[str]], None] = _slot["__pydantic_fields_set__"]
_set_extra: Callable[[Any, None], None] = _slot["__pydantic_extra__"]
_set_private: Callable[[Any, None], None] = _slot["__pydantic_private__"]

_TEXT = types.Part(text="")


def new_content(role: str | None, parts: list[types.Part]) -> types.Content:
    """`Content(role=role, parts=parts)`, unchecked; the list becomes the content's own."""
    made = _new(types.Content)
    _set_fields(made, {"parts": parts, "role": role})
    _set_names(made, {"parts", "role"})
    _set_extra(made, None)
    _set_private(made, None)
    return made


def text_part(text: str) -> types.Part:
    """`Part(text=text)`, unchecked."""
    made = copy_record(_TEXT)
    made.__dict__["text"] = text
    return made


def is_set(part: types.Part | None) -> TypeGuard[types.Part]:
    """Whether a part has any set field: `thought: true` alone is one, an empty text is none (R5.28)."""
    if part is None:
        return False
    if part.text or part.function_call is not None or part.function_response is not None:
        return True
    return any(value is not None and value is not False and value != "" for value in part.__dict__.values())


def copy_set_parts(parts: Iterable[types.Part | None]) -> list[types.Part]:
    """Deep copies of the parts that are set."""
    copies = []
    for part in parts:
        if is_set(part):
            copies.append(copy_record(part))
    return copies


def remove_client_function_call_ids(parts: Iterable[types.Part]) -> None:
    """Take ids that begin with `adk-` off calls and responses: the model never gave them (R5.30).

    Go: internal/utils/utils.go, RemoveClientFunctionCallID
    """
    for part in parts:
        for paired in (part.function_call, part.function_response):
            if paired is not None and paired.id and paired.id.startswith(CLIENT_ID_PREFIX):
                paired.__dict__["id"] = None  # not `paired.id = None`: pydantic would check it, for a microsecond
                paired.__pydantic_fields_set__.discard("id")


def copy_record(record: M) -> M:
    """A deep copy of a part, a content, a call or a response."""
    kind = type(record)
    if kind not in BLANK:  # a subclass: only pydantic knows what else it holds
        return record.model_copy(deep=True)
    values = record.__dict__
    names = record.__pydantic_fields_set__.copy()
    fields = BLANK[kind].copy()
    for name in names:
        value = values[name]
        fields[name] = value if type(value) in ATOMS else copy_value(value)
    made = _new(kind)
    _set_fields(made, fields)
    _set_names(made, names)
    _set_extra(made, None)
    _set_private(made, None)
    return made


def copy_value(value: Any) -> Any:
    """A deep copy of a field's value: JSON data, a record; of anything else, what `copy.deepcopy` makes of it."""
    kind = type(value)
    if kind in BLANK:
        return copy_record(value)
    if kind is dict:
        return {key: item if type(item) in ATOMS else copy_value(item) for key, item in value.items()}
    if kind is list:
        return [item if type(item) in ATOMS else copy_value(item) for item in value]
    return value if kind in ATOMS else copy.deepcopy(value)


@contextmanager
def garbage_collection_waits() -> Iterator[None]:
    """Hold the garbage collector back while many objects are made and none thrown away.

    It looks at everything alive after every so many new objects. That makes a long history's cost more than
    proportional, for nothing: there are no cycles here to find.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
