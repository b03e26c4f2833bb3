"""One HTML file of a recording, which needs nothing else: the events, each model event's request with its reasons.

The same bytes every time. Everything that comes from the file is escaped; nothing is loaded and nothing runs. What was
in a request is unfolded under the event that answers it: all of it in a short session; in a long one what is new since
the agent's last request, with a link to that.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from adknb.files.full import made_visible
from adknb.files.listing import the_rest
from adknb.files.page_requests import request_block
from adknb.files.page_style import STYLE
from adknb.files.walk import Told, walk
from adknb.lens.table import event_kind, event_notes, event_text, part_texts, turns, unread_fields
from adknb.lens.words import compact, one_line

if TYPE_CHECKING:
    from adknb.engine.event import Event
    from adknb.files.recording import Recording

BUDGET = 1_350_000
"""Bytes that a page may have, about; words are cut to fit."""

FRAME = 70
"""Bytes around an event's words, and its share of what stands between turns."""

ROW = 700
"""Bytes of a row of a request's table, about."""

MOST_ROWS = 4_000
"""If all requests together have more contents than this, each shows what is new in it."""

SHORTEST, LONGEST = 60, 20_000
"""How much of an event's words is shown at least and at most, in characters."""


LINKS = 12
"""So many events of a finding are linked."""

FINDINGS = 40
"""So many findings are told, the worst first."""


def page(recording: Recording) -> str:
    """The whole page."""
    requests = recording.requests()
    told = dict(zip(requests.events, walk(requests), strict=True))
    rows = sum(one.contents for one in told.values() if one is not None)
    whole = rows <= MOST_ROWS
    most = None if whole else _rows_each(told)
    shown: dict[str, tuple[str, int]] = {}
    blocks = {
        event: request_block(requests, place, told[event], whole, most, shown)
        for place, event in enumerate(requests.events)
    }
    head = _head(recording, told)
    heads = [_event_head(recording, i) for i in range(len(recording.events))]
    rest = [head, STYLE, *blocks.values(), *heads]
    room = BUDGET - sum(map(_size, rest)) - FRAME * len(heads)
    widest = _widest(recording.events, room)
    body = "".join(_sections(recording, heads, blocks, widest))
    title = escape(f"{recording.label}: what the model saw")
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{title}</title><style>{STYLE}</style></head>\n<body>{head}<main>{body}</main></body></html>\n"
    )


