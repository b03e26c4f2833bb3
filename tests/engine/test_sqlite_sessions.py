"""Sessions on file: what outlives the kernel, what is refused, and whose turn it is to write."""

from __future__ import annotations

import gc
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from adknb.engine.errors import AdknbError, BadData
from adknb.engine.event import Event, EventActions
from adknb.engine.sqlite_sessions import SqliteSessionService, StaleSession
from tests.engine.session_cases import answered, said, wrote


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "sessions.db"


def test_a_session_outlives_its_service(path: Path) -> None:
    with SqliteSessionService(path) as service:
        session = service.create("app", "ann", "s1", {"app:a": 1, "b": 2})
        service.append_event(session, said("hello", id="e1"))
    with SqliteSessionService(str(path)) as service:
        session = service.get("app", "ann", "s1")
        service.append_event(session, said("and again", id="e2"))
    with SqliteSessionService(path) as service:
        read = service.get("app", "ann", "s1")
    assert ([e.id for e in read.events], read.state) == (["e1", "e2"], {"app:a": 1, "b": 2})


def open_files(path: Path) -> list[str]:
    if not Path("/proc/self/fd").is_dir():
        pytest.skip("open files are seen in /proc only")
    links = []
    for fd in os.listdir("/proc/self/fd"):
        with suppress(OSError):  # the one that listed them
            links.append(os.readlink(f"/proc/self/fd/{fd}"))
    return [link for link in links if link.startswith(str(path))]


@pytest.mark.parametrize("how", ["closed", "left by an error", "forgotten"])
def test_no_file_stays_open(path: Path, how: str) -> None:
    service = SqliteSessionService(path)
    service.create("app", "ann", "s1")
    assert open_files(path)
    if how == "closed":
        service.close()
        service.close()
    elif how == "left by an error":
        with pytest.raises(ZeroDivisionError), service:
            _ = 1 / 0
    else:
        del service
        gc.collect()
    assert open_files(path) == []


def test_a_closed_service_says_so(path: Path) -> None:
    service = SqliteSessionService(path)
    session = service.create("app", "ann", "s1")
    service.close()
    with pytest.raises(AdknbError, match=r"sessions\.db: .*closed"):
        service.get("app", "ann", "s1")
    with pytest.raises(AdknbError, match=r"sessions\.db: .*closed"):
        service.append_event(session, wrote(a=1))
    assert (session.events, session.state) == ([], {})


OLD = "CREATE TABLE events (id TEXT, app_name TEXT, user_id TEXT, session_id TEXT, actions BLOB)"
NEW = "CREATE TABLE adk_internal_metadata (key TEXT, value TEXT); CREATE TABLE sessions (app_name TEXT, user_id TEXT, \
id TEXT, state TEXT, create_time DATETIME, update_time DATETIME)"


@pytest.mark.parametrize(
    "sql, content, complaint",
    [
        ("", b"not a database, whatever its name says" * 100, "file is not a database"),
        (OLD, b"", "has tables of another layout than google-adk's SqliteSessionService"),
        (NEW, b"", "has tables of another layout than google-adk's SqliteSessionService"),
    ],
    ids=["text", "DatabaseSessionService v0", "DatabaseSessionService v1"],
)
def test_another_file_is_refused_and_left_as_it_was(path: Path, sql: str, content: bytes, complaint: str) -> None:
    path.write_bytes(content)
    if sql:
        other = sqlite3.connect(path)
        other.executescript(sql)
        other.close()
    before = path.read_bytes()
    with pytest.raises(BadData, match=rf"sessions\.db: {complaint}"):
        SqliteSessionService(path)
    assert path.read_bytes() == before
    assert open_files(path) == []
    assert [p.name for p in path.parent.iterdir()] == [path.name]


def test_a_place_where_no_file_can_be_is_named(path: Path) -> None:
    with pytest.raises(BadData, match=r"nowhere.sessions\.db: unable to open database file"):
        SqliteSessionService(path.parent / "nowhere" / "sessions.db")


