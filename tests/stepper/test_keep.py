"""Saving a run and playing it again; keeping it as a test or a notebook."""

from __future__ import annotations

import base64
import copy
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from google.genai import types
from pydantic import BaseModel

import adknb
from adknb import LlmAgent, Plugin, Runner, ScriptedModel, Stepper, at, event
from adknb.engine.errors import BadData
from adknb.engine.event import Event, EventActions, ToolConfirmation
from adknb.engine.platform import concurrent, in_order, interleaved, reverse
from adknb.engine.processors import REQUEST_PROCESSORS
from adknb.engine.response import LLMResponse
from adknb.engine.stops import Raise, Return
from adknb.scenarios import fake_gemini, load
from adknb.stepper.journal import ReplayDiverged
from adknb.stepper.journal_file import CannotSave
from adknb.stepper.json_values import NoJsonForm, decode, encode, outcome_from_json, outcome_to_json
from adknb.stepper.redact import REDACTED, redacted
from adknb.stepper.replays import AgentNeeded
from adknb.stepper.tape import TapeEnded

ROOT = Path(__file__).resolve().parents[2]


def chunk(text: str) -> LLMResponse:
    return LLMResponse(content=types.Content(role="model", parts=[types.Part(text=text)]), partial=True)


def call_of(*names: str) -> types.Content:
    parts = [types.Part(function_call=types.FunctionCall(name=n, args={"city": "hz"})) for n in names]
    return types.Content(role="model", parts=parts)


class Lab:
    """An agent whose model streams and whose tools leave things behind; counts every real use."""

    def __init__(self) -> None:
        self.used: list[str] = []
        self.result: Any = {"temperature": 26}

    def agent(self, **settings: Any) -> LlmAgent:
        def model(request: Any) -> Any:
            """Streams two calls; then, once it has answers, an answer about them."""
            self.used.append("model")
            answers = [p.function_response.response for c in request.contents for p in c.parts if p.function_response]
            if not answers:
                return [chunk("I look"), call_of("weather", "news")]
            return [chunk("It"), chunk("It is"), f"It is {answers}"]

        def weather(ctx: Any, city: str) -> Any:
            """Weather."""
            self.used.append("weather")
            ctx.state["seen"] = [*ctx.state.get("seen", []), city]
            ctx.save_artifact("map.png", types.Part(inline_data=types.Blob(mime_type="image/png", data=b"\xff\x00")))
            return self.result

        def news(ctx: Any, city: str) -> Any:
            """News."""
            self.used.append("news")
            raise TimeoutError("no news today")

        def romanise(ctx: Any, tool: Any, args: dict[str, Any]) -> None:
            args["city"] = "Hangzhou"

        given: dict[str, Any] = {"model": model, "tools": [weather, news], "before_tool": romanise}
        return LlmAgent("lab", **{"instruction": "Seen: {seen?}", **given, **settings})

    def step(self, **how: Any) -> Stepper:
        return adknb.step(self.agent(), ["how is it?", "and now?"], **how)


def story(dbg: Stepper) -> Any:
    """What a run has told so far, ids and times included, and where it stands."""
    told = [str(s) for s in dbg.stops], [e.to_json() for e in dbg.events], dbg.requests, dict(dbg.state), dbg.tools_run
    return copy.deepcopy((*told, dbg.request_now, str(dbg.here), str(dbg.error)))


def edited(dbg: Stepper) -> None:
    dbg.until(at("model")).request.contents[0].parts[0].text = "how warm is it?"  # type: ignore[union-attr,index]
    dbg.until(at(tool="weather")).args["city"] = "Oslo"  # type: ignore[index]
    dbg.until(at(tool="news")).skip({"news": "made up"})
    dbg.until(at("merge", phase="after")).event.actions.state_delta["noted"] = True  # type: ignore[union-attr]


def answered_behind(dbg: Stepper) -> None:
    dbg.until(at(tool="weather", phase="after")).skip({"temperature": -40})


def streamed_by_hand(dbg: Stepper) -> None:
    dbg.until(at("model")).skip([chunk("by"), "by hand"]).step()


