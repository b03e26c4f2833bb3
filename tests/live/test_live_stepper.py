"""`step_live`: a live run under the Stepper, spoken to, edited, saved, replayed and gone back in."""

from __future__ import annotations

import copy
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from google.genai import types

import adknb
from adknb.engine.errors import BadData, NotBuiltYet
from adknb.engine.live import LiveBroken, LiveSessionClosed
from adknb.scenarios.live_script import ScriptedLive
from adknb.stepper.live_stepper import NOTHING_CAME, LiveStepper
from adknb.stepper.stepper import NotPaused
from tests.live.golden import PONG
from tests.live.harness import DONE, GET, calls, line_of, model_says, server_line
from tests.live.words import in_few_words

RECEIVED = adknb.at(seam="live_receive", phase="before")
OTHER = {"serverContent": {"modelTurn": {"role": "model", "parts": [{"text": "other"}]}}}


class Voice:
    """A scripted model, an agent with a tool and a streaming tool, and a Stepper that does not wait."""

    def __init__(self, *connections: Any, patience: float = 0.0) -> None:
        self.model, self.ran = ScriptedLive(connections), 0

        def look() -> dict[str, int]:
            """Look."""
            self.ran += 1
            return {"t": self.ran}

        def ticker() -> Iterator[str]:
            """Tick."""
            self.ran += 1
            yield from ("tick 0", "tick 1")

        self.agent = adknb.LlmAgent("voice", self.model, tools=[look, ticker])
        self.dbg = adknb.step_live(self.agent, adknb.LiveConfig(response_modalities=["TEXT"]), patience=patience)

    @property
    def got(self) -> list[str]:
        return [in_few_words(server_line(*entry)) for entry in self.model.log if entry[1] == "got"]


def stops(dbg: LiveStepper) -> list[str]:
    return [str(stop) for stop in dbg.stops]


def stored(dbg: LiveStepper) -> list[str]:
    return [in_few_words(line_of(event)) for event in dbg.events]


def talked() -> Voice:
    """A turn with a tool, over; a second connection is there."""
    voice = Voice([GET, calls(("look", "t")), GET, PONG], [GET, model_says("again")])
    voice.dbg.send("hi").resume()
    return voice


TURN = ["user: 'hi'", "voice:", "voice: look#t()", "voice: look#t={'t': 1}", "voice: 'pong' done"]


def test_a_run_goes_on_until_the_model_waits_for_the_reader() -> None:
    voice = talked()
    assert stored(voice.dbg) == TURN
    assert str(voice.dbg.here) == "before live_wait wait"
    assert voice.dbg.notice == NOTHING_CAME


@pytest.mark.parametrize("command", ["step", "next", "finish", "resume"])
def test_no_command_waits_for_what_does_not_come(command: str) -> None:
    dbg = talked().dbg
    before = len(dbg.stops)
    getattr(dbg, command)()
    assert (len(dbg.stops), dbg.notice) == (before, NOTHING_CAME)


def test_a_message_that_comes_while_it_waits_is_waited_for() -> None:
    voice = Voice([model_says("late")], patience=5.0)
    connection: list[Any] = []
    connect = voice.model.connect_live
    voice.model.connect_live = lambda config, bell: connection.append(bell) or connect(config, bell)  # type: ignore
    voice.dbg.until(adknb.at(seam="live_wait"))
    threading.Timer(0.05, connection[0].ring).start()
    voice.dbg.step()
    assert voice.dbg.notice != NOTHING_CAME
    voice.dbg.close()


def test_breakpoints_hold_in_a_live_run() -> None:
    voice = Voice([GET, calls(("look", "t")), GET, PONG])
    voice.dbg.break_at(adknb.at(tool="look"))
    voice.dbg.send("hi").resume()
    assert (str(voice.dbg.here), voice.dbg.notice[:10]) == ("before tool look", "breakpoint")
    assert voice.dbg.args == {}


def says_more(dbg: LiveStepper) -> None:
    dbg.message.server_content.model_turn.parts[0].text = "edited"


ANSWERS: list[tuple[str, Callable[[LiveStepper], Any], list[str]]] = [
    ("as it came", lambda dbg: dbg.step(), ["voice: 'po'", "voice: done"]),
    ("edited", says_more, ["voice: 'edited'", "voice: done"]),
    ("dropped", lambda dbg: dbg.skip(None), ["voice: done"]),
    ("another, as JSON", lambda dbg: dbg.skip(OTHER), ["voice: 'other'", "voice: done"]),
    (
        "another, as a record",
        lambda dbg: dbg.skip(types.LiveServerMessage.model_validate(OTHER)),
        ["voice: 'other'", "voice: done"],
    ),
    ("lost, with the line", lambda dbg: dbg.fail(LiveBroken(1006, "made up")), ["voice:"]),
]


