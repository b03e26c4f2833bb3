"""Runs a live scenario and writes down what happened, in the words of live_transcripts.txt.

A scenario is an agent, a script for the server and what the reader does. It can be run three ways: `wire` (the real
client against the fake server, over TLS), `scripted` (a scripted connection, the run on a thread of its own) and
`stepped` (the same connection, one generator). All three must tell the same.
"""

from __future__ import annotations

import faulthandler
import itertools
import json
import re
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from google.genai import types

from adknb.engine.agent import Agent
from adknb.engine.context import ArtifactService, LiveConfig
from adknb.engine.event import Event
from adknb.engine.event_json import to_json
from adknb.engine.gemini import Gemini
from adknb.engine.live import LiveSession, YieldedError
from adknb.engine.llm_agent import LlmAgent
from adknb.engine.plugin import Plugin
from adknb.engine.runner import Runner
from adknb.engine.stops import Stop
from adknb.engine.tool import FunctionTool
from adknb.scenarios.fake_live import FakeLive
from adknb.scenarios.live_script import ScriptedLive

WAYS = ("wire", "scripted", "stepped")
PATIENCE = 5.0
ANY = {"type": "object", "additionalProperties": True}


class Log(list):
    """What happened on the reader's side, line by line."""

    def say(self, line: str) -> None:
        self.append(line)


@dataclass
class Told:
    """What a scenario came to: lines on the reader's side, lines of the server, what is stored, the state."""

    reader: list[str]
    server: list[str]
    stored: list[str]
    state: dict[str, Any]
    errors: list[BaseException] = field(default_factory=list)
    runner: Runner | None = None


@dataclass
class Scenario:
    """`agent` is made from a model and the log. `reader` is a list of what the reader does; behind it it reads on.

    ("read", n)   read n events      ("send", x)   send; what it raises is logged
    ("close",)    close              ("cancel",)   cancel
    ("wait", f)   until f(log of the server) is true
    """

    agent: Callable[[Any, Log], Agent]
    server: Sequence[Sequence[dict[str, Any]]]
    reader: Sequence[tuple[Any, ...]] = ()
    config: Callable[[], LiveConfig | None] = LiveConfig
    plugins: Callable[[Log], list[Plugin]] = lambda log: []
    history: Sequence[tuple[str, types.Content]] = ()
    artifacts: Callable[[], ArtifactService | None] | None = None
    model: str = "gemini-live-x"
    options: dict[str, Any] = field(default_factory=dict)


def play(scenario: Scenario, way: str) -> Told:
    """Run it one way."""
    log = Log()
    server = FakeLive(scenario.server) if way == "wire" else None
    if server is not None:
        model: Any = Gemini(scenario.model, api_key="none", http_options=server.http_options)
    else:
        model = ScriptedLive(scenario.server, scenario.model)
    runner = Runner(scenario.agent(model, log), "demo", plugins=scenario.plugins(log), **scenario.options)
    if scenario.artifacts is not None:
        runner.artifact_service = scenario.artifacts()  # type: ignore[assignment]
    session = runner.session_service.create("demo", "u", "s")
    for i, (author, content) in enumerate(scenario.history):
        event = Event(id=f"h{i}", invocation_id="old", author=author, content=content, timestamp=float(i + 1))
        runner.session_service.append_event(session, event)
    errors: list[BaseException] = []
    try:
        reads = stepped if way == "stepped" else threaded
        reads(runner, scenario, log, errors, (server or model).log)
    finally:
        if server is not None:
            model.close()
            server.close()
    stored = runner.session_service.get("demo", "u", "s")
    return Told(
        log,
        [server_line(*entry) for entry in (server or model).log],
        [line_of(event) for event in stored.events],
        stored.state,
        errors,
        runner,
    )


def threaded(runner: Runner, scenario: Scenario, log: Log, errors: list[BaseException], at_server: list[Any]) -> None:
    with runner.run_live("u", "s", scenario.config()) as live:

        def read(n: int | None) -> bool:
            for _ in range(n) if n is not None else itertools.count():
                try:
                    log.say(f"EVENT {line_of(next(live))}")
                except StopIteration:
                    return False
                except Exception as error:
                    errors.append(error)
                    log.say(f"ERR {type(error).__name__}")
            return True

        for what, *given in scenario.reader:
            if what == "read" and not read(given[0]):
                return
            do(what, given, live, log, at_server)
        read(None)


def stepped(runner: Runner, scenario: Scenario, log: Log, errors: list[BaseException], at_server: list[Any]) -> None:
    session = LiveSession()
    items = runner.iter_live(session, "u", "s", scenario.config())

    def read(n: int | None) -> bool:
        while n is None or n > 0:
            try:
                item = next(items)
            except StopIteration:
                return False
            except Exception as error:
                errors.append(error)
                log.say(f"ERR {type(error).__name__}")
                return True
            if isinstance(item, Stop):
                continue
            n = None if n is None else n - 1
            if isinstance(item, YieldedError):
                errors.append(item.error)
                log.say(f"ERR {type(item.error).__name__}")
            else:
                log.say(f"EVENT {line_of(item)}")
        return True

    try:
        for what, *given in scenario.reader:
            if what == "read" and not read(given[0]):
                return
            do(what, given, session, log, at_server)
        read(None)
    finally:
        items.close()


