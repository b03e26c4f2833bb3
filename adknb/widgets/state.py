"""State: every key with who wrote it last, what is on its way, whose write won among parallel calls, all deltas.

A page of blocks (pages.py), so that the panel, the static HTML and the text form say the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from adknb.engine.event import Event, function_responses_of
from adknb.engine.event_json import to_json
from adknb.engine.stops import Phase, Seam
from adknb.lens.state_changes import KEPT_FOR, Delta, Key, Merge, StateChanges, state_changes
from adknb.widgets import brief
from adknb.widgets.brief import plural
from adknb.widgets.pages import Block, Span
from adknb.widgets.wire import clean_text, cut

LONG, MOST_DELTAS, MOST_KEYS, MOST_MERGES = 2_000, 60, 300, 12
"""Of longer values the beginning is shown; of more deltas, keys and merges the newest, and the rest is counted."""


def changes_of(stepper: Any) -> StateChanges:
    """The state of a run at the present stop, explained."""
    live, stored = stepper.state, stepper.play.session.state
    return state_changes(stepper.events, live, stored, held_by(stepper.here, stepper.events), stepper.merges)


def held_by(stop: Any, events: Sequence[Event] = ()) -> list[tuple[str, Mapping[str, Any]]]:
    """Deltas that a stop holds and no stored event carries: of the call, the callback, the event on its way."""
    if stop is None or stop.seam is Seam.TURN:
        return []
    if stop.seam is Seam.MERGE:
        return [(_answer_of(e), dict(e.actions.state_delta)) for e in stop.holds.get("events") or () if e is not None]
    event = stop.holds.get("event")
    if isinstance(event, Event):
        stored = stop.seam is Seam.APPEND and stop.phase is Phase.AFTER and any(e.id == event.id for e in events[-1:])
        return [] if stored or event.partial else [(f"event of {event.author}", dict(event.actions.state_delta))]
    actions = getattr(stop.holds.get("ctx"), "actions", None)
    holder = f"tool {stop.name}" if stop.seam is Seam.TOOL else f"{str(stop.seam).replace('_', ' ')} {stop.name}"
    return [(holder, dict(actions.state_delta))] if actions is not None and actions.state_delta else []


def state_page(changes: StateChanges, key: str = "") -> list[list[Block]]:
    """The page. With `key` only that key's deltas are told: its history."""
    page: list[Block] = [["h", "State at this stop", ["mut", plural(len(changes.keys), "key")]]]
    shown = changes.keys[:MOST_KEYS]
    if shown:
        head = [["Key"], ["Value"], ["Kept for"], ["Last written by"]]
        page.append(["table", head, [_key_row(k) for k in shown]])
        if len(shown) < len(changes.keys):
            page.append(["p", ["mut", f"and {plural(len(changes.keys) - len(shown), 'more key')}"]])
    else:
        page.append(["p", ["mut", "Nothing has been written yet."]])
    if changes.pending:
        page.append(["h", "On its way", ["mut", "written into the live session; no stored event carries it yet"]])
        page.append(["rows", "deltas", [_pending_row(p.holder, p.key, p.value) for p in changes.pending]])
    for merge in changes.merges[-MOST_MERGES:][::-1]:
        page += _merge(merge)
    deltas = [d for d in changes.deltas if not key or any(w.key == key for w in d.writes)]
    if key:
        page.append(["h", "Writes of", ["code", cut(clean_text(key), 200)], ["mut", "newest first"], ["key", ""]])
    elif deltas:
        page.append(["h", "Deltas by event", ["mut", "newest first"]])
    if deltas:
        page.append(["rows", "deltas", [_delta_row(d, key) for d in deltas[: -MOST_DELTAS - 1 : -1]]])
    if len(deltas) > MOST_DELTAS:
        page.append(["p", ["mut", f"and {plural(len(deltas) - MOST_DELTAS, 'earlier delta')}"]])
    if key and not deltas:
        page.append(["p", ["mut", "No event of this session has written it."]])
    return [page]


