"""Who may import whom: the drawing of the design, checked by walking every import with `ast`.

    cli, lab ─► all      widgets, attach, course ─► stepper, files      stepper, files ─► lens, scenarios
    front, fixes, lens, scenarios ─► engine
    whatever reads a file ─► json_text ─► engine.errors ◄─ whole_file ◄─ whatever writes one

Inside the engine, downwards only: LEVELS. Imports for type checkers only (`if TYPE_CHECKING:`) cost nothing and are
free inside a package, never across packages.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[1] / "adknb"

BELOW_STEPPER = {"engine", "front", "fixes", "json_text", "lens", "scenarios", "whole_file"}
ALL = {*BELOW_STEPPER, "stepper", "files", "widgets", "attach", "course", "gomap", "cli", "lab", "new_notebook"}
MAY_IMPORT = {
    "engine": {"engine"},
    "front": {"engine"},
    "fixes": {"engine", "fixes"},
    "json_text": {"engine"},
    "whole_file": {"engine"},
    "lens": {"engine", "lens"},
    "scenarios": {"engine", "json_text", "scenarios"},
    "stepper": {*BELOW_STEPPER, "stepper"},
    "files": {*BELOW_STEPPER, "files"},
    "widgets": {*BELOW_STEPPER, "stepper", "files", "gomap", "widgets"},  # gomap: the Source view tells Go homes
    "attach": {*BELOW_STEPPER, "stepper", "files", "attach"},
    "course": {*BELOW_STEPPER, "stepper", "files", "course"},
    "gomap": set(),
    "lab": {"engine"},
    "new_notebook": {"engine", "files", "whole_file"},
    "cli": ALL,
    "__main__": {"cli"},
    "": ALL,  # adknb/__init__.py, which fetches its names when they are used
}
"""Package (or module) of adknb -> those it may import from."""

LEVELS = [
    {"errors", "response", "loops", "copies"},
    {"event"},
    {"event_json", "go_text", "schema"},
    {"stops", "platform", "tool", "model", "session"},
    {"context"},
    {"plugin", "compaction", "agent"},
    {"llm_settings"},  # what the processors may know of an LLM agent, so that they need not know the agent
    {"model_call", "function_calls", "processors"},
    {"flow"},
    {"live"},  # the other path through the Flow; agents and runner know it
    {"llm_agent", "workflow_agents", "coordinator", "delegation"},
    {"runner"},
    {"gemini", "streaming", "converters", "sqlite_sessions"},  # adapters: nothing in the engine knows them
]
"""The engine's modules from the bottom up. A module may import from its own level and below, never in a circle."""

ALLOWED = {
    (
        "adknb.engine.event",
        "adknb.engine.event_json",
    ): "Event.to_json and from_json are methods",
    ("adknb.stepper", "adknb.widgets"): "a Stepper shows itself in a notebook",
    ("adknb.files", "adknb.widgets"): "a Recording shows itself and writes itself as HTML",
    ("adknb.course", "adknb.attach"): "lesson 16 checks that google-adk is as it was",
}
"""Upward imports, each inside a function only, and why."""

UNDER_THE_STEPPER = ("flow", "model_call", "function_calls", "processors")
"""The stepper sees Stops and Events, never the stages that make them."""

ALWAYS_THERE = {"google.genai.types", "pydantic", "pydantic_core"}  # pydantic comes with google.genai.types: its base
THIRD_PARTY = {
    "engine": {"google.genai.types", "pydantic"},
    "scenarios": {*ALWAYS_THERE, "yaml"},
    "stepper": {*ALWAYS_THERE, "jsonpatch"},
    "widgets": {*ALWAYS_THERE, "anywidget", "ipywidgets", "traitlets", "IPython", "graphviz", "pandas"},
    "attach": {*ALWAYS_THERE, "google.adk"},
    "course": {*ALWAYS_THERE, "anywidget", "traitlets"},
}
IN_FUNCTIONS = {
    "engine": {"google.genai"},  # the Gemini adapter's client
    "attach": {"google.genai"},
    "widgets": {"rich"},
    "lab": {"jupyter_core", "nbformat"},
    **{home: {"pandas", "IPython", "nbformat", "yaml"} for home in ("lens", "stepper")},
    # the fake Live server: both come with google-genai
    "scenarios": {"pandas", "IPython", "nbformat", "yaml", "websockets", "cryptography"},
    "files": {"pandas", "yaml", "rich"},  # and tqdm, by name, where it is installed
}
"""What the extras bring is imported where it is used, never when a module loads: the plain install works without."""


