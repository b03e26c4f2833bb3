"""Streaming and answers (spec/doctor.md, C), clause by clause: what is reported, and what comes close and is not."""

from typing import Any

import pytest

from tests.lens.doctor_sessions import (
    agent,
    by,
    delta,
    events_by_check,
    fc,
    flow,
    found_in,
    fr,
    me,
    pay,
    result,
    session,
    text,
    user,
    wrote,
)  # fmt: skip

GO = user("Go")
E1, E2 = {"invocation_id": "e-1"}, {"invocation_id": "e-2"}


def key(words: str, name: str = "k", author: str = "me", **more: Any) -> dict[str, Any]:
    """A final text that its agent's output key holds."""
    return by(author, words, **delta(**{name: words}), **more)


def thought(words: str, author: str = "me", **more: Any) -> dict[str, Any]:
    return by(author, text(words, thought=True), **more)


CASES: list[tuple[str, dict[str, Any], dict[str, list[int]]]] = [
    # partial-misused
    ("(a) all stored chunks in one finding", session(GO, me("O", partial=True), me("Ok.", partial=True), me("Ok."), user("And?"), me("S", partial=True), me("So.")), {"partial-misused": [1, 2, 5]}),
    ("(b) each turn of a stream that ends so", session(GO, me("O", partial=True), user("Hm?"), me("S", partial=True), stream=True), {"partial-misused": [1, 3], "empty-answer": [0]}),
    ("(b) a state-only event behind the chunk closes nothing", session(GO, me("O", partial=True), wrote("me", k=1), stream=True), {"partial-misused": [1]}),
    ("(b) a chunk before a call, then the result", session(GO, me("O", partial=True), me(fc("c1")), result("c1"), stream=True), {}),
    ("(c) another tool's call has an id of its own", session(GO, me(fc("p1", "hear"), partial=True), me(fc("c2")), result("c2"), me("Ok."), stream=True), {}),
    ("(c) another agent's too", session(GO, by("you", fc("p1"), partial=True), me(fc("c2")), result("c2"), me("Ok."), stream=True), {}),
    ("(c) a later turn's too", session(GO, me(fc("p1"), partial=True), me("Hm."), user("And?"), me(fc("c2")), result("c2"), me("Ok."), stream=True), {}),
    ("(c) one of the later calls has it", session(GO, me(fc("p1"), partial=True), me(fc("p0"), fc("p1")), result("p0"), result("p1"), me("Ok."), stream=True), {}),
    ("(c) a chunk with a nameless call", session(GO, me(fc("p1", ""), partial=True), me(fc("c2")), result("c2"), me("Ok."), stream=True), {}),
    ("(c) the same id earlier, and another later", session(GO, me(fc("p1")), result("p1"), me(fc("p1"), partial=True), me(fc("c2")), result("c2"), me("Ok."), stream=True), {"partial-misused": [3, 4]}),
    ("(c) the whole call lost its id", session(GO, me(fc("p1"), partial=True), me(fc(None)), result(None), me("Ok."), stream=True), {"partial-misused": [1, 2]}),
    # output-key-fragment
    ("a blank in front is enough", session(GO, key("Three"), key(" steps")), {"output-key-fragment": [1, 2]}),
    ("a tab too", session(GO, key("Three"), key("\tsteps")), {"output-key-fragment": [1, 2]}),
    ("a new line is none", session(GO, key("Three"), key("\nsteps")), {}),
    ("the same text again is not longer", session(GO, me("Three", **delta(k="Three"), id="1"), me("Three", **delta(k="Three"), id="2")), {"repeated-content": [1, 2]}),
    ("two pieces and no sum are two answers", session(GO, key("Three"), key("steps")), {}),
    ("two pieces and their sum", session(GO, key("Three"), key("steps"), key("Threesteps")), {"output-key-fragment": [1, 2, 3]}),
    ("two agents' pieces are none", session(GO, key("Three"), key(" steps", "j", "you")), {}),
    ("what stands on another branch does not come between", session(GO, key("Three", branch="p.a"), by("b", "B.", branch="p.b"), key(" steps", branch="p.a")), {"output-key-fragment": [1, 3]}),
    ("two branches have a run each", session(GO, key("Three", branch="p.a"), key(" steps", "j", branch="p.b")), {}),
    ("a state-only event does not come between", session(GO, key("Three"), wrote("x", a=1), key(" steps")), {"output-key-fragment": [1, 3]}),
    ("a thought does", session(GO, key("Three"), thought("hm"), key(" steps")), {}),
    ("no key anywhere", session(GO, me("Three"), me(" steps")), {}),
    ("another agent's key is none", session(GO, me("Three"), me(" steps"), agents=[agent("you", "", agent("me"), output_key="k")]), {}),
    ("a key that holds something else is none", session(GO, me("Three", **delta(k="x")), me(" steps", **delta(k="y"))), {}),
    ("one text held is enough", session(GO, me("Three"), me(" steps", **delta(k=" steps"))), {"output-key-fragment": [1, 2]}),
    ("a text that a state-only event holds", session(GO, me("Three"), me(" steps"), wrote("me", k=" steps")), {"output-key-fragment": [1, 2]}),
    # output-key-overwritten
    ("the same text is no loss", session(GO, key("A", author="a"), key("A", author="b")), {}),
    ("a callback's text under a key is not the agent's own", session(GO, key("A", author="a"), by("b", "B", **delta(k="C"))), {}),
    ("a third writer: each pair for itself", session(GO, key("A", author="a"), key("B", author="b"), key("C", author="a")), {"output-key-overwritten": [1, 2, 3]}),
    ("the reader of an optional key reads it", session(GO, key("A", author="a"), key("B", author="b"), agents=[flow("sequential", agent("a", output_key="k"), agent("b", "Better: {k?}", output_key="k"))]), {}),
    ("the root's global text counts", session(GO, key("A", author="a"), key("B", author="b"), agents=[agent("a", "", agent("b", output_key="k"), output_key="k", global_instruction="So far: {k?}")]), {}),
    ("a non-root's global text does not", session(GO, key("A", author="a"), key("B", author="b"), agents=[agent("a", "", agent("b", output_key="k", global_instruction="So far: {k?}"), output_key="k")]), {"output-key-overwritten": [1, 2]}),
    ("a lone template that reads it", session(GO, key("A", author="a"), key("B", author="b"), instruction="So far: {k?}"), {}),
    ("two keys", session(GO, key("A", "j", "a"), key("B", "k", "b")), {}),
    # output-key-misses-text
    ("(a) several texts", session(GO, me("One.", fc("c1")), result("c1"), me("Two.", fc("c2")), result("c2"), key("Three.")), {"output-key-misses-text": [1, 3, 5]}),
    ("(a) only those that the answer lacks", session(GO, me("One.", fc("c1")), result("c1"), me("Two.", fc("c2")), result("c2"), key("One. Three.")), {"output-key-misses-text": [3, 5]}),
    ("(a) another agent's text is none of its own", session(GO, by("you", "One.", fc("c1")), result("c1", author="you"), key("Three.")), {}),
    ("(a) an earlier turn's text neither", session(GO, me("One.", fc("c1")), result("c1"), me("Hm."), user("And?"), key("Three.")), {}),
    ("(a) text beside a long-running call is saved itself", session(GO, me("One.", fc("c1"), long_running_tool_ids=["c1"]), result("c1"), key("Three.")), {}),
    ("(a) no key is written", session(GO, me("One.", fc("c1")), result("c1"), me("Three.")), {}),
    ("(a) blanks around the text do not count", session(GO, me(" One. ", fc("c1")), result("c1"), key("One. Three.")), {}),
    ("(a) on a delegate's branch", session(GO, me("One.", fc("c1"), branch="w@1"), result("c1", branch="w@1"), key("Three.", branch="w@1")), {}),
    ("(b) the key is written", session(GO, key("A"), agents=[agent("me", output_key="k")]), {}),
    ("(b) the answer of an agent without key", session(GO, me("A", actions={}), agents=[agent("me")]), {}),
    ("(b) text beside a call is not final", session(GO, me("A", fc("c1"), actions={}), result("c1"), key("B A"), agents=[agent("me", output_key="k", tools=["look"])]), {}),
    ("(b) a delegate saves otherwise", session(GO, me("A", actions={}, branch="me@1"), agents=[agent("x", "", agent("me", output_key="k", mode="single_turn"))]), {}),
    ("(b) thoughts are no text", session(GO, thought("hm", actions={}), agents=[agent("me", output_key="k")]), {}),
    # thought-only-loop
    ("an empty thought is one", session(GO, me({"thought": True}), thought("b"), thought("c")), {"thought-only-loop": [1, 2, 3]}),
    ("in two turns", session(GO, thought("a"), thought("b"), user("And?"), thought("c"), me("So.")), {}),
    ("on another branch they are another row", session(GO, thought("a", branch="p.a"), thought("b", branch="p.a"), thought("c", branch="p.b")), {}),
    ("another branch does not come between", session(GO, thought("a", branch="p.a"), by("b", "B.", branch="p.b"), thought("b", branch="p.a"), thought("c", branch="p.a")), {"thought-only-loop": [1, 3, 4]}),
    ("two agents in turn", session(GO, thought("a"), thought("b", "you"), thought("c")), {"thoughts-reach-other-agent": [1, 2]}),
    ("a long-running call beside thoughts", session(GO, thought("a"), thought("b"), me(text("c", thought=True), fc("c1"), long_running_tool_ids=["c1"])), {}),
    # empty-answer (a)
    ("an empty text", session(GO, me("")), {"empty-answer": [1]}),
    ("a content without parts", session(GO, {"author": "me", "content": {"role": "model"}}), {"empty-answer": [1]}),
    ("blanks", session(GO, me("  \n")), {"empty-answer": [1]}),
    ("an error code beside it", session(GO, me("", error_code="SAFETY")), {"answer-is-error": [1]}),
    ("thoughts only", session(GO, thought("hm")), {}),
    ("a file", session(GO, me({"fileData": {"fileUri": "gs://a", "mimeType": "image/png"}})), {}),
    ("code", session(GO, me({"executableCode": {"code": "1", "language": "PYTHON"}})), {}),
    ("a text follows", session(GO, me(""), me("Ok.")), {}),
    ("the text comes first", session(GO, me("Ok."), me("")), {"empty-answer": [2]}),
    ("a state-only event behind the text", session(GO, me("Ok."), wrote("me", k=1)), {}),
    ("a request for approval is no answer, and none is missing", session(*pay()), {}),
    ("an empty content of the user's", session(GO, me("Ok."), {"author": "user", "content": {"role": "user", "parts": []}}), {}),
    ("in any turn, and then nothing has answered the message either", session(GO, me(""), user("And?"), me("Ok.")), {"empty-answer": [0, 1]}),
    # empty-answer (b)
    ("one invocation: still at work", session(user("Go", **E1), user("on", **E1), me("Ok.", **E1)), {}),
    ("no invocation ids", session(GO, user("Hello?"), me("Ok.")), {"empty-answer": [0]}),
    ("a state-only event is no answer", session(GO, wrote("me", k=1), user("Hello?"), me("Ok.")), {"empty-answer": [0]}),
    ("an error code is one", session(GO, {"author": "me", "error_code": "X"}, user("Hello?"), me("Ok.")), {"answer-is-error": [1]}),
    ("the next message is another scope's", session(user("Go", isolation_scope="s"), user("Hello?"), me("Ok.")), {}),
    ("a picture without words", session(user({"fileData": {"fileUri": "gs://a", "mimeType": "image/png"}}), user("Hello?"), me("Ok.")), {}),
    ("in a file with speech", session(GO, user("Hello?"), {"author": "me", "outputTranscription": {"text": "Yes.", "finished": True}}), {}),
    # empty-answer (c)
    ("a result, then another turn", session(GO, me(fc("c1")), result("c1"), user("Hm?"), me("Ok.")), {"empty-answer": [2]}),
    ("the last of the file", session(GO, me(fc("c1")), result("c1")), {}),
    ("a resumed turn keeps its invocation", session(user("Go", **E1), me(fc("c1"), **E1), result("c1", **E1), user("on", **E1), me("Ok.", **E1)), {}),
    ("a transfer", session(GO, me(fc("t", "transfer_to_agent", {"agent_name": "you"})), result("t", "transfer_to_agent", {}, actions={"transferToAgent": "you"}), user("Hm?"), by("you", "Ok.")), {}),
    ("a transfer in a file without actions", session(GO, me(fc("t", "transfer_to_agent", {"agent_name": "you"})), result("t", "transfer_to_agent", {}), user("Hm?"), by("you", "Ok.")), {}),
    ("a transfer that failed hands nothing over", session(GO, me(fc("t", "transfer_to_agent", {"agent_name": "you"})), result("t", "transfer_to_agent", {"error": "no"}), user("Hm?"), by("you", "Ok.")), {"empty-answer": [2]}),
    ("an escalation", session(GO, me(fc("c1")), result("c1", actions={"escalate": True}), user("Hm?"), me("Ok.")), {}),
    ("an approval that is wanted", session(*pay(), user("Hm?"), me("Ok.")), {"confirmation-unanswered": [3]}),
    ("a finished task", session(GO, by("t", fc("f", "finish_task", {"result": "x"}), isolation_scope="s"), result("f", "finish_task", {"result": "ok"}, author="t", isolation_scope="s"), user("Hm?"), by("t", "Ok.")), {"hidden-by-scope": [0]}),
    ("a task's result is the user's", session(GO, me(fc("d1", "scout")), by("scout", "Here.", isolation_scope="d1"), user(fr("d1", "scout")), user("Hm?"), me("Ok.")), {}),
    ("words behind the result", session(GO, me(fc("c1")), result("c1"), me("Ok."), user("Hm?"), me("Yes.")), {}),
    # answer-is-error
    ("a check that failed, without the text", session(GO, me(fc("s", "set_model_response", {"n": None})), result("s", "set_model_response", {"error": "n"})), {"answer-is-error": [2]}),
    ("another field beside it", session(GO, me(fc("s", "set_model_response", {"n": 1})), result("s", "set_model_response", {"error": "x", "n": 1}), me("{}")), {}),
    ("an error that is no text", session(GO, me(fc("s", "set_model_response", {"n": 1})), result("s", "set_model_response", {"error": {"code": 3}}), me("{}")), {}),
    ("another agent's text behind it", session(GO, me(fc("s", "set_model_response", {"n": None})), result("s", "set_model_response", {"error": "n"}), by("you", "Hm.")), {"answer-is-error": [2]}),
    ("another tool's error", session(GO, me(fc("s", "count")), result("s", "count", {"error": "n"}), me("Hm.")), {}),
    ("(b) a tool's result is no answer", session(GO, me(fc("c1")), {"author": "me", "error_code": "X"}, result("c1")), {"answer-is-error": [2]}),
    ("(b) another agent's answer is none of its own", session(GO, {"author": "me", "error_code": "X"}, by("you", "Ok.")), {"answer-is-error": [1]}),
    ("(b) the next turn's answer comes too late", session(GO, {"author": "me", "error_code": "X"}, user("Hm?"), me("Ok.")), {"answer-is-error": [1]}),
    ("(b) a good answer before it", session(GO, me("Ok."), {"author": "me", "error_code": "X"}), {"answer-is-error": [2]}),
    # answer-cut-short
    ("a reason that is unspecified", session(GO, me("Ok.", finish_reason="FINISH_REASON_UNSPECIFIED")), {}),
    ("a thought cut short", session(GO, thought("hm", finish_reason="MAX_TOKENS")), {}),
    ("an error code beside it speaks for itself", session(GO, me("Ok", finish_reason="MAX_TOKENS", error_code="MAX_TOKENS")), {"answer-is-error": [1]}),
    ("text beside a call", session(GO, me("Ok", fc("c1"), finish_reason="MAX_TOKENS"), result("c1"), me("So.")), {}),
    ("a chunk", session(GO, me("Ok", finish_reason="MAX_TOKENS", partial=True), me("Ok."), stream=True), {}),
]  # fmt: skip


@pytest.mark.parametrize("name, given, finds", CASES, ids=[case[0] for case in CASES])
def test_streaming_and_answers(name: str, given: dict[str, Any], finds: dict[str, list[int]]) -> None:
    assert events_by_check(found_in(given)) == finds
