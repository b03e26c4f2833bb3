"""LLM and LLMRequest: the model's side of a step.

Go: model/llm.go, LLM, LLMRequest; internal/utils/utils.go, AppendInstructions;
internal/toolinternal/toolutils/toolutils.go, PackTool

`request.config.tools` is what the model is told; `request.tools` is what this process can run. They are two things
(seed 000, 二.1).
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from google.genai import types

from adknb.engine.errors import DuplicateTool
from adknb.engine.loops import in_step, run_to_its_end
from adknb.engine.response import LLMResponse


@dataclass
class LLMRequest:
    """What the model will be asked. Every step starts with one that holds only the model's name.

    Go: model/llm.go, LLMRequest
    """

    model: str = ""
    contents: list[types.Content] = field(default_factory=list)
    config: types.GenerateContentConfig = field(default_factory=types.GenerateContentConfig)
    tools: dict[str, Any] = field(default_factory=dict)
    """The local table: name -> tool. Never sent."""

    def append_instructions(self, text: str) -> None:
        """Add a text to the system instruction (spec/request.md R3.2).

        Nothing there yet -> a user content with that text; last part is a text -> old text, blank line, new text;
        otherwise -> a part of its own.

        Go: internal/utils/utils.go, AppendInstructions
        """
        instruction = self.system_instruction
        if instruction is None:
            self.config.system_instruction = types.Content(role="user", parts=[types.Part(text=text)])
            return
        instruction.parts = instruction.parts or []
        last = instruction.parts[-1] if instruction.parts else None
        if last is not None and last.text:
            last.text = f"{last.text}\n\n{text}"
        else:
            instruction.parts.append(types.Part(text=text))

    @property
    def system_instruction(self) -> types.Content | None:
        """The config's system instruction as a content; a text or a part given there is wrapped in place."""
        given: Any = self.config.system_instruction
        if given is None or isinstance(given, types.Content):
            return given
        parts = given if isinstance(given, list) else [given]
        wrapped = types.Content(role="user", parts=[types.Part(text=p) if isinstance(p, str) else p for p in parts])
        self.config.system_instruction = wrapped
        return wrapped

    def pack_tool(self, tool: Any) -> None:
        """Register a tool twice: in the local table, and as a declaration for the model.

        Raises:
            DuplicateTool: the table has one of that name.

        Go: internal/toolinternal/toolutils/toolutils.go, PackTool
        """
        if tool.name in self.tools:
            raise DuplicateTool(f"two tools are called {tool.name!r} in one request; give each its own name")
        self.tools[tool.name] = tool
        declaration = tool.declaration()
        if declaration is None:
            return
        entries: list[Any] = list(self.config.tools or [])
        for entry in entries:
            if isinstance(entry, types.Tool) and entry.function_declarations:
                entry.function_declarations.append(declaration)
                break
        else:
            entries.append(types.Tool(function_declarations=[declaration]))
        self.config.tools = entries


@runtime_checkable
class LLM(Protocol):
    """A model: a name, and answers to requests.

    A model that knows it says its `backend`: `"gemini_api"` or `"vertex"` (attribute, optional).

    Go: model/llm.go, LLM
    """

    name: str

    def generate_content(self, request: LLMRequest, stream: bool) -> Iterable[LLMResponse]:
        """The responses, in order: chunks with `partial` set, then the whole. Errors are raised.

        May be an async generator, or a coroutine that gives a response or an iterable of them, too (`answers_of`).
        """


class FunctionModel:
    """A model that is a function of the request: gives a response, a text, a content, or an iterable of these.

    It may be `async def`, too, or an async generator.
    """

    def __init__(self, function: Callable[[LLMRequest], Any], name: str = "") -> None:
        self.function = function
        self.name = name or getattr(function, "__name__", "model")

    def generate_content(self, request: LLMRequest, stream: bool) -> Iterable[LLMResponse]:
        """Call the function; see the class."""
        for item in answers_of(self.function(request)):
            yield as_response(item)


def answers_of(given: Any) -> Iterable[Any]:
    """What a model gave, as a plain iterable: one answer, an iterable, an async one, or a coroutine that gives these.

    Async answers are taken one by one, each when it is wanted.
    """
    if isinstance(given, (str, LLMResponse, types.Content)):
        return [given]
    if inspect.isawaitable(given):
        return _awaited(given)
    if hasattr(given, "__aiter__"):
        return in_step(given)
    return given  # type: ignore[no-any-return]


def _awaited(given: Any) -> Iterator[Any]:
    async def answered() -> Any:
        return await given

    yield from answers_of(run_to_its_end(answered()))


def as_response(item: Any) -> LLMResponse:
    """A response from a response, a content, or the text of a model's answer.

    Raises:
        TypeError: anything else.
    """
    if isinstance(item, LLMResponse):
        return item
    if isinstance(item, types.Content):
        return LLMResponse(content=item)
    if isinstance(item, str):
        return LLMResponse(content=types.Content(role="model", parts=[types.Part(text=item)]))
    raise TypeError(f"a model gives an LLMResponse, a Content or a text, not {type(item).__name__}")
