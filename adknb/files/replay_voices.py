"""What the agents of a recorded session said and wrote, as scripts: calls of their models, acts of their callbacks.

An answer of a model is a call of its own, unless it can only have come in the stream of the one before: an agent whose
last words were final does not ask again in that turn. What an answer writes besides is an act of `after_model`; an
event without content, by an agent, is one of `before_agent` or `after_agent`.
"""

from __future__ import annotations

import copy
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from adknb.engine.event import Event, function_calls_of, function_responses_of, parts_of
from adknb.engine.event_json import camel, to_json
from adknb.engine.response import LLMResponse
from adknb.files.session_file import Json
from adknb.files.whose import is_structured_final
from adknb.lens.table import PROTOCOL_CALLS


@dataclass
class Voice:
    """One agent: the calls of its model, and what its callbacks write."""

    calls: list[Json] = field(default_factory=list)
    after_model: list[Json] = field(default_factory=list)
    before_agent: list[Json] = field(default_factory=list)
    after_agent: list[Json] = field(default_factory=list)
    given: int = 0
    """How many responses its model has given, chunks included."""
    runs: int = 0
    """How often it was run."""
    spoke: bool = False
    """Whether it has said something in its present run."""
    turn: int = -1
    last: int = -1
    """The position of its last event."""
    chunks: list[Json] = field(default_factory=list)


class Voices:
    """Collects what agents say, event by event."""

    def __init__(self, events: Sequence[Event], numbers: Sequence[int], looped: Collection[str] = ()) -> None:
        self.events, self.numbers = events, numbers
        self.looped = looped
        """Agents that are known to be run again and again in a turn."""
        self.of: dict[str, Voice] = {}
        self.streams = False
        """Whether there are chunks."""
        self.silent: list[int] = []
        """Events without content whose author runs under no name of an agent that speaks."""
        self.odd: list[int] = []
        """Events that neither a model nor the Flow makes."""

    def take(self, i: int) -> bool:
        """Take an event of an agent; False if it is none that a model or a callback makes."""
        event = self.events[i]
        voice = self._in_its_run(i, event)
        if event.partial:
            self.streams = True
            voice.chunks.append(response_json(event))
            return True
        if by_the_model(self.events, i):
            self._answer(i, event, voice)
            return True
        voice.last = i
        if event.content is None and event.actions.state_delta and not function_responses_of(event.content):
            self._write(i, event, voice)
            return True
        return False

    def _in_its_run(self, i: int, event: Event) -> Voice:
        """The voice of an event's author; a new run of it begins with a turn, and with a transfer to it."""
        voice = self.of.setdefault(event.author, Voice())
        handed_over = i > 0 and self.events[i - 1].actions.transfer_to_agent == event.author
        if voice.turn != self.numbers[i] or handed_over:
            voice.turn, voice.spoke, voice.last = self.numbers[i], False, -1
            voice.runs += 1
        return voice

    def _answer(self, i: int, event: Event, voice: Voice) -> None:
        responses = [*voice.chunks, response_json(event)]
        voice.chunks = []
        if voice.calls and self._goes_on(i, voice):
            voice.calls[-1]["responses"] += responses
        else:
            voice.calls.append({"responses": responses})
        if event.actions.state_delta:
            act = {"only": voice.given + len(responses) - 1, "state": copy.deepcopy(event.actions.state_delta)}
            voice.after_model.append(act)
        voice.given += len(responses)
        voice.spoke, voice.last = True, i

    def _goes_on(self, i: int, voice: Voice) -> bool:
        """Whether an answer came in the same stream as the agent's last one: nothing that it could see lies between."""
        if self.events[i].author in self.looped or voice.last < 0 or not by_the_model(self.events, voice.last):
            return False
        before = self.events[voice.last]
        if any(call.id not in before.long_running_tool_ids for call in function_calls_of(before.content)):
            return False  # it is asked again when the results are there, whether they were recorded or not
        parts = parts_of(before.content)
        if parts and all(part is not None and part.thought for part in parts):
            return False  # nothing but thoughts: it is asked again
        here = self.events[i].branch
        between = self.events[voice.last + 1 : i]
        return all(e.partial or (here and e.branch and e.branch != here) for e in between)

    def _write(self, i: int, event: Event, voice: Voice) -> None:
        acts = voice.after_agent if voice.spoke else voice.before_agent
        acts.append({"only": voice.runs - 1, "state": copy.deepcopy(event.actions.state_delta)})
        self.silent.append(i)


def by_the_model(events: Sequence[Event], i: int) -> bool:
    """Whether an event is what a model gave: also an empty answer, or an error."""
    event = events[i]
    if event.author in ("", "user") or event.actions.compaction is not None or function_responses_of(event.content):
        return False
    if event.content is None:
        return bool(event.error_code)
    asks = any(call.name in PROTOCOL_CALLS for call in function_calls_of(event.content))
    return not asks and not is_structured_final(events, i)


def response_json(event: Event) -> Json:
    """What the model gave, as LLMResponse JSON."""
    out: dict[str, Any] = {}
    for one in fields(LLMResponse):
        value = getattr(event, one.name)
        if value not in (None, "", False, {}, []):
            out[camel(one.name)] = to_json(value)
    return out
