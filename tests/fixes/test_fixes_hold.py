"""What holds for every history (Hypothesis): healthy ones are left alone, and no fix invents, loses or writes."""

from __future__ import annotations

from typing import Any

import pytest
from google.genai import types
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from adknb import Event, fixes
from adknb.engine.errors import UnmatchedResponse
from adknb.engine.event_json import to_json
from adknb.engine.processors.contents import Viewer, assemble
from tests.engine.histories import call, event, me, response
from tests.engine.test_contents_properties import histories, tokens_of, viewers

quick = settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True)

TEXTS = st.sampled_from(["hi", "Lima", "two\nlines", "For context:", "[me] said: x"])
"""Texts without a second line that poses as the framework's."""


@st.composite
def rounds(draw: st.DrawFn) -> list[Event]:
    """One exchange as the engine stores it: a text, or calls with ids and their responses right behind."""
    author = draw(st.sampled_from(["me", "me", "user", "other"]))
    branch = draw(st.sampled_from(["", "", "p"]))
    if author == "user" or draw(st.booleans()):
        return [event(author, draw(TEXTS), branch=branch)]
    ids = [f"c{draw(st.integers(0, 10**9))}-{n}" for n in range(draw(st.integers(1, 3)))]
    waiting = draw(st.booleans())
    calls = event(author, *[call(i) for i in ids], branch=branch, long_running_tool_ids=ids if waiting else [])
    results = event(author, *[response(i) for i in ids], branch=branch)
    return [calls, results]


@st.composite
def healthy(draw: st.DrawFn) -> list[Event]:
    """A history with nothing to mend; it may end with a response, and hold a late one that was talked about since."""
    made = [e for r in draw(st.lists(rounds(), min_size=1, max_size=8)) for e in r]
    if draw(st.booleans()):
        late = [
            me(call("late"), long_running_tool_ids=["late"]),
            me(response("late", "pending")),
            me("I wait"),
            event("user", response("late", "done")),
        ]
        made += [*late, event("user", "thanks")]
    return made


@quick
@given(healthy(), st.sampled_from(["", "p", "p.q"]), st.sets(st.sampled_from(fixes.BEHIND_CONTENTS), min_size=1))
def test_a_healthy_history_is_sent_as_it_is(history: list[Event], branch: str, chosen: set[Any]) -> None:
    viewer = Viewer("me", branch=branch)
    plain, made = assemble(history, viewer), fixes.mended(history, viewer, list(chosen))
    assert to_json(made.contents) == to_json(plain.contents)
    assert made.added == plain.added
    assert made.fates == plain.fates


def mended(history: list[Event], viewer: Viewer, chosen: Any) -> fixes.Mended | None:
    try:
        return fixes.mended(history, viewer, chosen)
    except UnmatchedResponse:
        return None


@quick
@given(histories(), viewers())
def test_with_all_fixes_every_event_has_one_fate_that_points_at_what_it_names(
    history: list[Event], viewer: Viewer
) -> None:
    made = mended(history, viewer, fixes.BEHIND_CONTENTS)
    if made is None:
        return
    assert [fate.event for fate in made.fates] == list(range(len(history)))
    for fate in made.fates:
        assert (fate.contents == ()) is (fate.kind == "left_out")
        assert all(0 <= at < len(made.contents) for at in fate.contents)
        assert fate.reasons and all(reason.why for reason in fate.reasons)
    assert all(0 <= one.content < len(made.contents) for one in made.added)
    added = {one.content for one in made.added}
    for index, content in enumerate(made.contents):  # what is in a content is what the events hold that it names
        named = {fate.event for fate in made.fates if index in fate.contents}
        assert tokens_of(content) <= named or index in added


@quick
@given(histories(), viewers(), st.lists(st.sampled_from(fixes.BEHIND_CONTENTS), unique=True))
def test_a_fix_writes_nothing_into_the_session_and_shares_nothing_with_it(
    history: list[Event], viewer: Viewer, chosen: list[Any]
) -> None:
    before = [e.to_json() for e in history]
    made = mended(history, viewer, chosen)
    for content in made.contents if made is not None else ():
        for part in content.parts or []:
            if part.function_call is not None and part.function_call.args is not None:
                part.function_call.args["scribble"] = 1
            if part.function_response is not None and part.function_response.response is not None:
                part.function_response.response["scribble"] = 1
            part.text = "scribble"
    assert [e.to_json() for e in history] == before


@quick
@given(histories(), viewers(), st.permutations(fixes.BEHIND_CONTENTS))
def test_the_order_of_the_fixes_does_not_matter(history: list[Event], viewer: Viewer, order: list[Any]) -> None:
    first, second = mended(history, viewer, fixes.BEHIND_CONTENTS), mended(history, viewer, order)
    assert (first is None) is (second is None)
    if first is not None and second is not None:
        assert to_json(first.contents) == to_json(second.contents)
        assert [(f.kind, f.contents) for f in first.fates] == [(f.kind, f.contents) for f in second.fates]


@quick
@given(histories(), viewers())
def test_with_open_calls_answered_every_call_has_as_many_responses_right_behind_it(
    history: list[Event], viewer: Viewer
) -> None:
    made = mended(history, viewer, [fixes.ids_by_order, fixes.answer_open_calls])
    for at, content in enumerate(made.contents if made is not None else ()):
        calls = [p.function_call for p in content.parts or [] if p.function_call]
        if calls and not any(p.function_response for p in content.parts or []):
            behind = made.contents[at + 1].parts or []
            given_ids = {p.function_response.id for p in behind if p.function_response}
            assert {c.id for c in calls} <= given_ids


@quick
@given(histories(), viewers(), st.sampled_from(fixes.BEHIND_CONTENTS))
def test_a_fix_loses_no_words(history: list[Event], viewer: Viewer, fix: Any) -> None:
    """But foreign_thoughts_stay_out, which is asked to."""
    try:
        plain = assemble(history, viewer)
    except UnmatchedResponse:
        return
    made = mended(history, viewer, [fix])
    if fix is fixes.foreign_thoughts_stay_out or made is None:
        return
    texts = [t for c in plain.contents for p in c.parts or [] if (t := p.text)]
    now = [t.replace("\n> ", "\n") for c in made.contents for p in c.parts or [] if (t := p.text)]
    for text in texts:
        assert text in now or any(a.rule == "R5.34" for a in plain.added)


@pytest.mark.parametrize("fix", fixes.BEHIND_CONTENTS, ids=lambda f: f.__name__)
def test_an_empty_history_is_empty(fix: Any) -> None:
    assert fixes.mended([], Viewer("me"), [fix]).contents == []


@quick
@given(st.lists(st.text(), max_size=4))
def test_whatever_a_text_is_its_lines_stay_in_their_order(lines: list[str]) -> None:
    said = "\n".join(lines)
    made = fixes.mended(
        [event("user", "x"), event("other", types.Part(text=said))], Viewer("me"), [fixes.quote_relayed_words]
    )
    plain = assemble([event("user", "x"), event("other", types.Part(text=said))], Viewer("me"))
    [now, before] = [[p.text for c in one.contents for p in c.parts or []] for one in (made, plain)]
    assert [t.replace("\n> ", "\n").split() for t in now] == [t.replace("\n> ", "\n").split() for t in before]
