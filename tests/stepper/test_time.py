"""Going back, forking, beginning anew: a second run from the journal. Models and tools that ran are never run twice."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest
from google.genai import types

import adknb
from adknb import LlmAgent, RunConfig, ScriptedModel, Stepper, at, event
from adknb.engine.platform import interleaved
from adknb.engine.processors import REQUEST_PROCESSORS
from adknb.engine.response import LLMResponse
from adknb.scenarios import load
from adknb.stepper.journal import ReplayDiverged


def chunk(text: str) -> LLMResponse:
    return LLMResponse(content=types.Content(role="model", parts=[types.Part(text=text)]), partial=True)


class Lab:
    """An agent whose model streams and whose tools leave things behind; counts every real use."""

    def __init__(self) -> None:
        self.used: list[str] = []
        self.printed: list[str] = []
        self.rename = "Hangzhou"

    def agent(self) -> LlmAgent:
        def model(request: Any) -> Any:
            """Streams a call; then, once it has answers, an answer about them."""
            answers = [p.function_response.response for c in request.contents for p in c.parts if p.function_response]
            self.used.append("model")
            if not answers:
                parts = [
                    types.Part(function_call=types.FunctionCall(name=n, args={"city": "hz"}))
                    for n in ("weather", "news")
                ]
                return [chunk("I look"), types.Content(role="model", parts=parts)]
            return [chunk("It"), chunk("It is"), f"It is {answers}"]

        def weather(ctx: Any, city: str) -> dict[str, Any]:
            """Weather."""
            self.used.append(f"weather {city}")
            ctx.state["seen"] = [*ctx.state.get("seen", []), city]
            ctx.save_artifact("map.txt", f"map of {city}")
            return {"temperature": 26}

        def news(ctx: Any, city: str) -> dict[str, Any]:
            """News."""
            self.used.append(f"news {city}")
            ctx.state["read"] = city
            return {"news": "none"}

        def romanise(ctx: Any, tool: Any, args: dict[str, Any]) -> None:
            self.printed.append(args["city"])
            args["city"] = self.rename

        return LlmAgent("lab", model=model, tools=[weather, news], before_tool=romanise, instruction="Seen: {seen?}")

    def step(self, **how: Any) -> Stepper:
        return adknb.step(self.agent(), ["how is it?", "and now?"], **how)


def story(dbg: Stepper) -> Any:
    """What a run has told so far, ids and times included, and where it stands."""
    events = [e.to_json() for e in dbg.events]
    told = [str(s) for s in dbg.stops], events, dbg.requests, dict(dbg.state), dbg.tools_run, dbg.request_now
    return copy.deepcopy((*told, str(dbg.here)))


PLACES = [
    pytest.param(lambda d: d, id="at the first stop"),
    pytest.param(lambda d: d.until(at("contents")), id="behind a processor"),
    pytest.param(lambda d: d.until(at("model")), id="before the model"),
    pytest.param(lambda d: d.until(at("model", phase="after")), id="right behind a chunk"),
    pytest.param(lambda d: d.until(event(partial=True)), id="between two chunks"),
    pytest.param(lambda d: d.until(event(call="weather")), id="behind the stream"),
    pytest.param(lambda d: d.until(at(tool="weather")), id="before a tool"),
    pytest.param(lambda d: d.until(at(tool="weather", phase="after")), id="right behind a tool"),
    pytest.param(lambda d: d.until(at(tool="news", phase="after")), id="behind the other tool"),
    pytest.param(lambda d: d.until(at("merge", phase="after")), id="behind the merge"),
    pytest.param(lambda d: d.until(at("model", step=2, phase="after")).step().step(), id="in the second stream"),
    pytest.param(lambda d: d.until(at("turn")), id="at the turn's end"),
    pytest.param(lambda d: d.until(at("contents", turn=2)), id="in the next turn"),
    pytest.param(lambda d: d.resume(), id="at the end"),
]


@pytest.mark.parametrize("go", PLACES)
def test_a_fork_stands_where_the_run_stands_and_nothing_ran_again(go: Any) -> None:
    lab = Lab()
    dbg = lab.step()
    go(dbg)
    used = list(lab.used)
    fork = dbg.fork()
    assert lab.used == used
    assert story(fork) == story(dbg)


@pytest.mark.parametrize("go", PLACES)
def test_both_runs_go_on_to_the_same_end(go: Any) -> None:
    lab = Lab()
    dbg = lab.step()
    go(dbg)
    fork = dbg.fork()
    dbg.resume()
    left = len(lab.used)
    fork.resume()
    assert story(fork) == story(dbg)
    alone = Lab().step()
    alone.resume()
    assert story(dbg) == story(alone)
    assert left <= len(lab.used) <= 2 * left


@pytest.mark.parametrize("number", range(0, 121, 6))
def test_rewind_stands_at_any_stop_as_it_was_and_uses_nothing(number: int) -> None:
    lab = Lab()
    dbg = lab.step()
    while dbg.here is not None and len(dbg.stops) <= number:
        dbg.step()
    was = story(dbg)
    dbg.resume()
    used = list(lab.used)
    dbg.rewind(number)
    assert (story(dbg), lab.used) == (was, used)


def test_back_goes_one_stop_back_and_step_comes_forward_again() -> None:
    dbg = Lab().step().until(at(tool="weather"))
    before = story(dbg)
    assert story(dbg.step().back()) == before
    assert str(Lab().step().back().here) == "before append user"
    end = Lab().step().resume()
    assert str(end.back().here) == "after turn turn 2"


def test_what_the_reader_did_comes_along() -> None:
    lab = Lab()
    dbg = lab.step()
    dbg.until(at("model")).request.contents[0].parts[0].text = "how warm is it?"  # type: ignore[union-attr,index]
    dbg.until(at(tool="weather")).args["city"] = "Oslo"  # type: ignore[index]
    dbg.until(at(tool="news")).skip({"news": "made up"})
    dbg.until(at("merge", phase="after")).event.actions.state_delta["noted"] = True  # type: ignore[union-attr]
    fork = dbg.fork()  # the last edit has not been resumed yet
    assert fork.event.actions.state_delta["noted"] is True  # type: ignore[union-attr]
    for run in (dbg, fork):
        run.until(at("model", step=2))
        assert run.requests[0]["contents"][0]["parts"][0]["text"] == "how warm is it?"
        assert run.state["noted"] is True
        answers = [p["functionResponse"]["response"] for p in run.request_now["contents"][-1]["parts"]]  # type: ignore[index]
        assert answers == [{"temperature": 26}, {"news": "made up"}]
        assert run.tools_run == ["weather"]
    assert lab.used.count("weather Oslo") == 1


@pytest.mark.parametrize(
    "edit",
    [
        lambda d: d.request.contents[0].parts.append(types.Part(text="more")),
        lambda d: d.request.contents.insert(0, types.Content(role="user", parts=[types.Part(text="first")])),
        lambda d: setattr(d.request.config, "temperature", 0.5),
        lambda d: d.request.append_instructions("Be kind."),
        lambda d: d.request.contents.pop(),
        lambda d: d.state.update(seen=["Rome"]),
    ],
)
def test_an_edit_made_with_ordinary_python_is_a_patch_and_is_put_back(edit: Any) -> None:
    dbg = Lab().step().until(at("contents"))
    assert dbg.edits == []
    edit(dbg)
    assert dbg.edits != []
    assert story(dbg.fork()) == story(dbg)


def test_an_edited_chunk_is_put_back_in_the_middle_of_a_stream() -> None:
    dbg = Lab().step().until(at("model", step=2, phase="after"))
    dbg.response.content.parts[0].text = "IT"  # type: ignore[union-attr,index]
    fork = dbg.fork().until(event(partial=True))
    assert fork.event.content.parts[0].text == "IT"  # type: ignore[union-attr,index]


def test_a_failure_made_by_hand_comes_along() -> None:
    dbg = Lab().step().until(at(tool="weather")).fail(TimeoutError("slow")).until(at("contents", step=2))
    assert story(dbg.fork()) == story(dbg)
    outcome = dbg.request_now["contents"][-1]["parts"][0]["functionResponse"]["response"]  # type: ignore[index]
    assert outcome == {"error": "slow"}


def test_processors_and_callbacks_run_again_so_a_changed_one_shows() -> None:
    lab = Lab()
    dbg = lab.step().until(at(tool="weather"))
    lab.rename = "Oslo"
    dbg.rewind(0).until(at(tool="weather", phase="after"))
    assert lab.used[1:] == ["weather Oslo"]  # the model was answered by its tape; the tool had not run yet


def test_a_divergence_is_named_and_both_runs_stay_usable() -> None:
    agent = LlmAgent("a", model=ScriptedModel(["one", "two"]), request_processors=list(REQUEST_PROCESSORS))
    dbg = adknb.step(agent, ["hi", "there"]).until(at("contents"))
    del agent.request_processors[2]
    with pytest.raises(ReplayDiverged, match=r"stop 6 was .* rewind\(6\)") as told:
        dbg.fork()
    assert told.value.number == 6
    assert str(dbg.here) == "after processor contents"
    assert str(dbg.rewind(5).step().here) == "before processor confirmation"
    assert dbg.resume().error is None


@pytest.mark.parametrize("again, times", [(Stepper.restart, 1), (lambda d: d.restart(fresh=True), 2)])
def test_restart_begins_anew_and_asks_again_only_when_told_to(again: Any, times: int) -> None:
    lab = Lab()
    dbg = lab.step().resume()
    first, used = story(dbg), len(lab.used)
    again(dbg).resume()
    assert (story(dbg), len(lab.used)) == (first, times * used)


def test_going_on_from_a_rewind_uses_only_what_is_asked_something_else() -> None:
    lab = Lab()
    dbg = lab.step().resume()
    used = len(lab.used)
    dbg.rewind(3).resume()
    assert len(lab.used) == used  # the same questions: nothing is asked again
    dbg.rewind(3).until(at(tool="weather")).args["city"] = "Oslo"  # type: ignore[index]
    dbg.until(at("model", step=2))
    assert lab.used[used:] == ["weather Oslo"]  # the model's first answer and the other tool's are kept
    dbg.resume()
    assert lab.used[used + 1 :] == ["model", "model"]  # their requests hold another answer now


def test_a_double_that_counts_answers_a_fork_as_it_answered_the_run() -> None:
    agent = LlmAgent("a", model=ScriptedModel(["one", "two", "three"]))
    dbg = adknb.step(agent, ["1", "2", "3"]).until(at("model", turn=2))
    fork = dbg.fork()
    dbg.resume()
    fork.resume()
    said = [[e.content.parts[0].text for e in d.events if e.author == "a"] for d in (dbg, fork)]  # type: ignore[union-attr,index]
    assert said == [["one", "two", "three"]] * 2


def test_a_fork_taken_before_a_double_was_used_starts_where_the_run_started() -> None:
    agent = LlmAgent("a", model=ScriptedModel(["one", "two"]))
    dbg = adknb.step(agent, ["1", "2"]).until(at("model"))
    fork = dbg.fork()
    dbg.resume()
    assert [e.content.parts[0].text for e in fork.resume().events] == ["1", "one", "2", "two"]  # type: ignore[union-attr,index]


def test_files_the_runner_held_before_are_there_in_a_fork() -> None:
    runner = adknb.Runner(LlmAgent("a", model=ScriptedModel(["one"]), instruction="Read {artifact.note.txt}."))
    session = runner.session_service.create("adknb", "user", "session-1")
    runner.artifact_service.save(session, "note.txt", types.Part(text="the note"))
    fork = adknb.step(runner, "hi").until(at("instructions")).fork()
    assert "Read the note." in fork.request.config.system_instruction.parts[0].text  # type: ignore[union-attr,index]


def test_nothing_is_printed_twice(capsys: Any) -> None:
    def loud(ctx: Any) -> None:
        print("before agent")

    dbg = adknb.step(LlmAgent("a", model=ScriptedModel(["one"]), before_agent=loud), "hi").until(at("model"))
    dbg.fork()
    assert capsys.readouterr().out == "before agent\n"


def test_a_runner_with_its_own_clock_and_session_is_stepped_without_touching_it_twice() -> None:
    lab = Lab()
    runner = adknb.Runner(lab.agent())
    list(runner.run("before"))
    stored = len(runner.session_service.get("adknb", "user", "session-1").events)
    dbg = adknb.step(runner, "now", runner=interleaved).until(at("model"))
    fork = dbg.fork()
    assert story(fork) == story(dbg)
    fork.resume()
    kept = runner.session_service.get("adknb", "user", "session-1").events
    assert len(kept) == stored + 1  # the message: what the fork has said since is its own


SOME = ["seed/two_tools_merge_in_call_order", "seed/confirmation_approved", "loop/3", "callbacks/11", "delegation/3", "workflow/2",
        "parallel/1", "gemini/2", "compaction/1", "transfer/4", "mixed/9", "structured/3"]  # fmt: skip


@pytest.mark.parametrize("name", SOME)
def test_a_scenario_is_the_same_from_every_stop(name: str) -> None:
    scenario = next(s for s in load("tests/golden/scenarios.jsonl") if s["name"] == name)
    whole = adknb.step(scenario).resume()
    end = story(whole)
    for number in range(0, len(whole.stops), max(1, len(whole.stops) // 7)):
        whole.rewind(number).resume()
        assert story(whole) == end, f"from stop {number}"


class GoesOn:
    """A model whose adapter writes into the request, as Gemini's does when the last content is the model's."""

    name = "goes-on"

    def generate_content(self, request: Any, stream: bool) -> Any:
        request.contents.append(types.Content(role="user", parts=[types.Part(text="Go on.")]))
        request.contents[0].parts[0].text += "!"
        yield "fine"


def test_what_an_adapter_writes_into_the_request_is_written_by_a_tape_too(tmp_path: Path) -> None:
    dbg = adknb.step(LlmAgent("agent", model=GoesOn()), "hi").until(at("model", phase="after"))
    for run in (
        dbg,
        dbg.fork(),
        dbg.save(tmp_path / "t.json") and adknb.replay(tmp_path / "t.json", agent=LlmAgent("agent", model=GoesOn())),
    ):
        texts = [content["parts"][0]["text"] for content in run.request_now["contents"]]
        assert texts == ["hi!", "Go on."]
        assert run.requests[0]["contents"] == [{"role": "user", "parts": [{"text": "hi"}]}]


class Streams:
    """A model that says whether it was asked to stream."""

    name = "streams"

    def generate_content(self, request: Any, stream: bool) -> Any:
        yield from ["a ", "b"] if stream else ["whole"]


@pytest.mark.parametrize(
    "given, asked", [(None, "whole"), (RunConfig(), "whole"), (RunConfig(streaming_mode="sse"), "b")]
)
def test_a_run_config_holds_for_the_run_its_forks_and_its_replay(given: Any, asked: str, tmp_path: Path) -> None:
    agent = LlmAgent("agent", model=Streams())
    dbg = adknb.step(agent, ["one", "two"], run_config=given).until("model")
    fork = dbg.fork()
    dbg.save(tmp_path / "t.json")
    for run in (dbg, fork, adknb.replay(tmp_path / "t.json", agent=agent).restart(fresh=True)):
        run.resume()
        assert [e.content.parts[0].text for e in run.events if e.author == "agent"][-1] == asked


def test_a_scenario_brings_its_own_run_config() -> None:
    with pytest.raises(TypeError, match="scenario\\['run_config'\\]"):
        adknb.step(adknb.scenario("01a-one-turn"), run_config=RunConfig())
