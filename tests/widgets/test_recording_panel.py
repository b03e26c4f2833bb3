"""The panel of a Recording: a reader goes from event to event, and every view is as it was there."""

from __future__ import annotations

import json

import pytest

import adknb
from adknb.widgets.recording_panel import RecordingPanel
from adknb.widgets.wire import clean


def event(author, text="", **more):
    part = more.pop("part", {"text": text})
    role = "user" if author == "user" else "model"
    return {"author": author, "content": {"role": more.pop("role", role), "parts": [part]}, **more}


CALL = {"functionCall": {"id": "adk-1", "name": "look_up", "args": {"order": 7}}}
ANSWER = {"functionResponse": {"id": "adk-1", "name": "look_up", "response": {"where": "Lyon"}}}
SHOP = [
    event("user", "Where is order 7?", invocationId="i1"),
    event("desk", part=CALL, invocationId="i1"),
    event("desk", part=ANSWER, role="user", invocationId="i1", actions={"stateDelta": {"where": "Lyon"}}),
    event("desk", "In Lyon.", invocationId="i1"),
    event("user", "<b>When</b> does it come?", invocationId="i2"),
    event("carrier", "On Tuesday.", invocationId="i2"),
]


@pytest.fixture
def shop(tmp_path):
    path = tmp_path / "shop.session.json"
    path.write_text(json.dumps({"id": "s", "appName": "shop", "userId": "ann", "state": {}, "events": SHOP}))
    return adknb.open(path)


class Answers:
    """A panel whose answers are kept instead of sent."""

    def __init__(self, recording):
        self.panel, self.heard = recording.panel(), []
        self.panel.send = lambda content, buffers=None: self.heard.append(content)

    def ask(self, **message):
        self.heard.clear()
        self.panel.serve(message)
        assert self.panel.errors == []
        return self.heard[-1] if self.heard else None

    def texts(self, name):
        return json.dumps(self.ask(type="page", name=name)["columns"], ensure_ascii=False)


def test_it_stands_at_the_last_answer_of_a_model_with_every_event_in_its_timeline(shop):
    panel = shop.panel()
    assert isinstance(panel, RecordingPanel)
    assert repr(panel) == "Panel(shop.session.json: event 5 of 6)"
    named = [(row[0], row[2]) for row in panel.get_state()["stops"]]
    assert named == [
        (0, "Turn 1"), (1, "event 0"), (1, "desk"), (2, "Step 1"), (3, "event 1"), (3, "event 2"), (2, "Step 2"),
        (3, "event 3"), (0, "Turn 2"), (1, "event 4"), (1, "carrier"), (2, "Step 1"), (3, "event 5"),
    ]  # fmt: skip


WAYS = [
    ("step", [{"type": "rewind", "stop": 1}, {"type": "step"}], 2, ""),
    ("back", [{"type": "back"}], 4, ""),
    ("next answer", [{"type": "rewind", "stop": 1}, {"type": "next"}], 3, ""),
    ("behind the last", [{"type": "step"}], 5, "This is the last event."),
    ("before the first", [{"type": "rewind", "stop": 0}, {"type": "back"}], 0, "This is the first event."),
    ("no more answers", [{"type": "next"}], 5, "No model wrote an event after this one."),
]


@pytest.mark.parametrize("way, messages, position, says", WAYS, ids=[w[0] for w in WAYS])
def test_a_reader_goes_from_event_to_event(shop, way, messages, position, says):
    asked = Answers(shop)
    for message in messages:
        asked.ask(**message)
    view = asked.panel.view
    assert (asked.panel.stepper.position, view["at"]["name"], view["note"]) == (position, f"event {position}", says)


def test_a_place_that_is_none_is_refused_where_the_reader_stands(shop):
    asked = Answers(shop)
    asked.panel.serve({"type": "rewind", "stop": 9})
    assert asked.panel.view["problem"] == "stop: there is no event 9: the recording has events 0 to 5"
    assert asked.panel.stepper.position == 5


REQUESTS = [
    (1, "What desk was given", ["Where is order 7?"], ["Lyon", "When"]),
    (3, "What desk was given", ["Where is order 7?", "look_up", "Lyon"], ["On Tuesday."]),
    (2, "What desk would be given", ["look_up", "Lyon"], ["In Lyon."]),
    (5, "What carrier was given", ["For context:", "In Lyon.", "<b>When</b> does it come?"], []),
]