@pytest.mark.parametrize("what, act, told", ANSWERS, ids=[row[0] for row in ANSWERS])
@pytest.mark.parametrize("then", ["go on", "fork", "rewind", "replay"])
def test_a_received_message_can_be_edited_dropped_replaced_or_lost(
    what: str, act: Callable[[LiveStepper], Any], told: list[str], then: str, tmp_path: Path
) -> None:
    voice = Voice([GET, model_says("po"), DONE], [])
    dbg = voice.dbg
    dbg.send("hi").until(adknb.when(lambda stop: str(stop) == "before live_receive model_turn"))
    act(dbg)
    dbg.resume()
    if then == "fork":
        dbg = dbg.fork()
    elif then == "rewind":
        last = len(dbg.stops) - 1
        dbg.rewind(last)
    elif then == "replay":
        dbg = adknb.replay(dbg.save(tmp_path / "run.json") and tmp_path / "run.json", voice.agent)  # type: ignore
    assert stored(dbg)[2:] == told
    assert isinstance(dbg, LiveStepper) and voice.model.dialled == (2 if "lost" in what else 1)


def wrong(act: Callable[[LiveStepper], Any], at: str, error: type[Exception], words: str) -> Any:
    return pytest.param(act, at, error, words, id=f"{at}: {words}")


@pytest.mark.parametrize(
    "act, at, error, words",
    [
        wrong(lambda d: d.skip("text"), "live_receive", TypeError, "LiveServerMessage or None, not str"),
        wrong(lambda d: d.skip({"serverContent": 5}), "live_receive", BadData, "the message.serverContent"),
        wrong(lambda d: d.skip("x"), "live_send", TypeError, "comes to None .skip.. does not send it., not str"),
        wrong(lambda d: d.skip(None), "live_connect", TypeError, "a connection cannot be made by hand"),
        wrong(lambda d: d.skip(None), "live_wait", NotPaused, "no call to answer for where the run waits"),
        wrong(lambda d: d.fail("x"), "live_wait", NotPaused, "no call to answer for where the run waits"),
        wrong(lambda d: d.send(5), "live_wait", TypeError, "takes a text, a Content"),
    ],
)
def test_what_does_not_fit_is_refused_and_the_run_stays(
    act: Callable[[LiveStepper], Any], at: str, error: type[Exception], words: str
) -> None:
    voice = Voice([GET, model_says("po")])
    voice.dbg.send("hi").until(adknb.at(seam=at, phase="before"))
    here = voice.dbg.here
    with pytest.raises(error, match=words):
        act(voice.dbg)
    assert voice.dbg.here is here


def test_closing_ends_the_run_and_a_second_time_leaves() -> None:
    voice = talked()
    voice.dbg.close()
    assert voice.dbg.notice == "the live session is closed; going on ends the run"
    with pytest.raises(LiveSessionClosed):
        voice.dbg.send("more")
    voice.dbg.resume()
    assert voice.dbg.here is None and voice.dbg.error is None
    voice.dbg.close()


@pytest.mark.parametrize("offline", [False, True])
def test_a_saved_run_stands_where_it_stood_and_nothing_is_dialled_or_run(offline: bool, tmp_path: Path) -> None:
    voice = talked()
    voice.dbg.save(tmp_path / "run.json")
    again = adknb.replay(tmp_path / "run.json", voice.agent, offline=offline)
    assert (stops(again), stored(again)) == (stops(voice.dbg), TURN)  # type: ignore[arg-type]
    assert (voice.model.dialled, voice.ran) == (1, 1)
    again.send("more").resume()
    if offline:
        assert "the recording ends here: the model is not dialled again" in str(again.error)
    else:
        assert stored(again)[-3:] == ["user: 'more'", "voice:", "voice: 'again'"]  # type: ignore[arg-type]
    assert voice.model.dialled == (1 if offline else 2)


def test_a_file_written_twice_is_the_same(tmp_path: Path) -> None:
    voice = talked()
    voice.dbg.save(tmp_path / "a.json")
    adknb.replay(tmp_path / "a.json", voice.agent).save(tmp_path / "b.json")
    assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()


