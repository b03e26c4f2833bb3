"""Sessions on file and google-adk: either opens the files of the other and goes on with them."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from adknb import Runner
from adknb.engine.event import Event
from adknb.engine.sqlite_sessions import SqliteSessionService
from tests.engine.session_cases import EVENTS, answered, called, said, weather_agent


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "sessions.db"


@pytest.fixture
def adk(path: Path) -> Any:
    """google-adk's own service on our file."""
    module = pytest.importorskip(
        "google.adk.sessions.sqlite_session_service", reason="google-adk is not installed (extra `adk`)"
    )
    return module.SqliteSessionService(str(path))


def as_ours(event: Any) -> Event:
    """An event of google-adk's as one of ours."""
    return Event.from_json(event.model_dump(mode="json", exclude_none=True))


def of_both(event: Event) -> dict[str, Any]:
    """An event's JSON without what google-adk says of every event, and without maps that are empty."""
    data = {k: v for k, v in event.to_json().items() if k != "node_info"}
    data["actions"] = {k: v for k, v in data.get("actions", {}).items() if v != {}}
    return data


def test_google_adk_opens_our_file_and_goes_on_with_it(path: Path, adk: Any) -> None:
    with SqliteSessionService(path) as service:
        session = service.create("app", "ann", "s1", {"app:a": 1, "user:b": 2, "c": 3})
        for number, event in enumerate(e for name, e in EVENTS.items() if name not in ONLY_OURS):
            event = replace(event, id=f"e{number}", timestamp=float(number))
            service.append_event(session, event)
        list(Runner(weather_agent(), "app", service).run("How is it?", user_id="ann", session_id="s1"))
        ours = service.get("app", "ann", "s1")

    theirs = asyncio.run(adk.get_session(app_name="app", user_id="ann", session_id="s1"))
    assert [of_both(as_ours(e)) for e in theirs.events] == [of_both(e) for e in ours.events]
    assert theirs.state == ours.state
    assert theirs.last_update_time == ours.last_update_time
    assert [s.id for s in asyncio.run(adk.list_sessions(app_name="app")).sessions] == ["s1"]

    adk_event = pytest.importorskip("google.adk.events.event").Event
    added = adk_event(author="assistant", id="x", state={"app:a": 7, "d": [1]}, timestamp=time.time() + 1)
    asyncio.run(adk.append_event(theirs, added))
    with SqliteSessionService(path) as service:
        read = service.get("app", "ann", "s1")
    assert len(read.events) == len(ours.events) + 1
    assert read.events[-1].to_json()["actions"]["stateDelta"] == {"app:a": 7, "d": [1]}
    assert read.state == {**ours.state, "app:a": 7, "d": [1]}


ONLY_OURS = {
    "empty": "without an author nobody could say whose it is: google-adk stamps the time on it that it is read",
    "half a surrogate pair": "its JSON reader refuses it",
    "a summary": "its compaction record knows no excluded events, and refuses fields it does not know",
    "of a later version": "its actions refuse fields they do not know",
}
"""Events that google-adk 2.13 cannot read, or not as they are, whoever has written them."""


def test_we_open_a_file_of_google_adk_and_go_on_with_it(path: Path, adk: Any) -> None:
    module = pytest.importorskip("google.adk.events.event")
    theirs = asyncio.run(
        adk.create_session(app_name="app", user_id="ann", session_id="s1", state={"app:a": 1, "user:b": 2, "c": 3})
    )
    for number, content in enumerate((said("hello", "user").content, called().content, answered({"n": None}).content)):
        event = module.Event(
            author="assistant",
            content=content,
            invocation_id="i1",
            timestamp=1_700_000_000.0 + number,
            node_path="assistant@1",
            long_running_tool_ids={"c1"} if number == 1 else None,
        )
        event.actions.agent_state = {"n": number}
        asyncio.run(adk.append_event(theirs, event))

    with SqliteSessionService(path) as service:
        ours = service.get("app", "ann", "s1")
        assert ours.state == theirs.state == {"app:a": 1, "user:b": 2, "c": 3}
        assert [e.to_json() for e in ours.events] == [as_ours(e).to_json() for e in theirs.events]
        assert [e.content for e in ours.events] == [e.content for e in theirs.events]
        assert [e.extra["actions/agent_state"]["n"] for e in ours.events] == [0, 1, 2]
        list(Runner(weather_agent(), "app", service).run("How is it?", user_id="ann", session_id="s1"))
        ours = service.get("app", "ann", "s1")

    read = asyncio.run(adk.get_session(app_name="app", user_id="ann", session_id="s1"))
    assert [e.id for e in read.events] == [e.id for e in ours.events]
    assert read.state == ours.state == {"app:a": 1, "user:b": 2, "c": 3, "last": "Clear."}


def test_our_tables_are_those_of_google_adk(path: Path, adk: Any, tmp_path: Path) -> None:
    """Column for column, key for key, so that a later google-adk finds in our files what it finds in its own."""
    SqliteSessionService(tmp_path / "ours.db").close()
    asyncio.run(adk.create_session(app_name="app", user_id="ann"))
    layouts = []
    for file in (tmp_path / "ours.db", path):
        db = sqlite3.connect(file)
        tables = sorted(name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'"))
        layouts.append(
            {
                table: [
                    [
                        (name, kind, not_null or key, key)  # a column that is the primary key is never null
                        for _, name, kind, not_null, _, key in db.execute(f"PRAGMA table_info({table})")
                    ],
                    db.execute(f"PRAGMA foreign_key_list({table})").fetchall(),
                ]
                for table in tables
            }
        )
        db.close()
    assert layouts[0] == layouts[1]
