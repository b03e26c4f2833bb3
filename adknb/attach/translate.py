"""A scenario as google-adk's own objects: agents, scripted models and tools, callbacks; and its run, as a log.

What google-adk has no word for, or this has none yet, is refused by its name: see `Untranslatable`.

Source: golden/README.md (Agent, Model, Tool, Act).
"""

from __future__ import annotations

import copy
import logging
import warnings
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from typing import Any

from google.genai import types

from adknb.attach.adk import adk
from adknb.attach.convert import from_adk
from adknb.engine.errors import AdknbError
from adknb.engine.event_json import to_json
from adknb.engine.loops import run_to_its_end
from adknb.scenarios.format import check

Json = dict[str, Any]
Log = list[Json]

APP, USER, SESSION = "demo", "user", "s1"
RESULT = {"result": "ok"}
"""What a tool run returns that says nothing else."""

SCENARIO = set("name agent state events turns artifacts plugins run_config event_limit app user session".split())
AGENT = set(
    "type name description sub_agents callbacks max_iterations instruction instruction_provided global_instruction "
    "model tools output_key include_contents mode disallow_transfer_to_parent disallow_transfer_to_peers "
    "generate_content_config".split()
)
TOOL = set("name description parameters long_running runs".split())
RUN = set("state transfer escalate skip_summarization error nothing echo return".split())
ACT = set("only tool state error return".split())
OF_THE_RUN = ("on_user_message", "before_run", "on_event", "after_run")
"""What is translated, field by field."""


class Untranslatable(AdknbError):
    """A scenario says something that is not put into google-adk's words; `what` names it."""

    def __init__(self, what: str) -> None:
        super().__init__(f"not translated to google-adk: {what}")
        self.what = what


class ScriptedError(Exception):
    """An error that the scenario asks for."""


def run_on_adk(scenario: Json) -> Log:
    """Play a scenario on google-adk; the log has entries `turn`, `request`, `event` and `error`, as things happened.

    Raises:
        NoGoogleAdk: it is not installed. Untranslatable: names what. BadData: it is no scenario.
    """
    scenario = check(scenario)
    translated = Translation()
    root = translated.agent(_only(scenario, SCENARIO, "the scenario's")["agent"])
    plugins = [translated.plugin(spec) for spec in scenario.get("plugins", [])]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of deprecated and experimental parts of google-adk: they are the subject
        with _quiet():
            run_to_its_end(_play(scenario, root, plugins, translated.log))
    return translated.log


@contextmanager
def _quiet() -> Iterator[None]:
    """What google-adk logs of a scripted run is about the script."""
    logger = logging.getLogger("google_adk")
    before, logger.disabled = logger.disabled, True
    level = logger.level
    logger.setLevel(logging.CRITICAL + 1)  # its modules' own loggers ask it for theirs
    try:
        yield
    finally:
        logger.disabled = before
        logger.setLevel(level)


async def _play(scenario: Json, root: Any, plugins: list[Any], log: Log) -> None:
    service = adk("google.adk.sessions.in_memory_session_service").InMemorySessionService()
    names = {"app_name": scenario.get("app", APP), "user_id": scenario.get("user", USER)}
    session_id = scenario.get("session", SESSION)
    session = await service.create_session(
        **names, session_id=session_id, state=copy.deepcopy(scenario.get("state", {}))
    )
    event_kind = adk("google.adk.events.event").Event
    for given in scenario.get("events", []):
        await service.append_event(session, event_kind.model_validate({"invocationId": "", **copy.deepcopy(given)}))
    artifacts = adk("google.adk.artifacts.in_memory_artifact_service").InMemoryArtifactService()
    for name, text in scenario.get("artifacts", {}).items():
        part = types.Part(text=text)
        await artifacts.save_artifact(**names, session_id=session_id, filename=name, artifact=part)
    runner = adk("google.adk.runners").Runner(
        app_name=names["app_name"],
        agent=root,
        plugins=plugins,
        session_service=service,
        artifact_service=artifacts,
    )
    streaming = scenario.get("run_config", {}).get("streaming_mode", "") == "sse"
    modes = adk("google.adk.agents.run_config")
    config = modes.RunConfig(streaming_mode=modes.StreamingMode.SSE if streaming else modes.StreamingMode.NONE)
    for n, turn in enumerate(scenario["turns"]):
        _only(turn, {"message", "state_delta"}, "a turn's")
        if "$confirm:" in str(turn["message"]) or "$call:" in str(turn["message"]):
            raise Untranslatable("an answer to an earlier call of the run")
        log.append({"at": "turn", "n": n})
        items = runner.run_async(
            user_id=names["user_id"],
            session_id=session_id,
            new_message=types.Content.model_validate(turn["message"]),
            state_delta=turn.get("state_delta"),
            run_config=config,
        )
        await _read(items, log, scenario.get("event_limit", 200))


