"""Tools: what a model may ask for, and how a Python function becomes one.

Go: tool/tool.go, Tool; tool/functiontool/function.go, New, Run; tool/functiontool/streaming_function.go

A tool is declared to the model and registered locally (seed 000, 四.1.2). A function tool checks its arguments against
its JSON schema, asks for approval if it must, and only then runs the function.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Generator, Iterable
from dataclasses import asdict, is_dataclass
from typing import TYPE_CHECKING, Any, get_type_hints

from google.genai import types
from pydantic import BaseModel

from adknb.engine.errors import AdknbError
from adknb.engine.loops import in_step
from adknb.engine.schema import check_json_schema

if TYPE_CHECKING:
    from adknb.engine.context import Context
    from adknb.engine.model import LLMRequest

LONG_RUNNING_NOTE = (
    "NOTE: This operation takes a long time. Once it has answered with a pending or intermediate status, "
    "do not call it again."
)


class ConfirmationRequired(AdknbError):
    """The tool may not run before a person approves. Go: tool/tool.go, ErrConfirmationRequired"""


class ConfirmationRejected(AdknbError):
    """A person has refused the call. Go: tool/tool.go, ErrConfirmationRejected"""


class Tool:
    """What every tool has. Go: tool/tool.go, Tool"""

    name: str = ""
    description: str = ""
    is_long_running: bool = False
    is_streaming: bool = False
    is_task: bool = False
    """A task delegation: it is run between two runs of its coordinator; as a tool it does nothing."""

    def declaration(self) -> types.FunctionDeclaration | None:
        """What the model is told; None for a tool it is not told of."""
        return None

    def process_request(self, ctx: Context, request: LLMRequest) -> None:
        """Add oneself to a request. Go: internal/toolinternal/tool.go, RequestProcessor"""
        request.pack_tool(self)

    def run(self, ctx: Context, args: dict[str, Any]) -> Any:
        """Run. Gives a map, None for "no answer (yet)", or any value; raises for an error."""
        raise NotImplementedError


class Toolset:
    """A named group of tools that is asked for its tools at the first step of an agent's run.

    Go: tool/tool.go, Toolset
    """

    name: str = ""

    def tools(self, ctx: Context) -> Iterable[Tool]:
        """The tools as they are now."""
        raise NotImplementedError


class FunctionTool(Tool):
    """A Python function as a tool.

    A first parameter called `ctx` gets the Context; the others get the arguments of the call. `async def` is run to its
    end. A generator function is a streaming tool: its texts are joined (a plain run) to one result. The schema of the
    parameters is `parameters` (JSON Schema, passed on as it is) or is read off the type hints.
    `require_confirmation` is true, or a function of the arguments that says whether.

    Raises:
        TypeError: a parameter has no type hint one can make a schema of, and no `parameters` are given.

    Go: tool/functiontool/function.go, New
    """

    def __init__(
        self,
        function: Callable[..., Any],
        name: str = "",
        description: str = "",
        parameters: dict[str, Any] | None = None,
        long_running: bool = False,
        require_confirmation: bool | Callable[[dict[str, Any]], bool] = False,
        streaming: bool = False,
    ) -> None:
        self.function = function
        self.name = name or function.__name__
        self.description = description or inspect.cleandoc(function.__doc__ or "")
        self.is_long_running = long_running
        streams = inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function)
        self.is_streaming = streaming or streams
        self.require_confirmation = require_confirmation
        self.parameters = parameters if parameters is not None else schema_of(function)

    def __repr__(self) -> str:
        return f"FunctionTool({self.name!r})"

    def declaration(self) -> types.FunctionDeclaration:
        """Name, description, JSON schema. A long-running tool's description says that it is one (R8.4)."""
        notes = [self.description] if self.description else []
        if self.is_long_running:
            notes.append(LONG_RUNNING_NOTE)
        return types.FunctionDeclaration(
            name=self.name, description="\n\n".join(notes) or None, parameters_json_schema=self.parameters
        )

    def run(self, ctx: Context, args: dict[str, Any]) -> Any:
        """Check the arguments, ask for approval if it must be, run the function.

        Raises:
            ValueError: the arguments do not fit the schema.
            ConfirmationRequired, ConfirmationRejected: see seed 000, 四.6.1.

        Go: tool/functiontool/function.go, functionTool.Run
        """
        self._admit(ctx, args)
        return self.handle(ctx, args)

    def run_stream(self, ctx: Context, args: dict[str, Any]) -> Generator[str, None, None]:
        """The texts of a streaming tool, one by one; arguments and approval as in `run`."""
        self._admit(ctx, args)
        texts = self.handle(ctx, args)
        yield from in_step(texts) if hasattr(texts, "__aiter__") else texts

    def handle(self, ctx: Context, args: dict[str, Any]) -> Any:
        """Call the function with the arguments that are now known to fit."""
        return self.function(ctx, **args) if _wants_context(self.function) else self.function(**args)

    def _admit(self, ctx: Context, args: dict[str, Any]) -> None:
        check_json_schema(args, self.parameters)
        decision = ctx.tool_confirmation
        if decision is not None:
            if not decision.confirmed:
                raise ConfirmationRejected(f"the call of tool {self.name!r} was refused by a person")
            return
        needed = self.require_confirmation
        if needed(args) if callable(needed) else needed:
            ctx.request_confirmation(
                f"Please approve or reject the call of tool {self.name!r}: answer with a function response that "
                'carries {"confirmed": true} or {"confirmed": false}.'
            )
            raise ConfirmationRequired(f"tool {self.name!r} requires approval by a person before it runs")


def as_result(value: Any) -> dict[str, Any] | None:
    """A map or an object as a map; any other value under `result`; None stays None (6.6)."""
    if value is None or isinstance(value, dict):
        return value
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json", by_alias=True)
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    return {"result": value}


def schema_of(function: Callable[..., Any]) -> dict[str, Any]:
    """The JSON schema of a function's parameters, from its type hints.

        def f(city: str, n: int = 1)
        -> {"type": "object", "properties": {"city": {"type": "string"}, "n": {"type": "integer", "default": 1}},
            "required": ["city"], "additionalProperties": False}

    `**more: X` allows any further argument. Raises TypeError for a hint that has no schema.
    """
    from pydantic import TypeAdapter  # google-genai's own base: always there

    properties: dict[str, Any] = {}
    required: list[str] = []
    extra: Any = False
    hints = get_type_hints(function, include_extras=True)
    for i, p in enumerate(inspect.signature(function).parameters.values()):
        if i == 0 and _wants_context(function):
            continue
        if p.kind is p.VAR_KEYWORD:
            extra = True
            continue
        try:
            properties[p.name] = TypeAdapter(hints.get(p.name, Any)).json_schema()
        except Exception as error:
            raise TypeError(
                f"tool {function.__name__!r}: no JSON schema can be made of parameter {p.name!r} "
                f"({hints.get(p.name)!r}); give parameters={{…}} to FunctionTool"
            ) from error
        if p.default is p.empty:
            required.append(p.name)
        else:
            properties[p.name]["default"] = p.default
    schema: dict[str, Any] = {"type": "object", "properties": properties}
    if required:
        schema["required"] = required
    schema["additionalProperties"] = extra
    return schema


def _wants_context(function: Callable[..., Any]) -> bool:
    return next(iter(inspect.signature(function).parameters), "") == "ctx"
