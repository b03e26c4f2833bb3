"""The events of an evaluation case, put in the order in which they most likely happened.

A turn is: the message; what agents said on the way and what they called, each call with its answer behind it; the final
answer. An answer on the way stands before the first call that its author's hand-over makes pointless; a call of
`transfer_to_agent` makes its target the speaker. Call ids that are missing are made up, so that each call is paired
with its own answer; they begin with `adk-`, as the ids that ADK makes up itself, and so no model sees them (R5.30).
"""

from __future__ import annotations

from typing import Any

from adknb.engine.errors import BadData
from adknb.engine.event import Event, function_responses_of, parts_of
from adknb.files.glance import TRANSFER_TOOLS
from adknb.files.session_file import Json
from adknb.files.shapes import event_of, expect

MADE_UP = "adk-eval-"
"""How the ids begin that this reader makes up."""

NOBODY = "agent"
"""Who speaks where a case does not say so; google-adk's own word."""


class CaseEvents:
    """Collects the events of a case, turn by turn."""

    def __init__(self, speaker: str = "") -> None:
        self.events: list[Event] = []
        self.speaker = speaker
        self._calls = 0
        self._turns = 0
        self._unknown = {"authors": False, "order": False, "results": False, "ids": False}

    def turn(self, said: Json, where: str, rest: Json) -> None:
        """Add a turn; `rest` are fields of it that have no home: they are kept with its message.

        Raises:
            BadData: naming the place.
        """
        self._turns += 1
        self.invocation = str(said.get("invocation_id") or f"case-{self._turns}")
        self.time = said.get("creation_timestamp") or 0
        self.where = where
        if said.get("user_content") is not None:
            content = expect(said["user_content"], dict, f"{where}.user_content")
            self._add("user", {**content, "role": "user"}, f"{where}.user_content")
            self.events[-1].extra.update({f"case/{key}": value for key, value in rest.items()})
        agents = said.get("agents") or []
        if not self.speaker and len(agents) == 1:
            self.speaker = agents[0]
        if said.get("invocation_events") is not None:
            self._as_they_came(expect(said["invocation_events"], list, f"{where}.invocation_events"))
        else:
            self._on_the_way(said)
        final = said.get("final_response")
        if final is not None and expect(final, dict, f"{where}.final_response").get("parts"):
            self._say(self.speaker, {"role": "model", **_without_nulls(final)}, f"{where}.final_response")

    def notes(self) -> list[str]:
        """What was made up, a sentence each."""
        said = {
            "authors": f"Who speaks is not always in the case: taken as {self.speaker or NOBODY}.",
            "order": "In which order tools were called and agents spoke within a turn is a guess.",
            "results": "Results of tools are missing in the case.",
            "ids": f"Call ids are not in the case: those that begin with {MADE_UP} are made up.",
        }
        return [sentence for what, sentence in said.items() if self._unknown[what]]

    def _as_they_came(self, items: list[Any]) -> None:
        """A newer case: the events themselves, less the text of the final answer."""
        for i, item in enumerate(items):
            at = f"{self.where}.invocation_events[{i}]"
            event = dict(expect(item, dict, at))
            content = event.get("content")
            if content is not None and not expect(content, dict, f"{at}.content").get("parts"):
                content = None
            rest = {key: value for key, value in event.items() if key not in ("author", "content")}
            author = str(expect(event.get("author") or self.speaker or NOBODY, str, f"{at}.author"))
            if content is not None or any(rest.values()):
                self._add(author, content, at, rest)
            if author != "user" and not (content is not None and _answers_only(self.events[-1])):
                self.speaker = author  # who comes last without words gives the final answer
            for part in (content or {}).get("parts") or ():
                self._hand_over(
                    part.get("function_call") or part.get("functionCall") if isinstance(part, dict) else None
                )

    def _on_the_way(self, said: Json) -> None:
        """An older case: calls, results and answers on the way, each kind in a list of its own."""
        where = self.where
        uses = [expect(u, dict, f"{where}.tool_uses[{i}]") for i, u in _listed(said, "tool_uses", where)]
        results = [expect(r, dict, f"{where}.tool_responses[{i}]") for i, r in _listed(said, "tool_responses", where)]
        waiting = [
            _answer(a, f"{where}.intermediate_responses[{i}]")
            for i, a in _listed(said, "intermediate_responses", where)
        ]
        self._unknown["order"] |= len(uses) > 1 or bool(uses and waiting)
        if not self.speaker and waiting:
            self.speaker = waiting[0][0]
        self._answers(waiting)
        for i, use in enumerate(uses):
            at = f"{where}.tool_uses[{i}]"
            call = {key: value for key, value in use.items() if value is not None}
            result = _take_result(results, call)
            if not call.get("id"):
                self._calls += 1
                self._unknown["ids"] = True
                call["id"] = f"{MADE_UP}{self._calls}"
            caller = self.speaker
            self._say(caller, {"role": "model", "parts": [{"function_call": call}]}, at)
            if result is None:
                self._unknown["results"] = True
            else:
                part = {"function_response": {**_without_nulls(result), "id": call["id"]}}
                self._say(caller, {"role": "user", "parts": [part]}, f"{where}.tool_responses")
            self._hand_over(call)
            self._answers(waiting)
        for author, parts in waiting:
            self._say(author, {"role": "model", "parts": parts}, f"{where}.intermediate_responses")
        for result in results:
            self._say(self.speaker, {"role": "user", "parts": [{"function_response": _without_nulls(result)}]}, where)

    def _answers(self, waiting: list[tuple[str, list[Any]]]) -> None:
        """What the present speaker says before the next call."""
        while waiting and waiting[0][0] == self.speaker:
            author, parts = waiting.pop(0)
            self._say(author, {"role": "model", "parts": parts}, f"{self.where}.intermediate_responses")

    def _hand_over(self, call: Any) -> None:
        if isinstance(call, dict) and call.get("name") in TRANSFER_TOOLS:
            args = call.get("args")
            target = args.get("agent_name") if isinstance(args, dict) else None
            if isinstance(target, str) and target:
                self.speaker = target

    def _say(self, author: str, content: Json, where: str) -> None:
        if not author:
            self._unknown["authors"] = True
        self._add(author or NOBODY, content, where)

    def _add(self, author: str, content: Json | None, where: str, rest: Json | None = None) -> None:
        raw: Json = {**(rest or {}), "author": author, "invocation_id": self.invocation, "timestamp": self.time}
        if content is not None:
            raw["content"] = content
        self.events.append(event_of(raw, where))


def _answers_only(event: Event) -> bool:
    """Whether it holds results of tools and nothing else: they do not make their author the speaker."""
    parts = parts_of(event.content)
    return bool(parts) and len(function_responses_of(event.content)) == len(parts)


def _listed(said: Json, key: str, where: str) -> list[tuple[int, Any]]:
    return list(enumerate(expect(said.get(key) or [], list, f"{where}.{key}")))


def _answer(given: Any, where: str) -> tuple[str, list[Any]]:
    """An answer on the way: `[author, parts]`."""
    pair = expect(given, list, where)
    if len(pair) != 2:
        raise BadData(where, f"expected [author, parts], found a list of {len(pair)}")
    return str(expect(pair[0], str, f"{where}[0]")), list(expect(pair[1], list, f"{where}[1]"))


def _take_result(results: list[Json], call: Json) -> Json | None:
    """The result of a call, taken out of the list: by id, else the first of its name."""
    if call.get("id"):
        found = next((r for r in results if r.get("id") == call["id"]), None)
    else:
        found = next((r for r in results if r.get("name") == call.get("name") and not r.get("id")), None)
    if found is not None:
        results.remove(found)
    return found


def _without_nulls(value: Json) -> Json:
    return {key: item for key, item in value.items() if item is not None}
