"""Compaction, size, secrets, live sessions (spec/doctor.md, H and I), clause by clause: what is reported, what is not."""

import json
from typing import Any

import pytest

from adknb.lens.doctor.secrets import is_secret_name
from tests.lens.doctor_sessions import (
    agent,
    delta,
    events_by_check,
    fc,
    found_in,
    me,
    record,
    result,
    session,
    user,
    wrote,
)  # fmt: skip

GO = user("Go")
HIDES = "compaction-hides-live-part"
SMALL, LARGE = "QUJD" * 2499, "QUJD" * 2500  # 9,996 and 10,000 characters of base64


def picture(data: str = LARGE) -> dict[str, Any]:
    return {"inlineData": {"mimeType": "image/png", "data": data}}


def talk(n: int, **more: Any) -> list[Any]:
    """Turns of a message and an answer."""
    return [e for i in range(n) for e in (user(f"Q{i}"), me(f"A{i}", **more))]


def heard(words: str, finished: bool = False, author: str = "me", **more: Any) -> dict[str, Any]:
    return {"author": author, "inputTranscription": {"text": words, "finished": finished}, **more}


def spoken(words: str, finished: bool = False, author: str = "me", **more: Any) -> dict[str, Any]:
    return {"author": author, "outputTranscription": {"text": words, "finished": finished}, **more}


def used(words: str, tokens: int, **more: Any) -> dict[str, Any]:
    return me(words, usage_metadata={"prompt_token_count": tokens}, **more)


def at(time: float, one: dict[str, Any]) -> dict[str, Any]:
    return {**one, "timestamp": time}


Q1, A1, Q2, A2 = at(1, user("Q1")), at(2, me("A1")), at(3, user("Q2")), at(4, me("A2"))

