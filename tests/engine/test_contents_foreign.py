"""Other agents' events are told as context (R5.9 to R5.12; seed 000, 四.2.4)."""

import pytest
from google.genai import types

from adknb.engine.event import Event
from tests.engine.histories import call, event, fates, lines, me, other, parts_of, response, seen, spoken, user

PICTURE = types.Part(inline_data=types.Blob(data=b"x", mime_type="image/png"))


@pytest.mark.parametrize(
    "part, told",
    [
        ("hello", "[other] said: hello"),
        (types.Part(text="hm", thought=True), "[other] said: hm"),  # a thought becomes plain text
        (types.Part(text="hm", thought_signature=b"s"), "[other] said: hm"),
        (types.Part(text="both", function_call=types.FunctionCall(name="t")), "[other] said: both"),  # the call is lost
        (call("a", "look", b=1, a="<x>"), '[other] called tool `look` with parameters: {"a":"\\u003cx\\u003e","b":1}'),
        (call("a", "look"), "[other] called tool `look` with parameters: {}"),
        (types.Part(function_call=types.FunctionCall(name="t")), "[other] called tool `t` with parameters: null"),
        (types.Part(function_call=types.FunctionCall()), "[other] called tool `` with parameters: null"),
        (response("a", 2.0, "look"), '[other] `look` tool returned result: {"r":2}'),
        (types.Part(function_response=types.FunctionResponse(name="t")), "[other] `t` tool returned result: null"),
        (response("a", float("nan")), "[other] `tool` tool returned result: "),  # Go drops what it cannot write
        (response("a", {1}), "[other] `tool` tool returned result: "),
        (PICTURE, "inline_data"),
        (types.Part(thought=True), "thought"),
    ],
)
def test_each_part_is_told_in_words_or_passed_on(part: types.Part | str, told: str) -> None:
    assert lines(seen([other(part)]).contents) == [f"user: <context> | {told}"]


@pytest.mark.parametrize(
    "author, line, fate",
    [
        ("me", "model: t", "kept 0"),
        ("user", "model: t", "kept 0"),  # whatever its content
        ("other", "user: <context> | [other] said: t", "reworded 0 R5.10"),
        ("Me", "user: <context> | [Me] said: t", "reworded 0 R5.10"),  # names are compared as they are
        ("User", "user: <context> | [User] said: t", "reworded 0 R5.10"),
        ("", "user: <context> | [] said: t", "reworded 0 R5.10"),
    ],
)
def test_whoever_is_neither_this_agent_nor_the_user_is_foreign(author: str, line: str, fate: str) -> None:
    assembly = seen([event(author, "t", role="model"), user("end")])
    assert lines(assembly.contents)[0] == line
    assert fates(assembly)[0] == fate


def test_an_empty_foreign_event_leaves_the_label_alone() -> None:
    assert lines(seen([other("", types.Part())]).contents) == ["user: <context>"]


def test_a_converted_call_is_no_call_any_more() -> None:
    assembly = seen([other(call("a")), me(response("a")), user("end")])
    assert lines(assembly.contents) == ["user: <context> | [other] called tool `tool` with parameters: {}", "user: end"]
    assert fates(assembly) == ["reworded 0 R5.10", "left_out R5.26", "kept 1"]
    assert "event 0 makes it, out of sight" in assembly.fates[1].reasons[0].why


def test_a_converted_event_has_no_transcription_and_a_foreign_transcription_no_label() -> None:
    both = other("text", output_transcription=types.Transcription(text="lost"))
    assert lines(seen([spoken("mine "), both, spoken("theirs", author="other"), user("end")]).contents) == [
        "model: mine ",
        "user: <context> | [other] said: text",
        "model: theirs",
        "user: end",
    ]


def test_the_parts_passed_on_are_copies_too() -> None:
    history: list[Event] = [other(PICTURE)]
    sent = parts_of(seen(history).contents[0])[1]
    assert sent == PICTURE
    assert sent is not PICTURE
    assert sent.inline_data is not PICTURE.inline_data
