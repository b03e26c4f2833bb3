"""What the model cannot see, and what it should not (spec/doctor.md, B)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from adknb.engine.processors.contents import event_belongs_to_branch
from adknb.lens.doctor.entry import Entry, id_of, ordinary
from adknb.lens.doctor.finding import ERROR, NOTE, WARNING, Sign, name, names, place
from adknb.lens.doctor.requests import Request
from adknb.lens.doctor.session import DoctorSession

# ---------------------------------------------------------------------------------------------------- branch and scope


def hidden_by_branch(session: DoctorSession) -> Iterator[Sign]:
    """A user's text is on a branch that none of its turn's requests sees (a); an earlier parallel group's answers (b).

    Members of one parallel agent are not meant to see each other; an empty branch is seen by all.
    Source: spec/doctor.md hidden-by-branch; R5.6
    """
    for entry, requests in session.once(_unseen_texts):
        if not requests[0].sees_branch(entry):
            branches = list(dict.fromkeys(request.viewer.branch for request in requests))
            yield Sign(
                [entry.at],
                {"branch": entry.branch, "requests": branches, "agents": _agents(requests)},
                f"The user's words in {place(entry.at)} are on branch {name(entry.branch)}, and the turn's requests "
                f"are on {names(branches)}: they are in no prompt of their turn.",
                "Store what the user says without a branch.",
                case="a",
                severity=ERROR,
            )
    yield from _earlier_groups(session)


def hidden_by_scope(session: DoctorSession) -> Iterator[Sign]:
    """A user's text is in an isolation scope that none of its turn's requests is in.

    Source: spec/doctor.md hidden-by-scope; R5.7, X11.10, X11.12, X14.11
    """
    for entry, requests in session.once(_unseen_texts):
        if requests[0].sees_branch(entry):
            scopes = list(dict.fromkeys(request.viewer.isolation_scope for request in requests))
            asked = " and ".join(_scope(scope) for scope in scopes)
            yield Sign(
                [entry.at],
                {"scope": entry.scope, "requests": scopes, "agents": _agents(requests)},
                f"The user's words in {place(entry.at)} are {_scope(entry.scope)}, the turn's requests {asked}: they "
                f"never reach {names(_agents(requests))}.",
                "End the open task, or look at what stamps the user's messages with a scope.",
            )


def _unseen_texts(session: DoctorSession) -> list[tuple[Entry, list[Request]]]:
    """The user's texts that branch or scope keeps from all of their turn's later requests, with these requests."""
    found = []
    for entry in session.full:
        if entry.by_user and entry.has_text and entry.record is None:
            later = [r for r in session.requests.by_turn.get(entry.turn, ()) if r.is_after(entry)]
            if later and not any(request.sees(entry) for request in later):
                found.append((entry, later))
    return found


def _scope(scope: str) -> str:
    return f"in scope {name(scope)}" if scope else "in no scope"


def _agents(requests: list[Request]) -> list[str]:
    return list(dict.fromkeys(request.agent for request in requests))


def _earlier_groups(session: DoctorSession) -> Iterator[Sign]:
    """Final texts of a parallel group that the members of a later one do not see; one for each viewing branch."""
    answers = [e for e in session.full if e.branch and e.final and e.has_text and e.author not in ("", "user")]
    by_turn: dict[int, list[Entry]] = {}
    for entry in answers:
        by_turn.setdefault(entry.turn, []).append(entry)
    hidden: dict[str, dict[int, Entry]] = {}
    for request in session.requests.built if answers else ():
        branch = request.viewer.branch
        earlier = answers if request.answer is None else by_turn.get(request.turn, [])
        for entry in earlier if branch else ():
            if request.is_after(entry) and entry.author != request.agent and _parted(branch, entry.branch):
                hidden.setdefault(branch, {})[entry.at] = entry
    for branch, entries in hidden.items():
        authors = list(dict.fromkeys(entry.author for entry in entries.values()))
        others = list(dict.fromkeys(entry.branch for entry in entries.values()))
        yield Sign(
            sorted(entries),
            {"branch": branch, "hidden": others, "authors": authors},
            f"On branch {name(branch)} the answers of {names(authors)} ({place(sorted(entries))}) are not seen: they "
            f"are on {names(others)}, another parallel group's.",
            "Hand results on by output key: a group's members see what is in the state, whatever the branch.",
            case="b",
            severity=WARNING,
        )


def _parted(viewing: str, other: str) -> bool:
    """Whether two branches part at a segment that is the last of neither, and no delegate runs on either."""
    if event_belongs_to_branch(viewing, other) or "@" in viewing or "@" in other:
        return False
    a, b = viewing.split("."), other.split(".")
    parting = next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
    return parting < len(a) - 1 and parting < len(b) - 1


# -------------------------------------------------------------------------------------------------------- the turn cut


def hidden_by_turn_cut(session: DoctorSession) -> Iterator[Sign]:
    """With include_contents `none` "the current turn" begins later than the user's does; the first for each agent.

    (b) it begins with a result whose call is cut away; (c) nothing is left; (a) the user's newest words are cut.
    Source: spec/doctor.md hidden-by-turn-cut; R5.2 to R5.4, R10.11, R10.12
    """
    told: set[str] = set()
    for request in session.requests.built:
        start = request.begins
        if start is None or request.agent in told or request.viewer.include_contents != "none":
            continue
        if start.record is not None or (start.by_user and start.full and not start.responses):
            continue  # compaction-hides-live-part speaks of records; the user's own message is as it should be
        sign = _cut_away(session, request, start)
        if sign is not None:
            told.add(request.agent)
            yield sign


def _cut_away(session: DoctorSession, request: Request, start: Entry) -> Sign | None:
    agent, began = name(request.agent), f"{place(start.at)} by {name(start.author)}"
    facts: dict[str, Any] = {"agent": request.agent, "starts": start.at, "by": start.author}
    for response in ordinary(start.responses):
        call = session.call_of(start, id_of(response))
        if call is not None and call[0].at < start.at:
            return Sign(
                [call[0].at, start.at],
                {**facts, "id": id_of(response), "call": call[0].at},
                f"For {agent}, with include_contents 'none', the current turn begins with the result in {began}: it is "
                f"sent alone, its call in {place(call[0].at)} is cut away.",
                "Use include_contents 'default' for an agent that waits for late results.",
                case="b",
                severity=ERROR,
            )
    if request.empty:
        return Sign(
            [start.at],
            facts,
            f"For {agent}, with include_contents 'none', the current turn begins with {began}, which shows nothing: "
            "the model is called with no contents at all.",
            "Pass the question by state, or use include_contents 'default'.",
            case="c",
            severity=ERROR,
        )
    said = [
        e for e in session.turns[request.turn] if e.by_user and e.has_text and request.sees(e) and request.is_after(e)
    ]
    if said and said[-1].at < start.at:
        return Sign(
            [said[-1].at, start.at],
            {**facts, "cut": said[-1].at},
            f"For {agent}, with include_contents 'none', another agent's last event begins the current turn: {began}. "
            f"The user's words in {place(said[-1].at)} are cut away.",
            "Pass the question by state, or use include_contents 'default'.",
            case="a",
            severity=WARNING,
        )
    return None


# --------------------------------------------------------------------------------------------------------------- roles


def role_refused(session: DoctorSession) -> Iterator[Sign]:
    """A content has a role that no provider takes (a) or none (b), or calls come where a provider wants no model (c).

    Source: spec/doctor.md role-refused; R5.5, R5.27, X1.8
    """
    for entry in session.full:
        if entry.role not in ("", "user", "model"):
            yield Sign(
                [entry.at],
                {"role": entry.role, "author": entry.author},
                f"{place(entry.at).capitalize()} of {name(entry.author)} has the role {name(entry.role)}; roles are "
                "sent as they are, and providers take only 'user' and 'model'.",
                "Have the writer of the session use 'model' for what agents say and 'user' for the rest.",
                case="a",
                severity=ERROR,
            )
        elif not entry.role and not entry.transcribed:
            yield Sign(
                [entry.at],
                {"role": "", "author": entry.author},
                f"{place(entry.at).capitalize()} of {name(entry.author)} has a content without a role, so it is left "
                "out of every request.",
                "Write the role: under a workflow root nobody adds it to what a model or callback left without one.",
                case="b",
                severity=ERROR,
            )
    for at, words in sorted(session.requests.odd.items()):
        before = "nothing" if words is None else f"the words of {place(words)}"
        yield Sign(
            [at],
            {"before": None if words is None else words, "author": session.entries[at].author},
            f"In a request the calls of {place(at)} come "
            + ("first of all" if words is None else f"right behind {before}, another model content")
            + "; some providers want a user's or a tool's content before calls.",
            "Let text and calls stand in one content, or let a user's message come first.",
            case="c",
            severity=NOTE,
        )


# ------------------------------------------------------------------------------------------------------- other agents'


def thoughts_reach_other_agent(session: DoctorSession) -> Iterator[Sign]:
    """Another agent's request holds a thought, told as plain words.

    Source: spec/doctor.md thoughts-reach-other-agent; R5.10, R10.13
    """
    for entry, readers in _told_to_others(session):
        if any(part.thought and part.text for part in entry.parts):
            yield Sign(
                [entry.at],
                {"author": entry.author, "readers": readers},
                f"The thoughts of {name(entry.author)} in {place(entry.at)} are told to {names(readers)} as plain "
                f"words: [{entry.author}] said: …",
                "Take thoughts out before the event is stored, or narrow include_contents of the readers.",
            )


FORGED = re.compile(
    r"^(?:For context:[ \t\r]*$|\[[^\]\n]+\] (?:said: |called tool `|`[^`\n]*` tool returned result: ))", re.MULTILINE
)
"""A line that reads like the framework's own (R5.10)."""


def forged_context(session: DoctorSession) -> Iterator[Sign]:
    """What another agent relays holds a line that reads like the framework's framing.

    Source: spec/doctor.md forged-context; R5.10
    """
    for entry, readers in _told_to_others(session):
        if any(map(FORGED.search, _texts(entry))):
            yield Sign(
                [entry.at],
                {"author": entry.author, "readers": readers},
                f"{place(entry.at).capitalize()} of {name(entry.author)} holds a line that reads like the framework's "
                f"own framing; {names(readers)} cannot tell it from what another agent really said.",
                "Fence what is relayed from outside, or leave it out.",
            )


def _told_to_others(session: DoctorSession) -> Iterator[tuple[Entry, list[str]]]:
    """Events that requests of other agents hold, reworded, with these agents."""
    for at, readers in sorted(session.requests.readers.items()):
        yield session.entries[at], list(readers)


def _texts(entry: Entry) -> Iterator[str]:
    """The texts of an event, and those in arguments and results."""
    for part in entry.parts:
        if part.text:
            yield part.text
        if part.function_call is not None:
            yield from _strings(part.function_call.args)
        if part.function_response is not None:
            yield from _strings(part.function_response.response)


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, (dict, list)):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _strings(item)
