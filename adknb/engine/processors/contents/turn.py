"""First passes: which events count at all, and which are of the current turn (R5.1 to R5.4; seed 000, 四.2.1)."""

from __future__ import annotations

from adknb.engine.processors.contents.fates import ALSO, LEFT_OUT, Because, Ledger
from adknb.engine.processors.contents.filter import event_belongs_to_branch
from adknb.engine.processors.contents.records import Record, Viewer

COMPACTION_OFF = Because("collect", "R5.1", "it holds a compaction record, and this run is not set up for compaction")
BEFORE_THE_TURN = Because("turn", "R5.3", "the current turn starts later, at {} by {}")
ASKED_FOR = Because("turn", "R5.2", "include_contents is 'none': only the current turn is sent")
PLACED = Because(
    "turn", "R5.2", "this run is bound to single_turn and include_contents is unset: only the current turn is sent"
)


def collect(records: list[Record], viewer: Viewer, ledger: Ledger) -> list[Record]:
    """Take every event, but for compaction records in a run that is not set up for compaction (R5.1; seed 000, 四.2.6).

    Else a record that somebody wrote into a session could hide history from an application that never compacts. Such
    an event counts for nothing: it starts no turn, and its calls are no calls.

    Go: internal/llminternal/contents_processor.go, ContentsRequestProcessor
    """
    counted = records if viewer.compaction else [r for r in records if r.compaction is None]
    if len(counted) < len(records):
        for record in records:
            if record.compaction is not None:
                ledger.left_out(record, COMPACTION_OFF)
    ledger.all = counted
    return counted


def cut_to_current_turn(records: list[Record], viewer: Viewer, ledger: Ledger) -> list[Record]:
    """Keep the current turn only, where history is not wanted (R5.2 to R5.4).

    It starts at the last visible event by `user` or by another agent, whatever that event holds. No such event: all
    of history stays.

    user "old" · me "answer" · user "new" · me call -> user "new" · me call

    Go: internal/llminternal/contents_processor.go, buildContentsCurrentTurnContextOnly
    """
    ledger.turn = records
    if not hides_history(viewer):
        return records
    start = next((i for i in reversed(range(len(records))) if _starts_a_turn(records[i], viewer)), 0)
    if start:
        first = records[start]
        why = ASKED_FOR if viewer.include_contents == "none" else PLACED
        for record in records[:start]:
            ledger.note(record.at, LEFT_OUT, BEFORE_THE_TURN, first.at, first.author)
            ledger.note(record.at, ALSO, why)
        ledger.turn = records[start:]
    return ledger.turn


def hides_history(viewer: Viewer) -> bool:
    """Whether the agent sees the current turn only (R5.2). Declared single_turn is not enough: it must be bound."""
    return viewer.include_contents == "none" or (viewer.bound_mode == "single_turn" and viewer.include_contents == "")


def _starts_a_turn(record: Record, viewer: Viewer) -> bool:
    return (
        event_belongs_to_branch(viewer.branch, record.branch)
        and record.scope == viewer.isolation_scope
        and (record.author == "user" or record.author != viewer.agent_name)
    )
