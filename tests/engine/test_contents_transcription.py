"""Speech becomes text (R5.14; seed 000, 四.2.5)."""

import pytest
from google.genai import types

from adknb.engine.event import Event
from tests.engine.histories import call, event, fates, heard, lines, me, response, seen, spoken, user

IN_T = types.Transcription(text="t")
END = "user: end"


@pytest.mark.parametrize(
    "history, sent, became",
    [
        ([heard("a")], ["user: a"], ["reworded 0 R5.14"]),
        ([spoken("x")], ["model: x"], ["reworded 0 R5.14"]),
        (
            [heard("a "), heard("b"), spoken("x"), spoken("y")],
            ["user: a b", "model: xy"],
            ["merged 0 R5.14", "merged 0 R5.14", "merged 1 R5.14", "merged 1 R5.14"],
        ),
        (  # in and out take turns: nothing is joined
            [heard("a"), spoken("x"), heard("b"), spoken("y")],
            ["user: a", "model: x", "user: b", "model: y"],
            ["reworded 0 R5.14", "reworded 1 R5.14", "reworded 2 R5.14", "reworded 3 R5.14"],
        ),
        (  # the next event has parts as well as a transcription: the waiting text jumps over it
            [heard("a"), user("T", input_transcription=IN_T), heard("c")],
            ["user: T", "user: ac"],
            ["merged 1 R5.14", "kept 0", "merged 1 R5.14"],
        ),
        (  # ... or is lost
            [heard("a"), user("T", input_transcription=IN_T)],
            ["user: T"],
            ["left_out R5.14", "kept 0"],
        ),
        (  # an empty text waits for nobody and is nothing
            [heard("a"), heard(""), heard("b")],
            ["user: a", "user: b"],
            ["reworded 0 R5.14", "left_out R5.29", "reworded 1 R5.14"],
        ),
        ([heard("a", author="x"), heard("b", author="y")], ["user: ab"], ["merged 0 R5.14", "merged 0 R5.14"]),
    ],
)
def test_pieces_of_one_kind_are_joined_while_they_follow_each_other(
    history: list[Event], sent: list[str], became: list[str]
) -> None:
    assembly = seen([*history, user("end")])
    assert lines(assembly.contents) == [*sent, END]
    assert fates(assembly)[:-1] == became


def test_of_two_transcriptions_only_the_input_counts() -> None:
    both = Event(author="me", input_transcription=IN_T, output_transcription=types.Transcription(text="lost"))
    assembly = seen([both])
    assert lines(assembly.contents) == ["user: t"]
    assert "only the input counts" in assembly.fates[0].reasons[1].why


def test_an_event_with_parts_an_empty_role_and_a_transcription_is_sent_with_the_empty_role() -> None:
    assert lines(seen([event("me", "t", role="", input_transcription=IN_T), user("end")]).contents) == [": t", END]


def test_transcribed_text_between_a_call_and_its_late_response_is_dropped_for_all_its_pieces() -> None:
    assembly = seen([me(call("a")), heard("x"), heard("y"), user(response("a"))])
    assert lines(assembly.contents) == ["model: call a", "user: a=ok"]
    assert fates(assembly) == ["kept 0", "left_out R5.19", "left_out R5.19", "kept 1"]
