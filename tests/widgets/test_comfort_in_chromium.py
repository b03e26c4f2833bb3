"""What makes a panel comfortable: the key sheet, the order of focus, a kernel that is gone or busy, progress with Stop."""

import json

import pytest

from adknb import at
from tests.widgets.page import PanelPage
from tests.widgets.runs import weather
from tests.widgets.test_panel_in_chromium import press

pytestmark = pytest.mark.browser

COMMANDS = ("Step", "Next", "Finish", "Resume", "Back", "Restart")


def dies(panel):
    """From now on nobody answers."""
    panel.page.evaluate("() => { window.alive = window.kernel; window.kernel = () => new Promise(() => {}); }")


def comes_back(panel):
    panel.page.evaluate("() => { window.kernel = window.alive; }")


def quiet(panel):
    return panel.page.locator(".quiet")


def is_silent(panel):
    panel.page.wait_for_selector(".quiet:not([hidden])", timeout=15_000)


def test_the_sheet_has_every_key_that_is_heard(show):
    panel = show(weather().until(at("model")))
    panel.page.locator(".adk").focus()
    press(panel, "?")
    told = panel.page.locator(".sheet dl").inner_text()
    for words in (
        "Step", "Next", "Finish", "Resume", "Back", "Restart", "The tabs", "To the timeline", "Breakpoint",
        "Look at the stop before", "Rewind here", "one pass back or on", "play the passes", "filter",
        "first or last", "edit what the stop holds", "copy", "undo", "to the next change", "Apply the edit", "This sheet",
    ):  # fmt: skip
        assert words.lower() in told.lower(), words
    assert panel.page.evaluate("document.activeElement.textContent") == "Close"
    press(panel, "Tab", "Tab")
    assert panel.page.evaluate("document.activeElement.textContent") == "Close"  # the focus stays in the sheet
    press(panel, "?")
    assert panel.page.get_by_role("dialog").count() == 0


def test_the_focus_goes_through_the_panel_in_reading_order(show):
    panel = show(weather().until(at("model")))
    panel.page.locator(".adk").focus()
    seen = []
    for _ in range(12):
        panel.page.keyboard.press("Tab")
        seen.append(
            panel.page.evaluate(
                "(() => { const e = document.activeElement; return e.closest('.bar, .track, .says, .tl, .tabs, .rq, .page')?.classList[0] ?? e.tagName })()"
            )
        )
    order = list(dict.fromkeys(seen))
    assert order[:6] == ["bar", "track", "says", "tl", "tabs", "ctl"]
    assert "page" in order


def test_nothing_of_a_panel_is_out_of_the_keyboards_reach(show):
    panel = show(weather().until(at(tool="get_weather")))
    for tab in panel.page.get_by_role("tab").all():
        tab.click()
        panel.settle()
        lost = panel.page.evaluate(
            """() => [...document.querySelectorAll('.adk :is(button, input, select, textarea)')]
                .filter((e) => e.getClientRects().length && !e.disabled && e.tabIndex < 0
                    && !e.closest('[role=toolbar], .track, [role=tablist], [role=radiogroup], [role=grid], [role=group], .sheet, [role=menu]'))
                .map((e) => e.outerHTML.slice(0, 120))"""
        )
        assert lost == [], tab.inner_text()


LIT = [("Where", ".gn.here"), ("Request", ".seg [aria-checked=true]"), ("Request", ".next.cmd")]
"""What is set off by its background alone where the colours are our own."""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_under_forced_colours_what_is_lit_can_be_read(chromium, address, scheme):
    context = chromium.new_context(forced_colors="active", color_scheme=scheme)
    panel = PanelPage(context.new_page(), address, weather().until(at("model")), scheme)
    for tab, selector in LIT:
        panel.page.get_by_role("tab", name=tab).click()
        panel.settle()
        ink, ground = panel.page.locator(selector).first.evaluate(
            "(e) => [getComputedStyle(e).color, getComputedStyle(e).backgroundColor]"
        )
        assert ink != ground, selector
    context.close()


# ---- a kernel that is gone


