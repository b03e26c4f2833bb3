"""The reader's commands. A test is a table of (what the reader does, where the run stands then)."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from google.genai import types

import adknb
from adknb import LlmAgent, ScriptedModel, Stepper, at, changed, event, when
from adknb.engine.errors import BadData
from adknb.engine.platform import in_order
from adknb.engine.response import LLMResponse
from adknb.stepper import UnknownName
from adknb.stepper.stepper import NotPaused


def call(*names: str, **args: Any) -> types.Content:
    parts = [
        types.Part(function_call=types.FunctionCall(id=f"{n}-{i}", name=n, args=dict(args)))
        for i, n in enumerate(names)
    ]
    return types.Content(role="model", parts=parts)


class Weather:
    """A weather agent whose tool and model count how often they are really used."""

    def __init__(self, *answers: Any) -> None:
        self.asked_for: list[str] = []
        self.model = ScriptedModel(list(answers) or [call("get_weather", city="Hangzhou"), "26 degrees."])

        def get_weather(city: str) -> dict[str, Any]:
            """The weather in a city."""
            self.asked_for.append(city)
            return {"city": city, "temperature": 26}

        def get_news(city: str) -> dict[str, Any]:
            """The news of a city."""
            self.asked_for.append(f"news {city}")
            return {"news": "none"}

        self.agent = LlmAgent("weather", model=self.model, instruction="Be brief.", tools=[get_weather, get_news])

    def step(self, message: Any = "hi", **how: Any) -> Stepper:
        return adknb.step(self.agent, message, **how)


def texts(thing: Any) -> list[str]:
    """Every text of a request's contents, calls and answers included."""
    return [p.text or repr((p.function_call or p.function_response).name) for c in thing.contents for p in c.parts]


def where(dbg: Stepper) -> str:
    return "the end" if dbg.here is None else str(dbg.here)


@pytest.mark.parametrize(
    "moves",
    [
        pytest.param([(lambda d: d, "before append user")], id="a run begins paused"),
        pytest.param([(Stepper.step, "after append user"), (Stepper.step, "before processor basic"),
                      (Stepper.step, "after processor basic")], id="step goes to the very next stop"),
        pytest.param([(Stepper.next, "after append user"), (Stepper.next, "after processor basic"),
                      (Stepper.next, "after processor tools")], id="next goes over a call"),
        pytest.param([(lambda d: d.until(at("identity")), "after processor identity"),
                      (Stepper.finish, "before processor basic")], id="finish goes to the end of the step"),
        pytest.param([(lambda d: d.until(at("model")), "before model scripted"), (Stepper.next, "after model scripted"),
                      (lambda d: d.until(event(call="get_weather")), "before event weather"),
                      (lambda d: d.until(at(tool="get_weather")), "before tool get_weather"),
                      (Stepper.next, "after tool get_weather"), (Stepper.next, "after merge merge")], id="to a tool"),
        pytest.param([(lambda d: d.until("contents"), "after processor contents"),
                      (lambda d: d.until("contents"), "after processor contents"),
                      (lambda d: d.until("contents"), "the end")], id="an unmet wish runs to the end"),
        pytest.param([(lambda d: d.until(at("contents", step=2, phase="before")), "before processor contents")], id="phase"),
        pytest.param([(lambda d: d.until(at(seam="tool")), "before tool get_weather")], id="seam"),
        pytest.param([(lambda d: d.until(changed("config.tools")), "after tool_declaration tool_declaration")], id="changed"),
        pytest.param([(lambda d: d.until(changed("contents")), "after processor contents"),
                      (lambda d: d.until(changed("contents")), "after processor contents")], id="changed, each step anew"),
        pytest.param([(lambda d: d.until(event(final=True)), "before event weather"),
                      (Stepper.resume, "the end")], id="the final event"),
        pytest.param([(lambda d: d.until(at("model") & ~at("model", step=1)), "before model scripted")], id="not and and"),
        pytest.param([(lambda d: d.until(at("model") | at("identity")), "after processor identity")], id="or"),
        pytest.param([(lambda d: d.until(when(lambda s: s.name == "get_weather")), "before tool get_weather")], id="when"),
        pytest.param([(lambda d: d.break_at(at(tool="get_weather")).resume(), "before tool get_weather"),
                      (Stepper.resume, "the end")], id="a breakpoint stops resume"),
        pytest.param([(lambda d: d.break_at("model").unbreak("model").resume(), "the end")], id="a breakpoint taken away"),
        pytest.param([(lambda d: d.until(event(final=True)).step().step().step(), "after append weather"),
                      (Stepper.step, "after turn turn 1"), (Stepper.step, "the end")], id="a turn's end is a stop"),
    ],
)  # fmt: skip
def test_a_command_stops_where_it_says(moves: Any) -> None:
    dbg = Weather().step()
    for n, (move, expected) in enumerate(moves):
        assert move(dbg) is dbg
        assert where(dbg) == expected, f"move {n}"


