"""What a stage wrote into the request, told from sizes."""

import pytest
from google.genai import types

import adknb
from adknb import LlmAgent, ParallelAgent, ScriptedModel
from adknb.engine.model import LLMRequest
from adknb.engine.stops import Phase, Seam, Stop
from adknb.engine.tool import FunctionTool
from adknb.stepper.dumps import Dumps
from adknb.stepper.stages import Stages


def get_weather(city: str) -> dict:
    """Tells the weather."""
    return {}


def say(request):
    request.contents.append(types.Content(role="user", parts=[types.Part(text="hi")]))


STAGES = [
    ("settings", lambda r: setattr(r.config, "temperature", 0.2), "1 setting"),
    ("one paragraph", lambda r: r.append_instructions("Be brief."), "1 paragraph"),
    ("two paragraphs", lambda r: (r.append_instructions("a"), r.append_instructions("b")), "2 paragraphs"),
    ("a text of two paragraphs", lambda r: setattr(r.config, "system_instruction", "a\n\nb"), "2 paragraphs"),
    ("contents", lambda r: [say(r) for _ in range(3)], "3 contents"),
    ("a tool and its declaration", lambda r: r.pack_tool(FunctionTool(get_weather)), "1 declaration"),
    ("a tool the model is not told of", lambda r: r.tools.update(hidden=1), "1 tool"),
    ("several", lambda r: (r.append_instructions("a"), say(r)), "1 paragraph, 1 content"),
    ("nothing", lambda r: None, ""),
]


@pytest.mark.parametrize("work, said", [s[1:] for s in STAGES], ids=[s[0] for s in STAGES])
def test_a_stage_is_told_by_what_the_request_gained(work, said):
    request, stages = LLMRequest(model="m"), Stages(Dumps())
    assert stages.at(Stop(Seam.PROCESSOR, "p", Phase.BEFORE, {"request": request})) == ""
    work(request)
    assert stages.at(Stop(Seam.PROCESSOR, "p", Phase.AFTER, {"request": request})) == said


def test_what_a_reader_edits_between_two_stages_is_nobody_elses():
    request, stages = LLMRequest(model="m"), Stages(Dumps())
    stages.at(Stop(Seam.PROCESSOR, "a", Phase.AFTER, {"request": request}))
    say(request)
    stages.edited(request, [{"op": "add", "path": "/request/contents/0", "value": {}}])
    stages.at(Stop(Seam.PROCESSOR, "b", Phase.BEFORE, {"request": request}))
    assert stages.at(Stop(Seam.PROCESSOR, "b", Phase.AFTER, {"request": request})) == ""


def test_a_callback_that_drops_contents_is_seen():
    request, stages = LLMRequest(model="m"), Stages(Dumps())
    say(request)
    stages.at(Stop(Seam.BEFORE_MODEL, "trim", Phase.BEFORE, {"request": request}))
    request.contents.clear()
    assert stages.at(Stop(Seam.BEFORE_MODEL, "trim", Phase.AFTER, {"request": request})) == "−1 content"


def test_a_new_request_starts_from_nothing():
    stages = Stages(Dumps())
    for n in (2, 1):
        request = LLMRequest(model="m")
        stages.at(Stop(Seam.PROCESSOR, "contents", Phase.BEFORE, {"request": request}))
        for _ in range(n):
            say(request)
        said = stages.at(Stop(Seam.PROCESSOR, "contents", Phase.AFTER, {"request": request}))
        assert said.startswith(f"{n} content")


def test_agents_side_by_side_are_told_what_their_own_stages_wrote():
    agents = [
        LlmAgent(name, model=ScriptedModel(["done"]), instruction=f"You are {name}.") for name in ("left", "right")
    ]
    dbg = adknb.step(ParallelAgent("both", sub_agents=agents), "go").resume()
    for name in ("left", "right"):
        wrote = {s.name: s.wrote for s in dbg.stops if s.agent == name and s.seam == "processor" and s.phase == "after"}
        assert (wrote["instructions"], wrote["compaction"], wrote["contents"]) == ("1 paragraph", "", "1 content")