def test_when_nobody_answers_the_commands_are_disabled_and_a_note_says_so(show):
    panel = show(weather().until(at("model")))
    dies(panel)
    panel.page.get_by_role("button", name="Next", exact=True).click()
    is_silent(panel)
    assert "The kernel does not answer" in quiet(panel).inner_text()
    for name in COMMANDS:
        assert panel.page.get_by_role("button", name=name, exact=True).is_disabled(), name
    assert panel.page.get_by_role("button", name="Edit", exact=True).is_disabled()
    position = panel.stepper.position
    panel.page.locator(".adk").focus()
    press(panel, "n", "s", "r", "e")
    assert panel.stepper.position == position
    assert panel.page.evaluate("document.querySelector('.adk').contains(document.activeElement)")


def test_when_the_kernel_answers_again_the_panel_goes_on(show):
    panel = show(weather().until(at("model")))
    dies(panel)
    press(panel)
    panel.page.get_by_role("tab", name="State").click()
    is_silent(panel)
    comes_back(panel)
    panel.page.wait_for_selector(".quiet", state="hidden", timeout=15_000)
    assert panel.page.get_by_role("button", name="Next", exact=True).is_enabled()
    panel.page.get_by_role("button", name="Next", exact=True).click()
    panel.settle()
    assert str(panel.stepper.here) == "after model offline-demo"


def test_what_was_looked_at_can_still_be_looked_at_when_the_kernel_is_gone(show):
    panel = show(weather().until(at("model", step=2)))
    for tab in ("State", "Events", "Contents", "Request"):
        panel.page.get_by_role("tab", name=tab).click()
        panel.settle()
    panel.page.get_by_role("tab", name="Events").click()
    panel.page.get_by_role("row").nth(2).click()
    panel.settle()
    dies(panel)
    panel.page.get_by_role("tab", name="Source").click()
    is_silent(panel)
    panel.page.get_by_role("tab", name="Request").click()
    panel.settle()
    assert "Use get_weather" in panel.page.locator(".blame").inner_text()
    panel.page.get_by_role("tab", name="Findings").click()
    panel.settle()
    assert "was not looked at while there was a kernel" in panel.page.locator(".page").inner_text()
    panel.page.get_by_role("tab", name="Events").click()
    panel.settle()
    assert '"functionCall"' in panel.page.get_by_role("region", name="Event as JSON").inner_text()
    panel.page.get_by_role("searchbox").fill("kind:response")
    panel.settle()
    assert panel.page.locator(".v-in .gr").count() == 1


REASONS = [
    ({"kernel": None}, "There is no kernel any more"),
    ({"kernel": {"status": "dead"}}, "There is no kernel any more"),
    ({"kernel": {"status": "busy"}}, "busy with something else"),
    ({"kernel": {"status": "idle"}}, "its kernel was restarted"),
    ({"kernel": {"status": "unknown"}}, "cannot be reached"),
    ({"kernel": {"status": "idle", "connectionStatus": "disconnected"}}, "cannot be reached"),
    ({}, "it is busy, or gone"),
]


@pytest.mark.parametrize("manager, words", REASONS, ids=str)
def test_the_note_says_why_as_far_as_the_front_end_tells(show, manager, words):
    panel = show(weather())
    panel.page.evaluate("(m) => { window.manager = m; }", manager)
    dies(panel)
    panel.page.get_by_role("button", name="Next", exact=True).click()
    is_silent(panel)
    assert words in quiet(panel).inner_text()


def test_a_saved_notebook_has_the_state_as_it_stood(show):
    """The model in the browser is what JupyterLab saves: stops, rows and answers are in it."""
    panel = show(weather())
    panel.page.get_by_role("button", name="Next", exact=True).click()
    panel.settle()
    for _ in range(6):
        panel.page.locator(".adk").focus()
        press(panel, "n")
    saved = json.loads(panel.page.evaluate("JSON.stringify(window.state)"))
    state = panel.panel.get_state()
    assert saved["stops"] == json.loads(json.dumps(state["stops"]))
    assert saved["rows"] == json.loads(json.dumps(state["rows"]))
    assert saved["base"] == panel.panel.view["sent"]
    assert saved["view"]["at"] == panel.panel.view["at"]
    assert any(answer["type"] == "page" for answer in saved["kept"].values())


