"""Doubles: models, tools and callbacks that do what a scenario says."""

import pytest
from google.genai import types

from adknb.engine.context import Context, InMemoryArtifactService, InvocationContext
from adknb.engine.errors import BadData
from adknb.engine.event import Event, EventActions, ToolConfirmation
from adknb.engine.llm_agent import LlmAgent
from adknb.engine.model import LLMRequest
from adknb.engine.platform import counted
from adknb.engine.response import LLMResponse
from adknb.engine.runner import Runner
from adknb.engine.session import InMemorySessionService
from adknb.engine.tool import Tool
from adknb.scenarios import Script, ScriptedError, ScriptedModel, ScriptEnded
from adknb.scenarios.acts import ScriptedCallback, ScriptedTool
from adknb.scenarios.scripted import ScriptedSummarizer

REQUEST = LLMRequest(model="m")
HELLO = types.Content(role="model", parts=[types.Part(text="hello")])


def ask(model):
    return list(model.generate_content(REQUEST, stream=False))


def texts(responses):
    return [r.content.parts[0].text for r in responses]


def context(confirmation=None):
    service = InMemorySessionService()
    session = service.create("app", "user", "s", {"old": 1})
    invocation = InvocationContext(
        LlmAgent("clerk"), session, service, counted(), artifact_service=InMemoryArtifactService()
    )
    return Context(invocation, EventActions(), "call-1", confirmation)


# ---------------------------------------------------------------------------------------------------------------- model


@pytest.mark.parametrize(
    "call, said",
    [
        ("hello", ["hello"]),
        (HELLO, ["hello"]),
        (LLMResponse(content=HELLO), ["hello"]),
        (["hel", "lo", HELLO], ["hel", "lo", "hello"]),
        ([], []),
        ({"responses": [{"content": {"role": "model", "parts": [{"text": "hello"}]}, "partial": True}]}, ["hello"]),
        ({}, []),
    ],
)
def test_one_call_of_a_model_may_be_given_as(call, said):
    assert texts(ask(ScriptedModel([call]))) == said


@pytest.mark.parametrize(
    "call, error, said",
    [
        (ValueError("down"), ValueError, []),
        (["half", TimeoutError("cut")], TimeoutError, ["half"]),
        (
            {"responses": [{"content": {"role": "model", "parts": [{"text": "half"}]}}], "error": "cut"},
            ScriptedError,
            ["half"],
        ),
    ],
)
def test_a_call_that_ends_with_an_error_raises_it_behind_its_responses(call, error, said):
    heard = []
    with pytest.raises(error):
        heard.extend(ScriptedModel([call]).generate_content(REQUEST, stream=True))
    assert texts(heard) == said


def test_the_nth_call_is_answered_with_the_nth_entry_and_then_the_model_raises():
    model = ScriptedModel(["one", "two"], name="offline")
    assert [texts(ask(model)), texts(ask(model))] == [["one"], ["two"]]
    with pytest.raises(ScriptEnded, match=r"^model 'offline' has answers for 2 calls; this is call 3$"):
        ask(model)


def test_what_the_model_gives_is_a_fresh_copy_each_time():
    call = LLMResponse(
        content=types.Content(role="model", parts=[types.Part(function_call=types.FunctionCall(name="f"))])
    )
    model = ScriptedModel([call, call])
    first = ask(model)[0]
    first.content.parts[0].function_call.id = "adk-1"  # as the engine does
    assert call.content.parts[0].function_call.id is None
    assert ask(model)[0].content.parts[0].function_call.id is None
    model.uses = 0
    assert ask(model)[0].content.parts[0].function_call.id is None


def test_the_counters_can_be_put_back():
    model = ScriptedModel(["one", "two", "three"])
    ask(model)
    used = model.uses
    assert texts(ask(model)) == ["two"]
    model.uses = used
    assert texts(ask(model)) == ["two"]
    model.uses = 0
    assert texts(ask(model)) == ["one"]


@pytest.mark.parametrize(
    "calls, error, message",
    [
        ("hello", TypeError, "calls is a list with one entry for each call of the model, not string 'hello'"),
        ({"responses": []}, TypeError, "calls is a list with one entry for each call of the model, not an object"),
        ([3], TypeError, r"calls\[0\]: a model gives an LLMResponse, a Content or a text, not int"),
        ([[ValueError("x"), "text"]], TypeError, r"calls\[0\]: .*not ValueError; an exception may end the call"),
        ([{"response": []}], TypeError, r"calls\[0\]: a call has 'responses' and 'error', not 'response'"),
        ([{"responses": [{"contnt": {}}]}], BadData, r"calls\[0\].responses\[0\].contnt: unknown field"),
        (
            ["a", {"responses": [{"content": {"parts": [{"txt": "a"}]}}]}],
            BadData,
            r"calls\[1\].*parts\[0\].txt: unknown",
        ),
    ],
)
def test_a_faulty_script_is_refused_when_it_is_written(calls, error, message):
    with pytest.raises(error, match=message):
        ScriptedModel(calls)


