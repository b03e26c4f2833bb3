"""What the panel of a recording says about one event: the request it answers, what the file cannot tell, findings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adknb.files.beside import sent_lines
from adknb.files.explain import added_text
from adknb.lens.request_changes import Change, request_changes
from adknb.widgets import findings
from adknb.widgets.brief import event_line, plural
from adknb.widgets.pages import Block, contents_blocks, request_page, summary
from adknb.widgets.state import state_page
from adknb.widgets.tools_table import tools_table
from adknb.widgets.wire import clean_text, cut

if TYPE_CHECKING:
    from adknb.files.rebuild import Rebuilt
    from adknb.widgets.recording_tape import Tape

Json = dict[str, Any]

AGAINST = [["request", "this agent’s last request"]]
"""What a recorded request is compared with."""


def page(tape: Tape, asked: Json) -> Json | None:
    """A page of the panel as blocks; None if a recording has no such page."""
    name = asked.get("name")
    if name == "Request":
        return request(tape)
    if name == "State":
        return {"columns": state_page(tape.state_changes(), str(asked.get("key") or "")), "sum": ""}
    if name == "Findings":
        wanted = bool(asked.get("examine")) or len(tape.stops) <= findings.LONG
        found = tape.findings() if wanted else None
        held = findings.invariant_blocks(tape.invariants, tape.assembly, "Must hold of the request at this event")
        return {"columns": [[*findings.doctor_blocks(found, len(tape.stops)), *held]], "sum": ""}
    return None


def request(tape: Tape) -> Json:
    """The request that the event answers, or that would have come next, and what the file cannot tell of it."""
    rebuilt, now, before = tape.rebuilt, tape.request_shown, tape.request_before
    if rebuilt is None or now is None:
        why = tape.problem or "The recording has no events."
        return {"columns": [[*_asked(tape), ["p", ["bad", ["i", "warn"], clean_text(why)]]]], "sum": "", "stop": None}
    changes: list[Change] = request_changes(before, now) if before is not None else []
    if rebuilt.request is not None:
        columns = request_page(now, changes, tools_table(now, rebuilt.request, None), _asked(tape))
        columns[1] = [*_unknown(rebuilt), *columns[1]]
    else:
        columns = [[*_asked(tape), *contents_blocks(now["contents"], changes)], _unknown(rebuilt)]
    return {"columns": columns, "sum": summary(changes, before is not None), "stop": None}


def _asked(tape: Tape) -> list[Block]:
    """Whose request is shown, and the event that was chosen."""
    rebuilt = tape.rebuilt
    if rebuilt is None:
        return []
    event = tape.recording.events[tape.position]
    said: Block = ["table", None, [[[["ev", tape.position]], [["au", event.author], " ", event_line(event, 2_000)]]]]
    if rebuilt.answered:
        return [["h", f"What {clean_text(rebuilt.agent)} was given", ["mut", "before it said this"]], said]
    at = f"no model wrote event {tape.position}: this is the request that would have come next"
    return [["h", f"What {clean_text(rebuilt.agent)} would be given", ["mut", at]], said]


def _unknown(rebuilt: Rebuilt) -> list[Block]:
    """What stands in the request by itself, what was really sent, and what the file cannot tell."""
    blocks: list[Block] = []
    for added in rebuilt.added:
        blocks.append(["p", cut(clean_text(added_text(added)), 2_000)])
    if lines := sent_lines(rebuilt, 90):
        blocks += [["h", "As it was really sent"], ["pre", clean_text("\n".join(line.strip() for line in lines[1:]))]]
    if rebuilt.unknown:
        rows = [{"look": "note", "by": [["i", "note"]], "text": [[clean_text(said)]]} for said in rebuilt.unknown]
        blocks += [["h", "What the file cannot tell", ["mut", plural(len(rows), "thing")]], ["rows", "found", rows]]
    return blocks
