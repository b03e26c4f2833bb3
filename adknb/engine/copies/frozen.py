"""Copies of google-genai's records, made by hand and in two halves.

The contents of a request must be independent of the session, and copying is most of the work of assembling them.
Pydantic copies a record field by field, all nineteen of a part. Here a copy is *frozen* first: the few fields that are
set, as plain data of its own; and *thawed* into a record later, if ever (packed.py, promises.py). Tests hold the
outcome against pydantic's own.
"""

from __future__ import annotations

import copy
import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeGuard, TypeVar

from google.genai import types
from pydantic import BaseModel

M = TypeVar("M", bound=BaseModel)

Frozen = dict[str, Any]
"""A record's set fields as plain data."""

PAIRED: dict[str, type[BaseModel]] = {
    "function_call": types.FunctionCall,
    "function_response": types.FunctionResponse,
}
"""The fields of a part that are frozen in their turn."""

ATOMS = frozenset({str, int, float, bool, type(None), bytes})
"""Types whose values cannot change, so that a copy may share them."""

BLANK: dict[type[BaseModel], dict[str, Any]] = {
    kind: kind().__dict__ for kind in (types.Content, types.Part, types.FunctionCall, types.FunctionResponse)
}
"""The records that are copied by hand: their fields while nothing is set."""

AS_IT_IS = ""
"""Stands in for a field's name where a record is none of these, a subclass perhaps: it is copied whole."""

# pydantic keeps a record's state in four slots; filling them ourselves is what its own `copy` does
_new = object.__new__
_slot = {name: BaseModel.__dict__[name].__set__ for name in BaseModel.__slots__}
_set_fields: Callable[[Any, dict[str, Any]], None] = _slot["__dict__"]
_set_names: Callable[[Any, set[str]], None] = _slot["__pydantic_fields_set__"]
_set_extra: Callable[[Any, None], None] = _slot["__pydantic_extra__"]
_set_private: Callable[[Any, Any], None] = _slot["__pydantic_private__"]


def is_set(part: types.Part | None) -> TypeGuard[types.Part]:
    """Whether a part has any set field: `thought: true` alone is one, an empty text is none (R5.28)."""
    if part is None:
        return False
    fields = part.__dict__
    return (
        bool(fields["text"])  # the usual cases first
        or fields["function_call"] is not None
        or fields["function_response"] is not None
        or any(value is not None and value is not False and value != "" for value in fields.values())
    )


def text_part(text: str) -> types.Part:
    """`Part(text=text)`, unchecked."""
    return thaw(types.Part, {"text": text})


def copy_record(record: M) -> M:
    """A deep copy of a content, part, call or response."""
    return thaw(type(record), freeze(record))


def freeze(record: BaseModel) -> Frozen:
    """A deep copy as plain data: whatever is done to the record from now on, this stays."""
    if type(record) not in BLANK:
        return {AS_IT_IS: copy.deepcopy(record)}
    values = record.__dict__
    fields: Frozen = {}
    for name in record.__pydantic_fields_set__:
        value = values[name]
        if type(value) in ATOMS:
            fields[name] = value
        else:
            fields[name] = freeze(value) if name in PAIRED else copy_value(value)
    return fields


def thaw(kind: type[M], frozen: Frozen) -> M:
    """The record. What was frozen becomes part of it, so this can be done once."""
    if AS_IT_IS in frozen:
        given: M = frozen[AS_IT_IS]
        return given
    fields = BLANK[kind].copy()
    for name, value in frozen.items():
        if name in PAIRED and value is not None:
            value = thaw(PAIRED[name], value)
        fields[name] = value
    made = _new(kind)
    fill(made, fields, set(frozen))
    return made


def fill(made: BaseModel, fields: dict[str, Any], names: set[str]) -> None:
    """Make a record of an empty one: give it its fields, and the names of those that are set."""
    _set_fields(made, fields)
    _set_names(made, names)
    _set_extra(made, None)
    _set_private(made, None)


def copy_value(value: Any) -> Any:
    """A deep copy of a field's value: JSON data or a record; of anything else, what `copy.deepcopy` makes of it."""
    kind = type(value)
    if kind is dict:
        return {key: item if type(item) in ATOMS else copy_value(item) for key, item in value.items()}
    if kind is list:
        return [item if type(item) in ATOMS else copy_value(item) for item in value]
    if kind in BLANK:
        return copy_record(value)
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
