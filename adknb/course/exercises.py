"""A new exercise from a session file, in three calls: questions about one request, answered by what the Flow does.

    session = adknb.open("parcel.session.json")
    new = exercise(session, event=9)       # what was the model given before it wrote event 9?
    new.save("parcel.ipynb")

Three files are written: the notebook, which checks itself and passes nbval, and beside it the session and the sealed
questions. What is right is read off the assembly of the request, never written by hand.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adknb.course.cards import Asked, Revealed, evidence
from adknb.course.quiz import Quiz
from adknb.course.sealing import seal
from adknb.engine.errors import BadData
from adknb.whole_file import write_whole

if TYPE_CHECKING:
    from adknb.files.recording import Recording

Json = dict[str, Any]
Both = tuple[str, str]
"""A text in English and in Chinese."""

KINDS: dict[str, Both] = {
    "kept": ("it is there as it is stored", "原样在里面"),
    "reworded": ("it is there in other words", "在里面，但换了说法"),
    "merged": ("it is joined with another event", "与别的事件合在一起"),
    "moved": ("it is there, in another place", "在里面，但换了位置"),
    "summarised": ("a summary stands for it", "由摘要代替"),
    "left_out": ("it is left out", "不在里面"),
}
"""What becomes of an event, as an option says it."""


@dataclass(frozen=True)
class Item:
    """One question: what is asked; right, tempting and third option; why; the code that shows it, and its value."""

    ask: Both
    options: tuple[Both, Both, Both]
    thought: Both
    hints: tuple[Both, Both, Both]
    why: Both
    shows: str
    value: Any


@dataclass(frozen=True)
class Exercise:
    """Questions about the request that was made before an event."""

    recording: Recording
    event: int
    items: tuple[Item, ...]

    def __repr__(self) -> str:
        asked = "\n".join(f"  {n}. {item.ask[0]}" for n, item in enumerate(self.items, 1))
        return f"Exercise({self.recording.name}, before event {self.event}):\n{asked}"

    def save(self, path: str | os.PathLike[str], overwrite: bool = False) -> Exercise:
        """Write `name.ipynb`, `name.session.json` and `name.questions.json`.

        Raises:
            BadData: the name is no notebook's, a file is there already, or one cannot be written.
        """
        target = Path(path)
        if target.suffix != ".ipynb":
            raise BadData(str(path), "a notebook's name ends in .ipynb")
        beside = {kind: target.with_suffix(f".{kind}.json") for kind in ("session", "questions")}
        for file in (target, *beside.values()):
            if file.exists() and not overwrite:
                raise BadData(str(file), "is there already; save(…, overwrite=True) writes over it")
        write_whole(beside["questions"], json.dumps(self.sealed(), ensure_ascii=False, indent=1) + "\n")
        self.recording.save(beside["session"], as_session=True)
        cells = _cells(self, beside["session"].name, beside["questions"])
        write_whole(target, json.dumps(_notebook(cells), ensure_ascii=False, indent=1) + "\n")
        return self

    def sealed(self) -> Json:
        """The questions as `begin(file)` reads them."""
        title = (f"Before event {self.event}", f"事件 {self.event} 之前")
        questions = [_question(n, item) for n, item in enumerate(self.items, 1)]
        return seal({"lesson": self.recording.name, "title": _both(title), "questions": questions})


def exercise(recording: Recording, event: int | str | None = None, agent: str | None = None) -> Exercise:
    """Make an exercise of what a model was given before an event.

    Args:
        recording: what `adknb.open` gives.
        event: its 0-based position or its id; None: the last one that an agent wrote.
        agent: whose request it is; None: the event's author.

    Raises:
        BadData: there is no such event, or no agent has written any.
    """
    if event is None:
        own = [n for n, e in enumerate(recording.events) if e.author != "user" and e.content is not None]
        if not own:
            raise BadData(recording.label, "no event of an agent is in it, so no model was asked")
        event = own[-1]
    place = recording.find(event)
    seen = recording.request_before(place, agent)
    asked = f"session.request_before({place}{'' if agent is None else f', agent={agent!r}'})"
    items = [_how_many(seen, place), _left_out(seen)]
    items += [_became_of(recording, seen, kind) for kind in _told_of(seen)]
    shown = tuple(replace(item, shows=item.shows.format(seen=asked)) for item in items)
    return Exercise(recording, place, shown)


# -------------------------------------------------------------------------------------------------------- the questions


def _how_many(seen: Any, place: int) -> Item:
    count = len(seen.contents)
    return Item(
        ("How many contents has the request before this event?", "这个事件之前的请求有几个 contents？"),
        _numbers(count, place),
        ("One content for every event, one thinks.", "以为一个事件对应一个 content。"),
        (
            ("Events may be left out, joined, or used twice.", "事件可能被排除、合并，或用两次。"),
            ("Look at who wrote what, and on which branch.", "看看谁写了什么，在哪个分支上。"),
            ("Count calls and their answers as pairs.", "把调用和回答成对地数。"),
        ),
        (f"It was made of {len(seen.fates)} events.", f"它由 {len(seen.fates)} 个事件做成。"),
        'f"{{len({seen}.contents)}} contents"',
        f"{count} contents",
    )


def _left_out(seen: Any) -> Item:
    out = [fate.event for fate in seen.fates if fate.kind == "left_out"]
    named = ", ".join(map(str, out))
    return Item(
        ("How many of the events before it are left out of the request?", "之前的事件有几个不在请求里？"),
        _numbers(len(out), 0 if out else 1),
        ("Whatever is stored seems to be sent.", "存下的似乎都会发出去。")
        if out
        else ("Something always seems to get lost.", "似乎总有东西会丢。"),
        (
            ("Stored and sent are two things.", "存下和发出是两回事。"),
            ("Which events are nobody's words?", "哪些事件谁的话也不是？"),
            ("The fates say it, event by event.", "fates 逐个事件说明。"),
        ),
        (f"Left out: events {named}.", f"不在里面：事件 {named}。")
        if out
        else ("None is left out.", "一个都没有排除。"),
        "[fate.event for fate in {seen}.fates if fate.kind == 'left_out']",
        out,
    )


def _told_of(seen: Any) -> list[str]:
    """The kinds of fate worth a question each: those that are there, the one that surprises most in front."""
    found = {fate.kind for fate in seen.fates}
    return [kind for kind in ("left_out", "moved", "reworded", "merged", "summarised") if kind in found][:3]


def _became_of(recording: Recording, seen: Any, kind: str) -> Item:
    fate = next(fate for fate in seen.fates if fate.kind == kind)
    other = "reworded" if kind != "reworded" else "left_out"
    author, reason = recording.events[fate.event].author, fate.reasons[0]
    return Item(
        (f"What becomes of event {fate.event}, by {author}?", f"{author} 的事件 {fate.event} 怎样了？"),
        (KINDS[kind], KINDS["kept"], KINDS[other]),
        ("It is stored, and nothing seems wrong with it.", "它存着，看上去没什么不对。"),
        (
            ("Whose words are these, and who reads them?", "这是谁的话，谁来读？"),
            ("What comes later in the session that could matter?", "会话后面有什么可能影响它？"),
            (f"The rule is {reason.rule}.", f"规则是 {reason.rule}。"),
        ),
        (f"{reason.why} ({reason.rule}).", f"{reason.why}（{reason.rule}）。"),
        f"{{seen}}.fates[{fate.event}]",
        fate,
    )


def _numbers(right: int, tempting: int) -> tuple[Both, Both, Both]:
    """The right number, a tempting one that differs from it, and a third."""
    tempting = tempting if tempting != right else right + 1
    third = next(n for n in (right - 1, right + 1, right + 2, right + 3) if n >= 0 and n not in (right, tempting))
    first, second, last = ((str(n), str(n)) for n in (right, tempting, third))
    return first, second, last


def _question(n: int, item: Item) -> Json:
    """One in the plain form of `sealing`; the right option's place turns with the number."""
    keys = ("a", "b", "c")
    turn = (len(item.ask[0]) + n) % 3
    placed = {keys[(i + turn) % 3]: option for i, option in enumerate(item.options)}
    return {
        "n": n,
        "ask": _both(item.ask),
        "options": [{"key": key, **_both(placed[key])} for key in keys],
        "right": keys[turn],
        "tempting": {"key": keys[(1 + turn) % 3], **_both(item.thought)},
        "hints": [_both(hint) for hint in item.hints],
        "why": _both(item.why),
        "go": "internal/llminternal/contents_processor.go",
    }


