"""An approval counts once: a stage instead of `confirmation`."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import replace
from typing import Any

from google.genai import types

from adknb.engine.context import InvocationContext
from adknb.engine.event import Event, function_calls_of, function_responses_of, parts_of
from adknb.engine.model import LLMRequest
from adknb.engine.processors.confirmation import REQUEST_CONFIRMATION, confirmation, original_call


def approvals_count_once(ctx: InvocationContext, request: LLMRequest, flow: Any) -> Generator[Any, None, None]:
    """Resume what was approved, as `confirmation` does, but not what an earlier answer has settled already (H03).

    ADK looks at responses behind the newest answer only, so an answer that is sent again runs the tool again
    (spec/execution.md 8.5). Settled is a request that an earlier message has answered and whose call has been answered
    since then. An answer that was never taken up still counts.

    Raises:
        BadConfirmation: a decision cannot be read.
    """
    events = ctx.session.events
    newest = next((i for i in reversed(range(len(events))) if events[i].author == "user"), None)
    settled = _settled(events, newest) if newest is not None else set()
    if newest is None or not settled:
        yield from confirmation(ctx, request, flow)
        return
    view = [*events[:newest], _without(events[newest], settled), *events[newest + 1 :]]
    yield from confirmation(ctx.derive(session=replace(ctx.session, events=view)), request, flow)


def _settled(events: Sequence[Event], newest: int) -> set[str]:
    """Ids of requests that were answered before the newest message, and whose calls were answered after that."""
    about: dict[str, str] = {}
    for event in events:
        for asked in function_calls_of(event.content):
            original = original_call(asked)
            if original is not None:
                about[asked.id or ""] = original.id or ""
    found: set[str] = set()
    decided: set[str] = set()
    for event in events[:newest]:
        for response in function_responses_of(event.content):
            if event.author == "user" and response.name == REQUEST_CONFIRMATION:
                decided.add(response.id or "")
            found |= {request for request in decided if about.get(request) == (response.id or "")}
    return found


def _without(event: Event, settled: set[str]) -> Event:
    """The message without the answers to these requests."""
    parts = [part for part in parts_of(event.content) if not _answers(part, settled)]
    return replace(event, content=types.Content.model_construct(role="user", parts=parts))


def _answers(part: types.Part | None, requests: set[str]) -> bool:
    response = part.function_response if part is not None else None
    return response is not None and response.name == REQUEST_CONFIRMATION and response.id in requests
