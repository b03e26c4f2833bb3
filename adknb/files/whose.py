"""Whose model call an event belongs to, and how much of the session that call could have seen.

A model's answer (spec/doctor.md 0.6) has a request of its own: its author's, built from the events before it. Any other
event is something that a *later* call sees: the user's message, a tool's answer, a record. There the question is what
the agent's next call would have been given, so the event itself counts in.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from adknb.engine.errors import BadData
from adknb.engine.event import Event, function_calls_of, function_responses_of, parts_of
from adknb.files.glance import TRANSFER_TOOLS, glance
from adknb.lens.table import PROTOCOL_CALLS, has_content

__all__ = ["AGENT_ARGUMENT", "TRANSFER_TOOLS", "Question", "agents_of", "ask", "is_model_event", "is_structured_final"]

AGENT_ARGUMENT = "agent=…"
"""How one says whose request is meant, in Python; the command line has its own way."""


@dataclass(frozen=True)
class Question:
    """Whose request is asked for, at which event, built from which: `events[:before]`."""

    event: int
    before: int
    agent: str
    branch: str
    scope: str
    answered: bool
    """Whether the event is a model's answer, so that the request was really made."""


def agents_of(events: Sequence[Event]) -> list[str]:
    """The agents of a session, in the order they appear: who says something, and who is handed over to.

    An author that never says anything is none: ADK Web writes state under the name `model`.
    """
    return glance(events).agents


def is_model_event(events: Sequence[Event], position: int) -> bool:
    """Whether a model wrote the event at `position`.

    Not so: what the user says, tool results, requests for confirmation, summaries, records without content, and the
    final text that the Flow makes of a structured answer.

    Source: spec/doctor.md 0.6
    """
    event = events[position]
    role = event.content.role if event.content is not None else ""
    return (
        has_content(event)
        and event.author not in ("", "user")
        and role != "user"
        and not function_responses_of(event.content)
        and not any(call.name in PROTOCOL_CALLS for call in function_calls_of(event.content))
        and event.actions.compaction is None
        and not is_structured_final(events, position)
    )


def ask(
    events: Sequence[Event], position: int, agent: str | None, where: str, agents: Sequence[str] | None = None
) -> Question:
    """Whose next model call is meant at an event, and what it could see. `agents`: who there is, where it is known.

    `agent` given: that agent's. Else the event's author, if it is an agent; else the next agent that speaks; else the
    last one that did. Branch and scope are the event's own if the agent wrote it, else those of the agent's next model
    event, else of its last event before. Where no agent speaks at all any name is taken, and `unknown` says so.

    Raises:
        BadData: no agent is called so, or none is named and no agent speaks in the session at all.
    """
    agents = agents_of(events) if agents is None else agents
    event = events[position]
    if agent is None:
        agent = event.author if event.author in agents else _nearest_agent(events, position, agents)
        if agent is None:
            raise BadData(where, f"no agent speaks in this session; say whose request you mean ({AGENT_ARGUMENT})")
    elif agents and agent not in agents:
        raise BadData(where, f"no agent is called {agent!r}; the agents seen here: {', '.join(agents)}")
    answered = is_model_event(events, position)
    at = event if event.author == agent else _nearest_event_of(events, position, agent)
    return Question(
        event=position,
        before=position if answered else position + 1,
        agent=agent,
        branch=at.branch if at is not None else event.branch,
        scope=at.isolation_scope if at is not None else event.isolation_scope,
        answered=answered and event.author == agent,
    )


def _nearest_agent(events: Sequence[Event], position: int, agents: Sequence[str]) -> str | None:
    later = (e.author for e in events[position + 1 :] if e.author in agents)
    earlier = (e.author for e in reversed(events[:position]) if e.author in agents)
    return next(later, None) or next(earlier, None)


def _nearest_event_of(events: Sequence[Event], position: int, agent: str) -> Event | None:
    """The agent's next model event, else its next event, else its last one before."""
    after = range(position, len(events))
    return (
        next((events[i] for i in after if events[i].author == agent and is_model_event(events, i)), None)
        or next((events[i] for i in after if events[i].author == agent), None)
        or next((e for e in reversed(events[:position]) if e.author == agent), None)
    )


def is_structured_final(events: Sequence[Event], position: int) -> bool:
    """Whether an event is the final text that the Flow makes of a structured answer."""
    if position == 0 or events[position - 1].author != events[position].author:
        return False
    before = events[position - 1]
    answered = any(r.name == "set_model_response" for r in function_responses_of(before.content))
    return answered and not any(p.function_call for p in parts_of(events[position].content))
