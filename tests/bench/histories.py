"""What is measured on: a session of any length, and an agent whose turn has one tool call."""

from __future__ import annotations

from typing import Any

from google.genai import types

from adknb import Event, LlmAgent, Runner, ScriptedModel
from adknb.engine.platform import counted, in_order


def history(n: int) -> list[Any]:
    """n events in fours: question, call, response, answer. One agent, no branches."""
    events = []
    for i in range(n):
        call = types.FunctionCall(id=f"c{i // 4}", name="look", args={"place": f"shelf {i}", "deep": {"n": i}})
        answer = types.FunctionResponse(
            id=f"c{i // 4}", name="look", response={"found": [i, i + 1], "text": "book " * 10}
        )
        author, role, part = [
            ("user", "user", types.Part(text=f"question {i} " * 5)),
            ("agent", "model", types.Part(function_call=call)),
            ("agent", "user", types.Part(function_response=answer)),
            ("agent", "model", types.Part(text=f"answer {i} " * 5)),
        ][i % 4]
        content = types.Content(role=role, parts=[part])
        events.append(Event(author=author, content=content, id=str(i), timestamp=float(i), invocation_id=f"e{i // 4}"))
    return events


def look(place: str) -> dict[str, Any]:
    """Looks."""
    return {"place": place}


def asks(i: int) -> types.Content:
    """The i-th answer of the model: a call of `look`."""
    call = types.FunctionCall(id=f"call-{i}", name="look", args={"place": "shelf"})
    return types.Content(role="model", parts=[types.Part(function_call=call)])


def runner(n: int, calls: int = 1) -> Runner:
    """A runner over a session of n events, whose model asks for the tool so many times and then answers."""
    model = ScriptedModel([*(asks(i) for i in range(calls)), "done"])
    made = Runner(LlmAgent("agent", model=model, tools=[look], instruction="Be brief."), platform=counted(in_order))
    session = made.session_service.create("adknb", "user", "session-1")
    for event in history(n):
        made.session_service.append_event(session, event)
    return made
