"""Writing a session back: every field as it came, in the spelling it came in, but for what was changed since.

An event that nobody has touched is written as it was read. For one that was changed, what it says now is laid over what
the file said, field by field: so unknown fields stay, and `state_delta` stays `state_delta`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from adknb.engine.errors import BadData
from adknb.engine.event import Event
from adknb.engine.event_json import camel, snake
from adknb.files.session_file import EVENT_LISTS, SESSION_FIELDS, Json, Origins, SessionFile
from adknb.files.shapes import GO_NAMES, event_of
from adknb.files.yaml_text import parse_yaml

OPAQUE = {"args", "response", "stateDelta", "artifactDelta", "customMetadata", "requestedToolConfirmations", "labels"}
"""Fields whose keys are names that users gave, not fields of ADK: never respelt."""


def session_document(session: SessionFile, events: Sequence[Event], state: Json) -> Any:
    """The session as JSON: what the file said, with the events and the state as they are now."""
    if isinstance(session.raw, list):
        return _written(events, session.origins, snake_case=_is_snake(session.raw))
    if session.raw is None:
        return _made(session, events, state)
    document = dict(session.raw)
    snake_case = _is_snake(session.raw)
    keys = [key for names in EVENT_LISTS if (key := next((k for k in names if k in document), None)) is not None]
    _share_out(document, keys, events, session.origins, snake_case)
    state_key = next((k for k in SESSION_FIELDS["state"] if document.get(k) is not None), None)
    if state_key is not None or state:
        document[state_key or "state"] = state
    if session.wrapper is not None:
        return {**session.wrapper, "session": document}
    return document


def _made(session: SessionFile, events: Sequence[Event], state: Json) -> Json:
    """A session that was put together, as ADK's API writes one."""
    document: Json = {"id": session.session_id, "appName": session.app_name, "userId": session.user_id, "state": state}
    document["events"] = [event.to_json() for event in events]
    document["lastUpdateTime"] = session.last_update_time
    return document


def _written(events: Sequence[Event], origins: Origins, snake_case: bool) -> list[Any]:
    return [_event(event, origins, snake_case) for event in events]


def _event(event: Event, origins: Origins, snake_case: bool) -> Any:
    kept = origins.get(id(event))
    if kept is None:
        return _respelt(event.to_json(), snake_case)
    raw = kept[1]
    before = event_of(raw, "event")
    if before == event:
        return raw
    return _laid_over(raw, before.to_json(), event.to_json(), snake_case)


def _share_out(document: Json, keys: list[str], events: Sequence[Event], origins: Origins, snake_case: bool) -> None:
    """Write events back into the lists they came from; a new one goes where the one before it went."""
    given = {key: [] if document[key] is None else document[key] for key in keys}
    home = {id(raw): key for key, raws in given.items() for raw in _values(raws)}
    filled: dict[str, list[tuple[int, Any]]] = {key: [] for key in keys}
    at = next((key for key in EVENT_LISTS[1] if key in given), keys[0])
    for event in events:
        kept = origins.get(id(event))
        at = home.get(id(kept[1]), at) if kept is not None else at
        filled[at].append((id(kept[1]) if kept is not None else 0, _event(event, origins, snake_case)))
    read = {id(raw) for _, raw in origins.values()}
    for key, raws in given.items():
        written = filled[key]
        if [at for at, _ in written] == [id(raw) for raw in _values(raws) if id(raw) in read]:  # none came or went
            now = dict(written)
            whole = [now.get(id(raw), raw) for raw in _values(raws)]  # one that stood in two lists was read once
        else:
            whole = [item for _, item in written]
        if isinstance(raws, dict):
            document[key] = dict(zip(raws, whole, strict=True)) if len(whole) == len(raws) else whole
        elif document[key] is not None or whole:
            document[key] = whole


def _values(raws: Any) -> list[Any]:
    return list(raws.values()) if isinstance(raws, dict) else list(raws)


# ------------------------------------------------------------------------------------------------------------- spelling


def _is_snake(value: Any) -> bool:
    """Whether a document spells its fields in snake_case, told by the first name that has two words."""
    waiting, seen = [value], 0
    while waiting and seen < 2_000:
        at = waiting.pop(0)
        seen += 1
        if isinstance(at, list):
            waiting += at[:20]
        elif isinstance(at, dict):
            for key, item in at.items():
                if re.fullmatch(r"[a-z]+(_[a-z]+)+", key):
                    return True
                if re.fullmatch(r"[a-z]+([A-Z][a-z]*)+", key):
                    return False
                if camel(key) not in OPAQUE and key != "state":
                    waiting.append(item)
    return False


def _respelt(value: Any, snake_case: bool, key: str = "") -> Any:
    """Our camelCase JSON in the file's spelling."""
    if not snake_case:
        return value
    if isinstance(value, list):
        return [_respelt(item, snake_case, key) for item in value]
    if not isinstance(value, dict) or (key in OPAQUE and key != "requestedToolConfirmations"):
        return value
    if key == "requestedToolConfirmations":
        return {name: _respelt(item, snake_case) for name, item in value.items()}
    return {snake(name): _respelt(item, snake_case, name) for name, item in value.items()}


def _laid_over(raw: Any, before: Any, after: Any, snake_case: bool, key: str = "") -> Any:
    """What the file said, with what has changed between `before` and `after`, both our own JSON."""
    if before == after:
        return raw
    if isinstance(raw, list) and isinstance(before, list) and isinstance(after, list) and len(raw) == len(before):
        kept = [_laid_over(*three, snake_case, key) for three in zip(raw, before, after, strict=False)]
        return kept + [_respelt(item, snake_case, key) for item in after[len(kept) :]]
    if not (isinstance(raw, dict) and isinstance(before, dict) and isinstance(after, dict)):
        return _respelt(after, snake_case, key)
    opaque = key in OPAQUE
    out: Json = {}
    seen = set()
    for name, value in raw.items():
        ours = name if opaque else camel(snake(GO_NAMES.get(name, name)))
        seen.add(ours)
        if ours in after:
            out[name] = _laid_over(value, before.get(ours), after[ours], snake_case, ours)
        elif ours not in before:
            out[name] = value  # empty, or not known here
    for name, value in after.items():
        if name not in seen and before.get(name) != value:
            out[name if opaque or not snake_case else snake(name)] = _respelt(value, snake_case, name)
    return out


# ----------------------------------------------------------------------------------------------------------------- text


def as_text(document: Any, form: str, indent: int | None) -> str:
    """A document as the text of a file: `json`, `lines` or `yaml`."""
    if form == "lines":
        return "".join(_json(item, None) + "\n" for item in document)
    if form == "yaml":
        return _yaml(document)
    return _json(document, indent) + "\n"


def _json(value: Any, indent: int | None) -> str:
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, indent=indent)
    except (TypeError, ValueError, RecursionError) as error:
        raise BadData("session", f"cannot be written as JSON: {error}") from None
    try:
        text.encode()
    except UnicodeEncodeError:  # half a surrogate pair: kept as an escape
        text = json.dumps(value, indent=indent)
    return text


def _yaml(value: Any) -> str:
    import yaml

    dumper: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)

    class Dumper(dumper):  # type: ignore[misc]
        def ignore_aliases(self, data: Any) -> bool:
            return True

    try:
        text = str(yaml.dump(value, Dumper=Dumper, sort_keys=False, allow_unicode=True, width=120))
        if parse_yaml(text, "session") == value:
            return text
    except (yaml.YAMLError, RecursionError, UnicodeError, BadData):
        pass
    return _json(value, 2) + "\n"  # some texts come back as others; JSON is YAML, too
