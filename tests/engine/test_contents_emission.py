"""What is sent in the end: copies, parts, ids, task input, continuation turn (R5.27 to R5.34; seed 000, 四.2.8)."""

from typing import Any

import pytest
from google.genai import types

from adknb.engine.copies.frozen import copy_record, copy_value, text_part
from adknb.engine.event import Event
from adknb.engine.processors.contents import Added, PassSnapshot, Snapshot, Viewer, assemble
from tests.engine.histories import call, event, fates, heard, lines, me, parts_of, record, response, seen, timed, user

EMPTY_CALL = types.Part(function_call=types.FunctionCall())


@pytest.mark.parametrize(
    "parts, sent",
    [
        (["t"], "t"),
        (["", "t", types.Part()], "t"),
        ([None, "t"], "t"),
        ([types.Part(text="", thought=False), "t"], "t"),
        ([types.Part(thought=True)], "thought"),
        ([types.Part(thought_signature=b"s")], "thought_signature"),
        ([EMPTY_CALL], "call None"),
        ([types.Part(code_execution_result=types.CodeExecutionResult())], "code_execution_result"),
    ],
)
def test_parts_without_a_set_field_are_dropped(parts: list[Any], sent: str) -> None:
    assert lines(seen([user(*parts)]).contents) == [f"user: {sent}"]


def test_a_content_without_parts_is_dropped_and_a_cut_one_says_so() -> None:
    assembly = seen([user("", types.Part()), user("t", "", None)])
    assert lines(assembly.contents) == ["user: t"]
    assert fates(assembly) == ["left_out R5.29", "kept 0 R5.28"]
    assert assembly.fates[1].reasons[0].why == "it is sent without 2 of its 3 parts, which are empty"


@pytest.mark.parametrize("role", ["user", "model", "system", "function"])
def test_roles_stay_and_neighbours_of_one_role_are_not_joined(role: str) -> None:
    sent = lines(seen([event("me", "a", role=role), event("me", "b", role=role), user("end")]).contents)
    assert sent == [f"{role}: a", f"{role}: b", "user: end"]


@pytest.mark.parametrize(
    "stored, sent", [("adk-1", None), ("adk-", None), ("x-adk-1", "x-adk-1"), ("ADK-1", "ADK-1"), ("", ""), ("a", "a")]
)
def test_ids_that_adk_made_up_are_taken_off_calls_and_responses(stored: str, sent: str | None) -> None:
    history = [user("u"), me("t", call(stored)), me(response(stored))]
    assembly = seen(history)
    assert lines(assembly.contents) == ["user: u", f"model: t | call {sent}", f"user: {sent}=ok"]
    assert history[1].content == event("me", "t", call(stored)).content  # the session keeps them
    assert [reason.rule for reason in assembly.fates[1].reasons] == ["R5.27"] + ["R5.30"] * (sent is None)


def test_what_is_sent_shares_nothing_with_the_session() -> None:
    args: dict[str, Any] = {"list": [{"deep": 1}], "map": {"k": [1]}}
    history = [user("u"), me(call("a", **args)), me(response("a", {"x": [1]}))]
    before = [made.to_json() for made in history]
    contents = seen(history).contents
    for content in contents:
        for part in parts_of(content):
            part.text = "edited"
            if part.function_call is not None and part.function_call.args is not None:
                part.function_call.args["list"][0]["deep"] = 2
                part.function_call.args["map"]["k"].append(2)
                part.function_call.name = "other"
            if part.function_response is not None and part.function_response.response is not None:
                part.function_response.response["r"]["x"].append(2)
        parts_of(content).append(types.Part(text="more"))
        content.role = "system"
    assert [made.to_json() for made in history] == before


def test_a_response_that_is_sent_twice_is_copied_twice() -> None:
    contents = seen([me(call("a")), me(call("b")), me(response("a"), response("b")), user("u")]).contents
    assert contents[1] == contents[3]
    assert parts_of(contents[1])[0] is not parts_of(contents[3])[0]


class PartOfTheirOwn(types.Part):
    """Somebody else's kind of part."""


