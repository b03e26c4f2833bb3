"""Recordings and rebuilt requests as HTML for places where no widget runs: the same bytes every time.

Everything that comes from a file is escaped. Styles are inline and take the page's own colours, so that light and dark
both work; nothing is loaded and nothing runs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from itertools import groupby
from typing import TYPE_CHECKING, Any

from adknb.files.explain import KINDS, added_text, heading, is_unremarkable, reason_text, sources
from adknb.files.listing import the_rest
from adknb.files.page_requests import settings_block
from adknb.lens.table import event_summary, event_table, event_text, part_texts
from adknb.lens.words import one_line, positions

if TYPE_CHECKING:
    from adknb.engine.processors.contents import Fate
    from adknb.files.rebuild import Rebuilt
    from adknb.files.recording import Recording

MOST_ROWS = 200
"""A table in a notebook is looked at, not scrolled: more rows than this are folded in the middle."""

_CELL = "text-align:left;vertical-align:top;padding:2px 10px 2px 0;border-bottom:1px solid currentColor"
_SHORT = _CELL + ";white-space:nowrap"
_LONG = _CELL + ";white-space:pre-wrap;overflow-wrap:anywhere"
_WORDY = {"text", "why"}
"""Columns whose words may take several lines; the others stay on one."""


def recording_html(recording: Recording) -> str:
    """A recording: what it is, and its events."""
    rows = event_table(recording.events)
    columns = [("index", "event"), ("turn", "turn"), ("author", "author"), ("kind", "kind"), ("text", "text")]
    columns += [(key, key) for key in ("branch", "scope") if any(row[key] for row in rows)]
    cells = [[str(row[key]) for key, _ in columns] for row in rows]
    several = len(recording.sessions)
    return _box(
        f"<p><b>{_e(recording.label)}</b>: {_e(recording.summary())}</p>",
        *([f"<p>{several} sessions in the file: <code>.sessions</code> has all of them.</p>"] if several > 1 else []),
        *(f"<p>{_e(line)}</p>" for line in [*the_rest(recording, 300), *recording.notes]),
        _table("", [label for _, label in columns], _fold(cells)),
    )


def rebuilt_html(rebuilt: Rebuilt) -> str:
    """A rebuilt request: its contents, the fate of every earlier event, what is unknown."""
    parts = [f"<p><b>{_e(line)}</b></p>" for line in heading(rebuilt)[:1]]
    parts += [f"<p>{_e(line)}</p>" for line in heading(rebuilt)[1:]]
    parts.append(f"<p>event {rebuilt.event}, {_e(event_summary(rebuilt.all_events[rebuilt.event], 300))}</p>")
    if rebuilt.problem:
        parts.append(f"<p><b>The request cannot be built:</b> {_e(one_line(rebuilt.problem))}</p>")
    else:
        origin = sources(rebuilt)
        contents = [
            [str(i), origin[i], one_line(c.role or ""), "\n".join(one_line(t, 300) for t in part_texts(c))]
            for i, c in enumerate(rebuilt.contents)
        ]
        if rebuilt.request is not None:
            parts.append(settings_block(rebuilt.request))
        parts.append(_table("The contents of the request", ["content", "event", "role", "text"], _fold(contents)))
        parts += [f"<p>{_e(added_text(added))}</p>" for added in rebuilt.added]
        head = ["event", "author", "text", "fate", "content", "why"]
        parts.append(_table("What became of the events", head, _fold(list(_fates(rebuilt)))))
    items = "".join(f'<li style="text-align:left">{_e(sentence)}</li>' for sentence in rebuilt.unknown)
    parts.append(f"<p>What the file cannot tell:</p><ul>{items}</ul>")
    return _box(*parts)


def _fates(rebuilt: Rebuilt) -> Iterable[list[str]]:
    """A row for each earlier event, in order; a run of events that went in as stored is one row."""
    for plain, run in groupby(rebuilt.fates, key=is_unremarkable):
        fates: list[Fate] = list(run)
        if plain and len(fates) > 1:
            at = positions(fate.event for fate in fates)
            contents = positions({content for fate in fates for content in fate.contents})
            yield [at, "", f"{len(fates)} events", "kept", contents, reason_text(fates[0].reasons[0])]
            continue
        for fate in fates:
            event = rebuilt.events[fate.event]
            yield [
                str(fate.event),
                one_line(event.author, 40),
                event_text(event),
                KINDS[fate.kind],
                positions(fate.contents),
                "\n".join(reason_text(reason) for reason in fate.reasons),
            ]


def _fold(rows: Sequence[Sequence[str]]) -> list[Sequence[str]]:
    if len(rows) <= MOST_ROWS:
        return list(rows)
    half = MOST_ROWS // 2
    gap = ["…"] + [""] * (len(rows[0]) - 2) + [f"{len(rows) - 2 * half} rows not shown"]
    return [*rows[:half], gap, *rows[-half:]]


def _table(caption: str, head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    title = f'<caption style="text-align:left;padding:4px 0">{_e(caption)}</caption>' if caption else ""
    styles = [_LONG if label in _WORDY else _SHORT for label in head]
    top = "".join(f'<th scope="col" style="{_CELL}">{_e(label)}</th>' for label in head)
    lines = ("".join(f'<td style="{s}">{_e(cell)}</td>' for s, cell in zip(styles, row, strict=True)) for row in rows)
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    inner = f"{title}<thead><tr>{top}</tr></thead><tbody>{body}</tbody>"
    return f'<table style="border-collapse:collapse;margin:8px 0">{inner}</table>'


def _box(*parts: str) -> str:
    return f'<div style="overflow-x:auto">{"".join(parts)}</div>'


def _e(value: Any) -> str:
    return escape(str(value))
