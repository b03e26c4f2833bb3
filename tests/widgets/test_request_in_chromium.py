"""The Request in a browser: the page, the editor as form and as JSON, copies, changes one after another."""

import json

import pytest

from adknb import at
from tests.widgets.runs import said, weather
from tests.widgets.test_panel_in_chromium import press

pytestmark = pytest.mark.browser


def begin(panel, form="Form"):
    """Open the editor."""
    panel.page.locator(".adk").focus()
    press(panel, "1", "e")
    panel.page.get_by_role("radio", name=form).click()
    panel.settle()


def wait_for_fault(panel, words):
    panel.page.wait_for_function("(w) => document.querySelector('.prob').textContent.includes(w)", arg=words)


def test_each_paragraph_stands_beside_the_stage_that_wrote_it(show):
    panel = show(weather().until(at("model")))
    rows = panel.page.locator(".blame .rw")
    assert [row.split("\n") for row in rows.all_inner_texts()] == [
        ["instructions", "Use get_weather to answer weather questions."],
        ["identity", 'You are an agent. Your internal name is "weather_agent".'],
    ]
    panel.page.get_by_role("button", name="identity", exact=True).click()
    panel.settle()
    assert panel.page.get_by_role("tab", name="Source").get_attribute("aria-selected") == "true"
    assert "identity" in panel.page.locator(".says").first.inner_text()


def test_what_the_model_is_told_stands_beside_what_this_process_can_run(show):
    dbg = weather().until(at("model"))
    dbg.request.tools.clear()
    panel = show(dbg)
    table = panel.page.locator(".page table", has_text="Declared to the model")
    assert "nobody runs it" in table.inner_text()


@pytest.mark.parametrize(
    "name, words", [("last pause", "No change."), ("step began", "6 changes"), ("last request", "2 changes")]
)
def test_changes_are_told_since_the_last_pause_the_steps_beginning_or_the_last_request(show, name, words):
    panel = show(weather().until(at("tool_declaration", step=2)).step())
    panel.page.get_by_role("radio", name=name).click()
    panel.settle()
    assert panel.page.locator(".sum").inner_text() == words


def test_the_changes_are_gone_through_one_after_another(show):
    panel = show(said("one", "two", "three").until(at("model", turn=3)))
    panel.page.get_by_role("radio", name="step began").click()
    panel.settle()
    panel.page.locator(".adk").focus()
    seen = []
    for key in ("j", "j", "k"):
        press(panel, key)
        seen.append(panel.page.locator(".page .at").inner_text())
    assert seen[0] == seen[2] != seen[1]


def test_a_form_has_its_faults_at_their_fields_and_is_applied_when_there_are_none(show):
    dbg = weather().until(at("model", step=2))
    panel = show(dbg)
    begin(panel)
    temperature = panel.page.get_by_label("temperature")
    temperature.fill("warm")
    wait_for_fault(panel, "expected a number")
    assert temperature.get_attribute("aria-invalid") == "true"
    assert panel.page.locator(".fl", has=temperature).locator(".fault").inner_text() == "expected a number"
    assert panel.page.get_by_role("button", name="Apply").is_disabled()
    press(panel, "Control+Enter")
    assert "temperature" not in dbg.request_now["config"]

    temperature.fill("0.5")
    panel.page.get_by_role("textbox", name="identity").fill("You are nobody.")
    panel.page.get_by_label("get_weather response").fill('{"temperature": -40}')
    wait_for_fault(panel, "A draft")
    press(panel, "Control+Enter")
    now = dbg.request_now
    assert now["config"]["temperature"] == 0.5
    assert now["config"]["systemInstruction"]["parts"][0]["text"].endswith("\n\nYou are nobody.")
    assert now["contents"][2]["parts"][0]["functionResponse"]["response"] == {"temperature": -40}
    assert not panel.page.locator(".form").is_visible()
    assert "Edited" in panel.page.locator(".rq").inner_text()
    press(panel, "u")
    assert "temperature" not in dbg.request_now["config"]


def test_json_has_its_faults_at_their_lines_and_is_applied_when_there_are_none(show):
    dbg = weather().until(at("model", step=2))
    panel = show(dbg)
    begin(panel, "JSON")
    area = panel.page.get_by_role("textbox", name="As JSON")
    data = json.loads(area.input_value())
    data["contents"][2]["parts"][0]["functionResponse"]["response"] = "cold"
    area.fill(json.dumps(data, indent=2))
    wait_for_fault(panel, "contents[2].parts[0].functionResponse.response")
    assert panel.page.locator(".nums .bad").count() == 1
    press(panel, "Control+Enter")
    assert area.is_visible()
    assert dbg.request.contents[2].parts[0].function_response.response == {"city": "Hangzhou", "temperature": 26}

    data["contents"][2]["parts"][0]["functionResponse"]["response"] = {"temperature": -40}
    area.fill(json.dumps(data, indent=2))
    press(panel, "Control+Enter")
    assert not area.is_visible()
    assert dbg.request.contents[2].parts[0].function_response.response == {"temperature": -40}
    panel.page.get_by_role("button", name="Undo edit").click()
    panel.settle()
    assert dbg.request.contents[2].parts[0].function_response.response == {"city": "Hangzhou", "temperature": 26}