@dataclass(frozen=True)
class Import:
    """One import: from which module, of what, and how (`top`, `function`, or `typing`)."""

    module: str
    target: str
    how: str
    line: int

    def __str__(self) -> str:
        return f"{self.module}:{self.line} imports {self.target}"


def sources() -> dict[str, str]:
    """Every module of adknb, by its dotted name."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path.read_text(encoding="utf-8")
    return found


def imports_of(module: str, source: str, modules: set[str]) -> Iterator[Import]:
    """Every import of a module's text, wherever it stands."""

    def walk(node: ast.AST, how: str) -> Iterator[Import]:
        for child in ast.iter_child_nodes(node):
            inside = how
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) and how == "top":
                inside = "function"
            if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.dump(child.test):
                inside = "typing"
            if isinstance(child, ast.Import):
                for name in child.names:
                    yield Import(module, name.name, how, child.lineno)
            elif isinstance(child, ast.ImportFrom):
                assert not child.level, f"{module}:{child.lineno}: write adknb.… in full"
                for name in child.names:
                    whole = f"{child.module}.{name.name}"
                    is_module = whole in modules or child.module in ("google", "google.genai")
                    yield Import(module, whole if is_module else str(child.module), how, child.lineno)
            else:
                yield from walk(child, inside)

    yield from walk(ast.parse(source), "top")


def within(name: str, *prefixes: str) -> bool:
    return any(name == prefix or name.startswith(prefix + ".") for prefix in prefixes)


def part_of(module: str, at: int) -> str:
    """`adknb.engine.tool` at 1 is `engine`, at 2 `tool`; empty where the name ends earlier."""
    return [*module.split("."), "", "", ""][at]


def level_of(name: str) -> int | None:
    return next((k for k, level in enumerate(LEVELS) if name in level), None)


def fault(found: Import) -> str:
    """What is wrong with one import; empty if nothing is."""
    home = part_of(found.module, 1)
    if home not in MAY_IMPORT:
        return f"{found.module} has no place in MAY_IMPORT"
    if not within(found.target, "adknb"):
        return fault_outside(found, home)
    target = part_of(found.target, 1)
    if home == target and found.how == "typing":
        return ""
    if any(within(found.module, low) and within(found.target, up) for low, up in ALLOWED):
        return "" if found.how == "function" else f"{found}: allowed inside a function only"
    if target not in MAY_IMPORT[home] and not (home == "cli" and not target):  # the command knows its version
        return f"{found}: {home} may import {', '.join(sorted(MAY_IMPORT[home]))}"
    if home == "stepper" and target == "engine" and part_of(found.target, 2) in UNDER_THE_STEPPER:
        return f"{found}: the stepper sees Stops and Events, not the stages"
    return fault_inside_the_engine(found) if home == target == "engine" else ""


def fault_outside(found: Import, home: str) -> str:
    if part_of(found.target, 0) in sys.stdlib_module_names or found.how == "typing":
        return ""
    if within(found.target, *THIRD_PARTY.get(home, ALWAYS_THERE)):
        return ""
    if within(found.target, *IN_FUNCTIONS.get(home, ())):
        return "" if found.how == "function" else f"{found}: inside a function only"
    return f"{found}: {home or 'adknb'} may not"


def fault_inside_the_engine(found: Import) -> str:
    low, high = part_of(found.module, 2), part_of(found.target, 2)
    if low in ("", high):  # the engine's own __init__; one folder
        return ""
    levels = level_of(low), level_of(high)
    if levels[0] is None or levels[1] is None:
        return f"adknb.engine.{low if levels[0] is None else high} has no place in LEVELS"
    return f"{found}: that is upwards" if levels[1] > levels[0] else ""


