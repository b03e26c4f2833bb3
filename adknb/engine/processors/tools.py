"""The Flow's tool list: the agent's tools, then what each toolset lists.

Go: internal/llminternal/tools_processor.go, toolProcessor

The list goes to the Flow, not to the request: tools add themselves after the last processor (`flow.declare_tools`).
"""

from __future__ import annotations

from typing import Any

from adknb.engine.context import Context, InvocationContext
from adknb.engine.errors import FlowError
from adknb.engine.llm_settings import settings_of
from adknb.engine.model import LLMRequest


def tools(ctx: InvocationContext, request: LLMRequest, flow: Any) -> None:
    """Expand the tools once an agent run; an empty list is asked again (R1.5).

    Raises:
        FlowError: a toolset cannot list its tools; names it.
    """
    agent = settings_of(ctx.agent)
    if agent is None or flow.tools:
        return
    found = list(agent.tools)
    for toolset in agent.toolsets:
        try:
            found += toolset.tools(Context(ctx))
        except Exception as error:
            raise FlowError(f"toolset {toolset.name!r} cannot list its tools: {error}") from error
    flow.tools = found
