"""The timeline in a browser: looking at past stops, going back to one, breakpoints, folds, lanes, thousands of rows."""

import pytest

import adknb
from adknb import at
from adknb.engine.platform import interleaved
from tests.widgets.runs import golden, said, weather
from tests.widgets.test_panel_in_chromium import crumb, press

pytestmark = pytest.mark.browser


def row(panel, name):
    return panel.page.get_by_role("treeitem", name=name)


def banner(panel):
    return panel.page.get_by_role("group", name="Looking at a past stop")


def contents(panel):
    return panel.page.locator(".bubbles .rw").count()


def test_a_past_stop_is_looked_at_and_left_again_and_the_run_stands_where_it_stood(show):
    dbg = weather().until(at("model"))
    position = dbg.position
    panel = show(dbg)
    row(panel, "identity").click()
    panel.settle()
    assert (
        banner(panel)
        .inner_text()
        .startswith(f"Looking at stop 13 of {position}: Turn 1 › weather_agent › Step 1 › identity after.")
    )
    assert f"The run stands at stop {position}." in banner(panel).inner_text()
    assert panel.page.locator(".blame .rw").count() == 2
    assert contents(panel) == 0
    assert panel.page.locator(".sum").inner_text() == "1 change"
    assert panel.page.get_by_role("button", name="Edit", exact=True).is_disabled()
    press(panel, "Escape")
    assert banner(panel).is_hidden()
    assert contents(panel) == 1
    assert dbg.position == position


def test_the_present_stop_is_in_sight_when_a_panel_opens(show):
    panel = show(said(*["yes"] * 4).until(at("model", turn=4)))
    here = panel.page.get_by_role("treeitem", selected=True)
    box, tree = here.bounding_box(), panel.page.get_by_role("tree").bounding_box()
    assert tree["y"] <= box["y"] <= tree["y"] + tree["height"] - box["height"]


def test_one_goes_through_the_past_with_keys_and_with_the_slider(show):
    panel = show(weather().until(at("model")))
    panel.page.locator(".adk").focus()
    press(panel, "<", "<", "<", ">")
    assert "stop 27 of 29" in banner(panel).inner_text()
    slider = panel.page.get_by_role("slider", name="Stop to look at")
    slider.fill("16")
    panel.settle()
    assert "contents before" in banner(panel).inner_text()
    assert contents(panel) == 0
    slider.focus()
    press(panel, "ArrowRight")
    assert "contents after" in banner(panel).inner_text()
    assert contents(panel) == 1
    assert slider.get_attribute("aria-valuetext") == "Stop 17: after contents, weather_agent, Step 1."


@pytest.mark.parametrize("how", ["button", "key"])
def test_a_stop_that_is_looked_at_can_be_gone_back_to(show, how):
    panel = show(weather().until(at("model")))
    row(panel, "identity").click()
    panel.settle()
    if how == "button":
        panel.page.get_by_role("button", name="Rewind here").click()
        panel.settle()
    else:
        panel.page.locator(".adk").focus()
        press(panel, "Shift+Enter")
    assert str(panel.stepper.here) == "after processor identity"
    assert banner(panel).is_hidden()
    assert crumb(panel).endswith("stop 13")
    assert panel.page.get_by_role("treeitem", selected=True).inner_text().split()[0] == "identity"


def test_a_command_goes_on_from_where_the_run_stands_and_the_look_is_over(show):
    panel = show(weather().until(at("model")))
    row(panel, "identity").click()
    panel.settle()
    panel.page.get_by_role("button", name="Next", exact=True).click()
    panel.settle()
    assert str(panel.stepper.here) == "after model offline-demo"
    assert banner(panel).is_hidden()


def test_events_that_came_later_are_told_apart_while_an_earlier_stop_is_looked_at(show):
    panel = show(weather().resume())
    panel.page.get_by_role("tab", name="Events").click()
    panel.settle()
    panel.page.locator(".adk").focus()
    for _ in range(40):
        panel.page.keyboard.press("<")
    panel.page.wait_for_timeout(300)
    assert panel.page.locator(".gr.later").count() == 2
    press(panel, "Escape")
    assert panel.page.locator(".gr.later").count() == 0


