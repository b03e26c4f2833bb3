"""Changing what a stop holds from the panel: the request, arguments, what a call came to, the event, the state.

A draft comes as JSON text or as fields of a form; it is checked as a whole before anything changes. What changes is the
live object itself, as an edit in a cell would do it (stepper/patches.py): an event shares its parts with the call it
made. Each change can be taken back while the run stands at the same stop.
"""

from __future__ import annotations

import json
import re
from typing import Any

from google.genai import types

from adknb.engine.errors import BadData
from adknb.engine.event import Event
from adknb.engine.event_json import event_from_json, model_from_json, response_from_json
from adknb.engine.model import LLMRequest
from adknb.engine.response import LLMResponse
from adknb.json_text import NotJson, TooDeep, strict
from adknb.lens.request_changes import pointer
from adknb.stepper.edits import check_request, request_json, request_text
from adknb.stepper.json_places import Path, line_of
from adknb.stepper.patches import editable, plain, put_back, taken
from adknb.widgets.forms import EVENT, RESPONSE, Fault, filled_in, object_form, request_form
from adknb.widgets.present import why_not_editable

Json = dict[str, Any]

LABELS = {
    "request": "Request",
    "args": "Arguments",
    "response": "Response",
    "content": "Content",
    "event": "Event",
    "outcome": "Result",
    "state": "State",
}
"""What a stop may hold, in the order in which it is offered, and what it is called."""

FIRST = ("outcome", "response", "args", "request", "content", "event", "state")
"""Which of them an edit begins with, if there are several."""


OBJECTS = (LLMRequest, dict, Event, LLMResponse, types.Content)
"""What has the form of a JSON object, and so can be edited."""


def offered(stepper: Any) -> list[tuple[str, str]]:
    """What can be edited at this stop: (name, label), the one the stop is about first."""
    stop = stepper.here
    if stop is None or stop.seam == "turn":
        return []
    things = editable(stop, stepper.request)
    if why_not_editable(stepper):
        things.pop("request", None)
    out = []
    for name in FIRST:
        if not isinstance(things.get(name), OBJECTS):
            continue
        if name == "event" and things["event"] is things.get("outcome"):
            continue
        label = LABELS[name]
        if name == "outcome" and isinstance(things[name], LLMResponse):
            label = "Response"
        elif name == "outcome" and isinstance(things[name], Event):
            label = "Event"
        out.append((name, label))
    return out


class Changes:
    """The edits that a reader makes in the panel at one stop, newest last."""

    def __init__(self) -> None:
        self._before: list[tuple[str, Any]] = []

    def __bool__(self) -> bool:
        return bool(self._before)

    def forget(self) -> None:
        """The run has gone on: what was edited is part of it now."""
        self._before.clear()

    def text(self, stepper: Any, what: str, draft: Json | None = None) -> str:
        """The JSON an editor starts with, or goes on with if there is a draft already.

        Raises:
            Unreadable: the draft cannot be read; with its faults.
        """
        if draft is None:
            live = _live(stepper, what)
            return request_text(live) if what == "request" else _written(plain(live))
        data, faults = self._drafted(stepper, what, draft)
        if faults:
            raise Unreadable(faults)
        return _written(data)

    def form(self, stepper: Any, what: str, base: str | None = None) -> list[Json]:
        """The fields an editor starts with; with `base`, those of a draft in JSON.

        Raises:
            Unreadable: the base is no JSON object; with its fault.
        """
        data = _base(stepper, what)
        if base is not None:
            data, faults = _parsed(base)
            if not faults and not isinstance(data, dict):
                faults = [Fault("", f"expected an object, found {_kind(data)}", 1)]
            if faults:
                raise Unreadable(faults)
        if what == "request":
            return request_form(data, stepper.paragraphs)
        live = _live(stepper, what)
        fields = EVENT if isinstance(live, Event) else RESPONSE if isinstance(live, LLMResponse) else {}
        return object_form(data, dict(offered(stepper)).get(what, what), fields)

    def faults(self, stepper: Any, what: str, draft: Json) -> list[Fault]:
        """What is wrong with a draft; empty for a good one."""
        return self._read(stepper, what, draft)[1]

    def apply(self, stepper: Any, what: str, draft: Json) -> list[Fault]:
        """Make a draft the live object, or say what is wrong with it: nothing has changed then."""
        before = _base(stepper, what)
        data, faults = self._read(stepper, what, draft)
        if not faults and data != before:
            _write(stepper, what, before, data)
            self._before.append((what, before))
        return faults

    def undo(self, stepper: Any) -> bool:
        """Take the newest edit back. False if there is none."""
        if not self._before:
            return False
        what, before = self._before.pop()
        _write(stepper, what, _base(stepper, what), before)
        return True

    def _drafted(self, stepper: Any, what: str, draft: Json) -> tuple[Any, list[Fault]]:
        """The data of a draft, as far as it can be read. Of a form: what it is about, with its fields filled in."""
        if "text" in draft:
            return _parsed(str(draft["text"]))
        base = draft.get("base")
        data, faults = (_base(stepper, what), []) if base is None else _parsed(str(base))
        if not faults:
            data, faults = filled_in(data, draft.get("fields") or [], self.form(stepper, what, base))
        return data, faults or _taken_out_and_added(data, draft)

    def _read(self, stepper: Any, what: str, draft: Json) -> tuple[Any, list[Fault]]:
        """The data of a draft and what is wrong with it."""
        live = _live(stepper, what)
        data, faults = self._drafted(stepper, what, draft)
        if faults:
            return data, faults
        given = draft.get("text")
        text = str(given) if given is not None else json.dumps(data, indent=2)
        if what == "request":
            lines = given is not None
            return data, [Fault(_pointer(p.path), p.message, p.line * lines) for p in check_request(text, live)]
        return data, _faults_of(live, data, text)


