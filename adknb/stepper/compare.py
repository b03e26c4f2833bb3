"""Two runs side by side: where they part, and what that did to each request.

`what_if` makes the second run itself: the same turns with one agent changed.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from adknb.engine.agent import Agent
from adknb.engine.errors import AdknbError
from adknb.lens.request_changes import Change, request_changes

if TYPE_CHECKING:
    from adknb.stepper.stepper import Stepper

WHAT_IF = ("request_processors", "instruction", "global_instruction", "include_contents", "model", "tools", "mode",
           "generate_content_config", "output_schema", "description", "before_agent", "after_agent")  # fmt: skip
"""What `what_if` may change of an agent."""


@dataclass
class Comparison:
    """Two runs compared. `parted` is the first stop that differs, None if none does within the shorter run.

    `requests` has, for each model request that both sent, what is different in the other's; `sent` counts them.
    `present` is the same for the request that is being built, if both runs stand in the middle of one. `error` is what
    ended the other run's turn, if it was an error.
    """

    parted: int | None
    here: str
    there: str
    requests: list[list[Change]] = field(default_factory=list)
    sent: tuple[int, int] = (0, 0)
    present: list[Change] | None = None
    error: str = ""
    other: Any = field(default=None, repr=False)

    def __repr__(self) -> str:
        from adknb.widgets.text import change_lines

        lines = [
            "the runs meet the same stops"
            if self.parted is None
            else f"the runs part at stop {self.parted}: {self.here} · {self.there}"
        ]
        named = [(f"request {n}", changes) for n, changes in enumerate(self.requests)]
        if self.present is not None:
            named.append(("request here", self.present))
        for name, changes in named:
            told = change_lines(changes)
            lines.append(f"  {name}  {told[0] if told else 'the same'}")
            lines += [f"  {'':{len(name)}}  {text}" for text in told[1:]]
        if self.error:
            lines.append(f"  the other run's turn ended with {self.error}")
        if self.sent[0] != self.sent[1]:
            lines.append(f"  requests sent: {self.sent[0]} · {self.sent[1]}")
        return "\n".join(lines)


def compare(one: Stepper, other: Stepper) -> Comparison:
    """The first stop at which two runs differ, then the difference of each request they sent."""
    here, there = [str(s) for s in one.stops], [str(s) for s in other.stops]
    parted = next((i for i, (a, b) in enumerate(zip(here, there, strict=False)) if a != b), None)
    if parted is None and one.here is None and other.here is None and len(here) != len(there):
        parted = min(len(here), len(there))
    requests = [request_changes(a, b) for a, b in zip(one.requests, other.requests, strict=False)]
    return Comparison(
        parted,
        _at(here, parted),
        _at(there, parted),
        requests,
        (len(one.requests), len(other.requests)),
        _present(one, other),
        "" if other.error is None else f"{type(other.error).__name__}: {other.error}",
        other,
    )


def _present(one: Stepper, other: Stepper) -> list[Change] | None:
    """What is different in the request under way, if both runs stand at the same stop of one."""
    before, after = one.request_now, other.request_now
    if one.here is None or other.here is None or str(one.here) != str(other.here) or after is None:
        return None
    return request_changes(before, after)


def _at(stops: Sequence[str], n: int | None) -> str:
    return "" if n is None else stops[n] if n < len(stops) else "the end"


def changed_tree(root: Agent, name: str, changes: dict[str, Any]) -> Agent:
    """A copy of an agent tree in which one agent is different; models, tools and callbacks stay the same objects.

    Raises:
        AdknbError: there is no such agent, or it has no such setting.
    """
    unknown = sorted(set(changes) - set(WHAT_IF))
    if unknown:
        raise AdknbError(f"what_if cannot change {unknown[0]!r}; it can change {', '.join(WHAT_IF)}")
    if root.find(name) is None:
        raise AdknbError(f"there is no agent {name!r}; there are {', '.join(a.name for a in root.tree())}")
    copied = _copy(root, None)
    agent = copied.find(name)
    assert agent is not None
    for setting, value in changes.items():
        if not hasattr(agent, setting):
            raise AdknbError(f"agent {name!r} has no {setting!r}: it is no LLM agent")
        setattr(agent, setting, value)
    return copied


def _copy(agent: Agent, parent: Agent | None) -> Agent:
    made = copy.copy(agent)
    made.parent = parent
    made.sub_agents = [_copy(child, made) for child in agent.sub_agents]
    if hasattr(made, "tools"):  # a delegation tool runs its agent: it must run the copy
        made.tools = [_for_the_copy(tool, made) for tool in made.tools]
    return made


def _for_the_copy(tool: Any, agent: Agent) -> Any:
    child = getattr(tool, "child", None)
    if not isinstance(child, Agent):
        return tool
    made = copy.copy(tool)
    made.child = agent.find(child.name)
    return made
