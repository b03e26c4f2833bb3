"""Workflow agents: they run members and have no model.

Go: agent/workflowagents/sequentialagent/agent.go; agent/workflowagents/loopagent/agent.go;
agent/workflowagents/parallelagent/agent.go

Members run with the same context; nothing pauses or resumes a workflow: the next turn starts it from its first member.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any

from adknb.engine.agent import Agent, Callbacks
from adknb.engine.context import InvocationContext
from adknb.engine.errors import FlowError
from adknb.engine.live.sequential import run_sequence
from adknb.engine.live.session import LiveSession
from adknb.engine.stops import Stop


class SequentialAgent(Agent):
    """Members one after the other, each seeing all earlier events. Neither escalate nor a pause stops it.

    Go: agent/workflowagents/sequentialagent/agent.go
    """

    kind = "sequential"

    def run_body(self, ctx: InvocationContext) -> Generator[Any, None, None]:
        """Run the members in order."""
        for member in self.sub_agents:
            yield from member.run(ctx)

    def run_live(self, ctx: InvocationContext, session: LiveSession) -> Generator[Any, None, None]:
        """The members in order, each on a live connection of its own (spec/live.md §16).

        Raises:
            LiveUnsupported: at once: there is no member.

        Go: agent/workflowagents/sequentialagent/agent.go, sequentialAgent.RunLive
        """
        return run_sequence(self, ctx, session)


class LoopAgent(Agent):
    """A sequence, repeated until a member escalates or `max_iterations` rounds are over (0: no limit).

    Go: agent/workflowagents/loopagent/agent.go
    """

    kind = "loop"

    def __init__(
        self,
        name: str,
        description: str = "",
        sub_agents: Sequence[Agent] = (),
        before_agent: Callbacks = None,
        after_agent: Callbacks = None,
        max_iterations: int = 0,
    ) -> None:
        super().__init__(name, description, sub_agents, before_agent, after_agent)
        self.max_iterations = max_iterations

    def run_body(self, ctx: InvocationContext) -> Generator[Any, None, None]:
        """Run round after round; the member that escalates still finishes (spec/execution.md 12.3)."""
        rounds = 0
        while self.sub_agents and (self.max_iterations <= 0 or rounds < self.max_iterations):
            rounds += 1
            for member in self.sub_agents:
                escalated = False
                for item in member.run(ctx):
                    if not isinstance(item, Stop) and item.actions.escalate and ctx.is_own(item):
                        escalated = True
                    yield item
                if escalated:
                    return


class ParallelAgent(Agent):
    """Members side by side, each on a branch of its own: they do not see each other, what follows sees all.

    Go: agent/workflowagents/parallelagent/agent.go
    """

    kind = "parallel"

    def run_body(self, ctx: InvocationContext) -> Generator[Any, None, None]:
        """Give the members to the task runner; the first error ends all and names its member (12.4)."""
        tasks: list[Any] = [self._member(ctx, member) for member in self.sub_agents]
        for task, member in zip(tasks, self.sub_agents, strict=True):
            task.__name__ = member.name
        yield from ctx.platform.run_tasks(tasks)

    def _member(self, ctx: InvocationContext, member: Agent) -> Generator[Any, None, None]:
        branch = ".".join(filter(None, (ctx.branch, self.name, member.name)))
        try:
            for item in member.run(ctx.derive(branch=branch, isolation_scope="", delegation=None)):
                if isinstance(item, Stop):  # the outermost parallel agent has the last word on where it runs
                    item.lane = f"{member.name}/{item.lane}" if item.lane else member.name
                yield item
        except Exception as error:
            raise FlowError(f"member {member.name!r} of {self.name!r} failed: {error}") from error
