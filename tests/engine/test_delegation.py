"""Delegation where the visible traces do not reach: who has the turn, what is remembered, and who is told of a refusal.

Each case is a scenario; what is compared is what happens, one line an entry (spec/execution.md 11 and §14).
"""

from __future__ import annotations

from typing import Any

import pytest

from adknb.scenarios import trace

WAITS = {"name": "job", "long_running": True, "runs": [{"nothing": True}]}
CONFIRM = "adk_request_confirmation"
FINISH = {"functionCall": {"id": "f1", "name": "finish_task", "args": {"result": "Oslo"}}}


def fc(name: str, call_id: str, **args: Any) -> dict[str, Any]:
    return {"functionCall": {"id": call_id, "name": name, "args": args}}


def llm(name: str, *answers: Any, **fields: Any) -> dict[str, Any]:
    """An agent whose model gives one answer a call: a text, a part, a list of parts, or None for no response."""
    calls = []
    for answer in answers:
        parts = [p if isinstance(p, dict) else {"text": p} for p in (answer if isinstance(answer, list) else [answer])]
        calls.append({"responses": [] if answer is None else [{"content": {"role": "model", "parts": parts}}]})
    return {"type": "llm", "name": name, "model": {"calls": calls}, **fields}


def happened(agent: dict[str, Any], *turns: Any, **fields: Any) -> list[str]:
    """`-` between turns; `boss?` a request; `boss: …` an event's parts; the owners of tool hooks; `error`."""
    messages = [t if isinstance(t, dict) else {"text": t} for t in turns]
    scenario = {
        "name": "d/1",
        "agent": agent,
        "turns": [{"message": {"role": "user", "parts": [part]}} for part in messages],
        **fields,
    }
    lines = []
    for entry in trace(scenario)["trace"]:
        match entry["at"]:
            case "turn":
                lines += ["-"] if entry["n"] else []
            case "model_request":
                lines.append(f"{entry['agent']}?")
            case "event":
                lines.append(f"{entry['event']['author']}: {_said(entry['event'])}")
            case "error":
                lines.append("error")
            case "callback" if "tool" in entry:
                lines.append(f"{entry['owner'].split('#')[0]} {entry['hook']}")
    return lines


def _said(event: dict[str, Any]) -> str:
    said = []
    for part in event["content"]["parts"]:
        if (call := part.get("functionCall")) is not None:
            said.append(f"{call['name']}({call['id']})")
        elif (answer := part.get("functionResponse")) is not None:
            result = answer.get("response", {})
            said.append(f"FR({answer['id']})" + (f"={result['result']}" if answer["name"] == "scout" else ""))
        else:
            said.append(part["text"])
    return " + ".join(said)


def scout(*answers: Any, **fields: Any) -> dict[str, Any]:
    return llm("scout", *answers, mode="task", **fields)


def calc(*answers: Any, **fields: Any) -> dict[str, Any]:
    return llm("calc", *answers, mode="single_turn", **fields)


GO = fc("scout", "d1", request="go")
TO_MID = fc("transfer_to_agent", "x1", agent_name="mid")
TO_BOSS = fc("transfer_to_agent", "x1", agent_name="boss")

