"""A model's answers to one call, kept as they come, so that several runs can read them and the model is asked once.

The first reader to want the next answer takes it from the model; whoever comes later gets a copy. So a fork taken
between two chunks of a stream goes on with the very same stream, and repeats no chunk.
"""

from __future__ import annotations

import copy
import threading
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from adknb.engine.errors import AdknbError
from adknb.engine.event_json import response_to_json
from adknb.engine.model import answers_of, as_response
from adknb.engine.stops import Raise, Return
from adknb.stepper.patches import Patch


class TapeEnded(AdknbError):
    """A recording, or a stream that was left, has no further answer."""


class Tape:
    """The outcomes of one model call, in order. `source` asks the model; None for a tape read from a file."""

    def __init__(
        self,
        source: Callable[[], Iterable[Any]] | None = None,
        kept: Iterable[Return | Raise] = (),
        ended: bool = False,
    ) -> None:
        self.kept = list(kept)
        self.ended = ended
        self.uses: int | None = None
        """How often a model that counts its uses had been used by then."""
        self.wrote: Patch | None = None
        """What the model's adapter wrote into the request it was given, as far as it has been looked for."""
        self._source = source
        self._live: Iterator[Any] | None = None
        self._opened: Any = None
        self._readers = 0
        self._lock = threading.RLock()
        self._unasked = source is None
        self._known = 0
        """How many answers a model that is asked again has to repeat before it goes on."""

    def __iter__(self) -> Iterator[Any]:
        """A reader of its own, from the beginning."""
        with self._lock:
            self._readers += 1
        return self._read()

    @property
    def waits(self) -> bool:
        """Whether it has no model yet and is not complete."""
        return self._unasked and not self.ended

    def go_on_with(self, source: Callable[[], Iterable[Any]]) -> None:
        """Give it a model, which says what is missing; if there is something on the tape, it has to begin with that.

        So a stream that was saved in the middle goes on: the model is asked again.
        """
        with self._lock:
            self._source, self._known, self._unasked = source, len(self.kept), False

    def _read(self) -> Iterator[Any]:
        at = 0
        try:
            while True:
                with self._lock:
                    fresh = at >= len(self.kept)
                    outcome = self._next() if fresh else self.kept[at]
                if outcome is None:
                    return
                at += 1
                if isinstance(outcome, Raise):
                    raise outcome.error
                yield outcome.value if fresh else copy.deepcopy(outcome.value)
        finally:
            self._leave()

    def _next(self) -> Return | Raise | None:
        """Take one more outcome from the model. What is kept is a copy: the engine writes call ids into its own."""
        if self.ended:
            return None
        if self._source is None:
            raise TapeEnded("the recording ends here: the model gave no further answer when it was made")
        try:
            if self._live is None:
                self._opened = self._source()
                self._live = iter(answers_of(self._opened))
                self._repeat()
            response = as_response(next(self._live))
        except StopIteration:
            self.ended = True
            return None
        except Exception as error:
            self.ended = True
            self.kept.append(Raise(error))
            return self.kept[-1]
        except BaseException:  # interrupted: the model has not ended, and is asked again by whoever goes on
            source = self._source  # a fork that reads this tape, too, asks with it
            self._break_off()
            self._source = source
            raise
        self.kept.append(Return(copy.deepcopy(response)))
        return Return(response)

    def _repeat(self) -> None:
        """Let a model that is asked again say what it has said."""
        assert self._live is not None
        for outcome in self.kept[: self._known]:
            said = as_response(next(self._live, ""))
            if isinstance(outcome, Return) and response_to_json(said) != response_to_json(outcome.value):
                raise TapeEnded(
                    "the recording ends in the middle of a stream, and the model now answers otherwise: "
                    "restart(fresh=True) asks it anew"
                )

    def _leave(self) -> None:
        """The last reader closes the model's stream; who wants more of it later has to ask the model again."""
        with self._lock:
            self._readers -= 1
            if self._readers == 0 and not self.ended and self._live is not None:
                self._break_off()

    def _break_off(self) -> None:
        """Close the model's stream in its middle; the tape waits for a model that begins with what is kept."""
        opened = (self._live, self._opened)
        self._live = self._opened = self._source = None
        self._unasked, self._known = True, len(self.kept)
        for stream in opened:
            close = getattr(stream, "close", None)
            if close is not None:
                close()
