"""Fixes as stages of an agent: seen at their own stops, shown by what_if, off unless they are in the list."""

from __future__ import annotations

from typing import Any

import pytest
from google.genai import types

import adknb
from adknb import LlmAgent, ParallelAgent, Runner, ScriptedModel, SequentialAgent, at, fixes
from adknb.engine.errors import FlowError, UnmatchedResponse
from adknb.engine.platform import counted
from adknb.engine.processors import REQUEST_PROCESSORS
from adknb.engine.session import InMemorySessionService
from adknb.engine.tool import Tool
from adknb.fixes.limits import TooManySteps
from adknb.scenarios import build
from tests.cases import given
from tests.engine.histories import call, lines, me, user

OPEN = [user("read"), me(call("a")), user("again?")]
"""A call whose turn died."""


def names(stages: Any) -> list[str]:
    return [stage.__name__ for stage in stages]


def runner(agent: LlmAgent, events: Any = (), state: dict[str, Any] | None = None) -> Runner:
    service = InMemorySessionService()
    session = service.create("adknb", "user", "session-1", state or {})
    for stored in events:
        service.append_event(session, stored)
    return Runner(agent, session_service=service)


def agent(*chosen: Any, calls: Any = ("ok",), **settings: Any) -> LlmAgent:
    return LlmAgent("me", model=ScriptedModel(calls), request_processors=fixes.processors(*chosen), **settings)


# -------------------------------------------------------------------------------------------------------- in the list


def test_no_fix_is_on_by_itself() -> None:
    assert (
        names(fixes.processors())
        == names(REQUEST_PROCESSORS)
        == names(LlmAgent("a", model=ScriptedModel([])).request_processors)
    )


def test_each_fix_has_its_place() -> None:
    made = names(
        fixes.processors(
            fixes.answer_open_calls,
            fixes.instructions_as_meant,
            fixes.ids_by_order,
            fixes.approvals_count_once,
            fixes.step_limit(3),
        )
    )
    assert made == [
        "step_limit", "basic", "tools", "auth", "approvals_count_once", "instructions_as_meant", "identity", "compaction", "contents", "answer_open_calls",
        "ids_by_order", "planning", "code_execution", "output_schema", "transfer", "display_name",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "chosen, base, error, message",
    [
        ([fixes.known_targets_only], None, TypeError, "'known_targets_only' is no request processor"),
        ([len], None, TypeError, "'len' is no request processor"),
        ([fixes.ids_by_order], [], ValueError, "ids_by_order stands at 'contents', and there is no such stage"),
        ([fixes.instructions_as_meant, fixes.instructions_as_meant], None, ValueError, "no such stage"),
    ],
)
def test_a_fix_without_a_place_is_refused(chosen: Any, base: Any, error: Any, message: str) -> None:
    with pytest.raises(error, match=message):
        fixes.processors(*chosen, base=base)


def test_every_case_that_a_fix_is_for_is_one_where_users_want_otherwise() -> None:
    for case, stages in fixes.CASES.items():
        assert given.CASES[case]["expected"]["differs"] is True
        assert all(stage.__name__ in fixes.__all__ for stage in stages)


# ------------------------------------------------------------------------------------------------------ under a reader


def test_a_fix_is_a_stop_of_its_own_and_its_work_is_seen_there() -> None:
    dbg = adknb.step(runner(agent(fixes.answer_open_calls), OPEN), "so?")
    dbg.until(at("contents"))
    assert lines(dbg.request.contents) == ["user: read", "model: call a", "user: again?", "user: so?"]
    dbg.until(at("answer_open_calls"))
    assert lines(dbg.request.contents) == ["user: read", "model: call a", "user: a=None", "user: again?", "user: so?"]
    fate = dbg.fates[1]
    assert (fate.kind, fate.reasons[0].stage, fate.reasons[0].rule) == ("kept", "answer_open_calls", "fix")
    assert [e.author for e in dbg.events] == ["user", "me", "user", "user"]  # nothing was stored


@pytest.mark.parametrize("fix", fixes.BEHIND_CONTENTS, ids=lambda f: f.__name__)
def test_what_if_shows_each_fix_of_a_history(fix: Any) -> None:
    dbg = adknb.step(runner(agent(), OPEN), "so?").resume()
    found = dbg.what_if(request_processors=fixes.processors(fix))
    assert found.other.error is None
    changed = [c.path for c in found.requests[0]]
    assert bool(changed) is (fix is fixes.answer_open_calls)
    assert len(dbg.requests[0]["contents"]) == 4  # this run is as it was


