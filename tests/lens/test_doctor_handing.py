"""Transfer, delegation, confirmation, tools (spec/doctor.md, F and G), clause by clause: what is reported, what is not."""

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
    flow,
    found_in,
    fr,
    me,
    needs,
    pay,
    result,
    session,
    user,
    wrote,
)  # fmt: skip

GO = user("Go")
E1, E2 = {"invocation_id": "e-1"}, {"invocation_id": "e-2"}
LOST, REFUSED = "transfer-unknown-target", {"confirmed": False}


def hand(target: str, call_id: str = "t1", author: str = "me", **more: Any) -> list[Any]:
    """A transfer: call and result."""
    called = by(author, fc(call_id, "transfer_to_agent", {"agent_name": target}))
    return [
        called,
        result(call_id, "transfer_to_agent", {}, author=author, actions={"transferToAgent": target}, **more),
    ]


def without_actions(target: str, response: Any = None, **more: Any) -> list[Any]:
    called = me(fc("t1", "transfer_to_agent", {"agent_name": target}), **more)
    return [called, result("t1", "transfer_to_agent", {} if response is None else response, **more)]


def paid(*later: Any, request: str = "k1") -> dict[str, Any]:
    """A request that is approved, its result, and what comes then."""
    return session(*pay(), decide(request), result("c1", "pay", {"paid": 5}), me("Paid."), *later)


def fail(words: str, tool: str = "add", response: Any = None, **more: Any) -> dict[str, Any]:
    """A tool that fails, and what is said then."""
    told = {"error": "offline"} if response is None else response
    return session(GO, me(fc("a1", tool)), result("a1", tool, told), me(words), **more)


def again(n: int, *answers: Any, **args: Any) -> list[Any]:
    """The same call n times, answered in turn."""
    said = [answers[i % len(answers)] for i in range(n)]
    return [e for i in range(n) for e in (me(fc(f"s{i}", "search", args)), result(f"s{i}", "search", said[i]))]


