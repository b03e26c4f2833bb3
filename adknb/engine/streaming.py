"""StreamingResponseAggregator: chunks in; out come partial responses, one for each, and a whole one at the end.

Go: internal/llminternal/stream_aggregator.go, streamingResponseAggregator

    raw stream -> [adapter + aggregator] -> LLMResponse -> Flow -> Event

A screen shows the partial responses; tools, the session and the next request take the whole one (seed 000, 四.8). The
parts of the whole, in order:

    text and thoughts      joined until the kind changes                    8.1, `_add_text`
    streamed calls         arguments written piece by piece by JSON path    8.2, `_add_to_call`
    whole calls, the rest  the very part of the chunk                       `_add_whole_call`, `_add_other`

`process_response` and `close` are 8.3. What may surprise (one set of call buffers, an empty text that is no value, …)
is Go's own doing: spec/streaming.md §16.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from google.genai import types

from adknb.engine.converters import genai_to_llm_response
from adknb.engine.event import parts_of
from adknb.engine.response import LLMResponse


@dataclass
class StreamedCall:
    """The call being streamed. There is one set of these fields, not one for each id (seed 000, 四.8.2)."""

    name: str = ""
    id: str = ""
    args: dict[str, Any] = field(default_factory=dict)
    thought_signature: bytes | None = None


@dataclass
class StreamingResponseAggregator:
    """Puts the chunks of one streaming call together. Made by the adapter, one for each call; knows no events.

    Go: internal/llminternal/stream_aggregator.go, streamingResponseAggregator, NewStreamingResponseAggregator
    """

    response: LLMResponse | None = None
    """The last chunk's."""
    sequence: list[types.Part] = field(default_factory=list)
    """The finished parts."""
    text: str = ""
    text_is_thought: bool = False
    call: StreamedCall = field(default_factory=StreamedCall)
    thought_signature: bytes | None = None
    """The last one seen; the next whole call takes it (§9)."""
    finish_reason: str = ""
    usage_metadata: types.GenerateContentResponseUsageMetadata | None = None
    grounding_metadata: types.GroundingMetadata | None = None
    citation_metadata: types.CitationMetadata | None = None

    # ------------------------------------------------------------------------- 8.3 process_response and close

    def process_response(self, chunk: types.GenerateContentResponse) -> LLMResponse:
        """Take a chunk in; give it back as a partial response, its content untouched.

        `turn_complete` says that the model has stopped: usually the last chunk, which is partial all the same.

        Spec: streaming.md §5

        Go: internal/llminternal/stream_aggregator.go, ProcessResponse, aggregateResponse
        """
        return self.take(genai_to_llm_response(chunk))

    def take(self, response: LLMResponse) -> LLMResponse:
        """Take in a chunk that is a response already, from a model that is not Gemini; see `process_response`."""
        self.response = response
        response.partial = True
        response.turn_complete = bool(response.finish_reason)
        self.usage_metadata = response.usage_metadata or self.usage_metadata
        self.grounding_metadata = response.grounding_metadata or self.grounding_metadata
        self.citation_metadata = response.citation_metadata or self.citation_metadata
        self.finish_reason = response.finish_reason or self.finish_reason
        for part in parts_of(response.content):
            self._add(part)
        return response

    def close(self) -> LLMResponse | None:
        """The whole response, once the stream has ended well; None if no chunk came.

        What is still open is finished first: the text, then the call. An error is the last chunk's, and none if the
        model stopped by itself. Model version and log probabilities are not carried over.

        Spec: streaming.md §10, §11

        Go: internal/llminternal/stream_aggregator.go, Close
        """
        if self.response is None:
            return None
        self._flush_text()
        self._flush_call()
        stopped_well = self.finish_reason == types.FinishReason.STOP.value
        return LLMResponse(
            content=types.Content(role="model", parts=self.sequence),
            finish_reason=self.finish_reason,
            error_code="" if stopped_well else self.response.error_code,
            error_message="" if stopped_well else self.response.error_message,
            usage_metadata=self.usage_metadata,
            grounding_metadata=self.grounding_metadata,
            citation_metadata=self.citation_metadata,
        )

    def _add(self, part: types.Part) -> None:
        if not any(value for _, value in part):  # such as {text: ""}, which ends many a stream
            return
        if part.thought_signature:
            self.thought_signature = part.thought_signature
        function_call = part.function_call
        if part.text:
            self._add_text(part.text, bool(part.thought))
        elif function_call is None:
            self._add_other(part)
        elif function_call.partial_args is not None or function_call.will_continue:
            self._add_to_call(function_call, part.thought_signature)
        else:
            self._add_whole_call(part)

    # ---------------------------------------------------------------- 8.1 text and thoughts are kept apart (§6)

    def _add_text(self, text: str, is_thought: bool) -> None:
        if is_thought != self.text_is_thought:
            self._flush_text()
            self.text_is_thought = is_thought
        self.text += text

    def _flush_text(self) -> None:
        """Finish the text: one part, of which nothing but the text and its kind is left.

        Go: internal/llminternal/stream_aggregator.go, flushTextBufferToSequence
        """
        if self.text:
            self.sequence.append(types.Part(text=self.text, thought=self.text_is_thought or None))
            self.text = ""

    def _add_other(self, part: types.Part) -> None:
        self._flush_text()
        self.sequence.append(part)

    # -------------------------------------------------------------------- whole calls (§7) and signatures (§9)

    def _add_whole_call(self, part: types.Part) -> None:
        """Keep the very part of the chunk; without a name it is dropped, and ends nothing.

        The Flow will write an id into the chunk's call. It is the same object, so the whole response has that id too.

        Go: internal/llminternal/stream_aggregator.go, processFunctionCallPart
        """
        if part.function_call is None or not part.function_call.name:
            return
        self._flush_text()
        part.thought_signature = part.thought_signature or self.thought_signature
        self.thought_signature = None  # only the first call after a thought carries its signature
        self.sequence.append(part)

    # -------------------------------------------------- 8.2 a call whose arguments come piece by piece (§8)

    def _add_to_call(self, function_call: types.FunctionCall, signature: bytes | None) -> None:
        """Write the pieces; unless the call will continue, it ends here.

        Go: internal/llminternal/stream_aggregator.go, processStreamingFunctionCallPart
        """
        self.call.thought_signature = self.call.thought_signature or signature
        self.call.name = function_call.name or self.call.name
        self.call.id = function_call.id or self.call.id
        for piece in function_call.partial_args or []:
            write_partial_arg(self.call.args, piece)
        if not function_call.will_continue:
            self._flush_text()  # text that came while the call was open stands before it
            self._flush_call()

    def _flush_call(self) -> None:
        """Finish the streamed call. One without a name stays as it is: its arguments go into the next.

        Go: internal/llminternal/stream_aggregator.go, flushFunctionCallToSequence
        """
        call = self.call
        if not call.name:
            return
        whole = types.FunctionCall(name=call.name, id=call.id or None, args=call.args)
        self.sequence.append(types.Part(function_call=whole, thought_signature=call.thought_signature))
        self.call = StreamedCall()


