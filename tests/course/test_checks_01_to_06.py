"""The checks of lessons 01 to 06: a right solution passes, a wrong one is told what is wrong with it."""

from __future__ import annotations

import copy
import json

import pytest
from google.genai import types

import adknb
from adknb.course.checks import lesson01, lesson02, lesson03, lesson04, lesson05, lesson06
from adknb.engine.event import Event, function_calls_of, function_responses_of
from adknb.engine.processors import REQUEST_PROCESSORS
from adknb.engine.response import LLMResponse


def expect(verdict, ok, says=""):
    assert bool(verdict) is ok, verdict
    assert says in verdict.says and "\n" not in verdict.says
    assert repr(verdict).startswith("passed: " if ok else "not yet: ")


# ---- 01


def answers_of(request):
    return [r for c in request.contents for r in function_responses_of(c) if r.name == "get_weather"]


def ask_for_it():
    print("MODEL asks for get_weather")
    return types.Content(role="model", parts=[types.Part.from_function_call(name="get_weather", args={"city": "Oslo"})])


def right_model(request):
    if not (found := answers_of(request)):
        return ask_for_it()
    print("MODEL sees", json.dumps(found[-1].response, separators=(",", ":"), ensure_ascii=False))
    return f"It is {found[-1].response['temperature']} °C."


def talks_at_once(request):
    return "It is 26 °C."


def knows_it_anyway(request):
    if not (found := answers_of(request)):
        return ask_for_it()
    print("MODEL sees", json.dumps(found[-1].response, separators=(",", ":")))
    return "It is 26 °C."


def prints_with_blanks(request):
    if not (found := answers_of(request)):
        return ask_for_it()
    print("MODEL sees", json.dumps(found[-1].response))
    return f"It is {found[-1].response['temperature']} °C."


def never_looks(request):
    return ask_for_it()


@pytest.mark.parametrize(
    "model, ok, says",
    [
        (right_model, True, "3 temperatures"),
        (talks_at_once, False, "one call of get_weather"),
        (knows_it_anyway, False, "the tool said -7"),
        (prints_with_blanks, False, "line 2"),
        (never_looks, False, "does not end"),
        (lambda request: 1 / 0, False, "ZeroDivisionError"),
        (None, False, "nothing is here yet"),
    ],
)
def test_01_a(model, ok, says):
    expect(lesson01.check_model(model), ok, says)


def say(text, answer=None):
    def hook(*given):
        print(text(*given))
        return answer

    return hook


BEFORE_MODEL, BEFORE_TOOL = say(lambda *_: "before_model"), say(lambda ctx, tool, args: f"before_tool {tool.name}")


@pytest.mark.parametrize(
    "before_model, before_tool, ok, says",
    [
        (BEFORE_MODEL, BEFORE_TOOL, True, "line for line"),
        (lambda *_: None, BEFORE_TOOL, False, "line 1"),
        (BEFORE_MODEL, say(lambda *_: "before_tool look"), False, "line 3"),
        (BEFORE_MODEL, say(lambda c, tool, a: f"before_tool {tool.name}", {"ok": False}), False, "returns None"),
    ],
)
def test_01_b(before_model, before_tool, ok, says):
    expect(lesson01.check_hooks(before_model, before_tool), ok, says)


@pytest.mark.parametrize(
    "phase, ok, says",
    [
        (lesson01.PHASES.get, True, "13 seams"),
        (lambda seam: 1, False, "gave 1, not 2"),
        (lambda seam: 2 if "tool" in seam else lesson01.PHASES[seam], False, "tool_declaration"),
        (lambda seam: None, False, "gave None"),
    ],
)
def test_01_b_the_phases(phase, ok, says):
    expect(lesson01.check_phase(phase), ok, says)


# ---- 02


def without(*names):
    return [p for p in REQUEST_PROCESSORS if p.__name__ not in names]


