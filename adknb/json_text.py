"""JSON from outside: strict, and every fault named by file, line and column, or by its path in the document.

Python's reader takes `NaN`, any depth and a key given twice (the last one wins); all three make trouble far from where
they stand, so they are refused here. A file is only ever read.
"""

from __future__ import annotations

import json
import math
import os
import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from adknb.engine.errors import BadData

DEPTH = 200
"""Levels of lists and objects that are taken; a recorded session has about ten."""

_TEXT = r'"[^"\\]*(?:\\.[^"\\]*)*"'
_MARKS = re.compile(rf"(?P<text>{_TEXT})(?P<key>[ \t\n\r]*:)?|[][{{}}]")
_TOKENS = re.compile(rf"{_TEXT}|-?\b(?:NaN|Infinity)\b|-?\d[\d.eE+-]*")


def name_of(path: str | os.PathLike[str]) -> str:
    """How messages call a file: its name, without the folders, which are nobody's business."""
    return "standard input" if os.fspath(path) == "-" else Path(path).name or str(path)


def read_bytes(path: str | os.PathLike[str]) -> bytes:
    """The bytes of a file, or of standard input for `-`.

    Raises:
        BadData: if there is no such file, it is a folder, or it may not be read.
    """
    if os.fspath(path) == "-":
        return sys.stdin.buffer.read()
    try:
        return Path(path).read_bytes()
    except FileNotFoundError:
        raise BadData(str(path), "there is no such file") from None
    except IsADirectoryError:
        raise BadData(str(path), "this is a folder; name a file in it") from None
    except (OSError, ValueError) as error:  # ValueError: a path with a null character
        raise BadData(str(path), f"cannot be read: {getattr(error, 'strerror', None) or error}") from None


def utf8(data: bytes, name: str) -> str:
    """The text of a file in UTF-8, with or without a byte order mark.

    Raises:
        BadData: naming line and byte of what is not UTF-8.
    """
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise BadData(f"{name}:{line}", f"is not UTF-8 text: byte {error.start} is 0x{data[error.start]:02x}") from None


@dataclass(eq=False)
class NotJson(Exception):
    """A text is not JSON as it is taken here: where (from 0) and why, in the same words on every Python."""

    offset: int
    message: str

    def __str__(self) -> str:
        return self.message

    def place(self, text: str, line: int = 1) -> tuple[int, int]:
        """Line and column, both from 1; `line` is the number of the text's first line."""
        return (
            line + text.count("\n", 0, self.offset),
            self.offset - text.rfind("\n", 0, self.offset),
        )


def parse(text: str, name: str, line: int = 1) -> Any:
    """The value that a JSON text stands for; `line` is the number of its first line in the file.

    Raises:
        BadData: with line and column for a syntax error, a key given twice, `NaN` or a number too large; with the path
            in the document for one that is nested too deeply.
    """
    try:
        return strict(text)
    except NotJson as fault:
        if not text.strip():
            raise BadData(name, "the file is empty") from None
        row, column = fault.place(text, line)
        raise BadData(f"{name}:{row}:{column}", fault.message) from None
    except TooDeep as fault:
        raise BadData(f"{name}: {fault.path}" if fault.path else name, str(fault)) from None


def strict(text: str) -> Any:
    """The value that a JSON text stands for: no key twice, no `NaN`, no number out of range, at most DEPTH levels.

    Raises:
        NotJson: at the character that is wrong.
        TooDeep: with the beginning of the path that leads there.
    """
    try:
        value = json.loads(text, parse_constant=_refuse, parse_float=_finite, object_pairs_hook=_once)
    except json.JSONDecodeError as error:
        raise _syntax_error(text, error) from None
    except _NotANumber as error:
        raise NotJson(
            _offset_of(text, error.literal), f"{_cut(error.literal)} is not a number that JSON knows"
        ) from None
    except _Twice as error:
        raise NotJson(_second(text, error.key), f"the key {_cut(error.key)!r} is given twice in one object") from None
    except RecursionError:
        raise TooDeep("") from None
    except ValueError:  # an integer with thousands of digits
        raise NotJson(_long_number(text), "a number with too many digits") from None
    _check_depth(value)
    return value


