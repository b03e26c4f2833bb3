"""Make the samples that only google-adk can write: databases, an evaluation set, a conformance case.

    python tests/files/make_samples.py        with google-adk 2.13 and its extra `db` installed

The content is invented: a garden shop. Times and ids are fixed, so that the files say the same each time they are made.
"""

from __future__ import annotations

import asyncio
import pickle
import sqlite3
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent / "samples"
START = 1_720_000_000.0


def events() -> list[Any]:
    """Two turns: a parcel is tracked, state of every scope is written; then the guide takes over."""
    from google.adk.events import Event, EventActions
    from google.adk.tools.tool_confirmation import ToolConfirmation
    from google.genai import types

    def said(role: str, **part: Any) -> types.Content:
        return types.Content(role=role, parts=[types.Part(**part)])

    def call(name: str, call_id: str, **args: Any) -> types.Content:
        return said("model", function_call=types.FunctionCall(id=call_id, name=name, args=args))

    def answer(name: str, call_id: str, **response: Any) -> types.Content:
        return said("user", function_response=types.FunctionResponse(id=call_id, name=name, response=response))

    told: list[tuple[str, str, Any, Any]] = [
        (
            "e-1",
            "user",
            said("user", text="Where is my parcel? 我的包裹"),
            EventActions(state_delta={"mood": "curious"}),
        ),
        ("e-1", "desk", call("track", "adk-1", order="O-88"), None),
        (
            "e-1",
            "desk",
            answer("track", "adk-1", where="Lyon", steps=[1, 2.5, None, True]),
            EventActions(
                state_delta={"last_order": "O-88", "app:orders": 7, "user:town": "Lyon", "temp:seen": True},
                artifact_delta={"slip.txt": 1},
                requested_tool_confirmations={"adk-1": ToolConfirmation(hint="sure?", confirmed=False)},
            ),
        ),
        ("e-1", "desk", said("model", text="It is in Lyon."), None),
        ("e-2", "user", said("user", text="And a garden guide?"), None),
        ("e-2", "desk", call("transfer_to_agent", "adk-2", agent_name="guide"), None),
        ("e-2", "desk", answer("transfer_to_agent", "adk-2"), EventActions(transfer_to_agent="guide")),
        (
            "e-2",
            "guide",
            said("model", text="Plant in autumn."),
            EventActions(state_delta={"advice": "Plant in autumn."}),
        ),
    ]
    return [
        Event(
            id=f"event-{i}",
            invocation_id=turn,
            author=author,
            content=content,
            actions=actions or EventActions(),
            timestamp=START + i + 0.25,
            branch="shop" if author == "guide" else None,
            usage_metadata=types.GenerateContentResponseUsageMetadata(prompt_token_count=12) if i == 3 else None,
            custom_metadata={"ray": "x1"} if i == 3 else None,
            long_running_tool_ids={"adk-2"} if i == 5 else None,
        )
        for i, (turn, author, content, actions) in enumerate(told)
    ]


async def fill(service: Any) -> None:
    """Two sessions of two users."""
    from google.adk.events import Event
    from google.genai import types

    first = await service.create_session(
        app_name="shop",
        user_id="ann",
        session_id="s-parcel",
        state={"cart": ["spade"], "app:motto": "grow", "user:town": "?"},
    )
    for event in events():
        await service.append_event(first, event)
    second = await service.create_session(app_name="shop", user_id="bob", session_id="s-hello")
    content = types.Content(role="user", parts=[types.Part(text="hello")])
    await service.append_event(
        second, Event(id="event-b", invocation_id="e-b", author="user", content=content, timestamp=START + 100)
    )


V0 = """
CREATE TABLE sessions (app_name VARCHAR(128) NOT NULL, user_id VARCHAR(128) NOT NULL, id VARCHAR(128) NOT NULL,
  state TEXT NOT NULL, create_time DATETIME NOT NULL, update_time DATETIME NOT NULL, PRIMARY KEY (app_name, user_id, id));
CREATE TABLE app_states (app_name VARCHAR(128) NOT NULL, state TEXT NOT NULL, update_time DATETIME NOT NULL,
  PRIMARY KEY (app_name));
CREATE TABLE user_states (app_name VARCHAR(128) NOT NULL, user_id VARCHAR(128) NOT NULL, state TEXT NOT NULL,
  update_time DATETIME NOT NULL, PRIMARY KEY (app_name, user_id));
CREATE TABLE events (id VARCHAR(128) NOT NULL, app_name VARCHAR(128) NOT NULL, user_id VARCHAR(128) NOT NULL,
  session_id VARCHAR(128) NOT NULL, invocation_id VARCHAR(256) NOT NULL, author VARCHAR(256) NOT NULL,
  branch VARCHAR(256), timestamp DATETIME NOT NULL, content TEXT, actions BLOB NOT NULL,
  long_running_tool_ids_json TEXT, grounding_metadata TEXT, partial BOOLEAN, turn_complete BOOLEAN,
  error_code VARCHAR(256), error_message VARCHAR(1024), interrupted BOOLEAN,
  PRIMARY KEY (id, app_name, user_id, session_id),
  FOREIGN KEY(app_name, user_id, session_id) REFERENCES sessions (app_name, user_id, id) ON DELETE CASCADE);
"""
"""The tables as google-adk 1.0 made them."""