def write_partial_arg(args: dict[str, Any], piece: types.PartialArg) -> None:
    """Write one piece of an argument at its path: a text goes behind the text that is there, anything else replaces.

        {}  $.location.city "To"   -> {"location": {"city": "To"}}
            $.location.city "kyo"  -> {"location": {"city": "Tokyo"}}
            $.location "Oslo"      -> {"location": "Oslo"}

    What stands in the way of a longer path is replaced by a dict.

    Go: internal/llminternal/stream_aggregator.go, getValueFromPartialArg, setValueByJSONPath
    """
    keys = keys_of(piece.json_path or "")
    has_value, value = _value_of(piece)
    if not keys or not has_value:
        return
    *steps, last = keys
    for step in steps:
        if not isinstance(args.get(step), dict):
            args[step] = {}
        args = args[step]
    before = args.get(last)
    args[last] = before + value if isinstance(value, str) and isinstance(before, str) else value


def keys_of(json_path: str) -> list[str]:
    """The keys of a path: one leading `$.` off, the rest split at the dots. No indexes, no quotes, no wildcards.

    `$.a.b` -> [a, b]; `city` -> [city]; `$.list[0]` -> ["list[0]"]; `$.` and the empty path -> none.
    """
    path = json_path.removeprefix("$.")
    return path.split(".") if path else []


def _value_of(piece: types.PartialArg) -> tuple[bool, Any]:
    """Whether a piece holds a value, and which: the first that there is. An empty text is none (§8.3)."""
    if piece.string_value:
        return True, piece.string_value
    if piece.number_value is not None:
        return True, float(piece.number_value)
    if piece.bool_value is not None:
        return True, piece.bool_value
    return bool(piece.null_value), None
