"""Writing a session back: every field as it came, in its spelling, but for what was changed."""

import copy
import json
import os
from pathlib import Path
from typing import Any

import pytest
import yaml
from google.genai import types
from hypothesis import given, settings
from hypothesis import strategies as st

import adknb
from adknb.engine.errors import BadData
from adknb.engine.event import Event
from adknb.files.reading import session_of
from adknb.files.recording import Recording
from adknb.files.writing import session_document

Json = dict[str, Any]

CAMEL: Json = {
    "id": "s1",
    "appName": "shop",
    "userId": "ann",
    "state": {"cart": [1, 2.5, None], "Some Key": {"aB": 1, "a_b": 2}},
    "events": [
        {
            "author": "user",
            "content": {"role": "user", "parts": [{"text": "hi"}]},
            "actions": {},
            "id": "e0",
            "mood": None,
        },
        {
            "author": "desk",
            "invocationId": "i",
            "content": {
                "parts": [{"functionCall": {"id": "c", "name": "look", "args": {"deepKey": {"x_y": 1}}}}],
                "role": "model",
            },
            "actions": {"stateDelta": {"aKey": 1}, "requestedAuthConfigs": {"c": {"x": 1}}},
            "nodeInfo": {"path": "desk@1"},
            "longRunningToolIds": None,
            "timestamp": 1.5,
        },
    ],
    "lastUpdateTime": 2,
    "colour": {"deep": ["red"]},
}
SNAKE: Json = {
    "app_name": "shop",
    "events": [
        {
            "invocation_id": "i",
            "author": "desk",
            "content": {
                "role": "model",
                "parts": [{"function_call": {"name": "look", "args": {"cityName": "x"}}, "thought_signature": "YQ=="}],
            },
            "actions": {"state_delta": {"k": 1}, "artifact_delta": {}, "skip_summarization": None},
            "timestamp": "2024-05-01T10:00:00Z",
            "partial": False,
        }
    ],
    "id": "s",
}
GO: Json = {
    "ID": "s",
    "Events": [
        {"Author": "user", "Content": {"parts": [{"text": "hi"}]}, "InvocationID": "i", "LongRunningToolIDs": None}
    ],
}
OLD: Json = {
    "context": {"mood": "calm"},
    "past_events": [{"id": "a", "author": "user", "options": {"skip_summarization": True, "x": 1}}],
    "events": [{"id": "b", "author": "desk"}],
    "pending_events": {},
    "current_agent_name": "desk",
}
SHAPES = {
    "camelCase": CAMEL,
    "snake_case": SNAKE,
    "Go": GO,
    "older": OLD,
    "list": CAMEL["events"],
    "wrapped": {"session": CAMEL, "trace": [1]},
}


def normal(value: Any) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


@pytest.mark.parametrize("form", ["json", "indented", "yaml"])
@pytest.mark.parametrize("shape", SHAPES)
def test_what_is_read_is_written_back_byte_for_byte(tmp_path: Path, shape: str, form: str) -> None:
    document = SHAPES[shape]
    path = tmp_path / ("a.yaml" if form == "yaml" else "a.json")
    path.write_text(
        yaml.safe_dump(document) if form == "yaml" else json.dumps(document, indent=4 if form == "indented" else None)
    )
    adknb.open(path).save(tmp_path / f"b{path.suffix}")
    text = (tmp_path / f"b{path.suffix}").read_text("utf-8")
    assert normal(yaml.safe_load(text) if form == "yaml" else json.loads(text)) == normal(document)
    assert text.count("\n    ") == path.read_text().count("\n    ") or form != "indented"


@pytest.mark.parametrize(
    "lines", [CAMEL["events"], [{"id": "a", "events": [{"author": "user"}]}, {"id": "b", "events": []}]]
)
def test_json_lines_stay_lines(tmp_path: Path, lines: list[Json]) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    adknb.open(path).save(tmp_path / "b.jsonl")
    assert [json.loads(line) for line in (tmp_path / "b.jsonl").read_text().splitlines()] == lines


def changed(document: Any, change: Any) -> Any:
    tape = Recording(session_of(copy.deepcopy(document), "f"))
    change(tape)
    return session_document(tape._session, tape.events, tape.state)


def texts(tape: Recording, words: str) -> None:
    tape.events[0].content.parts[0].text = words  # type: ignore[union-attr, index]


