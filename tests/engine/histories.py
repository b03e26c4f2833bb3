"""Compact ways to write down a history, and to read what became of it.

A history is a list of events: `user("hi")`, `me(call("a"))`, `me(response("a"))`. What the passes make of it is shown
as lines: a content as `model: call a`, a fate as `moved 2 R5.24`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from google.genai import types

from adknb.engine.event import Event, EventActions, EventCompaction
from adknb.engine.processors.contents import Assembly, Viewer, assemble
from adknb.engine.processors.contents.emit import CONTINUE
from adknb.engine.processors.contents.task_input import SINGLE_TURN_NOTE

SHORT = {CONTINUE: "<continue>", SINGLE_TURN_NOTE: "<single turn>", "For context:": "<context>"}


def call(call_id: str | None, name: str = "tool", **args: Any) -> types.Part:
    """A function call; its arguments are an empty map unless given."""
    return types.Part(function_call=types.FunctionCall(id=call_id, name=name, args=args))


def response(call_id: str | None, result: Any = "ok", name: str = "tool") -> types.Part:
    """A function response whose result is `{"r": result}`."""
    return types.Part(function_response=types.FunctionResponse(id=call_id, name=name, response={"r": result}))


def event(author: str, *parts: types.Part | str | None, role: str | None = None, **fields: Any) -> Event:
    """An event; a text is a text part. The role is that of the author's kind, and `user` for responses."""
    made = [types.Part(text=part) if isinstance(part, str) else part for part in parts]
    answers = any(part is not None and part.function_response for part in made)
    role = ("user" if author == "user" or answers else "model") if role is None else role
    content = types.Content.model_construct(role=role, parts=made)
    return Event(author=author, content=content, **fields)


def user(*parts: types.Part | str | None, **fields: Any) -> Event:
    """An event by the user."""
    return event("user", *parts, **fields)


def me(*parts: types.Part | str | None, **fields: Any) -> Event:
    """An event by the agent whose contents are assembled."""
    return event("me", *parts, **fields)


def other(*parts: types.Part | str | None, **fields: Any) -> Event:
    """An event by another agent."""
    return event("other", *parts, **fields)


def heard(text: str, author: str = "me", **fields: Any) -> Event:
    """An event that only carries an input transcription."""
    return Event(author=author, input_transcription=types.Transcription(text=text), **fields)


def spoken(text: str, author: str = "me", **fields: Any) -> Event:
    """An event that only carries an output transcription."""
    return Event(author=author, output_transcription=types.Transcription(text=text), **fields)


def record(start: float, end: float, summary: str | None = "SUM", excluded: Sequence[int] = (), **fields: Any) -> Event:
    """An event that carries a compaction record; `excluded` are times of events of invocation `i`."""
    content = types.Content(role="model", parts=[types.Part(text=summary)]) if summary is not None else None
    compaction = EventCompaction(start, end, content, [("i", float(at)) for at in excluded])
    return Event(author="user", actions=EventActions(compaction=compaction), **fields)


def timed(*events: Event) -> list[Event]:
    """The events at times 1, 2, 3, …, all of the invocation `i`."""
    for at, made in enumerate(events, start=1):
        made.timestamp, made.invocation_id = made.timestamp or float(at), made.invocation_id or "i"
    return list(events)


def seen(events: Sequence[Event], agent: str = "me", **viewer: Any) -> Assembly:
    """What `me`, or another viewer, is sent."""
    return assemble(events, Viewer(agent, **viewer))


def parts_of(content: types.Content) -> list[types.Part]:
    """The parts of a content that has some."""
    assert content.parts
    return content.parts


def lines(contents: Sequence[types.Content]) -> list[str]:
    """Each content as a line: its role, then its parts between bars."""
    return [f"{content.role or ''}: " + " | ".join(map(_part, content.parts or [])) for content in contents]


def _part(part: types.Part) -> str:
    if part.function_call is not None:
        args = part.function_call.args
        return f"call {part.function_call.id}" + (f" {args}" if args else "")
    if part.function_response is not None:
        return f"{part.function_response.id}={(part.function_response.response or {}).get('r')}"
    if part.text is None:
        return "+".join(sorted(part.model_dump(exclude_none=True)))
    return ("(thought) " if part.thought else "") + SHORT.get(part.text, part.text)


def fates(assembly: Assembly) -> list[str]:
    """Each fate as a line: its kind, the contents it is in, and, unless nothing happened, the rule that decided."""
    return [
        " ".join([fate.kind, *map(str, fate.contents), *([r] if (r := fate.reasons[0].rule) != "R5.27" else [])])
        for fate in assembly.fates
    ]