CASES: list[tuple[str, dict[str, Any], dict[str, list[int]]]] = [
    # compaction-off
    ("a record without a summary is one too", session(Q1, A1, record(1, 2, 3, None), compaction=False), {"compaction-off": [2]}),
    # compaction-overlap
    ("an end before its start is no range", session(Q1, A1, Q2, A2, record(1, 2, 5), record(4, 2, 6), at(7, me("B"))), {}),
    ("equal ranges: the later one replaces the earlier", session(Q1, A1, Q2, A2, record(1, 3, 5), record(1, 3, 6)), {}),
    ("in another scope", session(Q1, A1, Q2, A2, record(1, 3, 5), record(2, 4, 6, isolation_scope="s")), {}),
    ("on another branch", session(Q1, A1, Q2, A2, record(1, 3, 5), record(2, 4, 6, branch="b")), {}),
    ("both inside of a third", session(Q1, A1, Q2, A2, record(1, 3, 5), record(2, 4, 6), record(1, 4, 7)), {}),
    ("an exclusion that the narrow one has not", session(Q1, A1, Q2, A2, record(2, 3, 5), record(1, 4, 6, excluded=[("e", 2)])), {"compaction-overlap": [4, 5]}),
    ("where compaction is off nothing is sent", session(Q1, A1, Q2, A2, record(1, 3, 5), record(2, 4, 6), compaction=False), {"compaction-off": [4, 5]}),
    ("three in a row, each with its neighbours", session(Q1, A1, Q2, A2, record(1, 2, 5), record(2, 3, 6), record(3, 4, 7)), {"compaction-overlap": [4, 5, 6]}),
    # compaction-hides-live-part
    ("(a) a summary in another scope hides nothing here", session(Q1, record(1, 1, 2, isolation_scope="s"), at(3, me("A1"))), {}),
    ("(a) a record without a summary hides nothing", session(Q1, record(1, 1, 2, None), at(3, me("A1"))), {}),
    ("(a) nobody was asked in the turn", session(Q1, A1, Q2, record(1, 3, 4)), {}),
    ("(a) somebody is about to be", session(Q1, A1, Q2, record(1, 3, 4), viewer={"agent_name": "me"}), {HIDES: [2, 3]}),
    ("(a) an event after the record in the file stays", session(record(1, 1, 1), Q1, at(3, me("A1"))), {}),
    ("(a) a picture that began the turn", session(at(1, user(picture("QUJD"))), record(1, 1, 2), at(3, me("A1"))), {}),
    ("(a) where compaction is off", session(Q1, record(1, 1, 2), at(3, me("A1")), compaction=False), {"compaction-off": [1]}),
    ("(b) the result is in the summary too", session(Q1, at(2, me(fc("c1"))), at(3, result("c1")), at(4, me("A")), record(1, 4, 5)), {}),
    ("(b) in two summaries", session(Q1, at(2, me(fc("c1"))), record(1, 2, 3), at(4, result("c1")), at(5, me("A")), record(4, 5, 6)), {}),
    ("(b) no result at all", session(Q1, at(2, me(fc("c1"))), record(1, 2, 3), at(4, me("A"))), {"unanswered-call": [1], HIDES: [0, 2]}),
    ("(b) the call is excluded", session(Q1, at(2, me(fc("c1"), invocation_id="e")), record(1, 2, 3, excluded=[("e", 2), ("", 1)]), at(4, result("c1")), at(5, me("A"))), {}),
    # large-payload
    ("a long text", session(GO, me("x" * 50_001)), {"large-payload": [1]}),
    ("as long as is allowed", session(GO, me("x" * 50_000)), {}),
    ("long arguments", session(GO, me(fc("c1", args={"t": "x" * 50_000})), result("c1"), me("Ok.")), {"large-payload": [1]}),
    ("a long value in a delta", session(GO, me("Ok.", **delta(t="x" * 50_001))), {"large-payload": [1]}),
    ("in the state, where a delta wrote it", session(GO, me("Ok.", **delta(t="x" * 50_001)), state={"t": "x" * 50_001}), {"large-payload": [1]}),
    ("in the state, where none did", session(GO, me("Ok."), state={"t": ["x"] * 20_000}), {"large-payload": []}),
    ("several values of the state together", session(GO, me("Ok."), state={str(i): "x" * 30_000 for i in range(3)}), {}),
    ("two texts together", session(GO, me("x" * 30_000, "y" * 30_000)), {}),
    ("inline data of a megabyte", session(user("Go", picture("QUJD" * 333_333)), me("Ok.")), {}),
    ("and a little more", session(user("Go", picture("QUJD" * 333_334)), me("Ok.")), {"large-payload": [0]}),
    # inline-data-resent
    ("just large enough", session(user("Go", picture()), me("A"), *talk(2)), {"inline-data-resent": [0]}),
    ("just too small", session(user("Go", picture(SMALL)), me("A"), *talk(2)), {}),
    ("two small ones", session(user("Go", picture(SMALL), picture(SMALL)), me("A"), *talk(2)), {}),
    ("the request about to be made counts", session(user("Go", picture()), me("A"), user("B"), me("C"), user("D"), viewer={"agent_name": "me"}), {"inline-data-resent": [0]}),
    ("requests on another branch do not", session(user("Go", picture(), branch="p.a"), *[e for i in range(3) for e in (me(f"A{i}", branch="p.a" if i < 2 else "p.b"),)]), {}),
    ("cut away it is not sent", session(user("Go", picture()), me("A"), *talk(3), agents=[agent("me", include_contents="none")]), {}),
    # history-growth
    ("just grown", session(GO, used("A", 50_000), user("B"), used("C", 100_000)), {"history-growth": [3]}),
    ("less than twice", session(GO, used("A", 50_001), user("B"), used("C", 100_000)), {}),
    ("the newest counts, not the largest", session(GO, used("A", 1), user("B"), used("C", 200_000), user("D"), used("E", 5)), {}),
    ("compaction is on", session(GO, used("A", 1), user("B"), used("C", 200_000), compaction=True), {}),
    ("it is off", session(GO, used("A", 1), user("B"), used("C", 200_000), compaction=False), {"history-growth": [3]}),
    ("a count without content", session(GO, used("A", 1), user("B"), {"author": "me", "usage_metadata": {"prompt_token_count": 100_000}}), {"history-growth": [3]}),
    ("few contents", session(*talk(8), user("x" * 45_000), *[me("y" * 45_000)] * 1, user("Q"), me("A")), {}),
    ("twenty contents and enough characters", session(*[e for i in range(10) for e in (user("x" * 22_000 + str(i)), me("y" * 22_000 + str(i)))], user("Q"), me("A")), {"history-growth": [21]}),
    ("twenty contents and not enough", session(*[e for i in range(10) for e in (user("x" * 19_000 + str(i)), me("y" * 19_000 + str(i)))], user("Q"), me("A")), {}),
    # transcription-fragments
    ("(a) a state-only event does not come between", session(heard("a"), heard("b"), wrote("me", k=1), heard("c"), spoken("Ok.", True)), {"transcription-fragments": [0, 1, 3]}),
    ("(a) a finished one does", session(heard("a"), heard("b"), heard("c", True), heard("d"), spoken("Ok.", True)), {}),
    ("(a) words in text do", session(heard("a"), heard("b"), me("Hm."), heard("c"), spoken("Ok.", True)), {}),
    ("(a) empty ones are none", session(heard("a"), heard(""), heard("c"), spoken("Ok.", True)), {}),
    ("(a) chunks are aside", session(heard("a", partial=True), heard("b", partial=True), heard("c", partial=True), heard("abc", True), spoken("Ok.", True), stream=True), {}),
    ("(a) both directions", session(heard("a"), heard("b"), heard("c"), spoken("d"), spoken("e"), spoken("f")), {"transcription-fragments": [0, 1, 2, 3, 4, 5]}),
    ("(b) at the end of the file it is sent", session(GO, me("Ok."), spoken("left")), {}),
    ("(b) before an event with text and speech it waits", session(GO, spoken("left "), {**me("(points)"), **spoken("here")}), {"transcription-fragments": [1]}),
    ("(b) and is joined to the next of its kind", session(GO, spoken("left "), {**me("(points)"), **spoken("here")}, spoken("side"), me("Ok.")), {}),
]  # fmt: skip


