"""`adknb open FILE [--event N] [--agent A]`, as a terminal sees it."""

import io
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import adknb
from adknb.cli import main
from adknb.files.cli import _width, main_open
from adknb.files.progress import with_progress
from adknb.lens.words import cells

EVENTS: list[dict[str, Any]] = [
    {"id": "e0", "author": "user", "content": {"role": "user", "parts": [{"text": "weather?"}]}},
    {
        "id": "e1",
        "author": "desk",
        "branch": "desk",
        "content": {"role": "model", "parts": [{"functionCall": {"id": "c1", "name": "look", "args": {"at": "Lima"}}}]},
    },
    {
        "id": "e2",
        "author": "desk",
        "branch": "desk",
        "content": {
            "role": "user",
            "parts": [{"functionResponse": {"id": "c1", "name": "look", "response": {"t": 26}}}],
        },
        "actions": {"stateDelta": {"last": 26}},
    },
    {
        "id": "e3",
        "author": "desk",
        "branch": "desk",
        "content": {"role": "model", "parts": [{"text": "26 degrees"}]},
        "actions": {"transferToAgent": "night"},
        "nodeInfo": {"path": "desk@1"},
    },
    {"author": "desk", "actions": {"stateDelta": {"done": True}}},
]


@pytest.fixture
def session(tmp_path: Path) -> Path:
    file = tmp_path / "a.session.json"
    document = {"id": "s1", "appName": "app", "userId": "ann", "state": {"last": 26}, "events": EVENTS, "colour": "red"}
    file.write_text(json.dumps(document), encoding="utf-8")
    return file


def test_without_an_event_the_events_are_listed(
    session: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(session.parent)
    assert main_open(session.name) == 0
    assert capsys.readouterr().out == LISTING


LISTING = """\
a.session.json
app · ann · s1
5 events in 1 turn; agents: desk, night; state: last
also in the file: colour: "red"
also in event 3: nodeInfo

turn  event  author  kind     what
   1      0  user    message  weather?
          1  desk    call     look(at="Lima")  [branch desk]
          2  desk    answer   look → {"t":26}  [branch desk]
          3  desk    text     26 degrees  [branch desk, hands over to night]
          4  desk    state    (state: done)

What did the model see before it wrote an event, and what became of the others?
  adknb open a.session.json --event 3
"""


@pytest.mark.parametrize("event", [3, "3", "e3"])
def test_an_event_is_named_by_position_or_id(session: Path, capsys: pytest.CaptureFixture[str], event: Any) -> None:
    assert main_open(str(session), event) == 0
    out = capsys.readouterr().out
    assert out.startswith("What desk was given before it wrote event 3\n")
    assert 'answer look → {"t":26}' in out
    assert "WHAT THE FILE CANNOT TELL" in out


def test_an_agent_without_an_event_means_its_last_answer(session: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main_open(str(session), None, "desk") == 0
    assert capsys.readouterr().out.startswith("What desk was given before it wrote event 3\n")


@pytest.mark.parametrize(
    "event, agent, message",
    [
        (99, None, "adknb open: a.session.json: no event 99: the file has events 0 to 4\n"),
        ("e99", None, "adknb open: a.session.json: no event has the id 'e99': the file has events 0 to 4\n"),
        (3, "bob", "adknb open: a.session.json: no agent is called 'bob'; the agents seen here: desk, night\n"),
        (None, "bob", "adknb open: a.session.json: no agent is called 'bob'; the agents seen here: desk, night\n"),
    ],
)
def test_what_is_not_there_is_one_line_on_standard_error(
    session: Path, capsys: pytest.CaptureFixture[str], event: Any, agent: str | None, message: str
) -> None:
    assert main_open(str(session), event, agent) == 2
    out, err = capsys.readouterr()
    assert (out, err) == ("", message)


@pytest.mark.parametrize(
    "text, says",
    [
        ('{"events": [{"author": "us', ":1:24: not JSON"),
        ('{"events": ["hi"]}', ": events[0]: expected an object"),
        (
            '{"events": [{"content": {"parts": [5]}}]}',
            ": events[0].content.parts[0]: expected an object, found a number 5",
        ),
        ('{"eval_set_id": "e", "eval_cases": []}', ": the evaluation set has no cases"),
        ('{"events": [{"author": "\\u001b[31m"}], "state": 3}', ": state: expected an object"),
    ],
)
def test_a_malformed_file_is_one_line_and_status_2(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, says: str
) -> None:
    file = tmp_path / "bad.json"
    file.write_text(text, encoding="utf-8")
    assert main_open(str(file)) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert says in err
    assert file.read_text(encoding="utf-8") == text


def test_a_reader_who_leaves_early_and_a_poor_encoding_are_no_errors(session: Path) -> None:
    program = "import sys; from adknb.files.cli import main_open; sys.exit(main_open(sys.argv[1]))"
    command = f'PYTHONIOENCODING=ascii "{sys.executable}" -c "{program}" "{session}" | head -n 1'
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.stderr) == ("a.session.json\n", "")


def test_a_session_may_come_through_a_pipe(
    session: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(session.read_bytes())))
    assert main_open("-", 3) == 0
    out = capsys.readouterr().out
    assert out.startswith(
        "What desk was given before it wrote event 3\nstandard input (the file has events 0–4), turn 1"
    )


