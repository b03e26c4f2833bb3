"""Models and summarizers that say what they were told to say.

    model = ScriptedModel([call("get_weather", city="Hangzhou"), "It is 26 °C."])

A double counts its calls in a `Script`. All doubles of one built scenario share one, so building the scenario again
starts from zero; a Stepper that goes back sets their `uses` to what its own run has used.

Source: golden/README.md (Model; compaction).
"""

from __future__ import annotations

import copy
import threading
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from google.genai import types

from adknb.engine.errors import AdknbError
from adknb.engine.event import Event
from adknb.engine.event_json import response_from_json, to_json
from adknb.engine.model import LLMRequest, as_response
from adknb.engine.response import LLMResponse
from adknb.engine.schema import found
from adknb.scenarios.kinds import Place
from adknb.scenarios.vocabulary import RESPONSE


class ScriptedError(Exception):
    """An error that a script asks for; its text is the script's."""

    logged_at: int | None = None
    """Where in the log the reader is told of it, if not at the end of the turn."""


class ScriptEnded(AdknbError):
    """A scripted model was asked more often than it has answers."""


class Script:
    """The counters, and the log if there is one, that the doubles of one run share."""

    def __init__(self, log: list[dict[str, Any]] | None = None) -> None:
        self.log = log
        self._counts: Counter[str] = Counter()
        self._lock = threading.Lock()  # tools may run side by side

    def count(self, double: str) -> int:
        """How often this double was used before; counts this use."""
        with self._lock:
            self._counts[double] += 1
            return self._counts[double] - 1

    def uses(self, double: str) -> int:
        """How often this double was used so far."""
        return self._counts[double]

    def set_uses(self, double: str, n: int) -> None:
        """Say that it was used n times: another run may have used it in between."""
        with self._lock:
            self._counts[double] = n

    @property
    def position(self) -> int:
        """How many entries the log has."""
        return len(self.log or ())

    def write(self, entry: Callable[[], dict[str, Any]]) -> None:
        """Log an entry as things are now; without a log it is not even made."""
        if self.log is not None:
            self.log.append(entry())


@dataclass(frozen=True)
class Call:
    """What one call of a scripted model gives: responses in order, then an error if there is one."""

    responses: tuple[LLMResponse, ...] = ()
    error: Exception | None = None


class ScriptedModel:
    """A model whose n-th call answers with `calls[n]`; after the last it raises ScriptEnded.

    One call is a text, a Content, an LLMResponse or an exception; or a list of these, an exception only at its end; or
    scenario JSON: `{"responses": [LLMResponse JSON, …], "error": text}`. Responses are yielded in order, whatever the
    streaming mode, as fresh copies: the engine writes call ids into what it is given.

    Raises:
        TypeError: a call is none of these; names it.
        BadData: JSON of a response is not as it should be.

    Go: the reference's scripted model; model/llm.go, LLM
    """

    def __init__(
        self, calls: Iterable[Any], name: str = "scripted", script: Script | None = None, agent: str = ""
    ) -> None:
        if isinstance(calls, (str, Mapping)):
            raise TypeError(f"calls is a list with one entry for each call of the model, not {found(calls)}")
        self.name = name
        self.calls = [as_call(given, f"calls[{n}]") for n, given in enumerate(calls)]
        self.script = script or Script()
        self.agent = agent
        self._key = f"model of {agent}" if script else "model"

    def __repr__(self) -> str:
        return f"ScriptedModel({self.name!r}, {len(self.calls)} calls)"

    @property
    def uses(self) -> int:
        """How many calls were answered; the next one is `calls[uses]`."""
        return self.script.uses(self._key)

    @uses.setter
    def uses(self, n: int) -> None:
        self.script.set_uses(self._key, n)

    def generate_content(self, request: LLMRequest, stream: bool) -> Generator[LLMResponse, None, None]:
        """The responses of the next call; logs the request as it is now.

        Raises:
            ScriptEnded: no call is left.
            Exception: the error that the call ends with.
        """
        self.script.write(lambda: model_request(self.agent, request, stream))
        n = self.script.count(self._key)
        if n >= len(self.calls):
            raise ScriptEnded(f"model {self.name!r} has answers for {len(self.calls)} calls; this is call {n + 1}")
        for response in self.calls[n].responses:
            yield copy.deepcopy(response)
        error = self.calls[n].error
        if error is not None:
            raise error.with_traceback(None)


def as_call(given: Any, where: str) -> Call:
    """One call of a model, from any of the forms that ScriptedModel takes. Raises TypeError or BadData with `where`."""
    if isinstance(given, Call):
        return given
    if isinstance(given, Mapping):
        unknown = sorted(set(given) - {"responses", "error"})
        if unknown:
            raise TypeError(f"{where}: a call has 'responses' and 'error', not {unknown[0]!r}")
        responses = []
        for i, response in enumerate(given.get("responses") or []):
            place = Place("scripted model", f"{where}.responses[{i}]")
            RESPONSE.check(response, place)
            responses.append(response_from_json(copy.deepcopy(response), str(place)))
        error = given.get("error")
        return Call(tuple(responses), None if error is None else ScriptedError(error))
    items: Sequence[Any] = given if isinstance(given, (list, tuple)) else [given]
    error = None
    if items and isinstance(items[-1], Exception):
        *items, error = items
    try:
        return Call(tuple(copy.deepcopy(as_response(item)) for item in items), error)
    except TypeError as wrong:
        raise TypeError(f"{where}: {wrong}; an exception may end the call") from None


def model_request(agent: str, request: LLMRequest, stream: bool) -> dict[str, Any]:
    """The log entry of a request: all of it as JSON, as it is now."""
    return {
        "at": "model_request",
        "agent": agent,
        "model": request.model,
        "stream": stream,
        "contents": [_as_go_writes(content) for content in to_json(request.contents)],
        "config": to_json(request.config),
        "tools": sorted(request.tools),
    }


def _as_go_writes(content: dict[str, Any]) -> dict[str, Any]:
    """A content's JSON without the empty fields of calls and responses, which Go leaves out."""
    for part in content.get("parts") or []:
        for kind in ("functionCall", "functionResponse"):
            if kind in part:
                part[kind] = {key: value for key, value in part[kind].items() if value or value is False}
    return content


class ScriptedSummarizer:
    """Sums events up as told: raises `error`, else gives `summary` as a model's text, else declines.

    Go: the reference's scripted summarizer; compaction/compaction.go, Summarizer
    """

    def __init__(self, summary: str | None = None, error: str | None = None, script: Script | None = None) -> None:
        self.summary, self.error = summary, error
        self.script = script or Script()

    def summarize_events(
        self, events: Sequence[Event]
    ) -> tuple[types.Content | None, types.GenerateContentResponseUsageMetadata | None]:
        """The summary and what it cost (nothing); logs what it was handed. Raises ScriptedError."""
        self.script.write(
            lambda: {
                "at": "summarize",
                "events": [{"author": e.author, "content": to_json(e.content)} for e in events],
            }
        )
        if self.error:
            raise ScriptedError(self.error)
        if not self.summary:
            return None, None
        return types.Content(role="model", parts=[types.Part(text=self.summary)]), None
