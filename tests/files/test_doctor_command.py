"""`adknb doctor` and `adknb.doctor`: from a file to findings, in the terminal, as JSON, and in Python."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

import adknb
from adknb.cli import main
from adknb.engine.errors import BadData
from adknb.files import colours, doctor_cli
from tests.lens.doctor_sessions import agent, fc, me, result, session, text, user, vectors

REAL = Path(__file__).parents[2].parent / "shared" / "real"

LOST = session(
    user("Which books are due?", id="e0"),
    me("Two of them.", id="e1"),
    user({"functionResponse": {"id": "old-7", "name": "loan_status", "response": {"due": 2}}}, id="e2"),
)
FINE = session(user("Hi"), me("Hello."), state={})
WARNED = session(user("Hi"), me("Hello."), state={"password": "korn-blume-77"})


@pytest.fixture
def file(tmp_path: Path) -> Any:
    def written(data: Any, name: str = "library.session.json") -> str:
        path = tmp_path / name
        path.write_text(json.dumps(data), "utf-8")
        return str(path)

    return written


def test_a_finding_is_a_line_with_why_and_what_to_do_below_it(file: Any, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", file(LOST)]) == 1
    assert capsys.readouterr().out == (
        "library.session.json: 3 events in 2 turns; agent: me\n"
        "error   orphan-response  event 2\n"
        "    No event makes the call 'old-7' that the result of 'loan_status' in event 2 answers, so it is\n"
        "    dropped from every request.\n"
        "    → Find what sends a result twice, or into the wrong session; the call belongs before it under\n"
        "      the same id.\n"
        "1 finding: 1 error; 7 of 53 checks have nothing to go by\n"
    )


def test_a_healthy_session_has_one_line(file: Any, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", file(FINE)]) == 0
    assert capsys.readouterr().out.splitlines()[1:] == ["no findings; 5 of 53 checks have nothing to go by"]


@pytest.mark.parametrize(
    "sessions, status",
    [
        ([FINE], 0),
        ([WARNED], 0),
        ([LOST], 1),
        ([FINE, LOST, WARNED], 1),
        ([{"no": "session"}], 2),
        ([LOST, {"no": 1}], 2),
    ],
)
def test_the_exit_status_tells_the_worst(file: Any, sessions: list[Any], status: int) -> None:
    assert main(["doctor", *(file(data, f"{i}.json") for i, data in enumerate(sessions))]) == status


def test_a_file_that_cannot_be_read_is_named_and_the_others_are_examined(
    file: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["doctor", "nowhere.json", file(LOST)]) == 2
    printed = capsys.readouterr()
    assert printed.err == "adknb doctor: nowhere.json: there is no such file\n"
    assert "orphan-response" in printed.out


def test_json_is_a_list_for_other_programs(file: Any, capsys: pytest.CaptureFixture[str]) -> None:
    lost, warned = file(LOST, "a.json"), file({**WARNED, "id": "s1"}, "b.json")
    assert main(["doctor", "--json", lost, warned]) == 1
    told = json.loads(capsys.readouterr().out)
    assert [(one["file"], one["session"], one["check"], one["severity"]) for one in told] == [
        (lost, "", "orphan-response", "error"),
        (warned, "s1", "secret-in-session", "warning"),
    ]
    assert (told[0]["events"], told[0]["event_ids"]) == ([2], ["e2"])
    assert told[0]["facts"] == {"id": "old-7", "tool": "loan_status", "words": "none"}
    assert told[0].keys() == {
        "file",
        "session",
        "check",
        "severity",
        "case",
        "events",
        "facts",
        "why",
        "do",
        "event_ids",
    }


def test_json_of_nothing_is_an_empty_list(file: Any, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "--json", file(FINE)]) == 0
    assert json.loads(capsys.readouterr().out) == []


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_no_secret_is_printed(file: Any, capsys: pytest.CaptureFixture[str], options: list[str]) -> None:
    key = "sk-notarealkey0000notarealkey00"
    main(
        [
            "doctor",
            *options,
            file(session(user(f"Use {key}"), me(fc(key, key)), state={"password": "korn-blume-77", key: 1})),
        ]
    )
    out = capsys.readouterr().out
    assert "unanswered-call" in out
    assert "secret-in-session" in out
    assert key not in out
    assert "korn-blume-77" not in out


def test_what_a_file_says_cannot_steer_the_terminal(file: Any, capsys: pytest.CaptureFixture[str]) -> None:
    main(["doctor", file(session(user("Go"), me(fc("\x1b[2J", "\x1b]0;x\x07\u202e"))))])
    assert not {"\x1b", "\x07", "\u202e"} & set(capsys.readouterr().out)


def test_in_a_terminal_it_is_coloured_and_says_the_same(
    file: Any, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("rich")
    path = file(LOST)
    main(["doctor", path])
    plain = capsys.readouterr().out
    shown: list[str] = []

    def show(lines: Iterable[Any]) -> None:
        lines = list(lines)
        assert {piece.what for line in lines for piece in line} >= {"title", "gone", "head"}
        shown.append("\n".join("".join(piece.text for piece in line).rstrip() for line in lines))
        colours.show(lines)

    monkeypatch.setattr(doctor_cli, "are_wanted", lambda: True)
    monkeypatch.setattr(doctor_cli, "show", show)
    main(["doctor", path])
    assert shown == [plain.rstrip("\n")]


def test_many_events_are_counted(file: Any, capsys: pytest.CaptureFixture[str]) -> None:
    main(["doctor", file(session(*[user("Hi") | {"id": "a"} for _ in range(20)]))])
    assert "duplicate-event-id  events 0–11 and 8 more" in capsys.readouterr().out


# ------------------------------------------------------------------------------------------------------------ in Python


def test_a_path_a_recording_and_a_dict_are_examined_alike(file: Any) -> None:
    path = file(LOST)
    [finding] = adknb.doctor(path)
    assert (finding.check, finding.severity, finding.events) == ("orphan-response", "error", (2,))
    assert adknb.doctor(Path(path)) == adknb.doctor(adknb.open(path)) == adknb.doctor(LOST) == [finding]
    assert adknb.open(path).findings() == [finding]


@pytest.mark.parametrize("vector", [v for v in vectors() if not v["id"].startswith("history")], ids=lambda v: v["id"])
def test_a_vector_s_file_says_what_its_session_says(vector: dict[str, Any], file: Any) -> None:
    assert adknb.doctor(file(vector["session"])) == adknb.doctor(vector["session"])


def test_a_definition_can_be_attached(file: Any) -> None:
    path = file(session(user("Go"), me(fc("c1", "hear")), result("c1", "hear"), me("Ok.")))
    tree = {**agent("me", tools=["look"]), "type": "llm"}
    assert adknb.doctor(path) == []
    for found in (adknb.doctor(path, agent=tree), adknb.doctor(adknb.open(path), agent=tree)):
        assert [(finding.check, finding.events) for finding in found] == [("unknown-tool-called", (1,))]


def test_a_bare_list_of_events_is_what_a_reader_received(file: Any) -> None:
    chunks = [user("Hi"), me("Hel", partial=True), me("Hello.")]
    assert adknb.doctor(file(chunks)) == []
    assert [finding.check for finding in adknb.doctor(file(session(*chunks)))] == ["partial-misused"]


def test_a_field_of_another_program_under_one_of_our_names_is_no_fault(file: Any) -> None:
    assert adknb.doctor(file({**FINE, "agents": "four", "requests": {"n": 3}, "viewer": 1, "stream": "no"})) == []


def test_an_older_shape_is_read_as_files_are(file: Any) -> None:
    old = {"past_events": [], "Events": LOST["events"], "context": {}}
    assert [finding.check for finding in adknb.doctor(old)] == ["orphan-response"]
    assert [finding.check for finding in adknb.doctor(file(old))] == ["orphan-response"]


def test_of_several_sessions_each_finding_says_its_own(file: Any) -> None:
    several = [{**LOST, "id": "s1"}, {**FINE, "id": "s2"}, {**WARNED, "id": "s3"}]
    found = adknb.doctor(file(several))
    assert [(f.facts["session"], f.check) for f in found] == [("s1", "orphan-response"), ("s3", "secret-in-session")]


@pytest.mark.parametrize("given", [5, None, [LOST]])
def test_what_is_no_session_at_all_is_refused(given: Any) -> None:
    with pytest.raises(TypeError, match="a path, a Recording or a session as a dict"):
        adknb.doctor(given)


@pytest.mark.parametrize("given, where", [({"events": [7]}, "session.events[0]"), ({"nothing": 1}, "session")])
def test_a_dict_that_is_no_session_is_refused_at_its_place(given: Any, where: str) -> None:
    with pytest.raises(BadData) as refused:
        adknb.doctor(given)
    assert refused.value.where == where


def test_the_session_is_left_as_it_was(file: Any) -> None:
    given = session(user("Go"), me(text("hm", thought=True), fc("c1")), result("c1"), me("Ok."), state={"a": [1]})
    before = json.dumps(given)
    adknb.doctor(given)
    tape = adknb.open(file(given))
    events = [event.to_json() for event in tape.events]
    tape.findings()
    assert json.dumps(given) == before
    assert [event.to_json() for event in tape.events] == events


# ----------------------------------------------------------------------------------------------------------- real files


@pytest.mark.skipif(
    not REAL.is_dir(), reason="../shared/real is not there: the published files are not part of this repository"
)
@pytest.mark.parametrize(
    "name, found",
    [
        ("shopping.session.json", []),
        ("customer_service.session.json", [("missing-call-id", [*range(11, 17), *range(27, 33)])]),  # its ids are gone
        ("complex_spark.session.json", [("missing-call-id", [1, 2, 7, 8])]),
        ("brand_search.evalset.json", []),
    ],
)
def test_on_published_files_nothing_is_found_but_what_is_wrong(name: str, found: list[Any]) -> None:
    assert [(finding.check, list(finding.events)) for finding in adknb.doctor(REAL / name)] == found
