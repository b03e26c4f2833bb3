"""From the calls of an answer to tool events, where the visible traces do not reach (spec/execution.md 6 and 8)."""

from __future__ import annotations

from typing import Any

import pytest
from google.genai import types

from adknb.engine.errors import BadConfirmation
from adknb.engine.event import ToolConfirmation
from adknb.engine.processors.confirmation import original_call, read_decision
from adknb.scenarios import trace

WAITS = {"name": "job", "long_running": True, "runs": [{"nothing": True}]}
PAY = {"name": "pay", "require_confirmation": True}


def fc(name: str, call_id: str | None = None, **fields: Any) -> dict[str, Any]:
    return {"functionCall": {"name": name, **({"id": call_id} if call_id else {}), **fields}}


def run(*answers: list[dict[str, Any]], **agent: Any) -> list[dict[str, Any]]:
    """The events of one turn; the model gives these parts, one list a call."""
    calls = [{"responses": [{"content": {"role": "model", "parts": parts}}]} for parts in answers]
    root = {"type": "llm", "name": "a", "model": {"calls": calls}, **agent}
    turn = {"message": {"role": "user", "parts": [{"text": "hi"}]}}
    ran = trace({"name": "f/1", "agent": root, "turns": [turn]})
    assert [e for e in ran["trace"] if e["at"] == "error"] == []
    return [e.get("event") or e for e in ran["trace"] if e["at"] in ("event", "model_request")]


def test_ids_of_long_running_calls_are_named_once() -> None:
    events = run([fc("job", "j1"), fc("job", "j1"), fc("job", "j2")], tools=[WAITS])
    assert sorted(events[1]["longRunningToolIds"]) == ["j1", "j2"]


@pytest.mark.parametrize(
    ("act", "shown"),
    [({"nothing": True}, "null"), ({"return": {}}, "{}"), ({"return": ""}, '{"result":""}')],
)
def test_another_agent_is_told_whether_there_was_no_result_or_an_empty_one(act: dict[str, Any], shown: str) -> None:
    other = {
        "type": "llm",
        "name": "b",
        "model": {"calls": [{"responses": [{"content": {"role": "model", "parts": [{"text": "ok"}]}}]}]},
    }
    seen = run(
        [fc("look", "l1")],
        [fc("transfer_to_agent", "x1", args={"agent_name": "b"})],
        tools=[{"name": "look", "runs": [act]}],
        sub_agents=[other],
    )
    request = next(e for e in seen if e.get("at") == "model_request" and e["agent"] == "b")
    texts = [part["text"] for content in request["contents"] for part in content["parts"]]
    assert f"[a] `look` tool returned result: {shown}" in texts


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ({"args": {"n": 1}}, {"name": "pay", "id": "p1", "args": {"n": 1}}),
        ({}, {"name": "pay", "id": "p1"}),
        ({"willContinue": False}, {"name": "pay", "id": "p1", "willContinue": False}),
    ],
)
def test_a_request_for_approval_holds_the_call_as_it_was_made(given: dict[str, Any], kept: dict[str, Any]) -> None:
    asked = run([fc("pay", "p1", **given)], tools=[PAY])[-1]["content"]["parts"][0]["functionCall"]
    assert asked["args"]["originalFunctionCall"] == kept


@pytest.mark.parametrize(
    ("response", "decision"),
    [
        ({"confirmed": True, "hint": "h", "payload": [1], "more": 1}, ToolConfirmation("h", True, [1])),
        ({"Confirmed": True}, ToolConfirmation("", True)),
        ({"CONFIRMED": False, "confirmed": True}, ToolConfirmation("", True)),
        ({}, ToolConfirmation()),
        (None, ToolConfirmation()),
        ({"response": '{"confirmed": true}'}, ToolConfirmation("", True)),
        ({"response": '{"confirmed": true, "Confirmed": false}'}, ToolConfirmation()),
        ({"response": "null"}, ToolConfirmation()),
        ({"response": '{"confirmed": true}', "confirmed": None}, ToolConfirmation()),
        ({"response": "0"}, None),
        ({"response": "false"}, None),
        ({"response": "[]"}, None),
        ({"response": ""}, None),
        ({"response": {"confirmed": True}}, None),
        ({"confirmed": "yes"}, None),
        ({"hint": 1}, None),
    ],
)
def test_a_decision_is_read_as_go_reads_json(response: Any, decision: ToolConfirmation | None) -> None:
    answer = types.FunctionResponse(id="k1", name="adk_request_confirmation", response=response)
    if decision is not None:
        assert read_decision(answer) == decision
        return
    with pytest.raises(BadConfirmation, match="k1"):
        read_decision(answer)


@pytest.mark.parametrize(
    ("original", "name"),
    [({"id": "p1", "name": "pay", "args": {}}, "pay"), ({"id": 1, "name": "pay"}, None), ("pay", None), (None, None)],
)
def test_a_request_that_tells_no_call_asks_for_nothing(original: Any, name: str | None) -> None:
    asked = types.FunctionCall(name="adk_request_confirmation", args={"originalFunctionCall": original})
    call = original_call(asked)
    assert (call.name if call else None) == name
