"""The record itself (spec/doctor.md, E): what was stored twice, out of order, or under a wrong name."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from adknb.lens.doctor.entry import Entry
from adknb.lens.doctor.finding import ERROR, WARNING, Sign, count, name, place
from adknb.lens.doctor.session import DoctorSession

ROLE_NAMES = ("model", "assistant", "system", "tool", "function")
"""What old recordings wrote in place of an agent's name."""

MORE_THAN_A_MICROSECOND = 1.5e-6
"""Stamps are whole microseconds, and two of today's, as floats, are right to a quarter of one."""


def duplicates(session: DoctorSession) -> list[tuple[Entry, Entry]]:
    """Pairs of user events with text that say the same in one invocation, no agent between."""
    found = []
    said: dict[tuple[str, str], list[Entry]] = {}
    for entry in session.full:
        if not entry.by_user:
            said.clear()
        elif entry.has_text and entry.event.invocation_id:
            earlier = said.setdefault((entry.event.invocation_id, entry.text), [])
            twin = next((other for other in reversed(earlier) if other.parts == entry.parts), None)
            if twin is not None:
                found.append((twin, entry))
            earlier.append(entry)
    return found


def duplicate_user_message(session: DoctorSession) -> Iterator[Sign]:
    """A user's message stands twice in one invocation, and no agent has spoken between.

    Source: spec/doctor.md duplicate-user-message; X1.6, X14.1
    """
    for first, second in session.once(duplicates):
        yield Sign(
            [first.at, second.at],
            {"invocation_id": first.event.invocation_id},
            f"{place([first.at, second.at]).capitalize()} hold the same message in invocation "
            f"{name(first.event.invocation_id)}: a before_run plugin that answers stores it again, as does a retry.",
            "Make retries idempotent, and let a plugin that ends the run say so in an event of its own.",
        )


def repeated_content(session: DoctorSession) -> Iterator[Sign]:
    """Two neighbouring events say the same, under the same author and role, in the same place.

    Calls, responses and mere thoughts do not count; nor one event id, or what duplicate-user-message reports.
    Source: spec/doctor.md repeated-content
    """
    reported = {(first.at, second.at) for first, second in session.once(duplicates)}
    for a, b in pairwise(session.whole):
        if _says_the_same(a, b) and (a.at, b.at) not in reported:
            yield Sign(
                [a.at, b.at],
                {"author": a.author},
                f"{place([a.at, b.at]).capitalize()} of {name(a.author)} say the same, so the prompt says it twice.",
                "Look for a double append.",
            )


def _says_the_same(a: Entry, b: Entry) -> bool:
    return (
        a.full
        and (a.author, a.role, a.place) == (b.author, b.role, b.place)
        and not (a.calls or a.responses or a.thought_only or a.record or b.record)
        and not (a.event.id and a.event.id == b.event.id)
        and a.parts == b.parts
    )


def events_out_of_order(session: DoctorSession) -> Iterator[Sign]:
    """An event is older than the last stamped one before it on its branch, by more than a microsecond.

    Branches have clocks of their own; live audio bears the time at which it began.
    Source: spec/doctor.md events-out-of-order; C9.4, L11.5
    """
    last: dict[str, Entry] = {}
    for entry in session.whole:
        if not entry.event.timestamp or entry.live_audio:
            continue
        before = last.get(entry.branch)
        seconds = before.event.timestamp - entry.event.timestamp if before is not None else 0.0
        if before is not None and seconds > MORE_THAN_A_MICROSECOND:
            yield Sign(
                [before.at, entry.at],
                {"seconds": round(seconds, 6), "branch": entry.branch},
                f"{place(entry.at).capitalize()} is {round(seconds, 6):g} s older than {place(before.at)} before it: "
                "history goes by the place in the list, summaries go by time.",
                "Read the events back in the order in which they were stored.",
            )
        last[entry.branch] = entry


def duplicate_event_id(session: DoctorSession) -> Iterator[Sign]:
    """Events share an id; a chunk and its whole response may.

    Source: spec/doctor.md duplicate-event-id
    """
    by_id: dict[str, list[int]] = {}
    for entry in session.whole:
        if entry.event.id:
            by_id.setdefault(entry.event.id, []).append(entry.at)
    for event_id, places in by_id.items():
        if len(places) > 1:
            yield Sign(
                places,
                {"id": event_id},
                f"{count(len(places), 'event')} have the id {name(event_id)} ({place(places)}): loaded or appended "
                "twice, all of them are sent.",
                "Append by id: leave out what the session already has.",
            )


def unknown_author(session: DoctorSession) -> Iterator[Sign]:
    """An event has no author (a), is by a role's name (b), or by an agent that is not defined (c). One for each author.

    State-only events may have any author.
    Source: spec/doctor.md unknown-author; R5.9, R5.10
    """
    by_author: dict[str, list[int]] = {}
    for entry in session.whole:
        if entry.full or (entry.transcribed and not entry.author):
            by_author.setdefault(entry.author, []).append(entry.at)
    defined = set(session.definitions.by_name) if session.definitions is not None else None
    for author, places in by_author.items():
        if author == "user" or (defined is not None and author in defined):
            continue
        if not author:
            case, severity, what = "a", ERROR, "no author"
        elif author in ROLE_NAMES:
            case, severity, what = "b", WARNING, f"the author {name(author)}, which is a role and no agent's name"
        elif defined is not None:
            case, severity, what = "c", WARNING, f"the author {name(author)}, who is none of the defined agents"
        else:
            continue
        yield Sign(
            places,
            {"author": author, "count": len(places)},
            f"{place(places).capitalize()} {'has' if len(places) == 1 else 'have'} {what}: an agent's own words are "
            "read back to it as a stranger's.",
            "Map the names on import to those of the agents.",
            case=case,
            severity=severity,
        )
