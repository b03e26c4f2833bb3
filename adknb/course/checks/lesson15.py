"""The check of lesson 15: ids put right in a session that has lost them."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from google.genai import types

from adknb.course.checks.trying import verdict, want
from adknb.engine.event import Event, function_calls_of, function_responses_of
from adknb.engine.processors.contents import Viewer, assemble


@verdict
def check_ids_put_right(mend: Callable[[list[Event]], Any]) -> str:
    """15: `mend(events)` gives every call without an id one, and its answer the same, in place.

    The n-th answer of a tool that has no id belongs to its n-th call without one. Ids that are there stay.
    """
    for what, history in _histories():
        events = copy.deepcopy(history)
        mend(events)
        want(len(events) == len(history), f"{what}: an event is gone or new")
        calls = [call for event in events for call in function_calls_of(event.content)]
        ids = [call.id for call in calls]
        want(all(ids), f"{what}: a call is without an id still: {ids}")
        want(len(set(ids)) == len(ids), f"{what}: two calls share an id: {ids}")
        for place, (before, after) in enumerate(zip(history, events, strict=True)):
            _only_ids(before, after, f"{what}, event {place}")
        contents = assemble(events, Viewer("desk")).contents
        shown = [r.response for content in contents for r in function_responses_of(content)]
        said = [r.response for event in history for r in function_responses_of(event.content)]
        want(len(shown) == len(said), f"{what}: the request has {len(shown)} of {len(said)} answers")
        wanted = {call.id: _number(call.args) for call in calls}
        for event in events:
            for response in function_responses_of(event.content):
                number = _number(response.response)
                want(wanted.get(response.id) == number, f"{what}: answer {number} went to another call")
    return f"{len(_histories())} sessions: every call has an id of its own, and its own answer behind it."


def _number(data: Any) -> Any:
    return (data or {}).get("n")


def _only_ids(before: Event, after: Event, where: str) -> None:
    for old, new in zip(before.content.parts, after.content.parts, strict=True):  # type: ignore[union-attr,arg-type]
        one, other = (part.model_dump(exclude_none=True) for part in (old, new))
        for kind in ("function_call", "function_response"):
            had, has = one.get(kind, {}).pop("id", None), other.get(kind, {}).pop("id", None)
            want(not had or had == has, f"{where}: the id {had!r} was there and is now {has!r}")
        want(one == other, f"{where}: more than the id is changed")


def _histories() -> list[tuple[str, list[Event]]]:
    """Sessions of one agent; the n of a call is the n of its answer."""
    return [
        ("one call", [_calls(("track", 1, "")), _gives(("track", 1, ""))]),
        (
            "two tools",
            [_calls(("track", 1, "")), _gives(("track", 1, "")), _calls(("cart", 2, "")), _gives(("cart", 2, ""))],
        ),
        (
            "one tool twice",
            [_calls(("track", 1, "")), _gives(("track", 1, "")), _calls(("track", 2, "")), _gives(("track", 2, ""))],
        ),
        (
            "two calls in one event",
            [_calls(("track", 1, ""), ("cart", 2, "")), _gives(("track", 1, ""), ("cart", 2, ""))],
        ),
        (
            "answers the other way round",
            [_calls(("track", 1, ""), ("cart", 2, "")), _gives(("cart", 2, ""), ("track", 1, ""))],
        ),
        (
            "ids that are there",
            [
                _calls(("track", 1, "t-1")),
                _gives(("track", 1, "t-1")),
                _calls(("track", 2, "")),
                _gives(("track", 2, "")),
            ],
        ),
    ]


def _calls(*given: tuple[str, int, str]) -> Event:
    parts = [types.Part(function_call=types.FunctionCall(name=n, args={"n": k}, id=i or None)) for n, k, i in given]
    return Event(author="desk", content=types.Content(role="model", parts=parts))


def _gives(*given: tuple[str, int, str]) -> Event:
    parts = [types.Part(function_response=types.FunctionResponse(name=n, response={"n": k}, id=i or None))
             for n, k, i in given]  # fmt: skip
    return Event(author="desk", content=types.Content(role="user", parts=parts))
