"""What a reader changed at a stop, as a JSON patch (RFC 6902): taken by comparing, put back onto live objects.

The patch is *taken* (before against after), so an edit made with ordinary Python in a cell is kept too. It is put back
into the objects that are there, not instead of them: an event, its content and a call's arguments are shared, as in Go,
and must stay shared in a second run.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import is_dataclass
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

import jsonpatch
from google.genai import types
from pydantic import BaseModel, TypeAdapter

from adknb.engine.errors import BadData
from adknb.engine.event import Event, EventActions
from adknb.engine.event_json import camel, event_to_json, response_to_json, snake, to_json
from adknb.engine.model import LLMRequest
from adknb.engine.response import LLMResponse
from adknb.engine.stops import Return, Stop
from adknb.stepper.dumps import AsItWas, Dumps
from adknb.stepper.edits import request_json

EDITABLE = ("request", "args", "response", "event", "content", "events", "message", "config")
"""What a stop may hold that a reader may edit, besides the outcome and the state."""

Patch = list[dict[str, Any]]


def editable(stop: Stop, request: LLMRequest | None = None) -> dict[str, Any]:
    """The live objects of a stop that a reader may edit. `request` is the latest, for a stop that holds none."""
    found = {name: stop.holds[name] for name in EDITABLE if stop.holds.get(name) is not None}
    if request is not None:
        found.setdefault("request", request)
    outcome = stop.holds.get("outcome")
    if isinstance(outcome, Return) and isinstance(outcome.value, (dict, list, Event, LLMResponse, types.Content)):
        found["outcome"] = outcome.value
    session = getattr(stop.holds.get("ctx"), "session", None)
    if session is not None:
        found["state"] = session.state
    return found


def plain(thing: Any) -> Any:
    """Plain JSON data of a live object; a value with no JSON form becomes its type's name."""
    if isinstance(thing, LLMRequest):
        return request_json(thing)
    if isinstance(thing, Event):
        return event_to_json(thing)
    if isinstance(thing, LLMResponse):
        return response_to_json(thing)
    if isinstance(thing, (list, tuple)):
        return [plain(item) for item in thing]
    if isinstance(thing, Mapping):
        return {str(key): plain(value) for key, value in thing.items()}
    thing = to_json(thing)
    if isinstance(thing, (str, int, float, bool, NoneType, dict, list)):
        return copy.deepcopy(thing)
    return f"<{type(thing).__name__}>"


def snapshot(stop: Stop, request: LLMRequest | None = None, dumps: Dumps | None = None) -> dict[str, Any]:
    """What a reader may edit at a stop, as it is now."""
    return {
        name: dumps.request(thing) if dumps and name == "request" else _plain_or_broken(thing)
        for name, thing in editable(stop, request).items()
    }


def _plain_or_broken(thing: Any) -> Any:
    try:
        return plain(thing)
    except Exception as error:  # a reader has put something else in its place: told when the run goes on (sound.py)
        return f"<broken: {error}>"


def taken(before: dict[str, Any], now: dict[str, Any]) -> Patch:
    """What has changed between two snapshots of a stop."""
    names = [n for n in (*before, *(n for n in now if n not in before)) if before.get(n) != now.get(n)]  # mostly none
    old, new = ({n: held[n] for n in names if n in held} for held in (before, now))
    patch: Patch = jsonpatch.make_patch(_json(old), _json(new)).patch
    return patch


def _json(held: dict[str, Any]) -> dict[str, Any]:
    return {name: thing.json if isinstance(thing, AsItWas) else thing for name, thing in held.items()}


def put_back(stop: Stop, patch: Patch, request: LLMRequest | None = None) -> None:
    """Make the same changes to the live objects of a stop of another run.

    Raises:
        BadData: a change leads nowhere; names its path.
    """
    things = editable(stop, request)
    for op in patch:
        steps = [s.replace("~1", "/").replace("~0", "~") for s in op["path"].split("/")[1:]]
        if op["op"] in ("move", "copy"):  # jsonpatch's shorthand for a value that is elsewhere, too
            source = [s.replace("~1", "/").replace("~0", "~") for s in op["from"].split("/")[1:]]
            value = copy.deepcopy(plain(_value_at(things, source, op["from"])))
            if op["op"] == "move":
                _change(things, source, "remove", None, op["from"])
            _change(things, steps, "add", value, op["path"])
        elif op["op"] != "test":
            try:
                _change(things, steps, op["op"], op.get("value"), op["path"])
            except (LookupError, ValueError, TypeError, AttributeError):
                raise BadData(op["path"], f"the change {op['op']!r} cannot be made here") from None


def _value_at(things: Any, steps: list[str], path: str) -> Any:
    at, hint = things, Any
    for step in steps:
        at, hint = _down(at, hint, step, path)
    return at


def _change(things: dict[str, Any], steps: list[str], op: str, value: Any, path: str) -> None:
    at: Any = things
    hint: Any = Any
    for step in steps[:-1]:
        at, hint = _down(at, hint, step, path)
    last = steps[-1]
    if isinstance(at, list):
        element = _element(hint)
        if op == "remove":
            del at[int(last)]
        elif op == "add":
            at.insert(len(at) if last == "-" else int(last), _typed(element, value))
        else:
            at[int(last)] = _typed(element, value)
    elif isinstance(at, dict):
        if op == "remove":
            del at[last]
        else:
            at[last] = _typed(_element(hint), value)
    else:
        name = _attribute(at, last, path)
        field = _hints(at).get(name, Any)
        setattr(at, name, _default(at, name) if op == "remove" else _typed(field, value))


def _down(at: Any, hint: Any, step: str, path: str) -> tuple[Any, Any]:
    """One step down a path: the object there, and the type its place is declared with."""
    try:
        if isinstance(at, list):
            return at[int(step)], _element(hint)
        if isinstance(at, dict):
            return at[step], _element(hint)
        name = _attribute(at, step, path)
        return getattr(at, name), _hints(at).get(name, Any)
    except (KeyError, IndexError, ValueError):
        raise BadData(path, f"there is no {step!r} here any more") from None


def _attribute(at: Any, step: str, path: str) -> str:
    for name in (step, snake(step), snake(step).rstrip("_")):
        if hasattr(at, name):
            return name
    raise BadData(path, f"{type(at).__name__} has no {step!r}")


def _hints(at: Any) -> dict[str, Any]:
    if isinstance(at, BaseModel):
        return {name: field.annotation for name, field in type(at).model_fields.items()}
    return get_type_hints(type(at)) if is_dataclass(at) else {}


def _default(at: Any, name: str) -> Any:
    """What a removed field becomes: what it is in an empty record of that type."""
    return getattr(type(at)(), name)


def _element(hint: Any) -> Any:
    """The type of the members of a list or map type."""
    for option in get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,):
        if get_origin(option) in (list, tuple):
            return get_args(option)[0]
        if get_origin(option) is dict:
            return get_args(option)[1]
    return Any


def _typed(hint: Any, value: Any) -> Any:
    """JSON data as the type that its place is declared with."""
    if hint is Any:
        return copy.deepcopy(value)
    from adknb.engine.event_json import event_from_json

    if hint is Event:
        return event_from_json(value)
    if hint is EventActions:
        return event_from_json({"actions": value}).actions
    try:
        return TypeAdapter(hint).validate_python(value)
    except Exception:  # a place with a type of ours, or one that takes more than JSON: as it came
        return copy.deepcopy(value)


__all__ = ["EDITABLE", "Patch", "camel", "editable", "plain", "put_back", "snapshot", "taken"]