@pytest.mark.parametrize(
    "stages, ok, says",
    [
        (without("auth", "planning", "code_execution"), True, "9 lessons"),
        (without("auth", "planning"), False, "of those that never do anything: 1"),
        (without("auth", "planning", "code_execution", "identity"), False, "have changed"),
        (without("auth", "planning", "code_execution", "display_name"), False, "display_name is gone too"),
        (without("auth", "planning", "code_execution")[::-1], False, "have changed"),
        ([], False, "have changed"),
        (["basic"], False, "a list of processors"),
    ],
)
def test_02_a(stages, ok, says):
    expect(lesson02.check_without_no_ops(stages), ok, says)


TABLE = {
    "basic": ["config.temperature", "config.maxOutputTokens"],
    "instructions": ["config.systemInstruction"],
    "identity": "config.systemInstruction",
    "contents": ["contents"],
    "transfer": ["config.systemInstruction", "config.tools", "tools"],
}


@pytest.mark.parametrize(
    "table, ok, says",
    [
        (TABLE, True, "5 stages"),
        ({}, False, "writes something too"),
        (TABLE | {"tools": ["tools"]}, False, "tools writes nothing"),
        (TABLE | {"transfer": ["tools"]}, False, "transfer writes more here than tools."),
        (TABLE | {"contents": []}, False, "contents writes more here than nothing."),
        (TABLE | {"basic": ["config.temperature", "tools"]}, False, "basic does not write tools here."),
        (None, False, "nothing is here yet"),
    ],
)
def test_02_b(table, ok, says):
    expect(lesson02.check_table(table), ok, says)


# ---- 03


@pytest.mark.parametrize(
    "visible, ok, says",
    [
        (lambda me, it: not me or not it or me == it or me.startswith(it + "."), True, "40 pairs"),
        (lambda me, it: me.startswith(it), False, "visible("),
        (lambda me, it: me == it or me.startswith(it + "."), False, "visible("),
        (lambda me, it: not it or me == it or it.startswith(me + "."), False, "visible("),
        (lambda me, it: it or me, False, "gave"),
        (lambda me, it: None, False, "gave None"),
        (lambda me, it: object(), False, "gave <object object>, not"),
        (lambda me: True, False, "TypeError"),
        ("visible", False, "a function is wanted"),
    ],
)
def test_03(visible, ok, says):
    expect(lesson03.check_visible(visible), ok, says)


# ---- 04

FATES = {
    1: ("moved", "R5.24"),
    3: ("kept", "R5.15"),
    4: ("left_out", "R5.29"),
    5: ("kept", "R5.28"),
}


@pytest.mark.parametrize(
    "named, ok, says",
    [
        (FATES, True, "4 events"),
        (FATES | {6: ("kept", "R5.30")}, True, "5 events"),
        ({}, False, "event 1 is not sent as it is stored"),
        (FATES | {1: ("left_out", "R5.24")}, False, "event 1 is not left_out"),
        (FATES | {3: ("kept", "R5.6")}, False, "R5.6 is not a reason"),
        ({40: ("kept", "R5.27")}, False, "no event 40"),
        ([1, 2], False, "a dict is wanted"),
    ],
)
def test_04_a(named, ok, says):
    expect(lesson04.check_fates(named), ok, says)


def event(author, *parts, role="model"):
    return Event(author=author, content=types.Content(role=role, parts=list(parts)))


def call(name, id=None):
    return types.Part(function_call=types.FunctionCall(name=name, args={}, id=id))


def answer(name, id=None):
    return types.Part(function_response=types.FunctionResponse(name=name, response={"ok": True}, id=id))


ASK = event("user", types.Part(text="Look."), role="user")


