"""The request of a step as it stood after every stage, and who wrote each paragraph of its system instruction.

Fed from every stop, also from those a reader passes by; kept for the present step of each agent. A stage that changed
nothing shares what the stage before it left. Contents are kept as references: they are many. A few are written down as
they are; of many, what a later stage changes *inside* one content is seen in the earlier stages too, unless the reader
has paused in between.
"""

from __future__ import annotations

import difflib
import operator
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

from google.genai import types

from adknb.engine.model import LLMRequest
from adknb.engine.stops import Phase, Seam, Stop
from adknb.stepper.edits import request_json
from adknb.stepper.patches import Patch

START = "start"
"""The stage before the first: the request holds the model's name."""

READER = "reader"
"""The stage that is no stage: somebody edited the request at a stop."""

WRITERS = (Seam.PROCESSOR, Seam.TOOL_DECLARATION, Seam.BEFORE_MODEL)
"""The seams behind which a request may be another."""

FEW = 10
"""Up to so many contents are written down at every stage; beyond, that would cost more than the stage."""


class Paragraph(NamedTuple):
    """A paragraph of the system instruction, and the stage that wrote it."""

    text: str
    stage: str


class Contents:
    """The contents of a request at one moment, shared by the stages that left them alone."""

    def __init__(self, live: Iterable[types.Content]) -> None:
        self.live = tuple(live)
        self._json: list[dict[str, Any]] | None = None
        if len(self.live) <= FEW:
            self._json = _contents_json(self.live)

    def are_still(self, contents: list[types.Content]) -> bool:
        """Whether a request still holds these, told by identity; of a few, by what they say too."""
        if len(contents) != len(self.live) or not all(map(operator.is_, contents, self.live)):
            return False
        return len(contents) > FEW or _contents_json(contents) == self._json

    def keep(self, known: list[dict[str, Any]]) -> None:
        """What they are now, before anybody can change them."""
        self._json = self._json if self._json is not None else known

    @property
    def json(self) -> list[dict[str, Any]]:
        """As JSON."""
        if self._json is None:
            self._json = _contents_json(self.live)
        return self._json


@dataclass(frozen=True)
class Stage:
    """The request as a stage left it. `changed` names the fields it wrote: `("config", "tools")`."""

    name: str
    changed: tuple[str, ...]
    rest: dict[str, Any]
    """The request without its contents, as JSON; shared like the contents, so do not write into it."""
    contents: Contents

    @property
    def request(self) -> dict[str, Any]:
        """The whole request as JSON: `{"model", "contents", "config", "tools"}`."""
        return {"model": self.rest["model"], "contents": self.contents.json, **self.rest}

    def __repr__(self) -> str:
        return f"{self.name}: {', '.join(self.changed) or '–'}"


class Stages:
    """Watches the stops of a turn; keeps the stages of the latest request of each agent and lane."""

    def __init__(self) -> None:
        self._steps: dict[tuple[str | None, str | None], tuple[LLMRequest, list[Stage]]] = {}

    def at(self, stop: Stop) -> None:
        """Take note of a stop."""
        request = stop.holds.get("request")
        if request is None or stop.seam not in WRITERS:
            return
        where = (stop.agent, stop.lane)
        if where not in self._steps or self._steps[where][0] is not request:
            self._steps[where] = (request, [])
        stages = self._steps[where][1]
        if not stages:
            fresh = request if stop.phase is Phase.BEFORE else LLMRequest(model=request.model)
            stages.append(Stage(START, (), _rest(fresh), Contents(fresh.contents)))
        if stop.phase is Phase.AFTER:
            stages.append(stages[-1] if stop.noop else _next(stages[-1], request))
            stages[-1] = _named(stages[-1], stop.name, stop.noop)

    def pause(self, request: LLMRequest | None, as_json: dict[str, Any] | None) -> None:
        """A reader looks, and may edit: what the contents are now is written down."""
        stages = self.of(request)
        if request is None or as_json is None or not stages:
            return
        if stages[-1].contents.are_still(request.contents):
            stages[-1].contents.keep(as_json["contents"])

    def edited(self, request: LLMRequest | None, edits: Patch) -> None:
        """A reader leaves a stop; if the request was edited there, that is a stage of its own."""
        stages = self.of(request)
        if request is None or not stages or not any(op["path"].startswith("/request") for op in edits):
            return
        stages.append(_named(_next(stages[-1], request, touched=True), READER))

    def of(self, request: LLMRequest | None) -> list[Stage]:
        """The stages of a request so far; none for one that is not of the present steps."""
        return next((stages for known, stages in self._steps.values() if known is request), [])


def paragraphs(stages: Iterable[Stage]) -> list[Paragraph]:
    """The system instruction of the last stage, each paragraph with the stage that wrote it, or wrote it last.

    A paragraph ends at a blank line. instructions "Be brief.", then identity "You are …" gives
    [("Be brief.", "instructions"), ("You are …", "identity")].
    """
    written: list[Paragraph] = []
    for stage in stages:
        texts = _texts(stage.rest["config"].get("systemInstruction"))
        before = [p.text for p in written]
        if texts == before:
            continue
        matcher = difflib.SequenceMatcher(None, before, texts, autojunk=False)
        after: list[Paragraph] = []
        for what, i, k, to, upto in matcher.get_opcodes():
            after += written[i:k] if what == "equal" else [Paragraph(t, stage.name) for t in texts[to:upto]]
        written = after
    return written


def _texts(instruction: Any) -> list[str]:
    """The paragraphs of a system instruction in any of its JSON forms; those of white space only left out."""
    if isinstance(instruction, dict):
        instruction = instruction.get("parts", [instruction])
    given = instruction if isinstance(instruction, list) else [instruction]
    parts = [text if isinstance(text, str) else (text or {}).get("text") or "" for text in given]
    return [text.strip() for part in parts for text in part.split("\n\n") if text.strip()]


def _next(before: Stage, request: LLMRequest, touched: bool = False) -> Stage:
    """The stage after another, by what the request is now; what is the same is shared."""
    rest = _rest(request)
    changed = [name for name in ("model", "config", "tools") if rest[name] != before.rest[name]]
    contents = before.contents
    if touched or not contents.are_still(request.contents):
        now = Contents(request.contents)
        if not touched or now.json != before.contents.json:
            contents = now
            changed.append("contents")
    order = ("model", "contents", "config", "tools")
    return Stage("", tuple(sorted(changed, key=order.index)), rest if changed else before.rest, contents)


def _named(stage: Stage, name: str, unchanged: bool = False) -> Stage:
    return Stage(name, () if unchanged else stage.changed, stage.rest, stage.contents)


def _rest(request: LLMRequest) -> dict[str, Any]:
    """A request without its contents, as JSON."""
    whole = request_json(LLMRequest(model=request.model, config=request.config, tools=request.tools))
    return {"model": whole["model"], "config": whole["config"], "tools": whole["tools"]}


def _contents_json(contents: Iterable[types.Content]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = request_json(LLMRequest(contents=list(contents)))["contents"]
    return found
