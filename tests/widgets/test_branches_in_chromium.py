"""The views Contents, Branches, State, Where, Source and Findings in a browser: keys, links, roles, widths, hostile texts."""

import pytest

import adknb
from adknb import at
from adknb.engine.llm_agent import LlmAgent
from adknb.engine.model import FunctionModel
from adknb.engine.tool import FunctionTool
from adknb.engine.workflow_agents import ParallelAgent, SequentialAgent
from tests.widgets.runs import HOSTILE, weather
from tests.widgets.runs_a import alone, family, merging, relay, trip

pytestmark = pytest.mark.browser

TABS = ("Contents", "Branches", "State", "Where", "Source", "Findings")


@pytest.fixture
def show_tab(show, monkeypatch):
    """Shows a tab of a Stepper's panel."""
    monkeypatch.setattr("adknb.widgets.panel.line.PATIENCE", 60)  # what comes later does not travel to this page

    def open_page(stepper, tab, **look):
        panel = show(stepper, **look)
        go(panel, tab)
        return panel

    return open_page


def go(panel, tab):
    panel.page.get_by_role("tab", name=tab).click()
    settle(panel)


def settle(panel):
    panel.page.wait_for_timeout(350)


def press(panel, *keys):
    for key in keys:
        panel.page.keyboard.press(key)
        panel.settle()
    settle(panel)


def tab_of(panel):
    return panel.page.get_by_role("tab", selected=True).inner_text().split()[0]


def why(panel):
    return " ".join(panel.page.locator(".why").inner_text().split())


# ---- Contents


def test_a_rule_is_told_in_a_sentence_with_its_home_in_go_by_keys_and_by_pointing(show_tab):
    panel = show_tab(trip(), "Contents")
    panel.page.get_by_role("listbox", name="Session events").focus()
    press(panel, *["ArrowDown"] * 7)
    assert "left out #6 hotel" in why(panel)
    assert "does not start with 'scouts.hotel.'." in why(panel)
    assert why(panel).endswith("EventBelongsToBranch R5.6")
    assert panel.page.locator(".why code.go").get_attribute("title") == "internal/utils/utils.go"
    panel.page.locator(".ev").nth(23).hover()
    assert "no event of the session has" in why(panel) or "price_alert" in why(panel)
    panel.page.mouse.move(0, 0)
    assert "#6" in why(panel)


def test_the_passes_are_gone_through_by_slider_keys_and_play(show_tab):
    panel = show_tab(trip(), "Contents")
    slider = panel.page.get_by_role("slider", name="Pass of the assembly")
    last = int(slider.get_attribute("aria-valuemax"))
    assert slider.get_attribute("aria-valuenow") == str(last)
    slider.focus()
    press(panel, "Home")
    assert slider.get_attribute("aria-valuetext").startswith("Session, 29 contents")
    press(panel, "ArrowRight", "]")
    assert slider.get_attribute("aria-valuenow") == "2"
    press(panel, "p")
    assert panel.page.get_by_role("button", name="Pause", exact=True).is_visible()
    panel.page.wait_for_function(
        "document.querySelector('.slider').getAttribute('aria-valuenow') === '4'", timeout=6_000
    )
    press(panel, "p")
    assert panel.page.get_by_role("button", name="Play", exact=True).is_visible()
    now = slider.get_attribute("aria-valuenow")
    panel.page.wait_for_timeout(1_500)
    assert slider.get_attribute("aria-valuenow") == now


def test_nothing_moves_for_those_who_asked_for_less_motion(show_tab):
    panel = show_tab(trip(), "Contents")
    panel.page.emulate_media(reduced_motion="reduce")
    panel.page.locator(".adk").focus()
    panel.page.keyboard.press("[")
    places = "[...document.querySelectorAll('.cn')].map((c) => c.style.transform)"
    first = panel.page.evaluate(places)
    panel.page.wait_for_timeout(200)
    assert panel.page.evaluate(places) == first


