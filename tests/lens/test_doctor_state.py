"""State, artifacts and the record (spec/doctor.md, D and E), clause by clause: what is reported, and what is not."""

from typing import Any

import pytest

from adknb.lens.doctor.templates import looks_meant
from tests.lens.doctor_sessions import (
    agent,
    by,
    delta,
    event,
    events_by_check,
    fc,
    flow,
    found_in,
    fr,
    me,
    result,
    session,
    text,
    user,
    wrote,
)  # fmt: skip

GO = user("Go")
E1, E2 = {"invocation_id": "e-1"}, {"invocation_id": "e-2"}
UNWRITTEN = "state-key-unwritten"


def reader(name: str = "reader", **more: Any) -> dict[str, Any]:
    return agent(name, "Read {plan}.", **more)


def writer(name: str = "writer", *sub_agents: Any, **more: Any) -> dict[str, Any]:
    return agent(name, "Plan.", *sub_agents, output_key="plan", **more)


def sent(system: Any, event: int = 1) -> dict[str, Any]:
    return {"requests": [{"event": event, "agent": "me", "config": {"systemInstruction": system}}]}


KEYS: list[tuple[str, dict[str, Any], dict[str, list[int]]]] = [
    ("the state is not known", session(GO, agents=[reader("me")]), {}),
    ("an app: key that nothing writes", session(GO, agents=[agent("me", "{app:tone}")], state={}), {UNWRITTEN: []}),
    ("an app: key of another session's writing", session(GO, me("Ok.", **delta(**{"app:tone": "dry"})), agents=[agent("me", "{app:tone}")], state={"app:tone": "dry"}), {}),
    ("a null value is there", session(GO, agents=[reader("me")], state={"plan": None}), {}),
    ("an artifact is no key", session(GO, agents=[agent("me", "{artifact.plan}")], state={}), {}),
    ("braces that are no key", session(GO, agents=[agent("me", "{} {1} {\"plan\": 1}")], state={}), {}),
    ("one for an agent and key", session(GO, agents=[agent("me", "{plan} and {plan}")], state={}), {UNWRITTEN: []}),
    ("the reader writes it itself, afterwards", session(GO, me("Ok.", **delta(plan="Ok.")), agents=[agent("me", "{plan}", output_key="plan")], state={"plan": "Ok."}), {UNWRITTEN: [1]}),
    ("a later member of a loop", session(GO, agents=[flow("loop", reader(), writer())], state={}), {UNWRITTEN: []}),
    ("an earlier member of a loop", session(GO, agents=[flow("loop", writer(), reader())], state={}), {}),
    ("an earlier member inside a parallel one", session(GO, agents=[flow("sequential", flow("parallel", writer(), agent("b"), name="p"), reader())], state={}), {}),
    ("beside it, deep in a sequence", session(GO, agents=[flow("parallel", flow("sequential", writer(), name="s"), reader())], state={}), {UNWRITTEN: []}),
    ("late, but the message brought it", session(user("Go", **delta(plan="x")), by("reader", "Ok."), agents=[flow("sequential", reader(), writer())], state={"plan": "x"}), {}),
    ("late, but an earlier turn wrote it before the reader was asked", session(GO, by("writer", "P.", **delta(plan="P.")), by("reader", "Ok."), agents=[flow("sequential", reader(), writer())], state={"plan": "P."}), {}),
    ("late, written after the reader was asked", session(GO, by("reader", "Ok."), by("writer", "P.", **delta(plan="P.")), agents=[flow("sequential", reader(), writer())], state={"plan": "P."}), {UNWRITTEN: [2]}),
    ("late for one writer, early for another", session(GO, agents=[flow("sequential", writer("first"), reader(), writer("second"))], state={}), {}),
    ("only a transferred agent, deep in a workflow of its own", session(GO, agents=[agent("root", "", flow("sequential", writer(), reader(), name="s"))], state={}), {}),
    ("a transferred agent before the reader, behind a model's choice", session(GO, agents=[flow("sequential", agent("front", "", writer()), reader())], state={}), {UNWRITTEN: []}),
    ("a tool writes it, and so does an earlier member", session(GO, by("writer", fc("c1")), result("c1", author="writer", **delta(plan="x")), by("writer", "P.", **delta(plan="P.")), by("reader", "Ok."), agents=[flow("sequential", writer(tools=["look"]), reader())], state={"plan": "P."}), {}),
    ("a tool writes it, and a hook did before the first request", session(GO, wrote("me", plan="x"), me(fc("c1")), result("c1", **delta(plan="y")), me("Ok."), agents=[agent("me", "{plan}", tools=["look"])], state={"plan": "y"}), {}),
    ("a tool writes it, a hook only after the first request", session(GO, me(fc("c1")), result("c1", **delta(plan="y")), wrote("me", plan="z"), me("Ok."), agents=[agent("me", "{plan}", tools=["look"])], state={"plan": "z"}), {UNWRITTEN: [2]}),
    ("every result that writes it", session(GO, me(fc("c1")), result("c1", **delta(plan="y")), me(fc("c2")), result("c2", **delta(plan="z")), me("Ok."), agents=[agent("me", "{plan}", tools=["look"])], state={"plan": "z"}), {UNWRITTEN: [2, 4]}),
    ("a lone template", session(GO, me(fc("c1")), result("c1", **delta(plan="y")), me("Ok."), instruction="{plan}", state={"plan": "y"}), {UNWRITTEN: [2]}),
    ("the global text of a root", session(GO, agents=[agent("me", "", agent("you"), global_instruction="{plan}")], state={}), {UNWRITTEN: []}),
    ("the global text of a child", session(GO, agents=[agent("me", "", agent("you", global_instruction="{plan}"))], state={}), {}),
    ("the global text of a child under a workflow root", session(GO, agents=[flow("sequential", agent("you", global_instruction="{plan}"))], state={}), {UNWRITTEN: []}),
    ("a temp: key is another check's", session(GO, agents=[agent("me", "{temp:plan}")], state={}), {}),
]  # fmt: skip