def early_database(path: Path) -> None:
    """A database as google-adk 1.0 left it: fewer columns, actions pickled."""
    import json

    db = sqlite3.connect(path)
    db.executescript(V0)
    key = ("shop", "ann", "s-parcel")
    now = _stamp(START + 8)
    state = {"cart": ["spade"], "mood": "curious", "last_order": "O-88", "advice": "Plant in autumn."}
    db.execute("INSERT INTO sessions VALUES (?, ?, ?, ?, ?, ?)", (*key, json.dumps(state), _stamp(START), now))
    db.execute("INSERT INTO app_states VALUES (?, ?, ?)", ("shop", json.dumps({"motto": "grow", "orders": 7}), now))
    db.execute("INSERT INTO user_states VALUES (?, ?, ?, ?)", ("shop", "ann", json.dumps({"town": "Lyon"}), now))
    for event in events():
        ids = json.dumps(list(event.long_running_tool_ids)) if event.long_running_tool_ids else None
        content = json.dumps(event.content.model_dump(exclude_none=True, mode="json"))
        db.execute(
            "INSERT INTO events VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
            (event.id, *key, event.invocation_id, event.author, event.branch, _stamp(event.timestamp), content,
             pickle.dumps(event.actions), ids, None, None, None, None, None, None),
        )  # fmt: skip
    db.commit()
    db.close()