def test_what_if_brings_the_lost_question_of_the_clinic_back() -> None:
    """f01: the question between a call and its late answer."""
    dbg = adknb.step(adknb.scenario("f01-the-question-in-between")).resume()
    found = dbg.what_if(request_processors=fixes.processors(fixes.late_response_keeps_words))
    longer = [i for i, changes in enumerate(found.requests) if changes]
    assert longer, "no request is different"
    before, after = dbg.requests[longer[0]]["contents"], found.other.requests[longer[0]]["contents"]
    assert len(after) > len(before)
    assert after[-2:] == before[-2:]  # the pair is still last


def test_a_reader_who_has_written_other_contents_is_not_overruled() -> None:
    dbg = adknb.step(runner(agent(fixes.answer_open_calls), OPEN), "so?").until(at("contents"))
    mine = types.Content(role="user", parts=[types.Part(text="mine")])
    dbg.request.contents = [mine]
    dbg.until(at("answer_open_calls"))
    assert lines(dbg.request.contents) == ["user: mine"]


def test_a_fix_in_front_of_contents_says_where_it_belongs() -> None:
    stages = [fixes.ids_by_order, *REQUEST_PROCESSORS]
    with pytest.raises(FlowError, match="ids_by_order stands in front of contents"):
        list(runner(LlmAgent("me", model=ScriptedModel(["ok"]), request_processors=stages)).run("hi"))


UNSENDABLE = [user("x"), me(call("a", "t")), user("?")]


def test_a_history_that_adk_cannot_send_is_sent_if_a_fix_mends_it() -> None:
    answer = types.Content(
        role="user", parts=[types.Part(function_response=types.FunctionResponse(name="t", response={"r": 1}))]
    )
    with pytest.raises(UnmatchedResponse):
        list(runner(agent(), UNSENDABLE).run(answer))
    seen: list[list[str]] = []
    model = lambda request: (seen.append(lines(request.contents)), "ok")[1]  # noqa: E731
    both = (fixes.quote_relayed_words, fixes.ids_by_order, fixes.late_response_keeps_words)
    mending = LlmAgent("me", model=model, request_processors=fixes.processors(*both))
    list(runner(mending, UNSENDABLE).run(answer))
    assert seen == [["user: x", "user: ?", "model: call a", "user: a=1"]]
    with pytest.raises(UnmatchedResponse):  # these cannot, and the last one says so
        list(runner(agent(fixes.quote_relayed_words, fixes.answer_open_calls), UNSENDABLE).run(answer))


@pytest.mark.parametrize(
    "chosen, seen", [((), ["user: go"]), ((fixes.joined_branches_are_seen,), ["user: go", "A", "B"])]
)
def test_c20_the_second_group_of_a_run_reads_the_first_if_it_is_asked_to(chosen: Any, seen: list[str]) -> None:
    asked: list[list[str]] = []

    def reads(request: Any) -> str:
        asked.append([line.removeprefix("user: <context> | ").split("said: ")[-1] for line in lines(request.contents)])
        return "C"

    a, b = (LlmAgent(name, model=ScriptedModel([name.upper()])) for name in "ab")
    c, d = (LlmAgent(name, model=reads, request_processors=fixes.processors(*chosen)) for name in "cd")
    groups = [ParallelAgent("p1", sub_agents=[a, b]), ParallelAgent("p2", sub_agents=[c, d])]
    list(Runner(SequentialAgent("s", sub_agents=groups), platform=counted()).run("go"))
    assert [sorted(told) for told in asked] == [sorted(seen)] * 2  # neither sees the other, who runs beside it


# -------------------------------------------------------------------------------------------------------- instructions

TEMPLATES = [
    ("I01", "({ page }) => {}", {}, "({ page }) => {}"),
    ("I01", "({ page }) => {}", {"page": 1}, "(1) => {}"),
    ("I02", "cost in {{city}} and {{{n}}}", {"city": "Rome"}, "cost in {city} and {{n}}"),
    ("I04", "A={topic?} B={app:tone?} C={user:name} E={other:x?} G={ key? }", {"user:name": "小明"}, "A= B= C=小明 E={other:x?} G="),
    ("I05", "id={id} big={big} ok={ok} m={m} l={l}",
     {"id": 12345678.0, "big": 1e21, "ok": True, "m": {"b": 1.0, "a": "é<"}, "l": [1, None, 2.5]},
     'id=12345678 big=1000000000000000000000 ok=true m={"b": 1, "a": "é<"} l=[1, null, 2.5]'),
    ("healthy", "Hi {name}, {n} of {x?}{none}", {"name": "Ada", "n": 3, "none": None}, "Hi Ada, 3 of "),
]  # fmt: skip


