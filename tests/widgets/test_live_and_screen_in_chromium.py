"""The tabs that only some runs have: Live with its two lanes, Screen with what a user sees. One page each."""

import os

import pytest

import adknb
from adknb.scenarios.streams import DRAW, drawing_line, safe_stream
from tests.live.voice_turn import voice_turn
from tests.widgets.runs import weather

pytestmark = pytest.mark.browser


def tab(panel, name):
    panel.page.get_by_role("tab", name=name).click()
    panel.settle()


def axe_violations(page):
    from axe_playwright_python.sync_playwright import Axe

    found = Axe().run(page, context=".adk .view").response["violations"]
    return [(v["id"], v["nodes"][0]["html"][:200]) for v in found if v["impact"] in ("serious", "critical")]


def picture(panel, name):
    if folder := os.environ.get("ADKNB_PICTURES"):
        panel.page.screenshot(path=f"{folder}/{name}.png")


def test_a_run_without_chunks_and_lines_has_neither_tab(show):
    panel = show(weather())
    assert not {"Live", "Screen"} & set(panel.page.get_by_role("tab").all_inner_texts())


def test_the_live_tab_shows_two_lanes_with_sound_and_keeps_up(show):
    dbg = voice_turn()
    panel = show(dbg)
    tab(panel, "Live")
    lanes = panel.page.locator(".lanes .msg")
    assert lanes.first.locator(".sy").inner_text() == "connection 1"
    assert panel.page.locator(".lanes .msg.to svg.wave").count() == 1
    assert panel.page.locator(".lanes .msg.from audio").first.get_attribute("src").startswith("data:audio/wav;base64,")
    assert [e.inner_text() for e in panel.page.locator(".lanes .marked .kd b").all()] == [
        "interrupted", "go away", "lost",
    ]  # fmt: skip
    before = lanes.count()
    panel.cell(lambda dbg: dbg.send("<b>hello</b>").resume())
    panel.settle()
    assert lanes.count() > before and "'<b>hello</b>'" in panel.page.locator(".lanes").inner_text()
    picture(panel, "live")
    assert axe_violations(panel.page) == []
    dbg.close()


def test_the_screen_tab_shows_chunks_and_what_an_edit_comes_to_at_once(show):
    dbg = adknb.step(drawing_line(safe_stream), DRAW, run_config=adknb.RunConfig("sse"))
    dbg.until(adknb.event(author="drawAgent"))
    panel = show(dbg)
    tab(panel, "Screen")
    screens = panel.page.locator(".screens")
    assert screens.locator("thead th").all_inner_texts()[1:3] == ["no filter", "without_duplicate_final"]
    assert screens.locator(".coming").count() == 1 and screens.locator(".outcome").count() == 0
    screens.get_by_role("button", name="What comes of it").click()
    panel.settle()
    assert "<mxfile><diagram>登录</diagram></mxfile>" in screens.locator(".outcome").inner_text()
    dbg.until(adknb.when(lambda stop: str(stop).startswith("after model") and stop.agent == "reviewerAgent"))
    dbg.response.content.parts[0].text, dbg.response.partial = "edited", False
    panel.cell(lambda dbg: dbg._tell())
    tab(panel, "Request")
    tab(panel, "Screen")
    assert "review_result" in screens.locator(".outcome").inner_text()
    picture(panel, "screen")
    assert axe_violations(panel.page) == []
