"""What `adknb open --json` prints: a recording, or a rebuilt request, as JSON."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from adknb.engine.event_json import to_json
from adknb.lens.table import event_table, unread_fields

if TYPE_CHECKING:
    from adknb.engine.processors.contents import Added, Fate
    from adknb.files.rebuild import Rebuilt
    from adknb.files.recording import Recording

Json = dict[str, Any]


def recording_json(recording: Recording) -> Json:
    """A recording: whose it is, its agents, its state, a row for each event (as `lens.event_table`)."""
    agents = recording.agents
    rows: list[Json] = event_table(recording.events)
    for row, event in zip(rows, recording.events, strict=True):
        if unread := unread_fields(event):
            row["unread"] = unread
    return {
        "file": recording.name,
        "kind": recording.kind,
        "session": recording.session_id,
        "app": recording.app_name,
        "user": recording.user_id,
        "sessions": [one["session"] for one in sessions_json(recording)] if len(recording.sessions) > 1 else [],
        "agents": [{"name": name, "parent": agents.parents.get(name)} for name in agents],
        "turns": recording.turns,
        "state": recording.state if recording.state_known else None,
        "events": rows,
        "unread": recording.unread(),
        "notes": recording.notes,
    }


def sessions_json(recording: Recording) -> list[Json]:
    """The sessions of a file, without reading them."""
    files = recording._files
    entries: Iterable[Any] = files.entries if files is not None else ()
    return [
        {
            "session": entry.session_id or str(i),
            "app": entry.app_name,
            "user": entry.user_id,
            "events": entry.events,
            "updated": entry.updated,
        }
        for i, entry in enumerate(entries)
    ]


def rebuilt_json(rebuilt: Rebuilt) -> Json:
    """A rebuilt request. `request` is null without a definition; `sent` is null where the file does not have it."""
    request = rebuilt.request
    return {
        "file": rebuilt.name,
        "agent": rebuilt.agent,
        "event": rebuilt.event,
        "before": rebuilt.before,
        "answered": rebuilt.answered,
        "branch": rebuilt.branch,
        "scope": rebuilt.scope,
        "problem": rebuilt.problem,
        "contents": to_json(rebuilt.contents),
        "fates": [_fate(fate) for fate in rebuilt.fates],
        "added": [_added(added) for added in rebuilt.added],
        "request": None
        if request is None
        else {"model": request.model, "config": to_json(request.config), "tools": sorted(request.tools)},
        "sent": rebuilt.sent,
        "unknown": rebuilt.unknown,
    }


def _fate(fate: Fate) -> Json:
    reasons = [{"stage": r.stage, "rule": r.rule, "why": r.why} for r in fate.reasons]
    return {"event": fate.event, "kind": fate.kind, "contents": list(fate.contents), "reasons": reasons}


def _added(added: Added) -> Json:
    return {"content": added.content, "rule": added.rule, "why": added.why}
