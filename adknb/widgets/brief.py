"""Short texts: what a row, a bubble or a line says of some parts, an event, a value."""

from __future__ import annotations

import json
import math
import re
from typing import Any

from adknb.engine.event import Event
from adknb.engine.event_json import to_json
from adknb.widgets.wire import clean_text, cut

Json = dict[str, Any]

NOT_FOR_THE_MODEL = ("adk_request_confirmation", "adk_request_credential")
"""Calls that are talk between the application and the framework."""


def plural(n: int, one: str) -> str:
    """`3 events`, `1 event`."""
    return f"{n:,} {one}{'' if n == 1 else 's'}"


def value(v: Any) -> str:
    """A value as JSON on one line; a text as it is."""
    return v if isinstance(v, str) else as_json(v)


def as_json(v: Any) -> str:
    """JSON on one line, with blanks behind commas and colons."""
    return json.dumps(v, ensure_ascii=False, default=lambda x: f"<{type(x).__name__}>")


def call(name: str, args: Any) -> str:
    """`get_weather(city="Hangzhou")`."""
    given = ", ".join(f"{k}={as_json(v)}" for k, v in args.items()) if isinstance(args, dict) else ""
    return f"{name}({given})"


def part(p: Json) -> str:
    """One part of a content on one line."""
    if p.get("text") is not None:
        return str(p["text"])
    if f := p.get("functionCall"):
        return call(f.get("name") or "?", f.get("args") or {})
    if f := p.get("functionResponse"):
        return f"{f.get('name') or '?'}: {as_json(f.get('response'))}"
    if blob := p.get("inlineData"):
        size = len(blob.get("data") or "") * 3 // 4
        return f"[{blob.get('displayName') or blob.get('mimeType') or 'data'}, {size:,} bytes]"
    if file := p.get("fileData"):
        return f"[{file.get('displayName') or file.get('fileUri') or 'file'}]"
    if code := p.get("executableCode"):
        return str(code.get("code") or "")
    if done := p.get("codeExecutionResult"):
        return str(done.get("output") or done.get("outcome") or "")
    return as_json(p)


def parts(content: Json | None, length: int = 220) -> str:
    """All parts of a content on one line, cut to a length."""
    texts = [part(p) for p in parts_of(content)]
    return one_line("  ".join(t for t in texts if t), length)


def one_line(text: str, length: int = 220) -> str:
    """A text without line breaks, cut to a length."""
    return cut(re.sub(r"\s+", " ", clean_text(text[: 4 * length])).strip(), length)


def parts_of(content: Json | None) -> list[Json]:
    """The parts of a content's JSON; none when there is no content."""
    return [p for p in (content or {}).get("parts") or [] if isinstance(p, dict)]


def calls_of(content: Json | None) -> list[Json]:
    """The function calls of a content's JSON."""
    return [p["functionCall"] for p in parts_of(content) if p.get("functionCall")]


def responses_of(content: Json | None) -> list[Json]:
    """The function responses of a content's JSON."""
    return [p["functionResponse"] for p in parts_of(content) if p.get("functionResponse")]


def kind(event: Json) -> str:
    """What an event mainly is: summary, speech, confirm, response, call, state, thought, file, error or text."""
    content = event.get("content")
    return _kind(event, parts_of(content), calls_of(content), responses_of(content))


def _kind(event: Json, inside: list[Json], calls: list[Json], answers: list[Json]) -> str:
    if (event.get("actions") or {}).get("compaction"):
        return "summary"
    if event.get("inputTranscription") or event.get("outputTranscription"):
        return "speech"
    if calls or answers:
        if any(f.get("name") in NOT_FOR_THE_MODEL for f in (*calls, *answers)):
            return "confirm"
        return "response" if answers else "call"
    if event.get("errorCode") or event.get("errorMessage"):
        return "error"
    if not inside:
        return "state"
    if any(p.get("thought") for p in inside):
        return "thought"
    return "text" if any(p.get("text") for p in inside) else "file"


