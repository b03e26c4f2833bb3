"""The event table in a browser: filter, sort, one event as JSON, 50,000 rows, and no kernel needed for any of it."""

import pytest

from tests.widgets.runs import said, weather
from tests.widgets.test_panel_in_chromium import press

pytestmark = pytest.mark.browser


def open_events(show, dbg, **look):
    panel = show(dbg, **look)
    panel.page.get_by_role("tab", name="Events").click()
    panel.settle()
    return panel


def numbers(panel):
    return [int(t) for t in panel.page.locator(".v-in .c-i").all_inner_texts()]


def test_a_row_of_the_event_table_shows_its_json(show):
    panel = open_events(show, weather().resume())
    panel.page.get_by_role("row").nth(2).click()
    panel.settle()
    assert '"functionCall"' in panel.page.get_by_role("region", name="Event as JSON").inner_text()


FILTERS = [
    ("kind:response", [2]),
    ("author:user", [0]),
    ("author:weather", [1, 2, 3]),
    ("hangzhou", [1, 2]),
    ("hangzhou kind:call", [1]),
    ("杭州", [0, 3]),
    ("get_weather", [1, 2]),
    ("nothing of the kind", []),
    ("constructor", []),
    ("kind:", [0, 1, 2, 3]),
]


@pytest.mark.parametrize("words, rows", FILTERS)
def test_the_table_is_filtered_by_words_and_fields(show, words, rows):
    panel = open_events(show, weather().resume())
    panel.page.get_by_role("searchbox").fill(words)
    panel.settle()
    assert numbers(panel) == rows
    count = f"{len(rows)} of 4 events" if len(rows) < 4 else "4 events"
    assert count in panel.page.locator(".ctl", has=panel.page.get_by_role("searchbox")).inner_text()
    press(panel, "Escape")
    assert len(numbers(panel)) == 4


def test_the_table_is_sorted_by_any_column_both_ways(show):
    panel = open_events(show, weather().resume())
    kind = panel.page.get_by_role("columnheader", name="Kind")
    kind.get_by_role("button").click()
    assert numbers(panel) == [1, 2, 0, 3]
    assert kind.get_attribute("aria-sort") == "ascending"
    kind.get_by_role("button").click()
    assert numbers(panel) == [3, 0, 2, 1]
    assert kind.get_attribute("aria-sort") == "descending"


def test_the_keyboard_goes_through_the_rows_that_are_left(show):
    panel = open_events(show, weather().resume())
    press(panel, "/")
    panel.page.keyboard.type("author:weather")
    press(panel, "Enter", "End", "ArrowUp")
    selected = panel.page.get_by_role("row", selected=True)
    assert selected.locator(".c-i").inner_text() == "2"
    assert panel.page.locator(".grid").get_attribute("aria-activedescendant") == selected.get_attribute("id")


@pytest.mark.parametrize("width", [1280, 820, 400, 360, 294])
def test_no_width_cuts_anything_off_sideways(show, width):
    panel = open_events(show, weather().resume(), width=width)
    sideways = "(s) => [...document.querySelectorAll(s)].map((e) => e.scrollWidth - e.clientWidth)"
    for box in (".adk", ".grid", ".view", ".main"):
        assert panel.page.evaluate(sideways, box) == [0], box
    rights = (
        "[...document.querySelectorAll('.grid .c-text, .grid .c-author')].map((e) => e.getBoundingClientRect().right)"
    )
    assert max(panel.page.evaluate(rights)) <= width
    widths = "[...document.querySelectorAll('.v-in .c-text')].map((e) => e.clientWidth)"
    assert min(panel.page.evaluate(widths)) >= 60


def test_fifty_thousand_rows_are_filtered_sorted_and_scrolled_without_the_kernel(show):
    panel = open_events(show, weather().resume())
    page = panel.page
    page.evaluate(
        """() => {
            const { app } = document.querySelector('.adk').panel, some = app.st.events, model = app.st;
            app.st.events = Array.from({ length: 50000 }, (_, i) => ({ ...some[i % 4], text: some[i % 4].text + ' ' + i, words: undefined }));
            model.send = () => {}; // the kernel is busy
            app.tab('Events');
        }"""
    )
    times = page.evaluate(
        """async () => {
            const find = document.querySelector('[type=search]'), grid = document.querySelector('.grid'), out = {};
            const time = (name, work) => { const t = performance.now(); work(); out[name] = performance.now() - t; };
            const type = (words) => { find.value = words; find.dispatchEvent(new Event('input')); };
            time('first filter', () => type('4999'));
            time('filter', () => type('kind:call 77'));
            time('no filter', () => type(''));
            time('sort', () => document.querySelector('[role=columnheader].c-text button').click());
            const frames = [];
            for (let k = 0; k < 30; k++) {
                const t = performance.now();
                grid.scrollTop = (grid.scrollHeight * k) / 30;
                grid.dispatchEvent(new Event('scroll'));
                frames.push(performance.now() - t);
                await new Promise(requestAnimationFrame);
            }
            out.frame = frames.sort((a, b) => a - b)[22];
            return out;
        }"""
    )
    assert page.locator(".v-in .gr").count() < 80
    cut = "[...document.querySelectorAll('.v-in .c-i')].filter((e) => e.scrollWidth > e.clientWidth).length"
    assert page.evaluate(cut) == 0
    # a slow machine under load; alone it is a tenth of this
    assert times["filter"] < 400, times
    assert times["sort"] < 1_500, times
    assert times["frame"] < 50, times


def test_authors_have_their_colours_in_all_views(show):
    panel = open_events(show, said("one").resume())
    squares = "(s) => [...document.querySelectorAll(s)].map((e) => [...e.classList].find((c) => /^au\\d/.test(c)))"
    in_table = panel.page.evaluate(squares, ".v-in .c-author .au")
    panel.page.get_by_role("tab", name="Contents").click()
    panel.settle()
    assert panel.page.evaluate(squares, ".col.l .au") == in_table == ["au0", "au1"]