@pytest.mark.parametrize("name, given, finds", CASES, ids=[case[0] for case in CASES])
def test_compaction_and_size(name: str, given: dict[str, Any], finds: dict[str, list[int]]) -> None:
    assert events_by_check(found_in(given)) == finds


# ------------------------------------------------------------------------------------------------------------- secrets

KEYS = {
    "Google": "AIza" + "a1-_" * 8 + "b2c",
    "OpenAI": "sk-" + "abcde01234" * 2,
    "GitHub": "ghp_" + "A1b2C3d4E5" * 2,
    "GitHub, fine-grained": "github_pat_" + "A1b2C3d4E5" * 2,
    "Slack": "xoxb-" + "1234567890",
    "AWS": "AKIA" + "ABCDEFGH01234567",
    "Google token": "ya29." + "a" * 20,
    "JWT": "eyJ" + "a" * 8 + "." + "b" * 8 + "." + "c" * 8,
    "private key": "-----BEGIN RSA PRIVATE KEY-----",
    "bearer": "Bearer " + "abcDEF0123456789",
    "lower-case bearer": "bearer   " + "abcDEF0123456789",
    "address": "postgres://kim:fern77@db.local/x",
}
NO_KEYS = {
    "too short": "AIza" + "a" * 34,
    "too short too": "sk-" + "a" * 19,
    "inside of a word": "task-" + "a" * 30,
    "another letter": "ghx_" + "a" * 30,
    "a dash in the name": "ask-me-anything-about-the-garden",
    "one dot only": "eyJ" + "a" * 8 + "." + "b" * 20,
    "a public key": "-----BEGIN PUBLIC KEY-----",
    "short bearer": "Bearer of bad news",
    "an example": "AKIAIOSFODNN7EXAMPLE",
    "a mask": "sk-" + "*" * 20,
    "crosses": "sk-" + "x" * 24,
    "no password": "https://db.local:5432/x@y",
    "a user only": "ssh://kim@db.local",
}


