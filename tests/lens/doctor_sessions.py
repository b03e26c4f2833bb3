"""Short words for the sessions of the doctor's tests, and the reader of its vectors."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from adknb.lens.doctor import Finding, examine, session_from_json

Json = dict[str, Any]

VECTORS = Path(__file__).with_name("doctor.jsonl")
"""The vectors of ../shared/cases/doctor.jsonl; their format is in doctor.README.md there."""


def event(author: str | None, role: str | None, *parts: Json, **more: Any) -> Json:
    """An event; `more` are fields beside author and content, in snake_case."""
    content = {"parts": list(parts)} if role is None else {"role": role, "parts": list(parts)}
    return {"author": author, "content": content, **more}


def text(words: str, **more: Any) -> Json:
    return {"text": words, **more}


def fc(call_id: str | None, name: str = "look", args: Json | None = None) -> Json:
    """A part with a function call."""
    return {"functionCall": {"id": call_id, "name": name, "args": args or {}}}


def fr(call_id: str | None, name: str = "look", response: Any = None) -> Json:
    """A part with a function response."""
    return {"functionResponse": {"id": call_id, "name": name, "response": {"v": 1} if response is None else response}}


def user(*words: str | Json, **more: Any) -> Json:
    """What the user says: texts, or parts."""
    return event("user", "user", *(text(w) if isinstance(w, str) else w for w in words), **more)


def me(*words: str | Json, **more: Any) -> Json:
    """What the agent `me` says or calls."""
    return by("me", *words, **more)


def by(author: str, *words: str | Json, **more: Any) -> Json:
    """What an agent says or calls."""
    return event(author, "model", *(text(w) if isinstance(w, str) else w for w in words), **more)


def result(call_id: str | None, name: str = "look", response: Any = None, author: str = "me", **more: Any) -> Json:
    """A tool's result, by an agent."""
    return event(author, "user", fr(call_id, name, response), **more)


def wrote(author: str, **delta: Any) -> Json:
    """A state-only event."""
    return {"author": author, "actions": {"stateDelta": delta}}


def delta(**keys: Any) -> Json:
    """The actions of an event that writes state."""
    return {"actions": {"stateDelta": keys}}


def ask(request_id: str | None, call_id: str, tool: str = "pay", author: str = "me", **more: Any) -> Json:
    """A request for confirmation."""
    args = {"originalFunctionCall": {"id": call_id, "name": tool, "args": {}}, "toolConfirmation": {"hint": "?"}}
    marks = {"long_running_tool_ids": [request_id]} if request_id else {}
    return by(author, fc(request_id, "adk_request_confirmation", args), **{**marks, **more})


def decide(request_id: str | None, response: Any = None, **more: Any) -> Json:
    """A user's answer to a request for confirmation; approval unless told otherwise."""
    told = {"confirmed": True} if response is None else response
    return user(fr(request_id, "adk_request_confirmation", told), **more)


def needs(call_id: str, tool: str = "pay", **more: Any) -> Json:
    """The result of a tool that asks for approval."""
    wanted = {"actions": {"skipSummarization": True, "requestedToolConfirmations": {call_id: {"hint": "?"}}}}
    return result(call_id, tool, {"error": f"{tool} needs approval"}, **{**wanted, **more})


def pay(*, request: str = "k1", call: str = "c1") -> list[Json]:
    """A turn that ends with a request to approve `pay`."""
    return [user("Pay 5"), me(fc(call, "pay")), needs(call), ask(request, call)]


def record(start: float, end: float, at: float, summary: str | None = "Sum.", **more: Any) -> Json:
    """A compaction record."""
    made: Json = {"startTimestamp": start, "endTimestamp": end}
    if summary is not None:
        made["compactedContent"] = {"role": "model", "parts": [{"text": summary}]}
    if "excluded" in more:
        made["excludedEvents"] = [{"invocationId": i, "timestamp": t} for i, t in more.pop("excluded")]
    return {"author": "user", "timestamp": at, "actions": {"compaction": made}, **more}


def agent(name: str, instruction: str = "", *sub_agents: Json, **more: Any) -> Json:
    """A definition of an LLM agent."""
    return {"name": name, "instruction": instruction, "sub_agents": list(sub_agents), **more}


def flow(kind: str, *sub_agents: Json, name: str = "line") -> Json:
    """A definition of a workflow agent."""
    return {"type": kind, "name": name, "sub_agents": list(sub_agents)}


def session(*events: Json, **known: Any) -> Json:
    """A session with what is known beside its events."""
    return {"events": list(events), **known}


# -------------------------------------------------------------------------------------------------------------- vectors


def vectors() -> Iterator[Json]:
    """All vectors, long things written out."""
    for line in VECTORS.read_text("utf-8").splitlines():
        vector = json.loads(line)
        yield {**vector, "session": written_out(vector["session"])}


def written_out(value: Any) -> Any:
    """Replace `{"$repeat": [text, n]}` and `{"$each": n, "events": […]}` by what they stand for."""
    if isinstance(value, dict):
        if value.keys() == {"$repeat"}:
            words, n = value["$repeat"]
            return words * n
        return {key: written_out(item) for key, item in value.items()}
    if isinstance(value, list):
        return [item for entry in value for item in _each(entry)]
    return value


def _each(entry: Any) -> Iterator[Any]:
    if isinstance(entry, dict) and "$each" in entry:
        for n in range(1, entry["$each"] + 1):
            for inner in entry["events"]:
                yield _numbered(written_out(inner), str(n))
    else:
        yield written_out(entry)


def _numbered(value: Any, n: str) -> Any:
    if isinstance(value, str):
        return value.replace("$i", n)
    if isinstance(value, dict):
        return {key: _numbered(item, n) for key, item in value.items()}
    return [_numbered(item, n) for item in value] if isinstance(value, list) else value


def found_in(data: Json) -> list[Finding]:
    """What the doctor finds in a session."""
    return examine(session_from_json(data))


def events_by_check(findings: list[Finding]) -> dict[str, list[int]]:
    """Check -> the events of all of its findings."""
    by_check: dict[str, set[int]] = {}
    for finding in findings:
        by_check.setdefault(finding.check, set()).update(finding.events)
    return {check: sorted(events) for check, events in by_check.items()}
