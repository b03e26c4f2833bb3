"""Findings: what must hold of the request at this pause, and what the doctor says of the session, each with its events.

A page of blocks. A finding links to the events it is about, a broken invariant to those behind its contents.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from adknb.engine.stops import Seam
from adknb.lens.doctor import DoctorSession, definitions_of, examine
from adknb.lens.invariants import Invariant
from adknb.lens.words import one_line, positions
from adknb.widgets.brief import Json, plural
from adknb.widgets.pages import Block, Span
from adknb.widgets.wire import clean_text, cut

SAID = {
    "pairs adjacent": "Every answered call has its answer in the very next content.",
    "no orphan": "No answer is sent without its call.",
    "last content is user": "The last content is the user's.",
    "ids stripped": "No id that ADK made up is sent.",
    "no alias with the session": "Nothing in the request is shared with the session.",
}
"""What each invariant says where it holds."""

SIGNS = {"error": "error", "warning": "warn", "note": "note"}
"""Severity -> icon."""

FEW, MOST, MOST_EVENTS, LONG = 3, 100, 12, 1_500
"""More findings of a kind than FEW are told as one; of more than the others the first are shown, the rest is counted.

A session of more than LONG events is examined when it is asked for, not at every stop: it takes seconds.
"""


def findings_of(stepper: Any, viewer: Any = None) -> list[Any]:
    """The doctor's findings on a run's session as it stands; `viewer` is whose request is being built."""
    runner = stepper.play.runner
    session = DoctorSession(
        list(stepper.events),
        state=dict(stepper.play.session.state),  # as it is kept: the running session's holds more
        definitions=definitions_of(runner.agent),
        compaction=runner.compaction is not None,
        viewer=viewer,
    )
    of_the_line = stepper.live_findings() if hasattr(stepper, "live_findings") else []
    return [*of_the_line, *(f for f in examine(session) if not _is_under_way(f, stepper))]


def _is_under_way(finding: Any, stepper: Any) -> bool:
    """Whether a finding is only that the calls of this very step have not been answered yet."""
    stop, newest = stepper.here, len(stepper.events) - 1
    running = stop is not None and stop.seam is not Seam.TURN
    return bool(running and finding.check == "unanswered-call" and set(finding.events) == {newest})


def alerts(stepper: Any) -> int:
    """How many invariants do not hold at this pause, for the tab's label.

    In a long session it is asked only where the contents may have changed: behind the processors, before the model.
    """
    stop, request = stepper.here, stepper.request
    if stop is None or request is None or not request.contents:
        return 0
    if len(request.contents) + len(stepper.events) > 1_000 and not (
        stop.seam == "processor" and stop.name == "contents"
    ):
        return 0
    return sum(not one.holds for one in stepper.invariants)


def findings_page(stepper: Any, found: list[Any] | None) -> list[list[Block]]:
    """The page of a run at its present stop. `found`: the doctor's findings, None if it has not been asked yet."""
    return [[*invariant_blocks(stepper.invariants, stepper.assembly), *doctor_blocks(found, len(stepper.events))]]


def text(stepper: Any, viewer: Any = None) -> str:
    """The findings as text: a line for each broken invariant and each finding, those of one check together.

    findings  5 of 5 invariants hold · 1 finding
      error   orphan-response  #3  why …
    """
    held = stepper.invariants
    found = findings_of(stepper, viewer)
    holding = f"{sum(i.holds for i in held)} of {plural(len(held), 'invariant')} hold" if held else "no contents yet"
    lines = [f"findings  {holding} · {plural(len(found), 'finding')}"]
    for one in held:
        if not one.holds:
            lines.append(f"  broken  {one.name}  contents {positions(one.contents)}: {one_line(one.why, 80)}")
    for group in grouped(found)[:MOST]:
        first, events = group[0], sorted({i for f in group for i in f.events})
        at = f"#{one_line(positions(events), 40)}  " if events else ""
        often = f" {len(group)}×" if len(group) > 1 else ""
        lines.append(f"  {first.severity:<7} {first.check}{often}  {at}{one_line(first.why, 80)}")
    return "\n".join(lines)


