"""Display names of files: the Gemini API refuses them, so they are taken off.

Go: internal/llminternal/other_processors.go, removeDisplayNameIfExists
"""

from __future__ import annotations

from typing import Any

from adknb.engine.context import InvocationContext
from adknb.engine.event import parts_of
from adknb.engine.llm_settings import backend_of, settings_of
from adknb.engine.model import LLMRequest


def display_name(ctx: InvocationContext, request: LLMRequest, flow: Any) -> None:
    """Clear display names in the request's contents, for a model that says it is the Gemini API (R9.1)."""
    agent = settings_of(ctx.agent)
    if agent is None or backend_of(agent.model) != "gemini_api":
        return
    for content in request.contents:
        for part in parts_of(content):
            for data in (part.inline_data, part.file_data):
                if data is not None:
                    data.display_name = None
