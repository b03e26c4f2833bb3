"""Who sees what: agents × events, each cell decided by the agent's own assembly of the session's contents.

One assembly a viewer and nothing else: what is written here are words for what the engine decides.

    rows of letters, one letter an event        o own   s sees   r reworded   t spoken, as text   m in a summary
    hidden by branch b, by scope c              excluded: x protocol   u earlier turn   k record   q no such call
    - nothing to send                           p taken out by pairing       ! the assembly fails here
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from adknb.engine.agent import Agent
from adknb.engine.errors import UnmatchedResponse
from adknb.engine.event import Event
from adknb.engine.llm_settings import delegates_to, is_llm, settings_of
from adknb.engine.processors.contents import Assembly, Viewer, event_belongs_to_branch
from adknb.engine.workflow_agents import ParallelAgent
from adknb.lens.assembling import looked_at
from adknb.lens.contents_fates import Step, step_of


@dataclass(frozen=True)
class Look:
    """What a letter means: a name for drawing, words, whether the agent's request has something of the event."""

    name: str
    words: str
    sees: bool
    says: str


LOOKS: dict[str, Look] = {
    "o": Look("own", "speaks here", True, "It is the agent's own, sent as it is."),
    "s": Look("sees", "sees", True, "Sent as it is."),
    "r": Look("reworded", "sees, reworded", True, "Another agent's: told as context, in the user's role."),
    "t": Look("reworded", "sees, as text", True, "It was spoken: its transcription is sent as text."),
    "m": Look("summarised", "in a summary", True, "A stored summary stands for it."),
    "b": Look("branch", "hidden by branch", False, "It is on a branch that is neither the agent's own nor above it."),
    "c": Look("scope", "hidden by scope", False, "Its isolation scope is another; only equal scopes are visible."),
    "x": Look("excluded", "not for the model", False, "Talk between application and framework reaches no model."),
    "u": Look(
        "excluded", "earlier turn", False, "It is of an earlier turn, and this agent reads the current one only."
    ),
    "k": Look("excluded", "record", False, "A compaction record counts only in a run that is set up for compaction."),
    "q": Look("excluded", "no such call", False, "It answers a call that stands nowhere in the session."),
    "p": Look("excluded", "taken out", False, "Bringing calls and responses together has left it out."),
    "-": Look("empty", "nothing to send", False, "It has no content: there is nothing to see."),
    "!": Look("fails", "the run ends here", False, "It answers a call that this agent cannot see: its request fails."),
}
"""What each letter means."""

LETTER_OF_RULE = {"R5.5": "-", "R5.6": "b", "R5.7": "c", "R5.8": "x", "R5.3": "u", "R5.1": "k", "R5.15": "q"}
"""Deciding rule of an event that is left out -> its letter; every other rule is one of pairing."""

TRIES = 12
"""How many events at the end are tried without, when an assembly fails."""


@dataclass(frozen=True)
class Row:
    """One viewer: `cells` has a letter for each event. `problem` says why its assembly fails, if it does."""

    agent: str
    branch: str
    scope: str
    cells: str
    problem: str = ""

    @property
    def sees(self) -> int:
        """How many events it sees something of."""
        return sum(LOOKS[letter].sees for letter in self.cells)


@dataclass(frozen=True)
class BranchRule:
    """How an agent's branch meets an event's: whether it sees it, how many leading characters agree, and why."""

    sees: bool
    shared: int
    why: str


@dataclass(frozen=True)
class Meeting:
    """One cell, told in full: the letter, the reasons of the fate, the contents it is in, and the branches compared."""

    agent: str
    event: int
    letter: str
    steps: tuple[Step, ...]
    contents: tuple[int, ...]
    branch: BranchRule


def visibility(session: Any, agents: Agent | Iterable[Viewer]) -> list[Row]:
    """A row for each viewer. `session` is a Session or its events; of a tree of agents `viewers_of` makes viewers.

    user "hi" (no branch) · a "one" (branch p.a) · b "two" (branch p.b)
        -> a: "sob", b: "sbo", and an agent without branch: "srr"
    """
    events = _events(session)
    viewers = viewers_of(events, agents) if isinstance(agents, Agent) else agents
    return [row_of(events, viewer) for viewer in viewers]


def row_of(events: Sequence[Event], viewer: Viewer, **private: Any) -> Row:
    """One viewer's row. `private` are `assemble`'s `private_events` and `private_after`.

    Where the assembly fails, it fails over an event at the end: that gets the letter `!`, the others their own.
    """
    problem = ""
    for end in range(len(events), max(-1, len(events) - TRIES - 1), -1):
        try:
            assembly = looked_at(events[:end] if end < len(events) else events, viewer, **private)
        except UnmatchedResponse as error:
            problem = problem or str(error)
            continue
        cells = "".join(
            letter_of(kind, because.stage, because.rule, event.author == viewer.agent_name)
            for (kind, because), event in zip(assembly.verdicts, events, strict=False)
        )
        return _row(viewer, cells + "!" * (len(events) - end), problem)
    return _row(viewer, "!" * len(events), problem)


