"""The static picture: what GitHub, nbconvert and a closed notebook show."""

import re
from html.parser import HTMLParser

import pytest

import adknb
from adknb import at
from adknb.widgets.static import html
from tests.widgets.runs import HOSTILE, golden, said, weather
from tests.widgets.runs_a import trip


class Reader(HTMLParser):
    """What a browser would make of it: tags in their order, attributes, and the text."""

    VOID = {"br", "hr", "img", "input"}

    def __init__(self, source):
        super().__init__(convert_charrefs=True)
        self.open, self.tags, self.attributes, self.text = [], set(), set(), []
        self.feed(source)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


TAGS = {"div", "span", "b", "i", "code", "ins", "del", "details", "summary", "pre"}
TABLE = {"table", "thead", "tbody", "tr", "th", "td"}


def test_it_is_well_formed_and_has_nothing_but_words_tables_and_inline_styles():
    for dbg in (weather(), weather().until(at("model", step=2)), weather().resume()):
        page = Reader(html(dbg))
        assert page.open == []
        assert page.tags <= TAGS | TABLE
        assert page.attributes <= {"style"}


def test_it_is_the_same_every_time():
    assert html(weather().until(at("contents"))) == html(weather().until(at("contents")))


def test_it_shows_the_stop_the_request_with_what_changed_the_timeline_and_the_events():
    dbg = weather().until(at("model")).until(at("contents", step=2))
    text = re.sub(r"\s+", " ", " ".join(Reader(html(dbg)).text))
    for words in (
        "stop 62 · after processor contents · turn 1, weather_agent, step 2",
        "2 changes",
        "basic ✓",
        "System instruction 2 paragraphs",
        'get_weather {"city": "Hangzhou", "temperature": 26}',
        "new",
        "Timeline 63 stops",
        "( auth )".replace("( auth )", "(auth)"),
        "▸",
        "Events 3 events",
    ):
        assert words in text


def test_of_each_event_it_says_what_becomes_of_it_and_of_each_agent_what_it_sees():
    text = re.sub(r"\s+", " ", " ".join(Reader(html(trip())).text))
    for words in (
        "in the request of rail",
        "summarised → 0 The summary of event 25 stands for it.",
        "other branch Its branch 'scouts.hotel' is not",
        "moved → 6 It answers event 11",
        "Branches 6 agents, 29 events",
        "rail scouts.rail ≈≈═══●┄┄●┄┄●××━×●═····××●━━━═ 16 of 29",
        "┄ hidden by branch",
    ):
        assert words in text


def test_what_the_assembly_adds_stands_below_the_events():
    dbg = said("one", "two").until(at("contents", turn=2))
    assert "Branches" not in html(dbg)  # one agent sees all that there is
    dbg.events[-1].author = "speaker"
    dbg.events[-1].content.role = "model"
    text = re.sub(r"\s+", " ", " ".join(Reader(html(dbg)).text))
    assert re.search(r"kept → 2 \+ added → 3 \w.*\.", text)


def test_a_long_session_is_not_assembled_for_a_picture_that_nobody_may_look_at():
    dbg = said(*["yes"] * 251).resume()
    assert "in the request of" not in html(dbg)


@pytest.mark.parametrize("text", HOSTILE)
def test_authors_branches_and_scopes_stay_texts_too(text):
    dbg = trip()
    for event in dbg.events[5:9]:
        event.author, event.branch, event.isolation_scope = text, text, text
    page = Reader(html(dbg))
    assert page.open == []
    assert page.tags <= TAGS | TABLE
    assert page.attributes <= {"style"}


def test_colours_are_tints_over_the_pages_own_so_that_light_and_dark_both_read_well():
    styles = re.findall(r'style="([^"]*)"', html(weather().until(at("model", step=2))))
    colours = {c for style in styles for c in re.findall(r"(?:^|;)(?:background-)?color:([^;]+)", style)}
    assert all(c in ("transparent", "inherit") or re.fullmatch(r"rgba\(.*,\.\d+\)", c) for c in colours)


@pytest.mark.parametrize("text", HOSTILE)
def test_no_text_becomes_anything_but_text(text):
    dbg = said(text, user=text, instruction=lambda ctx: text)
    for go in (lambda: dbg.until(at("contents")), lambda: dbg.until(at("model")).next(), dbg.resume):
        go()
        source = html(dbg)
        page = Reader(source)
        assert page.open == []
        assert page.tags <= TAGS | TABLE
        assert page.attributes <= {"style"}
        source.encode()


def test_a_name_that_is_markup_stays_a_name():
    scenario = golden("seed/weather_question")
    scenario["agent"]["description"] = "<script>1</script>"
    scenario["agent"]["tools"][0]["description"] = "<img src=x onerror=1>"
    page = Reader(html(adknb.step(scenario).until(at("model"))))
    assert not page.tags & {"script", "img"}


def test_a_long_session_shows_its_last_events_and_counts_the_rest():
    dbg = said(*["yes"] * 45).resume()
    text = " ".join(Reader(html(dbg)).text)
    assert "90 events, the last 40" in text
    assert "lines before these" in text
    assert len(html(dbg)) < 100_000
