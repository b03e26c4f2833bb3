"""The text form of a Stepper: stable from run to run, so that a notebook's output is an assertion.

    stop 21 · after processor contents · turn 1, weather_agent, step 1
      changed   contents[0] new · user: 杭州天气怎么样？
      request   offline-demo · 2 paragraphs · 1 content · declares nothing
      session   1 event · last user: 杭州天气怎么样？

No addresses, no durations, no times.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Any

from adknb.lens.request_changes import Change, pointer
from adknb.widgets import brief, present
from adknb.widgets.brief import Json, plural
from adknb.widgets.held import held
from adknb.widgets.pages import change_words
from adknb.widgets.wire import clean_text, cut

WIDTH = 100
LONGEST = 600
WHOLE = ("problem", "note", "came to")
"""Rows that are wrapped, not cut, up to so many characters."""

MOST = 8
"""Of more changes than these, the rest is counted."""


def describe(stepper: Any) -> str:
    """The stop, what it holds, what changed in the request since the last pause, and what the request now is."""
    lines = [headline(stepper)]
    lines += [row(name, text) for name, text in notes(stepper)]
    stop = stepper.here
    lines += [row(name, flat(spans)) for name, spans in held(stop)]
    now = stepper.request_shown
    if now is not None:
        changes = present.changes_of(stepper)
        compared = stepper.request_before is not None
        if compared and not changes and stop is not None and stop.seam == "processor" and stop.phase == "after":
            lines.append(row("changed", "nothing"))
        lines += [row("changed" if i == 0 else "", text) for i, text in enumerate(change_lines(changes))]
        lines.append(row("request", request_line(now)))
    lines.append(row("session", session_line(stepper)))
    return "\n".join(lines)


def headline(stepper: Any) -> str:
    """`stop 21 · after processor contents · turn 1, weather_agent, step 1`."""
    record = present.record_of(stepper)
    if record is None:
        return f"run over · {plural(stepper.turn, 'turn')}, {plural(len(stepper.stops), 'stop')}"
    turn, *place = present.crumbs(record)
    where = ", ".join([turn.lower(), *place[:1], *(p.lower() for p in place[1:])])
    if record.seam == "turn":
        return f"stop {record.number} · end of {turn.lower()}"
    lane = f" · lane {record.lane}" if record.lane else ""
    noop = " (a no-op)" if record.noop else ""
    return clean_text(f"stop {record.number} · {present.words(record)}{noop} · {where}{lane}")


def notes(stepper: Any) -> list[tuple[str, str]]:
    """The message to the reader, and what went wrong."""
    told = present.notes(stepper)
    out = [("note", told["note"])] if told["note"] else []
    return out + ([("problem", told["problem"])] if told["problem"] else [])


def change_lines(changes: Sequence[Change]) -> list[str]:
    """A line for each change; what is too many is counted."""
    lines = [change_line(change) for change in changes[:MOST]]
    more = len(changes) - len(lines)
    return lines + ([f"and {plural(more, 'more change')}"] if more else [])


def change_line(change: Change) -> str:
    """`contents[0] new · user: 杭州天气怎么样？`; of a changed text only the words that changed."""
    words = change_words(change)
    if change.path.startswith("/config/systemInstruction"):
        words = f"system instruction {words.rsplit(' ', 1)[-1]}"
    if change.words:
        said = " ".join(f"{op}“{text.strip()}”" for op, text in change.words if op != "=" and text.strip())
        return f"{words} · {said}"
    value = change.before if change.op == "remove" else change.after
    if change.path.startswith("/contents/") and change.path.count("/") == 2 and isinstance(value, dict):
        return f"{words} · {value.get('role') or '–'}: {brief.parts(value, WIDTH)}"
    if change.op == "replace":
        return f"{words} · {brief.value(change.before)} → {brief.value(change.after)}"
    if change.path == pointer("config", "tools"):
        return words
    if change.path == pointer("config", "systemInstruction"):
        return f"{words} · {value if isinstance(value, str) else brief.parts(value, WIDTH)}"
    return f"{words} · {brief.value(value)}"


def request_line(now: Json) -> str:
    """`offline-demo · 2 paragraphs · 3 contents · declares get_weather`."""
    config = now.get("config") or {}
    instruction = config.get("systemInstruction")
    texts = (
        [instruction] if isinstance(instruction, str) else [p.get("text") or "" for p in brief.parts_of(instruction)]
    )
    paragraphs = [p for text in texts for p in text.split("\n\n") if p.strip()]
    declared = [
        str(d.get("name")) for tool in config.get("tools") or [] for d in tool.get("functionDeclarations") or []
    ]
    if not (config or now.get("contents") or now.get("tools")):
        return f"{now.get('model') or 'no model'} · nothing else yet"
    said = [
        now.get("model") or "no model",
        plural(len(paragraphs), "paragraph"),
        plural(len(now.get("contents") or []), "content"),
    ]
    said.append(f"declares {', '.join(declared)}" if declared else "declares nothing")
    return " · ".join(said)


def session_line(stepper: Any) -> str:
    """`2 events · last weather_agent: get_weather(city="Hangzhou")`."""
    events = stepper.events
    if not events:
        return "0 events"
    return f"{plural(len(events), 'event')} · last {events[-1].author}: {brief.event_line(events[-1], WIDTH)}"


def row(name: str, text: str) -> str:
    """A row of the form: a name in a column of its own, the text cut to the width of a page, or wrapped."""
    if name in WHOLE:  # the end of an error is often what to do about it
        lines = textwrap.wrap(brief.one_line(text, LONGEST), WIDTH) or [""]
        return "\n".join(f"  {name if i == 0 else '':<9} {line}".rstrip() for i, line in enumerate(lines))
    return f"  {name:<9} {brief.one_line(cut(text, 4 * WIDTH), WIDTH)}".rstrip()


def flat(spans: Sequence[Any]) -> str:
    """The words of some spans."""
    out = []
    for span in spans:
        if isinstance(span, str):
            out.append(span)
        elif span[0] == "au":
            out.append(f"{span[1]}:")
        elif span[0] not in ("i",):
            out.append(flat(span[1:]))
    return "".join(out)
