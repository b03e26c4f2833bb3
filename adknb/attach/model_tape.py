"""A model's answers in a task of google-adk's: from the model, written on the run's tape, or from the tape alone."""

from __future__ import annotations

import copy
from collections.abc import AsyncGenerator, Callable
from typing import Any

from adknb.attach.convert import from_adk
from adknb.engine.event_json import response_to_json
from adknb.engine.model import as_response
from adknb.engine.stops import Raise, Return
from adknb.stepper.tape import Tape, TapeEnded

Outcome = tuple[Return | Raise, Any]
"""What a reader is shown, and google-adk's own object where the model has just made it."""


async def answers(answer: Return | Raise | None, ask: Callable[[], Any]) -> AsyncGenerator[Outcome, None]:
    """The outcomes of one call: the model's, a tape's, or what a reader put in their place.

    Raises:
        TapeEnded: the tape ends, and there is no model to go on with.
    """
    if isinstance(answer, Raise):
        yield answer, None
    elif answer is None:
        async for theirs in ask():
            yield Return(from_adk(theirs)), theirs
    elif isinstance(answer.value, Tape):
        async for outcome in _taped(answer.value, ask):
            yield outcome
    else:
        value = answer.value
        for one in value if isinstance(value, list | tuple) else [value]:
            yield Return(as_response(one)), None


async def _taped(tape: Tape, ask: Callable[[], Any]) -> AsyncGenerator[Outcome, None]:
    known = 0
    while known < len(tape.kept):
        outcome = tape.kept[known]
        known += 1
        yield (Return(copy.deepcopy(outcome.value)) if isinstance(outcome, Return) else outcome), None
    if tape.ended:
        return
    if tape._source is None:
        yield Raise(TapeEnded("the recording ends here: the model gave no further answer when it was made")), None
        return
    passed = 0
    try:
        stream = ask()
        try:
            async for theirs in stream:
                said, passed = from_adk(theirs), passed + 1
                if passed <= known:  # a model that is asked again repeats what is on the tape
                    before = tape.kept[passed - 1]
                    if isinstance(before, Return) and response_to_json(before.value) != response_to_json(said):
                        raise TapeEnded("the model now answers otherwise: restart(fresh=True) asks it anew")
                    continue
                tape.kept.append(Return(copy.deepcopy(said)))
                yield Return(said), theirs
        finally:
            if hasattr(stream, "aclose"):
                await stream.aclose()
        tape.ended = True
    except Exception as error:
        tape.ended = True
        tape.kept.append(Raise(error))
        yield tape.kept[-1], None