CASES: list[tuple[str, dict[str, Any], dict[str, list[int]]]] = [
    # temp-key-misused
    ("a prefix in capitals is another name", session(GO, me("Ok."), state={"TEMP:x": 1}), {}),
    ("it was never there", session(GO, me("Ok."), user("And?"), me("So."), agents=[agent("me", "{temp:k?}")], state={}), {}),
    ("written after the first request of the later turn", session(GO, me(fc("c1")), result("c1", **delta(**{"temp:k": 1})), me("Ok."), user("And?"), me(fc("c2")), result("c2", **delta(**{"temp:k": 2})), me("So."), agents=[agent("me", "{temp:k?}", tools=["look"])], state={}), {"temp-key-misused": [5]}),
    ("brought along by the later message", session(GO, me(fc("c1")), result("c1", **delta(**{"temp:k": 1})), me("Ok."), user("And?", **delta(**{"temp:k": 2})), me("So."), agents=[agent("me", "{temp:k?}", tools=["look"])], state={}), {}),
    ("the last message, unanswered", session(GO, me(fc("c1")), result("c1", **delta(**{"temp:k": 1})), me("Ok."), user("And?"), agents=[agent("me", "{temp:k?}", tools=["look"])], state={}), {"temp-key-misused": [4]}),
    ("another agent's turn", session(GO, me("Ok.", **delta(**{"temp:k": 1})), user("And?"), by("you", "So."), agents=[agent("me", "{temp:k?}", agent("you"))], state={}), {}),
    ("another key", session(GO, me("Ok.", **delta(**{"temp:j": 1})), user("And?"), me("So."), agents=[agent("me", "{temp:k?}")], state={}), {}),
    # placeholder-surprise
    ("a hyphen behind a dollar is another language", session(GO, agents=[agent("me", "${a-b}")], state={}), {}),
    ("two braces on one side only", session(GO, agents=[agent("me", "{{city}")], state={"city": "Rome"}), {}),
    ("two braces around what is no key", session(GO, agents=[agent("me", "{{ 1 }} {{}}")], state={}), {}),
    ("two braces around a hyphen", session(GO, agents=[agent("me", "{{a-b}}")], state={}), {"placeholder-surprise": []}),
    ("an optional key in two braces", session(GO, agents=[agent("me", "{{city?}}")], state={}), {"placeholder-surprise": []}),
    ("just below a million, just above the least", session(GO, agents=[agent("me", "{a} {b} {c} {d}")], state={"a": 999999, "b": 0.0001, "c": 0, "d": True}), {}),
    ("a million, and too little", session(GO, agents=[agent("me", "{a}")], state={"a": 1000000}), {"placeholder-surprise": []}),
    ("a small number", session(GO, agents=[agent("me", "{a}")], state={"a": -0.00005}), {"placeholder-surprise": []}),
    ("an ordinary negative number", session(GO, agents=[agent("me", "{a}")], state={"a": -5}), {}),
    ("an empty list", session(GO, agents=[agent("me", "{a?}")], state={"a": []}), {"placeholder-surprise": []}),
    ("a lone template", session(GO, instruction="{a-b}"), {"placeholder-surprise": []}),
    ("a request's token whose key is not in the state", session(GO, me("Ok."), **sent({"parts": [{"text": "{city}"}]}), state={}), {}),
    ("a request's instruction as a text", session(GO, me("Ok."), **sent("In {city}."), state={"city": "Rome"}), {"placeholder-surprise": [1]}),
    ("a request's code sample", session(GO, me("Ok."), **sent("{\"city\": 1}"), state={"city": "Rome"}), {}),
    # state-disagrees
    ("the last delta counts", session(GO, wrote("me", a=1), me("Ok.", **delta(a=2)), state={"a": 2}), {}),
    ("a key that no event wrote", session(GO, me("Ok."), state={"a": 2}), {}),
    ("true is not one", session(GO, me("Ok.", **delta(a=True)), state={"a": 1}), {"state-disagrees": [1]}),
    ("inside of lists and maps too", session(GO, me("Ok.", **delta(a=[{"b": 1}])), state={"a": [{"b": 1.0}]}), {}),
    ("set to null, and there", session(GO, me("Ok.", **delta(a=None)), state={"a": 1}), {"state-disagrees": [1]}),
    ("a key with a colon of its own", session(GO, me("Ok.", **delta(**{"team:a": 1})), state={}), {"state-disagrees": [1]}),
    ("a rewound session", session(GO, me("Ok.", **delta(a=1)), {"author": "user", "actions": {"rewindBeforeInvocationId": "e-1"}}, state={}), {}),
    ("a rewound session in the other spelling", session(GO, me("Ok.", **delta(a=1)), {"author": "user", "actions": {"rewind_before_invocation_id": "e-1"}}, state={}), {}),
    ("a chunk's delta is not stored", session(GO, me("O", partial=True, **delta(a=1)), me("Ok."), stream=True, state={}), {}),
    # state-write-conflict (a)
    ("three runs, two entries", session(GO, me(fc("a"), fc("b"), fc("c")), event("me", "user", fr("a"), fr("b"), fr("c"), **delta(k=[1, 2])), me("Ok.")), {"state-write-conflict": [2]} | {"repeated-call": [1]}),
    ("one run", session(GO, me(fc("a")), event("me", "user", fr("a"), **delta(k=1)), me("Ok.")), {}),
    ("no delta", session(GO, me(fc("a"), fc("b")), event("me", "user", fr("a"), fr("b")), me("Ok.")), {}),
    ("a longer list", session(GO, me(fc("a"), fc("b")), event("me", "user", fr("a"), fr("b"), **delta(k=[1, 2, 3])), me("Ok.")), {}),
    # state-write-conflict (b)
    ("the same value on both branches", session(GO, by("a", "A.", branch="p.a", **delta(k=1)), by("b", "B.", branch="p.b", **delta(k=1.0))), {}),
    ("a branch that sees the other", session(GO, by("a", "A.", branch="p", **delta(k=1)), by("b", "B.", branch="p.b", **delta(k=2))), {}),
    ("one without branch", session(GO, by("a", "A.", **delta(k=1)), by("b", "B.", branch="p.b", **delta(k=2))), {}),
    ("two turns", session(GO, by("a", "A.", branch="p.a", **delta(k=1)), user("And?"), by("b", "B.", branch="p.b", **delta(k=2))), {}),
    ("state-only events count", session(GO, {**wrote("a", k=1), "branch": "p.a"}, {**wrote("b", k=2), "branch": "p.b"}), {"state-write-conflict": [1, 2]}),
    # artifact-delta-gap
    ("the same version again", session(GO, me("A.", actions={"artifactDelta": {"f": 1}}), me("B.", actions={"artifactDelta": {"f": 1}})), {}),
    ("back to an older one", session(GO, me("A.", actions={"artifactDelta": {"f": 1}}), me("B.", actions={"artifactDelta": {"f": 0}})), {"artifact-delta-gap": [2]}),
    ("two at once without results", session(GO, me("A.", actions={"artifactDelta": {"f": 2}})), {"artifact-delta-gap": [1]}),
    ("files are counted for themselves", session(GO, me("A.", actions={"artifactDelta": {"f": 1, "g": 1}}), me("B.", actions={"artifactDelta": {"g": 2}})), {}),
    # duplicate-user-message
    ("a third time", session(user("Go", **E1), user("Go", **E1), user("Go", **E1)), {"duplicate-user-message": [0, 1, 2]}),
    ("without invocation id it is only repeated", session(user("Go"), user("Go"), me("Ok.")), {"repeated-content": [0, 1], "empty-answer": [0]}),
    ("something else of the user's between", session(user("Go", **E1), user("on", **E1), user("Go", **E1), me("Ok.")), {"duplicate-user-message": [0, 2]}),
    ("another part beside the text", session(user("Go", **E1), user("Go", {"fileData": {"fileUri": "gs://a", "mimeType": "image/png"}}, **E1), me("Ok.", **E1)), {}),
    ("a picture twice", session(*[user({"fileData": {"fileUri": "gs://a", "mimeType": "image/png"}}, **E1)] * 2, me("Ok.")), {"repeated-content": [0, 1]}),
    # repeated-content
    ("a state-only event between", session(GO, me("Ok."), wrote("x", k=1), me("Ok.")), {}),
    ("another role", session(GO, me("Ok."), event("me", "user", text("Ok."))), {}),
    ("another branch", session(GO, me("Ok.", branch="a"), me("Ok.", branch="b")), {}),
    ("another scope", session(GO, me("Hm."), me("Ok.", isolation_scope="a"), me("Ok.", isolation_scope="b")), {}),
    ("calls", session(GO, me(fc(None)), me(fc(None)), result(None), me("Ok.")), {"missing-call-id": [1, 2, 3]}),
    ("under one event id", session(GO, me("Ok.", id="a"), me("Ok.", id="a")), {"duplicate-event-id": [1, 2]}),
    ("three times", session(GO, me("Ok."), me("Ok."), me("Ok.")), {"repeated-content": [1, 2, 3]}),
    ("empty contents", session(GO, me("Ok."), me(""), me("")), {"empty-answer": [3]}),
    # events-out-of-order
    ("the last stamped one before counts, not the latest", session(user("Go", timestamp=5), me("A", timestamp=9), wrote("x", k=1), me("B", timestamp=7), me("C", timestamp=8)), {"events-out-of-order": [1, 3]}),
    ("a microsecond is allowed", session(user("Go", timestamp=1718000000.000002), me("A", timestamp=1718000000.000001)), {}),
    ("two are not", session(user("Go", timestamp=1718000000.000003), me("A", timestamp=1718000000.000001)), {"events-out-of-order": [0, 1]}),
    ("live audio is no measure for what follows", session(user("Go", timestamp=5), user({"fileData": {"fileUri": "artifact://x/_adk_live/a", "mimeType": "audio/pcm"}}, timestamp=9), me("A", timestamp=7)), {}),
    ("a stamp beyond all reason", session(user("Go", timestamp=1e308), me("A", timestamp=7)), {"events-out-of-order": [0, 1]}),
    ("ISO and numbers alike", session(user("Go", timestamp="2026-01-01T00:00:10+00:00"), me("A", timestamp=1767225605.0)), {"events-out-of-order": [0, 1]}),
    # duplicate-event-id
    ("three events", session(user("Go", id="a"), me("A", id="a"), wrote("x", k=1) | {"id": "a"}), {"duplicate-event-id": [0, 1, 2]}),
    ("empty ids", session(user("Go", id=""), me("A", id="")), {}),
    # unknown-author
    ("words heard without an author", session({"inputTranscription": {"text": "Hi", "finished": True}}, me("A")), {"unknown-author": [0]}),
    ("words heard by a role's name", session({"author": "model", "inputTranscription": {"text": "Hi", "finished": True}}, me("A")), {}),
    ("one for an author", session(GO, by("model", "A"), user("And?"), by("model", "B"), by("assistant", "C")), {"unknown-author": [1, 3, 4]}),
    ("a role's name in another case is a name", session(GO, by("Assistant", "A")), {}),
    ("a defined agent deep down", session(GO, by("c", "A"), agents=[agent("a", "", agent("b", "", agent("c")))]), {}),
    ("without definitions any name will do", session(GO, by("whoever", "A")), {}),
]  # fmt: skip