class Unreadable(Exception):
    """A draft cannot be carried over into the other form."""

    def __init__(self, faults: list[Fault]) -> None:
        super().__init__(faults[0].message)
        self.faults = faults


def _written(data: Any) -> str:
    """JSON text that can travel: half of a surrogate pair as an escape."""
    text = json.dumps(data, indent=2, ensure_ascii=False)
    return _SURROGATE.sub(lambda m: f"\\u{ord(m.group()):04x}", text)


def _live(stepper: Any, what: str) -> Any:
    """Raises BadData: there is no such thing to edit here."""
    names = dict(offered(stepper))
    if what not in names:
        refused = why_not_editable(stepper) if what == "request" else ""
        there_are = ", ".join(names) or "none"
        raise BadData(what, refused or f"nothing of that name can be edited at this stop; there are: {there_are}")
    return stepper.request if what == "request" else editable(stepper.here, stepper.request)[what]


def _base(stepper: Any, what: str) -> Any:
    return request_json(_live(stepper, what)) if what == "request" else plain(_live(stepper, what))


def _write(stepper: Any, what: str, before: Any, data: Any) -> None:
    if what == "request":
        stepper.edit("request", data)  # tells all who look at the run
    else:
        put_back(stepper.here, taken({what: before}, {what: data}), stepper.request)


# ---- what is wrong


_SURROGATE = re.compile("[\ud800-\udfff]")


def _parsed(text: str) -> tuple[Any, list[Fault]]:
    try:
        return strict(text), []
    except NotJson as fault:
        line, column = fault.place(text)
        return None, [Fault("", f"{fault.message} (column {column})", line)]
    except TooDeep as fault:
        return None, [Fault(_pointer(fault.path), str(fault), 1)]


def _faults_of(live: Any, data: Any, text: str) -> list[Fault]:
    """Whether the data is of the live object's kind; at most one fault, with its place."""
    if not isinstance(data, dict):
        return [Fault("", f"expected an object, found {_kind(data)}", 1)]
    half = _half_pair(data)
    if half is not None:
        why = "the text holds half of a surrogate pair, which cannot be sent"
        return [Fault(pointer(*half), why, line_of(text, half))]
    try:
        if isinstance(live, Event):
            event_from_json(data, "")
        elif isinstance(live, LLMResponse):
            response_from_json(data, "")
        elif isinstance(live, types.Content):
            model_from_json(types.Content, data, "")
    except BadData as error:
        path = _path(error.where)
        return [Fault(pointer(*path), error.message, line_of(text, path))]
    return []


def _half_pair(data: Any, at: Path = ()) -> Path | None:
    if isinstance(data, str):
        return at if _SURROGATE.search(data) else None
    items: Any = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, inner in items:
        if isinstance(key, str) and _SURROGATE.search(key):
            return at
        found = _half_pair(inner, (*at, key))
        if found is not None:
            return found
    return None


def _taken_out_and_added(data: Any, draft: Json) -> list[Fault]:
    """Contents that the form drops or adds, and keys it adds to an object. In place; gives what cannot be read."""
    for i in sorted((int(i) for i in draft.get("drop") or ()), reverse=True):
        if isinstance(data.get("contents"), list) and 0 <= i < len(data["contents"]):
            del data["contents"][i]
    for first, second in draft.get("add") or ():
        if isinstance(data.get("contents"), list):
            data["contents"].append({"role": str(first), "parts": [{"text": str(second)}]})
            continue
        value, faults = _parsed(str(second))
        if faults:
            return [Fault("+", faults[0].message)]
        if not str(first).strip() or first in data:
            return [Fault("+", "a new key needs a name of its own")]
        data[str(first)] = value
    return []


def _kind(value: Any) -> str:
    kinds = {list: "a list", str: "a text", bool: "true or false", type(None): "null"}
    return kinds.get(type(value), "a number")


def _path(dotted: str) -> Path:
    """`.content.parts[0].text` -> its steps."""
    return tuple(int(n) if n else name for name, n in re.findall(r"([^.\[\]]+)|\[(\d+)\]", dotted))


def _pointer(dotted: str) -> str:
    return pointer(*_path(dotted))
