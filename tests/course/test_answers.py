"""What the course says is right (its answers in bold) is what a Stepper shows.

One row a question: the scenario, the wish that leads there, what is read off, the answer.
"""

from __future__ import annotations

import copy

import pytest

import adknb
from adknb import at, event
from adknb.course import answers, calls, says
from adknb.engine.stops import Phase, Seam
from adknb.scenarios import shipped


def texts(request):
    """The texts of a request, content by content; a call or an answer as its id."""
    return [" ".join(p.text or (calls(p) + answers(p) or [""])[0] for p in c.parts) for c in request.contents]


def asked(dbg):
    """How often the model was asked in each turn so far: {1: 2, 2: 1}."""
    turns = [s.turn for s in dbg.stops if s.seam is Seam.MODEL and s.phase is Phase.BEFORE]
    return {turn: turns.count(turn) for turn in turns}


def met(dbg, seam):
    """How often the run has stood before a seam."""
    return sum(s.seam is seam and s.phase is Phase.BEFORE for s in dbg.stops)


def finals(dbg):
    """Which of the stored events are final."""
    return [e.is_final_response() for e in dbg.events]


def fate(dbg, n):
    """What became of event n, and the first reason's rule."""
    return dbg.fates[n].kind, dbg.fates[n].reasons[0].rule


def built_by(dbg):
    """The processors that changed the request."""
    return [s.name for s in dbg.stages[1:14] if s.changed]


def declared(dbg):
    return [d.name for tool in dbg.request.config.tools or [] for d in tool.function_declarations]


E1 = event(call="get_weather")
DESK_1, DESK_10 = at("contents", agent="desk_1"), at("contents", agent="desk_10")
TRAINS, BUDGET, BOOK = "Trains leave", "Budget: 200 euros", "So what do we book?"
SECOND = at("contents", turn=3, step=2)
ORDER_LATE = at("contents", turn=3)

