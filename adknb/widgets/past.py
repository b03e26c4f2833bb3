"""Past stops as they were: what the request was at each, and who had written its instruction by then.

A run keeps the stages of every request it builds, paused in or not (stepper/run.py, `built`); they share their parts,
so that a stop costs a few references. Looking at a stop runs nothing again: `rewind` does, which goes there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from adknb.stepper.stages import Paragraph, paragraphs
from adknb.stepper.wrote import WRITERS

Json = dict[str, Any]
Place = tuple[int, str, int, str]
"""Turn, agent, step, lane: where one request is built."""

REQUEST_SEAMS = (*map(str, WRITERS), "model")
"""Seams of a step at which its request is being built or sent."""


@dataclass(frozen=True)
class Moment:
    """A stop as it was. `request` is None where none was being built; `began` is it as its step began."""

    record: Any
    request: Json | None
    paragraphs: list[Paragraph]
    began: Json | None = None


class Past:
    """Past stops of a run, as its stages tell them."""

    def at(self, stepper: Any, number: int) -> Moment:
        """A stop of the run so far.

        Raises:
            ValueError: there is no such stop.
        """
        stops = stepper.stops
        if not 0 <= number < len(stops):
            raise ValueError(f"there is no stop {number}; the run so far has stops 0 to {len(stops) - 1}")
        stages = stepper.stages_at(number)
        if not stages:
            return Moment(stops[number], None, [])
        return Moment(stops[number], stages[-1].request, paragraphs(stages), began=stages[0].request)

    def before(self, stepper: Any, number: int) -> Json | None:
        """The request as it was one stop earlier in the same step: agents may take turns in between."""
        built = _where_its_request_is_built(stepper.stops, number)
        if built is None:
            return None
        place = place_of(stepper.stops[built])
        earlier = (k for k in range(min(built, number - 1), -1, -1) if place_of(stepper.stops[k]) == place)
        k = next(earlier, None) if built == number else built
        moment = self.at(stepper, k) if k is not None else None
        return moment.request if moment is not None else None


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


def _asked(stepper: Any) -> list[Any] | None:
    """The stops at which requests were sent, in order; None if a call was answered for: they cannot be told apart."""
    stops = stepper.stops
    asked = [r for r in stops if r.seam == "model" and r.phase == "before"]
    if asked and stepper.here is not None and asked[-1] is stops[-1]:
        asked.pop()
    return asked if len(asked) == len(stepper.requests) else None


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
