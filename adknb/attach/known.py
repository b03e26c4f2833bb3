"""Where google-adk is known to do otherwise than ADK-Go, each with its reason, and how a first difference shows it.

Seen by running the golden scenarios on both (VERSUS.md). The first rule that fits is told.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

Json = dict[str, Any]

QUOTED = "For context: below is a transcript"
NUDGE = "Continue processing previous requests as instructed."


def _agents(spec: Json) -> Iterator[Json]:
    yield spec
    for child in spec.get("sub_agents", []):
        yield from _agents(child)


class Happened(Protocol):
    """A row of a run (versus.Row)."""

    @property
    def kind(self) -> str: ...  # noqa: D102
    @property
    def who(self) -> str: ...  # noqa: D102
    @property
    def said(self) -> Any: ...  # noqa: D102
    @property
    def note(self) -> str: ...  # noqa: D102


@dataclass(frozen=True)
class Known:
    """A known difference: its name, and what each of the two does."""

    name: str
    go: str
    python: str


@dataclass(frozen=True)
class Place:
    """What a rule is given: the rows at the first difference, the place inside them, and what stands there."""

    go: Happened | None
    python: Happened | None
    inside: str
    scenario: Json

    def both(self, kind: str) -> bool:
        """Whether both rows are of this kind."""
        return self.go is not None and self.python is not None and self.go.kind == self.python.kind == kind

    def contents(self) -> tuple[Json, Json]:
        """Of two requests, the contents at the position of the difference; an empty one where there is none."""
        at = int(found[1]) if (found := re.match(r"\[(\d+)\]", self.inside)) else 0
        given = [row.said if row is not None and row.kind == "request" else [] for row in (self.go, self.python)]
        ours, theirs = (said[at] if at < len(said) else {} for said in given)
        return ours, theirs

    def parts(self, row: Happened | None, kind: str) -> list[Any]:
        """The calls, or responses, of an event's row."""
        content = (row.said or {}).get("content") if row is not None and row.kind == "event" else None
        return [part[kind] for part in (content or {}).get("parts", []) if kind in part]


Rule = Callable[[Place], bool]


def why(go: Happened | None, python: Happened | None, inside: str, scenario: Json) -> Known | None:
    """The known difference that a first difference shows; None if it is not known."""
    place = Place(go, python, inside, scenario)
    return next((known for known, shows in RULES if shows(place)), None)


# ---------------------------------------------------------------------------------------------------------- the request


def _says(content: Json, beginning: str) -> bool:
    return any(str(part.get("text", "")).startswith(beginning) for part in content.get("parts", []))


def _another_agents_words(place: Place) -> bool:
    ours, theirs = place.contents()
    return place.both("request") and (_says(ours, "For context:") or _says(theirs, QUOTED))


def _current_turn(place: Place) -> bool:
    short = [agent["name"] for agent in _agents(place.scenario["agent"]) if agent.get("include_contents") == "none"]
    return place.both("request") and place.go is not None and place.go.who in short


def _nothing_said(place: Place) -> bool:
    ours, theirs = (
        [part for part in content.get("parts", []) if part and part != {"text": ""}] for content in place.contents()
    )
    return place.both("request") and ours == theirs


def _open_call(place: Place) -> bool:
    ours, theirs = ([part for part in c.get("parts", []) if "functionCall" in part] for c in place.contents())
    return place.both("request") and len(ours) > 0 and ours != theirs


def _stored(place: Place) -> list[tuple[str, list[Json]]]:
    """(isolation scope, parts) of the events that the session began with."""
    events = place.scenario.get("events", [])
    return [(e.get("isolationScope", ""), (e.get("content") or {}).get("parts") or []) for e in events]


def _only_there(place: Place) -> list[str]:
    """The texts that google-adk's request has and Go's has not."""
    rows = (place.go, place.python) if place.both("request") else ()
    ours, theirs = (
        [part["text"] for content in row.said for part in content["parts"] if part.get("text")] if row else []
        for row in rows or (None, None)
    )
    return [text for text in theirs if text not in ours]


def _no_ids(place: Place) -> bool:
    answers = [
        [part["functionResponse"] for part in content.get("parts", []) if "functionResponse" in part]
        for content in place.contents()
    ]
    return place.both("request") and all(answers) and not any("id" in each for both in answers for each in both)


def _text_beside_a_response(place: Place) -> bool:
    beside = [parts for _, parts in _stored(place) if any("functionResponse" in part for part in parts)]
    return any(part.get("text") in _only_there(place) for parts in beside for part in parts)


def _scopes(place: Place) -> bool:
    return place.both("request") and any(scope for scope, _ in _stored(place))


def _nudge(place: Place) -> bool:
    ours, _ = place.contents()
    return place.both("request") and _says(ours, NUDGE)


def _response_without_call(place: Place) -> bool:
    return place.python is not None and "Function call not found for function response" in place.python.note


def _call_out_of_sight(place: Place) -> bool:
    return place.go is not None and "ends the history with a response" in place.go.note


# ------------------------------------------------------------------------------------------------------------- the loop


def _thoughts_alone(place: Place) -> bool:
    asked = place.go is not None and place.go.kind == "request" and bool(place.go.said)
    ended = place.python is None or place.python.kind == "turn"
    return asked and ended and place.go is not None and _says(place.go.said[-1], NUDGE)


