"""One scenario on both engines: the first difference, its reason, what is refused, and the page that counts them."""

from __future__ import annotations

import asyncio
import copy
import json
import re
import threading
from typing import Any

import pytest

import adknb
from adknb.engine.errors import BadData

pytest.importorskip("google.adk", reason="google-adk is not installed (extra adk)")

from adknb.attach import Untranslatable, versus
from adknb.attach.adk import adk_version
from adknb.attach.known import RULES
from adknb.attach.versus import Row, _where
from tests.attach.versus_page import PAGE, SCENARIOS, page

GOLDEN = {scenario["name"]: scenario for scenario in map(json.loads, SCENARIOS.read_text("utf-8").splitlines())}

FIRST: dict[str, tuple[int, str]] = {
    "seed/foreign_event": (1, "another agent's words"),
    "seed/tool_error_becomes_response": (3, "a tool that fails"),
    "seed/thoughts_only_ten_times": (3, "an answer of thoughts alone"),
    "contents/13": (1, "a response without its call"),
    "contents/15": (1, "a call without an answer"),
    "contents/16": (1, "parts that say nothing"),
    "contents/29": (1, "a response whose call is out of sight"),
    "instructions/4": (1, "an error that ends a turn"),
    "loop/13": (3, "arguments that do not fit"),
    "loop/20": (3, "the words of an error"),
    "mixed/16": (6, "the word to go on"),
    "streaming/17": (2, "a chunk that a callback replaces"),
    "transfer/2": (3, "the answer to a transfer"),
    "workflow/0": (2, "include_contents none"),
}
"""Scenario -> the row of the first difference (the first turn's beginning is row 0), and what it is an instance of."""


@pytest.mark.parametrize("name", ["seed/weather", "seed/model_error_recovered", "seed/late_response_rejoins_its_call"])
def test_what_is_the_same_is_said_to_be(name: str) -> None:
    found = versus(GOLDEN[name])
    assert found.first is None and found.go == found.python
    assert f"the same, {len(found.go)} rows" in repr(found)


@pytest.mark.parametrize("name", FIRST)
def test_the_first_difference_is_named(name: str) -> None:
    row, known = FIRST[name]
    found = adknb.versus(GOLDEN[name])
    assert found.first is not None and found.first.known is not None, repr(found)
    assert (found.first.known.name, found.alike) == (known, found.first.row)
    assert found.go[: found.alike] == found.python[: found.alike]
    assert found.go[found.alike : found.alike + 1] != found.python[found.alike : found.alike + 1]
    assert known in repr(found) and found.first.row == row


def test_a_session_without_ids() -> None:
    first = versus(adknb.scenario("15a-what-did-my-model-see")).first
    assert first is not None and first.known is not None and first.known.name == "calls without ids"


def weather() -> Any:
    return copy.deepcopy(GOLDEN["seed/weather"])


def with_(path: str, value: Any) -> Any:
    scenario = weather()
    at = scenario
    *way, last = path.split("/")
    for step in way:
        at = at[int(step)] if step.isdigit() else at[step]
    at[last] = value
    return scenario


REFUSED = {
    "compaction": (with_("compaction", {"token_threshold": 1, "event_retention_size": 1}), "compaction"),
    "a streaming tool": (with_("agent/tools/0/chunks", ["a"]), "'chunks'"),
    "an act": (with_("agent/callbacks", {"before_model": [{"temperature": 0.5}]}), "'temperature'"),
    "an answer to a call": (with_("turns/0/message", {"role": "user", "parts": [{"text": "$call:0"}]}), "earlier call"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_google_adk_is_not_told_is_refused_by_name(case: str) -> None:
    scenario, says = REFUSED[case]
    with pytest.raises(Untranslatable, match=re.escape(says)):
        versus(scenario)


def test_a_scenario_that_is_none_is_refused_with_its_place() -> None:
    with pytest.raises(BadData, match="agent"):
        versus({"name": "x", "turns": []})


@pytest.mark.parametrize(
    "ours, theirs, place",
    [
        ({"a": [1, {"b": 2}]}, {"a": [1, {"b": 3}]}, "a[1].b"),
        ([1], [1, 2], "[1]"),
        ({"a": 1}, {"b": 1}, "a"),
        ("x", "y", ""),
    ],
)
def test_the_place_of_a_difference(ours: Any, theirs: Any, place: str) -> None:
    assert _where(ours, theirs) == place


def test_texts_of_models_are_escaped_in_a_notebook() -> None:
    found = versus(with_("turns/0/message", {"role": "user", "parts": [{"text": "<script>alert(1)</script>"}]}))
    shown = found._repr_html_()
    assert "<script" not in shown and "&lt;script" in shown


def test_inside_a_running_loop_it_works_too_and_leaves_nothing() -> None:
    before = set(threading.enumerate())

    async def in_a_notebook() -> Any:
        return versus(weather())

    assert asyncio.run(in_a_notebook()).first is None
    assert {t for t in threading.enumerate() if not t.daemon} <= before


def test_rows_compare_by_what_is_said() -> None:
    assert Row("error", "", note="a") == Row("error", "", note="b") != Row("error", "x")


def test_the_page_is_what_the_runs_show() -> None:
    written = PAGE.read_text("utf-8")
    version = re.search(r"google-adk (\d+\.\d+\.\d+)\.$", written, re.M)
    assert version and all(known.name in written for known, _ in RULES)
    if version[1] != adk_version():
        pytest.skip(f"the page is of google-adk {version[1]}, here is {adk_version()}")
    assert page() == written
