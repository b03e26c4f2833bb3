"""Looking at past stops: what each request was at each of them, without running anything again."""

import pytest

import adknb
from adknb import at
from adknb.engine.llm_agent import LlmAgent
from adknb.engine.model import FunctionModel
from tests.widgets.runs import golden, said, weather
from tests.widgets.test_panel import Wire


def seen_on_the_way(dbg):
    """Step through a whole run; gives the request and who wrote its paragraphs, as they were at every stop."""
    seen = []
    while dbg.here is not None:
        seen.append((dbg.request_now if dbg.stages else None, list(dbg.paragraphs)))
        dbg.step()
    return seen


@pytest.mark.parametrize(
    "name",
    [
        "seed/weather_question",
        "callbacks/0",
        "contents/0",
        "loop/0",
        "confirmation/0",
        "seed/two_tools_merge_in_call_order",
    ],
)
@pytest.mark.parametrize("paused", [True, False], ids=["paused at", "run over"])
def test_each_stop_is_shown_as_a_reader_sees_it(name, paused):
    dbg = adknb.step(golden(name))
    seen = seen_on_the_way(dbg)
    there = dbg if paused else adknb.step(golden(name)).resume()
    for number, (request, paragraphs) in enumerate(seen):
        moment = there.past(number)
        assert moment.request == request, (number, str(dbg.stops[number]))
        assert moment.paragraphs == paragraphs, (number, str(dbg.stops[number]))


def test_looking_runs_nothing():
    runs = []

    def seen(name):
        return lambda *args: runs.append(name)

    agent = LlmAgent(
        "a",
        model=FunctionModel(lambda request: runs.append("model") or "yes", name="m"),
        instruction=lambda ctx: runs.append("instruction") or "Be brief.",
        before_model=seen("callback"),
    )
    dbg = adknb.step(agent, "hi").until(at("model", phase="after"))
    wire = Wire(dbg)
    before = list(runs)
    for number in range(len(dbg.stops)):
        wire.send(type="look", stop=number)
        for against in ("stop", "step", "request"):
            wire.send(type="page", name="Request", stop=number, against=against)
    assert runs == before
    assert wire.panel.errors == []


def stop_number(dbg, words):
    return next(r.number for r in dbg.stops if str(r) == words)


SUMS = [
    ("after processor basic", "stop", "No change."),
    ("after processor instructions", "stop", "1 change"),
    ("after processor contents", "stop", "1 change"),
    ("after processor contents", "step", "2 changes"),
    ("before model offline-demo", "stop", "No change."),
    ("before model offline-demo", "request", "Nothing to compare with yet."),
]


@pytest.mark.parametrize("where, against, words", SUMS)
def test_a_past_request_is_compared_with_the_stop_before_it_the_steps_beginning_or_the_last_request(
    where, against, words
):
    wire = Wire(weather().until(at("model")).next())
    page = wire.answer("page", type="page", name="Request", stop=stop_number(wire.stepper, where), against=against)
    assert page["sum"] == words


def test_a_look_says_where_the_stop_stands_and_how_many_events_were_stored_by_then():
    wire = Wire(weather().resume())
    told = [wire.answer("look", type="look", stop=n) for n in range(len(wire.stepper.stops))]
    assert told[0]["events"] == 0
    assert [t["events"] for t in told] == sorted(t["events"] for t in told)
    assert told[-1]["events"] == 4
    there = told[stop_number(wire.stepper, "after processor contents")]["at"]
    assert (there["crumb"], there["name"], there["phase"]) == (
        ["Turn 1", "weather_agent", "Step 1"],
        "contents",
        "after",
    )


def test_a_session_that_was_there_before_the_run_counts():
    runner = adknb.Runner(LlmAgent("a", model=FunctionModel(lambda request: "yes", name="m")))
    session = runner.session_service.create("adknb", "user", "session-1")
    for text in ("one", "two"):
        runner.session_service.append_event(session, adknb.Event(author="user", content=text_of(text)))
    wire = Wire(adknb.step(runner, "hi").resume())
    assert wire.answer("look", type="look", stop=0)["events"] == 2


def text_of(words):
    from google.genai import types

    return types.Content(role="user", parts=[types.Part(text=words)])


@pytest.mark.parametrize(
    "where, contents", [("after processor instructions", 0), ("after processor contents", 1), ("after model m", 1)]
)
def test_a_turn_that_was_run_over_is_shown_as_it_was_at_each_stop(where, contents):
    dbg = said("one", "two").until(at("model", turn=2))
    number = next(r.number for r in dbg.stops if str(r).startswith(where.removesuffix(" m")))  # in turn 1
    wire = Wire(dbg)
    assert len(dbg.past(number).request["contents"]) == contents
    assert wire.answer("page", type="page", name="Request", stop=number)["stop"] == number
    assert wire.answer("look", type="look", stop=number)["why"] == ""


def test_a_run_that_was_rewound_knows_its_past_too():
    dbg = weather().resume().rewind(12)
    again = weather()
    for _ in range(12):
        again.step()
    assert [dbg.past(n).request for n in range(13)] == [again.past(n).request for n in range(13)]
    with pytest.raises(ValueError, match="there is no stop 13"):
        dbg.past(13)


def test_an_edit_is_in_what_a_later_stop_shows():
    dbg = weather().until(at("contents"))
    wire = Wire(dbg)
    dbg.request.contents[0].parts[0].text = "上海呢？"
    dbg.until(at("model"))
    shown = str(wire.answer("page", type="page", name="Request", stop=dbg.position - 1)["columns"])
    assert "上海呢？" in shown


@pytest.mark.parametrize("number", [-1, 10_000, "x", None])
def test_a_stop_that_is_not_there_is_refused(number):
    wire = Wire(weather().until(at("model")))
    wire.send(type="look", stop=number)
    assert len(wire.panel.errors) == 1


def test_after_a_rewind_the_run_has_no_later_stops_to_look_at():
    wire = Wire(weather().until(at("model")))
    wire.send(type="rewind", stop=5)
    assert wire.view["runs"] == 6
    wire.send(type="look", stop=10)
    assert "there is no stop 10" in wire.view["problem"]


# ---- what the rows say


def test_rows_tell_tokens_and_time_where_they_are_known():
    from google.genai import types

    from adknb.engine.response import LLMResponse

    used = types.GenerateContentResponseUsageMetadata(total_token_count=120)
    dbg = said(LLMResponse(content=text_of("one"), usage_metadata=used)).resume()
    timeline = Wire(dbg).panel._timeline
    told = {row.name: row.tokens for row in timeline.rows if row.tokens}
    assert told == {"Turn 1": 120, "Step 1": 120, "model": 120}
    assert all(row.to_json()[14] == row.tokens for row in timeline.rows)


def test_the_time_of_a_step_goes_from_the_event_before_it_to_its_last():
    dbg = weather().resume()
    timeline = Wire(dbg).panel._timeline
    rows = {row.name: round(row.seconds * 1000) for row in timeline.rows if row.kind in ("turn", "step")}
    assert rows == {"Turn 1": 3, "Step 1": 2, "Step 2": 1}  # the counted clock: a millisecond an event


def test_every_row_knows_its_first_and_its_last_stop():
    dbg = weather().resume()
    timeline = Wire(dbg).panel._timeline
    for number, row in enumerate(timeline.row_of):
        assert timeline.rows[row].first <= number <= timeline.rows[row].last
