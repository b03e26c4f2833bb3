"""Editing what a stop holds: by form, as JSON, undone again; the kernel checks, and says where a draft is wrong."""

import copy
import json

import pytest

import adknb
from adknb import at
from adknb.stepper.patches import plain
from adknb.widgets.changing import Changes, offered
from adknb.widgets.forms import MOST_CONTENTS, filled_in, object_form, request_form
from tests.widgets.runs import said, weather
from tests.widgets.test_panel import Wire


def stop(where):
    return {
        "before the model": lambda: weather().until(at("model", step=2)),
        "after the model": lambda: weather().until(at("model")).next(),
        "before the tool": lambda: weather().until(at(tool="get_weather")),
        "after the tool": lambda: weather().until(at(tool="get_weather")).next(),
        "an event on its way": lambda: weather().until(at("event")),
        "the first stop": weather,
        "a processor": lambda: weather().until(at("contents")),
        "a turn's end": lambda: weather().until(at("turn")),
        "the end": lambda: weather().resume(),
    }[where]()


OFFERED = [
    ("before the model", ["request"]),
    ("after the model", ["outcome"]),
    ("before the tool", ["args", "state"]),
    ("after the tool", ["outcome", "args", "state"]),
    ("an event on its way", ["event", "state"]),
    ("the first stop", ["event", "state"]),
    ("a processor", ["request", "state"]),
    ("a turn's end", []),
    ("the end", []),
]


@pytest.mark.parametrize("where, names", OFFERED)
def test_a_stop_offers_what_it_holds_the_most_telling_first(where, names):
    assert [name for name, _ in offered(stop(where))] == names


def field(form, label):
    return next(f for group in form for f in group["fields"] if f["label"] == label)


def test_a_request_is_a_form_of_settings_paragraphs_and_parts():
    dbg = stop("before the model")
    form = Changes().form(dbg, "request")
    assert [group["title"] for group in form] == [
        "System instruction", "Model and config", "Declared tools", "Content 0", "Content 1", "Content 2",
    ]  # fmt: skip
    assert field(form, "instructions")["value"] == "Use get_weather to answer weather questions."
    assert field(form, "temperature") == {
        "at": "/config/temperature",
        "label": "temperature",
        "kind": "number",
        "value": "",
    }
    assert field(form, "get_weather args")["at"] == "/contents/1/parts/0/functionCall/args"


FILLED = [
    ("a number", [("/config/temperature", "0.5")], ("config", "temperature"), 0.5),
    ("a whole number", [("/config/maxOutputTokens", "100")], ("config", "maxOutputTokens"), 100),
    ("a list", [("/config/stopSequences", '["END"]')], ("config", "stopSequences"), ["END"]),
    ("the model", [("/model", "gemini-x")], ("model",), "gemini-x"),
    ("a part's text", [("/contents/0/parts/0/text", "上海呢？")], ("contents", 0, "parts", 0, "text"), "上海呢？"),
    ("a role", [("/contents/0/role", "model")], ("contents", 0, "role"), "model"),
    (
        "arguments",
        [("/contents/1/parts/0/functionCall/args", '{"city": "Shanghai"}')],
        ("contents", 1, "parts", 0, "functionCall", "args"),
        {"city": "Shanghai"},
    ),
    (
        "one paragraph of two",
        [("/config/systemInstruction/parts/0/text#0", "Be brief.")],
        ("config", "systemInstruction", "parts", 0, "text"),
        'Be brief.\n\nYou are an agent. Your internal name is "weather_agent".',
    ),
]


@pytest.mark.parametrize("case, fields, path, value", FILLED)
def test_a_field_filled_in_is_what_the_model_is_asked(case, fields, path, value):
    dbg = stop("before the model")
    others = copy.deepcopy(dbg.request_now)
    assert Changes().apply(dbg, "request", {"fields": fields}) == []
    found = dbg.request_now
    for step in path:
        found = found[step]
    assert found == value
    where = others
    for step in path[:-1]:
        where = where[step]
    where[path[-1]] = value
    assert dbg.request_now == others  # and nothing else has changed


def test_an_emptied_setting_is_not_set_any_more():
    dbg = stop("before the model")
    changes = Changes()
    changes.apply(dbg, "request", {"fields": [("/config/temperature", "1")]})
    changes.apply(dbg, "request", {"fields": [("/config/temperature", " ")]})
    assert "temperature" not in dbg.request_now["config"]


