"""Values of a run as JSON, and back: what tools and models came to, what a reader answered with.

Plain JSON stays as it is. What is not says what it is:

    types.Content(…)     {"$type": "Content", "value": {"parts": […], "role": "model"}}     google-genai's own JSON
    Event, LLMResponse   {"$type": "Event", "value": {"author": …}}                         ADK's JSON
    b"…"                 {"$type": "bytes", "value": "base64"}
    (1, 2)               {"$type": "tuple", "value": [1, 2]}
    float("nan")         {"$type": "float", "value": "nan"}
    {"$type": 1}         {"$type": "map", "value": {"$type": 1}}                            a map with that very key
    TimeoutError("slow") {"type": "TimeoutError", "message": "slow"}                        one that prints the same
"""

from __future__ import annotations

import base64
import binascii
import builtins
import json
import math
import warnings
from collections.abc import Callable, Iterator
from dataclasses import is_dataclass
from enum import Enum
from typing import Any

from google.genai import types
from pydantic import BaseModel, ValidationError
from pydantic_core import PydanticSerializationError

from adknb.engine.errors import AdknbError, BadData
from adknb.engine.event import Event, EventActions, ToolConfirmation
from adknb.engine.event_json import event_from_json, event_to_json, response_from_json, response_to_json
from adknb.engine.response import LLMResponse
from adknb.engine.stops import Raise, Return, Seam, Stop
from adknb.engine.tool import as_result

TYPE = "$type"


class NoJsonForm(AdknbError, TypeError):
    """A value cannot be written down. `where` says which: a stop, and the place inside the value."""

    def __init__(self, where: str, message: str) -> None:
        super().__init__(f"{where}: {message}")
        self.where = where


class RecordedError(Exception):
    """Stands for an error of a recorded run whose type is not known here; it has that type's name and prints alike."""


def must_have_json_form(stop: Stop, value: Any) -> None:
    """Refuse an answer that a journal could not keep.

    Raises:
        NoJsonForm: names the stop and the place inside the value.
    """
    encode(outcome_value(stop.seam, value), f"the answer at {str(stop)!r}")


def outcome_value(seam: Seam, value: Any) -> Any:
    """A call's value as it is kept: a tool's pydantic record or dataclass is the map that the engine makes of it."""
    ours = isinstance(value, (Event, LLMResponse, EventActions, ToolConfirmation)) or _is_genai(type(value))
    if seam is Seam.TOOL and not ours and (isinstance(value, BaseModel) or is_dataclass(value)):
        return as_result(value)
    return value


# ---- values


def encode(value: Any, where: str) -> Any:
    """The JSON of a value. Raises NoJsonForm with `where` and the place inside the value."""
    if isinstance(value, Enum):
        value = value.value
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else _typed("float", repr(float(value)))
    if isinstance(value, list):
        return [encode(item, f"{where}[{i}]") for i, item in enumerate(value)]
    if isinstance(value, dict):
        out = {}
        for key, item in value.items():
            if not isinstance(key, str):
                raise NoJsonForm(where, f"a key of a map is a text in JSON, not {key!r}")
            out[str(key)] = encode(item, f"{where}.{key}")
        return _typed("map", out) if TYPE in out else out
    for name, (cls, write, _) in _RECORDS.items():
        if type(value) is cls:
            return _typed(name, write(value, where))
    if _is_genai(type(value)):
        return _typed(type(value).__name__, record_to_json(value, where))
    raise NoJsonForm(where, f"a {type(value).__name__} has no JSON form")


def decode(data: Any, where: str) -> Any:
    """The value that `encode` wrote. Raises BadData with `where` and the place inside the data."""
    if isinstance(data, list):
        return [decode(item, f"{where}[{i}]") for i, item in enumerate(data)]
    if not isinstance(data, dict):
        return data
    if TYPE not in data:
        return {key: decode(item, f"{where}.{key}") for key, item in data.items()}
    name, inner = data[TYPE], data.get("value")
    if name == "map" and isinstance(inner, dict):
        return {key: decode(item, f"{where}.{key}") for key, item in inner.items()}
    if name in _RECORDS if isinstance(name, str) else False:
        return _RECORDS[name][2](inner, where)
    cls = getattr(types, name, None) if isinstance(name, str) else None
    if not (isinstance(cls, type) and _is_genai(cls)):
        raise BadData(f"{where}.{TYPE}", f"there is no type {name!r}")
    return record_from_json(cls, inner, where)