def test_both_columns_come_to_their_ends_together(show_tab):
    panel = show_tab(trip(), "Contents")
    panel.page.get_by_role("listbox", name="Session events").focus()
    press(panel, "End")
    box = panel.page.locator(".scroll").bounding_box()
    for last in (panel.page.locator(".ev").last, panel.page.locator(".cn").last):
        place = last.bounding_box()
        assert box["y"] <= place["y"] <= box["y"] + box["height"]


def test_another_viewer_is_assembled_at_once_and_told_beside_the_runs_own(show_tab):
    panel = show_tab(trip(), "Contents")
    panel.page.get_by_label("Agent").select_option("hotel")
    settle(panel)
    assert panel.page.get_by_label("Branch").input_value() == "scouts.hotel"
    assert "fates differ" in panel.page.locator(".ct .ctl").inner_text()
    panel.page.get_by_label("Branch").fill("scouts.rail_2")
    panel.page.get_by_label("Branch").press("Enter")
    settle(panel)
    assert panel.page.locator(".ev").nth(7).get_attribute("class").find("f-reworded") >= 0
    panel.page.get_by_role("button", name="Reset").click()
    settle(panel)
    assert panel.page.get_by_label("Agent").input_value() == "rail"


def test_a_step_that_leaves_the_session_alone_sends_no_picture_again(show_tab):
    panel = show_tab(alone(600), "Contents")
    picture, sent = (
        len(panel.page.evaluate("JSON.stringify(document.querySelector('.adk').panel.app.st.kept)")),
        panel.bytes,
    )
    press(panel, "s", "s")
    assert panel.bytes - sent < 12_000 < picture
    assert panel.page.locator(".ev").count() > 50


# ---- Branches


def test_the_matrix_is_a_grid_that_keys_go_through(show_tab):
    panel = show_tab(trip(), "Branches")
    grid = panel.page.get_by_role("grid")
    assert (grid.get_attribute("aria-rowcount"), grid.get_attribute("aria-colcount")) == ("7", "30")
    grid.focus()
    press(panel, "Home", "ArrowDown", "ArrowDown", "ArrowDown", *["ArrowRight"] * 5)
    cell = panel.page.locator(f"#{grid.get_attribute('aria-activedescendant')}")
    assert cell.get_attribute("aria-label") == "rail_2, event 5 by rail: hidden by branch"
    assert cell.get_attribute("role") == "gridcell"
    assert "“scouts.rail_2” goes on with “_” where “scouts.rail” needs a dot" in why(panel)
    assert "EventBelongsToBranch R5.6" in why(panel)
    boxed = panel.page.locator(".ah.x .ne")
    assert boxed.inner_text() == "_"
    press(panel, "Enter")
    assert tab_of(panel) == "Contents"
    assert panel.page.get_by_label("Agent").input_value() == "rail_2"
    assert "#5" in why(panel)


def test_the_matrix_can_be_turned_and_narrowed_to_what_differs(show_tab):
    panel = show_tab(trip(), "Branches")
    panel.page.get_by_role("radio", name="Events as rows").click()
    settle(panel)
    grid = panel.page.get_by_role("grid")
    assert (grid.get_attribute("aria-rowcount"), grid.get_attribute("aria-colcount")) == ("30", "7")
    grid.focus()
    press(panel, "Home", "ArrowDown", "ArrowRight")
    label = panel.page.locator(f"#{grid.get_attribute('aria-activedescendant')}").get_attribute("aria-label")
    assert label.startswith("visa, event 1 by desk")
    panel.page.get_by_label("Only where agents differ").check()
    settle(panel)
    assert int(grid.get_attribute("aria-rowcount")) < 30


