"""google-adk's records as adknb's, and back. Contents are google-genai's in both, and are always copied."""

from __future__ import annotations

import copy
from dataclasses import fields
from typing import Any

from google.genai import types

from adknb.attach.adk import adk
from adknb.engine.event import Event, EventActions, EventCompaction, ToolConfirmation
from adknb.engine.response import LLMResponse
from adknb.engine.session import Session

RESPONSE_FIELDS = tuple(f.name for f in fields(LLMResponse) if f.name != "session_resumption_handle")
EVENT_FIELDS = ("id", "invocation_id", "author", "timestamp", "branch", "isolation_scope")
ACTION_FIELDS = ("state_delta", "artifact_delta", "skip_summarization", "transfer_to_agent", "escalate")


def from_adk(given: Any) -> Any:
    """An Event, LlmResponse, EventActions or Session of google-adk as ours; anything else as it is."""
    kinds = adk("google.adk.events.event"), adk("google.adk.models.llm_response")
    if isinstance(given, kinds[0].Event):
        return event_from(given)
    if isinstance(given, kinds[1].LlmResponse):
        return LLMResponse(**_response_of(given))
    if isinstance(given, adk("google.adk.events.event_actions").EventActions):
        return actions_from(given)
    if isinstance(given, adk("google.adk.sessions.session").Session):
        return Session(
            given.id,
            given.app_name,
            given.user_id,
            copy.deepcopy(given.state),
            [event_from(e) for e in given.events],
            given.last_update_time,
        )
    return given


def to_adk(given: Any) -> Any:
    """Our Event, LLMResponse, EventActions or Session as google-adk's; anything else as it is.

    Fields that only google-adk has keep their defaults.
    """
    if isinstance(given, Event):
        return update_adk(adk("google.adk.events.event").Event(author=given.author), given, None)
    if isinstance(given, LLMResponse):
        return update_adk(adk("google.adk.models.llm_response").LlmResponse(), given, None)
    if isinstance(given, EventActions):
        return update_actions(adk("google.adk.events.event_actions").EventActions(), given)
    if isinstance(given, Session):
        return adk("google.adk.sessions.session").Session(
            id=given.id,
            app_name=given.app_name,
            user_id=given.user_id,
            state=copy.deepcopy(given.state),
            events=[to_adk(e) for e in given.events],
            last_update_time=given.last_update_time,
        )
    return given


def event_from(given: Any) -> Event:
    """An event of google-adk as ours."""
    own = {name: _empty(name, getattr(given, name, None)) for name in EVENT_FIELDS}
    return Event(
        **_response_of(given),
        **own,
        long_running_tool_ids=sorted(given.long_running_tool_ids or ()),
        actions=actions_from(given.actions),
    )


def actions_from(given: Any) -> EventActions:
    """Actions of google-adk as ours."""
    compaction = given.compaction
    return EventActions(
        state_delta=_copied(given.state_delta),
        artifact_delta=dict(given.artifact_delta),
        requested_tool_confirmations={
            key: ToolConfirmation(c.hint, c.confirmed, _copied(c.payload))
            for key, c in given.requested_tool_confirmations.items()
        },
        skip_summarization=bool(given.skip_summarization),
        transfer_to_agent=given.transfer_to_agent or "",
        escalate=bool(given.escalate),
        compaction=None
        if compaction is None
        else EventCompaction(
            compaction.start_timestamp, compaction.end_timestamp, _copied(compaction.compacted_content)
        ),
    )


def update_adk(given: Any, ours: LLMResponse, seen: LLMResponse | None) -> Any:
    """Write into a response or event of google-adk what is other in `ours` than it was in `seen`; gives it back."""
    for name in (*RESPONSE_FIELDS, *(EVENT_FIELDS if isinstance(ours, Event) else ())):
        value = getattr(ours, name)
        if seen is not None and value == getattr(seen, name):
            continue
        if name == "finish_reason":
            value = types.FinishReason(value) if value else None
        elif name in ("content", "custom_metadata"):
            value = _copied(value)
        if hasattr(given, name) and (value or getattr(given, name)):
            setattr(given, name, value or None if name not in ("id", "author", "invocation_id", "timestamp") else value)
    if isinstance(ours, Event):
        if seen is None or ours.long_running_tool_ids != seen.long_running_tool_ids:  # type: ignore[attr-defined]
            given.long_running_tool_ids = set(ours.long_running_tool_ids) or None
        if seen is None or ours.actions != seen.actions:  # type: ignore[attr-defined]
            update_actions(given.actions, ours.actions)
    return given


def update_actions(given: Any, ours: EventActions) -> Any:
    """Write our actions into google-adk's; gives them back."""
    confirmation = adk("google.adk.tools.tool_confirmation").ToolConfirmation
    given.state_delta = _copied(ours.state_delta)
    given.artifact_delta = dict(ours.artifact_delta)
    given.requested_tool_confirmations = {
        key: confirmation(hint=c.hint, confirmed=c.confirmed, payload=_copied(c.payload))
        for key, c in ours.requested_tool_confirmations.items()
    }
    given.skip_summarization = ours.skip_summarization or None
    given.transfer_to_agent = ours.transfer_to_agent or None
    given.escalate = ours.escalate or None
    return given


def _response_of(given: Any) -> dict[str, Any]:
    return {name: _empty(name, getattr(given, name, None)) for name in RESPONSE_FIELDS}


def _empty(name: str, value: Any) -> Any:
    """google-adk's None as the empty value that our record has there."""
    if value is None:
        return _DEFAULTS.get(name)
    if name == "finish_reason":
        return str(getattr(value, "value", value))
    return _copied(value)


_DEFAULTS = {f.name: f.default for f in fields(Event) if isinstance(f.default, (str, bool, float))}


def _copied(value: Any) -> Any:
    try:
        return copy.deepcopy(value)
    except Exception:  # what cannot be copied is shared
        return value