@pytest.mark.parametrize(
    "events, ok, says",
    [
        ([ASK, event("clerk", call("look")), event("clerk", call("look")), event("clerk", answer("look"), role="user")], True, "two shown"),
        ([ASK, event("clerk", call("look", "1")), event("clerk", call("look", "2")), event("clerk", answer("look", "2"), role="user")], False, "shows the answer 1 times"),
        ([ASK, event("clerk", call("look")), event("clerk", answer("look"), role="user")], False, "expected two calls"),
        ([ASK, event("clerk", call("a")), event("clerk", call("b")), event("clerk", answer("a"), answer("b"), role="user")], False, "one answer"),
        ([{"author": "clerk"}], False, "a list of Events"),
    ],
)  # fmt: skip
def test_04_b(events, ok, says):
    expect(lesson04.check_sent_twice(events), ok, says)


# ---- 05


@pytest.mark.parametrize(
    "is_final, ok, says",
    [
        (Event.is_final_response, True, "17 stored and 512 made-up"),
        (lambda e: bool(e.content), False, "event 1 of the lesson is final"),
        (lambda e: e.content is None, False, "event 0 of the lesson is final"),
        (lambda e: not e.partial, False, "event"),
        (lambda e: e.author != "user" and not function_calls_of(e.content), False, "event"),
        (lambda e: e.is_final_response() and e.actions.compaction is None and not e.partial, False, "partial"),
        (lambda e: e.is_final_response() or e.actions.skip_summarization, False, "a compaction record"),
        (lambda e: None, False, "expected True or False"),
        (lambda e: e.nothing, False, "AttributeError"),
    ],
)
def test_05(is_final, ok, says):
    expect(lesson05.check_is_final(is_final), ok, says)


# ---- 06


class Cache:
    """A right one; the wrong ones below change one thing each."""

    def __init__(self):
        self.kept, self.hits, self.key = {}, 0, ""

    def key_of(self, request):
        config = request.config.model_dump_json(exclude_none=True)
        return json.dumps([[c.model_dump_json(exclude_none=True) for c in request.contents], config])

    def before_model(self, ctx, request):
        self.key = self.key_of(request)
        if self.key not in self.kept:
            return None
        self.hits += 1
        return copy.deepcopy(self.kept[self.key])

    def after_model(self, ctx, response):
        self.kept[self.key] = copy.deepcopy(response)


class ByQuestion(Cache):
    def key_of(self, request):
        return request.contents[-1].parts[0].text


class ByTheConfigToo(Cache):
    def key_of(self, request):
        return json.dumps([request.contents[-1].parts[0].text, request.config.temperature, bool(request.tools)])


class TheObjectItself(Cache):
    def after_model(self, ctx, response):
        self.kept[self.key] = response


class HandsOutItsOwn(Cache):
    def before_model(self, ctx, request):
        return self.kept[self.key] if super().before_model(ctx, request) else None


class CountsInAfterModel(Cache):
    def before_model(self, ctx, request):
        hits, found = self.hits, super().before_model(ctx, request)
        self.hits = hits
        return found


class NeverHits(Cache):
    def key_of(self, request):
        return str(id(request))


class AlwaysHits(Cache):
    def before_model(self, ctx, request):
        content = types.Content(role="model", parts=[types.Part(text="Answer 1 to everything")])
        return LLMResponse(content=content)


@pytest.mark.parametrize(
    "cache, ok, says",
    [
        (Cache, True, "hits in fresh sessions"),
        (ByQuestion, False, "another temperature"),
        (ByTheConfigToo, False, "another instruction"),
        (TheObjectItself, False, "copy"),
        (HandsOutItsOwn, False, "copy"),
        (CountsInAfterModel, False, "hits is 0"),
        (NeverHits, False, "asked again"),
        (AlwaysHits, False, "asked 0 times"),
        (object, False, "before_model is missing"),
    ],
)
def test_06(cache, ok, says):
    expect(lesson06.check_cache(cache), ok, says)


def test_the_made_up_events_are_all_different():
    events = [json.dumps(event.to_json(), sort_keys=True) for _, event in lesson05.made_up()]
    assert len(set(events)) == len(events) == 512
    assert adknb.scenario(lesson05.LESSON)