def _stamp(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S.%f")


def late_v0_tables(path: Path) -> None:
    """The tables of the last version before JSON, so that google-adk 2.13 goes on in that layout."""
    from google.adk.sessions.schemas.v0 import Base
    from sqlalchemy import create_engine

    engine = create_engine(f"sqlite:///{path}")
    Base.metadata.create_all(engine)
    engine.dispose()


async def databases() -> None:
    """One database in each layout."""
    from google.adk.sessions import DatabaseSessionService
    from google.adk.sessions.sqlite_session_service import SqliteSessionService

    for name in ("v0_early", "v0_late", "v1", "service"):
        (HERE / f"{name}.db").unlink(missing_ok=True)
    early_database(HERE / "v0_early.db")
    late_v0_tables(HERE / "v0_late.db")
    for name in ("v0_late", "v1"):
        service = DatabaseSessionService(f"sqlite+aiosqlite:///{HERE / name}.db")
        await fill(service)
        await service.close()
    await fill(SqliteSessionService(str(HERE / "service.db")))
    for name in ("v0_early", "v0_late", "v1", "service"):
        with sqlite3.connect(HERE / f"{name}.db") as db:
            for table in ("sessions", "app_states", "user_states"):  # the one thing that is not given: the clock
                fixed: Any = START + 8 if name == "service" else _stamp(START + 8)
                db.execute(f"UPDATE {table} SET update_time = ?", (fixed,))
            db.execute("UPDATE sessions SET create_time = update_time")
            db.execute("UPDATE sessions SET update_time = ? WHERE id = 's-hello'", (
                START + 100 if name == "service" else _stamp(START + 100),))  # fmt: skip
        db.close()
        vacuum = sqlite3.connect(HERE / f"{name}.db")
        vacuum.execute("VACUUM")
        vacuum.close()


def evalset() -> None:
    """An evaluation set in the new format: one case with lists of calls, one with events, one that is simulated."""
    from google.adk.evaluation.conversation_scenarios import ConversationScenario
    from google.adk.evaluation.eval_case import (
        EvalCase,
        IntermediateData,
        Invocation,
        InvocationEvent,
        InvocationEvents,
        SessionInput,
    )
    from google.adk.evaluation.eval_set import EvalSet
    from google.genai import types

    def text(role: str, words: str) -> types.Content:
        return types.Content(role=role, parts=[types.Part(text=words)])

    call = types.FunctionCall(id="adk-7", name="track", args={"order": "O-88"})
    lists = Invocation(
        invocation_id="inv-1",
        user_content=text("user", "Where is my parcel?"),
        final_response=text("model", "In Lyon."),
        intermediate_data=IntermediateData(
            tool_uses=[call, types.FunctionCall(name="track", args={"order": "O-89"})],
            tool_responses=[types.FunctionResponse(id="adk-7", name="track", response={"where": "Lyon"})],
            intermediate_responses=[("desk", [types.Part(text="One moment.")])],
        ),
        creation_timestamp=START,
    )
    as_events = Invocation(
        invocation_id="inv-2",
        user_content=text("user", "A guide, please"),
        final_response=text("model", "Plant in autumn."),
        intermediate_data=InvocationEvents(
            invocation_events=[
                InvocationEvent(author="desk", content=types.Content(role="model", parts=[types.Part(
                    function_call=types.FunctionCall(id="adk-8", name="transfer_to_agent", args={"agent_name": "guide"}))])),
                InvocationEvent(author="desk", content=types.Content(role="user", parts=[types.Part(
                    function_response=types.FunctionResponse(id="adk-8", name="transfer_to_agent", response={}))])),
                InvocationEvent(author="guide", content=None),
            ]
        ),
        creation_timestamp=START + 1,
    )  # fmt: skip
    cases = [
        EvalCase(
            eval_id="parcel",
            conversation=[lists, as_events],
            session_input=SessionInput(app_name="shop", user_id="ann", state={"cart": ["spade"]}),
            creation_timestamp=START,
        ),
        EvalCase(
            eval_id="simulated",
            conversation_scenario=ConversationScenario(starting_prompt="Hi", conversation_plan="Ask for a spade."),
            creation_timestamp=START,
        ),
    ]
    made = EvalSet(eval_set_id="garden", name="Garden shop", eval_cases=cases, creation_timestamp=START)
    (HERE / "new.evalset.json").write_text(
        made.model_dump_json(indent=2, exclude_unset=True, exclude_defaults=True, exclude_none=True), encoding="utf-8"
    )


def conformance() -> None:
    """A conformance case as `adk conformance record` leaves it."""
    from google.adk.cli.plugins.recordings_schema import LlmRecording, Recording, Recordings, ToolRecording
    from google.adk.models.llm_request import LlmRequest
    from google.adk.models.llm_response import LlmResponse
    from google.adk.sessions.session import Session
    from google.adk.utils.yaml_utils import dump_pydantic_to_yaml
    from google.genai import types

    folder = HERE / "conformance" / "tools" / "track_parcel"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "spec.yaml").write_text(
        "description: A parcel is tracked.\nagent: shop\ninitial_state:\n  cart:\n    - spade\nuser_messages:\n"
        "  - text: Where is my parcel?\n  - text: And a garden guide?\n    state_delta:\n      mood: curious\n",
        encoding="utf-8",
    )
    stored = events()
    session = Session(id="s-parcel", app_name="shop", user_id="adk_conformance_test_user", state={"cart": ["spade"]},
                      events=stored, last_update_time=START + 8)  # fmt: skip
    dump_pydantic_to_yaml(session, folder / "generated-session.yaml", sort_keys=False)

    def asked(*contents: Any) -> LlmRequest:
        return LlmRequest(
            model="gemini-2.5-flash",
            contents=list(contents),
            config=types.GenerateContentConfig(system_instruction="You help at a garden shop."),
        )

    question, call, result, answer = (event.content for event in stored[:4])
    recordings = Recordings(
        recordings=[
            Recording(user_message_index=0, agent_name="desk", llm_recording=LlmRecording(
                llm_request=asked(question), llm_responses=[LlmResponse(content=call)])),
            Recording(user_message_index=0, agent_name="desk", tool_recording=ToolRecording(
                tool_call=call.parts[0].function_call, tool_response=result.parts[0].function_response)),
            Recording(user_message_index=0, agent_name="desk", llm_recording=LlmRecording(
                llm_request=asked(question, call, result), llm_responses=[
                    LlmResponse(content=types.Content(role="model", parts=[types.Part(text="It is")]), partial=True),
                    LlmResponse(content=answer)])),
        ]
    )  # fmt: skip
    dump_pydantic_to_yaml(recordings, folder / "generated-recordings.yaml", sort_keys=False)
    dump_pydantic_to_yaml(recordings, folder / "generated-recordings-sse.yaml", sort_keys=False)


if __name__ == "__main__":
    HERE.mkdir(exist_ok=True)
    asyncio.run(databases())
    evalset()
    conformance()
    print(*sorted(str(p.relative_to(HERE)) for p in HERE.rglob("*") if p.is_file()), sep="\n")
