"""Events as ADK's JSON: camelCase out; camelCase or snake_case in.

Go: session/session.go, Event, EventActions; model/llm.go, LLMResponse

Reading loses nothing: a field that this version does not know is kept in `Event.extra`, under its path, and written
back. Timestamps are numbers (seconds) or ISO 8601 texts; a missing one reads as 0.
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import fields
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, TypeVar

import google.genai.types as types
from pydantic import BaseModel, ValidationError

from adknb.engine.errors import BadData
from adknb.engine.event import Event, EventActions, EventCompaction, ToolConfirmation
from adknb.engine.response import LLMResponse

M = TypeVar("M", bound=BaseModel)

MODELS: dict[str, type[BaseModel]] = {
    "content": types.Content,
    "usage_metadata": types.GenerateContentResponseUsageMetadata,
    "citation_metadata": types.CitationMetadata,
    "grounding_metadata": types.GroundingMetadata,
    "logprobs_result": types.LogprobsResult,
    "input_transcription": types.Transcription,
    "output_transcription": types.Transcription,
}
"""Fields that are records of google-genai."""

PLAIN: dict[str, type | tuple[type, ...]] = {
    "partial": bool,
    "turn_complete": bool,
    "interrupted": bool,
    "error_code": str,
    "error_message": str,
    "finish_reason": str,
    "avg_logprobs": (int, float),
    "session_resumption_handle": str,
    "model_version": str,
    "custom_metadata": dict,
    "id": str,
    "invocation_id": str,
    "author": str,
    "branch": str,
    "isolation_scope": str,
}
"""Fields that are plain JSON, with the types that are taken."""

ACTIONS: dict[str, type] = {
    "state_delta": dict,
    "artifact_delta": dict,
    "skip_summarization": bool,
    "transfer_to_agent": str,
    "escalate": bool,
}

EVENT_NAMES = frozenset(f.name for f in fields(Event)) - {"extra"}
ACTION_NAMES = frozenset(f.name for f in fields(EventActions))


@lru_cache(maxsize=2048)  # a long session asks for the same few names over and over
def camel(name: str) -> str:
    """`state_delta` -> `stateDelta`."""
    head, *tail = name.split("_")
    return head + "".join(word.capitalize() for word in tail)


@lru_cache(maxsize=2048)
def snake(name: str) -> str:
    """`stateDelta` -> `state_delta`; a name that is already so stays."""
    return "".join("_" + c.lower() if c.isupper() else c for c in name).lstrip("_")


def to_json(value: Any) -> Any:
    """Plain JSON of a google-genai record, a confirmation, or a list or map of these."""
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json", by_alias=True, exclude_none=True)
    if isinstance(value, ToolConfirmation):
        return {"hint": value.hint, "confirmed": value.confirmed, "payload": to_json(value.payload)}
    if isinstance(value, dict):
        return {k: to_json(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [to_json(v) for v in value]
    return value


def response_to_json(response: LLMResponse) -> dict[str, Any]:
    """A response as camelCase JSON, empty fields left out."""
    names = [f.name for f in fields(LLMResponse)]
    return _filled({camel(n): to_json(getattr(response, n)) for n in names})


def event_to_json(event: Event) -> dict[str, Any]:
    """An event as camelCase JSON, empty fields left out."""
    actions = event.actions
    out_actions = {camel(n): to_json(getattr(actions, n)) for n in (*ACTIONS, "requested_tool_confirmations")}
    if actions.compaction is not None:
        out_actions["compaction"] = _filled(
            {
                "startTimestamp": actions.compaction.start_timestamp,
                "endTimestamp": actions.compaction.end_timestamp,
                "compactedContent": to_json(actions.compaction.compacted_content),
                "excludedEvents": [{"invocationId": i, "timestamp": t} for i, t in actions.compaction.excluded],
            }
        )
    out = {
        "id": event.id,
        "timestamp": event.timestamp,
        "invocationId": event.invocation_id,
        "author": event.author,
        "branch": event.branch,
        "isolationScope": event.isolation_scope,
        **response_to_json(event),
        "longRunningToolIds": list(event.long_running_tool_ids),
        "actions": _filled(out_actions),
    }
    out = _filled(out)
    for path, value in event.extra.items():
        _put_back(out, path, value)
    return out


def _put_back(out: dict[str, Any], path: str, value: Any) -> None:
    """Write an unknown field back where it was read, unless its place is gone since."""
    at: Any = out
    *steps, last = path.split("/")
    for step in steps:
        if isinstance(at, list) and step.isdigit() and int(step) < len(at):
            at = at[int(step)]
        elif isinstance(at, dict):
            at = at.setdefault(camel(step), {})
        else:
            return
    if isinstance(at, dict):
        at.setdefault(last, value)


def _filled(d: dict[str, Any]) -> dict[str, Any]:
    """Leave out empty values; 0 stays, it says something."""
    return {k: v for k, v in d.items() if not (v is None or v is False or v == "" or v == {} or v == [])}


def response_from_json(data: Any, where: str = "response") -> LLMResponse:
    """Read a response; unknown fields are an error here, since nothing keeps them.

    Raises:
        BadData: naming the place.
    """
    known, extra = _split(data, where, {f.name for f in fields(LLMResponse)})
    if extra:
        raise BadData(where, f"unknown field {_join(extra)}")
    return LLMResponse(**_response_fields(known, where, None))


def event_from_json(data: Any, where: str = "event") -> Event:
    """Read an event of any published shape.

    Raises:
        BadData: naming the place and what was expected there.
    """
    known, extra = _split(data, where, EVENT_NAMES)
    read = _response_fields(known, where, extra)
    if "timestamp" in known:
        read["timestamp"] = time_from_json(known["timestamp"], f"{where}.timestamp")
    if known.get("long_running_tool_ids") is not None:
        ids = _expect(known["long_running_tool_ids"], list, f"{where}.longRunningToolIds")
        read["long_running_tool_ids"] = [_expect(v, str, f"{where}.longRunningToolIds[{i}]") for i, v in enumerate(ids)]
    if known.get("actions") is not None:
        read["actions"] = _actions_from_json(known["actions"], f"{where}.actions", extra)
    return Event(**read, extra=extra)


def time_from_json(value: Any, where: str) -> float:
    """Seconds since the epoch from a number or an ISO 8601 text; a text without zone counts as UTC."""
    if value is None:
        return 0.0
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return float(value)
    if isinstance(value, str):
        try:
            moment = datetime.fromisoformat(value)
        except ValueError:
            raise BadData(where, f"expected seconds or an ISO 8601 time, found {value!r}") from None
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    raise BadData(where, f"expected seconds or an ISO 8601 time, found {_kind(value)}")


def model_from_json(cls: type[M], data: Any, where: str, extra: dict[str, Any] | None = None, at: str = "") -> M:
    """Read a record of google-genai. Fields it does not know go to `extra` under `at/…`, or are an error without it.

    Raises:
        BadData: naming the place inside the record.
    """
    for _ in range(20):  # each round takes the unknown fields out; nesting is never that deep
        try:
            return cls.model_validate(data)
        except (AttributeError, TypeError):  # some of google-genai's enums fail before pydantic can say what is wrong
            raise BadData(where, f"this is no {cls.__name__}") from None
        except ValidationError as error:
            faults = error.errors(include_url=False)
            unknown = [f for f in faults if f["type"] == "extra_forbidden"]
            if extra is None or not unknown:
                fault = faults[0]
                place = where + "".join(f"[{s}]" if isinstance(s, int) else f".{s}" for s in fault["loc"])
                raise BadData(place, f"{fault['msg']}, found {_kind(fault['input'])}") from None
            for fault in unknown:
                data = _without(data, fault["loc"])
                extra["/".join([at, *map(str, fault["loc"])])] = fault["input"]
    raise BadData(where, "too many unknown fields")


def _without(data: Any, path: tuple[int | str, ...]) -> Any:
    """A copy of JSON data without the field at `path`."""
    head, *rest = path
    if isinstance(data, list):
        return [(_without(v, tuple(rest)) if i == head else v) for i, v in enumerate(data)]
    names = {head, snake(str(head)), camel(str(head))}
    if not rest:
        return {k: v for k, v in data.items() if k not in names}
    return {k: (_without(v, tuple(rest)) if k in names else v) for k, v in data.items()}


def _response_fields(known: dict[str, Any], where: str, extra: dict[str, Any] | None) -> dict[str, Any]:
    read: dict[str, Any] = {}
    for name, value in known.items():
        if value is None:
            continue
        place = f"{where}.{camel(name)}"
        if name in MODELS:
            read[name] = model_from_json(MODELS[name], value, place, extra, name)
        elif name in PLAIN:
            read[name] = _expect(value, PLAIN[name], place)
    return read


def _actions_from_json(data: Any, where: str, extra: dict[str, Any]) -> EventActions:
    known, unknown = _split(data, where, ACTION_NAMES)
    extra.update({f"actions/{k}": v for k, v in unknown.items()})
    actions = EventActions()
    for name, value in known.items():
        place = f"{where}.{camel(name)}"
        if value is None:
            continue
        if name in ACTIONS:
            setattr(actions, name, _expect(value, ACTIONS[name], place))
        elif name == "requested_tool_confirmations":
            actions.requested_tool_confirmations = {
                k: _confirmation(v, f"{place}.{k}") for k, v in _expect(value, dict, place).items()
            }
        else:
            actions.compaction = _compaction(value, place, extra)
    return actions


def _confirmation(data: Any, where: str) -> ToolConfirmation:
    data = _expect(data, dict, where)
    return ToolConfirmation(
        hint=_expect(data.get("hint") or "", str, f"{where}.hint"),
        confirmed=_expect(data.get("confirmed") or False, bool, f"{where}.confirmed"),
        payload=data.get("payload"),
    )


def _compaction(data: Any, where: str, extra: dict[str, Any]) -> EventCompaction:
    names = {"start_timestamp", "end_timestamp", "compacted_content", "excluded_events"}
    known, unknown = _split(data, where, names)
    extra.update({f"actions/compaction/{k}": v for k, v in unknown.items()})
    content = known.get("compacted_content")
    excluded = _expect(known.get("excluded_events") or [], list, f"{where}.excludedEvents")
    return EventCompaction(
        start_timestamp=time_from_json(known.get("start_timestamp"), f"{where}.startTimestamp"),
        end_timestamp=time_from_json(known.get("end_timestamp"), f"{where}.endTimestamp"),
        compacted_content=None
        if content is None
        else model_from_json(types.Content, content, f"{where}.compactedContent", extra, "actions/compaction"),
        excluded=[
            (
                str(_expect(e, dict, f"{where}.excludedEvents[{i}]").get("invocationId", e.get("invocation_id", ""))),
                time_from_json(e.get("timestamp"), f"{where}.excludedEvents[{i}].timestamp"),
            )
            for i, e in enumerate(excluded)
        ],
    )


def _split(data: Any, where: str, names: Set[str]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The fields one knows, under their Python names, and the others as they came."""
    data = _expect(data, dict, where)
    known: dict[str, Any] = {}
    extra: dict[str, Any] = {}
    for key, value in data.items():
        name = snake(key)
        if name in names:
            known[name] = value
        else:
            extra[key] = value
    return known, extra


def _expect(value: Any, kind: type | tuple[type, ...], where: str) -> Any:
    if isinstance(value, kind) and not (isinstance(value, bool) and kind is not bool):
        return value
    wanted = " or ".join(_NAMES[k] for k in (kind if isinstance(kind, tuple) else (kind,)))
    raise BadData(where, f"expected {wanted}, found {_kind(value)}")


_NAMES = {dict: "an object", list: "a list", str: "a text", bool: "true or false", int: "a number", float: "a number"}


def _kind(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    shown = repr(value) if isinstance(value, (str, int, float)) else ""
    if len(shown) > 40:
        shown = shown[:37] + "…"
    return f"{_NAMES.get(type(value), type(value).__name__)} {shown}".rstrip()


def _join(names: Any) -> str:
    return ", ".join(repr(n) for n in sorted(names))