PLACES: dict[str, Callable[[Stepper], object]] = {
    "at the first stop": lambda d: d,
    "behind a processor": lambda d: d.until(at("contents")),
    "with an edit not resumed": lambda d: d.until(at("contents")).request.append_instructions("Be kind."),
    "before the model": lambda d: d.until(at("model")),
    "right behind a chunk": lambda d: d.until(at("model", phase="after")),
    "between two chunks": lambda d: d.until(event(partial=True)),
    "before a tool": lambda d: d.until(at(tool="weather")),
    "right behind a tool": lambda d: d.until(at(tool="weather", phase="after")),
    "behind a tool that failed": lambda d: d.until(at(tool="news", phase="after")),
    "in the second stream": lambda d: d.until(at("model", step=2, phase="after")).step().step(),
    "at the turn's end": lambda d: d.until(at("turn")),
    "in the next turn": lambda d: d.until(at("contents", turn=2)),
    "at the end": lambda d: d.resume(),
    "after edits and a skip": edited,
    "after an answer behind a call": answered_behind,
    "in a stream made by hand": streamed_by_hand,
    "after a failure made by hand": lambda d: d.until(at(tool="weather")).fail(TimeoutError("slow")).step(),
    "after a model's failure": lambda d: d.until(at("model")).fail("overloaded").step(),
    "with a message added": lambda d: d.send("more?").until(at("contents", turn=3)),
    "after going back": lambda d: d.resume().rewind(20),
    "after another lane went first": lambda d: d.until(at(tool="weather")).choose(d.lanes[1]).step(),
}
places = pytest.mark.parametrize("go", [pytest.param(go, id=name) for name, go in PLACES.items()])


@places
def test_a_saved_run_stands_where_it_was_left_and_goes_on_to_the_same_end(go: Any, tmp_path: Path) -> None:
    lab = Lab()
    dbg = lab.step()
    go(dbg)
    used = len(lab.used)
    first, second = tmp_path / "first.json", tmp_path / "second.json"
    dbg.save(first)
    again = adknb.replay(first, agent=lab.agent())
    assert len(lab.used) == used  # no model was asked and no tool was run
    assert story(again) == story(dbg)
    assert again.edits == dbg.edits
    again.save(second).fork().save(tmp_path / "third.json")
    assert first.read_bytes() == second.read_bytes() == (tmp_path / "third.json").read_bytes()
    again.resume()
    dbg.resume()
    assert story(again) == story(dbg)


def test_a_file_is_canonical_and_says_nothing_of_when_and_where_it_was_written(tmp_path: Path) -> None:
    dbg = Lab().step().resume()
    dbg.save(tmp_path / "a.json").save(tmp_path / "b.json")
    text = (tmp_path / "a.json").read_text("utf-8")
    assert text == (tmp_path / "b.json").read_text("utf-8")
    assert [p.name for p in tmp_path.iterdir() if p.name.startswith(".")] == []

    def in_order_of_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        assert [k for k, _ in pairs] == sorted(k for k, _ in pairs)
        return dict(pairs)

    document = json.loads(text, object_pairs_hook=in_order_of_keys)
    assert document["format"] == 1
    assert str(tmp_path) not in text


def test_what_is_no_utf8_is_written_as_an_escape(tmp_path: Path) -> None:
    dbg = adknb.step(LlmAgent("a", model=ScriptedModel(["half \ud83d, ü"])), "hi").resume()
    dbg.save(tmp_path / "a.json")
    assert "half \\ud83d, ü" in (tmp_path / "a.json").read_text("utf-8")
    again = adknb.replay(tmp_path / "a.json", agent=LlmAgent("a", model=ScriptedModel([])))
    assert story(again) == story(dbg)


SOME = ["seed/two_tools_merge_in_call_order", "confirmation/3", "callbacks/11", "delegation/3", "workflow/2", "parallel/1",
        "compaction/1", "transfer/4", "mixed/9", "structured/3", "streaming/2", "long_running/2"]  # fmt: skip


def golden(name: str) -> dict[str, Any]:
    return next(s for s in load(ROOT / "tests/golden/scenarios.jsonl") if s["name"] == name)


