"""What holds for every history and every viewer (Hypothesis).

Each part of a generated event carries that event's token (`e3`), so that fates can be checked against the contents.
Exceptions are those of spec/request.md §10 that a test names; nothing else is excepted.
"""

import re
from typing import Any

import pytest
from google.genai import types
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from adknb.engine.errors import UnmatchedResponse
from adknb.engine.event import Event, EventActions, EventCompaction
from adknb.engine.processors.contents import Assembly, Viewer, assemble, event_belongs_to_branch
from tests.engine.histories import parts_of

quick = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True)


def mostly(usual: Any, *rare: Any) -> st.SearchStrategy[Any]:
    """The usual value nine times out of ten: a history of rarities would leave nothing to pair."""
    return st.integers(0, 9 + len(rare)).map(lambda drawn: usual if drawn < 10 else rare[drawn - 10])


IDS = st.one_of(st.sampled_from(["a", "b", "adk-1"]), mostly("a", "", None))
SCOPES = mostly("", "a")


def parts(token: str, name: str) -> st.SearchStrategy[types.Part]:
    def call(call_id: str | None) -> types.Part:
        return types.Part(function_call=types.FunctionCall(id=call_id, name=name, args={"of": token, "deep": [{}]}))

    def response(call_id: str | None) -> types.Part:
        return types.Part(function_response=types.FunctionResponse(id=call_id, name=name, response={"of": token}))

    return st.one_of(
        st.builds(call, IDS),
        st.builds(response, IDS),
        st.builds(response, mostly("b", "ghost")),
        mostly(
            types.Part(text=token),
            types.Part(text=token, thought=True),
            types.Part(thought=True, thought_signature=token.encode()),
            types.Part(inline_data=types.Blob(data=token.encode(), mime_type="a/b")),
            types.Part(text="", thought=False),
        ),
    )


@st.composite
def contents_of(draw: st.DrawFn, token: str) -> types.Content | None:
    if draw(mostly(False, True)):
        return None
    made = draw(st.lists(parts(token, draw(mostly("t", "adk_request_confirmation"))), min_size=1, max_size=2))
    return types.Content(role=draw(st.sampled_from(["user", "model"])), parts=draw(mostly(made, [])))


@st.composite
def events(draw: st.DrawFn, at: int) -> Event:
    token = f"e{at}"
    made = Event(
        author=draw(mostly("me", "user", "user", "user", "other", "other", "")),
        content=draw(contents_of(token)),
        branch=draw(mostly("", "p", "p.me", "p.x", "q")),
        isolation_scope=draw(SCOPES),
        invocation_id=draw(st.sampled_from(["i", "j"])),
        timestamp=float(draw(mostly(at, 3))),
        long_running_tool_ids=draw(st.sampled_from([[], ["a", "adk-1"]])),
    )
    said = types.Transcription(text=f"{token};")
    what = draw(mostly("content", "heard", "heard beside it", "spoken", "record", "record"))
    if what == "heard beside it":
        made.input_transcription = said
    elif what == "heard":
        made.content, made.input_transcription = None, said
    elif what == "spoken":
        made.content, made.output_transcription = None, said
    elif what == "record":
        summary = draw(mostly(types.Content(role="model", parts=[types.Part(text=token)]), None))
        start, end = draw(st.integers(0, 4)), draw(st.integers(1, at + 1))
        made.content, made.author = None, "user"
        made.actions = EventActions(compaction=EventCompaction(start, end, summary, [("i", 2.0)]))
    return made


@st.composite
def histories(draw: st.DrawFn) -> list[Event]:
    return [draw(events(at)) for at in range(draw(st.integers(0, 8)))]


@st.composite
def viewers(draw: st.DrawFn) -> Viewer:
    return Viewer(
        "me",
        branch=draw(st.sampled_from(["", "p", "p.me"])),
        isolation_scope=draw(SCOPES),
        include_contents=draw(mostly("", "default", "none")),
        bound_mode=draw(mostly("", "single_turn")),
        compaction=draw(st.booleans()),
        user_content=types.Content(role="user", parts=[types.Part(text="message")]),
    )


def assembled(history: list[Event], viewer: Viewer) -> Assembly | None:
    try:
        return assemble(history, viewer)
    except UnmatchedResponse:
        return None


def tokens_of(content: types.Content) -> set[int]:
    text = repr([part.model_dump() for part in parts_of(content)])
    return {int(number) for number in re.findall(r"\be(\d+)\b", text)}


def ids_of(content: types.Content, kind: str) -> set[str]:
    return {paired.id or "" for part in parts_of(content) if (paired := getattr(part, kind)) is not None}


