"""Past stops as they can still be looked at: what the request was at each, and who had written its instruction by then.

A Stepper keeps the stages of the latest request of a turn. Here those of every step are kept in which a reader has
paused; the stages share their parts, so that a kept step costs a few references. Of other steps the request is known as
it was sent. `rewind` shows any stop in full; it runs processors and callbacks again, so looking never does that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from adknb.stepper.stages import READER, Paragraph, Stage, paragraphs
from adknb.stepper.wrote import WRITERS

Json = dict[str, Any]
Place = tuple[int, str, int, str]
"""Turn, agent, step, lane: where one request is built."""

REQUEST_SEAMS = (*map(str, WRITERS), "model")
"""Seams of a step at which its request is being built or sent."""

NOT_KEPT = "What this request was at this stop is no longer kept. Rewind here shows it."
AS_SENT = "Shown as it was sent: what it was on the way there is no longer kept. Rewind here shows it."


@dataclass(frozen=True)
class Moment:
    """A stop as it was. `exact`: the request is that of this very stop; else `why` says what is shown in its place.

    `began` is the request as its step began, None if unknown.
    """

    record: Any
    request: Json | None
    paragraphs: list[Paragraph]
    exact: bool = True
    why: str = ""
    began: Json | None = None


class Past:
    """The stages of the steps that a reader has paused in."""

    def __init__(self) -> None:
        self._stages: dict[Place, list[Stage]] = {}
        self._first: Any = None

    def take(self, stepper: Any) -> None:
        """Note the stages of the present request. After a restart or a rewind what was kept is let go."""
        stops = stepper.stops
        if not stops or stops[0] is not self._first:
            self._stages.clear()
            self._first = stops[0] if stops else None
        record = next((r for r in reversed(stops) if r.seam in REQUEST_SEAMS), None)
        stages = stepper.stages
        if record is not None and stages:
            self._stages[place_of(record)] = stages

    def at(self, stepper: Any, number: int) -> Moment:
        """A stop of the run so far.

        Raises:
            ValueError: there is no such stop.
        """
        stops = stepper.stops
        if not 0 <= number < len(stops):
            raise ValueError(f"there is no stop {number}; the run so far has stops 0 to {len(stops) - 1}")
        record = stops[number]
        built = _where_its_request_is_built(stops, number)
        if built is None:
            return Moment(record, None, [])
        place = place_of(stops[built])
        stages = self._stages.get(place)
        if not stages:
            mine = _sent_in(stepper, place)
            if mine is None:
                return Moment(record, None, [], exact=False, why=NOT_KEPT)
            return Moment(record, mine, [], exact=False, why=AS_SENT)
        upto = _stages_by_then(stages, [r for r in stops[: number + 1] if place_of(r) == place])
        return Moment(record, upto[-1].request, paragraphs(upto), began=stages[0].request)

    def before(self, stepper: Any, number: int) -> Json | None:
        """The request as it was one stop earlier in the same step: agents may take turns in between."""
        built = _where_its_request_is_built(stepper.stops, number)
        if built is None:
            return None
        place = place_of(stepper.stops[built])
        earlier = (k for k in range(min(built, number - 1), -1, -1) if place_of(stepper.stops[k]) == place)
        k = next(earlier, None) if built == number else built
        moment = self.at(stepper, k) if k is not None else None
        return moment.request if moment is not None and moment.exact else None


def place_of(record: Any) -> Place:
    """Where a stop stands."""
    return record.turn, record.agent, record.step, record.lane


def _where_its_request_is_built(stops: Sequence[Any], number: int) -> int | None:
    """The stop that last had to do with the request that is at hand at a stop of the same turn."""
    for k in range(number, -1, -1):
        if stops[k].turn != stops[number].turn:
            return None
        if stops[k].seam in REQUEST_SEAMS:
            return k
    return None


def _stages_by_then(stages: Sequence[Stage], records: Sequence[Any]) -> list[Stage]:
    """The stages that had been through when the last of these stops was reached."""
    k = 0
    for record in records:
        if _writes(record):
            while k + 1 < len(stages) and stages[k + 1].name == READER:
                k += 1
            if k + 1 < len(stages) and stages[k + 1].name == record.name:
                k += 1
    if records and not _writes(records[-1]):  # what a reader edited before this stop is in it
        while k + 1 < len(stages) and stages[k + 1].name == READER:
            k += 1
    return list(stages[: k + 1])


def _writes(record: Any) -> bool:
    return record.phase == "after" and record.seam in WRITERS


def _asked(stepper: Any) -> list[Any] | None:
    """The stops at which requests were sent, in order; None if a call was answered for: they cannot be told apart."""
    stops = stepper.stops
    asked = [r for r in stops if r.seam == "model" and r.phase == "before"]
    if asked and stepper.here is not None and asked[-1] is stops[-1]:
        asked.pop()
    return asked if len(asked) == len(stepper.requests) else None


def _sent_in(stepper: Any, place: Place) -> Json | None:
    """The request that was sent from a place."""
    asked = _asked(stepper) or []
    return next((stepper.requests[k] for k, r in enumerate(asked) if place_of(r) == place), None)


def sent_before(stepper: Any, number: int) -> Json | None:
    """The last request that was sent before the one at hand at a stop, by whichever agent."""
    stops = stepper.stops
    built = _where_its_request_is_built(stops, number)
    if built is None:
        return None
    place = place_of(stops[built])
    before = [k for k, r in enumerate(_asked(stepper) or []) if r.number < number and place_of(r) != place]
    found: Json | None = stepper.requests[before[-1]] if before else None
    return found
