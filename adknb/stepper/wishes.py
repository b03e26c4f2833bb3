"""Wishes: where a reader wants to stop. A wish is a predicate on stops; it can be combined with `|`, `&` and `~`.

    at("contents")                       after the request processor of that name has run
    at("model"), at("before_tool")       before a seam of that name
    at(tool="get_weather", turn=2)       before a tool runs, in turn 2
    changed("config.tools")              where this part of the request is not what it was
    event(author="critic", final=True)   an event on its way to the runner, before `on_event`
    when(lambda stop: …)                 anything else

`turn` and `step` count from 1; a step is counted per agent and turn.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from adknb.engine.errors import AdknbError
from adknb.engine.event import Event, function_calls_of, function_responses_of
from adknb.engine.event_json import snake, to_json
from adknb.engine.stops import Phase, Seam, Stop

Predicate = Callable[[Stop, int], bool]
"""(stop, turn) -> whether to stop there."""


class UnknownName(AdknbError):
    """A wish names something this run can never stop at."""

    def __init__(self, kind: str, name: str, known: Iterable[str]) -> None:
        names = sorted({str(k) for k in known})
        near = difflib.get_close_matches(name, names, 1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        super().__init__(f"no {kind} is called {name!r}. This run can stop at: {', '.join(names)}.{hint}")


@dataclass(frozen=True)
class Wish:
    """A predicate on stops, with the words it was asked in and the names that must exist."""

    test: Predicate
    words: str
    names: tuple[tuple[str, str], ...] = ()
    """(kind, name) pairs; kind is `stop`, `tool`, `agent` or `call`."""
    always: bool = False
    """Whether, as a breakpoint, it ends `next` and `finish` too: so the panel's *Stop* does."""

    def __call__(self, stop: Stop, turn: int) -> bool:
        """Whether to stop here."""
        return self.test(stop, turn)

    def __or__(self, other: Wish) -> Wish:
        return Wish(
            lambda s, t: bool(self(s, t)) | bool(other(s, t)), f"{self.words} | {other.words}", self.names + other.names
        )

    def __and__(self, other: Wish) -> Wish:
        return Wish(
            lambda s, t: bool(self(s, t)) & bool(other(s, t)), f"{self.words} & {other.words}", self.names + other.names
        )

    def __invert__(self) -> Wish:
        return Wish(lambda s, t: not self(s, t), f"~({self.words})", self.names)

    def __repr__(self) -> str:
        return self.words

    def check(self, known: dict[str, set[str]]) -> None:
        """Refuse names that this run does not have. Raises UnknownName."""
        for kind, name in self.names:
            if name not in known[kind]:
                raise UnknownName(kind, name, known[kind])


AFTER_BY_HABIT = (Seam.PROCESSOR, Seam.TOOL_DECLARATION, Seam.TURN)
"""Seams where a wish without `phase` means the stop after: one wants to see what the stage did."""


def at(
    name: str | None = None,
    *,
    seam: str | None = None,
    tool: str | None = None,
    agent: str | None = None,
    turn: int | None = None,
    step: int | None = None,
    phase: str | None = None,
) -> Wish:
    """Stop at a name, a seam, a tool, or in an agent; several conditions must hold together.

    A bare name means a request processor, after it ran, if there is one of that name; else a seam, a tool, a model or a
    callback, before it runs. `phase` is `"before"` or `"after"`. `seam=` is always the seam.

    Raises:
        ValueError: nothing is asked for, or a phase or seam that does not exist.
    """
    if phase is not None and phase not in tuple(Phase):
        raise ValueError(f"phase is 'before' or 'after', not {phase!r}")
    if seam is not None and seam not in tuple(Seam):
        raise ValueError(f"no seam is called {seam!r}; the seams are {', '.join(Seam)}")
    if all(v is None for v in (name, seam, tool, agent, turn, step, phase)):
        raise ValueError("at() needs a name, a seam, a tool or an agent to stop at")

    def test(stop: Stop, in_turn: int) -> bool:
        if (turn is not None and in_turn != turn) or (step is not None and stop.step != step):
            return False
        if agent is not None and stop.agent != agent:
            return False
        if tool is not None and not (_tool_of(stop) == tool and (seam or name or stop.seam is Seam.TOOL)):
            return False
        if seam is not None and stop.seam != seam:
            return False
        if name is not None and name not in (stop.name, stop.seam):
            return False
        if phase is not None:
            return stop.phase == phase
        if name is None and seam is None and tool is None:
            return True
        return stop.phase is (Phase.AFTER if stop.seam in AFTER_BY_HABIT else Phase.BEFORE)

    names = [(kind, given) for kind, given in (("stop", name), ("tool", tool), ("agent", agent)) if given is not None]
    return Wish(
        test, _words("at", name, seam=seam, tool=tool, agent=agent, turn=turn, step=step, phase=phase), tuple(names)
    )


