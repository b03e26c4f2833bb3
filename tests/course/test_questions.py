"""What counts as right in lessons 01 to 06 is what a run shows; and the data keeps it out of sight."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from google.genai import types

import adknb
from adknb import FunctionTool, LlmAgent, Plugin, Runner, ScriptedModel, at, event
from adknb.course import answers, calls, says
from adknb.course.questions import LESSONS, load, shipped
from adknb.course.quiz import Quiz
from adknb.course.sealing import opened, seal
from adknb.engine.event import function_responses_of
from adknb.engine.processors import REQUEST_PROCESSORS
from adknb.engine.response import LLMResponse
from tests.course.proving import met, prove, run_to

NOTEBOOKS = Path(__file__).resolve().parents[2] / "notebooks"
DESK_10, PACKER = at("contents", agent="desk_10"), at("contents", agent="packer")
FRIDAY, LATER = at("contents", turn=3), at("contents", turn=4)
BOOK = "So what do we book?"


def written(d):
    return len({s.name for s in d.stages[1:14] if s.changed})


def declared(d):
    return tuple(x.name for tool in d.request.config.tools or [] for x in tool.function_declarations)


def fine_of(d):
    text = str(d.request_now["config"]["systemInstruction"])
    return re.search(r"Write a fine as (.*?)\.(?!\d)", text).group(1)


def instruction_again(d):
    first, second = (json.dumps(r["config"].get("systemInstruction", "")) for r in d.requests)
    return "the same" if first == second else "empty" if second == '""' else "longer"


def order_of(d):
    """What a request shows of the order: where its call and its answer stand."""
    at_ = [i for i, c in enumerate(d.request.contents) if "order-1" in calls(c) + answers(c)]
    return tuple(i - len(d.request.contents) for i in at_)


def asked_in_turn_2(d):
    """(plugin and callback 0, callback 1, model, after_model, on_event) met in turn 2."""
    before = met(d, "before_model", turn=2)
    return before, met(d, "model", turn=2), met(d, "after_model", turn=2), met(d, "on_event", turn=2)


def tail_of_05b(d):
    last = [(calls(e) != [], answers(e) != []) for e in d.events[4:]]
    return len(last), met(d, "model")


PROOFS = {
    ("01", 1): ("01a", None, lambda d: len(d.requests), {1: "a", 2: "b", 3: "c"}),
    ("01", 2): ("01a", event(call="get_weather"), lambda d: tuple(d.tools_run), {("get_weather",): "a", (): "b"}),
    ("01", 3): (
        "01a",
        None,
        lambda d: (d.events[2].author, d.events[2].content.role),
        {("tool", "tool"): "a", ("user", "user"): "b", ("weather_agent", "user"): "c"},
    ),
    ("01", 4): (
        "01a",
        at("contents", step=2),
        lambda d: (len(d.request.contents), len(calls(d.request)), len(answers(d.request))),
        {(3, 1, 1): "a", (1, 0, 1): "b", (2, 1, 1): "c"},
    ),
    ("01", 5): ("01b", None, lambda d: met(d, "on_event"), {4: "a", 3: "b", 2: "c"}),
    ("02", 1): ("02", "tool_declaration", written, {13: "a", 10: "b", 5: "c"}),
    ("02", 2): (
        "02",
        "tools",
        declared,
        {(): "a", ("find_book",): "b", ("find_book", "transfer_to_agent"): "c"},
    ),
    ("02", 3): (
        "02",
        "identity",
        lambda d: " ".join(d.paragraphs[0].text.split()[:2]),
        {"You serve": "a", "Library: East": "b", "You are": "c"},
    ),
    ("02", 4): ("02", "instructions", fine_of, {"{fine}": "a", "{{fine}}": "b", "0.5": "c"}),
    ("02", 5): (
        "02",
        "instructions",
        lambda d: says(d.request, "Overdue: [map[days:12 title:Dune]]."),
        {False: "a", True: "b"},
    ),
    ("02", 6): ("02", None, instruction_again, {"longer": "a", "the same": "b", "empty": "c"}),
    ("03", 1): ("03a", DESK_10, lambda d: says(d.request, "Trains leave"), {True: "a", False: "b"}),
    ("03", 2): ("03a", None, lambda d: sum(says(r, "Budget: 200") for r in d.requests), {2: "a", 0: "b", 1: "c"}),
    ("03", 3): (
        "03a",
        DESK_10,
        lambda d: (says(d.request, "[concierge] said: They sound tired."), says(d.request, "They sound tired.")),
        {(False, False): "a", (False, True): "b", (True, True): "c"},
    ),
    ("03", 4): ("03a", None, lambda d: sum(says(r, "hold_seats") for r in d.requests), {1: "a", 0: "b", 2: "c"}),
    ("03", 5): ("03c", None, lambda d: sum(says(r, BOOK) for r in d.requests), {2: "a", 0: "b", 1: "c"}),
    ("03", 6): (
        "03b",
        PACKER,
        lambda d: (says(d.request, "wheelchair"), says(d.request, "tram 28")),
        {(True, True): "a", (True, False): "b", (False, True): "c"},
    ),
    ("04", 1): ("04a", FRIDAY, lambda d: len(d.request.contents), {9: "a", 8: "b", 5: "c"}),
    ("04", 2): ("04a", FRIDAY, order_of, {(-4, -3): "a", (-2, -1): "b", (-5, -1): "c"}),
    ("04", 3): (
        "04a",
        FRIDAY,
        lambda d: (says(d.request, "T-7"), says(d.request, "Friday")),
        {(True, True): "a", (True, False): "b", (False, True): "c"},
    ),
    ("04", 4): (
        "04a",
        LATER,
        lambda d: (says(d.request, "how much gauze"), says(d.request, "12")),
        {(False, False): "a", (True, True): "b", (True, False): "c"},
    ),
    ("04", 5): (
        "04b",
        "contents",
        lambda d: (says(d.request, "alarm rang twice"), "ghost-1" in answers(d.request)),
        {(False, False): "a", (True, True): "b", (True, False): "c"},
    ),
    ("04", 6): (
        "04b",
        "contents",
        lambda d: tuple(calls(d.request)),
        {("count-9", "adk-5c1"): "a", ("count-9", ""): "b", ("", ""): "c"},
    ),
    ("05", 1): ("05a", event(), lambda d: (d.event.content, d.event.is_final_response()), {(None, True): "a", (None, False): "b"}),
    ("05", 2): (
        "05a",
        None,
        lambda d: tuple(e.is_final_response() for e in d.events[4:7]),
        {(False, True, True): "a", (False, False, True): "b", (True, True, True): "c"},
    ),
    ("05", 3): (
        "05a",
        None,
        lambda d: (d.events[8].is_final_response(), met(d, "model", turn=3), d.error is None),
        {(True, 1, True): "a", (True, 1, False): "b", (True, 2, True): "c"},
    ),
    ("05", 4): (
        "05a",
        at("identity", turn=5),
        lambda d: (met(d, "model", turn=4), d.state["last_answer"]),
        {(2, "Here it comes."): "a", (1, "Here it comes."): "b", (1, "Take the umbrella."): "c"},
    ),
    ("05", 5): (
        "05a",
        at(tool="watch_storm"),
        lambda d: d.state["last_answer"],
        {"I will tell you when it comes.": "a", "Take the umbrella.": "b", "": "c"},
    ),
    ("05", 6): ("05b", None, tail_of_05b, {(2, 4): "a", (3, 5): "b", (5, 7): "c"}),
    ("06", 1): ("06", event(turn=3), asked_in_turn_2, {(2, 0, 0, 1): "a", (3, 0, 2, 1): "b", (0, 0, 0, 0): "c"}),
    ("06", 2): ("06", None, lambda d: met(d, "after_tool", turn=3), {0: "a", 2: "b", 1: "c"}),
    ("06", 3): (
        "06",
        None,
        lambda d: met(d, "after_model", turn=4, name="after_model of plugin:audit"),
        {0: "a", 2: "b", 1: "c"},
    ),
    ("06", 4): (
        "06",
        at("before_model", turn=2),
        lambda d: len(d.request.contents) == len(d.requests[0]["contents"]),
        {True: "a", False: "b"},
    ),
}  # fmt: skip
"""(lesson, question) -> scenario, wish (None: to the end), what is read off, what each option says it would be."""


@pytest.mark.parametrize("lesson, n", PROOFS, ids=lambda value: str(value))
def test_the_option_that_a_run_shows_is_the_right_one(lesson, n):
    scenario, wish, read, options = PROOFS[lesson, n]
    prove(lesson, n, run_to(scenario, wish), read, options)


def test_01_6_a_reader_who_leaves():
    prove("01", 6, run_to("01a", stop_after=1), lambda d: len(d.tools_run), {1: "a", 2: "b", 0: "c"})


def desk(**hooks):
    """An agent whose callback 0 answers with a call and then with a text; its model would say something else."""

    def cached(ctx, request):
        has_run = any(function_responses_of(c) for c in request.contents)
        part = types.Part(text="From the cache.") if has_run else types.Part.from_function_call(name="look", args={})
        return LLMResponse(content=types.Content(role="model", parts=[part]))

    tool = FunctionTool(lambda: {"ok": True}, name="look", description="Looks.")
    return LlmAgent("desk", model=ScriptedModel(["From the model."]), tools=[tool], before_model=[cached], **hooks)


def test_06_5_a_cached_call_is_carried_out():
    dbg = adknb.step(desk(), "Is Dune in?").resume()
    assert dbg.requests == [] and dbg.error is None
    prove("06", 5, dbg, lambda d: (d.tools_run, d.error)[0] == ["look"], {False: "a", True: "b"})


def test_06_6_a_plugin_that_answers_is_asked_before_the_agent():
    asked = []
    said = LLMResponse(content=types.Content(role="model", parts=[types.Part(text="From the plugin.")]))
    agent = LlmAgent("desk", model=ScriptedModel([]), before_model=lambda ctx, request: asked.append("agent"))
    runner = Runner(agent, plugins=[Plugin("audit", before_model=lambda ctx, request: said)])
    assert [e.content.parts[0].text for e in runner.run("Is Dune in?")] == ["From the plugin."]
    prove("06", 6, None, lambda _: tuple(asked), {("agent",): "a", (): "b"})


@pytest.mark.parametrize(
    "scenario, wish, read, told",
    [
        ("02", "basic", lambda d: len(REQUEST_PROCESSORS), "thirteen request processors"),
        (
            "02",
            None,
            lambda d: len({s.name for s in d.stops if s.seam == "processor" and s.noop}),
            "three of the thirteen",
        ),
        ("03a", "basic", lambda d: len(d.events) - 1, "Seven events are stored"),
        ("04a", at("instructions", turn=3), lambda d: len(d.events), "Nine events"),
        ("05a", None, lambda d: d.turn, "answers six times"),
    ],
)
def test_what_the_texts_of_the_lessons_count_is_so(scenario, wish, read, told):
    words = [
        "",
        "",
        "two",
        "three",
        "four",
        "five",
        "six",
        "seven",
        "eight",
        "nine",
        "ten",
        "eleven",
        "twelve",
        "thirteen",
    ]
    text = next(NOTEBOOKS.glob(f"{scenario[:2]}-*[!h].ipynb")).read_text("utf-8")
    assert told.lower() in text.lower()
    assert words[read(run_to(scenario, wish))] in told.lower()


# ---- the data


@pytest.mark.parametrize("lesson", shipped())
def test_every_question_has_both_languages_three_hints_and_one_right_option(lesson):
    english, chinese = Quiz(lesson, "en"), Quiz(lesson, "zh")
    assert (english.title, len(load(lesson, "en")[1])) != (chinese.title, len(load(lesson, "zh")[1]))
    for n in range(1, len(load(lesson, "en")[1]) + 1):
        both = [quiz.question(n) for quiz in (english, chinese)]
        assert both[0].options.keys() == both[1].options.keys() and both[0].ask != both[1].ask
        for question in both:
            assert len(question.hints) == 3 and all(question.hints)
            assert sum(map(question.is_right, question.options)) == 1
            assert question.told.right != question.told.tempting and question.told.why and question.told.thought
        assert re.match(r"[\w/]+\.go\b", both[0].told.go), both[0].told.go


@pytest.mark.parametrize("lesson", shipped())
def test_the_data_shows_no_answer_and_opens_to_what_was_sealed(lesson):
    text = (LESSONS / f"{lesson}.json").read_text(encoding="utf-8")
    plain = opened(json.loads(text))
    assert seal(plain) == json.loads(text)
    for question in plain["questions"]:
        told = [question["why"], question["tempting"], *question["hints"]]
        assert not [x for x in told for language in ("en", "zh") if x[language] in text]
        assert set(json.loads(text)["questions"][question["n"] - 1]) == {
            "n",
            "ask",
            "options",
            "salt",
            "right",
            "packed",
        }


def test_a_lessons_right_options_do_not_all_have_one_place():
    for lesson in shipped():
        keys = {
            question["right"]
            for question in opened(json.loads((LESSONS / f"{lesson}.json").read_text("utf-8")))["questions"]
        }
        assert len(keys) > 1, f"{lesson}: always {keys}"
