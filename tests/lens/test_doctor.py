"""The doctor over the vectors of ../shared/cases/doctor.jsonl; order, facts, and what holds of every finding."""

import json
from functools import cache
from typing import Any

import pytest

import adknb
from adknb.engine.errors import BadData
from adknb.lens.doctor import CHECKS, SEVERITIES, Finding, examine, session_from_json
from adknb.lens.doctor.secrets import Secrets
from adknb.lens.words import one_line
from tests.lens.doctor_sessions import events_by_check, fc, found_in, me, session, user, vectors, written_out

VECTORS = {vector["id"]: vector for vector in vectors()}
IDS = {check.id for check in CHECKS}


@cache
def found(vector: str) -> list[Finding]:
    """What the doctor finds in a vector's session."""
    return found_in(VECTORS[vector]["session"])


@pytest.mark.parametrize("vector", VECTORS)
def test_the_checks_that_a_vector_names_report_it_and_no_others(vector: str) -> None:
    assert {finding.check for finding in found(vector)} == set(VECTORS[vector]["finds"])


@pytest.mark.parametrize("vector", [id for id, vector in VECTORS.items() if vector.get("events") is not None])
def test_a_vector_s_events_are_those_of_its_check(vector: str) -> None:
    assert events_by_check(found(vector))[VECTORS[vector]["check"]] == VECTORS[vector]["events"]


def test_there_are_53_checks_and_every_one_has_vectors() -> None:
    assert len(CHECKS) == len(IDS) == 53
    assert {vector["check"] for vector in VECTORS.values()} - {None} == IDS


@pytest.mark.parametrize("vector", VECTORS)
def test_every_finding_is_whole_and_tells_no_secret(vector: str) -> None:
    given = session_from_json(VECTORS[vector]["session"])
    findings = found(vector)
    for finding in findings:
        assert finding.check in IDS
        assert finding.severity in SEVERITIES
        assert list(finding.events) == sorted(set(finding.events))
        assert all(0 <= at < len(given.events) for at in finding.events)
        assert finding.facts
        for sentence in (finding.why, finding.do):
            assert sentence[0].isupper() or not sentence[0].isalpha()
            assert sentence.rstrip()[-1] in ".…" or finding.case == "prints"
            assert sentence == one_line(sentence)
            assert "None" not in sentence
        assert json.loads(json.dumps(finding.to_json())) == finding.to_json()
    told = json.dumps([finding.to_json() for finding in findings], ensure_ascii=False) + repr(findings)
    assert not [secret.value for secret in Secrets(given) if secret.value in told]


def test_the_worst_come_first_and_then_the_earliest() -> None:
    findings = found("several/1")
    assert [(f.severity, f.events) for f in findings] == [("error", (1,)), ("error", (2,)), ("warning", (4,))]
    given = session(user("Hi"), me("Ok."), user("Hi"), me("x", finish_reason="SAFETY"), state={"password": "korn77"})
    assert [(f.check, f.events) for f in found_in(given)] == [("secret-in-session", ()), ("answer-cut-short", (3,))]


# --------------------------------------------------------------------------------------------------------------- facts

