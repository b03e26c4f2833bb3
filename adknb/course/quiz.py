"""Predict, then reveal: what the reader has answered, asked for and opened, in this kernel and nowhere else.

    begin("01")              # once, in the notebook's first cell
    predict(2)               # asks; a click answers, or:
    predict(2, "b")          # answers; the first answer counts, later ones are welcome
    hint(2)                  # the next of three hints
    reveal(2, dbg.tools_run) # after the step: what is right, why, and what was seen; folded until it is answered
    score()

A wrong answer costs nothing and stops nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from adknb.course.cards import Asked, Revealed, Said, evidence
from adknb.course.questions import Question, load
from adknb.course.words import checked, language_of_notebook, word
from adknb.engine.errors import AdknbError, BadData


class Quiz:
    """The questions of one lesson and what the reader has done with them.

    answers: question -> the keys answered, in order. hints_read: question -> how many.
    """

    def __init__(self, lesson: str | Path, language: str = "") -> None:
        self.language = checked(language) if language else language_of_notebook()
        self.title, self._questions = load(lesson, self.language)
        self.answers: dict[int, list[str]] = {}
        self.hints_read: dict[int, int] = {}
        self._listeners: list[Callable[[int], None]] = []

    def __repr__(self) -> str:
        return f"{self.title} ({len(self._questions)})"

    @property
    def size(self) -> int:
        """How many questions there are, numbered from 1."""
        return len(self._questions)

    def question(self, n: int) -> Question:
        """Question n.

        Raises:
            BadData: there is none of this number.
        """
        if not isinstance(n, int) or not 1 <= n <= len(self._questions):
            raise BadData("question", f"expected a number from 1 to {len(self._questions)}, not {n!r}")
        return self._questions[n - 1]

    def predict(self, n: int, answer: str | None = None) -> Asked | Said:
        """Ask question n, or take the answer to it: the key of an option, or its text.

        Raises:
            BadData: there is no such question or option.
        """
        question = self.question(n)
        if answer is None:
            return Asked(self, question)
        key = question.key_of(answer)
        self.answers.setdefault(n, []).append(key)
        self._tell(n)
        return Said(word(self.language, "noted", key=key))

    def hint(self, n: int) -> Said:
        """The next hint to question n, from far to near; after the third, all have been read."""
        question = self.question(n)
        level = self.hints_read.get(n, 0)
        if level == len(question.hints):
            return Said(word(self.language, "no_more"))
        self.hints_read[n] = level + 1
        self._tell(n)
        head = word(self.language, "hint_n", n=level + 1, all=len(question.hints))
        return Said(f"{head}. {question.hints[level]}")

    def reveal(self, n: int, *seen: Any, opened: bool = False) -> Revealed:
        """What is right and why, with what was seen in the run; folded until question n is answered.

        Args:
            n: the question.
            seen: values that show it, such as `dbg.tools_run`; a text is told as it stands, a Stepper as its stop.
            opened: show it without an answer.
        """
        return Revealed(self, self.question(n), [evidence(value) for value in seen], opened)

    def score(self) -> Said:
        """How many of the answered questions were foreseen at the first answer; it stays in this kernel."""
        right = sum(self.question(n).is_right(keys[0]) for n, keys in self.answers.items())
        left = [str(q.n) for q in self._questions if q.n not in self.answers]
        say, read = self.language, sum(self.hints_read.values())
        if not self.answers:
            return Said(word(say, "none"))
        parts = [word(say, "score", right=right, answered=len(self.answers))]
        parts.append(word(say, "open_yet", ns=", ".join(left)) if left else word(say, "all_answered"))
        parts += [word(say, "hints", n=read)] if read else []
        return Said(" · ".join(parts))

    def subscribe(self, listener: Callable[[int], None]) -> None:
        """Have a function called with the question's number whenever something was answered or a hint was read."""
        self._listeners.append(listener)

    def _tell(self, n: int) -> None:
        for listener in list(self._listeners):
            listener(n)


_now: list[Quiz] = []
"""The quiz of this kernel, the last begun; one notebook, one kernel, one lesson."""


def begin(lesson: str | Path, language: str = "") -> Quiz:
    """Begin a lesson: its questions are what `predict`, `hint`, `reveal` and `score` are about from here on.

    Args:
        lesson: its number, such as "01", or a file that `adknb.course.sealing` wrote.
        language: "en" or "zh"; else that of the notebook (see `words.language_of_notebook`).

    Raises:
        BadData: there is no such lesson, or no such language.
    """
    _now[:] = [Quiz(lesson, language)]
    return _now[0]


def _quiz() -> Quiz:
    if not _now:
        raise AdknbError('no lesson has begun: run the first cell, or begin("01")')
    return _now[0]


def predict(n: int, answer: str | None = None) -> Asked | Said:
    """`Quiz.predict` of the lesson that has begun."""
    return _quiz().predict(n, answer)


def hint(n: int) -> Said:
    """`Quiz.hint` of the lesson that has begun."""
    return _quiz().hint(n)


def reveal(n: int, *seen: Any, opened: bool = False) -> Revealed:
    """`Quiz.reveal` of the lesson that has begun."""
    return _quiz().reveal(n, *seen, opened=opened)


def score() -> Said:
    """`Quiz.score` of the lesson that has begun."""
    return _quiz().score()
