"""The panel in a browser: the real panel.js and the real `Panel`, without Jupyter between. (With it: tests/browser.)"""

import pytest

import adknb
from adknb import at
from adknb.engine.llm_agent import LlmAgent
from adknb.engine.model import FunctionModel
from tests.widgets.runs import HOSTILE, said, weather

pytestmark = pytest.mark.browser


def crumb(panel):
    return " ".join(panel.page.locator(".crumb li").all_inner_texts())


def press(panel, *keys):
    for key in keys:
        panel.page.keyboard.press(key)
        panel.settle()


TABS = ["Request", "Contents", "Branches", "Events", "State", "Where", "Source", "Findings"]


KEYS = [("s", "step"), ("n", "next"), ("f", "finish"), ("r", "resume"), ("b", "back"), ("Shift+R", "restart")]


@pytest.mark.parametrize("key, command", KEYS)
def test_a_key_and_a_button_do_what_the_command_does(show, key, command):
    by_key, by_click, by_cell = (weather().until(at("instructions")) for _ in range(3))
    getattr(by_cell, command)()
    panel = show(by_key)
    panel.page.locator(".adk").focus()
    press(panel, key)
    assert repr(by_key) == repr(by_cell)
    panel = show(by_click)
    panel.page.get_by_role("button", name=command.capitalize(), exact=True).click()
    panel.settle()
    assert repr(by_click) == repr(by_cell)
    assert crumb(panel).endswith("over" if by_cell.here is None else f"stop {by_cell.position}")


def test_keys_stay_inside_but_for_those_of_the_browser_and_of_jupyterlab(show):
    panel = show(weather().until(at("contents")))
    panel.page.evaluate("window.heard = []; document.addEventListener('keydown', (e) => window.heard.push(e.key))")
    panel.page.locator(".adk").focus()
    press(panel, "d", "d", "a", "j", "x", "s", "ArrowDown", "?", "Escape", "Control+s")
    assert panel.page.evaluate("window.heard") == ["Control", "s"]
    panel.page.get_by_role("tab", name="Contents").focus()
    press(panel, "d", "d", "1")
    assert panel.page.evaluate("window.heard") == ["Control", "s"]


def test_keys_typed_into_a_field_are_text(show):
    panel = show(weather().until(at("contents")))
    position = panel.stepper.position
    panel.page.get_by_role("tab", name="Events").click()
    press(panel, "/", "s", "n", "r", "1")
    assert panel.page.get_by_role("searchbox", name="Filter events").input_value() == "snr1"
    assert panel.stepper.position == position


def test_every_view_is_reached_by_its_number_and_the_sheet_by_a_question_mark(show):
    panel = show(weather().until(at("contents")))
    panel.page.locator(".adk").focus()
    assert [t for t in panel.page.get_by_role("tab").all_inner_texts() if t] == TABS
    for key, name in enumerate(TABS, 1):
        press(panel, str(key))
        assert panel.page.get_by_role("tab", name=name).get_attribute("aria-selected") == "true"
    press(panel, "?")
    assert panel.page.get_by_role("dialog", name="Keys").is_visible()
    press(panel, "Escape")
    assert panel.page.get_by_role("dialog").count() == 0


def test_keys_are_still_heard_when_the_focused_control_is_disabled_or_removed(show):
    panel = show(weather().break_at(at("contents")).resume().resume().until(at("model", step=2)))
    panel.page.locator(".adk").focus()
    press(panel, "1", "e", "Escape")
    assert panel.page.evaluate("document.activeElement.textContent") == "Edit"
    press(panel, "r")
    panel.settle()
    assert panel.page.evaluate("document.activeElement.matches('.adk')")
    assert panel.stepper.here is None
    press(panel, "Shift+R")
    assert panel.stepper.position == 0
    panel.page.get_by_role("button", name="Breakpoints").click()
    panel.page.get_by_role("button", name="Remove breakpoint").click()
    panel.settle()
    assert panel.page.evaluate("document.activeElement.matches('.adk')")
    press(panel, "s")
    assert panel.stepper.position == 1


