"""The journal: what a run met and what its reader did, so that another run can be brought to the same place.

Processors and callbacks run again; models and tools are answered from here and never run twice. A call's outcome is
written when the stop *after* it is reached, not when the reader leaves it: a fork taken right there repeats nothing.
"""

from __future__ import annotations

import copy
import hashlib
import inspect
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar

from google.genai import types

from adknb.engine.context import Context
from adknb.engine.errors import AdknbError
from adknb.engine.event import EventActions
from adknb.engine.stops import Phase, Raise, Return, Seam, Stop
from adknb.stepper.dumps import AsItWas
from adknb.stepper.patches import Patch, plain
from adknb.stepper.tape import Tape

T = TypeVar("T")


class ReplayDiverged(AdknbError):
    """A second run does not meet the stops of the first: the code it runs has changed since."""

    def __init__(self, number: int, recorded: str, met: str) -> None:
        super().__init__(
            f"stop {number} was {recorded!r} when it was recorded; the replay reached {met!r}. A processor, callback "
            f"or plugin has changed since. Go back to before the change: rewind({number}), or begin anew: restart()."
        )
        self.number, self.recorded, self.met = number, recorded, met


@dataclass
class Effect:
    """What a call came to, and what a tool left behind: actions, arguments edited in place, files."""

    outcome: Return | Raise
    actions: EventActions | None = None
    args: dict[str, Any] = field(default_factory=dict)
    artifacts: dict[str, types.Part] = field(default_factory=dict)
    uses: int | None = None
    """How often a tool that counts its uses had been used by then."""


@dataclass
class Entry:
    """One stop of a run. `edits` and `answer` are the reader's; `tape` and `effect` are a model's and a tool's."""

    number: int
    place: str
    edits: Patch = field(default_factory=list)
    answer: Return | Raise | None = None
    tape: Tape | None = None
    effect: Effect | None = None
    closes: int | None = None
    """For a stop after a call: the number of the stop before it."""
    lane: str | None = None
    """The lane that the reader chose to go next."""
    question: Question | None = None
    """For a model or tool that ran: what it was asked. The same question need not be asked again."""

    @property
    def key(self) -> str:
        """What tells its question from others; empty where nothing was asked."""
        return self.question.key if self.question is not None else ""


class Question:
    """What a model, a tool or the summarizer is asked, all of it: a tool may look at the state, too."""

    def __init__(self, stop: Stop, request: AsItWas | None = None) -> None:
        holds = stop.holds
        self._asked: Any
        if request is not None:
            self._asked = request
        elif stop.seam is Seam.SUMMARIZE:
            self._asked = plain(holds.get("events"))
        else:
            decision = holds["ctx"].tool_confirmation
            self._asked = [plain(holds["args"]), plain(holds["ctx"].session.state), plain(decision)]
        self._stream = holds.get("stream")
        self._whose = [str(stop.seam), stop.name, stop.agent]

    @cached_property
    def key(self) -> str:
        """The same for the same question, and short. Made when it is asked for: a request may be long."""
        asked = [self._asked.json, self._stream] if isinstance(self._asked, AsItWas) else self._asked
        text = json.dumps([*self._whose, asked], sort_keys=True, default=str)
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


class Memory:
    """What was performed, by what was asked: a run that comes to the same question has its answer.

    So a run that was brought back and goes on unchanged meets no model and no tool twice, and one that asks something
    else (an edit, a changed processor) is really answered. Each answer serves once, in the order they were given.
    """

    def __init__(self, tapes: Iterable[tuple[str, Tape]] = (), effects: Iterable[tuple[str, Effect]] = ()) -> None:
        self._tapes = list(tapes)
        self._effects = list(effects)

    def with_more(self, journal: Sequence[Entry]) -> Memory:
        """This memory behind what a journal has kept."""
        asked = {e.number: e.key for e in journal if e.question}
        return Memory(
            [(e.key, e.tape) for e in journal if e.tape is not None] + self._tapes,
            [(asked[e.closes], e.effect) for e in journal if e.effect and e.closes in asked] + self._effects,
        )

    @property
    def tapes(self) -> list[tuple[str, Tape]]:
        """The models' answers that are left, by what was asked."""
        return list(self._tapes)

    @property
    def effects(self) -> list[tuple[str, Effect]]:
        """What tools came to, as far as it is left, by what was asked."""
        return list(self._effects)

    def tape(self, question: Question) -> Tape | None:
        """The answers to this request, if it was sent before."""
        return _take(self._tapes, question)

    def effect(self, question: Question) -> Effect | None:
        """What this call came to, if it was made before."""
        return _take(self._effects, question)


