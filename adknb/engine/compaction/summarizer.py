"""The summarizer that asks a model, and the transcript that it shows to it.

Go: session/compaction/llm_summarizer.go, LLMSummarizer, NewLLMSummarizer, SummarizeEvents, formatEvents

Every text in a transcript stays on one line: else a tool's result could hold a line that reads like a user's, and the
summary that comes of it is believed from then on.
"""

from __future__ import annotations

import contextvars
import copy
import re
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from google.genai import types

from adknb.engine.event import Event, parts_of
from adknb.engine.go_text import go_value
from adknb.engine.model import LLM, LLMRequest, answers_of

T = TypeVar("T")

HISTORY = "{conversation_history}"
"""Where a template wants the transcript."""

DEFAULT_TEMPLATE = (
    "What follows is a conversation between a user and an AI agent. It may begin with a summary of what came before. "
    "Write a summary from which the conversation can go on. First say which language the user writes in, for instance "
    "'Language: English'. Then restate what the user asks for; say what was decided and what was found out, and which "
    "questions and tasks are still open. If tools were called, name them exactly as they are written. Be concise."
    f"\n\n{HISTORY}"
)

KEPT_SETTINGS = ("safety_settings", "temperature", "top_p", "top_k", "seed", "http_options", "labels")
"""Of an agent's generation config only what means the same for a summary. Limits on the answer's length, stop sequences
or a schema were made for the agent's answers and would cut the summary off."""

ROOM_FOR_NOTE = 32
"""Characters that the note on what was cut off may need."""

LINE_BREAK = re.compile("\r\n|[\r\n\v\f\x85\u2028\u2029]")


class LLMSummarizer:
    """Asks a model for the summary: one request, not streamed, with the transcript as its only text.

    `max_part_chars` cuts each text, args and result of the transcript; `max_transcript_chars` is the most that is sent;
    below 0 is no limit. `timeout` is in seconds. Of `generate_content_config` KEPT_SETTINGS are used.

    Raises:
        ValueError: there is no model, or the template has no place for the transcript.

    Go: session/compaction/llm_summarizer.go, NewLLMSummarizer
    """

    def __init__(
        self,
        model: LLM,
        template: str = DEFAULT_TEMPLATE,
        max_part_chars: int = 2_000,
        max_transcript_chars: int = 200_000,
        timeout: float | None = None,
        generate_content_config: types.GenerateContentConfig | None = None,
    ) -> None:
        if model is None:
            raise ValueError("a summarizer needs a model")
        if HISTORY not in template:
            raise ValueError(f"the template of a summarizer must contain {HISTORY}")
        self.model = model
        self.template = template
        self.max_part_chars = max_part_chars
        self.max_transcript_chars = max_transcript_chars
        self.timeout = timeout
        self.generate_content_config = generate_content_config

    def summarize_events(
        self, events: Sequence[Event]
    ) -> tuple[types.Content | None, types.GenerateContentResponseUsageMetadata | None]:
        """The summary and what it cost; without events, neither.

        Raises:
            ValueError: the transcript is too long, or the model gave no whole summary.
            TimeoutError: it took too long.
            Exception: the model's own.

        Go: session/compaction/llm_summarizer.go, SummarizeEvents
        """
        if not events:
            return None, None
        request = self.request(events)
        return within(self.timeout, lambda: self._first_answer(request))

    def request(self, events: Sequence[Event]) -> LLMRequest:
        """What the model is asked. Raises ValueError if the transcript is too long."""
        text = self.template.replace(HISTORY, self.transcript(events), 1)
        given = self.generate_content_config
        kept = {name: copy.deepcopy(getattr(given, name, None)) for name in KEPT_SETTINGS}  # models write into it
        return LLMRequest(
            model=self.model.name,
            contents=[types.Content(role="user", parts=[types.Part(text=text)])],
            config=types.GenerateContentConfig(**{name: value for name, value in kept.items() if value is not None}),
        )

    def _first_answer(
        self, request: LLMRequest
    ) -> tuple[types.Content, types.GenerateContentResponseUsageMetadata | None]:
        """The first whole response with a text to read; one that was cut off is no summary (11.7)."""
        reason = ""
        for response in answers_of(self.model.generate_content(request, False)):
            if response is None or response.partial:
                continue
            reason = response.finish_reason or reason
            if response.content is None or not any(_says_something(p) for p in parts_of(response.content)):
                continue
            if reason not in ("", "STOP"):
                raise ValueError(f"the model stopped before its summary was finished (finish reason {reason})")
            return response.content, response.usage_metadata
        raise ValueError(f"the model gave no summary (finish reason {reason or 'unknown'})")

    def transcript(self, events: Sequence[Event]) -> str:
        """The conversation, a line for each part. Too long: once more with shorter parts; events are never left out.

        What is left out here would be covered by the record all the same, and so be lost.

        Raises:
            ValueError: it is still too long.

        Go: session/compaction/llm_summarizer.go, renderTranscript
        """
        text, limit = render(events, self.max_part_chars), self.max_transcript_chars
        if limit < 0 or len(text) <= limit:
            return text
        parts = sum(1 for event in events for part in parts_of(event.content) if part_lines(event, part, -1))
        cap = limit // parts - ROOM_FOR_NOTE
        if cap > 0 and (self.max_part_chars < 0 or cap < self.max_part_chars):
            text = min(render(events, cap), text, key=len)
        if len(text) > limit:
            raise ValueError(f"the transcript of {len(events)} events has {len(text)} characters, more than {limit}")
        return text


