"""The check of lesson 10: who speaks, turn by turn."""

from __future__ import annotations

from collections.abc import Sequence

from adknb.course.checks.trying import verdict, want
from adknb.engine.llm_agent import LlmAgent
from adknb.stepper import Stepper, step


@verdict
def check_who_speaks(agent: LlmAgent, messages: Sequence[str], predicted: Sequence[Sequence[str]]) -> str:
    """10: the authors of the events of each turn, the user's left out, as they were predicted.

    The agent is a root with two chat agents below it, and the conversation must change hands.
    """
    want(isinstance(agent, LlmAgent), f"expected an LlmAgent, not {agent!r}")
    want(len(agent.sub_agents) >= 2, f"{agent.name} has {len(agent.sub_agents)} agents below it; expected two")
    want(len(messages) == len(predicted) == 3, "expected three messages, and the authors of three turns")
    dbg = step(agent, list(messages)).resume()
    want(dbg.error is None, f"the run ended with {type(dbg.error).__name__}: {dbg.error}")
    turns = authors(dbg)
    for number, (given, found) in enumerate(zip(predicted, turns, strict=True), 1):
        want(list(given) == found, f"turn {number}: predicted {list(given)}, seen {found}")
    want(len({author for turn in turns for author in turn}) > 1, "only one agent has spoken: let it hand on")
    return f"{sum(map(len, turns))} events of three turns, each by the predicted author."


def authors(dbg: Stepper) -> list[list[str]]:
    """The authors of the stored events, turn by turn; the user's message, which begins a turn, is left out.

    [["front_desk", "front_desk", "visa_desk"], ["visa_desk"]]
    """
    turns: list[list[str]] = []
    for event in dbg.events:
        if event.author == "user":
            turns.append([])
        else:
            turns[-1].append(event.author)
    return turns
