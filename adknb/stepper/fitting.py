"""Answers of a reader: do they fit the call they stand for?"""

from __future__ import annotations

from collections.abc import Mapping
from types import NoneType
from typing import Any

from google.genai import types

from adknb.engine.event import Event
from adknb.engine.model import as_response
from adknb.engine.response import LLMResponse
from adknb.engine.stops import Phase, Seam, Stop
from adknb.stepper.json_values import must_have_json_form, record_from_json


def fitting(stop: Stop, value: Any) -> Any:
    """The value if the call at this stop could come to it, and a file could keep it. Raises TypeError."""
    value = _of_its_kind(stop, value)
    must_have_json_form(stop, value)
    return value


def _of_its_kind(stop: Stop, value: Any) -> Any:
    if stop.seam is Seam.MODEL:
        if stop.phase is Phase.BEFORE and isinstance(value, (list, tuple)):
            return [as_response(v) for v in value]
        return as_response(value)
    if stop.seam is Seam.LIVE_CONNECT:
        raise TypeError("a connection cannot be made by hand: edit config before it is dialled, or fail(…)")
    if stop.seam is Seam.LIVE_RECEIVE and isinstance(value, Mapping):  # as the Live API writes it
        return record_from_json(types.LiveServerMessage, dict(value), "the message")
    wanted = COMES_TO.get(stop.seam)
    if wanted is not None and value is not None and not isinstance(value, wanted):
        names = " or ".join(t.__name__ for t in wanted if t is not NoneType)
        what = f"{names} or None" if names else "None (skip() does not send it)"
        raise TypeError(f"{str(stop)!r} comes to {what}, not {type(value).__name__}")
    if stop.seam in (Seam.EVENT, Seam.MERGE) and value is None:
        raise TypeError(f"{str(stop)!r} comes to an Event, not None")
    return value


COMES_TO: dict[Seam, tuple[type, ...]] = {
    Seam.ON_USER_MESSAGE: (types.Content,),
    Seam.BEFORE_RUN: (types.Content,),
    Seam.BEFORE_AGENT: (types.Content,),
    Seam.AFTER_AGENT: (types.Content,),
    Seam.BEFORE_MODEL: (LLMResponse,),
    Seam.AFTER_MODEL: (LLMResponse,),
    Seam.ON_MODEL_ERROR: (LLMResponse,),
    Seam.BEFORE_TOOL: (dict,),
    Seam.AFTER_TOOL: (dict,),
    Seam.ON_TOOL_ERROR: (dict,),
    Seam.LIVE_SEND: (NoneType,),
    Seam.LIVE_RECEIVE: (types.LiveServerMessage,),
    Seam.EVENT: (Event,),
    Seam.ON_EVENT: (Event,),
    Seam.MERGE: (Event,),
}
"""What callbacks and joints may come to, besides None; a tool may come to anything."""
