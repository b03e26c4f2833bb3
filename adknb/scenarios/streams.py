"""Streaming adapters around any model: one that spoils an output key, and one that keeps it (seed 003).

    faulty_stream(ScriptedModel([["#", " need", "s"]]))   every chunk is marked complete
    safe_stream(ScriptedModel([["#", " need", "s"]]))     every chunk is marked partial, one complete answer closes

A model's responses to one call are its chunks. If it marks chunks partial itself, as the Gemini adapter does, what
comes complete behind them is its own aggregate: the safe adapter hands that on instead of making one, the faulty one
leaves out of it what the chunks have brought.

Source: seed 003; spec/streaming.md §15, 5 to 7.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import closing, suppress
from dataclasses import replace
from typing import Any

from google.genai import types

from adknb.engine.event import function_calls_of, parts_of
from adknb.engine.llm_agent import LlmAgent
from adknb.engine.model import LLM, FunctionModel, LLMRequest, answers_of, as_response
from adknb.engine.response import LLMResponse
from adknb.engine.streaming import StreamingResponseAggregator
from adknb.engine.workflow_agents import SequentialAgent
from adknb.scenarios.scripted import ScriptedModel

Model = LLM | Callable[[LLMRequest], Any]


def faulty_stream(model: Model) -> FaultyStream:
    """A model whose chunks are marked complete: each is a final answer, is stored, and overwrites the output key.

    Nothing joins them. A function call that comes in pieces is run before it is whole. Raises TypeError for no model.
    """
    return FaultyStream(model)


def safe_stream(model: Model) -> SafeStream:
    """A model whose chunks are marked partial, and whose answer comes once more, complete, at the end.

    Text goes out as it comes; function calls are held until they are whole. An error in mid-stream is passed on, and
    there is no complete answer then. Raises TypeError for no model.
    """
    return SafeStream(model)


class Adapter:
    """What both adapters share: they are a model like the one they wrap, and read its chunks one by one.

    An answer that comes in one piece to a call without streaming is handed on as it is.
    """

    def __init__(self, model: Model) -> None:
        if not isinstance(model, LLM):
            if not callable(model):
                raise TypeError(f"a model has a name and generate_content, or is a function; not {model!r}")
            model = FunctionModel(model)
        self._model: Any = model
        self.name: str = model.name

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._model!r})"

    def __getattr__(self, name: str) -> Any:
        """What the model tells beside: its backend, how often a script was used."""
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._model, name)

    def __setattr__(self, name: str, value: Any) -> None:
        """A script's count is the wrapped model's: a Stepper that goes back sets it."""
        if name == "uses":
            self._model.uses = value
        else:
            object.__setattr__(self, name, value)

    def generate_content(self, request: LLMRequest, stream: bool) -> Generator[LLMResponse, None, None]:
        """The model's answer as this adapter hands it on."""
        with closing(self._responses(request, stream)) as responses:
            first = next(responses, None)
            if first is None:
                return
            second = None if stream or first.partial else next(responses, None)
            if not stream and not first.partial and second is None:
                yield first
                return
            yield from self._hand_on(_in_front([first, second], responses))

    def _hand_on(self, responses: Iterator[LLMResponse]) -> Iterator[LLMResponse]:
        raise NotImplementedError

    def _responses(self, request: LLMRequest, stream: bool) -> Generator[LLMResponse, None, None]:
        source = self._model.generate_content(request, stream)
        try:
            for item in answers_of(source):
                yield as_response(item)
        finally:  # also when the reader leaves in the middle: the model's stream must not stay open
            with suppress(AttributeError):
                source.close()


class FaultyStream(Adapter):
    """See `faulty_stream`."""

    def _hand_on(self, responses: Iterator[LLMResponse]) -> Iterator[LLMResponse]:
        marked = False
        brought: list[types.Part] = []
        for response in responses:
            if response.partial:
                marked = True
                brought += parts_of(response.content)
                yield replace(response, partial=False)
            elif not marked or response.content is None:
                yield response
            elif new := [p for p in parts_of(response.content) if p is not None and not p.text and p not in brought]:
                yield replace(response, content=types.Content(role=response.content.role, parts=new))


class SafeStream(Adapter):
    """See `safe_stream`."""

    def _hand_on(self, responses: Iterator[LLMResponse]) -> Iterator[LLMResponse]:
        aggregator = StreamingResponseAggregator()
        marked = False
        for response in responses:
            if marked and not response.partial and response.content is not None:  # the model's own aggregate
                aggregator = StreamingResponseAggregator()
                yield replace(response, partial=False, turn_complete=True)
                continue
            marked = marked or response.partial
            aggregator.take(_without_empty_thoughts(response))
            if _has_text(response) and not function_calls_of(response.content):
                yield replace(response, partial=True, turn_complete=False)
        whole = aggregator.close()
        if whole is not None:
            yield replace(whole, partial=False, turn_complete=True)


def _without_empty_thoughts(chunk: LLMResponse) -> LLMResponse:
    """The chunk without pieces of a thought that hold no text: to the aggregator such a piece is a part of its own."""
    parts = parts_of(chunk.content)
    kept = [part for part in parts if part.model_dump(exclude_none=True) != {"text": "", "thought": True}]
    if chunk.content is None or len(kept) == len(parts):
        return chunk
    return replace(chunk, content=types.Content(role=chunk.content.role, parts=kept))


def _has_text(chunk: LLMResponse) -> bool:
    return any(part is not None and part.text for part in parts_of(chunk.content))


def _in_front(first: list[LLMResponse | None], rest: Iterator[LLMResponse]) -> Iterator[LLMResponse]:
    yield from (chunk for chunk in first if chunk is not None)
    yield from rest


# ---------------------------------------------------------------------------------------------- the line of seed 003

LINE = (
    ("analystAgent", "analysis_result", "分析用户的绘图需求。", ["#", " 需求", "：登录流程，三步"]),
    (
        "drawAgent",
        "draft_diagram",
        "输入需求来自：{analysis_result}\n只输出 draw.io XML。",
        ["好的。<mx", "file><diagram>登录</diagram>", "</mxfile>"],
    ),
    ("reviewerAgent", "review_result", "输入 XML 来自：{draft_diagram}\n检查图是否正确。", ["通过", "。"]),
)
"""Name, output key, instruction and chunks of each agent of the drawing line."""

DRAW = "画一张登录流程图。"
"""What the line is asked for."""


def drawing_line(adapter: Callable[[Model], Any] = safe_stream) -> SequentialAgent:
    """The line analystAgent -> drawAgent -> reviewerAgent, each with a scripted model behind the given adapter.

    adknb.step(drawing_line(faulty_stream), DRAW)

    The scenarios `11a-line-faulty` and `11b-line-safe` are the same as files, with the adapters' work written down.
    """
    agents = [
        LlmAgent(name, model=adapter(ScriptedModel([chunks])), instruction=instruction, output_key=key)
        for name, key, instruction, chunks in LINE
    ]
    return SequentialAgent("drawioLine", sub_agents=agents)