def _rows_each(told: dict[int, Told | None]) -> int | None:
    """How many rows a table of a request may have, so that all of them fit; None: as many as there are."""
    each = [len(one.fates) + one.contents - one.same for one in told.values() if one is not None]
    if sum(each) * ROW <= BUDGET // 2:
        return None
    return max(1, BUDGET // 2 // (3 * ROW * len(each)))


def _size(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


def _widest(events: Sequence[Event], room: int) -> int:
    """How many characters of an event's words fit, so that all events have the same."""
    sizes = sorted(_size(_words(event, LONGEST)) for event in events)
    if not sizes or sum(sizes) <= room:
        return LONGEST
    for done, size in enumerate(sizes):
        share = room // (len(sizes) - done)
        if size > share:
            return max(SHORTEST, share - 40)
        room -= size
    return LONGEST


# ----------------------------------------------------------------------------------------------------------------- head


def _head(recording: Recording, told: dict[int, Told | None]) -> str:
    about = [part for part in (recording.app_name, recording.user_id, recording.session_id) if part]
    parts = [f"<header><h1>{_e(recording.label)}</h1>"]
    if about:
        parts.append(f'<p class="about">{_e(" · ".join(about))}</p>')
    parts.append(f"<p>{_e(recording.summary())}</p>")
    parts += [f'<p class="note">{_prose(note)}</p>' for note in recording.notes]
    parts += [f"<p>{_e(line)}</p>" for line in the_rest(recording, 400)]
    parts.append(_findings(recording))
    agents = recording.agents
    if len(agents.parents) > 1:
        guess = "" if recording.definition is not None else ", as near as the events tell"
        parts.append(_details(f"The agents{guess}", f"<pre>{_e(agents.tree())}</pre>"))
    if recording.state:
        text = json.dumps(recording.state, indent=2, ensure_ascii=False, default=str)
        shown = text if len(text) <= LONGEST else text[:LONGEST] + "\n…"
        parts.append(_details("The state at the end", f"<pre>{_e(shown)}</pre>"))
    missing = sum(one is None for one in told.values())
    if missing:
        parts.append(
            f'<p class="note">{missing} of the earlier requests are not in this page: there are too many of them to '
            "rebuild each by itself. <code>adknb open FILE --event N</code> shows one.</p>"
        )
    unknown = _unknown(recording, told)
    if unknown:
        items = "".join(f"<li>{_prose(sentence)}</li>" for sentence in unknown)
        parts.append(_details("What the file cannot tell", f"<ul>{items}</ul>"))
    return "".join([*parts, "</header>"])


def _findings(recording: Recording) -> str:
    """What the doctor finds, the worst first, each with links to its events; nothing where it finds nothing."""
    found = recording.findings()
    if not found:
        return ""
    items = []
    for finding in found[:FINDINGS]:
        links = ", ".join(f'<a href="#e{at}">{at}</a>' for at in finding.events[:LINKS])
        more = f" and {len(finding.events) - LINKS} more" if len(finding.events) > LINKS else ""
        events = f" · {'event' if len(finding.events) == 1 else 'events'} {links}{more}" if finding.events else ""
        case = f" ({finding.case})" if finding.case else ""
        items.append(
            f'<li><b class="{finding.severity}">{finding.severity}</b> <b>{_e(finding.check)}</b>{_e(case)}{events}'
            f"<p>{_prose(finding.why)}</p><p>→ {_prose(finding.do)}</p></li>"
        )
    if len(found) > len(items):
        items.append(f"<li>{len(found) - len(items)} more: <code>adknb doctor FILE</code> has all.</li>")
    numbers = Counter(finding.severity for finding in found)
    count = ", ".join(f"{n} {severity}{'s' if n > 1 else ''}" for severity, n in numbers.items())
    listed = f'<ul class="found">{"".join(items)}</ul>'
    return f"<details open><summary>The doctor finds {count}</summary>{listed}</details>"


def _unknown(recording: Recording, told: dict[int, Told | None]) -> list[str]:
    """What cannot be told of each agent's requests, from its last one: there most is known to be missing.

    What is the same for several agents is said once.
    """
    last: dict[str, int] = {}
    for event, one in told.items():
        if one is not None:
            last[one.agent] = event
    said: dict[str, list[str]] = {}
    for agent, event in last.items():
        for sentence in recording.request_before(event).unknown:
            said.setdefault(sentence.replace(one_line(agent, 60), "\0"), []).append(agent)
    return [sentence.replace("\0", ", ".join(agents)) for sentence, agents in said.items()]


# --------------------------------------------------------------------------------------------------------------- events


def _sections(recording: Recording, heads: Sequence[str], blocks: dict[int, str], widest: int) -> Iterable[str]:
    numbers = turns(recording.events)
    now = None
    for i, event in enumerate(recording.events):
        if numbers[i] != now:
            now = numbers[i]
            label = f"Turn {now}" if now else "Before the first turn"
            yield f'<h2 id="turn{now}">{label}</h2>'
        yield heads[i]
        yield f'<div class="said">{_e(_words(event, widest))}</div>'
        yield _also(event)
        yield blocks.get(i, "")
        yield "</article>\n"


def _event_head(recording: Recording, i: int) -> str:
    event = recording.events[i]
    kind = event_kind(event)
    notes = [*(["chunk"] if event.partial else []), *event_notes(event)]
    if event.branch:
        notes.append(f"branch {one_line(event.branch, 80)}")
    if event.isolation_scope:
        notes.append(f"scope {one_line(event.isolation_scope, 80)}")
    if event.actions.state_delta and kind != "state":
        notes.append("writes " + one_line(", ".join(event.actions.state_delta), 80))
    tail = f" <small>{_e(' · '.join(notes))}</small>" if notes else ""
    side = "u" if event.author == "user" else "a"
    author = one_line(event.author, 60) or "(no author)"
    return f'<article id="e{i}" class="{side}"><b>{i}</b> <i>{_e(author)}</i> <em>{kind}</em>{tail}'


def _words(event: Event, widest: int) -> str:
    """What an event says, its line breaks kept; cut to `widest` characters."""
    texts = part_texts(event.content) if event.content is not None and event.content.parts else []
    if not texts or widest <= 400:
        return made_visible(event_text(event, min(widest, 400)))
    dash = "– " if len(texts) > 1 else ""
    text = "\n".join(dash + one[:widest] for one in texts)
    lines = [made_visible(line) for line in text[: widest + 1].replace("\r\n", "\n").split("\n")]
    shown = "\n".join(lines)
    return shown if len(text) <= widest and len(shown) <= widest else shown[: widest - 1].rstrip() + "…"


def _also(event: Event) -> str:
    """What adknb does not know of an event."""
    unread = ", ".join(f"{path}: {compact(value)}" for path, value in unread_fields(event).items())
    return f'<p class="also">also stored with it: {_e(one_line(unread, 300))}</p>' if unread else ""


def _details(summary: str, inner: str) -> str:
    return f"<details><summary>{_e(summary)}</summary>{inner}</details>"


def _prose(sentence: str) -> str:
    """A sentence of ours: what stands in backticks is code."""
    return re.sub(r"`([^`]*)`", r"<code>\1</code>", _e(sentence))


def _e(value: Any) -> str:
    return escape(_whole(str(value)))


def _whole(text: str) -> str:
    """Half a surrogate pair cannot be written as UTF-8: shown as an escape."""
    if text.isascii():
        return text
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