def test_a_session_that_somebody_else_has_written_to_is_stale(path: Path) -> None:
    with SqliteSessionService(path) as ours, SqliteSessionService(path) as theirs:
        session = ours.create("app", "ann", "s1")
        theirs.append_event(theirs.get("app", "ann", "s1"), said("theirs", id="e1", timestamp=5.0))
        with pytest.raises(StaleSession, match="'s1' was written to by somebody else since it was read"):
            ours.append_event(session, said("ours", id="e2", actions=EventActions(state_delta={"app:a": 1})))
        assert (session.events, session.state) == ([], {})
        session = ours.get("app", "ann", "s1")
        ours.append_event(session, said("ours", id="e2"))
        read = theirs.get("app", "ann", "s1")
    assert ([e.id for e in read.events], read.state) == (["e1", "e2"], {})


@pytest.mark.parametrize(
    "event, complaint",
    [
        (wrote(a=1, b={1, 2}), "state key 'b': cannot be stored as JSON: Object of type set"),
        (wrote(**{"app:a": 1, "user:b": float("nan")}), "state key 'user:b': cannot be stored as JSON: Out of range"),
        (answered({"it": object()}, id="e7"), "event 'e7': cannot be stored as JSON: .*object"),
    ],
)
def test_what_has_no_json_is_named_and_nothing_changes(path: Path, event: Event, complaint: str) -> None:
    with SqliteSessionService(path) as service:
        session = service.create("app", "ann", "s1", {"a": 0})
        with pytest.raises(BadData, match=complaint):
            service.append_event(session, event)
        assert (session.events, session.state) == ([], {"a": 0})
        read = service.get("app", "ann", "s1")
    assert (read.events, read.state) == ([], {"a": 0})


def test_a_state_to_begin_with_that_has_no_json_makes_no_session(path: Path) -> None:
    with SqliteSessionService(path) as service:
        with pytest.raises(BadData, match="state key 'user:b'"):
            service.create("app", "ann", "s1", {"app:a": 1, "user:b": object()})
        assert service.create("app", "ann", "s1").state == {}


def test_a_temp_value_may_be_any_object(path: Path) -> None:
    handle = object()
    with SqliteSessionService(path) as service:
        session = service.create("app", "ann", "s1")
        service.append_event(session, wrote(**{"temp:handle": handle, "temp:n": 1, "a": 1}))
        assert session.state["temp:handle"] is handle
        assert service.get("app", "ann", "s1").events[0].actions.state_delta == {"temp:n": 1, "a": 1}


@pytest.mark.parametrize(
    "sql, complaint",
    [
        ("UPDATE events SET event_data = '{\"id\": ' WHERE id = 'e1'", r"session 's1', event 1: is not JSON"),
        ("UPDATE events SET event_data = '[]' WHERE id = 'e1'", r"session 's1', event 1: expected an object"),
        (
            "UPDATE events SET event_data = '{\"author\": 7}' WHERE id = 'e1'",
            r"session 's1', event 1\.author: expected a text",
        ),
        ("UPDATE events SET event_data = x'ff00' WHERE id = 'e1'", r"session 's1', event 1: is not JSON"),
        ("UPDATE sessions SET state = '7'", r"session 's1', state: expected an object"),
    ],
)
def test_a_damaged_row_is_named(path: Path, sql: str, complaint: str) -> None:
    with SqliteSessionService(path) as service:
        session = service.create("app", "ann", "s1")
        for event_id in ("e0", "e1", "e2"):
            service.append_event(session, said("hello", id=event_id))
        other = sqlite3.connect(path)
        other.execute(sql)
        other.commit()
        other.close()
        with pytest.raises(BadData, match=rf"sessions\.db: {complaint}"):
            service.get("app", "ann", "s1")


