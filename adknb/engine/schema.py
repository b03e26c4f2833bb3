"""Two checkers: a function tool's arguments against JSON Schema, and structured output against google-genai's Schema.

They differ on purpose, as the reference's do. JSON Schema lets through what it does not forbid (extra keys, nulls where
no type is named); the strict checker knows six types, refuses every key that is not a property and every null.

Both raise at the first fault and say where it is: `args.stops[2].city: expected a string, found number 3`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

from google.genai import types

ONE = {
    "string": "a string",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "array": "an array",
    "object": "an object",
    "null": "null",
}
"""The types of JSON Schema, as they are named in an error."""

STRICT = "STRING, INTEGER, NUMBER, BOOLEAN, ARRAY or OBJECT"


def check_json_schema(value: Any, schema: Any, where: str = "args") -> None:
    """Check a value against a JSON Schema, the part of it that describes plain data; other keywords are ignored.

        {"n": 3.0}, {"properties": {"n": {"type": "integer"}}} -> fits: a float without fraction is a whole number
        {"n": 1.5}, the same schema                           -> args.n: expected a whole number, found number 1.5

    Raises:
        ValueError: the value does not fit, or the schema itself cannot be used; names the path.

    Source: spec/execution.md 6.5. Go: tool/functiontool/function.go, functionTool.Run; github.com/google/jsonschema-go
    """
    _check(value, schema, where, ())


def _check(value: Any, schema: Any, where: str, defs: tuple[dict[str, Any], ...]) -> None:
    if schema is True:
        return
    if schema is False:
        raise ValueError(f"{where}: nothing is allowed here")
    if not isinstance(schema, dict):
        raise ValueError(f"{where}: its schema is {found(schema)}, not an object or true or false")
    if "$defs" in schema:
        defs = (schema["$defs"], *defs)
    for check in dict.fromkeys(check for keyword, check in KEYWORDS.items() if keyword in schema):
        check(value, schema, where, defs)


def _reference(value: Any, schema: dict[str, Any], where: str, defs: tuple[dict[str, Any], ...]) -> None:
    name = str(schema["$ref"]).removeprefix("#/$defs/")
    for names in defs:
        if name in names:
            return _check(value, names[name], where, defs)
    raise ValueError(f"{where}: its schema refers to {schema['$ref']!r}, which it does not define")


def _type(value: Any, schema: dict[str, Any], where: str, defs: tuple[dict[str, Any], ...]) -> None:
    named = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    unknown = [t for t in named if t not in ONE]
    if unknown:
        raise ValueError(f"{where}: its schema names the type {unknown[0]!r}; JSON Schema has {', '.join(ONE)}")
    if not any(_is(value, t) for t in named):
        raise ValueError(f"{where}: expected {' or '.join(ONE[t] for t in named)}, found {found(value)}")


def _enum(value: Any, schema: dict[str, Any], where: str, defs: tuple[dict[str, Any], ...]) -> None:
    allowed = schema["enum"] if "enum" in schema else [schema["const"]]
    if not any(same_json(value, a) for a in allowed):
        raise ValueError(f"{where}: expected {' or '.join(map(repr, allowed))}, found {found(value)}")


def _const(value: Any, schema: dict[str, Any], where: str, defs: tuple[dict[str, Any], ...]) -> None:
    _enum(value, {"const": schema["const"]}, where, defs)


def _bounds(value: Any, schema: dict[str, Any], where: str, defs: tuple[dict[str, Any], ...]) -> None:
    for keyword, (kind, measure, fits, words) in BOUNDS.items():
        if keyword in schema and _is(value, kind) and not fits(measure(value), schema[keyword]):
            raise ValueError(f"{where}: expected {words.format(schema[keyword])}, found {found(value)}")


def _pattern(value: Any, schema: dict[str, Any], where: str, defs: tuple[dict[str, Any], ...]) -> None:
    try:
        fits = not isinstance(value, str) or re.search(schema["pattern"], value)
    except (re.error, TypeError) as error:
        raise ValueError(f"{where}: its schema's pattern {schema['pattern']!r} cannot be used: {error}") from None
    if not fits:
        raise ValueError(f"{where}: expected a string that matches {schema['pattern']!r}, found {found(value)}")


def _members(value: Any, schema: dict[str, Any], where: str, defs: tuple[dict[str, Any], ...]) -> None:
    if not isinstance(value, dict):
        return
    properties, extra = schema.get("properties") or {}, schema.get("additionalProperties", True)
    for key in schema.get("required") or []:
        if key not in value:
            raise ValueError(f"{where}: {key!r} is missing")
    for key, item in value.items():
        if key in properties:
            _check(item, properties[key], f"{where}.{key}", defs)
        elif extra is False:
            raise ValueError(f"{where}: {key!r} is not allowed; {_known(properties)}")
        else:
            _check(item, extra, f"{where}.{key}", defs)


def _items(value: Any, schema: dict[str, Any], where: str, defs: tuple[dict[str, Any], ...]) -> None:
    if not isinstance(value, list):
        return
    first = schema.get("prefixItems") or []
    for i, item in enumerate(value):
        _check(item, first[i] if i < len(first) else schema.get("items", True), f"{where}[{i}]", defs)


def _all_of(value: Any, schema: dict[str, Any], where: str, defs: tuple[dict[str, Any], ...]) -> None:
    for one in schema["allOf"]:
        _check(value, one, where, defs)


def _any_of(value: Any, schema: dict[str, Any], where: str, defs: tuple[dict[str, Any], ...]) -> None:
    faults = _faults(value, schema["anyOf"], where, defs)
    if len(faults) == len(schema["anyOf"]):
        raise ValueError(f"{where}: none of {len(faults)} alternatives fits ({'; '.join(faults)})")


def _one_of(value: Any, schema: dict[str, Any], where: str, defs: tuple[dict[str, Any], ...]) -> None:
    faults = _faults(value, schema["oneOf"], where, defs)
    fitting = len(schema["oneOf"]) - len(faults)
    if fitting == 0:
        raise ValueError(f"{where}: none of {len(faults)} alternatives fits ({'; '.join(faults)})")
    if fitting > 1:
        raise ValueError(f"{where}: {fitting} alternatives fit, exactly one must")


def _faults(value: Any, schemas: list[Any], where: str, defs: tuple[dict[str, Any], ...]) -> list[str]:
    faults = []
    for one in schemas:
        try:
            _check(value, one, where, defs)
        except ValueError as error:
            faults.append(str(error))
    return faults


def _not(value: Any, schema: dict[str, Any], where: str, defs: tuple[dict[str, Any], ...]) -> None:
    if not _faults(value, [schema["not"]], where, defs):
        raise ValueError(f"{where}: {found(value)} is just what is not allowed here")


BOUNDS: dict[str, tuple[str, Callable[[Any], Any], Callable[[Any, Any], bool], str]] = {
    "minimum": ("number", float, lambda n, limit: n >= limit, "a number of at least {}"),
    "maximum": ("number", float, lambda n, limit: n <= limit, "a number of at most {}"),
    "exclusiveMinimum": ("number", float, lambda n, limit: n > limit, "a number above {}"),
    "exclusiveMaximum": ("number", float, lambda n, limit: n < limit, "a number below {}"),
    "minLength": ("string", len, lambda n, limit: n >= limit, "at least {} characters"),
    "maxLength": ("string", len, lambda n, limit: n <= limit, "at most {} characters"),
    "minItems": ("array", len, lambda n, limit: n >= limit, "at least {} items"),
    "maxItems": ("array", len, lambda n, limit: n <= limit, "at most {} items"),
    "minProperties": ("object", len, lambda n, limit: n >= limit, "at least {} keys"),
    "maxProperties": ("object", len, lambda n, limit: n <= limit, "at most {} keys"),
}
"""keyword -> (the type it speaks of, what is measured, whether that fits the limit, how an error says it)."""

KEYWORDS: dict[str, Callable[[Any, dict[str, Any], str, tuple[dict[str, Any], ...]], None]] = {
    "$ref": _reference,
    "type": _type,  # first: the others then speak of a value of the right type
    "enum": _enum,
    "const": _const,
    **dict.fromkeys(BOUNDS, _bounds),
    "pattern": _pattern,
    "required": _members,
    "properties": _members,
    "additionalProperties": _members,
    "prefixItems": _items,
    "items": _items,
    "allOf": _all_of,
    "anyOf": _any_of,
    "oneOf": _one_of,
    "not": _not,
}
"""The keywords that are looked at, in this order."""


def check_strict(value: Any, schema: types.Schema, where: str = "args") -> None:
    """Check the arguments of set_model_response, finish_task or a delegation, or a parsed structured answer.

    Every key must be a property, every required key present; null never fits; enum, nullable, format, bounds and anyOf
    are not looked at. A map is checked by its members even where the schema names no type.

    Raises:
        ValueError: naming the path and what was expected.

    Source: spec/request.md R6.6, spec/execution.md 9.2, 11.7. Go: internal/utils/schema_utils.go, ValidateMapOnSchema
    """
    if isinstance(value, dict):
        _check_strict_members(value, schema, where)
    else:
        _check_strict_type(value, schema, where)


def _check_strict_members(value: dict[str, Any], schema: types.Schema, where: str) -> None:
    properties = schema.properties or {}
    for key, item in value.items():
        if key not in properties:
            raise ValueError(f"{where}: {key!r} is not allowed; {_known(properties)}")
        _check_strict_type(item, properties[key], f"{where}.{key}")
    for key in schema.required or []:
        if key not in value:
            raise ValueError(f"{where}: {key!r} is missing")


def _check_strict_type(value: Any, schema: types.Schema, where: str) -> None:
    named = str(getattr(schema.type, "value", schema.type) or "").lower()
    if named not in ONE or named == "null":
        raise ValueError(f"{where}: its schema says {named.upper() or 'no type'}, and only {STRICT} can be checked")
    if not _is(value, named):
        raise ValueError(f"{where}: expected {ONE[named]}, found {found(value)}")
    if named == "object":
        _check_strict_members(value, schema, where)
    elif named == "array":
        if schema.items is None:
            raise ValueError(f"{where}: its schema does not say what the items are")
        for i, item in enumerate(value):
            _check_strict_type(item, schema.items, f"{where}[{i}]")


def _is(value: Any, named: str) -> bool:
    """Whether a value is of a JSON Schema type. True is no number; 3.0 is a whole number."""
    match named:
        case "string":
            return isinstance(value, str)
        case "boolean":
            return isinstance(value, bool)
        case "number":
            return isinstance(value, (int, float)) and not isinstance(value, bool)
        case "integer":
            return _is(value, "number") and (isinstance(value, int) or (math.isfinite(value) and value.is_integer()))
        case "array":
            return isinstance(value, list)
        case "object":
            return isinstance(value, dict)
        case _:
            return value is None


def same_json(a: Any, b: Any) -> bool:
    """Equality of JSON values: 1 and 1.0 are the same number, true is not 1."""
    if isinstance(a, bool) or isinstance(b, bool):
        return a is b
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(same_json, a, b))
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same_json(v, b[k]) for k, v in a.items())
    return bool(a == b)


def found(value: Any) -> str:
    """A value as an error names it: `number 3`, `string 'Oslo'`, `null`, `an object`."""
    if value is None:
        return "null"
    if isinstance(value, (list, dict)):
        return "an array" if isinstance(value, list) else "an object"
    shown = ("true" if value else "false") if isinstance(value, bool) else repr(value)
    if len(shown) > 60:
        shown = f"{shown[:57]}…"
    kind = {str: "string ", int: "number ", float: "number "}.get(type(value), "")
    return f"{kind}{shown}"


def _known(properties: Any) -> str:
    return f"known: {', '.join(sorted(properties))}" if properties else "no keys are"
