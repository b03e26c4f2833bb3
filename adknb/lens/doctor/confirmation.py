"""Confirmation (spec/doctor.md, F): requests for approval, and what was answered to them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from adknb.engine.event_json import snake
from adknb.lens.doctor.entry import CONFIRMATION, PROTOCOL, Call, Entry, Response, failed, id_of, name_of
from adknb.lens.doctor.finding import Sign, name, names, place
from adknb.lens.doctor.session import DoctorSession


@dataclass(frozen=True)
class Asked:
    """A request for approval: its event, its own id, and the call that is to be approved."""

    entry: Entry
    id: str
    call_id: str
    tool: str


@dataclass(frozen=True)
class Answer:
    """A user's answer to a request: approved, refused, or None where it cannot be read."""

    entry: Entry
    asked: Asked
    approved: bool | None


def requests(session: DoctorSession) -> list[Asked]:
    """All requests for approval, in order."""
    return [
        Asked(entry, id_of(call), *_original(call))
        for entry in session.counted
        for call in entry.calls
        if call.name == CONFIRMATION
    ]


def _original(call: Call) -> tuple[str, str]:
    """Id and tool of the call that a request is about."""
    args = {snake(key): value for key, value in (call.args or {}).items()}
    original = args.get("original_function_call")
    told = original if isinstance(original, dict) else {}
    return str(told.get("id") or ""), str(told.get("name") or "")


def answers(session: DoctorSession) -> list[Answer]:
    """All answers by the user, in order; of several to one request in one message the last counts (X8.4)."""
    by_id: dict[str, list[Asked]] = {}
    for asked in session.once(requests):
        by_id.setdefault(asked.id, []).append(asked)
    found = []
    for entry in session.counted:
        if entry.by_user and entry.protocol:
            told = {id_of(r): r for r in entry.responses if r.name == CONFIRMATION and id_of(r)}
            found += [
                Answer(entry, _nearest(by_id[i], entry), decision(response))
                for i, response in told.items()
                if i in by_id
            ]
    return found


def _nearest(asked: list[Asked], entry: Entry) -> Asked:
    return next((one for one in reversed(asked) if one.entry.at < entry.at), asked[0])


def decision(response: Response) -> bool | None:
    """What an answer decides: `confirmed`, as it stands or as JSON in a sole `response`; missing is refused (X8.4)."""
    told: Any = response.response or {}
    if set(told) == {"response"}:
        try:
            told = json.loads(told["response"])
        except (TypeError, ValueError, RecursionError):
            return None
    if not isinstance(told, dict):
        return None
    confirmed = {str(key).lower(): value for key, value in told.items()}.get("confirmed", False)
    return confirmed if isinstance(confirmed, bool) else None


def confirmation_missed(session: DoctorSession) -> Iterator[Sign]:
    """A user's answer missed its request, or the turn went on without the result it was to bring.

    (a) an id that no request has; (b) the call's own id; (c) another name; (d) right, and the tool did not run.

    Source: spec/doctor.md confirmation-missed; X8.4, X8.5, X8.9
    """
    asked_ids = {id_of(call) for entry in session.counted for call in entry.calls if call.name in PROTOCOL}
    by_id: dict[str, list[Asked]] = {}
    by_call: dict[str, list[Asked]] = {}
    for asked in session.once(requests):
        by_id.setdefault(asked.id, []).append(asked)
        by_call.setdefault(asked.call_id, []).append(asked)
    answered: dict[str, int] = {}
    for answer in session.once(answers):
        answered.setdefault(answer.asked.id, answer.entry.at)
    for entry in session.counted:
        for response in entry.responses if entry.by_user else ():
            answer_id = id_of(response)
            if response.name in PROTOCOL:
                if answer_id not in asked_ids:
                    yield _no_such_request(entry, answer_id, by_call.get(answer_id, []))
            elif answer_id in by_id:
                asked = _nearest(by_id[answer_id], entry)
                yield _under_another_name(entry, response, asked)
            elif answer_id and answer_id in by_call:
                open_ones = [a for a in by_call[answer_id] if a.entry.at < entry.at < answered.get(a.id, entry.at + 1)]
                if open_ones:
                    yield _as_a_result(entry, open_ones[-1])
    first: set[str] = set()
    for answer in session.once(answers):
        if answer.asked.id not in first:
            first.add(answer.asked.id)
            sign = _never_resumed(session, answer)
            if sign is not None:
                yield sign


