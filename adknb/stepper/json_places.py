"""Where in a JSON text a path stands."""

from __future__ import annotations

import re
from json.decoder import JSONDecoder

Path = tuple[str | int, ...]
"""`("contents", 0, "role")`."""


def dotted(path: Path) -> str:
    """`("contents", 0, "role")` -> `contents[0].role`."""
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path).lstrip(".")


def line_of(text: str, path: Path) -> int:
    """The line of a JSON text (from 1) on which a path begins: the deepest part of it that is there."""
    at = _skip(text, 0)
    for n, step in enumerate(path, 1):
        found = _member(text, at, step)
        if found is None:
            break
        key, value = found
        at = key if n == len(path) else value
    return text.count("\n", 0, at) + 1


_BLANK = re.compile(r"[ \t\n\r]*")
_decoder = JSONDecoder()


def _skip(text: str, at: int) -> int:
    match = _BLANK.match(text, at)
    return match.end() if match else at


def _member(text: str, at: int, step: str | int) -> tuple[int, int] | None:
    """Where a member of the object or list at `at` begins (its key, its value), or None."""
    opening = text[at : at + 1]
    if opening not in ("{", "[") or (opening == "{") != isinstance(step, str):
        return None
    at, n = _skip(text, at + 1), 0
    while at < len(text) and text[at] not in "}]":
        mark, key = at, None
        if opening == "{":
            key, at = _decoder.raw_decode(text, at)
            at = _skip(text, _skip(text, at) + 1)  # past the colon
        if step == (key if opening == "{" else n):
            return mark, at
        at = _skip(text, _decoder.raw_decode(text, at)[1])
        n += 1
        if text[at : at + 1] == ",":
            at = _skip(text, at + 1)
    return None
