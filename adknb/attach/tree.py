"""An agent tree of google-adk as one of ours, to be looked at: names, places, tools, settings. It is never run."""

from __future__ import annotations

from typing import Any

from google.genai import types

from adknb.attach.adk import adk
from adknb.engine.agent import Agent
from adknb.engine.llm_agent import LlmAgent
from adknb.engine.model import FunctionModel
from adknb.engine.runner import Runner
from adknb.engine.tool import Tool
from adknb.engine.workflow_agents import LoopAgent, ParallelAgent, SequentialAgent


class ShownTool(Tool):
    """A tool of google-adk's, by name and description."""

    def __init__(self, theirs: Any) -> None:
        self.name = str(getattr(theirs, "name", None) or getattr(theirs, "__name__", type(theirs).__name__))
        self.description = str(getattr(theirs, "description", None) or theirs.__doc__ or "")
        self.is_long_running = bool(getattr(theirs, "is_long_running", False))
        self._theirs = theirs

    def declaration(self) -> types.FunctionDeclaration | None:
        """As google-adk tells the model."""
        told = getattr(self._theirs, "_get_declaration", None)
        return told() if told is not None else None


class ShownRunner(Runner):
    """A runner of ours that stands for an attached one; `more_stops` are names that google-adk alone stops at."""

    more_stops: frozenset[str] = frozenset()


def shown_agent(theirs: Any) -> Agent:
    """An agent, or another node, with all below it."""
    name = str(getattr(theirs, "name", "") or type(theirs).__name__)
    children = [shown_agent(child) for child in getattr(theirs, "sub_agents", ())]
    about = str(getattr(theirs, "description", "") or "")
    if not isinstance(theirs, adk("google.adk.agents.llm_agent").LlmAgent):
        for kind in (SequentialAgent, ParallelAgent, LoopAgent):
            if kind.__name__ in {cls.__name__ for cls in type(theirs).__mro__}:
                return kind(name, about, children)
        return Agent(name, about, children)
    given = theirs.model
    model = str(given if isinstance(given, str) else getattr(given, "model", "") or "model")
    return LlmAgent(
        name,
        FunctionModel(_never, model),
        theirs.instruction if isinstance(theirs.instruction, str) else "",
        about,
        [ShownTool(tool) for tool in theirs.tools],
        children,
        output_key=theirs.output_key or "",
        include_contents="none" if theirs.include_contents == "none" else "",
        disallow_transfer_to_parent=theirs.disallow_transfer_to_parent,
        disallow_transfer_to_peers=theirs.disallow_transfer_to_peers,
    )


def names_of(theirs: Any, plugins: Any) -> set[str]:
    """The names of an agent tree's callbacks and plugins, and of the processors of its flows."""
    flow = adk("google.adk.flows.llm_flows.auto_flow").AutoFlow()
    lists = (flow.request_processors, getattr(flow, "tool_request_processors", []), flow.response_processors)
    names = {getattr(p, "name", "") or type(p).__name__.strip("_") for listed in lists for p in listed}
    names |= {plugin.name for plugin in plugins}
    todo = [theirs]
    while todo:
        agent = todo.pop()
        todo += getattr(agent, "sub_agents", ())
        for field in dir(type(agent)):
            if field.startswith("canonical_") and field.endswith("_callbacks"):
                found = getattr(agent, field)
                names |= {str(getattr(c, "__name__", type(c).__name__)) for c in found}
    return names


def _never(request: Any) -> Any:
    raise RuntimeError("this model only shows its name: the attached agent runs google-adk's own")
