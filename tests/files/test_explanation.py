"""The explanation of a rebuilt request, as text and as HTML."""

import re
from typing import Any

import pytest

from adknb.files import Recording
from adknb.files.explain import LEGEND, reason_text
from adknb.files.full import wrapped
from adknb.files.reading import session_of
from adknb.lens.words import cells

Json = dict[str, Any]


def event(author: str, *parts: Json, **fields: Any) -> Json:
    answer = any("functionResponse" in part for part in parts)
    role = "user" if author == "user" or answer else "model"
    return {"author": author, "content": {"role": role, "parts": list(parts)}, **fields}


def text(said: str) -> Json:
    return {"text": said}


def call(name: str, **args: Any) -> Json:
    return {"functionCall": {"name": name, "args": args}}


def answer(name: str, **result: Any) -> Json:
    return {"functionResponse": {"name": name, "response": result}}


def recording(*events: Json) -> Recording:
    return Recording(session_of({"events": list(events)}, "parcel.session.json"))


PARCEL = recording(
    event("user", text("Where is my parcel?")),
    event("shop", call("track", order="O-88")),
    event("shop", answer("track", where="Lyon")),
    event("shop", text("On its way.")),
    {"author": "shop", "actions": {"stateDelta": {"seen": 1}}},
    {"author": "shop", "actions": {"stateDelta": {"seen": 2}}},
    event("user", text("And my cart?")),
    event("shop", call("cart")),
    event("shop", answer("cart", items=["spade"])),
    event("model", text("One spade.")),
    event("user", text("When does it come?")),
    event("shop", text("Your parcel: one spade.")),
)


def test_the_explanation_says_what_was_asked_what_is_missing_and_what_is_unknown() -> None:
    """The reasons' wording is the engine's; where they stand is checked here."""
    rebuilt = PARCEL.request_before(11)
    shown = rebuilt.text()
    for fate in rebuilt.fates:
        reason = reason_text(fate.reasons[0])
        folded = " ".join(shown.split())
        if fate.kind != "kept":
            assert reason in folded
    assert outline(shown) == EXPECTED


def outline(shown: str) -> str:
    """The text with each reason, which may take several lines, as `…`."""
    lines: list[str] = []
    for line in shown.splitlines():
        if line.startswith("      ") and re.match(r" {6}[a-z]", line):
            kind, colon, _ = line.partition(": ")
            if colon:
                lines.append(f"{kind}: …")
        else:
            lines.append(line)
    return "\n".join(lines)


EXPECTED = """\
What shop was given before it wrote event 11
parcel.session.json (the file has events 0–11), turn 3, step 1 of shop

event 11, shop:
  Your parcel: one spade.

THE CONTENTS OF THE REQUEST: 9, from 11 events (3 not in it, 2 changed)
  content  event  role   text
        0      0  user   Where is my parcel?
        1      1  model  call track(order="O-88")
        2      8  user   answer cart → {"items":["spade"]}
        3      3  model  On its way.
        4      6  user   And my cart?
        5      7  model  call cart()
        6      8  user   answer cart → {"items":["spade"]}
        7      9  user   For context:
                         [model] said: One spade.
        8     10  user   When does it come?

NOT IN IT
  event 2  answer track → {"where":"Lyon"}
      left out: …
  events 4, 5: only state (seen)
      left out: …

IN IT, BUT NOT AS IT WAS STORED
  event 8  answer cart → {"items":["spade"]}
      moved, contents 2, 6: …
  event 9  model: One spade.
      reworded, content 7: …

IN IT AS STORED
  events 0, 1, 3, 6, 7, 10

WHAT THE FILE CANNOT TELL
  · Whether the calls in events 1, 7 had ids when this ran: the file has none. As it stands, calls
    without an id all show the last answer without an id (R5.25); with ids each shows its own.
  · include_contents of shop: taken as unset, so it sees the whole history; with `none` it sees the
    current turn only.
  · The system instruction, the tools and the settings of shop, and what callbacks or plugins
    changed on the way to the model: the file holds no agent definition.

R5.x: the deciding rule of assembly; adknb/engine/processors/contents lists them."""