def test_of_five_thousand_events_only_those_in_sight_exist(show_tab):
    panel = show_tab(relay(5_000), "Branches")
    panel.page.wait_for_function("!/reading/.test(document.querySelector('.br .ctl').textContent)", timeout=60_000)
    assert panel.page.locator(".mx .cell").count() < 800
    grid = panel.page.get_by_role("grid")
    grid.focus()
    press(panel, "Home")
    assert panel.page.locator(f"#{grid.get_attribute('aria-activedescendant')}").get_attribute("aria-colindex") == "2"
    press(panel, "End")
    assert panel.page.locator(f"#{grid.get_attribute('aria-activedescendant')}").is_visible()
    assert panel.page.locator(".mapbox").is_visible()
    sent = panel.bytes
    press(panel, "s")
    assert panel.bytes - sent < 100_000
    frame = (
        "async (move) => { const g = document.querySelector('.mx'), t = performance.now(); for (let k = 0; k < 20; k++) {"
        " if (move) g.scrollLeft = 900 + k * 54; await new Promise(requestAnimationFrame); } return (performance.now() - t) / 20; }"
    )
    still, scrolled = panel.page.evaluate(frame, False), panel.page.evaluate(frame, True)
    assert scrolled < 4 * still + 120  # ms a frame; others share this machine


# ---- State, Where, Source, Findings


def test_a_key_of_the_state_shows_its_history_and_leads_to_events(show_tab):
    panel = show_tab(merging(), "State")
    panel.page.get_by_role("button", name="city", exact=True).click()
    settle(panel)
    assert panel.page.get_by_role("button", name="city", exact=True).get_attribute("aria-pressed") == "true"
    body = panel.page.locator(".page").inner_text()
    assert "Writes of" in body and body.count("nights") == 1
    press(panel, "Backspace")
    assert "Deltas by event" in panel.page.locator(".page").inner_text()
    panel.page.get_by_role("button", name="#24").first.click()
    settle(panel)
    assert tab_of(panel) == "Events"


def test_the_graphs_are_gone_through_by_arrows_and_lead_on(show_tab):
    panel = show_tab(trip(), "Where")
    here = panel.page.locator(".gn[aria-current=step]")
    assert [box.split("\n")[0] for box in here.all_inner_texts()] == ["rail", "contents"]
    panel.page.get_by_role("group", name="One step of the Flow").locator("[tabindex='0']").focus()
    assert panel.page.evaluate("document.activeElement.textContent") == "contents"
    press(panel, "ArrowDown", "ArrowUp", "ArrowUp")
    assert panel.page.evaluate("document.activeElement.textContent") == "compaction"
    press(panel, ".")
    assert [b.words for b in panel.stepper.breakpoints] == ["at('compaction', seam='processor')"]
    press(panel, "End", "Home")
    assert panel.page.evaluate("document.activeElement.textContent") == "new request"
    panel.page.get_by_role("group", name="Agents").get_by_role("button", name="hotel").click()
    assert "finds rooms" in why(panel)
    panel.page.locator(".why").get_by_role("button", name="Contents").click()
    settle(panel)
    assert (tab_of(panel), panel.page.get_by_label("Agent").input_value()) == ("Contents", "hotel")


def test_the_present_stage_moves_with_the_run(show_tab):
    panel = show_tab(weather().until(at("contents")), "Where")
    panel.cell(lambda dbg: dbg.until(at("transfer")))
    settle(panel)
    flow = panel.page.get_by_role("group", name="One step of the Flow")
    assert flow.locator("[aria-current=step]").inner_text() == "transfer"
    assert flow.get_by_role("button", name="contents, done").count() == 1
    assert "noop" in flow.get_by_role("button", name="planning").get_attribute("class")


def test_source_follows_the_run_and_can_look_elsewhere(show_tab):
    panel = show_tab(weather().until(at("identity")), "Source")
    assert panel.page.locator(".code").inner_text().startswith("def identity(")
    assert panel.page.locator(".t-kw").first.inner_text().strip() == "def"
    panel.page.get_by_label("Which function").select_option("around")
    settle(panel)
    assert panel.page.locator(".code").inner_text().startswith("def preprocess(")
    press(panel, "n")
    assert "def compaction(" in panel.page.locator(".code").inner_text()
    panel.page.get_by_role("button", name="8 of 13, contents").focus()
    panel.page.evaluate("document.querySelector('.adk').panel.app.stage('contents')")
    settle(panel)
    assert "def contents(" in panel.page.locator(".code").inner_text()
    panel.page.get_by_label("Which function").select_option("pass:foreign")
    settle(panel)
    assert "def convert_foreign_events(" in panel.page.locator(".code").inner_text()
    panel.page.get_by_role("button", name="Back to this stop").click()
    settle(panel)
    assert "def compaction(" in panel.page.locator(".code").inner_text()


