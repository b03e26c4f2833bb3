r"""Text as Go writes it: three notations that reach the model, so that every byte counts.

    go_json({"b": 2.0, "a": "x<é"})   {"a":"x\u003cé","b":2}     calls and results of other agents, delegation inputs
    go_value([1, "y", True, None])    [1 y true <nil>]           a state value in an instruction
    go_quote('say "hi"')              "say \"hi\""                 a name in the identity sentence

Go: encoding/json, Marshal; fmt, Sprint; strconv, Quote

Go's JSON reader makes every number a float; Python's keeps whole numbers whole. Here an int counts as a native one and
prints its digits. Who reads data that the reference would have read as JSON passes it through `as_go_reads_json` first.
"""

from __future__ import annotations

import math
from base64 import b64encode
from collections.abc import Mapping
from json.encoder import encode_basestring
from typing import Any

from pydantic import BaseModel

INT64 = 1 << 63
"""No native integer of Go's is larger; a larger number can only be a float."""

JSON_ESCAPES = {c: f"\\u{ord(c):04x}" for c in "<>&\u2028\u2029"}
"""What Go's encoder escapes beyond JSON's own: texts that may land in HTML or JavaScript."""

QUOTE_ESCAPES = {"\a": r"\a", "\b": r"\b", "\f": r"\f", "\n": r"\n", "\r": r"\r", "\t": r"\t", "\v": r"\v"}
QUOTE_ESCAPES |= {'"': r"\"", "\\": r"\\"}


def go_json(value: Any) -> str:
    """JSON as `json.Marshal` writes it: no blanks, keys sorted, `<` `>` `&` escaped (R5.11, spec/execution.md 0.3).

    {"b": [1, 2.0], "a": None} -> {"a":null,"b":[1,2]}

    Raises:
        ValueError: NaN or an infinity. TypeError: a value that JSON has no form for.
    """
    if isinstance(value, str):
        return _escaped(encode_basestring(well_formed(value)))
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(int(value)) if -INT64 <= value < INT64 else _json_float(float(value))
    if isinstance(value, float):
        return _json_float(value)
    if isinstance(value, Mapping):
        return "{" + ",".join(f"{go_json(key)}:{go_json(item)}" for key, item in _by_key(value)) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ",".join(map(go_json, value)) + "]"
    if isinstance(value, (bytes, bytearray)):
        return f'"{b64encode(value).decode()}"'
    if isinstance(value, BaseModel):
        return go_json(value.model_dump(mode="json", by_alias=True, exclude_none=True))
    raise TypeError(f"JSON has no form for {type(value).__name__}")


def go_value(value: Any) -> str:
    """A value as Go's `%v` prints it, for a placeholder of an instruction (R3.10); None at the top is empty text.

    {"b": 1, "a": ["x", None]} -> map[a:[x <nil>] b:1]
    1000000.0 -> 1e+06, but the int 1000000 -> 1000000
    """
    return "" if value is None else _print(value)


def go_quote(text: str) -> str:
    """A text in double quotes as Go's `strconv.Quote` writes it (R4.2)."""
    return '"' + "".join(map(_quote_char, well_formed(text))) + '"'


def as_go_reads_json(value: Any) -> Any:
    """JSON data with its numbers as Go reads them, where that shows: a whole number of 1e6 or more becomes a float.

    {"id": 12345678, "n": 3} -> {"id": 12345678.0, "n": 3}; smaller whole numbers print alike either way.
    """
    if isinstance(value, dict):
        return {key: as_go_reads_json(item) for key, item in value.items()}
    if isinstance(value, list):
        return [as_go_reads_json(item) for item in value]
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= 1_000_000:
        return float(value)
    return value


def well_formed(text: str) -> str:
    """The text with halves of surrogate pairs replaced, as Go's JSON reader does: no encoding can carry them."""
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _escaped(text: str) -> str:
    """One `replace` a character: of a long text that is ten times as quick as `translate`."""
    for char, escape in JSON_ESCAPES.items():
        text = text.replace(char, escape)
    return text


def _by_key(value: Mapping[Any, Any]) -> list[tuple[str, Any]]:
    return sorted(((str(key), item) for key, item in value.items()), key=lambda pair: pair[0])


def _digits(value: float) -> tuple[str, str, int]:
    """Sign, the shortest digits that read back as the same float, and the exponent of the first digit."""
    mantissa, _, exponent = f"{value!r}".lower().partition("e")
    sign, mantissa = ("-", mantissa[1:]) if mantissa.startswith("-") else ("", mantissa)
    before, _, behind = mantissa.partition(".")
    digits = (before + behind).lstrip("0")
    first = len(before) - 1 - (len(before + behind) - len(digits)) + int(exponent or 0)
    digits = digits.rstrip("0")
    return sign, digits or "0", first if digits else 0


def _plain(digits: str, exponent: int) -> str:
    if exponent < 0:
        return "0." + "0" * (-exponent - 1) + digits
    whole_part, fraction = digits[: exponent + 1].ljust(exponent + 1, "0"), digits[exponent + 1 :]
    return f"{whole_part}.{fraction}" if fraction else whole_part


def _scientific(digits: str, exponent: int, least: int) -> str:
    mantissa = f"{digits[0]}.{digits[1:]}" if digits[1:] else digits
    return f"{mantissa}e{'-' if exponent < 0 else '+'}{abs(exponent):0{least}}"


def _json_float(value: float) -> str:
    """Plain from 1e-6 up to 1e21, else an exponent without leading zero."""
    if not math.isfinite(value):
        raise ValueError(f"JSON has no form for {value}")
    sign, digits, exponent = _digits(value)
    plain = value == 0 or 1e-6 <= abs(value) < 1e21
    return sign + (_plain(digits, exponent) if plain else _scientific(digits, exponent, least=1))


def _print_float(value: float) -> str:
    """Plain while the exponent is from -4 to 5, else with a sign and two digits of exponent."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    sign, digits, exponent = _digits(value)
    return sign + (_plain(digits, exponent) if -4 <= exponent < 6 else _scientific(digits, exponent, least=2))


def _print(value: Any) -> str:
    if value is None:
        return "<nil>"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return _print_float(value)
    if isinstance(value, Mapping):
        return "map[" + " ".join(f"{key}:{_print(item)}" for key, item in _by_key(value)) + "]"
    if isinstance(value, (list, tuple, bytes, bytearray)):
        return "[" + " ".join(map(_print, value)) + "]"
    return str(value)


def _quote_char(char: str) -> str:
    if char in QUOTE_ESCAPES:
        return QUOTE_ESCAPES[char]
    if char.isprintable():
        return char
    code = ord(char)
    if code < 0x80:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