FAULTS = [
    ("no number", [("/config/temperature", "warm")], "/config/temperature", "expected a number"),
    ("no whole number", [("/config/seed", "1.5")], "/config/seed", "expected a whole number"),
    ("true is no number", [("/config/topK", "true")], "/config/topK", "expected a number"),
    ("NaN is none either", [("/config/topP", "NaN")], "/config/topP", "expected a number"),
    ("no JSON", [("/config/stopSequences", "[END]")], "/config/stopSequences", "not JSON"),
    ("not a list", [("/config/stopSequences", "5")], "/config/stopSequences", "expected a list"),
    ("args that are a text", [("/contents/1/parts/0/functionCall/args", '"x"')], "/contents/1/parts/0/functionCall/args", "expected an object"),
    ("nested too deeply", [("/config/stopSequences", "[" * 300 + "]" * 300)], "/config/stopSequences", "deeper"),
    ("a place that is not there", [("/config/nonsense", "1")], "/config/nonsense", "no such field"),
]  # fmt: skip


@pytest.mark.parametrize("case, fields, at_, message", FAULTS)
def test_a_wrong_field_is_told_at_its_place_and_changes_nothing(case, fields, at_, message):
    dbg = stop("before the model")
    before = dbg.request_now
    [fault] = Changes().apply(dbg, "request", {"fields": [*fields, ("/model", "other")]})
    assert fault.at == at_
    assert message in fault.message
    assert dbg.request_now == before


def test_contents_can_be_left_out_and_added():
    dbg = stop("before the model")
    Changes().apply(dbg, "request", {"drop": [1, 2], "add": [["user", "And Shanghai?"]]})
    assert [c["parts"] for c in dbg.request_now["contents"]] == [
        [{"text": "杭州天气怎么样？"}],
        [{"text": "And Shanghai?"}],
    ]


def test_what_was_not_edited_keeps_its_very_objects():
    dbg = stop("before the model")
    kept = dbg.request.contents[1], dbg.request.tools
    Changes().apply(dbg, "request", {"fields": [("/contents/0/parts/0/text", "x")]})
    assert dbg.request.contents[1] is kept[0]
    assert dbg.request.tools is kept[1]


IN_PLACE = [
    ("before the tool", "args", {"fields": [("/city", "Shanghai")]}, lambda d: d.args, {"city": "Shanghai"}),
    ("before the tool", "args", {"text": '{"city": "Xi\'an", "days": 2}'}, lambda d: d.args, {"city": "Xi'an", "days": 2}),
    ("before the tool", "args", {"add": [["days", "3"]]}, lambda d: d.args, {"city": "Hangzhou", "days": 3}),
    ("after the tool", "outcome", {"fields": [("/temperature", "-40")]}, lambda d: d.result, {"city": "Hangzhou", "temperature": -40}),
    ("before the tool", "state", {"add": [["user:name", '"Li"']]}, lambda d: dict(d.state), {"user:name": "Li"}),
    ("after the model", "outcome", {"fields": [("/content/parts/0/functionCall/args", '{"city": "Suzhou"}')]},
     lambda d: d.response.content.parts[0].function_call.args, {"city": "Suzhou"}),
    ("an event on its way", "event", {"fields": [("/content/parts/0/functionCall/args", '{"city": "Wuxi"}')]},
     lambda d: d.event.content.parts[0].function_call.args, {"city": "Wuxi"}),
]  # fmt: skip


@pytest.mark.parametrize("where, what, draft, look, value", IN_PLACE)
def test_arguments_results_responses_events_and_state_are_changed_in_place(where, what, draft, look, value):
    dbg = stop(where)
    before = copy.deepcopy(look(dbg))
    changes = Changes()
    assert changes.apply(dbg, what, draft) == []
    assert look(dbg) == value
    assert dbg.edits
    assert changes.undo(dbg)
    assert look(dbg) == before
    assert dbg.edits == []


def test_arguments_stay_the_map_that_the_event_and_the_tool_share():
    dbg = stop("before the tool")
    args = dbg.args
    Changes().apply(dbg, "args", {"fields": [("/city", "Shanghai")]})
    assert dbg.args is args
    assert dbg.events[-1].content.parts[0].function_call.args == {"city": "Shanghai"}  # as in Go
    assert dbg.next().args == {"city": "Shanghai"}


