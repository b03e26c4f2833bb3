"""What a recorded session cannot tell about a request: one plain sentence each, and only those that apply."""

from __future__ import annotations

from collections.abc import Sequence

from adknb.engine.event import Event
from adknb.files.delegates import Seed
from adknb.files.glance import Glance
from adknb.files.whose import Question, is_model_event
from adknb.lens.words import named, one_line


def what_the_file_cannot_tell(
    events: Sequence[Event],
    question: Question,
    seed: Seed | None,
    seen: Glance,
    defined: Sequence[str] | None = None,
    sent: bool = False,
) -> list[str]:
    """The gaps between the rebuilt contents and the request that was sent: this file's first, then the usual ones.

    `defined`: what an attached definition leaves open; None where there is none. `sent`: the file has the request as it
    was really sent.

    Example: ["include_contents of desk: taken as unset, …", "The system instruction, the tools and the settings …"]
    """
    agent = one_line(question.agent, 60)
    unknown = [*_name(agent, seen), *_ids(question.before, seen), *_beginning(events, question.before, seen)]
    unknown += _compaction(seen)
    if defined is not None:
        unknown += defined
    else:
        unknown += _definition(agent, question, seed)[: -1 if sent else None]
    if not question.answered:
        unknown += _next_call(events, question)
    return [one_line(sentence) for sentence in unknown]


def _definition(agent: str, question: Question, seed: Seed | None) -> list[str]:
    said = []
    if question.scope:
        said.append(f"The mode of {agent}: taken as task, since its events stand in scope {question.scope!r}.")
    shown = "it sees its own run only; with `default` it sees" if seed is not None else "it sees"
    said.append(
        f"include_contents of {agent}: taken as unset, so {shown} the whole history"
        + ("." if seed is not None else "; with `none` it sees the current turn only.")
    )
    said.append(
        f"The system instruction, the tools and the settings of {agent}, and what callbacks or plugins changed on the "
        "way to the model: the file holds no agent definition."
    )
    return said


def _name(agent: str, seen: Glance) -> list[str]:
    if seen.agents:
        return []
    return [f"Whether {agent} is an agent of this session: no agent speaks in the file, so any name is taken."]


def _compaction(seen: Glance) -> list[str]:
    if not seen.records:
        return []
    named_ones = named("event", seen.records)
    said = [f"Whether compaction was on: taken so, for the file holds summary records ({named_ones})."]
    if seen.untimed:
        said.append("What the summaries cover: it goes by time, and some events have none.")
    return said


def _ids(before: int, seen: Glance) -> list[str]:
    """Calls without ids: ADK gives every call one, so the export may have lost them, and then it misleads."""
    bare = [i for i in seen.bare_calls if i < before]
    if len(bare) < 2:
        return []
    return [
        f"Whether the calls in {named('event', bare)} had ids when this ran: the file has none. As it stands, "
        "calls without an id all show the last answer without an id (R5.25); with ids each shows its own."
    ]


def _beginning(events: Sequence[Event], before: int, seen: Glance) -> list[str]:
    """Signs that the file begins in the middle of a conversation."""
    said = []
    first = seen.first_full
    if first is not None and first < before and events[first].author != "user":
        said.append(f"What was said before event {first}: the file does not begin with a message of the user.")
    orphans = sorted({i for i, call in seen.early_answers if i < before <= call})
    if orphans:
        said.append(f"Which calls were answered by {named('event', orphans)}: no event before holds them.")
    return said


def _next_call(events: Sequence[Event], question: Question) -> list[str]:
    """The request was not necessarily made, or saw more than this: what the next model event says about that."""
    after = range(question.before, len(events))
    following = next((i for i in after if i != question.event and is_model_event(events, i)), None)
    if following is None:
        return ["Whether this call was ever made: no model event follows."]
    if events[following].author != question.agent:
        return [f"Whether this call was ever made: the next model event, {following}, is {events[following].author}'s."]
    if following == question.before:
        return []
    between = named("event", range(question.before, following))
    return [f"Whether this call was made now: the next model event is {following}, and {between} came before it."]
