"""The checks of the exercises of lessons 07 to 17: a right solution passes, each wrong one is told what is not so."""

from __future__ import annotations

import asyncio
import re

import pytest
from google.genai import types

import adknb
from adknb import LlmAgent, ScriptedModel
from adknb.course.checks.lesson07 import (
    check_both_are_kept,
    check_every_finishing_order,
    check_tools_that_wait,
    finished,
)
from adknb.course.checks.lesson08 import check_answer_for
from adknb.course.checks.lesson09 import check_needs_fallback
from adknb.course.checks.lesson10 import authors, check_who_speaks
from adknb.course.checks.lesson12 import check_one_exchange_stays
from adknb.course.checks.lesson14 import check_a_test
from adknb.course.checks.lesson15 import check_ids_put_right
from adknb.course.checks.lesson17 import check_every_call_is_answered, check_recap, check_words_come_back
from adknb.engine.event import function_calls_of, function_responses_of
from adknb.engine.platform import in_order

CONFIRM = "adk_request_confirmation"


def answer(name, call_id, response):
    return types.Part(function_response=types.FunctionResponse(name=name, id=call_id, response=response))


# ------------------------------------------------------------------------------------------------------------ 07 and 14


async def slow(item: str) -> dict:
    await asyncio.sleep(0.2)
    return {"item": item}


async def slow_too(item: str) -> dict:
    await asyncio.sleep(0.2)
    return {"other": item}


async def quick(item: str) -> dict:
    return {}


def plain(item: str) -> dict:
    return {}


async def of_two(item: str, other: str) -> dict:
    await asyncio.sleep(0.2)
    return {}


def lane_of(dbg, name):
    return next(lane for lane in dbg.lanes if lane.startswith(name))


def choose_until_done(dbg, order):
    for name in order:
        while name not in finished(dbg):
            dbg.choose(lane_of(dbg, name))


def choose_once(dbg, order):
    for name in order:
        dbg.choose(lane_of(dbg, name))


def begin_in_order(dbg, order):
    for name in order:
        while name not in dbg.tools_run:
            dbg.choose(lane_of(dbg, name))


def writes(value):
    def tool(ctx) -> dict:
        ctx.state["log"] = value(ctx.state.get("log"))
        return {}

    return tool


def two_tools(runner, said=True, calls=2):
    """A test of two tools: what it asserts of the state they leave."""

    def weigh(ctx) -> dict:
        ctx.state["parcel"] = {"grams": 500}
        return {}

    def label(ctx) -> dict:
        ctx.state["parcel"] = {"label": "L-1"}
        return {}

    parts = [types.Part.from_function_call(name=name, args={}) for name in ("weigh", "label")[:calls]]
    model = ScriptedModel([types.Content(role="model", parts=parts), "Done."])
    dbg = adknb.step(LlmAgent("clerk", model=model, tools=[weigh, label]), "Go.", runner=runner).resume()
    if said:
        assert dbg.state["parcel"] == {"grams": 500, "label": "L-1"}


# ------------------------------------------------------------------------------------------------------------ 08 and 09


def open_requests(events):
    done = {r.id for e in events if e.author == "user" for r in function_responses_of(e.content)}
    return [
        (e.author, c.id) for e in events for c in function_calls_of(e.content) if c.name == CONFIRM and c.id not in done
    ]


def message(ids, yes, role="user"):
    return types.Content(role=role, parts=[answer(CONFIRM, i, {"confirmed": yes}) for i in ids]) if ids else None


def answer_for(events, yes):
    found = open_requests(events)
    return message([i for author, i in found if author == found[-1][0]], yes)


def of_every_agent(events, yes):
    return message([i for _, i in open_requests(events)], yes)


def the_newest_only(events, yes):
    return message([i for _, i in open_requests(events)[-1:]], yes)


def answered_ones_too(events, yes):
    return message([c.id for e in events for c in function_calls_of(e.content) if c.name == CONFIRM], yes)


def the_calls_id(events, yes):
    asked = [c for e in events for c in function_calls_of(e.content) if c.name == CONFIRM]
    return message([c.args["originalFunctionCall"]["id"] for c in asked], yes)


def always_yes(events, yes):
    return answer_for(events, True)


def as_the_model(events, yes):
    found = answer_for(events, yes)
    return None if found is None else types.Content(role="model", parts=found.parts)


def needs_fallback(model, backend, tools, schema, mode):
    name = model.rsplit("/", 1)[-1].lower()
    if not (schema and tools) or mode == "task" or not name.startswith("gemini-"):
        return False
    version = re.match(r"gemini-(\d+(?:\.\d+)?)", name)
    return not (backend == "vertex" and version is not None and float(version[1]) >= 2)


def but(**changed):
    """`needs_fallback` for one argument that is always this."""

    def wrong(model, backend, tools, schema, mode):
        given = {"model": model, "backend": backend, "tools": tools, "schema": schema, "mode": mode}
        return needs_fallback(**(given | changed))

    return wrong


# ------------------------------------------------------------------------------------------------------------ 10 and 15


