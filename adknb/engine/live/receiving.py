"""One message of the server -> one response, or several (spec/live.md §7).

Go: internal/llminternal/googlellm/live_connection.go, Recv
"""

from __future__ import annotations

from google.genai import types

from adknb.engine.response import LLMResponse


class Receiver:
    """What one connection remembers between messages: the transcription texts that are not finished yet.

    A new connection starts with a new one: what was half said at a reconnect is forgotten (§7.6).

    Go: internal/llminternal/googlellm/live_connection.go, LiveConnection
    """

    def __init__(self) -> None:
        self._heard = ""
        self._spoken = ""

    def responses(self, message: types.LiveServerMessage) -> list[LLMResponse]:
        """The responses of a message, in the order in which they are told; nothing in it -> one that is empty.

        What was transcribed is told whole before a turn's end; a call beside that end is lost then (§7.2).

        Go: internal/llminternal/googlellm/live_connection.go, Recv
        """
        if message.session_resumption_update is not None:
            return [LLMResponse(session_resumption_handle=message.session_resumption_update.new_handle or "")]
        response = LLMResponse()
        content = message.server_content
        if content is not None:
            response.content = content.model_turn
            response.turn_complete = bool(content.turn_complete)
            response.interrupted = bool(content.interrupted)
            self._transcribe(content, response)
            if (response.turn_complete or response.interrupted) and (finished := self._finished()):
                return [*finished, response]
        if message.tool_call is not None:
            calls = [types.Part(function_call=call) for call in message.tool_call.function_calls or []]
            if response.content is None:
                response.content = types.Content(role="model", parts=calls)
            else:
                response.content.parts = [*(response.content.parts or []), *calls]
        return [response]

    def _transcribe(self, content: types.LiveServerContent, response: LLMResponse) -> None:
        if content.input_transcription is not None:
            response.input_transcription, response.partial = content.input_transcription, True
            self._heard += content.input_transcription.text or ""
        if content.output_transcription is not None:
            response.output_transcription, response.partial = content.output_transcription, True
            self._spoken += content.output_transcription.text or ""

    def _finished(self) -> list[LLMResponse]:
        """What was heard and spoken since the last time, whole; forgets it."""
        heard, spoken = self._heard, self._spoken
        self._heard = self._spoken = ""
        found = []
        if heard:
            found.append(LLMResponse(input_transcription=types.Transcription(text=heard, finished=True)))
        if spoken:
            found.append(LLMResponse(output_transcription=types.Transcription(text=spoken, finished=True)))
        return found


def kind_of(message: types.LiveServerMessage) -> str:
    """What a stop calls a message of the server, after what it does first (§7)."""
    content = message.server_content
    if message.session_resumption_update is not None:
        return "session_resumption_update"
    if content is not None:
        named = ("turn_complete", "interrupted", "input_transcription", "output_transcription", "model_turn")
        return next((name for name in named if getattr(content, name)), "server_content")
    others = ("tool_call", "tool_call_cancellation", "go_away", "setup_complete", "usage_metadata")
    return next((name for name in others if getattr(message, name) is not None), "message")