CASES = {
    "a task that hands over to its parent ends the turn: its own call is open there (11.13)": (
        happened(llm("boss", GO, "never", sub_agents=[scout(TO_BOSS)]), "hi"),
        ["boss?", "boss: scout(d1)", "scout?", "scout: transfer_to_agent(x1)", "scout: FR(x1)", "error"],
    ),
    "an open task call under a workflow root ends every turn that comes to its agent (11.2, 11.10)": (
        happened(
            {
                "type": "sequential",
                "name": "line",
                "sub_agents": [
                    llm("a", TO_MID, TO_MID | {}, sub_agents=[llm("mid", GO, "never", sub_agents=[scout("never")])])
                ],
            },
            "hi",
            "again",
        ),
        [
            *("a?", "a: transfer_to_agent(x1)", "a: FR(x1)", "mid?", "mid: scout(d1)", "error", "-"),
            *("a?", "a: transfer_to_agent(x1)", "a: FR(x1)", "error"),
        ],
    ),
    "root hands over to mid, whose task asks: the root is asked in the same turn (§14.11)": (
        happened(
            llm("root", TO_MID, "root", sub_agents=[llm("mid", GO, sub_agents=[scout("which city?")])]),
            "hi",
        ),
        [
            *("root?", "root: transfer_to_agent(x1)", "root: FR(x1)", "mid?", "mid: scout(d1)"),
            *("scout?", "scout: which city?", "root?", "root: root"),
        ],
    ),
    "a single_turn agent that has the turn and answers ends it with an error (11.25)": (
        happened(
            llm("boss", fc("calc", "c1", request="1"), "on", sub_agents=[calc(fc("job", "j1"), "done", tools=[WAITS])]),
            "hi",
            {"functionResponse": {"id": "j1", "name": "job", "response": {"ok": True}}},
        ),
        [
            *("boss?", "boss: calc(c1)", "calc?", "calc: job(j1)", "boss: FR(c1)", "boss?", "boss: on", "-"),
            *("calc?", "calc: done", "error"),
        ],
    ),
    "… but not one that waits again": (
        happened(
            llm(
                "boss",
                fc("calc", "c1", request="1"),
                "on",
                sub_agents=[calc(fc("job", "j1"), fc("job", "j2"), tools=[WAITS])],
            ),
            "hi",
            {"functionResponse": {"id": "j1", "name": "job", "response": {"ok": True}}},
        )[-2:],
        ["calc?", "calc: job(j2)"],
    ),
    "a task agent that has the turn ends behind finish_task, with an error": (
        happened(
            llm("root", TO_MID, None, sub_agents=[llm("mid", GO, sub_agents=[scout("which city?", FINISH, "never")])]),
            "hi",
            "Oslo",
        )[-4:],
        ["scout?", "scout: finish_task(f1)", "scout: FR(f1)", "error"],
    ),
    "a task's value is what the model gave, whatever before_tool makes of it": (
        happened(
            llm("boss", GO, "ok", sub_agents=[scout(FINISH, callbacks={"before_tool": [{"args": {"result": "x"}}]})]),
            "hi",
        )[-3:],
        ["user: FR(d1)=Oslo", "boss?", "boss: ok"],
    ),
    "a task that waits for a long-running call is not finished, whatever it says": (
        happened(
            llm("boss", GO, "ok", sub_agents=[scout([FINISH, fc("job", "j1")], tools=[WAITS])]),
            "hi",
        ),
        ["boss?", "boss: scout(d1)", "scout?", "scout: finish_task(f1) + job(j1)", "scout: FR(f1)"],
    ),
    "two open calls of one id are one task (11.10)": (
        happened(
            llm("boss", [GO, GO], "ok", sub_agents=[scout("?", FINISH)]),
            "hi",
            "Oslo",
        ),
        [
            *("boss?", "boss: scout(d1) + scout(d1)", "scout?", "scout: ?", "-"),
            *("scout?", "scout: finish_task(f1)", "scout: FR(f1)", "user: FR(d1)=Oslo", "boss?", "boss: ok"),
        ],
    ),
    "a value is remembered in a later turn of the same invocation (11.5)": (
        happened(
            llm("boss", GO, fc("job", "j1"), GO, "end", tools=[WAITS], sub_agents=[scout(FINISH)]),
            "hi",
            {"functionResponse": {"id": "j1", "name": "job", "response": {"ok": True}}},
        )[-5:],
        ["boss?", "boss: scout(d1)", "user: FR(d1)=Oslo", "boss?", "boss: end"],
    ),
    "… and not when a new invocation begins": (
        happened(
            llm("boss", GO, "one", GO, "two", sub_agents=[scout(FINISH, "?")]),
            "hi",
            "again",
        )[-4:],
        ["boss?", "boss: scout(d1)", "scout?", "scout: ?"],
    ),
    "a delegated agent takes its input for the newest word of the user, not the answer to a request (8.5, R5.33)": (
        happened(
            llm(
                "boss",
                fc("calc", "c1", request="1"),
                "on",
                fc("calc", "c2", request="2"),
                "end",
                sub_agents=[
                    scout("never"),
                    calc(fc("pay", "p1"), "two", tools=[{"name": "pay", "require_confirmation": True}]),
                ],
            ),
            "hi",
            {"functionResponse": {"id": "$confirm:0", "name": CONFIRM, "response": {"confirmed": True}}},
        )[-6:],
        ["boss: calc(c2)", "calc?", "calc: two", "boss: FR(c2)", "boss?", "boss: end"],
    ),
    "a loop goes on when the child of a member escalates (12.3)": (
        happened(
            llm(
                "root",
                fc("transfer_to_agent", "x1", agent_name="around"),
                sub_agents=[
                    {
                        "type": "loop",
                        "name": "around",
                        "max_iterations": 2,
                        "sub_agents": [
                            llm(
                                "m",
                                fc("calc", "c1", request="1"),
                                "one",
                                "two",
                                sub_agents=[
                                    calc(fc("stop", "s1"), "c", tools=[{"name": "stop", "runs": [{"escalate": True}]}])
                                ],
                            )
                        ],
                    }
                ],
            ),
            "hi",
        )[-3:],
        ["m: one", "m?", "m: two"],
    ),
}


