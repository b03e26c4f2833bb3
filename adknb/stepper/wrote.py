"""What a stage wrote into the request, in words: told from two writings of it."""

from __future__ import annotations

from typing import NamedTuple

from adknb.engine.stops import Seam
from adknb.stepper.dumps import AsItWas

WRITERS = (Seam.PROCESSOR, Seam.TOOL_DECLARATION, Seam.BEFORE_MODEL)
"""The seams behind which a request may be another."""


class Size(NamedTuple):
    """How much a request holds."""

    settings: int
    paragraphs: int
    contents: int
    declarations: int
    tools: int


def paragraphs_of(request: AsItWas) -> list[str]:
    """The paragraphs of the system instruction, in any of its JSON forms; those of white space only left out."""
    instruction = request.rest["config"].get("systemInstruction")
    if isinstance(instruction, dict):
        instruction = instruction.get("parts", [instruction])
    given = instruction if isinstance(instruction, list) else [instruction]
    parts = [text if isinstance(text, str) else (text or {}).get("text") or "" for text in given]
    return [text.strip() for part in parts for text in part.split("\n\n") if text.strip()]


def size_of(request: AsItWas) -> Size:
    """Count what a request held."""
    config = request.rest["config"]
    tools = [tool for tool in config.get("tools") or () if isinstance(tool, dict)]
    return Size(
        settings=sum(name not in ("systemInstruction", "tools") for name in config),
        paragraphs=len(paragraphs_of(request)),
        contents=len(request.contents),
        declarations=sum(len(tool.get("functionDeclarations") or ()) for tool in tools),
        tools=len(request.rest["tools"]),
    )


def in_words(before: AsItWas, after: AsItWas) -> str:
    """`2 paragraphs, 1 content`; `−1 content` for what went; empty for no difference in size."""
    if before is after:
        return ""
    was, now = size_of(before), size_of(after)
    said = []
    for name, old, new in zip(Size._fields, was, now, strict=True):
        if old == new or (name == "tools" and now.declarations != was.declarations):
            continue
        one = name.removesuffix("s")
        n = abs(new - old)
        said.append(f"{'−' if new < old else ''}{n:,} {one}{'' if n == 1 else 's'}")
    return ", ".join(said)
