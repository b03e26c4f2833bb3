"""google-adk's session databases, written by google-adk itself (make_samples.py), and by hand where it no longer can."""

import json
import pickle
import shutil
import sqlite3
from pathlib import Path
from typing import Any

import pytest

import adknb
from adknb.engine.errors import BadData
from adknb.engine.runner import Runner
from adknb.engine.sqlite_sessions import SqliteSessionService
from adknb.files.pickled import actions_of

SAMPLES = Path(__file__).parent / "samples"
START = 1_720_000_000.0
LAYOUTS = ["v0_early", "v0_late", "v1", "service"]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_database_of_each_layout_reads_as_the_same_session(layout: str) -> None:
    tape = adknb.open(SAMPLES / f"{layout}.db", "s-parcel", trust=True)
    assert (tape.app_name, tape.user_id, tape.session_id, tape.kind) == ("shop", "ann", "s-parcel", "database")
    assert [e.author for e in tape.events] == ["user", "desk", "desk", "desk", "user", "desk", "desk", "guide"]
    assert [e.timestamp for e in tape.events] == [START + i + 0.25 for i in range(8)]
    assert tape.events[0].content.parts[0].text == "Where is my parcel? 我的包裹"  # type: ignore[union-attr, index]
    actions = tape.events[2].actions
    stored = {key: value for key, value in actions.state_delta.items() if key != "temp:seen"}
    assert stored == {"last_order": "O-88", "app:orders": 7, "user:town": "Lyon"}
    assert actions.artifact_delta == {"slip.txt": 1}
    assert actions.requested_tool_confirmations["adk-1"].hint == "sure?"
    assert tape.events[5].long_running_tool_ids == ["adk-2"]
    assert tape.events[6].actions.transfer_to_agent == "guide"
    assert tape.events[7].branch == "shop"
    assert tape.state == {
        "app:motto": "grow",
        "app:orders": 7,
        "user:town": "Lyon",
        "cart": ["spade"],
        "mood": "curious",
        "last_order": "O-88",
        "advice": "Plant in autumn.",
    }
    assert tape.last_update_time == START + 8


@pytest.mark.parametrize("layout, sessions", [("v0_early", 1), ("v0_late", 2), ("v1", 2), ("service", 2)])
def test_the_session_that_was_last_written_to_comes_first(layout: str, sessions: int) -> None:
    tape = adknb.open(f"sqlite:///{SAMPLES / layout}.db")
    assert len(tape.sessions) == sessions
    assert [one.session_id for one in tape.sessions] == ["s-hello", "s-parcel"][-sessions:]
    assert tape.session_id == tape.sessions[0].session_id


@pytest.mark.parametrize("name, count", [("v0_early.db", 8), ("v0_late.db", 8)])
def test_pickles_are_not_read_unless_one_says_so(name: str, count: int) -> None:
    tape = adknb.open(SAMPLES / name, "s-parcel")
    assert all(not e.actions.state_delta for e in tape.events)
    assert all("actions_pickled" in e.extra for e in tape.events)
    assert any("trust=True" in note and f"What {count} of the events did" in note for note in tape.notes)
    assert any("trust=True" in sentence for sentence in tape.request_before(3).unknown)


class Trap:
    def __reduce__(self) -> Any:
        return (Path.touch, (Path("/tmp/adknb-trap"),))


