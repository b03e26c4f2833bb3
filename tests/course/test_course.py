"""`says`, `calls` and `answers` look into anything on the screen."""

from __future__ import annotations

import pytest
from google.genai import types

import adknb
from adknb import Event, at, event
from adknb.course import answers, calls, says
from adknb.engine.event import EventActions, EventCompaction
from adknb.engine.model import LLMRequest
from adknb.engine.response import LLMResponse


def content(*parts, role="model"):
    return types.Content(role=role, parts=[types.Part(**p) for p in parts])


CALL = {"function_call": {"id": "order-1", "name": "order", "args": {"item": "gauze", "boxes": 40}}}
ANSWER = {"function_response": {"id": "order-1", "name": "order", "response": {"day": "Friday"}}}
SPOKEN = Event(
    author="clerk", id="e1", invocation_id="inv-7", timestamp=1234.0, content=content({"text": "Ordered."}, CALL)
)
REQUEST = LLMRequest(
    model="m",
    contents=[content({"text": "Order!"}, role="user"), content(CALL), content(ANSWER, role="user")],
    config=types.GenerateContentConfig(system_instruction="Be brief.", temperature=0.2),
    tools={"order": object()},
)
PICTURE = content(
    {"inline_data": {"data": b"Piranesi", "mime_type": "image/png"}}, {"text": "see", "thought_signature": b"x"}
)
SUMMARY = Event(actions=EventActions(compaction=EventCompaction(1234.0, 5.0, content({"text": "In short"}))))

SAID = [
    ("a text", "the gauze", "gauze", True),
    ("a number", {"boxes": 40}, "40", True),
    ("true is no text", {"done": True}, "rue", False),
    ("a key is no text", {"boxes": 40}, "boxes", False),
    ("nested data", {"a": [{"b": ("x", {"gauze"})}]}, "gauze", True),
    ("two names that look alike", {"dayOne": "Mon", "day_one": "Tue"}, "Mon", True),
    ("data that looks like a person", {"author": "Clarke", "title": "Piranesi"}, "Clarke", True),
    ("an event", SPOKEN, "Ordered", True),
    ("an event's argument", SPOKEN, "gauze", True),
    ("its author", SPOKEN, "clerk", False),
    ("its time", SPOKEN, "1234", False),
    ("its run", SPOKEN, "inv-7", False),
    ("JSON of an event", SPOKEN.to_json(), "Ordered", True),
    ("its author", SPOKEN.to_json(), "clerk", False),
    ("its time", SPOKEN.to_json(), "1234", False),
    ("a state write", Event(author="a", actions=EventActions(state_delta={"k": "R-31"})), "R-31", True),
    ("a summary", SUMMARY, "In short", True),
    ("a summary's time", SUMMARY, "1234", False),
    ("JSON of a summary", SUMMARY.to_json(), "In short", True),
    ("its time", SUMMARY.to_json(), "1234", False),
    ("a response", LLMResponse(content=content({"text": "hi"}), model_version="m-2"), "hi", True),
    ("its model", LLMResponse(content=content({"text": "hi"}), model_version="m-2"), "m-2", False),
    ("an error", LLMResponse(error_code="429", error_message="too many"), "too many", True),
    ("a request's contents", REQUEST, "Friday", True),
    ("its instruction", REQUEST, "Be brief", True),
    ("its tools", REQUEST, "order", True),
    ("a role", REQUEST, "user", False),
    ("a role in a content", [content({"text": "x"}, role="user")], "user", False),
    ("bytes", PICTURE, "Piranesi", False),
    ("bytes in JSON", PICTURE.model_dump(mode="json", by_alias=True), "UGlyYW5lc2k", False),
    ("nothing", None, "", False),
]  # fmt: skip


@pytest.mark.parametrize(
    "x, text, said", [row[1:] for row in SAID], ids=[f"{row[0]}-{i}" for i, row in enumerate(SAID)]
)
def test_says(x, text, said):
    assert says(x, text) is said


@pytest.mark.parametrize(
    "x, called, answered",
    [
        (REQUEST, ["order-1"], ["order-1"]),
        (SPOKEN, ["order-1"], []),
        (SPOKEN.to_json(), ["order-1"], []),
        ([SPOKEN, SPOKEN], ["order-1", "order-1"], []),
        (content(ANSWER), [], ["order-1"]),
        (content({"function_call": {"name": "look"}}), [""], []),
        ({"parts": [{"functionCall": {"name": "look"}}]}, [""], []),
        ({"parts": [{"function_response": {"id": "7", "response": {}}}]}, [], ["7"]),
        (content({"function_call": {"id": "1", "args": {"functionCall": {"id": "inner"}}}}), ["1"], []),
        ({"function_call": "a text"}, [], []),
        ([], [], []),
        (None, [], []),
    ],
)
def test_calls_and_answers_come_in_order(x, called, answered):
    assert (calls(x), answers(x)) == (called, answered)


def test_a_run_says_what_its_events_its_state_and_its_request_say():
    dbg = adknb.step(adknb.scenario("04a-the-late-answer")).until(at("contents", turn=3))
    assert says(dbg, "how much gauze") and not says(dbg.request, "how much gauze")
    assert calls(dbg) == calls(dbg.events) == calls(dbg.session) == ["order-1", "count-1"]
    assert answers(dbg) == ["order-1", "count-1", "order-1"]
    assert says(dbg.here, "Friday") and says(dbg.request_now, "Friday") and says(dbg.requests[1:], "T-7")


def test_a_request_says_the_same_as_its_json():
    dbg = adknb.step(adknb.scenario("02-who-wrote-the-request")).until("model")
    for text in ("Piranesi", "reading_room", "No food", "find_book", "scripted", "user", "systemInstruction", "0.2"):
        assert says(dbg.request, text) is says(dbg.request_now, text)
    dbg.until(event(call="find_book"))
    assert calls(dbg.event) == calls(dbg.event.to_json()) == ["find-1"]