@pytest.mark.parametrize("width", [400, 294])
def test_a_narrow_panel_clips_nothing_and_breaks_no_word_of_a_call(show, width):
    panel = show(weather().until(at("model", step=2)), width=width)
    assert panel.page.evaluate("(([r]) => r.scrollWidth - r.clientWidth)(document.querySelectorAll('.adk'))") == 0
    for box in (".bar button", ".tabs button"):
        rights = panel.page.evaluate(
            f"[...document.querySelectorAll({box!r})].filter((b) => b.offsetParent).map((b) => b.getBoundingClientRect().right)"
        )
        assert max(rights) <= width
    tops = "[...document.querySelectorAll('.bar .cmd')].map((b) => b.getBoundingClientRect().top)"
    assert len(set(panel.page.evaluate(tops))) == 1  # "?" is not alone on a row
    assert panel.page.locator(".page").evaluate("(e) => e.scrollWidth - e.clientWidth") == 0
    lines = "[...document.querySelectorAll('.page .nb')].map((e) => e.getClientRects().length)"
    assert set(panel.page.evaluate(lines)) == {1}
    names = panel.page.locator(".page .nb", has_text="get_weather")
    assert names.count() >= 3


def test_the_key_sheet_has_a_row_for_every_command(show):
    panel = show(weather())
    panel.page.locator(".adk").focus()
    press(panel, "?")
    rows = panel.page.locator(".sheet dl").evaluate("(d) => [...d.children].map((e) => e.textContent.trim())")
    assert rows[:12] == ["s", "Step", "n", "Next", "f", "Finish", "r", "Resume", "b", "Back", "R", "Restart"]


def test_a_cell_that_steps_is_followed(show):
    panel = show(weather())
    panel.cell(lambda dbg: dbg.until(at("contents")))
    panel.settle()
    assert "contents after" in crumb(panel)
    assert panel.page.get_by_role("treeitem", selected=True).inner_text().split()[0] == "contents"


def test_messages_that_were_sent_before_the_module_was_loaded_are_asked_for(show):
    panel = show(weather())
    panel.stepper.until(at("model", step=2))
    view = panel.outbox[-1]
    panel.outbox.clear()
    panel.outbox.append(view)  # the state arrives, the messages were dropped
    panel.page.evaluate("(text) => window.take(text)", panel.flush())
    panel.settle()
    assert panel.page.evaluate("document.querySelector('.adk').panel.app.st.stops.length") == panel.panel.view["nstops"]
    assert panel.page.evaluate("document.querySelector('.adk').panel.app.st.events.length") == panel.panel.view["nrows"]
    assert panel.page.get_by_role("treeitem", selected=True).inner_text().split()[0] == "model"


def test_what_arrives_before_the_missing_messages_are_there_does_no_harm(show):
    panel = show(weather())
    panel.stepper.until(at("model"))
    lost = panel.outbox[-1:]  # the state alone; what came with it was sent too early
    panel.outbox.clear()
    panel.stepper.next().next()
    panel.outbox[:0] = lost
    panel.page.evaluate("(text) => window.take(text)", panel.flush())
    panel.settle()
    kinds = panel.page.evaluate("document.querySelector('.adk').panel.app.st.stops.map((r) => r && r.name)")
    assert kinds == [row[2] for row in panel.panel.get_state()["stops"]]


def test_the_track_runs_to_a_stage_and_sets_a_breakpoint_there(show):
    panel = show(weather())
    panel.page.get_by_role("button", name="8 of 13, contents").focus()
    press(panel, "Enter")
    assert str(panel.stepper.here) == "after processor contents"
    panel.page.get_by_role("button", name="model", exact=False).first.focus()
    press(panel, ".")
    assert [b.words for b in panel.stepper.breakpoints] == ["at(seam='model')"]
    panel.page.get_by_role("button", name="Resume", exact=True).click()
    panel.settle()
    assert str(panel.stepper.here) == "before model offline-demo"


def test_the_fate_of_an_event_is_told_on_the_way_through_the_list(show):
    panel = show(said("one", "two").until(at("contents", turn=2)))
    press(panel)
    panel.page.get_by_role("tab", name="Contents").click()
    panel.page.get_by_role("listbox", name="Session events").focus()
    press(panel, "ArrowDown", "ArrowDown")
    assert "kept" in panel.page.locator(".why").inner_text()
    panel.page.get_by_role("radio", name="none").click()
    panel.settle()
    assert "What if: 2 fates differ" in panel.page.locator(".ct .ctl").inner_text()
    assert "The current turn starts later" in panel.page.locator(".why").inner_text()


