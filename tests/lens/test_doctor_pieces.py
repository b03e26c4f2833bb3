"""Requests rebuilt a piece at a time say what requests rebuilt as a whole say (lens/doctor/pieces.py)."""

from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from adknb.lens.doctor import entry, examine, pieces, requests, session_from_json
from adknb.lens.doctor.requests import Requests
from tests.lens.doctor_sessions import agent, by, event, fc, fr, me, record, result, session, text, user

IDS = ["c1", "c2", "c3", "c4", "c5", "c6", "adk-7", ""]
PICTURE = {"inlineData": {"mimeType": "image/png", "data": "QUJD" * 10}}


def any_session(draw: Random) -> dict[str, Any]:
    """A session in which calls, results, branches, scopes, records and speech are mixed without sense."""
    agents = ["a", "b"][: draw.choice([1, 2])]
    branches = draw.choice([[""], ["", "", "p", "p.a", "p.b"]])
    scopes = draw.choice([[""], ["", "", "s1", "c1"]])
    traits = {name: draw.random() < 0.4 for name in ("speech", "records", "protocol")}
    events = [_any_event(draw, i, agents, traits) for i in range(draw.randrange(2, 26))]
    for one in events:
        one.update(branch=draw.choice(branches), isolationScope=draw.choice(scopes))
    known: dict[str, Any] = {}
    if draw.random() < 0.4:
        known["agents"] = [agent(name, include_contents=draw.choice(["none", "", "default"])) for name in agents]
    if draw.random() < 0.3:
        place = {"branch": draw.choice(branches), "isolation_scope": draw.choice(scopes)}
        known["viewer"] = {"agent_name": agents[-1], "include_contents": draw.choice(["", "none"]), **place}
    if draw.random() < 0.2:
        known["compaction"] = draw.random() < 0.5
    return session(*events, **known)


def _any_event(draw: Random, i: int, agents: list[str], traits: dict[str, bool]) -> dict[str, Any]:
    author = draw.choice(["user", *agents, *agents])
    place = {"timestamp": i + 1, "invocationId": f"e-{i // 5}"}
    name = "adk_request_confirmation" if traits["protocol"] and draw.random() < 0.3 else "look"
    some = range(draw.choice([1, 1, 2]))
    if traits["records"] and draw.random() < 0.1:
        ends = sorted(draw.randrange(1, i + 2) for _ in range(2))
        excluded = [(f"e-{ends[0] // 5}", ends[0])] if draw.random() < 0.3 else []
        return record(*ends, i + 1, f"sum {i}" if draw.random() < 0.9 else None, excluded=excluded)
    if traits["speech"] and draw.random() < 0.5:
        spoken = draw.sample(["inputTranscription", "outputTranscription"], draw.choice([1, 1, 1, 1, 2]))
        heard = {which: {"text": draw.choice(["", f"x{i}", f"x{i}", f"x{i}"])} for which in spoken}
        beside = by(author, f"w{i}") if draw.random() < 0.15 else {"author": author}
        return {**beside, **heard, **place}
    kind = draw.choice(["text"] * 3 + ["call"] * 5 + ["result"] * 4 + ["odd", "nothing"])
    if kind == "text":
        return event(
            author,
            "user" if author == "user" else "model",
            text(f"t{i}"),
            *draw.sample([PICTURE], draw.choice([0, 0, 1])),
            **place,
        )
    if kind == "call":
        calls = [fc(draw.choice(IDS), name, draw.choice([{}, {"q": 1}])) for _ in some]
        marked = (
            [one["functionCall"]["id"] for one in calls if one["functionCall"]["id"]] if draw.random() < 0.3 else []
        )
        words = [f"z{i}"] if draw.random() < 0.2 else []
        return by(draw.choice(agents), *words, *calls, longRunningToolIds=marked, **place)
    if kind == "result":
        beside = draw.sample([text(f"u{i}"), fc(draw.choice(IDS)), PICTURE], draw.choice([0, 0, 0, 0, 1]))
        return event(author, "user", *(fr(draw.choice(IDS), name) for _ in some), *beside, **place)
    if kind == "odd":
        parts: list[Any] = draw.choice([[], [{}], [text("")], [text("h", thought=True)]])
        return event(author, draw.choice(["", "model"]), *parts, **place)
    return {"author": author, "actions": {"stateDelta": {"k": i}}, **place}


