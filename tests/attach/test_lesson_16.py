"""Lesson 16, google-adk: what counts as right is what both engines show; the exercise finds what was left behind."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("google.adk", reason="google-adk is not installed (extra adk)")

from google.adk.agents import LlmAgent
from google.adk.runners import InMemoryRunner

import adknb
from adknb.course.checks.lesson16 import check_as_before
from adknb.course.quiz import Quiz
from tests.attach.doubles import model, says
from tests.course.proving import prove


def asked() -> tuple[list[Any], list[Any]]:
    found = adknb.versus(adknb.scenario("16-two-engines"))
    return found.go[1].said, found.python[1].said


def each(word: str) -> tuple[bool, bool]:
    return tuple(word in str(contents) for contents in asked())  # type: ignore[return-value]


def words(some: str) -> tuple[bool, ...]:
    return tuple(any(some in part.get("text", "") for content in said for part in content["parts"]) for said in asked())


def behind_calls(_: Any) -> tuple[str, str]:
    first = adknb.versus(adknb.scenario("15a-what-did-my-model-see")).first
    assert first is not None and first.go is not None and first.python is not None
    return tuple(row.said[2]["parts"][0]["functionResponse"]["name"] for row in (first.go, first.python))  # type: ignore[return-value]


PROOFS: dict[int, tuple[Callable[..., Any], dict[Any, str]]] = {
    1: (lambda _: each("spell_check"), {
        (True, False): "ADK-Go sends it, google-adk drops it", (True, True): "both send it", (False, False): "both drop it"}),
    2: (lambda _: each("dose"), {
        (True, False): "on ADK-Go, as if it had been said; not on google-adk", (True, True): "on both: quoted with the rest", (False, False): "on neither"}),
    3: (lambda _: (words('{"lang":"pt"')[0], words("'lang': 'pt'")[1]), {
        (True, True): "ADK-Go: JSON; google-adk: as Python prints them, between quoting marks", (True, False): "as JSON on both"}),
    4: (behind_calls, {
        ("show_cart", "track_parcel"): "ADK-Go: the last one behind both; google-adk: each its own, by position",
        ("track_parcel", "track_parcel"): "each its own, on both", ("show_cart", "show_cart"): "the last one behind both, on both"}),
}  # fmt: skip


@pytest.mark.parametrize("n", PROOFS)
def test_the_right_option_is_what_the_engines_show(n: int) -> None:
    read, options = PROOFS[n]
    question = Quiz("16", "en").question(n)
    prove("16", n, None, read, {value: question.key_of(text) for value, text in options.items()})


async def _events(agent: Any) -> list[Any]:
    return list(await InMemoryRunner(agent=agent).run_debug("hi", quiet=True))


def texts(agent: Any) -> list[str]:
    from adknb.engine.loops import run_to_its_end

    agent.model.seen.clear()
    return [event.content.parts[0].text for event in run_to_its_end(_events(agent))]


def step_and_detach(agent: Any) -> Any:
    agent.model.seen.clear()
    dbg = adknb.attach(agent, "hi").step().step()
    dbg.detach()
    return dbg


left_attached: list[Any] = []
COUNT = itertools.count()


def step_and_stay(agent: Any) -> Any:
    agent.model.seen.clear()
    left_attached.append(adknb.attach(agent, "hi").step().step())
    return left_attached[-1]


SOLUTIONS: dict[str, tuple[Any, Any, str]] = {
    "right": (texts, step_and_detach, ""),
    "stays attached": (texts, step_and_stay, "not google-adk's own any more"),
    "does not step": (texts, lambda agent: None, "has not gone a step"),
    "does not run": (lambda agent: [], step_and_detach, "tells nothing"),
    "not written": (None, step_and_detach, "nothing is here yet"),
    "never the same": (lambda agent: [str(next(COUNT))], step_and_detach, "two runs differ"),
}


@pytest.mark.parametrize("case", SOLUTIONS)
def test_the_exercise(case: str) -> None:
    run, step, says_so = SOLUTIONS[case]
    verdict = check_as_before(LlmAgent(name="a", model=model(says("hello"))), run, step)
    while left_attached:
        left_attached.pop().detach()
    assert verdict.ok is (not says_so) and says_so in str(verdict)