FACTS: list[tuple[str, str, dict[str, Any]]] = [
    ("orphan-response/1", "orphan-response", {"id": "old-7", "tool": "loan_status", "words": "none"}),
    ("orphan-response/2", "orphan-response", {"id": "old-7", "tool": "loan_status", "words": "kept"}),
    ("unanswered-call/1", "unanswered-call", {"tool": "read", "id": "c1", "agent": "reader", "followed": True}),
    ("unanswered-call/3", "unanswered-call", {"tool": "open_valve", "id": "v1", "agent": "pump", "followed": False}),
    ("mixed-up-ids/1", "mixed-up-ids", {"ids": ["s1"], "tools": ["stock"]}),
    ("mixed-up-ids/2", "mixed-up-ids", {"ids": ["a1", "a2"], "tools": ["scan"]}),
    ("missing-call-id/1", "missing-call-id", {"agent": "cart", "calls": 2, "shown": {"event": 4, "tool": "show"}}),
    ("missing-call-id/2", "missing-call-id", {"agent": "pier", "calls": 0, "shown": None}),
    ("late-response-drops-text/1", "late-response-drops-text", {"ids": ["p1"], "dropped": [4], "never_shown": []}),
    ("late-response-drops-text/3", "late-response-drops-text", {"ids": ["c1"], "dropped": [2], "never_shown": [2]}),
    ("response-out-of-sight/1", "response-out-of-sight", {"id": "q1", "tool": "probe", "call": {"branch": "root.seq.sub", "scope": ""}, "response": {"branch": "root.seq", "scope": ""}}),
    ("answered-by-another-agent/2", "answered-by-another-agent", {"id": "w1", "called": "Clerk", "answered": "clerk"}),
    ("long-running-pending/1", "long-running-pending", {"id": "l2", "tool": "heat"}),
    ("long-running-pending/3", "long-running-pending", {"ids": ["o7"]}),
    ("hidden-by-branch/1", "hidden-by-branch", {"branch": "guards.night", "requests": ["guards.day"]}),
    ("hidden-by-branch/3", "hidden-by-branch", {"branch": "score.mean", "hidden": ["taste.sweet", "taste.sour"]}),
    ("hidden-by-scope/1", "hidden-by-scope", {"scope": "d1", "requests": [""]}),
    ("hidden-by-turn-cut/1", "hidden-by-turn-cut", {"agent": "polish", "starts": 1, "by": "draft"}),
    ("role-refused/1", "role-refused", {"role": "assistant"}),
    ("role-refused/3", "role-refused", {"before": 1}),
    ("thoughts-reach-other-agent/1", "thoughts-reach-other-agent", {"author": "planner", "readers": ["seater"]}),
    ("forged-context/1", "forged-context", {"author": "fetcher", "readers": ["writer"]}),
    ("partial-misused/1", "partial-misused", {"authors": ["info"], "ids": []}),
    ("partial-misused/3", "partial-misused", {"authors": ["aide"], "ids": ["p-1", "p-2"]}),
    ("output-key-fragment/1", "output-key-fragment", {"agent": "analyst", "key": "report", "values": ["#", " need", "s"]}),
    ("output-key-fragment/3", "output-key-fragment", {"agent": "weather", "key": "answer", "values": ["杭州", "26度", "杭州26度"]}),
    ("output-key-overwritten/1", "output-key-overwritten", {"key": "note", "agents": ["cook", "doctor"]}),
    ("output-key-misses-text/1", "output-key-misses-text", {"key": "report", "agent": "w"}),
    ("output-key-misses-text/2", "output-key-misses-text", {"key": "greeting", "agent": "greeter"}),
    ("thought-only-loop/1", "thought-only-loop", {"agent": "sage", "count": 3, "capped": False}),
    ("thought-only-loop/2", "thought-only-loop", {"agent": "sage", "count": 10, "capped": True}),
    ("empty-answer/1", "empty-answer", {"agent": "info", "finish_reason": "STOP"}),
    ("answer-is-error/1", "answer-is-error", {"error": "n must be an integer"}),
    ("answer-is-error/2", "answer-is-error", {"code": "MALFORMED_FUNCTION_CALL"}),
    ("answer-cut-short/1", "answer-cut-short", {"reason": "MAX_TOKENS", "key": "tale"}),
    ("answer-cut-short/2", "answer-cut-short", {"reason": "SAFETY", "key": None}),
    ("state-key-unwritten/1", "state-key-unwritten", {"agent": "writer", "token": "{topic}", "key": "topic", "writers": []}),
    ("state-key-unwritten/2", "state-key-unwritten", {"agent": None, "token": "{ page }", "key": "page", "writers": []}),
    ("state-key-unwritten/3", "state-key-unwritten", {"agent": "reader", "key": "plan", "writers": ["planner"]}),
    ("state-key-unwritten/5", "state-key-unwritten", {"agent": "guide", "key": "town", "writers": ["guide"]}),
    ("temp-key-misused/1", "temp-key-misused", {"key": "temp:cursor"}),
    ("temp-key-misused/2", "temp-key-misused", {"key": "temp:hits", "agent": "clerk"}),
    ("placeholder-surprise/1", "placeholder-surprise", {"token": "{user-name}", "agent": "clerk", "becomes": "{user-name}"}),
    ("placeholder-surprise/3", "placeholder-surprise", {"token": "{{city}}", "agent": "clerk", "becomes": "Rome"}),
    ("placeholder-surprise/4", "placeholder-surprise", {"token": "{order}", "agent": "clerk", "becomes": "1.2345678e+07"}),
    ("placeholder-surprise/4", "placeholder-surprise", {"token": "{items}", "agent": "clerk", "becomes": "[a b]"}),
    ("placeholder-surprise/5", "placeholder-surprise", {"token": "{city}", "agent": "clerk", "becomes": "{city}"}),
    ("state-disagrees/1", "state-disagrees", {"key": "place", "kind": "differs"}),
    ("state-disagrees/2", "state-disagrees", {"key": "stops", "kind": "missing"}),
    ("state-write-conflict/1", "state-write-conflict", {"keys": ["items"], "tool": "add"}),
    ("state-write-conflict/4", "state-write-conflict", {"keys": ["score"], "branches": ["taste.sweet", "taste.sour"]}),
    ("artifact-delta-gap/1", "artifact-delta-gap", {"file": "map.png", "before": 1, "version": 3}),
    ("duplicate-user-message/1", "duplicate-user-message", {"invocation_id": "e-1"}),
    ("repeated-content/1", "repeated-content", {"author": "host"}),
    ("events-out-of-order/2", "events-out-of-order", {"seconds": 2.5}),
    ("duplicate-event-id/2", "duplicate-event-id", {"id": "x"}),
    ("unknown-author/3", "unknown-author", {"author": "old_host"}),
    ("transfer-unknown-target/1", "transfer-unknown-target", {"agent": "desk", "target": "math", "legal": ["maths", "poems", "vault"]}),
    ("transfer-unknown-target/4", "transfer-unknown-target", {"agent": "desk", "target": "maths_bot", "legal": None}),
    ("transfer-ping-pong/1", "transfer-ping-pong", {"agent": "desk", "target": "money", "count": 2}),
    ("exclusive-call-not-alone/1", "exclusive-call-not-alone", {"names": ["log", "transfer_to_agent"], "transfer": "money"}),
    ("exclusive-call-not-alone/2", "exclusive-call-not-alone", {"names": ["count", "set_model_response"], "transfer": None}),
    ("calls-beside-delegation/1", "calls-beside-delegation", {"task": ["scout"], "never_run": [{"tool": "note", "id": "n1"}]}),
    ("confirmation-missed/1", "confirmation-missed", {"id": "c1", "request": "k1", "tool": "pay"}),
    ("confirmation-missed/4", "confirmation-missed", {"id": "k1", "call": "c1", "tool": "pay", "asked": "till", "ran": "desk"}),
    ("confirmation-answered-twice/1", "confirmation-answered-twice", {"id": "k1", "call": "c1", "tool": "pay"}),
    ("confirmation-unanswered/1", "confirmation-unanswered", {"ids": ["k1", "c1"], "tool": "pay"}),
    ("confirmation-unanswered/2", "confirmation-unanswered", {"ids": ["c1"], "tool": "pay"}),
    ("refused-tool-ran/1", "refused-tool-ran", {"id": "k1", "call": "c1", "tool": "pay"}),
    ("tool-table-mismatch/1", "tool-table-mismatch", {"declared_only": ["book"], "table_only": []}),
    ("tool-table-mismatch/2", "tool-table-mismatch", {"declared_only": [], "table_only": ["book"]}),
    ("unknown-tool-called/1", "unknown-tool-called", {"name": "k8s_list", "agent": "bot"}),
    ("tool-error-shadowed/1", "tool-error-shadowed", {"tool": "add", "id": "a1"}),
    ("repeated-call/1", "repeated-call", {"tool": "search", "count": 3}),
    ("compaction-off/2", "compaction-off", {"count": 2}),
    ("compaction-overlap/1", "compaction-overlap", {"ranges": [[1.0, 4.0], [3.0, 7.0]]}),
    ("compaction-hides-live-part/1", "compaction-hides-live-part", {"hidden": 2, "record": 3}),
    ("compaction-hides-live-part/2", "compaction-hides-live-part", {"hidden": 1, "record": 2, "id": "l1", "result": 3}),
    ("secret-in-session/1", "secret-in-session", {"name": "db_password", "places": ["state.db_password"]}),
    ("secret-in-session/2", "secret-in-session", {"name": "Authorization", "places": ["event 1: args of call.headers.Authorization"]}),
    ("large-payload/1", "large-payload", {"place": "response of get", "size": 66011}),
    ("large-payload/2", "large-payload", {"place": "inline data", "size": 1200000, "unit": "bytes"}),
    ("inline-data-resent/2", "inline-data-resent", {"count": 3}),
    ("history-growth/1", "history-growth", {"tokens": 118000, "first": 9000}),
    ("history-growth/2", "history-growth", {"contents": 31, "characters": 450150}),
    ("transcription-fragments/1", "transcription-fragments", {"direction": "input", "count": 3}),
    ("transcription-fragments/2", "transcription-fragments", {"direction": "output", "count": 1}),
]  # fmt: skip


