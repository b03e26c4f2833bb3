"""A live run stepped: every message in and out, every tool, every connection is a stop that can be answered."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from google.genai import types

from adknb.engine.context import LiveConfig
from adknb.engine.live import LiveBroken, LiveConnectFailed, LiveReceiveFailed, LiveSendFailed, LiveSession
from adknb.engine.runner import Runner
from adknb.engine.stops import Raise, Return, Seam, Stop
from adknb.scenarios.live_script import ScriptedLive
from tests.live.golden import PONG
from tests.live.harness import DONE, GET, Log, calls, line_of, model_says, text_of, voice
from tests.live.words import in_few_words

LIVE_SEAMS = (Seam.LIVE_CONNECT, Seam.LIVE_SEND, Seam.LIVE_WAIT, Seam.LIVE_RECEIVE, Seam.TOOL, Seam.APPEND)


class Stepped:
    """Steps a run and writes down its live stops and its events; `at` looks at each stop before going on."""

    def __init__(self, model: ScriptedLive, *tools: str, at: Callable[[Stop], None] = lambda stop: None) -> None:
        self.model, self.at = model, at
        self.session = LiveSession()
        self.runner = Runner(voice(*tools)(model, Log()))
        self.items = self.runner.iter_live(self.session, live_config=LiveConfig())
        self.stops: list[str] = []
        self.events: list[str] = []

    def run(self, until: str = "") -> Stepped:
        """Until a stop of that name, or the end."""
        for item in self.items:
            if not isinstance(item, Stop):
                self.events.append(in_few_words(line_of(item)))
                continue
            self.at(item)
            if item.seam in LIVE_SEAMS:
                self.stops.append(str(item))
                assert item.agent
                if str(item) == until:
                    return self
        return self

    @property
    def got(self) -> list[str]:
        from tests.live.harness import server_line

        return [in_few_words(server_line(*entry)) for entry in self.model.log if entry[1] == "got"]


def test_every_message_tool_and_connection_is_a_stop() -> None:
    stepped = Stepped(ScriptedLive([[GET, calls(("get_weather", "t")), GET, {"drop": True}], [DONE]]), "get_weather")
    stepped.session.send("hi")
    stepped.run("before live_wait wait")
    # fmt: off
    assert stepped.stops == [
        "before live_connect connect", "after live_connect connect",
        "before append user", "after append user",
        "before live_send client_content", "after live_send client_content",
        "before live_receive setup_complete", "after live_receive setup_complete",
        "before append voice", "after append voice",
        "before live_receive tool_call", "after live_receive tool_call",
        "before append voice", "after append voice",
        "before tool get_weather", "after tool get_weather",
        "before append voice", "after append voice",
        "before live_send tool_response", "after live_send tool_response",
        "before live_connect reconnect", "after live_connect reconnect",
        "before live_receive setup_complete", "after live_receive setup_complete",
        "before append voice", "after append voice",
        "before live_receive turn_complete", "after live_receive turn_complete",
        "before append voice", "after append voice",
        "before live_wait wait",
    ]
    # fmt: on
    stepped.items.close()


def answering(name: str, answer: Any) -> Callable[[Stop], None]:
    """Answer the first stop of that name."""
    left = [answer]

    def at(stop: Stop) -> None:
        if str(stop) == name and left:
            stop.answer = left.pop()

    return at


MESSAGE = types.LiveServerMessage
BREAK = LiveBroken(1006, "made up")


@pytest.mark.parametrize(
    "name, answer, events, got",
    [
        ("before live_receive model_turn", Return(None), ["voice:", "voice: done"], ["1 got content user 'hi'"]),
        ("after live_receive model_turn", Return(None), ["voice:", "voice: done"], ["1 got content user 'hi'"]),
        (
            "before live_receive model_turn",
            Return(MESSAGE.model_validate(model_says("other")["send"])),
            ["voice:", "voice: 'other'", "voice: done"],
            ["1 got content user 'hi'"],
        ),
        (
            "before live_receive turn_complete",
            Raise(BREAK),
            ["voice:", "voice: 'po'", "voice:"],
            ["1 got content user 'hi'"],
        ),
        ("before live_send client_content", Return(None), ["voice:"], []),
    ],
)
def test_a_message_can_be_dropped_replaced_or_lost(name: str, answer: Any, events: list[str], got: list[str]) -> None:
    stepped = Stepped(ScriptedLive([[GET, model_says("po"), DONE], []]), at=answering(name, answer))
    stepped.session.send("hi")
    stepped.run("before live_wait wait")
    assert stepped.events == events
    assert stepped.got == got
    stepped.items.close()


@pytest.mark.parametrize(
    "name, error, told",
    [
        ("before live_connect connect", OSError("no network"), LiveConnectFailed),
        ("before live_receive setup_complete", LiveBroken(1000, "bye"), LiveReceiveFailed),
        ("before live_send client_content", ValueError("too long"), LiveSendFailed),
        ("before live_send tool_response", BREAK, LiveSendFailed),
    ],
)
def test_a_fault_can_be_put_in(name: str, error: Exception, told: type[Exception]) -> None:
    script = [[GET, calls(("get_weather", "t")), GET, PONG]]
    stepped = Stepped(ScriptedLive(script), "get_weather", at=answering(name, Raise(error)))
    stepped.session.send("hi")
    with pytest.raises(told, match=str(error)):
        stepped.run()


def test_a_message_can_be_edited_on_its_way_out_and_in() -> None:
    def at(stop: Stop) -> None:
        if str(stop) == "before live_send client_content":
            stop.holds["message"].client_content.turns[0].parts[0].text = "hello"
        if str(stop) == "before live_receive turn_complete":
            stop.holds["message"].server_content.model_turn.parts[0].text = "bang"

    stepped = Stepped(ScriptedLive([[GET, PONG]]), at=at)
    stepped.session.send(text_of("user", "hi"))
    stepped.run("before live_wait wait")
    assert stepped.got == ["1 got content user 'hello'"]
    assert stepped.events[-1] == "voice: 'bang' done"
    stepped.items.close()


def test_the_config_can_be_edited_before_it_is_dialled() -> None:
    def at(stop: Stop) -> None:
        if stop.seam == Seam.LIVE_CONNECT and "outcome" not in stop.holds:
            stop.holds["config"].response_modalities = [types.Modality.AUDIO]

    stepped = Stepped(ScriptedLive([[]]), at=at).run("before live_wait wait")
    assert stepped.model.log[0][2]["responseModalities"] == ["AUDIO"]
    stepped.items.close()


def test_while_it_is_paused_messages_queue_and_nothing_is_lost() -> None:
    texts = [str(n) for n in range(500)]
    stepped = Stepped(ScriptedLive([[GET, *(model_says(t) for t in texts), DONE]]))
    stepped.session.send("go on")
    stepped.run("after live_send client_content")  # all 500 have arrived now
    assert stepped.events == []
    stepped.session.send("wait")  # goes out first, as soon as it is stepped on
    stepped.run("before live_wait wait")
    assert stepped.events == ["voice:", *(f"voice: {t!r}" for t in texts), "voice: done"]
    assert stepped.got == ["1 got content user 'go on'", "1 got content user 'wait'"]
    stepped.items.close()


def test_a_loop_of_reconnects_is_named_at_its_stop() -> None:
    findings = []

    def at(stop: Stop) -> None:
        if stop.seam == Seam.LIVE_CONNECT and "outcome" not in stop.holds:
            findings.append((stop.holds["attempt"], bool(stop.holds["finding"])))

    with pytest.raises(LiveConnectFailed):
        Stepped(ScriptedLive([[{"drop": True}]] * 5), at=at).run()
    assert findings == [(1, False), (2, False), (3, False), (4, True), (5, True), (6, True)]


def test_a_stepped_run_is_the_same_every_time() -> None:
    def once() -> list[str]:
        stepped = Stepped(ScriptedLive([[GET, calls(("get_weather", "t")), GET, PONG, {"drop": True}]]), "get_weather")
        stepped.session.send("hi")
        with pytest.raises(LiveConnectFailed):
            stepped.run()
        return stepped.stops + stepped.events

    assert once() == once()


def test_stops_say_whose_they_are() -> None:
    owners = set()

    def at(stop: Stop) -> None:
        owners.add((stop.seam, stop.agent, stop.step))

    stepped = Stepped(ScriptedLive([[PONG]]), at=at).run("before live_wait wait")
    stepped.items.close()
    assert {(s, a) for s, a, _ in owners if s.startswith("live")} == {
        (s, "voice") for s in ("live_connect", "live_receive", "live_wait")
    }
    assert {step for seam, _, step in owners if seam.startswith("live")} == {1}


@pytest.mark.parametrize("begun", [False, True])
def test_what_is_sent_before_the_first_step_waits(begun: bool) -> None:
    stepped = Stepped(ScriptedLive([[GET, PONG]]))
    if not begun:  # sent before the run is even made
        stepped.session = LiveSession()
    stepped.session.send("early")
    if not begun:
        stepped.items = stepped.runner.iter_live(stepped.session, live_config=LiveConfig())
    stepped.run("before live_wait wait")
    stored = stepped.runner.session_service.get("adknb", "user", "session-1").events
    assert [in_few_words(line_of(e)) for e in stored] == ["user: 'early'", "voice:", "voice: 'pong' done"]
    stepped.items.close()


def test_closing_ends_the_generator_at_its_next_step() -> None:
    stepped = Stepped(ScriptedLive([[]])).run("before live_wait wait")
    stepped.session.close()
    assert list(stepped.items) == []
