"""Session cases: what is written is read again, whatever the spelling and the characters."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given as for_all
from hypothesis import settings
from hypothesis import strategies as st

import adknb
from adknb import Event, LlmAgent, Runner, ScriptedModel
from adknb.engine.event_json import to_json
from adknb.engine.processors.contents import Viewer, assemble
from adknb.engine.sqlite_sessions import SqliteSessionService
from tests.cases import given
from tests.engine.histories import call, lines, other, user


def written_and_read(events: list[Event], path: Path) -> list[Event]:
    """Through a session file, in valid UTF-8."""
    session = {"id": "s", "appName": "app", "userId": "u", "events": [event.to_json() for event in events], "state": {}}
    path.write_bytes(json.dumps(session, ensure_ascii=False).encode("utf-8"))
    return adknb.open(path).events


def stored_and_read(events: list[Event], path: Path) -> list[Event]:
    """Through a SQLite database, opened again."""
    with SqliteSessionService(str(path)) as service:
        session = service.create("app", "u", "s", {})
        for event in events:
            service.append_event(session, event)
    with SqliteSessionService(str(path)) as service:
        return service.get("app", "u", "s").events


@pytest.mark.parametrize("through", [written_and_read, stored_and_read])
def test_no_character_of_a_name_a_text_or_an_argument_is_lost(through: Any, tmp_path: Path) -> None:
    """C33, aegra/aegra#227, Cloudgeni-ai/opengeni#116, kodustech/kodus-ai#1683."""
    events = given.events_of("C33")
    read = through(events, tmp_path / "session")
    assert [e.to_json()["content"] for e in read] == [e.to_json()["content"] for e in events]
    assert [e.author for e in read] == ["user", "root", "root", "别的代理"]
    contents = to_json(assemble(read, given.viewer_of("C33")).contents)
    assert contents == given.CASES["C33"]["expected"][given.CONTENTS]


@pytest.mark.parametrize("through", [written_and_read, stored_and_read])
@settings(max_examples=25, deadline=None)
@for_all(st.lists(st.text(st.characters(exclude_categories=["Cs"]), min_size=1), min_size=1, max_size=3))
def test_whatever_a_text_holds_it_comes_back(tmp_path_factory: Any, through: Any, texts: list[str]) -> None:
    """C33: NUL, line separators, joiners, bidi marks; half a surrogate pair is no character and is not asked for."""
    events = [user(text) for text in texts] + [user(call("id", args_of=texts))]
    read = through(events, tmp_path_factory.mktemp("texts") / "session")
    assert [to_json(e.content) for e in read] == [to_json(e.content) for e in events]


@pytest.mark.parametrize("spelling", [0, 1, 2], ids=["snake_case", "camelCase", "Go's own names"])
def test_one_event_in_three_spellings_is_one_event(spelling: int, tmp_path: Path) -> None:
    """D02, google/adk-go#1252, #609."""
    given_events = given.CASES["D02"]["input"]["events_in_three_spellings"]
    path = tmp_path / "s.json"
    path.write_text(json.dumps({"id": "s", "events": [given_events[spelling]]}), encoding="utf-8")
    [event] = adknb.open(path).events
    assert (event.author, event.invocation_id, event.long_running_tool_ids) == ("a", "i1", [])
    written = event.to_json()
    assert written.pop("timestamp", 0.0) == 0.0
    assert written == {
        "invocationId": "i1",
        "author": "a",
        "content": {"role": "model", "parts": [{"functionCall": {"name": "t", "id": "1", "args": {}}}]},
    }


@pytest.mark.parametrize("args", [{}, {"args": None}, {"args": {}}], ids=["absent", "null", "empty"])
def test_a_call_without_arguments_runs_the_tool_with_none_and_is_read_again(args: dict[str, Any]) -> None:
    """D03, google/adk-go#1322: whichever way they are missing."""
    ran = []

    def t() -> str:
        """Runs."""
        ran.append(True)
        return "ok"

    model = ScriptedModel(
        [
            {
                "responses": [
                    {"content": {"role": "model", "parts": [{"functionCall": {"name": "t", "id": "1", **args}}]}}
                ]
            },
            "done",
        ]
    )
    first, *_ = Runner(LlmAgent("a", model=model, tools=[t])).run("x")
    assert ran == [True]
    assert Event.from_json(first.to_json()).to_json() == first.to_json()


def test_another_agents_missing_arguments_print_as_null_and_empty_ones_as_a_map() -> None:
    """D03."""
    told = [other(call("1")), other(call("2"))]
    assert told[1].content is not None and told[1].content.parts is not None
    told[1].content.parts[0].function_call.args = None  # type: ignore[union-attr]
    assert lines(assemble(told, Viewer("me")).contents) == [
        "user: <context> | [other] called tool `tool` with parameters: {}",
        "user: <context> | [other] called tool `tool` with parameters: null",
    ]


def test_an_event_whose_response_is_null_keeps_its_place() -> None:
    """D03: written and read, the response still answers its call."""
    events = [Event.from_json(e) for e in given.CASES["D03"]["input"]["events"]]
    again = [Event.from_json(json.loads(json.dumps(e.to_json()))) for e in events]
    assert [e.to_json() for e in again] == [e.to_json() for e in events]
    assert to_json(assemble(again, Viewer("a")).contents) == to_json(assemble(events, Viewer("a")).contents)
    assert len(assemble(events, Viewer("a")).contents) == 2
