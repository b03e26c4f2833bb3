"""A run told in lines that a person reads and a test compares: requests as sent, events, tools, state.

Nothing is left out of a request. Of an event the time and the ids are; calls are numbered instead: `call-1`.

    model: scripted
    instruction: You are a weather agent.
    tool get_weather: {"description": "Weather."}
    user: How is the weather in Hangzhou?
    model: calls get_weather {"city": "Hangzhou"}
    user: get_weather answers {"temperature": 26}
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

from adknb.engine.event import Event, function_calls_of, function_responses_of
from adknb.stepper.patches import plain
from adknb.stepper.redact import REDACTED

LONG = 100
"""A line of a text that is longer is told a sentence a line, so that a difference is a sentence."""

Json = dict[str, Any]


def request_lines(sent: Json) -> list[str]:
    """A request as it was sent (`Stepper.requests`)."""
    config = dict(sent["config"])
    lines = [f"model: {sent['model']}"]
    instruction = config.pop("systemInstruction", None)
    if instruction is not None:
        lines += _content_lines(
            "instruction", {"parts": [{"text": instruction}]} if isinstance(instruction, str) else instruction
        )
    for tool in config.pop("tools", []):
        rest = dict(tool)
        for declared in rest.pop("functionDeclarations", []):
            lines.append(f"tool {declared.get('name')}: {_json({k: v for k, v in declared.items() if k != 'name'})}")
        if rest:
            lines.append(f"tool: {_json(rest)}")
    lines += [f"{key}: {_json(value)}" for key, value in sorted(config.items())]
    lines.append(f"can run: {', '.join(sent['tools']) or 'nothing'}")
    for content in sent["contents"]:
        lines += _content_lines(content.get("role") or "nobody", content)
    return lines


def event_lines(events: Iterable[Event]) -> list[str]:
    """Stored events, in order."""
    events = list(events)
    calls = [call.id for event in events for call in function_calls_of(event.content) if call.id]
    names = {id: f"call-{n}" for n, id in enumerate(dict.fromkeys(calls), 1)}
    lines: list[str] = []
    for event in events:
        told = _renamed(plain(event), names)
        content = told.pop("content", {})
        author = told.pop("author", "nobody")
        lines += _content_lines(author, content) or [f"{author}: says nothing"]
        expected = "user" if author == "user" or function_responses_of(event.content) else "model"
        if content and content.get("role") != expected:
            lines.append(f"  role: {_json(content.get('role'))}")
        for key in ("id", "timestamp", "invocationId"):
            told.pop(key, None)
        lines += [f"  {key}: {_json(value)}" for key, value in sorted(told.items())]
    return lines


def state_lines(state: Json) -> list[str]:
    """The state, a key a line."""
    return [f"{key}: {_json(value)}" for key, value in sorted(plain(state).items())]


def agreeing(told: list[str], recorded: list[str]) -> list[str]:
    """The lines, but that what was redacted in the recording agrees with any text."""
    return [_agreeing(line, recorded[n]) if n < len(recorded) else line for n, line in enumerate(told)]


def _agreeing(line: str, recorded: str) -> str:
    if REDACTED not in recorded:
        return line
    pattern = ".*".join(re.escape(piece) for piece in recorded.split(REDACTED))
    return recorded if re.fullmatch(pattern, line, re.DOTALL) else line


def _content_lines(who: str, content: Json) -> list[str]:
    return [line for part in content.get("parts") or () for line in _part_lines(who, part)]


def _part_lines(who: str, part: Json) -> Iterator[str]:
    if list(part) == ["text"]:
        first, *rest = _text_lines(part["text"]) or [""]
        yield f"{who}: {first}"
        yield from (f"    {line}" if line else "" for line in rest)
    elif list(part) == ["functionCall"]:
        call = dict(part["functionCall"])
        name, args = call.pop("name", ""), call.pop("args", {})
        yield " ".join([f"{who}: calls {name} {_json(args)}", *(f"{k}={_json(v)}" for k, v in sorted(call.items()))])
    elif list(part) == ["functionResponse"]:
        answer = dict(part["functionResponse"])
        name, response = answer.pop("name", ""), answer.pop("response", {})
        more = (f"{k}={_json(v)}" for k, v in sorted(answer.items()))
        yield " ".join([f"{who}: {name} answers {_json(response)}", *more])
    else:
        yield f"{who}: {_json(part)}"


def _text_lines(text: str) -> list[str]:
    lines: list[str] = []
    for line in text.split("\n"):
        lines += re.split(r"(?<=[.!?])\s|(?<=[。！？])", line) if len(line) > LONG else [line]
    return lines


def _renamed(data: Any, names: dict[str, str]) -> Any:
    if isinstance(data, str):
        return names.get(data, data)
    if isinstance(data, list):
        return [_renamed(item, names) for item in data]
    if isinstance(data, dict):
        return {names.get(key, key): _renamed(item, names) for key, item in data.items()}
    return data


def _json(value: Any) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False, default=str)
