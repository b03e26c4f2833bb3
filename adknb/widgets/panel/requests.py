"""What the panel answers about a request: as a page, of the present stop or a past one, and as text to take away."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from adknb.engine.errors import BadData
from adknb.lens.request_changes import Change, request_changes
from adknb.widgets import present
from adknb.widgets.copies import WAYS
from adknb.widgets.held import held_blocks
from adknb.widgets.pages import request_page, summary
from adknb.widgets.past import Moment, Past, sent_before
from adknb.widgets.timeline import Timeline
from adknb.widgets.tools_table import tools_table

Json = dict[str, Any]

AGAINST = ("stop", "step", "request")
"""What a request is compared with: as it was at the last pause, as its step began, the one that was sent before it."""


def page(stepper: Any, past: Past, asked: Json, changes: Callable[[Json | None], Sequence[Change]]) -> Json:
    """The request as blocks. `asked` may name a past `stop`, and `against` what it is compared with.

    `changes` gives those of a request since the last pause.
    """
    against = asked.get("against", "stop")
    if against not in AGAINST:
        raise BadData("against", f"expected one of {', '.join(AGAINST)}, found {against!r}")
    number = asked.get("stop")
    if number is not None and number != stepper.position:
        return _past_page(stepper, past, int(number), against)
    now = stepper.request_shown
    before = stepper.request_before
    if against == "stop":
        found: Sequence[Change] = changes(now)
    else:
        before = _before(stepper, against)
        found = request_changes(before, now) if before is not None and now is not None else []
    tools = tools_table(now, stepper.request, stepper.here)
    columns = request_page(now, found, tools, held_blocks(stepper.here), stepper.paragraphs)
    return {"columns": columns, "sum": summary(found, before is not None) if now else "", "stop": None}


def _before(stepper: Any, against: str) -> Json | None:
    """The request to compare the present one with."""
    if against == "step":
        stages = stepper.stages
        return dict(stages[0].request) if stages else None
    return sent_before(stepper, len(stepper.stops) - 1) if stepper.stops else None


def _past_page(stepper: Any, past: Past, number: int, against: str) -> Json:
    moment = past.at(stepper, number)
    now, before = moment.request, _before_that(stepper, past, moment, against)
    found = request_changes(before, now) if before is not None and now is not None else []
    columns = request_page(now, found, tools_table(now, None, None), _why(moment), moment.paragraphs)
    return {"columns": columns, "sum": summary(found, before is not None) if now else "", "stop": number}


def _before_that(stepper: Any, past: Past, moment: Moment, against: str) -> Json | None:
    if against == "step":
        return moment.began
    number = moment.record.number
    if against == "request":
        return sent_before(stepper, number)
    return past.before(stepper, number)


def _why(moment: Moment) -> list[list[Any]]:
    record = moment.record
    page: list[list[Any]] = []
    if record.error:
        page.append(["h", "At this stop", ["mut", present.words(record)]])
        page.append(["table", None, [[[["mut", "came to"]], [["bad", ["i", "warn"], record.error]]]]])
    return page


def look(stepper: Any, past: Past, timeline: Timeline, number: int) -> Json:
    """Where a past stop stands, and how many events the session held by then.

    Raises:
        ValueError: there is no such stop.
    """
    moment = past.at(stepper, number)
    stored = [r.event for r in stepper.stops[: number + 1] if r.event is not None]
    first = next((r.event for r in stepper.stops if r.event is not None), len(stepper.events))
    events = (stored[-1] if stored else first - 1) + 1
    return {"stop": number, "at": present.told(moment.record, timeline), "events": events, "why": ""}


def copied(stepper: Any, past: Past, number: int | None, way: str) -> str:
    """The request of a stop as JSON, as a curl command or as Python code.

    Raises:
        BadData: there is no request, or no such way to write it.
    """
    if way not in WAYS:
        raise BadData("as", f"expected one of {', '.join(WAYS)}, found {way!r}")
    if number is None or number == stepper.position:
        request = stepper.request_now
    else:
        request = past.at(stepper, number).request
    if request is None:
        raise BadData("request", "no request is being built at this stop")
    return WAYS[way](request)


def where(at: str) -> str:
    """A place in a draft as one reads it: `/contents/0/parts/1/text` -> `contents[0].parts[1].text`."""
    steps = [s.replace("~1", "/").replace("~0", "~") for s in at.partition("#")[0].split("/")[1:]]
    return re.sub(r"^\.", "", "".join(f"[{s}]" if s.isdigit() else f".{s}" for s in steps))