def _tool_error(place: Place) -> bool:
    failed = [r for r in place.parts(place.go, "functionResponse") if "error" in r.get("response", {})]
    theirs = place.parts(place.python, "functionResponse")
    return bool(failed) and (place.python is None or len(theirs) < len(place.parts(place.go, "functionResponse")))


def _errors(place: Place) -> tuple[str, str] | None:
    """What both answers say at the place of the difference, if that is an error's text in either."""
    if not place.inside.endswith("functionResponse.response.error"):
        return None
    at = int(re.findall(r"\[(\d+)\]", place.inside)[0])
    said = [place.go.said, place.python.said] if place.go is not None and place.python is not None else []
    texts = [row["content"]["parts"][at]["functionResponse"].get("response", {}).get("error", "") for row in said]
    return (texts[0], texts[1]) if len(texts) == 2 else None


def _unchecked(place: Place) -> bool:
    texts = _errors(place)
    return texts is not None and bool(texts[0]) and not texts[1]


def _wording(place: Place) -> bool:
    texts = _errors(place)
    return texts is not None and all(texts)


def _transfer_answer(place: Place) -> bool:
    calls = place.parts(place.python, "functionResponse")
    return place.inside.endswith("functionResponse.response") and any(
        r.get("response") == {"result": None} for r in calls
    )


def _error_as_event(place: Place) -> bool:
    told = place.python is not None and place.python.kind == "event" and "errorCode" in place.python.said
    return told and place.go is not None and place.go.kind == "error"


def _replaced_chunk(place: Place) -> bool:
    whole, chunk = (
        row.said.get("partial") if row is not None and row.kind == "event" else None for row in (place.go, place.python)
    )
    return place.both("event") and bool(chunk) and not whole


def _output_key(place: Place) -> bool:
    return place.both("event") and place.inside.startswith("actions")


def _delegated(place: Place) -> bool:
    modes = {agent["name"]: agent.get("mode") for agent in _agents(place.scenario["agent"])}
    ours, _ = place.contents()
    return (
        place.both("request")
        and modes.get(place.go.who if place.go else "") in ("task", "single_turn")
        and _says(ours, "{")
    )


RULES: list[tuple[Known, Rule]] = [
    (
        Known("a response without its call", "is left out of the request", "ends the run with an error"),
        _response_without_call,
    ),
    (
        Known(
            "a response whose call is out of sight",
            "ends the run with an error, where it is the last event",
            "is left out of the request, or quoted",
        ),
        _call_out_of_sight,
    ),
    (
        Known(
            "include_contents none",
            "the request begins at the last word of anybody but the agent",
            "the beginning is told in another way, so that more or less is sent",
        ),
        _current_turn,
    ),
    (
        Known(
            "another agent's words",
            "`For context:` and a line for each part, arguments as JSON; thoughts are told as said, an event that says "
            "nothing as a lone `For context:`",
            "a preamble and quotation marks, arguments as Python writes them; thoughts and empty events are left out",
        ),
        _another_agents_words,
    ),
    (Known("parts that say nothing", "are left out of the request", "are sent"), _nothing_said),
    (Known("a call without an answer", "is sent", "is left out of the request, unless it is long-running"), _open_call),
    (
        Known(
            "calls without ids",
            "are all followed by the last answer without an id",
            "are followed by the answers in their order",
        ),
        _no_ids,
    ),
    (
        Known(
            "what stands beside a response",
            "is left out where the response is (merged elsewhere, or without a call)",
            "is sent",
        ),
        _text_beside_a_response,
    ),
    (
        Known(
            "the input of a delegated agent",
            "is the arguments of the call, as compact JSON, and nothing else",
            "is the arguments as Python writes JSON, for a task agent behind the user's own message",
        ),
        _delegated,
    ),
    (
        Known(
            "events of a scope",
            "are seen in that very scope only, the empty one too",
            "are seen by branch and by who asks; a scope hides less",
        ),
        _scopes,
    ),
    (
        Known(
            "the word to go on",
            "is the last content of the request",
            "is added by the Gemini adapter, unseen before it",
        ),
        _nudge,
    ),
    (
        Known(
            "an answer of thoughts alone", "is no answer: the model is asked again, ten times at most", "ends the turn"
        ),
        _thoughts_alone,
    ),
    (
        Known("a tool that fails", "answers the model with its error", "ends the run, if no callback recovers it"),
        _tool_error,
    ),
    (Known("arguments that do not fit", "are refused before the tool runs", "reach the tool as they are"), _unchecked),
    (Known("the words of an error", "Go's", "Python's"), _wording),
    (Known("the answer to a transfer", "`{}`", '`{"result": null}`'), _transfer_answer),
    (
        Known(
            "an error that ends a turn",
            "is raised to the reader",
            "is told, and stored, as an event with an error code",
        ),
        _error_as_event,
    ),
    (
        Known(
            "a chunk that a callback replaces",
            "is whole, unless the callback says that it is partial",
            "is partial, as what it replaces",
        ),
        _replaced_chunk,
    ),
    (
        Known(
            "output_key",
            "every final text writes it, with that text",
            "a text beside a call writes it, too; the texts of a turn are joined",
        ),
        _output_key,
    ),
]
"""A known difference, and how a first difference shows it."""
