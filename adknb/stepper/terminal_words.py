"""What is typed at the prompt: wishes in words, dotted paths, and JSON for answers and edits. Nothing is evaluated."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable
from typing import Any

from google.genai import types
from pydantic import ValidationError

from adknb.engine.errors import AdknbError, BadData
from adknb.engine.event import Event
from adknb.engine.event_json import camel, event_from_json, response_from_json, snake, to_json
from adknb.engine.model import as_response
from adknb.engine.response import LLMResponse
from adknb.engine.stops import Phase, Seam, Stop
from adknb.json_text import NotJson, TooDeep, strict
from adknb.stepper.fitting import COMES_TO
from adknb.stepper.patches import editable, plain, put_back
from adknb.stepper.stepper import NotPaused, Stepper
from adknb.stepper.wishes import Wish, at, changed, event


class Misspelt(AdknbError):
    """A command that cannot be read; says how it is written."""


# ---- wishes

KEYS: dict[str, tuple[Callable[..., Wish], tuple[str, ...]]] = {
    "at": (at, ("seam", "tool", "agent", "turn", "step", "phase")),
    "event": (event, ("author", "call", "answer", "partial", "final", "turn", "step", "agent")),
    "changed": (changed, ("turn", "step", "agent")),
}
NUMBERS, BOOLEANS = ("turn", "step"), {"partial", "final"}


def wish_of(text: str) -> Wish:
    """`contents turn=2`, `tool=get_weather`, `event author=x final=true`, `changed config.tools`; with `|`, `&`, `~`.

    Raises:
        Misspelt: it cannot be read so.
    """
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise Misspelt(f"{text!r}: {str(error).lower()}") from None
    either: Wish | None = None
    for alternative in _split(words, "|"):
        both: Wish | None = None
        for term in _split(alternative, "&"):
            wish = _term(term)
            both = wish if both is None else both & wish
        assert both is not None
        either = both if either is None else either | both
    assert either is not None
    return either


def _split(words: list[str], sign: str) -> list[list[str]]:
    out: list[list[str]] = [[]]
    for word in words:
        if word == sign:
            out.append([])
        else:
            out[-1].append(word)
    return out


def _term(words: list[str]) -> Wish:
    if words and words[0].startswith("~"):
        return ~_term([w for w in (words[0][1:], *words[1:]) if w])
    names = [word for word in words if "=" not in word]
    kind = names.pop(0) if names and names[0] in KEYS else "at"
    function, keys = KEYS[kind]
    given = {}
    for word in words:
        key, sign, value = word.partition("=")
        if not sign:
            continue
        if key not in keys:
            raise Misspelt(f"{kind} knows no {key!r}; it knows {', '.join(keys)}")
        given[key] = _value(key, value)
    most = 0 if kind == "event" else 1
    if len(names) > most or (kind == "changed" and not names) or not (names or given or kind == "event"):
        raise Misspelt("where to? A name or key=value words: contents turn=2 · tool=get_weather · event author=x")
    return function(*names, **given)


def _value(key: str, text: str) -> Any:
    if key in NUMBERS:
        if not text.isdecimal():
            raise Misspelt(f"{key}= takes a number, not {text!r}")
        return int(text)
    if key in BOOLEANS:
        if text not in ("true", "false"):
            raise Misspelt(f"{key}= takes true or false, not {text!r}")
        return text == "true"
    return text


# ---- looking


def shown(dbg: Stepper) -> dict[str, Callable[[], Any]]:
    """What there is to print, by its first name."""
    return {
        "request": lambda: dbg.request_now,
        "args": lambda: plain(dbg.args),
        "response": lambda: plain(dbg.response),
        "result": lambda: plain(dbg.result),
        "event": lambda: plain(dbg.event),
        "state": lambda: plain(dbg.state),
        "events": lambda: [plain(event) for event in dbg.events],
        "requests": lambda: dbg.requests,
        "tools_run": lambda: dbg.tools_run,
        "edits": lambda: dbg.edits,
        "error": lambda: None if dbg.error is None else f"{type(dbg.error).__name__}: {dbg.error}",
        "stops": lambda: [str(stop) for stop in dbg.stops],
        "fates": lambda: to_json(dbg.fates),
        "invariants": lambda: to_json(dbg.invariants),
        "paragraphs": lambda: to_json(dbg.paragraphs),
    }


def looked_up(dbg: Stepper, path: str) -> Any:
    """What a dotted path leads to, as JSON data: `request.contents.0.parts`. Raises Misspelt."""
    first, *rest = steps_of(path) or [""]
    roots = shown(dbg)
    if first not in roots:
        raise Misspelt(f"there is no {first!r} to look at; there are: {', '.join(roots)}")
    value = roots[first]()
    for n, step in enumerate(rest):
        value = value[_key(value, step, ".".join([first, *rest[:n]]))]
    return value


def steps_of(path: str) -> list[str]:
    """`request.contents[0].parts` -> `["request", "contents", "0", "parts"]`."""
    return [step for step in re.sub(r"\[(\d+)\]", r".\1", path.strip()).split(".") if step]


def _key(value: Any, step: str, where: str) -> Any:
    if isinstance(value, list):
        if step.isdecimal() and int(step) < len(value):
            return int(step)
        raise Misspelt(f"{where} has {len(value)} items, counted from 0: there is no {step!r}")
    if isinstance(value, dict):
        for name in (step, camel(step), snake(step)):
            if name in value:
                return name
        raise Misspelt(f"{where} has no {step!r}; it has: {', '.join(map(str, value)) or 'nothing'}")
    raise Misspelt(f"{where} is {json.dumps(value)[:60]}: there is nothing inside it")


# ---- editing and answering


def json_of(text: str) -> Any:
    """A value written as JSON. Raises Misspelt."""
    try:
        return strict(text)
    except (NotJson, TooDeep) as fault:
        raise Misspelt(f'{fault}; a text is written "like this"') from None


def edit(dbg: Stepper, path: str, value: Any) -> None:
    """Change a live object at this stop; it is checked first, and nothing has changed if it is refused.

    Raises:
        Misspelt, BadData: the path leads nowhere, or the value cannot stand there.
        NotPaused: the run is over.
    """
    stop = dbg.here
    if stop is None:
        raise NotPaused("the run is over: there is nothing to edit")
    first, *rest = steps_of(path) or [""]
    if first == "request" and dbg.request is not None:
        dbg.edit("request", _changed(dbg.request_now, rest, value, first)[0])
        return
    things = editable(stop, dbg.request)
    name = first if first in things else "outcome" if first in ("result", "response", "event") else ""
    if name not in things:
        names = [n if n != "outcome" else "result" if stop.seam is Seam.TOOL else "response" for n in things]
        raise Misspelt(f"there is no {first!r} to edit at this stop; there are: {', '.join(names) or 'none'}")
    if not rest and not isinstance(things[name], dict):
        raise Misspelt(f"say which part of the {first}, as in: edit {first}.content.parts.0.text " + '"…"')
    data, steps, is_new = _changed(plain(things[name]), rest, value, first)
    _check(things[name], data, first)
    if not steps:
        if not isinstance(value, dict):
            raise BadData(first, "expected an object")
        things[name].clear()
        things[name].update(value)
        return
    pointer = "/".join(step.replace("~", "~0").replace("/", "~1") for step in ["", name, *steps])
    put_back(stop, [{"op": "add" if is_new else "replace", "path": pointer, "value": value}], dbg.request)


def _changed(data: Any, steps: list[str], value: Any, where: str) -> tuple[Any, list[str], bool]:
    """The data with one value set; the steps as they are spelt there; whether the place is new."""
    if not steps:
        return value, [], False
    step, rest = steps[0], steps[1:]
    here = f"{where}.{step}"
    try:
        key = _key(data, step, where)
    except Misspelt:
        if rest or not (isinstance(data, dict) or (isinstance(data, list) and step == str(len(data)))):
            raise
        if isinstance(data, list):
            return [*data, value], [step], True
        return {**data, step: value}, [step], True
    inner, spelt, is_new = _changed(data[key], rest, value, here)
    if isinstance(data, list):
        return [*data[:key], inner, *data[key + 1 :]], [str(key), *spelt], is_new
    return {**data, key: inner}, [key, *spelt], is_new


def _check(thing: Any, data: Any, where: str) -> None:
    """Whether a record can be read from the changed data. Raises BadData."""
    if isinstance(thing, Event):
        event_from_json(data, where)
    elif isinstance(thing, LLMResponse):
        response_from_json(data, where)
    elif isinstance(thing, types.Content):
        _content(data, where)


def answer_of(stop: Stop, data: Any) -> Any:
    """JSON as what the call at this stop may come to: a text or an object for a response, a content or an event.

    Raises:
        BadData: it is none.
    """
    if stop.seam is Seam.MODEL and stop.phase is Phase.BEFORE and isinstance(data, list):
        return [_response(item, f"answer[{n}]") for n, item in enumerate(data)]
    wanted = (LLMResponse,) if stop.seam is Seam.MODEL else COMES_TO.get(stop.seam, ())
    if data is None or not wanted or isinstance(data, (int, float)):
        return data
    if LLMResponse in wanted:
        return _response(data, "answer")
    if types.Content in wanted:
        return as_response(data).content if isinstance(data, str) else _content(data, "answer")
    return event_from_json(data, "answer") if Event in wanted else data


def _response(data: Any, where: str) -> LLMResponse:
    if isinstance(data, str):
        return as_response(data)
    if isinstance(data, dict) and "parts" in data:
        return as_response(_content(data, where))
    return response_from_json(data, where)


def _content(data: Any, where: str) -> types.Content:
    try:
        return types.Content.model_validate(data)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(str(step) for step in first["loc"])
        raise BadData(f"{where}.{place}" if place else where, str(first["msg"])) from None