def test_next_thirteen_times_builds_the_request() -> None:
    dbg = Weather().step().until(at("basic", phase="before"))
    seen = []
    for _ in range(13):
        dbg.next()
        assert dbg.here is not None
        seen.append(dbg.here.name)
    assert seen == [
        "basic", "tools", "auth", "confirmation", "instructions", "identity", "compaction", "contents", "planning",
        "code_execution", "output_schema", "transfer", "display_name",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "wish, complaint",
    [
        (lambda: at("content"), "Did you mean 'contents'?"),
        (lambda: at(tool="get_wether"), "Did you mean 'get_weather'?"),
        (lambda: at("contents", agent="wether"), "Did you mean 'weather'?"),
        (lambda: event(author="nobody"), "no author is called 'nobody'"),
        (lambda: at("model") | at("modle"), "Did you mean 'model'?"),
        (lambda: ~at("modle"), "Did you mean 'model'?"),
    ],
)
def test_an_unknown_name_is_refused_at_once_and_nothing_moves(wish: Any, complaint: str) -> None:
    dbg = Weather().step()
    with pytest.raises(UnknownName, match="This run can stop at") as refused:
        dbg.until(wish())
    assert complaint in str(refused.value)
    assert where(dbg) == "before append user"
    with pytest.raises(UnknownName):
        dbg.break_at(wish())
    assert dbg.breakpoints == []


def set_args(dbg: Stepper) -> None:
    dbg.until(at(tool="get_weather")).args["city"] = "Oslo"  # type: ignore[index]


def set_result(dbg: Stepper) -> None:
    dbg.until(at(tool="get_weather", phase="after")).result["temperature"] = 31


def set_model_answer(dbg: Stepper) -> None:
    response = dbg.until(at("model", step=2, phase="after")).response
    response.content.parts[0].text = "Bring a coat."  # type: ignore[union-attr,index]


def set_event(dbg: Stepper) -> None:
    dbg.until(event(final=True)).event.content.parts[0].text = "Bring a coat."  # type: ignore[union-attr,index]


def set_request(dbg: Stepper) -> None:
    dbg.until(at("model", step=2)).request.contents[0].parts[0].text = "And in Oslo?"  # type: ignore[union-attr,index]


def set_state(dbg: Stepper) -> None:
    dbg.until(at(tool="get_weather")).state["unit"] = "F"


@pytest.mark.parametrize(
    "edit, outcome",
    [
        (set_args, lambda w, d: (w.asked_for, d.requests[1]["contents"][1]["parts"][0]["functionCall"]["args"])
            == (["Oslo"], {"city": "Oslo"})),  # one map, as in Go: the call on record is edited too
        (set_result, lambda w, d: d.requests[1]["contents"][2]["parts"][0]["functionResponse"]["response"]
            == {"city": "Hangzhou", "temperature": 31}),
        (set_model_answer, lambda w, d: d.events[-1].content.parts[0].text == "Bring a coat."),
        (set_event, lambda w, d: d.events[-1].content.parts[0].text == "Bring a coat."),
        (set_request, lambda w, d: (d.requests[1]["contents"][0]["parts"][0]["text"], d.events[0].content.parts[0].text)
            == ("And in Oslo?", "hi")),  # the request is a view: the session keeps what was said
    ],
)  # fmt: skip
def test_an_edit_at_a_stop_takes_effect(edit: Any, outcome: Any) -> None:
    weather = Weather()
    dbg = weather.step()
    edit(dbg)
    dbg.resume()
    assert dbg.error is None
    assert outcome(weather, dbg)


@pytest.mark.parametrize(
    "stop, answer, last_text, asked_for",
    [
        pytest.param(at("model"), lambda d: d.skip("Ask me later."), "Ask me later.", [], id="a text for the model"),
        pytest.param(at("model"), lambda d: d.skip(LLMResponse(error_code="SAFETY")), None, [], id="a refusal"),
        pytest.param(at(tool="get_weather"), lambda d: d.skip({"temperature": -40}), "26 degrees.", [], id="a tool's result"),
        pytest.param(at(tool="get_weather"), lambda d: d.fail("no network"), "26 degrees.", [], id="a tool's failure"),
        pytest.param(at(tool="get_weather", phase="after"), lambda d: d.skip(7), "26 degrees.", ["Hangzhou"],
                     id="another result behind the tool"),
        pytest.param(at("identity", phase="before"), lambda d: d.skip(), "26 degrees.", ["Hangzhou"], id="a stage left out"),
    ],
)  # fmt: skip
def test_the_run_takes_the_readers_answer_as_the_real_thing(
    stop: Any, answer: Any, last_text: Any, asked_for: Any
) -> None:
    weather = Weather()
    dbg = weather.step().until(stop)
    answer(dbg)
    dbg.resume()
    content = dbg.events[-1].content
    assert (content.parts[0].text if content else None, weather.asked_for) == (last_text, asked_for)