@pytest.mark.parametrize(
    "original",
    [
        types.Part(text="t"),
        types.Part(text="t", thought=True, thought_signature=b"s"),
        types.Part(function_call=types.FunctionCall(id="a", name="n", args={"x": [1, {"y": None}]})),
        types.Part(
            function_call=types.FunctionCall(partial_args=[types.PartialArg(json_path="$.a")], will_continue=True)
        ),
        types.Part(
            function_response=types.FunctionResponse(
                name="n",
                response={"r": (1, 2)},
                parts=[types.FunctionResponsePart.from_uri(file_uri="f", mime_type="m/m")],
            )
        ),
        types.Part(inline_data=types.Blob(data=b"x", mime_type="m/m"), video_metadata=types.VideoMetadata(fps=1.0)),
        types.Part(executable_code=types.ExecutableCode(code="1", language=types.Language.PYTHON)),
        PartOfTheirOwn(text="t"),
    ],
)
def test_a_copy_made_by_hand_equals_pydantics_own(original: types.Part) -> None:
    copied = copy_record(original)
    deep = original.model_copy(deep=True)
    assert copied is not original
    assert copied == deep
    assert copied.model_fields_set == deep.model_fields_set
    assert repr(copied) == repr(deep)
    assert copied.model_dump() == deep.model_dump()
    copied.text = "edited"
    assert original == deep
    assert original.model_fields_set == deep.model_fields_set


def test_texts_made_by_hand_are_as_good_as_built_ones() -> None:
    built, made = types.Part(text="t"), text_part("t")
    assert made == built
    assert made.model_fields_set == built.model_fields_set
    assert made.model_dump_json() == built.model_dump_json()
    assert [text_part("a"), text_part("b")] == [types.Part(text="a"), types.Part(text="b")]


def test_values_of_strange_types_are_copied_as_well() -> None:
    numbers, lists = {1}, ([1],)
    copied = copy_value({"set": numbers, "tuple": lists})
    assert copied == {"set": numbers, "tuple": lists}
    assert copied["set"] is not numbers
    assert copied["tuple"][0] is not lists[0]


TASK = me(call("fc-1", request="r"))
IN_SCOPE = {"isolation_scope": "fc-1"}
SCOPED = [me("which city?", isolation_scope="fc-1"), user("Lima", isolation_scope="fc-1")]
MESSAGE = types.Content(role="model", parts=[types.Part(text="the message"), call("adk-9")])


@pytest.mark.parametrize(
    "history, viewer, sent",
    [
        ([TASK, *SCOPED], IN_SCOPE, ['user: {"request":"r"}', "model: which city?", "user: Lima"]),
        ([TASK], {}, ["model: call fc-1 {'request': 'r'}", "user: <continue>"]),  # no scope, no task input
        ([TASK], {"isolation_scope": "fc-2"}, []),  # neither call nor message
        ([TASK], {"isolation_scope": "fc-2", "user_content": MESSAGE}, ["user: the message | call adk-9"]),
        ([me(call("fc-1"))], {**IN_SCOPE, "user_content": MESSAGE}, ["user: the message | call adk-9"]),  # no arguments
        ([TASK], {"isolation_scope": "fc-2", "user_content": types.Content(role="user", parts=[])}, []),
        # the first call with that id and with arguments, seen or not
        (
            [me(call("fc-1")), me(call("fc-1", a=1), branch="p.x"), TASK],
            {**IN_SCOPE, "branch": "p.me"},
            ['user: {"a":1}'],
        ),
        # with history hidden, only calls of the turn are looked at
        ([TASK, user("new", isolation_scope="fc-1")], {**IN_SCOPE, "include_contents": "none"}, ["user: new"]),
        # the note for agents that nobody will answer
        ([TASK], {**IN_SCOPE, "mode": "single_turn"}, ['user: {"request":"r"} | <single turn>']),
        ([TASK], {**IN_SCOPE, "mode": "single_turn", "bound_mode": "chat"}, ['user: {"request":"r"}']),
        ([TASK], {**IN_SCOPE, "bound_mode": "single_turn"}, ['user: {"request":"r"} | <single turn>']),
        ([], {**IN_SCOPE, "mode": "single_turn"}, []),
        ([user("u")], {"mode": "single_turn"}, ["user: u"]),  # only where there is a scope
    ],
)
def test_the_task_opens_the_request_of_a_scoped_agent(
    history: list[Event], viewer: dict[str, Any], sent: list[str]
) -> None:
    assert lines(seen(history, **viewer).contents) == sent