@pytest.mark.parametrize(
    "data, message",
    [
        (
            pickle.dumps(Trap()),
            f"the pickle cannot be read: it names {Path.__module__}.Path.touch, which is no plain data",
        ),
        (b"cos\nsystem\n(S'true'\ntR.", "the pickle cannot be read: it names os.system, which is no plain data"),
        (b"cbuiltins\neval\n(S'1'\ntR.", "the pickle cannot be read: it names builtins.eval, which is no plain data"),
        (b"cbuiltins\nbytes\n(I1000000000000\ntR.", "the pickle cannot be read: it makes bytes of something else"),
        (
            b"cgoogle.adk.x\n__import__\n(tR.",
            "the pickle cannot be read: it names google.adk.x.__import__, which is no plain",
        ),
        (b"\x80\x04N.", "expected pickled actions, found NoneType"),
        (b"\x80\x04}q\x00.extra", None),
        (b"\x80\x04\x95", "the pickle cannot be read: "),
        (b"", "the pickle cannot be read: "),
        (b"\x80\x02]q\x00" + b"]q\x01" * 300 + b"a" * 300 + b".", "nested deeper than 200 levels"),
    ],
)
def test_a_pickle_makes_plain_data_or_nothing(data: bytes, message: str | None) -> None:
    if message is None:
        assert actions_of(data, "f.db") == {}
        return
    with pytest.raises(BadData) as caught:
        actions_of(data, "f.db: event e1: actions")
    assert str(caught.value).startswith(f"f.db: event e1: actions: {message}")
    assert not Path("/tmp/adknb-trap").exists()


def test_dates_and_sets_in_a_pickle_become_what_json_has() -> None:
    from datetime import UTC, date, datetime, timedelta, timezone

    data = {
        "when": datetime(2024, 5, 1, 10, 30, tzinfo=timezone(timedelta(hours=2))),
        "plain": datetime(2024, 5, 1, 10, 30, 1, 500),
        "utc": datetime(2024, 5, 1, tzinfo=UTC),
        "day": date(2024, 5, 1),
        "set": {2, 1},
        "bytes": b"hi",
    }
    assert actions_of(pickle.dumps(data), "f") == {
        "when": "2024-05-01T10:30:00+02:00",
        "plain": "2024-05-01T10:30:01.000500",
        "utc": "2024-05-01T00:00:00+00:00",
        "day": "2024-05-01",
        "set": [1, 2],
        "bytes": "aGk=",
    }


def folder_of(path: Path) -> dict[str, bytes]:
    return {p.name: p.read_bytes() for p in sorted(path.parent.iterdir())}


@pytest.mark.parametrize("mode", ["delete", "wal"])
@pytest.mark.parametrize("pending", [False, True])
def test_reading_changes_no_byte_of_the_database_or_beside_it(tmp_path: Path, mode: str, pending: bool) -> None:
    path = tmp_path / "live.db"
    shutil.copy(SAMPLES / "service.db", path)
    writer = sqlite3.connect(path)
    writer.execute(f"PRAGMA journal_mode = {mode}")
    if pending:
        writer.execute("PRAGMA wal_autocheckpoint = 0")
        writer.execute("UPDATE sessions SET state = ? WHERE id = 's-parcel'", (json.dumps({"fresh": True}),))
        writer.commit()
    else:
        writer.close()
    before = folder_of(path)
    tape = adknb.open(path, "s-parcel")
    assert len(tape.events) == 8
    assert ("fresh" in tape.state) is pending  # what stands in the -wal file only is read, too
    assert folder_of(path) == before
    writer.close()


def test_what_our_own_service_has_written_opens(tmp_path: Path) -> None:
    agent = adknb.LlmAgent("desk", adknb.ScriptedModel(["Lima"]))
    with SqliteSessionService(tmp_path / "own.db") as sessions:
        list(Runner(agent, "app", session_service=sessions).run("Which town?"))
        tape = adknb.open(tmp_path / "own.db")
        assert [e.author for e in tape.events] == ["user", "desk"]


def test_go_writes_actions_as_json_into_the_same_columns(tmp_path: Path) -> None:
    path = tmp_path / "go.db"
    shutil.copy(SAMPLES / "v0_early.db", path)
    with sqlite3.connect(path) as db:
        db.execute("UPDATE events SET actions = ?", (b'{"StateDelta": {"a": 1}, "TransferToAgent": "guide"}',))
        db.execute("UPDATE events SET actions = 'null' WHERE id = 'event-0'")
    db.close()
    tape = adknb.open(path)
    assert tape.events[0].actions.state_delta == {}
    assert (tape.events[1].actions.state_delta, tape.events[1].actions.transfer_to_agent) == ({"a": 1}, "guide")