WRONG = [
    ("before the tool", "args", {"text": "[]"}, "", "expected an object, found a list"),
    ("before the tool", "args", {"text": '{"city": '}, "", "not JSON"),
    ("before the tool", "args", {"text": '{"a": 1, "a": 2}'}, "", "given twice"),
    ("before the tool", "state", {"text": '{"a": "\\ud83d"}'}, "/a", "half of a surrogate pair"),
    ("before the tool", "args", {"add": [["city", "1"]]}, "+", "a name of its own"),
    ("before the tool", "args", {"add": [["days", "two"]]}, "+", "not JSON"),
    ("after the model", "outcome", {"text": '{"content": {"parts": [{"txt": 1}]}}'}, "/content/parts/0/txt", "Extra"),
    ("after the model", "outcome", {"text": '{"nonsense": 1}'}, "", "unknown field"),
    ("an event on its way", "event", {"text": '{"author": 5}'}, "/author", "expected a text"),
]


@pytest.mark.parametrize("where, what, draft, at_, message", WRONG)
def test_a_wrong_draft_of_anything_is_told_at_its_place_and_changes_nothing(where, what, draft, at_, message):
    dbg = stop(where)
    before = json.dumps(plain(dbg.here.holds.get("args")), default=str), dict(dbg.state), dbg.edits
    [fault] = Changes().apply(dbg, what, draft)
    assert fault.at == at_
    assert message in fault.message
    assert (json.dumps(plain(dbg.here.holds.get("args")), default=str), dict(dbg.state), dbg.edits) == before


def test_edits_are_taken_back_one_by_one_the_newest_first():
    dbg = stop("before the tool")
    changes = Changes()
    for city in ("a", "b"):
        changes.apply(dbg, "args", {"fields": [("/city", city)]})
    changes.apply(dbg, "state", {"add": [["k", "1"]]})
    seen = []
    while changes.undo(dbg):
        seen.append((dbg.args["city"], dict(dbg.state)))
    assert seen == [("b", {}), ("a", {}), ("Hangzhou", {})]
    assert not changes


def test_a_draft_goes_from_form_to_json_and_back_without_touching_the_run():
    dbg = stop("before the model")
    changes = Changes()
    before = dbg.request_now
    drafted = changes.text(dbg, "request", {"fields": [("/config/temperature", "0.5")]})
    assert json.loads(drafted)["config"]["temperature"] == 0.5
    assert field(changes.form(dbg, "request", drafted), "temperature")["value"] == "0.5"
    assert changes.apply(dbg, "request", {"base": drafted, "fields": [("/model", "x")]}) == []
    assert (dbg.request.model, dbg.request.config.temperature) == ("x", 0.5)
    changes.undo(dbg)
    assert dbg.request_now == before


def test_large_numbers_that_a_browser_would_round_are_not_touched_by_an_edit_beside_them():
    dbg = said("one").until(at("model"))
    dbg.request.contents[0].parts.append(
        adknb.engine.event.types.Part(
            function_call=adknb.engine.event.types.FunctionCall(name="f", args={"id": 2**63 + 1, "x": 0.1 + 0.2})
        )
    )
    Changes().apply(dbg, "request", {"fields": [("/contents/0/parts/0/text", "x")]})
    assert dbg.request.contents[0].parts[1].function_call.args == {"id": 2**63 + 1, "x": 0.1 + 0.2}


def test_of_many_contents_the_form_has_the_newest_and_says_so():
    many = {"model": "m", "config": {}, "contents": [{"role": "user", "parts": [{"text": str(i)}]} for i in range(500)]}
    groups = [g for g in request_form(many) if g["title"].startswith("Content")]
    assert len(groups) == MOST_CONTENTS
    assert groups[0]["note"].startswith("The first 440")
    assert groups[-1]["fields"][1]["value"] == "499"


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"a": None},
        {"a": {"b": []}},
        {"content": {"parts": []}},
        {"content": None},
        {"parts": [None, 5, {"text": ""}]},
    ],
)
def test_any_object_has_a_form_that_leaves_it_as_it_is(data):
    form = object_form(data, "It")
    fields = [(f["at"], f["value"]) for group in form for f in group["fields"]]
    again, faults = filled_in(data, [], form)
    assert (again, faults) == (data, [])
    assert all(isinstance(value, str) for _, value in fields)