@pytest.mark.parametrize("template, state, text", [r[1:] for r in TEMPLATES], ids=[r[0] for r in TEMPLATES])
def test_an_instruction_is_filled_in_as_its_writer_meant_it(template: str, state: dict[str, Any], text: str) -> None:
    dbg = adknb.step(runner(agent(fixes.instructions_as_meant, instruction=template), state=state), "hi").until(
        at("instructions_as_meant")
    )
    assert dbg.request.config.system_instruction.parts[0].text == text


@pytest.mark.parametrize("case", ["I01", "I02", "I05"])
def test_the_case_runs_with_the_fix(case: str) -> None:
    built = build(given.SCENARIOS[case])
    built.runner.agent.request_processors = fixes.processors(fixes.instructions_as_meant)  # type: ignore[attr-defined]
    dbg = adknb.step(built.runner, "x").resume()
    assert dbg.error is None and len(dbg.requests) == 1


def test_global_and_own_text_of_root_and_child_come_as_in_adk() -> None:
    root = LlmAgent(
        "root", model=ScriptedModel([]), global_instruction="G {k}", sub_agents=[child := agent(instruction="own {k}")]
    )
    both = []
    for stages in (REQUEST_PROCESSORS, fixes.processors(fixes.instructions_as_meant)):
        child.request_processors = list(stages)
        dbg = adknb.step(Runner(root, session_service=runner(root, [me("hi")], {"k": "v"}).session_service), "x").until(
            at("identity")
        )
        both.append(dbg.request.config.system_instruction.parts[0].text)
    assert both[0] == both[1] and both[0].startswith("G v\n\nown v")


def test_a_provider_that_fails_is_named() -> None:
    def provider(ctx: Any) -> str:
        raise ValueError("no text today")

    with pytest.raises(FlowError, match=r"agent 'me' failed: no text today"):
        list(runner(agent(fixes.instructions_as_meant, instruction=provider)).run("x"))


# ----------------------------------------------------------------------------------------------------------- approvals


def approved(case: str, *chosen: Any) -> list[Any]:
    """The calls that a case's tool is run with."""
    built = build(given.SCENARIOS[case], log := [])
    built.runner.agent.request_processors = fixes.processors(*chosen)  # type: ignore[attr-defined]
    for turn in built.turns:
        list(built.iter(turn))
    return [entry["args"] for entry in log if entry["at"] == "tool"]


@pytest.mark.parametrize(
    "case, without, with_it",
    [
        ("H03", [{"id": 1}], []),  # the same answer again
        ("H01", [{"id": 1}], [{"id": 1}]),  # the first answer
        ("H02", [{}, {"id": 1}], [{}, {"id": 1}]),
        ("H06", [{"v": 1}, {"v": 2}], [{"v": 1}, {"v": 2}]),
        ("H04", [], []),
    ],
)
def test_a_used_approval_stays_used(case: str, without: list[Any], with_it: list[Any]) -> None:
    assert approved(case) == without
    assert approved(case, fixes.approvals_count_once) == with_it


def test_an_answer_that_was_never_taken_up_still_counts_beside_one_that_was() -> None:
    """Two requests; the first is answered and run, then both are answered in one message: the second runs."""
    scenario = {
        **given.SCENARIOS["H06"],
        "turns": [
            {"message": {"role": "user", "parts": [{"text": "x"}]}},
            {"message": {"role": "user", "parts": [answer(0)]}},
            {"message": {"role": "user", "parts": [answer(0), answer(1)]}},
        ],
    }
    scenario["agent"] = {
        **scenario["agent"],
        "model": {"calls": [*scenario["agent"]["model"]["calls"], said("ok"), said("ok")]},
    }
    counts = []
    for chosen in ((), (fixes.approvals_count_once,)):
        built = build(scenario, log := [])
        built.runner.agent.request_processors = fixes.processors(*chosen)  # type: ignore[attr-defined]
        for turn in built.turns:
            list(built.iter(turn))
        counts.append([entry["args"]["v"] for entry in log if entry["at"] == "tool"])
    assert counts == [[1, 1, 2], [1, 2]]


def answer(n: int) -> dict[str, Any]:
    return {
        "functionResponse": {"id": f"$confirm:{n}", "name": "adk_request_confirmation", "response": {"confirmed": True}}
    }


def said(text: str) -> dict[str, Any]:
    return {"responses": [{"content": {"role": "model", "parts": [{"text": text}]}}]}


# --------------------------------------------------------------------------------------------------- limit, callbacks


def calls_for_ever(request: Any) -> types.Content:
    return types.Content(role="model", parts=[types.Part(function_call=types.FunctionCall(name="search", args={}))])