CASES: list[tuple[str, dict[str, Any], dict[str, list[int]]]] = [
    # transfer-unknown-target
    ("to itself", session(GO, *hand("me"), agents=[agent("me", "", agent("you"))]), {LOST: [2]}),
    ("to a task agent, which is delegated to", session(GO, *hand("you"), by("you", "Hm."), agents=[agent("me", "", agent("you", mode="task"))]), {LOST: [2], "unknown-tool-called": [1]}),
    ("to a workflow below", session(GO, *hand("line"), by("a", "Ok."), agents=[agent("me", "", flow("sequential", agent("a")))]), {}),
    ("to a workflow parent", session(GO, *hand("line"), by("a", "Ok."), agents=[flow("sequential", agent("me"), agent("a"))]), {LOST: [2], "unknown-tool-called": [1]}),
    ("to a parent that is forbidden", session(GO, *hand("up"), by("up", "Ok."), agents=[agent("up", "", agent("me", disallow_transfer_to_parent=True), agent("x"))]), {LOST: [2]}),
    ("a custom tool's transfer", session(GO, me(fc("c1")), result("c1", actions={"transferToAgent": "nobody"})), {LOST: [2]}),
    ("without actions, from the arguments", session(GO, *without_actions("nobody")), {LOST: [2]}),
    ("without actions, and it failed", session(GO, *without_actions("nobody", {"error": "no"}), me("No.")), {}),
    ("with actions that say nothing of a transfer", session(GO, *without_actions("nobody", actions={})), {}),
    ("a call that nobody answered", session(GO, me(fc("t1", "transfer_to_agent", {"agent_name": "nobody"}))), {"unanswered-call": [1]}),
    ("definitions unknown: the target spoke earlier", session(by("you", "Hi."), GO, *hand("you")), {}),
    ("definitions unknown: the target is about to be asked", session(GO, *hand("you"), viewer={"agent_name": "you"}), {}),
    ("definitions unknown: somebody goes on in the turn", session(GO, *hand("nobody"), me("Hm.")), {}),
    ("definitions unknown: somebody goes on in the next turn only", session(GO, *hand("nobody"), user("Hm?"), me("So.")), {LOST: [2]}),
    ("its author is not defined, so nothing is known of its targets", session(GO, *hand("you", author="stray"), by("you", "Ok."), agents=[agent("you")]), {"unknown-author": [1, 2]}),
    # transfer-ping-pong
    ("twice to different targets", session(GO, *hand("a", "t1"), *hand("me", "t2", "a"), *hand("b", "t3"), by("b", "Ok.")), {}),
    ("two agents to one target", session(GO, *hand("b", "t1"), *hand("a", "t2", "b"), *hand("b", "t3", "a"), by("b", "Ok.")), {}),
    ("three times is one finding", session(GO, *[e for i in range(3) for e in (*hand("a", f"t{i}"), *hand("me", f"b{i}", "a"))], me("Ok.")), {"transfer-ping-pong": [2, 4, 6, 8, 10, 12], "repeated-call": [1, 3, 5, 7, 9, 11]}),
    # exclusive-call-not-alone
    ("finish_task beside a call", session(GO, me(fc("f", "finish_task"), fc("c1")), event("me", "user", fr("f", "finish_task"), fr("c1")), me("Ok.")), {"exclusive-call-not-alone": [1]}),
    ("two transfers", session(GO, me(fc("a", "transfer_to_agent", {"agent_name": "x"}), fc("b", "transfer_to_agent", {"agent_name": "y"})), event("me", "user", fr("a", "transfer_to_agent", {}), fr("b", "transfer_to_agent", {}), actions={"transferToAgent": "y"}), by("y", "Ok.")), {"exclusive-call-not-alone": [1]}),
    ("text beside it is no call", session(GO, me("Over to you.", fc("t1", "transfer_to_agent", {"agent_name": "you"})), result("t1", "transfer_to_agent", {}, actions={"transferToAgent": "you"}), by("you", "Ok.")), {}),
    ("in a chunk", session(GO, me(fc("a", "finish_task"), fc("b"), partial=True), me("Ok."), stream=True), {}),
    # calls-beside-delegation
    ("a call of the task's name is a task", session(GO, me(fc("d1", "scout"), fc("d2", "scout")), by("scout", "Where?", isolation_scope="d1"), agents=[agent("me", "", agent("scout", mode="task"))]), {}),
    ("a call beside a task that is answered", session(GO, me(fc("d1", "scout"), fc("c1")), by("scout", "Here.", isolation_scope="d1"), event("user", "user", fr("d1", "scout")), result("c1"), me("Ok.")), {}),
    ("defined, and still open", session(GO, me(fc("d1", "scout"), fc("n1", "note")), by("scout", "Where?", isolation_scope="d1"), agents=[agent("me", "", agent("scout", mode="task"), tools=["note"])]), {"calls-beside-delegation": [1]}),
    ("defined, and the task has not even begun", session(GO, me(fc("d1", "scout"), fc("n1", "note")), agents=[agent("me", "", agent("scout", mode="task"), tools=["note"])]), {"calls-beside-delegation": [1], "unanswered-call": [1]}),
    ("a single-turn child beside a task never ran either", session(GO, me(fc("d1", "scout"), fc("r1", "rater")), by("scout", "Here.", isolation_scope="d1"), user(fr("d1", "scout")), me("Ok."), agents=[agent("me", "", agent("scout", mode="task"), agent("rater", mode="single_turn"))]), {"calls-beside-delegation": [1]}),
    ("one of two tasks is open and nothing is defined", session(GO, me(fc("d1", "scout"), fc("d2", "spy"), fc("n1", "note")), by("scout", "Here.", isolation_scope="d1"), by("spy", "Hm?", isolation_scope="d2"), user(fr("d1", "scout"))), {}),
    # confirmation-missed
    ("(a) an answer without id", session(*pay(), decide(None), me("Hm.")), {"confirmation-missed": [4]}),
    ("(a) an answer to a credential request that was asked", session(GO, me(fc("q1", "adk_request_credential"), long_running_tool_ids=["q1"]), user(fr("q1", "adk_request_credential"))), {}),
    ("(a) by an agent it is no user's answer", session(*pay(), event("me", "user", fr("k9", "adk_request_confirmation", {"confirmed": True}))), {}),
    ("(b) a result after the approval is a result", session(*pay(), decide("k1"), result("c1", "pay", {"s": "pending"}), me("Soon."), user(fr("c1", "pay", {"paid": 5})), me("Paid.")), {}),
    ("(b) and before it", session(*pay(), user(fr("c1", "pay", {"ok": True})), me("Paid!"), decide("k1"), result("c1", "pay", {"paid": 5}), me("Paid.")), {"confirmation-missed": [3, 4]}),
    ("(b) a result for another call", session(*pay(), user(fr("c9", "pay", {"ok": True})), me("Hm.")), {"orphan-response": [4]}),
    ("(c) under the tool's own name", session(*pay(), user(fr("k1", "pay", {"ok": True}))), {"confirmation-missed": [3, 4]}),
    ("(d) nothing comes after the answer", session(*pay(), decide("k1"), user("Well?"), me("Hm.")), {}),
    ("(d) its turn goes on without", session(*pay(), decide("k1"), me("Hm.")), {"confirmation-missed": [3, 4]}),
    ("(d) only a state-only event comes", session(*pay(), decide("k1"), wrote("me", k=1)), {}),
    ("(d) the result comes a turn later", session(*pay(), decide("k1"), me("Hm."), user("Well?"), result("c1", "pay", {"paid": 5}), me("Paid.")), {"confirmation-missed": [3, 4], "late-response-drops-text": [6, 7]}),
    ("(d) one of two answered in a message", session(user("Pay, tip"), me(fc("c1", "pay"), fc("c2", "tip")), event("me", "user", fr("c1", "pay", {"error": "x"}), fr("c2", "tip", {"error": "x"}), actions={"requestedToolConfirmations": {"c1": {}, "c2": {}}}), ask("k1", "c1"), ask("k2", "c2", "tip"),
        user(fr("k1", "adk_request_confirmation", {"confirmed": True}), fr("k2", "adk_request_confirmation", {"confirmed": True})), result("c1", "pay", {"paid": 1}), me("Paid.")), {"confirmation-missed": [4, 5]}),
    ("(d) a second answer is another check's", paid(decide("k1"), me("Already.")), {"confirmation-answered-twice": [4, 7]}),
    # confirmation-answered-twice
    ("approved, refused, approved", paid(decide("k1", REFUSED), result("c1", "pay", {"error": "no"}), me("No."), decide("k1"), result("c1", "pay", {"paid": 5}), me("Again.")), {"confirmation-answered-twice": [4, 10]}),
    ("approved, then refused", paid(decide("k1", REFUSED), result("c1", "pay", {"error": "no"}), me("No.")), {}),
    ("twice before the tool has run", session(*pay(), decide("k1"), decide("k1"), result("c1", "pay", {"paid": 5}), me("Paid.")), {}),
    ("a result by the user between", session(*pay(), decide("k1"), result("c1", "pay", {"s": "pending"}), me("Soon."), user(fr("c1", "pay", {"paid": 5})), me("Paid.")), {}),
    ("an answer that cannot be read approves nothing", paid(decide("k1", {"response": "yes"}), me("Hm.")), {}),
    # confirmation-unanswered
    ("(a) a picture is no text", session(*pay(), user({"fileData": {"fileUri": "gs://a", "mimeType": "image/png"}}), me("Nice.")), {}),
    ("(a) refused later", session(*pay(), user("Wait"), me("I wait."), decide("k1", REFUSED), result("c1", "pay", {"error": "no"}), me("No.")), {"late-response-drops-text": [4, 7]}),
    ("(a) its call got a result instead", session(*pay(), user("Wait"), me("I wait."), user(fr("c1", "pay", {"ok": 1})), me("Ok.")), {"confirmation-missed": [3, 6], "late-response-drops-text": [4, 6]}),
    ("(b) the file ends there", session(user("Pay"), me(fc("c1", "pay")), needs("c1")), {}),
    ("(b) the agent goes on talking", session(user("Pay"), me(fc("c1", "pay")), needs("c1"), me("It needs approval.")), {"confirmation-unanswered": [2]}),
    ("(b) a request for another call follows", session(user("Pay"), me(fc("c1", "pay")), needs("c1"), ask("k1", "c9")), {"confirmation-unanswered": [2]}),
    ("(b) google-adk stores the request before the event that asks", session(user("Pay"), me(fc("c1", "pay")), ask("k1", "c1"), needs("c1"), decide("k1"), result("c1", "pay", {"paid": 5}), me("Paid.")), {}),
    ("(b) what stands before it was answered already", session(user("Pay"), me(fc("c1", "pay")), ask("k1", "c1"), needs("c1"), decide("k1"), needs("c1"), me("It asks again.")), {"confirmation-unanswered": [5]}),
    # refused-tool-ran
    ("missing is refused", session(*pay(), decide("k1", {"hint": "no"}), result("c1", "pay", {"paid": 5}), me("Paid.")), {"refused-tool-ran": [4, 5]}),
    ("the key's case does not matter", session(*pay(), decide("k1", {"Confirmed": True}), result("c1", "pay", {"paid": 5}), me("Paid.")), {}),
    ("the last answer of a message counts", session(*pay(), user(fr("k1", "adk_request_confirmation", REFUSED), fr("k1", "adk_request_confirmation", {"confirmed": True})), result("c1", "pay", {"paid": 5}), me("Paid.")), {}),
    ("a failure told by a flag", session(*pay(), decide("k1", REFUSED), result("c1", "pay", {"ok": False}), me("No.")), {}),
    ("a turn later it is another matter", session(*pay(), decide("k1", REFUSED), result("c1", "pay", {"error": "no"}), me("No."), user("But"), result("c1", "pay", {"paid": 5}), me("Paid.")), {"late-response-drops-text": [7, 8]}),
    # tool-table-mismatch
    ("built-in tools have no declaration", session(GO, me("Ok."), requests=[{"event": 1, "config": {}, "tools": ["google_search", "url_context"]}]), {}),
    ("nothing is declared and the table has a tool", session(GO, me("Ok."), requests=[{"event": 1, "config": {}, "tools": ["look"]}]), {"tool-table-mismatch": [1]}),
    ("the config is not recorded", session(GO, me("Ok."), requests=[{"event": 1, "tools": ["look"]}]), {}),
    ("snake_case", session(GO, me("Ok."), requests=[{"event": 1, "config": {"tools": [{"function_declarations": [{"name": "look"}]}]}, "tools": ["look"]}]), {}),
    ("a config may declare what the agent has", session(GO, agents=[agent("me", tools=["look"], generate_content_config={"tools": [{"functionDeclarations": [{"name": "look"}]}]})]), {}),
    ("or what toolsets may bring", session(GO, agents=[agent("me", toolsets=["mcp"], generate_content_config={"tools": [{"functionDeclarations": [{"name": "look"}]}]})]), {}),
    # unknown-tool-called
    ("transfer without targets", session(GO, *hand("you"), by("you", "Ok."), agents=[agent("me"), agent("you")]), {"unknown-tool-called": [1], LOST: [2]}),
    ("finish_task outside of a task", session(GO, me(fc("f", "finish_task")), result("f", "finish_task"), me("Ok."), agents=[agent("me")]), {"unknown-tool-called": [1]}),
    ("finish_task in a task", session(GO, me(fc("f", "finish_task")), result("f", "finish_task"), me("Ok."), agents=[agent("up", "", agent("me", mode="task"))]), {}),
    ("set_model_response without a schema", session(GO, me(fc("s", "set_model_response")), result("s", "set_model_response"), me("{}"), agents=[agent("me")]), {"unknown-tool-called": [1]}),
    ("a chat child is no tool", session(GO, me(fc("c1", "you")), result("c1", "you"), me("Ok."), agents=[agent("me", "", agent("you"))]), {"unknown-tool-called": [1]}),
    ("what the framework answers itself", session(GO, me(fc("c1", "stop_streaming")), result("c1", "stop_streaming"), me("Ok."), agents=[agent("me")]), {}),
    ("an agent that is not defined", session(GO, by("stray", fc("c1")), result("c1", author="stray"), by("stray", "Ok."), agents=[agent("me")]), {"unknown-author": [1, 2, 3]}),
    ("an error that names another tool", session(GO, me(fc("c1")), result("c1", response={"error": "tool 'hear' not found"}), me("Hm.")), {}),
    ("a request for approval is no call of a tool", session(*pay(), agents=[agent("me", tools=["pay"])]), {}),
    # tool-error-shadowed
    ("success in Chinese", fail("已添加。"), {"tool-error-shadowed": [2, 3]}),
    ("trouble in Chinese", fail("已尝试，但失败了。"), {}),
    ("a word inside of another", fail("It is well-placed? No: misplaced, undone, prepaid-ish."), {"tool-error-shadowed": [2, 3]}),
    ("undone is not done", fail("It is undone."), {}),
    ("successful", fail("That was Successful."), {"tool-error-shadowed": [2, 3]}),
    ("unsuccessful", fail("That was unsuccessful."), {}),
    ("a curly apostrophe", fail("I couldn’t get it done."), {}),
    ("success: false", fail("Added.", response={"success": False}), {"tool-error-shadowed": [2, 3]}),
    ("isError", fail("Added.", response={"isError": True}), {"tool-error-shadowed": [2, 3]}),
    ("a status that is none", fail("Added.", response={"status": "pending"}), {}),
    ("an empty error", fail("Added.", response={"error": ""}), {}),
    ("the last words count", session(GO, me(fc("a1", "add")), result("a1", "add", {"error": "x"}), me("Added."), me("Sorry, that failed.")), {}),
    ("another tool's success is none of its own", session(GO, me(fc("a1", "add")), result("a1", "add", {"error": "x"}), me(fc("b1", "log")), result("b1", "log"), me("Added.")), {"tool-error-shadowed": [2, 5]}),
    ("another agent's words are not the agent's", session(GO, me(fc("a1", "add")), result("a1", "add", {"error": "x"}), by("you", "Added.")), {}),
    ("the next turn's words neither", session(GO, me(fc("a1", "add")), result("a1", "add", {"error": "x"}), me("Hm."), user("And?"), me("Added.")), {}),
    ("a transfer that failed", fail("Done.", "transfer_to_agent"), {}),
    ("approved, run, failed, and praised", session(*pay(), decide("k1"), result("c1", "pay", {"error": "no funds"}), me("Paid.")), {"tool-error-shadowed": [5, 6]}),
    ("a result by the user", session(GO, me(fc("a1", "add"), long_running_tool_ids=["a1"]), user(fr("a1", "add", {"error": "x"})), me("Added.")), {}),
    # repeated-call
    ("an answer is missing", session(GO, *again(3, {"n": 0})[:-1], me("Nothing.")), {"repeated-call": [1, 3, 5], "unanswered-call": [5]}),
    ("the third answer differs", session(GO, *again(3, {"n": 0}, {"n": 0}, {"n": 1}), me("Nothing.")), {}),
    ("1 and 1.0 are one argument and one answer", session(GO, me(fc("a", "s", {"q": 1})), result("a", "s", {"n": 1}), me(fc("b", "s", {"q": 1.0})), result("b", "s", {"n": 1.0}), me(fc("c", "s", {"q": 1})), result("c", "s", {"n": 1}), me("So.")), {"repeated-call": [1, 3, 5]}),
    ("three among others", session(GO, *again(2, {"n": 0}), me(fc("x", "search", {"q": 2})), result("x", "search"), me(fc("y", "search")), result("y", "search", {"n": 0}), me("So.")), {"repeated-call": [1, 3, 7]}),
    ("by three agents", session(GO, *[e for i, who in enumerate("abc") for e in (by(who, fc(f"s{i}", "search")), result(f"s{i}", "search", author=who))], by("c", "So.")), {}),
    ("without ids, each with its own answer", session(GO, *[e for i in range(3) for e in (me(fc(None, "poll")), result(None, "poll", {"n": i}))], me("So.")), {"missing-call-id": [1, 2, 3, 4, 5, 6]}),
]  # fmt: skip


@pytest.mark.parametrize("name, given, finds", CASES, ids=[case[0] for case in CASES])
def test_handing_over_and_tools(name: str, given: dict[str, Any], finds: dict[str, list[int]]) -> None:
    assert events_by_check(found_in(given)) == finds