def test_the_answers_that_are_kept_are_bounded(show):
    panel = show(weather().until(at("model")))
    for k in range(12):
        panel.page.evaluate(
            """(k) => { const { app } = document.querySelector('.adk').panel, was = window.kernel;
                window.kernel = async (m) => JSON.stringify([['msg', { type: 'row', i: k, json: 'x'.repeat(300000), re: m.re }]]);
                app.send({ type: 'row', i: k }); window.kernel = was; }""",
            1000 + k,
        )
        panel.settle()
    kept = panel.page.evaluate("Object.values(window.state.kept).map((a) => a.i)")
    assert [i for i in kept if i is not None and i >= 1000] == [1008, 1009, 1010, 1011]
    assert len(panel.page.evaluate("JSON.stringify(window.state.kept)")) < 1_600_000


# ---- a command that takes long


def tells(panel, **message):
    panel.page.evaluate("(m) => window.take(JSON.stringify([['msg', m]]))", message)


def busy(panel, stops=1234, seconds=2.5):
    tells(panel, type="busy", what="resume", seconds=seconds, stops=stops, at="before tool get_weather")


def test_a_command_that_takes_long_shows_how_far_it_has_come_and_can_be_stopped(show):
    panel = show(weather().until(at("model")))
    panel.page.evaluate("() => { window.sent = []; window.listening = (m) => window.sent.push(m); }")
    strip = panel.page.locator(".busy")
    assert strip.is_hidden()
    busy(panel)
    assert strip.inner_text().startswith("Resume: 1,234 stops, 2.5 s, now before tool get_weather")
    assert panel.page.get_by_role("button", name="Next", exact=True).is_disabled()
    strip.get_by_role("button").click()
    panel.settle()
    assert "stops at the next one" in strip.inner_text()
    panel.page.wait_for_timeout(1_600)
    busy(panel, seconds=4.0)
    assert strip.get_by_role("button").inner_text() == "Stop now"
    panel.page.locator(".adk").focus()
    press(panel, "Escape")
    stops = [m for m in panel.page.evaluate("window.sent") if m["type"] == "stop"]
    assert [bool(m.get("now")) for m in stops] == [False, True]
    tells(panel, type="idle")
    assert strip.is_hidden()
    assert panel.page.get_by_role("button", name="Next", exact=True).is_enabled()


def test_a_strip_whose_command_is_never_heard_of_again_goes_away(show):
    panel = show(weather().until(at("model")))
    busy(panel)
    panel.page.wait_for_selector(".busy", state="hidden", timeout=10_000)
    panel.page.wait_for_timeout(100)
    assert panel.page.get_by_role("button", name="Next", exact=True).is_enabled()


def test_an_error_stays_until_the_next_command_and_does_not_hide_the_view(show):
    panel = show(weather().until(at("model")))
    panel.stepper.lock.acquire()
    panel.stepper.lock.release()
    panel.page.evaluate("document.querySelector('.adk').panel.app.send({ type: 'rewind', stop: 999 })")
    panel.settle()
    assert "there is no stop 999" in panel.page.get_by_role("alert").first.inner_text()
    panel.page.get_by_role("tab", name="State").click()
    panel.settle()
    assert "there is no stop 999" in panel.page.locator(".wrong").inner_text()
    panel.page.get_by_role("button", name="Next", exact=True).click()
    panel.settle()
    assert panel.page.locator(".wrong").is_hidden()
    panel.panel.errors.clear()


def test_an_answer_goes_to_the_view_that_has_asked_and_to_no_other_page(show):
    panel = show(weather().until(at("model")))
    panel.page.evaluate(
        """() => { // a second view of the same model
            const el = document.createElement('div');
            window.again(el);
            document.body.append(el);
        }"""
    )
    panel.settle()
    first, second = panel.page.locator(".adk").nth(0), panel.page.locator(".adk").nth(1)
    first.get_by_role("button", name="Edit", exact=True).click()
    panel.settle()
    assert first.locator(".form").is_visible()
    assert second.locator(".form").is_hidden()
    tells(panel, type="page", name="Request", columns=[[["p", "another page's"]]], sum="", re="other-1")
    assert "another page's" not in second.inner_text()
    second.get_by_role("button", name="Next", exact=True).click()
    panel.settle()
    assert second.locator(".crumb").inner_text() == first.locator(".crumb").inner_text()