def test_a_draft_is_carried_from_the_form_to_json_and_back(show):
    dbg = weather().until(at("model"))
    before = dbg.request_now
    panel = show(dbg)
    begin(panel)
    panel.page.get_by_label("temperature").fill("0.25")
    panel.page.get_by_role("radio", name="JSON").click()
    panel.settle()
    area = panel.page.get_by_role("textbox", name="As JSON")
    data = json.loads(area.input_value())
    assert data["config"]["temperature"] == 0.25
    data["model"] = "other"
    area.fill(json.dumps(data, indent=2))
    panel.page.get_by_role("radio", name="Form").click()
    panel.settle()
    assert panel.page.get_by_label("model", exact=True).input_value() == "other"
    assert panel.page.get_by_label("temperature").input_value() == "0.25"
    assert dbg.request_now == before
    panel.page.get_by_label("temperature").fill("0.75")
    press(panel, "Control+Enter")
    assert (dbg.request.model, dbg.request.config.temperature) == ("other", 0.75)


def test_a_draft_that_cannot_be_read_stays_where_it_is(show):
    panel = show(weather().until(at("model")))
    begin(panel, "JSON")
    area = panel.page.get_by_role("textbox", name="As JSON")
    area.fill("{")
    panel.page.get_by_role("radio", name="Form").click()
    wait_for_fault(panel, "not JSON")
    assert area.is_visible()
    assert area.input_value() == "{"


def test_leaving_the_editor_leaves_the_run_alone(show):
    dbg = weather().until(at("model"))
    before = dbg.request_now
    panel = show(dbg)
    begin(panel, "JSON")
    panel.page.get_by_role("textbox", name="As JSON").fill("{}")
    press(panel, "Escape")
    assert dbg.request_now == before
    assert panel.page.get_by_role("textbox", name="As JSON").count() == 0


def test_contents_are_left_out_and_added_in_the_form(show):
    dbg = weather().until(at("model", step=2))
    panel = show(dbg)
    begin(panel)
    panel.page.get_by_role("group", name="Content 1").get_by_role("button", name="Leave out").click()
    panel.page.get_by_role("group", name="Content 2").get_by_role("button", name="Leave out").click()
    panel.page.get_by_label("Text of a new content").fill("And Shanghai?")
    panel.page.get_by_role("button", name="Apply").click()
    panel.settle()
    assert [c["parts"][0]["text"] for c in dbg.request_now["contents"]] == ["杭州天气怎么样？", "And Shanghai?"]


IN_PLACE = [
    ("the arguments", lambda: weather().until(at(tool="get_weather")), "city", "Suzhou", lambda d: d.args["city"]),
    ("the result", lambda: weather().until(at(tool="get_weather")).next(), "temperature", "-40", lambda d: str(d.result["temperature"])),
]  # fmt: skip


@pytest.mark.parametrize("what, go, field, value, look", IN_PLACE)
def test_what_a_stop_holds_is_edited_in_its_place(show, what, go, field, value, look):
    dbg = go()
    panel = show(dbg)
    panel.page.locator(".page table", has_text="call").get_by_role("button", name="Edit").last.click()
    panel.settle()
    panel.page.get_by_label(field).fill(value)
    press(panel, "Control+Enter")
    assert look(dbg) == value
    assert value in panel.page.locator(".page table").first.inner_text()


def test_the_state_is_edited_too(show):
    dbg = weather().until(at(tool="get_weather"))
    panel = show(dbg)
    begin(panel)
    panel.page.get_by_role("radio", name="State").click()
    panel.settle()
    panel.page.get_by_label("New key", exact=True).fill("user:name")
    panel.page.get_by_label("Value of the new key").fill('"Li"')
    press(panel, "Control+Enter")
    assert dbg.state["user:name"] == "Li"


def test_an_event_on_its_way_is_edited_as_a_form_with_faults_at_the_fields(show):
    dbg = weather().until(at(seam="event"))
    panel = show(dbg)
    begin(panel)
    page = panel.page
    page.get_by_label("actions stateDelta").fill("{")
    page.wait_for_timeout(400)
    assert "not JSON" in page.locator(".fl", has_text="actions stateDelta").locator(".fault").inner_text()
    page.get_by_label("actions stateDelta").fill('{"asked": true}')
    page.get_by_label("partial").select_option("true")
    page.get_by_label("role").select_option("user")
    press(panel, "Control+Enter")
    event = dbg.event
    assert (event.partial, event.content.role, event.actions.state_delta) == (True, "user", {"asked": True})
    press(panel, "u")
    assert (dbg.event.partial, dbg.event.content.role, dbg.event.actions.state_delta) == (False, "model", {})


@pytest.mark.parametrize(
    "name, start", [("as JSON", "{"), ("as curl", "curl -sS"), ("as Python", "from google import genai")]
)
def test_a_request_can_be_copied_three_ways(show, name, start):
    panel = show(weather().until(at("model")))
    panel.page.evaluate("navigator.clipboard.writeText = async (text) => { window.copied = text; }")
    panel.page.locator(".adk").focus()
    press(panel, "c")
    panel.page.get_by_role("menuitem", name=name).click()
    panel.settle()
    assert panel.page.evaluate("window.copied").startswith(start)
    assert panel.page.locator(".flash").inner_text() == "Copied."


def test_the_copy_menu_is_gone_through_with_the_keyboard(show):
    panel = show(weather().until(at("model")))
    panel.page.evaluate("navigator.clipboard.writeText = async (text) => { window.copied = text; }")
    panel.page.locator(".adk").focus()
    press(panel, "c", "ArrowDown", "Enter")
    assert panel.page.evaluate("window.copied").startswith("curl")
    press(panel, "c", "Escape")
    assert panel.page.locator(".menu").is_hidden()
    assert panel.page.evaluate("document.activeElement.textContent") == "Copy"