def do(what: str, given: list[Any], live: Any, log: Log, at_server: list[Any]) -> None:
    if what == "send":
        try:
            live.send(given[0])
        except Exception as error:
            log.say(f"SEND {type(error).__name__}")
    elif what == "close":
        live.close()
    elif what == "cancel":
        live.cancel()
    elif what == "wait":
        eventually(lambda: given[0](at_server))
    else:
        assert what == "read", what


def eventually(true: Callable[[], bool], what: str = "") -> None:
    """Wait until it is so; where every thread stands is told if it never is."""
    until = time.monotonic() + PATIENCE
    while not true():
        if time.monotonic() > until:
            faulthandler.dump_traceback()
            raise AssertionError(f"never came true: {what or true}; threads: {threading.enumerate()}")
        time.sleep(0.005)


# ------------------------------------------------------------------------------------------------------------ the lines


def line_of(event: Event) -> str:
    """An event as the transcripts write it."""
    told = event.to_json()
    keys = ("author", "content", "errorCode", "inputTranscription", "interrupted", "outputTranscription", "partial")
    line = {key: told[key] for key in (*keys, "turnComplete") if key in told}
    if event.session_resumption_handle:
        line["handle"] = event.session_resumption_handle
    if event.actions.state_delta:
        line["delta"] = event.actions.state_delta
    return dumped(tidied(line))


def server_line(n: int, verb: str, data: Any) -> str:
    if verb == "refuses":
        return f"SERVER refuses connection {n}"
    if verb == "setup":
        data = {"setup": data}
    return f"SERVER{n} {verb} {data if isinstance(data, str) else dumped(tidied(data))}"


