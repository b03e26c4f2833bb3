"""The request as JSON, and back: what an editor shows, checks and applies.

A draft is checked as a whole before anything changes. What JSON cannot say (the local tool table, the options of the
connection, values that are Python objects) is not part of it and stays as it is.
"""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from google.genai import types
from pydantic import BaseModel, ValidationError
from pydantic_core import PydanticSerializationError

from adknb.engine.errors import BadData
from adknb.engine.model import LLMRequest
from adknb.json_text import NotJson, TooDeep, strict
from adknb.stepper.json_places import Path, dotted, line_of

NOT_SHOWN = {"http_options": "how the request travels is set in Python: it may hold keys"}
"""Fields of the config that never become text, and why."""

_FIELDS = ("model", "contents", "config", "tools")


@dataclass(frozen=True)
class Problem:
    """What is wrong with a draft: where (`contents[0].parts[1].text`, or `""`), on which line (from 1), and why."""

    path: str
    line: int
    message: str


def request_json(request: LLMRequest) -> dict[str, Any]:
    """A request as camelCase JSON: `{"model", "contents", "config", "tools"}`, the tools as the sorted local names."""
    rest = rest_json(request)
    contents = [content_json(content) for content in request.contents]
    return {"model": rest["model"], "contents": contents, "config": rest["config"], "tools": rest["tools"]}


def rest_json(request: LLMRequest) -> dict[str, Any]:
    """A request without its contents, as in `request_json`."""
    return {
        "model": request.model,
        "config": _dump(request.config, set(NOT_SHOWN)),
        "tools": sorted(request.tools),
    }


def content_json(content: types.Content) -> dict[str, Any]:
    """One content as camelCase JSON, as in `request_json`."""
    return _readable(_dump(content))


def request_text(request: LLMRequest) -> str:
    """A request as the text an editor starts with; what cannot be sent to a browser is written as an escape."""
    text = json.dumps(request_json(request), indent=2, ensure_ascii=False)
    return _SURROGATE.sub(lambda m: f"\\u{ord(m.group()):04x}", text)


def check_request(text: str, request: LLMRequest | None = None) -> list[Problem]:
    """What is wrong with a draft, in the order of its lines; an empty list for a good one.

    With the live request at hand, a changed list of local tools is told too.
    """
    try:
        data = strict(text)
    except NotJson as fault:
        line, column = fault.place(text)
        return [Problem("", line, f"{fault.message} (column {column})")]
    except TooDeep as fault:
        return [Problem(fault.path, 1, str(fault))]
    faults = list(dict.fromkeys(_faults(data, request)))
    return sorted((Problem(dotted(p), line_of(text, p), m) for p, m in faults), key=lambda problem: problem.line)


def apply_request(request: LLMRequest, draft: str | dict[str, Any]) -> None:
    """Write a draft, as text or plain data, into the live request. What was not edited keeps its very objects.

    Raises:
        BadData: the draft is wrong, and where; the request is as it was.
    """
    text = draft if isinstance(draft, str) else json.dumps(draft, indent=2, default=repr)
    problems = check_request(text, request)
    if problems:
        first = problems[0]
        raise BadData(", ".join(filter(None, [f"request, line {first.line}", first.path])), first.message)
    data = json.loads(text)
    live = {_canonical(_dump(content)): content for content in reversed(request.contents)}
    contents = [live.pop(_canonical(c), None) or _load(types.Content, c) for c in data["contents"]]
    config = _edited_config(request.config, data["config"])
    request.model = data["model"]
    request.contents[:] = contents
    request.config = config


# ---- what is wrong


def _faults(data: Any, request: LLMRequest | None) -> Iterator[tuple[Path, str]]:
    if not isinstance(data, dict):
        yield (), f"expected an object with {', '.join(_FIELDS[:3])}, found {_kind(data)}"
        return
    for key in data:
        if key not in _FIELDS:
            yield (key,), f"a request has no field {key!r}; its fields are {', '.join(_FIELDS)}"
    kinds = {"model": str, "contents": list, "config": dict}
    for key, kind in kinds.items():
        if key not in data:
            yield (), f"the field {key!r} is missing"
        elif not isinstance(data[key], kind):
            yield (key,), f"expected {_KINDS[kind]}, found {_kind(data[key])}"
    if "tools" in data:
        yield from _tool_faults(data["tools"], request)
    yield from _surrogates(data)
    if isinstance(data.get("contents"), list):
        for i, content in enumerate(data["contents"]):
            yield from _model_faults(types.Content, content, ("contents", i))
    if isinstance(data.get("config"), dict):
        yield from _config_faults(data["config"])


