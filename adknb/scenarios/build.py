"""From a scenario to something that runs: agents, plugins, a session with its past, and the turns to play.

Everything is made new on every call: doubles, counters, ids and clock start from zero, so the same scenario gives the
same run each time.

Source: golden/README.md (A scenario).
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Generator
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

from google.genai import types

from adknb.engine.agent import Agent
from adknb.engine.compaction import CompactionConfig
from adknb.engine.context import RunConfig
from adknb.engine.event import Event, function_calls_of
from adknb.engine.go_text import as_go_reads_json
from adknb.engine.llm_agent import LlmAgent
from adknb.engine.platform import Platform, TaskRunner, counted, in_order, reverse
from adknb.engine.plugin import Plugin
from adknb.engine.processors.confirmation import REQUEST_CONFIRMATION
from adknb.engine.runner import Runner
from adknb.engine.session import Session
from adknb.engine.workflow_agents import LoopAgent, ParallelAgent, SequentialAgent
from adknb.scenarios.acts import ScriptedCallback, ScriptedTool
from adknb.scenarios.format import check
from adknb.scenarios.gemini_double import GeminiDouble, gemini_double
from adknb.scenarios.scripted import Script, ScriptedModel, ScriptedSummarizer

TOOL_ORDERS: dict[str, TaskRunner] = {"in_order": in_order, "reverse": reverse}


@dataclass
class Turn:
    """One turn as the scenario has it. `message` is JSON that may name calls still to come: `$call:0`."""

    message: dict[str, Any]
    state_delta: dict[str, Any] | None = None
    stop_after: int | None = None


@dataclass
class Built:
    """A scenario, ready to run. `turns` are played in order, each with `iter`."""

    name: str
    runner: Runner
    user: str
    session_id: str
    turns: list[Turn]
    run_config: RunConfig
    event_limit: int
    script: Script
    confirmations: list[str] = field(default_factory=list)
    """The ids of the requests for approval yielded so far: what `$confirm:N` counts."""
    calls: list[str] = field(default_factory=list)
    """The ids of the other calls yielded so far: what `$call:N` counts."""
    scenario: dict[str, Any] = field(default_factory=dict, repr=False)
    run_tasks: TaskRunner | None = None

    def again(self) -> Built:
        """The same scenario, ready to run from the start; turns that were added come along."""
        built = build(self.scenario, run_tasks=self.run_tasks)
        built.turns = list(self.turns)
        return built

    def iter(self, turn: Turn) -> Generator[Any, None, None]:
        """Play a turn; a generator of Events and Stops, as `Runner.iter`."""
        items = self.runner.iter(
            self.message(turn),
            user_id=self.user,
            session_id=self.session_id,
            run_config=self.run_config,
            state_delta=copy.deepcopy(turn.state_delta),
        )
        with closing(items):
            for item in items:
                if isinstance(item, Event):
                    self.saw(item)
                yield item

    def saw(self, event: Event) -> None:
        """Note the calls of an event that the reader was given; chunks do not count."""
        if not event.partial:
            for call in function_calls_of(event.content):
                (self.confirmations if call.name == REQUEST_CONFIRMATION else self.calls).append(call.id or "")

    def message(self, turn: Turn) -> types.Content:
        """A turn's message, `$confirm:N` and `$call:N` filled in where there is such a call by now."""
        message: Any = turn.message
        return copy.deepcopy(message) if isinstance(message, types.Content) else self._content(message)

    def _content(self, message: dict[str, Any]) -> types.Content:
        return types.Content.model_validate(self._filled_in(message))

    def _filled_in(self, value: Any) -> Any:
        if isinstance(value, dict):
            return {key: self._filled_in(item) for key, item in value.items()}
        if isinstance(value, list):
            return [self._filled_in(item) for item in value]
        if isinstance(value, str):
            for prefix, ids in (("$confirm:", self.confirmations), ("$call:", self.calls)):
                number = value.removeprefix(prefix)
                if number != value and number.isascii() and number.isdigit() and int(number) < len(ids):
                    return ids[int(number)]
        return value

    @property
    def session(self) -> Session:
        """The session as it is stored now."""
        return self.runner.session_service.get(self.runner.app_name, self.user, self.session_id)


