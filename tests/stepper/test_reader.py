"""Whatever the reader does, a replay agrees with the run, and no model and no tool is used twice.

Hypothesis plays the reader. 500 actions in CI; `ADKNB_NIGHTLY=1 pytest tests/stepper/test_reader.py` plays 10,000.
"""

from __future__ import annotations

import copy
import os
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, settings, stateful
from hypothesis import Phase as Phase_
from hypothesis import strategies as st

import adknb
from adknb import Stepper, at, when
from adknb.engine.platform import interleaved
from adknb.engine.stops import Phase, Seam
from adknb.scenarios import Script, load

GOLDEN = Path(__file__).parent.parent / "golden" / "scenarios.jsonl"
FAMILIES = ("seed", "loop", "callbacks", "confirmation", "delegation", "workflow", "parallel", "transfer", "streaming",
            "structured", "long_running", "compaction", "mixed")  # fmt: skip
SCENARIOS = [s for s in load(str(GOLDEN)) if s["name"].startswith(FAMILIES)]
NIGHTLY = bool(os.environ.get("ADKNB_NIGHTLY"))
SEAMS = (Seam.PROCESSOR, Seam.MODEL, Seam.TOOL, Seam.EVENT, Seam.APPEND, Seam.AFTER_MODEL, Seam.BEFORE_TOOL, Seam.TURN)


def story(dbg: Stepper) -> Any:
    """What a run has told, and where it stands."""
    events = [e.to_json() for e in dbg.events]
    stops = [(str(s), s.turn, s.step, s.agent, s.lane, s.depth, s.error) for s in dbg.stops]
    return copy.deepcopy((stops, events, dbg.requests, dict(dbg.state), dbg.tools_run, dbg.request_now, str(dbg.here)))


class Reader(stateful.RuleBasedStateMachine):
    """One reader with one run."""

    @stateful.initialize(scenario=st.sampled_from(SCENARIOS), side_by_side=st.booleans())
    def begin(self, scenario: dict[str, Any], side_by_side: bool) -> None:
        self.used: list[str] = []
        self.count, used = Script.count, self.used

        def counted(script: Script, double: str) -> int:
            if double.startswith(("model of", "tool ")):
                used.append(double)
            return real(script, double)

        real = self.count
        Script.count = counted  # type: ignore[method-assign]
        self.dbg = adknb.step(scenario, runner=interleaved if side_by_side else None)

    @stateful.rule(command=st.sampled_from(["step", "step", "next", "next", "finish"]))
    def go_on(self, command: str) -> None:
        getattr(self.dbg, command)()

    @stateful.rule(seam=st.sampled_from(SEAMS), phase=st.sampled_from(list(Phase)))
    def go_to(self, seam: Seam, phase: Phase) -> None:
        self.dbg.until(at(seam=seam, phase=phase) | when(lambda stop: stop.seam is Seam.TURN))

    @stateful.precondition(lambda self: self.dbg.lanes)
    @stateful.rule(data=st.data())
    def choose_a_lane(self, data: Any) -> None:
        self.dbg.choose(data.draw(st.sampled_from(self.dbg.lanes)))

    @stateful.rule(word=st.sampled_from(["sun", "rain"]))
    def edit(self, word: str) -> None:
        if self.dbg.here is None:
            return
        if self.dbg.here.seam is Seam.TOOL and self.dbg.here.phase is Phase.AFTER and isinstance(self.dbg.result, dict):
            self.dbg.result[word] = True
        elif self.dbg.args is not None:
            self.dbg.args["city"] = word
        elif self.dbg.response is not None and self.dbg.response.content and self.dbg.response.content.parts:
            self.dbg.response.content.parts[0].text = word
        elif self.dbg.request is not None and self.dbg.request.contents:
            self.dbg.request.append_instructions(word)
        elif self.dbg.here.holds.get("ctx") is not None:
            self.dbg.state["word"] = word

    @stateful.precondition(lambda self: self.dbg.here is not None and self.dbg.here.seam in (Seam.MODEL, Seam.TOOL))
    @stateful.rule(fails=st.booleans())
    def answer(self, fails: bool) -> None:
        assert self.dbg.here is not None
        if fails:
            self.dbg.fail("made to fail")
        else:
            self.dbg.skip("made up" if self.dbg.here.seam is Seam.MODEL else {"made": "up"})

    @stateful.rule(data=st.data())
    def rewind(self, data: Any) -> None:
        number = data.draw(st.integers(0, len(self.dbg.stops) - 1))
        used = len(self.used)
        self.dbg.rewind(number)
        assert len(self.used) == used
        assert self.dbg.position == number

    @stateful.rule()
    def back(self) -> None:
        used = len(self.used)
        self.dbg.back()
        assert len(self.used) == used

    @stateful.rule()
    def fork(self) -> None:
        before, used = story(self.dbg), len(self.used)
        other = self.dbg.fork()
        assert len(self.used) == used
        assert story(other) == before == story(self.dbg)

    def teardown(self) -> None:
        if not hasattr(self, "dbg"):
            return
        try:
            other = self.dbg.fork()
            self.dbg.resume()
            other.resume()
            assert story(other) == story(self.dbg)
            used = len(self.used)
            other.restart()
            assert len(self.used) == used
        finally:
            Script.count = self.count  # type: ignore[method-assign]


Reader.TestCase.settings = settings(
    max_examples=500 if NIGHTLY else 25,
    stateful_step_count=20,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    phases=(Phase_.explicit, Phase_.reuse, Phase_.generate),  # a shrink of a whole run takes minutes
)
TestReader = Reader.TestCase