@pytest.mark.parametrize("at, title, holds, lacks", REQUESTS)
def test_the_request_is_that_before_the_chosen_event(shop, at, title, holds, lacks):
    asked = Answers(shop)
    asked.ask(type="rewind", stop=at)
    columns = asked.ask(type="page", name="Request")["columns"]
    assert columns[0][0][1] == title
    contents = json.dumps(columns[0][2:], ensure_ascii=False)
    assert [text for text in holds if text not in contents] == []
    assert [text for text in lacks if text in contents] == []
    assert "holds no agent definition" in json.dumps(columns[1])


def test_contents_state_events_and_findings_are_those_of_the_chosen_event(shop):
    asked = Answers(shop)
    asked.ask(type="rewind", stop=3)
    picture = asked.ask(type="assemble", ask=1)
    assert picture["viewer"]["agent"] == "desk"
    assert picture["sizes"][0] == 3
    assert "Lyon" in asked.texts("State")
    asked.ask(type="rewind", stop=1)
    assert "Nothing has been written yet." in asked.texts("State")
    assert asked.ask(type="row", i=5)["json"]["author"] == "carrier"
    assert asked.panel.view["upto"] == 1
    found = asked.texts("Findings")
    assert [f.check for f in shop.findings() if f.check not in found] == []
    assert "5 of 5 hold" in found


def test_branches_show_every_agent_that_speaks(shop):
    asked = Answers(shop)
    rows = asked.ask(type="matrix")["rows"]
    assert [row[0] for row in rows] == ["desk", "carrier"]


def test_with_a_definition_the_whole_request_is_there(shop):
    tree = {"type": "llm", "name": "carrier", "instruction": "Tell when it comes."}
    asked = Answers(shop.with_agent(tree))
    assert "Tell when it comes." in asked.texts("Request")
    assert "systemInstruction" in asked.ask(type="text", why="copy", **{"as": "json"})["text"]


NOTHING = [
    ("no events", [], "The recording has no events."),
    ("nobody speaks", [event("user", "Hello?")], "no agent speaks"),
]


@pytest.mark.parametrize("case, events, says", NOTHING, ids=[n[0] for n in NOTHING])
def test_where_there_is_no_request_the_page_says_why(tmp_path, case, events, says):
    path = tmp_path / "s.json"
    path.write_text(json.dumps({"id": "s", "appName": "a", "userId": "u", "state": {}, "events": events}))
    asked = Answers(adknb.open(path))
    assert says in asked.texts("Request")
    for name in ("State", "Findings"):
        asked.texts(name)
    for kind in ("assemble", "matrix", "fates"):
        asked.ask(type=kind)


def test_what_goes_to_the_browser_is_json_and_small(shop):
    state = shop.panel().get_state()
    sent = {key: state[key] for key in ("book", "view", "stops", "rows", "base", "kept")}
    assert clean(sent) == sent
    assert len(json.dumps(sent)) < 20_000


# ---- in a browser


@pytest.mark.browser
def test_a_click_on_an_event_shows_the_request_before_it(show, shop):
    panel = show(shop.panel())
    page = panel.page
    assert [t.inner_text() for t in page.get_by_role("tab").all() if t.is_visible()] == [
        "Request", "Contents", "Branches", "Events", "State", "Findings",
    ]  # fmt: skip
    assert "On Tuesday." in page.locator(".page").inner_text()
    page.get_by_role("treeitem", name="Turn 1").click()
    page.get_by_role("treeitem", name="event 0").click()
    panel.settle()
    assert "What desk would be given" in page.locator(".page").inner_text()
    page.get_by_role("button", name="Next answer").click()
    panel.settle()
    assert "event 1" in page.locator(".crumb").inner_text()
    page.keyboard.press("s")
    page.keyboard.press(">")
    panel.settle()
    assert "event 3" in page.locator(".crumb").inner_text()
    page.get_by_role("tab", name="Events").click()
    panel.settle()
    assert page.get_by_role("row").nth(5).inner_text().endswith("later")
    page.get_by_role("row").nth(6).click()
    page.get_by_role("button", name="Request", exact=True).click()
    panel.settle()
    assert "<b>When</b> does it come?" in page.locator(".page").inner_text()
    assert panel.panel.stepper.position == 5