@pytest.mark.parametrize("theme, width", [("light", 1280), ("dark", 820), ("contrast", 360)])  # each once: 10 s a page
def test_axe_finds_nothing_serious_and_nothing_is_cut_off(show, theme, width):
    from axe_playwright_python.sync_playwright import Axe

    dbg = weather().break_at(at("contents")).until(at("model", step=2))
    panel = show(dbg, theme=theme, width=width)
    serious = []
    tabs = list(panel.page.get_by_role("tab").all_inner_texts())
    assert ("Timeline" in tabs) == (width < 860)
    for tab in [*tabs, "the editor", "JSON"]:
        if tab == "the editor":
            panel.page.get_by_role("tab", name="Request").click()
            panel.page.get_by_role("button", name="Edit", exact=True).click()
        elif tab == "JSON":
            panel.page.get_by_role("radio", name="JSON").click()
        else:
            panel.page.get_by_role("tab", name=tab).click()
        panel.settle()
        found = Axe().run(panel.page, context=".adk").response["violations"]
        serious += [(tab, v["id"], v["nodes"][0]["html"]) for v in found if v["impact"] in ("serious", "critical")]
        assert panel.page.evaluate("document.documentElement.scrollWidth <= innerWidth"), tab
    assert serious == []
    assert panel.page.locator(".adk").get_attribute("data-theme") == ("light" if theme == "light" else "dark")


def test_thirty_hostile_texts_in_every_field_execute_nothing_and_break_no_layout(show):
    answers = iter(HOSTILE)
    agent = LlmAgent(
        "'><script>window.hit=1</script>",
        model=FunctionModel(lambda request: next(answers), name="<img src=x onerror=window.hit=1>"),
        instruction=lambda ctx: "\n\n".join(HOSTILE),
        description=HOSTILE[0],
        tools=[adknb.FunctionTool(echo, description=HOSTILE[1])],
        output_key="<svg/onload=window.hit=1>",
    )
    panel = show(adknb.step(agent, HOSTILE).until(at("model", turn=len(HOSTILE))))
    for tab in TABS:
        panel.page.get_by_role("tab", name=tab).click()
        panel.settle()
        if tab in ("Contents", "Events"):
            panel.page.get_by_role("listbox" if tab == "Contents" else "grid").first.focus()
            press(panel, "End", "ArrowUp", "ArrowUp")
        assert panel.page.evaluate("document.documentElement.scrollWidth <= innerWidth"), tab
    panel.page.locator(".adk").focus()
    press(panel, "1", "e")
    panel.page.get_by_role("radio", name="JSON").click()
    panel.settle()
    panel.page.get_by_role("radio", name="Form").click()
    panel.settle()
    assert panel.page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "the editor"
    press(panel, "Escape", "<", "<", "Escape", "?", "Escape", "r")
    assert panel.page.evaluate("window.hit") is None
    assert panel.page.locator(".adk script, .adk iframe, .adk img, .adk a").count() == 0
    assert panel.stepper.here is None


def echo(text: str) -> dict:
    return {"text": text}


LINES = {
    "letters": "x" * 1_000_000,
    "words": "word " * 200_000,
    "brackets": "[" * 1_000_000,
    "right to left": "\u202e" + "x" * 500_000 + "\u2066" + "א" * 500_000,
    "half pairs": "\ud83d" * 100_000,
    "lines": "line\n" * 200_000,
}


@pytest.mark.parametrize("line", LINES)
def test_lines_of_a_megabyte_in_every_field_break_no_layout_and_hang_nothing(show, line):
    from google.genai import types

    long = LINES[line]
    call = types.Content(
        role="model", parts=[types.Part(function_call=types.FunctionCall(id="c", name="echo", args={"text": long}))]
    )
    agent = LlmAgent(
        "speaker",
        model=FunctionModel(lambda request: call if len(request.contents) == 1 else long, name="m"),
        instruction=lambda ctx: long,
        tools=[adknb.FunctionTool(echo, description=long[:100_000])],
        output_key="key",
    )
    panel = show(adknb.step(agent, long).until(at("model", step=2)))
    assert panel.bytes < 1_000_000
    for tab in TABS:
        panel.page.get_by_role("tab", name=tab).click()
        panel.settle()
        assert panel.page.evaluate("document.documentElement.scrollWidth <= innerWidth"), tab
    panel.page.get_by_role("tab", name="Events").click()
    panel.page.get_by_role("row").nth(2).click()
    panel.settle()
    panel.page.locator(".adk").focus()
    press(panel, "<", "Escape", "r")
    assert panel.stepper.here is None
    panel.page.get_by_role("tab", name="State").click()
    panel.settle()
    assert panel.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
