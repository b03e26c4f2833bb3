"""The panel as static HTML, for places where no widget runs: GitHub, nbconvert, a notebook that nobody trusts yet.

Deterministic and without ids; everything is escaped, so text of models and files is only ever text. Inline styles only,
since `<style>` is taken out in most of these places. Colours are translucent greys and tints over the page's own, and
text keeps the page's colour, so that light and dark both read well; words say what the tints say.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

from adknb.engine.errors import AdknbError
from adknb.lens.contents_fates import ContentsFates, Step, contents_fates
from adknb.lens.visibility import row_of
from adknb.lens.words import positions
from adknb.widgets import present
from adknb.widgets.book import BEHIND, PROCESSORS
from adknb.widgets.branches import SIGN_WORDS, sign_of, viewers_at
from adknb.widgets.brief import event_row, plural
from adknb.widgets.held import held_blocks
from adknb.widgets.pages import Block, request_page, summary
from adknb.widgets.panel.answers import Kept, viewer_here
from adknb.widgets.text import headline, notes
from adknb.widgets.text_forms import invocation_of
from adknb.widgets.timeline import Row, Timeline
from adknb.widgets.tools_table import tools_table
from adknb.widgets.wire import clean_text, cut

HAIR = "1px solid rgba(128,128,128,.35)"
FRAME = f"border:{HAIR};padding:0;font-size:13px;line-height:1.45;text-align:left;max-width:1100px"
BAR = "background-color:rgba(128,128,128,.10);padding:6px 12px"
QUIET = "opacity:.72"
MONO = "font-family:monospace"
CELL = (
    f"text-align:left;vertical-align:top;padding:3px 10px 3px 0;border:0;border-top:{HAIR};background-color:transparent"
)
MARKS = {
    "added": "background-color:rgba(46,160,67,.30)",
    "changed": "background-color:rgba(56,120,220,.30)",
    "moved": "background-color:rgba(200,120,20,.32)",
    "removed": "background-color:rgba(210,60,50,.30)",
}
TINTS = {
    "reworded": MARKS["changed"],
    "merged": MARKS["changed"],
    "summarised": MARKS["changed"],
    "moved": MARKS["moved"],
    "added": MARKS["added"],
    "left_out": MARKS["removed"],
}
SPANS = {
    "ins": ("ins", MARKS["added"]),
    "del": ("del", MARKS["removed"]),
    "b": ("b", ""),
    "code": ("code", "background-color:transparent;color:inherit;padding:0"),
    "mut": ("span", QUIET),
    "th": ("i", ""),
    "bad": ("b", ""),
}
ICONS = {"call": "→ ", "response": "← ", "warn": "! ", "joined": "—", "alone": "×", "waits": "…"}

MOST_EVENTS, MOST_LINES = 40, 80
"""Of more events or lines of the timeline than these, the last are shown and the rest is counted."""

LONG = 500
"""Of a session with more events than these it is not said what becomes of each: a cell would wait for it."""


def html(stepper: Any) -> str:
    """Timeline, where we are, the request with what changed, the events with their fates, and who sees them."""
    timeline = Timeline()
    timeline.update(stepper.stops, stepper.events)
    now = stepper.request_shown
    changes = present.changes_of(stepper)
    tools = tools_table(now, stepper.request, stepper.here)
    columns = request_page(now, changes, tools, held_blocks(stepper.here), stepper.paragraphs)
    said = summary(changes, stepper.request_before is not None) if now else ""
    what = f"<b>{escape(headline(stepper))}</b>" + (f' <span style="{QUIET}">· {escape(said)}</span>' if said else "")
    told = "".join(f'<div style="{BAR}"><b>{name}</b> {escape(text)}</div>' for name, text in notes(stepper))
    body = "".join(_block(block) for column in columns for block in column)
    folded = _timeline(stepper, timeline) + _events(stepper, timeline) + _branches(stepper)
    return (
        f'<div style="{FRAME}"><div style="{BAR}">{what}</div>{told}{_track(stepper, timeline)}'
        f'<div style="padding:4px 12px 10px 12px">{body}{folded}</div></div>'
    )


# ---- parts of the picture


def _track(stepper: Any, timeline: Timeline) -> str:
    """The stages of the step in one line: done, here, to come."""
    states, here = present.stages(stepper, timeline)
    if not any(s["state"] != "next" for s in states):
        return ""
    out = []
    for k, ((name, _, says), stage) in enumerate(zip(PROCESSORS + BEHIND, states, strict=True)):
        label = escape(name.replace("_", " "))
        if k == here:
            out.append(f'<b style="border-bottom:2px solid">{label}</b>')
        elif stage["state"] == "done" and says:
            out.append(f"{label}&nbsp;✓")
        else:
            out.append(f'<span style="{QUIET}">{label}</span>')
    return f'<div style="padding:6px 12px;border-bottom:{HAIR}">{" · ".join(out)}</div>'


def _timeline(stepper: Any, timeline: Timeline) -> str:
    """The stops of the run as an indented list, folded away; the stages of a step in one line, no-ops in brackets."""
    rows = timeline.rows
    if not rows:
        return ""
    record = present.record_of(stepper)
    here = timeline.row_of[record.number] if record is not None else -1
    lines: list[tuple[int, list[str]]] = []
    joined = False
    for i, row in enumerate(rows):
        stage = row.kind in ("processor", "declare")
        if stage and joined and lines[-1][0] == row.depth:
            lines[-1][1].append(_stop(row, i == here))
        else:
            lines.append((row.depth, [_stop(row, i == here)]))
        joined = stage
    skip = max(0, len(lines) - MOST_LINES)
    shown = [f'<div style="{QUIET}">{skip:,} lines before these</div>'] if skip else []
    shown += [f'<div style="padding-left:{depth * 18}px">{" · ".join(stops)}</div>' for depth, stops in lines[skip:]]
    return _folded("Timeline", plural(len(stepper.stops), "stop"), "".join(shown))


def _stop(row: Row, here: bool) -> str:
    name, note = escape(clean_text(row.name)), escape(clean_text(cut(row.note, 120)))
    if here:
        name = f'▸ <b style="border-bottom:2px solid">{name}</b>'
    elif row.kind in ("turn", "agent", "step"):
        name = f"<b>{name}</b>"
    elif row.noop:
        name = f'<span style="{QUIET}">({name})</span>'
    return f'{name} <span style="{QUIET}">{note}</span>' if note else name


def _events(stepper: Any, timeline: Timeline) -> str:
    """The stored events; of each what becomes of it in the next request, and why."""
    events = stepper.events
    skip = max(0, len(events) - MOST_EVENTS)
    told, whose = _fates(stepper)
    head = ["#", "author", "branch", "kind", "content", *([f"in the request of {whose}"] if told else [])]
    rows = []
    for i, event in enumerate(events[skip:], skip):
        _, _, author, branch, scope, _, kind, text, *_ = event_row(event, 0)
        place = branch + (f" scope {scope}" if scope else "")
        row = [_code(str(i)), escape(clean_text(author)), _code(place), escape(kind), escape(clean_text(text))]
        if told:
            fate = told.fates[i]
            row.append(_fate(fate.kind, fate.contents, fate.tag, fate.steps))
        rows.append(row)
    if told:
        rows += [[_code("+"), "", "", "", "", _fate("added", (a.content,), "", (a.step,))] for a in told.added]
    note = plural(len(events), "event") + (f", the last {MOST_EVENTS}" if skip else "")
    return _folded("Events", note, _table([escape(clean_text(h)) for h in head], rows)) if rows else ""


def _fates(stepper: Any) -> tuple[ContentsFates | None, str]:
    """What becomes of the events, and for which agent; nothing of a long session, of which a cell must not wait."""
    invocation = invocation_of(stepper)
    viewer = viewer_here(stepper, invocation)
    if viewer is None or len(stepper.events) > LONG:
        return None, ""
    try:
        assembly = Kept().assembly(stepper, viewer, invocation, passes=False)
    except AdknbError:  # the panel and the text form say so
        return None, ""
    return contents_fates(assembly), viewer.agent_name


def _fate(kind: str, contents: Sequence[int], tag: str, steps: Sequence[Step]) -> str:
    to = f" → {positions(contents)}" if contents else ""
    word = escape((tag or kind.replace("_", " ")) + to)
    why = f' <span style="{QUIET}">{escape(clean_text(cut(steps[0].why, 200)))}</span>' if steps else ""
    return f'<span style="{TINTS[kind]};padding:0 4px">{word}</span>{why}' if kind in TINTS else word + why


def _branches(stepper: Any) -> str:
    """Who sees what: a line for each agent, a sign for each event. Nothing where there is but one agent."""
    events = stepper.events
    viewers = viewers_at(stepper, viewer_here(stepper, invocation_of(stepper))) if 0 < len(events) <= LONG else []
    if len(viewers) < 2:
        return ""
    skip = max(0, len(events) - MOST_EVENTS)
    ruler = "".join(f"{i:<5}" for i in range(skip, len(events), 5))
    rows = []
    for row in (row_of(events, viewer) for viewer in viewers):
        place = row.branch + (f" scope {row.scope}" if row.scope else "")
        signs = _signs("".join(map(sign_of, row.cells[skip:])))
        rows.append([escape(clean_text(row.agent)), _code(place), signs, f"{row.sees} of {len(row.cells)}"])
    table = _table(["agent", "branch", _signs(ruler), "sees"], rows)
    meaning = " · ".join(f"{sign} {words}" for sign, words in SIGN_WORDS.items())
    last = f", the last {MOST_EVENTS} shown" if skip else ""
    return _folded("Branches", f"{len(rows)} agents, {plural(len(events), 'event')}{last}", table + _quiet(meaning))


def _signs(text: str) -> str:
    return f'<span style="{MONO};white-space:pre">{text}</span>'


def _quiet(text: str) -> str:
    return f'<div style="{QUIET}">{escape(text)}</div>'


def _folded(title: str, note: str, inner: str) -> str:
    summary_ = f'<summary><b>{escape(title)}</b> <span style="{QUIET}">{escape(note)}</span></summary>'
    return f'<details style="margin-top:8px">{summary_}{inner}</details>'


# ---- blocks


def _block(block: Block) -> str:
    kind, *rest = block
    if kind == "h":
        head, *more = rest
        return f'<div style="margin-top:10px"><b>{_spans([head])}</b> {_spans(more)}</div>'
    if kind == "p":
        return f'<div style="margin-top:4px">{_spans(rest)}</div>'
    if kind == "pre":
        return f"<pre>{escape(clean_text(rest[0]))}</pre>"
    if kind == "source":
        first, lines = rest
        numbered = (f"{n:>5}  {''.join(t for _, t in line)}".rstrip() for n, line in enumerate(lines, int(first)))
        return f"<pre>{escape(clean_text(chr(10).join(numbered)))}</pre>"
    if kind == "table":
        head, rows = rest
        cells = [_spans(c) for c in head] if head else None
        return _table(cells, [[_spans(c) for c in row] for row in rows])
    _look, rows = rest
    return _table(None, [_row(row) for row in rows])


def _row(row: dict[str, Any]) -> list[str]:
    by = " ".join(_spans([s]) for s in row.get("by") or [])
    lines = "".join(f'<div style="white-space:pre-wrap">{_spans(line)}</div>' for line in row["text"])
    op = row.get("op")
    mark = f'<span style="{MARKS[op[0]]};padding:0 6px">{escape(op[1])}</span>' if op else ""
    return [f'<span style="{QUIET}">{by}</span>', lines, mark]


def _table(head: Sequence[str] | None, rows: Iterable[Sequence[str]]) -> str:
    th = "".join(f'<th style="{CELL};border-top:0"><span style="{QUIET}">{c}</span></th>' for c in head or ())
    body = "".join("<tr>" + "".join(f'<td style="{CELL}">{cell}</td>' for cell in row) + "</tr>" for row in rows)
    opened = f"<thead><tr>{th}</tr></thead>" if head else ""
    return f'<table style="border-collapse:collapse;margin:2px 0;font-size:13px">{opened}<tbody>{body}</tbody></table>'


def _spans(spans: Iterable[Any]) -> str:
    out = []
    for span in spans:
        if isinstance(span, str):
            out.append(escape(clean_text(cut(span, 2_000))))
            continue
        kind, *inner = span
        if kind == "i":
            out.append(ICONS.get(str(inner[0]), ""))
        elif kind == "ed":  # a button of the panel's
            continue
        elif kind == "st":
            out.append(escape(clean_text(str(inner[0]))))
        elif kind == "ev":
            out.append(f"#{int(inner[0])}")
        elif kind in ("go", "examine"):  # buttons
            continue
        elif kind == "au":
            out.append(escape(clean_text(str(inner[0]))))
        elif kind == "note":
            out.append(f'<div style="{QUIET}">{_spans(inner)}</div>')
        elif kind == "fn":
            out.append(f'<span style="{MONO}">{_spans(inner[:-1])}</span> {_spans(inner[-1:])}')
        else:
            tag, style = SPANS.get(str(kind), ("span", ""))
            attribute = f' style="{style}"' if style else ""
            out.append(f"<{tag}{attribute}>{_spans(inner)}</{tag}>")
    return "".join(out)


def _code(text: str) -> str:
    return f'<code style="background-color:transparent;color:inherit;padding:0">{escape(clean_text(text))}</code>'
