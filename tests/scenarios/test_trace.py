"""Running a scenario to its end: what is written down, and how errors and early leavers show."""

import copy
import json
import sys

import pytest

from adknb.engine.errors import NotBuiltYet
from adknb.scenarios import Built, ScriptedModel, build, scenario, trace


def says(text):
    return {"responses": [{"content": {"role": "model", "parts": [{"text": text}]}}]}


def calls(name, id, **args):
    call = {"functionCall": {"name": name, "id": id, "args": args}}
    return {"responses": [{"content": {"role": "model", "parts": [call]}}]}


def message(*parts):
    return {"message": {"role": "user", "parts": [{"text": p} if isinstance(p, str) else p for p in parts]}}


def answer(id, name="look", **response):
    return {"functionResponse": {"id": id, "name": name, "response": response}}


HI = message("hi")


def made(*model_calls, turns=(HI,), tools=(), agent=None, **more):
    return {
        "name": "test",
        "agent": {
            "type": "llm",
            "name": "clerk",
            "model": {"name": "m", "calls": list(model_calls)},
            "tools": list(tools),
            **(agent or {}),
        },
        "turns": list(turns),
        **more,
    }


def steps(done):
    """A trace in short: what happened, one word an entry."""
    return [e.get("hook") or e.get("where") or e["at"] for e in done["trace"]]


def test_a_turn_is_written_down_as_it_happens():
    done = trace(scenario("01a-one-turn"))
    assert steps(done) == ["turn", "model_request", "event", "tool", "event", "model_request", "event"]
    assert [e["author"] for e in done["session"]["events"]] == [
        "user",
        "weather_agent",
        "weather_agent",
        "weather_agent",
    ]
    assert done["trace"][-1]["event"]["final"] is True
    assert "final" not in done["trace"][2]["event"]
    json.dumps(done)


def test_after_an_error_the_next_turn_still_runs():
    done = trace(made({"error": "down"}, says("back"), turns=[message("a"), message("b")]))
    assert steps(done) == ["turn", "model_request", "run", "turn", "model_request", "event"]
    assert done["trace"][2]["note"] == "down"


def test_the_reader_learns_of_an_error_before_the_after_run_hooks():
    plugins = [{"name": "p", "callbacks": {"after_run": [{}], "before_run": [{}]}}]
    done = trace(made({"error": "down"}, plugins=plugins))
    assert steps(done) == ["turn", "before_run", "model_request", "run", "after_run"]


def test_a_reader_who_stops_early_sees_no_more_and_nothing_more_is_run():
    tool = {"name": "look"}
    turns = [{**message("a"), "stop_after": 1}]
    done = trace(made(calls("look", "c1"), says("x"), tools=[tool], turns=turns))
    assert steps(done) == ["turn", "model_request", "event"]
    assert len(done["session"]["events"]) == 2  # it was stored before it was handed up


def test_the_reader_gives_up_at_the_event_limit():
    done = trace(made(*[calls("look", f"c{n}") for n in range(20)], tools=[{"name": "look"}], event_limit=5))
    assert steps(done).count("event") == 5
    assert steps(done)[-1] == "limit"


def test_a_message_may_name_calls_by_their_number():
    tool = {"name": "look", "require_confirmation": True}
    turns = [
        message("a", answer("$call:0"), "$call:x"),  # no such call yet: the text stays
        message(answer("$confirm:0", "adk_request_confirmation", confirmed=True), answer("$call:0"), "not $call:0"),
    ]
    done = trace(made(calls("look", "c1"), turns=turns, tools=[tool]))
    asked = [e for e in done["session"]["events"] if e.get("longRunningToolIds")]
    sent = [e["content"]["parts"] for e in done["session"]["events"] if e["author"] == "user"]
    assert sent[0][1]["functionResponse"]["id"] == "$call:0"
    assert sent[0][2]["text"] == "$call:x"
    assert sent[1][0]["functionResponse"]["id"] == asked[0]["longRunningToolIds"][0]
    assert sent[1][1]["functionResponse"]["id"] == "c1"
    assert sent[1][2]["text"] == "not $call:0"