def test_a_tab_that_knows_no_past_says_so(show):
    panel = show(weather().until(at("model")))
    row(panel, "identity").click()
    panel.page.get_by_role("tab", name="Where").click()
    panel.settle()
    assert "This tab stays at the present stop." in banner(panel).inner_text()


def test_a_row_is_folded_unfolded_and_marked_with_a_breakpoint_by_mouse_and_by_key(show):
    panel = show(weather().until(at("model")))
    step = row(panel, "Step 1")
    step.locator(".tw").click()
    assert step.get_attribute("aria-expanded") == "false"
    assert row(panel, "identity").count() == 0
    panel.page.get_by_role("tree").focus()
    press(panel, "ArrowRight", "ArrowRight", ".")
    assert [b.words for b in panel.stepper.breakpoints] == ["at('basic', seam='processor')"]
    row(panel, "contents").locator(".bpx").click()
    panel.settle()
    assert len(panel.stepper.breakpoints) == 2
    row(panel, "contents").locator(".bpx").click()
    panel.settle()
    assert len(panel.stepper.breakpoints) == 1


def test_tokens_and_time_stand_beside_the_rows_they_belong_to(show):
    from google.genai import types

    from adknb.engine.response import LLMResponse

    used = types.GenerateContentResponseUsageMetadata(total_token_count=12_345)
    content = types.Content(role="model", parts=[types.Part(text="one")])
    panel = show(said(LLMResponse(content=content, usage_metadata=used)).resume())
    assert "12k tok" in row(panel, "Turn 1").inner_text()


def test_the_reader_chooses_which_lane_goes_next(show):
    dbg = adknb.step(golden("parallel/7"), runner=interleaved)
    dbg.until(at("model", agent="south"))
    panel = show(dbg)
    names = panel.page.get_by_role("group", name="Which lane goes next").get_by_role("button").all_inner_texts()
    assert names == dbg.lanes
    panel.page.get_by_role("group", name="Which lane goes next").get_by_role("button", name=names[-1]).click()
    panel.settle()
    assert dbg.here.lane == names[-1]


def test_five_thousand_stops_stay_smooth(show):
    dbg = said(*["yes"] * 130)
    dbg.resume()
    assert len(dbg.stops) > 5_000
    panel = show(dbg)
    page = panel.page
    page.get_by_role("tree").focus()
    page.evaluate(
        """() => {
            const tree = document.querySelector('.adk').panel;
            document.querySelectorAll('.tree .tr').length;
        }"""
    )
    assert page.locator(".tree .tr").count() < 80
    unfolded = page.evaluate(
        """() => { // every turn, agent and step open
            const t = performance.now(), rows = () => [...document.querySelectorAll('.tree [aria-expanded=false] .tw')];
            for (let n = 0; n < 40 && rows().length; n++) rows()[0].dispatchEvent(new MouseEvent('click', { bubbles: true }));
            return (performance.now() - t) / 40;
        }"""
    )
    frames = page.evaluate(
        """async () => {
            const tree = document.querySelector('.tree'), times = [];
            const height = tree.scrollHeight;
            for (let k = 0; k < 40; k++) {
                const t = performance.now();
                tree.scrollTop = (height * k) / 40;
                tree.dispatchEvent(new Event('scroll'));
                times.push(performance.now() - t);
                await new Promise(requestAnimationFrame);
            }
            return times.sort((a, b) => a - b)[30];
        }"""
    )
    stepped = page.evaluate(
        """() => {
            const { app } = document.querySelector('.adk').panel, t = performance.now();
            app.st.subs.forEach((f) => f('view'));
            return performance.now() - t;
        }"""
    )
    assert page.locator(".tree .tr").count() < 80
    assert (unfolded, frames, stepped) < (60, 60, 400), (unfolded, frames, stepped)
    assert frames < 40, frames
    assert stepped < 250, stepped
