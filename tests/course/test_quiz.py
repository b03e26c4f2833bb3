"""Predict, then reveal: what is asked, what is kept, what is told when; and that no form tells it sooner."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path

import pytest

from adknb.course import begin, hint, predict, quiz, reveal, score
from adknb.course.quiz import Quiz
from adknb.course.sealing import main, seal
from adknb.engine.errors import AdknbError, BadData

NOTEBOOKS = Path(__file__).resolve().parents[2] / "notebooks"

PLAIN = {
    "lesson": "90",
    "title": {"en": "Who calls?", "zh": "谁在调用？"},
    "questions": [
        {
            "n": 1,
            "ask": {"en": "Who calls the tool?", "zh": "谁调用工具？"},
            "options": [
                {"key": "a", "en": "<b>the model</b>", "zh": "模型"},
                {"key": "b", "en": "the Flow", "zh": "Flow"},
            ],
            "right": "b",
            "tempting": {"key": "a", "en": "it says so", "zh": "它这么说"},
            "hints": [{"en": f"hint {i}", "zh": f"提示 {i}"} for i in (1, 2, 3)],
            "why": {"en": "a model only writes", "zh": "模型只会写"},
            "go": "internal/llminternal/base_flow.go",
        }
    ],
}


@pytest.fixture
def path(tmp_path):
    file = tmp_path / "90.json"
    file.write_text(json.dumps(seal(PLAIN)), encoding="utf-8")
    return file


@pytest.fixture
def asked(path):
    return Quiz(path, "en")


def bundle(card):
    return card._repr_mimebundle_()


def page(card):
    """The static HTML as a page shows it: tags off, numbers as letters."""
    return html.unescape(re.sub(r"<[^>]*>", " ", card.html()))


TOLD = ("It is b", "a model only writes", "it says so", "tools_run", "base_flow")


def test_a_question_shows_its_options_and_no_answer(asked):
    card = asked.predict(1)
    assert repr(card) == (
        'Question 1. Who calls the tool?\n  ○ a) <b>the model</b>\n  ○ b) the Flow\nBy code: predict(1, "a"), hint(1)'
    )
    assert "&lt;b&gt;the model" in card.html() and "<b>the model" not in card.html()
    assert not [text for text in TOLD if text in json.dumps(card.view()) + repr(card) + card.html()]


def test_a_reveal_is_folded_until_it_is_answered_and_its_source_shows_nothing(asked):
    card = asked.reveal(1, "dbg.tools_run = []")
    shown = json.dumps(bundle(card)) + json.dumps(card.view())
    assert not [text for text in TOLD if text in shown]
    assert card.html().startswith("<details style") and all(text in page(card) for text in TOLD)
    asked.predict(1, "b")
    assert card.html().startswith("<details open") and repr(card).startswith("You said b) the Flow. And so it is.")
    assert dict(card.view()["lines"])["why"] == "Why: a model only writes"


@pytest.mark.parametrize(
    "answer, lines",
    [
        ("b", ["answer", "seen", "why", "go"]),
        ("a", ["answer", "thought", "seen", "why", "go"]),
        (None, ["answer", "thought", "seen", "why", "go"]),
    ],
)
def test_a_wrong_answer_is_told_the_thought_behind_it(asked, answer, lines):
    if answer:
        asked.predict(1, answer)
    assert [kind for kind, _ in asked.reveal(1, [1], opened=True).lines()] == lines


@pytest.mark.parametrize(
    "answer, key", [("b", "b"), ("B", "b"), ("the flow", "b"), (" a ", "a"), ("<b>the model</b>", "a")]
)
def test_an_answer_is_a_key_or_a_text(asked, answer, key):
    assert str(asked.predict(1, answer)) == f"Noted: {key}. Step on; then comes why."
    assert asked.answers == {1: [key]}


@pytest.mark.parametrize(
    "ask, says",
    [
        (lambda q: q.predict(1, "c"), "question 1: expected one of a, b, not 'c'"),
        (lambda q: q.predict(0), "expected a number from 1 to 1, not 0"),
        (lambda q: q.reveal("1"), "expected a number from 1 to 1, not '1'"),
        (lambda q: q.hint(2), "not 2"),
        (lambda q: Quiz("01", "fr"), "expected one of en, zh, not 'fr'"),
        (lambda q: Quiz("00"), "expected one of 01, 02"),
        (lambda q: Quiz("nowhere.json", "en"), "there is no such file"),
    ],
)
def test_what_cannot_be_is_said(asked, ask, says):
    with pytest.raises(BadData, match=re.escape(says)):
        ask(asked)


def test_hints_come_one_by_one_and_end(asked):
    assert [str(asked.hint(1)) for _ in range(4)] == [
        *(f"Hint {i} of 3. hint {i}" for i in (1, 2, 3)),
        "Those were all the hints; a guess costs nothing.",
    ]
    assert asked.predict(1).view()["hint"] == "" and len(asked.predict(1).view()["hints"]) == 3


def test_the_first_answer_is_scored_and_later_ones_are_welcome(asked):
    assert str(asked.score()) == "nothing answered yet"
    asked.predict(1, "a")
    asked.predict(1, "b")
    asked.hint(1)
    assert str(asked.score()) == "0 of 1 foreseen · all answered · hints read: 1"


def test_by_module_functions_in_chinese(path, monkeypatch):
    monkeypatch.setattr(quiz, "_now", [])
    with pytest.raises(AdknbError, match="no lesson has begun"):
        predict(1)
    begin(path, "zh")
    assert "谁调用工具？" in repr(predict(1)) and str(hint(1)) == "提示 1/3. 提示 1"
    assert "已记下" in predict(1, "模型") and repr(reveal(1)).startswith("你的回答：a) 模型。")
    assert str(score()).startswith("1 题中预见到 0 题")


def test_a_living_card_takes_wishes_and_follows_the_quiz(asked):
    living = pytest.importorskip("adknb.course.widget").Living
    ask, told = living(asked.predict(1)), living(asked.reveal(1, "seen"))
    assert told.view["lines"] == []
    ask._on_message(ask, {"type": "hint"}, [])
    assert ask.view["hints"] == ["Hint 1 of 3. hint 1"]
    ask._on_message(ask, {"type": "choose", "key": "a"}, [])
    assert (ask.view["chosen"], asked.answers) == ("a", {1: ["a"]})
    assert told.view["lines"][0] == ["answer", "You said a) <b>the model</b>. It is b) the Flow."]
    for nonsense in (None, "choose", {"type": "choose", "key": "z"}, {"type": "choose"}, {"type": "run"}):
        ask._on_message(ask, nonsense, [])
    assert asked.answers == {1: ["a"]}


def test_a_reveal_can_be_opened_without_an_answer(asked):
    living = pytest.importorskip("adknb.course.widget").Living
    told = living(asked.reveal(1))
    told._on_message(told, {"type": "open"}, [])
    assert told.view["lines"][0] == ["answer", "It is b) the Flow."] and asked.answers == {}


# ---- sealing


def changed(**changes):
    return {**PLAIN, "questions": [{**PLAIN["questions"][0], **changes}]}


@pytest.mark.parametrize(
    "plain, says",
    [
        ([], "expected an object with 'lesson'"),
        ({**PLAIN, "questions": []}, "at least one question"),
        (changed(n=2), "expected 1"),
        (changed(right="c"), "two of the keys"),
        (changed(tempting={"key": "b", "en": "x", "zh": "y"}), "two of the keys"),
        (changed(hints=[]), "expected 3 hints"),
        (changed(why={"en": "x"}), "expected an object with 'zh'"),
        (changed(ask={"en": " ", "zh": "y"}), "questions[0].ask.en: expected a text"),
        (changed(options=[{"key": "a", "en": "x", "zh": "y"}] * 2), "each with a key of its own"),
    ],
)
def test_a_plain_lesson_that_does_not_fit_is_told_where(plain, says):
    with pytest.raises(BadData, match=re.escape(says)):
        seal(plain)


def test_the_command_seals_and_opens(tmp_path, capsys):
    plain, sealed = tmp_path / "plain.json", tmp_path / "90.json"
    plain.write_text(json.dumps(PLAIN), encoding="utf-8")
    assert main(["seal", str(plain), str(sealed)]) == 0
    assert main(["open", str(sealed)]) == 0
    assert json.loads(capsys.readouterr().out) == PLAIN
    assert main(["open"]) == 2 and "expected: seal" in capsys.readouterr().err


@pytest.mark.parametrize("text", ["[]", '{"title": {"en": "x"}, "questions": [1]}', '{"questions": "x"}', "{"])
def test_a_file_that_is_no_sealed_lesson_is_told(tmp_path, text):
    path = tmp_path / "x.json"
    path.write_text(text)
    with pytest.raises(BadData, match=r"x\.json"):
        Quiz(path, "en")


# ---- the notebooks


@pytest.mark.parametrize(
    "name", [p.name for p in sorted(NOTEBOOKS.glob("[0-9]*.ipynb")) if "begin(" in p.read_text("utf-8")]
)
def test_a_committed_notebook_shows_no_answer(name):
    text = (NOTEBOOKS / name).read_text("utf-8")
    code = "\n".join("".join(cell["source"]) for cell in json.loads(text)["cells"] if cell["cell_type"] == "code")
    lesson = Quiz(name[:2], "zh" if ".zh." in name else "en")
    for n in range(1, lesson.size + 1):
        told = lesson.question(n).told
        assert told.why not in text and told.thought not in text
        for asked in ("predict", "reveal"):
            assert re.search(rf"\b{asked}\(\s*{n}\b", code), f"{asked}({n}) is missing"