def at(document: Any, *path: Any) -> Any:
    for step in path:
        document = document[step]
    return document


@pytest.mark.parametrize(
    "shape, change, path, value",
    [
        ("camelCase", lambda t: texts(t, "ho"), ("events", 0, "content", "parts", 0, "text"), "ho"),
        ("camelCase", lambda t: setattr(t.events[1], "branch", "b"), ("events", 1, "branch"), "b"),
        ("camelCase", lambda t: setattr(t.events[1], "invocation_id", "j"), ("events", 1, "invocationId"), "j"),
        ("camelCase", lambda t: t.events[1].actions.state_delta.update(b_c=2), ("events", 1, "actions", "stateDelta"), {"aKey": 1, "b_c": 2}),
        ("camelCase", lambda t: t.state.update(new=1), ("state", "new"), 1),
        ("camelCase", lambda t: setattr(t, "state", {"x": 1}), ("state",), {"x": 1}),
        ("snake_case", lambda t: setattr(t.events[0], "isolation_scope", "d"), ("events", 0, "isolation_scope"), "d"),
        ("snake_case", lambda t: setattr(t.events[0].actions, "transfer_to_agent", "x"), ("events", 0, "actions", "transfer_to_agent"), "x"),
        ("snake_case", lambda t: t.state.update(new=1), ("state",), {"new": 1}),
        ("Go", lambda t: texts(t, "ho"), ("Events", 0, "Content", "parts", 0, "text"), "ho"),
        ("older", lambda t: setattr(t.events[0], "author", "ann"), ("past_events", 0, "author"), "ann"),
        ("list", lambda t: texts(t, "ho"), (0, "content", "parts", 0, "text"), "ho"),
        ("wrapped", lambda t: texts(t, "ho"), ("session", "events", 0, "content", "parts", 0, "text"), "ho"),
    ],
)  # fmt: skip
def test_a_change_is_written_in_the_file_s_spelling_and_nothing_else_changes(
    shape: str, change: Any, path: tuple[Any, ...], value: Any
) -> None:
    document = SHAPES[shape]
    written = changed(document, change)
    assert at(written, *path) == value
    parent = at(written, *path[:-1])
    before = document
    for step in path[:-1]:
        before = before[step] if isinstance(before, list) or step in before else {}
    if isinstance(before, dict) and path[-1] in before:
        parent[path[-1]] = before[path[-1]]
    else:
        del parent[path[-1]]
    assert normal(written) == normal(document)


def test_events_are_added_and_taken_away() -> None:
    def change(tape: Recording) -> None:
        del tape.events[0]
        content = types.Content(
            role="model", parts=[types.Part(function_call=types.FunctionCall(name="a", args={"x_y": 1}))]
        )
        tape.events.append(Event(author="desk", content=content, invocation_id="j"))

    camel, snake = changed(CAMEL, change), changed({**SNAKE, "events": SNAKE["events"] * 2}, change)
    assert [e.get("invocationId") for e in camel["events"]] == ["i", "j"]
    assert camel["events"][1]["content"]["parts"] == [{"functionCall": {"name": "a", "args": {"x_y": 1}}}]
    assert [e.get("invocation_id") for e in snake["events"]] == ["i", "j"]
    assert snake["events"][1]["content"]["parts"] == [{"function_call": {"name": "a", "args": {"x_y": 1}}}]


def test_an_event_that_stood_in_two_lists_stays_in_both() -> None:
    document = {
        "past_events": [{"id": "a", "author": "user", "timestamp": 1}],
        "events": [{"id": "a", "author": "user", "timestamp": 1}, {"id": "b", "timestamp": 2}],
    }
    assert changed(document, lambda tape: None) == document


def test_what_was_made_of_cases_goes_back_unchanged_or_as_a_session(tmp_path: Path) -> None:
    path = tmp_path / "e.json"
    cases = [{"name": n, "data": [{"query": n, "reference": "x"}]} for n in "ab"]
    path.write_text(json.dumps(cases))
    tape = adknb.open(path)
    tape.save(tmp_path / "all.json")
    assert json.loads((tmp_path / "all.json").read_text()) == cases
    adknb.open(path, "b").save(tmp_path / "b.json")
    assert json.loads((tmp_path / "b.json").read_text()) == cases[1:]
    texts(tape, "other")
    with pytest.raises(BadData, match="as_session=True"):
        tape.save(tmp_path / "all.json")
    assert json.loads((tmp_path / "all.json").read_text()) == cases
    tape.save(tmp_path / "s.json", as_session=True)
    assert adknb.open(tmp_path / "s.json").events == tape.events