def text(stepper: Any) -> str:
    """The state as text: a line for each key, `*` where it is not stored yet.

    state     2 keys
      lang    "zh"  #3 writer
      user:n  1     #1 user
    """
    changes = changes_of(stepper)
    lines = [f"state     {plural(len(changes.keys), 'key')}"]
    names = [brief.one_line(k.key, 40) for k in changes.keys[:MOST_KEYS]]
    widest = max(map(len, names), default=0)
    for k, name in zip(changes.keys, names, strict=False):
        by = f"#{k.event} {k.author}" if k.event >= 0 else "not stored yet" if k.pending else "before the run"
        star = " *" if k.pending else ""
        lines.append(f"  {name:<{widest}}  {brief.one_line(_json(k.value), 60)}  {by}{star}")
    lines += [f"  pending {brief.one_line(f'{p.holder}: {p.key} = {_json(p.value)}', 90)}" for p in changes.pending]
    for merge in changes.merges[-MOST_MERGES:]:
        where = f"#{merge.event}" if merge.event >= 0 else "the merge"
        for m in merge.keys:
            by = f"by call {m.winner + 1}, {merge.calls[m.winner].tool}" if m.winner >= 0 else "is lost"
            lines.append(f"  merged  {brief.one_line(f'{where}: {_path(m.path)} = {_json(m.value)} {by}', 90)}")
    return "\n".join(lines)


def _key_row(k: Key) -> list[list[Span]]:
    scope = k.scope if k.scope == "session" else f"{k.scope}:"
    kept: list[Span] = [["scope", scope], *([" ", ["mut", KEPT_FOR[k.scope]]] if KEPT_FOR[k.scope] else [])]
    by: list[Span] = [["ev", k.event], " ", ["au", k.author]] if k.event >= 0 else []
    if k.writes > 1:
        by += [" ", ["mut", f"{k.writes:,}×"]]
    if k.pending:
        by += [" "] * bool(by) + [["pending", "not stored yet"]]
    name = cut(clean_text(k.key), 400)
    link = ["key", name] if k.writes else ["code", name]
    return [[link], [["code", _value(k.value)]], kept, by or [["mut", "before the run"]]]


def _pending_row(holder: str, key: str, value: Any) -> dict[str, Any]:
    return {
        "by": [["mut", cut(clean_text(holder), 80)]],
        "text": [[["code", ["b", cut(clean_text(key), 400)], f" = {_value(value)}"]]],
        "op": ["changed", "pending"],
    }


def _delta_row(delta: Delta, key: str) -> dict[str, Any]:
    lines = []
    for w in delta.writes:
        if key and w.key != key:
            continue
        before: list[Span] = [] if w.fresh else [["del", _value(w.before, 200)], " "]
        after: Span = _value(w.value) if w.fresh else ["ins", _value(w.value)]
        lines.append([["code", ["b", cut(clean_text(w.key), 400)], " = ", *before, after]])
    call: list[Span] = [["mut", cut(delta.call, 60)]] if delta.call else []
    return {"by": [["ev", delta.event], ["au", delta.author], *call], "text": lines}


def _merge(merge: Merge) -> list[Block]:
    into: list[Span] = [["ev", merge.event]] if merge.event >= 0 else [["mut", "an event that is not stored yet"]]
    head: Block = ["h", "Merged into ", *into, ["mut", "what calls wrote side by side; the later call wins"]]
    columns = [[f"{n + 1} ", ["code", cut(clean_text(c.tool), 60)]] for n, c in enumerate(merge.calls)]
    rows = []
    for k in merge.keys:
        cells: list[list[Span]] = [[["code", cut(clean_text(_path(k.path)), 200)]]]
        for n, (wrote, value) in enumerate(k.written):
            shown = _value(value, 300)
            won: Span = ["code", ["b", shown]] if n == k.winner else ["code", ["del", shown]]
            cells.append([won] if wrote else [["mut", "–"]])
        cells.append([["code", _value(k.value, 300)]] if k.winner >= 0 else [["mut", "lost"]])
        rows.append(cells)
    return [head, ["table", [["Key"], *columns, ["Merged"]], rows]]


def _answer_of(event: Event) -> str:
    response = next(iter(function_responses_of(event.content)), None)
    return f"tool {response.name}" if response is not None and response.name else f"event of {event.author}"


def _path(path: Sequence[str]) -> str:
    return " › ".join(path) or "(all)"


def _value(value: Any, length: int = LONG) -> str:
    return cut(clean_text(_json(value)), length)


def _json(value: Any) -> str:
    """A value as JSON on one line; a reader's own object, or one that holds itself, as its kind."""
    try:
        return brief.as_json(to_json(value))
    except Exception:
        return f"<{type(value).__name__}>"