def dumped(data: Any) -> str:
    return json.dumps(data, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def tidied(data: Any) -> Any:
    """Without what Go leaves out, base64 in its common alphabet."""
    if isinstance(data, dict):
        data = {k: tidied(v) for k, v in data.items() if not (k in ("args", "stateDelta") and not v)}
        if "data" in data and isinstance(data["data"], str):
            data["data"] = data["data"].replace("-", "+").replace("_", "/")
        return data
    return [tidied(v) for v in data] if isinstance(data, list) else data


def fits(expected: Any, actual: Any) -> bool:
    """Whether they are the same; `<text>` and `<ms>` stand for any words and any number."""
    if isinstance(expected, str) and isinstance(actual, str):
        pattern = re.escape(expected).replace("<text>", ".+").replace("<ms>", r"\d+")
        return re.fullmatch(pattern, actual, re.DOTALL) is not None
    if isinstance(expected, dict) and isinstance(actual, dict):
        left = {k: v for k, v in expected.items() if k != "responseJsonSchema" or k in actual}
        if "parameters" in left and "parametersJsonSchema" in actual:  # google-genai rewrites it for the Gemini API
            left["parametersJsonSchema"] = in_small_letters(left.pop("parameters"))
        return left.keys() == actual.keys() and all(fits(v, actual[k]) for k, v in left.items())
    if isinstance(expected, list) and isinstance(actual, list):
        return len(expected) == len(actual) and all(map(fits, expected, actual))
    return expected == actual


def in_small_letters(schema: Any) -> Any:
    """A schema with its types as JSON Schema writes them."""
    if isinstance(schema, dict):
        return {k: v.lower() if k == "type" and isinstance(v, str) else in_small_letters(v) for k, v in schema.items()}
    return [in_small_letters(v) for v in schema] if isinstance(schema, list) else schema


def line_fits(expected: str, actual: str) -> bool:
    """Whether two lines say the same, whatever the order of the keys."""
    one, other = (line.partition("{") for line in (expected, actual))
    if not one[1] or not other[1]:
        return fits(expected, actual)
    return one[0] == other[0] and fits(tidied(json.loads("{" + one[2])), json.loads("{" + other[2]))


# ----------------------------------------------------------------------------------------------------------- the agents


def voice(
    *tools: str, sub_agents: Sequence[Agent] = (), name: str = "voice", log_callbacks: bool = False, **settings: Any
) -> Callable[[Any, Log], LlmAgent]:
    """An agent as the transcripts have it, with tools by name."""

    def made(model: Any, log: Log) -> LlmAgent:
        callbacks = {}
        if log_callbacks:
            callbacks = {
                "before_tool": lambda ctx, tool, args: log.say(f"CB before_tool {tool.name}"),
                "after_tool": lambda ctx, tool, args, result, error: log.say(f"CB after_tool {tool.name}"),
            }
        return LlmAgent(
            name,
            model,
            instruction=f"Be {name}",
            tools=[tool_named(tool, log) for tool in tools],
            sub_agents=[agent(model, log) if callable(agent) else agent for agent in sub_agents],
            **{**callbacks, **settings},
        )

    return made


def tool_named(name: str, log: Log) -> FunctionTool:
    def get_weather(ctx: Any, **args: Any) -> dict[str, Any]:
        log.say(f"TOOL get_weather map[{' '.join(f'{k}:{v}' for k, v in sorted(args.items()))}]")
        ctx.state["seen"] = 1
        return {"t": 1}

    def ticker(ctx: Any) -> Any:
        for i in itertools.count():
            if ctx.cancelled.wait(0.1):
                return
            try:
                yield f"tick {i}"
            except GeneratorExit:
                log.say(f"TICKER stopped by consumer at {i}")
                raise

    def pay(**args: Any) -> dict[str, Any]:
        log.say("TOOL pay")
        return {"paid": True}

    def stop_streaming(function_name: str) -> dict[str, Any]:
        log.say("TOOL stop_streaming")
        return {}

    def later(**args: Any) -> None:
        log.say("TOOL later")

    def fails(**args: Any) -> None:
        raise ValueError("out of paper")

    def breaks(ctx: Any) -> Any:
        yield "one"
        raise ValueError("out of paper")

    def slow(**args: Any) -> dict[str, Any]:
        time.sleep(0.15)
        log.say("TOOL slow")
        return {"done": True}

    made: dict[str, dict[str, Any]] = {
        "get_weather": {"function": get_weather, "description": "w"},
        "ticker": {"function": ticker, "description": "t"},
        "pay": {"function": pay, "description": "w", "require_confirmation": True},
        "stop_streaming": {"function": stop_streaming, "description": "s"},
        "later": {"function": later, "description": "l", "long_running": True},
        "fails": {"function": fails, "description": "f"},
        "breaks": {"function": breaks, "description": "b"},
        "slow": {"function": slow, "description": "s"},
    }
    return FunctionTool(name=name, parameters=ANY, **made[name])


def hooks(log: Log) -> list[Plugin]:
    """A plugin that says when it is asked, as that of the transcripts."""
    return [
        Plugin(
            "says",
            before_run=lambda ctx: log.say("PLUG before_run"),
            on_user_message=lambda ctx, content: log.say("PLUG on_user_message"),
            on_event=lambda ctx, event: log.say(f"PLUG on_event partial={str(event.partial).lower()}"),
            before_agent=lambda ctx: log.say("PLUG before_agent"),
            before_model=lambda ctx, request: log.say("PLUG before_model"),
            after_model=lambda ctx, response: log.say("PLUG after_model"),
            before_tool=lambda ctx, tool, args: log.say(f"PLUG before_tool {tool.name}"),
            after_agent=lambda ctx: log.say("PLUG after_agent"),
            after_run=lambda ctx: log.say("PLUG after_run"),
        )
    ]


# ----------------------------------------------------------------------------------------------- what the server sends


def model_says(*texts: str, done: bool = False, **content: Any) -> dict[str, Any]:
    """A turn of the model with these texts; `done` completes it."""
    turn = {"modelTurn": {"role": "model", "parts": [{"text": text} for text in texts]}} if texts else {}
    return {"send": {"serverContent": {**turn, **({"turnComplete": True} if done else {}), **content}}}


def sends(**message: Any) -> dict[str, Any]:
    return {"send": message}


def content(**fields: Any) -> dict[str, Any]:
    return {"send": {"serverContent": fields}}


def heard(text: str, **more: Any) -> dict[str, Any]:
    return content(inputTranscription={"text": text}, **more)


def spoken(text: str, **more: Any) -> dict[str, Any]:
    return content(outputTranscription={"text": text}, **more)


def audio(data: str = "AAEC", mime_type: str = "audio/pcm", **more: Any) -> dict[str, Any]:
    part = {"inlineData": {"data": data, **({"mimeType": mime_type} if mime_type else {})}}
    return content(modelTurn={"role": "model", "parts": [part]}, **more)


def calls(*named: tuple[str, str] | tuple[str, str, dict[str, Any]], **more: Any) -> dict[str, Any]:
    """A tool call message: (name, id) or (name, id, args) each."""
    listed = [{"name": name, "id": call_id, "args": args[0] if args else {}} for name, call_id, *args in named]
    return {"send": {"toolCall": {"functionCalls": listed}, **more}}


DONE = content(turnComplete=True)
GET = {"get": 1}


def text_of(role: str, *texts: str) -> types.Content:
    return types.Content(role=role, parts=[types.Part(text=text) for text in texts])


def blob(data: bytes, mime_type: str | None = None) -> types.Blob:
    return types.Blob(data=data, mime_type=mime_type)


def shapes() -> set[str]:
    """The names of adknb's threads that run."""
    return {t.name for t in threading.enumerate() if t.name.startswith(("adknb", "fake"))}


__all__ = [name for name in globals() if not name.startswith("_")] + ["to_json"]