def build(
    scenario: dict[str, Any], log: list[dict[str, Any]] | None = None, run_tasks: TaskRunner | None = None
) -> Built:
    """Check a scenario and make what it describes.

    `log` gets the entries that doubles write when they are asked (golden/README.md, A trace). `run_tasks` stands in
    for the scenario's `tool_order`.

    Raises:
        BadData: the scenario is not as it should be.
        SetupRefused, ValueError: the agent tree cannot be.
    """
    scenario = as_go_reads_json(check(scenario))  # a copy, too
    script = Script(log)
    platform = counted(run_tasks or TOOL_ORDERS[scenario.get("tool_order", "in_order")])
    runner = Runner(
        agent=build_agent(scenario["agent"], script),
        app_name=scenario.get("app", "demo"),
        plugins=[build_plugin(spec, n, script) for n, spec in enumerate(scenario.get("plugins", []))],
        platform=platform,
        compaction=_compaction(scenario.get("compaction"), script),
    )
    built = Built(
        name=scenario["name"],
        runner=runner,
        user=scenario.get("user", "user"),
        session_id=scenario.get("session", "s1"),
        turns=[Turn(t["message"], t.get("state_delta"), t.get("stop_after")) for t in scenario["turns"]],
        run_config=RunConfig(scenario.get("run_config", {}).get("streaming_mode", "")),
        event_limit=scenario.get("event_limit", 200),
        script=script,
        scenario=scenario,
        run_tasks=run_tasks,
    )
    _give_a_past(built, scenario, platform)
    return built


def _give_a_past(built: Built, scenario: dict[str, Any], platform: Platform) -> None:
    """The session with its state, the artifacts, and the events of before; ids and times that are missing are made."""
    runner = built.runner
    session = runner.session_service.create(runner.app_name, built.user, built.session_id, scenario.get("state", {}))
    for name, text in scenario.get("artifacts", {}).items():
        runner.artifact_service.save(session, name, types.Part(text=text))
    for n, given in enumerate(scenario.get("events", [])):
        event = Event.from_json(given, f"events[{n}]")
        event.id = event.id or f"given-{n}"  # the run's own are counted from its first turn
        event.timestamp = event.timestamp or platform.clock()
        runner.session_service.append_event(session, event)


def build_agent(spec: dict[str, Any], script: Script) -> Agent:
    """The agent that a scenario describes, with its sub-agents."""
    name = spec["name"]
    common: dict[str, Any] = {
        "name": name,
        "description": spec.get("description", ""),
        "sub_agents": [build_agent(child, script) for child in spec.get("sub_agents", [])],
        **{
            hook: [ScriptedCallback(hook, f"agent:{name}#{i}", act, script) for i, act in enumerate(acts)]
            for hook, acts in spec.get("callbacks", {}).items()
        },
    }
    if spec["type"] == "loop":
        return LoopAgent(**common, max_iterations=spec.get("max_iterations", 0))
    if spec["type"] != "llm":
        return {"sequential": SequentialAgent, "parallel": ParallelAgent}[spec["type"]](**common)
    config = spec.get("generate_content_config")
    return LlmAgent(
        **common,
        model=_model(spec["model"], name, script) if "model" in spec else None,
        instruction=_instruction(spec),
        tools=[ScriptedTool(t, f"tool {t['name']}", script) for t in spec.get("tools", [])],  # runs count by name
        output_schema=_schema(spec.get("output_schema")),
        input_schema=_schema(spec.get("input_schema")),
        generate_content_config=None if config is None else types.GenerateContentConfig.model_validate(config),
        **{key: spec[key] for key in AS_THEY_ARE if key in spec},
    )


AS_THEY_ARE = (
    "global_instruction",
    "output_key",
    "include_contents",
    "mode",
    "disallow_transfer_to_parent",
    "disallow_transfer_to_peers",
)
"""Fields of an LLM agent that LlmAgent takes under the same name."""


def build_plugin(spec: dict[str, Any], n: int, script: Script) -> Plugin:
    """The plugin that a scenario describes."""
    name = spec.get("name", f"plugin_{n}")
    hooks = {
        hook: ScriptedCallback(hook, f"plugin:{name}", acts[0], script)
        for hook, acts in spec.get("callbacks", {}).items()
        if acts
    }
    return Plugin(name, **hooks)


def _model(spec: dict[str, Any], agent: str, script: Script) -> ScriptedModel | GeminiDouble:
    if spec.get("gemini"):
        return gemini_double(spec, agent, script)
    return ScriptedModel(spec.get("calls", []), spec.get("name", "scripted"), script, agent)


def _instruction(spec: dict[str, Any]) -> str | Callable[[Any], str]:
    """The text, or a provider that returns one."""
    if "instruction_provided" not in spec:
        return str(spec.get("instruction", ""))
    provided = str(spec["instruction_provided"])

    def instruction_provider(ctx: Any) -> str:
        return provided

    return instruction_provider


def _schema(spec: dict[str, Any] | None) -> types.Schema | None:
    return None if spec is None else types.Schema.model_validate(spec)


def _compaction(spec: dict[str, Any] | None, script: Script) -> CompactionConfig | None:
    if spec is None:
        return None
    summarizer = ScriptedSummarizer(spec.get("summary"), spec.get("error"), script)
    return CompactionConfig(spec.get("token_threshold", 0), spec.get("event_retention_size", 0), summarizer=summarizer)
