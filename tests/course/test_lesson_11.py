"""Lesson 11, streaming and output_key: what counts as right is what the runs show; right solutions pass, wrong do not."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pytest
from google.genai import types

import adknb
from adknb import LlmAgent, Runner, ScriptedModel, event
from adknb.course.checks.lesson11 import STREAMS, check_adapter, check_shown_once, check_xml_alone
from adknb.course.quiz import Quiz
from adknb.engine.context import RunConfig
from adknb.engine.event import Event
from adknb.engine.response import LLMResponse
from adknb.front import XmlAssembler, one_flag, shown, through, without_duplicate_final
from adknb.scenarios import DRAW, drawing_line, faulty_stream, safe_stream
from tests.course.proving import prove, run_to

ANALYSIS = "# 需求：登录流程，三步"


def with_usage(_: Any) -> Any:
    usage = types.GenerateContentResponseUsageMetadata(total_token_count=2)
    chunks = [
        LLMResponse(content=types.Content(role="model", parts=[types.Part(text=t)]), usage_metadata=usage)
        for t in ("#", " plan")
    ]
    return (
        adknb.step(LlmAgent("a", model=faulty_stream(ScriptedModel([chunks])), output_key="k"), "go")
        .resume()
        .state["k"]
    )


def on_a_screen(_: Any) -> int:
    return shown(Runner(drawing_line(safe_stream)).run(DRAW, run_config=RunConfig("sse"))).count(ANALYSIS)


def second_event(dbg: Any) -> Any:
    return dbg.until(event(author="analystAgent")).state.get("analysis_result")


def who_writes(dbg: Any) -> tuple[int, ...]:
    """Read as each event passes: the events of one answer share their delta, so afterwards all four have it."""
    written = [bool(dbg.event.actions.state_delta)]
    for _ in range(3):
        written.append(bool(dbg.until(event(author="analystAgent")).event.actions.state_delta))
    return tuple(n for n, wrote in enumerate(written) if wrote)


PROOFS: dict[int, tuple[str, Any, Callable[..., Any], dict[Any, str]]] = {
    1: ("11a", event(author="analystAgent"), second_event, {"#": "#", None: "nothing: the answer is not complete", ANALYSIS: "the whole analysis"}),
    2: ("11b", None, lambda d: (len(run_to("11a").events), len(d.events)), {
        (9, 4): "9 and 4", (9, 9): "9 and 9", (9, 13): "9 and 13: the whole answers come on top"}),
    3: ("11b", event(author="analystAgent"), who_writes, {
        (3,): "the fourth", (0, 1, 2, 3): "all four, one over the other", (0,): "the first"}),
    4: ("11a", None, with_usage, {" plan": "no: the state is as before", "# plan": "yes: a chunk with figures is known as one"}),
    5: ("11b", None, on_a_screen, {2: "twice", 1: "once", 4: "four times"}),
    6: ("11b", None, lambda d: d.state["draft_diagram"].startswith("好的。<mxfile>"), {
        True: "the prose in front of the XML, too", False: "the XML alone"}),
}  # fmt: skip


@pytest.mark.parametrize("n", PROOFS)
def test_the_right_option_is_what_the_run_shows(n: int) -> None:
    name, wish, read, options = PROOFS[n]
    question = Quiz("11", "en").question(n)
    prove("11", n, run_to(name, wish), read, {value: question.key_of(text) for value, text in options.items()})


def test_both_languages_ask_six_questions() -> None:
    for language in ("en", "zh"):
        assert [Quiz("11", language).question(n).n for n in range(1, 7)] == [1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize("case", STREAMS)
def test_our_own_filter_shows_what_the_exercise_expects(case: str) -> None:
    events, expected = STREAMS[case]
    assert shown(through(events, without_duplicate_final)) == expected


def never_whole(events: Iterable[Event]) -> Iterator[Event]:
    yield from (e for e in events if e.partial)


class First:
    """Lets nothing pass after the first document, and finds the tag only within one piece."""

    def accept(self, text: str) -> list[str]:
        return [text[text.find("<mxfile") : text.find("</mxfile>") + 9]] if "<mxfile" in text else []


CHECKS: dict[str, tuple[Any, Any, str]] = {
    "A, ours": (check_shown_once, without_duplicate_final, ""),
    "A, one flag for all": (check_shown_once, one_flag, "an agent that answers in one piece"),
    "A, everything": (check_shown_once, lambda events: events, "two agents in a row"),
    "A, chunks only": (check_shown_once, never_whole, "an agent that answers in one piece"),
    "A, no events": (check_shown_once, lambda events: [1], "it raised"),
    "B, ours": (check_xml_alone, XmlAssembler, ""),
    "B, the first document, in one piece": (check_xml_alone, First, "cut into"),
    "B, nothing": (check_xml_alone, type("Nothing", (), {"accept": lambda self, text: []}), "sent ''"),
    "B, not written": (check_xml_alone, None, "nothing is here yet"),
    "C, ours": (check_adapter, safe_stream, ""),
    "C, the faulty one": (check_adapter, faulty_stream, "the key holds"),
    "C, no model": (check_adapter, lambda model: None, "model"),
}


@pytest.mark.parametrize("case", CHECKS)
def test_a_right_solution_passes_and_a_wrong_one_is_told(case: str) -> None:
    check, solution, says = CHECKS[case]
    verdict = check(solution)
    assert verdict.ok is (not says) and says in str(verdict)