def _both(text: Both) -> Json:
    return {"en": text[0], "zh": text[1]}


# --------------------------------------------------------------------------------------------------------- the notebook


def _cells(made: Exercise, session: str, questions: Path) -> list[Json]:
    quiz = Quiz(questions, "en")
    cells = [
        _text(f"# What was the model given before event {made.event}?\n\nPredict, then reveal; `hint(n)` helps."),
        _code(
            "import adknb\nfrom adknb.course import begin, hint, predict, reveal, score\n\n"
            f'begin({json.dumps(questions.name)}, "en")\nsession = adknb.open({json.dumps(session)})\n'
            "for n, event in enumerate(session.events):\n    print(n, event.author)",
            {"stream": "".join(f"{n} {event.author}\n" for n, event in enumerate(made.recording.events))},
        ),
    ]
    for n, item in enumerate(made.items, 1):
        cells.append(_code(f"predict({n})", _of_card(Asked(quiz, quiz.question(n)))))
        cells.append(
            _code(f"reveal({n}, {item.shows})", _of_card(Revealed(quiz, quiz.question(n), [evidence(item.value)])))
        )
    cells.append(_code("score()", {"text/plain": repr(quiz.score())}))
    count = 0
    for number, cell in enumerate(cells):
        cell["id"] = f"cell-{number}"
        if cell["cell_type"] == "code":
            count += 1
            cell["execution_count"] = count
            for output in cell["outputs"]:
                if output["output_type"] == "execute_result":
                    output["execution_count"] = count
    return cells


def _of_card(card: Asked | Revealed) -> Json:
    return {"text/plain": repr(card), "text/html": card.html()}


def _text(text: str) -> Json:
    return {"cell_type": "markdown", "metadata": {}, "source": text.splitlines(keepends=True)}


def _code(text: str, shows: Json) -> Json:
    if "stream" in shows:
        output: Json = {"output_type": "stream", "name": "stdout", "text": shows["stream"].splitlines(keepends=True)}
    else:
        data = {kind: value.splitlines(keepends=True) for kind, value in shows.items()}
        output = {"output_type": "execute_result", "data": data, "metadata": {}}
    return {"cell_type": "code", "metadata": {}, "source": text.splitlines(keepends=True), "outputs": [output]}


def _notebook(cells: list[Json]) -> Json:
    metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    return {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}