@pytest.mark.parametrize(
    "statement, message",
    [
        ("DELETE FROM sessions", "x.db: the database has no sessions yet"),
        ("DROP TABLE events", "x.db: is no session database of google-adk: expected tables `sessions` and `events`"),
        ("ALTER TABLE events RENAME COLUMN event_data TO data", "x.db: is no session database of google-adk: `events` has"),
        ("ALTER TABLE sessions RENAME COLUMN state TO data", "x.db: is no session database of google-adk: there is no column sessions.state"),
        ("UPDATE events SET event_data = '{'", "x.db: session s-parcel, event event-0: event_data: not JSON"),
        ("UPDATE events SET event_data = '[]'", "x.db: session s-parcel, event event-0: event_data: expected an object, found []"),
        ("UPDATE events SET event_data = '{\"author\": 5}'", "x.db: session s-parcel, event event-0.author: expected a text, found a number 5"),
        ("UPDATE sessions SET state = '{\"a\": NaN}'", "x.db: session s-parcel: state: NaN is not a number that JSON knows"),
        ("UPDATE sessions SET update_time = 'soon'", "x.db: sessions: expected seconds or an ISO 8601 time, found 'soon'"),
        ("UPDATE app_states SET state = x'ff'", "x.db: session s-parcel: app_states: is not UTF-8 text"),
        ("UPDATE sessions SET state = CAST(x'22ff22' AS TEXT)", "x.db: holds text that is not UTF-8"),
    ],
)  # fmt: skip
def test_a_database_that_is_not_as_it_should_be_gets_one_error(tmp_path: Path, statement: str, message: str) -> None:
    path = tmp_path / "x.db"
    shutil.copy(SAMPLES / "service.db", path)
    with sqlite3.connect(path) as db:
        db.execute(statement)
    db.close()
    with pytest.raises(BadData) as caught:
        adknb.open(path, 0 if "DELETE" in statement else "s-parcel")
    assert str(caught.value).startswith(message)


def test_a_damaged_database_gets_one_error(tmp_path: Path) -> None:
    data = (SAMPLES / "service.db").read_bytes()
    (tmp_path / "cut.db").write_bytes(data[:5000])
    with pytest.raises(BadData, match=r"cut\.db: cannot be read as an SQLite database"):
        adknb.open(tmp_path / "cut.db")


@pytest.mark.parametrize(
    "session, message",
    [
        ("nobody", "service.db: no session has the id 'nobody'; the sessions here: s-hello, s-parcel"),
        (7, "service.db: no session has the id '7'; the sessions here: s-hello, s-parcel"),
    ],
)
def test_a_session_that_is_not_there_is_said_with_what_is(session: Any, message: str) -> None:
    with pytest.raises(BadData) as caught:
        adknb.open(SAMPLES / "service.db", session)
    assert str(caught.value) == message


@pytest.mark.parametrize("session", ["s-parcel", 1, "1", "ann/s-parcel", "shop/ann/s-parcel"])
def test_a_session_is_picked_by_id_or_place(session: Any) -> None:
    assert adknb.open(SAMPLES / "service.db", session).session_id == "s-parcel"


def test_a_database_is_saved_as_json_which_reads_as_it_was(tmp_path: Path) -> None:
    tape = adknb.open(SAMPLES / "v1.db")
    tape.save(tmp_path / "all.json")
    again = adknb.open(tmp_path / "all.json")
    assert [one.session_id for one in again.sessions] == ["s-hello", "s-parcel"]
    assert again.sessions[1].events == tape.sessions[1].events
    assert again.sessions[1].state == tape.sessions[1].state
