"""Scenario files, scripted models and tools, the scenarios that ship; `trace` runs one to its end.

`load` reads and checks a file, `scenario` gives one that ships, `build` makes its agents, session and turns, `trace`
runs it and writes down what happened. A ScriptedModel says what it was told to say; `safe_stream` and `faulty_stream`
are two ways of handing a model's chunks on.
"""

from __future__ import annotations

import difflib
import json
from importlib.resources import files
from typing import Any

from adknb.scenarios.build import Built, Turn, build
from adknb.scenarios.format import check, load, load_each
from adknb.scenarios.scripted import Script, ScriptedError, ScriptedModel, ScriptEnded
from adknb.scenarios.streams import DRAW, drawing_line, faulty_stream, safe_stream
from adknb.scenarios.trace import trace

__all__ = [
    "DRAW",
    "Built",
    "Script",
    "ScriptEnded",
    "ScriptedError",
    "ScriptedModel",
    "Turn",
    "build",
    "check",
    "drawing_line",
    "faulty_stream",
    "load",
    "load_each",
    "safe_stream",
    "scenario",
    "shipped",
    "trace",
]


def shipped() -> list[str]:
    """The names of the scenarios that ship with adknb."""
    names = (entry.name for entry in (files(__name__) / "shipped").iterdir())
    return sorted(name.removesuffix(".json") for name in names if name.endswith(".json"))


def scenario(name: str) -> dict[str, Any]:
    """A scenario that ships with adknb, by name; a new dict each time, to change at will.

    Raises:
        LookupError: there is none of that name; lists them.
    """
    names = shipped()
    if name not in names:
        near = difflib.get_close_matches(name, names, 1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        raise LookupError(f"no scenario {name!r} ships with adknb; there are: {', '.join(names)}.{hint}")
    text = (files(__name__) / "shipped" / f"{name}.json").read_text(encoding="utf-8")
    return check(json.loads(text), name)
