"""Connections of a live run that bring nothing: a loop without progress (spec/live.md §12.1).

Beside the 53 checks, since a stored session does not say what a connection was: only a run of our own does.
"""

from __future__ import annotations

from collections.abc import Sequence

from adknb.engine.event import Event, parts_of
from adknb.lens.doctor.finding import ERROR, WARNING, Finding

CHECK = "live-reconnects-in-vain"
MANY = 3
"""From so many connections in a row on that brought nothing it is no accident."""
ENDLESS = 10


def reconnects_in_vain(brought: Sequence[int], events: Sequence[Event] = ()) -> list[Finding]:
    """What is to be said of a run whose n-th connection brought `brought[n]` messages besides its acknowledgement.

    A finding for each row of at least `MANY` that brought nothing; `ENDLESS` of them are an error. The last connection
    counts only with one before it lost: it may still bring something. `events` are the stored ones: each lost
    connection has left an empty one.
    """
    found, row = [], 0
    rows: list[tuple[int, int]] = []  # first connection, how many
    for n, count in enumerate(brought):
        row = row + 1 if count == 0 else 0
        if row == 1:
            rows.append((n, 1))
        elif row:
            rows[-1] = (rows[-1][0], row)
    empty = [at for at, event in enumerate(events) if _says_nothing(event)]
    for first, many in rows:
        lost = many - (first + many == len(brought))  # the one under way is not lost yet
        if lost < MANY:
            continue
        found.append(
            Finding(
                check=CHECK,
                severity=ERROR if lost >= ENDLESS else WARNING,
                case="",
                events=tuple(empty[-many:]) if first + many == len(brought) else (),
                facts={"connections": lost, "first": first + 1},
                why=f"{lost} connections in a row, from connection {first + 1} on, were lost before the model had sent "
                "anything: the run dials again and again, at once and without an end, and gets no further.",
                do="Look at the close codes: 1008 is often a refused config or an expired handle. "
                "Runner(live_backoff=…) slows the loop down; close() ends it.",
            )
        )
    return found


def _says_nothing(event: Event) -> bool:
    """Whether it is an empty response of a model, as an acknowledgement leaves it (spec/live.md §8.1)."""
    marks = (event.turn_complete, event.interrupted, event.input_transcription, event.output_transcription)
    silent = not any(marks) and not event.error_code and not event.session_resumption_handle
    return event.author != "user" and not parts_of(event.content) and silent