@quick
@given(histories(), viewers())
def test_fates_account_for_every_event_once_and_point_at_the_contents_they_name(
    history: list[Event], viewer: Viewer
) -> None:
    assembly = assembled(history, viewer)
    if assembly is None:
        return
    fates = assembly.fates
    assert [fate.event for fate in fates] == list(range(len(history)))
    shown = {at: set[int]() for at in range(len(history))}
    ours = {added.content for added in assembly.added}
    for index, content in enumerate(assembly.contents):
        tokens = set() if index in ours else tokens_of(content)
        for at in tokens:
            shown[at].add(index)
        assert tokens or index in ours or parts_of(content) == [types.Part(text="For context:")]
    for fate in fates:
        assert fate.reasons
        assert all(reason.stage and reason.rule.startswith("R5.") and "{" not in reason.why for reason in fate.reasons)
        if fate.kind == "summarised":
            stands_in = {at for index in fate.contents for at in tokens_of(assembly.contents[index])}
            assert any(history[at].actions.compaction is not None for at in stands_in)
        elif shown[fate.event]:
            assert set(fate.contents) == shown[fate.event]
        else:  # only the label of a foreign event whose parts are all empty
            assert all(parts_of(assembly.contents[i])[0].text == "For context:" for i in fate.contents)
        assert (fate.kind == "left_out") == (not fate.contents)
        shared = any(len(tokens_of(assembly.contents[i])) > 1 for i in fate.contents)
        assert (fate.kind == "merged") == (shared and fate.kind != "summarised")
        if fate.kind == "left_out":
            assert fate.reasons[0].rule != "R5.27"


@quick
@given(histories(), viewers())
def test_every_response_answers_a_call_of_the_session_and_stands_right_behind_a_call_that_it_answers(
    history: list[Event], viewer: Viewer
) -> None:
    assembly = assembled(history, viewer)
    if assembly is None:
        return
    known = {c.id for e in history for p in (e.content.parts or [] if e.content else []) if (c := p.function_call)}
    ours = {added.content for added in assembly.added}
    history_contents = [content for index, content in enumerate(assembly.contents) if index not in ours]
    for index, content in enumerate(history_contents):
        answers = ids_of(content, "function_response")
        if not answers:
            continue
        # surprise 7: a call out of sight keeps its response from being an orphan
        assert answers - {""} <= known
        # surprises 8 and 11: a lone response, or one that begins the turn, is sent alone when nothing else is left
        if len(history_contents) > 1:
            assert answers & ids_of(history_contents[index - 1], "function_call")


@quick
@given(histories(), viewers())
def test_the_last_word_is_the_users_and_no_made_up_id_is_left(history: list[Event], viewer: Viewer) -> None:
    assembly = assembled(history, viewer)
    if assembly is None or not assembly.contents:
        return
    assert assembly.contents[-1].role == "user"
    for content in assembly.contents:
        ids = ids_of(content, "function_call") | ids_of(content, "function_response")
        assert not any(call_id.startswith("adk-") for call_id in ids)


def scribble(value: Any) -> None:
    """Change everything that can be changed in a content, as deep as it goes."""
    if isinstance(value, dict):
        for item in value.values():
            scribble(item)
        value["scribbled"] = True
    elif isinstance(value, list):
        for item in value:
            scribble(item)
        value.append("scribbled")
    elif hasattr(value, "model_fields_set"):
        for name in type(value).model_fields:
            scribble(getattr(value, name))
            value.__dict__[name] = "scribbled"


@quick
@given(histories(), viewers())
def test_editing_contents_never_changes_the_session(history: list[Event], viewer: Viewer) -> None:
    before = [repr(made) for made in history]
    message = repr(viewer.user_content)
    assembly = assembled(history, viewer)
    scribble(assembly.contents if assembly is not None else [])
    assert [repr(made) for made in history] == before
    assert repr(viewer.user_content) == message
    again = assembled(history, viewer)
    assert (again is None) == (assembly is None)
    assert "scribbled" not in repr(again.contents if again is not None else "")


NAMES = st.lists(st.sampled_from(["p", "me", "m", "me2"]), max_size=3).map(".".join)


@quick
@given(NAMES, NAMES, st.sampled_from(["p", "me", "m"]))
def test_an_event_visible_on_a_branch_is_visible_on_the_branches_below(event: str, branch: str, child: str) -> None:
    if branch and event_belongs_to_branch(branch, event):  # on no branch at all, everything is visible
        assert event_belongs_to_branch(f"{branch}.{child}", event)


@quick
@given(histories(), viewers())
def test_looking_on_changes_nothing(history: list[Event], viewer: Viewer) -> None:
    """Neither keeping the passes nor reading the fates makes a difference, nor does a second assembly."""
    plain = assembled(history, viewer)
    if plain is None:
        with pytest.raises(UnmatchedResponse):
            assemble(history, viewer, passes=True)
        return
    watched = assemble(history, viewer, passes=True)
    assert plain.contents == watched.contents
    assert plain.fates == watched.fates
    assert watched.passes is not None
    stems = {at for shown in watched.passes[-1].records for at in shown.events}
    kinds = ("kept", "reworded", "merged", "moved")
    assert stems == {fate.event for fate in plain.fates if fate.kind in kinds}