@pytest.mark.parametrize("key", KEYS.values(), ids=KEYS)
@pytest.mark.parametrize("where", ["text", "args", "response", "delta", "state", "a key's name"])
def test_what_has_a_key_s_form_is_found_anywhere_and_never_told(key: str, where: str) -> None:
    events = {
        "text": [user(f"Use {key} please"), me("Ok.")],
        "args": [GO, me(fc("c1", args={"h": [{"x": f"a {key}"}]})), result("c1"), me("Ok.")],
        "response": [GO, me(fc("c1")), result("c1", response={"out": f"{key} z"}), me("Ok.")],
        "delta": [GO, me("Ok.", **delta(note=f"({key})"))],
        "a key's name": [GO, me("Ok.", **delta(notes={key: 1}))],
    }
    at_event = {"text": [0], "args": [1], "response": [2], "delta": [1], "a key's name": [1], "state": []}[where]
    given = session(*events.get(where, [GO, me("Ok.")]), **({"state": {"note": key}} if where == "state" else {}))
    findings = found_in(given)
    assert events_by_check(findings) == {"secret-in-session": at_event}
    told = json.dumps([finding.to_json() for finding in findings]) + repr(findings)
    assert key not in told
    assert not any(piece in told for piece in key.replace("://kim:", " ").split() if len(piece) > 12)


@pytest.mark.parametrize("key", NO_KEYS.values(), ids=NO_KEYS)
def test_what_only_looks_like_a_key_is_left_alone(key: str) -> None:
    assert found_in(session(user(f"Use {key} please"), me("Ok."), state={"note": key})) == []


@pytest.mark.parametrize(
    "name, value, secret",
    [
        *((name, "korn77", True) for name in (
            "password", "PASSWORD", "db_password", "user:password", "app:db-passwd", "my.secret", "client secret", "api_key",
            "apiKey", "X-API-Key", "access_key", "AWS_SECRET_KEY", "private_key", "access_token", "refreshToken", "oauth_token",
            "authToken", "bearer_token", "session-token", "temp:api_key",
        )),
        *((name, "korn77", False) for name in (
            "secretary", "password_rules", "token_count", "next_page_token", "csrf_token", "tokens", "key", "keyword",
            "passwords", "public_key", "id_token",
        )),
        ("password", "korn7", False),  # five characters
        ("password", "two words", False),
        ("token", "q8w7e6r5t4y3u2i", False),  # fifteen
        ("token", "q8w7e6r5t4y3u2i1", True),
        ("Authorization", "q8w7e6r5t4y3u2i1", True),
        ("user:token", "q8w7e6r5t4y3u2i1", True),
        ("my_token", "q8w7e6r5t4y3u2i1", False),
        *(("password", value, False) for value in (
            "********", "xxxxxx", "••••••", "------", "<from vault>", "<secret>", "${DB_PASSWORD}", "{{password}}",
            "env:DB_PASSWORD", "vault:kv/db", "projects/1/secrets/db", "your_password", "YOUR_KEY_HERE", "example-pw",
            "Redacted", "[MASKED]", "hidden!", "changeme", "placeholder1", "abcxxxdef",
        )),
        ("password", "12345678", True),
    ],
)  # fmt: skip
def test_names_whose_values_are_secrets(name: str, value: str, secret: bool) -> None:
    assert is_secret_name(name, value) is secret
    assert bool(found_in(session(GO, me("Ok."), state={name: value}))) is secret
    assert bool(found_in(session(GO, me(fc("c1", args={"a": {name: value}})), result("c1"), me("Ok.")))) is secret


def test_numbers_and_flags_under_such_names_are_none() -> None:
    assert found_in(session(GO, me("Ok."), state={"password": 12345678, "secret": True, "api_key": None})) == []


def test_one_secret_in_many_places_is_one_finding() -> None:
    key = KEYS["OpenAI"]
    [finding] = found_in(session(user(key), me(f"Noted: {key}"), state={"note": key}))
    assert finding.events == (0, 1)
    assert finding.facts["places"] == ["state.note", "event 0: the text", "event 1: the text"]


def test_a_secret_is_not_told_by_another_check_either() -> None:
    key, password = KEYS["GitHub"], "korn-blume-77"
    given = session(
        GO,
        me("Use " + key, **delta(k="Use " + key)),
        me(f"Use {key} at once", **delta(k=f"Use {key} at once")),
        result(password, key),
        {"author": key, "error_code": password},
        state={"password": password, "list": [password, {"a": key}], "k": "x"},
        instruction="{list}",
    )
    findings = found_in(given)
    assert {"output-key-fragment", "orphan-response", "answer-is-error", "placeholder-surprise"} <= {
        f.check for f in findings
    }
    told = json.dumps([finding.to_json() for finding in findings], ensure_ascii=False) + repr(findings)
    assert key not in told
    assert password not in told
