"""Sealing: the questions of a lesson, written in plain JSON, as the data that ships, in which no answer can be read.

    python -m adknb.course.sealing seal plain.json adknb/course/lessons/07.json
    python -m adknb.course.sealing open adknb/course/lessons/07.json          # prints the plain form again

The right option is kept as a salted hash; what is told afterwards (the why, its Go home, the tempting thought) and the
hints are packed. This keeps an answer from the eye of an honest reader; whoever wants to know finds out.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from adknb import json_text
from adknb.course.packing import fingerprint, pack, unpack
from adknb.engine.errors import AdknbError, BadData

Json = dict[str, Any]

OPEN = ("n", "ask", "options")
PACKED = ("hints", "tempting", "why", "go")
HINTS = 3
LANGUAGES = ("en", "zh")


def seal(plain: Any, where: str = "lesson") -> Json:
    """The shipped form of a lesson's questions.

    Raises:
        BadData: something is missing or does not fit, with its place.
    """
    lesson = str(_get(plain, "lesson", where))
    title = _both(_get(plain, "title", where), f"{where}.title")
    questions = _get(plain, "questions", where)
    if not isinstance(questions, list) or not questions:
        raise BadData(f"{where}.questions", "expected a list with at least one question")
    sealed = [_sealed(q, lesson, n, f"{where}.questions[{n - 1}]") for n, q in enumerate(questions, 1)]
    return {"lesson": lesson, "title": title, "questions": sealed}


def opened(sealed: Json, where: str = "lesson") -> Json:
    """The plain form of a lesson's questions, as `seal` takes it."""
    out = []
    for n, question in enumerate(sealed["questions"]):
        packed = unpack(question["packed"], f"{where}.questions[{n}].packed")
        keys = [option["key"] for option in question["options"]]
        right = [key for key in keys if fingerprint(question["salt"], key) == question["right"]]
        if len(right) != 1:
            raise BadData(f"{where}.questions[{n}].right", "fits none of the options; seal the plain form again")
        out.append({name: question[name] for name in OPEN} | {"right": right[0]} | packed)
    return {"lesson": sealed["lesson"], "title": sealed["title"], "questions": out}


def _sealed(question: Any, lesson: str, n: int, where: str) -> Json:
    if _get(question, "n", where) != n:
        raise BadData(f"{where}.n", f"expected {n}: questions are numbered from 1, in order")
    _both(_get(question, "ask", where), f"{where}.ask")
    options = _get(question, "options", where)
    keys = [_get(option, "key", f"{where}.options[{i}]") for i, option in enumerate(options)]
    if len(keys) < 2 or len(set(keys)) != len(keys):
        raise BadData(f"{where}.options", "expected two options or more, each with a key of its own")
    for i, option in enumerate(options):
        _both(option, f"{where}.options[{i}]")
    right, tempting = _get(question, "right", where), _get(question, "tempting", where)
    tempted = _get(tempting, "key", f"{where}.tempting")
    if right not in keys or tempted not in keys or tempted == right:
        raise BadData(where, f"right ({right!r}) and tempting ({tempted!r}) are to be two of the keys {keys}")
    hints = _get(question, "hints", where)
    if not isinstance(hints, list) or len(hints) != HINTS:
        raise BadData(f"{where}.hints", f"expected {HINTS} hints, from far to near")
    for name, value in {"tempting": tempting, "why": _get(question, "why", where)}.items():
        _both(value, f"{where}.{name}")
    for i, hint in enumerate(hints):
        _both(hint, f"{where}.hints[{i}]")
    salt = f"{lesson}.{n}." + hashlib.sha256(json.dumps(question["ask"], sort_keys=True).encode()).hexdigest()[:8]
    packed = pack({name: _get(question, name, where) for name in PACKED})
    return {name: question[name] for name in OPEN} | {
        "salt": salt,
        "right": fingerprint(salt, right),
        "packed": packed,
    }


def _get(value: Any, name: str, where: str) -> Any:
    if not isinstance(value, dict) or name not in value:
        raise BadData(where, f"expected an object with {name!r}")
    return value[name]


def _both(value: Any, where: str) -> Json:
    """A text in both languages."""
    for language in LANGUAGES:
        if not isinstance(_get(value, language, where), str) or not value[language].strip():
            raise BadData(f"{where}.{language}", "expected a text")
    return dict(value)


def main(arguments: Sequence[str]) -> int:
    """Seal a plain file, or print the plain form of a sealed one; 0, or 2 after one line about what is wrong."""
    try:
        if list(arguments[:1]) == ["seal"] and len(arguments) == 3:
            data = seal(_read(arguments[1]), json_text.name_of(arguments[1]))
            Path(arguments[2]).write_text(json.dumps(data, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
        elif list(arguments[:1]) == ["open"] and len(arguments) == 2:
            print(
                json.dumps(opened(_read(arguments[1]), json_text.name_of(arguments[1])), ensure_ascii=False, indent=1)
            )
        else:
            raise BadData("sealing", "expected: seal PLAIN.json SEALED.json, or: open SEALED.json")
    except AdknbError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


def _read(path: str) -> Any:
    name = json_text.name_of(path)
    return json_text.parse(json_text.utf8(json_text.read_bytes(path), name), name)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
