"""Events as rows, in words; turns; the pandas table."""

import builtins
from typing import Any

import pytest

from adknb.engine.errors import AdknbError
from adknb.engine.event import Event
from adknb.files import Recording
from adknb.files.reading import session_of
from adknb.lens.table import event_kind, event_summary, event_table, event_text, turns
from adknb.lens.words import cells, fit, named, one_line, positions, shorten, wrap

Json = dict[str, Any]


def event(author: str, *parts: Json, **fields: Any) -> Event:
    content = {"content": {"role": "user" if author == "user" else "model", "parts": list(parts)}} if parts else {}
    return Event.from_json({"author": author, **content, **fields})


TEXT = {"text": "hello"}
CALL = {"functionCall": {"name": "look", "args": {"at": "Lima", "n": [1, 2]}}}
ANSWER = {"functionResponse": {"name": "look", "response": {"t": 26}}}
ASK = {"functionCall": {"name": "adk_request_confirmation", "args": {}}}


@pytest.mark.parametrize(
    "given, kind, text",
    [
        (event("user", TEXT), "message", "hello"),
        (event("desk", TEXT), "text", "hello"),
        (event("desk", {"text": "hm", "thought": True}), "thought", "(thought) hm"),
        (event("desk", {"text": "hm", "thought": True}, TEXT), "text", "(thought) hm  hello"),
        (event("desk", CALL), "call", 'call look(at="Lima", n=[1,2])'),
        (event("desk", TEXT, CALL), "call", 'hello  call look(at="Lima", n=[1,2])'),
        (event("desk", ANSWER), "answer", 'answer look → {"t":26}'),
        (event("desk", ASK), "ask", "call adk_request_confirmation()"),
        (event("desk", {"inlineData": {"mimeType": "image/png", "data": "aGVsbG8="}}), "file", "[image/png, 5 bytes]"),
        (event("desk", {"fileData": {"fileUri": "gs://a/b"}}), "file", "[file gs://a/b]"),
        (event("desk", {"executableCode": {"code": "1+1"}}), "code", "[code] 1+1"),
        (event("desk", {"codeExecutionResult": {"output": "2"}}), "code", "[code result] 2"),
        (event("desk", outputTranscription={"text": "spoken"}), "speech", "(spoken) spoken"),
        (event("desk", errorCode="429", errorMessage="slow down"), "error", "error 429 slow down"),
        (event("desk", actions={"stateDelta": {"a": 1, "b": 2}}), "state", "(state: a, b)"),
        (event("desk", actions={"escalate": True}), "action", "(escalates)"),
        (event("desk", actions={"artifactDelta": {"a.txt": 3}}), "action", "(saves a.txt v3)"),
        (event("desk"), "empty", "(no content)"),
        (event("desk", {"text": ""}), "empty", "[empty part]"),
        (event("user", actions={"compaction": {"compactedContent": {"parts": [TEXT]}}}), "summary", "summary: hello"),
    ],
)
def test_an_event_in_words(given: Event, kind: str, text: str) -> None:
    assert event_kind(given) == kind
    assert event_text(given) == text


def test_a_summary_is_one_line_of_the_width_asked_for() -> None:
    long = event("desk", {"text": "first\n\nsecond " + "word " * 100}, CALL)
    assert event_summary(long, 60).startswith("desk: first second word")
    assert cells(event_summary(long, 60)) <= 60
    assert "call look" in event_summary(long, 60)  # a call behind a long sentence is still seen
    assert event_summary(event("")) == "(no author): (no content)"


def test_every_row_has_the_same_keys() -> None:
    rows = event_table([event("user", TEXT), event("desk", CALL, branch="a.b", isolationScope="d1", partial=True)])
    assert [list(row) for row in rows] == [list(rows[0])] * 2
    assert list(rows[0])[:12] == [
        "index", "turn", "author", "role", "kind", "text", "branch", "scope", "final", "partial", "state", "notes",
    ]  # fmt: skip
    assert rows[1] == {
        "index": 1,
        "turn": 1,
        "author": "desk",
        "role": "model",
        "kind": "call",
        "text": 'look(at="Lima", n=[1,2])',  # the kind says `call` already
        "branch": "a.b",
        "scope": "d1",
        "final": False,
        "partial": True,
        "state": [],
        "notes": [],
        "id": "",
        "invocation": "",
        "time": 0.0,
    }


USER, DESK, STATE = event("user", TEXT), event("desk", TEXT), event("model", actions={"stateDelta": {"a": 1}})
RESULT = event("user", {"functionResponse": {"id": "d1", "name": "scout", "response": {}}})


@pytest.mark.parametrize(
    "events, numbers",
    [
        ([], []),
        ([USER, DESK, USER, DESK], [1, 1, 2, 2]),
        ([STATE, USER, DESK, STATE, USER], [0, 1, 1, 1, 2]),  # a record before the first message
        ([DESK, USER], [1, 2]),  # the file begins in the middle
        ([USER, event("scout", TEXT, isolationScope="d1"), RESULT, DESK], [1, 1, 1, 1]),  # a delegate's result
        ([USER, DESK, RESULT], [1, 1, 2]),  # a late answer is a turn
        ([event("user", TEXT, invocationId="i"), event("user", TEXT, invocationId="i"), DESK], [1, 1, 1]),  # repeated
        ([event("user", TEXT, invocationId="i"), DESK, event("user", TEXT, invocationId="i")], [1, 1, 2]),
    ],
)
def test_a_turn_begins_at_what_the_user_says(events: list[Event], numbers: list[int]) -> None:
    assert turns(events) == numbers


def test_a_recording_s_table_has_the_same_columns_with_and_without_events() -> None:
    full = Recording(session_of({"events": [{"author": "user", "content": {"parts": [TEXT]}}]}, "f")).table()
    empty = Recording(session_of({"events": []}, "f")).table()
    assert list(full.columns) == list(empty.columns)
    assert (len(full), len(empty)) == (1, 0)
    assert full.loc[0, "text"] == "hello"
    assert full.index.name == "index"


def test_without_pandas_the_table_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    imported = builtins.__import__

    def without_pandas(name: str, *args: Any, **kwargs: Any) -> Any:
        if name == "pandas":
            raise ImportError(name)
        return imported(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without_pandas)
    with pytest.raises(AdknbError, match=r"adknb\[lab\]"):
        Recording(session_of({"events": []}, "f")).table()


@pytest.mark.parametrize(
    "said, expected",
    [
        (one_line("a \n\t b"), "a b"),
        (one_line("abcdef", 4), "abc…"),
        (one_line("\x1b[31mred\x07"), "\\x1b[31mred\\x07"),
        (one_line("\u202eevil\ud800"), "\\u202eevil\\ud800"),
        (shorten("天气很好", 5), "天气…"),
        (positions([]), ""),
        (positions([3, 1, 2, 7, 8]), "1–3, 7, 8"),
        (named("event", [4]), "event 4"),
        (named("content", [4, 5]), "contents 4, 5"),
        (fit(["aaaa", "bbbb"], 20), "aaaa  bbbb"),
        (fit(["a" * 30, "bbbb"], 20), "aaaaaaaaaaaaa…  bbbb"),
        (fit([f"text {i}" for i in range(9)], 40), "text 0  text 1  text 2  text 3  +5 more"),
        (wrap("one two three", 7), ["one two", "three"]),
        (wrap("", 7), [""]),
        (wrap("a longerword b", 6), ["a", "longer", "word b"]),
        (wrap("天气很好", 4), ["天气", "很好"]),
    ],
)
def test_texts_are_made_to_fit(said: object, expected: object) -> None:
    assert said == expected
