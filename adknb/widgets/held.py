"""What the present stop holds besides the request, as blocks: the call, what it came to, the event."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

from adknb.engine.event import Event
from adknb.engine.event_json import to_json
from adknb.engine.response import LLMResponse
from adknb.engine.stops import Raise, Return
from adknb.widgets import brief
from adknb.widgets.pages import Block, Span
from adknb.widgets.present import words
from adknb.widgets.wire import clean_text, cut

LONG = 4_000

NAMES = {"call": "args", "content": "content", "response": "response", "event": "event", "came to": "outcome"}
"""What can be edited of a stop (`changing.LABELS`), by what it is called here."""

COMES_TO_NOTHING = ("processor", "tool_declaration", "response_processor", "append", "turn")
"""Seams whose calls give nothing back; only an error is worth a line."""


def held_blocks(stop: Any) -> list[Block]:
    """The block "At this stop"; empty where the stop holds nothing but the request."""
    rows = [[[["mut", name]], spans, [["ed", NAMES[name]]] if name in NAMES else []] for name, spans in held(stop)]
    if not rows:
        return []
    return [["h", "At this stop", ["mut", words(stop)]], ["table", None, rows]]


def held(stop: Any) -> list[tuple[str, list[Span]]]:
    """Name and spans of each thing a stop holds."""
    if stop is None:
        return []
    out: list[tuple[str, list[Span]]] = []
    holds = stop.holds
    if holds.get("args") is not None:
        name = getattr(holds.get("tool"), "name", "") or stop.name
        out.append(("call", [["code", cut(clean_text(brief.call(name, holds["args"])), LONG)]]))
    if holds.get("content") is not None:
        out.append(("content", said(holds["content"])))
    if holds.get("response") is not None:
        out.append(("response", said(holds["response"])))
    if holds.get("result") is not None:
        out.append(("result", said(holds["result"])))
    if holds.get("error") is not None:
        out.append(("error", _error(holds["error"])))
    if holds.get("event") is not None:
        out.append(("event", said(holds["event"])))
    if holds.get("events"):
        out += [(f"result {i + 1}", said(e)) for i, e in enumerate(holds["events"]) if e is not None]
    if stop.answer is not None:
        out.append(("answered with", outcome(stop.answer)))
    if "outcome" in holds and not _says_nothing(stop):
        out.append(("came to", outcome(holds["outcome"])))
    return out


def _says_nothing(stop: Any) -> bool:
    """Whether what the call came to is nothing, or the event that is shown already."""
    came_to = stop.holds["outcome"]
    if not isinstance(came_to, Return):
        return False
    if came_to.value is None:
        return stop.seam in COMES_TO_NOTHING
    return came_to.value is stop.holds.get("event")


def outcome(value: Any) -> list[Span]:
    """What a call came to: a value, no answer, or an error."""
    if isinstance(value, Raise):
        return _error(value.error)
    return said(value.value if isinstance(value, Return) else value)


def said(value: Any) -> list[Span]:
    """A content, response, event or any other value on a line or two."""
    if value is None:
        return [["mut", "no answer"]]
    if isinstance(value, Event):
        return [["au", value.author], " ", *_line(brief.event_line(value, LONG), value.partial)]
    if isinstance(value, LLMResponse):
        if value.error_code or value.error_message:
            return [["bad", ["i", "warn"], cut(clean_text(f"{value.error_code} {value.error_message}"), LONG)]]
        return _line(brief.parts(to_json(value.content) if value.content else None, LONG) or "nothing", value.partial)
    if isinstance(value, BaseModel):
        data = to_json(value)
        return [clean_text(brief.parts(data, LONG) if "parts" in data else cut(brief.as_json(data), LONG))]
    return [["code", cut(clean_text(brief.as_json(to_json(value))), LONG)]]


def _line(text: str, partial: bool) -> list[Span]:
    return [*([["mut", "partial "]] if partial else []), text]


def _error(error: Any) -> list[Span]:
    told = f"{type(error).__name__}: {error}" if isinstance(error, BaseException) else str(error)
    return [["bad", ["i", "warn"], cut(clean_text(told), LONG)]]
