"""A live run under the Stepper: forward and back, with nothing sent or run twice."""

from __future__ import annotations

from typing import Any

import pytest

from adknb.engine.live import LiveReceiveFailed
from adknb.engine.llm_agent import LlmAgent
from adknb.engine.runner import Runner
from adknb.scenarios.live_script import ScriptedLive
from adknb.stepper.live_play import LivePlay, live_play
from adknb.stepper.run import Run
from adknb.stepper.stepper import Stepper
from adknb.stepper.wishes import at
from tests.live.golden import PONG
from tests.live.harness import GET, calls, line_of, model_says, server_line
from tests.live.words import in_few_words

WAIT = at(seam="live_wait")


class Case:
    """A Stepper over a scripted live run, and how often its tool has run."""

    def __init__(self, *connections: Any) -> None:
        self.ran: list[int] = []

        def look() -> dict[str, int]:
            """Look."""
            self.ran.append(1)
            return {"t": len(self.ran)}

        self.model = ScriptedLive(connections)
        run = Run(live_play(LlmAgent("voice", self.model, tools=[look])))
        run.advance()
        self.dbg = Stepper(run=run)

    @property
    def got(self) -> list[str]:
        return [in_few_words(server_line(*entry)) for entry in self.model.log if entry[1] == "got"]


def play_of(dbg: Stepper) -> LivePlay:
    play = dbg._run.play
    assert isinstance(play, LivePlay)
    return play


def stored(dbg: Stepper) -> list[str]:
    return [in_few_words(line_of(event)) for event in dbg.session.events]


def stops(dbg: Stepper) -> list[str]:
    return [str(stop) for stop in dbg.stops]


TURN = ["voice:", "user: 'hi'", "voice: look#t()", "voice: look#t={'t': 1}", "voice: 'pong' done"]
GOT = ["1 got content user 'hi'", "1 got tool look#t={'t': 1}"]


def after_a_turn() -> Case:
    case = Case([GET, calls(("look", "t")), GET, PONG], [model_says("again")])
    case.dbg.until(WAIT)
    play_of(case.dbg).send("hi")
    case.dbg.until(WAIT)
    assert stored(case.dbg) == TURN
    assert case.got == GOT
    return case


def test_a_fork_stands_where_it_was_taken_and_repeats_nothing() -> None:
    case = after_a_turn()
    fork = case.dbg.fork()
    assert stops(fork) == stops(case.dbg)
    assert stored(fork) == TURN
    assert (case.got, len(case.ran), case.model.dialled) == (GOT, 1, 1)
    fork.close()
    case.dbg.close()


@pytest.mark.parametrize("share", [0.0, 0.2, 0.5, 0.8, 0.95])
def test_going_back_and_on_again_meets_the_same_stops(share: float) -> None:
    case = after_a_turn()
    before = stops(case.dbg)
    case.dbg.rewind(int(len(before) * share))
    while len(case.dbg.stops) < len(before):
        case.dbg.step()
    assert stops(case.dbg) == before
    assert stored(case.dbg) == TURN
    assert (case.got, len(case.ran), case.model.dialled) == (GOT, 1, 1)
    case.dbg.close()


def test_going_back_twice_keeps_what_lies_ahead() -> None:
    case = after_a_turn()
    before = stops(case.dbg)
    for number in (50, 40, 10):
        case.dbg.rewind(number)
    while len(case.dbg.stops) < len(before):
        case.dbg.step()
    assert stops(case.dbg) == before and len(case.ran) == 1
    case.dbg.close()


def test_sending_something_else_after_going_back_dials_anew() -> None:
    case = after_a_turn()
    first_wait = stops(case.dbg).index("before live_wait wait")
    case.dbg.rewind(first_wait)
    play_of(case.dbg).send("hello")
    case.dbg.until(WAIT)
    assert stored(case.dbg) == ["voice:", "user: 'hello'", "voice:", "voice: 'again'"]
    assert case.model.dialled == 2
    case.dbg.close()


def test_closing_at_a_stop_ends_the_run_and_is_done_again_by_a_fork() -> None:
    case = after_a_turn()
    play_of(case.dbg).close()
    case.dbg.resume()
    assert case.dbg.here is None
    fork = case.dbg.fork()
    assert stops(fork) == stops(case.dbg) and stored(fork) == TURN
    fork.close()


def test_an_error_is_met_again() -> None:
    case = Case([{"close": 1000, "reason": "bye"}])
    case.dbg.resume()
    error = case.dbg._run.error
    assert isinstance(error, LiveReceiveFailed)
    fork = case.dbg.fork()
    assert str(fork._run.error) == str(error) and case.model.dialled == 1


def test_a_runner_can_be_played_and_nothing_else() -> None:
    play = live_play(Runner(LlmAgent("voice", ScriptedLive([[]]))))
    run = Run(play)
    run.advance()
    run.close()
    with pytest.raises(TypeError, match="an agent or a runner, not str"):
        live_play("voice")  # type: ignore[arg-type]
