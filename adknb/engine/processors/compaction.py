"""Tail retention: before contents are assembled, old events may be summed up.

Go: internal/llminternal/compaction_processor.go, CompactionRequestProcessor, promptTokenEstimator;
internal/compactioninternal/tail_retention.go, promptTokenCount, EstimateTokensFromContents
"""

from __future__ import annotations

import logging
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import replace
from typing import Any

from google.genai import types

from adknb.engine.context import InvocationContext
from adknb.engine.errors import FlowError
from adknb.engine.event import Event, parts_of
from adknb.engine.go_text import go_json
from adknb.engine.llm_settings import is_llm
from adknb.engine.model import LLMRequest
from adknb.engine.processors.contents import assemble, event_belongs_to_branch, orphans, viewer_of

CHARACTERS_A_TOKEN = 4

MEASURING: ContextVar[bool] = ContextVar("MEASURING", default=False)
"""Contents that are only measured lack the calls before them: what is dropped from them is no news."""
logging.getLogger(orphans.__name__).addFilter(lambda _: not MEASURING.get())


def compaction(ctx: InvocationContext, request: LLMRequest, flow: Any) -> Generator[Any, None, None]:
    """Sum old events up if the run is configured so and the prompt has grown long; the request is not touched."""
    if ctx.compaction is not None and ctx.compaction.config.token_threshold:
        yield from ctx.compaction.compact_tail(ctx, prompt_tokens(ctx))


def prompt_tokens(ctx: InvocationContext) -> int | None:
    """The size of the agent's prompt: what the model said last, and an estimate of what has come since (3.1, 3.2).

    Only events that the agent sees count, and records do not: their usage is the summarizer's. Without any count of a
    model all is estimated; None: nothing is known.

    Go: internal/compactioninternal/tail_retention.go, promptTokenCount
    """
    events = ctx.session.events
    for at in reversed(range(len(events))):
        event = events[at]
        if event.actions.compaction is not None or not _sees(ctx, event):
            continue
        if (usage := event.usage_metadata) is not None and (usage.prompt_token_count or 0) > 0:
            return (usage.prompt_token_count or 0) + estimate_tokens(ctx, events[at + 1 :])
    return estimate_tokens(ctx, events) or None


def _sees(ctx: InvocationContext, event: Event) -> bool:
    return event_belongs_to_branch(ctx.branch, event.branch) and event.isolation_scope == ctx.isolation_scope


def estimate_tokens(ctx: InvocationContext, events: Sequence[Event]) -> int:
    """The size of the contents that these events alone would make for the agent; 0 if they make none (3.3).

    Since they are assembled alone, a response whose call stands before them is an orphan and counts nothing (3.5).

    Go: internal/llminternal/compaction_processor.go, promptTokenEstimator
    """
    if not events or not is_llm(ctx.agent):
        return 0
    viewer = replace(viewer_of(ctx), include_contents="default", compaction=True)
    measuring = MEASURING.set(True)
    try:
        contents = assemble(events, viewer, continuation=False).contents
    except FlowError:  # the contents processor will say so in a moment
        return 0
    finally:
        MEASURING.reset(measuring)
    return characters(contents) // CHARACTERS_A_TOKEN


def characters(contents: Iterable[types.Content]) -> int:
    """The characters of all texts, thoughts too, and of names and payloads of calls and responses (3.4).

    Go: internal/compactioninternal/tail_retention.go, EstimateTokensFromContents
    """
    count = 0
    for content in contents:
        for part in parts_of(content):
            count += len(part.text or "")
            if (call := part.function_call) is not None:
                count += len(call.name or "") + _json_characters(call.args)
            if (response := part.function_response) is not None:
                count += len(response.name or "") + _json_characters(response.response)
    return count


def _json_characters(values: Mapping[str, Any] | None) -> int:
    try:
        return len(go_json(values)) if values else 0
    except (TypeError, ValueError):
        return 0
