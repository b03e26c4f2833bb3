"""A new exercise from a session file in three calls: its answers are what the assembly shows, and it writes over nothing."""

from __future__ import annotations

import copy
import json
from pathlib import Path

import pytest

import adknb
from adknb.course.exercises import exercise
from adknb.course.quiz import Quiz
from adknb.engine.errors import BadData

DATA = Path(__file__).resolve().parents[2] / "notebooks" / "data"


@pytest.fixture
def session():
    return adknb.open(DATA / "parcel.session.json")


def right(quiz, n):
    question = quiz.question(n)
    return next(text for key, text in question.options.items() if question.is_right(key))


def test_what_counts_as_right_is_what_the_request_shows(session, tmp_path):
    exercise(session, event=9).save(tmp_path / "parcel.ipynb")
    quiz = Quiz(tmp_path / "parcel.questions.json", "en")
    asked = [quiz.question(n).ask for n in range(1, 6)]
    assert [right(quiz, n) for n in range(1, 6)] == [
        "9",
        "1",
        "it is left out",
        "it is there, in another place",
        "it is there in other words",
    ]
    assert asked[2:] == [
        f"What becomes of event {n}, by {who}?" for n, who in ((2, "shop_desk"), (6, "shop_desk"), (7, "model"))
    ]
    assert len({tuple(quiz.question(n).options.values()) for n in range(1, 6)}) == 5


def test_another_request_of_another_agent_has_other_answers(session, tmp_path):
    exercise(session, event=9, agent="model").save(tmp_path / "model.ipynb")
    exercise(session, event=3).save(tmp_path / "early.ipynb")
    model, early = (Quiz(tmp_path / f"{name}.questions.json", "en") for name in ("model", "early"))
    seen = session.request_before(9, agent="model")
    assert right(model, 1) == str(len(seen.contents))
    assert (right(early, 1), right(early, 2)) == ("3", "0")


def test_no_answer_can_be_read_in_the_files_that_are_written(session, tmp_path):
    exercise(session).save(tmp_path / "parcel.ipynb")
    for name in ("parcel.ipynb", "parcel.questions.json"):
        text = (tmp_path / name).read_text("utf-8")
        assert '"right": "' not in text or name.endswith("questions.json")
        assert "is answered again by event 6" not in text and "R5.25" not in text


def test_it_keeps_what_was_changed_in_memory(session, tmp_path):
    session.events[7].author = "shop_desk"
    exercise(session, event=9).save(tmp_path / "mended.ipynb")
    assert adknb.open(tmp_path / "mended.session.json").events[7].author == "shop_desk"


@pytest.mark.parametrize("there", ["parcel.ipynb", "parcel.session.json", "parcel.questions.json"])
def test_it_writes_over_nothing_without_being_told(there, session, tmp_path):
    (tmp_path / there).write_text("mine")
    new = exercise(session)
    with pytest.raises(BadData, match=f"{there}: is there already"):
        new.save(tmp_path / "parcel.ipynb")
    assert [f.name for f in tmp_path.iterdir()] == [there] and (tmp_path / there).read_text() == "mine"
    new.save(tmp_path / "parcel.ipynb", overwrite=True)
    assert (tmp_path / there).read_text("utf-8") != "mine"


def test_bad_input_is_told(session, tmp_path):
    with pytest.raises(BadData, match=r"a notebook's name ends in \.ipynb"):
        exercise(session).save(tmp_path / "parcel.txt")
    nobody = copy.deepcopy(session)
    nobody.events[:] = nobody.events[:1]
    with pytest.raises(BadData, match="no event of an agent"):
        exercise(nobody)
    with pytest.raises(BadData):
        exercise(session, event=99)


def test_its_notebook_shows_questions_and_folded_answers_as_it_is_written(session, tmp_path):
    """That nbval agrees with these outputs is tested with the notebooks of test_new_notebook."""
    exercise(session).save(tmp_path / "parcel.ipynb")
    cells = json.loads((tmp_path / "parcel.ipynb").read_text("utf-8"))["cells"]
    shown = ["".join(o["data"]["text/plain"]) for c in cells for o in c.get("outputs", []) if "data" in o]
    assert shown[0].startswith("Question 1.") and shown[1].startswith("Question 1, folded.")
    assert len(shown) == 11 and shown[-1] == repr(Quiz(tmp_path / "parcel.questions.json", "en").score())
