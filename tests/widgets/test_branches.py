"""The matrix on the wire and as text."""

import json

import pytest

from adknb.lens.visibility import LOOKS, visibility
from adknb.widgets.branches import Matrix, packed, text, unpacked, viewers_at
from adknb.widgets.panel import answers
from adknb.widgets.panel.widget import Panel
from tests.widgets.runs import said, weather
from tests.widgets.runs_a import family, relay, trip


@pytest.mark.parametrize(
    "cells, wire", [("", ""), ("o", "o"), ("ooo", "o3"), ("osb", "osb"), ("bbbbbbbbbbbb-", "b12-"), ("!!", "!2")]
)
def test_cells_are_packed_and_unpacked(cells, wire):
    assert packed(cells) == wire
    assert unpacked(wire) == cells


def asked(panel, **message):
    """What the panel sends back to a message."""
    heard = []
    panel.send = lambda content, buffers=None: heard.append(content)
    panel.serve(message)
    assert panel.errors == []
    return [m for m in heard if m["type"] not in ("stops", "rows")]


def matrix_of(panel, **more):
    got = [m for _ in range(12) for m in asked(panel, type="matrix", **more)]
    return next(m for m in got if not m.get("more"))


@pytest.mark.parametrize("run", [weather, trip, family])
def test_the_rows_are_those_of_the_lens(run):
    dbg = run()
    panel = Panel(dbg)
    m = matrix_of(panel)
    rows = {
        row.agent: row for row in visibility(dbg.events, viewers_at(dbg, answers.viewer_here(dbg, panel._invocation)))
    }
    assert [row[0] for row in m["rows"]] == list(rows)
    for name, _depth, _mode, branch, scope, cells, problem in m["rows"]:
        assert (unpacked(cells), branch, scope, problem) == (
            rows[name].cells,
            rows[name].branch,
            rows[name].scope,
            rows[name].problem,
        )
    assert m["looks"].keys() == LOOKS.keys()


def test_who_holds_the_newest_matrix_is_told_no_more_than_that():
    dbg = trip()
    panel = Panel(dbg)
    first = matrix_of(panel)
    (again,) = asked(panel, type="matrix", have=first["v"])
    assert again.keys() <= {"type", "v", "n", "same"}
    dbg.step()  # the same events
    (again,) = asked(panel, type="matrix", have=first["v"])
    assert again.get("same")
    n = len(dbg.events)
    while len(dbg.events) == n:
        dbg.step()
    newer = asked(panel, type="matrix", have=first["v"])[-1]
    assert newer["v"] > first["v"] and newer["rows"]


def test_a_view_that_is_opened_has_everything_read_anew():
    dbg = said("one", "two").resume()
    panel = Panel(dbg)
    matrix_of(panel)
    dbg.events[0].branch = "elsewhere"
    assert asked(panel, type="matrix")[-1]["rows"][0][5] == "so" * 2
    dbg.events[0].author = "stranger"
    assert matrix_of(panel, anew=True)["rows"][0][5][0] == "r"


def test_a_cell_tells_its_rule_the_branches_and_the_home_in_go():
    dbg = trip()
    (m,) = asked(Panel(dbg), type="meet", agent="rail_2", event=5)
    assert (m["agent"], m["event"], m["letter"]) == ("rail_2", 5, "b")
    assert m["branch"]["why"] == (
        "“scouts.rail_2” goes on with “_” where “scouts.rail” needs a dot: the name only begins alike"
    )
    assert m["steps"][0][1:3] == ["R5.6", "EventBelongsToBranch"]
    assert m["steps"][0][4] == "internal/utils/utils.go"


@pytest.mark.parametrize("agent, event", [("nobody", 0), ("rail", 10_000), ("rail", -1)])
def test_a_cell_that_is_not_there_is_told_as_an_error(agent, event):
    panel = Panel(trip())
    panel.send = lambda content, buffers=None: None
    panel.serve({"type": "meet", "agent": agent, "event": event})
    assert "no cell" in panel.errors[-1]


def test_rows_are_made_a_few_at_a_time_and_the_rest_is_promised():
    dbg = relay(300)
    m = Matrix()
    viewers = viewers_at(dbg, None)
    m.update(dbg.events, viewers)
    assert m.make(dbg.events, lambda v: {}, seconds=0) is False
    part = m.message([])
    assert part["more"] and [bool(row[5]) for row in part["rows"]].count(True) == 1
    while not m.make(dbg.events, lambda v: {}, seconds=0):
        pass
    assert not m.message([])["more"]
    assert [unpacked(row[5]) for row in m.message([])["rows"]] == [r.cells for r in visibility(dbg.events, viewers)]


def test_five_thousand_events_are_a_small_message():
    dbg = relay(5_000)
    panel = Panel(dbg)
    panel._kept.patient = True
    (m,) = asked(panel, type="matrix")
    assert not m["more"]
    assert len(json.dumps(m).encode()) < 100_000
    assert sum(len(unpacked(row[5])) for row in m["rows"]) == len(m["rows"]) * len(dbg.events)


def test_the_text_form_draws_a_sign_for_each_event():
    assert text(weather().resume()) == (
        "branches  1 agent, 4 events\n  weather_agent  ━●●●  4 of 4  no branch\n  ● speaks · ━ sees"
    )
    long = text(relay(300))
    assert "the last 60 shown" in long
    assert all(len(line) < 160 for line in long.splitlines())
