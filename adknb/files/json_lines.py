"""JSON lines: an event a line, or a session a line; also what a server sends as events (`data: {…}`)."""

from __future__ import annotations

import json
from typing import Any

from adknb.engine.errors import BadData
from adknb.files.kinds import holds_session, sessions_in
from adknb.files.session_file import MANY, SessionFile, looks_like_event, session_of_list
from adknb.files.shapes import expect
from adknb.json_text import parse

SENT = "data:"
"""How a line of server-sent events begins that carries something; `event:`, `id:` and `retry:` do not."""


def is_json_lines(text: str) -> bool:
    """Whether the first line is JSON by itself and another follows, or the text is server-sent events."""
    start = text.lstrip("\ufeff \t\r\n")
    if start.startswith((SENT, "event:", "id:", "retry:", ":")):
        return any(line.startswith(SENT) for line in start[:4000].splitlines())
    first, newline, rest = start.partition("\n")
    if not newline or first[:1] != "{" or not first.rstrip().endswith("}") or rest.lstrip()[:1] != "{":
        return False
    try:
        json.loads(first)
    except (ValueError, RecursionError):
        return False
    return True


def lines_sessions(text: str, name: str) -> tuple[list[Any], list[SessionFile]]:
    """The values of the lines, and the sessions in them.

    Raises:
        BadData: naming the line.
    """
    values: list[Any] = []
    at: list[int] = []
    for number, line in enumerate(text.split("\n"), 1):  # not splitlines: JSON may hold U+2028 as it is
        line = line.strip(" \t\r\ufeff")
        if line.startswith(SENT):
            line = line.removeprefix(SENT).strip()
            if line == "[DONE]":
                continue
        elif line.startswith(("event:", "id:", "retry:", ":")):
            continue
        if line:
            values.append(parse(line, name, number))
            at.append(number)
            if len(values) == MANY and not any(holds_session(v) or looks_like_event(v) for v in values):
                raise BadData(name, f"expected an event or a session a line; the first {MANY} are neither")
    if any(holds_session(value) for value in values):
        return values, [
            session
            for value, number in zip(values, at, strict=True)
            for session in sessions_in(value, f"{name}:{number}")
        ]
    for value, number in zip(values, at, strict=True):
        expect(value, dict, f"{name}:{number}")
    try:
        return values, [session_of_list(values, name, f"{name}: line ")]
    except BadData as error:
        raise _by_line(error, at) from None


def _by_line(error: BadData, at: list[int]) -> BadData:
    """`f.jsonl: line [3].content` -> `f.jsonl:4: content`: the line in the file, not the place among the events."""
    head, _, rest = error.where.partition(": line [")
    index, _, path = rest.partition("]")
    if not index.isdigit():
        return error
    where = f"{head}:{at[int(index)]}"
    return BadData(f"{where}: {path.lstrip('.')}" if path else where, error.message)
