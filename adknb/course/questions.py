"""The questions of a lesson as they ship: what is asked is plain, what is right is a hash, what is told is packed."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from adknb import json_text
from adknb.course.packing import fingerprint, unpack
from adknb.engine.errors import BadData

LESSONS = Path(__file__).parent / "lessons"


@dataclass(frozen=True)
class Told:
    """What is told once a question is revealed.

    right: the key of the right option; tempting: the key of the option that many take, thought: why they do.
    """

    right: str
    why: str
    go: str
    tempting: str
    thought: str


@dataclass(frozen=True)
class Question:
    """One question in one language.

    options: key -> text, in the order shown.
    """

    lesson: str
    n: int
    ask: str
    options: dict[str, str]
    language: str
    _data: dict[str, Any] = field(repr=False, compare=False)

    def is_right(self, key: str) -> bool:
        """Whether this option is the right one."""
        return bool(fingerprint(self._data["salt"], key) == self._data["right"])

    @property
    def hints(self) -> list[str]:
        """The hints, from far to near."""
        return [hint[self.language] for hint in self._packed["hints"]]

    @property
    def told(self) -> Told:
        """What is told when it is over."""
        packed, language = self._packed, self.language
        right = next(key for key in self.options if self.is_right(key))
        tempting = packed["tempting"]
        return Told(right, packed["why"][language], packed["go"], tempting["key"], tempting[language])

    def key_of(self, answer: str) -> str:
        """The key of an answer, given as key (`b`, `B`) or as the option's text.

        Raises:
            BadData: it is none of the options.
        """
        wanted = str(answer).strip().casefold()
        for key, text in self.options.items():
            if wanted in (key.casefold(), text.casefold()):
                return key
        raise BadData(f"question {self.n}", f"expected one of {', '.join(self.options)}, not {answer!r}")

    @property
    def _packed(self) -> dict[str, Any]:
        found: dict[str, Any] = unpack(self._data["packed"], f"lesson {self.lesson}, question {self.n}")
        return found


def shipped() -> list[str]:
    """The lessons that have questions: `["01", "02", …]`."""
    return sorted(path.stem for path in LESSONS.glob("*.json"))


def load(lesson: str | Path, language: str) -> tuple[str, list[Question]]:
    """Title and questions of a lesson, by its number or from a file of one's own.

    Raises:
        BadData: there is no such lesson, or the file is not what `adknb.course.sealing` writes.
    """
    path = Path(lesson) if isinstance(lesson, Path) or str(lesson).endswith(".json") else LESSONS / f"{lesson}.json"
    if path.parent == LESSONS and path.stem not in shipped():
        raise BadData(f"lesson {lesson!r}", f"expected one of {', '.join(shipped())}, or a .json file")
    data = json_text.parse(json_text.utf8(json_text.read_bytes(path), path.name), path.name)
    try:
        questions = [_question(data, q, language) for q in data["questions"]]
        return data["title"][language], questions
    except (KeyError, TypeError, AttributeError, IndexError):
        raise BadData(path.name, "this is not what adknb.course.sealing writes; seal the plain form again") from None


def _question(data: dict[str, Any], q: dict[str, Any], language: str) -> Question:
    for name in ("salt", "right", "packed"):
        if not isinstance(q[name], str):
            raise TypeError(name)
    options = {option["key"]: option[language] for option in q["options"]}
    return Question(data["lesson"], q["n"], q["ask"][language], options, language, q)
