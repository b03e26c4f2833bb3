"""The request of a step as it stood after every stage, and who wrote each paragraph of its system instruction.

Fed from every stop, also from those a reader passes by; kept for the present step of each agent. What a stage left
alone is shared with the stage before it (dumps.py), so a stage costs little however long the history is.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

from adknb.engine.model import LLMRequest
from adknb.engine.stops import Phase, Stop
from adknb.stepper.dumps import AsItWas, Dumps
from adknb.stepper.patches import Patch
from adknb.stepper.wrote import WRITERS, in_words, paragraphs_of

START = "start"
"""The stage before the first: the request holds the model's name."""

READER = "reader"
"""The stage that is no stage: somebody edited the request at a stop."""


class Paragraph(NamedTuple):
    """A paragraph of the system instruction, and the stage that wrote it."""

    text: str
    stage: str


@dataclass(frozen=True)
class Stage:
    """The request as a stage left it. `changed` names the fields it wrote: `("config", "tools")`."""

    name: str
    changed: tuple[str, ...]
    left: AsItWas

    @property
    def request(self) -> dict[str, Any]:
        """The whole request as JSON: `{"model", "contents", "config", "tools"}`, to be looked at only."""
        return self.left.json

    def __repr__(self) -> str:
        return f"{self.name}: {', '.join(self.changed) or '–'}"


class Stages:
    """Watches the stops of a turn; keeps the stages of the latest request of each agent and lane."""

    def __init__(self, dumps: Dumps) -> None:
        self._dumps = dumps
        self._steps: dict[tuple[str | None, str | None], tuple[LLMRequest, list[Stage]]] = {}

    def at(self, stop: Stop) -> str:
        """Take note of a stop. Returns what a stage that ends here wrote (wrote.py), or an empty text."""
        request = stop.holds.get("request")
        if request is None or stop.seam not in WRITERS:
            return ""
        where = (stop.agent, stop.lane)
        if where not in self._steps or self._steps[where][0] is not request:
            self._steps[where] = (request, [])
        stages = self._steps[where][1]
        if not stages:
            fresh = request if stop.phase is Phase.BEFORE else LLMRequest(model=request.model)
            stages.append(Stage(START, (), self._dumps.request(fresh)))
        if stop.phase is Phase.BEFORE:
            return ""
        before = stages[-1].left
        stages.append(Stage(stop.name, (), before) if stop.noop else self._next(stop.name, stages, request))
        return in_words(before, stages[-1].left)

    def edited(self, request: LLMRequest | None, edits: Patch) -> None:
        """A reader leaves a stop; if the request was edited there, that is a stage of its own."""
        if request is None or not edits or not any(op["path"].startswith("/request") for op in edits):
            return
        if stages := self.of(request):
            stages.append(self._next(READER, stages, request))

    def of(self, request: LLMRequest | None) -> list[Stage]:
        """The stages of a request so far; none for one that is not of the present steps."""
        return next((stages for known, stages in self._steps.values() if known is request), [])

    def _next(self, name: str, stages: list[Stage], request: LLMRequest) -> Stage:
        """The stage after the others, by what the request is now."""
        before, now = stages[-1].left, self._dumps.request(request)
        changed = now.differs_from(before)
        return Stage(name, changed, now if changed else before)


def paragraphs(stages: Iterable[Stage]) -> list[Paragraph]:
    """The system instruction of the last stage, each paragraph with the stage that wrote it, or wrote it last.

    A paragraph ends at a blank line. instructions "Be brief.", then identity "You are …" gives
    [("Be brief.", "instructions"), ("You are …", "identity")].
    """
    written: list[Paragraph] = []
    for stage in stages:
        texts = paragraphs_of(stage.left)
        before = [p.text for p in written]
        if texts == before:
            continue
        matcher = difflib.SequenceMatcher(None, before, texts, autojunk=False)
        after: list[Paragraph] = []
        for what, i, k, to, upto in matcher.get_opcodes():
            after += written[i:k] if what == "equal" else [Paragraph(t, stage.name) for t in texts[to:upto]]
        written = after
    return written
