"""A rebuilt request in plain words, for a terminal.

First what the model was given, then what it was not given and why: that order answers *what did it see* and *why is my
message not in it*. What went in unchanged is one line; what one cannot know comes last.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from adknb.files.beside import sent_lines, settings_lines
from adknb.files.full import contents_in_full, parts_in_full
from adknb.files.whose import is_model_event
from adknb.files.wording import unknown_kinds
from adknb.lens.table import event_kind, event_text, part_texts, turns, unread_fields
from adknb.lens.words import cells, compact, named, one_line, pad, positions, wrap

if TYPE_CHECKING:
    from adknb.engine.processors.contents import Added, Fate, Reason
    from adknb.files.rebuild import Rebuilt

KINDS = {
    "kept": "kept",
    "reworded": "reworded",
    "merged": "merged",
    "moved": "moved",
    "summarised": "summarised",
    "left_out": "left out",
}
"""A fate's kind, as it is said."""

MOST_CONTENTS = 60
"""More contents than this are folded in the middle."""

MOST_EVENTS = 14
"""More events with one and the same fate than this are folded in the middle."""

LINES_A_CONTENT = 4
"""More parts than this are counted, not shown."""

UNREMARKABLE = {"R5.27", "R5.30"}
"""Rules by which an event goes in as it stands: copied, with the ids taken off that ADK made up."""

SAYING = {"message", "text", "call", "answer", "speech", "file", "code", "ask"}
"""Kinds of events that one would miss."""


LEGEND = "R5.x: the deciding rule of assembly; adknb/engine/processors/contents lists them."


def explanation(rebuilt: Rebuilt, width: int = 100, full: bool = False) -> str:
    """The whole explanation, in lines of at most `width` cells (60 at least); `full`: no content is cut or folded."""
    width = max(width, 60)
    blocks = [heading(rebuilt, width), _answer(rebuilt, width, full)]
    if rebuilt.problem:
        blocks.append(_problem(rebuilt, width))
    else:
        blocks += [
            settings_lines(rebuilt, width, full),
            contents_in_full(rebuilt, width) if full else _contents(rebuilt, width),
            sent_lines(rebuilt, width),
            _not_in_it(rebuilt, width),
            _changed(rebuilt, width),
            _kept(rebuilt, width),
        ]
    blocks.append(_unknown(rebuilt, width))
    if any("(R5." in line for block in blocks[2:] for line in block):
        blocks.append(wrap(LEGEND, width))
    return "\n\n".join("\n".join(block) for block in blocks if block)


def heading(rebuilt: Rebuilt, width: int = 100) -> list[str]:
    """Whose request it is, when it was made, why, and from where it sees."""
    agent = one_line(rebuilt.agent, 40)
    answer = answered_by(rebuilt)
    if rebuilt.answered:
        question = f"What {agent} was given before it wrote event {rebuilt.event}"
    elif is_model_event(rebuilt.all_events, rebuilt.event):
        question = f"What {agent} would have been given just before event {rebuilt.event}"
    elif answer is not None:
        question = f"What {agent} was given next, after event {rebuilt.event}; event {answer} is its answer"
    else:
        question = f"What {agent} would be given next, after event {rebuilt.event}"
    turn_of = turns(rebuilt.all_events)
    turn = turn_of[rebuilt.event]
    last = len(rebuilt.all_events) - 1
    has = f"the file has events 0–{last}" if last else "the file has event 0 only"
    place = [f"{rebuilt.name} ({has})" if rebuilt.name else has, f"turn {turn}" if turn else "before the first turn"]
    if rebuilt.answered or answer is not None:
        place.append(f"step {_step(rebuilt, turn_of)} of {agent}")
    if rebuilt.branch:
        place.append(f"on branch {one_line(rebuilt.branch)}")
    if rebuilt.scope:
        place.append(f"in scope {one_line(rebuilt.scope)}")
    return [*wrap(question, width), *wrap(", ".join(place), width)]


def answered_by(rebuilt: Rebuilt) -> int | None:
    """The event that answers this very request, if the file shows one: the next event, written by this agent."""
    if rebuilt.answered:
        return rebuilt.event
    events, at = rebuilt.all_events, rebuilt.before
    if at < len(events) and events[at].author == rebuilt.agent and is_model_event(events, at) and at != rebuilt.event:
        return at
    return None


def _step(rebuilt: Rebuilt, turn_of: list[int]) -> int:
    """Which call of this agent's model in this turn it is, from 1."""
    now = turn_of[rebuilt.event]
    written = (i for i in range(rebuilt.before) if turn_of[i] == now and rebuilt.events[i].author == rebuilt.agent)
    return 1 + sum(1 for i in written if is_model_event(rebuilt.all_events, i))


