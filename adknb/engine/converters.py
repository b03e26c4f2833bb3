"""One raw reply of Gemini as one LLMResponse. Both kinds of call read their replies with this.

Go: internal/llminternal/converters/converters.go, Genai2LLMResponse

Only the first candidate counts. Whether a reply is a chunk of a stream is not its business: it never sets `partial`,
`turn_complete` or `interrupted`.
"""

from __future__ import annotations

from enum import Enum
from typing import Any

from google.genai import types

from adknb.engine.response import LLMResponse


def genai_to_llm_response(reply: types.GenerateContentResponse) -> LLMResponse:
    """Read a reply; the content stays the very object that the reply holds.

        a candidate with a part, or stopped by STOP   -> its content; no error, whatever the finish reason says
        any other candidate                           -> no content; the finish reason is the error code
        no candidate, but feedback on the prompt      -> no content; the reason of the block is the error code
        neither                                       -> a model content without parts

    Spec: streaming.md §3

    Go: internal/llminternal/converters/converters.go, Genai2LLMResponse
    """
    said: dict[str, Any] = {"usage_metadata": reply.usage_metadata, "model_version": reply.model_version or ""}
    if reply.candidates:
        return _of_candidate(reply.candidates[0], said)
    if (feedback := reply.prompt_feedback) is not None:
        return LLMResponse(
            error_code=text_of(feedback.block_reason), error_message=feedback.block_reason_message or "", **said
        )
    return LLMResponse(content=types.Content(role="model", parts=[]), **said)


def _of_candidate(candidate: types.Candidate, said: dict[str, Any]) -> LLMResponse:
    reason = text_of(candidate.finish_reason)
    said |= {
        "finish_reason": reason,
        "grounding_metadata": candidate.grounding_metadata,
        "citation_metadata": candidate.citation_metadata,
        "logprobs_result": candidate.logprobs_result,
    }
    content = candidate.content
    if (content is not None and content.parts) or reason == types.FinishReason.STOP.value:
        return LLMResponse(content=content, avg_logprobs=candidate.avg_logprobs, **said)
    return LLMResponse(error_code=reason, error_message=candidate.finish_message or "", **said)


def text_of(reason: Enum | str | None) -> str:
    """A reason as the API writes it; empty when there is none."""
    return str(reason.value if isinstance(reason, Enum) else reason or "")
