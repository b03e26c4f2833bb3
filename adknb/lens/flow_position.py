"""Where a run stands in the Flow: the stages of a step with what each is, and which of them are done, here or to come.

The 13 request processors of ADK-Go 2.4.0, then what a step does once its request is built. No drawing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

PROCESSORS: list[tuple[str, str, str]] = [
    (
        "basic",
        "basicRequestProcessor",
        "Copies the agent's generation config, so that nothing later touches the original.",
    ),
    ("tools", "toolProcessor", "Lists the agent's tools and asks its toolsets. The request itself is not touched yet."),
    ("auth", "authPreprocessor", ""),
    (
        "confirmation",
        "RequestConfirmationRequestProcessor",
        "Looks for an answered request for approval and runs the approved call before the model is asked.",
    ),
    (
        "instructions",
        "instructionsRequestProcessor",
        "Writes the root's global instruction and the agent's own, with {keys} filled in from state.",
    ),
    ("identity", "identityRequestProcessor", "Tells the model the name and description of the agent it speaks for."),
    ("compaction", "CompactionRequestProcessor", "Stores a summary of old events when the prompt has grown too long."),
    ("contents", "ContentsRequestProcessor", "Turns the session's events into contents, as this agent may see them."),
    ("planning", "nlPlanningRequestProcessor", ""),
    ("code_execution", "codeExecutionRequestProcessor", ""),
    (
        "output_schema",
        "outputSchemaRequestProcessor",
        "Adds set_model_response where the model cannot take tools and a schema together.",
    ),
    (
        "transfer",
        "AgentTransferRequestProcessor",
        "Offers transfer_to_agent when there is an agent this one may hand over to.",
    ),
    ("display_name", "removeDisplayNameIfExists", "Takes the display names off files, for the Gemini API only."),
]
"""The 13 request processors: name, Go name, what each does. Without a sentence it is a no-op in ADK-Go 2.4.0."""

NOTHING_YET = "Does nothing in ADK-Go 2.4.0: its place is kept so that the order is."
READERS_OWN = "A processor of this agent's own; ADK has none of that name."

BEHIND: list[tuple[str, str, str]] = [
    (
        "declare",
        "toolPreprocess",
        "Every listed tool adds itself: a declaration for the model, an entry in the local table.",
    ),
    ("model", "callLLM", "Asks the model; plugins and callbacks may answer in its place or change what it says."),
    ("tools", "handleFunctionCalls", "Runs the calls the model asked for, each in a lane of its own."),
    ("merge", "mergeParallelFunctionResponseEvents", "Joins all results into one event, in the order of the calls."),
]
"""What follows in a step once the request is built."""

DECLARE, MODEL, TOOLS, MERGE = range(len(PROCESSORS), len(PROCESSORS) + len(BEHIND))

STAGE_OF_SEAM = {
    "tool_declaration": DECLARE,
    "before_model": MODEL,
    "model": MODEL,
    "on_model_error": MODEL,
    "after_model": MODEL,
    "response_processor": MODEL,
    "before_tool": TOOLS,
    "tool": TOOLS,
    "on_tool_error": TOOLS,
    "after_tool": TOOLS,
    "merge": MERGE,
}
"""Which stage a seam belongs to; a processor's is found by its name."""

STAGE_OF_PROCESSOR = {name: k for k, (name, _, _) in enumerate(PROCESSORS)}


@dataclass
class StepOfAgent:
    """What is known of one step of one agent: which stages it has been through, and where it is now."""

    reached: int = -1
    wrote: dict[int, str] = field(default_factory=dict)
    """Stages that are done -> what each wrote, as far as it is known."""
    inside: int = -1
    """The processor that is running, while others run inside it."""

    def take(self, stage: int, record: Any) -> int:
        """Note a stop; gives the stage that it counts for, or -1."""
        if stage < 0 or (self.inside >= 0 and stage >= TOOLS):
            return -1  # an approved call runs inside the confirmation stage
        self.reached = max(self.reached, stage)
        if record.seam == "processor":
            self.inside = stage if record.phase == "before" else -1
        if record.phase == "after":
            self.wrote[stage] = record.wrote or self.wrote.get(stage, "")
        return stage


@dataclass(frozen=True)
class StageAt:
    """One stage of the present step. `state` is done, here or next; `wrote` is what it added to the request."""

    name: str
    go: str
    says: str
    noop: bool
    state: str
    wrote: str = ""
    finished: bool = False
    """Whether it has been through: a stage that is here may be, after its call."""


@dataclass(frozen=True)
class FlowPosition:
    """Where a run stands. `here` is the position in `stages`, -1 outside of all of them; the others say whose step."""

    stages: tuple[StageAt, ...]
    here: int
    phase: str = ""
    turn: int = 0
    agent: str = ""
    step: int = 0


def stage_of(record: Any) -> int:
    """The stage that a stop is of, -1 for none; a processor that ADK does not have is of none."""
    seam = str(record.seam)
    return STAGE_OF_PROCESSOR.get(record.name, -1) if seam == "processor" else STAGE_OF_SEAM.get(seam, -1)


def position_in(step: StepOfAgent, record: Any, stage: int) -> FlowPosition:
    """The position of a stop in its step; `stage` is what the stop itself counts for (-1: something in between)."""
    here = -1
    if record is not None:
        here = stage if stage >= 0 else step.inside if record.step else -1
    reached = max(step.reached, here)
    stages = []
    for k, (name, go, says) in enumerate(PROCESSORS + BEHIND):
        done = k <= reached and k in step.wrote
        state = "here" if k == here else "done" if done else "next"
        stages.append(StageAt(name, go, says or NOTHING_YET, not says, state, step.wrote.get(k, ""), done))
    place = (str(record.phase), record.turn, record.agent, record.step) if record is not None else ("", 0, "", 0)
    return FlowPosition(tuple(stages), here, *place)


def flow_position(stops: Sequence[Any]) -> FlowPosition:
    """Where the last of these stops stands in its agent's step.

    `stops` are a run's records so far (StopRecord: seam, name, phase, turn, step, agent, wrote). Only those of the last
    turn are read. At a stop between two steps, and behind a turn's end, the step that ran last is told.

        … before processor contents -> stages: basic done, …, contents here, planning next, …; here == 7
    """
    if not stops:
        return position_in(StepOfAgent(), None, -1)
    last = stops[-1]
    steps: dict[tuple[str, int], StepOfAgent] = {}
    current, stage = StepOfAgent(), -1
    for record in _of_the_turn(stops):
        step = steps.setdefault((record.agent, record.step), StepOfAgent())
        stage = step.take(stage_of(record), record)
        if record.agent and record.step:
            current = step
    own = steps[last.agent, last.step] if last.agent and last.step else current
    return position_in(own, last, stage)


def _of_the_turn(stops: Sequence[Any]) -> Iterable[Any]:
    turn = stops[-1].turn
    first = len(stops)
    while first and stops[first - 1].turn == turn:
        first -= 1
    return stops[first:]