def grouped(found: list[Any]) -> list[list[Any]]:
    """Findings that say the same of many places together: more than FEW of one check and case."""
    by_kind: dict[tuple[str, str, str], list[Any]] = {}
    for f in found:
        by_kind.setdefault((f.severity, f.check, f.case), []).append(f)
    return [group for same in by_kind.values() for group in ([same] if len(same) > FEW else [[f] for f in same])]


def invariant_blocks(held: list[Invariant], assembly: Any, title: str = "Must hold at every pause") -> list[Block]:
    """What must hold of the contents at hand, one row each."""
    if not held:
        return [["h", title], ["p", ["mut", "No contents have been built at this stop."]]]
    rows = []
    for one in held:
        line: list[Span] = [SAID.get(one.name, one.name)]
        if not one.holds:
            line = [["b", one.name], f": {one.why}. ", *_contents(one.contents, assembly)]
        rows.append(
            {"look": "ok" if one.holds else "bad", "by": [["i", "confirm" if one.holds else "out"]], "text": [line]}
        )
    holding = sum(i.holds for i in held)
    return [["h", title, ["mut", f"{holding} of {len(held)} hold"]], ["rows", "holds", rows]]


def _contents(contents: tuple[int, ...], assembly: Any) -> list[Span]:
    """Contents by position, each with the event that stands behind it."""
    sent = assembly.ledger.sent if assembly is not None else []
    spans: list[Span] = [f"Content {positions(contents[:MOST_EVENTS])}"]
    for j in contents[:MOST_EVENTS]:
        whose = sent[j] if j < len(sent) else None
        for event in (whose,) if isinstance(whose, int) else whose or ():
            if event >= 0:
                spans += [" ", ["ev", event], " ", ["go", [event, "Contents"]]]
    return [*spans, *_more(len(contents))]


def doctor_blocks(found: list[Any] | None, n: int) -> list[Block]:
    """The doctor's findings in a session of `n` events; None if it has not been asked yet."""
    if found is None:
        why = f"The session is long: {plural(n, 'event')}. It is examined when you ask."
        return [["h", "The doctor on this session"], ["p", ["mut", why], "  ", ["examine", "Examine it"]]]
    head: Block = ["h", "The doctor on this session", ["mut", plural(len(found), "finding")]]
    if not found:
        return [head, ["p", ["mut", "Nothing to report."]]]
    groups = grouped(found)
    blocks: list[Block] = [head, ["rows", "found", [_finding(group) for group in groups[:MOST]]]]
    if len(groups) > MOST:
        blocks.append(["p", ["mut", f"and {plural(len(groups) - MOST, 'more finding')}"]])
    return blocks


def _finding(group: list[Any]) -> Json:
    f, at = group[0], sorted({i for one in group for i in one.events})
    often: list[Span] = [["mut", f"  {len(group):,}×"]] if len(group) > 1 else []
    case: list[Span] = [["mut", f"  case {cut(clean_text(str(f.case)), 60)}"]] if f.case else []
    events: list[Span] = [x for i in at[:MOST_EVENTS] for x in (" ", ["ev", i])]
    events += [*_more(len(at)), " ", ["go", [at[0], "Contents"]]] if at else []
    lines: list[list[Span]] = [[["b", clean_text(f.check)], ["mut", f"  {f.severity}"], *case, *often, *events]]
    lines.append([cut(clean_text(str(f.why)), 2_000)])
    if f.do:
        lines.append([["mut", "Do  "], cut(clean_text(str(f.do)), 2_000)])
    facts = "   ".join(f"{k}: {_plain(v)}" for k, v in dict(f.facts or {}).items()) if len(group) == 1 else ""
    if facts:
        lines.append([["code", ["mut", cut(clean_text(facts), 2_000)]]])
    look = f.severity if f.severity in SIGNS else "note"
    return {"look": look, "by": [["i", SIGNS[look]]], "text": lines}


def _plain(value: Any) -> str:
    if isinstance(value, (list, tuple, set, frozenset)):
        return ", ".join(map(str, value))
    return str(value)


def _more(n: int) -> Iterable[Span]:
    return [f" and {n - MOST_EVENTS:,} more"] if n > MOST_EVENTS else []
