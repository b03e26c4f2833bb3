"""Front filters: what a screen shows of a sequence of events, and what the forms of seed 003 make of the same."""

from __future__ import annotations

import json
from typing import Any

import pytest
from google.genai import types
from hypothesis import given, settings
from hypothesis import strategies as st

from adknb import Event, FunctionTool, LlmAgent, ParallelAgent, Runner, ScriptedModel, SequentialAgent
from adknb.engine.context import RunConfig
from adknb.front import OneDocument, XmlAssembler, one_flag, only_author, shown, sse, through, without_duplicate_final
from adknb.scenarios import DRAW, drawing_line, faulty_stream, safe_stream

CALL = types.Part(function_call=types.FunctionCall(id="c", name="look", args={}))
ANSWER = types.Part(function_response=types.FunctionResponse(id="c", name="look", response={"r": 1}))


def said(author: str, *parts: Any, partial: bool = False, turn: str = "e-1", **fields: Any) -> Event:
    made = [types.Part(text=p) if isinstance(p, str) else p for p in parts]
    role = "user" if author == "user" or ANSWER in made else "model"
    return Event(
        author=author, invocation_id=turn, partial=partial, content=types.Content(role=role, parts=made), **fields
    )


def chunk(author: str, *parts: Any, **fields: Any) -> Event:
    return said(author, *parts, partial=True, **fields)


def thought(text: str) -> types.Part:
    return types.Part(text=text, thought=True)


def short(events: Any) -> list[str]:
    """Each event as `author~ text`: `~` for a chunk, `(…)` for a thought, `!` for a call, `?` for its answer."""
    out = []
    for event in events:
        parts = []
        for part in event.content.parts if event.content is not None else []:
            if part.function_call is not None:
                parts.append("!")
            elif part.function_response is not None:
                parts.append("?")
            else:
                parts.append(f"({part.text})" if part.thought else part.text or "''")
        out.append(f"{event.author}{'~' if event.partial else ''} {' '.join(parts)}{event.error_code}".rstrip())
    return out


# ----------------------------------------------------------------------------------------------- the answer said twice

DUPLICATES: list[tuple[str, list[Event], list[str], list[str] | None]] = [
    # what, events, ours, seed 003's (None: the same)
    ("chunks, then the whole",
     [chunk("a", "a c"), chunk("a", "at"), said("a", "a cat")], ["a~ a c", "a~ at"], None),
    ("two agents in a row, the second in one piece",
     [chunk("a", "A"), said("a", "A"), said("b", "B")], ["a~ A", "b B"], ["a~ A"]),
    ("two agents in a row, both in chunks",
     [chunk("a", "A"), said("a", "A"), chunk("b", "B"), said("b", "B")], ["a~ A", "b~ B"], None),
    ("a tool round in between, with text beside the call",
     [chunk("a", "Look: "), said("a", "Look: ", CALL), said("a", ANSWER), chunk("a", "one"), said("a", "one")],
     ["a~ Look:", "a !", "a ?", "a~ one"], ["a~ Look:", "a Look:  !", "a ?", "a~ one"]),
    ("a tool round, the answer behind it in one piece",
     [chunk("a", "Look: "), said("a", "Look: ", CALL), said("a", ANSWER), said("a", "one")],
     ["a~ Look:", "a !", "a ?", "a one"], ["a~ Look:", "a Look:  !", "a ?"]),
    ("a call shown in a chunk is not the call",
     [chunk("a", CALL), said("a", CALL), said("a", ANSWER)], ["a~ !", "a !", "a ?"], None),
    ("partials without a whole",
     [chunk("a", "A"), chunk("a", "B")], ["a~ A", "a~ B"], None),
    ("a stream that broke off, then the same agent in the next turn",
     [chunk("a", "A"), said("user", "again", turn="e-2"), chunk("a", "B", turn="e-2"), said("a", "B", turn="e-2")],
     ["a~ A", "user again", "a~ B"], ["a~ A", "a~ B"]),
    ("a stream that broke off, then the same agent in the same turn",
     [chunk("a", "A"), chunk("a", "B"), said("a", "B")], ["a~ A", "a~ B"], None),
    ("a whole without partials",
     [said("a", "A"), said("a", "B")], ["a A", "a B"], None),
    ("empty chunks",
     [chunk("a", ""), said("a", "A")], ["a~ ''", "a A"], ["a~ ''"]),
    ("the same agent twice, each time in chunks",
     [chunk("a", "A"), said("a", "A"), chunk("a", "A"), said("a", "A")], ["a~ A", "a~ A"], None),
    ("a whole that says more",
     [chunk("a", "Hel"), said("a", "Hello")], ["a~ Hel", "a lo"], ["a~ Hel"]),
    ("a whole that a callback has rewritten",
     [chunk("a", "secret"), said("a", "I may not say.")], ["a~ secret", "a I may not say."], ["a~ secret"]),
    ("thoughts and text",
     [chunk("a", thought("hm")), chunk("a", "A"), said("a", thought("hm"), "A")], ["a~ (hm)", "a~ A"], None),
    ("a thought that was not shown",
     [chunk("a", "A"), said("a", thought("hm"), "A")], ["a~ A", "a (hm)"], ["a~ A"]),
    ("text on both sides of a call",
     [chunk("a", "x"), chunk("a", "y"), said("a", "x", CALL, "y")], ["a~ x", "a~ y", "a !"], ["a~ x", "a~ y", "a x ! y"]),
    ("an error at the end",
     [chunk("a", "A"), Event(author="a", invocation_id="e-1", error_code="SAFETY")], ["a~ A", "a SAFETY"], ["a~ A"]),
    ("agents side by side",
     [chunk("a", "A", branch="p.a"), chunk("b", "B", branch="p.b"), said("b", "B", branch="p.b"), said("a", "A", branch="p.a")],
     ["a~ A", "b~ B"], None),
    ("one side by side with a whole answer",
     [chunk("a", "A", branch="p.a"), said("b", "B", branch="p.b"), said("a", "A", branch="p.a")], ["a~ A", "b B"], ["a~ A"]),
    ("events of state alone",
     [chunk("a", "A"), Event(author="b", invocation_id="e-1"), said("a", "A")], ["a~ A", "b"], ["a~ A"]),
    ("nothing", [], [], None),
]  # fmt: skip


