"""The definition of the agents of a session: what a file of events does not have.

It comes as an agent of adknb, as ADK's Agent Config (YAML), or as trees in the fields of a scenario.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from google.genai import types

from adknb.engine.agent import Agent
from adknb.engine.context import Context
from adknb.engine.errors import AdknbError, BadData
from adknb.engine.event_json import to_json
from adknb.engine.llm_settings import LlmSettings, settings_of
from adknb.engine.model import LLMRequest
from adknb.engine.tool import Tool
from adknb.files.agent_config import Untold, read_config
from adknb.files.session_file import Json

BUILT_IN: dict[str, types.Tool] = {
    "google_search": types.Tool(google_search=types.GoogleSearch()),
    "url_context": types.Tool(url_context=types.UrlContext()),
    "google_maps_grounding": types.Tool(google_maps=types.GoogleMaps()),
    "enterprise_web_search": types.Tool(enterprise_web_search=types.EnterpriseWebSearch()),
}
"""Tools that the model's side runs: what they add to a request is known by their names."""


class BuiltIn(Tool):
    """A tool that the model's side runs. Go: tool/geminitool/tool.go, New"""

    def __init__(self, name: str) -> None:
        self.name = name

    def process_request(self, ctx: Context, request: LLMRequest) -> None:
        """Add the tool to the config; there is nothing to run here."""
        request.config.tools = [*(request.config.tools or []), BUILT_IN[self.name].model_copy(deep=True)]


@dataclass
class Definition:
    """Agents, as far as they are known. `trees` are in the fields of a scenario, a tool perhaps by its name only."""

    name: str
    trees: list[Json]
    roots: list[Agent] = field(repr=False)
    untold: Untold = field(default_factory=dict)

    def agent(self, name: str) -> Agent | None:
        """The agent of that name."""
        return next((found for root in self.roots if (found := root.find(name)) is not None), None)

    def first(self) -> str | None:
        """The first agent that a model speaks for: the root, or whom a workflow begins with."""
        return next((a.name for root in self.roots for a in root.tree() if settings_of(a) is not None), None)

    def names(self) -> Iterator[str]:
        """The names of all agents, parents first."""
        for root in self.roots:
            for agent in root.tree():
                yield agent.name

    def parents(self) -> dict[str, str | None]:
        """Who stands under whom."""
        return {a.name: a.parent.name if a.parent else None for root in self.roots for a in root.tree()}


def definition_of(given: Any) -> Definition:
    """The definition that an agent, a path, a tree or a list of trees stands for.

    Raises:
        BadData: it is none of these, or not as it should be; names the place.
    """
    if isinstance(given, Definition):
        return given
    if isinstance(given, Agent):
        root = given.root
        return Definition(root.name, [tree_of(root)], [root])
    if isinstance(given, (str, os.PathLike)):
        path = Path(given)
        if path.is_dir():
            path = path / "root_agent.yaml"
        tree, untold = read_config(path)
        return _built(path.name, [tree], untold)
    if isinstance(given, dict):
        return _built("definition", [given], {})
    if isinstance(given, (list, tuple)) and given and all(isinstance(item, dict) for item in given):
        return _built("definition", list(given), {})
    kind = f"{type(given).__module__}.{type(given).__name__}"
    raise BadData("agent", f"expected an agent of adknb, a path to ADK's Agent Config or a tree, found {kind}")


def _built(name: str, trees: list[Json], untold: Untold) -> Definition:
    from adknb.scenarios.build import build_agent
    from adknb.scenarios.format import check
    from adknb.scenarios.scripted import Script

    roots = []
    for i, tree in enumerate(trees):
        named: dict[str, list[str]] = {}
        whole = _with_declared_tools(tree, named)
        where = name if len(trees) == 1 else f"{name}[{i}]"
        check({"name": "definition", "agent": whole, "turns": []}, where)
        try:
            root = build_agent(whole, Script())
        except (AdknbError, ValueError, TypeError) as error:
            raise BadData(where, str(error)) from None
        _add_built_in(root, named)
        for agent, tools in named.items():
            if unknown := [tool for tool in tools if tool not in BUILT_IN]:
                untold.setdefault(agent, []).append(
                    f"The declarations of tools of {agent}: the definition has their names only ({', '.join(unknown)})."
                )
        roots.append(root)
    names = [agent.name for root in roots for agent in root.tree()]
    if twice := next((n for n in names if names.count(n) > 1), ""):
        raise BadData(name, f"two agents are called {twice!r}; names must be unique")
    return Definition(name, trees, roots, untold)


def _with_declared_tools(tree: Json, named: dict[str, list[str]]) -> Json:
    """The tree without tools of which only the name is known; those are noted."""
    whole = dict(tree)
    tools = whole.get("tools")
    if isinstance(tools, list):
        by_name = [tool for tool in tools if isinstance(tool, str)]
        if by_name:
            named.setdefault(str(tree.get("name")), []).extend(by_name)
            whole["tools"] = [tool for tool in tools if not isinstance(tool, str)]
    children = whole.get("sub_agents")
    if isinstance(children, list):
        whole["sub_agents"] = [_with_declared_tools(c, named) if isinstance(c, dict) else c for c in children]
    return whole


def _add_built_in(root: Agent, named: dict[str, list[str]]) -> None:
    for agent in root.tree():
        settings = settings_of(agent)
        if settings is not None:
            settings.tools += [BuiltIn(tool) for tool in named.get(agent.name, ()) if tool in BUILT_IN]


# ---------------------------------------------------------------------------------------------------- from live agents


def tree_of(agent: Agent) -> Json:
    """An agent and those below it, in the fields of a scenario."""
    kind = agent.kind if agent.kind in ("llm", "sequential", "parallel", "loop") else "sequential"
    tree: Json = {"type": kind, "name": agent.name}
    if agent.description:
        tree["description"] = agent.description
    if kind == "loop":
        tree["max_iterations"] = getattr(agent, "max_iterations", 0)
    settings = settings_of(agent)
    if settings is not None:
        tree.update(_settings(settings))
    hidden = {tool.name for tool in settings.tools} if settings is not None else set()
    if agent.sub_agents:
        tree["sub_agents"] = [tree_of(child) for child in agent.sub_agents]
        delegates = {c.name for c in agent.sub_agents if c.name in hidden}
        tree["tools"] = [t for t in tree.get("tools", []) if t["name"] not in delegates]
        if not tree["tools"]:
            del tree["tools"]
    return tree


def _settings(settings: LlmSettings) -> Json:
    tree: Json = {}
    for key in ("instruction", "global_instruction"):
        text = getattr(settings, key)
        if isinstance(text, str) and text:
            tree[key] = text
    for key in ("output_key", "include_contents", "mode", "disallow_transfer_to_parent", "disallow_transfer_to_peers"):
        if value := getattr(settings, key):
            tree[key] = value
    for key in ("output_schema", "input_schema", "generate_content_config"):
        if (record := getattr(settings, key)) is not None:
            tree[key] = to_json(record)
    if settings.model is not None:
        tree["model"] = {"name": settings.model.name}
    tools = [_tool(tool) for tool in settings.tools if tool.name not in ("finish_task",)]
    if tools:
        tree["tools"] = tools
    return tree


def _tool(tool: Tool) -> Json:
    told: Json = {"name": tool.name}
    if tool.description:
        told["description"] = tool.description
    parameters = getattr(tool, "parameters", None)
    if isinstance(parameters, dict):
        told["parameters"] = parameters
    if tool.is_long_running:
        told["long_running"] = True
    if getattr(tool, "require_confirmation", False) is True:
        told["require_confirmation"] = True
    return told
