"""Live lines in few words, so that a scenario and what it comes to fit on a line each."""

from __future__ import annotations

import json
from typing import Any


def in_few_words(line: str) -> str:
    """`EVENT {…}` or a line of the server -> `voice: 'po'`, `1 got content user 'ping'`."""
    start, brace, rest = line.partition("{")
    if not brace:
        return line
    data = json.loads("{" + rest)
    if not start or start == "EVENT ":
        return event(data)
    n, verb = start.removeprefix("SERVER").split()
    return f"{n} {verb} {message(data) if verb == 'got' else ''}".strip()


def event(data: dict[str, Any]) -> str:
    words = ["partial"] if data.get("partial") else []
    for key, name in (("inputTranscription", "in"), ("outputTranscription", "out")):
        if key in data:
            whole = data[key].get("finished") and not data.get("partial")
            words.append(f"{'whole ' if whole else ''}{name} {data[key].get('text', '')!r}")
    words += [part(one) for one in data.get("content", {}).get("parts", [])]
    words += [name for key, name in (("interrupted", "interrupted"), ("turnComplete", "done")) if data.get(key)]
    if "handle" in data:
        words.append(f"handle {data['handle']}")
    if "delta" in data:
        words.append(plain(data["delta"]))
    return f"{data['author']}: {' '.join(words)}".strip()


def message(data: dict[str, Any]) -> str:
    if "toolResponse" in data:
        return "tool " + " ".join(part({"functionResponse": r}) for r in data["toolResponse"]["functionResponses"])
    if "clientContent" in data:
        sent = data["clientContent"]
        turns = " | ".join(" ".join([turn.get("role", "?"), *map(part, turn["parts"])]) for turn in sent["turns"])
        return f"content {turns}" + ("" if sent.get("turnComplete") else " (more to come)")
    (kind, what), *_ = data["realtimeInput"].items()
    if kind == "mediaChunks":
        return "media " + " ".join(blob(one) for one in what)
    return f"{kind} {blob(what) if isinstance(what, dict) and 'data' in what else what or ''}".strip()


def part(data: dict[str, Any]) -> str:
    if "functionCall" in data:
        call = data["functionCall"]
        return f"{call['name']}#{call.get('id')}({', '.join(f'{k}={v}' for k, v in call.get('args', {}).items())})"
    if "functionResponse" in data:
        answer = data["functionResponse"]
        return f"{answer['name']}#{answer.get('id')}={plain(answer.get('response'))}"
    if "inlineData" in data:
        return blob(data["inlineData"])
    if "fileData" in data:
        uri = data["fileData"]["fileUri"]
        return f"<{data['fileData']['mimeType']} at {uri}>"
    return f"({data['text']})" if data.get("thought") else repr(data.get("text"))


def blob(data: dict[str, Any]) -> str:
    return f"<{data.get('mimeType', '?')} {data['data']}>"


def plain(data: Any) -> str:
    return json.dumps(data, ensure_ascii=False, sort_keys=True).replace('"', "'")
