"""The request and the state as blocks."""

import pytest

from adknb import at
from adknb.lens.request_changes import request_changes
from adknb.widgets.held import held
from adknb.widgets.pages import request_page, summary
from adknb.widgets.text import flat
from adknb.widgets.tools_table import tools_table
from tests.widgets.runs import said, weather


def say(text, role="user"):
    return {"role": role, "parts": [{"text": text}]}


def page(before, after, tools=()):
    now = {"model": "m", "contents": [], "config": {}, "tools": [], **after}
    old = None if before is None else {"model": "m", "contents": [], "config": {}, "tools": [], **before}
    return request_page(now, request_changes(old, now), tools)


def rows_of(columns, look):
    return next(block[2] for column in columns for block in column if block[:2] == ["rows", look])


def marks(columns, look):
    return [(flat(row["text"][0]), row["op"] and row["op"][1]) for row in rows_of(columns, look)]


@pytest.mark.parametrize(
    "before, after, shown",
    [
        ([say("a")], [say("a"), say("b", "model")], [("a", None), ("b", "new")]),
        ([say("a"), say("b")], [say("b"), say("a")], [("b", "moved from 1"), ("a", None)]),
        ([say("a"), say("b")], [say("b")], [("b", None), ("a", "gone, was 0")]),
        ([say("fare 80")], [say("fare 73")], [("fare 80 73", "changed")]),
        ([], [{"role": "user"}], [("no parts", "new")]),
    ],
)
def test_contents_are_marked_with_what_became_of_them(before, after, shown):
    assert marks(page({"contents": before}, {"contents": after}), "bubbles") == shown


def test_nothing_is_marked_where_there_is_nothing_to_compare_with():
    assert marks(page(None, {"contents": [say("a")]}), "bubbles") == [("a", None)]


def test_a_change_inside_a_call_is_shown_beside_it():
    def calls(city):
        return [{"role": "model", "parts": [{"functionCall": {"name": "f", "args": {"city": city}}}]}]

    row = rows_of(page({"contents": calls("Hangzhou")}, {"contents": calls("Shanghai")}), "bubbles")[0]
    assert row["op"] == ["changed", "changed"]
    assert flat(row["text"][0]) == 'f(city="Shanghai")'
    assert row["text"][1] == [["mut", "args.city: "], ["del", "Hangzhou"], ["ins", "Shanghai"]]


@pytest.mark.parametrize(
    "before, after, shown",
    [
        (None, "Be brief.", [("Be brief.", None)]),
        ("", "Be brief.\n\nYou are a.", [("Be brief.", "new"), ("You are a.", "new")]),
        ("Be brief.", "Be brief.\n\nYou are a.", [("Be brief.", None), ("You are a.", "new")]),
        ("Fare 80.\n\nYou are a.", "Fare 73.\n\nYou are a.", [("Fare 80. 73.", "changed"), ("You are a.", None)]),
        ("Be brief.", "", [("Be brief.", "gone")]),
    ],
)
def test_the_instruction_is_shown_by_paragraph(before, after, shown):
    def config(text):
        return {"config": {"systemInstruction": {"role": "user", "parts": [{"text": text}]}} if text else {}}

    assert marks(page(None if before is None else config(before), config(after)), "blame") == shown


@pytest.mark.parametrize(
    "before, after, shown",
    [
        ({"seed": 1}, {"seed": 1}, [["code", "1"]]),
        ({}, {"seed": 1}, [["code", ["ins", "1"]]]),
        ({"seed": 1}, {"seed": 2}, [["code", ["del", "1"], " ", ["ins", "2"]]]),
        ({"seed": 1}, {}, [["code", ["del", "1"]]]),
    ],
)
def test_a_setting_shows_its_old_value_beside_the_new(before, after, shown):
    table = page({"config": before}, {"config": after})[1][-1]
    assert table[0] == "table"
    assert next(cells for name, cells in table[2] if name == [["mut", "seed"]]) == shown


def test_a_declaration_stands_beside_the_tool_that_runs_it():
    dbg = weather().until(at("planning"))
    listed = tools_table(dbg.request_now, dbg.request, dbg.here)
    assert [(t["name"], t["declared"], t["local"], t["listed"]) for t in listed] == [("get_weather", None, "", True)]
    dbg.until(at("model"))
    [tool] = tools_table(dbg.request_now, dbg.request, dbg.here)
    assert tool["declared"]["name"] == tool["name"] == "get_weather"
    assert tool["local"] == "scripted tool"


def test_a_declaration_that_nobody_runs_is_told():
    dbg = weather().until(at("model"))
    dbg.request.tools.clear()
    columns = request_page(dbg.request_now, [], tools_table(dbg.request_now, dbg.request, dbg.here))
    assert "nobody runs it" in str(columns[1])


@pytest.mark.parametrize(
    "go, lines",
    [
        (lambda d: d, [("event", "user: 杭州天气怎么样？")]),
        (lambda d: d.until(at("contents")), []),
        (lambda d: d.until(at(tool="get_weather")), [("call", 'get_weather(city="Hangzhou")')]),
        (
            lambda d: d.until(at("model")).next(),
            [("came to", 'get_weather(city="Hangzhou")')],
        ),
        (
            lambda d: d.until(at(tool="get_weather")).skip({"temperature": -40}),
            [("call", 'get_weather(city="Hangzhou")'), ("came to", '{"temperature": -40}')],
        ),
        (
            lambda d: d.until(at(tool="get_weather")).fail("no network"),
            [("call", 'get_weather(city="Hangzhou")'), ("came to", "RuntimeError: no network")],
        ),
    ],
)
def test_what_a_stop_holds_is_told(go, lines):
    assert [(name, flat(spans)) for name, spans in held(go(weather()).here)] == lines


@pytest.mark.parametrize(
    "changes, compared, words",
    [
        ([], False, "Nothing to compare with yet."),
        ([], True, "No change."),
        ([1], True, "1 change"),
        ([1, 2], True, "2 changes"),
    ],
)
def test_the_number_of_changes_is_told(changes, compared, words):
    assert summary(changes, compared) == words


def test_many_contents_are_folded_but_for_the_newest():
    columns = page(None, {"contents": [say(str(i)) for i in range(200)]})
    rows = rows_of(columns, "bubbles")
    assert (len(rows), flat(rows[0]["text"][0]), flat(rows[-1]["text"][0])) == (60, "140", "199")


def test_the_connection_and_its_keys_are_never_shown():
    dbg = said("one").until(at("model"))
    dbg.request.config.http_options = {"headers": {"x-goog-api-key": "secret"}}
    assert "secret" not in str(request_page(dbg.request_now, [], []))
    assert "secret" not in repr(dbg)
