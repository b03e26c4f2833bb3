"""The tools of a recorded session as scripted ones: what each answered, run by run."""

from __future__ import annotations

import copy
from collections.abc import Sequence

from google.genai import types

from adknb.engine.event import Event, function_calls_of, function_responses_of
from adknb.engine.processors.confirmation import REQUEST_CONFIRMATION
from adknb.files.glance import TRANSFER_TOOLS
from adknb.files.session_file import Json
from adknb.lens.table import PROTOCOL_CALLS
from adknb.lens.words import named

NO_TEXT = "(what was in this file is not in the recording)"
"""Stands in for the text of a saved file."""


class ToolRuns:
    """For each tool its runs, in the order in which they happened, and who called it."""

    def __init__(self, events: Sequence[Event], played: range) -> None:
        self.runs: dict[str, list[Json]] = {}
        self.callers: dict[str, list[str]] = {}
        """Agent -> the tools it called."""
        self.long_running: set[str] = set()
        self.approved: dict[str, bool] = {}
        """Tool -> whether it always asks for approval first."""
        self._files: list[int] = []
        self._odd: list[int] = []
        self._unanswered: dict[str, int] = {}
        """Id of a call that has no result -> its event."""
        self._asked: set[str] = set()
        self._refused: set[str] = set()
        self._of_request: dict[str, str] = {}
        for i in played:
            self._take(i, events[i], events)

    def of(self, agent: str, has_already: set[str]) -> list[Json]:
        """The tools that an agent called, as a scenario has them, but for those it has by its place in the tree."""
        tools = []
        for name in self.callers.get(agent, []):
            if name in has_already:
                continue
            tool: Json = {"name": name}
            if name in self.long_running:
                tool["long_running"] = True
            if self.approved.get(name):
                tool["require_confirmation"] = True
            if self.runs.get(name):
                tool["runs"] = self.runs[name]
            tools.append(tool)
        return tools

    def unknown(self) -> list[str]:
        """What of the tools cannot be told, a sentence each."""
        said = []
        if self._unanswered:
            calls = sorted(set(self._unanswered.values()))
            said.append(f"What the tools answered to {named('event', calls)}: their results are not in it.")
        if self._files:
            said.append(f"The files that {named('event', self._files)} saved: their texts are not in it.")
        if self._odd:
            said.append(f"The words in which approval was asked for or refused in {named('event', self._odd)}.")
        return said

    def _take(self, i: int, event: Event, events: Sequence[Event]) -> None:
        if event.partial:
            return
        for call in function_calls_of(event.content):
            if call.name == REQUEST_CONFIRMATION:
                original = (call.args or {}).get("originalFunctionCall")
                if isinstance(original, dict) and call.id:
                    self._of_request[call.id] = str(original.get("id") or "")
            elif call.name and call.name not in PROTOCOL_CALLS and event.author != "user":
                known = self.callers.setdefault(event.author, [])
                if call.name not in known:
                    known.append(call.name)
                if call.id in event.long_running_tool_ids:
                    self.long_running.add(call.name)
                    if not _answered_at_once(events, i, call):
                        self.runs.setdefault(call.name, []).append({"nothing": True})
                elif call.id and call.name not in TRANSFER_TOOLS:
                    self._unanswered[call.id] = i
        answers = function_responses_of(event.content)
        for answer in answers:
            self._unanswered.pop(answer.id or "", None)
        if event.author == "user":
            self._decisions(answers)
        elif answers:
            self._results(i, event, answers)

    def _decisions(self, answers: Sequence[types.FunctionResponse]) -> None:
        for answer in answers:
            original = self._of_request.get(answer.id or "")
            if answer.name == REQUEST_CONFIRMATION and original is not None:
                response = answer.response or {}
                confirmed = response.get("confirmed") is True or '"confirmed": true' in str(
                    response.get("response", "")
                )
                (self._asked if confirmed else self._refused).add(original)

    def _results(self, i: int, event: Event, answers: Sequence[types.FunctionResponse]) -> None:
        """The runs behind an event with results; what the event did is the deed of its first run."""
        deeds = _deeds(event)
        if event.actions.artifact_delta:
            self._files.append(i)
        for answer in answers:
            name = answer.name or ""
            asks = (answer.id or "") in event.actions.requested_tool_confirmations
            if asks and list(answer.response or {}) == ["error"]:
                self.approved.setdefault(name, True)
                self._odd.append(i)
                continue  # it never ran: it asked first
            if answer.id in self._refused:
                self._odd.append(i)
                continue
            if not asks and answer.id not in self._asked:
                self.approved[name] = False  # it ran unasked
            run: Json = {**deeds, "return": copy.deepcopy(answer.response or {})}
            if asks:
                hint = event.actions.requested_tool_confirmations[answer.id or ""].hint
                run = {**deeds, "request_confirmation": hint or "please approve"}
                run.pop("skip_summarization", None)
                self._odd.append(i)
            self.runs.setdefault(name, []).append(run)
            deeds = {}


def _deeds(event: Event) -> Json:
    """What an event did besides giving results, as a run of a tool does it."""
    actions = event.actions
    deeds: Json = {}
    if actions.state_delta:
        deeds["state"] = copy.deepcopy(actions.state_delta)
    if actions.artifact_delta:
        deeds["artifact"] = dict.fromkeys(actions.artifact_delta, NO_TEXT)
    if actions.escalate:
        deeds["escalate"] = True
    if actions.skip_summarization and not actions.requested_tool_confirmations:
        deeds["skip_summarization"] = True
    names = {response.name for response in function_responses_of(event.content)}
    if actions.transfer_to_agent and not names & set(TRANSFER_TOOLS[:1]):
        deeds["transfer"] = actions.transfer_to_agent
    return deeds


def _answered_at_once(events: Sequence[Event], i: int, call: types.FunctionCall) -> bool:
    """Whether the agent itself stored a result of a long-running call before the user spoke again."""
    for event in events[i + 1 :]:
        if event.author == "user":
            return False
        if any(answer.id == call.id for answer in function_responses_of(event.content)):
            return True
    return False
