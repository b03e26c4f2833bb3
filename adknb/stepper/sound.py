"""Before a run goes on: is what the reader has left behind still something the engine can take?

A live object can be changed to anything in Python. What would only break further on is told here, with its place, while
the run still stands where the change was made.
"""

from __future__ import annotations

from typing import Any

from google.genai import types

from adknb.engine.errors import BadData
from adknb.engine.model import LLMRequest
from adknb.engine.stops import Stop
from adknb.stepper.dumps import Dumps


def must_be_sound(stop: Stop, request: LLMRequest | None, dumps: Dumps) -> None:
    """Check the live objects of a stop.

    Raises:
        BadData: naming the place and what belongs there; nothing has moved.
    """
    request = stop.holds.get("request") or request
    if request is not None:
        _is(request.model, str, "request.model")
        _is(request.config, types.GenerateContentConfig, "request.config")
        _is(request.tools, dict, "request.tools")
        contents = _is(request.contents, list, "request.contents")
        for i in dumps.touched(contents):  # one that nobody has touched is as it was made
            _content(contents[i], f"request.contents[{i}]")
    if "args" in stop.holds:
        _is(stop.holds["args"], dict, "args")
    for name in ("event", "response"):
        content = getattr(stop.holds.get(name), "content", None)
        if content is not None:
            _content(content, f"{name}.content")


def _content(content: Any, where: str) -> None:
    _is(content, types.Content, where)
    for i, part in enumerate(content.parts or ()):
        _is(part, types.Part, f"{where}.parts[{i}]")


def _is(thing: Any, kind: type, where: str) -> Any:
    if not isinstance(thing, kind):
        raise BadData(where, f"expected a {kind.__name__}, found a {type(thing).__name__}; put it right, then go on")
    return thing
