"""Every scenario of the course and of the clinic does here what the reference does with it."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import pytest

from adknb.scenarios import scenario, shipped, trace

HERE = Path(__file__).parent


def _compare():
    spec = importlib.util.spec_from_file_location("golden_compare", HERE.parent / "golden" / "compare.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


compare = _compare()


def expected_of(name):
    return json.loads((HERE / "expected" / f"{name}.expected.json").read_text(encoding="utf-8"))


def test_every_scenario_that_ships_has_its_expected_trace():
    assert shipped() == sorted(f.name.removesuffix(".expected.json") for f in (HERE / "expected").iterdir())
    assert len(shipped()) == 55


@pytest.mark.parametrize("name", shipped())
def test_the_scenario_does_what_the_reference_does(name):
    expected, actual = expected_of(name), trace(scenario(name))
    by_agent = bool(expected.get("by_agent"))
    assert actual["name"] == expected["name"]
    assert (
        compare.first_difference(compare.normal_form(expected, by_agent), compare.normal_form(actual, by_agent)) is None
    )