@pytest.mark.parametrize("name", SOME)
def test_a_scenario_is_in_the_file_and_goes_on_from_there(name: str, tmp_path: Path) -> None:
    scenario = golden(name)
    whole = adknb.step(scenario).resume()
    end = story(whole)
    for number in (0, len(whole.stops) // 2, len(whole.stops) - 1):
        dbg = adknb.step(scenario)
        while len(dbg.stops) <= number:
            dbg.step()
        dbg.save(tmp_path / "a.json")
        again = adknb.replay(tmp_path / "a.json")
        assert story(again) == story(dbg)
        assert story(again.resume()) == end
    whole.save(tmp_path / "a.json")
    assert story(adknb.replay(tmp_path / "a.json", offline=True)) == end


@pytest.mark.parametrize("name", ["gemini/2", "gemini/7", "gemini/12"])
def test_a_gemini_run_replays_without_server_and_network(name: str, tmp_path: Path, monkeypatch: Any) -> None:
    dbg = adknb.step(golden(name)).resume()
    dbg.save(tmp_path / "a.json")
    end = story(dbg)
    monkeypatch.setattr(fake_gemini.FakeGemini, "__init__", lambda *_: pytest.fail("a server was started"))
    monkeypatch.setattr("socket.socket.connect", lambda *_: pytest.fail("the network was used"))
    again = adknb.replay(tmp_path / "a.json")
    assert again.requests
    assert story(again) == end


# ---- behind the recording


@pytest.mark.parametrize("go", ["before the model", "between two chunks", "in the second stream"])
def test_behind_the_recording_a_model_fails_with_a_clear_error_when_offline(go: str, tmp_path: Path) -> None:
    lab = Lab()
    dbg = lab.step()
    PLACES[go](dbg)
    dbg.save(tmp_path / "a.json")
    used = len(lab.used)
    again = adknb.replay(tmp_path / "a.json", agent=lab.agent(), offline=True).until(at("turn"))
    assert isinstance(again.error, TapeEnded)
    assert "the recording ends here" in str(again.error)
    assert again.fork().resume().error is not None
    assert len(lab.used) == used


def test_behind_the_recording_a_tool_is_not_run_when_offline(tmp_path: Path) -> None:
    lab = Lab()
    lab.step().until(at(tool="weather")).save(tmp_path / "a.json")
    again = adknb.replay(tmp_path / "a.json", agent=lab.agent(), offline=True)
    again.until(at(tool="weather", phase="after"))
    assert again.stops[-1].error == "TapeEnded: the recording ends here: 'weather' was not run when it was made"
    assert (lab.used, again.tools_run) == (["model"], [])


def test_a_stream_that_would_go_on_otherwise_is_not_mixed(tmp_path: Path) -> None:
    Lab().step().until(event(partial=True)).save(tmp_path / "a.json")
    other = Lab().agent(model=ScriptedModel([[chunk("Another"), "Another answer"]] * 3))
    with pytest.raises(ReplayDiverged):  # the model's name is part of the stop
        adknb.replay(tmp_path / "a.json", agent=other)
    other = Lab().agent(model=ScriptedModel([[chunk("Another"), "Another answer"]] * 3, name="model"))
    again = adknb.replay(tmp_path / "a.json", agent=other).until(at("turn"))
    assert "restart(fresh=True) asks it anew" in str(again.error)


def test_a_change_of_the_code_is_named(tmp_path: Path) -> None:
    Lab().step().until(at("contents")).save(tmp_path / "a.json")
    fewer = [p for p in REQUEST_PROCESSORS if p.__name__ != "auth"]
    with pytest.raises(ReplayDiverged, match="stop 6 was 'turn 1: before processor auth'"):
        adknb.replay(tmp_path / "a.json", agent=Lab().agent(request_processors=fewer))


def test_a_changed_instruction_is_asked_with_and_answered_from_the_recording(tmp_path: Path) -> None:
    lab = Lab()
    lab.step().resume().save(tmp_path / "a.json")
    used = len(lab.used)
    again = adknb.replay(tmp_path / "a.json", agent=lab.agent(instruction="Be brief."))
    assert "Be brief." in json.dumps(again.requests[0])
    assert len(lab.used) == used


# ---- clocks, runners, places


@pytest.mark.parametrize("tasks", [in_order, reverse, interleaved])
def test_a_runner_with_its_own_clock_past_and_plugins_comes_back(tasks: Any, tmp_path: Path) -> None:
    def add(ctx: Any, content: types.Content) -> types.Content:
        return types.Content(role="user", parts=[types.Part(text=f"{content.parts[0].text} Please.")])  # type: ignore[index]

    lab = Lab()
    runner = Runner(lab.agent(), plugins=[Plugin("polite", on_user_message=add)])
    list(runner.run("before"))
    dbg = adknb.step(runner, "now", runner=tasks).until(at(tool="weather", phase="after"))
    dbg.save(tmp_path / "a.json")
    used = len(lab.used)
    fresh = Runner(lab.agent(), plugins=runner.plugins)
    again = adknb.replay(tmp_path / "a.json", agent=fresh)
    assert story(again) == story(dbg)
    assert again.events[0].id == dbg.events[0].id
    assert len(lab.used) == used
    assert fresh.session_service.create("adknb", "user", "session-1").events == []  # it was not written to


def test_a_runner_of_ones_own_making_cannot_be_named(tmp_path: Path) -> None:
    def mine(tasks: Any) -> Any:
        return (yield from in_order(tasks))

    with pytest.raises(CannotSave, match="none of in_order, reverse, interleaved, concurrent"):
        Lab().step(runner=mine).save(tmp_path / "a.json")
    Lab().step(runner=concurrent).save(tmp_path / "a.json")
    dbg = Lab().step()
    dbg.close()
    with pytest.raises(CannotSave, match="save before close"):
        dbg.save(tmp_path / "b.json")
    assert not (tmp_path / "b.json").exists()


@pytest.mark.parametrize(
    "agent, message",
    [
        (None, "which is Python code and not in the file"),
        ("no colon", 'is written "package.module:name"'),
        ("os.path; print(1):x", 'is written "package.module:name"'),
        ("no_such_module_here:agent", "there is no module 'no_such_module_here' here"),
        ("json:agent", "there is no 'agent' in 'json'"),
        ("json:__name__", "expected an agent or a runner, found a str"),
    ],
)
def test_an_agent_that_is_not_found_is_named(agent: Any, message: str, tmp_path: Path) -> None:
    Lab().step().save(tmp_path / "a.json")
    with pytest.raises(AgentNeeded, match=re.escape(message)):
        adknb.replay(tmp_path / "a.json", agent=agent)


# ---- values


@dataclass
class Reading:
    degrees: int


class Measured(BaseModel):
    degrees: int


VALUES = [
    None,
    True,
    0,
    -1.5,
    float("inf"),
    "text \ud83d",
    [1, [2]],
    (1, (2, "x")),
    {"$type": "Content", "value": 1},
    {"a": {"$type": None}},
    b"\xff\x00",
    types.Content(role="model", parts=[types.Part(text="a", thought_signature=b"\xff\xfe")]),
    types.Part(inline_data=types.Blob(mime_type="image/png", data=b"\x89PNG\xff")),
    types.FinishReason.STOP.value,
    LLMResponse(content=types.Content(role="model", parts=[]), partial=True, finish_reason="STOP"),
    Event(author="a", content=types.Content(role="model", parts=[types.Part(text="b")]), id="1", timestamp=2.5),
    EventActions(state_delta={"a": (1, b"2")}, requested_tool_confirmations={"c": ToolConfirmation("h", True, [1])}),
    ToolConfirmation("sure?", False, {"n": 1}),
    [types.Content(role="user"), None],
]


@pytest.mark.parametrize("value", VALUES, ids=[type(v).__name__ + str(n) for n, v in enumerate(VALUES)])
def test_a_value_comes_back_as_it_was(value: Any) -> None:
    text = json.dumps(encode(value, "it"), allow_nan=False)
    back = decode(json.loads(text), "it")
    assert back == value
    assert type(back) is type(value)


@pytest.mark.parametrize(
    "value, place",
    [
        (object(), "the answer at 'before tool weather': a object has no JSON form"),
        ({"a": [1, {2, 3}]}, "the answer at 'before tool weather'.a[1]: a set has no JSON form"),
        ({1: "a"}, "a key of a map is a text in JSON, not 1"),
        (lambda: 1, "a function has no JSON form"),
        (iter(()), "a tuple_iterator has no JSON form"),
    ],
)
def test_an_answer_without_json_form_is_refused_when_it_is_given(value: Any, place: str) -> None:
    dbg = Lab().step().until(at(tool="weather"))
    with pytest.raises(TypeError, match=re.escape(place)):
        dbg.skip(value)
    assert str(dbg.here) == "before tool weather"
    assert dbg.resume().error is None


@pytest.mark.parametrize("result", [Reading(26), Measured(degrees=26)])
def test_a_tools_record_is_kept_as_the_map_that_the_engine_makes_of_it(result: Any, tmp_path: Path) -> None:
    lab = Lab()
    lab.result = result
    dbg = lab.step().resume()
    dbg.save(tmp_path / "a.json")
    assert story(adknb.replay(tmp_path / "a.json", agent=lab.agent())) == story(dbg)


def test_a_tools_result_without_json_form_is_an_error_that_names_the_stop(tmp_path: Path) -> None:
    lab = Lab()
    lab.result = {"handle": object()}
    (tmp_path / "a.json").write_text("mine")
    dbg = lab.step().until(at(tool="weather", phase="after"))
    with pytest.raises(NoJsonForm, match=r"stop \d+, 'after tool weather', the result.handle: a object has no JSON"):
        dbg.save(tmp_path / "a.json")
    assert (tmp_path / "a.json").read_text() == "mine"
    assert [p.name for p in tmp_path.iterdir()] == ["a.json"]


class Odd(Exception):
    def __init__(self, a: int, b: int) -> None:
        super().__init__(f"{a} and {b}")


@pytest.mark.parametrize(
    "error, kind",
    [
        (TimeoutError("slow"), TimeoutError),
        (KeyError("city"), KeyError),
        (BadData("a.json", "wrong"), BadData),
        (UnicodeDecodeError("utf-8", b"\xff", 0, 1, "bad"), UnicodeDecodeError),
        (Odd(1, 2), Exception),
        (OSError(2, "no such file"), OSError),
    ],
)
def test_an_error_keeps_type_and_message_and_prints_the_same(error: Exception, kind: type) -> None:
    back = outcome_from_json(json.loads(json.dumps(outcome_to_json(Raise(error), "it"))), "it")
    assert isinstance(back, Raise)
    assert isinstance(back.error, kind)
    assert (type(back.error).__name__, str(back.error)) == (type(error).__name__, str(error))
    assert outcome_to_json(back, "it") == outcome_to_json(Raise(error), "it")
    assert isinstance(outcome_from_json({"return": 1}, "it"), Return)


# ---- secrets

KEY = "AIza" + "SyD3-fake_fake_fake_fake_fake_fake0"
SECRETS = [
    ({"api_key": "hunter2hunter2", "says": "the key is hunter2hunter2."}, "hunter2"),
    ({"headers": {"Authorization": "Custom abcdefgh", "Accept": "x"}}, "abcdefgh"),
    ({"headers": {"X-Goog-Api-Key": "k1"}}, "k1"),
    ([{"op": "add", "path": "/state/db_password", "value": "swordfish"}], "swordfish"),
    ({"text": f"use {KEY} now"}, "AIza"),
    ({"text": "Authorization: Bearer abc.def-ghi_jkl"}, "abc.def"),
    ({"text": "sk-" + "a1" * 20}, "a1a1"),
    ({"text": "https://me:pass-word@host/?key=abc123&q=1"}, "pass-word"),
    ({"text": "https://host/?key=abc123&q=1"}, "abc123"),
    ({"credentials": {"user": "someone", "more": ["deep-secret"]}}, "deep-secret"),
    ({"access_token": ["one-token", "two-token"]}, "two-token"),
    ({"-----BEGIN PRIVATE KEY-----\nabc\n-----END PRIVATE KEY-----": 1}, "abc"),
]


@pytest.mark.parametrize("data, secret", SECRETS)
def test_a_secret_is_taken_out_wherever_it_stands(data: Any, secret: str) -> None:
    clean = redacted(data)
    assert secret not in json.dumps(clean)
    assert REDACTED in json.dumps(clean)
    assert redacted(clean) == clean


@pytest.mark.parametrize(
    "data",
    [
        {"promptTokenCount": 5, "token_threshold": 7, "tokens": 3, "token": 12},
        {"properties": {"token": {"type": "string"}, "password": {"type": "string", "description": "yours"}}},
        {"text": "the basic idea, a bearer of news, key=value", "nextPageToken": "abc"},
        {"thoughtSignature": "AQEBAX-sk-abcdefghijklmnopqrstuvwxyz"},
        {"monkey": "banana", "keyboard": "qwerty", "city": "Hangzhou"},
    ],
)
def test_what_is_no_secret_stays(data: Any) -> None:
    assert redacted(data) == data


def secret_run() -> tuple[LlmAgent, Stepper]:
    def login(ctx: Any, api_key: str) -> dict[str, Any]:
        """Log in."""
        ctx.state["session_token"] = "tok-1234567890"
        return {"said": f"logged in with {api_key}", "customer": "cust-4711"}

    def model(request: Any) -> Any:
        if len(request.contents) > 1:
            return "You are in: cust-4711."
        args = {"api_key": "hunter2hunter2"}
        return types.Content(
            role="model", parts=[types.Part(function_call=types.FunctionCall(name="login", args=args))]
        )

    config = types.GenerateContentConfig(http_options=types.HttpOptions(headers={"Authorization": "Custom zzzzzz"}))
    instruction = f"Use {KEY}. {{session_token?}}"
    agent = LlmAgent("a", model=model, tools=[login], instruction=instruction, generate_content_config=config)
    return agent, adknb.step(agent, "log me in with hunter2hunter2").resume()


def test_no_secret_reaches_the_file_and_it_still_replays(tmp_path: Path) -> None:
    agent, dbg = secret_run()
    assert dbg.error is None
    dbg.save(tmp_path / "a.json", redact=[r"cust-\d+", re.compile("You are in")])
    text = (tmp_path / "a.json").read_text("utf-8")
    for secret in ("hunter2", "tok-123", "zzzzzz", "AIza", "cust-4711", "You are in"):
        assert secret not in text
    again = adknb.replay(tmp_path / "a.json", agent=agent, offline=True)
    assert [str(s) for s in again.stops] == [str(s) for s in dbg.stops]
    assert again.state["session_token"] == REDACTED
    again.save(tmp_path / "b.json")
    assert (tmp_path / "b.json").read_text("utf-8") == text


@pytest.mark.parametrize("wrong", ["(", "", "x*", 5])
def test_a_pattern_that_is_none_is_refused(wrong: Any, tmp_path: Path) -> None:
    with pytest.raises(BadData, match=r"redact\[0\]: "):
        Lab().step().save(tmp_path / "a.json", redact=[wrong])


# ---- files that are not as they should be


def saved(tmp_path: Path) -> dict[str, Any]:
    dbg = Lab().step()
    edited(dbg)
    dbg.resume().rewind(dbg.stops[60]).save(tmp_path / "good.json")
    document: dict[str, Any] = json.loads((tmp_path / "good.json").read_text("utf-8"))
    return document


def first_with(document: Any, field: str) -> Any:
    return next(entry for entry in document["entries"] if field in entry)


FAULTS: dict[str, tuple[Callable[[Any], Any], str]] = {
    "another format": (lambda d: d.update(format=2), "format: 2 is not known; this adknb reads format 1"),
    "a format that is no number": (lambda d: d.update(format="1"), "format: '1' is not known"),
    "no format": (lambda d: d.pop("format"), 'this is no saved run: it has no "format"'),
    "an unknown field": (lambda d: d.update(more=1), "unknown field 'more'"),
    "neither scenario nor agent": (lambda d: d.pop("agent"), "expected a scenario or an agent"),
    "no entries": (lambda d: d.pop("entries"), "entries: there is none"),
    "entries of another kind": (lambda d: d.update(entries={}), "entries: expected a list, found an object"),
    "an unknown task runner": (lambda d: d.update(tasks="mine"), "tasks: 'mine' is none of"),
    "an entry that is no object": (
        lambda d: d["entries"].insert(3, 5),
        "entries[3]: expected an object, found a whole",
    ),
    "an entry without a place": (lambda d: d["entries"][4].pop("place"), "entries[4]: the field 'place' is missing"),
    "an edit without a value": (
        lambda d: first_with(d, "edits")["edits"][0].pop("value"),
        "the field 'value' is missing",
    ),
    "an edit of another kind": (lambda d: first_with(d, "edits")["edits"][0].update(op="set"), "'set' is none of add"),
    "an edit that leads nowhere": (
        lambda d: first_with(d, "edits")["edits"][0].update(path="/request/contents/99/parts"),
        "an edit at /request/contents/99/parts",
    ),
    "an edit of a list's name": (
        lambda d: first_with(d, "edits")["edits"][0].update(path="/request/contents/x"),
        "an edit at /request/contents/x",
    ),
    "an answer of no kind": (lambda d: first_with(d, "answer").update(answer={"yield": 1}), 'expected {"return": …}'),
    "an error that is no text": (
        lambda d: first_with(d, "answer").update(answer={"raise": {"type": 1, "message": ""}}),
        "answer.raise: expected an object with the texts type and message",
    ),
    "a type there is not": (
        lambda d: first_with(d, "answer").update(answer={"return": {"$type": "Popen", "value": {}}}),
        "answer.return.$type: there is no type 'Popen'",
    ),
    "a chunk that is no response": (
        lambda d: first_with(d, "tape")["tape"]["kept"].insert(0, {"return": "text"}),
        "tape.kept[0].return: expected an LLMResponse",
    ),
    "a part with a wrong field": (
        lambda d: first_with(d, "tape")["tape"]["kept"][0]["return"]["value"]["content"].update(parts=[{"txt": "a"}]),
        "tape.kept[0].return.content.parts[0].txt",
    ),
    "bytes that are no base64": (
        lambda d: first_with(d, "effect")["effect"].update(outcome={"return": {"$type": "bytes", "value": "?"}}),
        "expected a text in base64",
    ),
    "a call that closes none": (lambda d: first_with(d, "effect").update(closes=999), "closes: expected the number of"),
    "a message that is none": (lambda d: d["turns"][0].update(message={"prts": []}), "turns[0].message.prts"),
    "a clock that is none": (lambda d: d["agent"]["platform"].update(counted="now"), "counted: expected a number"),
    "a memory of another kind": (lambda d: d["memory"].update(tapes=[{}]), "tapes[0]: the field 'key' is missing"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_file_that_is_not_as_it_should_be_is_one_error_with_its_place(fault: str, tmp_path: Path) -> None:
    document = saved(tmp_path)
    change, message = FAULTS[fault]
    change(document)
    (tmp_path / "bad.json").write_text(json.dumps(document), "utf-8")
    with pytest.raises(BadData, match=re.escape(message)) as told:
        adknb.replay(tmp_path / "bad.json", agent=Lab().agent())
    assert told.value.where.startswith("bad.json")


@pytest.mark.parametrize(
    "content, message",
    [
        (b"", "bad.json: the file is empty"),
        (b"\xff\xfe", "bad.json:1: is not UTF-8 text: byte 0 is 0xff"),
        (b'{\n "format": 1,\n}', "bad.json:2:13: not JSON: illegal trailing comma before end of object"),
        (b'{"format": NaN}', "bad.json:1:12: NaN is not a number that JSON knows"),
        (b"[" * 100_000, "bad.json: nested deeper than 200 levels"),
        (b"[]", "bad.json: expected an object, found a list"),
        (None, "bad.json: there is no such file"),
    ],
)
def test_what_is_no_json_is_one_error_too(content: bytes | None, message: str, tmp_path: Path) -> None:
    if content is not None:
        (tmp_path / "bad.json").write_bytes(content)
    with pytest.raises(BadData, match=re.escape(message)):
        adknb.replay(tmp_path / "bad.json")


# ---- kept as a test

MODULE = '''
from google.genai import types
from adknb import LlmAgent, Runner, Plugin


def weather(ctx, city: str) -> dict:
    """The weather in a city."""
    ctx.state["seen"] = city
    return {"temperature": 26}


def model(request):
    if len(request.contents) > 1:
        return "It is 26 °C."
    call = types.FunctionCall(name="weather", args={"city": "Hangzhou"})
    return types.Content(role="model", parts=[types.Part(function_call=call)])


agent = LlmAgent("weather_agent", model=model, tools=[weather], instruction="You tell the weather. Be brief.")
runner = Runner(agent, plugins=[Plugin("quiet")])


def make():
    return agent
'''


def run_pytest(folder: Path, *what: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(folder)]), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    env.pop("CI", None)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *what]
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False, timeout=120)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: Any) -> Any:
    (tmp_path / "kept_agents.py").write_text(MODULE, "utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    yield tmp_path
    sys.modules.pop("kept_agents", None)


def test_a_test_passes_at_once_and_fails_with_the_sentence_that_changed(project: Path) -> None:
    import kept_agents  # type: ignore[import-not-found]

    test = project / "tests" / "test_turn.py"
    adknb.step(kept_agents.agent, "How is the weather?").resume().to_test(test)
    text = test.read_text("utf-8")
    assert '"instruction: You tell the weather. Be brief.",' in text
    assert '\'weather_agent: calls weather {"city": "Hangzhou"} id="call-1"\',' in text
    done = run_pytest(project, "tests")
    assert (done.returncode, "5 passed" in done.stdout) == (0, True), done.stdout
    again = adknb.replay(project / "tests" / "test_turn.recording.json")  # it is an ordinary recording, too
    assert again.tools_run == ["weather"]
    source = (project / "kept_agents.py").read_text("utf-8")
    (project / "kept_agents.py").write_text(source.replace("Be brief.", "Be thorough."), "utf-8")
    done = run_pytest(project, "tests")
    assert done.returncode == 1
    assert (
        "'instruction: You tell the weather. Be thorough.' != 'instruction: You tell the weather. Be brief.'"
        in done.stdout
    )
    assert "2 failed, 3 passed" in done.stdout


def test_a_test_of_a_changed_flow_says_where_it_went_another_way(project: Path) -> None:
    import kept_agents

    adknb.step(kept_agents.agent, "How is the weather?").resume().to_test(project / "test_turn.py")
    with (project / "kept_agents.py").open("a") as out:
        out.write("\ndel agent.request_processors[2]\n")
    done = run_pytest(project, "test_turn.py")
    assert done.returncode == 1
    assert "ReplayDiverged: stop 6 was 'turn 1: before processor auth'" in done.stdout


def test_a_scenario_is_embedded_and_a_secret_in_it_agrees_with_any_text(tmp_path: Path) -> None:
    scenario = golden("seed/two_tools_merge_in_call_order")
    scenario["agent"]["instruction"] = f"Use the key {KEY}. Be brief."
    adknb.step(scenario).resume().to_test(tmp_path / "test_turn.py")
    recording = tmp_path / "test_turn.recording.json"
    assert KEY not in recording.read_text("utf-8") + (tmp_path / "test_turn.py").read_text("utf-8")
    assert run_pytest(tmp_path, "test_turn.py").returncode == 0
    recording.write_text(
        recording.read_text("utf-8").replace('"instruction": "Use', '"instruction": "Never use'), "utf-8"
    )
    done = run_pytest(tmp_path, "test_turn.py")
    assert done.returncode == 1
    assert "Never use the key" in done.stdout


def test_a_secret_in_the_agents_code_does_not_fail_the_test(tmp_path: Path, monkeypatch: Any) -> None:
    agent, dbg = secret_run()
    monkeypatch.setattr(sys.modules[__name__], "the_agent", agent, raising=False)
    dbg.to_test(tmp_path / "test_turn.py", agent=f"{__name__}:the_agent", redact=["cust-[0-9]+", "log me"])
    kept = (tmp_path / "test_turn.py").read_text("utf-8") + (tmp_path / "test_turn.recording.json").read_text("utf-8")
    for secret in ("hunter2", "tok-123", "AIza", "cust-4711", "log me"):
        assert secret not in kept


@pytest.mark.parametrize("where", ["", "__main__:agent"])
def test_an_agent_of_a_notebook_is_refused_with_advice(where: str, tmp_path: Path) -> None:
    dbg = Lab().step().resume()
    with pytest.raises(AgentNeeded, match=r"agent 'lab' stands in no module .* Write an agent in a module"):
        dbg.to_test(tmp_path / "test_turn.py", agent=where)
    assert list(tmp_path.iterdir()) == []


def test_main_in_a_fresh_python_is_refused_too(tmp_path: Path) -> None:
    code = MODULE + "\nimport adknb\nadknb.step(agent, 'hi').resume().to_test('test_turn.py')\n"
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=env, capture_output=True, text=True, check=False
    )
    assert "AgentNeeded: the agent 'weather_agent' stands in no module" in done.stderr
    assert 'agent="my_agents:agent"' in done.stderr


