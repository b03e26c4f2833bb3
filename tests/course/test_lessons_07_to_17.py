"""The notebooks of lessons 07 to 17 stop where the curriculum says, in its order, and show no answer before it is asked.

(Lesson 16 needs google-adk.)
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.course.test_lessons import STOPS

NOTEBOOKS = Path(__file__).resolve().parents[2] / "notebooks"
LESSONS = ("07", "08", "09", "10", "11", "12", "13", "14", "15", "17")


def code_of(lesson: str) -> list[str]:
    (path,) = (p for p in NOTEBOOKS.glob(f"{lesson}-*.ipynb") if not p.name.endswith(".zh.ipynb"))
    cells = json.loads(path.read_text("utf-8"))["cells"]
    return ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]


@pytest.mark.parametrize("scenario", [name for name in STOPS if name[:2] in LESSONS])
def test_the_notebook_stops_where_the_curriculum_says_in_its_order(scenario: str) -> None:
    source = "\n".join(code_of(scenario[:2])).replace('"', "'")
    at = source.index(f"'{scenario}'")
    for wish in STOPS[scenario]:
        found = source.find(str(wish), at)
        assert found >= 0, f"{wish} is not stopped at behind {source[at : at + 60]!r}"
        at = found


@pytest.mark.parametrize("lesson", LESSONS)
def test_every_question_is_asked_before_it_is_revealed(lesson: str) -> None:
    cells = code_of(lesson)
    asked = {int(n): i for i, cell in enumerate(cells) for n in re.findall(r"^predict\((\d)\)", cell, re.M)}
    revealed = {int(n): i for i, cell in enumerate(cells) for n in re.findall(r"\breveal\(\s*(\d)", cell)}
    assert list(asked) == sorted(asked) == [1, 2, 3, 4, 5, 6] == sorted(revealed)
    assert all(asked[n] < revealed[n] for n in asked)
    assert cells[-1] == "score()" or "score()" in cells


@pytest.mark.parametrize("lesson", LESSONS)
def test_an_exercise_is_there_to_be_solved(lesson: str) -> None:
    checks = [cell for cell in code_of(lesson) if f"checks.lesson{lesson}" in cell]
    assert checks and all(re.search(r"^check_\w+\(.*\)$", cell, re.M) for cell in checks)
