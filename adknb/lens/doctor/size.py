"""Size, secrets, live sessions (spec/doctor.md, I)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from adknb.engine.processors.compaction import characters
from adknb.engine.processors.contents import Viewer
from adknb.lens.doctor.entry import Entry, inline_data, json_length, name_of
from adknb.lens.doctor.finding import ERROR, NOTE, Sign, name, names, place
from adknb.lens.doctor.pieces import piece
from adknb.lens.doctor.session import DoctorSession
from adknb.lens.doctor.summaries import usable

PAYLOAD_CHARACTERS, PAYLOAD_BYTES = 50_000, 1_000_000
RESENT = 3
GROWN_TOKENS, GROWN_CONTENTS, GROWN_CHARACTERS = 100_000, 20, 400_000
FRAGMENTS = 3


def secret_in_session(session: DoctorSession) -> Iterator[Sign]:
    """State, deltas, arguments, results or texts hold what looks like a secret. One for each; it is never told.

    Source: spec/doctor.md secret-in-session; X2.1
    """
    for secret in session.secrets:
        where = secret.places[0] + (f", and {len(secret.places) - 1} more places" if len(secret.places) > 1 else "")
        under = f" under {name(secret.name)}" if secret.name else ""
        yield Sign(
            secret.events,
            {"places": secret.places, "name": secret.name, "kind": secret.kind},
            f"What looks like {secret.kind} stands{under} in {where}: it is stored, and sent with each request that "
            "holds it.",
            "Keep it outside of the session, and reissue it.",
        )


def large_payload(session: DoctorSession) -> Iterator[Sign]:
    """One text, argument list, result or state value is very large, or inline data is.

    Source: spec/doctor.md large-payload
    """
    for entry in session.whole:
        for where, size in _sizes(entry):
            yield _large([entry.at], f"{place(entry.at)}, {where}", where, size, "characters")
        for data in inline_data(entry):
            if len(data) > PAYLOAD_BYTES:
                yield _large([entry.at], f"{place(entry.at)}, inline data", "inline data", len(data), "bytes")
    for key, value in (session.state or {}).items():
        size = json_length(value, PAYLOAD_CHARACTERS) if key not in session.deltas else 0
        if size > PAYLOAD_CHARACTERS:
            yield _large([], f"the state, {name(key)}", f"state.{key}", size, "characters")


def _sizes(entry: Entry) -> Iterator[tuple[str, int]]:
    """What is too large in an event: where, and how many characters it has."""
    values: list[tuple[str, Any]] = [(f"delta.{key}", value) for key, value in entry.delta.items()]
    for part in entry.parts:
        if len(part.text or "") > PAYLOAD_CHARACTERS:
            yield "a text", len(part.text or "")
        if (call := part.function_call) is not None and call.args:
            values.append((f"args of {name_of(call)}", call.args))
        if (response := part.function_response) is not None and response.response:
            values.append((f"response of {name_of(response)}", response.response))
    for where, value in values:
        size = json_length(value, PAYLOAD_CHARACTERS)
        if size > PAYLOAD_CHARACTERS:
            yield where, size


def _large(events: list[int], told: str, where: str, size: int, unit: str) -> Sign:
    return Sign(
        events,
        {"place": where, "size": size, "unit": unit},
        f"{told[0].upper()}{told[1:]}: {size:,} {unit}, paid for in every later request.",
        "Save it as an artifact and return a summary.",
    )


def inline_data_resent(session: DoctorSession) -> Iterator[Sign]:
    """An event with inline data of some size is in three requests or more.

    Source: spec/doctor.md inline-data-resent; R5.27
    """
    for at, times in sorted(session.requests.copies.items()):
        if times >= RESENT:
            yield Sign(
                [at],
                {"count": times},
                f"The inline data of {place(at)} is sent in {times} requests, and paid for in each.",
                "Save it as an artifact, and load it where it is needed.",
            )


def history_growth(session: DoctorSession) -> Iterator[Sign]:
    """Without compaction the prompt has grown large: by the model's own count (a), or by the last request's text (b).

    Large from the first turn on, it is a payload and no growth.
    Source: spec/doctor.md history-growth; C3
    """
    if session.compacting or session.once(usable):
        return
    counts = []
    for entry in session.whole:
        usage = entry.event.usage_metadata
        if usage is not None and (usage.prompt_token_count or 0) > 0:
            counts.append((entry, usage.prompt_token_count or 0))
    if counts and counts[-1][1] >= max(GROWN_TOKENS, 2 * counts[0][1]):
        last, tokens = counts[-1]
        yield Sign(
            [last.at],
            {"tokens": tokens, "first": counts[0][1]},
            f"The prompt has grown from {counts[0][1]:,} tokens to {tokens:,} ({place(last.at)}); nothing bounds it.",
            "Configure compaction.",
            case="a",
        )
        return
    asked = [request for request in session.requests.built if request.answer is not None] or session.requests.built
    if asked and asked[-1].before >= GROWN_CONTENTS - 2:  # two contents may be the assembly's own
        request = asked[-1]
        contents = session.requests.contents(request)
        size = characters(contents) if len(contents) >= GROWN_CONTENTS else 0
        if size >= GROWN_CHARACTERS:
            yield Sign(
                [request.answer.at] if request.answer is not None else [],
                {"contents": len(contents), "characters": size},
                f"The last request of {name(request.agent)} has {len(contents)} contents with {size:,} characters; "
                "nothing bounds it.",
                "Configure compaction.",
                case="b",
            )


def transcription_fragments(session: DoctorSession) -> Iterator[Sign]:
    """Speech is stored in pieces (a), or words that were spoken are in no request (b).

    Finished transcriptions are whole; two pieces are joined without harm.
    Source: spec/doctor.md transcription-fragments; R5.14, R10.14, L7
    """
    if not session.transcribed:
        return
    for direction, run in _fragments(session):
        yield Sign(
            [entry.at for entry in run],
            {"direction": direction, "count": len(run)},
            f"{len(run)} unfinished {direction} transcriptions follow each other "
            f"({place([entry.at for entry in run])}): speech was stored piece by piece.",
            "Store finished transcriptions only.",
            case="a",
            severity=NOTE,
        )
    lost: dict[str, list[Entry]] = {}
    for at in sorted({*session.requests.unheard, *_unheard_by_the_last(session)}):
        entry = session.entries[at]
        lost.setdefault("input" if entry.heard and not entry.spoken else "output", []).append(entry)
    for direction, entries in lost.items():
        places = [entry.at for entry in entries]
        yield Sign(
            places,
            {"direction": direction, "count": len(places), "authors": sorted({entry.author for entry in entries})},
            f"The {direction} transcription{'' if len(places) == 1 else 's'} of {place(places)} by "
            f"{names(dict.fromkeys(entry.author for entry in entries))} wait for another of their kind that never "
            "comes, or stand beside one that counts: the words are lost.",
            "Store finished transcriptions, each in an event of its own.",
            case="b",
            severity=ERROR,
        )


def _fragments(session: DoctorSession) -> Iterator[tuple[str, list[Entry]]]:
    """Runs of unfinished pieces of speech in one direction, with nothing said or heard between them."""
    direction, run = "", list[Entry]()
    for entry in session.whole:
        if not entry.full and not entry.transcribed:
            continue
        said = entry.event.input_transcription if entry.heard else entry.event.output_transcription
        piece_of = "" if entry.full or said is None or said.finished or not said.text else _direction(entry)
        if piece_of != direction or not piece_of:
            if len(run) >= FRAGMENTS:
                yield direction, run
            direction, run = piece_of, []
        if piece_of:
            run.append(entry)
    if len(run) >= FRAGMENTS:
        yield direction, run


def _direction(entry: Entry) -> str:
    return "input" if entry.heard else "output"


def _unheard_by_the_last(session: DoctorSession) -> list[int]:
    """The events whose transcription the last author would miss if it were asked once more."""
    last = session.last_agent
    if last is None:
        return []
    viewer = Viewer(last.author, branch=last.branch, isolation_scope=last.scope, compaction=session.compacting)
    history = session.requests.history
    return [history[at].at for at in piece(history, 0, len(history), viewer, last=True).unheard]
