"""The events of a recording as a terminal shows them: one a line, by turns. And the sessions of a file."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from adknb.files.whose import is_model_event
from adknb.files.wording import unknown_kinds
from adknb.lens.table import event_table, event_text, unread_fields
from adknb.lens.words import cells, compact, named, one_line, pad, shorten, wrap

if TYPE_CHECKING:
    from adknb.files.recording import Recording


class Piece(NamedTuple):
    """Some words of a line, and what they are: `title`, `soft`, `user`, `agent`, `kind`, `note`, `head`, or nothing."""

    text: str
    what: str = ""


Line = list[Piece]

SESSIONS_SHOWN = 12
"""So many sessions of a file are listed; `--json` has all."""


def listing(recording: Recording, width: int = 100) -> str:
    """The events, one a line, by turns; what the file says besides; how to go on."""
    return plain(lines_of(recording, width))


def plain(lines: Iterable[Line]) -> str:
    """Lines without their styles."""
    return "\n".join("".join(piece.text for piece in line).rstrip() for line in lines)


def lines_of(recording: Recording, width: int = 100) -> Iterator[Line]:
    """The lines of a listing, in pieces."""
    width = max(width, 60)
    about = [part for part in (recording.app_name, recording.user_id, recording.session_id) if part]
    yield [Piece(recording.name, "title")]
    if about:
        yield [Piece(one_line(" · ".join(about), width), "soft")]
    for text in wrap(recording.summary(), width):
        yield [Piece(text)]
    for text in the_rest(recording, width):
        yield [Piece(text, "soft")]
    for note in recording.notes:
        first, *more = wrap(note, width - 2)
        yield [Piece("· " + first, "note")]
        yield from ([Piece("  " + text, "note")] for text in more)
    yield from _sessions(recording, width)
    yield []
    if not recording.events:
        yield [Piece("The file has no events.")]
        return
    yield from _events(recording, width)
    yield []
    yield from ([Piece(text, "soft")] for text in _how_to_go_on(recording))


def _events(recording: Recording, width: int) -> Iterator[Line]:
    rows = event_table(recording.events)
    number = max(len("event"), len(str(len(rows) - 1)))
    author = min(max(cells("author"), *(cells(row["author"]) for row in rows)), 28)
    kind = max(len("kind"), *(len(row["kind"]) for row in rows))
    yield [Piece(f"{'turn':>4}  {'event':>{number}}  {pad('author', author)}  {pad('kind', kind)}  what", "head")]
    for turn, group in groupby(rows, key=lambda row: row["turn"]):
        for nth, row in enumerate(group):
            who = pad(shorten(row["author"] or "–", author), author)
            first = (turn or "–") if nth == 0 else ""
            place = [f"branch {row['branch']}"] * bool(row["branch"]) + [f"scope {row['scope']}"] * bool(row["scope"])
            tail = [*(["chunk"] if row["partial"] else []), *place]
            tail += row["notes"] if not row["text"].startswith("(") else []
            left, middle = f"{first:>4}  {row['index']:>{number}}  ", f"  {pad(row['kind'], kind)}  "
            end = f"  [{', '.join(tail)}]" if tail else ""
            room = max(20, width - cells(left + who + middle) - cells(end))
            said = event_text(recording.events[row["index"]], room + 7).removeprefix(f"{row['kind']} ")
            if row["kind"] == "empty" and (kinds := unknown_kinds(recording.events[row["index"]])):
                said = f"({kinds})"
            yield [
                Piece(left, "soft"),
                Piece(who, "user" if row["author"] == "user" else "agent"),
                Piece(middle, "kind"),
                Piece(shorten(said, room)),
                Piece(end, "soft"),
            ]


def the_rest(recording: Recording, width: int) -> list[str]:
    """What the file holds that adknb does not know: fields of the session, and of which events."""
    lines = []
    unread = recording.unread()
    if unread:
        said = ", ".join(f"{key}: {compact(value)}" for key, value in unread.items())
        lines.append(one_line(f"also in the file: {said}", width))
    fields = [(i, path) for i, event in enumerate(recording.events) for path in unread_fields(event)]
    if fields:
        names, at = dict.fromkeys(path.split("/")[-1] for _, path in fields), {i for i, _ in fields}
        lines.append(one_line(f"also in {named('event', at)}: {', '.join(names)}", width))
    return lines


# ------------------------------------------------------------------------------------------------------------- sessions


def _sessions(recording: Recording, width: int) -> Iterator[Line]:
    """The sessions of a file that has several, this one marked."""
    files, here = recording._files, recording._place or 0
    if files is None or len(files.entries) < 2:
        return
    yield []
    yield [Piece(f"{len(files.entries)} sessions, of which the one marked > is shown:", "head")]
    shown = sorted({*range(min(SESSIONS_SHOWN, len(files.entries))), here})
    names = [one_line(files.entries[i].session_id or str(i), 40) for i in shown]
    wide = max(cells(name) for name in names)
    for i, name in zip(shown, names, strict=True):
        entry = files.entries[i]
        facts = [
            f"{entry.events} event{'' if entry.events == 1 else 's'}" if entry.events is not None else "",
            _day(entry.updated),
            entry.user_id,
        ]
        head = f"{i:>3}  {pad(name, wide)}  "
        text = head + one_line(" · ".join(fact for fact in facts if fact), max(20, width - 2 - cells(head)))
        yield [Piece("> " if i == here else "  ", "title"), Piece(text, "" if i == here else "soft")]
    if len(files.entries) > len(shown):
        yield [Piece(f"  … and {len(files.entries) - len(shown)} more", "soft")]
    yield [Piece("  --session ID (or its number) shows another", "soft")]


def _day(seconds: float) -> str:
    """A time as one reads it; nothing for none."""
    try:
        return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M UTC") if seconds > 0 else ""
    except (OverflowError, OSError, ValueError):
        return ""


# ------------------------------------------------------------------------------------------------------------ going on


def _how_to_go_on(recording: Recording) -> list[str]:
    """An example to copy: the last event a model wrote."""
    last = last_model_event(recording, None)
    at = 0 if last is None else last
    several = recording._files is not None and len(recording._files.entries) > 1
    which = f" --session {shlex.quote(str(recording._place or 0))}" if several and recording._place else ""
    return [
        "What did the model see before it wrote an event, and what became of the others?",
        f"  adknb open {one_line(shlex.quote(recording.path or recording.name))}{which} --event {at}",
    ]


def last_model_event(recording: Recording, agent: str | None) -> int | None:
    """The position of the last event that a model wrote, or this agent's model; else of the last event."""
    events = recording.events
    return next(
        (i for i in reversed(range(len(events))) if is_model_event(events, i) and agent in (None, events[i].author)),
        None if agent is None else len(events) - 1,
    )
