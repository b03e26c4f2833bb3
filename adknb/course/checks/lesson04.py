"""Checks of lesson 04: the fate of every event, and a history of one's own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from adknb.course.checks.trying import verdict, want
from adknb.course.reading import answers, calls
from adknb.engine.event import Event
from adknb.scenarios import scenario
from adknb.stepper import step

LESSON = "04b-tidying-up"


@verdict
def check_fates(named: Mapping[int, tuple[str, str]]) -> str:
    """04 A: event of 04b -> (kind, rule), such as `(1, "moved", "R5.24")`; events kept as they are may be left out."""
    want(isinstance(named, Mapping), 'a dict is wanted: {event: ("kind", "rule")}')
    fates = {fate.event: fate for fate in step(scenario(LESSON)).until("contents").fates}
    for event, said in sorted(named.items()):
        want(event in fates, f"there is no event {event} before this request")
        want(isinstance(said, (tuple, list)) and len(said) == 2, f"event {event}: two texts are wanted, kind and rule")
        kind, rule = said
        want(kind == fates[event].kind, f"event {event} is not {kind}")
        want(rule in {r.rule for r in fates[event].reasons}, f"event {event}: {rule} is not a reason of its fate")
    touched = {n for n, fate in fates.items() if fate.kind != "kept" or fate.reasons[0].rule != "R5.27"}
    missing = sorted(touched - set(named))
    want(not missing, f"event {missing[0] if missing else ''} is not sent as it is stored either")
    return f"{len(named)} events with kind and rule."


@verdict
def check_sent_twice(events: Sequence[Event]) -> str:
    """04 B: a history of two calls and one event with an answer, in which the request shows that answer twice."""
    want(isinstance(events, (list, tuple)) and all(isinstance(e, Event) for e in events), "a list of Events is wanted")
    want(len(calls(events)) == 2, f"expected two calls in the history, found {len(calls(events))}")
    want(len(answers(events)) == 1, f"expected one answer in the history, found {len(answers(events))}")
    model = {
        "name": "scripted",
        "calls": [{"responses": [{"content": {"role": "model", "parts": [{"text": "Well."}]}}]}],
    }
    history: dict[str, Any] = {
        "name": "check/04",
        "agent": {
            "type": "llm",
            "name": next((e.author for e in events if e.author != "user"), "clerk"),
            "model": model,
        },
        "events": [event.to_json() for event in events],
        "turns": [{"message": {"role": "user", "parts": [{"text": "Sum it up."}]}}],
    }
    dbg = step(history).until("contents")
    want(dbg.request is not None, f"no request came of it: {dbg.error}")
    shown = len(answers(dbg.request))
    want(shown == 2, f"the request shows the answer {shown} times")
    return "one answer stored, two shown."