def event(
    *,
    author: str | None = None,
    call: str | None = None,
    answer: str | None = None,
    partial: bool | None = None,
    final: bool | None = None,
    turn: int | None = None,
    step: int | None = None,
    agent: str | None = None,
) -> Wish:
    """Stop where an event is on its way to the runner, before `on_event` and before it is stored.

    `call` and `answer` name a function that the event calls, or answers.
    """

    def test(stop: Stop, in_turn: int) -> bool:
        if stop.seam is not Seam.EVENT or stop.phase is not Phase.BEFORE:
            return False
        found: Event = stop.holds["event"]
        return (
            author in (None, found.author)
            and (call is None or any(c.name == call for c in function_calls_of(found.content)))
            and (answer is None or any(r.name == answer for r in function_responses_of(found.content)))
            and partial in (None, found.partial)
            and final in (None, found.is_final_response())
            and turn in (None, in_turn)
            and step in (None, stop.step)
            and agent in (None, stop.agent)
        )

    names = [("author", author)] if author is not None else []
    names += [("agent", agent)] if agent is not None else []
    given = {"author": author, "call": call, "answer": answer, "partial": partial, "final": final}
    return Wish(test, _words("event", None, **given, turn=turn, step=step, agent=agent), tuple(names))


def changed(path: str, *, turn: int | None = None, step: int | None = None, agent: str | None = None) -> Wish:
    """Stop where a part of the request is not what it was at the stop before; a new request starts from nothing.

    `path` is dotted, names as in Python or as in JSON: `"contents"`, `"config.tools"`,
    `"config.system_instruction.parts.0.text"`.
    """
    steps = [snake(word) for word in path.split(".")]
    seen: dict[str, Any] = {"request": None, "value": None}

    def test(stop: Stop, in_turn: int) -> bool:
        request = stop.holds.get("request")
        if request is None:
            return False
        value = json.dumps(to_json(value_at(request, steps)), sort_keys=True, default=str)
        fresh = seen["request"] is not request
        before = json.dumps(to_json(value_at(type(request)(), steps)), sort_keys=True) if fresh else seen["value"]
        seen.update(request=request, value=value)
        return value != before and turn in (None, in_turn) and step in (None, stop.step) and agent in (None, stop.agent)

    if steps[0] not in ("model", "contents", "config", "tools"):
        raise UnknownName("part of a request", steps[0], ("model", "contents", "config", "tools"))
    names = (("agent", agent),) if agent is not None else ()
    return Wish(test, _words("changed", path, turn=turn, step=step, agent=agent), names)


def when(condition: Callable[[Stop], Any]) -> Wish:
    """Stop where a function of the stop is true."""
    return Wish(lambda stop, turn: bool(condition(stop)), f"when({getattr(condition, '__name__', 'condition')})")


def value_at(thing: Any, steps: Iterable[str]) -> Any:
    """What a path of attributes, keys and positions leads to; None where it leads nowhere."""
    for word in steps:
        if isinstance(thing, dict):
            thing = thing.get(word)
        elif isinstance(thing, list):
            thing = thing[int(word)] if word.isdigit() and int(word) < len(thing) else None
        else:
            thing = getattr(thing, word, None)
    if isinstance(thing, dict) and any(
        not isinstance(v, (str, int, float, dict, list, type(None))) for v in thing.values()
    ):
        return sorted(thing)  # the local tool table: its names
    return thing


def _tool_of(stop: Stop) -> str:
    return str(getattr(stop.holds.get("tool"), "name", ""))


def _words(function: str, first: Any, **given: Any) -> str:
    words = [repr(first)] if first is not None else []
    words += [f"{key}={value!r}" for key, value in given.items() if value is not None]
    return f"{function}({', '.join(words)})"
