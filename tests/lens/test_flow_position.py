"""Where a run stands in the Flow: told stop by stop, and the same as the panel's track."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

import pytest

import adknb
from adknb import at
from adknb.engine.processors import REQUEST_PROCESSORS
from adknb.engine.stops import is_noop
from adknb.lens.flow_position import BEHIND, DECLARE, MODEL, PROCESSORS, TOOLS, flow_position
from adknb.widgets import present
from adknb.widgets.timeline import Timeline
from tests.widgets.runs import golden, names, said, weather

CONTENTS = 7


def test_the_stages_are_the_processors_of_the_engine_in_its_order() -> None:
    assert [name for name, *_ in PROCESSORS] == [p.__name__ for p in REQUEST_PROCESSORS]
    assert [not says for *_, says in PROCESSORS] == [is_noop(p) for p in REQUEST_PROCESSORS]


@pytest.mark.parametrize(
    "until, here, done, to_come",
    [
        (at(seam="append", phase="after"), -1, (), (0, CONTENTS)),
        (at("contents", phase="before"), CONTENTS, (0, 6), (CONTENTS + 1, MODEL)),
        (at("contents"), CONTENTS, (0, 6), (CONTENTS + 1, MODEL)),
        (at(seam="tool_declaration"), DECLARE, (0, CONTENTS, 12), (MODEL,)),
        (at(seam="model"), MODEL, (0, 12, DECLARE), (TOOLS,)),
        (at(tool="get_weather"), TOOLS, (CONTENTS, MODEL), ()),
        (at("basic", step=2), 0, (), (1, MODEL)),
    ],
)
def test_stages_are_done_here_or_to_come(until: Any, here: int, done: Any, to_come: Any) -> None:
    dbg = weather().until(until)
    position = flow_position(dbg.stops)
    assert position.here == here
    states = [stage.state for stage in position.stages]
    assert [states[k] for k in done] == ["done"] * len(done)
    assert [states[k] for k in to_come] == ["next"] * len(to_come)
    assert states.count("here") == (here >= 0)
    json.dumps(asdict(position))


def test_what_a_stage_wrote_is_told_and_a_noop_is_marked() -> None:
    stages = flow_position(weather().until(at("model")).stops).stages
    assert stages[CONTENTS].wrote == "1 content"
    assert [s.name for s in stages if s.noop] == ["auth", "planning", "code_execution"]


def test_nothing_has_begun_before_the_first_stop_and_a_turns_end_tells_the_last_step() -> None:
    assert flow_position([]).here == -1
    dbg = said("one").resume()
    position = flow_position(dbg.stops)
    assert (position.here, position.stages[CONTENTS].state) == (-1, "done")
    assert len(position.stages) == len(PROCESSORS) + len(BEHIND)


@pytest.mark.parametrize(
    "name",
    [
        *names("seed")[:8],
        *(f"{f}/{k}" for f in ("confirmation", "transfer", "delegation", "workflow") for k in range(4)),
    ],
)
def test_it_is_what_the_track_of_the_panel_shows_at_every_stop(name: str) -> None:
    dbg = adknb.step(golden(name))
    timeline = Timeline()
    while dbg.here is not None:
        timeline.update(dbg.stops, dbg.events)
        track, here = present.stages(dbg, timeline)
        position = flow_position(dbg.stops)
        assert ([s["state"] for s in track], here) == ([s.state for s in position.stages], position.here), dbg.here
        dbg.step()