def test_chunks_are_read_but_their_calls_do_not_count():
    chunk = {**calls("look", "chunk")["responses"][0], "partial": True}
    whole = calls("look", "whole")["responses"][0]
    turns = [message("a"), message(answer("$call:0"))]
    done = trace(made({"responses": [chunk, whole]}, says("x"), says("y"), turns=turns, tools=[{"name": "look"}]))
    assert done["session"]["events"][-2]["content"]["parts"][0]["functionResponse"]["id"] == "whole"


def test_events_that_carry_nothing_are_left_out():
    events = [{"author": "a"}, {"author": "a", "content": {}}, {"author": "a", "usageMetadata": {"totalTokenCount": 1}}]
    events += [{"author": "a", "actions": {"skipSummarization": True}}, {"author": "a", "longRunningToolIds": ["x"]}]
    done = trace(made(events=events, turns=[]))
    assert [sorted(e) for e in done["session"]["events"]] == [
        ["author", "id", "timestamp"],  # a content that is empty is a content
        ["author", "id", "timestamp", "usageMetadata"],
    ]


def test_a_past_is_stored_before_the_first_turn():
    events = [{"author": "clerk", "id": "e9", "timestamp": 5, "actions": {"stateDelta": {"user:k": 2, "temp:t": 1}}}]
    built = build(made(says("x"), state={"app:a": 1, "k": 1}, events=events, artifacts={"f.txt": "text"}))
    session = built.session
    assert (session.id, session.user_id, session.app_name) == ("s1", "user", "demo")
    assert session.state == {"app:a": 1, "k": 1, "user:k": 2}
    assert [(e.id, e.timestamp) for e in session.events] == [("e9", 5.0)]
    assert built.runner.artifact_service.load(session, "f.txt").text == "text"


def test_an_instruction_that_is_provided_is_taken_as_it_is():
    done = trace(made(says("x"), agent={"instruction": "no", "instruction_provided": "raw {name}"}))
    parts = done["trace"][1]["config"]["systemInstruction"]["parts"]
    assert "raw {name}" in parts[0]["text"]


@pytest.mark.parametrize(
    "agent",
    [
        {"sub_agents": [{"type": "llm", "name": "clerk"}]},  # two of one name
        {"name": "user"},
    ],
)
def test_an_agent_tree_that_is_refused_is_one_setup_error(agent):
    done = trace(made(says("x"), agent=agent))
    assert steps(done) == ["setup"]
    assert done["session"] == {"events": [], "state": {}}


@pytest.mark.parametrize(
    "compaction",
    [
        {},  # nothing enabled
        {"token_threshold": 10},  # no retention
        {"event_retention_size": 2},  # no threshold
        {"token_threshold": -1, "event_retention_size": 2},
        {"token_threshold": 10, "event_retention_size": -2},
    ],
)
def test_a_compaction_that_the_runner_refuses_is_one_setup_error(compaction):
    assert steps(trace(made(says("x"), compaction=compaction))) == ["setup"]


def test_an_event_of_the_past_may_have_an_empty_author_who_is_foreign_to_all():
    past = {"author": "", "content": {"role": "model", "parts": [{"text": "boo"}]}}
    done = trace(made(says("x"), events=[past]))
    assert done["trace"][1]["contents"][0] == {
        "role": "user",
        "parts": [{"text": "For context:"}, {"text": "[] said: boo"}],
    }


def test_what_is_not_built_yet_shows_as_such_when_it_is_built(monkeypatch):
    monkeypatch.setattr(sys.modules[Built.__module__], "build_plugin", not_built)
    done = trace(made(plugins=[{"name": "p"}]))
    assert done["trace"] == [{"at": "error", "where": "unbuilt", "note": "songs"}]


def test_what_is_not_built_yet_ends_the_trace_when_a_turn_meets_it(monkeypatch):
    monkeypatch.setattr(ScriptedModel, "generate_content", not_built)
    done = trace(made(says("x"), turns=[message("a"), message("b")]))
    assert steps(done) == ["turn", "unbuilt"]


def not_built(*args):
    raise NotBuiltYet("songs")


def test_a_scenario_built_again_starts_from_zero():
    given = made(calls("look", "c1"), says("done"), tools=[{"name": "look", "runs": [{"return": 1}, {"return": 2}]}])
    before = copy.deepcopy(given)
    first, second = build(given), build(given)
    for built in (first, second):
        events = [e for e in built.iter(built.turns[0]) if hasattr(e, "author")]
        assert events[1].content.parts[0].function_response.response == {"result": 1}
    assert given == before