def event(e: Json, length: int = 220, what: str = "") -> str:
    """An event on one line. `what` is its kind, if that is known."""
    actions = e.get("actions") or {}
    what = what or kind(e)
    if what == "summary":
        return parts(actions["compaction"].get("compactedContent"), length)
    if what == "speech":
        spoken = e.get("inputTranscription") or e.get("outputTranscription") or {}
        return one_line(f"“{spoken.get('text') or ''}”", length)
    if what == "error":
        return one_line(f"{e.get('errorCode', '')} {e.get('errorMessage', '')}", length)
    if what == "state":
        said = [f"state {as_json(actions['stateDelta'])}"] if actions.get("stateDelta") else []
        said += [f"transfer to {actions['transferToAgent']}"] if actions.get("transferToAgent") else []
        said += ["escalate"] if actions.get("escalate") else []
        return one_line(", ".join(said) or "nothing to send", length)
    return parts(e.get("content"), length)


def slim(e: Event) -> Json:
    """As much of an event's JSON as the short texts here read."""
    actions = e.actions
    out: Json = {"content": to_json(e.content) if e.content is not None else None, "actions": {}}
    if e.input_transcription is not None or e.output_transcription is not None:
        out["inputTranscription"] = to_json(e.input_transcription)
        out["outputTranscription"] = to_json(e.output_transcription)
    if e.error_code or e.error_message:
        out |= {"errorCode": e.error_code, "errorMessage": e.error_message}
    if actions.compaction is not None:
        out["actions"]["compaction"] = {"compactedContent": to_json(actions.compaction.compacted_content)}
    given = {
        "stateDelta": actions.state_delta,
        "transferToAgent": actions.transfer_to_agent,
        "escalate": actions.escalate,
    }
    out["actions"] |= {name: v for name, v in given.items() if v}
    return out


def event_line(e: Event, length: int = 220) -> str:
    """An event on one line."""
    return event(slim(e), length)


def event_row(e: Event, turn: int, room: int = 660) -> list[Any]:
    """An event as the panel's table has it; its text takes at most `room` bytes.

    `[turn, time, author, branch, scope, role, kind, text, call ids, answered ids, function names, tokens]`
    """
    data = slim(e)
    content = data["content"]
    inside = parts_of(content)
    calls = [p["functionCall"] for p in inside if p.get("functionCall")]
    answers = [p["functionResponse"] for p in inside if p.get("functionResponse")]
    what = _kind(data, inside, calls, answers)
    names = dict.fromkeys(str(f.get("name") or "") for f in (*calls, *answers))
    return [
        turn,
        clock(e.timestamp),
        clean_text(e.author),
        clean_text(e.branch),
        clean_text(e.isolation_scope),
        clean_text((content or {}).get("role") or ""),
        what,
        fitted(event(data, min(220, room), what), room),
        [clean_text(str(f.get("id") or "")) for f in calls],
        [clean_text(str(f.get("id") or "")) for f in answers],
        clean_text(", ".join(names)),
        getattr(e.usage_metadata, "total_token_count", None) or 0,
    ]


def fitted(text: str, room: int) -> str:
    """A text cut to so many bytes of UTF-8: a Chinese character takes three."""
    if len(text) * (1 if text.isascii() else 3) <= room:
        return text
    whole = text.encode()
    return text if len(whole) <= room else whole[: room - 3].decode(errors="ignore") + "…"


def clock(seconds: float) -> str:
    """`09:41:07.250`, in UTC; nothing for a time that is none."""
    if not seconds or not math.isfinite(seconds):
        return ""
    ms = round(seconds * 1000) % 86_400_000
    return f"{ms // 3_600_000:02}:{ms // 60_000 % 60:02}:{ms // 1000 % 60:02}.{ms % 1000:03}"