def _says_something(part: types.Part | None) -> bool:
    return part is not None and not part.thought and bool(part.text and part.text.strip())


def render(events: Sequence[Event], cap: int) -> str:
    """The lines of all parts, each value cut to `cap` characters.

    user: How warm is it?
    weather called tool get_weather({city: Hangzhou})
    tool get_weather answered: {temperature: 26}

    Go: session/compaction/llm_summarizer.go, formatEvents
    """
    parts = ((event, part) for event in events for part in parts_of(event.content))
    return "\n".join(line for event, part in parts for line in part_lines(event, part, cap))


def part_lines(event: Event, part: types.Part | None, cap: int) -> list[str]:
    """The lines of one part. The thoughts of an earlier summary are left out."""
    if part is None:
        return []
    who, lines = one_line(event.author), []
    if part.text and part.thought:
        if event.actions.compaction is None:
            lines.append(f"{who} (thought): {shown(part.text, cap)}")
    elif part.text:
        lines.append(f"{who}: {shown(part.text, cap)}")
    if (call := part.function_call) is not None:
        lines.append(f"{who} called tool {one_line(call.name or '')}({shown(payload(call.args), cap)})")
    if (response := part.function_response) is not None:
        lines.append(f"tool {one_line(response.name or '')} answered: {shown(payload(response.response), cap)}")
    if kind := kind_of(part):
        lines.append(f"{who}: [{shown(kind, cap)}]")
    return lines


def kind_of(part: types.Part) -> str:
    """A word for what cannot be shown as text: that it was there is worth knowing."""
    if part.inline_data is not None:
        return part.inline_data.mime_type or "inline data"
    if part.file_data is not None:
        return part.file_data.mime_type or "file"
    if part.executable_code is not None:
        return "code"
    return "result of code" if part.code_execution_result is not None else ""


def payload(values: Mapping[str, Any] | None) -> str:
    """{"b": 1, "a": None} -> {a: <nil>, b: 1}; nothing at all for an empty one."""
    if not values:
        return ""
    return "{" + ", ".join(f"{key}: {go_value(values[key]) or '<nil>'}" for key in sorted(values)) + "}"


def shown(text: str, cap: int) -> str:
    """A value on one line, cut to `cap` characters unless that is below 0, with a note on what was cut off."""
    if 0 <= cap < len(text):
        text = f"{text[:cap]}… [{len(text) - cap} more]"
    return one_line(text)


def one_line(text: str) -> str:
    """Line breaks of all kinds as a backslash and an n."""
    return LINE_BREAK.sub(r"\\n", text)


def within(seconds: float | None, work: Callable[[], T]) -> T:
    """Do some work, but wait no longer than so many seconds for it; without a limit, or without threads, just do it.

    Work that came too late is left to end by itself, and what it comes to is dropped.

    Raises:
        TimeoutError: it is too late.
    """
    if seconds is None:
        return work()
    done: list[T] = []
    failed: list[BaseException] = []

    def run() -> None:
        try:
            done.append(context.run(work))
        except BaseException as error:  # told to the caller, who raises it in its own thread
            failed.append(error)

    context = contextvars.copy_context()
    thread = threading.Thread(target=run, daemon=True)
    try:
        thread.start()
    except RuntimeError:
        return work()
    thread.join(seconds)
    if failed:
        raise failed[0]
    if not done:
        raise TimeoutError(f"no answer within {seconds:g} seconds")
    return done[0]
