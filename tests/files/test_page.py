"""The one HTML file of a recording: complete, escaped, the same every time, and small enough."""

import html
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

import adknb
from adknb.files.page import page
from adknb.files.reading import session_of
from adknb.files.recording import Recording

SAMPLES = Path(__file__).parent / "samples"
Json = dict[str, Any]
EVIL = "</div><script>alert(1)</script><img src=x onerror=alert(2)> & \u202e \x1b[31m \ud800"


def says(author: str, text: str, **fields: Any) -> Json:
    role = "user" if author == "user" else "model"
    return {"author": author, "content": {"role": role, "parts": [{"text": text}]}, **fields}


def recording(*events: Json, **fields: Any) -> Recording:
    return Recording(session_of({"id": "s", "events": list(events), **fields}, fields.pop("file", "f.json")))


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.seen: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.left: list[str] = []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.seen.append((tag, dict(attrs)))
        if tag not in ("meta", "br", "td", "th", "tr", "li"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in ("td", "th", "tr", "li"):
            if self.open and self.open[-1] == tag:
                self.open.pop()
            else:
                self.left.append(tag)


def tags(text: str) -> Tags:
    parser = Tags()
    parser.feed(text)
    return parser


def test_every_event_is_there_and_every_request_with_its_reasons() -> None:
    tape = adknb.open(SAMPLES / "v1.db", "s-parcel")
    text = page(tape)
    parsed = tags(text)
    assert (parsed.open, parsed.left) == ([], [])
    ids = [attrs["id"] for tag, attrs in parsed.seen if tag == "article"]
    assert ids == [f"e{i}" for i in range(8)]
    assert text.count("<summary>What ") == len(tape.requests()) + 1
    assert "R5.10" in text  # the guide is told what the desk said
    links = {attrs["href"] for tag, attrs in parsed.seen if tag == "a"}
    assert links <= {f"#{i}" for i in ids}


def test_nothing_of_a_file_is_markup_and_nothing_is_loaded() -> None:
    evil = EVIL.replace("\ud800", "")  # half a pair in a text is no text: such a file does not open
    events = [
        says("user", evil, id=evil, branch=evil),
        says(evil, evil, nodeInfo={evil: evil}),
        {**says("desk", "x"), "actions": {"stateDelta": {evil: EVIL}, "transferToAgent": evil}},
    ]
    tape = recording(*events, state={evil: EVIL}, app_name=evil, colour={evil: EVIL})
    for text in (page(tape), tape._repr_html_(), tape.request_before(2)._repr_html_()):
        text.encode()
        names = {tag for tag, _ in tags(text).seen}
        assert not names & {"script", "img", "iframe", "link", "object", "embed", "form", "svg", "base"}
        assert not [a for _, attrs in tags(text).seen for a in attrs if a.startswith("on")]
        assert not [
            value
            for _, attrs in tags(text).seen
            for a, value in attrs.items()
            if a in ("src", "href") and not str(value).startswith("#e")
        ]
        assert "url(" not in text
        assert "@import" not in text
        assert html.escape("</div><script>alert(1)</script>") in text


@pytest.mark.parametrize("name", ["v1.db", "new.evalset.json", "conformance"])
def test_the_page_is_the_same_every_time(name: str) -> None:
    assert page(adknb.open(SAMPLES / name)) == page(adknb.open(SAMPLES / name))


def test_a_page_without_events_is_a_page() -> None:
    text = page(recording())
    assert "0 events in 0 turns" in text
    assert tags(text).open == []


def round_of(i: int, words: str, ids: bool) -> list[Json]:
    call_id = {"id": f"c{i}"} if ids else {}
    return [
        says("user", f"{i} {words}"),
        {
            "author": "desk",
            "content": {
                "role": "model",
                "parts": [{"functionCall": {**call_id, "name": "look", "args": {"at": words}}}],
            },
        },
        {
            "author": "desk",
            "content": {
                "role": "user",
                "parts": [{"functionResponse": {**call_id, "name": "look", "response": {"r": words}}}],
            },
        },
        says("desk", f"{i} {words}"),
    ]


@pytest.mark.parametrize(
    "rounds, size, ids",
    [(1250, 20, True), (1250, 1500, True), (200, 800, False), (30, 30_000, True)],
)
def test_a_page_stays_small(rounds: int, size: int, ids: bool) -> None:
    words = ("Die Pflänzchen <b> 花园 " * size)[:size]
    tape = recording(*(event for i in range(rounds) for event in round_of(i, words, ids)))
    text = page(tape)
    assert len(text.encode()) <= 1_500_000
    assert text.count("<article ") == 4 * rounds
    assert text.count("<summary>What desk saw") + text.count("This request is not in this page.") == 2 * rounds


def test_a_long_page_shows_what_is_new_and_says_where_the_rest_is() -> None:
    tape = recording(*(event for i in range(100) for event in round_of(i, "x", True)))
    text = page(tape)
    assert 'As before <a href="#e397">event 397</a>, then events 397, 398 as stored.' in text


def test_a_definition_is_shown_with_the_request() -> None:
    tree = {"type": "llm", "name": "desk", "instruction": "Be <kind>.", "model": {"name": "m"}}
    text = page(
        recording(says("user", "hi"), says("desk", "x"), says("user", "hi"), says("desk", "y")).with_agent(tree)
    )
    assert text.count("Be &lt;kind&gt;.") == 1
    assert 'Instruction, tools and settings as for <a href="#e1">event 1</a>.' in text
    assert "Instruction, tools and settings: m, no tools" in text


def test_the_findings_are_told_with_links_to_their_events() -> None:
    call = {"functionCall": {"name": EVIL, "args": {}}}
    answer = {"functionResponse": {"id": "nobody's", "name": EVIL, "response": {"n": 1}}}
    found = page(
        recording(
            says("user", "hi"),
            {"author": "a", "content": {"role": "model", "parts": [call]}},
            {"author": "a", "content": {"role": "user", "parts": [answer]}},
            says("a", "there"),
        )
    )
    assert "The doctor finds" in found and "orphan-response" in found
    links = [href for tag, a in tags(found).seen if tag == "a" and (href := a.get("href") or "").startswith("#e")]
    assert "#e2" in links and all(f'id="{href[1:]}"' in found for href in links)
    assert "<script" not in found and "<img" not in found


def test_where_nothing_is_wrong_no_doctor_is_mentioned() -> None:
    assert "doctor" not in page(recording(says("user", "hi"), says("a", "there")))


def test_of_very_many_findings_the_worst_are_told_and_the_rest_counted() -> None:
    answers = [
        {"author": "a", "content": {"role": "user", "parts": [{"functionResponse": {"id": f"x{n}", "name": "f"}}]}}
        for n in range(90)
    ]
    given = recording(says("user", "hi"), *answers, says("a", "there"))
    found = page(given)
    told = found.count("<li><b class=")
    assert told == min(40, len(given.findings()))
    assert (f"{len(given.findings()) - told} more" in found) is (told < len(given.findings()))
