"""A session as one JSON object (spec/doctor.md 0.1), in any spelling, made into what the checks read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from adknb.engine.errors import BadData
from adknb.engine.event import Event
from adknb.engine.event_json import snake
from adknb.engine.processors.contents import Viewer
from adknb.engine.schema import found
from adknb.lens.doctor.definitions import definitions_from_json
from adknb.lens.doctor.session import DoctorSession, SentRequest

NAMES = {dict: "an object", Mapping: "an object", list: "a list", str: "a text", bool: "true or false", int: "a number"}


def session_from_json(
    data: Any, where: str = "session", read_event: Callable[[Any, str], Event] = Event.from_json
) -> DoctorSession:
    """Read the object of spec/doctor.md 0.1: `events`, and beside them whatever is known.

    `read_event` reads one event, given its JSON and its place. What this version does not know is passed over.

    Raises:
        BadData: naming the place and what was expected there.
    """
    given = _snaked(expect(data, dict, where))
    events = expect(given.get("events", []), list, f"{where}.events")
    return DoctorSession(
        [read_event(event, f"{where}.events[{i}]") for i, event in enumerate(events)],
        state=_optional(given, "state", dict, where),
        acted=frozenset(i for i, event in enumerate(events) if _has_actions(event)),
        **beside(given, len(events), where),
    )


def beside(given: Mapping[str, Any], events: int, where: str) -> dict[str, Any]:
    """What is known beside events and state, as fields of a DoctorSession; `given` is spelt in snake_case.

    Raises:
        BadData: naming the place and what was expected there.
    """
    agents = given.get("agents")
    requests = _optional(given, "requests", list, where) or []
    return {
        "definitions": definitions_from_json(agents, f"{where}.agents") if agents is not None else None,
        "instruction": _optional(given, "instruction", str, where) or "",
        "compaction": _optional(given, "compaction", bool, where),
        "stream": bool(_optional(given, "stream", bool, where)),
        "sent": [request_from_json(request, events, f"{where}.requests[{i}]") for i, request in enumerate(requests)],
        "viewer": _viewer(given["viewer"], f"{where}.viewer") if given.get("viewer") is not None else None,
    }


def request_from_json(data: Any, events: int, where: str) -> SentRequest:
    """Read a request as the golden traces have it, with `event`, the position of its answer among so many events.

    Raises:
        BadData: naming the place and what was expected there.
    """
    given = _snaked(expect(data, Mapping, where))
    event = _optional(given, "event", int, where)
    if event is not None and not 0 <= event < events:
        raise BadData(f"{where}.event", f"expected the position of an event, 0 to {events - 1}, found {event}")
    tools = _optional(given, "tools", list, where)
    if tools is not None:
        tools = [expect(tool, str, f"{where}.tools[{i}]") for i, tool in enumerate(tools)]
    return SentRequest(
        event=event,
        agent=_optional(given, "agent", str, where) or "",
        config=_optional(given, "config", dict, where),
        tools=tools,
    )


def _viewer(data: Any, where: str) -> Viewer:
    given = _snaked(expect(data, dict, where))
    return Viewer(
        agent_name=expect(given.get("agent_name"), str, f"{where}.agent_name"),
        branch=_optional(given, "branch", str, where) or "",
        isolation_scope=_optional(given, "isolation_scope", str, where) or "",
        include_contents=_optional(given, "include_contents", str, where) or "",
    )


def _has_actions(event: Any) -> bool:
    return isinstance(event, dict) and (event.get("actions") is not None or event.get("Actions") is not None)


def _snaked(data: Mapping[str, Any]) -> dict[str, Any]:
    return {snake(key): value for key, value in data.items()}


def _optional(given: Mapping[str, Any], key: str, kind: type, where: str) -> Any:
    value = given.get(key)
    return None if value is None else expect(value, kind, f"{where}.{key}")


def expect(value: Any, kind: type, where: str) -> Any:
    """The value, if it is of that kind.

    Raises:
        BadData: naming the place and what was expected there.
    """
    if isinstance(value, kind) and not (isinstance(value, bool) and kind is not bool):
        return value
    raise BadData(where, f"expected {NAMES[kind]}, found {found(value)}")