def test_skip_stands_behind_the_call_it_answered() -> None:
    dbg = Weather().step().until(at(tool="get_weather")).skip({"temperature": -40})
    assert (where(dbg), dbg.result, dbg.tools_run) == ("after tool get_weather", {"temperature": -40}, [])


@pytest.mark.parametrize(
    "stop, value, complaint",
    [
        (at("model"), 26, "a model gives an LLMResponse, a Content or a text, not int"),
        (event(), "a text", "comes to Event or None, not str"),
        (event(), None, "comes to an Event, not None"),
    ],
)
def test_an_answer_that_cannot_be_is_refused_and_the_run_stays(stop: Any, value: Any, complaint: str) -> None:
    dbg = Weather().step().until(stop)
    before = where(dbg)
    with pytest.raises(TypeError, match=complaint):
        dbg.skip(value)
    assert where(dbg) == before
    assert where(dbg.resume()) == "the end"


def test_an_error_ends_the_turn_at_a_stop_and_the_next_turn_goes_on() -> None:
    weather = Weather(ConnectionError("overloaded"), "26 degrees.")
    dbg = weather.step(["hi", "again"]).until(at("model")).finish()
    assert (where(dbg), repr(dbg.error)) == ("after turn turn 1", "ConnectionError('overloaded')")
    assert [e.author for e in dbg.events] == ["user"]
    dbg.step()
    assert (dbg.turn, where(dbg), dbg.error) == (2, "before append user", None)
    dbg.resume()
    assert [e.author for e in dbg.events] == ["user", "user", "weather"]


def test_a_model_failure_made_by_hand_is_recovered_by_the_agents_own_callback() -> None:
    agent = LlmAgent("a", model=ScriptedModel([]), on_model_error=lambda ctx, request, error: LLMResponse(
        content=types.Content(role="model", parts=[types.Part(text=f"sorry: {error}")])))  # fmt: skip
    dbg = adknb.step(agent, "hi").until(at("model")).fail(TimeoutError("slow")).resume()
    assert dbg.events[-1].content.parts[0].text == "sorry: slow"  # type: ignore[union-attr,index]


def test_side_by_side_calls_take_turns_in_lanes_and_are_merged_in_call_order() -> None:
    weather = Weather(call("get_weather", "get_news", city="Oslo"), "done")
    dbg = weather.step().until(at(seam="tool"))
    lanes = []
    while dbg.here is not None and dbg.here.seam == "tool":
        lanes.append((dbg.here.lane, str(dbg.here.phase)))
        dbg.step()
    assert lanes == [
        ("get_weather#get_weather-0", "before"), ("get_news#get_news-1", "before"),
        ("get_weather#get_weather-0", "after"), ("get_news#get_news-1", "after"),
    ]  # fmt: skip
    dbg.until(at("model", step=2))
    assert texts(dbg.request)[-2:] == ["'get_weather'", "'get_news'"]
    serial = Weather(call("get_weather", "get_news", city="Oslo"), "done").step(runner=in_order).until(at(seam="tool"))
    assert where(serial.step()) == "after tool get_weather"


