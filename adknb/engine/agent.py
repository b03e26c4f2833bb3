"""Agent: a name, a place in the tree, and what happens around its run.

Go: agent/agent.go, Agent, New, runBeforeAgentCallbacks, runAfterAgentCallbacks
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import replace
from typing import Any

from google.genai import types

from adknb.engine.context import Context, InvocationContext
from adknb.engine.event import Event, EventActions
from adknb.engine.plugin import as_callbacks, hooks_of
from adknb.engine.stops import Seam, Steps, Stop, first_answer

Callbacks = Callable[..., Any] | Sequence[Callable[..., Any]] | None
"""One function, several in order, or none."""


class Agent:
    """What every agent has. Subclasses say in `run_body` what theirs does.

    Raises:
        ValueError: a name is empty or used twice in the tree, or a sub-agent has a parent already.
        TypeError: the description is not a text, or a sub-agent is not an agent.
    """

    kind = "custom"

    def __init__(
        self,
        name: str,
        description: str = "",
        sub_agents: Sequence[Agent] = (),
        before_agent: Callbacks = None,
        after_agent: Callbacks = None,
    ) -> None:
        if not name:
            raise ValueError("an agent needs a name")
        if name == "user":
            raise ValueError("no agent can be called 'user': that is the author of the user's own events")
        if not isinstance(description, str):
            raise TypeError(f"agent {name!r}: description is a text, not a {type(description).__name__}")
        for child in sub_agents:
            if not isinstance(child, Agent):
                raise TypeError(f"agent {name!r}: sub_agents holds agents, not a {type(child).__name__}")
        self.name = name
        self.description = description
        self.parent: Agent | None = None
        self.sub_agents = list(sub_agents)
        self.before_agent = as_callbacks(before_agent)
        self.after_agent = as_callbacks(after_agent)
        for child in self.sub_agents:
            if child.parent is not None:
                raise ValueError(f"agent {child.name!r} is a sub-agent of {child.parent.name!r} already")
            child.parent = self

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"

    @property
    def root(self) -> Agent:
        """The topmost agent above this one."""
        return self if self.parent is None else self.parent.root

    def tree(self) -> Iterator[Agent]:
        """This agent and all below it, parents first."""
        yield self
        for child in self.sub_agents:
            yield from child.tree()

    def find(self, name: str) -> Agent | None:
        """The agent of that name here or below."""
        return next((a for a in self.tree() if a.name == name), None)

    def run(self, parent_ctx: InvocationContext) -> Generator[Any, None, None]:
        """Run this agent: before_agent, its body, after_agent. Yields Events and Stops.

        Go: agent/agent.go, Agent.Run
        """
        ctx = parent_ctx.derive(agent=self)
        for item in self._run(ctx):
            if isinstance(item, Stop) and item.agent is None:  # say where it is; an agent further in has said so
                item.agent = self.name
                item.step = item.step or 0
            yield item

    def run_node(self, ctx: InvocationContext) -> Steps[Any]:
        """Run as the agent of a turn or the target of a transfer; an LLM agent may delegate tasks then."""
        yield from self.run(ctx)

    def _run(self, ctx: InvocationContext) -> Generator[Any, None, None]:
        instead = yield from self._hooks(ctx, Seam.BEFORE_AGENT, self.before_agent)
        if instead is not None:
            yield instead
            if instead.content is not None:
                return
        yield from self.run_body(ctx)
        behind = yield from self._hooks(ctx, Seam.AFTER_AGENT, self.after_agent)
        if behind is not None:
            yield behind

    def run_body(self, ctx: InvocationContext) -> Generator[Any, None, None]:
        """What this kind of agent does."""
        raise NotImplementedError

    def _hooks(self, ctx: InvocationContext, seam: Seam, own: list[Callable[..., Any]]) -> Steps[Event | None]:
        """Ask plugins, then the agent's own callbacks; one delta collects what all of them write.

        A content makes an event; writes alone make an event without content.
        """
        actions = EventActions()
        callbacks = hooks_of(ctx.plugins, seam) + own
        hook_ctx = Context(ctx, actions)
        content = yield from first_answer(seam, callbacks, hook_ctx, agent=self, ctx=hook_ctx)
        if content is None and not actions.state_delta:
            return None
        if content is not None and not isinstance(content, types.Content):
            raise TypeError(f"a {seam} callback returns a Content or None, not {type(content).__name__}")
        kept = replace(actions, artifact_delta={}, compaction=None)  # artifacts saved here are on no event, as in Go
        return ctx.new_event(content=content, actions=kept)
