"""What a stop holds as a form: fields a reader may fill in, each with its place in the JSON, and back.

    field   {"at": JSON pointer, "label", "kind", "value": text, "note"?, "options"?}
    kind    line · text (several lines) · number · whole · flag · one (of options) · json

A value is always a text, as it stands in the field. An empty line, number, flag or JSON field is one that is not set.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from adknb.json_text import NotJson, TooDeep, strict
from adknb.lens.request_changes import pointer
from adknb.widgets import brief
from adknb.widgets.brief import Json

MOST_CONTENTS = 60
"""Of more contents than these, a form has the newest; the JSON has them all."""

SETTINGS = {
    "temperature": "number",
    "topP": "number",
    "topK": "number",
    "maxOutputTokens": "whole",
    "candidateCount": "whole",
    "seed": "whole",
    "presencePenalty": "number",
    "frequencyPenalty": "number",
    "responseMimeType": "line",
    "stopSequences": "json",
}
"""The settings a form always offers, set or not; others are there if they are set."""


RESPONSE = {
    "/partial": "flag",
    "/turnComplete": "flag",
    "/finishReason": "line",
    "/errorCode": "line",
    "/errorMessage": "line",
}
EVENT = {
    "/author": "line",
    "/branch": "line",
    "/isolationScope": "line",
    **RESPONSE,
    "/actions/stateDelta": "json",
    "/actions/transferToAgent": "line",
    "/actions/escalate": "flag",
    "/actions/skipSummarization": "flag",
    "/id": "line",
    "/invocationId": "line",
    "/timestamp": "number",
}
"""The fields that a form of a response, of an event always offers, set or not."""


@dataclass(frozen=True)
class Fault:
    """What is wrong with a draft: `at` is a JSON pointer (or a field's place), `line` counts from 1, 0 if unknown."""

    at: str
    message: str
    line: int = 0


def request_form(request: Json, paragraphs: Sequence[tuple[str, str]] = ()) -> list[Json]:
    """The groups of a request: model, settings, the instruction by paragraph, the contents by part.

    `paragraphs` are (text, stage that wrote it), for the labels.
    """
    config = request.get("config") or {}
    settings = [_field("/model", "model", "line", request.get("model") or "")]
    settings += [_field(pointer("config", k), k, kind, _shown(kind, config.get(k))) for k, kind in SETTINGS.items()]
    named = {*SETTINGS, "systemInstruction", "tools"}
    settings += [_field(pointer("config", k), k, "json", brief.as_json(v)) for k, v in config.items() if k not in named]
    groups = [{"title": "System instruction", "fields": _instruction(config, paragraphs)}]
    groups.append({"title": "Model and config", "look": "settings", "fields": settings})
    if config.get("tools"):
        groups.append({"title": "Declared tools", "fields": _declarations(config["tools"])})
    contents = request.get("contents") or []
    first = max(0, len(contents) - MOST_CONTENTS)
    for i in range(first, len(contents)):
        groups.append(_content(contents[i], i))
    if first:
        groups[-(len(contents) - first)]["note"] = f"The first {first:,} are not in the form; the JSON has them all."
    return groups


def object_form(data: Any, title: str, offered: Mapping[str, str] | None = None) -> list[Json]:
    """The groups of any other JSON object: role and parts of its content, then a field for each key.

    `offered` are places and kinds of fields that are there set or not (`EVENT`); they come first.
    """
    known, groups, fields = offered or {}, [], []
    for at, kind in known.items():
        *above, name = at.split("/")[1:]
        held = data.get(above[0]) if above else data
        label = " ".join([*above, name])
        fields.append(_field(at, label, kind, _shown(kind, held.get(name) if isinstance(held, dict) else None)))
    opened = {at.split("/")[1] for at in known if at.count("/") > 1}
    for key, value in data.items():
        if key == "content" and isinstance(value, dict):
            groups.append({"title": "Content", "fields": [_role(value, "/content"), *_parts(value, "/content")]})
        elif key in opened and isinstance(value, dict):
            inner = ((pointer(key, k), f"{key} {k}", v) for k, v in value.items())
            fields += [_any(at, label, v) for at, label, v in inner if at not in known]
        elif pointer(key) not in known:
            fields.append(_any(pointer(key), key, value))
    if "parts" in data and isinstance(data["parts"], list):
        groups.append({"title": "Parts", "fields": _parts(data, "")})
        fields = [f for f in fields if f["at"] != "/parts"]
    return [*groups, {"title": title, "fields": fields}] if fields or not groups else groups


def filled_in(base: Any, given: Sequence[tuple[str, str]], form: Iterable[Json]) -> tuple[Any, list[Fault]]:
    """The data with some fields filled in, and what is wrong with those that cannot be read; they stay as they were.

    `given` is (place, text) of the fields that were changed; `form` the form they belong to.
    """
    fields = {field["at"]: field for group in form for field in group["fields"]}
    data, faults = copy.deepcopy(base), []
    paragraphs: dict[str, dict[int, str]] = {}
    for at, text in given:
        field = fields.get(at)
        if field is None:
            faults.append(Fault(at, "there is no such field any more"))
            continue
        place, mark, number = at.partition("#")
        if mark:
            paragraphs.setdefault(place, {})[int(number)] = text
            continue
        try:
            value = _value(field, text)
        except _Unreadable as error:
            faults.append(Fault(at, str(error)))
            continue
        _put(data, at, value)
    for place, changed in paragraphs.items():
        texts = [f["value"] for name, f in fields.items() if name.partition("#")[0] == place]
        texts = [changed.get(i, text) for i, text in enumerate(texts)]
        _put(data, place, "\n\n".join(text for text in texts if text.strip()))
    return data, faults


# ---- fields


def _field(at: str, label: str, kind: str, value: str, **more: Any) -> Json:
    more |= {"options": ["", "true", "false"]} if kind == "flag" else {}
    return {"at": at, "label": label, "kind": kind, "value": value, **more}


def _any(at: str, label: str, value: Any) -> Json:
    """A field for a value of any kind: a text is a text, all else is JSON."""
    if isinstance(value, str):
        return _field(at, label, "text", value)
    return _field(at, label, "json", json.dumps(value, ensure_ascii=False, indent=2))


def _shown(kind: str, value: Any) -> str:
    if value is None:
        return ""
    return str(value) if kind == "line" else brief.as_json(value)


def _instruction(config: Json, paragraphs: Sequence[tuple[str, str]]) -> list[Json]:
    """A field for each paragraph: `/config/systemInstruction/parts/0/text#1` is the second of that text."""
    given = config.get("systemInstruction")
    if isinstance(given, str):
        texts = [(pointer("config", "systemInstruction"), given)]
    else:
        texts = [
            (pointer("config", "systemInstruction", "parts", j, "text"), str(part["text"]))
            for j, part in enumerate(brief.parts_of(given))
            if part.get("text") is not None
        ]
    stages = dict(paragraphs)
    fields: list[Json] = []
    for place, text in texts:
        for n, paragraph in enumerate(text.split("\n\n")):
            by = stages.get(paragraph.strip(), "")
            fields.append(_field(f"{place}#{n}", by or f"paragraph {len(fields) + 1}", "text", paragraph))
    if not texts:
        fields.append(_field(pointer("config", "systemInstruction"), "new", "text", "", empty=True))
    return fields


def _declarations(tools: Any) -> list[Json]:
    fields = []
    for j, tool in enumerate(tools if isinstance(tools, list) else []):
        for k, declared in enumerate(tool.get("functionDeclarations") or []):
            at = pointer("config", "tools", j, "functionDeclarations", k)
            name = str(declared.get("name") or "?")
            fields.append(_field(at + "/description", name, "text", str(declared.get("description") or ""), empty=True))
            fields += [
                _field(
                    at + pointer(key),
                    key.removesuffix("JsonSchema"),
                    "json",
                    json.dumps(v, ensure_ascii=False, indent=2),
                )
                for key, v in declared.items()
                if key not in ("name", "description")
            ]
    return fields


def _content(content: Json, i: int) -> Json:
    at = pointer("contents", i)
    return {"title": f"Content {i}", "at": at, "fields": [_role(content, at), *_parts(content, at)]}


def _role(content: Json, at: str) -> Json:
    role = content.get("role")
    return _field(at + "/role", "role", "one", role if isinstance(role, str) else "", options=["", "user", "model"])


def _parts(content: Json, at: str) -> list[Json]:
    fields = []
    for j, part in enumerate(content.get("parts") or []):
        place = f"{at}/parts/{j}"
        if not isinstance(part, dict):
            continue
        if part.get("text") is not None:
            fields.append(_field(place + "/text", "thought" if part.get("thought") else "text", "text", part["text"]))
        for name, inner in (("functionCall", "args"), ("functionResponse", "response")):
            function = part.get(name)
            if isinstance(function, dict):
                text = json.dumps(function.get(inner) or {}, ensure_ascii=False, indent=2)
                label = f"{function.get('name') or '?'} {inner}"
                fields.append(_field(f"{place}/{name}/{inner}", label, "json", text))
        if not {"text", "functionCall", "functionResponse"} & part.keys():
            fields.append(_field(place, "part", "json", json.dumps(part, ensure_ascii=False, indent=2)))
    return fields


# ---- reading them


class _Unreadable(Exception):
    """A field's text does not say a value of its kind."""


class _Unset:
    """The value of a field that is left empty."""


UNSET = _Unset()


def _value(field: Json, text: str) -> Any:
    kind = field["kind"]
    if kind == "text":
        return UNSET if field.get("empty") and not text.strip() else text
    if not text.strip():
        return UNSET
    if kind in ("line", "one"):
        return text
    try:
        value = strict(text)
    except NotJson as fault:
        if kind in EXPECTED:
            raise _Unreadable(EXPECTED[kind]) from None
        line, column = fault.place(text)
        where = f"line {line}, column {column}" if "\n" in text else f"column {column}"
        raise _Unreadable(f"{fault.message} ({where})") from None
    except TooDeep as fault:
        raise _Unreadable(str(fault)) from None
    flag, number = isinstance(value, bool), isinstance(value, (int, float)) and not isinstance(value, bool)
    is_one = {"flag": flag, "number": number, "whole": number and value == int(value)}
    if not is_one.get(kind, True):
        raise _Unreadable(EXPECTED[kind])
    return int(value) if kind == "whole" else value


EXPECTED = {"flag": "expected true or false", "number": "expected a number", "whole": "expected a whole number"}


def _put(data: Any, at: str, value: Any) -> None:
    """Set, or unset, what stands at a pointer; what leads there is made."""
    steps = [s.replace("~1", "/").replace("~0", "~") for s in at.split("/")[1:]]
    for step in steps[:-1]:
        if isinstance(data, list):
            data = data[int(step)]
        else:
            data = data.setdefault(step, {})
    last = steps[-1]
    if isinstance(data, list):
        data[int(last)] = None if value is UNSET else value
    elif value is UNSET:
        data.pop(last, None)
    else:
        data[last] = value
