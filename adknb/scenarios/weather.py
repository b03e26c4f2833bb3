"""The weather program of seed 000, 三.3, as an agent to step: its model looks at its request before it speaks.

A script would say 26 °C whatever the tool answered. This model reads the answer, so an edit of it is heard.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from google.genai import types

from adknb.engine.event import function_responses_of
from adknb.engine.llm_agent import LlmAgent
from adknb.engine.model import LLMRequest
from adknb.engine.response import LLMResponse

QUESTION = "杭州现在多少度？"


class OfflineDemo:
    """Calls `get_weather` first; once the tool's answer is in the request, says what it reads there."""

    name = "offline-demo"

    def generate_content(self, request: LLMRequest, stream: bool) -> Iterator[LLMResponse]:
        """A call, or a text: a plain function of the request, so that it can be asked again at will."""
        answers = [r for c in request.contents for r in function_responses_of(c) if r.name == "get_weather"]
        if answers:
            temperature = (answers[-1].response or {}).get("temperature")
            part = types.Part(text=f"杭州当前气温为 {temperature}°C。")
        else:
            call = types.FunctionCall(id="weather-1", name="get_weather", args={"city": "Hangzhou"})
            part = types.Part(function_call=call)
        yield LLMResponse(content=types.Content(role="model", parts=[part]))


def get_weather(city: str) -> dict[str, Any]:
    """Returns the current temperature for a city."""
    return {"city": city, "temperature": 26}


def weather_agent() -> LlmAgent:
    """The article's agent: one instruction, one tool."""
    return LlmAgent(
        "weather_agent",
        model=OfflineDemo(),
        instruction="Use get_weather to answer weather questions.",
        tools=[get_weather],
    )
