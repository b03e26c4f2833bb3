"""The cases as given, and how one is read: its session, its viewer, its scenario, its trace."""

from __future__ import annotations

import importlib.util
import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from adknb.engine.event import Event
from adknb.engine.processors.contents import Assembly, Viewer, assemble
from adknb.scenarios import load, trace

HERE = Path(__file__).parent

CASES: dict[str, dict[str, Any]] = {c["id"]: c for c in json.loads((HERE / "cases.json").read_text(encoding="utf-8"))}
SCENARIOS = {s["name"].removeprefix("case/"): s for s in load(HERE / "scenarios.jsonl")}
CONTENTS = "adk_go_v2_4_0_contents"
"""The field of `expected` with the contents that ADK-Go sends."""
OF_THE_VIEWER = ("branch", "isolation_scope", "include_contents", "mode")


def _compare() -> Any:
    spec = importlib.util.spec_from_file_location("golden_compare", HERE.parent / "golden" / "compare.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


compare = _compare()
EXPECTED = {e["name"].removeprefix("case/"): e for e in compare.load(HERE / "expected.jsonl")}


def by_rule(rules: dict[str, str]) -> list[Any]:
    """Parameters of a test, one a case, each called by the rule it shows: `a late response … [C01]`."""
    return [pytest.param(case, id=f"{rule} [{case}]") for case, rule in rules.items()]


def links(case: str) -> str:
    """Where the case was reported: what a failing test says."""
    return f"{case}: {CASES[case]['title']}\n  " + "\n  ".join(CASES[case]["source_urls"])


def events_of(case: str) -> list[Event]:
    """The session of a case."""
    return [Event.from_json(given, f"{case}.events[{n}]") for n, given in enumerate(CASES[case]["input"]["events"])]


def viewer_of(case: str) -> Viewer:
    """Who is to read it."""
    agent = CASES[case]["input"]["agent"]
    fields = {name: agent[name] for name in OF_THE_VIEWER if name in agent}
    return Viewer(agent["name"], compaction=bool(agent.get("compaction")), **fields)


def assembled(case: str) -> Assembly:
    """What the viewer of a case is sent."""
    return assemble(events_of(case), viewer_of(case))


@cache
def run(case: str) -> Any:
    """The trace of a case's scenario; not to be written to."""
    return trace(SCENARIOS[case])


def entries(case: str, at: str) -> list[dict[str, Any]]:
    """The entries of one kind in a case's trace: `event`, `model_request`, `tool`, `hook`, `error`, …"""
    return [entry for entry in run(case)["trace"] if entry["at"] == at]


def events(case: str) -> list[dict[str, Any]]:
    """The events that a reader of the run is given, as JSON."""
    return [entry["event"] for entry in entries(case, "event")]


def stored(case: str) -> list[dict[str, Any]]:
    """The events of the session when the run is over."""
    found: list[dict[str, Any]] = run(case)["session"]["events"]
    return found


def state(case: str) -> dict[str, Any]:
    """The state of the session when the run is over."""
    found: dict[str, Any] = run(case)["session"]["state"]
    return found


def texts(event: dict[str, Any]) -> list[str]:
    """The texts of an event's parts."""
    return [part["text"] for part in (event.get("content") or {}).get("parts") or [] if part.get("text")]


def parts(event: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    """The function calls or responses of an event."""
    return [part[kind] for part in (event.get("content") or {}).get("parts") or [] if kind in part]
