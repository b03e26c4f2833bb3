"""A run drained through the Stepper does what the plain run does, entry for entry, with the same task runner."""

from __future__ import annotations

import os
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from adknb import Stepper
from adknb.scenarios import build, load, trace

GOLDEN = Path(__file__).parent.parent / "golden" / "scenarios.jsonl"
MOST = 1_000 if os.environ.get("ADKNB_NIGHTLY") else 6
"""How many scenarios of each family; all of them nightly."""


def some() -> list[Any]:
    by_family: dict[str, list[Any]] = defaultdict(list)
    for scenario in load(str(GOLDEN)):
        by_family[scenario["name"].split("/")[0]].append(scenario)
    return [pytest.param(s, id=s["name"]) for listed in by_family.values() for s in listed[:MOST]]


@pytest.mark.parametrize("scenario", some())
def test_the_stepper_changes_nothing(scenario: dict[str, Any]) -> None:
    plain = trace(scenario)
    log: list[dict[str, Any]] = []
    dbg = Stepper(build(scenario, log))
    dbg.resume()
    doubles = [e for e in plain["trace"] if e["at"] not in ("turn", "event", "error")]
    assert log == doubles
    stored = {e["id"]: e for e in plain["session"]["events"]}
    assert {e.id: e.to_json() for e in dbg.events if e.id in stored} == stored
    assert dict(dbg.state) == plain["session"]["state"]
    sent = [e["contents"] for e in doubles if e["at"] == "model_request"]
    assert [len(r["contents"]) for r in dbg.requests] == [len(c) for c in sent]
