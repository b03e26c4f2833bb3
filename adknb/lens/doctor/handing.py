"""Transfer and delegation (spec/doctor.md, F)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from adknb.lens.doctor.entry import (
    FINISH_TASK,
    SET_MODEL_RESPONSE,
    TRANSFER,
    Call,
    Entry,
    failed,
    id_of,
    name_of,
    ordinary,
)
from adknb.lens.doctor.finding import Sign, count, name, names, place
from adknb.lens.doctor.session import DoctorSession

EXCLUSIVE = (TRANSFER, SET_MODEL_RESPONSE, FINISH_TASK)
"""Calls that end a turn, a run or a task: beside them nothing else is expected."""


class Transfer(NamedTuple):
    """A hand-over: the event that holds its result, and to whom."""

    entry: Entry
    target: str


def transfers(session: DoctorSession) -> list[Transfer]:
    """All hand-overs: the action of an event; where a file has no actions, an answered transfer that did not fail."""
    found = []
    for entry in session.whole:
        target = entry.event.actions.transfer_to_agent
        if not target and entry.responses and not session.has_actions(entry):
            target = _called_target(session, entry)
        if target:
            found.append(Transfer(entry, target))
    return found


def _called_target(session: DoctorSession, entry: Entry) -> str:
    """The agent named by the last answered `transfer_to_agent`, as its call has it."""
    target = ""
    for response in entry.responses:
        if name_of(response) == TRANSFER and not failed(response):
            call = session.call_of(entry, id_of(response))
            named = (call[1].args or {}).get("agent_name") if call is not None else None
            target = named if isinstance(named, str) and named else target
    return target


def transfer_unknown_target(session: DoctorSession) -> Iterator[Sign]:
    """A transfer goes to nobody whom its agent may transfer to.

    Without definitions: to a name that never speaks, and nobody speaks in the turn any more.
    Source: spec/doctor.md transfer-unknown-target; R7.2, X10.2, X14.16
    """
    for entry, target in session.once(transfers):
        defined = session.definition(entry.author)
        if defined is not None:
            lost, legal = target not in defined.targets, defined.targets
        else:
            lost, legal = _leads_nowhere(session, entry, target), None
        if lost:
            choice = f"it may transfer to {names(legal)}" if legal is not None else "no agent of that name ever speaks"
            yield Sign(
                [entry.at],
                {"agent": entry.author, "target": target, "legal": legal},
                f"{name(entry.author)} transfers to {name(target)} in {place(entry.at)}, but {choice}. The run failed "
                "after a result that looks like success, and later turns show an ordinary exchange.",
                "Correct the name, or put the agent where it may be reached: a child, the parent or a peer.",
            )


def _leads_nowhere(session: DoctorSession, entry: Entry, target: str) -> bool:
    viewer = session.viewer
    return (
        target not in session.speakers
        and (viewer is None or viewer.agent_name != target)
        and not any(e.full and not e.by_user and e.at > entry.at for e in session.turns[entry.turn])
    )


def transfer_ping_pong(session: DoctorSession) -> Iterator[Sign]:
    """One agent transfers to the same target twice or more often in a turn.

    Source: spec/doctor.md transfer-ping-pong; X10.3
    """
    rounds: dict[tuple[int, str, str], list[int]] = {}
    for entry, target in session.once(transfers):
        rounds.setdefault((entry.turn, entry.author, target), []).append(entry.at)
    for (_, agent, target), places in rounds.items():
        if len(places) > 1:
            yield Sign(
                places,
                {"agent": agent, "target": target, "count": len(places)},
                f"{name(agent)} transfers to {name(target)} {len(places)} times in one turn ({place(places)}): nothing "
                "but the agents themselves ends such a round.",
                "Tell the agents' descriptions further apart, or forbid the way back with disallow_transfer_to_parent "
                "or _peers.",
            )


def exclusive_call_not_alone(session: DoctorSession) -> Iterator[Sign]:
    """`transfer_to_agent`, `set_model_response` or `finish_task` stands beside another call.

    Source: spec/doctor.md exclusive-call-not-alone; X3.5, X9.1, X10.4, X11.8, L10.2
    """
    for entry in session.whole:
        called = [name_of(call) for call in entry.calls]
        exclusive = [one for one in called if one in EXCLUSIVE]
        if exclusive and len(called) > 1:
            targets = [(call.args or {}).get("agent_name") for call in entry.calls if call.name == TRANSFER]
            counts = f"; of the transfers the last one counts, to {name(str(targets[-1]))}" if targets else ""
            yield Sign(
                [entry.at],
                {"names": called, "agent": entry.author, "transfer": targets[-1] if targets else None},
                f"{name(entry.author)} calls {names(called)} in one response ({place(entry.at)}). The other calls run "
                f"all the same{counts}. A live run drops the transfer.",
                f"Ask in the instruction for {name(exclusive[0])} alone, without other calls beside it.",
            )


def never_run(session: DoctorSession) -> list[tuple[Entry, list[Call]]]:
    """Events that delegate a task, with the calls beside it that never ran."""
    found = []
    for entry in session.counted:
        calls = ordinary(entry.calls)
        if len(calls) > 1 and (others := _beside_a_task(session, entry, calls)):
            found.append((entry, others))
    return found


def _tasks(session: DoctorSession, entry: Entry, calls: list[Call]) -> list[Call]:
    """The calls of an event that delegate a task: defined so, or some event works in the scope of their id."""
    defined = session.definition(entry.author)
    by_name = defined.tasks if defined is not None else set()
    return [call for call in calls if name_of(call) in by_name or (id_of(call) and id_of(call) in session.scopes)]


def _beside_a_task(session: DoctorSession, entry: Entry, calls: list[Call]) -> list[Call]:
    tasks = _tasks(session, entry, calls)
    if not tasks:
        return []
    if session.definition(entry.author) is None and not all(session.is_answered(entry, task) for task in tasks):
        return []  # while a task is open nothing tells whether the other call is a task that waits
    task_names = {name_of(task) for task in tasks}
    return [
        call
        for call in calls
        if not any(call is task for task in tasks)
        and name_of(call) not in task_names
        and not session.is_answered(entry, call)
    ]


def calls_beside_delegation(session: DoctorSession) -> Iterator[Sign]:
    """A task is delegated beside another call, which never runs.

    Several tasks run in turn; a single-turn child is an ordinary tool. While a task is open and nothing tells what the
    other call is, nothing is said.
    Source: spec/doctor.md calls-beside-delegation; X11.3, X14.6
    """
    for entry, lost in session.once(never_run):
        tasks = [name_of(task) for task in _tasks(session, entry, ordinary(entry.calls))]
        lost_names = [name_of(call) for call in lost]
        yield Sign(
            [entry.at],
            {
                "task": tasks,
                "agent": entry.author,
                "never_run": [{"tool": name_of(call), "id": id_of(call)} for call in lost],
            },
            f"{name(entry.author)} delegates the task {names(tasks)} and calls {names(lost_names)} in one response "
            f"({place(entry.at)}). Delegating abandons the step, so {count(len(lost), 'call')} never ran.",
            "Have the task delegated alone, and call the tools before or after it.",
        )