async def _read(items: AsyncIterator[Any], log: Log, limit: int) -> None:
    seen = 0
    try:
        async for event in items:
            seen += 1
            log.append({"at": "event", "event": from_adk(event).to_json()})
            if seen >= limit:
                log.append({"at": "error", "where": "limit", "note": f"more than {limit} events"})
                break
    except Exception as error:  # whatever it is, it has ended this turn
        log.append({"at": "error", "where": "run", "note": f"{type(error).__name__}: {error}"})
    finally:
        await items.aclose()  # type: ignore[attr-defined]


class Translation:
    """The objects of one scenario; they share a log, and counters that count over the scenario."""

    def __init__(self) -> None:
        self.log: Log = []
        self.uses: Counter[str] = Counter()

    def agent(self, spec: Json) -> Any:
        """One agent with those below it."""
        _only(spec, AGENT, f"agent {spec['name']!r}:")
        common: Json = {
            "name": spec["name"],
            "description": spec.get("description", ""),
            "sub_agents": [self.agent(child) for child in spec.get("sub_agents", [])],
        }
        hooks = {
            f"{hook}_callback": [self.callback(hook, f"{spec['name']}.{hook}#{n}", act) for n, act in enumerate(acts)]
            for hook, acts in spec.get("callbacks", {}).items()
        }
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if spec["type"] == "loop":
                most = spec.get("max_iterations") or None
                return adk("google.adk.agents").LoopAgent(**common, **hooks, max_iterations=most)
            if spec["type"] != "llm":
                kind = {"sequential": "SequentialAgent", "parallel": "ParallelAgent"}[spec["type"]]
                return getattr(adk("google.adk.agents"), kind)(**common, **hooks)
            return adk("google.adk.agents").LlmAgent(**common, **hooks, **self._llm(spec))

    def _llm(self, spec: Json) -> Json:
        provided = spec.get("instruction_provided")
        tools = [self.tool(spec["name"], tool) for tool in spec.get("tools", [])]
        return {
            "model": self.model(spec),
            "instruction": spec.get("instruction", "") if provided is None else (lambda _: provided),
            "global_instruction": spec.get("global_instruction", ""),
            "tools": tools,
            "output_key": spec.get("output_key") or None,
            "mode": spec.get("mode") or None,
            "include_contents": spec.get("include_contents") or "default",
            "disallow_transfer_to_parent": spec.get("disallow_transfer_to_parent", False),
            "disallow_transfer_to_peers": spec.get("disallow_transfer_to_peers", False),
            "generate_content_config": _config(spec.get("generate_content_config")),
        }

    def model(self, spec: Json) -> Any:
        """An agent's scripted model. The n-th call of it answers with `calls[n]`, whatever is asked."""
        given = spec.get("model") or {}
        _only(given, {"name", "calls"}, "a model's")
        responses = adk("google.adk.models.llm_response").LlmResponse
        log, uses, agent = self.log, self.uses, spec["name"]

        async def generate(self: Any, llm_request: Any, stream: bool = False) -> AsyncIterator[Any]:
            log.append(_request(agent, llm_request))
            n = uses[f"model {agent}"]
            uses[f"model {agent}"] += 1
            if n >= len(given.get("calls", [])):
                raise ScriptedError("no call left")
            for response in given["calls"][n].get("responses", []):
                yield responses.model_validate(copy.deepcopy(response))
            if "error" in given["calls"][n]:
                raise ScriptedError(given["calls"][n]["error"])

        base = adk("google.adk.models.base_llm").BaseLlm
        return type("Scripted", (base,), {"generate_content_async": generate})(model=given.get("name", "scripted"))

    def tool(self, agent: str, spec: Json) -> Any:
        """A tool whose n-th run does `runs[n]`, and the last of them from then on."""
        _only(spec, TOOL, f"tool {spec['name']!r}:")
        for run in spec.get("runs", []):
            _only(run, RUN, f"tool {spec['name']!r}, a run's")
        runs, key, uses = spec.get("runs") or [{}], f"tool {agent}.{spec['name']}", self.uses
        declaration = types.FunctionDeclaration(
            name=spec["name"],
            description=spec.get("description", ""),
            parameters_json_schema=copy.deepcopy(spec.get("parameters", {"type": "object"})),
        )

        async def run_async(self: Any, *, args: Json, tool_context: Any) -> Any:
            act = runs[min(uses[key], len(runs) - 1)]
            uses[key] += 1
            return _do(act, args, tool_context)

        body = {"_get_declaration": lambda self: declaration.model_copy(deep=True), "run_async": run_async}
        base = adk("google.adk.tools.base_tool").BaseTool
        return type("ScriptedTool", (base,), body)(
            name=spec["name"],
            description=spec.get("description", ""),
            is_long_running=spec.get("long_running", False),
        )

    def callback(self, hook: str, key: str, act: Json) -> Callable[..., Any]:
        """A callback that does what its act says."""
        _only(act, ACT, f"callback {hook}:")
        uses = self.uses

        def called(*given: Any, **named: Any) -> Any:
            n = uses[key]
            uses[key] += 1
            tool = named.get("tool", given[0] if "tool" in hook and given else None)
            if act.get("only", n) != n or ("tool" in act and getattr(tool, "name", "") != act["tool"]):
                return None
            context = named.get("callback_context") or named.get("tool_context")
            if context is not None:
                context.state.update(copy.deepcopy(act.get("state", {})))
            if "error" in act:
                raise ScriptedError(act["error"])
            return _answer(hook, copy.deepcopy(act["return"])) if "return" in act else None

        return called

    def plugin(self, spec: Json) -> Any:
        """A plugin whose hooks do what their acts say; those of the run look, raise, or answer with a content."""
        hooks = {}
        for hook, acts in spec.get("callbacks", {}).items():
            for act in acts:
                if hook in OF_THE_RUN and ("state" in act or (hook == "on_event" and "return" in act)):
                    raise Untranslatable(f"plugin hook {hook}, an answer or state")
            called = self.callback(hook, f"{spec['name']}.{hook}", acts[0] if acts else {})
            hooks[f"{hook}_callback"] = _coroutine(called)
        base = adk("google.adk.plugins.base_plugin").BasePlugin
        return type("ScriptedPlugin", (base,), hooks)(name=spec["name"])