def test_a_finding_leads_to_its_event(show_tab):
    panel = show_tab(trip(), "Findings")
    assert panel.page.locator(".found .rw").count() == 1
    panel.page.locator(".found").get_by_role("button", name="Contents").click()
    settle(panel)
    panel.page.mouse.move(0, 0)
    assert tab_of(panel) == "Contents"
    assert "#23" in why(panel)
    assert "orphan" in why(panel).lower() or "no event" in why(panel).lower()


def test_a_broken_invariant_is_counted_beside_the_tabs_name(show_tab):
    dbg = weather().until(at("contents", step=2))
    panel = show_tab(dbg, "Request")
    assert panel.page.get_by_role("tab", name="Findings").inner_text() == "Findings"
    dbg.request.contents[2].parts[0].function_response.id = "adk-elsewhere"
    panel.cell(lambda dbg: dbg.break_at(at("transfer")))
    settle(panel)
    assert panel.page.get_by_role("tab", name="Findings").inner_text().split() == ["Findings", "2"]


# ---- all of them


@pytest.mark.parametrize("theme, width", [("light", 1600), ("dark", 820), ("contrast", 360)])  # each once: 10 s a page
def test_axe_finds_nothing_serious_and_nothing_is_cut_off(show_tab, theme, width):
    from axe_playwright_python.sync_playwright import Axe

    serious = []
    for run, tabs in ((merging, TABS), (family, ("Where",))):
        panel = show_tab(run(), tabs[0], theme=theme, width=width)
        for tab in tabs:
            go(panel, tab)
            if tab == "Branches":
                panel.page.get_by_role("grid").focus()
                press(panel, "End")
            if tab == "State":
                panel.page.get_by_role("button", name="city", exact=True).click()
                settle(panel)
            found = Axe().run(panel.page, context=".adk").response["violations"]
            bad = [v for v in found if v["impact"] in ("serious", "critical")]
            serious += [(tab, v["id"], v["nodes"][0]["html"][:200]) for v in bad]
            assert panel.page.evaluate("document.documentElement.scrollWidth <= innerWidth"), tab
    assert serious == []


def hostile():
    """Agents, tools, keys, texts, branches and functions that want to be something else."""
    texts = iter(HOSTILE * 4)
    write = FunctionTool(lambda ctx: {"ok": True}, name="<script>window.hit=1</script>", description=HOSTILE[1])

    def agent(name):
        return LlmAgent(
            name,
            FunctionModel(lambda request: next(texts), name=HOSTILE[2]),
            instruction="x",
            description=HOSTILE[1],
            tools=[write],
            output_key=f"user:{HOSTILE[1]}",
        )

    crew = ParallelAgent(
        "'><img src=x onerror=window.hit=1>", sub_agents=[agent("<b>bold</b>"), agent('"><svg/onload=window.hit=1>')]
    )
    root = SequentialAgent(
        "</script><script>window.hit=1</script>", sub_agents=[agent("\u202eone\u202c" + "x" * 300), crew]
    )
    return adknb.step(root, HOSTILE[:12])


@pytest.mark.parametrize("width", [1280, 360])
def test_hostile_names_and_texts_execute_nothing_and_break_no_layout(show_tab, width):
    dbg = hostile().until(at("contents", turn=12))
    panel = show_tab(dbg, "Contents", width=width)
    for tab in TABS:
        go(panel, tab)
        box = panel.page.locator(".view [role=grid], .view [role=listbox], .view .page").first
        box.focus()
        press(panel, "End", "ArrowUp", "ArrowLeft")
        assert panel.page.evaluate("document.documentElement.scrollWidth <= innerWidth"), tab
        assert panel.page.locator(".adk script, .adk iframe, .adk img, .adk a").count() == 0, tab
        assert (
            panel.page.evaluate("(([r]) => r.scrollWidth - r.clientWidth)(document.querySelectorAll('.adk'))") == 0
        ), tab
    assert panel.page.evaluate("window.hit") is None
