"""The state explained: merged values, who wrote them, what is pending, and whose write wins in a merge."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import pytest

from adknb import FunctionTool, LlmAgent, at, step
from adknb.engine.event import Event, EventActions
from adknb.engine.function_calls import deep_merge
from adknb.engine.model import FunctionModel
from adknb.lens.state_changes import MergedCall, StateChanges, merge_of, scope_of, state_changes
from tests.engine.histories import call, event, response


def wrote(author: str, **delta: Any) -> Event:
    return event(author, actions=EventActions(state_delta={k.replace("__", ":"): v for k, v in delta.items()}))


def keys(changes: StateChanges) -> list[tuple[Any, ...]]:
    return [(k.key, k.value, k.scope, k.event, k.author, k.writes, k.pending) for k in changes.keys]


@pytest.mark.parametrize(
    "events, live, stored, expected",
    [
        ([], {}, None, []),
        (
            [wrote("user", lang="en"), wrote("a", lang="zh", n=1)],
            None,
            None,
            [("lang", "zh", "session", 1, "a", 2, False), ("n", 1, "session", 1, "a", 1, False)],
        ),
        (
            [wrote("a", temp__t=1, user__u=2, app__p=3, z=4)],
            None,
            None,
            [
                ("z", 4, "session", 0, "a", 1, False),
                ("user:u", 2, "user", 0, "a", 1, False),
                ("app:p", 3, "app", 0, "a", 1, False),
                ("temp:t", 1, "temp", 0, "a", 1, False),
            ],
        ),
        ([], {"old": 1}, {"old": 1}, [("old", 1, "session", -1, "", 0, False)]),  # from before the run
        ([], {"new": 1}, {}, [("new", 1, "session", -1, "", 0, True)]),  # written, and no event has it yet
        ([wrote("a", k=1)], {"k": 2}, {"k": 1}, [("k", 2, "session", 0, "a", 1, True)]),
        ([wrote("a", temp__t=1)], {"temp:t": 1}, {}, [("temp:t", 1, "temp", 0, "a", 1, False)]),  # never stored
        (
            [wrote("a", k=[1, {"x": None}])],
            {"k": [1, {"x": None}]},
            {},
            [("k", [1, {"x": None}], "session", 0, "a", 1, False)],
        ),
    ],
)
def test_each_key_says_who_wrote_it_and_whether_that_is_stored(
    events: list[Event], live: Any, stored: Any, expected: list[Any]
) -> None:
    assert keys(state_changes(events, live, stored)) == expected


def test_a_delta_tells_what_was_there_before() -> None:
    changes = state_changes([wrote("user", a=1), event("x"), wrote("me", a=2, b=3)])
    told = [(d.event, d.author, [(w.key, w.before, w.value, w.fresh) for w in d.writes]) for d in changes.deltas]
    assert told == [(0, "user", [("a", None, 1, True)]), (2, "me", [("a", 1, 2, False), ("b", None, 3, True)])]
    json.dumps(asdict(changes))


def test_what_is_held_is_pending_until_an_event_carries_it() -> None:
    held = [("call f", {"a": 1}), ("callback g", {"b": 2})]
    changes = state_changes([], {"a": 1, "b": 2}, None, held)
    assert [(p.holder, p.key, p.value) for p in changes.pending] == [("call f", "a", 1), ("callback g", "b", 2)]
    assert [k.pending for k in changes.keys] == [True, True]
    assert [k.pending for k in state_changes([wrote("me", a=1, b=2)], {"a": 1, "b": 2}, None, held).keys] == [
        False,
        False,
    ]


class Odd:
    def __eq__(self, other: object) -> bool:
        raise RuntimeError("no")


def test_a_value_that_cannot_be_compared_is_shown_all_the_same() -> None:
    odd = Odd()
    assert [k.pending for k in state_changes([wrote("a", k=odd)], {"k": odd}, {}).keys] == [False]
    assert [k.pending for k in state_changes([], {"k": odd}, {"k": Odd()}).keys] == [True]


@pytest.mark.parametrize(
    "key, scope", [("a", "session"), ("user:a", "user"), ("app:", "app"), ("temp:x:y", "temp"), ("users:a", "session")]
)
def test_a_scope_is_told_by_the_prefix(key: str, scope: str) -> None:
    assert scope_of(key) == scope


@pytest.mark.parametrize(
    "deltas, paths",
    [
        (
            [{"city": "H", "p": {"u": "C"}}, {"city": "S", "p": {"l": "zh"}}],
            {"city": (1, "S"), "p.u": (0, "C"), "p.l": (1, "zh")},
        ),
        ([{"k": 1}, {}], {"k": (0, 1)}),
        ([{"p": {"u": 1}}, {"p": "x"}], {"p.u": (-1, None), "p": (1, "x")}),  # the map is gone
        ([{"p": "x"}, {"p": {"u": 1}}], {"p": (1, {"u": 1}), "p.u": (1, 1)}),
        ([{"p": {}}, {"p": {"a": 1}}], {"p": (1, {"a": 1}), "p.a": (1, 1)}),
        ([{"k": 1}, {"k": 2}, {"k": 3}], {"k": (2, 3)}),
    ],
)
def test_a_merge_says_which_call_wins_each_path(deltas: Sequence[dict[str, Any]], paths: dict[str, Any]) -> None:
    merged: dict[str, Any] = {}
    for delta in deltas:
        merged = deep_merge(merged, delta)
    merge = merge_of([MergedCall(f"t{k}", f"c{k}", d) for k, d in enumerate(deltas)], merged)
    assert {".".join(k.path): (k.winner, k.value) for k in merge.keys} == paths


def test_a_merge_is_found_at_the_event_that_carries_its_answers() -> None:
    calls = [MergedCall("f", "c1", {"k": 1}), MergedCall("g", "c2", {"k": 2})]
    answer = event("me", response("c1"), response("c2"), actions=EventActions(state_delta={"k": 2}))
    history = [event("me", call("c1"), call("c2")), answer]
    (merge,) = state_changes(history, merged=[calls]).merges
    assert (merge.event, [(k.path, k.winner) for k in merge.keys]) == (1, [(("k",), 1)])
    (waiting,) = state_changes(history[:1], merged=[calls]).merges
    assert (waiting.event, waiting.keys[0].value) == (-1, 2)
    assert state_changes(history, merged=[[MergedCall("f", "c1", {}), MergedCall("g", "c2", {})]]).merges == ()


def test_a_run_keeps_what_each_of_its_parallel_calls_wrote() -> None:
    def put(ctx: Any, name: str, n: int) -> dict[str, Any]:
        """Write."""
        ctx.state["shared"] = {name: n}
        ctx.state["last"] = name
        return {"ok": True}

    from google.genai import types

    def answer(request: Any) -> Any:
        if len(request.contents) > 1:
            return "done"
        parts = [types.Part(function_call=types.FunctionCall(id=i, name="put", args={"name": i, "n": 1})) for i in "ab"]
        return types.Content(role="model", parts=parts)

    def after(ctx: Any, tool: Any, args: Any, result: Any, error: Any) -> None:
        ctx.state[f"after_{args['name']}"] = True  # a callback's writes count as the call's

    agent = LlmAgent("w", model=FunctionModel(answer, name="m"), tools=[FunctionTool(put)], after_tool=after)
    dbg = step(agent, "go").until(at(seam="tool", phase="after"))
    before = state_changes(dbg.events, dbg.state, dbg.play.session.state)
    assert [(k.key, k.pending) for k in before.keys] == [("last", True), ("shared", True)]
    dbg.resume()
    (merge,) = state_changes(dbg.events, dbg.state, dbg.play.session.state, merged=dbg.merges).merges
    assert [(c.tool, c.call_id, sorted(c.delta)) for c in merge.calls] == [
        ("put", "a", ["after_a", "last", "shared"]),
        ("put", "b", ["after_b", "last", "shared"]),
    ]
    won = {".".join(k.path): (k.winner, k.value) for k in merge.keys}
    assert won == {
        "shared.a": (0, 1), "shared.b": (1, 1), "last": (1, "b"), "after_a": (0, True), "after_b": (1, True),
    }  # fmt: skip
    assert merge.event == 2
    assert len(dbg.restart().merges) == 0