EVENT_EDITS = [
    ([("/content/role", "user")], lambda e: e.content.role, "user"),
    ([("/author", "other")], lambda e: e.author, "other"),
    ([("/branch", "a.b")], lambda e: e.branch, "a.b"),
    ([("/partial", "true")], lambda e: e.partial, True),
    ([("/turnComplete", "true"), ("/turnComplete", "")], lambda e: e.turn_complete, False),
    ([("/actions/stateDelta", '{"k": 1}')], lambda e: e.actions.state_delta, {"k": 1}),
    ([("/actions/transferToAgent", "writer")], lambda e: e.actions.transfer_to_agent, "writer"),
    ([("/actions/escalate", "true"), ("/actions/stateDelta", "{}")], lambda e: e.actions.escalate, True),
    ([("/errorCode", "SAFETY")], lambda e: e.error_code, "SAFETY"),
]


@pytest.mark.parametrize("fields, read, expected", EVENT_EDITS, ids=[fields[-1][0] for fields, *_ in EVENT_EDITS])
def test_the_form_of_an_event_offers_what_is_not_set_yet(fields, read, expected):
    dbg, changes = weather().until(at(seam="event")), Changes()
    before = dbg.event.to_json()
    assert changes.apply(dbg, "event", {"fields": fields}) == []
    assert read(dbg.event) == expected
    changes.undo(dbg)
    assert dbg.event.to_json() == before


@pytest.mark.parametrize(
    "at_, text, message",
    [
        ("/partial", "maybe", "expected true or false"),
        ("/partial", "1", "expected true or false"),
        ("/timestamp", "noon", "expected a number"),
        ("/actions/stateDelta", "{", ""),
        ("/actions/stateDelta", "5", ""),
    ],
)
def test_a_fault_in_the_form_of_an_event_is_told_at_its_field_and_nothing_changes(at_, text, message):
    dbg, changes = weather().until(at(seam="event")), Changes()
    before = dbg.event.to_json()
    faults = changes.apply(dbg, "event", {"fields": [(at_, text)]})
    assert faults[0].at == at_
    assert message in faults[0].message
    assert dbg.event.to_json() == before


# ---- through the panel


def test_the_panel_tells_what_can_be_edited_and_takes_an_edit_back():
    wire = Wire(stop("before the tool"))
    assert wire.view["edits"] == [["args", "Arguments"], ["state", "State"]]
    form = wire.answer("form", type="form", what="args")
    assert form["groups"][0]["fields"][0]["at"] == "/city"
    said = wire.send(type="edit", what="args", fields=[["/city", "Shanghai"]], stop=form["stop"])
    assert [m["type"] for m in said if m["type"] in ("problem", "applied")] == ["problem", "applied"]
    assert wire.stepper.args == {"city": "Shanghai"}
    assert wire.view["edited"]
    wire.send(type="undo")
    assert wire.stepper.args == {"city": "Hangzhou"}
    assert not wire.view["edited"]
    assert wire.panel.errors == []


def test_a_fault_of_a_form_is_told_at_its_field():
    wire = Wire(stop("before the model"))
    problem = wire.answer("problem", type="check", what="request", fields=[["/config/temperature", "warm"]])
    assert problem["faults"] == [["/config/temperature", 0, "config.temperature", "expected a number"]]


def test_an_edit_begun_at_another_stop_is_refused():
    wire = Wire(stop("before the tool"))
    form = wire.answer("form", type="form", what="args")
    wire.stepper.next()
    told = wire.answer("problem", type="edit", what="args", fields=[["/city", "x"]], stop=form["stop"])
    assert "moved on" in told["message"]


NONSENSE = [
    {"type": "form", "what": "nonsense"},
    {"type": "form", "what": 5},
    {"type": "text", "why": "edit", "what": "args"},
    {"type": "text", "why": "copy", "as": "xml"},
    {"type": "check", "what": "request", "fields": 5},
    {"type": "check", "what": "request", "fields": [["only one"]]},
    {"type": "edit", "what": "request", "drop": ["x"], "stop": 29},
    {"type": "edit", "what": "nobody", "text": "{}", "stop": 29},
    {"type": "page", "name": "Request", "against": "yesterday"},
    {"type": "page", "name": "Request", "stop": 10_000},
    {"type": "look"},
    {"type": "choose", "lane": "nowhere"},
]


@pytest.mark.parametrize("message", NONSENSE, ids=str)
def test_a_message_that_makes_no_sense_is_told_and_changes_nothing(message):
    wire = Wire(weather().until(at("model")))
    before = wire.stepper.request_now, wire.stepper.position
    wire.send(**message)
    assert wire.view["problem"]
    assert len(wire.panel.errors) == 1
    assert (wire.stepper.request_now, wire.stepper.position) == before
