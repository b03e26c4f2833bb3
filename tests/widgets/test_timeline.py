"""The tree of stops."""

import itertools

import pytest

import adknb
from adknb import at
from adknb.engine.platform import interleaved
from adknb.widgets.timeline import Timeline
from tests.widgets.runs import golden, names, said, weather


def rows(dbg):
    timeline = Timeline()
    timeline.update(dbg.stops, dbg.events)
    return timeline.rows


def drawn(dbg):
    """The tree as indented lines."""
    return ["  " * row.depth + f"{row.name} {row.note}".rstrip() for row in rows(dbg)]


def test_a_turn_has_agents_steps_and_one_row_for_each_call():
    assert drawn(weather().resume()) == [
        "Turn 1 杭州天气怎么样？",
        "  event 0 user",
        "  weather_agent",
        *STEP,
        "      event on its way",
        "      event 1 weather_agent",
        "      get_weather",
        "      merge",
        "      event on its way",
        "      event 2 weather_agent",
        *[line.replace("Step 1", "Step 2").replace("1 content", "3 contents") for line in STEP],
        "      event on its way",
        "      event 3 weather_agent",
        "  end of the turn",
    ]


STEP = [
    "    Step 1",
    *("      " + name for name in ("basic", "tools", "auth", "confirmation")),
    "      instructions 1 paragraph",
    "      identity 1 paragraph",
    "      compaction",
    "      contents 1 content",
    *("      " + name for name in ("planning", "code_execution", "output_schema", "transfer", "display_name")),
    "      declare 1 declaration",
    "      model offline-demo",
    "      planning_response",
    "      code_execution_response",
]


@pytest.mark.parametrize("name", [n for f in ("seed", "callbacks", "parallel", "loop") for n in names(f)[:8]])
def test_rows_made_stop_by_stop_are_those_made_at_once(name):
    dbg, timeline = adknb.step(golden(name)), Timeline()
    shown = []
    for _ in range(400):
        kept, changed = timeline.update(dbg.stops, dbg.events)
        assert all(i < kept for i in changed)
        shown = shown[:kept] + [row.to_json() for row in timeline.rows[kept:]]
        for i in changed:
            shown[i] = timeline.rows[i].to_json()
        assert len(timeline.row_of) == len(dbg.stops)
        if dbg.here is None:
            break
        dbg.step()
    assert shown == [row.to_json() for row in rows(dbg)]


@pytest.mark.parametrize(
    "name", [n for f in ("seed", "callbacks", "parallel", "loop", "contents") for n in names(f)[:8]]
)
def test_every_stop_has_its_row_and_no_row_is_deeper_than_one_below_another(name):
    dbg = adknb.step(golden(name)).resume()
    timeline = Timeline()
    timeline.update(dbg.stops, dbg.events)
    for record, row in zip(dbg.stops, timeline.row_of, strict=True):
        assert timeline.rows[row].first <= record.number
        assert timeline.rows[row].noop == record.noop
    depths = [row.depth for row in timeline.rows]
    assert depths[0] == 0
    if not any(row.lanes for row in timeline.rows):
        assert all(b <= a + 1 for a, b in itertools.pairwise(depths))


def test_calls_side_by_side_stand_in_lanes_in_the_order_of_time():
    dbg = adknb.step(golden("seed/two_tools_merge_in_call_order"), runner=interleaved).until(at(seam="merge"))
    lanes = [(row.name, row.lane, row.lanes) for row in rows(dbg) if row.lanes and row.kind == "tool"]
    assert [lane for _, lane, _ in lanes] == [0, 1]
    assert lanes[-1][2] == 0b11
    assert rows(dbg)[-1].lanes == 0


def test_agents_side_by_side_have_a_heading_for_each_step_in_their_lane():
    tree = rows(adknb.step(golden("parallel/7"), runner=interleaved).resume())
    heads = [row.name for row in tree if row.kind == "step"]
    assert sorted(heads) == sorted(set(heads))
    assert {"north, step 1", "south, step 1", "south, step 2", "east, step 1", "east, step 2"} <= set(heads)
    assert max(row.lane for row in tree) == 2


def test_a_call_that_fails_says_so_in_its_row():
    dbg = said("one")
    dbg.until(at("model")).fail("the line is dead")
    row = next(row for row in rows(dbg) if row.kind == "model")
    assert (row.failed, row.note) == (True, "RuntimeError: the line is dead")


def test_stages_know_what_is_done_and_what_runs_inside_another():
    dbg = weather().until(at("identity"))
    timeline = Timeline()
    timeline.update(dbg.stops)
    step = timeline.step_of(dbg.stops[-1])
    assert (step.reached, sorted(step.wrote)) == (5, [0, 1, 2, 3, 4, 5])


def test_the_cost_of_a_stop_does_not_grow_with_the_history():
    """Counted in rows touched, not in seconds."""
    dbg = said(*["yes"] * 8)
    timeline = Timeline()
    touched = []
    while dbg.here is not None:
        kept, changed = timeline.update(dbg.stops, dbg.events)
        touched.append(len(timeline.rows) - kept + len(changed))
        dbg.step()
    assert max(touched) <= 4
