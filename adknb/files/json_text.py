"""JSON from a file: strict, and every fault named by file, line and column, or by its path in the document.

Python's reader takes `NaN` and any depth; both make trouble far from where they stand, so they are refused here.
The file is only ever read.
"""

from __future__ import annotations

import json
import math
import os
import re
import sys
from pathlib import Path
from typing import Any

from adknb.engine.errors import BadData

DEPTH = 200
"""Levels of lists and objects that are taken; a recorded session has about ten."""

_TOKENS = re.compile(r'"(?:[^"\\]|\\.)*"|-?\b(?:NaN|Infinity)\b|-?\d[\d.eE+-]*')


class _NotANumber(ValueError):
    def __init__(self, literal: str) -> None:
        super().__init__(literal)
        self.literal = literal


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
        raise BadData(str(path), "this is a folder; name the session file in it") from None
    except (OSError, ValueError) as error:  # ValueError: a path with a null character
        raise BadData(str(path), f"cannot be read: {getattr(error, 'strerror', None) or error}") from None


def text_of(data: bytes, name: str) -> str:
    """The text of a file in UTF-8, with or without a byte order mark.

    Raises:
        BadData: naming line and byte of what is not UTF-8.
    """
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise BadData(f"{name}:{line}", f"is not UTF-8 text: byte {error.start} is 0x{data[error.start]:02x}") from None


def parse(text: str, name: str) -> Any:
    """The value that a JSON text stands for.

    Raises:
        BadData: with line and column for a syntax error, `NaN` or a number too large; with the path in the document
            for one that is nested too deeply.
    """
    if not text.strip():
        raise BadData(name, "the file is empty")
    try:
        value = json.loads(text, parse_constant=_refuse, parse_float=_finite)
    except json.JSONDecodeError as error:
        ends_early = error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated")
        hint = "; the text ends too early: was the file cut off?" if ends_early else ""
        raise BadData(_place(name, text, error.pos), f"not JSON: {_said(error.msg)}{hint}") from None
    except _NotANumber as error:
        place = _place(name, text, _offset_of(text, error.literal))
        raise BadData(place, f"{_cut(error.literal)} is not a number that JSON knows") from None
    except RecursionError:
        raise BadData(name, f"nested deeper than {DEPTH} levels") from None
    except ValueError:  # an integer with thousands of digits
        raise BadData(_place(name, text, _long_number(text)), "a number with too many digits") from None
    _check_depth(value, name)
    return value


def _refuse(literal: str) -> Any:
    raise _NotANumber(literal)


def _finite(literal: str) -> float:
    number = float(literal)
    if math.isinf(number):
        raise _NotANumber(literal)
    return number


def _place(name: str, text: str, offset: int) -> str:
    line = text.count("\n", 0, offset) + 1
    column = offset - text.rfind("\n", 0, offset)
    return f"{name}:{line}:{column}"


def _said(message: str) -> str:
    message = message.replace("starting at", "starting here")
    return message[0].lower() + message[1:]


def _cut(literal: str) -> str:
    return literal if len(literal) <= 40 else literal[:37] + "…"


def _offset_of(text: str, literal: str) -> int:
    """Where a literal stands outside of strings."""
    return next((m.start() for m in _TOKENS.finditer(text) if m.group() == literal), 0)


def _long_number(text: str) -> int:
    limit = sys.get_int_max_str_digits()
    return next((m.start() for m in _TOKENS.finditer(text) if m.group()[0] != '"' and len(m.group()) > limit), 0)


def _check_depth(value: Any, name: str) -> None:
    """Walk the document level by level, without recursion."""
    level = [value]
    for _ in range(DEPTH + 1):
        level = [
            child
            for node in level
            for child in (node.values() if isinstance(node, dict) else node if isinstance(node, list) else ())
            if isinstance(child, (dict, list))
        ]
        if not level:
            return
    raise BadData(f"{name}: {_deepest(value)}", f"nested deeper than {DEPTH} levels")


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
