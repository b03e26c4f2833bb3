"""The check of lesson 08: the message by which a person answers what is open."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from google.genai import types

from adknb.course.checks.trying import verdict, want
from adknb.engine.event import Event, function_responses_of
from adknb.engine.llm_agent import LlmAgent
from adknb.engine.processors.confirmation import REQUEST_CONFIRMATION
from adknb.engine.tool import FunctionTool
from adknb.scenarios import ScriptedModel
from adknb.stepper import Stepper, step

AnswerFor = Callable[[Sequence[Event], bool], Any]


@verdict
def check_answer_for(answer_for: AnswerFor) -> str:
    """08: `answer_for(events, yes)` makes the user's message that answers what is open, or gives None.

    Held against sessions of its own: one request, two in one answer, one answered before, one of another agent, none;
    then two approvals and a refusal are sent, and the tools run or do not.
    """
    for what, events, ids in _sessions():
        _is_message(answer_for(events, True), ids, True, what)
    _is_message(answer_for(_sessions()[0][1], False), ["ask-1"], False, "a refusal")
    for yes, ran in ((True, ["book", "pay"]), (False, [])):
        dbg = _two_asked()
        dbg.send(answer_for(dbg.events, yes))
        dbg.resume()
        said = "approved" if yes else "refused"
        want(dbg.tools_run == ran, f"both {said}: expected the tools {ran} to run, not {dbg.tools_run}")
        asked_again = answer_for(dbg.events, True)
        want(asked_again is None, f"both {said}: nothing is open any more; expected None, not {asked_again!r}")
    return f"{len(_sessions())} sessions, and two runs: approved, the tools run; refused, they do not."


def _is_message(message: Any, ids: list[str], yes: bool, what: str) -> None:
    if not ids:
        want(message is None, f"{what}: nothing is open; expected None, not {message!r}")
        return
    want(isinstance(message, types.Content), f"{what}: expected a types.Content, not {message!r}")
    want(message.role == "user", f"{what}: a person speaks in the role 'user', not {message.role!r}")
    found = function_responses_of(message)
    want([r.id for r in found] == ids, f"{what}: expected answers to {ids}, not to {[r.id for r in found]}")
    for response in found:
        want(response.name == REQUEST_CONFIRMATION, f"{what}: the answer is named {response.name!r}")
        want(response.response == {"confirmed": yes}, f"{what}: the answer says {response.response!r}")


def _sessions() -> list[tuple[str, list[Event], list[str]]]:
    """(what it is, the events, the ids that are to be answered)"""
    one = [_asks("desk", "ask-1")]
    return [
        ("one request", one, ["ask-1"]),
        ("two in one event", [_asks("desk", "ask-1", "ask-2")], ["ask-1", "ask-2"]),
        ("text in between", [*one, _says("user", "Why?"), _says("desk", "It costs 49 euros.")], ["ask-1"]),
        ("one of two answered", [_asks("desk", "ask-1", "ask-2"), _answers("ask-1")], ["ask-2"]),
        ("another agent has asked before", [_asks("visa", "ask-1"), _asks("rail", "ask-2")], ["ask-2"]),
        ("the other one is open still", [_asks("visa", "ask-1"), _asks("rail", "ask-2"), _answers("ask-2")], ["ask-1"]),
        ("all answered", [_asks("desk", "ask-1"), _answers("ask-1")], []),
        ("nothing asked", [_says("user", "Hello"), _says("desk", "Hello!")], []),
    ]


def _two_asked() -> Stepper:
    names = ("book", "pay")
    calls = [types.Part(function_call=types.FunctionCall(name=n, args={}, id=f"{n}-1")) for n in names]
    tools = [
        FunctionTool(lambda: {"done": True}, name=n, description="Does it.", parameters={"type": "object"},
                     require_confirmation=True) for n in names
    ]  # fmt: skip
    model = ScriptedModel([types.Content(role="model", parts=calls), "Settled."])
    return step(LlmAgent("desk", model=model, tools=tools), "Book it and pay.").resume()


def _asks(author: str, *ids: str) -> Event:
    parts = [
        types.Part(function_call=types.FunctionCall(
            name=REQUEST_CONFIRMATION, id=i, args={"originalFunctionCall": {"id": f"call-of-{i}", "name": "book"}}))
        for i in ids
    ]  # fmt: skip
    return Event(author=author, content=types.Content(role="model", parts=parts), long_running_tool_ids=list(ids))


def _answers(*ids: str) -> Event:
    parts = [types.Part(function_response=types.FunctionResponse(
        name=REQUEST_CONFIRMATION, id=i, response={"confirmed": True})) for i in ids]  # fmt: skip
    return Event(author="user", content=types.Content(role="user", parts=parts))


def _says(author: str, text: str) -> Event:
    role = "user" if author == "user" else "model"
    return Event(author=author, content=types.Content(role=role, parts=[types.Part(text=text)]))
