"""LLMResponse: what a model gives back, whole or as one chunk of a stream.

Go: model/llm.go, LLMResponse

An event *is* a response with a place in a session (seed 000, 二.3), so this record stands at the very bottom.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from google.genai import types


@dataclass(slots=True)
class LLMResponse:
    """One response of a model.

    `partial` marks a chunk of an unfinished answer; `error_code` is a refusal that arrives as data (an exception is the
    other kind of error). Values of google-genai's own types are kept as they are.
    """

    content: types.Content | None = None
    partial: bool = False
    turn_complete: bool = False
    interrupted: bool = False
    error_code: str = ""
    error_message: str = ""
    finish_reason: str = ""
    usage_metadata: types.GenerateContentResponseUsageMetadata | None = None
    citation_metadata: types.CitationMetadata | None = None
    grounding_metadata: types.GroundingMetadata | None = None
    logprobs_result: types.LogprobsResult | None = None
    avg_logprobs: float | None = None
    input_transcription: types.Transcription | None = None
    output_transcription: types.Transcription | None = None
    session_resumption_handle: str = ""
    model_version: str = ""
    custom_metadata: dict[str, Any] | None = None