@pytest.mark.parametrize("where", ["kept_agents:agent", "kept_agents:make", "kept_agents:runner", ""])
def test_the_place_may_be_an_agent_a_function_a_runner_or_be_found(where: str, project: Path) -> None:
    import kept_agents

    adknb.step(kept_agents.agent, "hi").until(at("model")).to_test(project / "test_turn.py", agent=where)
    document = json.loads((project / "test_turn.recording.json").read_text("utf-8"))
    assert document["agent"]["path"] == (where or "kept_agents:agent")


def test_what_would_not_pass_is_not_written(project: Path) -> None:
    import kept_agents

    other = LlmAgent("weather_agent", model=kept_agents.model, instruction="I am another.")
    dbg = adknb.step(other, "hi").until(at("model")).step()
    with pytest.raises(CannotSave, match=r"'instruction: You tell the weather.*told 'instruction: I am another"):
        dbg.to_test(project / "test_turn.py", agent="kept_agents:agent")
    with pytest.raises(BadData, match=r"a pytest file ends in \.py"):
        dbg.to_test(project / "test_turn.ipynb")
    assert not (project / "test_turn.py").exists()


def test_nothing_that_a_model_or_user_said_runs_in_the_test(tmp_path: Path) -> None:
    nasty = '"""\nimport os; raise SystemExit(3)\n"""\\" \'\'\' {1/0} \u202e \ud83d'
    scenario = golden("seed/two_tools_merge_in_call_order")
    scenario["name"] = scenario["turns"][0]["message"]["parts"][0]["text"] = nasty
    adknb.step(scenario).resume().to_test(tmp_path / "test_turn.py")
    assert run_pytest(tmp_path, "test_turn.py").returncode == 0


