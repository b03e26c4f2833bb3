"""Tools and callbacks that do what a scenario's acts say, and log that they were asked.

Source: golden/README.md (Tool; Act; A trace). What an act does, it does in the order of that table.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Generator, Mapping
from dataclasses import replace
from typing import Any

from google.genai import types

from adknb.engine.context import Context
from adknb.engine.event import Event
from adknb.engine.event_json import response_from_json
from adknb.engine.model import LLMRequest
from adknb.engine.response import LLMResponse
from adknb.engine.tool import FunctionTool
from adknb.scenarios.scripted import Script, ScriptedError

Act = Mapping[str, Any]

GIVEN: dict[str, tuple[str, ...]] = {
    "on_user_message": ("content",),
    "before_run": (),
    "before_agent": (),
    "before_model": ("request",),
    "after_model": ("response",),
    "on_model_error": ("request", "error"),
    "before_tool": ("tool", "args"),
    "after_tool": ("tool", "args", "result", "error"),
    "on_tool_error": ("tool", "args", "error"),
    "on_event": ("event",),
    "after_agent": (),
    "after_run": (),
}
"""What each hook is given behind the context."""

OF_THE_RUN = ("on_user_message", "before_run", "on_event", "after_run")
"""Hooks that belong to no agent."""


class ScriptedTool(FunctionTool):
    """A tool whose n-th run does `runs[n]`, and the last of them from then on; with `chunks` a streaming tool."""

    def __init__(self, spec: Act, key: str, script: Script) -> None:
        super().__init__(
            self._stream if "chunks" in spec else self._run,
            name=spec["name"],
            description=spec.get("description", ""),
            parameters=copy.deepcopy(spec.get("parameters", {"type": "object"})),
            long_running=spec.get("long_running", False),
            require_confirmation=spec.get("require_confirmation", False),
            streaming="chunks" in spec,
        )
        self.spec, self.key, self.script = spec, key, script

    @property
    def uses(self) -> int:
        """How often tools of this name have run."""
        return self.script.uses(self.key)

    @uses.setter
    def uses(self, n: int) -> None:
        self.script.set_uses(self.key, n)

    def handle(self, ctx: Context, args: dict[str, Any]) -> Any:
        """Log the run, then do it. Raises ScriptedError."""
        return self.function(ctx, args)

    def _stream(self, ctx: Context, args: dict[str, Any]) -> Generator[str, None, None]:
        self._log(ctx, args)
        for chunk in self.spec["chunks"]:
            if chunk == "!error":
                raise ScriptedError(f"the stream of {self.name} breaks off")
            yield chunk

    def _run(self, ctx: Context, args: dict[str, Any]) -> Any:
        self._log(ctx, args)
        n = self.script.count(self.key)
        runs = self.spec.get("runs") or [{}]
        act = runs[min(n, len(runs) - 1)]
        write(ctx, act)
        if act.get("transfer"):
            ctx.actions.transfer_to_agent = act["transfer"]
        if act.get("escalate"):
            ctx.actions.escalate = True
        if act.get("skip_summarization"):
            ctx.actions.skip_summarization = True
        if act.get("request_confirmation") and ctx.tool_confirmation is None:
            ctx.request_confirmation(act["request_confirmation"])
            return {"waiting": True}
        fail(act)
        if act.get("nothing"):
            return None
        if act.get("echo"):
            return {"args": copy.deepcopy(args)}
        if act.get("return") is not None:
            return copy.deepcopy(act["return"])
        return {"result": "ok"}

    def _log(self, ctx: Context, args: dict[str, Any]) -> None:
        decision = ctx.tool_confirmation
        self.script.write(
            lambda: {
                "at": "tool",
                "agent": ctx.agent_name,
                "name": self.name,
                "call_id": ctx.function_call_id,
                "args": copy.deepcopy(args),
                "confirmation": None if decision is None else {"confirmed": decision.confirmed},
            }
        )


class ScriptedCallback:
    """One callback: logs each time it is asked; does its act, on the n-th time only if the act says `only`."""

    def __init__(self, hook: str, owner: str, act: Act, script: Script) -> None:
        self.hook, self.owner, self.act, self.script = hook, owner, act, script
        self.name = f"{hook} of {owner}"

    def __repr__(self) -> str:
        return f"ScriptedCallback({self.name!r})"

    def __call__(self, ctx: Context, *given: Any) -> Any:
        """Answer as the act says, None without one. Raises ScriptedError."""
        held = dict(zip(GIVEN[self.hook], given, strict=True))
        self.script.write(lambda: self._entry(ctx, held))
        n = self.script.count(self.name)
        if self.act.get("only", n) != n or ("tool" in self.act and held["tool"].name != self.act["tool"]):
            return None
        write(ctx, self.act)
        if "args" in self.act:
            held["args"].update(copy.deepcopy(self.act["args"]))
        if self.hook == "before_model":
            edit(held["request"], self.act)
        try:
            fail(self.act)
        except ScriptedError as error:
            if self.hook == "on_event":  # the reader is told at once, whoever is asked after that
                error.logged_at = self.script.position
            raise
        if "text" in self.act:
            return self._retold(held)
        if "return" in self.act:
            return ANSWERS[self.hook](copy.deepcopy(self.act["return"]))
        return None

    def _retold(self, held: dict[str, Any]) -> LLMResponse:
        """The same response or event with this one text as content."""
        if self.hook == "after_model":
            response: LLMResponse = held["response"]
            return replace(response, content=text_content("model", self.act["text"]))
        event: Event = held["event"]
        role = event.content.role if event.content is not None else None
        return replace(event, content=text_content(role, self.act["text"]))

    def _entry(self, ctx: Context, held: dict[str, Any]) -> dict[str, Any]:
        entry: dict[str, Any] = {"at": "callback", "hook": self.hook, "owner": self.owner}
        if self.hook not in OF_THE_RUN:
            entry["agent"] = ctx.agent_name
        if "tool" in held:
            entry["tool"] = held["tool"].name
        match self.hook:
            case "after_model":
                entry["partial"] = held["response"].partial
            case "on_model_error":
                entry["error"] = str(held["error"])
            case "before_tool":
                entry["args"] = copy.deepcopy(held["args"])
            case "after_tool":
                entry["result"] = copy.deepcopy(held["result"])
                entry["failed"] = held["error"] is not None
            case "on_event":
                entry["author"], entry["partial"] = held["event"].author, held["event"].partial
        return entry


def write(ctx: Context, act: Act) -> None:
    """State key by key, then artifacts by sorted name."""
    for key, value in act.get("state", {}).items():
        ctx.state[key] = copy.deepcopy(value)
    for name, text in sorted(act.get("artifact", {}).items()):
        ctx.save_artifact(name, text)


def edit(request: LLMRequest, act: Act) -> None:
    """What a before_model act does to the request in place."""
    if "system" in act:
        part = types.Part(text=act["system"])
        instruction = request.system_instruction
        if instruction is None:
            request.config.system_instruction = types.Content(role="user", parts=[part])
        else:
            instruction.parts = [*(instruction.parts or []), part]
    if "temperature" in act:
        request.config.temperature = act["temperature"]
    if len(request.contents) > act.get("drop_first", 0):
        del request.contents[: act.get("drop_first", 0)]


def fail(act: Act) -> None:
    """Raise the error that an act asks for."""
    if "error" in act:
        raise ScriptedError(act["error"])


def text_content(role: str | None, text: str) -> types.Content:
    """A content of one text."""
    return types.Content(role=role, parts=[types.Part(text=text)])


def _same(value: Any) -> Any:
    return value


ANSWERS: dict[str, Callable[[Any], Any]] = {
    "on_user_message": types.Content.model_validate,
    "before_run": types.Content.model_validate,
    "before_agent": types.Content.model_validate,
    "after_agent": types.Content.model_validate,
    "before_model": response_from_json,
    "after_model": response_from_json,
    "on_model_error": response_from_json,
    "before_tool": _same,
    "after_tool": _same,
    "on_tool_error": _same,
}
"""What a hook's `return` is read as."""
