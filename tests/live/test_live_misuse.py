"""What can go wrong on the reader's side: one clear error each, and nothing left behind (conftest.py looks)."""

from __future__ import annotations

import asyncio
import gc
import threading
import time
from typing import Any

import pytest

from adknb.engine.context import LiveConfig, RunConfig
from adknb.engine.errors import BadData
from adknb.engine.gemini import Gemini
from adknb.engine.live import (
    LiveConfigMissing,
    LiveConnectFailed,
    LiveReceiveFailed,
    LiveSession,
    LiveSessionClosed,
    LiveUnsupported,
    NoActiveAgent,
)
from adknb.engine.llm_agent import LlmAgent
from adknb.engine.plugin import Plugin
from adknb.engine.runner import Runner
from adknb.engine.session import SessionMissing
from adknb.engine.workflow_agents import LoopAgent, SequentialAgent
from adknb.scenarios.fake_live import FakeLive
from adknb.scenarios.live_script import ScriptedLive
from tests.live.golden import PONG
from tests.live.harness import GET, eventually

LIVE = LiveConfig()


def runner_of(*connections: Any, **settings: Any) -> Runner:
    return Runner(LlmAgent("voice", ScriptedLive(connections), **settings))


def raising(ctx: Any) -> None:
    raise RuntimeError("not today")


# fmt: off
IMMEDIATE = [
    ("no model", LlmAgent("voice"), {}, LIVE, LiveUnsupported, "agent 'voice' cannot run live: it has no model"),
    ("a model for turns", LlmAgent("voice", lambda request: "x"), {}, LIVE, LiveUnsupported, "no connect_live"),
    ("no config", LlmAgent("voice", ScriptedLive([])), {}, None, LiveConfigMissing, "LiveConfig"),
    ("a loop", LoopAgent("loop"), {}, LIVE, LiveUnsupported, r"'loop' \(loop\) cannot run live"),
    ("an empty sequence", SequentialAgent("seq"), {}, LIVE, LiveUnsupported, "at least one member"),
    ("no session", LlmAgent("voice", ScriptedLive([])), {"auto_create_session": False}, LIVE, SessionMissing, "session"),
    ("a plugin's error", LlmAgent("voice", ScriptedLive([])), {"plugins": [Plugin("p", before_run=raising)]}, LIVE,
     RuntimeError, "not today"),
]
# fmt: on


@pytest.mark.parametrize("name, agent, options, config, error, says", IMMEDIATE, ids=[row[0] for row in IMMEDIATE])
def test_what_can_be_said_at_once_is_said_at_once(
    name: str, agent: Any, options: Any, config: Any, error: Any, says: str
) -> None:
    runner = Runner(agent, **options)
    with pytest.raises(error, match=says):
        runner.run_live(live_config=config)
    session = LiveSession()
    with pytest.raises(error, match=says):
        list(runner.iter_live(session, live_config=config))
    if error is not SessionMissing:
        with pytest.raises(LiveSessionClosed):
            session.send("x")


def test_options_of_a_normal_run_are_taken_and_ignored() -> None:
    runner = runner_of([PONG])
    ignored = {"state_delta": {"a": 1}, "run_config": RunConfig(streaming_mode="sse")}
    with runner.run_live(live_config=LIVE, **ignored) as live:
        list(live.turn())
    assert runner.session_service.get("adknb", "user", "session-1").state == {}


def test_a_run_can_be_closed_twice_and_sent_to_only_before() -> None:
    live = runner_of([]).run_live(live_config=LIVE)
    next(live)
    live.close()
    live.close()
    live.shut()
    with pytest.raises(LiveSessionClosed, match="closed"):
        live.send("x")
    with pytest.raises(StopIteration):
        next(live)


def test_what_waits_to_be_sent_while_dialling_fails_at_a_close() -> None:
    class Slow(ScriptedLive):
        def connect_live(self, config: Any, bell: Any) -> Any:
            while not bell.closed:
                time.sleep(0.01)
            raise OSError("given up")

    live = Runner(LlmAgent("voice", Slow([]))).run_live(live_config=LIVE)
    told: list[BaseException] = []

    def send() -> None:
        try:
            live.send("x")
        except Exception as error:
            told.append(error)

    sender = threading.Thread(target=send)
    sender.start()
    time.sleep(0.05)
    live.close()
    sender.join()
    assert isinstance(told[0], LiveSessionClosed)
    assert list(live) == [], "closing tells no error"


def test_a_sequence_is_sent_to_only_while_a_member_runs() -> None:
    agent = SequentialAgent("seq", sub_agents=[LlmAgent("one", ScriptedLive([[]]))])
    with Runner(agent).run_live(live_config=LIVE) as live:
        with pytest.raises(NoActiveAgent, match="read the run's events first"):
            live.send("x")
        next(live)
        live.send("x")


def test_what_is_sent_to_a_sequence_before_it_runs_is_refused() -> None:
    runner = Runner(SequentialAgent("seq", sub_agents=[LlmAgent("one", ScriptedLive([[]]))]))
    session = LiveSession()
    session.send("x")
    with pytest.raises(ValueError, match="only while a member runs"):
        runner.iter_live(session, live_config=LIVE)


def test_a_session_is_for_one_run() -> None:
    runner = runner_of([], [])
    session = LiveSession()
    runner.iter_live(session, live_config=LIVE)
    with pytest.raises(ValueError, match="for one run"):
        runner.iter_live(session, live_config=LIVE)


