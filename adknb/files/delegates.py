"""The text that starts a single-turn delegate: it is never stored, but the call that made it is.

An agent that another one calls like a tool runs on a branch of its own, `parent.NAME@n`, n counting the runs of that
name in a turn. Its request begins with the arguments of the call as a user text.

Source: spec/execution.md 11.21, spec/request.md R5.33
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from google.genai import types

from adknb.engine.event import Event, function_calls_of
from adknb.engine.go_text import go_json
from adknb.files.whose import Question
from adknb.lens.table import turns


@dataclass(frozen=True)
class Seed:
    """The delegate's first text and where it stands: before the event at `position`. No content: it is not known."""

    position: int
    content: types.Content | None
    why: str = ""
    problem: str = ""


def seed_of(events: Sequence[Event], question: Question) -> Seed | None:
    """The text that started the delegate whose request is asked for; None if the agent is no delegate."""
    parent, _, last = question.branch.rpartition(".")
    called, at, nth = last.rpartition("@")
    if not at:
        return None
    first = next((i for i, e in enumerate(events) if e.branch == question.branch), question.before)
    turn_of = turns(events)
    turn = turn_of[first] if first < len(events) else turn_of[-1]
    calls = [
        (i, call)
        for i, event in enumerate(events[:first])
        if turn_of[i] == turn and event.branch == parent
        for call in function_calls_of(event.content)
        if call.name == called
    ]
    if not nth.isdigit() or not 1 <= int(nth) <= len(calls):
        return Seed(
            first,
            None,
            problem=f"{question.agent} ran as a delegate on branch {question.branch}; its request begins with a text "
            f"that is never stored, and the call it was made from is not in this file either",
        )
    caller, call = calls[int(nth) - 1]
    text = types.Part(text=go_json(call.args or {}))
    return Seed(
        first,
        types.Content(role="user", parts=[text]),
        why=f"the arguments of the call in event {caller}, which started this delegate; never stored",
    )
