"""Calls and answers (spec/doctor.md, A), clause by clause: what is reported, and what comes close and is not."""

from typing import Any

import pytest

from tests.lens.doctor_sessions import (
    agent,
    ask,
    by,
    decide,
    event,
    events_by_check,
    fc,
    found_in,
    fr,
    me,
    needs,
    pay,
    record,
    result,
    session,
    text,
    user,
)  # fmt: skip

JOB = {"long_running_tool_ids": ["c1"]}
PENDING = {"status": "pending"}
GO, DONE = user("Go"), me("Done so.")

CASES: list[tuple[str, dict[str, Any], dict[str, list[int]]]] = [
    # orphan-response
    ("one orphan id in two events is one finding", session(GO, result("x"), DONE, result("x")), {"orphan-response": [1, 3]}),
    ("a call in a chunk makes its answer no orphan", session(GO, me(fc("c1"), partial=True), result("c1"), DONE, stream=True), {}),
    ("a call in another scope does", session(GO, me("Hm."), by("sub", fc("c1"), isolation_scope="s"), result("c1")), {"response-out-of-sight": [2, 3], "answered-by-another-agent": [2, 3]}),
    ("an answer of the protocol is no orphan here", session(GO, me("Yes?"), decide("k9"), DONE), {"confirmation-missed": [2]}),
    ("an id of one letter more is another id", session(GO, me(fc("c1")), result("c12"), DONE), {"orphan-response": [2], "unanswered-call": [1]}),
    ("a call in a record is one where compaction is on", session(GO, DONE, {**record(9, 9, 9), **me(fc("c1"))}, result("c1"), me("So.")), {}),
    ("and none where it is off", session(GO, DONE, {**record(9, 9, 9), **me(fc("c1"))}, result("c1"), me("So."), compaction=False), {"compaction-off": [2], "orphan-response": [3]}),
    # unanswered-call
    ("a result without id under its name, later, answers", session(GO, me(fc(None)), result(None), DONE), {}),
    ("such a result before it does not", session(GO, result(None, "look"), me(fc(None)), DONE), {"unanswered-call": [2]}),
    ("nor one under another name", session(GO, me(fc(None)), result(None, "other"), DONE), {"unanswered-call": [1]}),
    ("a tool defined as long-running waits rightly", session(GO, me(fc("c1")), agents=[agent("me", tools=[{"name": "look", "long_running": True}])]), {}),
    ("another tool of that agent does not", session(GO, me(fc("c1")), agents=[agent("me", tools=["look", {"name": "job", "long_running": True}])]), {"unanswered-call": [1]}),
    ("one finding for each call, the last of the file too", session(GO, me(fc("c1"), fc("c2"))), {"unanswered-call": [1]}),
    ("a call beside an open task waits", session(GO, me(fc("d1", "scout"), fc("d2", "surveyor")), by("scout", "Where?", isolation_scope="d1")), {}),
    ("beside an answered task it does not, unless it is one", session(GO, me(fc("d1", "scout"), fc("d2", "scout")), by("scout", "Here.", isolation_scope="d1"), user(fr("d1", "scout")), DONE), {"unanswered-call": [1]}),
    ("what calls-beside-delegation reports is left to it", session(GO, me(fc("d1", "scout"), fc("n1", "note")), by("scout", "Here.", isolation_scope="d1"), user(fr("d1", "scout")), DONE), {"calls-beside-delegation": [1]}),
    ("a call in a chunk is none", session(GO, me(fc("c1"), partial=True), me("No call."), stream=True), {}),
    ("an answer before the call answers it by its id", session(GO, result("c1"), me(fc("c1")), DONE), {}),
    # mixed-up-ids
    ("one id twice in one event", session(GO, me(fc("c1"), fc("c1", "hear")), result("c1"), DONE), {"mixed-up-ids": [1]}),
    ("an event loaded twice is one event", session(GO, me(fc("c1"), id="a"), me(fc("c1"), id="a"), result("c1"), DONE), {"duplicate-event-id": [1, 2]}),
    ("under two event ids it is two", session(GO, me(fc("c1"), id="a"), me(fc("c1"), id="b"), result("c1"), DONE), {"mixed-up-ids": [1, 2]}),
    ("calls without ids share nothing", session(GO, me(fc(None)), result(None), DONE, user("And?"), by("you", fc(None)), result(None, author="you"), by("you", "Yes.")), {}),
    ("two approvals in one message belong together",
     session(user("Pay, tip"), me(fc("c1", "pay")), needs("c1"), ask("k1", "c1"), user("ok then"), me(fc("c2", "tip")), needs("c2", "tip"), ask("k2", "c2", "tip"),
             user(fr("k1", "adk_request_confirmation", {"confirmed": True}), fr("k2", "adk_request_confirmation", {"confirmed": True}))), {}),
    ("an answer to an unknown call beside a known one is only an orphan", session(GO, me(fc("c1")), event("me", "user", fr("c1"), fr("zz")), DONE), {"orphan-response": [2]}),
    # missing-call-id
    ("answers by the user under a tool's name are the agent's", session(GO, me(fc(None)), user(fr(None)), me(fc(None)), user(fr(None)), DONE), {"missing-call-id": [1, 2, 3, 4]}),
    ("answers by the user under another name are not", session(GO, me(fc(None)), result(None), DONE, user(fr(None, "other")), me("So.")), {}),
    ("two answers to one call event", session(GO, me(fc(None), fc(None, "hear")), result(None), result(None, "hear"), DONE), {"missing-call-id": [1, 2, 3]}),
    ("each agent is counted for itself", session(GO, me(fc(None)), result(None), me(fc(None, "b")), result(None, "b"), DONE, by("you", fc(None, "w")), result(None, "w", author="you"), by("you", "Yes.")), {"missing-call-id": [1, 2, 3, 4]}),
    ("calls without any answer are unanswered, not mixed up", session(GO, me(fc(None)), me(fc(None, "hear"))), {"unanswered-call": [1, 2]}),
    ("an empty id is none", session(GO, me(fc("")), result(""), me(fc("", "hear")), result("", "hear"), DONE), {"missing-call-id": [1, 2, 3, 4]}),
    # late-response-drops-text
    ("two texts dropped by one answer are one finding", session(GO, me(fc("c1"), **JOB), result("c1", response=PENDING), me("Wait."), user("One"), me("1"), user("Two"), me("2"), user(fr("c1")), DONE), {"late-response-drops-text": [4, 6, 8]}),
    ("a picture of the user's is no text", session(GO, me(fc("c1"), **JOB), result("c1", response=PENDING), me("Wait."), user({"fileData": {"fileUri": "gs://a", "mimeType": "image/png"}}), me("Nice."), user(fr("c1")), DONE), {}),
    ("text on another branch was never there", session(GO, me(fc("c1"), branch="a.b", **JOB), result("c1", response=PENDING, branch="a.b"), user("Hm", branch="a.c"), user(fr("c1")), me("Ok.", branch="a.b")), {}),
    ("an answer that is about to be read counts", session(GO, me(fc("c1"), **JOB), result("c1", response=PENDING), me("Wait."), user("One"), me("1"), user(fr("c1"))), {"late-response-drops-text": [4, 6]}),
    ("an answer that nobody is to read does not", session(GO, me(fc("c1"), **JOB), result("c1", response=PENDING), me("Wait."), user("One"), me("1"), user(fr("c1")), user("Two")), {}),
    # response-out-of-sight
    ("a user's answer on a branch that the call does not see", session(GO, me(fc("c1"), branch="a.b", **JOB), user(fr("c1"), branch="a.c")), {"response-out-of-sight": [1, 2]}),
    ("a user's answer on a branch above is seen", session(GO, me(fc("c1"), branch="a.b", **JOB), user(fr("c1"), branch="a")), {}),
    ("an agent's answer on a branch above does not see the call", session(GO, me(fc("c1"), branch="a.b"), result("c1", branch="a")), {"response-out-of-sight": [1, 2]}),
    ("an agent's answer without branch sees all", session(GO, me(fc("c1"), branch="a.b"), result("c1"), me("Ok.", branch="a.b")), {}),
    ("scopes must be equal, the empty one too", session(GO, me("Hm."), me(fc("c1"), isolation_scope="s"), result("c1")), {"response-out-of-sight": [2, 3]}),
    ("the nearest call before counts", session(GO, me("Hm."), me(fc("c1"), isolation_scope="s"), result("c1", isolation_scope="s"), me("Seen.", isolation_scope="s"), user("So?"), me(fc("c1")), result("c1"), DONE), {"mixed-up-ids": [2, 6]}),
    # answered-by-another-agent
    ("one caller of the id is enough", session(GO, by("you", fc("c1")), me(fc("c1")), result("c1"), DONE), {"mixed-up-ids": [1, 2]}),
    ("the last call is named", session(GO, by("a", fc("c1")), by("b", fc("c1")), result("c1"), DONE), {"mixed-up-ids": [1, 2], "answered-by-another-agent": [2, 3]}),
    ("a result without id is nobody's", session(GO, by("you", fc(None)), result(None), DONE), {}),
    # long-running-pending
    ("an answer to a sibling asks on", session(GO, me(fc("c1"), fc("c2"), **JOB), result("c2"), DONE), {"long-running-pending": [1, 2]}),
    ("a message in another scope does not", session(GO, me(fc("c1"), **JOB), user("Hm", isolation_scope="s")), {}),
    ("another agent's result does not", session(GO, me(fc("c1"), **JOB), by("you", fc("c2")), result("c2", author="you"), by("you", "Ok.")), {}),
    ("a decision on something else does not", session(*pay(), me(fc("c9", "job"), long_running_tool_ids=["c9"]), decide("k1")), {}),
    ("a confirmation request is no call that waits", session(*pay(), user("Hm"), me("Ok.")), {"confirmation-unanswered": [3]}),
    ("marks on no call", session(GO, me("Hm.", long_running_tool_ids=["x"])), {"long-running-pending": [1]}),
    ("marks of a request are on its own call", session(*pay()), {}),
]  # fmt: skip