class TooDeep(Exception):
    """A document is nested deeper than DEPTH levels; `path` is the beginning of the way there, where it is known."""

    def __init__(self, path: str) -> None:
        super().__init__(f"nested deeper than {DEPTH} levels")
        self.path = path


class _NotANumber(ValueError):
    def __init__(self, literal: str) -> None:
        super().__init__(literal)
        self.literal = literal


class _Twice(Exception):
    def __init__(self, key: str) -> None:
        super().__init__(key)
        self.key = key


def _refuse(literal: str) -> Any:
    raise _NotANumber(literal)


def _finite(literal: str) -> float:
    number = float(literal)
    if math.isinf(number):
        raise _NotANumber(literal)
    return number


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise _Twice(key)
            seen.add(key)
    return made


_COMMA_BEFORE = re.compile(r",[ \t\n\r]*\Z")


def _syntax_error(text: str, error: json.JSONDecodeError) -> NotJson:
    """Python 3.13 finds a comma too much at the comma, older ones behind it: told as the newer does, on all of them."""
    at, message = error.pos, error.msg.replace("starting at", "starting here")
    comma = _COMMA_BEFORE.search(text, max(0, at - 1000), at)
    if comma and text[at : at + 1] in ("}", "]") and message.startswith("Expecting"):
        at, message = comma.start(), f"Illegal trailing comma before end of {'object' if text[at] == '}' else 'array'}"
    ends_early = at >= len(text.rstrip()) or message.startswith("Unterminated")
    hint = "; the text ends too early: was it cut off?" if ends_early and text.strip() else ""
    return NotJson(at, f"not JSON: {message[0].lower()}{message[1:]}{hint}")


def _cut(literal: str) -> str:
    return literal if len(literal) <= 40 else literal[:37] + "…"


def _offset_of(text: str, literal: str) -> int:
    """Where a literal stands outside of strings."""
    return next((m.start() for m in _TOKENS.finditer(text) if m.group() == literal), 0)


def _long_number(text: str) -> int:
    limit = sys.get_int_max_str_digits()
    return next((m.start() for m in _TOKENS.finditer(text) if m.group()[0] != '"' and len(m.group()) > limit), 0)


def _second(text: str, key: str) -> int:
    """Where the key stands for the second time in the first object to be closed that has it twice."""
    seen: list[list[int]] = []  # of every object and list that is open: where the key stands in it
    for mark in _MARKS.finditer(text):
        if mark.group() in ("{", "["):
            seen.append([])
        elif mark.group() in ("}", "]"):
            places = seen.pop()
            if len(places) > 1:
                return places[1]
        elif mark["key"] and json.loads(mark["text"]) == key:
            seen[-1].append(mark.start())
    return 0


def _check_depth(value: Any) -> None:
    """Walk the document level by level, without recursion; what is empty leads nowhere."""
    level = [value]
    for _ in range(DEPTH):
        level = [child for node in level for child in _inside(node) if child and isinstance(child, (dict, list))]
        if not level:
            return
    if any(isinstance(child, (dict, list)) for node in level for child in _inside(node)):
        raise TooDeep(_deepest(value))


def _inside(node: Any) -> Iterable[Any]:
    return node.values() if isinstance(node, dict) else node if isinstance(node, list) else ()


def _deepest(value: Any) -> str:
    """The beginning of the path to what is nested too deeply."""
    stack: list[tuple[Any, int, str]] = [(value, 0, "")]
    while stack:
        node, depth, path = stack.pop()
        if depth > DEPTH:
            return path
        items = node.items() if isinstance(node, dict) else enumerate(node)
        for key, child in items:
            if isinstance(child, (dict, list)):
                step = f"[{key}]" if isinstance(node, list) else f".{key}" if path else str(key)
                # five steps say where to look
                stack.append((child, depth + 1, path + step if depth < 5 else path))
    return ""