def circles(imports: list[Import]) -> list[str]:
    """Circles among the imports that happen when a module loads."""
    graph: dict[str, set[str]] = {}
    for one in imports:
        if one.how == "top" and one.module != one.target and within(one.target, "adknb"):
            graph.setdefault(one.module, set()).add(one.target)
    done: set[str] = set()
    found = []

    def visit(module: str, path: tuple[str, ...]) -> None:
        if module in path:
            found.append(" → ".join((*path[path.index(module) :], module)))
        elif module not in done:
            for target in sorted(graph.get(module, ())):
                visit(target, (*path, module))
            done.add(module)

    for module in sorted(graph):
        visit(module, ())
    return found


def faults(modules: dict[str, str]) -> list[str]:
    """Everything that is wrong with the imports of these modules."""
    imports = [one for name, text in modules.items() for one in imports_of(name, text, set(modules))]
    return sorted({wrong for one in imports if (wrong := fault(one))}) + circles(imports)


def test_every_import_goes_downwards() -> None:
    assert faults(sources()) == []


@pytest.mark.parametrize(
    "module, text, wrong",
    [
        ("adknb.lens.x", "import adknb.stepper.stepper", "lens may import engine, lens"),
        ("adknb.lens.x", "def f():\n    from adknb.stepper import step", "lens may import engine, lens"),
        ("adknb.files.x", "from adknb.stepper import step", "files may import"),
        ("adknb.engine.x", "import adknb", "engine may import engine"),
        ("adknb.engine.tool", "from adknb.engine.flow import Flow", "upwards"),
        ("adknb.engine.processors.basic", "if 1:\n    from adknb.engine import runner", "upwards"),
        ("adknb.engine.event", "from adknb.engine.event_json import f", "allowed inside a function only"),
        ("adknb.stepper.x", "import adknb.widgets.panel", "allowed inside a function only"),
        ("adknb.stepper.x", "from adknb.engine.processors import basic", "Stops and Events"),
        ("adknb.engine.newcomer", "from adknb.engine import tool", "no place in LEVELS"),
        ("adknb.newcomer", "import json", "no place in MAY_IMPORT"),
        ("adknb.engine.model", "import pandas", "engine may not"),
        ("adknb.engine.model", "from google import genai", "inside a function only"),
        ("adknb.engine.model", "from google.genai import Client", "inside a function only"),
        ("adknb.lens.x", "import pandas as pd", "inside a function only"),
        ("adknb.stepper.x", "async def f():\n    import requests", "stepper may not"),
    ],
)
def test_an_import_that_breaks_the_drawing_is_found(module: str, text: str, wrong: str) -> None:
    others = dict.fromkeys(("adknb.engine.flow", "adknb.engine.runner", "adknb.engine.tool"), "")
    others["adknb.engine.processors.basic"] = ""
    found = faults({**others, module: text})
    assert len(found) == 1
    assert wrong in found[0]


@pytest.mark.parametrize(
    "module, text",
    [
        ("adknb.engine.tool", "from google.genai import types\nimport google.genai.types as t\nimport json, pydantic"),
        ("adknb.engine.context", "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import adknb.engine.agent"),
        ("adknb.engine.event", "def f():\n    from adknb.engine.event_json import f"),
        ("adknb.engine.gemini", "def f():\n    from google import genai\n    from google.genai import Client"),
        ("adknb.stepper.x", "def f():\n    from adknb.widgets.panel import Panel"),
        ("adknb.lens.x", "def f():\n    import pandas"),
        ("adknb.cli", "import adknb.widgets, adknb.stepper, adknb.files"),
    ],
)
def test_an_import_that_the_drawing_allows_passes(module: str, text: str) -> None:
    assert faults({module: text}) == []


def test_a_circle_is_found() -> None:
    modules = {"adknb.lens.a": "import adknb.lens.b", "adknb.lens.b": "import adknb.lens.c"}
    assert faults(modules) == []
    assert faults({**modules, "adknb.lens.c": "import adknb.lens.a"}) == [
        "adknb.lens.a → adknb.lens.b → adknb.lens.c → adknb.lens.a"
    ]


def test_every_folder_of_the_package_is_a_package() -> None:
    folders = {path.parent for path in PACKAGE.rglob("*.py")}
    assert [str(folder) for folder in sorted(folders) if not (folder / "__init__.py").exists()] == []