def hand_to(name):
    part = types.Part.from_function_call(name="transfer_to_agent", args={"agent_name": name})
    return types.Content(role="model", parts=[part])


def bar(says=None):
    tea = LlmAgent("tea", description="Tea.", model=ScriptedModel(["Green tea.", "You are welcome."]))
    coffee = LlmAgent("coffee", description="Coffee.", model=ScriptedModel([hand_to("tea")]))
    return LlmAgent("bar", sub_agents=[tea, coffee], model=ScriptedModel(list(says or ["Hello!", hand_to("coffee")])))


ASKED = ["Good morning.", "Something hot, please.", "Thank you."]
SPOKEN = [["bar"], ["bar", "bar", "coffee", "coffee", "tea"], ["tea"]]


def childless():
    return LlmAgent("bar", model=ScriptedModel(["1", "2", "3"]))


def by_order(events):
    for pick in (function_calls_of, function_responses_of):
        count = {}
        for event in events:
            for one in pick(event.content):
                if not one.id:
                    count[one.name] = count.get(one.name, 0) + 1
                    one.id = f"{one.name}-{count[one.name]}"


def by_name(events):
    for event in events:
        for one in [*function_calls_of(event.content), *function_responses_of(event.content)]:
            one.id = one.id or one.name


def over_all(events):
    for event in events:
        for one in [*function_calls_of(event.content), *function_responses_of(event.content)]:
            one.id = None
    by_order(events)


def by_place(events):
    for pick in (function_calls_of, function_responses_of):
        found = [one for event in events for one in pick(event.content) if not one.id]
        for n, one in enumerate(found):
            one.id = f"call-{n}"


def and_more(events):
    by_order(events)
    events.pop()


# ------------------------------------------------------------------------------------------------------------------- 17


def answer_open_calls(ctx, request, flow):
    for place in reversed(range(len(request.contents))):
        behind = request.contents[place + 1 : place + 2]
        there = {r.id for content in behind for r in function_responses_of(content)}
        parts = [
            answer(c.name, c.id, {"error": "no result"})
            for c in function_calls_of(request.contents[place])
            if c.id not in there
        ]
        if parts:
            request.contents.insert(place + 1, types.Content(role="user", parts=parts))


def at_the_end(ctx, request, flow):
    there = {r.id for content in request.contents for r in function_responses_of(content)}
    for content in list(request.contents):
        for call in function_calls_of(content):
            if call.id not in there:
                request.contents.append(types.Content(role="user", parts=[answer(call.name, call.id, {})]))


def drop_the_calls(ctx, request, flow):
    there = {r.id for content in request.contents for r in function_responses_of(content)}
    request.contents[:] = [c for c in request.contents if not {x.id for x in function_calls_of(c)} - there]


def in_the_session(ctx, request, flow):
    answer_open_calls(ctx, request, flow)
    ctx.session.events[0].content.parts[0].text = "changed"


def for_every_call(ctx, request, flow):
    for place in reversed(range(len(request.contents))):
        calls = function_calls_of(request.contents[place])
        if calls:
            parts = [answer(c.name, c.id, {}) for c in calls]
            request.contents.insert(place + 1, types.Content(role="user", parts=parts))


def lost(flow):
    return [f.event for f in flow.assembly.fates if f.kind == "left_out" and f.reasons[0].rule == "R5.19"]


def back(ctx, request, flow):
    found = [ctx.session.events[n].content.model_copy(deep=True) for n in lost(flow)]
    request.contents[-2:-2] = [c for c in found if all(part.text for part in c.parts)]


def back_at_the_end(ctx, request, flow):
    request.contents.extend(ctx.session.events[n].content.model_copy(deep=True) for n in lost(flow))


def back_as_one(ctx, request, flow):
    found = [part.text for n in lost(flow) for part in ctx.session.events[n].content.parts if part.text]
    if found:
        request.contents.insert(-2, types.Content(role="user", parts=[types.Part(text=" ".join(found))]))


def back_shared(ctx, request, flow):
    found = [ctx.session.events[n].content for n in lost(flow)]
    request.contents[-2:-2] = [c for c in found if all(part.text for part in c.parts)]


def everything_back(ctx, request, flow):
    said = [e.content.model_copy(deep=True) for e in ctx.session.events if e.content.parts[0].text]
    request.contents[:0] = said


def raises(*_):
    raise KeyError("x")


