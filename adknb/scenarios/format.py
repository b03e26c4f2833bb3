"""Reading scenario files: all of a file is checked before anything runs.

What is not in the vocabulary, a value of the wrong kind or a missing name is one BadData with file, line and JSON path:

    scenarios.jsonl:12: agent.tools[0].runs[1].retrun: unknown field; known: …; did you mean 'return'?

Source: golden/README.md; the vocabulary is in vocabulary.py.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from adknb.engine.errors import BadData
from adknb.json_text import parse, read_bytes, utf8
from adknb.scenarios.kinds import Place
from adknb.scenarios.vocabulary import SCENARIO

DEEPEST = 100
"""What is nested deeper is refused: copying and writing it would overrun Python's stack."""


def check(scenario: Any, where: str = "scenario") -> dict[str, Any]:
    """Check one scenario against the whole vocabulary and give it back.

    Raises:
        BadData: at the first fault, with `where` and the JSON path.
    """
    return _check(scenario, Place(where))


def _check(scenario: Any, place: Place) -> dict[str, Any]:
    if _is_deeper(scenario, DEEPEST):
        place.refuse(f"nested more than {DEEPEST} levels deep")
    steps = _to_a_number_out_of_range(scenario)
    if steps is not None:
        place.at(*steps).refuse("a number that no 64-bit float can hold")
    SCENARIO.check(scenario, place)
    return scenario  # type: ignore[no-any-return]


def _is_deeper(value: Any, levels: int) -> bool:
    """Whether lists and objects stand inside each other more than so many times; a loop of them does too."""
    row = [value]
    for _ in range(levels + 1):
        row = [
            inner for v in row if isinstance(v, (dict, list)) for inner in (v.values() if isinstance(v, dict) else v)
        ]
        if not row:
            return False
    return True


def _to_a_number_out_of_range(value: Any) -> tuple[str | int, ...] | None:
    """The path to a number beyond a float's range, which Go's JSON reader refuses; None if there is none."""
    if isinstance(value, (int, float)):
        return () if abs(value) > sys.float_info.max else None
    for step, item in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        steps = _to_a_number_out_of_range(item)
        if steps is not None:
            return (step, *steps)
    return None


def load(path: str | Path) -> list[dict[str, Any]]:
    """Read a scenario file and check all of it: `.jsonl` one object a line, `.json` one object or a list, `-` stdin.

    Standard input and files of other names may be either.

    Raises:
        BadData: the file cannot be read, is not JSON, or a scenario is not as it should be.
    """
    scenarios = []
    for found in load_each(path):
        if isinstance(found, BadData):
            raise found
        scenarios.append(found)
    return scenarios


def load_each(path: str | Path) -> list[dict[str, Any] | BadData]:
    """As `load`, but what is wrong with a scenario stands in its place: the others can still be run.

    Raises:
        BadData: the file cannot be read, or has no scenario.
    """
    name = "standard input" if str(path) == "-" else str(path)
    text = utf8(read_bytes(path), name)
    suffix = Path(str(path)).suffix
    by_line = suffix == ".jsonl" or (suffix != ".json" and _is_by_line(text))
    found = [_checked(value, place) for place, value in (_lines if by_line else _whole)(text, name)]
    if not found:
        raise BadData(name, "no scenario in it")
    return found


def _checked(value: Any, place: Place) -> dict[str, Any] | BadData:
    if isinstance(value, BadData):
        return value
    try:
        return _check(value, place)
    except BadData as error:
        return error


def _is_by_line(text: str) -> bool:
    """Whether the first line that is not empty is JSON by itself, and more follows."""
    first, _, rest = text.lstrip().partition("\n")
    try:
        json.loads(first)
    except ValueError:
        return False
    return bool(rest.strip())


def _lines(text: str, name: str) -> Iterator[tuple[Place, Any]]:
    for number, line in enumerate(text.split("\n"), 1):  # not splitlines: JSON may hold U+2028 as it is
        if line.strip():
            yield Place(f"{name}:{number}"), _parsed(line, name, number)


def _parsed(line: str, name: str, number: int) -> Any:
    try:
        return parse(line, name, number)
    except BadData as error:
        return error


def _whole(text: str, name: str) -> Iterator[tuple[Place, Any]]:
    if not text.strip():
        return
    try:
        value = parse(text, name)
    except BadData as error:
        if error.message != "not JSON: extra data" or "\n" not in text.strip():
            raise
        raise BadData(error.where, f"{error.message}; for one object a line call the file .jsonl") from None
    if not isinstance(value, list):
        yield Place(name), value
        return
    for i, item in enumerate(value):
        yield Place(name).at(i), item