def record_to_json(record: BaseModel, where: str) -> Any:
    """google-genai's JSON of one of its records. Raises NoJsonForm."""
    try:
        return strict(record.model_dump(mode="json", by_alias=True, exclude_none=True, warnings=False), where)
    except (PydanticSerializationError, ValueError) as error:
        raise NoJsonForm(where, f"this {type(record).__name__} has no JSON form: {error}") from None


def record_from_json(cls: type[BaseModel], data: Any, where: str) -> Any:
    """A record of google-genai from its JSON. Raises BadData naming the place inside."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # google-genai warns of enum values it does not know, and keeps them
            return cls.model_validate_json(json.dumps(data))
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
        place = where + "".join(f"[{s}]" if isinstance(s, int) else f".{s}" for s in fault["loc"])
        raise BadData(place, fault["msg"]) from None
    except (AttributeError, TypeError, ValueError):  # some of google-genai's enums fail before pydantic can say why
        raise BadData(where, f"this is no {cls.__name__}") from None


def strict(data: Any, where: str) -> Any:
    """Data that must be plain JSON already, checked. Raises NoJsonForm."""
    if isinstance(data, Enum):
        data = data.value
    if data is None or isinstance(data, (bool, str, int)):
        return data
    if isinstance(data, float):
        if not math.isfinite(data):
            raise NoJsonForm(where, f"{data} is no JSON number")
        return data
    if isinstance(data, (list, tuple)):
        return [strict(item, f"{where}[{i}]") for i, item in enumerate(data)]
    if isinstance(data, dict):
        if wrong := next((key for key in data if not isinstance(key, str)), None):
            raise NoJsonForm(where, f"a key of a map is a text in JSON, not {wrong!r}")
        return {str(key): strict(item, f"{where}.{key}") for key, item in data.items()}
    raise NoJsonForm(where, f"a {type(data).__name__} has no JSON form")


# ---- outcomes and errors


def outcome_to_json(outcome: Return | Raise, where: str, seam: Seam | None = None) -> dict[str, Any]:
    """`{"return": value}` or `{"raise": {"type", "message"}}`. Raises NoJsonForm."""
    if isinstance(outcome, Raise):
        return {"raise": {"type": type(outcome.error).__name__, "message": str(outcome.error)}}
    value = outcome.value if seam is None else outcome_value(seam, outcome.value)
    return {"return": encode(value, where)}


def outcome_from_json(data: Any, where: str) -> Return | Raise:
    """What `outcome_to_json` wrote. Raises BadData."""
    if not isinstance(data, dict) or list(data) not in (["return"], ["raise"]):
        raise BadData(where, 'expected {"return": …} or {"raise": {"type", "message"}}')
    if "return" in data:
        return Return(decode(data["return"], f"{where}.return"))
    error = data["raise"]
    if not isinstance(error, dict) or {k: type(v) for k, v in error.items()} != {"type": str, "message": str}:
        raise BadData(f"{where}.raise", "expected an object with the texts type and message")
    return Raise(error_again(error["type"], error["message"]))


def error_again(name: str, message: str) -> Exception:
    """An error of that type, if it is one of Python's or adknb's, else a stand-in of that name; prints the same."""
    cls = next((c for c in _known_errors() if c.__name__ == name), None)
    if cls is not None:
        try:
            error = cls.__new__(cls, message)
            if str(error) == message and isinstance(error, Exception):
                return error
        except Exception:
            cls = None
    base = cls or RecordedError
    made: Callable[..., Exception] = type(name, (base,), {"__init__": _keep_message, "__str__": _message})
    try:
        return made(message)
    except Exception:  # a type that cannot be made from a message
        stand_in: Exception = type(name, (RecordedError,), {})(message)
        return stand_in


def _keep_message(self: Exception, message: str) -> None:
    self.args = (message,)


def _message(self: Exception) -> str:
    return str(self.args[0])


def _known_errors() -> Iterator[type[Exception]]:
    yield from (c for c in vars(builtins).values() if isinstance(c, type) and issubclass(c, Exception))
    from adknb.scenarios import ScriptedError

    pending: list[type[Exception]] = [ScriptedError, AdknbError]
    while pending:
        cls = pending.pop()
        if cls.__module__.startswith("adknb."):
            yield cls
        pending += cls.__subclasses__()


# ---- records of our own


def _typed(name: str, value: Any) -> dict[str, Any]:
    return {TYPE: name, "value": value}


def _is_genai(cls: type) -> bool:
    return issubclass(cls, BaseModel) and getattr(types, cls.__name__, None) is cls


def actions_to_json(actions: EventActions, where: str) -> dict[str, Any]:
    """What a tool left in its event's actions, each state value as `encode` writes it."""
    requested = actions.requested_tool_confirmations
    out: dict[str, Any] = {
        "state_delta": encode(actions.state_delta, f"{where}.state_delta"),
        "artifact_delta": encode(actions.artifact_delta, f"{where}.artifact_delta"),
        "requested_tool_confirmations": {k: _confirmation_to_json(v, f"{where}.{k}") for k, v in requested.items()},
        "skip_summarization": actions.skip_summarization,
        "transfer_to_agent": actions.transfer_to_agent,
        "escalate": actions.escalate,
    }
    return {key: value for key, value in out.items() if value}


