"""The forms of a question: text, static HTML where no widget runs, and the living card.

What would give an answer away is folded, and in HTML its letters are written as numbers, so that neither the page nor
the notebook's source shows it at a glance. A card is a picture of a Quiz: it holds no answers of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from typing import TYPE_CHECKING, Any

from adknb.course.questions import Question
from adknb.course.words import word

if TYPE_CHECKING:
    from adknb.course.quiz import Quiz

HAIR = "1px solid rgba(128,128,128,.35)"
EDGE = "border-left:4px solid rgba(56,120,220,.75)"
FRAME = f"border:{HAIR};{EDGE};padding:8px 14px;font-size:14px;line-height:1.5;max-width:820px"
QUIET = "opacity:.72;font-size:12px"
WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"

Json = dict[str, Any]


class Said(str):
    """A sentence, shown without quotation marks."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


class Card:
    """A question as a notebook shows it; the two kinds say what is in it."""

    kind = ""

    def __init__(self, quiz: Quiz, question: Question) -> None:
        self.quiz, self.question = quiz, question

    def view(self) -> Json:
        """What the living card draws: plain data, without what is still folded."""
        raise NotImplementedError

    def html(self) -> str:
        """The static form."""
        raise NotImplementedError

    def opened(self) -> None:
        """The reader has unfolded it."""

    def say(self, name: str, **values: object) -> str:
        """A sentence in the quiz's language."""
        return word(self.quiz.language, name, **values)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> Json:
        bundle: Json = {"text/plain": repr(self), "text/html": self.html()}
        try:
            from adknb.course.widget import Living
        except ImportError:  # without the extra `lab`
            return bundle
        living = Living(self)
        return bundle | {WIDGET_VIEW: {"version_major": 2, "version_minor": 0, "model_id": living.model_id}}


class Asked(Card):
    """A question that is being asked: options, hints, and how to answer by code."""

    kind = "ask"

    @property
    def chosen(self) -> str:
        """The key answered last; empty before."""
        return (self.quiz.answers.get(self.question.n) or [""])[-1]

    def __repr__(self) -> str:
        q = self.question
        lines = [f"{self.say('question', n=q.n)}. {q.ask}"]
        lines += [f"  {'●' if key == self.chosen else '○'} {key}) {text}" for key, text in q.options.items()]
        lines += [self.say("noted", key=self.chosen)] if self.chosen else []
        return "\n".join([*lines, self.say("by_code", code=self.code())])

    def code(self) -> str:
        """How to answer and to get a hint by code."""
        n = self.question.n
        return f'predict({n}, "a"), hint({n})'

    def html(self) -> str:
        """Question, options and how to answer where no button works."""
        q = self.question
        rows = "".join(
            f'<div style="padding-left:10px">{"●" if key == self.chosen else "○"}'
            f" <b>{escape(key)}</b>&nbsp; {marked(text)}</div>"
            for key, text in q.options.items()
        )
        head = f'<div style="{QUIET}">{self.say("question", n=q.n)} · {self.say("predict")}</div>'
        by_code = f'<div style="{QUIET}">{escape(self.say("by_code", code=self.code()))}</div>'
        noted = f"<div>{escape(self.say('noted', key=self.chosen))}</div>" if self.chosen else ""
        return f'<div style="{FRAME}">{head}<div><b>{marked(q.ask)}</b></div>{rows}{noted}{by_code}</div>'

    def view(self) -> Json:
        """Question, options, the choice, the hints read so far."""
        q = self.question
        read = self.quiz.hints_read.get(q.n, 0)
        return {
            "kind": self.kind,
            "name": f"adknb-question-{q.lesson}-{q.n}",
            "head": f"{self.say('question', n=q.n)} · {self.say('predict')}",
            "ask": q.ask,
            "options": [[key, text] for key, text in q.options.items()],
            "chosen": self.chosen,
            "noted": self.say("noted", key=self.chosen) if self.chosen else "",
            "hints": [f"{self.say('hint_n', n=i + 1, all=len(q.hints))}. {q.hints[i]}" for i in range(read)],
            "hint": self.say("hint") if read < len(q.hints) else "",
            "dead": self.say("dead"),
        }


class Revealed(Card):
    """The answer to a question with what was seen in the run; folded until it is answered or opened."""

    kind = "reveal"

    def __init__(self, quiz: Quiz, question: Question, seen: list[str], opened: bool = False) -> None:
        super().__init__(quiz, question)
        self.seen, self._opened = seen, opened

    @property
    def is_open(self) -> bool:
        """Whether it may be read: the question was answered, or the reader opened it."""
        return self._opened or self.question.n in self.quiz.answers

    def opened(self) -> None:
        """Open it without an answer."""
        self._opened = True

    def __repr__(self) -> str:
        q = self.question
        if not self.is_open:
            keys = "|".join(f'"{key}"' for key in q.options)
            return self.say("how_to_open", n=q.n, keys=keys)
        return "\n".join(text for _, text in self.lines())

    def lines(self) -> list[tuple[str, str]]:
        """What is told, as (kind, text): answer, thought, seen, why, go."""
        q, told = self.question, self.question.told
        keys = self.quiz.answers.get(q.n)
        right = {"key": told.right, "text": q.options[told.right].rstrip("。.")}
        if not keys:
            answer = self.say("not_asked", **right)
        else:
            said = self.say("said", key=keys[-1], text=q.options[keys[-1]].rstrip("。."))
            answer = f"{said} {self.say('and_it_is') if keys[-1] == told.right else self.say('it_is', **right)}"
        out = [("answer", answer)]
        if keys is None or keys[-1] != told.right:
            out.append(("thought", self.say("tempting", thought=told.thought, key=told.tempting)))
        out += [("seen", text) for text in self.seen]
        return [*out, ("why", self.say("why", why=told.why)), ("go", self.say("go", go=told.go))]

    def html(self) -> str:
        """One fold; open where the question was answered."""
        head = f"<summary><b>{self.say('folded', n=self.question.n)}</b></summary>"
        body = "".join(_line(kind, text) for kind, text in self.lines())
        mark = " open" if self.is_open else ""
        return f'<details{mark} style="{FRAME}">{head}{body}</details>'

    def view(self) -> Json:
        """The lines, once it is open; before, only that there is something."""
        return {
            "kind": self.kind,
            "head": self.say("folded", n=self.question.n),
            "open": self.say("open"),
            "lines": [list(line) for line in self.lines()] if self.is_open else [],
            "seen": self.say("seen"),
            "dead": self.say("dead"),
        }


def evidence(value: Any) -> str:
    """A value as it is told beside an answer: a text as it stands, else its repr."""
    return value if isinstance(value, str) else repr(value)


def veiled(text: str) -> str:
    """HTML of a text in which every letter and digit is written as its number: the same on the page."""
    return "".join(f"&#{ord(c)};" if c.isalnum() or c in "<>&\"'" else c for c in text)


def marked(text: str, written: Callable[[str], str] = escape) -> str:
    """HTML of a text in which `code` stands between backticks."""
    pieces = [f"<code>{written(p)}</code>" if k % 2 else written(p) for k, p in enumerate(text.split("`"))]
    return "".join(pieces)


def _line(kind: str, text: str) -> str:
    if kind == "seen":
        return f'<pre style="margin:4px 0;padding:4px 8px;border-left:{HAIR};white-space:pre-wrap">{veiled(text)}</pre>'
    style = {"answer": ' style="font-weight:bold"', "go": f' style="{QUIET}"'}.get(kind, "")
    return f"<div{style}>{marked(text, veiled)}</div>"
