"""Chunks and output keys (spec/doctor.md, C, first half)."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator
from itertools import pairwise

from adknb.lens.doctor.entry import Entry, id_of, name_of
from adknb.lens.doctor.finding import ERROR, WARNING, Sign, count, name, names, place
from adknb.lens.doctor.session import DoctorSession

# -------------------------------------------------------------------------------------------------------------- chunks


def partial_misused(session: DoctorSession) -> Iterator[Sign]:
    """Chunks were stored (a); a stream ended with a chunk (b); a call changed its id between chunk and whole (c).

    In a stream that somebody recorded, chunks that a whole response closes are normal.
    Source: spec/doctor.md partial-misused; X3.1, S12.3, S13.4
    """
    if session.stream:
        yield from _unclosed(session)
        yield from _changed_ids(session)
    elif session.chunks:
        places = [chunk.at for chunk in session.chunks]
        authors = list(dict.fromkeys(chunk.author for chunk in session.chunks))
        yield Sign(
            places,
            {"authors": authors, "ids": _call_ids(session.chunks), "count": len(places)},
            f"{count(len(places), 'chunk')} of {names(authors)} stand in the session ({place(places)}): fragments are "
            "sent as turns of their own, with calls that never ran.",
            "Append whole events only; a chunk is for whoever watches the run.",
            case="a",
            severity=ERROR,
        )


def _unclosed(session: DoctorSession) -> Iterator[Sign]:
    last: dict[int, Entry] = {}
    for entry in session.entries:
        if entry.full and not entry.by_user:
            last[entry.turn] = entry
    for entry in last.values():
        if entry.event.partial:
            yield Sign(
                [entry.at],
                {"authors": [entry.author], "ids": _call_ids([entry])},
                f"The stream of {name(entry.author)} ends with a chunk ({place(entry.at)}) and no whole answer: of "
                "this turn's answer nothing was stored.",
                "Close the stream with a whole response; look for a reader that stopped, or a cut connection.",
                case="b",
                severity=WARNING,
            )


def _changed_ids(session: DoctorSession) -> Iterator[Sign]:
    made: dict[tuple[int, str, str], list[tuple[Entry, str]]] = {}
    last: dict[tuple[int, str, str, str], int] = {}
    for entry in session.whole:
        for call in entry.calls:
            kind = (entry.turn, entry.author, name_of(call))
            made.setdefault(kind, []).append((entry, id_of(call)))
            last[*kind, id_of(call)] = entry.at
    for chunk in session.chunks:
        for call in chunk.calls:
            if not id_of(call) or not name_of(call):
                continue
            kind = (chunk.turn, chunk.author, name_of(call))
            whole = made.get(kind, [])
            later = whole[bisect_right(whole, chunk.at, key=lambda one: one[0].at) :][:1]
            if later and last.get((*kind, id_of(call)), -1) < chunk.at:
                yield Sign(
                    [chunk.at, later[0][0].at],
                    {"authors": [chunk.author], "ids": [id_of(call), later[0][1]], "tool": name_of(call)},
                    f"The call of {name(name_of(call))} has the id {name(id_of(call))} in a chunk ({place(chunk.at)}) "
                    f"and {name(later[0][1])} in the whole response ({place(later[0][0].at)}): an answer to the first "
                    "is an orphan.",
                    "Keep the id of a call from its first chunk on, and answer only calls of whole responses.",
                    case="c",
                    severity=WARNING,
                )


def _call_ids(entries: list[Entry]) -> list[str]:
    return list(dict.fromkeys(id_of(call) for entry in entries for call in entry.calls if id_of(call)))


# --------------------------------------------------------------------------------------------------------- output keys


def output_key_fragment(session: DoctorSession) -> Iterator[Sign]:
    """Several final texts of one agent follow each other and are pieces of one: each counted as a whole answer.

    Rounds of a loop are whole texts; whatever stands between two of them ends the run of texts.
    Source: spec/doctor.md output-key-fragment; X7.2, S13.6, S15.5
    """
    for run in runs(session, lambda entry: entry.final and entry.has_text and entry.at in session.model_places):
        texts = [entry.text for entry in run]
        if len(run) < 2 or not _are_pieces(texts):
            continue
        defined = session.definition(run[0].author)
        own = [key for entry in run for key, value in entry.delta.items() if value in texts]
        keys = own or [kept for one in texts if (kept := session.once(_kept).get(one))]
        key = keys[0] if keys else defined.output_key if defined is not None else ""
        if key:
            yield Sign(
                [entry.at for entry in run],
                {"agent": run[0].author, "key": key, "values": texts},
                f"{name(run[0].author)} gave {len(run)} final answers in a row that are pieces of one "
                f"({place([entry.at for entry in run])}): whoever read {name(key)} between got a piece, and it now "
                "holds the last.",
                "Have the model's adapter mark chunks as partial and send one whole answer at the end.",
            )


def _kept(session: DoctorSession) -> dict[str, str]:
    """Text -> a key that some event writes it under: a callback or an older store may do so by itself."""
    return {
        value: key for key, writers in session.deltas.items() for e in writers if isinstance(value := e.delta[key], str)
    }


def _are_pieces(texts: list[str]) -> bool:
    """Each goes on where the one before ended, or begins with a blank; or the last is all the others joined."""
    longer = any(b.startswith(a) and len(b) > len(a) for a, b in pairwise(texts))
    blank = any(text[:1] in (" ", "\t") for text in texts[1:])
    return longer or blank or (len(texts) > 2 and texts[-1] == "".join(texts[:-1]))


def runs(session: DoctorSession, belongs: Callable[[Entry], bool]) -> Iterator[list[Entry]]:
    """Events of one agent that follow each other on a branch and scope of a turn, nothing full between them."""
    for turn in session.turns:
        runs: dict[tuple[str, str], list[Entry]] = {}
        for entry in turn:
            if not entry.full:
                continue
            run = runs.get(entry.place, [])
            if not belongs(entry):
                ended, runs[entry.place] = run, []
            elif run and run[0].author != entry.author:
                ended, runs[entry.place] = run, [entry]
            else:
                ended, runs[entry.place] = [], [*run, entry]
            if ended:
                yield ended
        yield from (run for run in runs.values() if run)


def output_key_overwritten(session: DoctorSession) -> Iterator[Sign]:
    """In a turn two agents write different texts of theirs under one key, one after the other.

    Not so a refiner, whose instruction reads what it replaces.
    Source: spec/doctor.md output-key-overwritten; X2.3, X7.2
    """
    writers: dict[tuple[int, str], list[Entry]] = {}
    for entry in session.model_events:
        for key, value in entry.delta.items():
            if entry.text and value == entry.text:
                writers.setdefault((entry.turn, key), []).append(entry)
    for (_, key), entries in writers.items():
        for a, b in pairwise(entries):
            if a.author != b.author and a.text != b.text and key not in session.keys_read_by(b.author):
                yield Sign(
                    [a.at, b.at],
                    {"key": key, "agents": [a.author, b.author]},
                    f"{name(b.author)} overwrites {name(key)} in {place(b.at)}, which {name(a.author)} has written in "
                    f"{place(a.at)}: every later reader sees only the second answer.",
                    "Give each agent an output key of its own, or let the second read the key in its instruction.",
                )


def output_key_misses_text(session: DoctorSession) -> Iterator[Sign]:
    """Text shown beside calls is not in the answer that the key holds (a); an answer was not saved at all (b).

    Delegates on branches with `@` save otherwise; a file without actions says nothing about keys.
    Source: spec/doctor.md output-key-misses-text; X5.6, X7.2
    """
    beside: dict[tuple[int, str], list[Entry]] = {}
    for entry in session.full:
        if entry.author in ("", "user") or not entry.has_text or "@" in entry.branch or entry.protocol:
            continue
        if entry.calls and not entry.long_running:
            beside.setdefault((entry.turn, entry.author), []).append(entry)
            continue
        key = next((key for key, value in entry.delta.items() if value == entry.text), None)
        earlier = beside.get((entry.turn, entry.author), [])
        missed = [e.at for e in earlier if e.text.strip() not in entry.text]
        if key is not None and missed and entry.at in session.model_places:
            yield Sign(
                [*missed, entry.at],
                {"key": key, "agent": entry.author},
                f"{name(entry.author)} showed text beside calls ({place(missed)}) that {name(key)} does not hold: only "
                f"the text of the last event, {place(entry.at)}, is saved.",
                "Collect the texts in a tool or a callback if the key is to hold all of them.",
                case="a",
            )
        defined = session.definition(entry.author)
        saves = defined.output_key if defined is not None else ""
        if saves and entry.final and saves not in entry.delta and session.has_actions(entry):
            yield Sign(
                [entry.at],
                {"key": saves, "agent": entry.author},
                f"The answer of {name(entry.author)} in {place(entry.at)} is not saved under {name(saves)}: what a "
                "callback answers never is.",
                "Let the callback write the key itself.",
                case="b",
            )
