"""What the model saw before an event: expectations made by hand from spec/request.md."""

from typing import Any

import pytest

from adknb.engine.errors import BadData
from adknb.files import Recording
from adknb.files.reading import session_of
from adknb.files.whose import agents_of, is_model_event
from adknb.lens.table import part_texts

Json = dict[str, Any]


def says(author: str, text: str, **fields: Any) -> Json:
    return {"author": author, "content": {"role": role_of(author), "parts": [{"text": text}]}, **fields}


def calls(author: str, name: str, id: str = "", args: Json | None = None, **fields: Any) -> Json:
    call = {"name": name, "args": args or {}, **({"id": id} if id else {})}
    return {"author": author, "content": {"role": "model", "parts": [{"functionCall": call}]}, **fields}


def answers(author: str, name: str, result: Json, id: str = "", **fields: Any) -> Json:
    response = {"name": name, "response": result, **({"id": id} if id else {})}
    return {"author": author, "content": {"role": "user", "parts": [{"functionResponse": response}]}, **fields}


def writes(author: str, **delta: Any) -> Json:
    return {"author": author, "actions": {"stateDelta": delta}}


def role_of(author: str) -> str:
    return "user" if author == "user" else "model"


def recording(*events: Json, **fields: Any) -> Recording:
    return Recording(session_of({"events": list(events), **fields}, "f.json"))


def seen(rebuilt: Any) -> list[str]:
    return [" / ".join(part_texts(content)) for content in rebuilt.contents]


def fates(rebuilt: Any) -> list[str]:
    return [fate.kind for fate in rebuilt.fates]


ROUND = [
    says("user", "weather?"),
    calls("desk", "look", "c1"),
    answers("desk", "look", {"t": 26}, "c1"),
    says("desk", "26 degrees"),
    says("user", "and tomorrow?"),
]


@pytest.mark.parametrize(
    "event, before, contents",
    [
        (1, 1, ["weather?"]),  # a model's answer: what stood before it
        (3, 3, ["weather?", "call look()", 'answer look → {"t":26}']),
        # what no model wrote: the next call sees it
        (0, 1, ["weather?"]),
        (2, 3, ["weather?", "call look()", 'answer look → {"t":26}']),
        (4, 5, ["weather?", "call look()", 'answer look → {"t":26}', "26 degrees", "and tomorrow?"]),
    ],
)
def test_a_model_event_has_its_own_request_any_other_event_is_seen_by_the_next(
    event: int, before: int, contents: list[str]
) -> None:
    rebuilt = recording(*ROUND).request_before(event)
    assert rebuilt.agent == "desk"
    assert rebuilt.before == before
    assert seen(rebuilt) == contents
    assert fates(rebuilt) == ["kept"] * before
    assert rebuilt.answered == (event in (1, 3))
    assert rebuilt.request is None


def test_the_lesson_s_session_shows_the_cart_behind_the_parcel() -> None:
    """Scenario 15a: calls without ids share one answer, and an author is put wrong."""
    rebuilt = recording(
        says("user", "Where is my parcel?"),
        calls("shop", "track", args={"order": "O-88"}),
        answers("shop", "track", {"where": "Lyon"}),
        says("shop", "It is on its way."),
        says("user", "And my cart?"),
        calls("shop", "cart"),
        answers("shop", "cart", {"items": ["spade"]}),
        says("model", "One spade."),
        says("user", "When does the parcel come?"),
        says("shop", "One spade."),
    ).request_before(9)
    assert seen(rebuilt) == [
        "Where is my parcel?",
        'call track(order="O-88")',
        'answer cart → {"items":["spade"]}',  # not Lyon
        "It is on its way.",
        "And my cart?",
        "call cart()",
        'answer cart → {"items":["spade"]}',
        "For context: / [model] said: One spade.",
        "When does the parcel come?",
    ]
    assert fates(rebuilt)[2] == "left_out"
    assert rebuilt.fates[2].reasons[0].rule == "R5.25"
    assert fates(rebuilt)[7] == "reworded"
    assert any("calls in events 1, 5 had ids" in sentence for sentence in rebuilt.unknown)


TEAM = [
    says("user", "plan a trip"),
    calls("boss", "transfer_to_agent", "t1", {"agent_name": "guide"}),
    {**answers("boss", "transfer_to_agent", {}, "t1"), "actions": {"transferToAgent": "guide"}},
    says("guide", "to Lyon?"),
    says("user", "yes"),
    writes("model", seen_at=5),
    says("guide", "booked"),
    says("boss", "anything else?"),
]


@pytest.mark.parametrize(
    "event, agent, whose, before",
    [
        (3, None, "guide", 3),
        (2, None, "boss", 3),  # the tool's answer belongs to the agent that called
        (4, None, "guide", 5),  # a message: the next agent to speak
        (5, None, "guide", 6),  # `model` never says anything, so it is no agent
        (6, "boss", "boss", 6),  # what another agent would have been given just then
        (7, None, "boss", 7),
        (4, "boss", "boss", 5),
    ],
)
def test_whose_call_is_meant(event: int, agent: str | None, whose: str, before: int) -> None:
    rebuilt = recording(*TEAM).request_before(event, agent)
    assert (rebuilt.agent, rebuilt.before) == (whose, before)