@pytest.mark.parametrize("events, ours, theirs", [r[1:] for r in DUPLICATES], ids=[r[0] for r in DUPLICATES])
def test_what_was_shown_in_chunks_is_not_shown_again(
    events: list[Event], ours: list[str], theirs: list[str] | None
) -> None:
    before = [e.to_json() for e in events]
    assert short(without_duplicate_final(events)) == ours
    assert [e.to_json() for e in events] == before  # a filter writes to no event
    faulty = short(one_flag(events))
    if theirs is not None:
        assert faulty == theirs
    elif "user" not in str(ours):
        assert faulty == ours


def test_a_filter_is_as_quick_as_its_stream() -> None:
    """Each chunk is out before the next is asked for."""
    asked = []

    def stream() -> Any:
        for text in "abc":
            asked.append(text)
            yield chunk("a", text)
        yield said("a", "abc")

    for filtered in (without_duplicate_final, only_author("a"), sse):
        asked.clear()
        out = filtered(stream())
        next(out)
        assert asked == ["a"]


TEXTS = st.text(st.sampled_from("ab\n<"), max_size=6)


@st.composite
def runs(draw: st.DrawFn) -> tuple[list[Event], str]:
    """Answers of three agents, each in chunks or in one piece, with tool rounds; and all that a screen should hold."""
    events, screen = [], ""
    for _ in range(draw(st.integers(0, 5))):
        author = draw(st.sampled_from("abc"))
        pieces = draw(st.lists(TEXTS, max_size=4))
        whole, tool = "".join(pieces), draw(st.booleans())
        events += [chunk(author, piece) for piece in pieces]
        events.append(said(author, *([whole] if whole else []), *([CALL] if tool else [])))
        if tool:
            events.append(said(author, ANSWER))
        screen += whole
    return events, screen


@settings(max_examples=150, deadline=None)
@given(runs())
def test_every_word_is_on_the_screen_once(run: tuple[list[Event], str]) -> None:
    events, screen = run
    assert shown(without_duplicate_final(events)) == screen
    kept = [part for e in without_duplicate_final(events) for part in e.content.parts or []]
    assert kept.count(CALL) == sum(e.content.parts.count(CALL) for e in events)


# ----------------------------------------------------------------------------------------------------------- authors


def test_only_the_named_authors_pass() -> None:
    events = [
        said("user", "x"),
        said("analystAgent", "A"),
        chunk("drawAgent", "D"),
        said("drawAgent", "D"),
        said("reviewerAgent", "R"),
    ]
    assert short(only_author("drawAgent")(events)) == ["drawAgent~ D", "drawAgent D"]
    assert short(only_author("drawAgent", "reviewerAgent")(events)) == [
        "drawAgent~ D",
        "drawAgent D",
        "reviewerAgent R",
    ]
    assert short(only_author()(events)) == []


# --------------------------------------------------------------------------------------------------------------- XML

DOC = '<mxfile host="a>b"><diagram>登录</diagram></mxfile>'

