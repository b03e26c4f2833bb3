"""Tail retention: before contents are assembled, old events may be summed up.

Go: internal/llminternal/compaction_processor.go, CompactionRequestProcessor
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

from adknb.engine.context import InvocationContext
from adknb.engine.model import LLMRequest


def compaction(ctx: InvocationContext, request: LLMRequest, flow: Any) -> Generator[Any, None, None]:
    """Sum old events up if the run is configured so and the prompt has grown long; the request is not touched."""
    if ctx.compaction is not None:
        yield from ctx.compaction.compact_tail(ctx)