def search() -> str:
    """Finds nothing."""
    return "nothing"


def test_f08_a_step_limit_ends_the_turn_and_says_so() -> None:
    asked = []
    model = lambda request: asked.append(1) or calls_for_ever(request)  # noqa: E731
    bounded = LlmAgent("me", model=model, tools=[search], request_processors=fixes.processors(fixes.step_limit(4)))
    run = runner(bounded).run("x")
    with pytest.raises(TooManySteps, match="'me' has asked its model 4 times"):
        list(run)
    assert len(asked) == 4


def test_a_step_limit_counts_anew_in_every_turn_and_for_every_agent() -> None:
    limit = fixes.processors(fixes.step_limit(1))
    a = LlmAgent("a", model=ScriptedModel(["1", "1"]), request_processors=limit)
    b = LlmAgent("b", model=ScriptedModel(["2", "2"]), request_processors=limit)
    line = Runner(SequentialAgent("line", sub_agents=[a, b]))
    assert [len(list(line.run("x"))) for _ in range(2)] == [2, 2]
    with pytest.raises(ValueError, match="1 or more"):
        fixes.step_limit(0)


def transfers(name: str) -> types.Content:
    return types.Content(
        role="model",
        parts=[
            types.Part(function_call=types.FunctionCall(id="t", name="transfer_to_agent", args={"agent_name": name}))
        ],
    )


def test_x01_an_unknown_target_is_told_to_the_model_with_the_known_ones() -> None:
    def run(**callbacks: Any) -> list[Any]:
        math = LlmAgent("math", model=ScriptedModel(["4"]))
        root = LlmAgent(
            "root", model=ScriptedModel([transfers("maths"), transfers("math")]), sub_agents=[math], **callbacks
        )
        return list(runner(root).run("2 + 2"))

    with pytest.raises(FlowError, match="maths"):
        run()
    events = run(before_tool=fixes.known_targets_only)
    assert events[1].content.parts[0].function_response.response == {
        "error": "there is no agent 'maths' to transfer to; there are: math"
    }
    assert events[1].actions.transfer_to_agent == ""
    assert (events[-1].author, events[-1].content.parts[0].text) == ("math", "4")


class Custom(Tool):
    """A tool of one's own kind, which does not look at the decision."""

    name = "delete"
    description = "Deletes."
    ran = 0

    def run(self, ctx: Any, args: Any) -> Any:
        self.ran += 1
        return {"deleted": 1}

    def declaration(self) -> types.FunctionDeclaration:
        return types.FunctionDeclaration(name=self.name, description=self.description)


@pytest.mark.parametrize("confirmed", [True, False])
def test_h11_a_tool_of_ones_own_kind_does_not_run_when_it_was_refused(confirmed: bool) -> None:
    def run(**callbacks: Any) -> tuple[int, Any]:
        tool = Custom()
        mine = LlmAgent("a", model=ScriptedModel(["done"]), tools=[tool], **callbacks)
        events = [adknb.Event.from_json(e) for e in given.CASES["H11"]["input"]["events"]]
        reply = types.FunctionResponse(id="conf-1", name="adk_request_confirmation", response={"confirmed": confirmed})
        first, *_ = runner(mine, events).run(types.Content(role="user", parts=[types.Part(function_response=reply)]))
        return tool.ran, first.content.parts[0].function_response.response

    assert run()[0] == 1  # ADK dispatches it on a refusal too
    ran, answered = run(before_tool=fixes.refused_tools_stay_off)
    assert ran == confirmed
    assert ("refused" in str(answered)) is not confirmed


def with_call(text: str, name: str = "search") -> types.Content:
    return types.Content(
        role="model", parts=[types.Part(text=text), types.Part(function_call=types.FunctionCall(name=name, args={}))]
    )


def test_s04_all_that_was_said_in_the_turn_is_under_the_key() -> None:
    def run(**callbacks: Any) -> Any:
        calls = [with_call("Intro. "), with_call("Middle. "), "End.", "Next turn."]
        mine = runner(LlmAgent("me", model=ScriptedModel(calls), tools=[search], output_key="out", **callbacks))
        states = []
        for message in ("report", "more"):
            list(mine.run(message))
            states.append(mine.session_service.get("adknb", "user", "session-1").state["out"])
        return states

    assert run() == ["End.", "Next turn."]
    assert run(after_agent=fixes.whole_answer) == ["Intro. Middle. End.", "Next turn."]


def test_whole_answer_without_an_output_key_does_nothing() -> None:
    events = list(runner(agent(after_agent=fixes.whole_answer)).run("x"))
    assert len(events) == 1