def _take(kept: list[tuple[str, T]], question: Question) -> T | None:
    for i, (asked, answer) in enumerate(kept):
        if asked == question.key:
            del kept[i]
            return answer
    return None


def place_of(stop: Stop, turn: int) -> str:
    """`turn 1: before tool get_weather in lane …`: what a replay must meet again."""
    lane = f" in lane {stop.lane}" if stop.lane else ""
    return f"turn {turn}: {stop}{lane}"


def use_key(stop: Stop) -> str:
    """Which counter a model or tool counts its uses with: tools by name, models by agent and name."""
    return f"{stop.seam} {stop.agent if stop.seam is Seam.MODEL else ''} {stop.name}"


def counting(stop: Stop) -> Any:
    """The model or tool of this stop, if it counts its uses (has `uses`, to read and to set); else None."""
    owner = getattr(stop.function, "__self__", None) if stop.seam in (Seam.MODEL, Seam.TOOL) else None
    return owner if hasattr(owner, "uses") else None


def is_performed(stop: Stop) -> bool:
    """Whether the run stands before a call that reaches outside the engine: a tool, or the summarizer.

    An agent used as a tool is not: its own models and tools are. Models have tapes.
    """
    if stop.phase is not Phase.BEFORE or stop.seam not in (Seam.TOOL, Seam.SUMMARIZE):
        return False
    return not inspect.isgeneratorfunction(stop.function)


def effect_of(stop: Stop) -> Effect | None:
    """What there is to keep of a call, at the stop after it."""
    if stop.phase is not Phase.AFTER or stop.seam not in (Seam.TOOL, Seam.SUMMARIZE):
        return None
    outcome = answer_again(stop.holds["outcome"])
    assert outcome is not None
    if stop.seam is Seam.SUMMARIZE:
        return Effect(outcome)
    ctx: Context = stop.holds["ctx"]
    service = ctx.invocation.artifact_service
    artifacts = {}
    for name in ctx.actions.artifact_delta:
        part = service.load(ctx.session, name) if service is not None else None
        if part is not None:
            artifacts[name] = part
    uses = getattr(counting(stop), "uses", None)
    return Effect(outcome, copy.deepcopy(ctx.actions), copy.deepcopy(stop.holds["args"]), artifacts, uses)


def leave_behind(stop: Stop, effect: Effect) -> None:
    """Do to a second run what the tool did to the first: arguments, files, state, actions."""
    if effect.actions is None:
        return
    ctx: Context = stop.holds["ctx"]
    args: dict[str, Any] = stop.holds["args"]
    args.clear()
    args.update(copy.deepcopy(effect.args))
    actions = copy.deepcopy(effect.actions)
    for name, part in effect.artifacts.items():
        if actions.artifact_delta.get(name) != ctx.actions.artifact_delta.get(name):
            ctx.save_artifact(name, part)
    for key, value in actions.state_delta.items():
        ctx.state[key] = value
    ctx.actions.requested_tool_confirmations.update(actions.requested_tool_confirmations)
    ctx.actions.skip_summarization = actions.skip_summarization
    ctx.actions.transfer_to_agent = actions.transfer_to_agent
    ctx.actions.escalate = actions.escalate


def answer_again(answer: Return | Raise | None) -> Return | Raise | None:
    """An answer for another run: a value is copied, so that the runs do not share it."""
    return Return(copy.deepcopy(answer.value)) if isinstance(answer, Return) else answer
