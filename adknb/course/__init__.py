"""The course: what its notebooks ask of a run, the questions they put, and the checks of their exercises.

Reading order: `reading.py` (says, calls, answers), `quiz.py` (predict, then reveal), `cards.py` and `widget.py` (how a
question looks), `questions.py`, `packing.py` and `sealing.py` (the data of `lessons/`), `verdict.py` and `checks/`
(exercises), `clinic.py` and `pages.py` (agents in which something is wrong, `faults/`), `presenting.py`
(large type for a room), `twin.py` (the Chinese twin of a notebook).
"""

from __future__ import annotations

from adknb.course.presenting import present
from adknb.course.quiz import begin, hint, predict, reveal, score
from adknb.course.reading import answers, calls, says
from adknb.course.verdict import Verdict, compare, not_yet, passed
from adknb.lens.key_checks import KeyCheck, key_checks

__all__ = [
    "KeyCheck",
    "Verdict",
    "answers",
    "begin",
    "calls",
    "compare",
    "hint",
    "key_checks",
    "not_yet",
    "passed",
    "predict",
    "present",
    "reveal",
    "says",
    "score",
]
