"""versus(): one scenario on both engines, ours (ADK-Go's rules) and google-adk, and where they part first."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from html import escape
from typing import Any

from adknb.attach.adk import adk_version
from adknb.attach.known import Known, why
from adknb.attach.translate import run_on_adk
from adknb.engine.event import Event
from adknb.scenarios import trace
from adknb.scenarios.trace import carries_something

Json = dict[str, Any]

CLIENT_ID = "adk-"
ACTIONS = ("stateDelta", "transferToAgent", "escalate", "skipSummarization")


@dataclass(frozen=True)
class Row:
    """Something that happened in a run: a turn began, a model was asked, an event was told, the run failed.

    `said` is what is compared, as JSON without generated ids, event ids and times; `note` is an error's text.
    """

    kind: str
    who: str
    said: Any = None
    note: str = field(default="", compare=False)

    def __str__(self) -> str:
        said = (
            f": {json.dumps(self.said, ensure_ascii=False)}"
            if self.said is not None
            else f": {self.note}" * bool(self.note)
        )
        return f"{self.kind} {self.who}{said}".strip()


@dataclass(frozen=True)
class Difference:
    """The first thing that is not the same: rows at one place, None where a run is over; and why, if that is known.

    `inside` is the place within what the two say, as a JSON path; empty if they are different things altogether.
    """

    row: int
    go: Row | None
    python: Row | None
    inside: str
    known: Known | None

    def __str__(self) -> str:
        lines = [f"row {self.row}{', ' + self.inside if self.inside else ''}"]
        lines += [
            f"  {name}  {_told(row, self.inside)}"
            for name, row in (("ADK-Go    ", self.go), ("google-adk", self.python))
        ]
        known = self.known
        lines.append(
            "  not among the known differences"
            if known is None
            else f"  {known.name}: in ADK-Go {known.go}; in google-adk {known.python}"
        )
        return "\n".join(lines)


@dataclass(frozen=True)
class Versus:
    """Both runs as rows, and their first difference; `alike` are the rows before it."""

    name: str
    go: list[Row]
    python: list[Row]
    first: Difference | None
    version: str = field(default_factory=adk_version)

    @property
    def alike(self) -> int:
        """How many rows are the same before the first difference."""
        return len(self.go) if self.first is None else self.first.row

    def __repr__(self) -> str:
        head = f"{self.name} on ADK-Go's rules and on google-adk {self.version}"
        if self.first is None:
            return f"{head}: the same, {len(self.go)} rows"
        return f"{head}: the same for {self.alike} rows, then\n{self.first}"

    def _repr_html_(self) -> str:
        """The two runs side by side, the first difference marked."""
        rows = []
        for n in range(max(len(self.go), len(self.python))):
            pair = [escape(_short(str(run[n]))) if n < len(run) else "–" for run in (self.go, self.python)]
            mark = ' style="background-color:rgba(217,119,6,.18)"' if self.first and n == self.first.row else ""
            rows.append(
                f"<tr{mark}><td>{n}</td>{''.join(f'<td style=text-align:left>{text}</td>' for text in pair)}</tr>"
            )
        head = f"<tr><th></th><th>ADK-Go’s rules</th><th>google-adk {escape(self.version)}</th></tr>"
        told = escape("the same" if self.first is None else str(self.first))
        return f"<table>{head}{''.join(rows)}</table><pre>{told}</pre>"


def versus(scenario: Json) -> Versus:
    """Run a scenario on our engine and on google-adk; compare what the models are asked and what the reader is told.

    A system instruction is not compared: its wording is each engine's own.

    Raises:
        NoGoogleAdk: it is not installed. Untranslatable: the scenario has something google-adk is not told.
        BadData: it is no scenario.
    """
    python = list(_rows(run_on_adk(scenario)))
    go = list(_rows(trace(scenario)["trace"]))
    return Versus(scenario.get("name", ""), go, python, _first(go, python, scenario))


def _rows(log: list[Json]) -> Iterator[Row]:
    for entry in log:
        if entry["at"] == "turn":
            yield Row("turn", str(entry["n"]))
        elif entry["at"] in ("model_request", "request"):
            yield Row("request", entry["agent"], [_content(content) for content in entry["contents"] or []])
        elif entry["at"] == "event" and carries_something(Event.from_json(entry["event"])):
            yield Row("event", entry["event"].get("author", ""), _event(entry["event"]))
        elif entry["at"] == "error":
            yield Row("error", "", note=entry.get("note", ""))


def _event(event: Json) -> Json:
    hidden = ("stateDelta",) if event.get("partial") else ()  # the chunks of an answer share one delta
    actions = {name: value for name in ACTIONS if name not in hidden and (value := event.get("actions", {}).get(name))}
    told = {"content": _content(event["content"]) if event.get("content") else None, "partial": event.get("partial")}
    told |= {"actions": actions, "errorCode": event.get("errorCode")}
    return {name: value for name, value in told.items() if value}


def _content(content: Json) -> Json:
    return {"role": content.get("role") or "", "parts": [_part(part) for part in content.get("parts") or []]}


def _part(part: Json) -> Json:
    part = {name: value for name, value in part.items() if value not in (None, False)}
    for kind in ("functionCall", "functionResponse"):
        if kind in part:
            part[kind] = {name: value for name, value in part[kind].items() if value not in (None, {}, "")}
            if str(part[kind].get("id", "")).startswith(CLIENT_ID):
                del part[kind]["id"]
    return part


def _first(go: list[Row], python: list[Row], scenario: Json) -> Difference | None:
    for n in range(max(len(go), len(python))):
        ours, theirs = (run[n] if n < len(run) else None for run in (go, python))
        if ours != theirs:
            same_kind = ours is not None and theirs is not None and (ours.kind, ours.who) == (theirs.kind, theirs.who)
            inside = _where(ours.said, theirs.said) if same_kind and ours and theirs else ""
            return Difference(n, ours, theirs, inside, why(ours, theirs, inside, scenario))
    return None


def _where(ours: Any, theirs: Any, at: str = "") -> str:
    """The place of the first difference of two JSON values."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        for name in [*ours, *(n for n in theirs if n not in ours)]:
            if ours.get(name) != theirs.get(name):
                return _where(ours.get(name), theirs.get(name), f"{at}.{name}" if at else name)
    if isinstance(ours, list) and isinstance(theirs, list):
        for n, (one, other) in enumerate(zip(ours, theirs, strict=False)):
            if one != other:
                return _where(one, other, f"{at}[{n}]")
        return f"{at}[{min(len(ours), len(theirs))}]"
    return at


def inner(said: Any, place: str) -> Any:
    """What stands at a place of `_where`; None if nothing does."""
    for step in place.replace("[", ".[").strip(".").split("."):
        try:
            said = said[int(step[1:-1])] if step.startswith("[") else said[step]
        except (KeyError, IndexError, TypeError):
            return None
    return said


def _told(row: Row | None, inside: str) -> str:
    if row is None:
        return "(nothing more)"
    if not inside:
        return _short(str(row))
    return _short(f"{row.kind} {row.who}: {json.dumps(inner(row.said, inside), ensure_ascii=False)}")


def _short(text: str, most: int = 400) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"