def told(given: dict[str, Any]) -> dict[str, Any]:
    """Everything that the walk over the requests notes."""
    noted: Requests = session_from_json(given).requests
    return {
        "requests": [
            (r.before, r.fails, r.empty, r.begins and r.begins.at, r.late and r.late.at, [e.at for e in r.dropped])
            for r in noted.all
        ],
        "shown": noted.shown,
        "readers": {at: set(readers) for at, readers in noted.readers.items()},
        "copies": noted.copies,
        "odd": noted.odd,
        "covered": set(noted.covered),
        "unheard": set(noted.unheard),
    }


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 2**32), step=st.sampled_from([1, 2, 3]))
def test_pieces_say_what_the_whole_says(seed: int, step: int, monkeypatch: pytest.MonkeyPatch) -> None:
    given_session = any_session(Random(seed))
    with monkeypatch.context() as patched:
        patched.setattr(pieces, "STEP", step)
        patched.setattr(entry, "LARGE_INLINE", 10)
        in_pieces = told(given_session)
        patched.setattr(requests, "last_pieces", lambda cuts, seen: iter([0]))
        assert in_pieces == told(given_session)


def turns(n: int, *between: Any, prefix: str = "c") -> list[dict[str, Any]]:
    """Ordinary turns, each with a call; `between` stands in the middle."""
    out: list[dict[str, Any]] = []
    for i in range(n):
        out += [user(f"Q{i}"), me(fc(f"{prefix}{i}")), result(f"{prefix}{i}"), me(f"A{i}")]
        out += between if i == n // 2 else ()
    return out


@pytest.mark.parametrize(
    "events",
    [
        turns(300),
        [user("Go"), me(fc("job"), long_running_tool_ids=["job"]), result("job"), me("So."), *turns(300, user(fr("job")), me("Now."))],
        [*turns(300), record(1, 2, 3), *turns(20, prefix="d")],
    ],
    ids=["turn after turn", "an answer that comes 150 turns late", "a record near the end"],
)  # fmt: skip
def test_a_request_costs_what_is_new_in_it(events: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    rebuilt = []
    real = requests.piece

    def counted(history: Any, start: int, end: int, *rest: Any, **more: Any) -> Any:
        rebuilt.append(end - start)
        return real(history, start, end, *rest, **more)

    monkeypatch.setattr(requests, "piece", counted)
    monkeypatch.setattr(pieces, "piece", counted)
    examine(session_from_json(session(*events)))
    assert sum(rebuilt) < 20 * len(events)


def test_what_hangs_together_is_rebuilt_as_long_as_it_can_be_borne(monkeypatch: pytest.MonkeyPatch) -> None:
    """Calls without ids: each request is one piece. Beyond the limit the rest is left out and counted."""
    events = [one for i in range(60) for one in (user(f"Q{i}"), me(fc(None)), result(None), me(f"A{i}"))]
    whole = session_from_json(session(*events))
    assert whole.requests.incomplete == 0
    monkeypatch.setattr(pieces, "LARGE", 20)
    monkeypatch.setattr(pieces, "MOST_WORK", 2_000)
    part = session_from_json(session(*events))
    assert 0 < part.requests.incomplete < 120
    assert [finding.check for finding in examine(part)] == ["missing-call-id"]


def test_what_thousands_of_agents_have_behind_them_is_rebuilt_up_to_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    events = [one for i in range(60) for one in (user(f"Q{i}"), by(f"a{i}", f"A{i}"))]
    assert session_from_json(session(*events)).requests.incomplete == 0
    monkeypatch.setattr(pieces, "MOST_SETTLED", 500)
    part = session_from_json(session(*events))
    assert 0 < part.requests.incomplete < 60
    assert examine(part) == []


def test_before_a_summary_that_cannot_be_borne_the_tail_is_still_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pieces, "LARGE", 20)
    monkeypatch.setattr(pieces, "MOST_WORK", 0)
    late = [
        user("Go"),
        me(fc("j"), long_running_tool_ids=["j"]),
        result("j"),
        me("So."),
        user("Hm?"),
        user(fr("j")),
        me("Ok."),
    ]
    given_session = session_from_json(session(*turns(30), record(1, 2, 3), *turns(20, prefix="d"), *late))
    assert {"late-response-drops-text"} <= {finding.check for finding in examine(given_session)}
    assert given_session.requests.incomplete == 1