LONG = recording(
    event("user", text("long " * 200)),
    event("root", text("你好，今天天气怎么样？" * 20), branch="team"),
    *(event("other", text(f"number {i}"), branch="elsewhere") for i in range(40)),
    event("root", *[text(f"part {i}") for i in range(9)]),
    event("root", call("f", **{"x" * 90: "y" * 90}), text("why " * 40)),
    event("user", {"functionResponse": {"name": "f", "response": None}}),
    event("root", {"inlineData": {"mimeType": "image/png", "data": "aGVsbG8="}}, {"thought": True, "text": "hm"}),
    event("root", text("bye"), branch="team"),
)


@pytest.mark.parametrize("width", [60, 80, 100, 140])
@pytest.mark.parametrize("at", range(0, 47, 5))
def test_no_line_is_wider_than_asked_for(width: int, at: int) -> None:
    for line in LONG.request_before(at, "root").text(width).splitlines():
        assert cells(line) <= width, line
        assert line == line.rstrip()


def test_many_events_of_one_fate_are_folded_and_counted() -> None:
    shown = LONG.request_before(46).text()
    assert "event 2   other: number 0" in shown
    assert "… and 30 more: events 6–35" in shown
    assert "number 20" not in shown


def test_many_contents_are_folded_in_the_middle_and_the_last_ones_shown() -> None:
    events = [event("user" if i % 2 == 0 else "desk", text(f"say {i}")) for i in range(300)]
    shown = recording(*events).request_before(299).text()
    assert "contents 10–248 not shown" in shown
    assert "say 9\n" in shown
    assert "say 298\n" in shown
    assert "say 120\n" not in shown
    assert "IN IT AS STORED\n  events 0–298" in shown


EVIL = '<script>alert(1)</script>\x1b[31m\u202e\x00 & "quoted" it\'s'


def evil(said: str) -> Recording:
    return recording(
        event("user", text(said), branch="b<i>"),
        event("a<b>", call(said, **{said: said})),
        {"author": "desk", "actions": {"stateDelta": {said: 1}, "transferToAgent": said}},
        event("desk", text(said)),
    )


@pytest.mark.parametrize("at", range(4))
def test_nothing_from_a_file_is_obeyed_by_a_terminal_or_a_page(at: int) -> None:
    tape = evil(EVIL)
    rebuilt = tape.request_before(at)
    for shown in (rebuilt.text(), repr(rebuilt), repr(tape), str(rebuilt)):
        assert not {"\x1b", "\u202e", "\x00"} & set(shown)
    for html in (rebuilt._repr_html_(), tape._repr_html_()):
        assert "<script" not in html
        assert "<i>" not in html
        assert "<b>" not in html.replace("<p><b>", "")
        assert not {"\x1b", "\u202e", "\x00"} & set(html)


def test_html_is_the_same_every_time_and_loads_nothing() -> None:
    once, again = PARCEL.request_before(11)._repr_html_(), PARCEL.request_before(11)._repr_html_()
    assert once == again
    assert "http" not in once
    assert "src=" not in once
    assert "One spade." in once
    assert "<td" in PARCEL._repr_html_()


def test_the_one_liners_are_stable() -> None:
    assert repr(PARCEL) == "Recording(parcel.session.json: 12 events in 3 turns; agents: shop, model)"
    assert repr(PARCEL.request_before(11)) == (
        "Rebuilt(shop at event 11, 9 contents from 11 events: 6 kept, 3 left out, 1 moved, 1 reworded)"
    )


WEIRD = {"weird": {"x": 1}}


