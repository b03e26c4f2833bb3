"""Parts in a few bytes: the quickest copies there are, for what histories are made of.

A part is packed as its text if it is nothing else; as `(kind, id, name, data)` if it is one call or one response, its
JSON in the bytes of `marshal`; and else as its set fields (frozen.py). Nothing of it is shared with the session.
"""

from __future__ import annotations

import marshal
from collections.abc import Iterable

from google.genai import types

from adknb.engine.copies.frozen import BLANK, Frozen, fill, freeze, is_set, thaw

Pair = tuple[str, str | None, str | None, bytes]
Packed = str | Pair | Frozen

CALL, RESPONSE = "function_call", "function_response"
CALL_FIELDS, RESPONSE_FIELDS = {"id", "name", "args"}, {"id", "name", "response"}
"""The fields that are set in most calls and responses, those with an id. Others take the longer way."""


def pack_set(parts: Iterable[types.Part | None]) -> list[Packed]:
    """The parts that are set (R5.28), packed."""
    packed: list[Packed] = []
    for part in parts:
        if type(part) is types.Part and len(part.__pydantic_fields_set__) == 1:
            (name,) = part.__pydantic_fields_set__
            value = part.__dict__[name]
            if name == "text":
                if value:
                    packed.append(value)
                continue
            try:
                if type(value) is types.FunctionCall and value.__pydantic_fields_set__ == CALL_FIELDS:
                    packed.append((CALL, value.id, value.name, marshal.dumps(value.args)))
                    continue
                if type(value) is types.FunctionResponse and value.__pydantic_fields_set__ == RESPONSE_FIELDS:
                    packed.append((RESPONSE, value.id, value.name, marshal.dumps(value.response)))
                    continue
            except ValueError:  # its data are more than JSON
                pass
        if is_set(part):
            packed.append(freeze(part))
    return packed


def pack(part: types.Part) -> Packed:
    """One part packed, set or not."""
    packed = pack_set((part,))
    return packed[0] if packed else freeze(part)


def unpack(packed: Packed) -> types.Part:
    """The part. What was packed may become part of it, so this is done once."""
    if isinstance(packed, str):
        return thaw(types.Part, {"text": packed})
    if isinstance(packed, tuple):
        field, call_id, name, data = packed
        kind, names, holds = (
            (types.FunctionCall, CALL_FIELDS, "args")
            if field == CALL
            else (types.FunctionResponse, RESPONSE_FIELDS, "response")
        )
        pair = object.__new__(kind)
        fill(pair, {**BLANK[kind], "id": call_id, "name": name, holds: marshal.loads(data)}, set(names))
        part = object.__new__(types.Part)
        fill(part, {**BLANK[types.Part], field: pair}, {field})
        return part
    return thaw(types.Part, packed)


def take_ids_off(parts: list[Packed], prefix: str) -> bool:
    """Take ids that begin with a prefix off the calls and responses among packed parts, in place. Was there one?"""
    found = False
    for at, part in enumerate(parts):
        if isinstance(part, tuple) and (part[1] or "").startswith(prefix):
            parts[at] = part = freeze(unpack(part))
        if isinstance(part, dict):
            for name in (CALL, RESPONSE):
                if name in part and (part[name].get("id") or "").startswith(prefix):
                    del part[name]["id"]
                    found = True
    return found
