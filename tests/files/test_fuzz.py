"""Whatever a file holds: it opens, or there is one error that names the place; quickly, and the file stays as it is."""

import json
import random
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import adknb
from adknb.engine.errors import BadData
from adknb.files.listing import listing
from adknb.files.page import page

SAMPLES = Path(__file__).parent / "samples"
SOURCES = [p for p in sorted(SAMPLES.rglob("*")) if p.suffix in (".yaml", ".json", ".db")]
SECONDS = 1.0
"""CPU time in which a broken file of 10 MB must be told from a good one."""


def open_all_of_it(path: Path) -> str:
    """Open a file and look at all there is; gives the error, or nothing."""
    before = path.read_bytes()
    error = ""
    try:
        tape = adknb.open(path, trust=True)
        assert listing(tape)
        for one in list(tape.sessions)[:3]:
            assert page(one)
            for i in range(min(len(one.events), 4)):
                if one.agents:
                    assert one.request_before(i).text()
                one.state_at(i)
            one.findings()
    except BadData as found:
        error = str(found)
    assert path.read_bytes() == before
    assert len(error) < 3_000
    return error


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    source=st.sampled_from(SOURCES),
    cut=st.floats(0, 1),
    seed=st.integers(0, 10_000),
    kind=st.sampled_from("cut flip drop twice".split()),
)
def test_a_broken_sample_opens_or_gives_one_error(
    tmp_path: Path, source: Path, cut: float, seed: int, kind: str
) -> None:
    data, chance = bytearray(source.read_bytes()), random.Random(seed)
    at = int(cut * len(data))
    if kind == "cut":
        del data[at:]
    elif kind == "drop":
        del data[at : at + chance.randint(1, 40)]
    elif kind == "twice":
        data[at:at] = data[at : at + chance.randint(1, 200)]
    else:
        for _ in range(chance.randint(1, 8)):
            data[chance.randrange(len(data))] = chance.randrange(256)
    path = tmp_path / f"broken{source.suffix}"
    path.write_bytes(bytes(data))
    error = open_all_of_it(path)
    assert not error or "broken" in error


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6) | st.just("\ud800"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5) | st.sampled_from(["role", "parts", "text", "id", "name", "args"]), inner, max_size=4),
    max_leaves=10,
)  # fmt: skip
NAMES = [
    "events", "author", "content", "actions", "state", "timestamp", "session", "sessions", "past_events", "pending_events", "context", "agents", "requests",
    "eval_cases", "eval_set_id", "eval_id", "conversation", "user_content", "intermediate_data", "invocation_events", "tool_uses", "data", "query", "session_input",
    "recordings", "user_message_index", "llm_recording", "llm_request", "tool_recording", "user_messages", "agent", "eval_case_results", "session_details",
]  # fmt: skip
SHAPED = st.recursive(
    JSON,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=5),
    max_leaves=12,
)


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(SHAPED)
def test_json_of_wrong_types_opens_or_gives_one_error(tmp_path: Path, value: Any) -> None:
    path = tmp_path / "broken.json"
    path.write_text(json.dumps(value))
    error = open_all_of_it(path)
    assert not error or "broken" in error


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.binary(max_size=200)
    | st.sampled_from([b"SQLite format 3\x00", b"{", b"[", b"events:\n", b"data: {"]).flatmap(
        lambda head: st.binary(max_size=300).map(head.__add__)
    )
)
def test_any_bytes_open_or_give_one_error(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "broken.any"
    path.write_bytes(data)
    error = open_all_of_it(path)
    assert not error or "broken" in error


TEN_MB = 10_000_000


def big_session(end: str = "]}") -> str:
    event = json.dumps({"author": "user", "content": {"role": "user", "parts": [{"text": "word " * 180}]}})
    return '{"events": [' + ", ".join([event] * (TEN_MB // len(event))) + end


@pytest.mark.parametrize(
    "data, place",
    [
        (lambda: big_session(", "), "f:1:"),
        (lambda: big_session(', {"author": 5}]}'), "f: events["),
        (lambda: big_session("], NaN}"), "f:1:"),
        (lambda: big_session('], "events": []}'), "f:1:"),
        (lambda: "[" * TEN_MB, "f"),
        (lambda: '{"a":' * (TEN_MB // 5), "f"),
        (lambda: '{"events": [' + "[" * 1000 + "]" * 1000 + "]}", "f"),
        (lambda: '"' + "x" * TEN_MB, "f:1:1"),
        (lambda: "9" * TEN_MB, "f:1:1"),
        (lambda: "x" * TEN_MB, "f:1:1"),
        (lambda: "{}\n" * (TEN_MB // 3), "f"),
        (lambda: '{"author": "user"}\n' * 20_000 + "{", "f:20001:2"),
        (lambda: "a: &a [x]\n" + "b: *a\n" * 10, "f:3:1"),
        (lambda: "- " * (TEN_MB // 2), "f:1:"),
        (lambda: "{a: " * (TEN_MB // 4), "f:1:"),
        (lambda: "? " * (TEN_MB // 2), "f:1:"),
        (lambda: "a: 'x\n" + "y " * (TEN_MB // 2), "f:"),
        (lambda: "events:\n" + "- author: 5\n" * 50_000, "f: events[0].author"),
        (lambda: b"\xff" * TEN_MB, "f:1"),
        (lambda: b"SQLite format 3\x00" + b"\x00" * TEN_MB, "f"),
        (lambda: b'{"events": ["' + b"\xed\xa0\x80" * (TEN_MB // 3) + b'"]}', "f:1"),
        (lambda: "[" + "{}, " * (TEN_MB // 40) + "{}]", "f"),
        (lambda: '{"events": [' + '"\\ud800", ' * (TEN_MB // 10) + "1]}", "f: events"),
        (lambda: " " * TEN_MB, "f"),
        (lambda: "\n" * TEN_MB, "f"),
    ],
)
def test_ten_megabytes_of_nonsense_are_refused_in_a_second(tmp_path: Path, data: Any, place: str) -> None:
    made = data()
    path = tmp_path / "f"
    path.write_bytes(made if isinstance(made, bytes) else made.encode())
    began = time.process_time()
    with pytest.raises(BadData) as caught:
        adknb.open(path)
    took = time.process_time() - began
    assert caught.value.where.startswith(place)
    assert len(str(caught.value)) < 500
    assert took < 3 * SECONDS  # measured at less than one; other work on the machine slows it down
