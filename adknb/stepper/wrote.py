"""What a stage wrote into the request, told from sizes: nothing is copied, so a stop costs the same however long."""

from __future__ import annotations

from typing import Any, NamedTuple

from adknb.engine.model import LLMRequest
from adknb.engine.stops import Phase, Seam, Stop

WRITERS = (Seam.PROCESSOR, Seam.TOOL_DECLARATION, Seam.BEFORE_MODEL)
"""The seams behind which a request may be another."""


class Size(NamedTuple):
    """How much a request holds."""

    settings: int = 0
    paragraphs: int = 0
    contents: int = 0
    declarations: int = 0
    tools: int = 0


class Written:
    """Watches the stops of a run; says at each what its request has gained since the stop before, lane by lane."""

    def __init__(self) -> None:
        self._sizes: dict[tuple[str | None, str | None], tuple[LLMRequest, Size]] = {}
        """Of the latest request of each agent and lane: agents side by side build theirs in turns."""

    def at(self, stop: Stop) -> str:
        """`2 paragraphs`, `1 content`, `3 declarations`; empty for nothing, and at stops before a call."""
        request = stop.holds.get("request")
        if request is None or stop.noop or stop.seam not in WRITERS:
            return ""
        where = (stop.agent, stop.lane)
        known = self._sizes.get(where)
        before = known[1] if known is not None and known[0] is request else Size()
        after = size_of(request)
        self._sizes[where] = (request, after)
        return "" if stop.phase is Phase.BEFORE else in_words(before, after)


def size_of(request: LLMRequest) -> Size:
    """Count what a request holds."""
    config: Any = request.config
    given = config.system_instruction
    texts = (
        [given] if isinstance(given, str) else [p.text for p in getattr(given, "parts", None) or () if p is not None]
    )
    declared = [getattr(tool, "function_declarations", None) or () for tool in config.tools or ()]
    named = ("system_instruction", "tools")
    return Size(
        settings=sum(getattr(config, name) is not None for name in config.model_fields_set if name not in named),
        paragraphs=sum(text.count("\n\n") + 1 for text in texts if text),
        contents=len(request.contents),
        declarations=sum(map(len, declared)),
        tools=len(request.tools),
    )


def in_words(before: Size, after: Size) -> str:
    """`2 paragraphs, 1 content`; `−1 content` for what went; empty for no difference."""
    said = []
    for name, old, new in zip(Size._fields, before, after, strict=True):
        if old == new or (name == "tools" and after.declarations != before.declarations):
            continue
        one = name.removesuffix("s")
        n = abs(new - old)
        said.append(f"{'−' if new < old else ''}{n:,} {one}{'' if n == 1 else 's'}")
    return ", ".join(said)
