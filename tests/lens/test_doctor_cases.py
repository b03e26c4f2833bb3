"""Public failure reports that the doctor answers (spec/doctor.md, last section), each with a healthy twin.

The sessions are those of tests/cases: as reported, or as the reference and this engine leave them behind.
"""

import copy
from collections.abc import Callable
from typing import Any

import pytest

from adknb.lens.doctor import Finding
from adknb.scenarios import trace
from tests.cases.given import CASES, SCENARIOS, links
from tests.lens.doctor_sessions import by, found_in, fr, result, text, user

Json = dict[str, Any]


def given(case: str) -> Json:
    """The input of a case: its scenario, where it has one."""
    return copy.deepcopy(SCENARIOS[case] if case in SCENARIOS else CASES[case]["input"])


def told(data: Json, stream: bool = False) -> Json:
    """What the doctor is told of an input: its events and who reads them, or what a run of it leaves."""
    if "turns" in data:
        done = trace(data)
        known = {"agents": [data["agent"]], "state": done["session"]["state"]}
        if stream:
            received = [entry["event"] for entry in done["trace"] if entry["at"] == "event"]
            return {"events": received, "stream": True, **known}
        return {"events": done["session"]["events"], **known}
    reader = {key: value for key, value in data["agent"].items() if key in ("branch", "isolation_scope")}
    return {"events": data["events"], "viewer": {"agent_name": data["agent"]["name"], **reader}}


def answers(data: Json) -> list[Json]:
    """What the model of a scenario's root answers, call by call; to be changed in place."""
    calls: list[Json] = data["agent"]["model"]["calls"]
    return calls


def for_ever() -> Json:
    """F08 as a scenario: a reader who gives up after twenty events."""
    case = CASES["F08"]["input"]
    model = {"name": "m", "calls": [{"responses": responses} for responses in case["model_responses"]]}
    agent = {"type": "llm", "name": "a", "model": model, "tools": [{"name": "search"}]}
    return {"name": "F08", "agent": agent, "turns": [{"message": user("x")["content"]}], "event_limit": 20}


# ----------------------------------------------------------------------------------------------------- the healthy twins


def without_the_orphan(data: Json) -> None:
    words = data["events"].pop(2)["content"]["parts"][0]["text"]
    data["events"] += [by("root", "Done."), user(words)]


def with_a_result(data: Json) -> None:
    data["events"][2:2] = [result("adk-1", "read", {"text": "…"}, author="root"), by("root", "It says …")]


def with_ids(data: Json) -> None:
    for n, event in enumerate(data["events"][1:5]):
        for one in event["content"]["parts"][0].values():
            one["id"] = f"c{n // 2}"


def read_from_above(data: Json) -> None:
    del data["agent"]["branch"]


def without_the_framing(data: Json) -> None:
    data["events"][1]["content"]["parts"][0]["text"] = "page text"


def marked_as_chunks(data: Json) -> None:
    responses = answers(data)[0]["responses"]
    for one in responses:
        one["partial"] = True
    responses.append({"content": {"role": "model", "parts": [text("# needs")]}})


def without_words_beside_calls(data: Json) -> None:
    for call in answers(data)[:2]:
        call["responses"][0]["content"]["parts"].pop(0)


def closed(data: Json) -> None:
    answers(data)[0]["responses"].append({"content": {"role": "model", "parts": [text("part 1part 2")]}})


def learning(data: Json) -> None:
    data["agent"]["tools"][0]["runs"] = [{"return": {"page": n}} for n in range(20)]
    answers(data)[3:] = [{"responses": [{"content": {"role": "model", "parts": [text("That is all.")]}}]}]


def writing_maps(data: Json) -> None:
    for n, run in enumerate(data["agent"]["tools"][0]["runs"]):
        run["state"]["items"] = {str(n): True}
    data["state"]["items"] = {}


def with_the_key(data: Json) -> None:
    data["state"]["page"] = "one"


def in_single_braces(data: Json) -> None:
    data["agent"]["instruction"] = "cost in {city} and {n}"
    data["state"] = {"city": "Rome", "n": 3}


