"""The check of lesson 14: a test is one if it also fails."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from adknb.course.checks.trying import Missed, verdict, want
from adknb.engine import function_calls
from adknb.engine.platform import TaskRunner, in_order


@verdict
def check_a_test(test: Callable[[TaskRunner], Any]) -> str:
    """14: `test(runner)` asserts what two tools leave in the state, with their calls run by this runner.

    It must use the runner, pass ten times, and fail when maps of the state are no longer merged.
    """
    asked = 0

    def counted_in_order(tasks: Sequence[Any]) -> Generator[Any, None, list[Any]]:
        nonlocal asked
        asked += len(tasks) > 1
        return (yield from in_order(tasks))

    for number in range(1, 11):
        try:
            test(counted_in_order)
        except AssertionError as error:
            raise Missed(f"run {number} of 10 fails: {error or 'an assertion without words'}") from error
        want(asked == number, f"run {number}: two calls in one answer were to be run by the given runner, once")
    with _broken_merge():
        try:
            test(counted_in_order)
        except AssertionError:
            return "ten runs pass, and with the merge broken it fails."
    raise Missed("it also passes when the later map replaces the earlier one: assert what both tools wrote")


@contextmanager
def _broken_merge() -> Iterator[None]:
    """The state's maps replace each other."""
    real = function_calls.deep_merge
    function_calls.deep_merge = lambda base, other: {**base, **other}  # type: ignore[assignment]
    try:
        yield
    finally:
        function_calls.deep_merge = real