def test_the_last_agent_is_meant_when_nobody_speaks_after_the_message() -> None:
    rebuilt = recording(*TEAM, says("user", "no")).request_before(8)
    assert rebuilt.agent == "boss"
    assert seen(rebuilt)[-1] == "no"
    assert "Whether this call was ever made: no model event follows." in rebuilt.unknown


def test_agents_are_who_speaks_and_who_is_handed_over_to() -> None:
    older = calls("desk", "transfer_to_other_agent", args={"agent_name": "night_desk"})
    events = recording(*TEAM, older).events
    assert agents_of(events) == ["boss", "guide", "desk", "night_desk"]


@pytest.mark.parametrize(
    "event, written",
    [
        (says("desk", "hi"), True),
        (calls("desk", "look", "c1"), True),
        ({**says("desk", "hi"), "content": {"parts": [{"text": "hi"}]}}, True),  # a missing role is not `user`
        (says("user", "hi"), False),
        (answers("desk", "look", {}, "c1"), False),
        (calls("desk", "adk_request_confirmation", "c1"), False),
        (writes("desk", a=1), False),
        ({**says("desk", "hi"), "content": {"role": "model", "parts": [{"text": ""}]}}, False),
        ({"content": {"role": "model", "parts": [{"text": "hi"}]}}, False),  # nobody's
        ({**says("desk", "sum"), "actions": {"compaction": {"startTimestamp": 1, "endTimestamp": 2}}}, False),
    ],
)
def test_what_counts_as_written_by_a_model(event: Json, written: bool) -> None:
    assert is_model_event(recording(event).events, 0) is written


def test_the_final_text_that_the_flow_makes_of_a_structured_answer_is_no_model_s() -> None:
    events = recording(
        says("user", "how many?"),
        calls("desk", "set_model_response", "s1", {"n": 4}),
        answers("desk", "set_model_response", {"n": 4}, "s1"),
        says("desk", '{"n":4}'),
        says("desk", "more"),
    ).events
    assert [is_model_event(events, i) for i in range(5)] == [False, True, False, False, True]


def test_an_agent_sees_from_the_branch_and_the_scope_of_its_own_event() -> None:
    tape = recording(
        says("user", "compare"),
        says("left", "L1", branch="both.left"),
        says("right", "R1", branch="both.right"),
        says("right", "R2", branch="both.right"),
    )
    rebuilt = tape.request_before(3)
    assert (rebuilt.branch, rebuilt.scope) == ("both.right", "")
    assert fates(rebuilt) == ["kept", "left_out", "kept"]
    assert rebuilt.fates[1].reasons[0].rule == "R5.6"
    # a message has no branch of its own: the branch of the agent that answers it counts
    assert tape.request_before(0).branch == "both.left"
    assert tape.request_before(0, "right").branch == "both.right"


def test_a_message_stamped_for_a_task_is_not_in_the_coordinator_s_request() -> None:
    rebuilt = recording(
        says("user", "find a hall"),
        says("scout", "where?", isolationScope="d1"),
        says("user", "Lima", isolationScope="d1"),
        says("host", "still looking"),
    ).request_before(3)
    assert fates(rebuilt) == ["kept", "left_out", "left_out"]
    assert rebuilt.fates[2].reasons[0].rule == "R5.7"
    assert "Lima" in rebuilt.text()


def test_a_task_reads_its_arguments_first() -> None:
    rebuilt = recording(
        says("user", "find a hall"),
        calls("host", "scout", "d1", {"request": "hall"}),
        says("scout", "where?", isolationScope="d1"),
        says("user", "Lima", isolationScope="d1"),
        says("scout", "found", isolationScope="d1"),
    ).request_before(4)
    assert rebuilt.scope == "d1"
    assert seen(rebuilt) == ['{"request":"hall"}', "where?", "Lima"]
    assert [added.content for added in rebuilt.added] == [0]


DELEGATES = [
    says("user", "two towns"),
    calls("host", "weather", "w1", {"town": "Lima"}),
    says("weather", "rain", branch="weather@1"),
    answers("host", "weather", {"result": "rain"}, "w1"),
    calls("host", "weather", "w2", {"town": "Lyon"}),
    calls("weather", "look", "c1", branch="weather@2"),
    answers("weather", "look", {"t": 20}, "c1", branch="weather@2"),
    says("weather", "sun", branch="weather@2"),
]


@pytest.mark.parametrize(
    "event, contents",
    [
        (2, ['{"town":"Lima"}']),
        (5, ['{"town":"Lyon"}']),
        (7, ['{"town":"Lyon"}', "call look()", 'answer look → {"t":20}']),
    ],
)
def test_a_single_turn_delegate_reads_the_arguments_that_were_never_stored(event: int, contents: list[str]) -> None:
    rebuilt = recording(*DELEGATES).request_before(event)
    assert seen(rebuilt) == contents
    assert len(rebuilt.fates) == event
    assert [added.content for added in rebuilt.added] == [0]
    assert rebuilt.added[0].rule == "R5.33"


