"""Tools (spec/doctor.md, G): what was declared, what was called, and what became of it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from adknb.lens.doctor.confirmation import answers, requests
from adknb.lens.doctor.definitions import declared_in
from adknb.lens.doctor.entry import (
    FINISH_TASK,
    PROTOCOL,
    SET_MODEL_RESPONSE,
    TRANSFER,
    Call,
    Entry,
    Response,
    as_key,
    failed,
    id_of,
    name_of,
    ordinary,
)
from adknb.lens.doctor.finding import Sign, name, names, place
from adknb.lens.doctor.session import DoctorSession

BUILT_IN = {
    "google_search", "google_search_retrieval", "google_search_agent", "google_maps", "url_context", "code_execution",
    "vertex_ai_search", "enterprise_web_search", "vertex_ai_rag_retrieval",
}  # fmt: skip
"""Tools that the provider runs itself: they have no declaration of a function."""


def tool_table_mismatch(session: DoctorSession) -> Iterator[Sign]:
    """A request declares other names than its local table has; or a generation config declares what no tool is.

    A request that does not tell its table, or its config, is passed over.
    Source: spec/doctor.md tool-table-mismatch; R8.1, R8.2
    """
    found: dict[tuple[str, tuple[str, ...], tuple[str, ...]], list[int]] = {}
    for sent in session.sent:
        if sent.tools is None or sent.config is None:
            continue
        declared, table = set(declared_in(sent.config)) - BUILT_IN, set(sent.tools) - BUILT_IN
        if declared != table:
            one_sided = (sent.agent, tuple(sorted(declared - table)), tuple(sorted(table - declared)))
            found.setdefault(one_sided, []).extend([sent.event] if sent.event is not None else [])
    for (agent, declared_only, table_only), places in found.items():
        yield _mismatch(agent, declared_only, table_only, places)
    for one in session.definitions or ():
        missing = tuple(sorted(set(one.declared) - one.callable_names - BUILT_IN)) if not one.has_toolsets else ()
        if missing:
            yield _mismatch(one.name, missing, (), [])


def _mismatch(agent: str, declared: tuple[str, ...], table: tuple[str, ...], places: list[int]) -> Sign:
    told = [f"{names(declared)} declared, but not in the local table: such a call fails"] if declared else []
    told += [f"{names(table)} in the table, but not declared: the model cannot know of it"] if table else []
    return Sign(
        places,
        {"agent": agent, "declared_only": list(declared), "table_only": list(table)},
        f"For {name(agent)}: {'; '.join(told)}.",
        "Register tools with the agent; do not write declarations beside them.",
    )


def unknown_tool_called(session: DoctorSession) -> Iterator[Sign]:
    """A call has no name, is of a tool that its agent does not have, or was answered so.

    With toolsets the names are not known; a tool that reports a missing file is there.
    Source: spec/doctor.md unknown-tool-called; X6.3
    """
    for entry in session.counted:
        defined = session.definition(entry.author)
        for call in ordinary(entry.calls):
            tool = name_of(call)
            listed = defined is None or defined.has_toolsets or tool in defined.callable_names
            if tool and listed and not _told_unknown(session.answer_to(entry, call), tool):
                continue
            what = f"{name(tool)}, a tool that it does not have" if tool else "a tool without a name"
            yield Sign(
                [entry.at],
                {"name": tool, "agent": entry.author, "id": id_of(call)},
                f"{name(entry.author)} calls {what}, in {place(entry.at)}: the model invented it.",
                "Name the tools plainly in the instruction, or give the agent this one.",
            )


def _told_unknown(response: Response | None, tool: str) -> bool:
    """Whether a result is an error that calls this tool not found."""
    told = (response.response or {}).get("error") if response is not None else None
    if not isinstance(told, str):
        return False
    text = told.lower()
    return "tool" in text and "not found" in text and tool.lower() in text


# -------------------------------------------------------------------------------------------------- tool-error-shadowed

SUCCESS = re.compile(
    r"\b(?:added|booked|cancell?ed|changed|completed?|confirmed|created|deleted|done|finished|ordered|paid|placed"
    r"|removed|saved|scheduled|sent|submitted|success\w*|updated|on its way|all set)\b|成功|完成|已",
    re.IGNORECASE,
)
TROUBLE = (
    "error", "fail", "unable", "could not", "couldn't", "cannot", "can't", "can not", "not able", "unfortunately",
    "sorry", "apolog", "problem", "issue", "went wrong", "invalid", "denied", "refus", "reject", "unavailable",
    "timed out", "timeout", "not found", "try again", "unsuccessful", "did not", "didn't",
    "错误", "失败", "无法", "抱歉", "不能", "出错", "未能",
)  # fmt: skip
PASSED_OVER = {*PROTOCOL, TRANSFER, SET_MODEL_RESPONSE, FINISH_TASK}


def tool_error_shadowed(session: DoctorSession) -> Iterator[Sign]:
    """A tool failed, was not tried again with success, and the agent's last words in the turn claim success.

    Who admits trouble, or claims nothing, hides nothing; a confirmation that is wanted or refused is no failure.
    Source: spec/doctor.md tool-error-shadowed; X6.4
    """
    for turn in session.turns:
        worked: set[str] = set()
        claims: dict[str, Entry] = {}
        signs = []
        for entry in reversed(turn):
            if entry.full and entry.final and entry.has_text and entry.author not in ("", "user"):
                claims.setdefault(entry.author, entry)
            for response in reversed(entry.responses):
                tool = name_of(response)
                last = claims.get(entry.author)
                if not failed(response):
                    worked.add(tool)
                elif (
                    entry.author not in ("", "user")
                    and tool not in PASSED_OVER
                    and tool not in worked
                    and last is not None
                    and _claims_success(last.text)
                    and not _is_of_confirmation(session, entry, response)
                ):
                    signs.append(_shadowed(entry, response, last))
        yield from reversed(signs)


def _shadowed(entry: Entry, response: Response, last: Entry) -> Sign:
    return Sign(
        [entry.at, last.at],
        {"tool": name_of(response), "id": id_of(response), "agent": entry.author},
        f"{name(name_of(response))} failed in {place(entry.at)}, and {name(entry.author)} answers in {place(last.at)} "
        "as if it had worked: the user is told what did not happen.",
        "Let the tool say plainly what failed, and what the model is to tell the user.",
    )


def _claims_success(text: str) -> bool:
    text = text.replace("’", "'").lower()
    return SUCCESS.search(text) is not None and not any(word in text for word in TROUBLE)


def _is_of_confirmation(session: DoctorSession, entry: Entry, response: Response) -> bool:
    """Whether a failure only says that approval is wanted, or was refused."""
    call_id = id_of(response)
    if call_id in entry.event.actions.requested_tool_confirmations:
        return True
    asked = [one for one in session.once(requests) if call_id and one.call_id == call_id]
    given = [one for one in session.once(answers) if one.entry.at < entry.at and one.asked.call_id == call_id]
    return bool(asked) and not (given and given[-1].approved)


# -------------------------------------------------------------------------------------------------------- repeated-call


def repeated_call(session: DoctorSession) -> Iterator[Sign]:
    """An agent makes the same call three times or more in a turn, and each answer that there is says the same.

    Polling brings different answers.
    Source: spec/doctor.md repeated-call; X3.1
    """
    made: dict[tuple[int, str, str], list[tuple[Entry, Call]]] = {}
    for entry in session.counted:
        for call in ordinary(entry.calls):
            made.setdefault((entry.turn, entry.author, name_of(call)), []).append((entry, call))
    for (_, agent, tool), calls in made.items():
        alike: dict[str, list[tuple[Entry, Call]]] = {}
        for entry, call in calls if len(calls) > 2 else ():
            alike.setdefault(as_key(call.args or {}), []).append((entry, call))
        for group in alike.values():
            told = [session.answer_to(entry, call) for entry, call in group]
            if len(group) > 2 and len({as_key(answer.response) for answer in told if answer is not None}) < 2:
                places = [entry.at for entry, _ in group]
                yield Sign(
                    places,
                    {"tool": tool, "agent": agent, "count": len(group)},
                    f"{name(agent)} calls {name(tool)} {len(group)} times in one turn with the same arguments "
                    f"({place(places)}) and learns nothing new. There is no limit to the steps of a run.",
                    "Set a limit in a callback, or let the tool say that nothing will change.",
                )
