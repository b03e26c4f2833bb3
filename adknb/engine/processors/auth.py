"""Go: internal/llminternal/other_processors.go, authPreprocessor"""

from __future__ import annotations

from typing import Any

from adknb.engine.context import InvocationContext
from adknb.engine.model import LLMRequest
from adknb.engine.stops import noop


@noop
def auth(ctx: InvocationContext, request: LLMRequest, flow: Any) -> None:
    """Nothing yet, as in Go v2.4.0: the place is kept so that the order is."""
