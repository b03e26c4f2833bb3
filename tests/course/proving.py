"""A question's right answer, read off a run: the option that the run shows must be the one that counts as right."""

from __future__ import annotations

import copy

import adknb
from adknb.course.quiz import Quiz
from adknb.engine.stops import Phase, Seam
from adknb.scenarios import shipped


def run_to(name, wish=None, **turn_1):
    """The scenario whose name begins so, stepped to a wish, or to its end; `turn_1` changes its first turn."""
    scenario = copy.deepcopy(adknb.scenario(next(n for n in shipped() if n.startswith(f"{name}-"))))
    scenario["turns"][0].update(turn_1)
    dbg = adknb.step(scenario)
    dbg.resume() if wish is None else dbg.until(wish)
    assert (dbg.here is None) is (wish is None)
    return dbg


def met(dbg, seam, turn=None, name=None):
    """How often the run has stood before a seam."""
    return sum(
        s.seam is Seam(seam) and s.phase is Phase.BEFORE and turn in (None, s.turn) and name in (None, s.name)
        for s in dbg.stops
    )


def prove(lesson, n, dbg, read, options):
    """Hold the value that `read` finds in a run against `options`, {value: key}: that key is right, no other is.

    The values stand for what the options of the question say, so that a wrong answer would have been another value.
    """
    question = Quiz(lesson, "en").question(n)
    assert set(options.values()) <= set(question.options) and len(options) > 1
    seen = read(dbg)
    assert seen in options, f"the run shows {seen!r}, which no option says"
    assert [key for key in question.options if question.is_right(key)] == [options[seen]]
