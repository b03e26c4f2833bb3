"""Histories in a line, for the tests of compaction.

u1 a1        a user's text, an agent's            F(x) R(x)    a call, its response      F()   a call without id
C(x)         asks for a confirmation of x         .            no content                F(x)+F(y)  both in one event
<2..8>       a record over times 2 to 8           <2..8-4-5>   which excludes what stands at 4 and 5
<2..8!>      a record without a summary
@5           at time 5, else one more than the event before
#b ~s %i     on branch b, in scope s, of invocation i, else `old`
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from google.genai import types

from adknb.engine.event import Event, EventActions, EventCompaction, ToolConfirmation

MARKS = re.compile(r"([@#~%])([^@#~%]+)")
RANGE = re.compile(r"<([\d.]+?)\.\.([\d.]+?)((?:-[\d.]+)*)(!?)>")


def history(line: str) -> list[Event]:
    events: list[Event] = []
    for word in line.split():
        name = word[: m.start()] if (m := MARKS.search(word)) else word
        marks = dict(MARKS.findall(word))
        event = Event(
            id=name,
            timestamp=float(marks.get("@", events[-1].timestamp + 1 if events else 1)),
            branch=marks.get("#", ""),
            isolation_scope=marks.get("~", ""),
            invocation_id=marks.get("%", "old"),
            author="user" if name.startswith(("u", "<")) else "me",
        )
        if name.startswith("<"):
            event.actions.compaction = record(name, events)
        elif name != ".":
            say(event, name.split("+"))
        events.append(event)
    return events


def record(name: str, before: Iterable[Event] = ()) -> EventCompaction:
    found = RANGE.fullmatch(name)
    assert found, name
    start, end, excluded, empty = found.groups()
    at = {event.timestamp: event.invocation_id for event in before}
    return EventCompaction(
        float(start),
        float(end),
        None if empty else types.Content(role="model", parts=[types.Part(text=f"sum {name}")]),
        [(at.get(float(t), "old"), float(t)) for t in excluded.split("-")[1:]],
    )


def say(event: Event, items: list[str]) -> None:
    parts = []
    for item in items:
        kind, inside = item[0], item[2:-1]
        if kind == "F":
            parts.append(types.Part(function_call=types.FunctionCall(id=inside or None, name="tool", args={})))
        elif kind == "R":
            parts.append(
                types.Part(function_response=types.FunctionResponse(id=inside or None, name="tool", response={}))
            )
        elif kind == "C":
            event.actions.requested_tool_confirmations[inside] = ToolConfirmation()
        else:
            parts.append(types.Part(text=item))
    event.content = types.Content(role="user" if event.author == "user" else "model", parts=parts)


def names(events: Iterable[Event]) -> str:
    """The events as words again; a record that stands at the head of a window is SUM."""
    return " ".join("SUM" if e.actions != EventActions() and e.actions.compaction else e.id for e in events)
