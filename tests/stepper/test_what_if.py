"""The same turns with something changed, beside the run: what that does to each request."""

from __future__ import annotations

from typing import Any

import pytest

import adknb
from adknb import LlmAgent, ScriptedModel, at
from adknb.engine.errors import AdknbError
from adknb.engine.processors import REQUEST_PROCESSORS
from adknb.scenarios import load
from adknb.scenarios.weather import QUESTION, weather_agent


def paths(changes: Any) -> list[tuple[str, str]]:
    return [(c.op, c.path) for c in changes]


@pytest.mark.parametrize(
    "changes, first, second",
    [
        ({}, [], []),
        ({"instruction": "Be brief."}, ["/config/systemInstruction/parts/0/text"], ["/config/systemInstruction/parts/0/text"]),
        ({"include_contents": "none"}, [], []),  # one turn: nothing to hide
        ({"request_processors": [p for p in REQUEST_PROCESSORS if p.__name__ != "identity"]},
         ["/config/systemInstruction/parts/0/text"], ["/config/systemInstruction/parts/0/text"]),
    ],
)  # fmt: skip
def test_what_changes_in_each_request(changes: Any, first: list[str], second: list[str]) -> None:
    agent = weather_agent()
    dbg = adknb.step(agent, QUESTION).resume()
    found = dbg.what_if(**changes)
    assert [[p for _, p in paths(r)] for r in found.requests] == [first, second]
    assert agent.instruction == "Use get_weather to answer weather questions."  # the agent itself is as it was
    assert dbg.here is None
    assert len(dbg.requests) == 2


def test_a_stage_left_out_is_where_the_runs_part() -> None:
    dbg = adknb.step(weather_agent(), QUESTION).resume()
    found = dbg.what_if(request_processors=[p for p in REQUEST_PROCESSORS if p.__name__ != "identity"])
    assert (found.here, found.there) == ("before processor identity", "before processor compaction")
    assert repr(found).startswith("the runs part at stop 12: before processor identity · before processor compaction\n")


def test_another_model_script_is_asked_and_the_original_keeps_its_own() -> None:
    agent = LlmAgent("a", model=ScriptedModel(["one"]))
    dbg = adknb.step(agent, "hi").resume()
    found = dbg.what_if(model=ScriptedModel(["two"], name="other"))
    said = [d.events[-1].content.parts[0].text for d in (dbg, found.other)]
    assert said == ["one", "two"]


def test_a_delegated_child_can_be_changed_too() -> None:
    scenario = next(s for s in load("tests/golden/scenarios.jsonl") if s["name"] == "delegation/3")
    dbg = adknb.step(scenario).resume()
    names = [a["name"] for a in scenario["agent"]["sub_agents"]]
    asked = [
        i for i, s in enumerate(s for s in dbg.stops if s.seam == "model" and s.phase == "before") if s.agent in names
    ]
    assert asked
    child = next(s.agent for s in dbg.stops if s.agent in names)
    found = dbg.what_if(child, instruction="Say less.")
    assert any(paths(found.requests[i]) for i in asked if i < len(found.requests))
    assert found.other.error is None or dbg.error is not None


def test_two_forks_are_compared_at_the_first_stop_that_differs() -> None:
    dbg = adknb.step(weather_agent(), QUESTION).until(at(tool="get_weather"))
    other = dbg.fork()
    dbg.resume()
    other.skip({"temperature": -40}).resume()
    found = dbg.compare(other)
    assert found.parted is None  # the same stops
    assert [paths(r) for r in found.requests] == [
        [],
        [("remove", "/contents/2/parts/0/functionResponse/response/city"),
         ("replace", "/contents/2/parts/0/functionResponse/response/temperature")],
    ]  # fmt: skip


@pytest.mark.parametrize(
    "agent, changes, complaint",
    [
        ("weather", {"instruction": "x"}, "there is no agent 'weather'; there are weather_agent"),
        (None, {"colour": "red"}, "what_if cannot change 'colour'"),
    ],
)
def test_what_cannot_be_changed_is_refused(agent: Any, changes: Any, complaint: str) -> None:
    dbg = adknb.step(weather_agent(), QUESTION)
    with pytest.raises(AdknbError, match=complaint):
        dbg.what_if(agent, **changes)


def test_in_the_middle_of_a_run_the_request_under_way_is_compared() -> None:
    dbg = adknb.step(weather_agent(), QUESTION).until(at("contents"))
    found = dbg.what_if(instruction="Be brief.")
    assert (str(found.other.here), found.sent, found.requests) == ("after processor contents", (0, 0), [])
    assert found.present is not None
    assert paths(found.present) == [("replace", "/config/systemInstruction/parts/0/text")]


def test_an_error_of_the_other_run_is_told() -> None:
    dbg = adknb.step(weather_agent(), QUESTION).resume()
    found = dbg.what_if(instruction="Hi {nokey}")
    assert found.error.startswith("StateKeyMissing: ")
    assert "the other run's turn ended with StateKeyMissing" in repr(found)
