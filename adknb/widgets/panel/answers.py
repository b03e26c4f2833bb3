"""What the panel answers when a view asks: a page, the picture of an assembly, who sees what, where we are."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from adknb.engine.errors import AdknbError, BadData, UnmatchedResponse
from adknb.engine.processors.contents import Viewer, viewer_of
from adknb.lens.assembling import looked_at
from adknb.lens.visibility import meeting, meeting_in
from adknb.widgets import branches, findings, graphs, screen, source, state
from adknb.widgets.contents_picture import fates_column, picture
from adknb.widgets.dot import Graph
from adknb.widgets.layout import layout

Json = dict[str, Any]


class Kept:
    """What one panel keeps between questions: assemblies of the session as it stands, and the matrix.

    Most stops leave the session as it was; then nothing is assembled again, and a view that holds the last answer is
    told that it is still right. `forget` is for a view that is opened: the reader may have edited stored events.
    """

    def __init__(self) -> None:
        self.patient = False
        """Whether whoever asks can wait: nothing is then left for another question."""
        self.matrix = branches.Matrix()
        self.version = 0
        self._made: list[tuple[Any, Any]] = []
        self._answers: list[tuple[Any, int, Json]] = []
        self._of: tuple[int, Any] = (-1, None)
        self._found: tuple[Any, int, Viewer | None, list[Any]] | None = None

    def forget(self) -> None:
        """Assemble anew when asked next."""
        self._made, self._answers = [], []
        self.matrix.forget()

    def assembly(self, stepper: Any, viewer: Viewer, invocation: Any, passes: bool = True) -> Any:
        """The viewer's assembly of the events so far, with its passes. Raises UnmatchedResponse."""
        events = stepper.events
        last = events[-1] if events else None
        if self._of[0] != len(events) or self._of[1] is not last:
            self._of, self._made, self._answers = (len(events), last), [], []
        private = private_of(viewer, invocation)
        key = (viewer, len(private["private_events"]), private["private_after"])
        known = next((made for k, made in self._made if k == key and (made.passes is not None or not passes)), None)
        if known is None:
            known = looked_at(events, viewer, passes=passes, **private)
            others = [(k, made) for k, made in self._made if k != key]
            self._made = [*others[-7:], (key, known)]
        return known

    def findings(self, stepper: Any, viewer: Viewer | None, asked: bool) -> list[Any] | None:
        """The doctor's findings; of a long session those of the last asking, None once events have come since."""
        events = stepper.events
        last, known = events[-1] if events else None, self._found
        if known is None or known[0] is not last or known[1:3] != (len(events), viewer):
            if len(events) > findings.LONG and not (asked or self.patient):
                return None
            known = self._found = (last, len(events), viewer, findings.findings_of(stepper, viewer))
        return known[3]

    def answer(self, question: Any) -> tuple[int, Json | None]:
        """An answer that was given since the session last changed, with its version; a new version if there is none."""
        for asked, version, answer in self._answers:
            if asked == question:
                return version, answer
        self.version += 1
        return self.version, None

    def keep(self, question: Any, version: int, answer: Json) -> None:
        """Keep an answer until the session changes."""
        self._answers = [*self._answers[-3:], (question, version, answer)]


def page(
    stepper: Any, name: str, message: Mapping[str, Any] | None = None, invocation: Any = None, kept: Kept | None = None
) -> Json:
    """A plain page as blocks: State, Findings or Source. (The request's: `requests.py`.)

    Raises:
        BadData: there is no page of that name.
    """
    asked = message or {}
    if name == "State":
        return {"columns": state.state_page(state.changes_of(stepper), str(asked.get("key") or "")), "sum": ""}
    if name == "Findings":
        kept = kept or Kept()
        found = kept.findings(stepper, viewer_here(stepper, invocation), bool(asked.get("examine")))
        return {"columns": findings.findings_page(stepper, found), "sum": ""}
    if name == "Source":
        stage, show = asked.get("stage"), asked.get("show")
        picked = stage if isinstance(stage, int) and not isinstance(stage, bool) else -1
        return {"sum": "", **source.source_page(stepper, picked, str(show or "here"))}
    if name in extra_tabs(stepper):
        return EXTRA[name][1](stepper, asked)
    raise BadData("page", f"there is no page {name!r}")


def _live(stepper: Any, asked: Mapping[str, Any]) -> Json:
    return {"lanes": stepper.wire.rows}


def _screen(stepper: Any, asked: Mapping[str, Any]) -> Json:
    return screen.page(stepper, bool(asked.get("ask")))


EXTRA: dict[str, tuple[Callable[[Any], bool], Callable[[Any, Mapping[str, Any]], Json]]] = {
    "Live": (lambda stepper: hasattr(stepper, "live_findings"), _live),
    "Screen": (screen.streams, _screen),
}
"""Views that only some runs have: which, and what they show."""


def extra_tabs(stepper: Any) -> list[str]:
    """The tabs besides those that every run has."""
    return [name for name, (there, _) in EXTRA.items() if there(stepper)]


def viewer_here(stepper: Any, invocation: Any) -> Viewer | None:
    """Who reads the contents at this stop: the running agent, else the one of the latest request."""
    if invocation is not None and hasattr(invocation, "isolation_scope"):
        return viewer_of(invocation)
    assembly = stepper.assembly
    return assembly.ledger.viewer if assembly is not None else None


