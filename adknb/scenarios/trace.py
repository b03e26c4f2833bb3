"""Run a scenario to its end and write down what happened, in the form that is compared with the reference.

Source: golden/README.md (A trace, Also).
"""

from __future__ import annotations

from contextlib import closing
from typing import Any

from adknb.engine.errors import AdknbError, BadData, NotBuiltYet
from adknb.engine.event import Event
from adknb.engine.event_json import to_json
from adknb.engine.session import SessionMissing
from adknb.scenarios.build import Built, Turn, build
from adknb.scenarios.scripted import ScriptedError

UNBUILT = "unbuilt"
"""The `where` of an error that is adknb's own: a feature that is not there yet. The reference never says it."""


def trace(scenario: dict[str, Any]) -> dict[str, Any]:
    """All turns of a scenario: `{"name", "trace": [entry, …], "session": {"events", "state"}}`.

    A run's error is an entry, and the next turn still runs. NotBuiltYet is an entry too, with `where` "unbuilt" and the
    feature as its note; the trace ends there.

    Raises:
        BadData: the scenario is not as it should be; nothing was run.
    """
    log: list[dict[str, Any]] = []
    session: dict[str, Any] = {"events": [], "state": {}}
    try:
        built = build(scenario, log)
    except BadData:
        raise
    except NotBuiltYet as error:
        log.append(_error(UNBUILT, error))
    except (AdknbError, ValueError) as error:
        log.append(_error("setup", error))
    else:
        for n, turn in enumerate(built.turns):
            log.append({"at": "turn", "n": n})
            if not _play(built, turn, log):
                break
        session = _stored(built)
    return {"name": scenario["name"], "trace": log, "session": session}


def _play(built: Built, turn: Turn, log: list[dict[str, Any]]) -> bool:
    """Play one turn, reading as far as the scenario's reader does. False when the rest is not worth running."""
    seen = 0
    try:
        with closing(built.iter(turn)) as items:
            for event in items:
                if not isinstance(event, Event):
                    continue
                seen += 1
                if carries_something(event):
                    log.append({"at": "event", "event": {**event.to_json(), **_finality(event)}})
                if seen == turn.stop_after:
                    break
                if seen >= built.event_limit:
                    log.append({"at": "error", "where": "limit", "note": f"more than {built.event_limit} events"})
                    break
    except NotBuiltYet as error:
        log.append(_error(UNBUILT, error))
        return False
    except Exception as error:  # whatever it is, it has ended this turn
        at = getattr(error, "logged_at", None)
        log.insert(_before_after_run(log) if at is None else at, _error("run", error))
    return True


def carries_something(event: Event) -> bool:
    """Whether a reader would see anything of an event (golden/README.md, A trace)."""
    actions = event.actions
    return event.content is not None or any(
        (
            actions.state_delta,
            actions.artifact_delta,
            actions.transfer_to_agent,
            actions.escalate,
            actions.compaction,
            event.error_code,
            event.error_message,
            event.interrupted,
            event.turn_complete,
            event.input_transcription,
            event.output_transcription,
            event.usage_metadata,
        )
    )


def _finality(event: Event) -> dict[str, bool]:
    return {"final": True} if event.is_final_response() else {}


def _before_after_run(log: list[dict[str, Any]]) -> int:
    """Where a turn's error belongs: the reader is told of it before the after_run hooks run, as in Go.

    Our iterator raises only when they are done.
    """
    at = len(log)
    while at and log[at - 1].get("hook") == "after_run":
        at -= 1
    return at


def _error(where: str, error: Exception) -> dict[str, Any]:
    """The entry of an error; one that is neither the engine's nor the script's is told with its type."""
    note = error.feature if isinstance(error, NotBuiltYet) else str(error)
    if not isinstance(error, (AdknbError, ScriptedError)):
        note = f"{type(error).__name__}: {note}"
    return {"at": "error", "where": where, "note": note}


def _stored(built: Built) -> dict[str, Any]:
    try:
        session = built.session
    except SessionMissing:
        return {"events": [], "state": {}}
    events = [event.to_json() for event in session.events if carries_something(event)]
    return {"events": events, "state": to_json(session.state)}
