"""The events of a recording as a terminal shows them: one a line, by turns."""

from __future__ import annotations

import shlex
from itertools import groupby
from typing import TYPE_CHECKING

from adknb.files.whose import is_model_event
from adknb.files.wording import unknown_kinds
from adknb.lens.table import event_table, event_text, unread_fields
from adknb.lens.words import cells, compact, named, one_line, pad, shorten, wrap

if TYPE_CHECKING:
    from adknb.files.recording import Recording


def listing(recording: Recording, width: int = 100) -> str:
    """The events, one a line, by turns; what the file says besides; how to go on."""
    width = max(width, 60)
    rows = event_table(recording.events)
    about = [part for part in (recording.app_name, recording.user_id, recording.session_id) if part]
    lines = [
        recording.name,
        *([one_line(" · ".join(about), width)] if about else []),
        *wrap(recording.summary(), width),
        *the_rest(recording, width),
    ]
    if not rows:
        return "\n".join([*lines, "", "The file has no events."])
    number = max(len("event"), len(str(len(rows) - 1)))
    author = min(max(cells("author"), *(cells(row["author"]) for row in rows)), 28)
    kind = max(len("kind"), *(len(row["kind"]) for row in rows))
    lines += ["", f"{'turn':>4}  {'event':>{number}}  {pad('author', author)}  {pad('kind', kind)}  what"]
    for turn, group in groupby(rows, key=lambda row: row["turn"]):
        for nth, row in enumerate(group):
            who = pad(shorten(row["author"] or "–", author), author)
            first = (turn or "–") if nth == 0 else ""
            head = f"{first:>4}  {row['index']:>{number}}  {who}  {pad(row['kind'], kind)}  "
            place = [f"branch {row['branch']}"] * bool(row["branch"]) + [f"scope {row['scope']}"] * bool(row["scope"])
            tail = [*(["chunk"] if row["partial"] else []), *place]
            tail += row["notes"] if not row["text"].startswith("(") else []
            end = f"  [{', '.join(tail)}]" if tail else ""
            room = max(20, width - cells(head) - cells(end))
            said = event_text(recording.events[row["index"]], room + 7).removeprefix(f"{row['kind']} ")
            if row["kind"] == "empty" and (kinds := unknown_kinds(recording.events[row["index"]])):
                said = f"({kinds})"
            lines.append((head + shorten(said, room) + end).rstrip())
    return "\n".join([*lines, "", *_how_to_go_on(recording)])


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


def _how_to_go_on(recording: Recording) -> list[str]:
    """An example to copy: the last event a model wrote."""
    last = last_model_event(recording, None)
    at = 0 if last is None else last
    return [
        "What did the model see before it wrote an event, and what became of the others?",
        f"  adknb open {one_line(shlex.quote(recording.path or recording.name))} --event {at}",
    ]


def last_model_event(recording: Recording, agent: str | None) -> int | None:
    """The position of the last event that a model wrote, or this agent's model; else of the last event."""
    events = recording.events
    return next(
        (i for i in reversed(range(len(events))) if is_model_event(events, i) and agent in (None, events[i].author)),
        None if agent is None else len(events) - 1,
    )
