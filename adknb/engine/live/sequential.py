"""A sequence in a live run: its members one after the other, each on a connection of its own (spec/live.md §16).

Go: agent/workflowagents/sequentialagent/agent.go, sequentialAgent.RunLive
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

from google.genai import types

from adknb.engine.agent import Agent
from adknb.engine.context import InvocationContext
from adknb.engine.live.errors import LiveUnsupported
from adknb.engine.live.flow import TASK_COMPLETED
from adknb.engine.live.items import BEFORE_MEMBER, YieldedError
from adknb.engine.live.session import LiveSession
from adknb.engine.llm_settings import settings_of
from adknb.engine.tool import FunctionTool

# What the model reads is the reference's own text, as golden/live_transcripts.txt has it.
WHEN_FINISHED = (
    f"\nIf you finished the user's request according to its description, call the {TASK_COMPLETED} function to exit so "
    "the next agents can take over. When calling this function, do not generate any text other than the function call."
)
SIGNALED = "Task completion signaled."


class TaskCompleted(FunctionTool):
    """The tool by which a member says that the next one may take over.

    Go: agent/workflowagents/sequentialagent/agent.go, sequentialAgent.RunLive
    """

    def __init__(self) -> None:
        super().__init__(
            lambda: {"result": SIGNALED},
            name=TASK_COMPLETED,
            description="Says that the user's request is done, so that the next agent takes over.",
            parameters={"type": "object", "additionalProperties": False},
        )

    def declaration(self) -> types.FunctionDeclaration:
        """The declaration, with what the answer looks like."""
        declared = super().declaration()
        declared.response_json_schema = {
            "type": "object",
            "properties": {"result": {"type": "string"}},
            "required": ["result"],
            "additionalProperties": False,
        }
        return declared


def run_sequence(agent: Agent, ctx: InvocationContext, session: LiveSession) -> Generator[Any, None, None]:
    """Prepare the members; then run them in order, each when somebody reads.

    Errors met while one runs are told and passed over; one that cannot start ends the sequence.

    Raises:
        LiveUnsupported: at once: there is no member. Later: a member cannot run live. LiveConfigMissing: likewise.

    Go: agent/workflowagents/sequentialagent/agent.go, sequentialAgent.RunLive
    """
    if not agent.sub_agents:
        raise LiveUnsupported(f"agent {agent.name!r} cannot run live: a sequence needs at least one member")
    for member in agent.sub_agents:
        prepare_member(member)
    return _one_after_the_other(agent, ctx, session)


def _one_after_the_other(agent: Agent, ctx: InvocationContext, session: LiveSession) -> Generator[Any, None, None]:
    for member in agent.sub_agents:
        yield BEFORE_MEMBER
        if session.over:
            return
        items = live_run_of(member, ctx.derive(agent=member), session)
        try:
            yield from items
        except Exception as error:
            yield YieldedError(error)
        finally:
            if session.line is not None:
                session.line.close()
            session.line = None


def prepare_member(member: Agent) -> None:
    """Give an LLM member its way out: the tool, and a sentence that says when. This changes the agent for good (§16.1).

    Go: agent/workflowagents/sequentialagent/agent.go, sequentialAgent.RunLive
    """
    settings = settings_of(member)
    if settings is None or any(tool.name == TASK_COMPLETED for tool in settings.tools):
        return
    settings.tools.append(TaskCompleted())
    if isinstance(settings.instruction, str):  # a function says all by itself
        settings.instruction += WHEN_FINISHED


def live_run_of(agent: Agent, ctx: InvocationContext, session: LiveSession) -> Generator[Any, None, None]:
    """The agent's live run; what can be said before anything is sent is raised at once.

    Raises:
        LiveUnsupported: neither an LLM agent nor a sequence, or a model that cannot be talked to live.
        LiveConfigMissing: the run has no LiveConfig.

    Go: runner/runner.go, liveAgent
    """
    runs_live(agent)
    items: Generator[Any, None, None] = agent.run_live(ctx, session)  # type: ignore[attr-defined]
    return items


def runs_live(agent: Agent) -> None:
    """Raises LiveUnsupported for an agent that has no live run."""
    if not callable(getattr(agent, "run_live", None)):
        raise LiveUnsupported(f"agent {agent.name!r} ({agent.kind}) cannot run live: LLM agents and sequences can")
