"""The views as text: what a notebook's output compares."""

import re

import pytest

import adknb
from adknb import at
from adknb.engine.errors import BadData
from adknb.engine.llm_agent import LlmAgent
from adknb.engine.model import FunctionModel
from adknb.widgets.panel.desk import TABS
from adknb.widgets.text_forms import FORMS, text_form
from tests.widgets.runs import HOSTILE, weather
from tests.widgets.runs_a import alone, family, merging, relay, trip


def test_every_view_has_a_text_form():
    assert set(TABS) - set(FORMS) == {"Request", "Events"}  # these are the Stepper's own: its repr, and table()
    with pytest.raises(BadData, match="there is no view 'Weather'; there are Contents, Branches"):
        weather().text("Weather")
    dbg = weather().until(at("contents"))
    assert (dbg.text("Contents"), dbg.text()) == (text_form(dbg, "Contents"), repr(dbg))


@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize("run", [weather, trip, merging, family, lambda: weather().resume()])
def test_a_text_form_is_the_same_in_every_run_and_holds_no_address(name, run):
    form = text_form(run(), name)
    assert form == text_form(run(), name.lower())
    assert form.splitlines()[0].split()[0] == name.lower()
    assert not re.search(r"0x[0-9a-f]{4,}|/tmp|/root", form)


def test_the_contents_are_told_event_by_event():
    assert text_form(weather().until(at("contents", step=2)), "Contents") == (
        "contents  3 events, 3 contents for weather_agent\n"
        "  #0    user           kept → 0          杭州天气怎么样？\n"
        '  #1    weather_agent  kept → 1          get_weather(city="Hangzhou")\n'
        '  #2    weather_agent  kept → 2          get_weather: {"city": "Hangzhou", "temperature": 26}'
    )


@pytest.mark.parametrize(
    "event, line",
    [
        (6, "left out          other branch: Its branch 'scouts.hotel' is not 'scouts.rail'"),
        (8, "merged → 4        One content holds what event 8 and event 26 answer"),
        (16, "moved → 6         It answers event 11 and goes right behind it."),
        (23, "left out          no such call: No event of the session makes the call 'p-9' that it answers."),
    ],
)
def test_each_event_says_its_fate_and_why(event, line):
    told = text_form(trip(), "Contents").splitlines()[1 + event]
    assert told.startswith(f"  #{event}") and line in told


def test_what_is_added_is_told_behind_the_events():
    agent = LlmAgent("a", FunctionModel(lambda r: "Yes.", name="m"), before_agent=lambda ctx: None)
    dbg = adknb.step(agent, ["hi", "again"]).until(at("contents", turn=2))
    dbg.events[-1].author = "a"
    dbg.events[-1].content.role = "model"
    assert text_form(dbg, "Contents").splitlines()[-1].startswith("  +           added → 3")


def test_long_sessions_are_cut_in_front():
    form = text_form(relay(300), "Contents")
    assert "the last 60 shown" in form.splitlines()[0]
    assert len(form.splitlines()) == 61
    assert len(text_form(alone(300), "Branches").splitlines()[1]) < 160


def test_where_we_are_marks_the_stage_and_who_runs():
    form = text_form(family(), "Where").splitlines()
    assert form[:4] == ["where     6 agents", "  root  llm 2", "    billing  llm 2", "▸     refunds  llm"]
    assert "  root – billing ↓1" in form
    assert "✓ compaction · ▸ contents · (planning)" in "\n".join(form)


def test_hostile_texts_stay_on_their_line():
    answers = iter(HOSTILE)
    agent = LlmAgent("a", FunctionModel(lambda r: next(answers), name="m"), output_key="k")
    dbg = adknb.step(agent, HOSTILE).until(at("contents", turn=len(HOSTILE)))
    for name in FORMS:
        form = text_form(dbg, name)
        form.encode()
        assert "\x1b" not in form and "\u202e" not in form and "\x00" not in form
        assert max(map(len, form.splitlines())) < 400
