"""A request in the HTML file of a recording: what was in it, what was not and why; folded under its answer."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from functools import lru_cache
from html import escape
from typing import TYPE_CHECKING, Any

from adknb.engine.event_json import to_json
from adknb.files.explain import KINDS, is_unremarkable, reason_text
from adknb.files.walk import Told
from adknb.lens.table import event_summary, part_texts
from adknb.lens.words import named, one_line, positions

if TYPE_CHECKING:
    from adknb.engine.model import LLMRequest
    from adknb.engine.processors.contents import Fate
    from adknb.files.rebuild import Rebuilt
    from adknb.files.sessions import Requests

WIDTH = 240
"""How much of a content is shown in a request; the event itself shows more."""

ELSEWHERE = "there is no room for all; <code>adknb open FILE --event N</code> shows them"

MOST_NAMED = 12
"""Events of one fate that are shown one by one; more are named by their positions."""


def request_block(
    requests: Requests, place: int, told: Told | None, whole: bool, most: int | None, shown: dict[str, tuple[str, int]]
) -> str:
    """A request, folded; `whole`: with all contents, else with those that are new; `most` rows a table, if given.

    `shown`: of each agent the settings that were shown last, and at which event; they are not shown again.
    """
    if told is None:
        return '<p class="none">This request is not in this page.</p>'
    if told.problem:
        return _folded(told, f'<p class="note">{_e(one_line(told.problem))}</p>')
    if not whole and told.rebuilt is None and (plain := _plainly(told)):
        return _folded(told, plain)
    rebuilt = told.rebuilt or requests[place]
    parts = [_contents(rebuilt, 0 if whole else told.same, told.since, most)]
    if rebuilt.request is not None:
        settings = settings_block(rebuilt.request)
        last, event = shown.get(told.agent, ("", 0))
        if settings == last:
            settings = f'<p>Instruction, tools and settings as for <a href="#e{event}">event {event}</a>.</p>'
        else:
            shown[told.agent] = (settings, told.event)
        parts.insert(0, settings)
    parts += [
        f"<p>Content {a.content} comes from no event: {_e(one_line(a.why))} ({a.rule}).</p>" for a in rebuilt.added
    ]
    fates = rebuilt.fates if whole else told.fates
    parts.append(_list("Not in it" + _newly(told, whole), rebuilt, [f for f in fates if _is_out(f)], most))
    parts.append(
        _list("In it, but not as it was stored" + _newly(told, whole), rebuilt, [f for f in fates if _is_odd(f)], most)
    )
    return _folded(told, "".join(parts))


def _newly(told: Told, whole: bool) -> str:
    return "" if whole or told.since is None else f", new since event {told.since}"


def _folded(told: Told, inner: str) -> str:
    said = [f"{told.contents} content" + ("" if told.contents == 1 else "s")]
    said += [f"{told.gone} not in it"] * bool(told.gone) + [f"{told.changed} changed"] * bool(told.changed)
    text = "cannot be built" if told.problem else " · ".join(said)
    return f"<details><summary>What {_e(one_line(told.agent, 40))} saw: {text}</summary>{inner}</details>"


def _plainly(told: Told) -> str:
    """A request that goes on from the last one with events as they were stored, in a sentence; empty if it does not."""
    if any(not is_unremarkable(fate) for fate in told.fates):
        return ""
    new = [fate.event for fate in told.fates]
    tail = f" and, at the end, a turn of its own that asks to go on ({told.added[-1].rule})" if told.added else ""
    now = f"{named('event', new)} as stored" if new else "nothing more"
    if told.since is None:
        return f"<p>{_e(now[:1].upper() + now[1:])}{_e(tail)}.</p>"
    return f'<p>As before <a href="#e{told.since}">event {told.since}</a>, then {_e(now)}{_e(tail)}.</p>'


def _contents(rebuilt: Rebuilt, start: int, since: int | None, most: int | None) -> str:
    """The contents from `start` on; those before stood in the request before event `since`."""
    if not rebuilt.contents:
        return '<p class="none">No contents: the model is called with nothing to read.</p>'
    by_content: dict[int, list[int]] = {}
    for fate in rebuilt.fates:
        if fate.kind != "summarised":
            for at in fate.contents:
                if at >= start:
                    by_content.setdefault(at, []).append(fate.event)
    rows, hidden = [], 0
    if most is not None and len(rebuilt.contents) - start > most:
        hidden = len(rebuilt.contents) - start - most
        rows.append(f"<tr><td>…<td><td><td>{hidden} contents from {start} on: {ELSEWHERE}")
    for i in range(start + hidden, len(rebuilt.contents)):
        content = rebuilt.contents[i]
        text = "<br>".join(map(_short, part_texts(content)[:12])) or "(no parts)"
        rows.append(f"<tr><td>{i}<td>{_links(by_content.get(i, []))}<td>{_e(content.role or '–')}<td>{text}")
    first = ""
    if start and since is not None:
        first = f'<p>Contents 0–{start - 1} as before <a href="#e{since}">event {since}</a>' + (
            ", then:</p>" if rows else ".</p>"
        )
    if not rows:
        return first
    return f"{first}<table><tr><th>content<th>event<th>role<th>text{''.join(rows)}</table>"


def _short(text: str) -> str:
    """As much of a text as a row shows, escaped; the same text stands in many rows."""
    return _shortened(text[: 6 * WIDTH])


@lru_cache(maxsize=8_192)
def _shortened(text: str) -> str:
    return _e(one_line(text, WIDTH))


def _links(events: Sequence[int]) -> str:
    if not events:
        return "added"
    if len(events) > 6:
        return _e(positions(events))
    return ", ".join(f'<a href="#e{i}">{i}</a>' for i in events)


def _is_out(fate: Fate) -> bool:
    return fate.kind in ("left_out", "summarised")


def _is_odd(fate: Fate) -> bool:
    return not _is_out(fate) and not is_unremarkable(fate)


def _list(title: str, rebuilt: Rebuilt, fates: Sequence[Fate], most: int | None) -> str:
    """Events of one sort, those of one reason together."""
    if not fates:
        return ""
    hidden = len(fates) - most if most is not None and len(fates) > most else 0
    fates = fates[hidden:]
    groups: dict[tuple[str, str], list[Fate]] = {}
    for fate in fates:
        why = "; ".join(reason_text(reason) for reason in fate.reasons)
        groups.setdefault((fate.kind, why), []).append(fate)
    rows: list[str] = [f"<tr><td>…<td><td><td>{hidden} events: {ELSEWHERE}"] if hidden else []
    for (kind, why), group in groups.items():
        rows += _rows(rebuilt, group, KINDS[kind], why)
    return f"<h3>{_e(title)}</h3><table><tr><th>event<th>fate<th>content<th>what and why{''.join(rows)}</table>"


def _rows(rebuilt: Rebuilt, group: Sequence[Fate], kind: str, why: str) -> Iterable[str]:
    if len(group) > MOST_NAMED:
        at = one_line(positions(fate.event for fate in group), 60)
        contents = one_line(positions({c for fate in group for c in fate.contents}), 40)
        yield f"<tr><td>{_e(at)}<td>{_e(kind)}<td>{_e(contents)}<td>{len(group)} events: {_e(why)}"
        return
    for fate in group:
        text = event_summary(rebuilt.all_events[fate.event], WIDTH)
        where = positions(fate.contents)
        yield f"<tr><td>{_links([fate.event])}<td>{_e(kind)}<td>{_e(where)}<td>{_e(text)}<br><small>{_e(why)}</small>"


def settings_block(request: LLMRequest) -> str:
    """The rest of a request: the system instruction, the tools, the settings."""
    config = to_json(request.config)
    instruction = request.system_instruction
    texts = part_texts(instruction) if instruction is not None else []
    config.pop("systemInstruction", None)
    parts = [f"<pre>{_e(chr(10).join(texts))}</pre>" if texts else '<p class="none">No system instruction.</p>']
    if config:
        parts.append(f"<pre>{_e(json.dumps(config, indent=2, ensure_ascii=False))}</pre>")
    names = ", ".join(sorted(request.tools)) or "no tools"
    label = f"Instruction, tools and settings: {request.model or 'no model name'}, {names}"
    return f"<details><summary>{_e(one_line(label, 200))}</summary>{''.join(parts)}</details>"


def _e(value: Any) -> str:
    text = str(value)
    return escape(text if text.isascii() else text.encode("utf-8", "backslashreplace").decode())
