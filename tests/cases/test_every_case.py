"""No case is left out: each is tested in one of the files here, the live ones in tests/live/test_live_cases.py."""

from __future__ import annotations

from tests.cases import given, test_contents, test_instructions, test_runs
from tests.live.test_live_cases import LIVE_CASES

BY_HAND = {"C33", "D02", "D03", "F06", "F08"}
"""Cases with tests of their own: test_sessions.py (C33, D02, D03), test_runs.py (F06, F08)."""


def test_every_case_is_tested() -> None:
    tested = {*test_contents.RULES, *test_runs.RULES, *test_instructions.RULES, *BY_HAND, *LIVE_CASES}
    assert tested == set(given.CASES)


def test_every_scenario_has_its_expected_trace() -> None:
    assert set(given.SCENARIOS) == set(given.EXPECTED) == set(test_runs.RULES)