def letter_of(kind: str, stage: str, rule: str, own: bool) -> str:
    """The letter of a fate: its kind, and what decided it."""
    if kind == "left_out":
        return LETTER_OF_RULE.get(rule, "p")
    if kind == "summarised":
        return "m"
    if kind == "reworded" and stage == "foreign":
        return "r"
    if own:
        return "o"
    return "t" if stage == "transcription" else "s"


def meeting(session: Any, viewer: Viewer, event: int, **private: Any) -> Meeting:
    """One cell in full, read off the same assembly as its letter.

    Raises:
        IndexError: there is no such event.
    """
    events = _events(session)
    try:
        return meeting_in(looked_at(events, viewer, **private), events, event)
    except UnmatchedResponse:
        row = row_of(events, viewer, **private)
    failed = (step_of("latest", "R5.20", row.problem),) if row.cells[event] == "!" else ()
    branch = branch_rule(viewer.branch, events[event].branch)
    return Meeting(viewer.agent_name, event, row.cells[event], failed, (), branch)


def meeting_in(assembly: Assembly, events: Sequence[Event], event: int) -> Meeting:
    """The same, of an assembly that has been made already. Raises IndexError."""
    viewer, fate = assembly.ledger.viewer, assembly.fates[event]
    kind, because = assembly.verdicts[event]
    letter = letter_of(kind, because.stage, because.rule, events[event].author == viewer.agent_name)
    steps = tuple(step_of(*reason) for reason in fate.reasons)
    branch = branch_rule(viewer.branch, events[event].branch)
    return Meeting(viewer.agent_name, event, letter, steps, fate.contents, branch)


def branch_rule(mine: str, theirs: str) -> BranchRule:
    """The engine's answer for an agent on branch `mine` and an event on `theirs`, and the string rule in words (R5.6).

    `agent_1.agent_2` and `agent_1` -> sees: “agent_1.agent_2” starts with “agent_1.”
    """
    sees = event_belongs_to_branch(mine, theirs)
    shared = next(
        (k for k, (a, b) in enumerate(zip(mine, theirs, strict=False)) if a != b), min(len(mine), len(theirs))
    )
    if not theirs:
        why = "the event has no branch: every agent sees it"
    elif not mine:
        why = "the agent has no branch: it sees every branch"
    elif mine == theirs:
        why = f"both branches are “{mine}”"
    elif sees:
        why, shared = f"“{mine}” starts with “{theirs}.”", shared + 1
    elif mine.startswith(theirs):
        why = f"“{mine}” goes on with “{mine[shared]}” where “{theirs}” needs a dot: the name only begins alike"
    elif theirs.startswith(mine + "."):
        why = f"“{theirs}” lies below “{mine}”: history is inherited downwards only"
    else:
        why = f"“{mine}” does not start with “{theirs}.”"
    return BranchRule(sees, shared, why)


def viewers_of(session: Any, root: Agent, compaction: bool = False, now: Viewer | None = None) -> list[Viewer]:
    """The LLM agents of a tree as viewers of a session, parents first.

    Branch and scope are those of the agent's last event; before its first, those that its place in the tree will give
    it. `now` is the agent that runs, as it runs.
    """
    last: dict[str, Event] = {event.author: event for event in _events(session)}
    found = []
    for agent in root.tree():
        settings = settings_of(agent)
        if settings is None:
            continue
        if now is not None and now.agent_name == agent.name:
            found.append(now)
            continue
        bound = settings.mode if delegates_to(agent) and is_llm(agent.parent) else ""
        viewer = Viewer(agent.name, "", "", settings.include_contents, settings.mode, bound, compaction)
        seen = last.get(agent.name)
        place = (seen.branch, seen.isolation_scope) if seen is not None else (branch_in_tree(agent), "")
        found.append(replace(viewer, branch=place[0], isolation_scope=place[1]))
    return found


def branch_in_tree(agent: Agent) -> str:
    """The branch that an agent runs on because of the parallel agents above it; empty below none.

    Go: agent/workflowagents/parallelagent/agent.go (see `workflow_agents.ParallelAgent`).
    """
    names: list[str] = []
    child = agent
    while (parent := child.parent) is not None:
        if isinstance(parent, ParallelAgent):
            names[:0] = [parent.name, child.name]
        child = parent
    return ".".join(names)


def _events(session: Any) -> Sequence[Event]:
    events: Sequence[Event] = getattr(session, "events", session)
    return events


def _row(viewer: Viewer, cells: str, problem: str) -> Row:
    return Row(viewer.agent_name, viewer.branch, viewer.isolation_scope, cells, problem)