def test_a_scripted_model_runs_in_an_agent():
    agent = LlmAgent("greeter", model=ScriptedModel(["hello"]))
    [event] = Runner(agent, platform=counted()).run("hi")
    assert (event.author, event.content.parts[0].text) == ("greeter", "hello")


# ----------------------------------------------------------------------------------------------------------------- tool


@pytest.mark.parametrize(
    "spec, given, results",
    [
        ({}, None, [{"result": "ok"}]),
        ({"runs": [{}]}, None, [{"result": "ok"}]),
        ({"runs": [{"return": 1}, {"return": [2]}]}, None, [1, [2], [2]]),  # the last from then on
        ({"runs": [{"nothing": True}]}, None, [None]),
        ({"runs": [{"echo": True}]}, None, [{"args": {"city": "Oslo"}}]),
        ({"runs": [{"return": None}]}, None, [{"result": "ok"}]),
        ({"runs": [{"request_confirmation": "sure?", "return": 1}]}, None, [{"waiting": True}]),
        ({"runs": [{"request_confirmation": "sure?", "return": 1}]}, ToolConfirmation(confirmed=True), [1]),
        ({"runs": [{"request_confirmation": "sure?"}]}, ToolConfirmation(confirmed=True), [{"result": "ok"}]),
    ],
)
def test_a_tool_answers_as_its_runs_say(spec, given, results):
    tool = ScriptedTool({"name": "look", **spec}, "look", Script())
    assert [tool.run(context(given), {"city": "Oslo"}) for _ in results] == results


def test_a_tool_acts_before_it_fails():
    run = {"state": {"k": 1}, "artifact": {"b": "x", "a": "y"}, "escalate": True, "transfer": "boss", "error": "boom"}
    ctx = context()
    with pytest.raises(ScriptedError, match=r"^boom$"):
        ScriptedTool({"name": "look", "runs": [{**run, "skip_summarization": True}]}, "look", Script()).run(ctx, {})
    assert ctx.actions == EventActions(
        state_delta={"k": 1},
        artifact_delta={"a": 1, "b": 1},
        escalate=True,
        transfer_to_agent="boss",
        skip_summarization=True,
    )
    assert list(ctx.actions.artifact_delta) == ["a", "b"]


def test_a_streaming_tool_yields_its_chunks_and_may_break_off():
    tool = ScriptedTool({"name": "feed", "chunks": ["x", "y"]}, "feed", Script())
    assert tool.is_streaming
    assert list(tool.run_stream(context(), {})) == ["x", "y"]
    broken = ScriptedTool({"name": "feed", "chunks": ["x", "!error"]}, "feed", Script()).run_stream(context(), {})
    assert next(broken) == "x"
    with pytest.raises(ScriptedError):
        next(broken)


def test_a_tool_logs_itself_when_its_own_code_starts():
    script = Script(log=[])
    args = {"city": ["Oslo"]}
    tool = ScriptedTool({"name": "look"}, "look", script)
    tool.run(context(ToolConfirmation(confirmed=True, hint="h")), args)
    args["city"].append("Rome")  # the log keeps what was
    assert script.log == [
        {
            "at": "tool",
            "agent": "clerk",
            "name": "look",
            "call_id": "call-1",
            "args": {"city": ["Oslo"]},
            "confirmation": {"confirmed": True},
        }
    ]


def test_arguments_that_do_not_fit_never_reach_the_tool():
    script = Script(log=[])
    tool = ScriptedTool({"name": "look", "parameters": {"required": ["city"]}}, "look", script)
    with pytest.raises(ValueError, match="'city' is missing"):
        tool.run(context(), {})
    assert script.log == []


# ------------------------------------------------------------------------------------------------------------ callbacks


def named(name):
    tool = Tool()
    tool.name = name
    return tool


