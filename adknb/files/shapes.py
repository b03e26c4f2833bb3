"""One event or one session object, brought to the shape that `Event.from_json` reads.

The shapes that have been published, and what becomes of each:

    Python, Go, ADK Web       snake_case or camelCase                     read as they are
    Go before its json tags   ID, InvocationID, LongRunningToolIDs        the same fields, spelt as Go spells them
    Go's REST server, early   time: seconds                               timestamp
    Go's zero time            0001-01-01T00:00:00Z                        no timestamp
    Python before actions     options: {skip_summarization, …}            actions; what has no home there is kept
    Python before actions     context beside events                       state
    Python before actions     past_events, events, pending_events         one list, in the order they happened
"""

from __future__ import annotations

import heapq
from typing import Any

from adknb.engine.errors import BadData
from adknb.engine.event import Event
from adknb.engine.event_json import ACTIONS, snake
from adknb.files.quick_content import quick_content

GO_NAMES = {"ID": "id", "InvocationID": "invocation_id", "LongRunningToolIDs": "long_running_tool_ids"}


def event_of(raw: Any, where: str) -> Event:
    """An event of any published shape. Fields without a home are kept in `Event.extra`.

    Raises:
        BadData: naming the place and what was expected there.
    """
    expect(raw, dict, where)
    data = {GO_NAMES.get(key, key): value for key, value in raw.items()}
    if len(set(map(snake, data))) < len(data):
        _same_field_twice(data, where)
    if "time" in data and "timestamp" not in data and not isinstance(data["time"], (dict, list)):
        data["timestamp"] = data.pop("time")
    stamp = data.get("timestamp")
    if type(stamp) is str and stamp.startswith("0001-01-01T00:00:00"):
        del data["timestamp"]
    content_key = "content" if "content" in data else "Content"
    given = data.get(content_key)
    content = quick_content(given) if given is not None else None
    if content is not None:
        del data[content_key]
    elif given is not None:
        data[content_key] = _content(given, f"{where}.content")
    kept = _options_to_actions(data, where) if "options" in data else {}
    event = Event.from_json(data, where)
    if content is not None:
        event.content = content
    if kept:
        event.extra.update(kept)
    return event


def _same_field_twice(data: dict[str, Any], where: str) -> None:
    """One field in two spellings, with two values: one of them would be lost. Raises BadData."""
    seen: dict[str, str] = {}
    for key, value in data.items():
        first = seen.setdefault(snake(key), key)
        if first != key and data[first] != value:
            raise BadData(where, f"the field {first!r} is there again as {key!r}, with another value")


def _content(raw: Any, where: str) -> dict[str, Any]:
    """Check a content's outline here, where a fault can be named in few words."""
    content: dict[str, Any] = expect(raw, dict, where)
    parts = content.get("parts")
    if parts is None:
        return content
    for i, part in enumerate(expect(parts, list, f"{where}.parts")):
        if part is not None:
            expect(part, dict, f"{where}.parts[{i}]")
    if None in parts:  # Go writes a part that is nil as null; like an empty one it says nothing
        return {**content, "parts": [{} if part is None else part for part in parts]}
    return content


def _options_to_actions(data: dict[str, Any], where: str) -> dict[str, Any]:
    """Move what has a home from the forerunner `options` to `actions`; give back the rest, by path."""
    options = data.get("options")
    if not isinstance(options, dict):
        return {}
    del data["options"]
    actions = dict(expect(data.get("actions") or {}, dict, f"{where}.actions"))
    present = {snake(key) for key in actions}
    kept: dict[str, Any] = {}
    for key, value in options.items():
        if snake(key) in ACTIONS and snake(key) not in present:
            actions[key] = value
        else:
            kept[f"options/{key}"] = value
    data["actions"] = actions
    return kept


def as_they_happened(groups: list[list[Event]]) -> list[Event]:
    """Several lists of events as one. Each keeps its own order; between them the time decides, if every event has one.

    Without times the lists follow each other as given. An event that stands in two lists (same id) is taken once.
    """
    groups = [group for group in groups if group]
    if len(groups) == 1:
        return groups[0]
    if all(event.timestamp for group in groups for event in group):
        merged = [event for _, event in heapq.merge(*(_timed(group) for group in groups), key=lambda pair: pair[0])]
    else:
        merged = [event for group in groups for event in group]
    seen: set[str] = set()
    once = []
    for event in merged:
        if event.id and event.id in seen:
            continue
        seen.add(event.id)
        once.append(event)
    return once


def _timed(group: list[Event]) -> list[tuple[float, Event]]:
    """Each event with the latest time so far: within a list the order of the file stands, whatever the stamps say."""
    latest, timed = 0.0, []
    for event in group:
        latest = max(latest, event.timestamp)
        timed.append((latest, event))
    return timed


def expect(value: Any, kind: type, where: str) -> Any:
    """The value, if it is of that kind.

    Raises:
        BadData: `expected an object, found a number 5`.
    """
    if isinstance(value, kind) and not (isinstance(value, bool) and kind is not bool):
        return value
    raise BadData(where, f"expected {_NAMES[kind]}, found {found(value)}")


_NAMES: dict[type, str] = {
    dict: "an object",
    list: "a list",
    str: "a text",
    int: "a number",
    float: "a number",
    bool: "true or false",
}


def found(value: Any) -> str:
    """A JSON value in few words: `a number 5`, `a text 'abc'`, `an object`."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    shown = repr(value) if isinstance(value, (str, int, float)) else ""
    if len(shown) > 40:
        shown = shown[:37] + "…"
    return f"{_NAMES.get(type(value), type(value).__name__)} {shown}".rstrip()
