"""The exported file in a browser, opened from the disk: every view, no network, no kernel, nothing executed."""

import pytest

import adknb
from adknb import at
from adknb.engine.llm_agent import LlmAgent
from adknb.engine.model import FunctionModel
from adknb.widgets.export import document, to_html
from adknb.widgets.panel.desk import Desk
from tests.widgets.runs import HOSTILE, golden, said, weather

pytestmark = pytest.mark.browser

TABS = ["Request", "Contents", "Branches", "Events", "State", "Where", "Source", "Findings"]


@pytest.fixture
def open_file(chromium, tmp_path):
    """Opens the file of a Stepper; at the end no error has happened, and nothing was asked of any network."""
    opened = []

    def open_it(dbg, theme="light", width=1280):
        path = tmp_path / f"{len(opened)}.html"
        to_html(dbg, path)
        page = chromium.new_page(color_scheme=theme, viewport={"width": width, "height": 800})
        errors, asked = [], []
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("console", lambda m: m.type == "error" and errors.append(m.text))
        page.on("request", lambda request: asked.append(request.url))
        page.goto(path.as_uri())
        page.wait_for_selector(".adk .page > div, .adk .empty")
        opened.append((page, errors, asked))
        return page

    yield open_it
    for page, errors, asked in opened:
        page.close()
        assert errors == []
        assert [url for url in asked if not url.startswith(("file:", "blob:", "data:"))] == []


def settle(page):
    page.wait_for_timeout(100)


def test_every_view_is_there_and_no_command_is(open_file):
    page = open_file(weather().until(at("model", step=2)))
    assert page.get_by_role("tab").all_inner_texts()[-8:] == TABS
    for tab in TABS:
        page.get_by_role("tab", name=tab).click()
        settle(page)
        assert "does not hold this" not in page.locator(".view").inner_text(), tab
        assert len(page.locator(".view").inner_text()) > 50, tab
    for name in ("Step", "Next", "Resume", "Back", "Restart", "Breakpoints", "Edit", "Run to here", "Rewind here"):
        assert page.get_by_role("button", name=name, exact=True).count() == 0, name


def test_a_what_if_that_the_file_does_not_hold_says_so(open_file):
    page = open_file(weather().until(at("model", step=2)))
    page.get_by_role("tab", name="Contents").click()
    field = page.get_by_label("Branch", exact=True)
    field.fill("nowhere.typed")
    field.press("Enter")
    page.get_by_text("What if: this one needs a kernel").wait_for()
    assert field.input_value() == ""


def test_it_shows_what_the_panel_shows(open_file, show):
    dbg = weather().until(at("model", step=2))
    panel, page = show(dbg, width=1280), open_file(dbg)
    for tab in TABS:
        panel.page.get_by_role("tab", name=tab).click()
        page.get_by_role("tab", name=tab).click()
        panel.settle()
        settle(page)
        living = panel.page.locator(".view").inner_text()
        for words in ("Run to here", "Break here", "Edit", "Undo edit"):
            living = living.replace(f"\n{words}", "")
        told = page.locator(".view").inner_text()
        assert " ".join(told.split()) == " ".join(living.split()), tab


def test_past_stops_events_and_singled_out_keys_are_there(open_file):
    page = open_file(weather().resume())
    page.locator(".adk").focus()
    page.keyboard.press("<")
    settle(page)
    assert "Looking at stop" in page.locator(".looking").inner_text()
    page.keyboard.press("Escape")
    page.get_by_role("tab", name="Events").click()
    page.get_by_role("row").nth(3).click()
    settle(page)
    assert '"functionResponse"' in page.get_by_role("region", name="Event as JSON").inner_text()
    page.get_by_role("searchbox").fill("kind:call")
    settle(page)
    assert page.locator(".v-in .gr").count() == 1


def test_what_ifs_of_the_switches_and_agents_are_answered_others_are_not_and_say_so(open_file):
    page = open_file(said("one", "two").until(at("contents", turn=2)))
    page.get_by_role("tab", name="Contents").click()
    settle(page)
    page.get_by_role("radio", name="none").click()
    settle(page)
    assert "What if: 2 fates differ" in page.locator(".ct .ctl").inner_text()


def test_a_long_session_is_folded_and_its_turns_can_be_opened(open_file, show):
    from tests.widgets.runs_a import relay

    dbg = relay(400)
    panel, page = show(dbg), open_file(dbg)
    for where in (panel.page, page):
        where.get_by_role("tab", name="Contents").click()
        where.wait_for_timeout(700)
    for k in (3, 10, 4):
        for where in (panel.page, page):
            where.locator(".col.l .ev").nth(k).click()
            where.locator(".col.l").focus()
            where.keyboard.press("Enter")
            where.wait_for_timeout(900)
        for side in (".col.l", ".col.r", ".heads", ".legend"):
            living, told = (where.locator(side).inner_text() for where in (panel.page, page))
            assert told == living, (k, side)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_serious_in_the_file(open_file, theme):
    from axe_playwright_python.sync_playwright import Axe

    page = open_file(weather().until(at("model", step=2)), theme)
    assert page.locator(".adk").get_attribute("data-theme") == theme
    serious = []
    for tab in TABS:
        page.get_by_role("tab", name=tab).click()
        settle(page)
        found = Axe().run(page, context=".adk").response["violations"]
        serious += [(tab, v["id"], v["nodes"][0]["html"]) for v in found if v["impact"] in ("serious", "critical")]
    assert serious == []


def test_hostile_texts_execute_nothing_in_the_file(open_file):
    answers = iter(HOSTILE)
    agent = LlmAgent(
        "</script><script>window.hit=1</script>",
        model=FunctionModel(lambda request: next(answers), name="<img src=x onerror=window.hit=1>"),
        instruction=lambda ctx: "\n\n".join(HOSTILE),
        output_key="<svg/onload=window.hit=1>",
    )
    page = open_file(adknb.step(agent, HOSTILE).resume(), width=820)
    for tab in ["Timeline", *TABS]:
        page.get_by_role("tab", name=tab).click()
        settle(page)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), tab
    assert page.evaluate("window.hit") is None
    assert page.locator(".adk script, .adk iframe, .adk img, .adk a").count() == 0


def test_a_script_that_would_get_in_is_not_run(chromium, tmp_path):
    """Were there a hole, the page's own policy would still hold."""
    path = tmp_path / "hole.html"
    path.write_text(document(weather()).replace("</body>", "<script>window.hit = 1</script></body>"), encoding="utf-8")
    page = chromium.new_page()
    page.goto(path.as_uri())
    page.wait_for_selector(".adk")
    assert page.evaluate("window.hit") is None
    page.close()


@pytest.mark.parametrize("name", ["parallel/7", "callbacks/0", "confirmation/0"])
def test_other_runs_can_be_browsed_too(open_file, name):
    page = open_file(adknb.step(golden(name)).resume())
    for tab in TABS:
        page.get_by_role("tab", name=tab).click()
        settle(page)


def test_a_file_is_asked_nothing_that_a_kernel_would_not_answer(open_file):
    """The messages that the views send are those of the desk."""
    known = set(Desk.handlers(type("D", (), {"stepper": weather(), "__getattr__": lambda s, n: None})()))
    page = open_file(weather().until(at("model", step=2)))
    page.evaluate(
        """() => { const { app } = document.querySelector('.adk').panel, send = app.st.file; window.asked = [];
                   app.st.file = (m) => { window.asked.push(m.type); return send(m); }; }"""
    )
    for tab in TABS:
        page.get_by_role("tab", name=tab).click()
        settle(page)
    assert set(page.evaluate("window.asked")) <= known