def test_long_requests_stay_in_the_recording(tmp_path: Path) -> None:
    scenario = golden("seed/two_tools_merge_in_call_order")
    scenario["agent"]["instruction"] = "\n".join(f"Rule {n}." for n in range(60))
    adknb.step(scenario).resume().to_test(tmp_path / "test_turn.py")
    assert 'assert run.request(1) == run.recorded["requests"][0]' in (tmp_path / "test_turn.py").read_text("utf-8")
    assert run_pytest(tmp_path, "test_turn.py").returncode == 0


def test_a_notebook_passes_under_nbval_and_fails_when_the_instruction_changes(project: Path) -> None:
    import kept_agents

    adknb.step(kept_agents.agent, "How is the weather?").resume().to_notebook(project / "turn.ipynb")
    first = (project / "turn.ipynb").read_bytes()
    adknb.step(kept_agents.agent, "How is the weather?").resume().to_notebook(project / "turn.ipynb")
    assert (project / "turn.ipynb").read_bytes() == first
    nbval = ("-p", "nbval.plugin", "--nbval", "--nbval-current-env", "turn.ipynb")
    done = run_pytest(project, *nbval)
    assert (done.returncode, "6 passed" in done.stdout) == (0, True), done.stdout
    source = (project / "kept_agents.py").read_text("utf-8")
    (project / "kept_agents.py").write_text(source.replace("Be brief.", "Be thorough."), "utf-8")
    done = run_pytest(project, *nbval)
    assert done.returncode == 1
    assert "Be thorough." in done.stdout


def test_without_nbformat_a_notebook_says_which_extra_brings_it(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setitem(sys.modules, "nbformat", None)
    with pytest.raises(CannotSave, match=r"nbformat, which is not installed: pip install 'adknb\[lab\]'"):
        Lab().step().to_notebook(tmp_path / "turn.ipynb")


def test_bytes_are_base64_in_the_file(tmp_path: Path) -> None:
    lab = Lab()
    lab.step().until(at(tool="weather", phase="after")).save(tmp_path / "a.json")
    effect = first_with(json.loads((tmp_path / "a.json").read_text("utf-8")), "effect")["effect"]
    assert base64.urlsafe_b64decode(effect["artifacts"]["map.png"]["inlineData"]["data"]) == b"\xff\x00"
