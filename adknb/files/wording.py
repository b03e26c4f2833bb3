"""Reasons in a reader's words: the engine's sentences where a file needs others, and parts that could not be read.

The engine sees a part of a kind it does not know as an empty one. Said like that it would mislead: the model may well
have been given it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from adknb.engine.copies.frozen import is_set
from adknb.engine.event import Event, parts_of
from adknb.lens.words import one_line

if TYPE_CHECKING:
    from adknb.engine.processors.contents import Fate, Reason

EMPTY_RULES = {"R5.28", "R5.29"}
"""Rules by which empty parts, and contents without any other, are not sent."""

REWORDED_RULES = {"R5.5", "R5.10", *EMPTY_RULES}
"""Rules whose sentences are put in other words here."""


def unknown_parts(event: Event) -> dict[int, list[str]]:
    """The parts of which nothing was read, with the names of their fields: {0: ["weird"]}."""
    parts = parts_of(event.content)
    found: dict[int, list[str]] = {}
    for path, value in event.extra.items():
        place = path.split("/", 3)
        if len(place) < 4 or place[:2] != ["content", "parts"] or value in (None, "", [], False):
            continue
        at = int(place[2]) if place[2].isdecimal() else len(parts)
        if at < len(parts) and not is_set(parts[at]):
            found.setdefault(at, []).append(place[3])
    return found


def unknown_kinds(event: Event) -> str:
    """What an event holds that was not read: "a part of a kind adknb does not know (`weird`)"; "" if nothing."""
    parts = unknown_parts(event)
    if not parts:
        return ""
    names = ", ".join(dict.fromkeys(f"`{one_line(name, 40)}`" for fields in parts.values() for name in fields))
    which = "a part of a kind" if len(parts) == 1 else f"{len(parts)} parts of kinds"
    return f"{which} adknb does not know ({names})"


def in_plain_words(fate: Fate, event: Event) -> Fate:
    """The fate with its reasons reworded where the engine's words say too little about a file."""
    if all(reason.rule not in REWORDED_RULES for reason in fate.reasons):
        return fate
    reasons: list[Reason] = []
    for reason in fate.reasons:
        if reason.rule == "R5.5":
            reason = reason._replace(why=reason.why.replace("no content to send: there is none", "no content"))
        elif reason.rule == "R5.10" and not event.author:
            _, _, told = reason.why.partition(": ")
            reason = reason._replace(why=f"an event without author counts as another agent's: {told}")
        elif reason.rule in EMPTY_RULES and (kinds := unknown_kinds(event)):
            they, them = ("it was", "it") if len(unknown_parts(event)) == 1 else ("they were", "them")
            why = f"event {fate.event} holds {kinds}: {they} not read, and the real request may have had {them}"
            reason = reason._replace(why=why)
        reasons.append(reason)
    return fate._replace(reasons=tuple(reasons))


def not_read(fates: Sequence[Fate], events: Sequence[Event]) -> list[str]:
    """What cannot be told because parts were not read: a sentence for each event that would else have been sent."""
    said = []
    for fate, event in zip(fates, events, strict=True):
        if event.extra and any(reason.rule in EMPTY_RULES for reason in fate.reasons):
            kinds = unknown_kinds(event)
            if not kinds:
                continue
            them = "it" if len(unknown_parts(event)) == 1 else "them"
            said.append(
                f"All that event {fate.event} says: it holds {kinds}, not read here; the real request may have had "
                f"{them}."
            )
    return said
