"""A request to take away: as a curl command for the Gemini API, and as Python code for google-genai.

Neither ever holds a key: the command reads `$GEMINI_API_KEY`, the client finds its own. Both are made from the
request's JSON (`stepper.edits.request_json`), which holds no connection options either.
"""

from __future__ import annotations

import json
import warnings
from typing import Any

from google.genai import types
from pydantic import BaseModel

Json = dict[str, Any]

ADDRESS = "https://generativelanguage.googleapis.com/v1beta/models"

BESIDE = ("systemInstruction", "tools", "toolConfig", "safetySettings", "cachedContent", "labels", "serviceTier")
"""Fields of the config that stand beside the contents in a REST body; the others are the body's generationConfig."""

OF_THE_CLIENT = ("httpOptions", "automaticFunctionCalling", "automaticContinuation", "shouldReturnHttpResponse")
"""Fields that tell the client something and are never sent."""


def as_json(request: Json) -> str:
    """The request as it stands in the editor."""
    return json.dumps(request, indent=2, ensure_ascii=False)


def as_body(request: Json) -> Json:
    """The request as the body of `models.generateContent`: what the local tools are is nobody's business there.

    Follows `_GenerateContentConfig_to_mldev` of google-genai's models.py.
    """
    config = {k: v for k, v in (request.get("config") or {}).items() if k not in OF_THE_CLIENT}
    body: Json = {"contents": request.get("contents") or []}
    instruction = config.get("systemInstruction")
    if isinstance(instruction, str):
        config["systemInstruction"] = {"role": "user", "parts": [{"text": instruction}]}
    body |= {name: config.pop(name) for name in BESIDE if name in config}
    if config:
        body["generationConfig"] = config
    return body


def as_curl(request: Json) -> str:
    """A command that sends the request to the Gemini API. The body is a quoted here-document: no shell reads it."""
    model = str(request.get("model") or "MODEL").removeprefix("models/")
    path = "".join(c if c.isalnum() or c in "-._" else f"%{ord(c):02X}" for c in model if ord(c) < 128)
    body = json.dumps(as_body(request), indent=2, ensure_ascii=False)
    return "\n".join(
        [
            f'curl -sS "{ADDRESS}/{path}:generateContent" \\',
            '  -H "x-goog-api-key: $GEMINI_API_KEY" \\',
            '  -H "Content-Type: application/json" \\',
            "  --data-binary @- <<'REQUEST'",
            _escaped(body),
            "REQUEST",
            "",
        ]
    )


def as_python(request: Json) -> str:
    """Code that sends the request with google-genai."""
    contents = [_read(types.Content, c) for c in request.get("contents") or []]
    config = _read(types.GenerateContentConfig, request.get("config") or {})
    given = [f"    model={request.get('model') or 'MODEL'!r},", f"    contents={_code(contents, 1)},"]
    if _fields(config):
        given.append(f"    config={_code(config, 1)},")
    return "\n".join(
        [
            "from google import genai",
            "from google.genai import types",
            "",
            "client = genai.Client()  # finds GEMINI_API_KEY in the environment",
            "response = client.models.generate_content(",
            *given,
            ")",
            "print(response.text)",
            "",
        ]
    )


WAYS = {"json": as_json, "curl": as_curl, "python": as_python}


def _escaped(text: str) -> str:
    """JSON text without half surrogate pairs, which no file and no terminal takes: as the escapes JSON has for them."""
    return "".join(f"\\u{ord(c):04x}" if "\ud800" <= c <= "\udfff" else c for c in text)


def _read(cls: type[BaseModel], data: Json) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of enum values that google-genai does not know, and keeps
        return cls.model_validate_json(json.dumps(data))


def _fields(record: BaseModel) -> dict[str, Any]:
    """What a record says: its fields that are set, plain ones first."""
    given = {name: v for name in type(record).model_fields if (v := getattr(record, name)) is not None}
    return dict(sorted(given.items(), key=lambda field: isinstance(field[1], (list, dict, BaseModel))))


def _code(value: Any, depth: int) -> str:
    """A value as Python code, its inner lines indented by `depth` levels; what is short stays on one line."""
    if isinstance(value, BaseModel):
        inside = [f"{name}={_code(v, depth + 1)}" for name, v in _fields(value).items()]
        return _lines(f"types.{type(value).__name__}(", inside, ")", depth)
    if isinstance(value, dict):
        return _lines("{", [f"{k!r}: {_code(v, depth + 1)}" for k, v in value.items()], "}", depth)
    if isinstance(value, (list, tuple)):
        return _lines("[", [_code(v, depth + 1) for v in value], "]", depth)
    if isinstance(value, str):
        return repr(str(value.value if hasattr(value, "value") else value))  # an enum of google-genai's is a text, too
    return repr(value)


def _lines(start: str, inside: list[str], end: str, depth: int) -> str:
    short = start + ", ".join(inside) + end
    if "\n" not in short and len(short) + 4 * depth <= 100:
        return short
    pad = "    " * (depth + 1)
    return start + "".join(f"\n{pad}{item}," for item in inside) + "\n" + "    " * depth + end
