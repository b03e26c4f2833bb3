"""Checks of lesson 01: the article's program (seed 000) as a function, and task 1 of seed 004: trace a step."""

from __future__ import annotations

import contextlib
import io
import json
from collections.abc import Callable
from typing import Any

from google.genai import types

from adknb.course.checks.trying import verdict, want
from adknb.course.verdict import Verdict, compare
from adknb.engine.event import function_calls_of, visible_text_of
from adknb.engine.llm_agent import LlmAgent
from adknb.engine.platform import counted
from adknb.engine.runner import Runner
from adknb.engine.tool import FunctionTool
from adknb.scenarios import ScriptedModel

CITIES = (("Oslo", -7), ("Quito", 14), ("Hangzhou", 31))

PHASES = {
    **dict.fromkeys(("processor", "tool_declaration"), 1),
    **dict.fromkeys(("before_model", "model", "on_model_error", "after_model"), 2),
    "response_processor": 3,
    "event": 4,
    **dict.fromkeys(("before_tool", "tool", "on_tool_error", "after_tool", "merge"), 5),
}
"""Seam -> phase of a step: preprocess, model call, postprocess, the model's event, function calls (seed 004)."""


@verdict
def check_model(model: Callable[[Any], Any]) -> str:
    """01 A: a model as a plain function of its request: first a call of get_weather, then a text with its answer.

    It prints `MODEL asks for get_weather`, then `MODEL sees {"city":"Oslo","temperature":-7}`: JSON without blanks.
    """
    for city, degrees in CITIES:
        events, lines = _run_of(model, lambda city, degrees=degrees: {"city": city, "temperature": degrees})
        calls = [call for event in events for call in function_calls_of(event.content)]
        want(len(calls) == 1 and calls[0].name == "get_weather", f"expected one call of get_weather, got {len(calls)}")
        asked = (calls[0].args or {}).get("city")
        want(isinstance(asked, str) and asked, "get_weather is to be called with a city")
        last = visible_text_of(events[-1].content)
        want(str(degrees) in last, f"the tool said {degrees}, the model said {last!r}")
        seen = json.dumps({"city": asked, "temperature": degrees}, separators=(",", ":"), ensure_ascii=False)
        wanted = ["MODEL asks for get_weather", f"MODEL sees {seen}"]
        for number, line in enumerate(wanted):
            got = lines[number] if number < len(lines) else "nothing"
            want(got == line, f"line {number + 1}: expected {line!r}, got {got!r}")
        want(len(lines) == len(wanted), f"expected {len(wanted)} lines, got {len(lines)}")
    return f"{len(CITIES)} temperatures, line for line."


def _run_of(model: Callable[[Any], Any], tool: Callable[..., Any]) -> tuple[list[Any], list[str]]:
    get_weather = FunctionTool(tool, name="get_weather", description="Returns the current temperature for a city.")
    agent = LlmAgent("weather_agent", model=model, tools=[get_weather])
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        events = []
        for event in Runner(agent, platform=counted()).run("How warm is it?"):
            events.append(event)
            want(len(events) < 9, "the turn does not end: the model calls again and again")
    want(events, "the turn brought no event")
    return events, printed.getvalue().splitlines()


@verdict
def check_hooks(before_model: Callable[..., Any], before_tool: Callable[..., Any]) -> str:
    """01 B: two hooks that print `before_model` and `before_tool NAME`, and change nothing."""
    part = types.Part.from_function_call
    script = [
        types.Content(role="model", parts=[part(name="look", args={}), part(name="listen", args={})]),
        types.Content(role="model", parts=[part(name="look", args={})]),
        "Done.",
    ]
    tools = [FunctionTool(lambda: {"ok": True}, name=name, description="Works.") for name in ("look", "listen")]
    texts = []
    for hooks in (None, None), (before_model, before_tool):
        model = ScriptedModel(list(script))
        agent = LlmAgent("guard", model=model, tools=tools, before_model=hooks[0], before_tool=hooks[1])
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            texts.append([event.to_json() for event in Runner(agent, platform=counted()).run("Go.")])
    lines = printed.getvalue().splitlines()
    order = [
        "before_model",
        "before_tool look",
        "before_tool listen",
        "before_model",
        "before_tool look",
        "before_model",
    ]
    for number, line in enumerate(order):
        got = lines[number] if number < len(lines) else "nothing"
        want(got == line, f"line {number + 1}: expected {line!r}, got {got!r}")
    want(len(lines) == len(order), f"expected {len(order)} lines, got {len(lines)}")
    want(texts[0] == texts[1], "the run went another way than without the hooks: a hook that only looks returns None")
    return "two steps with tools, line for line, and the run is as without the hooks."


def check_phase(phase: Callable[[str], int]) -> Verdict:
    """01 B, second half: `phase(seam)` says to which of the five phases of a step a seam belongs, 1 to 5."""
    return compare(phase, [((seam,), number) for seam, number in PHASES.items()], "seams")
