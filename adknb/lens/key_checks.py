"""Why does my key hold "#"? The eight checks of seed 003, run over the events of a run.

An *answer* is what one agent says without a break: its chunks and complete texts, one behind the other, in one turn,
branch and scope. Marked chunks and one complete text behind them are as it should be; several complete texts that do
not stand by themselves are fragments that an adapter has left unmarked.

Source: seed 003, 排查 checklist; spec/streaming.md §15.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from adknb.engine.event import Event, function_calls_of, function_responses_of, visible_text_of

XML = "<mxfile"
CLOSING = tuple("。，、；：！？.,;:!?)]}）】」』”")
"""Characters that end something: no text of its own begins with one."""
OPEN_TAG = re.compile(r"<[A-Za-z/!?][^<>]*$")
"""A tag that is not closed at the end of a text."""


@dataclass(frozen=True)
class KeyCheck:
    """One of the eight. `ok` is None where nothing is wrong and something is yours to decide, or cannot be known.

    `found` says what was seen, `events` are the positions of the events concerned.
    """

    number: int
    name: str
    ok: bool | None
    found: str
    events: tuple[int, ...] = ()

    def __str__(self) -> str:
        """`2 fragments are marked partial: no. …`."""
        verdict = {True: "yes", False: "no", None: "look"}[self.ok]
        return f"{self.number} {self.name}: {verdict}. {self.found}"


@dataclass
class Answer:
    """What one agent says without a break: positions of its chunks and of its complete texts."""

    author: str
    chunks: list[int] = field(default_factory=list)
    wholes: list[int] = field(default_factory=list)
    ends_in_a_call: bool = False
    """Whether the complete response behind its chunks makes calls."""


@dataclass
class Run:
    """The events with what the checks ask of them: texts, answers, and those answers that are in fragments."""

    events: list[Event]
    state: Mapping[str, Any] | None
    texts: list[str] = field(default_factory=list)
    answers: list[Answer] = field(default_factory=list)
    broken: list[Answer] = field(default_factory=list)

    @property
    def fragments(self) -> list[int]:
        """The complete texts that are none."""
        return [at for answer in self.broken for at in answer.wholes]


def key_checks(x: Any, state: Mapping[str, Any] | None = None) -> list[KeyCheck]:
    """The eight checks, in the article's order.

    `x` are events or their JSON, chunks included if there are any; or what has events and a state: a Stepper, a
    session, a Recording. Without a state the fifth cannot be known.

        for check in key_checks(dbg): print(check)

    Raises:
        BadData: JSON that is no event.

    Source: seed 003, 排查 checklist.
    """
    if hasattr(x, "events"):
        x, state = x.events, getattr(x, "state", None) if state is None else state
    events = [e if isinstance(e, Event) else Event.from_json(e, f"events[{n}]") for n, e in enumerate(x)]
    run = Run(events, state, [visible_text_of(e.content) for e in events])
    run.answers = _answers(run)
    certain = [answer for answer in run.answers if _in_fragments(run, answer)]
    run.broken = [a for a in run.answers if (certain and len(a.wholes) > 1) or a in certain]  # one adapter
    return [check(run) for check in CHECKS]


# -------------------------------------------------------------------------------------------------- answers, fragments


def _answers(run: Run) -> list[Answer]:
    """The answers of a run, in order. Anything else that is said in their branch and scope ends one."""
    found: list[Answer] = []
    running: dict[tuple[str, str], tuple[tuple[str, str], Answer]] = {}
    for at, event in enumerate(run.events):
        place = (event.branch, event.isolation_scope)
        if event.content is None:
            continue
        if event.author == "user" or function_calls_of(event.content) or function_responses_of(event.content):
            if not event.partial and (over := running.pop(place, None)) is not None:
                over[1].ends_in_a_call = over[1].author == event.author
            continue
        if not run.texts[at]:
            continue
        who = (event.author, event.invocation_id)
        if place not in running or running[place][0] != who:
            running[place] = who, Answer(event.author)
            found.append(running[place][1])
        answer = running[place][1]
        if event.partial and answer.chunks and _closes(answer):  # the next answer of the same agent begins
            answer = Answer(event.author)
            running[place] = who, answer
            found.append(answer)
        (answer.chunks if event.partial else answer.wholes).append(at)
    return found


def _in_fragments(run: Run, answer: Answer) -> bool:
    """Whether its complete texts do not stand by themselves.

    One begins with a blank or with what ends a sentence, or goes on inside a tag; or each repeats the last one and a
    little more; or the last is all before it joined; or chunks follow it and nothing whole does.
    """
    said = [run.texts[at] for at in answer.wholes]
    if answer.chunks and answer.wholes and not _closes(answer):
        return True
    pairs = list(pairwise(said))
    return (
        any(later[0] in " \t" or later.startswith(CLOSING) for _, later in pairs)
        or any(OPEN_TAG.search(before) for before, _ in pairs)
        or any(later.startswith(before) and later != before for before, later in pairs)
        or (len(said) > 2 and said[-1] == "".join(said[:-1]))
    )


# ------------------------------------------------------------------------------------------------------------ the eight


def _told(run: Run) -> KeyCheck:
    said = [at for at, text in enumerate(run.texts) if text and run.events[at].author != "user"]
    told = "; ".join(f"{at} {run.events[at].author} {_kind(run.events[at])} {_short(run, at)}" for at in said)
    return KeyCheck(1, "author, partial, final and text are there to read", bool(said), told, tuple(said))


def _kind(event: Event) -> str:
    return "partial" if event.partial else "final" if event.is_final_response() else "complete"


def _marked(run: Run) -> KeyCheck:
    name = "fragments are marked partial"
    if run.fragments:
        said = ", ".join(_short(run, at) for at in run.fragments)
        told = f"events {_list(run.fragments)} are fragments and final: {said}"
        return KeyCheck(2, name, False, told, tuple(run.fragments))
    chunks = [at for answer in run.answers for at in answer.chunks]
    return KeyCheck(2, name, True, f"{len(chunks)} chunks are partial, no complete text is a fragment", tuple(chunks))


def _closed(run: Run) -> KeyCheck:
    name = "a complete answer closes each stream"
    open_ones = [a for a in run.answers if a.chunks and not _closes(a)] + [a for a in run.broken if not a.chunks]
    open_ones = [a for a in open_ones if a.chunks or not _last_is_whole(run, a)]
    if open_ones:
        who = ", ".join(dict.fromkeys(a.author for a in open_ones))
        at = tuple(sorted(i for a in open_ones for i in (*a.chunks, *a.wholes)))
        return KeyCheck(3, name, False, f"nothing complete follows what {who} says in pieces", at)
    wholes = [a.wholes[-1] for a in run.answers if a.wholes]
    return KeyCheck(3, name, True, f"{len(wholes)} answers, each complete", tuple(wholes))


def _closes(answer: Answer) -> bool:
    if answer.ends_in_a_call:
        return True
    return bool(answer.wholes) and max(answer.wholes) > max(answer.chunks)


def _last_is_whole(run: Run, answer: Answer) -> bool:
    """Whether the last of several complete texts is all of them: the key heals at the end."""
    *before, last = (run.texts[at] for at in answer.wholes)
    return last == "".join(before) or all(last.startswith(text) for text in before)


def _written_once(run: Run) -> KeyCheck:
    name = "the key is written by the complete answer only"
    writers = [
        (at, key)
        for at, event in enumerate(run.events)
        if not event.partial and run.texts[at]
        for key, value in event.actions.state_delta.items()
        if value == run.texts[at]
    ]
    wrong = [(at, key) for at, key in writers if at in run.fragments]
    if wrong:
        told = ", ".join(f"event {at} writes {key} = {_short(run, at)}" for at, key in wrong)
        return KeyCheck(4, name, False, told, tuple(at for at, _ in wrong))
    if not writers:
        return KeyCheck(4, name, None, "no event writes its own text under a key")
    told = ", ".join(f"event {at} writes {key}" for at, key in writers)
    return KeyCheck(4, name, True, told, tuple(at for at, _ in writers))


def _applied(run: Run) -> KeyCheck:
    name = "the append has applied the delta"
    last: dict[str, tuple[int, Any]] = {}
    for at, event in enumerate(run.events):
        if not event.partial:
            last.update({k: (at, v) for k, v in event.actions.state_delta.items() if not k.startswith("temp:")})
    if not last:
        return KeyCheck(5, name, None, "no event has a delta")
    if run.state is None:
        return KeyCheck(5, name, None, "the state is not given")
    missing = [(at, key) for key, (at, value) in last.items() if key not in run.state or run.state[key] != value]
    if missing:
        told = ", ".join(f"{key} is not what event {at} has written" for at, key in missing)
        return KeyCheck(5, name, False, told, tuple(at for at, _ in missing))
    return KeyCheck(
        5, name, True, f"the state has {', '.join(last)} as written last", tuple(at for at, _ in last.values())
    )


def _authors(run: Run) -> KeyCheck:
    name = "one agent speaks, so the screen needs no author filter"
    who = list(dict.fromkeys(answer.author for answer in run.answers))
    if len(who) > 1:
        told = f"{', '.join(who)} speak: show one with front.only_author"
        return KeyCheck(6, name, None, told, tuple(i for a in run.answers for i in (*a.chunks, *a.wholes)))
    return KeyCheck(6, name, True, f"{who[0]} alone" if who else "nobody speaks")


def _only_xml(run: Run) -> KeyCheck:
    name = "no prose stands before the XML"
    prose = []
    for answer in run.answers:
        pieces = answer.chunks or answer.wholes
        text = "".join(run.texts[at] for at in pieces)
        if text.find(XML) > 0:
            prose.append((answer, text[: text.find(XML)]))
    if prose:
        told = "; ".join(
            f"{a.author} says {_quoted(before)} first: drop it with front.XmlAssembler" for a, before in prose
        )
        return KeyCheck(7, name, None, told, tuple(i for a, _ in prose for i in (*a.chunks, *a.wholes)))
    return KeyCheck(7, name, True, "what there is of XML begins its answer" if _has_xml(run) else "there is no XML")


def _has_xml(run: Run) -> bool:
    return any(XML in "".join(run.texts[at] for at in answer.chunks or answer.wholes) for answer in run.answers)


def _usage(run: Run) -> KeyCheck:
    name = "usage figures are not taken for the cure"
    counted = tuple(at for at, event in enumerate(run.events) if event.usage_metadata is not None)
    if run.fragments and counted:
        told = f"events {_list(counted)} carry usage figures, and the fragments are unmarked all the same"
        return KeyCheck(8, name, False, told, counted)
    if run.fragments:
        return KeyCheck(8, name, None, "usage in the stream is off; turning it on would mark no fragment")
    return KeyCheck(8, name, True, "no fragment is unmarked, with usage figures or without", counted)


CHECKS = (_told, _marked, _closed, _written_once, _applied, _authors, _only_xml, _usage)


def _short(run: Run, at: int) -> str:
    return _quoted(run.texts[at])


def _quoted(text: str) -> str:
    return json.dumps(text if len(text) <= 24 else text[:23] + "…", ensure_ascii=False)


def _list(positions: Iterable[int] | Sequence[int]) -> str:
    return ", ".join(map(str, positions))
