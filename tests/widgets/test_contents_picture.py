"""The picture of an assembly agrees with the assembly it was made from."""

import json

import pytest

from adknb.engine.errors import AdknbError
from adknb.engine.event import Event
from adknb.engine.processors.contents import Viewer, assemble
from adknb.widgets.book import PASSES
from adknb.widgets.contents_picture import FOLD_ABOVE, MOST_ROWS, fates_column, picture
from adknb.widgets.event_rows import EventRows
from adknb.widgets.wire import clean
from tests.widgets.runs import golden, names

FIRST, END, FATE, PASS, TO, STEPS, TAG, DIFFERS, BARS, OPENED = range(10)
KEY, FROM, ROLE, KIND, TEXT, CONTEXT, COUNT, CALLS, ANSWERS, STEP = range(10)


def stored(name):
    scenario = golden(name)
    return [Event.from_json(e) for e in scenario.get("events", [])], scenario["agent"]


def drawn(events, viewer, opened=(), own=None):
    rows = EventRows()
    rows.update(events, {})
    assembly = assemble(events, viewer, passes=True)
    return assembly, clean(picture(assembly, rows.rows, opened, own))


CONTENTS = [n for f in ("contents", "branch", "scope", "compaction") for n in names(f)[:40]]


@pytest.mark.parametrize("name", CONTENTS)
@pytest.mark.parametrize("branch", ["", "root.a"])
def test_rows_and_lists_agree_with_the_assembly(name, branch):
    events, agent = stored(name)
    try:
        assembly, shown = drawn(events, Viewer(agent["name"], branch=branch, compaction=True))
    except AdknbError:
        pytest.skip("this assembly ends the run")
    json.dumps(shown, allow_nan=False).encode()
    assert sum(row[END] - row[FIRST] for row in shown["rows"]) == len(events)
    if len(events) <= FOLD_ABOVE:
        for row, fate in zip(shown["rows"], assembly.fates, strict=True):
            assert row[FATE] == fate.kind.replace("left_out", "out")
            assert row[TO] == list(fate.contents)
            assert bool(row[TAG]) == (fate.kind == "left_out")
    final = [shown["items"][i] for i in shown["lists"][-1]]
    assert sum(item[COUNT] for item in final) == len(assembly.contents)
    assert [item[ROLE] for item in final] == [c.role or "" for c in assembly.contents]
    assert len(shown["lists"]) == len(shown["sizes"]) == len(PASSES) + 1
    assert len(shown["marks"]) == len(PASSES)
    for size, positions in zip(shown["sizes"], shown["lists"], strict=True):
        assert sum(shown["items"][i][COUNT] for i in positions) == size
    for item in shown["items"]:
        assert all(0 <= row < len(shown["rows"]) for row in item[FROM])
    for row in shown["rows"]:
        assert all(0 <= step < len(shown["steps"]) for step in row[STEPS])
        assert all(1 <= shown["steps"][step][0] <= len(PASSES) for step in row[STEPS])


def test_every_ribbon_of_a_sent_event_ends_in_its_content():
    for name in names("contents"):
        events, agent = stored(name)
        try:
            assembly, shown = drawn(events, Viewer(agent["name"]))
        except AdknbError:
            continue
        ends = {}
        for j, i in enumerate(shown["lists"][-1]):
            for row in shown["items"][i][FROM]:
                ends.setdefault(row, []).append(j)
        assert [ends.get(k, []) for k in range(len(events))] == [list(f.contents) for f in assembly.fates]


def event(i, author, turn, text="hi", **kw):
    role = "user" if author == "user" else "model"
    content = {"role": role, "parts": [{"text": text}]}
    return Event.from_json({"author": author, "invocationId": f"t{turn}", "content": content, "timestamp": i + 1, **kw})


def long_session(turns):
    return [e for t in range(turns) for e in (event(2 * t, "user", t), event(2 * t + 1, "a", t))]


def test_a_long_session_is_folded_by_turn_but_for_the_last():
    _, shown = drawn(long_session(60), Viewer("a"))
    assert len(shown["rows"]) == 61
    assert shown["rows"][0][BARS] == "kk"
    assert [row[END] - row[FIRST] for row in shown["rows"][-3:]] == [2, 1, 1]


def test_a_folded_turn_can_be_opened():
    _, shown = drawn(long_session(60), Viewer("a"), opened=[4])
    assert [(r[FIRST], r[END], r[OPENED]) for r in shown["rows"][1:5]] == [(2, 4, -1), (4, 5, 4), (5, 6, 4), (6, 8, -1)]


def test_of_very_many_turns_several_share_a_row():
    _, shown = drawn(long_session(2_000), Viewer("a"))
    assert len(shown["rows"]) <= MOST_ROWS + 3
    assert sum(row[END] - row[FIRST] for row in shown["rows"]) == 4_000
    assert len(json.dumps(shown)) < 60_000


def test_turns_of_which_nothing_is_left_are_one_row_together():
    events = long_session(60)
    for e in events[20:60]:
        e.branch = "elsewhere"
    _, shown = drawn(events, Viewer("a", branch="here"))
    assert (20, 60) in [(row[FIRST], row[END]) for row in shown["rows"]]


def test_a_what_if_marks_the_events_whose_fate_differs():
    events = long_session(3)
    own = assemble(events, Viewer("a"), passes=True)
    _, shown = drawn(events, Viewer("b"), own=own)
    assert shown["off"] == 3
    assert [row[DIFFERS] for row in shown["rows"]] == [False, True] * 3


def test_the_column_of_the_event_table_says_the_same():
    events = [event(0, "user", 0), event(1, "a", 0, branch="x"), event(2, "b", 0)]
    column = fates_column(assemble(events, Viewer("a", branch="y"), passes=True))
    assert column == {"letters": "kor", "to": [0, -1, 1], "tag": [0, 1, 0], "tags": ["", "other branch"]}


def test_earlier_turns_are_counted_back():
    rows = EventRows()
    events = long_session(3)
    rows.update(events, {5: 1})
    assert [row[0] for row in rows.rows] == [-2, -2, -1, -1, 0, 1]