def test_an_error_that_ends_the_run_is_told_once() -> None:
    live = runner_of([{"close": 1011, "reason": "busy"}]).run_live(live_config=LIVE)
    next(live)
    with pytest.raises(LiveReceiveFailed, match="close 1011: busy"):
        next(live)
    assert list(live) == []


def test_a_server_that_is_not_there() -> None:
    with FakeLive([]) as server:
        options = server.http_options
    model = Gemini("gemini-live-x", api_key="none", http_options=options)
    with pytest.raises(LiveConnectFailed, match="gemini-live-x"):
        list(Runner(LlmAgent("voice", model)).run_live(live_config=LIVE))
    model.close()


def test_a_server_that_says_something_else_at_the_start() -> None:
    """Whatever its first message is, the client takes it for the acknowledgement; what is no JSON fails to connect."""
    with FakeLive([[]], greeting="hello?") as server:
        model = Gemini("gemini-live-x", api_key="none", http_options=server.http_options)
        with pytest.raises(LiveConnectFailed, match="hello"):
            list(Runner(LlmAgent("voice", model)).run_live(live_config=LIVE))
        model.close()


def test_a_live_run_that_nobody_holds_any_more_ends() -> None:
    with FakeLive([[]]) as server:
        model = Gemini("gemini-live-x", api_key="none", http_options=server.http_options)
        live = Runner(LlmAgent("voice", model)).run_live(live_config=LIVE)
        next(live)
        del live
        gc.collect()
        eventually(lambda: not [t for t in threading.enumerate() if t.name.startswith("adknb")])
        model.close()


def test_a_generator_that_is_dropped_closes_its_line() -> None:
    asked = []
    model = ScriptedLive([[]])
    runner = Runner(LlmAgent("voice", model), plugins=[Plugin("p", after_run=lambda ctx: asked.append("after_run"))])
    session = LiveSession()
    items = runner.iter_live(session, live_config=LIVE)
    for item in items:
        if str(item) == "before live_wait wait":
            break
    items.close()
    assert asked == ["after_run"]
    with pytest.raises(LiveSessionClosed):
        session.send("x")


def test_async_code_reads_the_same_events_and_leaves_no_task() -> None:
    async def talk() -> list[Any]:
        told = []
        async with runner_of([GET, PONG], [PONG]).run_live(live_config=LIVE) as live:
            live.send("x")
            async for event in live:
                told.append(event)
                if event.turn_complete:
                    break
        with pytest.raises(StopAsyncIteration):
            await anext(live)
        assert len(asyncio.all_tasks()) == 1
        return told

    assert len(asyncio.run(talk())) == 2


def test_an_async_reader_that_is_cancelled_loses_nothing() -> None:
    async def talk() -> int:
        async with runner_of([GET, PONG]).run_live(live_config=LIVE) as live:
            await anext(live)
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(anext(live), 0.05)
            live.send("x")
            return len((await anext(live)).content.parts)

    assert asyncio.run(talk()) == 1


def test_async_errors_come_through_the_iterator() -> None:
    async def talk() -> None:
        async with runner_of([{"close": 1000}]).run_live(live_config=LIVE) as live:
            async for _ in live:
                pass

    with pytest.raises(LiveReceiveFailed):
        asyncio.run(talk())


@pytest.mark.parametrize(
    "step, says",
    [
        ({"gett": 1}, "a step has one of get"),
        ({"get": 1, "drop": True}, "a step has one of"),
        ({"get": "1"}, "'get' holds int"),
        ({"get": True}, "'get' holds int"),
        ({"close": "1000"}, "'close' holds int"),
        ({"drop": True, "reason": "x"}, "only a close has a reason"),
        ("drop", "not 'drop'"),
        ({"flood": {"message": {}}}, "'times' is a whole number"),
        ({"flood": {"message": {}, "times": 0}}, "'times' is a whole number"),
        ({"flood": {"message": {}, "times": 2, "per_second": 0.5}}, "'per_second' is a whole number"),
        ({"flood": {"times": 2}}, "a flood has 'message'"),
    ],
)
def test_a_script_that_cannot_be_played_is_refused(step: Any, says: str) -> None:
    for make in (ScriptedLive, FakeLive):
        with pytest.raises(BadData, match=r"connections\[1\]\[0\]: .*" + says):
            make([[], [step]])


def test_a_scripted_live_model_answers_no_turn() -> None:
    with pytest.raises(TypeError, match="run_live"):
        list(Runner(LlmAgent("voice", ScriptedLive([]))).run("x"))


def test_the_line_is_dialled_as_slowly_as_one_likes() -> None:
    waited: list[int] = []

    def backoff(in_vain: int) -> float:
        waited.append(in_vain)
        return 0.01

    model = ScriptedLive([[PONG, {"drop": True}], [{"drop": True}], [{"drop": True}], [PONG]])
    with Runner(LlmAgent("voice", model), live_backoff=backoff).run_live(live_config=LIVE) as live:
        for _ in range(2):
            list(live.turn())
    assert waited == [0, 1, 2]


def test_a_close_does_not_wait_for_the_backoff() -> None:
    model = ScriptedLive([[{"drop": True}]])
    live = Runner(LlmAgent("voice", model), live_backoff=60).run_live(live_config=LIVE)
    next(live)
    start = time.monotonic()
    threading.Timer(0.05, live.close).start()
    assert list(live) == []
    assert time.monotonic() - start < 5
