"""The whole request of a recorded call, once the agent's definition is there: instruction, config, tools, contents.

The engine's own processors build it, over the events and the state of then. Two of them act, and are left out: the one
that runs approved tools and the one that writes summaries. No model, tool or callback is run.

Go: internal/llminternal/base_flow.go, preprocess
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from google.genai import types

from adknb.engine.agent import Agent
from adknb.engine.compaction import CompactionConfig
from adknb.engine.context import InvocationContext
from adknb.engine.errors import ArtifactError, FlowError, StateKeyMissing
from adknb.engine.event import Event
from adknb.engine.flow import Flow
from adknb.engine.llm_settings import SINGLE_TURN, settings_of
from adknb.engine.model import LLMRequest
from adknb.engine.platform import counted
from adknb.engine.processors import REQUEST_PROCESSORS
from adknb.engine.processors.compaction import compaction
from adknb.engine.processors.confirmation import confirmation
from adknb.engine.processors.contents import Assembly
from adknb.engine.processors.instructions import GO_SPACE, TOKEN
from adknb.engine.session import InMemorySessionService, Session
from adknb.engine.stops import name_of
from adknb.files.definition import Definition
from adknb.files.states import unknown_until_written

ACTING = (confirmation, compaction)
"""Processors that run or write something."""


@dataclass
class Attached:
    """A request, how its contents came about, and what of it could not be told."""

    request: LLMRequest
    assembly: Assembly | None
    untold: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Place:
    """Where and when a call was made."""

    events: Sequence[Event]
    state: dict[str, Any]
    branch: str = ""
    scope: str = ""
    delegate: bool = False
    user_content: types.Content | None = None
    private_events: Sequence[Event] = ()
    private_after: int = 0
    compaction: bool = False


def build_request(agent: Agent, place: Place) -> Attached:
    """Build the request that an agent's model call was given.

    Raises:
        FlowError: ADK-Go does not build it.
    """
    settings = settings_of(agent)
    model = settings.model if settings is not None else None
    ctx = _context(agent, place)
    made = Attached(LLMRequest(model=model.name if model is not None else ""), None)
    flow = Flow(model=model, toolsets=settings.toolsets if settings is not None else [])
    for processor in getattr(agent, "request_processors", REQUEST_PROCESSORS):
        if processor in ACTING:
            continue
        if inspect.isgeneratorfunction(processor):
            made.untold.append(
                f"What the processor {name_of(processor)} does: it has events of its own, and is not run."
            )
            continue
        try:
            processor(ctx, made.request, flow)
        except (StateKeyMissing, ArtifactError) as error:
            made.untold.append(f"The whole instruction of {agent.name}: {error}.")
    try:
        flow.declare_tools(ctx, made.request)
    except FlowError as error:
        made.untold.append(f"All tools of {agent.name}: {error}.")
    made.assembly = flow.assembly
    return made


def _context(agent: Agent, place: Place) -> InvocationContext:
    service = InMemorySessionService()
    mode = SINGLE_TURN if place.delegate else getattr(agent, "mode", "") or "chat"
    return InvocationContext(
        agent=agent,
        session=Session("recorded", "recorded", "user", place.state, list(place.events)),
        session_service=service,
        platform=counted(),
        branch=place.branch,
        isolation_scope=place.scope,
        user_content=place.user_content,
        binding=(agent.name, mode),
        compaction=CompactionConfig() if place.compaction else None,
        private_events=list(place.private_events),
        private_after=place.private_after,
    )


def not_told(
    agent: Agent, definition: Definition, events: Sequence[Event], before: int, final: dict[str, Any]
) -> list[str]:
    """What an attached definition leaves open about a request: a sentence each."""
    said = list(definition.untold.get(agent.name, ()))
    keys = _asked_for(agent)
    unsure = [key for key, first in unknown_until_written(events, final).items() if key in keys and first >= before]
    if unsure:
        said.append(
            f"The value of {', '.join(unsure)} in the instruction of {agent.name}: only later events write it, and "
            "what the session began with is not in the file."
        )
    hooks = [name for name, listed in _hooks(agent).items() if listed]
    if hooks:
        said.append(f"What the callbacks of {agent.name} changed ({', '.join(hooks)}): they are not run here.")
    said.append(
        f"What plugins changed on the way to the model, and whether the definition of {agent.name} was this one then."
    )
    return said


def _asked_for(agent: Agent) -> set[str]:
    """State keys that the instructions of an agent name."""
    first, own = settings_of(agent.root), settings_of(agent)
    texts = [first.global_instruction if first else "", own.instruction if own else ""]
    found: set[str] = set()
    for text in texts:
        if isinstance(text, str):
            found |= {token.strip("{}").strip(GO_SPACE).removesuffix("?") for token in TOKEN.findall(text)}
    return found


def _hooks(agent: Agent) -> dict[str, Any]:
    model, before = getattr(agent, "model_callbacks", None), agent.before_agent
    return {"before_agent": before, "before_model": getattr(model, "before_model", None)}
