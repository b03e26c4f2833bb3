"""What stands beside the contents of a request, in words: the instruction, tools and settings; what was really sent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from google.genai import types
from pydantic import ValidationError

from adknb.engine.event_json import snake, to_json
from adknb.files.full import wrapped
from adknb.lens.table import part_texts
from adknb.lens.words import compact, one_line, wrap

if TYPE_CHECKING:
    from adknb.files.rebuild import Rebuilt

LINES = 8
"""More lines of an instruction are shown in full only."""


def settings_lines(rebuilt: Rebuilt, width: int, full: bool) -> list[str]:
    """The instruction, the tools and the settings of a request whose agent's definition is attached; else nothing."""
    request = rebuilt.request
    if request is None:
        return []
    instruction = request.system_instruction
    text = "\n".join(part_texts(instruction)) if instruction is not None else ""
    lines = ["THE SYSTEM INSTRUCTION" + ("" if text else ": none")]
    shown = wrapped(text, width - 2) if text else []
    if len(shown) > LINES and not full:
        shown = [*shown[: LINES - 1], f"… and {len(shown) - LINES + 1} more lines"]
    lines += [("  " + line).rstrip() for line in shown]
    config = to_json(request.config)
    config.pop("systemInstruction", None)
    names = ", ".join(one_line(name, 60) for name in sorted(_tool_names(config.pop("tools", None)))) or "none"
    settings = f"model {request.model or '(not named)'}; tools: {names}" + (f"; {compact(config)}" if config else "")
    lines += ["  " + line for line in wrap(one_line(settings, 6 * width), width - 2)]
    return lines


def sent_lines(rebuilt: Rebuilt, width: int) -> list[str]:
    """The request as it was really sent, held against the rebuilt one; nothing if the file does not have it."""
    sent = rebuilt.sent
    if sent is None:
        return []
    given = {snake(key): value for key, value in sent.items()}
    config = given.get("config")
    config = {snake(key): value for key, value in config.items()} if isinstance(config, dict) else {}
    lines = ["AS IT WAS REALLY SENT"]
    facts = [f"model {one_line(str(given['model']), 60)}"] if given.get("model") else []
    if instruction := _words(config.get("system_instruction")):
        facts.append(f"system instruction: {one_line(instruction, 2 * width)}")
    if names := _tool_names(config.get("tools")):
        facts.append(f"tools: {one_line(', '.join(names), width)}")
    lines += [f"  {line}" for fact in facts for line in wrap(fact, width - 2)]
    return lines + [f"  {line}" for line in wrap(_difference(rebuilt, given.get("contents")), width - 2)]


def _difference(rebuilt: Rebuilt, contents: Any) -> str:
    """Where the contents that were sent are others than the rebuilt ones; ids of calls apart."""
    if not isinstance(contents, list):
        return "its contents are not in the file"
    try:
        sent = [types.Content.model_validate(content) for content in contents]
    except (ValidationError, AttributeError, TypeError):
        return "its contents cannot be read"
    ours = rebuilt.contents
    for i, (theirs, own) in enumerate(zip(sent, ours, strict=False)):
        if _said(theirs) != _said(own):
            words = one_line("  ".join(part_texts(theirs)), 160)
            return f"content {i} was sent as {theirs.role}: {words}; the others before it are as rebuilt"
    if len(sent) != len(ours):
        return f"{len(sent)} contents were sent, {len(ours)} are rebuilt; what both have is the same"
    return f"its {len(sent)} contents are those that are rebuilt"


def _said(content: types.Content) -> Any:
    data = to_json(content)
    for part in data.get("parts") or []:
        for kind in ("functionCall", "functionResponse"):
            if kind in part:
                part[kind].pop("id", None)
        part.pop("thoughtSignature", None)
    return data


def _words(instruction: Any) -> str:
    """The words of a system instruction: a text, a content, or a list of parts."""
    if isinstance(instruction, str):
        return instruction
    if isinstance(instruction, dict):
        return _words(instruction.get("parts")) or str(instruction.get("text") or "")
    if isinstance(instruction, list):
        return "\n".join(_words(item) for item in instruction)
    return ""


def _tool_names(tools: Any) -> list[str]:
    names = []
    for tool in tools if isinstance(tools, list) else ():
        fields = {snake(key): value for key, value in tool.items()} if isinstance(tool, dict) else {}
        declared = fields.get("function_declarations")
        if isinstance(declared, list):
            names += [str(one.get("name")) for one in declared if isinstance(one, dict)]
        else:
            names += list(fields)
    return names
