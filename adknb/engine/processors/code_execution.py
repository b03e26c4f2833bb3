"""Go: internal/llminternal/other_processors.go, codeExecutionRequestProcessor, codeExecutionResponseProcessor"""

from __future__ import annotations

from typing import Any

from adknb.engine.context import InvocationContext
from adknb.engine.model import LLMRequest
from adknb.engine.response import LLMResponse
from adknb.engine.stops import noop


@noop
def code_execution(ctx: InvocationContext, request: LLMRequest, flow: Any) -> None:
    """Nothing yet, as in Go v2.4.0: the place is kept so that the order is."""


@noop
def code_execution_response(ctx: InvocationContext, request: LLMRequest, response: LLMResponse) -> None:
    """Nothing yet, as in Go v2.4.0: the place is kept so that the order is."""