XML: list[tuple[str, list[str], list[str], list[str] | None]] = [
    # what, chunks, ours, seed 003's (None: the same)
    ("text before and after", ["Sure. ", DOC, " So."], [DOC], [DOC, " So."]),
    ("the opening tag is split", ["Sure. <mx", "file><a/></mxfile>"], ["<mxfile><a/></mxfile>"], []),
    ("it grows", ["<mxfile>", "<a/>", "</mxfile>"], ["<mxfile>", "<a/>", "</mxfile>"], None),
    ("the end is split", ["<mxfile><a/></mx", "file> So."], ["<mxfile><a/></mx", "file>"], ["<mxfile><a/></mx", "file> So."]),
    ("several documents", ["<mxfile>1</mxfile> and <mxfile>2</mxfile>."], ["<mxfile>1</mxfile><mxfile>2</mxfile>"],
     ["<mxfile>1</mxfile> and <mxfile>2</mxfile>."]),
    ("no end", ["<mxfile>", "<a/> and so on"], ["<mxfile>", "<a/> and so on"], None),
    ("no beginning", ["No ", "diagram < 3 today"], [], None),
    ("almost a beginning", ["<mxf", "oo> <mx", " file>"], [], None),
    ("a beginning inside a beginning", ["<mx<mxf", "ile>1</mxfile>"], ["<mxfile>1</mxfile>"], []),
    ("an end that is none", ["<mxfile>1</mxfil", "es></mxfile>x"], ["<mxfile>1</mxfil", "es></mxfile>"], ["<mxfile>1</mxfil", "es></mxfile>x"]),
    ("an empty document", ['<mxfile a="/>"', "/> prose"], ['<mxfile a="/>"', "/>"], ['<mxfile a="/>"', "/> prose"]),
    ("empty chunks", ["", "<mxfile>", "", "</mxfile>"], ["<mxfile>", "</mxfile>"], None),
    ("letter by letter", list("x<mxfile>1</mxfile>y"), list("<mxfile>1</mxfile>"), []),
]  # fmt: skip


def fed(assembler: Any, chunks: list[str]) -> list[str]:
    """What is sent for each chunk, joined; chunks for which nothing is sent are left out."""
    return [piece for text in chunks if (piece := "".join(assembler.accept(text)))]


@pytest.mark.parametrize("chunks, ours, theirs", [r[1:] for r in XML], ids=[r[0] for r in XML])
def test_nothing_but_documents_passes_and_each_as_it_grows(
    chunks: list[str], ours: list[str], theirs: list[str] | None
) -> None:
    out = fed(XmlAssembler(), chunks)
    assert "".join(out) == "".join(ours)
    if not chunks[0].startswith("x"):
        assert out == ours
    faulty = fed(OneDocument(), chunks)
    assert "".join(faulty) == "".join(ours if theirs is None else theirs)


@settings(max_examples=200, deadline=None)
@given(
    st.lists(
        st.sampled_from(["prose ", "<", "<mx", "<b>", DOC, "<mxfile>1</mxfile>", "<mxfile/>", "</mxfile>"]), max_size=5
    ),
    st.data(),
)
def test_however_an_answer_is_cut_the_same_documents_pass(pieces: list[str], data: st.DataObject) -> None:
    text = "".join(pieces)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=8)))
    chunks = [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    assert (
        "".join(fed(XmlAssembler(), chunks))
        == "".join(XmlAssembler().accept(text))
        == "".join(fed(XmlAssembler(), list(text)))
    )


@settings(max_examples=100, deadline=None)
@given(st.text(st.sampled_from("<mxfile a/>")), st.data())
def test_without_xml_only_an_answer_without_a_document_passes_whole(text: str, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(text)))
    xml = XmlAssembler(xml_only=False)
    out = [*xml.accept(text[:at]), *xml.accept(text[at:]), *xml.close()]
    if "<mxfile" not in text:
        assert "".join(out) == text


def test_what_was_sent_for_a_chunk_is_sent_at_once() -> None:
    """The XML grows on the screen: inside a document nothing is held back."""
    xml = XmlAssembler()
    for text in ["Hi <mxfile", ">", "<a/>", "</", "mxfi", "le>", "bye"]:
        sent = "".join(xml.accept(text))
        assert sent == {"Hi <mxfile": "<mxfile", "bye": ""}.get(text, text)


def test_other_tags_may_be_asked_for() -> None:
    assert XmlAssembler("svg").accept("a <svg>1</svg> b <mxfile>2</mxfile>") == ["<svg", ">", "1</svg>"]


def test_events_without_text_and_parts_that_are_none_pass() -> None:
    events = [said("a", "Look: ", CALL), said("a", ANSWER), chunk("a", "<mx"), said("a", "<mxfile/>")]
    assert short(XmlAssembler()(events)) == ["a !", "a ?", "a <mxfile/>"]