def _tool_faults(tools: Any, request: LLMRequest | None) -> Iterator[tuple[Path, str]]:
    names = sorted(request.tools) if request is not None else tools
    if not isinstance(tools, list) or tools != names:
        yield (
            ("tools",),
            "the local table holds functions of this kernel and cannot be edited as JSON; "
            "what the model is told stands in config.tools",
        )


def _config_faults(config: dict[str, Any]) -> Iterator[tuple[Path, str]]:
    """Instruction and tools are checked as what they must be; pydantic would try every kind they may be."""
    rest = dict(config)
    for name, why in NOT_SHOWN.items():
        for key in {name, _camel(name)} & rest.keys():
            yield ("config", key), why
            del rest[key]
    for key in {"systemInstruction", "system_instruction"} & rest.keys():
        value = rest.pop(key)
        if not isinstance(value, str):
            yield from _model_faults(types.Content, value, ("config", key))
    if isinstance(rest.get("tools"), list):
        for i, tool in enumerate(rest.pop("tools")):
            yield from _model_faults(types.Tool, tool, ("config", "tools", i))
    yield from _model_faults(types.GenerateContentConfig, rest, ("config",))


def _model_faults(cls: type[BaseModel], data: Any, at: Path) -> Iterator[tuple[Path, str]]:
    try:
        _load(cls, data)
    except ValidationError as error:
        for fault in error.errors(include_url=False):
            if fault["type"] == "json_invalid":  # a surrogate, told above
                continue
            path = _path_in(data, fault["loc"])
            yield at + path, _sentence(cls, fault, path)


def _path_in(data: Any, loc: tuple[str | int, ...]) -> Path:
    """Pydantic's place as a place of the data: steps that name a kind, not a field, are left out."""
    path: list[str | int] = []
    for step in loc:
        if isinstance(data, dict) and step not in data:
            step = next((k for k in (_camel(str(step)), _snake(str(step))) if k in data), step)
        if isinstance(data, dict) and step in data:
            data = data[str(step)]
        elif isinstance(data, list) and isinstance(step, int) and step < len(data):
            data = data[step]
        else:
            continue
        path.append(step)
    return tuple(path)


def _sentence(cls: type[BaseModel], fault: Any, path: Path) -> str:
    kind, found = fault["type"], fault["input"]
    if kind == "extra_forbidden":
        owner = _owner(cls, path[:-1])
        names = ", ".join(_camel(name) for name in (owner or cls).model_fields)
        where = f"{owner.__name__} has" if owner else "there is"
        return f"{where} no field {path[-1]!r}" + (f"; its fields are {names}" if owner and len(names) < 400 else "")
    for start, wanted in _WANTED.items():
        if kind.startswith(start):
            return f"expected {wanted}, found {_kind(found)}"
    if kind == "missing":
        return f"the field {fault['loc'][-1]!r} is missing"
    message = str(fault["msg"])
    return message[:1].lower() + message[1:]


def _owner(cls: type[BaseModel], path: Path) -> type[BaseModel] | None:
    """The record that has a path's fields, as far as the annotations tell."""
    for step in path:
        if isinstance(step, int):
            continue
        field = cls.model_fields.get(_snake(step))
        records = [t for t in _types_in(field.annotation if field else None) if issubclass(t, BaseModel)]
        if len(records) != 1:
            return None
        cls = records[0]
    return cls


def _types_in(annotation: Any) -> Iterator[type]:
    if isinstance(annotation, type) and not hasattr(annotation, "__args__"):
        yield annotation
    for inner in getattr(annotation, "__args__", ()):
        yield from _types_in(inner)