def _answer(rebuilt: Rebuilt, width: int, full: bool = False) -> list[str]:
    """The event that was asked about."""
    event = rebuilt.all_events[rebuilt.event]
    author = one_line(event.author or "(no author)", 40)
    lines = part_texts(event.content)[:LINES_A_CONTENT] or [event_text(event)]
    if event_kind(event) not in SAYING and (kinds := unknown_kinds(event)):
        lines = [f"({kinds})"]
    shown = [line for text in lines for line in wrap(one_line(text, 3 * width - 20), width - 2)]
    if full and event.content is not None and event.content.parts:
        shown = parts_in_full(event.content, width - 2)
    unread = ", ".join(f"{path}: {compact(value)}" for path, value in unread_fields(event).items())
    also = [f"(also stored with it: {unread})"] if unread else []
    shown += [line for said in also for line in wrap(one_line(said, 2 * width - 20), width - 2)]
    return [f"event {rebuilt.event}, {author}:", *(line.rstrip() for line in _indent(shown))]


def _problem(rebuilt: Rebuilt, width: int) -> list[str]:
    said = one_line(rebuilt.problem).rstrip(".") + "."
    if rebuilt.answered and "ADK-Go" in said:
        said += " The file has an answer all the same, so what ran was not ADK-Go with these events."
    return ["THE REQUEST CANNOT BE BUILT", *_indent(wrap(said, width - 2))]


def _contents(rebuilt: Rebuilt, width: int) -> list[str]:
    contents = rebuilt.contents
    if not contents:
        return ["THE CONTENTS OF THE REQUEST: none; the model is called with nothing to read"]
    origin = sources(rebuilt)
    rows = list(range(len(contents)))
    folded = range(0)
    if len(rows) > MOST_CONTENTS:
        folded = range(10, len(rows) - MOST_CONTENTS + 10)
        rows = [i for i in rows if i not in folded]
    left = max(len("content"), *(len(str(i)) for i in rows))
    middle = max(len("event"), *(len(origin[i]) for i in rows))
    role = max(len("role"), *(cells(one_line(contents[i].role or "–", 12)) for i in rows))
    indent = 2 + left + 2 + middle + 2 + role + 2
    lines = [count_of(rebuilt)]
    lines.append(f"  {'content':>{left}}  {'event':>{middle}}  {pad('role', role)}  text")
    for i in rows:
        if folded and i == folded.stop:
            lines.append(f"  {'…':>{left}}  contents {folded.start}–{folded.stop - 1} not shown")
        parts = part_texts(contents[i]) or ["(no parts)"]
        if len(parts) > LINES_A_CONTENT:
            parts = [*parts[: LINES_A_CONTENT - 1], f"(+{len(parts) - LINES_A_CONTENT + 1} more parts)"]
        shown = [one_line(part, width - indent) for part in parts]
        head = f"  {i:>{left}}  {origin[i]:>{middle}}  {pad(one_line(contents[i].role or '–', 12), role)}  "
        lines.append(head + shown[0])
        lines += [" " * indent + more for more in shown[1:]]
    lines += _indent(line for added in rebuilt.added for line in wrap(added_text(added), width - 2))
    return [line.rstrip() for line in lines]


def count_of(rebuilt: Rebuilt) -> str:
    """How many contents there are, and whether that is all."""
    gone = sum(1 for fate in rebuilt.fates if fate.kind in ("left_out", "summarised"))
    changed = sum(1 for fate in rebuilt.fates if not is_unremarkable(fate)) - gone
    said = ", ".join([f"{gone} not in it"] * bool(gone) + [f"{changed} changed"] * bool(changed))
    events = "1 event" if rebuilt.before == 1 else f"{rebuilt.before} events"
    return f"THE CONTENTS OF THE REQUEST: {len(rebuilt.contents)}, from {events}{f' ({said})' if said else ''}"


def sources(rebuilt: Rebuilt) -> list[str]:
    """For each content the events it stems from, as the middle column says it."""
    by_content: dict[int, list[int]] = {}
    for fate in rebuilt.fates:
        if fate.kind != "summarised":
            for content in fate.contents:
                by_content.setdefault(content, []).append(fate.event)
    return [positions(by_content[i]) if i in by_content else "added" for i in range(len(rebuilt.contents))]


def _not_in_it(rebuilt: Rebuilt, width: int) -> list[str]:
    gone = [fate for fate in rebuilt.fates if fate.kind in ("left_out", "summarised")]
    if not gone:
        return ["NOT IN IT", "  nothing: every earlier event is in the contents"] if rebuilt.fates else []
    return ["NOT IN IT", *_entries(rebuilt, gone, width)]


