"""What must hold of a request: each invariant is broken by its own smallest example, and by nothing else."""

from __future__ import annotations

from typing import Any

import pytest
from google.genai import types

from adknb import Event
from adknb.lens.invariants import broken, invariants


def text(words: str, role: str = "user") -> types.Content:
    return types.Content(role=role, parts=[types.Part(text=words)])


def call(call_id: str) -> types.Content:
    return types.Content(role="model", parts=[types.Part(function_call=types.FunctionCall(id=call_id, name="f"))])


def answer(call_id: str) -> types.Content:
    part = types.Part(function_response=types.FunctionResponse(id=call_id, name="f", response={}))
    return types.Content(role="user", parts=[part])


SHARED = text("mine")


@pytest.mark.parametrize(
    "contents, names",
    [
        ([], []),
        ([text("q"), call("a"), answer("a")], []),
        ([text("q"), call("a"), text("again")], []),  # unanswered is allowed
        ([call("a"), text("x"), answer("a")], [("pairs adjacent", (0,))]),
        ([text("q"), answer("a")], [("no orphan", (1,))]),
        ([answer("a"), call("a"), text("q")], [("pairs adjacent", (1,)), ("no orphan", (0,))]),
        ([answer(""), text("q")], []),  # an answer without id cannot be told to be an orphan
        ([text("q"), text("a", "model")], [("last content is user", (1,))]),
        ([call("adk-1"), answer("adk-1")], [("ids stripped", (0, 1))]),
        ([text("q"), SHARED], [("no alias with the session", (1,))]),
    ],
)
def test_each_invariant_names_what_breaks_it(contents: Any, names: Any) -> None:
    events = [Event(author="user", content=SHARED)]
    assert [(b.name, b.contents) for b in broken(contents, events)] == names
    assert len(invariants(contents, events)) == 5