@pytest.mark.parametrize(
    "act, answers",
    [
        ({}, [None, None, None]),
        ({"return": {"a": 1}}, [{"a": 1}] * 3),
        ({"only": 1, "return": {"a": 1}}, [None, {"a": 1}, None]),
        ({"tool": "look", "return": {"a": 1}}, [{"a": 1}, None, {"a": 1}]),
        ({"tool": "look", "only": 1, "return": {"a": 1}}, [None, None, None]),  # calls of other tools count too
        ({"tool": "look", "only": 2, "return": {"a": 1}}, [None, None, {"a": 1}]),
    ],
)
def test_a_callback_acts_when_its_act_says_so_and_is_logged_each_time(act, answers):
    script = Script(log=[])
    callback = ScriptedCallback("before_tool", "agent:clerk#0", act, script)
    assert [callback(context(), named(tool), {}) for tool in ("look", "book", "look")] == answers
    assert [e["tool"] for e in script.log] == ["look", "book", "look"]


def test_a_before_tool_act_edits_the_arguments_in_place():
    args = {"city": "Oslo", "n": 1}
    act = {"args": {"city": "Rome"}, "state": {"k": 1}}
    ctx = context()
    assert ScriptedCallback("before_tool", "o", act, Script())(ctx, named("look"), args) is None
    assert args == {"city": "Rome", "n": 1}
    assert ctx.actions.state_delta == {"k": 1}


def test_a_before_model_act_edits_the_request_in_place():
    request = LLMRequest(contents=[HELLO, HELLO, HELLO])
    request.append_instructions("Be kind.")
    act = {"system": "Be brief.", "temperature": 0.5, "drop_first": 2}
    callback = ScriptedCallback("before_model", "o", act, Script())
    assert callback(context(), request) is None
    assert [p.text for p in request.config.system_instruction.parts] == ["Be kind.", "Be brief."]
    assert (request.config.temperature, len(request.contents)) == (0.5, 1)
    callback(context(), request)
    assert len(request.contents) == 1  # dropped only if there are more


def test_a_text_takes_the_place_of_the_content_and_nothing_else():
    after_model = ScriptedCallback("after_model", "o", {"text": "new"}, Script())
    response = LLMResponse(content=HELLO, partial=True, model_version="v")
    answer = after_model(context(), response)
    assert (answer.content.role, texts([answer]), answer.partial, answer.model_version) == ("model", ["new"], True, "v")
    on_event = ScriptedCallback("on_event", "o", {"text": "new"}, Script())
    event = Event(content=types.Content(role="user", parts=[]), author="a", id="e")
    answer = on_event(context(), event)
    assert (answer.content.role, texts([answer]), answer.id) == ("user", ["new"], "e")
    assert event.content.parts == []


@pytest.mark.parametrize(
    "hook, given, entry",
    [
        ("before_agent", (), {"agent": "clerk"}),
        ("before_run", (), {}),
        ("on_user_message", (HELLO,), {}),
        ("before_model", (REQUEST,), {"agent": "clerk"}),
        ("after_model", (LLMResponse(partial=True),), {"agent": "clerk", "partial": True}),
        ("on_model_error", (REQUEST, ValueError("down")), {"agent": "clerk", "error": "down"}),
        ("before_tool", (named("look"), {"n": 1}), {"agent": "clerk", "tool": "look", "args": {"n": 1}}),
        (
            "after_tool",
            (named("look"), {}, {"r": 1}, None),
            {"agent": "clerk", "tool": "look", "result": {"r": 1}, "failed": False},
        ),
        (
            "after_tool",
            (named("look"), {}, None, ValueError("x")),
            {"agent": "clerk", "tool": "look", "result": None, "failed": True},
        ),
        ("on_tool_error", (named("look"), {}, ValueError("x")), {"agent": "clerk", "tool": "look"}),
        ("on_event", (Event(author="a"),), {"author": "a", "partial": False}),
    ],
)
def test_each_hook_logs_what_it_was_given(hook, given, entry):
    script = Script(log=[])
    ScriptedCallback(hook, "plugin:p", {}, script)(context(), *given)
    assert script.log == [{"at": "callback", "hook": hook, "owner": "plugin:p", **entry}]


# ----------------------------------------------------------------------------------------------------------- summarizer


def test_a_summarizer_answers_fails_or_declines():
    content, usage = ScriptedSummarizer(summary="short").summarize_events([])
    assert (content.role, content.parts[0].text, usage) == ("model", "short", None)
    assert ScriptedSummarizer().summarize_events([]) == (None, None)
    with pytest.raises(ScriptedError, match="down"):
        ScriptedSummarizer(summary="short", error="down").summarize_events([])
