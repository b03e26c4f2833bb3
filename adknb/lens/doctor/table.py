"""The 53 checks, in the order of spec/doctor.md, and the run over them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from adknb.engine.copies.frozen import garbage_collection_waits
from adknb.lens.doctor import (
    answers,
    calls,
    confirmation,
    handing,
    instructions,
    record,
    sight,
    size,
    state,
    streaming,
    summaries,
    tools,
)
from adknb.lens.doctor.finding import ERROR, NOTE, WARNING, Finding, Sign, in_order
from adknb.lens.doctor.session import DoctorSession
from adknb.lens.words import one_line, shorten

SENTENCE, FACT = 900, 300
"""How many cells of a sentence, and of a text among the facts, are told."""


@dataclass(frozen=True)
class Check:
    """One check: its id, its usual severity, what must be known of a session, the function, and the rules behind it.

    `needs` are words joined by `or`: without any of them the check is silent. `invented`: what it speaks of may be
    invented by the reader of an evaluation case, so of such a session it says nothing.
    """

    id: str
    severity: str
    needs: str
    function: Callable[[DoctorSession], Iterable[Sign]]
    rule: str
    invented: bool = False


CHECKS: tuple[Check, ...] = (
    # calls and answers
    Check("orphan-response", ERROR, "events", calls.orphan_response, "R5.15", True),
    Check("unanswered-call", ERROR, "events", calls.unanswered_call, "R5.24, X1.7, C5.6", True),
    Check("mixed-up-ids", ERROR, "events", calls.mixed_up_ids, "R5.18, R5.25, X14.3", True),
    Check("missing-call-id", ERROR, "events", calls.missing_call_id, "R5.25", True),
    Check("late-response-drops-text", ERROR, "events", calls.late_response_drops_text, "R5.19, X8.8", True),
    Check("response-out-of-sight", ERROR, "events", calls.response_out_of_sight, "R5.20, R5.26, X14.13", True),
    Check("answered-by-another-agent", ERROR, "events", calls.answered_by_another_agent, "R5.9, R5.12, R5.26", True),
    Check("long-running-pending", WARNING, "events", calls.long_running_pending, "X6.9, X6.10", True),
    # what the model cannot see
    Check("hidden-by-branch", ERROR, "events", sight.hidden_by_branch, "R5.6"),
    Check("hidden-by-scope", ERROR, "events", sight.hidden_by_scope, "R5.7, X11.10, X11.12, X14.11"),
    Check("hidden-by-turn-cut", ERROR, "agents or viewer", sight.hidden_by_turn_cut, "R5.2-R5.4, R10.11, R10.12"),
    Check("role-refused", ERROR, "events", sight.role_refused, "R5.5, R5.27", True),
    Check("thoughts-reach-other-agent", WARNING, "events", sight.thoughts_reach_other_agent, "R5.10, R10.13"),
    Check("forged-context", WARNING, "events", sight.forged_context, "R5.10"),
    # streaming and answers
    Check("partial-misused", ERROR, "events", streaming.partial_misused, "X3.1, S12.3, S13.4"),
    Check("output-key-fragment", ERROR, "events", streaming.output_key_fragment, "X7.2, S13.6, S15.5"),
    Check("output-key-overwritten", WARNING, "events", streaming.output_key_overwritten, "X2.3, X7.2"),
    Check("output-key-misses-text", NOTE, "events", streaming.output_key_misses_text, "X5.6, X7.2"),
    Check("thought-only-loop", WARNING, "events", answers.thought_only_loop, "X3.1, X3.3"),
    Check("empty-answer", ERROR, "events", answers.empty_answer, "X3.4, X14.24, S3.3", True),
    Check("answer-is-error", ERROR, "events", answers.answer_is_error, "X9.2, X14.23, S3", True),
    Check("answer-cut-short", WARNING, "events", answers.answer_cut_short, "S3.1, S16.5"),
    # state and artifacts
    Check("state-key-unwritten", ERROR, "agents or instruction", instructions.state_key_unwritten, "R3.8"),
    Check("temp-key-misused", WARNING, "state or agents or instruction", state.temp_key_misused, "X2.1-X2.6"),
    Check(
        "placeholder-surprise",
        WARNING,
        "agents or instruction or requests",
        instructions.placeholder_surprise,
        "R3.4-R3.10",
    ),
    Check("state-disagrees", WARNING, "state", state.state_disagrees, "X2.3"),
    Check("state-write-conflict", WARNING, "events", state.state_write_conflict, "X6.8"),
    Check("artifact-delta-gap", WARNING, "events", state.artifact_delta_gap, "X4.5, X5.2"),
    # the record
    Check("duplicate-user-message", WARNING, "events", record.duplicate_user_message, "X1.6, X14.1", True),
    Check("repeated-content", NOTE, "events", record.repeated_content, "R5.27"),
    Check("events-out-of-order", WARNING, "events", record.events_out_of_order, "C9.4, L11.5", True),
    Check("duplicate-event-id", ERROR, "events", record.duplicate_event_id, "R5.27", True),
    Check("unknown-author", ERROR, "events", record.unknown_author, "R5.9, R5.10", True),
    # transfer, delegation, confirmation
    Check("transfer-unknown-target", ERROR, "events", handing.transfer_unknown_target, "X10.2, X14.16", True),
    Check("transfer-ping-pong", WARNING, "events", handing.transfer_ping_pong, "X10.3"),
    Check(
        "exclusive-call-not-alone",
        NOTE,
        "events",
        handing.exclusive_call_not_alone,
        "X3.5, X9.1, X10.4, X11.8, L10.2",
        True,
    ),
    Check("calls-beside-delegation", ERROR, "events", handing.calls_beside_delegation, "X11.3, X14.6", True),
    Check("confirmation-missed", ERROR, "events", confirmation.confirmation_missed, "X8.4, X8.5, X8.9", True),
    Check(
        "confirmation-answered-twice", ERROR, "events", confirmation.confirmation_answered_twice, "X8.5, X14.2", True
    ),
    Check("confirmation-unanswered", WARNING, "events", confirmation.confirmation_unanswered, "X8.7, X8.9", True),
    Check("refused-tool-ran", ERROR, "events", confirmation.refused_tool_ran, "X8.6, X14.19", True),
    # tools
    Check("tool-table-mismatch", ERROR, "requests or agents", tools.tool_table_mismatch, "R8.1, R8.2"),
    Check("unknown-tool-called", ERROR, "events", tools.unknown_tool_called, "X6.3"),
    Check("tool-error-shadowed", WARNING, "events", tools.tool_error_shadowed, "X6.4", True),
    Check("repeated-call", WARNING, "events", tools.repeated_call, "X3.1", True),
    # compaction
    Check("compaction-off", WARNING, "compaction", summaries.compaction_off, "R5.1, C13, L3.3"),
    Check("compaction-overlap", NOTE, "events", summaries.compaction_overlap, "C9.3, C12.3"),
    Check(
        "compaction-hides-live-part", ERROR, "events", summaries.compaction_hides_live_part, "C5.1, C9.7, C14.1, C14.4"
    ),
    # size, secrets, live
    Check("secret-in-session", WARNING, "state or events", size.secret_in_session, "X2.1"),
    Check("large-payload", WARNING, "events or state", size.large_payload, "R5.27"),
    Check("inline-data-resent", WARNING, "events", size.inline_data_resent, "R5.27"),
    Check("history-growth", NOTE, "events", size.history_growth, "C3"),
    Check("transcription-fragments", NOTE, "events", size.transcription_fragments, "R5.14, R10.14, L7"),
)


def examine(session: DoctorSession, checks: Iterable[Check] = CHECKS) -> list[Finding]:
    """Everything that the checks find in a session, by severity and then by first event.

    No secret of the session is told: what looks like one is blotted out of every fact and sentence.
    """
    given = known(session)
    asked = [check for check in checks if not (check.invented and session.expectations)]
    with garbage_collection_waits():
        return in_order(
            _finding(session, check, sign)
            for check in asked
            if given & set(check.needs.split(" or "))
            for sign in check.function(session)
        )


def _finding(session: DoctorSession, check: Check, sign: Sign) -> Finding:
    return Finding(
        check=check.id,
        severity=sign.severity or check.severity,
        case=sign.case,
        events=tuple(sorted(set(sign.events))),
        facts=_discreet(session, dict(sign.facts)),
        why=_sentence(session, sign.why),
        do=_sentence(session, sign.do),
    )


def known(session: DoctorSession) -> set[str]:
    """What is known of a session, in the words of `Check.needs`."""
    there = {
        "events": bool(session.events),
        "state": session.state is not None,
        "agents": session.definitions is not None,
        "instruction": bool(session.instruction),
        "viewer": session.viewer is not None,
        "requests": bool(session.sent),
        "compaction": session.compaction is not None,
    }
    return {word for word, is_there in there.items() if is_there}


def _sentence(session: DoctorSession, text: str) -> str:
    return one_line(session.secrets.without(text), SENTENCE)


def _discreet(session: DoctorSession, value: Any) -> Any:
    """A fact without the session's secrets, its texts cut where they are long."""
    if isinstance(value, str):
        return shorten(session.secrets.without(value), FACT)
    if isinstance(value, dict):
        return {str(_discreet(session, key)): _discreet(session, item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_discreet(session, item) for item in value]
    return value