def test_a_delegate_whose_call_is_lost_is_not_made_up() -> None:
    rebuilt = recording(says("user", "hi"), says("weather", "rain", branch="weather@1")).request_before(1)
    assert rebuilt.contents == []
    assert "never stored" in rebuilt.problem
    assert "THE REQUEST CANNOT BE BUILT" in rebuilt.text()


def test_a_request_that_adk_refuses_is_told_not_raised() -> None:
    rebuilt = recording(
        says("user", "hi"),
        calls("desk", "look", "c1"),
        calls("desk", "look", "c2"),
        answers("desk", "look", {}, "c1"),
        {**answers("desk", "look", {}, "c1"), "content": two_answers("c1", "c2")},
        says("desk", "done"),
    ).request_before(5)
    assert rebuilt.contents == []
    assert rebuilt.fates == []
    assert "c1" in rebuilt.problem or "c2" in rebuilt.problem
    assert "what ran was not ADK-Go with these events" in rebuilt.text().replace("\n  ", " ")


def two_answers(*ids: str) -> Json:
    return {"role": "user", "parts": [{"functionResponse": {"name": "look", "id": i, "response": {}}} for i in ids]}


def summary(text: str, start: float, end: float, **fields: Any) -> Json:
    content = {"role": "user", "parts": [{"text": text}]}
    compaction = {"startTimestamp": start, "endTimestamp": end, "compactedContent": content}
    return {"author": "user", "actions": {"compaction": compaction}, **fields}


def test_a_summary_record_in_the_file_counts_as_compaction_turned_on() -> None:
    rebuilt = recording(
        says("user", "one", timestamp=1),
        says("desk", "two", timestamp=2),
        summary("earlier: one, two", 1, 2, timestamp=3),
        says("user", "three", timestamp=4),
        says("desk", "four", timestamp=5),
    ).request_before(4)
    assert seen(rebuilt) == ["earlier: one, two", "three"]
    assert fates(rebuilt)[:2] == ["summarised", "summarised"]
    assert rebuilt.unknown[0].startswith(
        "Whether compaction was on: taken so, for the file holds summary records (event 2)"
    )


def test_chunks_in_a_bare_list_of_events_are_left_out_since_they_were_never_stored() -> None:
    events = [says("user", "hi"), says("desk", "hel", partial=True), says("desk", "hello")]
    from_stream = Recording(session_of(events, "f.json")).request_before(2)
    assert seen(from_stream) == ["hi"]
    assert from_stream.fates[1].kind == "left_out"
    assert "never stored" in from_stream.fates[1].reasons[0].why
    stored = recording(*events).request_before(2)  # in a session it was stored, and the reference sends it
    assert seen(stored)[:2] == ["hi", "hel"]


def test_asking_changes_nothing() -> None:
    tape = recording(*ROUND)
    before = [event.to_json() for event in tape.events]
    rebuilt = tape.request_before(3)
    rebuilt.contents[0].parts[0].text = "changed"
    assert [event.to_json() for event in tape.events] == before


@pytest.mark.parametrize(
    "event, agent, message",
    [
        (5, None, "f.json: no event 5: the file has events 0 to 4"),
        (-1, None, "f.json: no event -1: the file has events 0 to 4"),
        ("7", None, "f.json: no event 7: the file has events 0 to 4"),
        ("e-9", None, "f.json: no event has the id 'e-9': the file has events 0 to 4"),
        (True, None, "f.json: an event is named by its position or its id, not by True"),
        (1.5, None, "f.json: an event is named by its position or its id, not by 1.5"),
        (1, "nobody", "f.json: no agent is called 'nobody'; the agents seen here: desk"),
    ],
)
def test_an_event_or_agent_that_is_not_there_is_said_with_what_is(event: Any, agent: str | None, message: str) -> None:
    with pytest.raises(BadData) as caught:
        recording(*ROUND).request_before(event, agent)
    assert str(caught.value) == message


def test_an_event_is_found_by_position_id_or_itself() -> None:
    tape = recording(says("user", "a", id="x"), says("desk", "b", id="y"), says("desk", "c", id="y"), says("desk", "d"))
    assert [tape.find(0), tape.find("0"), tape.find("x"), tape.find(tape.events[3])] == [0, 0, 0, 3]
    numbers = recording(says("user", "a", id="1"), says("desk", "b", id="88"))
    assert [numbers.find(1), numbers.find("1"), numbers.find(88)] == [1, 0, 1]  # a text is an id first
    with pytest.raises(BadData, match="events 1, 2 all have the id 'y'"):
        tape.find("y")


def test_a_session_in_which_no_agent_speaks_asks_whose_request_is_meant() -> None:
    tape = recording(says("user", "hello?"))
    with pytest.raises(BadData, match="no agent speaks in this session"):
        tape.request_before(0)
    assert seen(tape.request_before(0, "desk")) == ["hello?"]
