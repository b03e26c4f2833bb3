"""The check of lesson 13: speech that came in pieces, joined as the contents processor joins it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from google.genai import types

from adknb.course.checks.trying import verdict, want
from adknb.engine.event import Event


def heard(text: str, said: str | None = None) -> Event:
    """An event with what the user was heard to say, and perhaps a text of the user's own."""
    content = None if said is None else types.Content(role="user", parts=[types.Part(text=said)])
    return Event(author="desk", content=content, input_transcription=types.Transcription(text=text))


def spoken(text: str) -> Event:
    """An event with what the model said."""
    return Event(author="desk", output_transcription=types.Transcription(text=text))


def both(text: str, answer: str) -> Event:
    """An event with both."""
    event = heard(text)
    event.output_transcription = types.Transcription(text=answer)
    return event


def done() -> Event:
    """The end of a turn: an event with nothing to send."""
    return Event(author="desk", turn_complete=True)


CASES: dict[str, tuple[list[Event], list[tuple[str, str]]]] = {
    "two pieces of one sentence": ([heard("Where is "), heard("Emma?")], [("user", "Where is Emma?")]),
    "a question and its answer, in pieces": (
        [heard("a "), heard("b"), spoken("x"), spoken("y"), done()],
        [("user", "a b"), ("model", "xy")],
    ),
    "a pause of the speaker: something else comes between": (
        [heard("a"), spoken("x"), heard("b")],
        [("user", "a"), ("model", "x"), ("user", "b")],
    ),
    "an event that says both": ([both("a", "x")], [("user", "a")]),
    "a text in the middle, which has a transcription too": (
        [heard("a"), heard("t", said="T"), heard("c")],
        [("user", "T"), ("user", "ac")],
    ),
    "the same, and nothing after it: a word is lost": ([heard("a"), heard("t", said="T")], [("user", "T")]),
    "silence": ([done(), done()], []),
}
"""What is heard and said, event by event, and the contents (role, text) that come of it (spec/request.md, R5.14)."""


@verdict
def check_speech(join: Callable[[Sequence[Event]], Any]) -> str:
    """13: a list of events becomes a list of (role, text), by the rule of the contents processor.

    An event with a content gives its role and text. One without: its input transcription, else its output
    transcription, is added to what waits of its kind, and goes out unless the next event has one of that kind.
    """
    for case, (events, expected) in CASES.items():
        got = [(role, text) for role, text in join(list(events))]
        want(got == expected, f"{case}: expected {expected}, got {got}")
    return f"{len(CASES)} conversations, the one that loses a word among them."