ANSWERS = {
    "01.1 asked twice": ("01a", None, asked, {1: 2}),
    "01.2 E1 before the tool": ("01a", E1, lambda d: (calls(d.event), d.tools_run), (["weather-1"], [])),
    "01.3 author and role": (
        "01a",
        None,
        lambda d: (d.events[2].author, d.events[2].content.role),
        ("weather_agent", "user"),
    ),
    "01.4 request 2": (
        "01a",
        at("contents", step=2),
        lambda d: texts(d.request),
        ["杭州现在多少度？", "weather-1", "weather-1"],
    ),
    "01.5 on_event, stored": ("01b", None, lambda d: (met(d, Seam.ON_EVENT), len(d.events)), (3, 4)),
    "02.1 five write": (
        "02",
        "tool_declaration",
        built_by,
        ["basic", "instructions", "identity", "contents", "transfer"],
    ),
    "02.2 no declaration yet": ("02", "tools", declared, []),
    "02.2 after all stages": ("02", "tool_declaration", declared, ["transfer_to_agent", "find_book"]),
    "02.3 the global text first": (
        "02",
        "instructions",
        lambda d: d.paragraphs[0],
        ("Library: East Branch. Answer in .", "instructions"),
    ),
    "02.4 doubled braces": ("02", "instructions", lambda d: says(d.request, "a fine as 0.5."), True),
    "02.5 Go prints": ("02", "instructions", lambda d: says(d.request, "[map[days:12 title:Dune]]"), True),
    "02.6 no longer in step 2": (
        "02",
        None,
        lambda d: d.requests[0]["config"]["systemInstruction"] == d.requests[1]["config"]["systemInstruction"],
        True,
    ),
    "03.1 another branch": (
        "03a",
        DESK_10,
        lambda d: (says(d.request, TRAINS), fate(d, 1)),
        (False, ("left_out", "R5.6")),
    ),
    "03.2 the planner, desk_10": ("03a", DESK_10, lambda d: says(d.request, f"[planner] said: {BUDGET}"), True),
    "03.2 the planner, desk_1": ("03a", DESK_1, lambda d: says(d.request, f"[planner] said: {BUDGET}"), True),
    "03.3 a thought": ("03a", DESK_10, lambda d: says(d.request, "[concierge] said: They sound tired."), True),
    "03.4 nobody's": (
        "03a",
        None,
        lambda d: (says(d.events, "hold_seats"), says(d.requests, "hold_seats")),
        (True, False),
    ),
    "03.5 all get it": ("03a", None, lambda d: [says(r, BOOK) for r in d.requests], [True, True]),
    "03.5 caught by a scope": (
        "03c",
        None,
        lambda d: (d.events[8].isolation_scope, [says(r, BOOK) for r in d.requests]),
        ("visa-1", [False, False]),
    ),
    "03.6 the route alone": (
        "03b",
        at("contents", agent="packer"),
        lambda d: (len(d.request.contents), says(d.request, "route_writer"), says(d.request, "wheelchair")),
        (1, True, False),
    ),
    "04.1 five of nine": (
        "04a",
        ORDER_LATE,
        lambda d: (len(d.events), len(d.request.contents), says(d.request, "how much gauze")),
        (9, 5, False),
    ),
    "04.2 the pair is last": ("04a", ORDER_LATE, lambda d: texts(d.request)[-2:], ["order-1", "order-1"]),
    "04.3 replaced": (
        "04a",
        ORDER_LATE,
        lambda d: (answers(d.events).count("order-1"), answers(d.request), says(d.request, "T-7")),
        (2, ["count-1", "order-1"], False),
    ),
    "04.4 back": (
        "04a",
        at("contents", turn=4),
        lambda d: (len(d.request.contents), says(d.request, "how much gauze")),
        (10, True),
    ),
    "04.5 only the answer is cut": (
        "04b",
        "contents",
        lambda d: (says(d.request, "alarm rang twice"), says(d.events, "ghost-1"), says(d.request, "ghost-1")),
        (True, True, False),
    ),
    "04.6 ids": (
        "04b",
        "contents",
        lambda d: (calls(d.request), answers(d.request)),
        (["count-9", ""], ["count-9", ""]),
    ),
    "05.0 how often": ("05a", None, asked, {1: 1, 2: 2, 3: 2, 4: 1, 5: 1, 6: 1}),
    "05.1 final without content": (
        "05a",
        event(final=True),
        lambda d: (d.event.content, d.event.actions.state_delta),
        (None, {"greeted": True}),
    ),
    "05.2 the text only": ("05a", None, lambda d: finals(d)[4:7], [False, False, True]),
    "05.3 a thought is final, asked again": (
        "05a",
        SECOND,
        lambda d: (finals(d)[-1], texts(d.request)[-1][:19]),
        (True, "Continue processing"),
    ),
    "05.4 skipped, not the last answer": (
        "05a",
        at("identity", turn=5),
        lambda d: (asked(d)[4], d.state["last_answer"]),
        (1, "Take the umbrella."),
    ),
    "05.5 final before its tool ran": (
        "05a",
        at(tool="watch_storm"),
        lambda d: (finals(d)[-1], d.state["last_answer"]),
        (True, "I will tell you when it comes."),
    ),
    "05.6 its own closing words": (
        "05b",
        None,
        lambda d: [(e.author, says(e, "Approved.")) for e in d.events[-2:]],
        [("critic", False), ("critic", True)],
    ),
    "06.1 a cached answer": (
        "06",
        event(turn=2),
        lambda d: (met(d, Seam.MODEL), says(d.event, "from the cache")),
        (1, True),
    ),
    "06.2 after_tool runs": ("06", at("after_tool", turn=3), lambda d: (d.tools_run, d.result["from"]), ([], "cache")),
    "06.3 after_model once": (
        "06",
        at("after_model", turn=4),
        lambda d: says(d.response, "The catalogue is resting"),
        True,
    ),
    "06.4 one content, then three": ("06", at("before_model", turn=2), lambda d: len(d.request.contents), 3),
    "07.1 parts as called": ("07a", None, lambda d: answers(d.events), ["north-1", "south-1", "scan-1", "price-1"]),
    "07.1 run in reverse": ("07a", None, lambda d: d.tools_run, ["scan_shelf", "reserve_south", "reserve_north"]),
    "07.2 the later call wins": ("07a", None, lambda d: d.state["last_shop"], "south"),
    "07.3 maps are merged": (
        "07a",
        None,
        lambda d: d.state["basket"],
        {"north": {"aspirin": 2}, "south": {"gauze": 5}},
    ),
    "07.4 lists are not": ("07a", None, lambda d: d.state["log"], ["south"]),
    "07.6 three parts, one call": (
        "07b",
        at(tool="cancel_booking", turn=2),
        lambda d: (len(d.events[2].content.parts), asked(d)),
        (3, {1: 1}),
    ),
    "08.1 the id to answer": (
        "08a",
        event(call="adk_request_confirmation"),
        lambda d: (d.event.long_running_tool_ids == calls(d.event), calls(d.event) != ["seat-1"]),
        (True, True),
    ),
    "08.2 text resumes nothing": (
        "08a",
        at("contents", turn=2),
        lambda d: (d.tools_run, says(d.request, "requires approval")),
        ([], True),
    ),
    "08.3 the tool runs first": (
        "08a",
        at("instructions", turn=3),
        lambda d: (d.tools_run, asked(d).get(3), says(d.request, "Seat: 14A.")),
        (["book_seat"], None, True),
    ),
    "08.4 never seen": (
        "08a",
        at("contents", turn=3),
        lambda d: (len(d.request.contents), says(d.request, "adk_request_confirmation")),
        (3, False),
    ),
    "08.5 missing": ("08a", at("contents", turn=3), lambda d: says(d.request, "What does it cost?"), False),
    "08.5 back": ("08a", at("contents", turn=4), lambda d: says(d.request, "What does it cost?"), True),
    "08.6 refused": ("08b", None, lambda d: (d.tools_run, asked(d)), ([], {1: 1, 2: 1})),
    "09.1 in a tool": (
        "09b",
        at("tool_declaration"),
        lambda d: ("set_model_response" in declared(d), d.request.config.response_schema),
        (True, None),
    ),
    "09.2 asked twice, then once": ("09b", None, asked, {1: 2, 2: 1}),
    "09.4 a text": (
        "09b",
        at("identity", turn=2),
        lambda d: d.state["card"],
        '{"shelf":"A2 \\u003cground floor\\u003e","title":"Emma","year":1815}',
    ),
    "10.1 authors": (
        "10a",
        at("model", turn=2),
        lambda d: [e.author for e in d.events[1:6]],
        ["front_desk"] * 2 + ["visa_desk"] * 3,
    ),
    "10.2 as context": (
        "10a",
        at("contents", agent="visa_desk"),
        lambda d: says(d.request, "[front_desk] said: Our visa desk"),
        True,
    ),
    "10.3 directly": ("10a", at("model", turn=2), lambda d: d.here.agent, "visa_desk"),
    "10.4 the call's arguments": (
        "10b",
        at("contents", agent="bibliographer"),
        lambda d: (len(d.request.contents), says(d.request, "I collect")),
        (1, False),
    ),
    "10.5 the question it asked": (
        "10b",
        None,
        lambda d: (d.state["finding"][:10], says(d.requests[-1], "The London one.")),
        ("The London", False),
    ),
    "10.6 not told its name": (
        "10c",
        at("identity", agent="translator"),
        lambda d: says(d.request, "internal name"),
        False,
    ),
    "11.1 one sign": (
        "11a",
        event(author="analystAgent"),
        lambda d: d.event.actions.state_delta,
        {"analysis_result": "#"},
    ),
    "11.1 the last fragment": (
        "11a",
        at("instructions", agent="drawAgent"),
        lambda d: d.state["analysis_result"],
        "：登录流程，三步",
    ),
    "11.2 faulty": ("11a", None, lambda d: len(d.events), 9),
    "11.2 safe": ("11b", None, lambda d: len(d.events), 4),
    "11.5 prose before it": ("11b", None, lambda d: d.state["draft_diagram"][:10], "好的。<mxfile"),
    "12.2 a model content, first": (
        "12a",
        at("contents", turn=4),
        lambda d: (d.request.contents[0].role, texts(d.request)[0][:8]),
        ("model", "Summary:"),
    ),
    "12.3 stored": ("12a", None, lambda d: (len(d.events), met(d, Seam.SUMMARIZE)), (9, 1)),
    "12.5 summary and nudge": (
        "12b",
        at("contents", turn=3),
        lambda d: [t[:8] for t in texts(d.request)],
        ["Summary:", "Continue"],
    ),
    "14.2 label": ("14b", None, lambda d: (d.tools_run, d.state["last_step"]), (["label", "weigh"], "label")),
    "14.3 no ids": ("14a", at("contents", step=2), lambda d: calls(d.request), ["", ""]),
    "15.1 the cart's answer": (
        "15a",
        "contents",
        lambda d: (says(d.request.contents[2], "spade"), says(d.request, "Lyon")),
        (True, False),
    ),
    "15.2 another agent's": ("15a", "contents", lambda d: says(d.request, "[model] said: One spade."), True),
    "15.3 back": ("15b", "contents", lambda d: says(d.request, "Lyon") and says(d.request, "Thursday"), True),
}
"""Lesson and question -> scenario, where to (None: to the end), what to read off, the bold answer."""


@pytest.mark.parametrize("name, wish, read, answer", ANSWERS.values(), ids=ANSWERS)
def test_the_bold_answer_is_seen(name, wish, read, answer):
    dbg = adknb.step(adknb.scenario(*[n for n in shipped() if n.startswith(f"{name}-")]))
    dbg.resume() if wish is None else dbg.until(wish)
    assert (dbg.here is None) is (wish is None)
    assert read(dbg) == answer


def test_01_6_a_reader_who_leaves_after_the_call_has_no_tool_run():
    scenario = copy.deepcopy(adknb.scenario("01a-one-turn"))
    scenario["turns"][0]["stop_after"] = 1
    dbg = adknb.step(scenario).resume()
    assert (dbg.tools_run, len(dbg.events)) == ([], 2)


def test_01_edit_a_tools_result_is_in_the_next_request_and_the_scripted_text_stays():
    dbg = adknb.step(adknb.scenario("01a-one-turn")).until(at(tool="get_weather", phase="after"))
    dbg.result["temperature"] = 31
    dbg.resume()
    assert says(dbg.requests[1], "31") and not says(dbg.requests[1], "26") and says(dbg.events[-1], "26°C")