def _no_such_request(entry: Entry, answer_id: str, asked: list[Asked]) -> Sign:
    own = f"; that is the id of the call itself, the request's is {name(asked[-1].id)}" if asked else ""
    return Sign(
        [entry.at],
        {"id": answer_id, "request": asked[-1].id if asked else None, "tool": asked[-1].tool if asked else None},
        f"The approval in {place(entry.at)} names {name(answer_id)}, an id that no request has{own}: the tool never "
        "ran.",
        "Answer with the id of the request event's own call.",
        case="a",
    )


def _facts(asked: Asked, answer_id: str) -> dict[str, Any]:
    return {
        "id": answer_id,
        "request": asked.id,
        "call": asked.call_id,
        "tool": asked.tool,
        "asked": asked.entry.author,
    }


def _under_another_name(entry: Entry, response: Response, asked: Asked) -> Sign:
    return Sign(
        [asked.entry.at, entry.at],
        {**_facts(asked, asked.id), "name": name_of(response)},
        f"{place(entry.at).capitalize()} answers the request {name(asked.id)} under the name "
        f"{name(name_of(response))}: that fails the run when contents are built.",
        f"Answer with a response named {CONFIRMATION}.",
        case="c",
    )


def _as_a_result(entry: Entry, asked: Asked) -> Sign:
    return Sign(
        [asked.entry.at, entry.at],
        _facts(asked, asked.call_id),
        f"{place(entry.at).capitalize()} answers the call {name(asked.call_id)} of {name(asked.tool)} itself while its "
        f"request {name(asked.id)} is open: the text passes for the tool's result, and the tool never ran.",
        f"Answer the request's id, with a response named {CONFIRMATION}.",
        case="b",
    )


def _never_resumed(session: DoctorSession, answer: Answer) -> Sign | None:
    """The first answer to a request, right in itself, after which the turn goes on without the call's result."""
    asked, entry = answer.asked, answer.entry
    later = [e for e in session.turns[entry.turn] if e.at > entry.at and e.full and not e.by_user]
    if not later or not asked.call_id:
        return None
    results = session.answers.get(asked.call_id, [])
    if any(e.at > entry.at and e.turn == entry.turn and r.name not in PROTOCOL for e, r in results):
        return None
    caller = session.call_of(asked.entry, asked.call_id)
    if caller is not None and asked.call_id in caller[0].long_running:
        return None  # such a tool may run and answer later
    ran = later[0].author
    who = f"{name(ran)} took the turn, not {name(asked.entry.author)}" if ran != asked.entry.author else "it went on"
    return Sign(
        [asked.entry.at, entry.at],
        {**_facts(asked, asked.id), "ran": ran},
        f"The request {name(asked.id)} for {name(asked.tool)} is answered in {place(entry.at)}, but {who}: there is no "
        f"result for the call {name(asked.call_id)}.",
        "Send the answer so that the agent that asked takes the turn.",
        case="d",
    )