def test_one_session_of_several_is_saved_alone_and_all_together(tmp_path: Path) -> None:
    path = tmp_path / "two.json"
    both = {"sessions": [{"id": i, "events": [{"author": "user", "id": i}]} for i in "ab"], "count": 2}
    path.write_text(json.dumps(both))
    adknb.open(path, "b").save(tmp_path / "b.json")
    assert json.loads((tmp_path / "b.json").read_text()) == both["sessions"][1]  # type: ignore[index]
    tape = adknb.open(path)
    tape.sessions[1].events[0].author = "ann"
    tape.events[0].author = "bob"
    tape.save(path)
    again = json.loads(path.read_text())
    assert [s["events"][0]["author"] for s in again["sessions"]] == ["bob", "ann"]
    assert again["count"] == 2


def test_a_file_is_written_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps(CAMEL))
    os.chmod(path, 0o640)
    tape = adknb.open(path)
    tape.state["bad"] = {1, 2}
    with pytest.raises(BadData, match="cannot be written as JSON"):
        tape.save(path)
    tape.state["bad"] = 1

    def fail(*args: Any) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("os.replace", fail)
        with pytest.raises(BadData, match="No space left"):
            tape.save(path)
    assert json.loads(path.read_text()) == CAMEL
    assert list(tmp_path.iterdir()) == [path]
    tape.save(path)
    assert json.loads(path.read_text())["state"]["bad"] == 1
    assert path.stat().st_mode & 0o777 == 0o640
    with pytest.raises(BadData, match="cannot be written"):
        tape.save(tmp_path / "no" / "folder.json")


def test_half_a_surrogate_pair_in_the_state_survives(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text('{"events": [], "state": {"a": "\\ud83d", "b": "\\u00e9"}}')
    adknb.open(path).save(tmp_path / "b.json")
    assert json.loads((tmp_path / "b.json").read_text()) == json.loads(path.read_text())


@pytest.mark.parametrize(
    "text",
    [
        "\x85",
        "a\x85b",
        "\u2028",
        "1:30",
        "2024-05-01",
        "no",
        "~",
        " x ",
        "a: b",
        "- x",
        "#",
        "\t",
        "é\U0001f331",
        "'\"",
        "line\nline\n",
        "0x1f",
        "=",
        "<<",
    ],
)
def test_any_text_survives_yaml(tmp_path: Path, text: str) -> None:
    document = {"events": [{"author": "user", "content": {"parts": [{"text": text}]}}], "state": {text: [text]}}
    path = tmp_path / "a.json"
    path.write_text(json.dumps(document))
    adknb.open(path).save(tmp_path / "b.yaml")
    adknb.open(tmp_path / "b.yaml").save(tmp_path / "c.json")
    assert json.loads((tmp_path / "c.json").read_text("utf-8")) == document


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=5), inner, max_size=2),
    max_leaves=5,
)
EVENT = st.fixed_dictionaries(
    {"author": st.sampled_from(["user", "desk"])},
    optional={
        "content": st.fixed_dictionaries({"role": st.just("user")}, optional={"parts": st.lists(st.fixed_dictionaries({"text": st.text(max_size=5)}), max_size=2), "x": JSON}),
        "actions": st.fixed_dictionaries({}, optional={"stateDelta": st.dictionaries(st.text(max_size=4), JSON, max_size=2), "odd": JSON}),
        "options": st.fixed_dictionaries({}, optional={"skip_summarization": st.booleans(), "y": JSON}),
        "timestamp": st.floats(0, 1e9) | st.just("2024-05-01T10:00:00Z"),
        "strange": JSON,
    },
)  # fmt: skip


@settings(max_examples=100, deadline=None)
@given(
    st.fixed_dictionaries(
        {"events": st.lists(EVENT, max_size=3)},
        optional={"state": st.dictionaries(st.text(max_size=4), JSON, max_size=2), "other": JSON},
    )
)
def test_any_session_comes_back_as_it_was(document: Json) -> None:
    assert normal(changed(document, lambda tape: None)) == normal(document)
