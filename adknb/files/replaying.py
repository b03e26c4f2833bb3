"""A recorded session as a scenario: played again, models say what they said and tools answer what they answered.

What made the recording differ from run to run is in it: every answer of a model is one call of that agent's scripted
model, every answer of a tool one run of that tool, every message of the user a turn. How the agents are built comes
from an attached definition, else from what the events give away (`replay_tree`).
"""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from adknb.engine.errors import BadData
from adknb.engine.event import Event, function_calls_of, function_responses_of
from adknb.engine.event_json import to_json
from adknb.engine.processors.instructions import GO_SPACE, TOKEN, is_state_key
from adknb.files.glance import TRANSFER_TOOLS
from adknb.files.replay_tools import NO_TEXT, ToolRuns
from adknb.files.replay_tree import looped_in, nodes_of, tree_for
from adknb.files.replay_voices import Voices
from adknb.files.session_file import Json
from adknb.files.states import state_after
from adknb.files.wording import unknown_kinds
from adknb.lens.table import PROTOCOL_CALLS, turns
from adknb.lens.words import named, one_line

if TYPE_CHECKING:
    from adknb.files.comparing import Comparison
    from adknb.files.recording import Recording

NO_VALUE = "(not in the recording)"
"""Stands in for a value of state that an instruction needs and nothing gives."""


class Replay(dict[str, Any]):
    """A scenario made of a recording. `unknown` says in plain words what of the session it cannot bring back."""

    def __init__(self, scenario: Json, unknown: list[str], recording: Recording) -> None:
        super().__init__(scenario)
        self.unknown = unknown
        self._recording = recording

    def check(self) -> Comparison:
        """Play it to its end, and compare what comes of it with what was recorded."""
        from adknb.files.comparing import compare
        from adknb.files.reading import session_of
        from adknb.files.recording import Recording
        from adknb.scenarios.trace import trace

        name = f"{self._recording.name}, played again"
        return compare(self._recording, Recording(session_of(trace(dict(self))["session"], name)))


def replay_of(recording: Recording, from_turn: int = 1) -> Replay:
    """The scenario of a recording; see `Recording.to_scenario`. Raises BadData."""
    events = recording.events
    numbers = turns(events)
    last = max(numbers, default=0)
    if isinstance(from_turn, bool) or not isinstance(from_turn, int) or not 1 <= from_turn <= max(last, 1):
        raise BadData(recording.label, f"there is no turn {from_turn!r}: the session has turns 1 to {last}")
    start = next((i for i, n in enumerate(numbers) if n >= from_turn and _is_message(events[i])), None)
    if start is None:
        raise BadData(recording.label, "the user says nothing in it, so there is nothing to play again")
    return _Writer(recording, events, numbers, start).replay()


def _is_message(event: Event) -> bool:
    return event.author == "user" and event.content is not None and event.actions.compaction is None


