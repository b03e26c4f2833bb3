"""The views as text: stable from run to run, so that a notebook's output is an assertion.

    text_form(dbg, "Branches")

No addresses, no durations, no times. Each view's own form stands in its module; that of the contents and of where we
are stand here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from adknb.engine.errors import AdknbError, BadData
from adknb.lens.contents_fates import contents_fates
from adknb.lens.words import cells, one_line, pad, positions, shorten
from adknb.widgets import branches, brief, findings, graphs, source, state
from adknb.widgets.brief import plural
from adknb.widgets.panel.answers import Kept, viewer_here

MOST = 60
"""Of more events the last are shown; what is before them is counted."""


def text_form(stepper: Any, name: str) -> str:
    """A view of a run at its present stop, by the name of its tab.

    Raises:
        BadData: there is no view of that name; names those that there are.
    """
    form = FORMS.get(name.capitalize())
    if form is None:
        raise BadData("view", f"there is no view {name!r}; there are {', '.join(FORMS)}")
    with stepper.lock:
        return form(stepper)


def contents(stepper: Any) -> str:
    """What becomes of every event in the next request of the agent at hand.

    contents  5 events, 4 contents for rail
      #0  user   kept → 0          Two adults …
      #1  hotel  left out          other branch: Its branch 'a' is not …
      +          added → 3         R5.34 …
    """
    viewer = viewer_here(stepper, invocation_of(stepper))
    if viewer is None:
        return "contents  no agent has begun to build a request yet"
    try:
        told = contents_fates(Kept().assembly(stepper, viewer, invocation_of(stepper), passes=False))
    except AdknbError as error:
        return f"contents  the run would stop here: {one_line(str(error), 100)}"
    events = stepper.events
    first = max(0, len(events) - MOST)
    total = len({c for f in told.fates for c in f.contents} | {a.content for a in told.added})
    since = f", the last {MOST} shown" if first else ""
    place = f" on {one_line(viewer.branch, 40)}" if viewer.branch else ""
    whose = f"{one_line(viewer.agent_name, 24)}{place}"
    lines = [f"contents  {plural(len(events), 'event')}, {plural(total, 'content')} for {whose}{since}"]
    names = [shorten(one_line(e.author), 16) for e in events]
    widest = max(map(cells, names[first:]), default=0)
    for fate, name in zip(told.fates[first:], names[first:], strict=True):
        to = f" → {positions(fate.contents)}" if fate.contents else ""
        why = f"{fate.tag}: {fate.steps[0].why}" if fate.tag and fate.steps else ""
        said = why or (fate.steps[0].why if fate.steps else brief.event_line(events[fate.event], 80))
        kind = fate.kind.replace("_", " ")
        lines.append(f"  {f'#{fate.event}':<5} {pad(name, widest)}  {kind + to:<16}  {one_line(said, 80)}".rstrip())
    for one in told.added:
        lines.append(f"  {'+':<5} {' ' * widest}  {f'added → {one.content}':<16}  {one_line(one.step.why, 80)}")
    return "\n".join(lines)


def where(stepper: Any) -> str:
    """The tree of agents with who runs, and the stages of the present step: done ✓, here ▸, no-ops in brackets.

    where     2 agents
      root  llm 2
    ▸   billing  llm 1
      new request ✓ basic ✓ (auth) ▸ contents · planning
    """
    tree = graphs.agents_of(stepper)
    parents = {e.head: e.tail for e in tree.edges if "tree" in e.looks}
    lines = [f"where     {plural(len(tree.nodes), 'agent')}"]
    for node in tree.nodes:
        depth, up = 0, parents.get(node.id)
        while up is not None:
            depth, up = depth + 1, parents.get(up)
        lines.append(f"{'▸' if 'here' in node.looks else ' '} {'  ' * depth}{node.label}  {node.sub}".rstrip())
    called = {n.id: n.label for n in tree.nodes}
    lines += [f"  {called[e.tail]} – {called[e.head]} {e.label}" for e in tree.edges if "went" in e.looks]
    flow = graphs.flow_of(stepper)
    for k, title in enumerate(flow.columns[:3]):
        stages = " · ".join(_stage(n.label, n.looks) for n in flow.nodes if n.column == k)
        lines.append(f"  {title}: {stages}")
    return "\n".join(lines)


def _stage(label: str, looks: tuple[str, ...]) -> str:
    name = f"({label})" if "noop" in looks else label
    return f"▸ {name}" if "here" in looks else f"✓ {name}" if "done" in looks else name


def invocation_of(stepper: Any) -> Any:
    """The invocation at the present stop, if the stop knows it."""
    ctx = stepper.here.holds.get("ctx") if stepper.here is not None else None
    return getattr(ctx, "invocation", ctx)


FORMS: dict[str, Callable[[Any], str]] = {
    "Contents": contents,
    "Branches": lambda stepper: branches.text(stepper, viewer_here(stepper, invocation_of(stepper))),
    "State": state.text,
    "Where": where,
    "Source": source.text,
    "Findings": lambda stepper: findings.text(stepper, viewer_here(stepper, invocation_of(stepper))),
}
"""The text form of each view that is not the Stepper's own (`text.describe`) or a table (`dbg.table()`)."""