_KINDS = {dict: "an object", list: "a list", str: "a text", bool: "true or false", int: "a number", float: "a number"}
_WANTED = {
    "model_": "an object",
    "dict_": "an object",
    "list_": "a list",
    "string_": "a text",
    "bool_": "true or false",
    "int_": "a whole number",
    "float_": "a number",
    "bytes_invalid": "base64",
    "bytes_": "a text in base64",
}


def _kind(value: Any) -> str:
    """`a text "abc"`; long values are cut."""
    if value is None:
        return "null"
    name = _KINDS.get(type(value), type(value).__name__)
    if isinstance(value, (dict, list)):
        return name
    shown = json.dumps(value)
    return f"{name} {shown if len(shown) <= 40 else shown[:37] + '…'}" if not isinstance(value, bool) else shown


_SURROGATE = re.compile("[\ud800-\udfff]")


def _surrogates(data: Any, at: Path = ()) -> Iterator[tuple[Path, str]]:
    """Texts with half of a pair: they are Python strings, but no JSON text that could be sent."""
    if isinstance(data, str) and _SURROGATE.search(data):
        yield at, "the text holds half of a surrogate pair, which cannot be sent"
    elif isinstance(data, list):
        for i, item in enumerate(data):
            yield from _surrogates(item, (*at, i))
    elif isinstance(data, dict):
        for key, item in data.items():
            if _SURROGATE.search(key):
                yield at, "a field's name holds half of a surrogate pair, which cannot be sent"
            yield from _surrogates(item, (*at, key))


# ---- JSON of google-genai's records


def _dump(record: BaseModel, leave_out: set[str] | None = None) -> dict[str, Any]:
    """A record as JSON. A value that has no JSON form is left out: an editor cannot write it either."""
    leave_out = leave_out or set()
    try:
        return record.model_dump(mode="json", by_alias=True, exclude_none=True, exclude=leave_out, warnings=False)
    except (PydanticSerializationError, TypeError, ValueError):
        out: dict[str, Any] = {}
        for name in type(record).model_fields:
            try:
                out |= record.model_dump(
                    mode="json", by_alias=True, exclude_none=True, include={name}, exclude=leave_out, warnings=False
                )
            except (PydanticSerializationError, TypeError, ValueError):
                continue
        return out


def _readable(content: dict[str, Any]) -> dict[str, Any]:
    """The same JSON, in place: the role first, and a function's name before what it is given."""
    for part in content.get("parts", ()):
        for kind, payload in (("functionCall", "args"), ("functionResponse", "response")):
            if kind in part and payload in part[kind]:
                part[kind][payload] = part[kind].pop(payload)
    if "parts" in content:
        content["parts"] = content.pop("parts")
    return content


def _load(cls: type[Any], data: Any) -> Any:
    """A record from JSON: bytes are base64 there, which only pydantic's JSON mode reads."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # google-genai warns of enum values it does not know, and keeps them
        return cls.model_validate_json(json.dumps(data))


def _edited_config(live: types.GenerateContentConfig, data: dict[str, Any]) -> types.GenerateContentConfig:
    """The live config when nothing changed; else a new one with what JSON cannot say carried over."""
    before = _dump(live, set(NOT_SHOWN))
    if before == data:
        return live
    rest = {k: v for k, v in data.items() if _snake(k) not in ("system_instruction", "tools")}
    config: types.GenerateContentConfig = _load(types.GenerateContentConfig, rest)
    instruction = data.get("systemInstruction", data.get("system_instruction"))
    if instruction is not None:
        text = isinstance(instruction, str)
        config.system_instruction = instruction if text else _load(types.Content, instruction)
    if data.get("tools") is not None:
        config.tools = [_load(types.Tool, tool) for tool in data["tools"]]
    for name in type(live).model_fields:
        value = getattr(live, name)
        if value is not None and _camel(name) not in before:
            setattr(config, name, value)
    return config


def _canonical(data: Any) -> str:
    return json.dumps(data, sort_keys=True)


def _camel(name: str) -> str:
    head, *tail = name.split("_")
    return head + "".join(word.capitalize() for word in tail)


def _snake(name: str) -> str:
    return "".join("_" + c.lower() if c.isupper() else c for c in name)