class _Writer:
    """Writes the scenario of `events[start:]`, with those before as the past."""

    def __init__(self, recording: Recording, events: list[Event], numbers: list[int], start: int) -> None:
        self.recording, self.events, self.numbers = recording, events, numbers
        self.played = range(start, len(events))
        self.voices = Voices(events, numbers, looped_in(recording.agent_trees))
        self.tools = ToolRuns(events, self.played)
        self.unknown: list[str] = []
        self.turns: list[Json] = []
        self.asked: dict[str, int] = {}
        """Id of a request for confirmation -> how many stood before it in what is played."""

    def replay(self) -> Replay:
        """The scenario."""
        for i in self.played:
            event = self.events[i]
            if event.author in ("", "user"):
                self._of_the_user(i, event)
            elif not self.voices.take(i):
                self._of_the_flow(i, event)
            if kinds := unknown_kinds(event):
                self.unknown.append(f"All of event {i}: it holds {kinds}.")
        scenario = self._scenario()
        self._say()
        return Replay(scenario, [one_line(sentence) for sentence in self.unknown], self.recording)

    # ---------------------------------------------------------------------------------------------------------- events

    def _of_the_user(self, i: int, event: Event) -> None:
        begins = i == self.played.start or self.numbers[i] != self.numbers[i - 1]
        if begins and _is_message(event):
            turn: Json = {"message": self._message(event)}
            if event.actions.state_delta:
                turn["state_delta"] = copy.deepcopy(event.actions.state_delta)
            self.turns.append(turn)
        elif event.actions.compaction is None and not function_responses_of(event.content):
            self.voices.odd.append(i)

    def _message(self, event: Event) -> Json:
        """What the user said; answers to requests for confirmation name the request of this run: `$confirm:N`."""
        message: Json = to_json(event.content)
        for part in message.get("parts") or []:
            answer = part.get("functionResponse") or {}
            if answer.get("id") in self.asked:
                answer["id"] = f"$confirm:{self.asked[answer['id']]}"
        return message

    def _of_the_flow(self, i: int, event: Event) -> None:
        """What the run makes by itself: requests for confirmation, results."""
        for call in function_calls_of(event.content):
            if call.name == PROTOCOL_CALLS[0] and call.id:
                self.asked.setdefault(call.id, len(self.asked))
        if event.content is None and event.actions.compaction is None:
            self.voices.odd.append(i)

    def _cut_short(self, looped: bool) -> None:
        """A turn that ends with a call that nobody answers: the reader had left.

        `looped`: the agents go round because the events look so; how often in each turn only its last event tells.
        """
        ends = {self.numbers[i]: i for i in self.played}
        begun = dict.fromkeys(self.numbers[i] for i in self.played if _is_message(self.events[i]))
        for turn, number in zip(self.turns, begun, strict=False):
            last = self.events[ends[number]]
            calls = [c for c in function_calls_of(last.content) if c.name not in PROTOCOL_CALLS]
            if last.author != "user" and (looped or (calls and not last.long_running_tool_ids)):
                of_turn = [i for i in self.played if self.numbers[i] == number]
                turn["stop_after"] = sum(1 for i in of_turn if self.events[i].author != "user")

    # -------------------------------------------------------------------------------------------------------- scenario

    def _scenario(self) -> Json:
        recording, start = self.recording, self.played.start
        state = state_after(self.events, -1, recording.state)
        past = [_past(event) for event in self.events[:start]]
        tree = tree_for(recording, self.events[start:], self.voices, self.tools, self.unknown)
        self._cut_short(looped=tree.get("type") == "loop" and recording.definition is None)
        scenario: Json = {"name": recording.label, "agent": tree}
        for key, value in (("app", recording.app_name), ("user", recording.user_id), ("session", recording.session_id)):
            if value:
                scenario[key] = value
        self._fill_in(tree, state, scenario)
        if state:
            scenario["state"] = state
        if past:
            scenario["events"] = past
        if self.voices.streams:
            scenario["run_config"] = {"streaming_mode": "sse"}
        scenario["event_limit"] = max(200, 2 * len(self.events))
        scenario["turns"] = self.turns
        return scenario

    def _fill_in(self, tree: Json, state: Json, scenario: Json) -> None:
        """Give instructions what they name and nothing else gives: without it the run would fail at once."""
        written = {key for event in self.events[: self.played.start] for key in event.actions.state_delta}
        texts = [node.get(key, "") for node in nodes_of(tree) for key in ("instruction", "global_instruction")]
        for token in (found for text in texts for found in TOKEN.findall(text)):
            key = token.strip("{}").strip(GO_SPACE)
            if key.startswith("artifact."):
                scenario.setdefault("artifacts", {})[key.removeprefix("artifact.").removesuffix("?")] = NO_TEXT
                self.unknown.append(f"The file {key.removeprefix('artifact.')} that an instruction names.")
            elif is_state_key(key) and key not in state and key not in written and not key.startswith("temp:"):
                state[key] = NO_VALUE
                self.unknown.append(f"What {key} was in the state when it was first needed.")

    def _say(self) -> None:
        """What cannot be brought back, a sentence each."""
        if self.recording.definition is None:
            self.unknown.insert(
                0, "How the agents are defined: instructions, tool declarations and settings are not in it."
            )
        speak = {name for name, voice in self.voices.of.items() if voice.calls}
        lost = [i for i in self.voices.silent if self.events[i].author not in speak]
        if lost:
            self.unknown.append(f"What {named('event', lost)} wrote: no agent of that name is run.")
        if self.voices.odd:
            self.unknown.append(f"How {named('event', self.voices.odd)} came about: no model and no tool made them.")
        to_itself = [i for i in self.played if _hands_over_to_itself(self.events[i])]
        if to_itself:
            self.unknown.append(f"What came after {named('event', to_itself)}: a transfer to oneself ends the run.")
        records = [i for i in self.played if self.events[i].actions.compaction is not None]
        if records:
            self.unknown.append(f"The summaries of {named('event', records)}: nothing is summed up when it is played.")
        self.unknown += self.tools.unknown()
        self.unknown.append("Ids and times of events are new, and so are those of calls that had none.")


def _hands_over_to_itself(event: Event) -> bool:
    """Whether an agent calls for a transfer to itself, which is never legal (spec/execution.md 10.2)."""
    calls = [call for call in function_calls_of(event.content) if call.name == TRANSFER_TOOLS[0]]
    return any((call.args or {}).get("agent_name") == event.author for call in calls)


def _past(event: Event) -> Json:
    """An event of before, without what adknb does not know."""
    past = replace(event, extra={}).to_json()
    past["author"] = past.get("author") or "unknown"
    return past
