"""Calls and answers (spec/doctor.md, A)."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator
from typing import Any

from adknb.engine.processors.contents import event_belongs_to_branch
from adknb.lens.doctor.entry import PROTOCOL, Call, Entry, id_of, name_of, ordinary
from adknb.lens.doctor.finding import ERROR, WARNING, Sign, count, name, names, place
from adknb.lens.doctor.handing import never_run
from adknb.lens.doctor.session import DoctorSession


def orphan_response(session: DoctorSession) -> Iterator[Sign]:
    """A response has an id that no call of the session has, wherever, whenever and by whomever it might be made.

    One for each id. A call that stands later, or out of sight, keeps it from being an orphan.
    Source: spec/doctor.md orphan-response; R5.15
    """
    made = set(session.calls) | {id_of(call) for chunk in session.chunks for call in chunk.calls}
    for call_id, answers in session.answers.items():
        orphans = [(entry, response) for entry, response in answers if response.name not in PROTOCOL]
        if not call_id or call_id in made or not orphans:
            continue
        tool = name_of(orphans[0][1])
        lost, kept = _words_beside(orphans, call_id)
        also = " with the words in the same part" if lost else ""
        stays = " The words beside it stay." if kept and not lost else ""
        yield Sign(
            [entry.at for entry, _ in orphans],
            {"id": call_id, "tool": tool, "words": "lost" if lost else "kept" if kept else "none"},
            f"No event makes the call {name(call_id)} that the result of {name(tool)} in "
            f"{place([entry.at for entry, _ in orphans])} answers, so it is dropped from every request{also}.{stays}",
            "Find what sends a result twice, or into the wrong session; the call belongs before it under the same id.",
        )


def _words_beside(orphans: list[tuple[Entry, Any]], call_id: str) -> tuple[bool, bool]:
    """Whether words stand in a part of the response (they are lost), or only in its event (they are kept)."""
    lost = kept = False
    for entry, _ in orphans:
        for part in entry.parts:
            holds = part.function_response is not None and id_of(part.function_response) == call_id
            if part.text and part.text.strip() and not part.thought:
                lost, kept = lost or holds, kept or not holds
    return lost, kept


def unanswered_call(session: DoctorSession) -> Iterator[Sign]:
    """A call has no response: none of its id anywhere, none without id of its name later. One for each call.

    Rightly waiting: long-running calls, a task at work and what stands beside it, calls of the protocol.
    Source: spec/doctor.md unanswered-call; R5.24, X1.7, C5.6
    """
    reported = {id(call) for _, calls in session.once(never_run) for call in calls}
    for entry in session.counted:
        for call in ordinary(entry.calls):
            if not session.is_answered(entry, call) and id(call) not in reported and not _waits(session, entry, call):
                follows = bool(session.full) and session.full[-1].at > entry.at
                rest = "and the talk went on without it" if follows else "and the session ends there"
                yield Sign(
                    [entry.at],
                    {"tool": name_of(call), "id": id_of(call), "agent": entry.author, "followed": follows},
                    f"The call {name(id_of(call))} of {name(name_of(call))} by {name(entry.author)} has no result, "
                    f"{rest}. It is sent without an answer, which providers refuse, and compaction stops at it.",
                    "Look for a reader that stopped, or a crash, between the call and its result; append a response.",
                )


def _waits(session: DoctorSession, entry: Entry, call: Call) -> bool:
    """Whether a call without response waits rightly."""
    call_id = id_of(call)
    defined = session.definition(entry.author)
    if (call_id and call_id in entry.long_running) or (defined is not None and defined.tools.get(name_of(call))):
        return True
    if call_id and call_id in session.scopes:
        return True
    return any(id_of(c) in session.scopes and not session.is_answered(entry, c) for c in entry.calls if c is not call)


def mixed_up_ids(session: DoctorSession) -> Iterator[Sign]:
    """One id stands on two calls (a), or one event answers calls of two events (b).

    Chunks do not count, nor does an event that was loaded twice. Two answers of the protocol may share a message.
    Source: spec/doctor.md mixed-up-ids; R5.18, R5.25, X14.3
    """
    for call_id, calls in session.calls.items():
        if call_id and _made_twice(calls):
            places = sorted({entry.at for entry, _ in calls})
            asks = any(call.name in PROTOCOL for _, call in calls)
            harm = "one approval then runs a tool twice, or never" if asks else "both then show the last answer"
            yield Sign(
                places,
                {"ids": [call_id], "tools": _tools(call for _, call in calls)},
                f"The id {name(call_id)} stands on {count(len(calls), 'call')} ({place(places)}); {harm}.",
                "Give every call an id of its own.",
                case="a",
            )
    for entry in session.counted:
        answered = [(response, session.call_of(entry, id_of(response))) for response in ordinary(entry.responses)]
        called = [(r, call) for r, call in answered if call is not None and call[1].name not in PROTOCOL]
        callers = {_identity(caller): caller.at for _, (caller, _) in called}
        if len(callers) > 1:
            yield Sign(
                [entry.at, *callers.values()],
                {
                    "ids": [id_of(response) for response, _ in called],
                    "tools": _tools(response for response, _ in called),
                },
                f"{place(entry.at).capitalize()} answers calls of {place(list(callers.values()))} together: it is sent "
                "once behind each of them, or, at the end of the history, the request cannot be built.",
                "Answer the calls of each event in an event of their own.",
                case="b",
            )


def _made_twice(calls: list[tuple[Entry, Call]]) -> bool:
    """Whether several calls are meant: in two events, of which equal event ids count once, or twice in one."""
    times = Counter((entry.at, _identity(entry)) for entry, _ in calls)
    return len({identity for _, identity in times}) > 1 or max(times.values()) > 1


def _identity(entry: Entry) -> Any:
    return entry.event.id or entry.at


def _tools(ones: Any) -> list[str]:
    return list(dict.fromkeys(map(name_of, ones)))


def missing_call_id(session: DoctorSession) -> Iterator[Sign]:
    """Calls and responses without ids, in so many events that they cannot be paired (a); or responses only (b).

    One exchange without ids still pairs, and so does one of each agent: another agent's are text.
    Source: spec/doctor.md missing-call-id; R5.25
    """
    calls = [(entry, call) for entry, call in session.calls.get("", []) if call.name not in PROTOCOL]
    answers = [(entry, response) for entry, response in session.answers.get("", []) if response.name not in PROTOCOL]
    for agent in dict.fromkeys(entry.author for entry, _ in calls):
        made = [(entry, call) for entry, call in calls if entry.author == agent]
        tools = {call.name for _, call in made}
        given = [(e, r) for e, r in answers if e.author == agent or (e.by_user and r.name in tools)]
        callers, answering = {entry.at for entry, _ in made}, {entry.at for entry, _ in given}
        if given and (len(callers) > 1 or len(answering) > 1):
            shown = given[-1]
            yield Sign(
                sorted(callers | answering),
                {"agent": agent, "calls": len(made), "shown": {"event": shown[0].at, "tool": name_of(shown[1])}},
                f"{count(len(made), 'call')} of {name(agent)} have no id, so all of them are followed by the last "
                f"result without id, that of {name(name_of(shown[1]))} in {place(shown[0].at)}.",
                "Restore the ids on import, by order and name, and use a store that keeps them.",
                case="a",
            )
    if answers and not session.calls.get(""):
        places = sorted({entry.at for entry, _ in answers})
        agents = list(dict.fromkeys(entry.author for entry, _ in answers))
        yield Sign(
            places,
            {"agent": ", ".join(agents), "calls": 0, "shown": None, "tools": _tools(r for _, r in answers)},
            f"The {'result' if len(answers) == 1 else 'results'} in {place(places)} of {names(agents)} have no id "
            "while the calls have theirs, so no call gets one.",
            "Restore the ids on import, by order and name, and use a store that keeps those of results too.",
            case="b",
        )


def late_response_drops_text(session: DoctorSession) -> Iterator[Sign]:
    """A user's text between a call and the late response that ends the history is left out of a request.

    One for each response. Worse if no other request shows the text either.
    Source: spec/doctor.md late-response-drops-text; R5.19, X8.8
    """
    late: dict[int, dict[int, Entry]] = {}
    said = [entry for entry in session.full if entry.by_user and entry.has_text]
    for request in session.requests.built:
        dropped = [entry for entry in request.dropped if entry.by_user and entry.has_text]
        if dropped and request.late is not None:
            late.setdefault(request.late.at, {}).update((entry.at, entry) for entry in dropped)
    for at, entries in sorted(late.items()):
        ids = [id_of(response) for response in session.entries[at].responses]
        positions = sorted(entries)
        hidden = [entry.at for entry in said if entry.at in entries and entry.at not in session.requests.shown]
        rest = f"; no other request shows {place(hidden)} either" if hidden else ""
        yield Sign(
            [at, *positions],
            {"ids": ids, "dropped": positions, "never_shown": hidden},
            f"The user's words in {place(positions)} stand between the call {names(ids)} and its late result in "
            f"{place(at)}, so the model reads the result without them{rest}.",
            "Say them again after the result; adknb.fixes has a processor that keeps them.",
            severity=ERROR if hidden else WARNING,
        )


def response_out_of_sight(session: DoctorSession) -> Iterator[Sign]:
    """A response stands in another scope than its call, or on a branch from which the two do not see each other.

    A user's response without a branch is seen from every branch.
    Source: spec/doctor.md response-out-of-sight; R5.20, R5.26, X14.13
    """
    for entry in session.counted:
        for response in ordinary(entry.responses):
            found = session.call_of(entry, id_of(response))
            if found is None or _in_sight(entry, found[0]):
                continue
            caller = found[0]
            yield Sign(
                [caller.at, entry.at],
                {
                    "id": id_of(response),
                    "tool": name_of(response),
                    "call": {"branch": caller.branch, "scope": caller.scope},
                    "response": {"branch": entry.branch, "scope": entry.scope},
                },
                f"The call {name(id_of(response))} of {name(name_of(response))} is made {_where(caller)}, its result "
                f"stands {_where(entry)}: at the end of the history that fails the run, elsewhere the result vanishes.",
                "Store the result with the branch and the isolation scope of its call.",
            )


def _in_sight(entry: Entry, caller: Entry) -> bool:
    return (
        entry.scope == caller.scope
        and event_belongs_to_branch(caller.branch, entry.branch)
        and (entry.by_user or event_belongs_to_branch(entry.branch, caller.branch))
    )


def _where(entry: Entry) -> str:
    branch = f"on branch {name(entry.branch)}" if entry.branch else "on no branch"
    return f"{branch} {f'in scope {name(entry.scope)}' if entry.scope else 'outside of any scope'} ({place(entry.at)})"


def answered_by_another_agent(session: DoctorSession) -> Iterator[Sign]:
    """A result is written by an agent that made none of the calls of its id; names are compared letter by letter.

    The user may answer: late results and those of tasks are the user's.
    Source: spec/doctor.md answered-by-another-agent; R5.9, R5.12, R5.26
    """
    for entry in session.counted:
        for response in ordinary(entry.responses):
            calls = session.calls.get(id_of(response), []) if id_of(response) else []
            if entry.author in ("", "user") or not calls or any(c.author == entry.author for c, _ in calls):
                continue
            caller = calls[-1][0]
            yield Sign(
                [caller.at, entry.at],
                {"id": id_of(response), "tool": name_of(response), "called": caller.author, "answered": entry.author},
                f"{name(caller.author)} made the call {name(id_of(response))}, but the result is written by "
                f"{name(entry.author)}: for the caller it is another agent's text and its call stays open.",
                f"Write the result under the caller's name, {name(caller.author)}, exactly as it is spelt.",
            )


def long_running_pending(session: DoctorSession) -> Iterator[Sign]:
    """The model was asked on while a long-running call had no result at all (a); a mark that is on no call (b).

    An interim result is enough. Nothing has asked on yet: the end of the file, closing words of the same response.
    Source: spec/doctor.md long-running-pending; X6.9, X6.10
    """
    for entry in session.counted:
        marked = set(entry.long_running)
        for call in ordinary(entry.calls):
            if id_of(call) in marked and not session.is_answered(entry, call):
                after = next((e for e in session.whole[_next(session, entry) :] if _asks_on(e, entry)), None)
                if after is not None:
                    yield Sign(
                        [entry.at, after.at],
                        {"id": id_of(call), "tool": name_of(call), "agent": entry.author},
                        f"{name(entry.author)} is asked on at {place(after.at)} while its long-running call "
                        f"{name(id_of(call))} of {name(name_of(call))} has no result of any kind.",
                        "Store an interim result, such as a pending status; ask on when all calls are answered.",
                        case="a",
                    )
        strays = sorted(marked - {id_of(call) for call in entry.calls})
        if strays:
            yield Sign(
                [entry.at],
                {"ids": strays, "tool": None, "agent": entry.author},
                f"{place(entry.at).capitalize()} marks {names(strays)} as long-running, but has no such call; the mark "
                "makes the event final all the same.",
                "Mark the ids of calls that the event makes, and no others.",
                case="b",
            )


def _next(session: DoctorSession, entry: Entry) -> int:
    """Where in `whole` the events behind one begin."""
    places: list[int] = session.once(_places)
    return bisect_right(places, entry.at)


def _places(session: DoctorSession) -> list[int]:
    return [entry.at for entry in session.whole]


def _asks_on(after: Entry, entry: Entry) -> bool:
    """Whether an event, in the scope of a call, has its agent's model asked again."""
    if after.scope != entry.scope or after.protocol:
        return False
    return (after.full and after.by_user) or (after.author == entry.author and bool(after.responses))
