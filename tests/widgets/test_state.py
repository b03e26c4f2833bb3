"""The State page: keys with their writers, what is on its way, merges, history of a key."""

import pytest

import adknb
from adknb import at
from adknb.engine.llm_agent import LlmAgent
from adknb.engine.model import FunctionModel
from adknb.lens.state_changes import state_changes
from adknb.widgets import static
from adknb.widgets.state import changes_of, held_by, state_page, text
from adknb.widgets.text import flat
from tests.engine.histories import event
from tests.lens.test_state_changes import wrote
from tests.widgets.runs import HOSTILE, said
from tests.widgets.runs_a import merging, trip


def words(spans):
    """The words of a cell; events and authors as they are shown."""
    return "".join(f"#{s[1]}" if s[0] == "ev" else s if isinstance(s, str) else flat(s[1:]) for s in spans)


def tables(page):
    return [[[words(cell) for cell in row] for row in block[2]] for block in page[0] if block[0] == "table"]


def rows(page, head):
    blocks = page[0]
    k = next(k for k, block in enumerate(blocks) if block[0] == "h" and words(block[1:]).startswith(head))
    return [(words(row["by"]), [words(line) for line in row["text"]]) for row in blocks[k + 1][2]]


def test_a_key_says_its_value_its_scope_and_who_wrote_it_last():
    events = [wrote("clerk", a=0, user__b="x"), event("x"), wrote("desk", a=1)]
    (table,) = tables(state_page(state_changes(events)))
    assert table == [
        ["a", "1", "session", "#2 desk 2×"],
        ["user:b", '"x"', "user: all sessions of the user", "#0 clerk"],
    ]


def test_deltas_stand_newest_first_with_what_they_replaced():
    page = state_page(state_changes([wrote("clerk", a=0), wrote("desk", a=1, b=2)]))
    assert rows(page, "Deltas") == [("#1desk", ["a = 0 1", "b = 2"]), ("#0clerk", ["a = 0"])]


def test_one_key_can_be_followed_through_the_session():
    events = [wrote("clerk", a=0), wrote("desk", b=1), wrote("desk", a=2)]
    assert rows(state_page(state_changes(events), "a"), "Writes of") == [
        ("#2desk", ["a = 0 2"]),
        ("#0clerk", ["a = 0"]),
    ]
    assert "No event of this session has written it." in words(state_page(state_changes(events), "zz")[0][-1][1:])


def test_many_deltas_are_counted_but_for_the_newest():
    page = state_page(state_changes([wrote("a", k=i) for i in range(100)]))
    assert len(rows(page, "Deltas")) == 60
    assert words(page[0][-1][1:]) == "and 40 earlier deltas"


def test_writes_of_parallel_calls_are_shown_beside_each_other_with_the_winner():
    page = state_page(changes_of(merging()))
    merged = tables(page)[1]
    assert merged == [
        ["search › trains › to", '"Shanghai"', "–", '"Shanghai"'],
        ["last_search", '"trains"', '"rooms"', '"rooms"'],
        ["search › rooms › city", "–", '"Hangzhou"', '"Hangzhou"'],
    ]
    assert [by for by, _ in rows(page, "On its way")] == ["tool find_trains"] * 2 + ["tool search_rooms"] * 2
    pending = {row[0] for row in tables(page)[0] if row[3].endswith("not stored yet")}
    assert pending == {"last_search", "search"}


def test_a_merge_that_is_stored_is_no_longer_on_its_way():
    dbg = merging().until(at(seam="append", phase="after", agent="rail"))
    changes = changes_of(dbg)
    assert changes.pending == ()
    assert changes.merges[0].event == len(dbg.events) - 1


@pytest.mark.parametrize(
    "wish, holders",
    [
        (at("note_fares", phase="before"), []),
        (at("note_fares", phase="after"), ["before model note_fares"]),
        (at(tool="find_trains", phase="after"), ["tool find_trains"]),
    ],
)
def test_a_write_on_its_way_is_held_by_whoever_made_it(wish, holders):
    dbg = trip().until(wish)
    assert [holder for holder, delta in held_by(dbg.here, dbg.events) if delta] == holders


def test_values_that_are_no_json_and_texts_that_want_to_be_something_else_are_shown_as_text():
    class Odd:
        pass

    loop = []
    loop.append(loop)
    state = {h: h for h in HOSTILE} | {
        "odd": Odd(),
        "loop": loop,
        "nan": float("nan"),
        "bytes": b"x",
        "keys": {(1, 2): 3},
    }
    page = state_page(state_changes([wrote("a")], state, {}))
    html = "".join(static._block(block) for block in page[0])
    assert "<script>" not in html and "<img" not in html and "0x" not in html
    shown = {row[0]: row[1] for row in tables(page)[0]}
    assert shown["odd"] == '"<Odd>"' and shown["loop"] == "<list>"
    assert len(shown) == len(state)


def test_nothing_written_is_told():
    assert "Nothing has been written yet." in words(state_page(state_changes([]))[0][1][1:])


def test_the_text_form_is_stable():
    dbg = said("one", output_key="answer").resume()
    assert text(dbg) == 'state     1 key\n  answer  "one"  #1 speaker'
    agent = LlmAgent("a", FunctionModel(lambda r: "x", name="m"), before_model=lambda ctx, r: ctx.state.update(k=1))
    paused = adknb.step(agent, "hi").until(at(seam="before_model", phase="after"))
    assert text(paused).splitlines()[1:] == ["  k  1  not stored yet *", "  pending before model <lambda>: k = 1"]