def _changed(rebuilt: Rebuilt, width: int) -> list[str]:
    changed = [f for f in rebuilt.fates if f.kind not in ("left_out", "summarised") and not is_unremarkable(f)]
    return ["IN IT, BUT NOT AS IT WAS STORED", *_entries(rebuilt, changed, width)] if changed else []


def _kept(rebuilt: Rebuilt, width: int) -> list[str]:
    kept = [fate.event for fate in rebuilt.fates if is_unremarkable(fate)]
    if not kept:
        return []
    return ["IN IT AS STORED", *_indent(wrap(named("event", kept), width - 2))]


def _unknown(rebuilt: Rebuilt, width: int) -> list[str]:
    lines = ["WHAT THE FILE CANNOT TELL"]
    for sentence in rebuilt.unknown:
        first, *others = wrap(sentence, width - 4)
        lines += [f"  · {first}", *(f"    {line}" for line in others)]
    return lines


def _entries(rebuilt: Rebuilt, fates: Sequence[Fate], width: int) -> list[str]:
    """Events with what they say, and below them what became of them; those with one reason stand together.

    What the user said comes first. Events that say nothing are only counted up.
    """
    groups: dict[tuple[bool, str], list[Fate]] = {}
    for fate in fates:
        event = rebuilt.events[fate.event]
        saying = event_kind(event) in SAYING or bool(unknown_kinds(event))
        reasons = [r for r in fate.reasons[1:] if r.rule not in UNREMARKABLE]
        said = ". Also: ".join(reason_text(reason) for reason in (fate.reasons[0], *reasons))
        groups.setdefault((saying, f"{KINDS[fate.kind]}\n{said}"), []).append(fate)

    def order(item: tuple[tuple[bool, str], list[Fate]]) -> tuple[bool, bool, int]:
        (saying, _), group = item
        return (not saying, all(rebuilt.events[f.event].author != "user" for f in group), group[0].event)

    lines: list[str] = []
    for (saying, key), group in sorted(groups.items(), key=order):
        kind, said = key.split("\n", 1)
        at = [fate.event for fate in group]
        if saying:
            column = len(f"event {at[-1]}")
            folded = at[4:-6] if len(at) > MOST_EVENTS else []
            for i in at:
                head = f"  {f'event {i}':<{column}}  "
                if i not in folded:
                    lines.append(head + _said_by(rebuilt, i, width - len(head)))
                elif i == folded[0]:
                    lines += _indent(wrap(f"… and {len(folded)} more: {named('event', folded)}", width - 2))
        else:
            lines += _indent(wrap(f"{named('event', at)}: {_what_they_are(rebuilt, at)}", width - 2))
        contents = sorted({content for fate in group for content in fate.contents})
        where = f", {named('content', contents)}" if contents else ""
        lines += _indent(wrap(f"{kind}{where}: {said}", width - 6), by=6)
    return lines


def _said_by(rebuilt: Rebuilt, i: int, width: int) -> str:
    """An event in one line. Whose it is goes without saying for what the agent itself calls and is answered."""
    event = rebuilt.events[i]
    own = event.author == rebuilt.agent and event_kind(event) in ("call", "answer")
    who = "" if own else f"{one_line(event.author or '(no author)', 30)}: "
    if event_kind(event) not in SAYING and (kinds := unknown_kinds(event)):
        return who + one_line(f"({kinds})", width - cells(who))
    return who + event_text(event, width - cells(who))


def _what_they_are(rebuilt: Rebuilt, at: list[int]) -> str:
    """What silent events did, in words: `state only (_time)`."""
    events = [rebuilt.events[i] for i in at]
    kinds = sorted({event_kind(e) for e in events})
    keys = list(dict.fromkeys(key for e in events for key in e.actions.state_delta))
    if kinds == ["state"]:
        return f"only state ({one_line(', '.join(keys), 60)})"
    if len(events) == 1:
        return event_text(events[0], 80)
    return "/".join(kinds)


def added_text(added: Added) -> str:
    """Where a content comes from that no event stands behind."""
    return f"content {added.content} comes from no event: {one_line(added.why)} ({added.rule})"


def is_unremarkable(fate: Fate) -> bool:
    """Whether an event is in the contents as it was stored."""
    return fate.kind == "kept" and all(reason.rule in UNREMARKABLE for reason in fate.reasons)


def reason_text(reason: Reason) -> str:
    """A reason as a sentence with its rule: `its branch a.b is not visible (R5.6)`."""
    return one_line(reason.why) + (f" ({reason.rule})" if reason.rule else "")


def _indent(lines: Iterable[str], by: int = 2) -> list[str]:
    return [" " * by + line for line in lines]
