"""Contents: from the session's events to what the model reads.

The history is not sent as it is stored. Between the two stand these passes over one list (seed 000, 四.2):

  pass               what it asks                                                 rule R5.  seed 四.  file
  collect            does this event count in this run at all?                    1         2.6      turn.py
  turn               is history wanted, or the current turn only?                 2 to 4    2.1      turn.py
  filter             may this agent see it: content, branch, scope, protocol?     5 to 8    2.2-2.5  filter.py
  foreign            did another agent say it? Then it is told as context.        9 to 12   2.4      foreign.py
  summaries          does the summary of a compaction stand for it?               13        2.6      summaries.py
  transcription      is it speech? Then it becomes text.                          14        2.5      transcription.py
  orphans            does it answer a call that nobody has made?                  15        2.7      orphans.py
  latest             is the last event a response? It goes to its call.           16 to 22  2.7      latest.py merge.py
  history            does each call have its response right behind it?            23 to 26  2.7      history.py merge.py
  emit               copy what is left, without empty parts and made-up ids       27 to 30  2.8      emit.py
  task input         what is the task of this scope?                              31 to 33  2.3      task_input.py
  continuation turn  does the model have the last word?                           34        2.8      emit.py

Each pass also writes down why it did what it did; `Assembly.fates` reads that back, event by event (fates.py). How a
content is copied without costing much is a matter of its own (engine/copies).

Go: internal/llminternal/contents_processor.go, ContentsRequestProcessor, buildContentsDefault
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from adknb.engine.context import InvocationContext
from adknb.engine.copies.frozen import garbage_collection_waits, is_set
from adknb.engine.copies.packed import pack_set
from adknb.engine.event import Event
from adknb.engine.model import LLMRequest
from adknb.engine.processors.contents.emit import add_continuation_turn, emit
from adknb.engine.processors.contents.fates import Added, Assembly, Fate, Ledger, Reason
from adknb.engine.processors.contents.filter import event_belongs_to_branch, filter_events
from adknb.engine.processors.contents.foreign import convert_foreign_events
from adknb.engine.processors.contents.history import rearrange_for_function_responses_in_history
from adknb.engine.processors.contents.latest import rearrange_for_latest_function_response
from adknb.engine.processors.contents.orphans import drop_orphaned_function_responses
from adknb.engine.processors.contents.records import PassSnapshot, Record, Snapshot, Snapshots, Viewer, record_of
from adknb.engine.processors.contents.summaries import apply_summaries
from adknb.engine.processors.contents.task_input import task_input
from adknb.engine.processors.contents.transcription import join_transcriptions
from adknb.engine.processors.contents.turn import collect, cut_to_current_turn

__all__ = [
    "PASSES", "Added", "Assembly", "Fate", "PassSnapshot", "Reason", "Snapshot", "Viewer",
    "assemble", "contents", "event_belongs_to_branch", "viewer_of",
]  # fmt: skip

Pass = Callable[[list[Record], Viewer, Ledger], list[Record]]

PASSES: dict[str, Pass] = {
    "collect": collect,
    "turn": cut_to_current_turn,
    "filter": filter_events,
    "foreign": convert_foreign_events,  # before summaries: a foreign call that was summarised comes back no more
    "summaries": apply_summaries,
    "transcription": join_transcriptions,  # behind summaries: what a summary covers must not be heard again
    "orphans": drop_orphaned_function_responses,  # before pairing, which ends the run over a response it cannot place
    "latest": rearrange_for_latest_function_response,
    "history": rearrange_for_function_responses_in_history,
}
"""The passes that work on records, in order; `emit` makes contents of what they leave."""


def contents(ctx: InvocationContext, request: LLMRequest, flow: Any) -> None:
    """The request processor: append to the request what the running agent may see of its session.

    The Assembly is left in `flow.assembly` for whoever wants to explain the request.

    Raises:
        UnmatchedResponse: the history ends with a response whose call is not visible (R5.18, R5.20).

    Go: internal/llminternal/contents_processor.go, ContentsRequestProcessor
    """
    assembly = assemble(
        ctx.session.events,
        viewer_of(ctx),
        private_events=ctx.private_events,
        private_after=getattr(ctx, "private_after", 0),
    )
    if flow is not None:
        flow.assembly = assembly
    request.contents.extend(assembly.contents)
    add_continuation_turn(request.contents, [])  # only if an earlier processor left contents and this one added none


def viewer_of(ctx: InvocationContext) -> Viewer:
    """The running agent as a viewer of its session."""
    return Viewer(
        agent_name=ctx.agent.name,
        branch=ctx.branch,
        isolation_scope=ctx.isolation_scope,
        include_contents=getattr(ctx.agent, "include_contents", ""),
        mode=getattr(ctx.agent, "mode", ""),
        bound_mode=ctx.bound_mode,
        compaction=ctx.compaction is not None,
        user_content=ctx.user_content,
    )


def assemble(
    events: Sequence[Event],
    viewer: Viewer,
    passes: bool = False,
    *,
    private_events: Sequence[Event] = (),
    private_after: int = 0,
    continuation: bool = True,
) -> Assembly:
    """What a viewer's next request would hold of these events, and what becomes of each of them.

    The contents are copies: whatever is done to them, the session stays as it is. `passes` also keeps the working list
    after every pass. `private_events` are visible to this run only and stand behind the first `private_after` events
    (R5.33); `continuation=False` leaves the continuation turn out (R5.34).

    user "weather?" · me call get_weather · me response 26
        -> the same three; each event has a Fate(kind="kept")

    Raises:
        UnmatchedResponse: the last event answers a call that is not visible (R5.20), or two events' calls (R5.18).

    Go: internal/llminternal/contents_processor.go, buildContentsDefault, buildContentsCurrentTurnContextOnly
    """
    with garbage_collection_waits():
        return _assemble(events, viewer, passes, private_events, private_after, continuation)


def _assemble(
    events: Sequence[Event],
    viewer: Viewer,
    passes: bool,
    private_events: Sequence[Event],
    private_after: int,
    continuation: bool,
) -> Assembly:
    ledger = Ledger(viewer, len(events))
    records = _read(events, viewer)
    records[private_after:private_after] = [record_of(~at, e, e.content) for at, e in enumerate(private_events)]
    snapshots = Snapshots() if passes else None
    if snapshots is not None:
        snapshots.take("events", records)
    for name, work in PASSES.items():
        records = work(records, viewer, ledger)
        if snapshots is not None:
            snapshots.take(name, records)
    if snapshots is not None:
        snapshots.take("emit", [record for record in records if any(map(is_set, record.parts))])
    assembly = Assembly(emit(records, ledger), [], None if snapshots is None else snapshots.done(), ledger)
    if private_events:
        _list_private(assembly)
    _add(assembly, continuation)
    return assembly


def _read(events: Sequence[Event], viewer: Viewer) -> list[Record]:
    """One record an event. What will probably be sent is packed at once: an event's parts are slow to come by twice."""
    records = []
    for at, event in enumerate(events):
        record = record_of(at, event, event.content)
        if event.branch == viewer.branch and event.isolation_scope == viewer.isolation_scope:
            record.packed = pack_set(record.parts)
        records.append(record)
    return records


def _list_private(assembly: Assembly) -> None:
    """List the contents of private events among those that no event of the session has (R5.33)."""
    for index, whose in enumerate(assembly.ledger.sent):
        if isinstance(whose, int) and whose < 0:
            assembly.added.append(Added(index, "R5.33", "this run was started with it; no event of the session has it"))


def _add(assembly: Assembly, continuation: bool) -> None:
    """Add the task input in front and the continuation turn at the end, where there are such."""
    ledger = assembly.ledger
    if (task := task_input(ledger)) is not None:
        content, why = task
        assembly.contents.insert(0, content)
        ledger.sent.insert(0, None)
        assembly.added = [Added(0, "R5.31", why)] + [one._replace(content=one.content + 1) for one in assembly.added]
    if continuation:
        add_continuation_turn(assembly.contents, assembly.added)
    ledger.forget_events()