@pytest.mark.parametrize(
    "parts, why, listed",
    [
        (
            [WEIRD],
            "event 1 holds a part of a kind adknb does not know (`weird`): it was not read, and the real request may "
            "have had it (R5.29)",
            "(a part of a kind adknb does not know (`weird`))",
        ),
        (
            [text("seen"), WEIRD, {"odd": 1}],
            "event 1 holds 2 parts of kinds adknb does not know (`weird`, `odd`): they were not read, and the real "
            "request may have had them (R5.28)",
            "seen",
        ),
    ],
)
def test_a_part_of_an_unknown_kind_is_not_called_empty(parts: list[Json], why: str, listed: str) -> None:
    tape = recording(event("user", text("hi")), event("desk", *parts), event("user", text("so?")), event("desk", WEIRD))
    rebuilt = tape.request_before(2, "desk")
    folded = " ".join(rebuilt.text().split())
    assert why in folded
    assert listed in folded
    assert "all of them empty" not in folded
    assert rebuilt.unknown[0].startswith("All that event 1 says: it holds ")
    assert "the real request may have had" in rebuilt.unknown[0]
    assert "event 1 holds" in rebuilt._repr_html_()


def test_a_part_that_was_read_and_a_part_that_is_empty_are_not_called_unknown() -> None:
    more = {**text("seen"), "newer": 1}
    tape = recording(event("user", text("hi")), event("desk", more), event("desk", {}, **{"content/parts/a/b": 1}))
    rebuilt = tape.request_before(2)
    assert "does not know" not in rebuilt.text()
    assert "no part of it is set" in rebuilt.text()


def test_reasons_are_in_plain_words_and_the_rules_explained_once() -> None:
    silent = {"author": "desk", "actions": {"stateDelta": {"a": 1}}}
    tape = recording(event("user", text("hi")), silent, event("", text("who?")), event("desk", text("you")))
    shown = tape.request_before(3).text()
    assert "left out: it has no content (R5.5)\n" in shown
    assert "an event without author counts as another agent's: what it said" in shown
    assert "'' is another agent" not in shown
    assert shown.endswith(f"\n\n{LEGEND}")
    assert "R5" not in recording(event("user", text("hi")), event("desk", text("yes"))).request_before(1).text()


LAYOUT = "a list:\n  - one\n\n  - \x1b[31mtwo" + " and more" * 30


def test_in_full_nothing_is_cut_and_lines_stay_lines() -> None:
    args = {"where": "far " * 60 + "away"}
    tape = recording(
        event("user", text(LAYOUT)),
        event("desk", text("first"), call("look", **args)),
        event("desk", answer("look", found="y" * 300)),
        *(event("user", text(f"say {i}")) for i in range(90)),
        event("desk", text("long " * 200 + "end")),
    )
    rebuilt = tape.request_before(93)
    shown = rebuilt.text(80, full=True)
    assert "  content 0, event 0, user:\n      a list:\n        - one\n\n        - \\x1b[31mtwo and" in shown
    assert "\n      – first\n      – call look(" in shown
    assert f'call look(where="{args["where"]}")' in " ".join(shown.split())
    assert "y" * 300 in "".join(shown.split())
    assert "say 45\n" in shown
    assert "long end" in shown
    assert "…" not in shown
    assert "…" in rebuilt.text(80)


@pytest.mark.parametrize("width", [60, 100])
@pytest.mark.parametrize("at", range(0, 47, 5))
def test_in_full_no_line_is_wider_than_asked_for(width: int, at: int) -> None:
    for line in LONG.request_before(at, "root").text(width, full=True).splitlines():
        assert cells(line) <= width, line
        assert line == line.rstrip()


@pytest.mark.parametrize(
    "given, width, lines",
    [
        ("", 9, [""]),
        ("a\r\nb", 9, ["a", "b"]),
        ("  one two three", 9, ["  one two", "three"]),
        ("one      two", 5, ["one", "two"]),
        ("abcdefgh ij", 5, ["abcde", "fgh", "ij"]),
        ("天气很好", 5, ["天气", "很好"]),
        ("a\tb\x00", 9, ["a\\tb\\x00"]),
        ("  abcdefgh", 5, ["  abc", "defgh"]),
    ],
)
def test_a_text_is_broken_and_nothing_lost(given: str, width: int, lines: list[str]) -> None:
    assert wrapped(given, width) == lines
