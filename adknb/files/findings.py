"""The doctor on what was recorded: a Recording, a file with its sessions, or a session as a JSON object."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from adknb.engine.errors import BadData
from adknb.engine.event_json import snake
from adknb.files.reading import session_of
from adknb.files.recording import Recording, open
from adknb.files.shapes import event_of
from adknb.lens.doctor import DoctorSession, Finding, SentRequest, beside, definitions_from_json, examine
from adknb.lens.doctor import session_from_json as read

BESIDE = ("agents", "instruction", "compaction", "stream", "requests", "viewer")
"""What a file may say beside events and state (spec/doctor.md 0.1)."""


def doctor(given: str | os.PathLike[str] | Recording | Mapping[str, Any], *, agent: Any = None) -> list[Finding]:
    """What is wrong with a recorded session, or will surprise its reader: named checks, the worst findings first.

    `given`: a path as `adknb.open` takes it, a Recording, or a session as a JSON object (`events`, `state`, and where
    they are known `agents`, `instruction`, `compaction`, `stream`, `requests`, `viewer`). `agent` attaches a
    definition, as `Recording.with_agent` takes it. Of a file with several sessions all are examined, one after the
    other, and each finding has its session's id among the facts.

    Example: `[finding.check for finding in adknb.doctor("parcel.session.json")]` -> `["orphan-response"]`

    Raises:
        BadData: there is no such file, or it is no session; names the place.
        TypeError: it is neither of the three.
    """
    if isinstance(given, Recording):
        return findings(given if agent is None else given.with_agent(agent))
    if isinstance(given, Mapping):
        return examine(_of_object(dict(given), agent))
    if not isinstance(given, (str, os.PathLike)):
        raise TypeError(f"the doctor takes a path, a Recording or a session as a dict, not {type(given).__name__}")
    recordings = list(open(given, agent=agent).sessions)
    if len(recordings) == 1:
        return findings(recordings[0])
    return [
        replace(found, facts={"session": one.session_id, **found.facts})
        for one in recordings
        for found in findings(one)
    ]


def findings(recording: Recording) -> list[Finding]:
    """What the doctor finds in one recorded session."""
    return examine(doctor_session(recording))


def doctor_session(recording: Recording) -> DoctorSession:
    """A Recording as the checks read it; what is beside its events and state comes from the file, or was attached."""
    told = _beside(recording)
    trees = recording.agent_trees
    sent = [
        SentRequest(event=at, agent=recording.events[at].author, config=request.get("config"))
        for at, request in sorted(recording.sent.items())
        if at < len(recording.events)
    ]
    return DoctorSession(
        recording.events,
        state=recording.state if recording.state_known else None,
        definitions=definitions_from_json(trees) if trees else told["definitions"],
        instruction=told["instruction"],
        compaction=told["compaction"],
        stream=told["stream"] or recording.bare_list,
        sent=[*told["sent"], *sent],
        viewer=told["viewer"],
        expectations=recording.expectations,
        acted=_acted(recording),
    )


def _of_object(given: dict[str, Any], agent: Any) -> DoctorSession:
    """A session object of 0.1; one in another published shape goes the way of a file."""
    if isinstance(given.get("events"), list):
        session = read(given, "session", event_of)
    else:
        session = doctor_session(Recording(session_of(given, "session")))
    if agent is not None:
        from adknb.files.definition import definition_of

        session.definitions = definitions_from_json(definition_of(agent).trees)
    return session


def _beside(recording: Recording) -> dict[str, Any]:
    """What the file says beside events and state. A field of that name that is something else is no fault here."""
    extra = {snake(key): value for key, value in recording.extra.items()}
    told = {}
    for name in BESIDE:
        try:
            beside({name: extra.get(name)}, len(recording.events), recording.name)
        except BadData:
            continue
        told[name] = extra.get(name)
    return beside(told, len(recording.events), recording.name)


def _acted(recording: Recording) -> frozenset[int] | None:
    """The positions of events that came with an `actions` object; None if they were made, not read from JSON."""
    origins = recording._session.origins
    if not origins:
        return None
    acted = set()
    for at, event in enumerate(recording.events):
        origin = origins.get(id(event))
        raw = origin[1] if origin is not None else {"actions": {}}
        if isinstance(raw, dict) and any(raw.get(key) is not None for key in ("actions", "Actions", "options")):
            acted.add(at)
    return frozenset(acted)
