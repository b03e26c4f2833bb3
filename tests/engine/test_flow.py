"""The loop of an LLM agent: when it goes on, when it ends, and who is asked on the way (spec/execution.md 3 and 4)."""

from __future__ import annotations

from typing import Any

import pytest
from google.genai import types

from adknb import LlmAgent, Plugin, Runner, ScriptedModel
from adknb.engine.event import Event, EventActions, EventCompaction
from adknb.engine.flow import MAX_CONSECUTIVE_THOUGHT_ONLY_TURNS
from adknb.engine.platform import counted
from adknb.engine.processors import REQUEST_PROCESSORS
from adknb.engine.response import LLMResponse
from adknb.engine.stops import Seam, Stop


def text(*texts: str, role: str = "model", **fields: Any) -> LLMResponse:
    return LLMResponse(content=types.Content(role=role, parts=[types.Part(text=t) for t in texts]), **fields)


def thought(words: str) -> LLMResponse:
    return LLMResponse(content=types.Content(role="model", parts=[types.Part(text=words, thought=True)]))


def call(name: str, call_id: str = "c1", **args: Any) -> LLMResponse:
    part = types.Part(function_call=types.FunctionCall(id=call_id, name=name, args=args))
    return LLMResponse(content=types.Content(role="model", parts=[part]))


def look() -> dict[str, Any]:
    """Looks."""
    return {"seen": True}


def fails() -> dict[str, Any]:
    """Fails."""
    raise RuntimeError("out of paper")


def skips(ctx: Any) -> dict[str, Any]:
    """Skips the summary."""
    ctx.actions.skip_summarization = True
    return {}


class Asked:
    """A model that counts how often it is asked."""

    name = "asked"

    def __init__(self, *calls: Any) -> None:
        self.scripted, self.times = ScriptedModel(list(calls)), 0

    def generate_content(self, request: Any, stream: bool) -> Any:
        self.times += 1
        return self.scripted.generate_content(request, stream)


def run(agent: LlmAgent, plugins: Any = ()) -> list[Event]:
    return list(Runner(agent, plugins=plugins, platform=counted()).run("hi"))


PART = types.Part(text="words")
RESULT = types.Part(code_execution_result=types.CodeExecutionResult(outcome=types.Outcome.OUTCOME_OK, output="1"))
CALL = types.Part(function_call=types.FunctionCall(id="c1", name="look"))
ANSWER = types.Part(function_response=types.FunctionResponse(id="c1", name="look", response={}))


@pytest.mark.parametrize(
    "parts, fields, final",
    [
        ([PART], {}, True),
        ([], {}, True),  # a state-only event is final and no answer
        ([PART, CALL], {}, False),
        ([ANSWER], {}, False),
        ([PART], {"partial": True}, False),
        ([PART, RESULT], {}, False),
        ([RESULT, PART], {}, True),
        ([PART, CALL], {"long_running_tool_ids": ["c1"]}, True),
        ([ANSWER], {"actions": EventActions(skip_summarization=True)}, True),
        ([PART], {"actions": EventActions(compaction=EventCompaction())}, False),
        ([ANSWER], {"actions": EventActions(skip_summarization=True, compaction=EventCompaction())}, False),
        ([PART], {"error_code": "SAFETY"}, True),
    ],
)
def test_final_is_decided_by_two_exceptions_then_four_conditions(parts: Any, fields: Any, final: bool) -> None:
    content = types.Content(role="model", parts=parts) if parts else None
    assert Event(content=content, **fields).is_final_response() is final