def actions_from_json(data: Any, where: str) -> EventActions:
    """What `actions_to_json` wrote. Raises BadData."""
    read = _object(data, where)
    if unknown := sorted(set(read) - set(_ACTIONS)):
        raise BadData(where, f"unknown field {unknown[0]!r}")
    for key, value in read.items():
        if not isinstance(value, _ACTIONS[key]):
            raise BadData(f"{where}.{key}", f"expected {_ACTIONS[key].__name__}, found {type(value).__name__}")
    requested = read.pop("requested_tool_confirmations", {})
    actions = EventActions(**{key: decode(value, f"{where}.{key}") for key, value in read.items()})
    actions.requested_tool_confirmations = {k: _confirmation(v, f"{where}.{k}") for k, v in requested.items()}
    return actions


_ACTIONS: dict[str, type] = {
    "state_delta": dict,
    "artifact_delta": dict,
    "requested_tool_confirmations": dict,
    "skip_summarization": bool,
    "transfer_to_agent": str,
    "escalate": bool,
}


def _confirmation_to_json(value: ToolConfirmation, where: str) -> dict[str, Any]:
    return {"hint": value.hint, "confirmed": value.confirmed, "payload": encode(value.payload, f"{where}.payload")}


def _confirmation(data: Any, where: str) -> ToolConfirmation:
    read = _object(data, where)
    return ToolConfirmation(
        str(read.get("hint", "")), bool(read.get("confirmed")), decode(read.get("payload"), f"{where}.payload")
    )


def _object(data: Any, where: str) -> dict[str, Any]:
    if not isinstance(data, dict):
        raise BadData(where, f"expected an object, found {type(data).__name__}")
    return dict(data)


def _bytes(data: Any, where: str) -> bytes:
    try:
        return base64.b64decode(data, validate=True)
    except (TypeError, ValueError, binascii.Error):
        raise BadData(where, "expected a text in base64") from None


def _float(data: Any, where: str) -> float:
    if data not in ("nan", "inf", "-inf"):
        raise BadData(where, f"expected nan, inf or -inf, found {data!r}")
    return float(data)


def _tuple(data: Any, where: str) -> tuple[Any, ...]:
    if not isinstance(data, list):
        raise BadData(where, "expected a list")
    return tuple(decode(data, where))


_RECORDS: dict[str, tuple[type, Callable[[Any, str], Any], Callable[[Any, str], Any]]] = {
    "Event": (Event, lambda v, where: strict(event_to_json(v), where), event_from_json),
    "LLMResponse": (LLMResponse, lambda v, where: strict(response_to_json(v), where), response_from_json),
    "EventActions": (EventActions, actions_to_json, actions_from_json),
    "ToolConfirmation": (ToolConfirmation, _confirmation_to_json, _confirmation),
    "bytes": (bytes, lambda v, where: base64.b64encode(v).decode(), _bytes),
    "float": (float, lambda v, where: repr(v), _float),
    "tuple": (tuple, lambda v, where: encode(list(v), where), _tuple),
}
"""Name -> (type, how it is written, how it is read)."""
