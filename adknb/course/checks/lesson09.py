"""The check of lesson 09: when a tool must carry the output schema."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from google.genai import types

from adknb.course.checks.trying import verdict, want
from adknb.engine.llm_settings import LlmSettings
from adknb.engine.processors.output_schema import needs_fallback
from adknb.engine.tool import FunctionTool

MODELS = (
    ("gemini-2.5-flash", ""),
    ("GEMINI-3-pro", "gemini_api"),
    ("a/b/gemini-3", ""),
    ("gemini-x", ""),
    ("gemini", ""),
    ("my-gemini-2", ""),
    ("gpt", ""),
    ("gemini-2.0-flash", "vertex"),
    ("gemini-1.5-pro", "vertex"),
    ("gemini-x", "vertex"),
)
"""The ten rows: a model's name and its backend (`""`: it does not tell)."""


@verdict
def check_needs_fallback(mine: Callable[[str, str, bool, bool, str], bool]) -> str:
    """09: `needs_fallback(model, backend, tools, schema, mode)` for ten models, with and without tools and schema.

    `tools` and `schema` say whether the agent has any; `mode` is the declared one. What is right the engine says.
    """
    held = 0
    for name, backend in MODELS:
        for tools, schema, mode in (
            (True, True, ""), (True, True, "chat"), (True, True, "task"), (False, True, ""), (True, False, ""),
        ):  # fmt: skip
            right = needs_fallback(_settings(name, backend, tools, schema, mode))
            given = mine(name, backend, tools, schema, mode)
            row = f"model={name!r}, backend={backend!r}, tools={tools}, schema={schema}, mode={mode!r}"
            want(given is right, f"{row}: expected {right}, not {given!r}")
            held += 1
    return f"{held} rows: {len(MODELS)} models, with and without tools, schema and a task."


class _Model:
    def __init__(self, name: str, backend: str) -> None:
        self.name, self.backend = name, backend

    def generate_content(self, request: Any, stream: bool) -> Any:
        raise AssertionError("nobody asks this model")


def _settings(name: str, backend: str, tools: bool, schema: bool, mode: str) -> LlmSettings:
    tool = FunctionTool(dict, name="find", description="Finds.", parameters={"type": "object"})
    wanted = types.Schema(type=types.Type.OBJECT) if schema else None
    return LlmSettings(model=_Model(name, backend), tools=[tool] if tools else [], output_schema=wanted, mode=mode)
