"""What a screen shows of a run, chunk by chunk, with and without each filter of `adknb.front`, beside the events.

At a stop where a chunk or an answer is on its way, what comes of it can be asked: a copy of the run goes on from there,
the reader's edits included, to the next thing that would be asked of a model or a tool, and tells state and prompt.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from adknb.engine.event import Event, visible_text_of
from adknb.engine.stops import Phase, Return, Seam
from adknb.front import Filter, OneDocument, XmlAssembler, one_flag, only_author, through, without_duplicate_final
from adknb.lens.words import one_line

Json = dict[str, Any]
MOST_ROWS = 300
"""Of more events than these the last are shown; the screens are whole all the same."""
XML = "<mxfile"


@dataclass(frozen=True)
class View:
    """A screen: its name, what it is for, the filters before it, and whether it is one of the article's own faults."""

    name: str
    says: str
    filters: tuple[Filter, ...]
    fault: bool = False


def views(events: Sequence[Event]) -> list[View]:
    """The screens worth a look for these events: with each filter, all of them one behind the other, and the faults."""
    authors = list(dict.fromkeys(event.author for event in events if event.author != "user"))
    drawing = next((author for author, said in _said(events).items() if XML in said), "")
    xml, whose = bool(drawing), drawing or (authors[-1] if authors else "")
    found = [
        View("no filter", "every event as it comes", ()),
        View(
            "without_duplicate_final", "drops of a whole answer what its chunks have shown", (without_duplicate_final,)
        ),
    ]
    together: list[Filter] = []
    if len(authors) > 1:
        found.append(View(f'only_author("{whose}")', "the words of one agent", (only_author(whose),)))
        together.append(only_author(whose))
    together.append(without_duplicate_final)
    if xml:
        found.append(View("XmlAssembler()", "the drawing and nothing around it", (XmlAssembler(),)))
        together.append(XmlAssembler())
    if len(together) > 1:
        found.append(View("all of them", "one behind the other", tuple(together)))
    found.append(View("one_flag", "the article's own: one flag, never reset", (one_flag,), fault=True))
    if xml:
        found.append(View("OneDocument()", "the article's own: one document", (OneDocument(),), fault=True))
    return found


def _said(events: Sequence[Event]) -> dict[str, str]:
    """The text of each author, chunks glued together: a tag may be split over them."""
    said: dict[str, str] = {}
    for event in events:
        said[event.author] = said.get(event.author, "") + visible_text_of(event.content)
    return said


def shown_at(events: Sequence[Event], filters: Sequence[Filter]) -> list[str]:
    """For each event what it adds to the screen behind these filters; empty where it is held back or says nothing."""
    added, at = [""] * len(events), 0

    def feed() -> Iterator[Event]:
        nonlocal at
        for at, event in enumerate(events):  # noqa: B007 - read below, as the filters pull
            yield event

    for out in through(feed(), *filters):
        added[at] += visible_text_of(out.content)
    return added


def streams(stepper: Any) -> bool:
    """Whether chunks come in this run: then a screen is worth a look."""
    if not hasattr(stepper, "told"):  # a recording, which holds no chunks
        return False
    play = stepper.play
    config = getattr(play, "run_config", None) or (getattr(play, "scenario", None) or {}).get("run_config") or {}
    mode = config.get("streaming_mode", "") if isinstance(config, dict) else getattr(config, "streaming_mode", "")
    return mode == "sse" or any(event.partial for event in getattr(stepper, "told", ()))


def on_its_way(stepper: Any) -> Event | None:
    """The event that this stop holds and nobody has been told yet."""
    stop = stepper.here
    if stop is None or stop.seam not in (Seam.EVENT, Seam.ON_EVENT, Seam.APPEND):
        return None
    event = stepper.event
    return event if event is not None and all(event is not told for told in stepper.told[-3:]) else None


def outcome_asked(stepper: Any) -> bool:
    """Whether this stop holds a chunk or an answer, of which something may come."""
    stop = stepper.here
    return stop is not None and (
        stop.seam in (Seam.EVENT, Seam.AFTER_MODEL, Seam.ON_EVENT)
        or (stop.seam is Seam.MODEL and stop.phase is Phase.AFTER and isinstance(stop.holds.get("outcome"), Return))
    )


