"""What an LLM agent is configured with, as processors read it.

Go: internal/llminternal/agent.go, State

Processors stand below the agents that run them, so they know these settings and not `LlmAgent`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from google.genai import types

from adknb.engine.agent import Agent
from adknb.engine.model import LLM
from adknb.engine.tool import Tool, Toolset

CHAT, TASK, SINGLE_TURN = "chat", "task", "single_turn"
MODES = ("", CHAT, TASK, SINGLE_TURN)

Instruction = str | Callable[[Any], str]
"""A template with `{placeholders}`, or a function of the Context whose text is taken as it is."""


@dataclass
class LlmSettings:
    """The settings of one LLM agent. `mode` is the declared one; `tools` already holds delegation tools."""

    model: LLM | None = None
    instruction: Instruction = ""
    global_instruction: Instruction = ""
    tools: list[Tool] = field(default_factory=list)
    toolsets: list[Toolset] = field(default_factory=list)
    output_key: str = ""
    output_schema: types.Schema | None = None
    input_schema: types.Schema | None = None
    include_contents: str = ""
    mode: str = ""
    disallow_transfer_to_parent: bool = False
    disallow_transfer_to_peers: bool = False
    generate_content_config: types.GenerateContentConfig | None = None


def settings_of(agent: Agent | None) -> LlmSettings | None:
    """The settings of an LLM agent; None for any other kind."""
    return agent if isinstance(agent, LlmSettings) else None


def is_llm(agent: Agent | None) -> bool:
    """Whether it is an LLM agent."""
    return isinstance(agent, LlmSettings)


def delegates_to(agent: Agent) -> bool:
    """Whether a parent reaches this agent by a tool of its name: an LLM agent declared task or single_turn."""
    return isinstance(agent, LlmSettings) and agent.mode in (TASK, SINGLE_TURN)


def backend_of(model: LLM | None) -> str:
    """What the model says of its backend: `"gemini_api"`, `"vertex"`, or `""` when it does not tell."""
    return str(getattr(model, "backend", "") or "")