@pytest.mark.parametrize(
    "answers, tools, asked, events",
    [
        pytest.param([text("done")], [], 1, 1, id="a text ends it"),
        pytest.param([call("look"), text("done")], [look], 2, 3, id="a tool's answer asks again"),
        pytest.param([call("fails"), text("done")], [fails], 2, 3, id="a tool's error is an answer too"),
        pytest.param([call("gone"), text("done")], [look], 2, 3, id="an unknown tool is an answer too"),
        pytest.param([call("skips")], [skips], 1, 2, id="a skipped summary ends it"),
        pytest.param([thought("hm"), text("done")], [], 2, 2, id="a thought alone asks again"),
        pytest.param([thought("hm")] * 12, [], 10, 10, id="ten thoughts in a row end it"),
        pytest.param(
            [*[thought("hm")] * 9, call("look"), *[thought("hm")] * 9, text("done")], [look], 20, 21,
            id="a step with a call counts the thoughts anew",
        ),
        pytest.param([LLMResponse()], [], 1, 0, id="no content, no event, no error"),
        pytest.param([LLMResponse(error_code="SAFETY")], [], 1, 1, id="an error code is just an event"),
        pytest.param([text("do", partial=True)], [], 1, 1, id="a stream that never closes ends quietly"),
        pytest.param([[text("do", partial=True), text("done")]], [], 1, 2, id="a stream that closes"),
        pytest.param([[call("look"), text("tail")], text("done")], [look], 2, 3, id="what follows a call is not read"),
    ],
)  # fmt: skip
def test_the_loop_ends_where_the_reference_ends_it(answers: Any, tools: Any, asked: int, events: int) -> None:
    model = Asked(*answers)
    heard = run(LlmAgent("a", model=model, tools=tools))
    assert (model.times, len(heard)) == (asked, events)


def test_the_thought_limit_is_the_references() -> None:
    assert MAX_CONSECUTIVE_THOUGHT_ONLY_TURNS == 10


class Log(list[str]):
    """Makes callbacks that write their name down and answer what they are told to."""

    def __call__(self, name: str, answer: Any = None) -> Any:
        def callback(*_: Any) -> Any:
            self.append(name)
            if isinstance(answer, Exception):
                raise answer
            return answer

        return callback


SAID = text("instead")


@pytest.mark.parametrize(
    "p1, p2, own, answers, order",
    [
        pytest.param({"before_model": SAID}, {"before_model": None}, {"before_model": [None], "after_model": [None]},
                     [text("x")], ["p1.before_model"], id="plugin 1 of 2 answers"),
        pytest.param({"before_model": None}, {}, {"before_model": [None, SAID, None], "after_model": [None]},
                     [text("x")], ["p1.before_model", "0.before_model", "1.before_model"], id="agent callback 1 of 3 answers"),
        pytest.param({}, {}, {"before_model": [None], "after_model": [None, SAID, None]},
                     [[text("a", partial=True), text("b")]],
                     ["0.before_model", "0.after_model", "1.after_model", "0.after_model", "1.after_model"],
                     id="after_model once per chunk, until one answers"),
        pytest.param({"on_model_error": None}, {}, {"on_model_error": [SAID], "after_model": [None]},
                     [ValueError("down")], ["p1.on_model_error", "0.on_model_error", "0.after_model"],
                     id="a recovery passes after_model"),
        pytest.param({}, {}, {"on_model_error": [SAID], "after_model": [None]},
                     [[text("a", partial=True), ValueError("down")]],
                     ["0.after_model", "0.on_model_error", "0.after_model"], id="a chunk, then a failure recovered"),
    ],
)  # fmt: skip
def test_the_first_answer_silences_the_rest_of_its_line(p1: Any, p2: Any, own: Any, answers: Any, order: Any) -> None:
    log = Log()
    plugins = [
        Plugin(name, **{hook: log(f"{name}.{hook}", answer) for hook, answer in hooks.items()})
        for name, hooks in (("p1", p1), ("p2", p2))
    ]
    callbacks = {hook: [log(f"{i}.{hook}", a) for i, a in enumerate(listed)] for hook, listed in own.items()}
    run(LlmAgent("a", model=ScriptedModel(answers), **callbacks), plugins)
    assert log == order


