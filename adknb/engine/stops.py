"""Pausing: the one file of the engine that knows of readers.

The engine is one generator. It yields Events, which belong to the session, and Stops, which belong to whoever steps.
A Stop holds the live objects of the moment and has room for an answer: edit what it holds, or fill the answer in, and
resume by asking for the next item. In the engine, `yield from` means: a reader may stop here.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, TypeVar

from adknb.engine.loops import run_to_its_end


class Seam(StrEnum):
    """The places where the engine pauses, in the order in which a turn meets them.

    TURN is the one seam the engine does not yield: a Stepper makes that stop when a turn is over.
    """

    ON_USER_MESSAGE = "on_user_message"
    BEFORE_RUN = "before_run"
    BEFORE_AGENT = "before_agent"
    PROCESSOR = "processor"
    TOOL_DECLARATION = "tool_declaration"
    BEFORE_MODEL = "before_model"
    MODEL = "model"
    ON_MODEL_ERROR = "on_model_error"
    AFTER_MODEL = "after_model"
    RESPONSE_PROCESSOR = "response_processor"
    LIVE_CONNECT = "live_connect"
    LIVE_SEND = "live_send"
    LIVE_WAIT = "live_wait"
    LIVE_RECEIVE = "live_receive"
    EVENT = "event"
    ON_EVENT = "on_event"
    APPEND = "append"
    BEFORE_TOOL = "before_tool"
    TOOL = "tool"
    ON_TOOL_ERROR = "on_tool_error"
    AFTER_TOOL = "after_tool"
    MERGE = "merge"
    HANDOVER = "handover"
    DELEGATE = "delegate"
    SUMMARIZE = "summarize"
    AFTER_AGENT = "after_agent"
    AFTER_RUN = "after_run"
    TURN = "turn"


class Phase(StrEnum):
    """Before the call at a seam, or after it."""

    BEFORE = "before"
    AFTER = "after"


@dataclass
class Return:
    """The call at a seam came to this value, or shall come to it."""

    value: Any = None

    def unwrap(self) -> Any:
        """Give the value."""
        return self.value


@dataclass
class Raise:
    """The call at a seam raised this error, or shall raise it."""

    error: Exception

    def unwrap(self) -> Any:
        """Raise the error."""
        raise self.error


@dataclass(eq=False)
class Stop:
    """The engine has paused at a seam. Edit what it holds, or answer for the call; then resume.

    `holds` has the live objects (request, args, response, event, …); an AFTER stop also holds `outcome`, a Return or a
    Raise. `opened_by` is the BEFORE stop of the same call. `step`, `agent` and `lane` are written on the way up, by the
    loop that knows them: the innermost one wins.
    """

    seam: Seam
    name: str
    phase: Phase
    holds: dict[str, Any] = field(default_factory=dict)
    answer: Return | Raise | None = None
    opened_by: Stop | None = None
    noop: bool = False
    function: Callable[..., Any] | None = None
    agent: str | None = None
    step: int | None = None
    lane: str | None = None
    number: int | None = None
    turn: int | None = None
    """Its position in the run, and the turn (from 1), written by whoever steps."""

    def __str__(self) -> str:
        """`after processor contents`."""
        return f"{self.phase} {self.seam} {self.name}".rstrip()


T = TypeVar("T")
Steps = Generator[Any, None, T]
"""What the engine's own functions return: Events and Stops on the way, a result at the end."""


def call(seam: Seam, name: str, function: Callable[..., Any], *args: Any, **holds: Any) -> Steps[Any]:
    """Call `function` through a seam: pause, call it unless answered, pause again.

    A function that yields (a processor with events of its own) has its items passed up between the two stops.

    Raises:
        Exception: whatever the function, or the reader's answer, raises.
    """
    before = Stop(seam, name, Phase.BEFORE, holds, noop=is_noop(function), function=function)
    yield before
    outcome = before.answer or (yield from capture(function, *args))
    after = Stop(
        seam, name, Phase.AFTER, {**holds, "outcome": outcome}, opened_by=before, noop=before.noop, function=function
    )
    yield after
    return (after.answer or after.holds["outcome"]).unwrap()


def capture(function: Callable[..., Any], *args: Any) -> Steps[Return | Raise]:
    """What the call comes to, as a value: Return or Raise. Coroutines and generators are run to their end."""
    try:
        value = function(*args)
        if inspect.isgenerator(value):
            value = yield from value
        elif inspect.iscoroutine(value):
            value = run_to_its_end(value)
        return Return(value)
    except Exception as error:
        return Raise(error)


def first_answer(seam: Seam, callbacks: Iterable[Callable[..., Any]], *args: Any, **holds: Any) -> Steps[Any]:
    """Ask callbacks in order; the first answer that is not None wins and the others are not asked.

    One sentence settles every callback: return an answer, return None for "no answer", or raise (Go: `(value, nil)`,
    `(nil, nil)`, `(nil, err)`).
    """
    for callback in callbacks:
        answer = yield from call(seam, name_of(callback), callback, *args, **holds)
        if answer is not None:
            return answer
    return None


def events_only(items: Iterable[Any]) -> Iterator[Any]:
    """Drop the Stops: what is left is what a plain run gives."""
    return (item for item in items if not isinstance(item, Stop))


def drain(items: Generator[Any, None, T]) -> T:
    """Run a stepped function to its end without stopping, and give its result."""
    while True:
        try:
            next(items)
        except StopIteration as done:
            return done.value  # type: ignore[no-any-return]


def noop(function: Callable[..., Any]) -> Callable[..., Any]:
    """Mark a stage that does nothing, as in Go v2.4.0: the place is kept so that the order is."""
    function.is_noop = True  # type: ignore[attr-defined]
    return function


def is_noop(function: Callable[..., Any]) -> bool:
    """Whether a stage is marked as doing nothing."""
    return bool(getattr(function, "is_noop", False))


def name_of(function: Callable[..., Any]) -> str:
    """The name a stop shows for a callback: its own, its class's when it has none."""
    return str(getattr(function, "__name__", None) or getattr(function, "name", None) or type(function).__name__)
