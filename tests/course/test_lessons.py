"""The lessons: their stops are reached in the order in which the course names them."""

from __future__ import annotations

import pytest

import adknb
from adknb import at, event
from adknb.scenarios import shipped

STOPS = {
    "01a-one-turn": [
        at("model"),
        event(call="get_weather"),
        at(tool="get_weather"),
        at("contents", step=2),
        event(final=True),
    ],
    "01b-every-hook": [at("before_model"), at("after_tool")],
    "02-who-wrote-the-request": [
        at("basic"),
        at("tools"),
        at("auth"),
        at("instructions"),
        at("identity"),
        at("contents"),
        at("transfer"),
        at("tool_declaration"),
        at("contents", step=2),
    ],
    "03a-who-sees-what": [at("contents", agent="desk_10")],
    "03c-caught-by-an-open-task": [at("contents", agent="desk_10")],
    "03b-only-the-current-turn": [at("contents", agent="route_writer"), at("contents", agent="packer")],
    "04a-the-late-answer": [at("contents", turn=2, step=2), at("contents", turn=3), at("contents", turn=4)],
    "04b-tidying-up": [at("contents")],
    "05a-when-does-it-end": [
        event(final=True),
        event(call="get_weather"),
        at("contents", turn=3, step=2),
        event(call="show_map"),
        event(call="watch_storm"),
        at(tool="watch_storm"),
        at("contents", turn=6),
    ],
    "05b-the-loop-agent": [at("instructions", agent="critic"), at(tool="approve"), event(author="critic", final=True)],
    "06-who-may-answer": [
        at("before_model", turn=2),
        event(turn=2),
        at("before_tool", turn=3),
        at("after_tool", turn=3),
        at("on_model_error"),
        at("after_model", turn=4),
    ],
    "07a-merging": [at(tool="scan_shelf"), at(tool="reserve_south"), at(tool="reserve_north"), at("contents", step=2)],
    "07b-four-kinds-of-tool": [
        at(tool="call_hotel"),
        event(call="adk_request_confirmation"),
        at(tool="cancel_booking"),
    ],
    "08a-approved": [
        event(call="adk_request_confirmation"),
        at("contents", turn=2),
        at(tool="book_seat"),
        at("instructions", turn=3),
        at("contents", turn=3),
        at("contents", turn=4),
    ],
    "08b-refused": [at("contents", turn=2)],
    "09a-json-straight": [at("basic")],
    "09b-json-by-tool": [
        at("output_schema"),
        event(call="set_model_response"),
        event(final=True),
        event(call="set_model_response", turn=2),
        event(final=True),
    ],
    "10a-transfer": [
        event(call="transfer_to_agent"),
        at("contents", agent="visa_desk"),
        at("model", turn=2),
        at("contents", agent="rail_desk"),
    ],
    "10b-delegation": [
        at("contents", agent="bibliographer"),
        event(author="bibliographer"),
        at("contents", agent="librarian", turn=2),
    ],
    "10c-single-turn": [at("identity", agent="translator"), event(author="translator")],
    "11a-line-faulty": [event(author="analystAgent"), at("instructions", agent="drawAgent")],
    "11b-line-safe": [
        event(author="analystAgent", partial=False),
        at("instructions", agent="drawAgent"),
        event(author="drawAgent", final=True),
    ],
    "12a-what-the-summary-hides": [at("compaction", turn=3), at("compaction", turn=4), at("contents", turn=4)],
    "12b-the-question-summarised-away": [at("contents", turn=3)],
    "13-after-a-live-session": [at("contents"), at("before_tool"), at("after_model", step=2)],
    "14a-in-order": [at(tool="weigh"), at(tool="label"), at("instructions", step=2)],
    "14b-last-call-first": [at(tool="label"), at(tool="weigh"), at("instructions", step=2)],
    "15a-what-did-my-model-see": [at("contents")],
    "15b-with-ids": [at("contents")],
    "16-two-engines": [at("contents")],
    "17-my-own-processor": [at("identity"), at("before_model"), at("model")],
}
"""Scenario -> where its lesson stops, in order."""


def test_every_scenario_of_a_lesson_is_stepped():
    assert set(STOPS) == {name for name in shipped() if not name.startswith("f")}


@pytest.mark.parametrize("name, wishes", STOPS.items(), ids=STOPS)
def test_the_stops_of_a_lesson_are_reached_in_order(name, wishes):
    dbg = adknb.step(adknb.scenario(name))
    passed = []
    for wish in wishes:
        assert dbg.until(wish).here is not None, f"{wish} is not reached"
        assert wish(dbg.here, dbg.here.turn)
        passed.append(dbg.position)
    assert passed == sorted(set(passed))
