"""Check of lesson 05: when an event is final."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

from google.genai import types

from adknb.course.verdict import Verdict, not_yet, passed, told
from adknb.engine.event import Event, EventActions, EventCompaction
from adknb.scenarios import scenario
from adknb.stepper import step

LESSON = "05a-when-does-it-end"

PARTS = {
    "text": types.Part(text="It rains."),
    "a call": types.Part(function_call=types.FunctionCall(name="get_weather", args={}, id="c-1")),
    "an answer": types.Part(function_response=types.FunctionResponse(name="get_weather", response={}, id="c-1")),
    "code": types.Part(executable_code=types.ExecutableCode(code="1 + 1", language=types.Language.PYTHON)),
    "a code result": types.Part(code_execution_result=types.CodeExecutionResult(outcome=types.Outcome.OUTCOME_OK)),
}
FLAGS = ("partial", "long-running ids", "skip_summarization", "a compaction record")


def made_up() -> list[tuple[str, Event]]:
    """Every set of parts with every set of flags: 512 events with a description each."""
    out = []
    for chosen in itertools.product((False, True), repeat=len(PARTS) + len(FLAGS)):
        held = [name for name, yes in zip([*PARTS, *FLAGS], chosen, strict=True) if yes]
        actions = EventActions(skip_summarization="skip_summarization" in held)
        if "a compaction record" in held:
            actions.compaction = EventCompaction(1.0, 2.0, types.Content(role="model", parts=[PARTS["text"]]))
        parts = [PARTS[name] for name in held if name in PARTS]
        event = Event(
            author="clerk",
            content=types.Content(role="model", parts=parts) if parts else None,
            partial="partial" in held,
            long_running_tool_ids=["c-1"] if "long-running ids" in held else [],
            actions=actions,
        )
        out.append((f"an event with {', '.join(held)}" if held else "an event with nothing in it", event))
    return out


def check_is_final(is_final: Callable[[Event], Any]) -> Verdict:
    """05: `is_final(event)` on the stored events of 05a and on made-up ones, every mixture of parts and flags."""
    stored = step(scenario(LESSON)).resume().events
    rows = [(f"event {n} of the lesson", event) for n, event in enumerate(stored)] + made_up()
    for what, event in rows:
        try:
            got = is_final(event)
        except Exception as error:  # whatever a reader's code raises
            return not_yet(f"{what}: it raised {told(error)}.")
        if not isinstance(got, bool):
            return not_yet(f"{what}: expected True or False, got {got!r}.")
        if got != event.is_final_response():
            return not_yet(f"{what} is {'' if event.is_final_response() else 'not '}final.")
    return passed(f"{len(stored)} stored and {len(rows) - len(stored)} made-up events.")