def as_texts(data: Json) -> None:
    data["state"] = {key: str(value) for key, value in data["state"].items()}


def to_a_sub_agent(data: Json) -> None:
    answers(data)[0]["responses"][0]["content"]["parts"][0]["functionCall"]["args"]["agent_name"] = "math"


def the_transfer_alone(data: Json) -> None:
    answers(data)[0]["responses"][0]["content"]["parts"].pop(0)


def approved_once(data: Json) -> None:
    data["turns"] = []


def with_a_result_by_a_hook(data: Json) -> None:
    data["agent"]["callbacks"] = {"before_tool": [{"return": {"deleted": 1}}]}


def as_it_is(data: Json) -> None:
    pass


def answering_the_request(data: Json) -> None:
    data["turns"][0]["message"]["parts"] = [fr("conf-1", "adk_request_confirmation", {"confirmed": True})]


def with_a_valid_answer(data: Json) -> None:
    answers(data)[0]["responses"][0]["content"]["parts"][0]["functionCall"]["args"] = {"n": 3}


Change = Callable[[Json], None]

ANSWERED: dict[str, tuple[str, list[int], Change]] = {
    "C06": ("orphan-response", [2], without_the_orphan),
    "C07": ("unanswered-call", [1], with_a_result),
    "C08": ("missing-call-id", [1, 2, 3, 4], with_ids),
    "C20": ("hidden-by-branch", [1, 2], read_from_above),
    "C24": ("forged-context", [1], without_the_framing),
    "S01": ("output-key-fragment", [1, 2, 3], marked_as_chunks),
    "S04": ("output-key-misses-text", [1, 3, 5], without_words_beside_calls),
    "S18": ("partial-misused", [1], closed),
    "F08": ("repeated-call", list(range(1, 21, 2)), learning),
    "T07": ("state-write-conflict", [2], writing_maps),
    "I01": ("state-key-unwritten", [], with_the_key),
    "I02": ("placeholder-surprise", [], in_single_braces),
    "I05": ("placeholder-surprise", [], as_texts),
    "X01": ("transfer-unknown-target", [2], to_a_sub_agent),
    "X04": ("exclusive-call-not-alone", [1], the_transfer_alone),
    "H03": ("confirmation-answered-twice", [4, 7], approved_once),
    "H11": ("refused-tool-ran", [4, 5], as_it_is),
    "H12": ("confirmation-missed", [3, 4], answering_the_request),
    "O01": ("answer-is-error", [2, 3], with_a_valid_answer),
}
"""Case -> the check that names it, the events it names, and what would have been right."""

AS_REPORTED: dict[str, Change] = {"H11": with_a_result_by_a_hook}
"""What a report has beyond its scenario: there the tool was no function tool, which refuses by itself."""

RECEIVED = {"S18"}
"""Cases about what a reader of the stream receives."""


def examined(case: str, change: Change) -> list[Finding]:
    data = for_ever() if case == "F08" else given(case)
    change(data)
    return found_in(told(data, stream=case in RECEIVED))


@pytest.mark.parametrize("case", ANSWERED)
def test_a_reported_failure_is_named(case: str) -> None:
    check, events, _ = ANSWERED[case]
    found = examined(case, AS_REPORTED.get(case, as_it_is))
    assert check in {finding.check for finding in found}, links(case)
    assert sorted({at for f in found if f.check == check for at in f.events}) == events, links(case)


@pytest.mark.parametrize("case", ANSWERED)
def test_its_healthy_twin_has_no_findings(case: str) -> None:
    assert examined(case, ANSWERED[case][2]) == [], links(case)


def test_the_lost_words_of_a_user_are_named() -> None:
    """C06: the words share a part with an orphan response, so they are lost with it."""
    [finding] = examined("C06", as_it_is)
    assert finding.facts == {"id": "gone-9", "tool": "ghost", "words": "lost"}


def test_every_listed_case_that_differs_is_answered() -> None:
    assert all(CASES[case]["expected"]["differs"] for case in ANSWERED)