def confirmation_answered_twice(session: DoctorSession) -> Iterator[Sign]:
    """One request is approved again after its tool has run: the tool runs again.

    Source: spec/doctor.md confirmation-answered-twice; X8.5, X14.2
    """
    approvals: dict[str, list[Answer]] = {}
    for answer in session.once(answers):
        if answer.approved:
            approvals.setdefault(answer.asked.id, []).append(answer)
    for given in approvals.values():
        for a, b in pairwise(given):
            results = session.answers.get(a.asked.call_id, []) if a.asked.call_id else []
            if any(a.entry.at < entry.at < b.entry.at and not entry.by_user for entry, _ in results):
                yield Sign(
                    [a.entry.at, b.entry.at],
                    {"id": a.asked.id, "call": a.asked.call_id, "tool": a.asked.tool},
                    f"The request {name(a.asked.id)} is approved in {place(a.entry.at)}, and again in "
                    f"{place(b.entry.at)}: {name(a.asked.tool)} ran again.",
                    "Disable the button once it is pressed, and make the tool idempotent.",
                )


def confirmation_unanswered(session: DoctorSession) -> Iterator[Sign]:
    """Nobody has decided, and the user has written something else (a); a request was never shown (b).

    A file that ends while it waits is as it should be. google-adk in Python stores the request before the event that
    asks for it: a request that still waits there is shown, too.
    Source: spec/doctor.md confirmation-unanswered; X8.7, X8.9
    """
    asked_for: dict[str, Asked] = {}
    texts = [entry.at for entry in session.full if entry.by_user and entry.has_text]
    for asked in session.once(requests):
        asked_for[asked.call_id] = asked
        if not texts or texts[-1] < asked.entry.at or _is_decided(session, asked):
            continue
        yield Sign(
            [asked.entry.at],
            {"ids": [asked.id, asked.call_id], "tool": asked.tool},
            f"Nobody has answered the request {name(asked.id)} to approve {name(asked.tool)} "
            f"({place(asked.entry.at)}), and the user wrote on: the model goes on reading that approval is needed.",
            "Show what is open; a later answer still works.",
            case="a",
        )
    for entry in session.counted:
        wanted = entry.event.actions.requested_tool_confirmations
        hidden = [i for i in wanted if i not in asked_for or not _is_shown(session, asked_for[i], entry)]
        if hidden and entry is not session.whole[-1]:
            tools = [name_of(response) for response in entry.responses if id_of(response) in hidden]
            yield Sign(
                [entry.at],
                {"ids": hidden, "tool": tools[0] if tools else None},
                f"{place(entry.at).capitalize()} asks for approval of {names(hidden)}, but no request follows: an "
                "approved tool cannot ask again.",
                "Ask for everything before the first approval.",
                case="b",
            )


def _is_shown(session: DoctorSession, asked: Asked, entry: Entry) -> bool:
    """Whether a request follows an event, or stands before it with nobody having spoken since."""
    between = session.entries[asked.entry.at : entry.at]
    return asked.entry.at > entry.at or not any(one.by_user for one in between)


def _is_decided(session: DoctorSession, asked: Asked) -> bool:
    """Whether anything after a request answers it, or its call; without ids, anything under the protocol's name."""
    about = [one for one in session.answers.get(asked.id, []) if asked.id or one[1].name == CONFIRMATION]
    about += session.answers.get(asked.call_id, []) if asked.call_id else []
    return any(entry.at > asked.entry.at for entry, _ in about)


def refused_tool_ran(session: DoctorSession) -> Iterator[Sign]:
    """After a refusal, in its turn, the call gets a result that is no failure.

    Source: spec/doctor.md refused-tool-ran; X8.6, X14.19
    """
    for answer in session.once(answers):
        if answer.approved is not False or not answer.asked.call_id:
            continue
        for entry, response in session.answers.get(answer.asked.call_id, []):
            after = entry.at > answer.entry.at and entry.turn == answer.entry.turn
            if after and response.name not in PROTOCOL and not failed(response):
                yield Sign(
                    [answer.entry.at, entry.at],
                    {"id": answer.asked.id, "call": answer.asked.call_id, "tool": answer.asked.tool},
                    f"The user refused {name(answer.asked.tool)} in {place(answer.entry.at)}, and {place(entry.at)} "
                    "holds a result that is no failure: a tool of another kind did not look, or a hook forced it.",
                    "Check the decision in the tool.",
                )
