"""State and artifacts (spec/doctor.md, D), as far as deltas and the stored state tell of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from adknb.engine.processors.contents import event_belongs_to_branch
from adknb.engine.processors.instructions import SCOPES
from adknb.lens.doctor.entry import Entry, as_key, name_of, ordinary, same
from adknb.lens.doctor.finding import Sign, name, names, place
from adknb.lens.doctor.session import DoctorSession
from adknb.lens.doctor.templates import tokens

TEMP = "temp:"


def temp_key_misused(session: DoctorSession) -> Iterator[Sign]:
    """A `temp:` key lies in the stored state (a), or is read in a later turn than it was written in (b).

    Source: spec/doctor.md temp-key-misused; X2.1 to X2.6
    """
    for key in session.state or {}:
        if key.startswith(TEMP):
            yield Sign(
                [],
                {"key": key, "agent": None},
                f"The stored state holds {name(key)}. Such keys live for one turn and are never stored, but given at "
                "creation one never goes.",
                "Drop the prefix, or write the key in each turn that needs it.",
                case="a",
            )
    for template in session.templates:
        for key in dict.fromkeys(token.key for token in tokens(template.text) if token.valid):
            if key.startswith(TEMP) and key not in (session.state or {}):
                yield from _read_too_late(session, key, template.agent)


def _read_too_late(session: DoctorSession, key: str, agent: str) -> Iterator[Sign]:
    """Where an agent, or the last message that nobody has answered yet, finds a key gone that was there before."""
    written: int | None = None
    for number, turn in enumerate(session.turns):
        writers = [entry.at for entry in turn if key in entry.delta]
        answers = [entry for entry in turn if entry.at in session.model_places]
        reader = next((entry for entry in answers if agent in ("", entry.author)), None)
        gone = reader is not None and not any(at < reader.at for at in writers)
        if not answers and number and number == len(session.turns) - 1:
            reader, gone = turn[0], not writers
        if reader is not None and gone and written is not None:
            yield Sign(
                [reader.at],
                {"key": key, "agent": agent or None, "written": written},
                f"The instruction{f' of {name(agent)}' if agent else ''} reads {name(key)} at {place(reader.at)}, but "
                f"it was last written in an earlier turn, in {place(written)}, and is gone since.",
                "Drop the prefix, or write the key in each turn that needs it.",
                case="b",
            )
        written = writers[-1] if writers else written


def state_disagrees(session: DoctorSession) -> Iterator[Sign]:
    """The stored state holds another value for a key than its last delta gave it, or none.

    Prefixed keys are written by other sessions too; a rewound session is no longer what its deltas say.
    Source: spec/doctor.md state-disagrees; X2.3
    """
    if session.state is None or any(_rewound(entry) for entry in session.whole):
        return
    for key, writers in session.deltas.items():
        last = writers[-1]
        value = last.delta[key]
        missing = key not in session.state
        if key.startswith(SCOPES) or (missing and value is None) or (not missing and same(session.state[key], value)):
            continue
        found = "is not in the stored state" if missing else "has another value in the stored state"
        yield Sign(
            [last.at],
            {"key": key, "kind": "missing" if missing else "differs"},
            f"{name(key)}, last written by {place(last.at)}, {found}: a delta was not applied, or something wrote past "
            "the events.",
            "Write through deltas only, and look for a store that does not apply them.",
        )


def _rewound(entry: Entry) -> bool:
    extra = entry.event.extra
    return any(extra.get(f"actions/{key}") for key in ("rewindBeforeInvocationId", "rewind_before_invocation_id"))


def state_write_conflict(session: DoctorSession) -> Iterator[Sign]:
    """Runs of one tool, side by side, left one value (a); two branches wrote one key differently (b).

    Maps are merged; a list with an entry for each run, or a key for each, has lost nothing.
    Source: spec/doctor.md state-write-conflict; X6.8
    """
    for entry in session.whole:
        runs = Counter(map(name_of, ordinary(entry.responses)))
        tool, n = runs.most_common(1)[0] if runs else ("", 0)
        keys = [key for key, value in entry.delta.items() if _lost_some(value, n, len(entry.delta))]
        if n > 1 and keys:
            yield Sign(
                [entry.at],
                {"keys": keys, "tool": tool, "runs": n},
                f"{n} runs of {name(tool)} in {place(entry.at)} wrote {names(keys)}, and less than {n} values are "
                "left: only maps are merged, else the later call wins.",
                "Write a key for each run, or a map.",
                case="a",
            )
    for key, writers in session.deltas.items():
        yield from _on_branches(key, writers)


def _lost_some(value: Any, n: int, keys: int) -> bool:
    if isinstance(value, dict):
        return False
    return len(value) < n if isinstance(value, list) else keys < n


def _on_branches(key: str, writers: list[Entry]) -> Iterator[Sign]:
    """Writers of one key, in one turn, on branches neither of which sees the other, with different values."""
    turns: dict[int, list[Entry]] = {}
    for entry in writers:
        if entry.branch:
            turns.setdefault(entry.turn, []).append(entry)
    for entries in turns.values():
        if len({entry.branch for entry in entries}) < 2:
            continue
        clashing = {entry.at: entry.branch for entry in _clashing(key, entries)}
        if clashing:
            branches = list(dict.fromkeys(clashing[at] for at in sorted(clashing)))
            yield Sign(
                sorted(clashing),
                {"keys": [key], "branches": branches},
                f"{name(key)} is written differently on {names(branches)} ({place(sorted(clashing))}), which run side "
                "by side: whatever is stored later wins.",
                "Write a key for each branch.",
                case="b",
            )


def _clashing(key: str, entries: list[Entry]) -> list[Entry]:
    """The writers that have written something else than a writer on a branch apart from theirs."""
    values: dict[str, set[str]] = {}
    for entry in entries:
        values.setdefault(entry.branch, set()).add(as_key(entry.delta[key]))
    return [
        entry
        for entry in entries
        if any(_apart(entry.branch, branch) and said - {as_key(entry.delta[key])} for branch, said in values.items())
    ]


def _apart(a: str, b: str) -> bool:
    return not event_belongs_to_branch(a, b) and not event_belongs_to_branch(b, a)


def artifact_delta_gap(session: DoctorSession) -> Iterator[Sign]:
    """An artifact's version jumps further than the event's results can have saved, or goes back.

    A user's files are written by other sessions too.
    Source: spec/doctor.md artifact-delta-gap; X4.5, X5.2
    """
    latest: dict[str, int] = {}
    for entry in session.whole:
        for file, version in entry.event.actions.artifact_delta.items():
            if file.startswith("user:") or not isinstance(version, (int, float)):
                continue
            before = latest.get(file, 0)
            if version < before or version - before > max(1, len(entry.responses)):
                yield Sign(
                    [entry.at],
                    {"file": file, "before": latest.get(file), "version": version},
                    f"{place(entry.at).capitalize()} names version {version} of {name(file)}, the last one named "
                    f"before is {latest.get(file, 'none')}: a version is on no event.",
                    "Save artifacts in tools, whose events carry the version; look in the artifact service.",
                )
            latest[file] = int(version)