def outcome(stepper: Any) -> Json:
    """What comes of this stop as it stands: a copy of the run goes on to the next call of a model or tool, or its end.

    Gives `at` (where it came to), `state` (rows of key, text now, text then) and, if a model is asked next, `agent`,
    `prompt` (its system instruction) and `last` (what its last content says). Neither model nor tool is asked that has
    not been asked already, but a stream that is open is read to its end.
    """
    here = stepper.here
    place = (here.agent, here.step)
    copy = stepper.fork()
    copy.breakpoints = []

    def asks(stop: Any) -> bool:
        if stop.phase is not Phase.BEFORE:
            return False
        if stop.seam in (Seam.TOOL, Seam.SUMMARIZE, Seam.LIVE_SEND):
            return True
        return stop.seam is Seam.MODEL and (stop.agent, stop.step) != place

    copy._go(lambda stop: stop.seam is Seam.TURN or asks(stop))
    stop, before, after = copy.here, dict(stepper.state), dict(copy.state)
    keys = [key for key in dict.fromkeys([*after, *before]) if before.get(key) != after.get(key)]
    told: Json = {
        "at": "the end of the run" if stop is None else str(stop),
        "state": [[key, one_line(repr(before.get(key)), 300), one_line(repr(after.get(key)), 300)] for key in keys],
    }
    if stop is not None and stop.seam is Seam.MODEL:
        request = stop.holds["request"]
        said = request.system_instruction
        told |= {
            "agent": stop.agent,
            "prompt": one_line(visible_text_of(said), 900),
            "last": one_line(visible_text_of(request.contents[-1]) if request.contents else "", 300),
        }
    copy.close()
    return told


def page(stepper: Any, ask: bool = False) -> Json:
    """The pane as JSON: `events`, the `screens` with what each event adds to them, and the outcome if it is asked for.

    It is asked for by an edit at this stop, or by `ask`.
    """
    coming = on_its_way(stepper)
    events = [*stepper.told, *([coming] if coming is not None else [])]
    skip = max(0, len(events) - MOST_ROWS)
    rows = [
        {
            "i": i,
            "author": event.author,
            "partial": bool(event.partial),
            "text": one_line(visible_text_of(event.content), 300) or _what_else(event),
            "coming": event is coming,
        }
        for i, event in enumerate(events)
    ][skip:]
    screens = []
    for view in views(events):
        added = shown_at(events, view.filters)
        screens.append(
            {"name": view.name, "says": view.says, "fault": view.fault, "added": added[skip:], "whole": "".join(added)}
        )
    asked = outcome_asked(stepper)
    made = outcome(stepper) if asked and (ask or stepper.edits) else None
    return {"events": rows, "skipped": skip, "screens": screens, "can": asked, "outcome": made}


def _what_else(event: Event) -> str:
    parts = event.content.parts or [] if event.content is not None else []
    calls = [f"{p.function_call.name}()" for p in parts if p.function_call is not None]
    answers = [f"{p.function_response.name} = …" for p in parts if p.function_response is not None]
    return ", ".join(calls + answers) or "—"


# ---------------------------------------------------------------------------------------------------------- as it shows

CELL = (
    "padding:2px 8px;border:0;border-top:1px solid rgba(128,128,128,.35);text-align:left;vertical-align:top;"
    "white-space:pre-wrap;overflow-wrap:anywhere"
)


class Screen:
    """The pane for a cell: the events so far and what each screen shows. Text and HTML are the same every time."""

    def __init__(self, stepper: Any, ask: bool = False) -> None:
        with stepper.lock:
            self.page = page(stepper, ask)

    def __repr__(self) -> str:
        """Each screen's text behind its name, then the outcome."""
        lines = [f"{s['name']:<26} {one_line(s['whole'], 400)!r}" for s in self.page["screens"]]
        return "\n".join([*lines, *_outcome_lines(self.page["outcome"])])

    def _repr_html_(self) -> str:
        told = self.page
        head = "".join(
            f'<th style="{CELL}" scope="col">{escape(n)}</th>'
            for n in ("event", *(s["name"] + (" (a fault)" if s["fault"] else "") for s in told["screens"]))
        )
        body = "".join(
            f'<tr><td style="{CELL}">{escape(_label(e))}</td>'
            + "".join(f'<td style="{CELL}">{escape(s["added"][k]) or "·"}</td>' for s in told["screens"])
            + "</tr>"
            for k, e in enumerate(told["events"])
        )
        foot = "".join(f'<td style="{CELL}"><b>{escape(s["whole"])}</b></td>' for s in told["screens"])
        after = "".join(f"<div>{escape(line)}</div>" for line in _outcome_lines(told["outcome"]))
        return (
            '<table style="width:100%;max-width:1100px;border-collapse:collapse;font-size:13px">'
            f"<thead><tr>{head}</tr></thead><tbody>{body}"
            f'<tr><th style="{CELL}" scope="row">on the screen</th>{foot}</tr></tbody></table>{after}'
        )


def _label(event: Json) -> str:
    return (
        f"{event['author']} {'chunk' if event['partial'] else 'whole'}{' (here)' if event['coming'] else ''}: "
        + (event["text"])
    )


def _outcome_lines(made: Json | None) -> list[str]:
    if made is None:
        return []
    lines = [f"what comes of it, up to {made['at']}:"]
    lines += [f"  state {key}: {old} → {new}" for key, old, new in made["state"]]
    if "agent" in made:
        lines.append(f"  {made['agent']} is told: {made['prompt']}")
    return lines