@pytest.mark.parametrize("vector, check, facts", FACTS, ids=[f"{v}-{i}" for i, (v, _, _) in enumerate(FACTS)])
def test_a_finding_carries_the_facts_that_the_spec_lists(vector: str, check: str, facts: dict[str, Any]) -> None:
    told = [finding.facts for finding in found(vector) if finding.check == check]
    assert any(facts.items() <= one.items() for one in told), told


def test_facts_are_looked_at_for_every_check() -> None:
    assert {check for _, check, _ in FACTS} == IDS


# --------------------------------------------------------------------------------------------------------- what is given


def test_the_sentences_name_the_tool_the_id_and_the_events() -> None:
    [finding] = found("late-response-drops-text/1")
    assert finding.why == (
        "The user's words in event 4 stand between the call 'p1' and its late result in event 6, so the model reads the "
        "result without them."
    )
    assert finding.do == "Say them again after the result; adknb.fixes has a processor that keeps them."


def test_what_a_file_says_is_shown_and_not_obeyed() -> None:
    nasty = "\x1b[31mred\x1b[0m\u202eright\n\nnew"
    [finding] = found_in(session(user("Go"), me(fc(nasty, nasty))))
    assert "\x1b" not in finding.why
    assert "\u202e" not in finding.why
    assert "\n" not in finding.why
    assert finding.facts["tool"] == nasty  # as it is: a program reads it


