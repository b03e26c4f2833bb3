"""What a check says of a reader's solution: passed, or the first thing that is not so, in one sentence."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

LONGEST = 160
"""Characters of a value that are told; the rest is cut."""

ADDRESS = re.compile(r" at 0x[0-9a-f]+")


@dataclass(frozen=True)
class Verdict:
    """What a check found. True where the solution passed.

    says: one sentence, e.g. `not yet: visible("a", "a.b") gave True, not False.`
    """

    ok: bool
    says: str

    def __bool__(self) -> bool:
        return self.ok

    def __repr__(self) -> str:
        return f"{'passed' if self.ok else 'not yet'}: {self.says}"


def passed(on: str) -> Verdict:
    """The solution did everything that was tried: `passed("40 pairs.")`."""
    return Verdict(True, on)


def not_yet(what: str) -> Verdict:
    """The solution does not do this: one sentence that says what was tried and what came.

    Addresses in memory are left out of it: a notebook's output is to be the same in every run.
    """
    return Verdict(False, ADDRESS.sub("", what))


def compare(solution: Any, rows: Iterable[tuple[tuple[Any, ...], Any]], of: str = "cases", name: str = "") -> Verdict:
    """Call a solution with each row's arguments and hold what it gives against what the row expects.

    Args:
        solution: the reader's function. It gets copies, so that what it does to its arguments spoils no later row.
        rows: (arguments, expected value) pairs.
        of: what the rows are called in the verdict: "passed: 40 pairs."
        name: what the solution is called in it; else its own name.

    Never raises: an exception of the solution is a finding.
    """
    if not callable(solution):
        return not_yet(f"a function is wanted, and this is {shown(solution)}.")
    name = name or getattr(solution, "__name__", "your function")
    count = 0
    for arguments, expected in rows:
        called = f"{name}({', '.join(shown(a) for a in arguments)})"
        try:
            got = solution(*copy.deepcopy(arguments))
        except Exception as error:  # whatever a reader's code raises
            return not_yet(f"{called} raised {told(error)}.")
        if got != expected or (isinstance(expected, bool) and not isinstance(got, bool)):
            return not_yet(f"{called} gave {shown(got)}, not {shown(expected)}.")
        count += 1
    return passed(f"{count} {of}.")


def told(error: Exception) -> str:
    """An exception in a few words: `KeyError: 'x'`."""
    text = str(error).strip().partition("\n")[0].rstrip(".")
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def shown(value: Any) -> str:
    """A value as a verdict tells it: its repr, in one line, cut where it is long."""
    text = " ".join(repr(value).split())
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"
