"""Copies of google-genai's records, made by hand and in two halves.

The contents of a request must be independent of the session, and copying is most of the work of assembling them.
Pydantic copies a record field by field, all nineteen of a part. Here a copy is *frozen* first: the few fields that are
set, as plain data of its own; and *thawed* into a record later, if ever (promises.py). Tests hold the outcome against
pydantic's own.
"""

from __future__ import annotations

import copy
import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeGuard, TypeVar

from google.genai import types
from pydantic import BaseModel

from adknb.engine.processors.contents.fates import CLIENT_ID_PREFIX

M = TypeVar("M", bound=BaseModel)

Frozen = tuple[type[BaseModel], dict[str, Any]]
"""A record as plain data: its class, and its set fields. No field of these records is a tuple otherwise."""

ATOMS = frozenset({str, int, float, bool, type(None), bytes})
"""Types whose values cannot change, so that a copy may share them."""

BLANK: dict[type[BaseModel], dict[str, Any]] = {
    kind: kind().__dict__ for kind in (types.Content, types.Part, types.FunctionCall, types.FunctionResponse)
}
"""The records that are copied by hand: their fields while nothing is set."""

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
    if part.text or part.function_call is not None or part.function_response is not None:
        return True
    return any(value is not None and value is not False and value != "" for value in part.__dict__.values())


def copy_record(record: M) -> M:
    """A deep copy of a content, part, call or response."""
    copied: M = thaw(freeze(record))
    return copied


def text_part(text: str) -> types.Part:
    """`Part(text=text)`, unchecked."""
    part: types.Part = thaw((types.Part, {"text": text}))
    return part


def freeze(record: BaseModel) -> Frozen:
    """A deep copy as plain data: whatever is done to the record from now on, this stays."""
    kind = type(record)
    if kind not in BLANK:  # a subclass: only pydantic knows what else it holds
        return kind, {"": record.model_copy(deep=True)}
    values = record.__dict__
    fields = {}
    for name in record.__pydantic_fields_set__:
        value = values[name]
        fields[name] = value if type(value) in ATOMS else copy_value(value, freeze)
    return kind, fields


def thaw(frozen: Frozen) -> Any:
    """The record; what was frozen becomes part of it."""
    kind, fields = frozen
    if "" in fields:
        return fields[""]
    thawed = BLANK[kind].copy()
    for name, value in fields.items():
        thawed[name] = thaw(value) if type(value) is tuple else value
    made = _new(kind)
    fill(made, thawed, set(fields))
    return made


def fill(made: BaseModel, fields: dict[str, Any], names: set[str]) -> None:
    """Make a record of an empty one."""
    _set_fields(made, fields)
    _set_names(made, names)
    _set_extra(made, None)
    _set_private(made, None)


def copy_value(value: Any, of_record: Callable[[Any], Any] = copy_record) -> Any:
    """A deep copy of a field's value: a record or JSON data; of anything else, what `copy.deepcopy` makes of it."""
    kind = type(value)
    if kind in BLANK:
        return of_record(value)
    if kind is dict:
        return {key: item if type(item) in ATOMS else copy_value(item) for key, item in value.items()}
    if kind is list:
        return [item if type(item) in ATOMS else copy_value(item) for item in value]
    return value if kind in ATOMS else copy.deepcopy(value)


def remove_client_function_call_ids(frozen: list[Frozen]) -> None:
    """Take ids that begin with `adk-` off the calls and responses of parts: the model never gave them (R5.30).

    Go: internal/utils/utils.go, RemoveClientFunctionCallID
    """
    for _, part in frozen:
        for name in ("function_call", "function_response"):
            if name in part:
                fields = part[name][1]
                if (fields.get("id") or "").startswith(CLIENT_ID_PREFIX):
                    del fields["id"]


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