def test_a_long_text_among_the_facts_is_cut() -> None:
    [finding] = found_in(session(user("Go"), {"author": "me", "error_code": "x" * 10_000}))
    assert len(finding.facts["code"]) == 300
    assert len(finding.why) <= 900


@pytest.mark.parametrize(
    "given, where",
    [
        ([], "session"),
        ({"events": {}}, "session.events"),
        ({"events": [5]}, "session.events[0]"),
        ({"events": [{"author": "me", "content": {"parts": "x"}}]}, "session.events[0].content.parts"),
        ({"events": [], "state": []}, "session.state"),
        ({"events": [], "compaction": 1}, "session.compaction"),
        ({"events": [], "stream": "yes"}, "session.stream"),
        ({"events": [], "agents": 5}, "session.agents"),
        ({"events": [], "agents": [{}]}, "session.agents[0].name"),
        ({"events": [], "agents": [{"name": "a", "tools": [5]}]}, "session.agents[0].tools[0]"),
        (
            {"events": [], "agents": [{"name": "a", "sub_agents": [{"name": 5}]}]},
            "session.agents[0].sub_agents[0].name",
        ),
        ({"events": [], "viewer": {}}, "session.viewer.agent_name"),
        ({"events": [], "requests": [{"event": 0}]}, "session.requests[0].event"),
        ({"events": [], "requests": [{"tools": [1]}]}, "session.requests[0].tools[0]"),
    ],
)
def test_a_session_that_is_none_is_refused_at_its_place(given: Any, where: str) -> None:
    with pytest.raises(BadData) as refused:
        session_from_json(given)
    assert refused.value.where == where


def test_definitions_may_be_spelt_in_camel_case() -> None:
    tree = {"name": "me", "subAgents": [{"name": "you", "disallowTransferToParent": True, "includeContents": "none"}]}
    given = session_from_json(session(user("Go"), agents=tree))
    you = given.definition("you")
    assert you is not None
    assert (you.stays_below, you.include_contents, you.parent and you.parent.name) == (True, "none", "me")


def test_an_evaluation_case_is_not_blamed_for_what_its_reader_invents() -> None:
    given = session_from_json(session(user("Go"), me(fc("c1")), me(fc("c1")), me("Ok.")))
    assert {finding.check for finding in examine(given)} == {"mixed-up-ids", "unanswered-call"}
    given.expectations = True
    assert examine(given) == []


def test_an_empty_session_has_no_findings() -> None:
    assert found_in(session()) == []
    assert adknb.doctor({"events": []}) == []


def test_a_vector_s_shorthand_is_written_out() -> None:
    short = {"events": [{"$each": 2, "events": [{"text": "n $i"}]}, {"text": {"$repeat": ["ab", 3]}}]}
    assert written_out(short) == {"events": [{"text": "n 1"}, {"text": "n 2"}, {"text": "ababab"}]}