@pytest.mark.parametrize(
    "change, words",
    [
        ({"connections": [{"received": [5]}]}, r"live.connections\[0\].received\[0\]: expected an object"),
        ({"connections": [{"raise": {"type": 5}}]}, r"live.connections\[0\]"),
        ({"sends": [{"told": "x"}]}, r"live.sends\[0\].told: expected a whole number"),
        ({"taken": [True]}, r"live.taken\[0\]: expected a whole number"),
        ({"config": {"nope": 1}}, "live.config: unknown field 'nope'"),
        ({"config": {"speech_config": 5}}, "live.config.speech_config"),
        ({"nope": []}, "live: unknown field 'nope'"),
    ],
)
def test_a_broken_file_says_where(change: dict[str, Any], words: str, tmp_path: Path) -> None:
    import json

    voice = talked()
    voice.dbg.save(tmp_path / "run.json")
    document = json.loads((tmp_path / "run.json").read_text())
    document["live"] |= change
    with pytest.raises(BadData, match=words):
        adknb.replay(document, voice.agent)


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9, "file"])
def test_what_streaming_tools_sent_is_sent_again_at_its_moment(share: Any, tmp_path: Path) -> None:
    stop = {"send": {"toolCall": {"functionCalls": [
        {"id": "s", "name": "stop_streaming", "args": {"function_name": "ticker"}}]}}}  # fmt: skip
    voice = Voice([GET, calls(("ticker", "t")), GET, GET, GET, stop, GET, PONG], patience=0.5)
    voice.dbg.send("hi").resume()
    before, sent = stops(voice.dbg), voice.got
    assert [line for line in sent if "tick 1" in line] and stored(voice.dbg)[-1] == "voice: 'pong' done"
    dbg = voice.dbg
    if share == "file":
        dbg.save(tmp_path / "run.json")
        dbg = adknb.replay(tmp_path / "run.json", voice.agent)  # type: ignore[assignment]
    else:
        dbg.rewind(int(len(before) * share))
        dbg.resume()
    assert stops(dbg) == before
    assert (voice.got, voice.ran, voice.model.dialled) == (sent, 1, 1)


def test_what_is_said_where_a_recording_ends_reaches_the_new_connection() -> None:
    voice = talked()
    voice.dbg.rewind(stops(voice.dbg).index("before live_receive tool_call"))
    voice.dbg.send("something else").resume()
    assert voice.got[-1] == "2 got content user 'something else'"
    assert stored(voice.dbg)[-3:] == ["user: 'something else'", "voice:", "voice: 'again'"]
    fork = voice.dbg.fork()
    assert stops(fork) == stops(voice.dbg) and voice.model.dialled == 2


def test_beginning_anew_asks_the_model_again() -> None:
    voice = talked()
    voice.dbg.restart(fresh=True)
    voice.dbg.send("hi").resume()
    assert voice.model.dialled == 2 and stored(voice.dbg)[-1] == "voice: 'again'"


@pytest.mark.parametrize(
    "connections, found",
    [
        ([[{"drop": True}]] * 2 + [[PONG]], []),
        ([[PONG, {"drop": True}]] * 5 + [[]], []),
        ([[{"drop": True}]] * 4 + [[PONG]], [("warning", 4)]),
        ([[{"drop": True}]] * 3 + [[]], [("warning", 3)]),
        ([[{"close": 1008}]] * 12 + [[]], [("error", 12)]),
    ],
)
def test_a_loop_of_reconnects_without_progress_is_a_finding(connections: Any, found: Any) -> None:
    voice = Voice(*connections)
    voice.dbg.resume()
    told = [f for f in voice.dbg.findings() if f.check == "live-reconnects-in-vain"]
    assert [(f.severity, f.facts["connections"]) for f in told] == found


@pytest.mark.parametrize("error", [BadData("a.json: x", "expected a list"), NotBuiltYet("that"), LiveBroken(1006, "x")])
def test_errors_can_be_copied(error: Exception) -> None:
    again = copy.deepcopy(error)
    assert (type(again), str(again), vars(again)) == (type(error), str(error), vars(error))


@pytest.mark.parametrize("patience", [-1, float("nan")])
def test_a_patience_that_is_none_is_refused(patience: float) -> None:
    with pytest.raises(ValueError, match="patience is in seconds"):
        adknb.step_live(adknb.LlmAgent("a", ScriptedLive([[]])), patience=patience)
