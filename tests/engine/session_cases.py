"""Events and an agent for the tests of session services."""

from __future__ import annotations

from typing import Any

from google.genai import types

from adknb import FunctionTool, LlmAgent, ScriptedModel
from adknb.engine.event import Event, EventActions, EventCompaction, ToolConfirmation


def said(text: str, author: str = "agent", **fields: Any) -> Event:
    role = "user" if author == "user" else "model"
    return Event(content=types.Content(role=role, parts=[types.Part(text=text)]), author=author, **fields)


def wrote(**delta: Any) -> Event:
    return Event(author="agent", timestamp=1.0, actions=EventActions(state_delta=delta))


def called(**fields: Any) -> Event:
    call = types.FunctionCall(id="c1", name="look", args={"at": None, "how": {"often": 2, "far": [0.1, "ü"]}})
    signed = types.Part(function_call=call, thought_signature=b"\xff\x00\x01")
    return Event(content=types.Content(role="model", parts=[signed]), author="agent", **fields)


def answered(response: Any, **fields: Any) -> Event:
    part = types.Part(function_response=types.FunctionResponse(id="c1", name="look", response=response))
    return Event(content=types.Content(role="user", parts=[part]), author="agent", **fields)


EVENTS = {
    "plain": said("hello", id="e1", invocation_id="i1", timestamp=1_700_000_000.123456),
    "placed": said("hi", branch="a.b", isolation_scope="c1", timestamp=0.1 + 0.2),
    "empty": Event(),
    "a call, bytes, nulls": called(long_running_tool_ids=["c1"]),
    "an image": Event(content=types.Content(parts=[types.Part.from_bytes(data=bytes(range(256)), mime_type="a/b")])),
    "an answer": answered({"result": None, "n": [1, 2.5, {"k": "v"}]}, actions=EventActions(skip_summarization=True)),
    "asks for approval": answered(
        {"error": "wait"},
        actions=EventActions(requested_tool_confirmations={"c1": ToolConfirmation("sure?", True, [1])}),
    ),
    "a transfer": wrote(a={"b": None}, **{"temp:c": [True, False]}),
    "a refusal": Event(error_code="SAFETY", error_message="no", finish_reason="SAFETY", interrupted=True),
    "half a surrogate pair": said("cut \ud83d off"),
    "usage": Event(usage_metadata=types.GenerateContentResponseUsageMetadata(prompt_token_count=7), avg_logprobs=-0.5),
    "metadata": Event(custom_metadata={"a": {"b": None}}, turn_complete=True, model_version="m"),
    "a summary": Event(
        actions=EventActions(
            compaction=EventCompaction(1.0, 2.5, types.Content(parts=[types.Part(text="so far")]), [("i1", 2.0)])
        )
    ),
    "of a later version": Event.from_json(
        {"id": "e", "nodeInfo": {"path": "w/a"}, "actions": {"agent_state": {"n": 1}, "newThing": None}, "Odd_key": [1]}
    ),
}
"""Events with all that an event may have."""


def weather(city: str) -> dict[str, Any]:
    """Looks out of the window."""
    return {"city": city, "sky": "clear"}


def weather_agent(*calls: Any) -> LlmAgent:
    call = types.Part(function_call=types.FunctionCall(name="weather", args={"city": "Hangzhou"}))
    model = ScriptedModel([types.Content(role="model", parts=[call]), "Clear.", *calls])
    return LlmAgent("assistant", model=model, tools=[FunctionTool(weather)], output_key="last")