def test_the_task_input_is_listed_beside_the_fates_and_moves_the_contents_along() -> None:
    assembly = seen([TASK, *SCOPED], **IN_SCOPE)
    assert assembly.added == [
        Added(0, "R5.31", "the arguments of the call 'fc-1' of event 0 are the task of this scope")
    ]
    assert fates(assembly) == ["left_out R5.7", "kept 1", "kept 2"]
    assert assembly.fates[0].reasons[1].why == "the arguments of its call 'fc-1' open the request as the task"


def test_the_message_is_not_changed_by_becoming_the_task() -> None:
    before = MESSAGE.model_copy(deep=True)
    (content,) = seen([], isolation_scope="s", user_content=MESSAGE, mode="single_turn").contents
    assert parts_of(content)[0] is not parts_of(MESSAGE)[0]
    assert before == MESSAGE


def test_a_private_input_stands_behind_the_events_that_were_there_and_begins_the_turn() -> None:
    history = [user("question"), me(call("w", request="r")), event("worker", call("t"), branch="worker@1"),
               event("worker", response("t"), branch="worker@1")]  # fmt: skip
    private = [user('{"request":"r"}')]

    def sent(**viewer: Any) -> list[str]:
        worker = Viewer("worker", branch="worker@1", **viewer)
        return lines(assemble(history, worker, private_events=private, private_after=2).contents)

    assert sent(bound_mode="single_turn") == ['user: {"request":"r"}', "model: call t", "user: t=ok"]
    assert sent(bound_mode="single_turn", include_contents="default") == [
        "user: question",
        'user: <context> | [me] called tool `tool` with parameters: {"request":"r"}',
        'user: {"request":"r"}',
        "model: call t",
        "user: t=ok",
    ]


def test_a_private_input_is_no_event_of_the_session() -> None:
    history = [user("old"), me("answer")]
    viewer = Viewer("me", bound_mode="single_turn")
    assembly = assemble(history, viewer, private_events=[user("input")], private_after=2)
    assert lines(assembly.contents) == ["user: input"]
    assert fates(assembly) == ["left_out R5.3", "left_out R5.3"]
    assert assembly.fates[0].reasons[0].why == "the current turn starts later, at the input of this run by 'user'"
    assert [(added.content, added.rule) for added in assembly.added] == [(0, "R5.33")]


@pytest.mark.parametrize(
    "history, asked_to_go_on",
    [
        ([], False),  # no contents: the model is called with none
        ([user("u")], False),
        ([user("u"), me("m")], True),
        ([event("user", "t", role="system")], True),
        ([me(call("a")), me(response("a"))], False),
        ([me(call("a"))], True),
    ],
)
def test_the_model_never_has_the_last_word(history: list[Event], asked_to_go_on: bool) -> None:
    assembly = seen(history)
    assert (lines(assembly.contents)[-1:] == ["user: <continue>"]) is asked_to_go_on
    assert [(added.content, added.rule) for added in assembly.added] == [(len(history), "R5.34")] * asked_to_go_on
    assert not assemble(history, Viewer("me"), continuation=False).added


def test_the_working_list_can_be_kept_after_every_pass() -> None:
    history = timed(user("u"), me(call("a")), me("t"), heard("x"), record(9, 9), user(response("a"), branch="p.x"))
    viewer = Viewer("me", branch="p.me", compaction=True)
    assert assemble(history, viewer).passes is None
    passes = assemble(history, viewer, passes=True).passes
    assert passes is not None
    assert [step.name for step in passes] == [
        "events", "collect", "turn", "filter", "foreign", "summaries", "transcription", "orphans", "latest", "history",
        "emit",
    ]  # fmt: skip
    kinds = {step.name: [shown.kind for shown in step.records] for step in passes}
    assert kinds["events"] == ["text", "call", "text", "transcription", "compaction record", "response"]
    assert kinds["filter"] == ["text", "call", "text", "transcription", "compaction record"]
    assert kinds["summaries"] == ["text", "call", "text", "transcription", "summary"]
    assert kinds["transcription"] == ["text", "call", "text", "text", "summary"]
    assert passes[-1] == PassSnapshot("emit", passes[-2].records)
    assert passes[-1].records[1] == Snapshot((1,), "model", "call")
