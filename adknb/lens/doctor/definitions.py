"""What the agents were defined as: trees of definitions in the fields of a scenario, or a run's own agents.

Read leniently: a session comes with as much of its agents as somebody wrote down. A field in camelCase counts too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from adknb.engine.agent import Agent
from adknb.engine.errors import BadData
from adknb.engine.event_json import snake
from adknb.engine.llm_settings import SINGLE_TURN, TASK, settings_of
from adknb.engine.schema import found
from adknb.lens.doctor.entry import FINISH_TASK, SET_MODEL_RESPONSE, TRANSFER

LLM = "llm"
ORDERED = ("sequential", "loop")
WORKFLOWS = (*ORDERED, "parallel")
ALWAYS_CALLABLE = ("stop_streaming", "task_completed")
"""What a model may call though no agent lists it: the framework answers."""


@dataclass(eq=False)
class Definition:
    """One agent. `instruction` and `global_instruction` are the static texts; empty where a provider gives the text."""

    name: str
    kind: str = LLM
    instruction: str = ""
    global_instruction: str = ""
    tools: dict[str, bool] = field(default_factory=dict)
    """Name of a tool -> whether it is long-running."""
    has_toolsets: bool = False
    declared: list[str] = field(default_factory=list)
    """Names of the functions that its generation config declares."""
    output_key: str = ""
    has_schema: bool = False
    include_contents: str = ""
    mode: str = ""
    stays_below: bool = False
    """It may not transfer to its parent."""
    keeps_from_peers: bool = False
    """It may not transfer to its peers."""
    sub_agents: list[Definition] = field(default_factory=list)
    parent: Definition | None = None

    @property
    def is_llm(self) -> bool:
        """Whether a model speaks for it."""
        return self.kind == LLM

    @property
    def delegated(self) -> bool:
        """Whether its parent calls it like a tool."""
        return self.is_llm and self.mode in (TASK, SINGLE_TURN)

    @property
    def root(self) -> Definition:
        """The topmost agent of its tree."""
        return self.parent.root if self.parent is not None else self

    @property
    def line(self) -> list[Definition]:
        """The agent and all above it, the root first."""
        return [*(self.parent.line if self.parent is not None else ()), self]

    @property
    def targets(self) -> list[str]:
        """Whom it may transfer to (R7.2): sub-agents, the parent, the peers; none that is called like a tool."""
        if not self.is_llm:
            return []
        legal = [child.name for child in self.sub_agents if not child.delegated]
        if self.parent is not None and self.parent.is_llm:
            if not self.stays_below:
                legal.append(self.parent.name)
            if not self.keeps_from_peers:
                legal += [peer.name for peer in self.parent.sub_agents if peer is not self and not peer.delegated]
        return legal

    @property
    def callable_names(self) -> set[str]:
        """Everything its model may call (X6.3): tools, children run as tools, and what the framework adds."""
        names = {*self.tools, *ALWAYS_CALLABLE, *(child.name for child in self.sub_agents if child.delegated)}
        if self.targets:
            names.add(TRANSFER)
        if self.has_schema:
            names.add(SET_MODEL_RESPONSE)
        if self.mode == TASK:
            names.add(FINISH_TASK)
        return names

    @property
    def tasks(self) -> set[str]:
        """The names of the sub-agents that it delegates tasks to."""
        return {child.name for child in self.sub_agents if child.is_llm and child.mode == TASK}


class Definitions:
    """All agents that are defined, by name and in order; of two that share a name the first counts."""

    def __init__(self, roots: list[Definition]) -> None:
        self.roots = roots
        self.by_name: dict[str, Definition] = {}
        for one in self:
            self.by_name.setdefault(one.name, one)

    def __iter__(self) -> Iterator[Definition]:
        level = list(reversed(self.roots))
        while level:
            one = level.pop()
            yield one
            level.extend(reversed(one.sub_agents))

    def get(self, name: str) -> Definition | None:
        """The agent of that name; None if none is defined."""
        return self.by_name.get(name)


def meeting(a: Definition, b: Definition) -> tuple[Definition, list[Definition], list[Definition]] | None:
    """Where two agents meet: their nearest common ancestor (or one of the two), and the ways down to each."""
    above_a, above_b = a.line, b.line
    if above_a[0] is not above_b[0]:
        return None
    n = next((i for i, (x, y) in enumerate(zip(above_a, above_b, strict=False)) if x is not y), None)
    n = min(len(above_a), len(above_b)) if n is None else n
    return above_a[n - 1], above_a[n:], above_b[n:]


def stands_before(earlier: Definition, later: Definition) -> bool | None:
    """Whether one agent runs before another under their nearest common sequential or loop agent; None: neither."""
    met = meeting(earlier, later)
    if met is None or met[0].kind not in ORDERED or not met[1] or not met[2]:
        return None
    members = met[0].sub_agents
    return members.index(met[1][0]) < members.index(met[2][0])


def stands_beside(a: Definition, b: Definition) -> bool:
    """Whether two agents run side by side under a parallel one."""
    met = meeting(a, b)
    return met is not None and met[0].kind == "parallel" and bool(met[1]) and bool(met[2])


# ------------------------------------------------------------------------------------------------------------ from JSON


def definitions_from_json(data: Any, where: str = "agents") -> Definitions:
    """Read trees of definitions: a list of them, or one alone.

    Raises:
        BadData: naming the place and what was expected there.
    """
    trees = [data] if isinstance(data, dict) else _expect(data, list, where)
    return Definitions([_definition(tree, f"{where}[{i}]", None) for i, tree in enumerate(trees)])


def _definition(data: Any, where: str, parent: Definition | None, depth: int = 0) -> Definition:
    if depth > 60:
        raise BadData(where, "agents are nested deeper than 60 levels")
    given = {snake(key): value for key, value in _expect(data, dict, where).items() if value is not None}

    def text(key: str) -> str:
        return str(_expect(given.get(key, ""), str, f"{where}.{key}"))

    def flag(key: str) -> bool:
        return bool(_expect(given.get(key, False), bool, f"{where}.{key}"))

    one = Definition(
        name=text("name"),
        kind=text("type") or LLM,
        instruction="" if "instruction_provided" in given else text("instruction"),
        global_instruction=text("global_instruction"),
        tools=dict(_tool(tool, f"{where}.tools[{i}]") for i, tool in enumerate(_listed(given, "tools", where))),
        has_toolsets=bool(given.get("toolsets")),
        declared=declared_in(given.get("generate_content_config")),
        output_key=text("output_key"),
        has_schema="output_schema" in given,
        include_contents=text("include_contents"),
        mode=text("mode"),
        stays_below=flag("disallow_transfer_to_parent"),
        keeps_from_peers=flag("disallow_transfer_to_peers"),
        parent=parent,
    )
    if not one.name:
        raise BadData(f"{where}.name", "an agent needs a name")
    children = enumerate(_listed(given, "sub_agents", where))
    one.sub_agents = [_definition(child, f"{where}.sub_agents[{i}]", one, depth + 1) for i, child in children]
    return one


def _tool(data: Any, where: str) -> tuple[str, bool]:
    """A tool's name, and whether it is long-running; a tool may be given by its name alone."""
    if isinstance(data, str):
        return data, False
    given = {snake(key): value for key, value in _expect(data, dict, where).items()}
    return str(_expect(given.get("name", ""), str, f"{where}.name")), bool(given.get("long_running"))