def _coroutine(called: Callable[..., Any]) -> Callable[..., Any]:
    async def hook(self: Any, **named: Any) -> Any:
        return called(**named)

    return hook


def _answer(hook: str, value: Any) -> Any:
    if hook in ("before_agent", "after_agent", "on_user_message", "before_run", "after_run"):
        return types.Content.model_validate(value)
    if hook in ("before_model", "after_model", "on_model_error"):
        return adk("google.adk.models.llm_response").LlmResponse.model_validate(value)
    return value


def _do(act: Json, args: Json, context: Any) -> Any:
    for name, value in act.get("state", {}).items():
        context.state[name] = copy.deepcopy(value)
    if "transfer" in act:
        context.actions.transfer_to_agent = act["transfer"]
    if act.get("escalate"):
        context.actions.escalate = True
    if act.get("skip_summarization"):
        context.actions.skip_summarization = True
    if "error" in act:
        raise ScriptedError(act["error"])
    if act.get("nothing"):
        return None
    if act.get("echo"):
        return {"args": args}
    return copy.deepcopy(act.get("return", RESULT))


def _config(given: Json | None) -> types.GenerateContentConfig | None:
    return None if given is None else types.GenerateContentConfig.model_validate(given)


def _request(agent: str, request: Any) -> Json:
    """What the model is asked, as it is now."""
    instruction = request.config.system_instruction if request.config else None
    return {
        "at": "request",
        "agent": agent,
        "contents": to_json(request.contents),
        "instruction": instruction if isinstance(instruction, str) else to_json(instruction),
    }


def _only(given: Json, known: set[str], whose: str) -> Json:
    for name, value in given.items():
        if name not in known and value not in (None, "", False, [], {}):
            raise Untranslatable(f"{whose} {name!r}")
    return given