def test_each_answer_has_its_own_assembler() -> None:
    """A marker is not put together from two answers, and agents side by side do not disturb each other."""
    two = [chunk("a", "x <mx"), said("b", "file>1</mxfile>")]
    assert short(XmlAssembler()(two)) == []
    mixed = [
        chunk("a", "<mxfile>1", branch="p.a"),
        chunk("b", "<mx", branch="p.b"),
        chunk("a", "2</mxfile>!", branch="p.a"),
        chunk("b", "file/>", branch="p.b"),
    ]
    assert short(XmlAssembler()(mixed)) == ["a~ <mxfile>1", "a~ 2</mxfile>", "b~ <mxfile/>"]


def test_text_that_might_have_been_a_tag_comes_when_its_answer_is_over() -> None:
    events = [chunk("a", "x <mx"), said("b", "y")]
    assert short(XmlAssembler(xml_only=False)(events)) == ["a~ x", "b y", "a~ <mx"]


# --------------------------------------------------------------------------------------------------------------- SSE


def test_an_event_is_one_line_of_data_and_an_empty_line() -> None:
    event = said("a", "two\nlines \u2028 登录", id="7")
    [frame] = sse([event])
    assert frame.startswith("data: {") and frame.endswith("}\n\n")
    assert frame.count("\n") == 2
    assert json.loads(frame.removeprefix("data: ")) == event.to_json()


def test_half_a_character_can_be_sent() -> None:
    [frame] = sse(
        [
            Event(
                author="a",
                content=types.Content.model_construct(role="model", parts=[types.Part.model_construct(text="x\ud83d")]),
            )
        ]
    )
    frame.encode("utf-8")


def test_an_error_of_the_run_is_raised_when_it_comes() -> None:
    def stream() -> Any:
        yield said("a", "A")
        raise RuntimeError("down")

    frames = sse(stream())
    assert next(frames).startswith("data: ")
    with pytest.raises(RuntimeError, match="down"):
        next(frames)


# ---------------------------------------------------------------------------------------------------------- together


def line(adapter: Any) -> list[Event]:
    return list(Runner(drawing_line(adapter)).run(DRAW, run_config=RunConfig("sse")))


def test_the_drawing_line_shows_one_diagram() -> None:
    """Seed 003: author, then duplicates, then XML."""
    filters = only_author("drawAgent"), without_duplicate_final, XmlAssembler()
    assert shown(through(line(safe_stream), *filters)) == "<mxfile><diagram>登录</diagram></mxfile>"
    assert (
        shown(through(line(faulty_stream), *filters)) == ""
    )  # each chunk is an answer of its own, and none has the marker
    assert shown(line(safe_stream)).count("# 需求") == 2
    assert shown(through(line(safe_stream), without_duplicate_final)).count("# 需求") == 1


def test_the_worked_example_of_the_spec() -> None:
    """streaming.md §15.13."""
    rows = [
        chunk("planner", "a c"), chunk("planner", "at"), said("planner", "a cat"),
        chunk("painter", "Ok <mxf"), chunk("painter", "ile></mxfile>"), said("painter", "Ok <mxfile></mxfile>"),
    ]  # fmt: skip
    assert short(without_duplicate_final(rows)) == [
        "planner~ a c",
        "planner~ at",
        "painter~ Ok <mxf",
        "painter~ ile></mxfile>",
    ]
    assert short(through(rows, without_duplicate_final, XmlAssembler())) == ["painter~ <mxfile></mxfile>"]
    assert short(through(rows, only_author("painter"), without_duplicate_final)) == [
        "painter~ Ok <mxf",
        "painter~ ile></mxfile>",
    ]


def test_a_run_with_agents_side_by_side_and_a_tool_is_shown_once() -> None:
    def look() -> str:
        """Looks."""
        return "seen"

    calls = types.Content(
        role="model",
        parts=[types.Part(text="Let me look. "), types.Part(function_call=types.FunctionCall(name="look", args={}))],
    )
    a = LlmAgent("a", model=safe_stream(ScriptedModel([[calls], ["A ", "is ", "done. "]])), tools=[FunctionTool(look)])
    b = LlmAgent("b", model=safe_stream(ScriptedModel([["B ", "too. "]])))
    c = LlmAgent("c", model=ScriptedModel(["The end."]))
    agents = SequentialAgent("s", sub_agents=[ParallelAgent("p", sub_agents=[a, b]), c])
    events = list(Runner(agents).run("go", run_config=RunConfig("sse")))
    by_author = {name: shown(only_author(name)(without_duplicate_final(events))) for name in "abc"}
    assert by_author == {"a": "Let me look. A is done. ", "b": "B too. ", "c": "The end."}
