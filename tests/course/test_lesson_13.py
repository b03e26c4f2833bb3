"""Lesson 13, Live: what counts as right is what the notebook's own runs show; the exercise's rule is the engine's."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from adknb.course.checks.lesson13 import CASES, check_speech
from adknb.course.quiz import Quiz
from adknb.course.voice import tells
from adknb.engine.processors.contents import Viewer, assemble
from tests.course.proving import prove

NOTEBOOK = Path(__file__).resolve().parents[2] / "notebooks" / "13-what-is-different-live.ipynb"


@cache
def run_of(beginning: str) -> tuple[Any, Any]:
    """The notebook's run of that agent as far as the question's reveal, and the agent's hooks."""
    names: dict[str, Any] = {}
    for cell in json.loads(NOTEBOOK.read_text("utf-8"))["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] != "code":
            continue
        if f"reveal({beginning}," in source:
            lines = [line for line in source.splitlines() if not line.startswith("reveal(")]
            exec("\n".join(lines), names)
            return names["dbg"], names["hooks"]
        exec(source, names)
    raise AssertionError(f"question {beginning} is never revealed")


def told(dbg: Any, n: int) -> list[str]:
    return [tells(event) for event in dbg.told[n:]]


PROOFS: dict[int, tuple[Callable[..., Any], dict[Any, str]]] = {
    1: (lambda dbg, hooks: tuple(sorted({str(s.seam) for s in dbg.stops} & hooks.keys())), {
        ("after_tool", "before_tool"): "those of the tool, none of the model", tuple(sorted(["before_model", "after_model", "before_tool", "after_tool"])): "all four",
        (): "none: a line is no call"}),
    2: (lambda dbg, hooks: {event.author for event in dbg.told if event.input_transcription}.pop(), {
        "desk": "desk, the agent", "user": "user"}),
    3: (lambda dbg, hooks: (told(dbg, 0).index("call") > told(dbg, 0).index("heard 'Where is Emma?' finished"), told(dbg, 8)[1][:6]), {
        (True, "answer"): "with its answer, behind the finished transcription", (False, "answer"): "with its answer, as soon as the tool has run"}),
    4: (lambda dbg, hooks: dbg.state["said"], {"lo": "lo", "Hel": "Hel", "Hello": "Hello"}),
    5: (lambda dbg, hooks: (any("not found" in text for text in told(dbg, 0)), dbg.error is None, {e.author for e in dbg.told}), {
        (True, True, frozenset({"desk"})): "the model is answered: not found", (False, True, frozenset({"desk", "cellar"})): "the other agent takes the line over",
        (False, False, frozenset({"desk"})): "the run ends with an error"}),
    6: (lambda dbg, hooks: (dbg.request.contents[0].role, dbg.request.contents[0].parts[0].text), {
        ("user", "What time is it?"): "as plain user and model contents", ("user", "I missed that. What did I ask, and what time is it now?"): "not at all: the events have no content",
        ("user", "For context:"): "as foreign words, behind For context:"}),
}  # fmt: skip


@pytest.mark.parametrize("n", PROOFS)
def test_the_right_option_is_what_the_run_shows(n: int) -> None:
    read, options = PROOFS[n]
    question = Quiz("13", "en").question(n)
    dbg, hooks = run_of(str(n))
    prove("13", n, dbg, lambda dbg: _hashable(read(dbg, hooks)), {v: question.key_of(t) for v, t in options.items()})


def _hashable(value: Any) -> Any:
    return tuple(frozenset(v) if isinstance(v, set) else v for v in value) if isinstance(value, tuple) else value


def test_both_languages_ask_six_questions() -> None:
    for language in ("en", "zh"):
        assert [Quiz("13", language).question(n).n for n in range(1, 7)] == [1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize("case", CASES)
def test_the_engine_joins_speech_as_the_exercise_expects(case: str) -> None:
    events, expected = CASES[case]
    contents = assemble(events, Viewer(agent_name="desk")).contents
    assert [(c.role, c.parts[0].text) for c in contents][: len(expected)] == expected
    assert len(contents) in (len(expected), len(expected) + 1)  # the nudge that follows a model's word


def by_the_rule(events: Sequence[Any]) -> list[tuple[str, str]]:
    waiting = {"user": "", "model": ""}
    out = []

    def piece(event: Any, kind: str) -> str:
        transcription = getattr(event, f"{kind}_transcription")
        return transcription.text if transcription else ""

    for event, following in zip(events, [*events[1:], None], strict=True):
        if event.content:
            out.append((event.content.role, event.content.parts[0].text))
            continue
        for kind, role in (("input", "user"), ("output", "model")):
            if piece(event, kind):
                waiting[role] += piece(event, kind)
                if following is None or not piece(following, kind):
                    out.append((role, waiting[role]))
                    waiting[role] = ""
                break
    return out


def one_by_one(events: Sequence[Any]) -> list[tuple[str, str]]:
    return [("user", e.input_transcription.text) for e in events if e.input_transcription and not e.content]


WRONG: dict[str, tuple[Any, str]] = {
    "each piece by itself": (one_by_one, "two pieces of one sentence"),
    "nothing that is lost": (lambda events: by_the_rule([e for e in events if not (e.content and e.input_transcription)]), "a text in the middle"),
    "not written yet": (None, "nothing is here yet"),
    "no pairs": (lambda events: [1], "it raised TypeError"),
    "a word that answers nothing": (lambda events: "", "two pieces of one sentence"),
}  # fmt: skip


def test_the_rule_passes_the_exercise() -> None:
    assert check_speech(by_the_rule).ok


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_is_told(case: str) -> None:
    solution, says = WRONG[case]
    verdict = check_speech(solution)
    assert not verdict.ok and says in str(verdict)
