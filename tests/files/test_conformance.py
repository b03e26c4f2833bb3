"""google-adk's conformance cases: a file of one, a folder of one, a folder of many."""

import shutil
from pathlib import Path
from typing import Any

import pytest

import adknb
from adknb.engine.errors import BadData
from adknb.files.conformance import recordings_session
from adknb.lens.table import event_text

SAMPLES = Path(__file__).parent / "samples"
CASE = SAMPLES / "conformance" / "tools" / "track_parcel"


@pytest.mark.parametrize(
    "path, kind, events",
    [
        (CASE / "spec.yaml", "test spec", 2),
        (CASE / "generated-session.yaml", "session", 8),
        (CASE / "generated-recordings.yaml", "recordings", 4),
        (CASE / "generated-recordings-sse.yaml", "recordings", 4),  # chunks are left out: they were never stored
        (CASE, "session", 8),
        (SAMPLES / "conformance", "session", 8),
    ],
)
def test_each_file_of_a_case_and_the_case_itself_open(path: Path, kind: str, events: int) -> None:
    tape = adknb.open(path)
    assert (tape.kind, len(tape.events)) == (kind, events)


def test_a_case_has_the_requests_that_were_really_sent() -> None:
    tape = adknb.open(CASE)
    assert sorted(tape.sent) == [1, 3]
    rebuilt = tape.request_before(3)
    assert rebuilt.sent is not None
    assert rebuilt.sent["config"]["system_instruction"] == "You help at a garden shop."
    assert "its 3 contents are those that are rebuilt" in rebuilt.text()
    assert not any("system instruction" in sentence for sentence in rebuilt.unknown)
    assert tape.request_before(7).sent is None


def test_without_a_session_one_is_put_together_from_the_recordings(tmp_path: Path) -> None:
    case = tmp_path / "case"
    shutil.copytree(CASE, case)
    (case / "generated-session.yaml").unlink()
    tape = adknb.open(case)
    assert [f"{e.author}: {event_text(e, 40)}" for e in tape.events] == [
        "user: Where is my parcel?",  # as the spec has it
        'desk: call track(order="O-88")',
        'desk: answer track → {"where":"Lyon","steps":…',
        "desk: It is in Lyon.",
    ]
    assert tape.state == {"cart": ["spade"]}
    assert sorted(tape.sent) == [1, 3]


def test_a_difference_to_what_was_sent_is_shown() -> None:
    tape = adknb.open(CASE)
    tape.sent[3]["contents"][2]["parts"][0]["function_response"]["response"] = {"where": "Rome"}
    text = tape.request_before(3).text()
    assert 'content 2 was sent as user: answer track → {"where":"Rome"}' in text


def test_results_of_calls_in_one_event_are_one_event_and_calls_get_their_ids() -> None:
    def result(call_id: str) -> dict[str, Any]:
        part = {"id": call_id, "name": "look"}
        return {"tool_recording": {"tool_call": part, "tool_response": {**part, "response": {}}}}

    asked = {"contents": [{"role": "user", "parts": [{"text": "hi"}]}]}
    calls = {
        "content": {
            "role": "model",
            "parts": [{"function_call": {"name": "look"}}, {"function_call": {"name": "look"}}],
        }
    }
    entries = [{"llm_recording": {"llm_request": asked, "llm_response": calls}}, result("adk-1"), result("adk-2")]
    whole = {"recordings": [{"user_message_index": 0, "agent_name": "desk", **e} for e in entries]}
    session = recordings_session(whole, "f")
    assert [len(e.content.parts) for e in session.events] == [1, 2, 2]  # type: ignore[union-attr, arg-type]
    ids = [p.function_call.id for p in session.events[1].content.parts]  # type: ignore[union-attr]
    assert ids == ["adk-1", "adk-2"]


@pytest.mark.parametrize(
    "files, message",
    [
        ({"spec.yaml": "agent: shop\n"}, "case/spec.yaml: expected `agent` and `user_messages`"),
        (
            {"generated-session.yaml": "events: 5\n"},
            "case/generated-session.yaml: events: expected a list, found a number 5",
        ),
        (
            {"generated-recordings.yaml": "a: 1\n"},
            "case: generated-recordings.yaml: expected an object with `recordings`",
        ),
        (
            {"notes.txt": "nothing"},
            "case: this is a folder; name a file in it, or a folder with google-adk's conformance",
        ),
    ],
)
def test_a_folder_that_is_no_case_gets_one_error(tmp_path: Path, files: dict[str, str], message: str) -> None:
    case = tmp_path / "case"
    case.mkdir()
    for name, text in files.items():
        (case / name).write_text(text)
    with pytest.raises(BadData) as caught:
        adknb.open(case)
    assert str(caught.value).startswith(message)