def declared_in(config: Any) -> list[str]:
    """The names of the functions that a generation config (JSON) declares."""
    names = []
    tools = config.get("tools") if isinstance(config, dict) else None
    for tool in tools if isinstance(tools, list) else ():
        if isinstance(tool, dict):
            functions = tool.get("functionDeclarations") or tool.get("function_declarations")
            for function in functions if isinstance(functions, list) else ():
                if isinstance(function, dict) and isinstance(function.get("name"), str):
                    names.append(function["name"])
    return names


def _listed(given: dict[str, Any], key: str, where: str) -> list[Any]:
    listed: list[Any] = _expect(given.get(key, []), list, f"{where}.{key}")
    return listed


def _expect(value: Any, kind: type, where: str) -> Any:
    if isinstance(value, kind):
        return value
    wanted = {dict: "an object", list: "a list", str: "a text", bool: "true or false"}[kind]
    raise BadData(where, f"expected {wanted}, found {found(value)}")


# ----------------------------------------------------------------------------------------------------- from a run's own


def definitions_of(root: Agent) -> Definitions:
    """The definitions of a run's own agents."""
    return Definitions([_of_agent(root, None)])


def _of_agent(agent: Agent, parent: Definition | None) -> Definition:
    one = Definition(name=agent.name, kind=agent.kind, parent=parent)
    if (settings := settings_of(agent)) is not None:
        config = settings.generate_content_config
        one.instruction = settings.instruction if isinstance(settings.instruction, str) else ""
        shared = settings.global_instruction
        one.global_instruction = shared if isinstance(shared, str) else ""
        one.tools = {tool.name: tool.is_long_running for tool in settings.tools}
        one.has_toolsets = bool(settings.toolsets)
        one.declared = _declared_by(config.tools or []) if config is not None else []
        one.output_key, one.has_schema = settings.output_key, settings.output_schema is not None
        one.include_contents, one.mode = settings.include_contents, settings.mode
        one.stays_below = settings.disallow_transfer_to_parent
        one.keeps_from_peers = settings.disallow_transfer_to_peers
    one.sub_agents = [_of_agent(child, one) for child in agent.sub_agents]
    return one


def _declared_by(tools: Iterable[Any]) -> list[str]:
    functions = [one for tool in tools for one in getattr(tool, "function_declarations", None) or ()]
    return [function.name for function in functions if function.name]