@pytest.mark.parametrize("name, given, finds", CASES, ids=[case[0] for case in CASES])
def test_calls_and_answers(name: str, given: dict[str, Any], finds: dict[str, list[int]]) -> None:
    assert events_by_check(found_in(given)) == finds


@pytest.mark.parametrize(
    "parts, words",
    [
        ([{**fr("x"), **text("also this")}], "lost"),
        ([text("also this"), fr("x")], "kept"),
        ([fr("x")], "none"),
        ([fr("x"), text("hm", thought=True)], "none"),
    ],
)
def test_an_orphan_says_what_becomes_of_the_words_beside_it(parts: list[Any], words: str) -> None:
    [finding] = found_in(session(user(*parts)))
    assert (finding.check, finding.facts["words"]) == ("orphan-response", words)


@pytest.mark.parametrize("shown, severity", [(True, "warning"), (False, "error")])
def test_a_dropped_text_is_worse_if_nobody_ever_reads_it(shown: bool, severity: str) -> None:
    between = [user("One"), *([me("1")] if shown else [])]
    given = session(
        GO, me(fc("c1"), **JOB), result("c1", response=PENDING), me("Wait."), *between, user(fr("c1")), DONE
    )
    [finding] = [f for f in found_in(given) if f.check == "late-response-drops-text"]
    assert finding.severity == severity
