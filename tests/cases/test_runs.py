"""Run cases: the scenario of each gives the reference's trace, and what the case says in words holds."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest

import adknb
from adknb import LlmAgent, Runner, ScriptedModel, at
from adknb.engine.context import InvocationContext
from adknb.engine.event import Event
from adknb.engine.platform import Platform, concurrent, in_order
from adknb.engine.session import InMemorySessionService
from adknb.engine.stops import events_only
from adknb.scenarios import trace
from tests.cases import given
from tests.cases.given import entries, events, parts, state, stored, texts

RULES = {
    "S01": "every complete fragment is final and overwrites the output key",
    "S02": "a call event leaves the output key alone",
    "S04": "the output key holds the final event's text only",
    "S06": "the output key is in the state before after_agent is asked",
    "S09": "a call in a chunk runs nothing",
    "S10": "a call that will continue is one call at the end",
    "S11": "a path of a streamed argument is split at its dots",
    "S12": "an empty piece of an argument is no value",
    "S15": "a thought's signature goes to the first call behind it",
    "S16": "thoughts and texts stay in their order",
    "S18": "a stream that never closes ends the run without an error",
    "S20": "a call without a name is answered by an error",
    "S21": "three calls in three chunks are one answer with three calls",
    "S22": "only the whole answer is stored, and without thoughts in the key",
    "C29": "an error code without content is an event and ends the turn",
    "F01": "ten answers of nothing but thoughts end the run",
    "F02": "an event of state alone is final but no answer",
    "F04": "a long-running tool without a result ends the turn",
    "T01": "an unknown tool is an error that the model reads",
    "T02": "an unknown tool is told to on_tool_error only",
    "T04": "a map from before_tool is the tool's result",
    "T06": "a tool's error is a text under error",
    "T07": "maps in the state merge and of other values the later call's wins",
    "T10": "results stand in call order whichever was done first",
    "I01": "a code sample in an instruction asks for a state key",
    "I02": "double braces are no escape",
    "I04": "a key that is optional may be missing",
    "I05": "a number that came from JSON prints as a float",
    "B01": "an answer of before_model silences the model and after_model",
    "B02": "the first answer of a plugin silences all behind it",
    "B05": "a recovered error is seen by after_model once",
    "X01": "an unknown transfer target fails behind its stored response",
    "X03": "a child of a sequence has nobody to transfer to",
    "X04": "a transfer beside another call takes effect with its state",
    "H01": "an approval runs the tool once under the call's own id",
    "H02": "a free tool's result is stored before approval is asked for",
    "H03": "an approval sent twice runs the tool twice",
    "H04": "a request for approval by another author approves nothing",
    "H06": "several approvals are resumed in the order of their requests",
    "H07": "a tool that asks for approval itself ends the step",
    "H11": "a refused function tool does not run and says so",
    "H12": "an answer to the call's own id is a tool result and approves nothing",
    "O01": "a failed structured answer is the final answer",
    "O03": "a structured answer is an event like any other",
}


@pytest.mark.parametrize("case", given.by_rule(RULES))
def test_the_run_is_what_adk_go_does(case: str) -> None:
    expected, actual = given.EXPECTED[case], given.run(case)
    difference = given.compare.first_difference(
        given.compare.normal_form(expected, bool(expected.get("by_agent"))),
        given.compare.normal_form(actual, bool(expected.get("by_agent"))),
    )
    assert difference is None, f"{difference}\n{given.links(case)}"


def calls_of(event: dict[str, Any]) -> list[Any]:
    return parts(event, "functionCall")


def responses_of(event: dict[str, Any]) -> list[Any]:
    return parts(event, "functionResponse")


def last_call(case: str) -> Any:
    return [c for e in stored(case) for c in calls_of(e)][-1]


# ------------------------------------------------------------------------------------------- what the cases say in words

SAID = [
    ("S01", "three final events, and the last fragment stays",
     lambda c: ([e.get("final") for e in events(c)], state(c)), ([True] * 3, {"analysis_result": "s"})),
    ("S01", "all three fragments are model turns of the history", lambda c: [texts(e) for e in stored(c)[1:]], [["#"], [" need"], ["s"]]),
    ("S02", "the event with the call writes nothing", lambda c: events(c)[0].get("actions"), None),
    ("S02", "the run ends with the answer under the key", state, {"k": "done"}),
    ("S04", "the last text only", state, {"out": "End."}),
    ("S09", "the tool ran once with all of its arguments", lambda c: [e["args"] for e in entries(c, "tool")], [{"t": "partial text"}]),
    ("S10", "one whole call", lambda c: (last_call(c)["id"], last_call(c)["args"]), ("d1", {"title": "Hello"})),
    ("S11", "brackets are letters of a key",
     lambda c: last_call(c)["args"], {"items[0]": {"name": "a"}, "items[1]": {"name": "b"}, "meta['a": {"b']": 3}}),
    ("S12", "the pieces are joined", lambda c: last_call(c)["args"], {"country": "USA"}),
    ("S15", "the first of two calls is signed", lambda c: [p.get("thoughtSignature") for p in stored(c)[1]["content"]["parts"]],
     [None, "U0lH", "U0lH", None]),
    ("S16", "four parts in order", lambda c: texts(stored(c)[1]), ["t1", "A", "t2", "BC"]),
    ("S18", "no error, nothing stored", lambda c: (entries(c, "error"), len(stored(c))), ([], 1)),
    ("S21", "two model calls in all", lambda c: len(entries(c, "model_request")), 2),
    ("S21", "one event answers in call order", lambda c: [[r["id"] for r in responses_of(e)] for e in stored(c) if responses_of(e)], [["1", "2", "3"]]),
    ("S22", "one event is stored", lambda c: [texts(e) for e in stored(c)[1:]], [["hm", "AB"]]),
    ("S22", "the key holds no thought", state, {"k": "AB"}),
    ("C29", "the error event is given to the reader", lambda c: [e["errorCode"] for e in events(c)], ["MALFORMED_FUNCTION_CALL"]),
    ("C29", "the older error event is in no request",
     lambda c: [[p["text"] for p in content["parts"]] for content in entries(c, "model_request")[0]["contents"]], [["x"], ["again"]]),
    ("F01", "exactly ten model calls", lambda c: len(entries(c, "model_request")), 10),
    ("F01", "the last thought is kept", lambda c: len(stored(c)), 11),
    ("F02", "state alone first, then the answer", lambda c: [(texts(e), e.get("final")) for e in events(c)], [([], True), (["answer"], True)]),
    ("F04", "one model call and no response event", lambda c: (len(entries(c, "model_request")), [responses_of(e) for e in stored(c)]), (1, [[], []])),
    ("T06", "a text, not an object", lambda c: [r["response"] for e in events(c) for r in responses_of(e)], [{"error": "disk full"}]),
    ("T06", "after_tool is told that it failed", lambda c: [e["failed"] for e in entries(c, "callback")], [True]),
    ("T07", "maps merge, lists do not", state, {"cfg": {"a": True, "b": True}, "items": ["b"]}),
    ("T02", "who was asked about which tool", lambda c: [(e["hook"], e["tool"]) for e in entries(c, "callback")],
     [("before_tool", "t"), ("after_tool", "t"), ("on_tool_error", "nope")]),
    ("T04", "the tool did not run, after_tool did", lambda c: ([e["hook"] for e in entries(c, "callback")], entries(c, "tool")),
     (["before_tool", "after_tool"], [])),
    ("T04", "the map is the result", lambda c: [r["response"] for e in events(c) for r in responses_of(e)], [{"metadata": True, "q": 1}]),
    ("B01", "nobody else is asked", lambda c: [e["hook"] for e in entries(c, "callback")], ["before_model"]),
    ("B02", "plugin 2 and the agent are not asked", lambda c: [e["owner"] for e in entries(c, "callback")], ["plugin:p1"]),
    ("B05", "after_model is asked once, behind the recovery", lambda c: [e["hook"] for e in entries(c, "callback")],
     ["on_model_error", "after_model"]),
    ("X03", "no tool at all", lambda c: [e["tools"] for e in entries(c, "model_request")], [[], []]),
    ("X04", "both responses, the state, then the target",
     lambda c: ([r["id"] for r in responses_of(stored(c)[2])], state(c), stored(c)[3]["author"]), (["1", "2"], {"z": 1}, "sub")),
    ("X01", "the success-looking response is stored", lambda c: [r["response"] for e in stored(c) for r in responses_of(e)], [{}]),
    ("H01", "once, with the call's arguments and id", lambda c: [(e["call_id"], e["args"]) for e in entries(c, "tool")], [("call-1", {"id": 1})]),
    ("H02", "the results come before the request", lambda c: [bool(responses_of(e)) for e in stored(c)[1:4]], [False, True, False]),
    ("H02", "both results are in the next request",
     lambda c: [r["response"] for content in entries(c, "model_request")[1]["contents"] for p in content["parts"] if (r := p.get("functionResponse"))],
     [{"deleted": 1}, {"l": [1]}]),
    ("H03", "again", lambda c: len(entries(c, "tool")), 1),
    ("H04", "not at all", lambda c: entries(c, "tool"), []),
    ("H06", "the last write wins", state, {"v": 2}),
    ("H06", "in the order of the requests", lambda c: [e["args"] for e in entries(c, "tool")], [{"v": 1}, {"v": 2}]),
    ("H07", "one model call; the request for approval is the last event",
     lambda c: (len(entries(c, "model_request")), calls_of(stored(c)[-1])[0]["name"]), (1, "adk_request_confirmation")),
    ("H11", "the handler did not run", lambda c: entries(c, "tool"), []),
    ("H12", "the handler did not run", lambda c: entries(c, "tool"), []),
    ("H12", "the model reads the fake result",
     lambda c: [p["functionResponse"]["response"] for content in entries(c, "model_request")[0]["contents"] for p in content["parts"]
                if "functionResponse" in p], [{"result": "Approved by user"}]),
    ("O01", "one model call, and the error object is answer and key",
     lambda c: (len(entries(c, "model_request")), list(state(c)), "error" in texts(events(c)[-1])[0]), (1, ["o"], True)),
    ("O03", "sorted keys, Go's escapes, a string in the key", state, {"o": '{"a":1,"b":"\\u003cé\\u003e"}'}),
    ("O03", "author, role, final, and the turn's invocation id",
     lambda c: (lambda e: (e["author"], e["content"]["role"], e["final"], e["invocationId"] == events(c)[0]["invocationId"]))(events(c)[-1]),
     ("a", "model", True, True)),
    ("I05", "what Go prints", lambda c: entries(c, "model_request")[0]["config"]["systemInstruction"]["parts"][0]["text"].split("\n\n")[0],
     "id=1.2345678e+07 big=1e+21 ok=true m=map[a:x b:1] l=[1 2]"),
]  # fmt: skip


@pytest.mark.parametrize(
    "case, read, expected", [(row[0], row[2], row[3]) for row in SAID], ids=[f"{r[1]} [{r[0]}]" for r in SAID]
)
def test_what_the_case_says_in_words_is_seen(case: str, read: Any, expected: Any) -> None:
    assert read(case) == expected, given.links(case)


@pytest.mark.parametrize("case, names", [("I01", ["page"]), ("I02", ["'n'"]), ("X01", ["'maths'"])])
def test_a_run_that_ends_with_an_error_says_what_is_missing(case: str, names: list[str]) -> None:
    [error] = entries(case, "error")
    assert error["where"] == "run"
    assert all(name in error["note"] for name in names)


def test_an_unknown_tools_error_names_it_the_known_ones_in_order_and_the_causes() -> None:
    """T01."""
    [response] = responses_of(events("T01")[1])
    error = response["response"]["error"]
    assert "'k8s_list'" in error
    assert "call_tool, list_tools" in error
    assert "ikely causes" in error
    assert len(entries("T01", "model_request")) == 3


def test_a_refusal_says_that_a_person_refused() -> None:
    """H11."""
    [response] = responses_of(events("H11")[0])
    assert response["id"] == "call-1" and "refused" in response["response"]["error"]


def test_a_nameless_call_is_answered_by_an_error_and_the_run_goes_on() -> None:
    """S20."""
    [response] = responses_of(events("S20")[1])
    assert "error" in response["response"]
    assert texts(events("S20")[-1]) == ["sorry"]


# ---------------------------------------------------------------------- what a trace cannot show: seen from the inside


def test_an_after_agent_callback_reads_the_key_that_its_own_agent_has_just_written() -> None:
    """S06."""
    seen = []
    agent = LlmAgent(
        "a", model=ScriptedModel(["42"]), output_key="result", after_agent=lambda ctx: seen.append(ctx.state["result"])
    )
    list(Runner(agent).run("hi"))
    assert seen == ["42"]


def test_a_tool_reads_the_key_as_it_was_before_its_own_agents_turn() -> None:
    """S02."""
    seen = []

    def read_k(ctx: Any) -> str:
        """Reads."""
        seen.append(ctx.state["k"])
        return "read"

    dbg = adknb.step(
        LlmAgent("b", model=ScriptedModel([call_of("read_k"), "done"]), output_key="k", tools=[read_k]), "go"
    )
    dbg.session.state["k"] = "SECRET"
    dbg.resume()
    assert (seen, dbg.state["k"]) == (["SECRET"], "done")


def call_of(*names: str) -> Any:
    from google.genai import types

    return types.Content(
        role="model",
        parts=[types.Part(function_call=types.FunctionCall(id=f"c{i}", name=n, args={})) for i, n in enumerate(names)],
    )


@pytest.mark.parametrize("run_tasks", [concurrent, in_order])
def test_slow_and_fast_tools_stand_in_call_order_and_may_overlap(run_tasks: Any) -> None:
    """T10: concurrently both are in the tool at once; whoever runs them, the event is the same."""
    at_once = threading.Barrier(2) if run_tasks is concurrent else None

    def tool(seconds: float) -> Any:
        def run() -> str:
            """Waits."""
            if at_once is not None:
                at_once.wait(timeout=10)  # breaks unless both run at the same time
            time.sleep(seconds)
            return "ok"

        return run

    slow, fast = tool(0.1), tool(0)
    slow.__name__, fast.__name__ = "slow", "fast"
    agent = LlmAgent("a", model=ScriptedModel([call_of("slow", "fast"), "ok"]), tools=[slow, fast])
    runner = Runner(agent, platform=Platform(run_tasks=run_tasks))
    [_, answers, _] = runner.run("x")
    assert [(p.function_response.name, p.function_response.response) for p in answers.content.parts] == [
        ("slow", {"result": "ok"}), ("fast", {"result": "ok"}),
    ]  # fmt: skip


def test_an_agent_runs_without_a_runner_and_without_streaming() -> None:
    """F06: no run configuration means no streaming."""
    asked = []

    class Model:
        name = "m"

        def generate_content(self, request: Any, stream: bool) -> Any:
            asked.append(stream)
            yield "ok"

    agent = LlmAgent("a", model=Model())
    service = InMemorySessionService()
    session = service.create("app", "user", "s", {})
    ctx = InvocationContext(agent=agent, session=session, session_service=service, platform=Platform())
    found = [e for e in events_only(agent.run(ctx)) if isinstance(e, Event)]
    assert [e.content.parts[0].text for e in found if e.content and e.content.parts] == ["ok"]
    assert asked == [False]


def looping() -> dict[str, Any]:
    """F08 as a scenario: the model calls one tool for ever."""
    case = given.CASES["F08"]["input"]
    return {
        "name": "F08",
        "agent": {
            "type": "llm",
            "name": "a",
            "model": {"name": "m", "calls": [{"responses": responses} for responses in case["model_responses"]]},
            "tools": [{"name": "search", "parameters": {"type": "object"}}],
        },
        "turns": [{"message": {"role": "user", "parts": [{"text": case["user"]}]}}],
        "event_limit": 30,
    }


def test_ordinary_tool_rounds_have_no_limit_but_the_readers() -> None:
    """F08: the scenario's own event limit ends it, and says so."""
    done = trace(looping())
    assert done["trace"][-1] == {"at": "error", "where": "limit", "note": "more than 30 events"}


def test_a_reader_can_pause_at_the_nth_step() -> None:
    """F08: a step limit that the user can see."""
    dbg = adknb.step(looping()).until(at("model", step=7))
    assert dbg.here is not None and dbg.here.step == 7
    assert len(dbg.requests) == 6  # six were sent, the seventh is about to be
    assert len(dbg.tools_run) == 6


def test_nine_thoughts_and_an_answer_are_an_answer_and_a_tool_round_starts_the_count_again() -> None:
    """F01: ten in a row count, and a part that only has a signature is no thought."""
    from google.genai import types

    def thought() -> Any:
        return types.Content(role="model", parts=[types.Part(text="hm", thought=True)])

    def runs(*calls: Any) -> int:
        model = ScriptedModel(calls)
        list(Runner(LlmAgent("a", model=model, tools=[tool])).run("x"))
        return model.uses

    def tool() -> str:
        """Runs."""
        return "ok"

    signed = types.Content(role="model", parts=[types.Part(text="so", thought_signature=b"s")])
    assert runs(*[thought() for _ in range(9)], "answer", "never") == 10
    assert runs(*[thought() for _ in range(9)], call_of("tool"), *[thought() for _ in range(12)]) == 20
    assert runs(signed, "never") == 1
