"""Who sees what: a row of letters for each viewer, read off its own assembly and nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from adknb.engine.agent import Agent
from adknb.engine.errors import AdknbError
from adknb.engine.event import Event
from adknb.engine.llm_agent import LlmAgent
from adknb.engine.processors.contents import Viewer, assemble
from adknb.engine.session import Session
from adknb.engine.workflow_agents import ParallelAgent, SequentialAgent
from adknb.lens.visibility import LOOKS, branch_in_tree, branch_rule, meeting, viewers_of, visibility
from tests.engine.histories import call, event, heard, response, user
from tests.widgets.runs import golden, names

ASK = call("c9", "adk_request_confirmation")


@pytest.mark.parametrize(
    "case, events, viewer, cells",
    [
        ("no events", [], Viewer("me"), ""),
        ("its own, the user's, another's", [user("q"), event("me", "a"), event("x", "b")], Viewer("me"), "sor"),
        (
            "branches",
            [user("q"), event("a", "1", branch="p.a"), event("b", "2", branch="p.b"), event("c", "3", branch="p")],
            Viewer("a", "p.a"),
            "sobr",
        ),
        (
            "a name that only begins alike",
            [event("a", "1", branch="p.a1"), event("b", "2", branch="p.a1.x"), event("c", "3", branch="p.a")],
            Viewer("a", "p.a1"),
            "obb",
        ),
        ("scopes", [user("q"), user("t", isolation_scope="t1")], Viewer("me", isolation_scope="t1"), "cs"),
        (
            "the branch decides before the scope",
            [event("x", "1", branch="b", isolation_scope="s")],
            Viewer("me", "a"),
            "b",
        ),
        ("talk with the framework", [user("q"), event("me", ASK)], Viewer("me"), "sx"),
        ("no content", [user("q"), Event(author="me"), event("x", role="model")], Viewer("me"), "s--"),
        ("speech", [heard("hi", "user"), heard("yes", "me")], Viewer("me"), "to"),
        ("an earlier turn", [user("q"), event("me", "a"), user("r")], Viewer("me", include_contents="none"), "uus"),
        ("a response to no call", [user("q"), event("me", response("nowhere"))], Viewer("me"), "sq"),
        (
            "what was said between a call and its late response",
            [user("q"), event("me", call("a")), user("wait"), user(response("a"))],
            Viewer("me"),
            "sops",
        ),
        (
            "a response whose call is hidden ends the run",
            [event("x", call("a"), branch="x"), event("me", "b", branch="y"), user(response("a"))],
            Viewer("me", "y"),
            "bo!",
        ),
    ],
)
def test_a_row_has_a_letter_for_each_event(case: str, events: list[Event], viewer: Viewer, cells: str) -> None:
    (row,) = visibility(events, [viewer])
    assert row.cells == cells, case
    assert bool(row.problem) == ("!" in cells)
    assert row.sees == sum(LOOKS[letter].sees for letter in cells)
    assert visibility(Session("s", "a", "u", events=events), [viewer]) == [row]


def compaction_record() -> Event:
    return Event.from_json(
        {
            "author": "user",
            "timestamp": 3.0,
            "actions": {
                "compaction": {
                    "startTimestamp": 1.0,
                    "endTimestamp": 2.0,
                    "compactedContent": {"role": "model", "parts": [{"text": "summary"}]},
                }
            },
        }
    )


@pytest.mark.parametrize("compaction, cells", [(True, "mmss"), (False, "soks")])
def test_a_summary_counts_where_compaction_is_on(compaction: bool, cells: str) -> None:
    events = [user("q", timestamp=1.0), event("me", "a", timestamp=2.0), compaction_record(), user("r", timestamp=4.0)]
    (row,) = visibility(events, [Viewer("me", compaction=compaction)])
    assert row.cells == cells


STORIES = [n for family in ("contents", "branch", "scope", "compaction") for n in names(family)]


@pytest.mark.parametrize("name", STORIES)
def test_a_cell_is_seen_just_where_the_assembly_has_a_content_for_it(name: str) -> None:
    scenario = golden(name)
    events = [Event.from_json(e) for e in scenario.get("events", [])]
    for branch in ("", "root.a"):
        viewer = Viewer(scenario["agent"]["name"], branch=branch, compaction=True)
        (row,) = visibility(events, [viewer])
        assert len(row.cells) == len(events)
        try:
            fates = assemble(events, viewer).fates
        except AdknbError:
            assert row.cells.endswith("!")
            continue
        assert [LOOKS[letter].sees for letter in row.cells] == [bool(fate.contents) for fate in fates]
        for fate, letter in zip(fates, row.cells, strict=True):
            told = meeting(events, viewer, fate.event)
            assert (told.letter, told.contents) == (letter, fate.contents)
            assert [step.rule for step in told.steps] == [reason.rule for reason in fate.reasons]


@pytest.mark.parametrize(
    "mine, theirs, sees, shared, why",
    [
        ("", "", True, 0, "the event has no branch: every agent sees it"),
        ("a.b", "", True, 0, "the event has no branch: every agent sees it"),
        ("", "a", True, 0, "the agent has no branch: it sees every branch"),
        ("a.b", "a.b", True, 3, "both branches are “a.b”"),
        ("agent_1.agent_2", "agent_1", True, 8, "“agent_1.agent_2” starts with “agent_1.”"),
        ("agent_1.agent_2", "agent_0", False, 6, "“agent_1.agent_2” does not start with “agent_0.”"),
        (
            "agent_1.agent_20",
            "agent_1.agent_2",
            False,
            15,
            "“agent_1.agent_20” goes on with “0” where “agent_1.agent_2” needs a dot: the name only begins alike",
        ),
        ("a", "a.b", False, 1, "“a.b” lies below “a”: history is inherited downwards only"),
        ("a.b", "a.bc", False, 3, "“a.b” does not start with “a.bc.”"),
        ("x", "y", False, 0, "“x” does not start with “y.”"),
    ],
)
def test_the_string_rule_is_told_in_words(mine: str, theirs: str, sees: bool, shared: int, why: str) -> None:
    rule = branch_rule(mine, theirs)
    assert (rule.sees, rule.shared, rule.why) == (sees, shared, why)


def test_a_cell_tells_its_rule_with_its_home_in_go() -> None:
    events = [user("q"), event("b", "2", branch="p.b")]
    told = meeting(events, Viewer("a", "p.a"), 1)
    assert [(s.rule, s.go, s.go_file) for s in told.steps] == [
        ("R5.6", "EventBelongsToBranch", "internal/utils/utils.go")
    ]
    assert told.branch.why == "“p.a” does not start with “p.b.”"
    with pytest.raises(IndexError):
        meeting(events, Viewer("a"), 2)


def tree() -> Agent:
    """root ─ p (parallel) ─ a, s (sequential) ─ b; root ─ t (task), u (single_turn)."""
    a, b = LlmAgent("a"), LlmAgent("b", include_contents="none")
    inner = SequentialAgent("s", sub_agents=[b])
    task, once = LlmAgent("t", mode="task"), LlmAgent("u", mode="single_turn")
    return LlmAgent("root", sub_agents=[ParallelAgent("p", sub_agents=[a, inner]), task, once])


def found(viewers: Any) -> list[tuple[str, ...]]:
    return [(v.agent_name, v.branch, v.isolation_scope, v.include_contents, v.bound_mode) for v in viewers]


def test_agents_stand_where_they_spoke_last_else_where_the_tree_will_put_them() -> None:
    events = [
        event("a", "1", branch="p.a"),
        event("t", "2", isolation_scope="c1"),
        event("t", "3", isolation_scope="c2"),
    ]
    assert found(viewers_of(events, tree())) == [
        ("root", "", "", "", ""),
        ("a", "p.a", "", "", ""),
        ("b", "p.s", "", "none", ""),
        ("t", "", "c2", "", "task"),
        ("u", "", "", "", "single_turn"),
    ]
    now = Viewer("a", "p.a", "x")
    assert found(viewers_of(events, tree(), now=now))[1] == ("a", "p.a", "x", "", "")
    assert [row.agent for row in visibility(events, tree())] == ["root", "a", "b", "t", "u"]


@pytest.mark.parametrize("name", names("workflow"))
def test_the_branch_that_the_tree_gives_is_the_one_the_run_gives(name: str) -> None:
    from adknb.scenarios import build

    built = build(golden(name))
    for turn in built.turns:
        try:
            for _ in built.iter(turn):
                pass
        except Exception:  # some of these scenarios end with an error: what was stored by then counts
            break
    for stored in built.session.events:
        agent = built.runner.agent.find(stored.author)
        if agent is not None and stored.branch and "@" not in stored.branch and not stored.isolation_scope:
            assert branch_in_tree(agent) == stored.branch


def test_looking_warns_of_nothing_while_a_request_that_is_built_does(caplog: pytest.LogCaptureFixture) -> None:
    events = [user("q"), event("me", response("nowhere"))]
    visibility(events, [Viewer("me")])
    assert caplog.records == []
    assemble(events, Viewer("me"))
    assert [record.levelname for record in caplog.records] == ["WARNING"]