def test_a_session_without_events_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "empty.json"
    file.write_text('{"id": "s", "events": []}', encoding="utf-8")
    assert main_open(str(file)) == 0
    assert "The file has no events." in capsys.readouterr().out
    assert main_open(str(file), 0) == 2


def test_a_saved_run_is_called_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "turn.json"
    adknb.step(adknb.scenario("01a-one-turn")).save(file)
    assert main_open(str(file)) == 2
    err = capsys.readouterr().err
    assert err == "adknb open: turn.json: this is a run saved by dbg.save, not a session: adknb.replay(path) opens it\n"


def test_where_no_agent_speaks_one_names_it_and_is_told_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "f.json"
    file.write_text(json.dumps({"events": EVENTS[:1]}), encoding="utf-8")
    assert main_open(str(file), 0) == 2
    err = capsys.readouterr().err
    assert err == "adknb open: f.json: no agent speaks in this session; say whose request you mean (--agent NAME)\n"
    assert main_open(str(file), 0, "zed") == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "Whether zed is an agent of this session: no agent speaks in the file, so any name is taken." in out


def test_full_shows_every_content_in_full(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = {"author": "user", "content": {"role": "user", "parts": [{"text": "word " * 90 + "end"}]}}
    file = tmp_path / "f.json"
    file.write_text(json.dumps({"events": [said, EVENTS[3]]}), encoding="utf-8")
    assert main_open(str(file), 1) == 0
    assert capsys.readouterr().out.endswith("\n\nTexts that end in … are cut: --full shows the contents in full.\n")
    assert main(["open", str(file), "--event", "1", "--full"]) == 0
    out = capsys.readouterr().out
    assert "word " * 90 + "end" in " ".join(out.split())
    assert "…" not in out
    assert main(["open", str(file), "--full"]) == 2
    assert capsys.readouterr().err.startswith("adknb open: --full: ")


@pytest.mark.parametrize("columns, width", [(80, 80), (150, 150), (200, 160)])
def test_a_wide_terminal_is_used(monkeypatch: pytest.MonkeyPatch, columns: int, width: int) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", str(columns))
    assert _width() == width


SAMPLES = Path(__file__).parent / "samples"


def test_json_for_other_programs(session: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["open", str(session), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["session"], told["kind"], told["turns"], told["state"]) == ("s1", "session", 1, {"last": 26})
    assert told["agents"] == [{"name": "desk", "parent": None}, {"name": "night", "parent": "desk"}]
    assert [row["kind"] for row in told["events"]] == ["message", "call", "answer", "text", "state"]
    assert told["events"][3]["unread"] == {"nodeInfo": {"path": "desk@1"}}
    assert told["unread"] == {"colour": "red"}
    assert main(["open", str(session), "--event", "3", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["agent"], told["before"], told["answered"], told["request"]) == ("desk", 3, True, None)
    assert [content["role"] for content in told["contents"]] == ["user", "model", "user"]
    assert [(fate["event"], fate["kind"]) for fate in told["fates"]] == [(0, "kept"), (1, "kept"), (2, "kept")]
    assert told["fates"][0]["reasons"][0]["rule"] == "R5.27"


def test_html_is_written_beside_or_instead(session: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    out = tmp_path / "out.html"
    assert main(["open", str(session), "--html", str(out)]) == 0
    assert capsys.readouterr().out.startswith(f"{out}: a.session.json, 5 events in 1 turn")
    assert out.read_text("utf-8").startswith("<!doctype html>")
    assert main(["open", str(session), "--event", "3", "--html", str(out)]) == 0
    assert capsys.readouterr().out.startswith("What desk was given")
    assert main(["open", str(session), "--html", str(tmp_path / "no" / "x.html")]) == 2
    assert "cannot be written" in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments, says",
    [
        (["new.evalset.json"], ">   0  parcel     10 events · ann"),
        (["new.evalset.json", "--session", "simulated"], ">   1  simulated  1 event"),
        (["new.evalset.json", "--session", "1"], "  adknb open"),
        (["conformance", "--event", "3"], "AS IT WAS REALLY SENT"),
        (["v0_late.db", "--session", "s-parcel"], "is pickled, and not read"),
        (["v0_late.db", "--session", "s-parcel", "--trust"], "hands over to guide"),
    ],
)
def test_a_file_of_several_sessions_lists_them(
    arguments: list[str], says: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(SAMPLES)
    assert main(["open", *arguments]) == 0
    out = capsys.readouterr().out
    assert says in out
    assert all(cells(line) <= 100 for line in out.splitlines())


def test_the_example_to_copy_names_the_session(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(SAMPLES)
    assert main(["open", "v1.db", "--session", "s-parcel"]) == 0
    command = capsys.readouterr().out.splitlines()[-1].split()
    assert main(command[1:]) == 0
    assert capsys.readouterr().out.startswith("What guide was given before it wrote event 7")


def test_a_definition_completes_the_request(tmp_path: Path, session: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "root_agent.yaml").write_text("name: desk\nmodel: m\ninstruction: Last {last?}.\n")
    assert main(["open", str(session), "--event", "3", "--definition", str(tmp_path / "root_agent.yaml")]) == 0
    assert "THE SYSTEM INSTRUCTION\n  Last 26." in capsys.readouterr().out


@pytest.mark.parametrize("arguments", [[], ["--event", "3"], ["--event", "3", "--full"]])
def test_in_a_terminal_the_same_words_are_in_colours(
    session: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, arguments: list[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    assert main(["open", str(session), *arguments]) == 0
    plain = capsys.readouterr().out
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    assert main(["open", str(session), *arguments]) == 0
    coloured = capsys.readouterr().out
    assert "\x1b[" in coloured
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured).rstrip() == plain.rstrip()


def test_without_rich_a_terminal_gets_plain_text(
    session: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setattr("adknb.files.colours.find_spec", lambda name: None)
    assert main(["open", str(session)]) == 0
    assert "\x1b[" not in capsys.readouterr().out


@pytest.mark.parametrize("looks, drawn", [(True, True), (False, False)])
def test_a_bar_is_drawn_where_somebody_looks_on(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, looks: bool, drawn: bool
) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: looks)
    monkeypatch.setattr("adknb.files.progress._tqdm", lambda: None)
    assert list(with_progress(range(5_000), "events", patience=0)) == list(range(5_000))
    assert list(with_progress(range(10), "events", patience=0)) == list(range(10))
    err = capsys.readouterr().err
    assert ("of 5,000 events" in err) is drawn
    assert not drawn or err.endswith("\r")
