"""The doctor on a run of our own: its stored events, its state, its agents, and the requests as they were sent."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from adknb.engine.agent import Agent
from adknb.engine.event import Event
from adknb.lens.doctor.definitions import definitions_of
from adknb.lens.doctor.finding import Finding
from adknb.lens.doctor.loading import request_from_json
from adknb.lens.doctor.session import DoctorSession
from adknb.lens.doctor.table import examine

PREMATURE = ("unanswered-call", "confirmation-unanswered")
"""What may only seem so while a run is on its way: the next step can still bring it."""


def findings_of_run(
    events: Sequence[Event],
    state: Mapping[str, Any] | None = None,
    root: Agent | None = None,
    *,
    requests: Iterable[Mapping[str, Any]] = (),
    compaction: bool | None = None,
    running: bool = False,
    stream: bool = False,
) -> list[Finding]:
    """What the doctor finds in a run, or in what of it there is so far.

    `events`: the session's stored events, or with `stream` what a reader of the run received, chunks included. `state`:
    the session's, prefixes kept. `root`: the root of the agent tree. `requests`: as JSON objects with `config` and
    `tools` (names of the local table), perhaps `agent` and `event` (the position of the answer). `compaction`: whether
    the runner is configured for it. `running`: the run is paused, so what its last event waits for is no finding.

    Raises:
        BadData: a request is not as it should be.
    """
    session = DoctorSession(
        events,
        state=dict(state) if state is not None else None,
        definitions=definitions_of(root) if root is not None else None,
        compaction=compaction,
        stream=stream,
        sent=[request_from_json(one, len(events), f"requests[{i}]") for i, one in enumerate(requests)],
        acted=frozenset(range(len(events))),
    )
    found = examine(session)
    if not running or not session.full:
        return found
    last = session.full[-1].at
    return [one for one in found if one.check not in PREMATURE or max(one.events, default=-1) < last]
