"""Resuming: a person has answered a request for approval; the tool it is about is dispatched again.

Go: internal/llminternal/request_confirmation_processor.go, RequestConfirmationRequestProcessor

Two ids (seed 000, 四.6.1): the person answers the *request's* id; what then runs is the *original call*, and its answer
carries that call's id. Refusals come this way too: the tool is dispatched and refuses by itself.
"""

from __future__ import annotations

import json
from collections.abc import Generator
from typing import Any

from google.genai import types
from pydantic import ValidationError

from adknb.engine.context import InvocationContext
from adknb.engine.errors import BadConfirmation
from adknb.engine.event import Event, ToolConfirmation, function_calls_of, function_responses_of
from adknb.engine.go_text import go_json
from adknb.engine.model import LLMRequest

REQUEST_CONFIRMATION = "adk_request_confirmation"


def confirmation(ctx: InvocationContext, request: LLMRequest, flow: Any) -> Generator[Any, None, None]:
    """Dispatch the calls that the newest user event decides; yield their answers, one event for each request event.

    Runs at the start of every step. An answer that is already followed by the call's response is not taken up again
    in the same turn (spec/execution.md 8.5).

    Raises:
        BadConfirmation: a decision cannot be read.
    """
    events = ctx.session.events
    if ctx.private_events:  # what a delegation was given is newer than what the user has said
        events = [*events[: ctx.private_after], *ctx.private_events, *events[ctx.private_after :]]
    answered_at = next((i for i in reversed(range(len(events))) if events[i].author == "user"), None)
    if answered_at is None:
        return
    decisions = _decisions(events[answered_at])
    if not decisions:
        return
    own = [e for e in events if e.author == ctx.agent.name]
    refused = _ambiguous(own)
    done = {r.id or "" for e in events[answered_at + 1 :] for r in function_responses_of(e.content)}
    for event in reversed(own):
        calls: dict[str, types.FunctionCall] = {}
        confirmations: dict[str, ToolConfirmation] = {}
        for asked in function_calls_of(event.content):
            original, request_id = original_call(asked), asked.id or ""
            if original is None or request_id not in decisions or request_id in refused or (original.id or "") in done:
                continue
            calls[original.id or ""] = original  # of one id: the place of the first, the args of the last
            confirmations[original.id or ""] = decisions[request_id]
        if calls:
            table = {tool.name: tool for tool in flow.tools}
            content = types.Content(role="model", parts=[types.Part(function_call=call) for call in calls.values()])
            response = yield from flow.handle_function_calls(ctx, table, content, confirmations)
            if response is not None:
                yield response


def _decisions(event: Event) -> dict[str, ToolConfirmation]:
    """Request id -> decision, of a user event; the last one per id counts."""
    return {
        answer.id or "": read_decision(answer)
        for answer in function_responses_of(event.content)
        if answer.name == REQUEST_CONFIRMATION
    }


def read_decision(answer: types.FunctionResponse) -> ToolConfirmation:
    """`{"confirmed": true}`, or the same as a JSON text under the one key `response` (spec/execution.md 8.4).

    Missing means refused; unknown keys and the case of keys do not matter.

    Raises:
        BadConfirmation: the text is no JSON object, or a value has the wrong type.
    """
    where = f"the answer to {REQUEST_CONFIRMATION} {answer.id!r}"
    data: Any = dict(sorted((answer.response or {}).items()))  # of keys that differ in case the last one counts
    if list(data) == ["response"]:
        try:
            data = json.loads(data["response"])
        except (TypeError, ValueError):
            raise BadConfirmation(f"{where}: 'response' must be a JSON object written as a text") from None
        if data is None:
            data = {}
        if not isinstance(data, dict):
            raise BadConfirmation(f"{where}: 'response' must hold a JSON object, not {data!r}")
    given = {key.lower(): value for key, value in data.items() if value is not None}
    for key, kind in (("confirmed", bool), ("hint", str)):
        if key in given and not isinstance(given[key], kind):
            raise BadConfirmation(f"{where}: {key!r} must be a {kind.__name__}, not {given[key]!r}")
    return ToolConfirmation(given.get("hint", ""), given.get("confirmed", False), given.get("payload"))


def original_call(asked: types.FunctionCall) -> types.FunctionCall | None:
    """The call that a request for approval is about; None if the call is no such request, or tells no call."""
    if asked.name != REQUEST_CONFIRMATION:
        return None
    original = (asked.args or {}).get("originalFunctionCall")
    if not isinstance(original, dict):
        return None
    try:
        return types.FunctionCall(id=original.get("id"), name=original.get("name"), args=original.get("args") or {})
    except ValidationError:  # such as an id that is no text
        return None


def _ambiguous(own: list[Event]) -> set[str]:
    """Request ids under which this agent has asked for different calls: their answers are refused, silently."""
    asked_for: dict[str, set[str]] = {}
    for event in own:
        for asked in function_calls_of(event.content):
            if asked.name == REQUEST_CONFIRMATION:
                original = (asked.args or {}).get("originalFunctionCall")
                asked_for.setdefault(asked.id or "", set()).add(go_json(original))
    return {request_id for request_id, calls in asked_for.items() if len(calls) > 1}
