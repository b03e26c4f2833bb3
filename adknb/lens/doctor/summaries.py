"""Compaction (spec/doctor.md, H): records that do not count, tell twice, or hide what is still wanted."""

from __future__ import annotations

from collections.abc import Iterator

from adknb.engine.compaction.coverage import represents, subsumes
from adknb.engine.event import EventCompaction
from adknb.engine.processors.contents import event_belongs_to_branch
from adknb.lens.doctor.entry import Entry, id_of, name_of, ordinary
from adknb.lens.doctor.finding import Sign, count, name, place
from adknb.lens.doctor.session import DoctorSession


def compaction_off(session: DoctorSession) -> Iterator[Sign]:
    """The session holds summaries, and compaction is off where it runs.

    Source: spec/doctor.md compaction-off; R5.1, C13, L3.3
    """
    if session.compaction is False and session.records:
        places = [entry.at for entry in session.records]
        yield Sign(
            places,
            {"count": len(places)},
            f"{count(len(places), 'summary') if len(places) == 1 else f'{len(places)} summaries'} ({place(places)}) "
            "count for nothing, since compaction is off: the whole history is sent raw.",
            "Configure compaction where the session is run.",
        )


def usable(session: DoctorSession) -> list[tuple[Entry, EventCompaction]]:
    """The records that have a summary to show and end after they start."""
    return [
        (entry, record)
        for entry in session.records
        if (record := entry.record) is not None
        and record.compacted_content is not None
        and record.start_timestamp <= record.end_timestamp
    ]


def compaction_overlap(session: DoctorSession) -> Iterator[Sign]:
    """Two summaries of one branch and scope share a time, and neither is superfluous: what they share is told twice.

    Source: spec/doctor.md compaction-overlap; C9.3, C12.3
    """
    groups: dict[tuple[str, str], list[tuple[Entry, EventCompaction]]] = {}
    for entry, record in session.once(usable) if session.compacting else ():
        groups.setdefault(entry.place, []).append((entry, record))
    for group in groups.values():
        kept = [
            (entry, record)
            for entry, record in group
            if not any(subsumes(e.at, r, entry.at, record) for e, r in group if e is not entry)
        ]
        for i, (a, first) in enumerate(kept):
            for b, second in kept[i + 1 :]:
                if first.start_timestamp <= second.end_timestamp and second.start_timestamp <= first.end_timestamp:
                    ranges = [[r.start_timestamp, r.end_timestamp] for r in (first, second)]
                    yield Sign(
                        [a.at, b.at],
                        {"ranges": ranges},
                        f"The summaries of {place([a.at, b.at])} overlap ({_range(first)} and {_range(second)}): both "
                        "are sent, and what they share is told twice.",
                        "Set the overlap of the sliding window to 0.",
                    )


def _range(record: EventCompaction) -> str:
    return f"{record.start_timestamp:.15g} to {record.end_timestamp:.15g}"


def compaction_hides_live_part(session: DoctorSession) -> Iterator[Sign]:
    """A summary hides the running turn's question (a), or a call whose result comes after it (b).

    Excluded events and earlier turns are no harm; a long-running call comes back with its result.
    Source: spec/doctor.md compaction-hides-live-part; C5.1, C9.7, C14.1, C14.4
    """
    for began, hidden_by in session.requests.covered:
        if session.entries[began].has_text:
            yield Sign(
                [began, hidden_by],
                {"hidden": began, "record": hidden_by, "what": "the question of the turn"},
                f"The words that began the turn ({place(began)}) are hidden by the summary of {place(hidden_by)} from "
                "a request of the same turn: the question is missing.",
                "Raise event_retention_size, so that the running turn stays raw.",
                case="a",
            )
    for entry in session.counted if session.compacting else ():
        for call in ordinary(entry.calls):
            if not id_of(call) or id_of(call) in entry.long_running:
                continue
            given = session.answers.get(id_of(call), [])
            record = _covering(session, entry) if given else None
            if record is not None and _covering(session, given[-1][0]) is None:
                result = given[-1][0]
                yield Sign(
                    [entry.at, record.at, result.at],
                    {"hidden": entry.at, "record": record.at, "what": "a call", "id": id_of(call), "result": result.at},
                    f"The summary of {place(record.at)} stands for the call {name(id_of(call))} of "
                    f"{name(name_of(call))} ({place(entry.at)}), but not for its result in {place(result.at)}, which "
                    "then belongs to no call and falls out.",
                    "Raise event_retention_size, so that calls and results stay together.",
                    case="b",
                )


def _covering(session: DoctorSession, entry: Entry) -> Entry | None:
    """The first record that stands for an event where both are seen (C9.4)."""
    return next(
        (
            record
            for record, what in session.once(usable)
            if entry.at < record.at
            and record.scope == entry.scope
            and event_belongs_to_branch(entry.branch, record.branch)
            and represents(what, entry.event)
        ),
        None,
    )