@pytest.mark.parametrize(
    "own, order, result",
    [
        ({}, ["tool"], {"seen": True}),
        ({"before_tool": {"b": 1}}, ["before_tool", "after_tool"], {"b": 1}),
        ({"before_tool": {}}, ["before_tool", "after_tool"], {}),  # an empty map is an answer
        ({"before_tool": ValueError("no")}, ["before_tool", "on_tool_error", "after_tool"], {"error": "no"}),
        ({"after_tool": {"a": 1}}, ["tool", "after_tool"], {"a": 1}),
        ({"after_tool": ValueError("bad")}, ["tool", "after_tool"], {"error": "bad"}),
        ({"on_tool_error": {"mended": 1}, "before_tool": ValueError("no")}, ["before_tool", "on_tool_error", "after_tool"], {"mended": 1}),
        ({"on_tool_error": ValueError("worse"), "before_tool": ValueError("no")}, ["before_tool", "on_tool_error", "after_tool"], {"error": "worse"}),
    ],
)  # fmt: skip
def test_a_tool_answer_goes_through_its_callbacks(own: Any, order: list[str], result: Any) -> None:
    log = Log()
    callbacks = {hook: log(hook, own.get(hook)) for hook in ("before_tool", "on_tool_error", "after_tool")}

    def looked() -> dict[str, Any]:
        log.append("tool")
        return {"seen": True}

    events = run(LlmAgent("a", model=ScriptedModel([call("looked"), text("done")]), tools=[looked], **callbacks))
    answer = events[1].content.parts[0].function_response.response  # type: ignore[union-attr,index]
    asked = [name for name in log if name in order or name == "tool"]
    assert (asked, answer) == (order, result)


def test_a_reader_changes_the_list_of_stages_in_one_line() -> None:
    """Drop, insert, reorder: a stage is a plain function, the order is a plain list."""

    def shout(ctx: Any, request: Any, flow: Any) -> None:
        request.append_instructions("Today is Saturday.")

    def system(stages: Any) -> str:
        model = ScriptedModel(["done"])
        agent = LlmAgent("a", model=model, instruction="Be brief.", request_processors=stages)
        stops = [s for s in Runner(agent, platform=counted()).iter("hi") if isinstance(s, Stop)]
        request = next(s.holds["request"] for s in stops if s.seam is Seam.MODEL)
        return "" if request.config.system_instruction is None else request.config.system_instruction.parts[0].text

    stages = REQUEST_PROCESSORS
    named = 'You are an agent. Your internal name is "a".'
    assert system([p for p in stages if p.__name__ != "identity"]) == "Be brief."
    assert system([*stages, shout]) == f"Be brief.\n\n{named}\n\nToday is Saturday."
    assert system([shout, *stages]) == f"Be brief.\n\n{named}"  # basic starts a new config behind it
    assert system([*stages[:1], *stages[5:6], *stages[1:5], *stages[6:]]) == f"{named}\n\nBe brief."


def test_every_stage_is_a_stop_before_and_after() -> None:
    agent = LlmAgent("a", model=ScriptedModel(["done"]))
    stops = [s for s in Runner(agent, platform=counted()).iter("hi") if isinstance(s, Stop)]
    stages = [(s.name, str(s.phase)) for s in stops if s.seam is Seam.PROCESSOR]
    names = [
        "basic", "tools", "auth", "confirmation", "instructions", "identity", "compaction", "contents", "planning",
        "code_execution", "output_schema", "transfer", "display_name",
    ]  # fmt: skip
    assert stages == [(name, phase) for name in names for phase in ("before", "after")]
    assert {s.name for s in stops if s.noop} == {
        "auth", "planning", "code_execution", "planning_response", "code_execution_response"
    }  # fmt: skip
    assert {(s.agent, s.step) for s in stops if s.seam is Seam.PROCESSOR} == {("a", 1)}


@pytest.mark.parametrize("hook", ["before_agent", "after_agent"])
def test_what_an_agent_callback_asks_for_rides_on_its_event_but_for_artifacts(hook: str) -> None:
    def callback(ctx: Any) -> types.Content:
        ctx.state["seen"], ctx.actions.escalate, ctx.actions.compaction = 1, True, EventCompaction()
        ctx.save_artifact("note", "kept")
        return types.Content(role="model", parts=[types.Part(text=hook)])

    agent = LlmAgent("a", model=ScriptedModel(["answer"]), **{hook: callback})
    events = list(Runner(agent, platform=counted()).run("hi"))
    said = next(event for event in events if event.content.parts[0].text == hook)
    assert said.actions == EventActions(state_delta={"seen": 1}, escalate=True)
