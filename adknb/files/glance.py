"""What one look over all events of a session tells: taken once, and used for every request that is rebuilt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from google.genai import types

from adknb.engine.event import Event
from adknb.lens.table import has_content

TRANSFER_TOOLS = ("transfer_to_agent", "transfer_to_other_agent")
"""The tool that hands over, and its forerunner's name."""


@dataclass
class Glance:
    """Facts about a session's events; positions are 0-based."""

    agents: list[str] = field(default_factory=list)
    """Who says something, and who is handed over to, in the order they appear."""
    records: list[int] = field(default_factory=list)
    """Events with a summary."""
    bare_calls: list[int] = field(default_factory=list)
    """Events with a call that has no id."""
    early_answers: list[tuple[int, int]] = field(default_factory=list)
    """Events with an answer whose call comes later or never, and where the call is (past the end: nowhere)."""
    first_full: int | None = None
    """The first event that has content."""
    untimed: bool = False
    """Whether an event has no time."""


def glance(events: Sequence[Event]) -> Glance:
    """Look over the events once."""
    seen = Glance()
    names: dict[str, None] = {}
    called: dict[str, int] = {}
    waiting: list[tuple[int, str]] = []
    for i, event in enumerate(events):
        author, actions, content = event.author, event.actions, event.content
        if content is not None:
            full = (seen.first_full is None or author not in names) and has_content(event)
            if full:
                if seen.first_full is None:
                    seen.first_full = i
                if author not in ("", "user"):
                    names.setdefault(author)
        if actions.transfer_to_agent:
            names.setdefault(actions.transfer_to_agent)
        parts: Sequence[types.Part | None] = (content.parts or ()) if content is not None else ()
        for part in parts:
            if part is None:
                continue
            fields = part.__dict__  # past pydantic's attribute access: a long session has many parts
            if (call := fields["function_call"]) is not None:
                if not call.id:
                    if not seen.bare_calls or seen.bare_calls[-1] != i:
                        seen.bare_calls.append(i)
                else:
                    called.setdefault(call.id, i)
                if call.name in TRANSFER_TOOLS:
                    target = (call.args or {}).get("agent_name")
                    if isinstance(target, str) and target:
                        names.setdefault(target)
            if (answer := fields["function_response"]) is not None and answer.id and answer.id not in called:
                waiting.append((i, answer.id))
        if actions.compaction is not None:
            seen.records.append(i)
        if not event.timestamp:
            seen.untimed = True
    seen.agents = list(names)
    seen.early_answers = [(i, called.get(call, len(events))) for i, call in waiting]
    return seen