@pytest.mark.parametrize("name, given, finds", KEYS, ids=[case[0] for case in KEYS])
def test_placeholders_and_who_writes_their_keys(name: str, given: dict[str, Any], finds: dict[str, list[int]]) -> None:
    assert events_by_check(found_in(given)) == finds


@pytest.mark.parametrize("name, given, finds", CASES, ids=[case[0] for case in CASES])
def test_state_and_record(name: str, given: dict[str, Any], finds: dict[str, list[int]]) -> None:
    assert events_by_check(found_in(given)) == finds


@pytest.mark.parametrize(
    "inner, meant",
    [
        *((word, True) for word in (
            "a-b", "a.b", "a.b-c.d", "a-b?", "user.name?", "_a._b", "名.字",
            "team:tone", "APP:tone", "App:tone", "other:key?", "x:_y",
            "app: tone", "user:   lang", "temp: k?", "app:user:x", "user:app:x?", "temp:x:y",
            "name ?", "name??", "app:tone ?", "user:x???", "name  ?",
            "e\u0301tat", "Ⅷ",
        )),
        *((word, False) for word in (
            "name", "name?", "app:tone", "", "?", "1abc", "a b", "a-", "-a", "a..b", "a.1", "a:b:c", "app:", "app:1x",
            "app:a:1", "name!r", '"a":1', "a: 1", "x²", "a" * 61, "page.title()", "t1:x", "a_b:c", "a-b ?", "1 ?",
        )),
    ],
)  # fmt: skip
def test_what_looks_like_a_key_that_somebody_meant(inner: str, meant: bool) -> None:
    assert looks_meant(inner) is meant


@pytest.mark.parametrize(
    "given, case, severity",
    [
        (session(GO, agents=[reader("me")], state={}), "never", "error"),
        (session(GO, agents=[flow("sequential", reader(), writer())], state={}), "late", "error"),
        (session(GO, agents=[agent("r", "{plan}", writer())], state={}), "conditional", "warning"),
        (session(GO, agents=[agent("me", "{a-b}")], state={}), "literal", "warning"),
        (session(GO, agents=[agent("me", "{{a}}")], state={"a": "x"}), "braces", "warning"),
        (session(GO, agents=[agent("me", "{a}")], state={"a": {}}), "prints", "note"),
        (session(GO, me("Ok."), **sent("{a}"), state={"a": "x"}), "unfilled", "warning"),
    ],
)
def test_the_case_and_its_severity(given: dict[str, Any], case: str, severity: str) -> None:
    [finding] = found_in(given)
    assert (finding.case, finding.severity) == (case, severity)
