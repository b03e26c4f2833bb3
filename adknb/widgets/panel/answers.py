"""What the panel answers when a view asks: a page, the picture of an assembly, an event, the text of the request."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from adknb.engine.errors import AdknbError
from adknb.engine.event_json import to_json
from adknb.engine.llm_settings import settings_of
from adknb.engine.processors.contents import Viewer, assemble, viewer_of
from adknb.lens.request_changes import Change, request_changes
from adknb.widgets.contents_picture import fates_column, picture
from adknb.widgets.held import held_blocks
from adknb.widgets.pages import request_page, state_page, summary
from adknb.widgets.tools_table import tools_table

Json = dict[str, Any]


def page(stepper: Any, name: str, against: str, changes: Sequence[Change]) -> Json:
    """A plain page as blocks. `changes` are those since the last pause; `against` is "stop" or "request"."""
    if name == "State":
        written = ((i, e.author, e.actions.state_delta) for i, e in enumerate(stepper.events))
        deltas = [(i, author, to_json(delta)) for i, author, delta in written if delta]
        return {"columns": state_page(to_json(dict(stepper.state)), deltas), "sum": ""}
    now = stepper.request_shown
    compared = stepper.request_before is not None
    if against == "request":
        last = last_request(stepper)
        changes, compared = (request_changes(last, now) if last and now else []), last is not None
    tools = tools_table(now, stepper.request, stepper.here)
    columns = request_page(now, changes, tools, held_blocks(stepper.here))
    return {"columns": columns, "sum": summary(changes, compared) if now else ""}


def last_request(stepper: Any) -> Json | None:
    """The request that was sent before the one at hand, by whichever agent; None if there was none."""
    sent = stepper.requests
    stops = stepper.stops
    here = stops[stepper.position] if 0 <= stepper.position < len(stops) else stops[-1] if stops else None
    place = None if here is None else (here.turn, here.agent, here.step)
    at_hand_is_sent = any(
        r.seam == "model" and r.phase == "after" and (r.turn, r.agent, r.step) == place for r in stops[-200:]
    )
    before = sent[:-1] if at_hand_is_sent else sent
    return before[-1] if before else None


def viewer_here(stepper: Any, invocation: Any) -> Viewer | None:
    """Who reads the contents at this stop: the running agent, else the one of the latest request."""
    if invocation is not None and hasattr(invocation, "isolation_scope"):
        return viewer_of(invocation)
    assembly = stepper.assembly
    return assembly.ledger.viewer if assembly is not None else None


def assembly_of(stepper: Any, viewer: Viewer, invocation: Any) -> Any:
    """What the viewer's next request would hold of the events so far, pass by pass.

    Raises:
        UnmatchedResponse: the run would end there.
    """
    private: list[Any] = []
    after = 0
    if invocation is not None and invocation.agent.name == viewer.agent_name:
        private, after = list(invocation.private_events), invocation.private_after
    return assemble(stepper.events, viewer, passes=True, private_events=private, private_after=after)


def assembly(stepper: Any, rows: Sequence[Any], invocation: Any, asked: Json | None, opened: Sequence[int]) -> Json:
    """The picture for the run's own viewer, or for the one asked for, compared with the run's own."""
    own = viewer_here(stepper, invocation)
    if own is None:
        return {"viewer": None, "none": "No agent has begun to build a request yet."}
    viewer = viewer_asked_for(own, asked, stepper) if asked else own
    try:
        made = assembly_of(stepper, viewer, invocation)
        other = assembly_of(stepper, own, invocation) if viewer != own else None
    except AdknbError as error:
        return {"viewer": viewer_json(viewer), "error": str(error)}
    latest = stepper.assembly
    sent = other is None and latest is not None and latest.ledger.event_count == len(rows)
    return {"viewer": viewer_json(viewer), "sent": sent, **picture(made, rows, opened, other)}


def fates(stepper: Any, invocation: Any) -> Json:
    """For the event table: what would become of each event in the next request."""
    viewer = viewer_here(stepper, invocation)
    try:
        return fates_column(assembly_of(stepper, viewer, invocation)) if viewer is not None else NO_FATES
    except AdknbError:
        return NO_FATES


NO_FATES: Json = {"letters": "", "to": [], "tag": [], "tags": [""]}


def viewer_asked_for(own: Viewer, asked: Json, stepper: Any) -> Viewer:
    """The run's viewer with what the reader has changed; another agent brings its own settings."""
    viewer = own
    name = str(asked.get("agent") or own.agent_name)
    if name != own.agent_name:
        settings = settings_of(stepper.play.runner.agent.find(name))
        mode = settings.mode if settings is not None else ""
        include = settings.include_contents if settings is not None else ""
        viewer = Viewer(name, include_contents=include, mode=mode, compaction=own.compaction)
    return replace(
        viewer,
        branch=str(asked.get("branch", viewer.branch)),
        isolation_scope=str(asked.get("scope", viewer.isolation_scope)),
        include_contents=str(asked.get("include", viewer.include_contents)),
        compaction=bool(asked.get("compaction", viewer.compaction)),
    )


def viewer_json(viewer: Viewer | None) -> Json | None:
    """A viewer as the what-if form has it."""
    if viewer is None:
        return None
    return {
        "agent": viewer.agent_name,
        "branch": viewer.branch,
        "scope": viewer.isolation_scope,
        "include": viewer.include_contents,
        "compaction": viewer.compaction,
    }
