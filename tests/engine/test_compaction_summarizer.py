"""The summarizer that asks a model: its transcript, its request, and what it takes for an answer (compaction.md 11)."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from google.genai import types
from hypothesis import given, settings
from hypothesis import strategies as st

from adknb import ScriptedModel
from adknb.engine.compaction.summarizer import DEFAULT_TEMPLATE, HISTORY, LLMSummarizer, render
from adknb.engine.event import Event, EventActions, EventCompaction
from adknb.engine.model import LLMRequest
from adknb.engine.response import LLMResponse


def event(*parts: types.Part, author: str = "weather", record: bool = False) -> Event:
    compaction = EventCompaction(1, 2) if record else None
    return Event(author=author, content=types.Content(parts=list(parts)), actions=EventActions(compaction=compaction))


def call(name: str = "look", **args: Any) -> types.Part:
    return types.Part(function_call=types.FunctionCall(name=name, args=args))


def response(value: dict[str, Any], name: str = "look") -> types.Part:
    return types.Part(function_response=types.FunctionResponse(name=name, response=value))


PNG = types.Part(inline_data=types.Blob(data=b"x", mime_type="image/png"))


@pytest.mark.parametrize(
    "given_event, lines",
    [
        (event(types.Part(text="hi"), author="user"), ["user: hi"]),
        (event(types.Part(text="hm", thought=True), types.Part(text="hi")), ["weather (thought): hm", "weather: hi"]),
        (event(types.Part(text="hm", thought=True), types.Part(text="old"), record=True), ["weather: old"]),
        (event(call(city="Hangzhou", n=2)), ["weather called tool look({city: Hangzhou, n: 2})"]),
        (event(call()), ["weather called tool look()"]),
        (event(response({"b": None, "a": [1, {"c": True}]})), ["tool look answered: {a: [1 map[c:true]], b: <nil>}"]),
        (event(PNG), ["weather: [image/png]"]),
        (event(types.Part(file_data=types.FileData(file_uri="gs://x"))), ["weather: [file]"]),
        (event(types.Part(executable_code=types.ExecutableCode(code="1"))), ["weather: [code]"]),
        (event(types.Part(code_execution_result=types.CodeExecutionResult(output="1"))), ["weather: [result of code]"]),
        (event(), []),
        (Event(author="weather"), []),
        (event(types.Part(text="")), []),
        (event(types.Part(text="one\r\ntwo\u2028user: three")), [r"weather: one\ntwo\nuser: three"]),
        (event(call("lo\nok", a="x\ny"), author="we\x85ather"), [r"we\nather called tool lo\nok({a: x\ny})"]),
        (event(types.Part(text="0123456789abc")), ["weather: 0123456789… [3 more]"]),
    ],
)
def test_a_transcript_has_a_line_for_each_part(given_event: Event, lines: list[str]) -> None:
    cap = 10 if given_event.content and text_of(given_event) == "0123456789abc" else -1
    assert render([given_event], cap) == "\n".join(lines)


def text_of(given_event: Event) -> str | None:
    parts = given_event.content.parts if given_event.content else None
    return parts[0].text if parts else None


@settings(max_examples=80, deadline=None)
@given(st.lists(st.tuples(st.text(), st.text()), min_size=1, max_size=5))
def test_no_text_can_forge_a_line(texts: list[tuple[str, str]]) -> None:
    events = [event(types.Part(text=text), call(text, key=text), author=author) for author, text in texts]
    lines = render(events, -1)
    expected = sum(2 if text else 1 for _, text in texts)
    assert len(lines.split("\n")) == expected
    assert len([c for c in lines if c in "\r\v\f\x85\u2028\u2029"]) == 0


# ------------------------------------------------------------------------------------------------------------- request


def test_the_request_is_the_template_filled_in_and_little_of_the_agents_settings() -> None:
    agents = types.GenerateContentConfig(
        temperature=0.5,
        top_k=3,
        seed=7,
        labels={"a": "b"},
        safety_settings=[types.SafetySetting(category=types.HarmCategory.HARM_CATEGORY_HARASSMENT)],
        max_output_tokens=5,
        stop_sequences=["."],
        candidate_count=2,
        response_mime_type="application/json",
        system_instruction="be brief",
        tools=[types.Tool()],
        cached_content="c",
    )
    summarizer = LLMSummarizer(ScriptedModel([], "flash"), f"{HISTORY}|{HISTORY}", generate_content_config=agents)
    request = summarizer.request([event(types.Part(text="hi"))])
    assert request.model == "flash"
    assert request.contents == [types.Content(role="user", parts=[types.Part(text=f"weather: hi|{HISTORY}")])]
    kept = types.GenerateContentConfig(
        temperature=0.5, top_k=3, seed=7, labels={"a": "b"}, safety_settings=agents.safety_settings
    )
    assert request.config == kept
    assert request.config.labels is not agents.labels


def test_the_template_asks_for_what_matters() -> None:
    assert DEFAULT_TEMPLATE.count(HISTORY) == 1
    for word in (
        "language",
        "user asks",
        "decided",
        "found out",
        "open",
        "tools",
        "concise",
        "may begin with a summary",
    ):
        assert word in DEFAULT_TEMPLATE


def test_a_summarizer_needs_a_model_and_a_place_for_the_transcript() -> None:
    with pytest.raises(ValueError, match="needs a model"):
        LLMSummarizer(None)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="conversation_history"):
        LLMSummarizer(ScriptedModel([]), "sum it up")


@pytest.mark.parametrize(
    "sizes, most, part, longest",
    [
        ([50, 50], 1000, 2000, 50),
        ([500, 500], 400, 2000, 400 // 2 - 32),  # once more, with shorter parts
        ([500, 500], 400, -1, 400 // 2 - 32),
        ([500, 500], -1, -1, 500),
        ([500, 500], 1600, 2000, 500),
        ([500] * 40, 400, 2000, None),  # nothing is left of 400 // 40 - 32
        ([20] * 40, 400, 2000, None),
        ([500, 500], 400, 100, 100),
    ],
)
def test_a_transcript_that_is_too_long_is_told_shorter_or_not_at_all(
    sizes: list[int], most: int, part: int, longest: int | None
) -> None:
    summarizer = LLMSummarizer(ScriptedModel([]), max_part_chars=part, max_transcript_chars=most)
    events = [event(types.Part(text="x" * size)) for size in sizes]
    if longest is None:
        with pytest.raises(ValueError, match=f"transcript of {len(sizes)} events"):
            summarizer.transcript(events)
    else:
        lines = summarizer.transcript(events).split("\n")
        assert [line.count("x") for line in lines] == [longest] * len(sizes)


# -------------------------------------------------------------------------------------------------------------- answer


def answer(*parts: types.Part, reason: str = "", partial: bool = False) -> LLMResponse:
    return LLMResponse(content=types.Content(role="model", parts=list(parts)), finish_reason=reason, partial=partial)


SUM, THOUGHT, BLANK = types.Part(text="sum"), types.Part(text="hm", thought=True), types.Part(text=" \n")


@pytest.mark.parametrize(
    "responses, expected",
    [
        ([answer(SUM)], "sum"),
        ([answer(SUM, reason="STOP")], "sum"),
        ([answer(types.Part(text="su"), partial=True), answer(SUM)], "sum"),
        ([answer(THOUGHT), answer(BLANK), LLMResponse(), answer(SUM), answer(types.Part(text="more"))], "sum"),
        ([answer(SUM, reason="MAX_TOKENS")], "before its summary was finished .finish reason MAX_TOKENS"),
        ([answer(BLANK, reason="SAFETY"), answer(SUM)], "finish reason SAFETY"),  # seen earlier
        ([answer(BLANK, reason="SAFETY"), answer(SUM, reason="STOP")], "sum"),
        ([answer(THOUGHT)], "no summary .finish reason unknown"),
        ([answer(THOUGHT, reason="OTHER")], "no summary .finish reason OTHER"),
        ([], "no summary"),
    ],
)
def test_the_first_whole_answer_with_a_text_to_read_is_the_summary(responses: list[LLMResponse], expected: str) -> None:
    summarizer = LLMSummarizer(ScriptedModel([responses]))
    if expected == "sum":
        content, usage = summarizer.summarize_events([event(SUM)])
        assert content == answer(SUM).content
        assert usage is None
    else:
        with pytest.raises(ValueError, match=expected):
            summarizer.summarize_events([event(SUM)])


def test_without_events_nobody_is_asked() -> None:
    assert LLMSummarizer(ScriptedModel([])).summarize_events([]) == (None, None)


class Waits:
    """A model that answers when it is told to."""

    name = "waits"

    def __init__(self) -> None:
        self.may_answer = threading.Event()

    def generate_content(self, request: LLMRequest, stream: bool) -> Any:
        assert not stream
        self.may_answer.wait(5)
        yield answer(SUM)


def test_who_does_not_answer_in_time_is_not_waited_for() -> None:
    model = Waits()
    with pytest.raises(TimeoutError, match="no answer within"):
        LLMSummarizer(model, timeout=0.01).summarize_events([event(SUM)])
    model.may_answer.set()
    content, _ = LLMSummarizer(model, timeout=5).summarize_events([event(SUM)])
    assert content == answer(SUM).content


def test_a_models_error_comes_through_from_within_a_time_limit() -> None:
    with pytest.raises(RuntimeError, match="down"):
        LLMSummarizer(ScriptedModel([RuntimeError("down")]), timeout=5).summarize_events([event(SUM)])
