"""Who the model speaks for: ordinary prompt text, not hidden metadata (seed 000, 四.1.5).

Go: internal/llminternal/identity_request_processor.go, identityRequestProcessor
"""

from __future__ import annotations

from typing import Any

from adknb.engine.context import InvocationContext
from adknb.engine.go_text import go_quote
from adknb.engine.llm_settings import SINGLE_TURN
from adknb.engine.model import LLMRequest


def identity(ctx: InvocationContext, request: LLMRequest, flow: Any) -> None:
    """Tell the model the agent's name and description; a single_turn agent is not told (spec/request.md §4)."""
    if ctx.effective_mode == SINGLE_TURN:
        return
    text = f"You are an agent. Your internal name is {go_quote(ctx.agent.name)}."
    if ctx.agent.description:
        text += f" What you are there for: {go_quote(ctx.agent.description)}."
    request.append_instructions(text)
