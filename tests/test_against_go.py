"""The oracle: every golden scenario, entry for entry, against what ADK-Go does with it (tests/golden/README.md)."""

from __future__ import annotations

import copy
import importlib.util
import json
import re
from collections import defaultdict
from pathlib import Path

import pytest

from adknb.scenarios import load, trace

GOLDEN = Path(__file__).parent / "golden"


def _compare():
    spec = importlib.util.spec_from_file_location("golden_compare", GOLDEN / "compare.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


compare = _compare()
SCENARIOS = {s["name"]: s for s in load(GOLDEN / "scenarios.jsonl")}
EXPECTED = {e["name"]: e for e in compare.load(GOLDEN / "expected.jsonl")}


def family_of(name):
    return name.split("/")[0]


FAMILIES = sorted({family_of(name) for name in SCENARIOS})


def difference(expected, actual):
    """The first difference as (path, expected, actual), or None."""
    by_agent = bool(expected.get("by_agent"))
    return compare.first_difference(compare.normal_form(expected, by_agent), compare.normal_form(actual, by_agent))


@pytest.fixture(scope="module")
def differences(golden_score):
    """family -> scenario -> its first difference or None; every scenario is run once."""
    found = defaultdict(dict)
    for name, scenario in SCENARIOS.items():
        found[family_of(name)][name] = difference(EXPECTED[name], trace(scenario))
    for family, verdicts in found.items():
        golden_score[family] = (sum(d is None for d in verdicts.values()), len(verdicts))
    return found


def report(verdicts, show=3):
    """The first few differences, as compare.py prints them."""
    differing = [(name, d) for name, d in verdicts.items() if d is not None]
    lines = [f"{len(differing)} of {len(verdicts)} differ"]
    for name, (path, expected, actual) in differing[:show]:
        lines.append(f"{name}: differs at {path}")
        lines += [
            f"  {side} {json.dumps(v, ensure_ascii=False)[:300]}"
            for side, v in zip(("go   ", "adknb"), (expected, actual), strict=False)
        ]
    return "\n".join(lines)


def test_every_scenario_has_its_expected_trace():
    assert SCENARIOS.keys() == EXPECTED.keys()


@pytest.mark.parametrize("family", FAMILIES)
def test_the_family_agrees_in_full(differences, family):
    verdicts = differences[family]
    assert not any(verdicts.values()), report(verdicts)


def made_ids(entries):
    """The counts in the call ids that a run made: `adk-uuid-9` there, `adk-id-9` here."""
    return {int(count) for count in re.findall(r'"adk-(?:uuid|id)-(\d+)"', json.dumps(entries))}


def test_ids_are_drawn_as_often_as_the_reference_draws_them():
    """`compare.py` sorts the long-running ids of an event as texts before it numbers them: 10 comes before 9."""
    expected = {name: made_ids(e["trace"]) for name, e in EXPECTED.items()}
    assert sum(map(bool, expected.values())) == 80
    assert {name: made_ids(trace(SCENARIOS[name])["trace"]) for name, ids in expected.items() if ids} == {
        name: ids for name, ids in expected.items() if ids
    }


@pytest.mark.parametrize("family", FAMILIES)
def test_the_same_scenario_twice_is_the_same_to_the_byte(family):
    for scenario in [s for name, s in SCENARIOS.items() if family_of(name) == family][:3]:
        before = copy.deepcopy(scenario)
        assert json.dumps(trace(scenario)) == json.dumps(trace(scenario))
        assert scenario == before  # a run changes nothing in what it was made from


@pytest.mark.parametrize(
    "spoil",
    [
        lambda t: t["trace"].pop(),
        lambda t: t["trace"].reverse(),
        lambda t: t["trace"][1].update(stream=True),
        lambda t: t["trace"][1]["contents"][0]["parts"][0].update(text="another question"),
        lambda t: t["session"]["events"].pop(),
        lambda t: t["session"]["state"].update(k=1),
    ],
)
def test_a_trace_that_is_wrong_is_found_out(spoil):
    actual = copy.deepcopy(EXPECTED["seed/weather"])
    assert difference(EXPECTED["seed/weather"], actual) is None
    spoil(actual)
    assert difference(EXPECTED["seed/weather"], actual) is not None
