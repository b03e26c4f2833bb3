"""Check of lesson 06: a cache for a model (task 3 of seed 004)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from google.genai import types

from adknb.course.checks.trying import verdict, want
from adknb.engine.event import Event, visible_text_of
from adknb.engine.llm_agent import LlmAgent
from adknb.engine.model import LLMRequest
from adknb.engine.platform import counted
from adknb.engine.response import LLMResponse
from adknb.engine.runner import Runner
from adknb.engine.tool import FunctionTool

QUESTION, OTHER = "When do you close?", "When do you open?"


class Counting:
    """A model that says which question it was asked and counts how often."""

    name = "counting"

    def __init__(self) -> None:
        self.asked = 0

    def generate_content(self, request: LLMRequest, stream: bool) -> Iterator[LLMResponse]:
        """An answer that nobody else would give."""
        self.asked += 1
        text = f"Answer {self.asked} to {visible_text_of(request.contents[-1])}"
        yield LLMResponse(content=types.Content(role="model", parts=[types.Part(text=text)]))


@verdict
def check_cache(cache: Callable[[], Any]) -> str:
    """06: `cache()` gives an object with `before_model`, `after_model` and `hits`; the lesson says what it is to do."""
    made, model = cache(), Counting()
    for name in ("before_model", "after_model"):
        want(callable(getattr(made, name, None)), f"{name} is missing: cache() is to give an object with both hooks")
    want(getattr(made, "hits", None) == 0, f"hits is {getattr(made, 'hits', 'missing')!r} before anything was asked")

    first = _session(made, model, QUESTION)
    want(model.asked == 1, f"one question, and the model was asked {model.asked} times")
    want(visible_text_of(first[-1].content).startswith("Answer 1"), "the model's own answer did not come through")
    _scribble(first[-1])
    second = _session(made, model, QUESTION)
    want(model.asked == 1, "the same question in a fresh session: the model was asked again")
    said = visible_text_of(second[-1].content)
    want(said != "scribbled over", "what is cached is the very object that went out: keep a copy, hand out a copy")
    want(said.startswith("Answer 1"), f"the cached answer is {said!r}")
    _scribble(second[-1])
    third = visible_text_of(_session(made, model, QUESTION)[-1].content)
    want(third != "scribbled over", "what a hit hands out is the cached object itself: hand out a copy")
    want(
        made.hits == 2,
        f"two hits, and hits is {made.hits!r}: after_model is silent on them, so before_model must count",
    )

    others: dict[str, Callable[[], list[Event]]] = {
        "another question": lambda: _session(made, model, OTHER),
        "another temperature": lambda: _session(made, model, QUESTION, temperature=0.9),
        "another list of tools": lambda: _session(made, model, QUESTION, tools=True),
        "another instruction": lambda: _session(made, model, QUESTION, instruction="Be brief."),
    }
    for what, ask in others.items():
        asked = model.asked
        ask()
        want(model.asked == asked + 1, f"{what}: that is another request, and the cache answered it")
    want(made.hits == 2, f"no further hit, and hits is {made.hits!r}")
    return "hits in fresh sessions, misses for other requests, copies in and out, hits counted."


def _find_book() -> dict[str, Any]:
    return {}


def _scribble(event: Event) -> None:
    """What a careless reader does to what it was given."""
    assert event.content is not None and event.content.parts
    event.content.parts[0].text = "scribbled over"


def _session(
    made: Any, model: Counting, message: str, temperature: float = 0.1, tools: bool = False, instruction: str = ""
) -> list[Event]:
    """The events of one turn of a fresh session, with the cache's hooks."""
    agent = LlmAgent(
        "library_desk",
        model=model,
        instruction=instruction,
        tools=[FunctionTool(_find_book, name="find_book", description="Finds.")] if tools else [],
        generate_content_config=types.GenerateContentConfig(temperature=temperature),
        before_model=made.before_model,
        after_model=made.after_model,
    )
    events = list(Runner(agent, platform=counted()).run(message))
    want(events and events[-1].content and events[-1].content.parts, "the turn brought no answer")
    return events
