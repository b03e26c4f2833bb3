"""The tabs that only some runs have: Live with its two lanes, Screen with what a user sees. One page each."""

import os

import pytest

import adknb
from adknb.engine.model import FunctionModel
from adknb.scenarios.live_script import ScriptedLive
from adknb.scenarios.streams import DRAW, drawing_line, safe_stream
from adknb.widgets.export import to_html
from tests.live.voice_turn import content, voice_turn
from tests.widgets.runs import HOSTILE, weather

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
    marks = panel.page.locator(".axis rect")
    assert marks.count() == lanes.count()
    sound = panel.page.locator(".axis rect.from").evaluate_all(
        "(all) => Math.max(...all.map((x) => x.getBBox().width))"
    )
    assert sound > 20 * panel.page.locator(".axis rect.dial").first.evaluate("(x) => x.getBBox().width")
    assert len(panel.page.locator(".axis text").all_inner_texts()) >= 3
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


def test_the_tenth_tab_has_a_key_too(show):
    panel = show(voice_turn())
    panel.page.locator(".adk").focus()
    panel.page.keyboard.press("0")
    panel.settle()
    assert panel.page.get_by_role("tab", selected=True).inner_text() == "Screen"
    panel.page.keyboard.press("?")
    assert panel.page.locator(".sheet kbd").all_inner_texts()[6:9] == ["1", "9", "0"]
    panel.stepper.close()


@pytest.fixture
def open_file(chromium, tmp_path):
    def open_it(dbg):
        to_html(dbg, tmp_path / "run.html")
        page = chromium.new_page()
        page.set_viewport_size({"width": 820, "height": 760})
        faults = []
        page.on("console", lambda m: m.type == "error" and faults.append(m.text))
        page.goto((tmp_path / "run.html").as_uri())
        page.wait_for_selector(".adk .page > div, .adk .empty")
        return page, faults

    return open_it


def test_both_tabs_are_in_the_file_with_the_sound_and_without_what_needs_a_kernel(open_file):
    page, faults = open_file(voice_turn())
    page.get_by_role("tab", name="Live").click()
    page.locator(".lanes .msg").first.wait_for()
    player = page.locator(".lanes .msg.from audio").first
    player.scroll_into_view_if_needed()
    player.evaluate("(a) => new Promise((done, no) => { a.oncanplaythrough = done; a.onerror = no; a.load(); })")
    assert player.evaluate("(a) => a.duration") == pytest.approx(0.2, abs=0.01)
    assert faults == []
    page.close()
    dbg = adknb.step(drawing_line(safe_stream), DRAW, run_config=adknb.RunConfig("sse"))
    page, faults = open_file(dbg.until(adknb.event(author="drawAgent")))
    page.get_by_role("tab", name="Screen").click()
    assert page.locator(".screens .coming").inner_text().startswith("drawAgent")
    assert page.get_by_role("button", name="What comes of it").count() == 0
    assert faults == []
    page.close()


def hostile_live():
    whole = [text for text in HOSTILE if not any("\ud800" <= c <= "\udfff" for c in text)]  # no line carries halves
    said = [content(outputTranscription={"text": text}) for text in whole]
    heard = [content(inputTranscription={"text": text}) for text in whole]
    agent = adknb.LlmAgent("<b>voice</b>", ScriptedLive([[{"get": len(whole)}, *said, *heard]]))
    dbg = adknb.step_live(agent, adknb.LiveConfig(), patience=0)
    for text in whole:
        dbg.send(text)
    return dbg.resume()


def hostile_chunks():
    texts = iter(["".join(HOSTILE), *HOSTILE])
    agent = adknb.LlmAgent(
        "<img src=x onerror=window.hit=1>", safe_stream(FunctionModel(lambda request: [*HOSTILE, next(texts)]))
    )
    return adknb.step(agent, HOSTILE[0], run_config=adknb.RunConfig("sse")).resume()


@pytest.mark.parametrize("tab_name, run", [("Live", hostile_live), ("Screen", hostile_chunks)])
def test_hostile_texts_are_texts_in_both_tabs_and_in_the_file(show, open_file, tab_name, run):
    dbg = run()
    panel = show(dbg, width=820)
    tab(panel, tab_name)
    page, faults = open_file(dbg)
    page.get_by_role("tab", name=tab_name).click()
    page.wait_for_timeout(150)
    for where in (panel.page, page):
        told = where.locator(".lanes, .screens").inner_text()
        assert "<svg/onload=window.hit=1>" in told
        assert "__proto__" in told
        assert where.evaluate("window.hit") is None
        assert where.locator(".adk script, .adk iframe, .adk img, .adk a").count() == 0
        assert where.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert faults == []
    page.close()
    if tab_name == "Live":
        dbg.close()
