"""Where a Stepper stands, as small plain data: the panel's `view`, and what the text form says first."""

from __future__ import annotations

from typing import Any

from adknb.lens.flow_position import position_in
from adknb.lens.request_changes import Change, request_changes
from adknb.lens.visibility import viewers_of
from adknb.widgets.book import COMMANDS, DECLARE, STAGE_OF_PROCESSOR
from adknb.widgets.timeline import Timeline
from adknb.widgets.wire import clean_text, cut

Json = dict[str, Any]

BEFORE_IT_IS_SENT = ("processor", "tool_declaration", "before_model")
"""Seams at which the request can still be edited; at the model, only before the call."""


def commands_of(stepper: Any) -> set[str]:
    """The commands that a Stepper has."""
    return {name for name, *_ in COMMANDS if callable(getattr(stepper, name, None))}


def record_of(stepper: Any) -> Any:
    """The record of the present stop, or None once the run is over."""
    position = stepper.position
    return stepper.stops[position] if 0 <= position < len(stepper.stops) else None


def changes_of(stepper: Any, now: Json | None = None) -> list[Change]:
    """What changed in the request since the last pause. `now` is the request as it stands, if it is at hand.

    The last pause may have been at an earlier request. What this one has simply not come to yet is not told as gone.
    """
    now = stepper.request_shown if now is None else now
    changes = request_changes(stepper.request_before, now) if now is not None else []
    record = record_of(stepper)
    if record is None or record.seam != "processor":
        return changes
    stage = STAGE_OF_PROCESSOR.get(record.name, 0)
    to_come = [path for path, written_by in WRITTEN_BY.items() if stage <= written_by and _is_empty(now, path)]
    return [c for c in changes if not (c.op == "remove" and c.path.startswith(tuple(to_come)))]


WRITTEN_BY = {
    "/config/systemInstruction": STAGE_OF_PROCESSOR["identity"],
    "/contents": STAGE_OF_PROCESSOR["contents"],
    "/config/tools": DECLARE,
    "/tools": DECLARE,
}
"""Parts of a request, and the last stage that writes each."""


def _is_empty(now: Json | None, path: str) -> bool:
    at: Any = now
    for name in path.split("/")[1:]:
        at = (at or {}).get(name)
    return not at


def why_not_editable(stepper: Any) -> str:
    """Why the request cannot be edited at this stop; empty where it can."""
    stop = stepper.here
    if stop is None:
        return "The run is over."
    if stepper.request is None:
        return "No request is being built here."
    if stop.seam in BEFORE_IT_IS_SENT or (stop.seam == "model" and stop.phase == "before"):
        return ""
    return "This request has been sent; the next one can be edited."


def title(record: Any) -> str:
    """What a stop is called where there is little room: `contents`, `get_weather`, `append user`, `model`."""
    if record.seam == "turn":
        return "end of the turn"
    if record.seam in ("processor", "tool", "response_processor"):
        return str(record.name)
    if record.seam in ("model", "merge", "tool_declaration"):
        return {"tool_declaration": "declare"}.get(record.seam, str(record.seam))
    return f"{record.seam} {record.name}".strip()


def words(stop: Any) -> str:
    """A stop, or its record, in words: `after processor contents`, `before merge`, `end of the turn`."""
    if stop.seam == "turn":
        return "end of the turn"
    name = "" if stop.name == stop.seam else stop.name
    return clean_text(f"{stop.phase} {stop.seam} {name}".strip())


def crumbs(record: Any) -> list[str]:
    """`["Turn 1", "weather_agent", "Step 2"]`."""
    out = [f"Turn {record.turn}"]
    out += [record.agent] if record.agent else []
    out += [f"Step {record.step}"] if record.agent and record.step else []
    return out


def at(stepper: Any, timeline: Timeline) -> Json:
    """Where the run stands: crumbs, name and phase, and the sentence a screen reader is told."""
    record = record_of(stepper)
    if record is None:
        return {"crumb": [], "name": "over", "phase": "", "stop": "", "row": -1, "say": "The run is over."}
    return told(record, timeline)


def told(record: Any, timeline: Timeline) -> Json:
    """Where a stop stands, the present one or a past one; as `at`."""
    crumb = crumbs(record)
    name = title(record)
    phase = "" if record.seam == "turn" else str(record.phase)
    where = ", ".join(crumb[1:] or crumb)
    return {
        "crumb": [clean_text(c) for c in crumb],
        "name": clean_text(name),
        "phase": phase,
        "stop": f"stop {record.number}",
        "row": timeline.row_of[record.number],
        "say": clean_text(f"Stop {record.number}: {phase} {name}, {where}."),
    }


def stages(stepper: Any, timeline: Timeline) -> tuple[list[Json], int]:
    """The state of each stage of the Flow in the present step, and which is the present one (-1: none)."""
    record = record_of(stepper)
    row = timeline.rows[timeline.row_of[record.number]] if record is not None else None
    position = position_in(timeline.step_of(record), record, row.stage if row is not None else -1)
    out = []
    for k, stage in enumerate(position.stages):
        did = f"wrote {stage.wrote}" if stage.wrote else ""
        if not did and stage.finished and k <= DECLARE and not stage.noop:
            did = "added nothing"
        phrase = {
            "here": f"present, {position.phase}",
            "done": f"done, {did}" if did else "done",
            "next": "to come",
        }[stage.state]
        place = f"{k + 1} of {DECLARE}, " if k < DECLARE else ""
        label = f"{place}{stage.name.replace('_', ' ')}, {'no-op' if stage.noop else phrase}"
        full = bool(stage.wrote) or k > DECLARE  # what is behind the request writes no request: done is done
        out.append({"state": stage.state, "full": full, "says": f"{did}." if did else "", "label": clean_text(label)})
    return out, position.here


def notes(stepper: Any, problem: str = "", printed: str = "") -> Json:
    """What the reader is to be told: the last message, what went wrong, what was printed."""
    stop = stepper.here
    wrong = problem or stepper.problem
    if not wrong and stepper.error is not None and (stop is None or stop.seam == "turn"):
        wrong = f"Turn {stepper.turn} ended with {type(stepper.error).__name__}: {stepper.error}"
    return {
        "note": clean_text(cut(stepper.notice, 1_000)),
        "problem": clean_text(cut(wrong, 2_000)),
        "printed": clean_text(cut(printed, 4_000)),
    }


def agents_of(stepper: Any, viewer: Any) -> list[Json]:
    """The agents of the tree with branch and scope as last seen; those of the present viewer for its agent.

    `llm`: whether it reads contents at all.
    """
    root = getattr(getattr(getattr(stepper, "play", None), "runner", None), "agent", None)
    if root is None:
        return []
    placed = {v.agent_name: v for v in viewers_of(stepper.events, root, now=viewer)}
    out = []
    for agent in root.tree():
        at = placed.get(agent.name)
        place = {"branch": at.branch, "scope": at.isolation_scope} if at is not None else {"branch": "", "scope": ""}
        depth, up = 0, agent.parent
        while up is not None:
            depth, up = depth + 1, up.parent
        about = {"name": clean_text(agent.name), "depth": depth, "llm": at is not None}
        out.append(about | {k: clean_text(v) for k, v in place.items()})
    return out