@pytest.mark.parametrize(("found", "expected"), CASES.values(), ids=CASES.keys())
def test_a_run_with_delegation_is_the_references(found: list[str], expected: list[str]) -> None:
    assert found == expected


HOOKS = {hook: [{}] for hook in ("before_tool", "on_tool_error", "after_tool", "after_agent")}


@pytest.mark.parametrize(
    ("case", "turns", "plugins", "told"),
    [
        ("the reader stops", [{"message": {"parts": [{"text": "hi"}]}, "stop_after": 2}], [], []),
        ("a plugin raises", None, [{"name": "p", "callbacks": {"on_event": [{"error": "no", "only": 1}]}}], ["error"]),
    ],
)
def test_a_child_whose_event_is_not_taken_fails_for_its_parents_tool_hooks(
    case: str, turns: Any, plugins: Any, told: list[str]
) -> None:
    boss = llm(
        "boss", [fc("calc", "c1", request="1"), fc("look", "l1")], "never", callbacks=HOOKS,
        sub_agents=[calc("one", "never")], tools=[{"name": "look"}],
    )  # fmt: skip
    lines = happened(boss, "hi", plugins=plugins, **({"turns": turns} if turns else {}))
    seen = [] if told else ["calc: one"]
    assert lines == [
        *("boss?", "boss: calc(c1) + look(l1)", "agent:boss before_tool", "calc?", *seen, *told),
        *("agent:boss on_tool_error", "agent:boss after_tool", "agent:boss before_tool", "agent:boss after_tool"),
    ], case


@pytest.mark.parametrize(
    ("case", "answer", "fields", "key"),
    [
        ("a text", "4", {}, "4"),
        ("a thought alone", {"text": "hm", "thought": True}, {}, ""),
        ("an object, by its schema", '{"n": 4}', {"output_schema": {"type": "OBJECT", "properties": {"n": {"type": "INTEGER"}}}}, {"n": 4}),
        ("nothing but blanks, with a schema", " ", {"output_schema": {"type": "OBJECT", "properties": {}}}, None),
    ],
)  # fmt: skip
def test_the_output_key_of_a_delegated_single_turn_agent_gets_the_output(
    case: str, answer: Any, fields: Any, key: Any
) -> None:
    child = calc(*[answer] * 10, output_key="k", **fields)
    ran = trace(
        {
            "name": "d/1",
            "agent": llm("boss", fc("calc", "c1", request="1"), "ok", sub_agents=[child]),
            "turns": [{"message": {"role": "user", "parts": [{"text": "hi"}]}}],
        }
    )
    assert ran["session"]["state"].get("k") == key, case
