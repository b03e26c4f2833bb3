"""Requests as JSON, over and over: a content that is as it was is not written out again.

A pause writes the request down so that an edit can be told, and the views want it too. Of a long history nearly all is
as it was at the last pause; telling that costs a fraction of writing it. What is given out shares its parts with what
was given before: to be looked at, not changed.
"""

from __future__ import annotations

import json
from typing import Any

from google.genai import types

from adknb.engine.model import LLMRequest
from adknb.stepper.edits import content_json, request_json

Shape = tuple[Any, ...]
"""All that a content says, in a form that is quick to make and to compare."""


class Dumps:
    """The JSON of the contents of the latest request, by what they say; what says something else is written anew."""

    def __init__(self) -> None:
        self._kept: dict[Shape, dict[str, Any]] = {}

    def request(self, request: LLMRequest) -> dict[str, Any]:
        """As `edits.request_json`; a request that a reader has broken is shown as far as it goes."""
        live: Any = request  # a reader may have put anything in its places
        try:
            found = request_json(LLMRequest(live.model, [], live.config, live.tools))
        except Exception as error:
            found = {"contents": [], "config": {"broken": str(error)}, "tools": []}
        found["model"] = str(live.model)
        kept: dict[Shape, dict[str, Any]] = {}
        for content in live.contents if isinstance(live.contents, list) else []:
            try:
                shape = shape_of(content)
                written = self._kept.get(shape) or kept.get(shape) or content_json(content)
                kept[shape] = written
            except Exception:
                written = {"role": "", "parts": [{"text": f"(not a Content: {content!r})"}]}
            found["contents"].append(written)
        self._kept = kept  # what is in no request any more is let go
        return found


def shape_of(content: types.Content) -> Shape:
    """Texts as they are, arguments and responses as JSON; any other part as pydantic writes it."""
    shape: list[Any] = [content.role]
    for part in content.parts or ():
        fields = part.model_fields_set
        if fields <= TEXT:
            shape += [part.text, part.thought, part.thought_signature]
        elif fields <= CALL and (call := part.function_call) is not None and call.model_fields_set <= NAMED:
            shape += [call.id, call.name, _deep(call.args), part.thought_signature]
        elif fields <= ANSWER and (answer := part.function_response) is not None and answer.model_fields_set <= NAMED:
            shape += [answer.id, answer.name, _deep(answer.response)]
        else:
            shape.append(repr(part))
    shape.append(None if content.parts is None else len(content.parts))
    return tuple(shape)


TEXT = frozenset({"text", "thought", "thought_signature"})
CALL = frozenset({"function_call", "thought_signature"})
ANSWER = frozenset({"function_response"})
NAMED = frozenset({"id", "name", "args", "response"})
"""The fields that nearly all parts, calls and responses make do with."""


def _deep(value: Any) -> str:
    try:
        return json.dumps(value)
    except (TypeError, ValueError):
        return repr(value)