def test_threads_may_append_side_by_side(path: Path) -> None:
    """Four to one running session, four to sessions of their own that share the app's state."""
    with SqliteSessionService(path) as service:
        shared = service.create("app", "ann", "shared")
        failures: list[BaseException] = []

        def work(number: int) -> None:
            try:
                session = shared if number < 4 else service.create("app", "ann", f"s{number}")
                for n in range(10):
                    delta = {f"app:{number}": n, "user:last": n}
                    event = said(
                        "x", id=f"{number}.{n}", timestamp=time.time(), actions=EventActions(state_delta=delta)
                    )
                    service.append_event(session, event)
                    service.get("app", "ann", session.id)
            except BaseException as error:
                failures.append(error)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        read = service.get("app", "ann", "shared")
        assert failures == []
        assert [e.id for e in read.events] == [e.id for e in shared.events]
        assert sorted(e.id for e in read.events) == sorted(f"{number}.{n}" for number in range(4) for n in range(10))
        assert read.state == {**{f"app:{number}": 9 for number in range(8)}, "user:last": 9}


KILLS = 200 if os.environ.get("ADKNB_NIGHTLY") else 8

KERNEL = """
import itertools, json, os, sys
from adknb import FunctionTool, LlmAgent, Runner
from adknb.engine.sqlite_sessions import SqliteSessionService
from google.genai import types

class Talker:
    name = "talker"
    def generate_content(self, request, stream):
        call = types.Part(function_call=types.FunctionCall(name="count", args={"by": 2}))
        counted = request.contents[-1].parts[-1].function_response
        yield "Counted." if counted else types.Content(role="model", parts=[call])

def count(ctx, by: int) -> dict:
    ctx.state["n"] = ctx.state["app:n"] = ctx.state.get("n", 0) + by
    return {"n": ctx.state["n"]}

def run():
    service = SqliteSessionService(sys.argv[1])
    runner = Runner(LlmAgent("counter", model=Talker(), tools=[FunctionTool(count)]), session_service=service)
    for turn in itertools.count():
        for event in runner.run(f"Count, please ({turn})."):
            os.write(1, json.dumps(event.to_json()).encode() + b"\\n")

for _ in sys.stdin:  # a line asks for a new kernel
    kernel = os.fork()
    if not kernel:
        run()
    os.write(1, b"%d\\n" % kernel)
    os.waitpid(kernel, 0)
    os.write(1, b"gone\\n")
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="kernels are forked, so that they start at once")
def test_kill_9_loses_no_event_that_was_yielded(path: Path) -> None:
    """Kernels, one after the other, go on in one session; each is killed at a moment of its own."""
    chance = random.Random(7)
    stored: list[dict[str, Any]] = []
    command = [sys.executable, "-c", KERNEL, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1) as starter:
        assert starter.stdin is not None
        assert starter.stdout is not None
        for _ in range(KILLS):
            starter.stdin.write("go\n")
            lines = [starter.stdout.readline() for _ in range(chance.randint(2, 12))]
            (pid,) = [int(line) for line in lines if line.strip().isdigit()]
            time.sleep(chance.random() * 0.02)
            os.kill(pid, signal.SIGKILL)
            lines += iter(starter.stdout.readline, "gone\n")
            yielded = [json.loads(line) for line in lines if not line.strip().isdigit()]

            with SqliteSessionService(path) as service:
                read = service.get("adknb", "user", "session-1")
            before, stored = stored, [event.to_json() for event in read.events if event.author != "user"]
            assert yielded
            assert stored[: len(before) + len(yielded)] == before + yielded
            assert len(stored) <= len(before) + len(yielded) + 1  # killed when one was stored and not yet yielded
            counted = [e.actions.state_delta["n"] for e in read.events if "n" in e.actions.state_delta]
            assert counted == [2 * (n + 1) for n in range(len(counted))]
            assert read.state == ({"n": counted[-1], "app:n": counted[-1]} if counted else {})
