"""What a connection is told at its start: the connect config (spec/live.md §4), and the history (§5).

Go: internal/llminternal/base_flow.go, Flow.RunLive
"""

from __future__ import annotations

from google.genai import types

from adknb.engine.context import LiveConfig
from adknb.engine.event import parts_of
from adknb.engine.model import LLMRequest

WITHOUT_HISTORY = "gemini-3.1"
"""Models with this in their name are sent no history (§5.3)."""


def connect_config(request: LLMRequest, live: LiveConfig, handle: str, on_vertex: bool) -> types.LiveConnectConfig:
    """System instruction and tools from the request, the rest from the run's live config; nothing else counts (§3.2).

    A handle, the newest one received, is written into the caller's own resumption object (§4.2).

    Go: internal/llminternal/base_flow.go, Flow.RunLive
    """
    resumption = live.session_resumption
    if handle:
        resumption = resumption or types.SessionResumptionConfig()
        resumption.handle = handle
        if on_vertex:
            resumption.transparent = True
    return types.LiveConnectConfig(
        system_instruction=request.system_instruction,
        tools=request.config.tools,
        response_modalities=live.response_modalities,
        speech_config=live.speech_config,
        input_audio_transcription=live.input_audio_transcription,
        output_audio_transcription=live.output_audio_transcription,
        session_resumption=resumption,
    )


def history_message(contents: list[types.Content], model: str) -> types.LiveClientMessage | None:
    """The history as one message, without audio; None if nothing is left of it (§5).

    Since it nearly always ends with a turn of the user, a session with a history makes the model speak first.

    Go: internal/llminternal/googlellm/live_connection.go, SendHistory
    """
    if WITHOUT_HISTORY in model:
        return None
    turns = []
    for content in contents:
        parts = [part for part in parts_of(content) if part is not None and not _is_audio(part)]
        if parts:
            turns.append(types.Content(role=content.role, parts=parts))
    if not turns:
        return None
    return types.LiveClientMessage(
        client_content=types.LiveClientContent(turns=turns, turn_complete=turns[-1].role == "user")
    )


def _is_audio(part: types.Part) -> bool:
    return part.inline_data is not None and (part.inline_data.mime_type or "").startswith("audio/")
