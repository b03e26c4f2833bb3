"""Session files of every published shape, and what is said about files that are none."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adknb.engine.errors import BadData
from adknb.engine.event import parts_of
from adknb.files import Recording
from adknb.files.listing import listing
from adknb.files.reading import read_session, session_of
from adknb.json_text import parse


def said(author: str, text: str, **fields: Any) -> dict[str, Any]:
    role = "user" if author == "user" else "model"
    return {"author": author, "content": {"role": role, "parts": [{"text": text}]}, **fields}


def texts(session: Any) -> list[str]:
    return ["".join(p.text or "" for p in parts_of(e.content)) for e in session.events]


HI, HELLO = said("user", "hi"), said("desk", "hello")

SNAKE = {
    "id": "s1",
    "app_name": "shop",
    "user_id": "ann",
    "state": {"cart": []},
    "events": [
        {**HI, "invocation_id": "i1", "timestamp": 1.5},
        {
            **HELLO,
            "invocation_id": "i1",
            "actions": {"state_delta": {"cart": [1]}, "transfer_to_agent": "cashier"},
            "long_running_tool_ids": ["c1"],
            "timestamp": "1970-01-01T00:00:02Z",
        },
    ],
    "last_update_time": 2.0,
}

CAMEL = {
    "id": "s1",
    "appName": "shop",
    "userId": "ann",
    "state": {"cart": []},
    "events": [
        {**HI, "invocationId": "i1", "timestamp": 1.5},
        {
            **HELLO,
            "invocationId": "i1",
            "actions": {"stateDelta": {"cart": [1]}, "transferToAgent": "cashier"},
            "longRunningToolIds": ["c1"],
            "timestamp": 2,
        },
    ],
    "lastUpdateTime": 2,
}

UNTAGGED_GO = {
    "ID": "s1",
    "AppName": "shop",
    "UserID": "ann",
    "State": {"cart": []},
    "Events": [
        {
            "Author": "user",
            "Content": HI["content"],
            "InvocationID": "i1",
            "Timestamp": "1970-01-01T00:00:01.500000001Z",
        },
        {
            "Author": "desk",
            "Content": HELLO["content"],
            "InvocationID": "i1",
            "Actions": {"StateDelta": {"cart": [1]}, "TransferToAgent": "cashier"},
            "LongRunningToolIDs": ["c1"],
            "Timestamp": "1970-01-01T00:00:02Z",
        },
    ],
    "LastUpdateTime": "1970-01-01T00:00:02Z",
}


@pytest.mark.parametrize("document", [SNAKE, CAMEL, UNTAGGED_GO], ids=["snake_case", "camelCase", "Go without tags"])
def test_one_session_in_three_spellings_reads_as_one(document: dict[str, Any]) -> None:
    session = session_of(document, "f")
    assert (session.session_id, session.app_name, session.user_id) == ("s1", "shop", "ann")
    assert session.state == {"cart": []}
    assert session.last_update_time == 2.0
    assert session.extra == {}
    first, second = session.events
    assert (first.author, first.invocation_id, first.timestamp) == ("user", "i1", 1.5)
    assert second.actions.state_delta == {"cart": [1]}
    assert second.actions.transfer_to_agent == "cashier"
    assert second.long_running_tool_ids == ["c1"]
    assert second.timestamp == 2.0
    assert not first.extra
    assert not second.extra


@pytest.mark.parametrize(
    "stamp, seconds",
    [
        ({"timestamp": 1700000000.25}, 1700000000.25),
        ({"timestamp": 1700000000}, 1700000000.0),
        ({"timestamp": "2023-11-14T22:13:20Z"}, 1700000000.0),
        ({"timestamp": "2023-11-14T22:13:20.250+00:00"}, 1700000000.25),
        ({"timestamp": "2023-11-14 22:13:20"}, 1700000000.0),  # no zone: UTC
        ({"timestamp": None}, 0.0),
        ({}, 0.0),
        ({"time": 1700000000}, 1700000000.0),  # Go's REST server, early
        ({"timestamp": "0001-01-01T00:00:00Z"}, 0.0),  # Go's zero time is no time
    ],
)
def test_a_time_is_a_number_a_text_or_missing(stamp: dict[str, Any], seconds: float) -> None:
    assert session_of({"events": [{**HI, **stamp}]}, "f").events[0].timestamp == seconds


@pytest.mark.parametrize(
    "document, expected",
    [
        ({"events": []}, []),
        ({"events": None}, []),
        ([], []),
        ([HI, HELLO], ["hi", "hello"]),
        ({"session": {"events": [HI]}, "trace": []}, ["hi"]),
        ({"events": [{}]}, [""]),
        ({"events": [{"author": "desk", "content": None, "actions": None, "id": None}]}, [""]),
        ({"events": [{"content": {"parts": None}}]}, [""]),
        ({"events": [{"content": {"parts": [None, {"text": "hi"}]}}]}, ["hi"]),  # Go's nil part
        ({"past_events": [], "events": [HI], "pending_events": {}}, ["hi"]),
        ({"past_events": [HI], "events": [HELLO]}, ["hi", "hello"]),
        ({"past_events": None, "events": [HI], "pending_events": {"c1": said("desk", "wait")}}, ["hi", "wait"]),
    ],
)
def test_events_are_found_where_they_are(document: Any, expected: list[str]) -> None:
    session = session_of(document, "f")
    assert texts(session) == expected


def test_lists_of_events_are_joined_in_the_order_they_happened() -> None:
    document = {
        "past_events": [said("user", "1", timestamp=1.0), said("desk", "4", timestamp=4.0, id="e4")],
        "events": [
            said("user", "3", timestamp=3.0),
            said("desk", "2", timestamp=2.0),
            said("user", "5", timestamp=5.0),
        ],
        "pending_events": [said("desk", "4", timestamp=4.0, id="e4"), said("desk", "6", timestamp=6.0)],
    }
    # within a list the file's order stands (3 before 2); an event in two lists is taken once
    assert texts(session_of(document, "f")) == ["1", "3", "2", "4", "5", "6"]


def test_without_times_the_lists_follow_each_other() -> None:
    document = {"past_events": [HI], "events": [HELLO], "pending_events": [said("desk", "later", timestamp=0.5)]}
    assert texts(session_of(document, "f")) == ["hi", "hello", "later"]


def test_the_older_shape_keeps_what_has_no_home() -> None:
    document = {
        "id": "s1",
        "context": {"mood": "calm"},
        "current_agent_name": "desk",
        "events": [
            {
                **HELLO,
                "options": {"skip_summarization": True, "function_call_event_id": "e7", "transfer_to_agent": "cashier"},
                "is_greeting": True,
            }
        ],
        "event_logs": [],
    }
    session = session_of(document, "f")
    assert session.state == {"mood": "calm"}
    assert session.extra == {"current_agent_name": "desk", "event_logs": []}
    event = session.events[0]
    assert event.actions.skip_summarization
    assert event.actions.transfer_to_agent == "cashier"
    assert event.extra == {"is_greeting": True, "options/function_call_event_id": "e7"}
    assert event.to_json()["options"] == {"function_call_event_id": "e7"}  # written back where it was read


def test_actions_win_over_the_options_they_replaced() -> None:
    document = {"events": [{**HELLO, "actions": {"skipSummarization": False}, "options": {"skip_summarization": True}}]}
    event = session_of(document, "f").events[0]
    assert not event.actions.skip_summarization
    assert event.extra == {"options/skip_summarization": True}


def test_unknown_fields_are_kept_at_every_level() -> None:
    event = {**HELLO, "nodeInfo": {"path": "desk@1"}, "actions": {"requestedAuthConfigs": {"a": 1}}}
    session = session_of({"events": [event], "colour": "red"}, "f")
    assert session.extra == {"colour": "red"}
    assert session.events[0].extra == {"nodeInfo": {"path": "desk@1"}, "actions/requestedAuthConfigs": {"a": 1}}


CUT = "; the text ends too early: was it cut off?"
ONE = "; this looks like one event: put it into a list"
DEEP = '{"events": [{"actions": {"state_delta": {"x": ' + "[" * 300 + "]" * 300 + "}}}]}"


@pytest.mark.parametrize(
    "text, message",
    [
        ('{"events": [{"author": "user", "content": {"par', ":1:44: not JSON: unterminated string starting here" + CUT),
        ('{"events": [\n  {"author": "user"},\n', ":3:1: not JSON: expecting value" + CUT),
        ('{"events": []} x', ":1:16: not JSON: extra data"),
        ("", ": the file is empty"),
        (" \n\t", ": the file is empty"),
        ("hello there", ":1:1: not JSON: expecting value"),
        ("5", ": expected a session (an object) or a list of events, found a number 5"),
        ("null", ": expected a session (an object) or a list of events, found null"),
        ('"events"', ": expected a session (an object) or a list of events, found a text 'events'"),
        ("{}", ": expected a session, an object with `events`; found an empty object"),
        ('{"a": 1, "b": 2}', ": expected a session, an object with `events`; found the fields 'a', 'b'"),
        ('{"author": "user"}', ": expected a session, an object with `events`; found the fields 'author'" + ONE),
        ('{"events": {}}', ": events: expected a list, found an object"),
        ('{"events": [{}, "hi"]}', ": events[1]: expected an object, found a text 'hi'"),
        ("[{}, 5]", ": [1]: expected an object, found a number 5"),
        ('{"session": {"events": [true]}}', ": session.events[0]: expected an object, found true"),
        (
            '{"events": [{}, {}, {}, {"content": {"parts": [5]}}]}',
            ": events[3].content.parts[0]: expected an object, found a number 5",
        ),
        ('{"events": [{"content": {"parts": {}}}]}', ": events[0].content.parts: expected a list, found an object"),
        ('{"events": [{"content": "hi"}]}', ": events[0].content: expected an object, found a text 'hi'"),
        ('{"events": [{"actions": []}]}', ": events[0].actions: expected an object, found a list"),
        (
            '{"events": [{"actions": {"state_delta": 3}}]}',
            ": events[0].actions.stateDelta: expected an object, found a number 3",
        ),
        (
            '{"events": [{"timestamp": "soon"}]}',
            ": events[0].timestamp: expected seconds or an ISO 8601 time, found 'soon'",
        ),
        ('{"events": [{"author": 7}]}', ": events[0].author: expected a text, found a number 7"),
        ('{"past_events": [3], "events": []}', ": past_events[0]: expected an object, found a number 3"),
        ('{"events": [], "state": []}', ": state: expected an object, found a list"),
        ('{"events": [], "id": 4}', ": id: expected a text, found a number 4"),
        ('{"events": [],\n "x": ["NaN", NaN]}', ":2:15: NaN is not a number that JSON knows"),
        ('{"events": [], "x": -Infinity}', ":1:21: -Infinity is not a number that JSON knows"),
        ('{"events": [], "x": 1e999}', ":1:21: 1e999 is not a number that JSON knows"),
        ('{"events": [], "x": ' + "9" * 5000 + "}", ":1:21: a number with too many digits"),
        (
            '{"events": [], "state": {"a": 1,\n "b": "\\"a\\":", "a": 2}}',
            ":2:17: the key 'a' is given twice in one object",
        ),
        ('{"events": [{"id": "a", "id": [{"id": 1}, {"id": 2}]}]}', ":1:25: the key 'id' is given twice in one object"),
        ('{"events": [{}, ]}', ":1:15: not JSON: illegal trailing comma before end of array"),
        ("[" * 100_000, ": nested deeper than 200 levels"),
        (DEEP, ": events[0].actions.state_delta.x: nested deeper than 200 levels"),
        ('{"agent": {}, "turns": []}', ": this is a scenario, not a session: `adknb trace` runs it"),
        (
            '{"format": 1, "entries": [], "scenario": {}}',
            ": this is a run saved by dbg.save, not a session: adknb.replay(path) opens it",
        ),
        (
            '{"state": {}, "queries": ["hi"]}',
            ": these are queries to replay; nothing has been answered yet, so there are no events",
        ),
    ],
)
def test_a_malformed_file_gives_one_error_with_file_and_place(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "f.json"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(BadData) as caught:
        read_session(file)
    assert str(caught.value) == "f.json" + message
    assert file.read_text(encoding="utf-8") == text  # the file is only read


@pytest.mark.parametrize(
    "data, message",
    [
        (b'{"events":\n [], "x": "\xff"}', "f.json:2: is not UTF-8 text: byte 22 is 0xff"),
        (b"\xff\xfe{\x00}\x00", "f.json:1: is not UTF-8 text: byte 0 is 0xff"),
        (b"PK\x03\x04rest", "f.json: is an archive; unpack it first"),
    ],
)
def test_bytes_that_are_no_text_are_named(tmp_path: Path, data: bytes, message: str) -> None:
    file = tmp_path / "f.json"
    file.write_bytes(data)
    with pytest.raises(BadData) as caught:
        read_session(file)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    "event, place",
    [
        ({"stateDelta": {"a": 1}, "state_delta": {"a": 2}}, "f: events[0]"),
        ({"invocationId": "a", "invocation_id": "b"}, "f: events[0]"),
    ],
)
def test_a_field_in_two_spellings_is_not_dropped_silently(event: dict[str, Any], place: str) -> None:
    with pytest.raises(BadData, match="is there again as") as caught:
        session_of({"events": [{"author": "user", **event}]}, "f")
    assert caught.value.where == place


def test_a_missing_file_and_a_folder_are_said_to_be_so(tmp_path: Path) -> None:
    with pytest.raises(BadData, match="there is no such file"):
        read_session(tmp_path / "gone.json")
    with pytest.raises(BadData, match="this is a folder"):
        read_session(tmp_path)


def test_a_byte_order_mark_does_no_harm(tmp_path: Path) -> None:
    file = tmp_path / "f.json"
    file.write_bytes(b'\xef\xbb\xbf{"events": [' + json.dumps(HI).encode() + b"]}")
    assert texts(read_session(file)) == ["hi"]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)
PARTS = st.lists(
    JSON | st.fixed_dictionaries({}, optional={"text": JSON, "functionCall": JSON, "functionResponse": JSON})
)
EVENT = st.fixed_dictionaries(
    {},
    optional={
        "author": JSON | st.sampled_from(["user", "desk"]),
        "content": JSON | st.fixed_dictionaries({}, optional={"role": JSON, "parts": JSON | PARTS}),
        "actions": JSON | st.fixed_dictionaries({}, optional={"stateDelta": JSON, "compaction": JSON, "else": JSON}),
        "options": JSON,
        "timestamp": JSON,
        "branch": JSON,
        "longRunningToolIds": JSON,
    },
)
DOCUMENT = (
    JSON | st.lists(EVENT, max_size=3) | st.fixed_dictionaries({"events": JSON | st.lists(EVENT | JSON, max_size=3)})
)


@settings(max_examples=100, deadline=None)
@given(DOCUMENT)
def test_any_json_is_a_session_that_can_be_listed_or_one_error_with_its_place(document: Any) -> None:
    where = "f.json"
    try:
        tape = Recording(session_of(parse(json.dumps(document), "f.json"), "f.json"))
        assert listing(tape).startswith("f.json\n")
        assert tape._repr_html_()
    except BadData as error:
        where = error.where
    assert "f.json" in where
