"""Fates with pass, rule and home in Go, as plain data."""

from __future__ import annotations

import json
import re
from dataclasses import asdict
from pathlib import Path

import pytest

from adknb import gomap
from adknb.engine.errors import AdknbError
from adknb.engine.event import Event
from adknb.engine.processors.contents import PASSES as WORK
from adknb.engine.processors.contents import Viewer, assemble
from adknb.lens.contents_fates import GO_FILES, PASS_OF_STAGE, PASSES, TAGS, Step, contents_fates, step_of
from tests.engine.histories import call, event, me, other, response, user
from tests.widgets.runs import golden, names


@pytest.mark.parametrize(
    "events, viewer, told",
    [
        ([user("q"), me("a")], Viewer("me"), ["kept", "kept"]),
        ([other("b")], Viewer("me"), ["reworded ConvertForeignEvent R5.10"]),
        ([event("x", "b", branch="x")], Viewer("me", "y"), ["left_out EventBelongsToBranch R5.6 (other branch)"]),
        ([event("x", "b", isolation_scope="s")], Viewer("me"), ["left_out buildContentsDefault R5.7 (other scope)"]),
        (
            [user("q"), user("r")],
            Viewer("me", include_contents="none"),
            ["left_out buildContentsCurrentTurnContextOnly R5.3 (earlier turn)", "kept"],
        ),
        (
            [me(call("a")), user("wait"), user(response("a"))],
            Viewer("me"),
            ["kept", "left_out rearrangeEventsForLatestFunctionResponse R5.19 (inside a pair)"],
        ),
    ],
)
def test_a_fate_says_its_rule_and_its_go_function(events: list[Event], viewer: Viewer, told: list[str]) -> None:
    fates = contents_fates(assemble(events, viewer)).fates
    said = [
        " ".join([f.kind, *(w for s in f.steps[:1] for w in (s.go, s.rule)), *([f"({f.tag})"] if f.tag else [])])
        for f in fates
    ]
    assert said[: len(told)] == told


def test_the_passes_are_those_of_the_engine_in_its_order() -> None:
    assert [name for name, *_ in PASSES] == [*WORK, "emit", "additions"]


def test_every_go_function_named_here_is_one_that_the_engine_says_it_follows() -> None:
    known = {(entry.go_file, entry.go_name) for entry in gomap.entries()}
    home = {name: file for file, name in known}
    for *_, go in PASSES:
        assert go in home, go
    for go, file in GO_FILES.items():
        assert (file, go) in known


def test_every_rule_with_a_tag_is_a_rule_of_the_specification() -> None:
    text = (Path(__file__).parents[2] / "adknb/engine/processors/contents").rglob("*.py")
    rules = {rule for path in text for rule in re.findall(r"R5\.\d+", path.read_text(encoding="utf-8"))}
    assert set(TAGS) <= rules


@pytest.mark.parametrize("name", [n for f in ("contents", "branch", "scope", "compaction") for n in names(f)])
def test_what_is_told_agrees_with_the_assembly(name: str) -> None:
    scenario = golden(name)
    events = [Event.from_json(e) for e in scenario.get("events", [])]
    try:
        assembly = assemble(events, Viewer(scenario["agent"]["name"], compaction=True), passes=True)
    except AdknbError:
        pytest.skip("this assembly ends the run")
    told = contents_fates(assembly)
    json.dumps(asdict(told))
    assert [(f.event, f.kind, f.contents) for f in told.fates] == [
        (f.event, f.kind, f.contents) for f in assembly.fates
    ]
    assert [p.name for p in told.passes] == ["session", *(p[0] for p in PASSES)]
    assert (told.passes[0].left, told.passes[-1].left) == (len(events), len(assembly.contents))
    assert sum(told.tally.values()) == len(events) + len(assembly.added)
    for fate in told.fates:
        assert bool(fate.tag) == (fate.kind == "left_out")
        for step in fate.steps:
            assert 1 <= step.passed <= len(PASSES)
            assert step.why[0] == step.why[0].upper() and step.why.endswith(".")
    assert {reason.stage for fate in assembly.fates for reason in fate.reasons} <= set(PASS_OF_STAGE)


HOMES = [
    ("a rule of ADK", ("filter", "R5.6", "other branch"), "EventBelongsToBranch", "internal/utils/utils.go"),
    ("what a fix did", ("additions", "fix", "a fix put it back"), "adknb.fixes", "adknb/fixes"),
]


@pytest.mark.parametrize("case, reason, go, file", HOMES, ids=[h[0] for h in HOMES])
def test_a_reason_names_its_home(case: str, reason: tuple[str, str, str], go: str, file: str) -> None:
    step: Step = step_of(*reason)
    assert (step.go, step.go_file) == (go, file)