def private_of(viewer: Viewer, invocation: Any) -> Json:
    """What `assemble` is told of events that only the running agent sees."""
    mine = invocation is not None and hasattr(invocation, "private_events")
    if not mine or invocation.agent.name != viewer.agent_name:
        return {"private_events": [], "private_after": 0}
    return {"private_events": list(invocation.private_events), "private_after": invocation.private_after}


def assembly(
    stepper: Any,
    rows: Sequence[Any],
    invocation: Any,
    asked: Json | None,
    opened: Sequence[int],
    kept: Kept | None = None,
    have: int | None = None,
) -> Json:
    """The picture for the run's own viewer, or for the one asked for, compared with the run's own.

    `have` is the version that the view holds: if it is still right, no more than that is said.
    """
    kept = kept or Kept()
    own = viewer_here(stepper, invocation)
    if own is None:
        return {"viewer": None, "none": "No agent has begun to build a request yet."}
    viewer = viewer_asked_for(own, asked, stepper) if asked else own
    try:
        made = kept.assembly(stepper, viewer, invocation)
        other = kept.assembly(stepper, own, invocation) if viewer != own else None
    except AdknbError as error:
        return {"viewer": viewer_json(viewer), "error": str(error)}
    latest = stepper.assembly
    sent = other is None and latest is not None and latest.ledger.event_count == len(rows)
    told = {"viewer": viewer_json(viewer), "sent": sent}
    question = (viewer, own, tuple(opened), len(rows))
    version, shown = kept.answer(question)
    if shown is None:
        shown = picture(made, rows, opened, other)
        kept.keep(question, version, shown)
    elif have == version:
        return {**told, "v": version, "same": True}
    return {**told, "v": version, **shown}


def matrix(stepper: Any, invocation: Any, kept: Kept, agents: Sequence[Json], have: int | None = None) -> Json:
    """Who sees what: as many rows as can be made without holding the kernel up; `more` says that some are missing."""
    events = stepper.events
    kept.matrix.update(events, branches.viewers_at(stepper, viewer_here(stepper, invocation)))
    seconds = math.inf if kept.patient else branches.AT_ONCE
    kept.matrix.make(events, lambda viewer: private_of(viewer, invocation), seconds)
    return kept.matrix.message(agents, have)


def meet(stepper: Any, invocation: Any, kept: Kept, agent: str, event: int) -> Json:
    """One cell of the matrix in full.

    Raises:
        BadData: there is no such agent or event any more.
    """
    viewers = kept.matrix.viewers or branches.viewers_at(stepper, viewer_here(stepper, invocation))
    viewer = next((v for v in viewers if v.agent_name == agent), None)
    if viewer is None or not 0 <= event < len(stepper.events):
        raise BadData("message", f"no cell of agent {agent!r} and event {event}")
    try:
        made = kept.assembly(stepper, viewer, invocation, passes=False)
    except UnmatchedResponse:
        return branches.cell(meeting(stepper.events, viewer, event, **private_of(viewer, invocation)))
    return branches.cell(meeting_in(made, stepper.events, event))


def where(stepper: Any) -> Json:
    """The agents and one step of the Flow as graphs: positions found by `dot`, drawn by the panel."""
    return {"agents": graph_json(graphs.agents_of(stepper)), "flow": graph_json(graphs.flow_of(stepper))}


def graph_json(graph: Graph) -> Json:
    """A graph with where everything is.

    nodes  [id, x, y, width, height, label, sub, looks, tip, key]
    edges  [tail, head, looks, label, label x, label y, points, way]
    """
    at = layout(graph)
    nodes = []
    for n in graph.nodes:
        x, y = at.nodes[n.id]
        nodes.append(
            [n.id, round(x, 1), round(y, 1), *map(round, n.size), n.label, n.sub, " ".join(n.looks), n.tip, n.key]
        )
    edges = []
    for e, curve, label in zip(graph.edges, at.edges, at.labels, strict=True):
        lx, ly = label or (0.0, 0.0)
        points = [round(v, 1) for point in curve for v in point]
        edges.append([e.tail, e.head, " ".join(e.looks), e.label, round(lx, 1), round(ly, 1), points, e.way])
    size = [round(at.width), round(at.height)]
    return {"size": size, "by": at.by, "columns": list(graph.columns), "nodes": nodes, "edges": edges}


def fates(stepper: Any, invocation: Any, kept: Kept | None = None) -> Json:
    """For the event table: what would become of each event in the next request."""
    viewer = viewer_here(stepper, invocation)
    try:
        if viewer is None:
            return NO_FATES
        return fates_column((kept or Kept()).assembly(stepper, viewer, invocation, passes=False))
    except AdknbError:
        return NO_FATES


NO_FATES: Json = {"letters": "", "to": [], "tag": [], "tags": [""]}


def viewer_asked_for(own: Viewer, asked: Json, stepper: Any) -> Viewer:
    """The run's viewer with what the reader has changed; another agent brings its own settings."""
    viewer = own
    name = str(asked.get("agent") or own.agent_name)
    if name != own.agent_name:
        known = next((v for v in branches.viewers_at(stepper, own) if v.agent_name == name), Viewer(name))
        viewer = replace(known, compaction=own.compaction)
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
