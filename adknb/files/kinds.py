"""What a file is, told by its content: a session, or something else of ADK's world that is named, not guessed at."""

from __future__ import annotations

import re
from typing import Any

from adknb.engine.errors import BadData, NotBuiltYet

EVENT_FIELDS = {"author", "content", "actions", "invocationId", "invocation_id", "InvocationID", "Author", "Content"}
"""An object with one of these may be an event."""

_KNOWN: list[tuple[str, set[str]]] = [
    ("reading evaluation sets (evalset)", {"eval_cases", "evalCases", "eval_set_id", "evalSetId"}),
    ("reading evaluation cases", {"eval_id", "evalId", "expected_tool_use", "expectedToolUse"}),
    ("reading evaluation results", {"eval_case_results", "evalCaseResults", "eval_set_result_id", "evalSetResultId"}),
    ("reading a list of sessions", {"sessions"}),
    ("reading the session events of Vertex AI's API", {"sessionEvents", "session_events"}),
]
"""Features by the fields that give them away."""


def refuse_binary(data: bytes, name: str) -> None:
    """Say so if the bytes are a database or an archive.

    Raises:
        NotBuiltYet: an SQLite database, which ADK's session services write.
        BadData: an archive.
    """
    if data.startswith(b"SQLite format 3\x00"):
        raise NotBuiltYet(f"reading ADK's SQLite session databases ({name})")
    if data.startswith((b"PK\x03\x04", b"\x1f\x8b")):
        raise BadData(name, "is an archive; unpack it first")


def refuse_other_text(text: str, name: str) -> None:
    """Say so if the text is YAML, or JSON lines.

    Raises:
        NotBuiltYet: naming the feature.
    """
    start = text.lstrip()
    if start[:1] in ("{", "["):
        return
    first = next((line for line in start.splitlines() if line.strip() and not line.startswith(("#", "---"))), "")
    if re.match(r"(- )?[A-Za-z_]\w*:(\s|$)", first):
        raise NotBuiltYet(f"reading sessions in YAML ({name})")


def is_json_lines(text: str) -> bool:
    """Whether each of the first lines is an object of its own."""
    lines = [line.strip() for line in text.splitlines() if line.strip()][:2]
    return len(lines) == 2 and all(line.startswith("{") and line.endswith("}") for line in lines)


def refuse_other_document(value: Any, name: str) -> None:
    """Say so if a JSON document is something of ADK's world that is no session.

    Raises:
        NotBuiltYet: evaluation sets, cases and results, several sessions: what a later version reads.
        BadData: a scenario or a saved run of adknb, an input for `adk run --replay`.
    """
    if isinstance(value, list):
        _refuse_other_list(value, name)
    elif isinstance(value, dict):
        for feature, fields in _KNOWN:
            if fields & value.keys():
                raise NotBuiltYet(f"{feature} ({name})")
        if "agent" in value and "turns" in value:
            raise BadData(name, "this is a scenario, not a session: `adknb trace` runs it")
        if "format" in value and "entries" in value and "events" not in value:
            raise BadData(name, "this is a run saved by dbg.save, not a session: adknb.replay(path) opens it")
        if "queries" in value and "events" not in value:
            raise BadData(name, "these are queries to replay; nothing has been answered yet, so there are no events")


def _refuse_other_list(items: list[Any], name: str) -> None:
    first = next((item for item in items if isinstance(item, dict)), None)
    if first is None:
        return
    if "query" in first or ("data" in first and "name" in first) or "eval_id" in first or "evalId" in first:
        raise NotBuiltYet(f"reading evaluation cases ({name})")
    if "events" in first:
        raise NotBuiltYet(f"reading a list of sessions ({name})")
