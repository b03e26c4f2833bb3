"""A limit that ADK has no setting for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from adknb.engine.context import InvocationContext
from adknb.engine.errors import FlowError
from adknb.engine.model import LLMRequest


class TooManySteps(FlowError):
    """An agent asks its model more often in one turn than it may."""


def step_limit(steps: int) -> Callable[[InvocationContext, LLMRequest, Any], None]:
    """A stage that ends the turn when an agent begins one step more than so many in it (F08).

    processors(step_limit(20))

    The field that ADK-Go has for it is not read, so tool rounds have no end there (spec/execution.md 3.1).

    Raises:
        ValueError: fewer than one.
    """
    if steps < 1:
        raise ValueError(f"a step limit is 1 or more, not {steps}")

    def limit(ctx: InvocationContext, request: LLMRequest, flow: Any) -> None:
        if ctx.steps.get(ctx.agent.name, 0) > steps:
            raise TooManySteps(f"agent {ctx.agent.name!r} has asked its model {steps} times in this turn, its limit")

    limit.__name__ = limit.__qualname__ = "step_limit"
    limit.in_front = True  # type: ignore[attr-defined]
    return limit
