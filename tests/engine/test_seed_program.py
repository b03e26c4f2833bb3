"""Seed 000, 三.3: the article's weather program, written with our API, prints the article's output line for line."""

from __future__ import annotations

import json
from typing import Any

from google.genai import types

from adknb import LlmAgent, Runner
from adknb.engine.event import function_calls_of, function_responses_of, parts_of
from adknb.engine.model import LLMRequest
from adknb.engine.response import LLMResponse

PRINTED = """\
MODEL #1 stream=false
EVENT author=weather_agent role=model partial=false final=false
  FunctionCall name=get_weather id=weather-1 args={"city":"Hangzhou"}
TOOL get_weather city=Hangzhou
EVENT author=weather_agent role=user partial=false final=false
  FunctionResponse name=get_weather id=weather-1 response={"city":"Hangzhou","temperature":26}
MODEL #2 stream=false
MODEL #2 sees FunctionResponse: {"city":"Hangzhou","temperature":26}
EVENT author=weather_agent role=model partial=false final=true
  Text: 杭州当前气温为 26°C。
GenerateContent calls=2
"""


def as_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def go_bool(value: bool) -> str:
    return str(value).lower()


class MockModel:
    """Calls the tool first; then it must find the tool's answer in its request."""

    name = "offline-demo"

    def __init__(self) -> None:
        self.calls = 0

    def generate_content(self, request: LLMRequest, stream: bool) -> Any:
        self.calls += 1
        print(f"MODEL #{self.calls} stream={go_bool(stream)}")
        if self.calls == 1:
            call = types.FunctionCall(id="weather-1", name="get_weather", args={"city": "Hangzhou"})
            yield LLMResponse(content=types.Content(role="model", parts=[types.Part(function_call=call)]))
            return
        found = [r for c in request.contents for r in function_responses_of(c) if r.name == "get_weather"]
        for response in found:
            print(f"MODEL #2 sees FunctionResponse: {as_json(response.response)}")
        if not found:
            raise LookupError("second model request is missing the get_weather answer")
        yield LLMResponse(content=types.Content(role="model", parts=[types.Part(text="杭州当前气温为 26°C。")]))


def get_weather(city: str) -> dict[str, Any]:
    """Returns the current temperature for a city."""
    print(f"TOOL get_weather city={city}")
    return {"city": city, "temperature": 26}


def test_the_articles_program_prints_the_articles_output(capsys: Any) -> None:
    model = MockModel()
    agent = LlmAgent(
        "weather_agent",
        model=model,
        instruction="Use get_weather to answer weather questions.",
        tools=[get_weather],
    )
    for event in Runner(agent, "flow_demo").run("杭州现在多少度？", user_id="user-1", session_id="session-1"):
        if event.content is None:
            continue
        print(
            f"EVENT author={event.author} role={event.content.role} partial={go_bool(event.partial)} "
            f"final={go_bool(event.is_final_response())}"
        )
        for call in function_calls_of(event.content):
            print(f"  FunctionCall name={call.name} id={call.id} args={as_json(call.args)}")
        for response in function_responses_of(event.content):
            print(f"  FunctionResponse name={response.name} id={response.id} response={as_json(response.response)}")
        for part in parts_of(event.content):
            if part.text:
                print(f"  Text: {part.text}")
    print(f"GenerateContent calls={model.calls}")
    assert capsys.readouterr().out == PRINTED


def test_a_reader_who_leaves_after_the_call_never_runs_the_tool(capsys: Any) -> None:
    """Seed 000, 三: the event with the call is handed up first; a consumer that stops there stops the tool."""
    runner = Runner(LlmAgent("weather_agent", model=MockModel(), tools=[get_weather]))
    run = runner.run("杭州现在多少度？")
    first = next(run)
    run.close()
    assert [c.name for c in function_calls_of(first.content)] == ["get_weather"]
    assert "TOOL" not in capsys.readouterr().out
    stored = runner.session_service.get("adknb", "user", "session-1").events
    assert [e.author for e in stored] == ["user", "weather_agent"]
