"""The text form: what a notebook's committed output says of a stop."""

import pytest

import adknb
from adknb import at
from adknb.widgets.text import describe
from tests.widgets.runs import HOSTILE, golden, names, said, weather

AT_STOPS = [
    (
        "the first stop",
        lambda d: d,
        "stop 0 · before append user · turn 1\n  event     user: 杭州天气怎么样？\n  session   0 events",
    ),
    (
        "before a processor: nothing of this request yet",
        lambda d: d.step().step(),
        "stop 2 · before processor basic · turn 1, weather_agent, step 1\n"
        "  request   offline-demo · nothing else yet\n"
        "  session   1 event · last user: 杭州天气怎么样？",
    ),
    (
        "after instructions: the paragraph is shown",
        lambda d: d.until(at("confirmation")).next(),
        "stop 11 · after processor instructions · turn 1, weather_agent, step 1\n"
        "  changed   system instruction new · Use get_weather to answer weather questions.\n"
        "  request   offline-demo · 1 paragraph · 0 contents · declares nothing\n"
        "  session   1 event · last user: 杭州天气怎么样？",
    ),
    (
        "after identity: only the words that are new",
        lambda d: d.until(at("instructions")).next(),
        "stop 13 · after processor identity · turn 1, weather_agent, step 1\n"
        '  changed   system instruction changed · +“You are an agent. Your internal name is "weather_agent".”\n'
        "  request   offline-demo · 2 paragraphs · 0 contents · declares nothing\n"
        "  session   1 event · last user: 杭州天气怎么样？",
    ),
    (
        "a no-op says that it is one, and that it changed nothing",
        lambda d: d.until(at("contents")).next(),
        "stop 19 · after processor planning (a no-op) · turn 1, weather_agent, step 1\n"
        "  changed   nothing\n"
        "  request   offline-demo · 2 paragraphs · 1 content · declares nothing\n"
        "  session   1 event · last user: 杭州天气怎么样？",
    ),
    (
        "before a tool: the call",
        lambda d: d.until(at(tool="get_weather")),
        "stop 39 · before tool get_weather · turn 1, weather_agent, step 1\n"
        '  call      get_weather(city="Hangzhou")\n'
        "  request   offline-demo · 2 paragraphs · 1 content · declares get_weather\n"
        '  session   2 events · last weather_agent: get_weather(city="Hangzhou")',
    ),
    (
        "after a tool: what it came to",
        lambda d: d.until(at(tool="get_weather")).next(),
        "stop 40 · after tool get_weather · turn 1, weather_agent, step 1\n"
        '  call      get_weather(city="Hangzhou")\n'
        '  came to   {"city": "Hangzhou", "temperature": 26}\n'
        "  request   offline-demo · 2 paragraphs · 1 content · declares get_weather\n"
        '  session   2 events · last weather_agent: get_weather(city="Hangzhou")',
    ),
    (
        "the second request, compared with the first",
        lambda d: d.until(at("model")).until(at("contents", step=2)),
        "stop 62 · after processor contents · turn 1, weather_agent, step 2\n"
        '  changed   contents[1] new · model: get_weather(city="Hangzhou")\n'
        '            contents[2] new · user: get_weather: {"city": "Hangzhou", "temperature": 26}\n'
        "  request   offline-demo · 2 paragraphs · 3 contents · declares nothing\n"
        '  session   3 events · last weather_agent: get_weather: {"city": "Hangzhou", "temperature": 26}',
    ),
]


@pytest.mark.parametrize("go, text", [case[1:] for case in AT_STOPS], ids=[case[0] for case in AT_STOPS])
def test_a_stop_is_told_in_a_few_lines(go, text):
    assert describe(go(weather())) == text


def test_the_repr_of_a_stepper_is_its_text_form():
    dbg = weather()
    assert repr(dbg) == describe(dbg)


def test_a_run_that_is_over_says_so():
    assert describe(weather().resume()).splitlines()[0] == "run over · 1 turn, 85 stops"


def test_a_turn_that_ended_with_an_error_says_which():
    dbg = said("one")
    dbg.until(at("model")).fail("the line is dead").finish()
    assert "problem   Turn 1 ended with RuntimeError: the line is dead" in describe(dbg).replace("  problem", "problem")


@pytest.mark.parametrize("name", [n for f in ("seed", "callbacks", "loop") for n in names(f)[:6]])
def test_every_stop_of_a_run_is_told_the_same_way_twice_without_addresses_or_times(name):
    def told():
        dbg, out = adknb.step(golden(name)), []
        while dbg.here is not None and len(out) < 150:
            out.append(describe(dbg))
            dbg.step()
        return out

    first = told()
    assert first == told()
    assert not any(" at 0x" in text or "object at" in text for text in first)


@pytest.mark.parametrize("text", HOSTILE)
def test_any_text_stays_on_its_line(text):
    dbg = said(text, user=text)
    dbg.until(at("model")).next()
    told = describe(dbg)
    assert all(len(line) <= 120 for line in told.splitlines())
    assert all(line.startswith(("stop ", "  ")) for line in told.split("\n"))
    told.encode()
