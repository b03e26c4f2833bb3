"""How a check of several claims is written: `want` each of them; the first that does not hold is the verdict.

@verdict
def check_answer(answer: Callable[[int], int]) -> str:
    want(answer(6) == 42, "of 6: expected 42")
    return "one case."
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from adknb.course.verdict import Verdict, not_yet, passed, told


class Missed(Exception):
    """A claim that does not hold; what is so instead."""


def want(holds: Any, otherwise: str) -> None:
    """Claim something of a solution. Raises Missed with what to tell where it does not hold."""
    if not holds:
        raise Missed(otherwise)


def verdict(check: Callable[..., str]) -> Callable[..., Verdict]:
    """A check that gives a sentence or raises Missed, as one that gives a Verdict and never raises."""

    @functools.wraps(check)
    def checked(*solutions: Any) -> Verdict:
        for solution in solutions:
            if solution is None or solution is ...:
                return not_yet("nothing is here yet.")
        try:
            return passed(check(*solutions))
        except Missed as missed:
            return not_yet(f"{str(missed).rstrip('.')}.")
        except Exception as error:  # whatever a reader's code raises
            return not_yet(f"it raised {told(error)}.")

    checked.__annotations__["return"] = "Verdict"
    return checked
