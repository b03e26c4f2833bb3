"""The request after every stage, and who wrote each paragraph."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import pytest
from google.genai import types

import adknb
from adknb import LlmAgent, Runner, ScriptedModel, at
from adknb.engine.platform import counted
from adknb.engine.processors import REQUEST_PROCESSORS

TESTS = Path(__file__).parents[1]
LESSON = "02-who-wrote-the-request"


def _compare():
    spec = importlib.util.spec_from_file_location("golden_compare", TESTS / "golden" / "compare.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


compare = _compare()


def normal(request):
    return {
        "model": request["model"],
        "contents": [compare.norm_content(content) for content in request["contents"]],
        "config": compare.norm_config(request["config"]),
        "tools": request["tools"],
    }


def reference():
    """The stages as the reference leaves them, each with its whole request: [(name, changed, request)]."""
    request, told = None, []
    for stage in json.loads((TESTS / "course" / f"{LESSON}.stages.json").read_text(encoding="utf-8")):
        request = stage.get("request", request)
        told.append((stage["stage"], stage["changed"], request))
    return told


GO_THERE = {
    "in one go": lambda dbg: dbg.until("tool_declaration"),
    "by resuming to a breakpoint": lambda dbg: dbg.break_at("tool_declaration").resume(),
    "step by step": lambda dbg: [
        dbg.step() for _ in range(100) if str(dbg.here) != "after tool_declaration tool_declaration"
    ],
    "back from the model": lambda dbg: dbg.until("model").back(),
}


@pytest.mark.parametrize("go", GO_THERE.values(), ids=GO_THERE)
def test_every_stage_leaves_what_the_reference_leaves(go):
    dbg = adknb.step(adknb.scenario(LESSON))
    go(dbg)
    assert [s.name for s in dbg.stages] == [name for name, _, _ in reference()]
    for stage, (name, changed, request) in zip(dbg.stages, reference(), strict=True):
        assert list(stage.changed) == changed, name
        assert compare.first_difference(request, normal(stage.request)) is None, name


def test_each_paragraph_has_its_writer():
    dbg = adknb.step(adknb.scenario(LESSON)).until(at("model", step=2))
    assert [(p.text[:16], p.stage) for p in dbg.paragraphs] == [
        ("Library: East Br", "instructions"),
        ("You serve card 4", "instructions"),
        ("You are an agent", "identity"),
        ("These agents can", "transfer"),
    ]


def test_the_stages_grow_as_the_step_goes_on_and_each_step_begins_anew():
    dbg = adknb.step(adknb.scenario(LESSON))
    assert dbg.stages == [] and dbg.paragraphs == []
    seen = [len(dbg.until(at(name, step=step)).stages) for name, step in [("basic", 1), ("contents", 1), ("basic", 2)]]
    assert seen == [2, 9, 2]
    assert [s.name for s in dbg.resume().stages][-1] == "tool_declaration"  # over: the last one can still be looked at


def weather(*answers, **given):
    return LlmAgent("agent", model=ScriptedModel(list(answers)), instruction="Be brief.", **given)


def add_the_day(ctx, request):
    request.append_instructions("Today is Saturday.")


def shout(ctx, request, flow):
    request.contents[0].parts[0].text = "HELLO"


def test_a_callback_before_the_model_is_a_stage():
    dbg = adknb.step(weather("hi", before_model=add_the_day), "hello").until("model")
    assert dbg.stages[-1].name == "add_the_day" and dbg.stages[-1].changed == ("config",)
    assert dbg.paragraphs[-1] == ("Today is Saturday.", "add_the_day")


def test_a_processor_that_writes_into_a_content_is_told():
    agent = weather("hi", request_processors=[*REQUEST_PROCESSORS, shout])
    stages = {s.name: s for s in adknb.step(agent, "hello").until("model").stages}
    assert stages["contents"].request["contents"][0]["parts"] == [{"text": "hello"}]
    assert stages["shout"].request["contents"][0]["parts"] == [{"text": "HELLO"}]
    assert stages["shout"].changed == ("contents",)


@pytest.mark.parametrize("events", [0, 40])
def test_what_a_reader_edits_is_a_stage_of_its_own(events):
    runner = Runner(weather("hi"), platform=counted())
    session = runner.session_service.create("adknb", "user", "session-1")
    for n in range(events):
        said = types.Content(role="user", parts=[types.Part(text=str(n))])
        runner.session_service.append_event(session, adknb.Event(author="user", content=said))
    dbg = adknb.step(runner, "hello").until("transfer")
    dbg.request.contents[-1].parts[0].text = "edited"
    dbg.request.append_instructions("And kind.")
    for run in (dbg, dbg.fork()):
        run.until("model")
        stages = {s.name: s for s in run.stages}
        assert stages["reader"].changed == ("contents", "config")
        last = {
            name: s.request["contents"][-1]["parts"][0]["text"] for name, s in stages.items() if s.request["contents"]
        }
        before = [name for name in ("contents", "planning", "transfer") if last[name] != "hello"]
        assert before == [] and last["reader"] == last["display_name"] == "edited"
        assert run.paragraphs == [
            ("Be brief.", "instructions"),
            ('You are an agent. Your internal name is "agent".', "identity"),
            ("And kind.", "reader"),
        ]


def test_stages_that_change_nothing_share_what_there_is():
    dbg = adknb.step(weather("hi"), "hello").until("model")
    stages = {s.name: s for s in dbg.stages}
    assert stages["planning"].left is stages["display_name"].left
    assert stages["planning"].left.contents is stages["contents"].left.contents
    assert stages["tools"].left is stages["basic"].left


def test_agents_side_by_side_keep_their_own():
    dbg = adknb.step(adknb.scenario("03a-who-sees-what"))
    dbg.until(at("model", agent="desk_10"))
    assert [p.stage for p in dbg.paragraphs if "desk_10" in p.text] == ["identity"]
    assert [s.name for s in dbg.stages] == [name for name, _, _ in reference()]
