"""From what the reader sends to what goes on the wire (spec/live.md §6).

Go: internal/llminternal/googlellm/live_connection.go, SendContent, SendRealtime
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from google.genai import types

from adknb.engine.event import function_responses_of, parts_of
from adknb.engine.live.config import WITHOUT_HISTORY
from adknb.engine.live.errors import BadLiveInput

PNG = b"\x89PNG\r\n\x1a\n"
DEFAULT_AUDIO = "audio/pcm"


@dataclass
class LiveRequest:
    """What is sent at once: a content, and behind it a blob or the start or end of an activity. Neither: nothing.

    Go: agent/live.go, LiveRequest
    """

    content: types.Content | None = None
    realtime_input: Any = None


def as_live_request(given: Any) -> LiveRequest:
    """A request from a text, a content, a blob, or the start or end of an activity.

    Raises:
        TypeError: it is none of these.
    """
    if isinstance(given, LiveRequest):
        return given
    if isinstance(given, str):
        return LiveRequest(types.Content(role="user", parts=[types.Part(text=given)]))
    if isinstance(given, types.Content):
        return LiveRequest(given)
    if isinstance(given, (types.Blob, types.ActivityStart, types.ActivityEnd)):
        return LiveRequest(realtime_input=given)
    raise TypeError(
        f"send() takes a text, a Content, a Blob, an ActivityStart or an ActivityEnd, not {type(given).__name__}"
    )


def messages_of(request: LiveRequest, model: str, backend: str) -> Iterator[types.LiveClientMessage]:
    """The messages of a request, content first; each is made when the one before it is on the wire.

    Raises:
        BadLiveInput: a content without parts, or a realtime value that is none.

    Go: internal/llminternal/googlellm/live_connection.go, SendContent, SendRealtime
    """
    as_3_1 = WITHOUT_HISTORY in model and backend == "gemini_api"
    if request.content is not None:
        yield _of_content(request.content, as_3_1)
    if request.realtime_input is not None:
        yield types.LiveClientMessage(realtime_input=_of_realtime(request.realtime_input, as_3_1))


def tool_response(content: types.Content | None) -> types.LiveClientMessage:
    """All call responses of a content as one message; its other parts are lost (§6.2)."""
    return types.LiveClientMessage(
        tool_response=types.LiveClientToolResponse(function_responses=function_responses_of(content))
    )


def _of_content(content: types.Content, as_3_1: bool) -> types.LiveClientMessage:
    parts = parts_of(content)
    if not parts:
        raise BadLiveInput("empty content: a content that is sent live needs at least one part")
    if parts[0].function_response is not None:
        return tool_response(content)
    if as_3_1 and len(parts) == 1 and parts[0].text:
        return types.LiveClientMessage(realtime_input=types.LiveClientRealtimeInput(text=parts[0].text))
    return types.LiveClientMessage(client_content=types.LiveClientContent(turns=[content], turn_complete=True))


def _of_realtime(given: Any, as_3_1: bool) -> types.LiveClientRealtimeInput:
    if isinstance(given, types.ActivityStart):
        return types.LiveClientRealtimeInput(activity_start=given)
    if isinstance(given, types.ActivityEnd):
        return types.LiveClientRealtimeInput(activity_end=given)
    if not isinstance(given, types.Blob):
        raise BadLiveInput(f"realtime input is a Blob, an ActivityStart or an ActivityEnd, not {type(given).__name__}")
    if not given.mime_type:  # written into the caller's own blob, as in Go
        given.mime_type = "image/png" if (given.data or b"").startswith(PNG) else DEFAULT_AUDIO
    if not as_3_1:
        return types.LiveClientRealtimeInput(media_chunks=[given])
    if given.mime_type.startswith("image/"):
        return types.LiveClientRealtimeInput(video=given)
    return types.LiveClientRealtimeInput(audio=given)


def kind_of(message: types.LiveClientMessage) -> str:
    """What a stop calls a message to the model: `client_content`, `tool_response`, `audio`, `activity_start`, …"""
    if message.realtime_input is None:
        return "tool_response" if message.tool_response is not None else "client_content"
    kinds = ("text", "audio", "video", "activity_start", "activity_end")
    return next((k for k in kinds if getattr(message.realtime_input, k) is not None), "media")