def test_twenty_threads_that_press_step_at_once_lose_nothing() -> None:
    alone = Weather().step()
    alone.resume()
    dbg, errors = Weather().step(), []

    def press() -> None:
        while True:
            try:
                if dbg.step().here is None:
                    return
            except Exception as error:
                errors.append(error)
                return

    threads = [threading.Thread(target=press) for _ in range(20)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert errors == []
    assert [str(s) for s in dbg.stops] == [str(s) for s in alone.stops]


def test_a_tool_cannot_step_the_run_it_is_part_of() -> None:
    held: list[Stepper] = []

    def meddle() -> str:
        """Steps its own run."""
        held[0].step()
        return "done"

    held.append(adknb.step(LlmAgent("a", model=ScriptedModel([call("meddle"), "ok"]), tools=[meddle]), "hi"))
    held[0].resume()
    answer = held[0].events[2].content.parts[0].function_response.response  # type: ignore[union-attr,index]
    assert "the run is busy" in answer["error"]


def test_a_run_that_is_over_says_so() -> None:
    dbg = Weather().step().resume()
    for command in (dbg.step, dbg.next, dbg.finish, dbg.resume, lambda: dbg.until("model")):
        assert command() is dbg
        assert dbg.notice.startswith("the run is over")
    for answer in (dbg.skip, lambda: dbg.fail("x"), lambda: dbg.edit("request", "{}")):
        with pytest.raises(NotPaused, match="the run is over"):
            answer()
    assert where(dbg.send("and tomorrow?")) == "before append user"


def test_leaving_closes_an_open_model_stream() -> None:
    closed = []

    def streams(request: Any) -> Any:
        try:
            yield LLMResponse(content=types.Content(role="model", parts=[types.Part(text="a")]), partial=True)
            yield "ab"
        finally:
            closed.append(True)

    dbg = adknb.step(LlmAgent("a", model=streams), "hi").until(event(partial=True))
    assert closed == []
    dbg.close()
    assert (closed, where(dbg)) == ([True], "the end")


@pytest.mark.parametrize(
    "given, message, complaint",
    [
        (42, "hi", "an agent, a runner or a scenario, not int"),
        (LlmAgent("a"), None, "needs a message"),
        (LlmAgent("a"), 7, "a text or a Content, not int"),
        ({"name": "x/y"}, "hi", "brings its own messages"),
    ],
)
def test_what_cannot_be_stepped_is_refused(given: Any, message: Any, complaint: str) -> None:
    with pytest.raises(TypeError, match=complaint):
        adknb.step(given, message)


def test_stops_know_where_they_are() -> None:
    dbg = Weather().step().resume()
    seen = {(s.turn, s.agent, s.step) for s in dbg.stops}
    assert seen == {(1, "", 0), (1, "weather", 1), (1, "weather", 2)}
    depths = {(str(s), s.depth) for s in dbg.stops if s.seam in ("event", "append", "processor")}
    assert depths == {(f"{p} {s}", 0) for p in ("before", "after") for s in ("event weather", "append weather", "append user")} | {
        (str(s), 0) for s in dbg.stops if s.seam == "processor"
    }  # fmt: skip


BREAK: dict[str, Any] = {
    "request.contents[1]: expected a Content, found a str": lambda d: d.request.contents.append("text"),
    "request.contents[1]: expected a Content, found a dict": lambda d: d.request.contents.append({"role": "user"}),
    "request.contents: expected a list, found a int": lambda d: setattr(d.request, "contents", 5),
    "request.config: expected a GenerateContentConfig, found a NoneType": lambda d: setattr(d.request, "config", None),
    "request.tools: expected a dict, found a int": lambda d: setattr(d.request, "tools", 5),
    "request.model: expected a str, found a int": lambda d: setattr(d.request, "model", 5),
    "request.contents[0].parts[0]: expected a Part, found a str": lambda d: setattr(
        d.request.contents[0], "parts", ["x"]
    ),
}


@pytest.mark.parametrize("complaint", list(BREAK))
def test_a_broken_edit_is_told_with_its_place_and_every_way_out_stays_open(complaint: str) -> None:
    dbg = Weather().step().until(at("contents"))
    BREAK[complaint](dbg)
    for command in (dbg.step, dbg.resume, dbg.fork):
        with pytest.raises(BadData) as told:
            command()
        assert complaint in str(told.value)
    assert "after processor contents" in repr(dbg)
    assert "after processor contents" in dbg._repr_mimebundle_()["text/plain"]
    assert where(dbg.back()) == "before processor contents"
    assert where(dbg.resume()) == "the end"
    assert dbg.error is None


def test_a_request_that_has_been_sent_cannot_be_edited_any_more() -> None:
    dbg = Weather().step().until(at("model", phase="after"))
    with pytest.raises(NotPaused, match="has been sent"):
        dbg.edit("request", dbg.request_now)


def test_a_closed_run_says_that_it_is_closed() -> None:
    dbg = Weather().step()
    dbg.close()
    for command in (dbg.restart, dbg.fork, lambda: dbg.rewind(0), lambda: dbg.restart(fresh=True)):
        with pytest.raises(NotPaused, match="this run was closed"):
            command()


def test_a_wish_that_never_came_true_is_told() -> None:
    dbg = Weather().step().until(at(tool="get_weather", step=2))
    assert dbg.notice == "at(tool='get_weather', step=2) never came true: the run is over"


@pytest.mark.parametrize("error", [5, ValueError, None])
def test_fail_takes_an_exception_or_a_text(error: Any) -> None:
    dbg = Weather().step().until(at("model"))
    with pytest.raises(TypeError, match="an exception or a text"):
        dbg.fail(error)
    assert where(dbg) == "before model scripted"