CHECKS = {
    check_tools_that_wait: [
        (True, (slow, slow_too), "overlap in threads"), (False, (slow, quick), "must wait 0.2 seconds"),
        (False, (slow, plain), "expected an `async def`"), (False, (slow, of_two), "expected one parameter"),
    ],
    check_every_finishing_order: [
        (True, (choose_until_done,), "all 6 orders"), (False, (lambda dbg, order: None,), "wanted ['boil', 'pour', 'grind']"),
        (False, (choose_once,), "wanted"), (False, (begin_in_order,), "wanted"), (False, (raises,), "it raised KeyError"),
    ],
    check_both_are_kept: [
        (True, (writes(lambda _: {"north": True}), writes(lambda _: {"south": 1})), "in threads"),
        (False, (writes(lambda log: [*(log or []), "north"]), writes(lambda log: [*(log or []), "south"])), "north is lost"),
        (False, (writes(lambda _: "north"), writes(lambda _: "south")), "north is lost"),
        (False, (writes(lambda _: {}), writes(lambda _: {})), "north and south is lost"),
    ],
    check_answer_for: [
        (True, (answer_for,), "8 sessions"), (False, (of_every_agent,), "another agent has asked before"),
        (False, (the_newest_only,), "two in one event"), (False, (answered_ones_too,), "one of two answered"),
        (False, (the_calls_id,), "expected answers to ['ask-1']"), (False, (always_yes,), "a refusal"),
        (False, (as_the_model,), "a person speaks in the role 'user'"), (False, (lambda events, yes: None,), "not None"),
    ],
    check_needs_fallback: [
        (True, (needs_fallback,), "50 rows"), (False, (but(tools=True),), "tools=False"), (False, (but(schema=True),), "schema=False"),
        (False, (but(mode=""),), "mode='task'"), (False, (but(backend=""),), "backend='vertex'"),
        (False, (but(backend="vertex"),), "model='gemini-2.5-flash'"), (False, (lambda *_: None,), "not None"),
    ],
    check_who_speaks: [
        (True, (bar(), ASKED, SPOKEN), "7 events of three turns"), (False, (bar(), ASKED, [["bar"], ["tea"], ["tea"]]), "turn 2: predicted ['tea']"),
        (False, (bar(says="123"), ASKED, [["bar"]] * 3), "only one agent has spoken"), (False, (childless(), ASKED, [["bar"]] * 3), "expected two"),
        (False, (bar(), ASKED[:2], SPOKEN[:2]), "expected three messages"), (False, ("bar", ASKED, SPOKEN), "expected an LlmAgent"),
    ],
    check_one_exchange_stays: [
        (True, (200, 2), "question 4 with its answer"), (True, (150, 2), "question 4"), (True, (210, 2), "question 4"),
        (False, (141, 2), "asked 2 times"), (False, (220, 2), "ever summed up"), (False, (200, 4), "question 3"),
        (False, (200, 1), "answer 4, question 5"), (False, (0, 2), "raised"),
    ],
    check_a_test: [
        (True, (two_tools,), "ten runs pass"), (False, (lambda runner: two_tools(runner, said=False),), "also passes"),
        (False, (lambda runner: two_tools(in_order),), "by the given runner"), (False, (lambda runner: two_tools(runner, False, calls=1),), "run 1: two calls"),
        (False, (raises,), "it raised KeyError"),
    ],
    check_ids_put_right: [
        (True, (by_order,), "6 sessions"), (False, (lambda events: None,), "a call is without an id"), (False, (by_name,), "share an id"),
        (False, (by_place,), "answers the other way round"), (False, (over_all,), "was there and is now"), (False, (and_more,), "an event is gone"),
    ],
    check_every_call_is_answered: [
        (True, (answer_open_calls,), "6 histories"), (False, (lambda *_: None,), "no answer"), (False, (at_the_end,), "behind the call"),
        (False, (drop_the_calls,), "gone, changed or moved"), (False, (in_the_session,), "the session has changed"),
        (False, (for_every_call,), "had an answer, and has two now"), (False, (raises,), "the processor raised KeyError"),
    ],
    check_words_come_back: [
        (True, (back,), "4 histories"), (False, (lambda *_: None,), "again, in this order"), (False, (back_at_the_end,), "the late answer is to stay last"),
        (False, (back_as_one,), "again, in this order"), (False, (back_shared,), "no alias with the session"), (False, (everything_back,), "stands there twice"),
    ],
    check_recap: [
        (True, ({n: n in (6, 7, 8, 10) for n in range(1, 11)},), "10 statements"), (False, (dict.fromkeys(range(1, 11)),), "statement 1 is open"),
        (False, (dict.fromkeys(range(1, 11), True),), "statement 1: look at lesson 01"), (False, (dict.fromkeys(range(1, 11), False),), "statement 6: look at lesson 07"),
        (False, ({1: False},), "keys 1 to 10"), (False, ([False] * 10,), "keys 1 to 10"),
    ],
}  # fmt: skip
"""Check -> (does it pass, what the reader wrote, a part of the verdict)."""

ROWS = [(check, *row) for check, rows in CHECKS.items() for row in rows]


@pytest.mark.parametrize("check, passes, solution, says", ROWS, ids=[f"{row[0].__name__}: {row[3]}" for row in ROWS])
def test_a_check_passes_what_is_right_and_says_what_is_wrong(check, passes, solution, says):
    found = check(*solution)
    assert bool(found) is passes, found
    assert says in found.says and found.says.endswith(".") and "\n" not in found.says


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_a_cell_that_is_not_filled_in_is_told_so(check):
    empty = CHECKS[check][0][1]
    assert check(*[None for _ in empty]).says == "nothing is here yet."


def test_a_broken_merge_is_whole_again_after_the_check():
    check_a_test(two_tools)
    two_tools(in_order)


def test_authors_leaves_the_user_out():
    assert authors(adknb.step(bar(), ASKED).resume()) == SPOKEN
