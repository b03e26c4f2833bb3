"""The command line: what it prints, and with which status it ends."""

import json
import os
import subprocess
import sys

import pytest

from adknb.cli import as_line, main
from adknb.engine.errors import NotBuiltYet
from adknb.scenarios import ScriptedModel, scenario

WEATHER = scenario("01a-one-turn")


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "s.jsonl"
    path.write_text("".join(json.dumps({**WEATHER, "name": n}, ensure_ascii=False) + "\n" for n in "ab"), "utf-8")
    return path


def test_trace_prints_one_trace_a_line_in_the_order_given(file, capsys):
    assert main(["trace", str(file), str(file)]) == 0
    printed = capsys.readouterr()
    assert [json.loads(line)["name"] for line in printed.out.splitlines()] == ["a", "b", "a", "b"]
    assert "杭州当前气温为 26°C。" in printed.out
    assert printed.err == ""


@pytest.mark.parametrize(
    "line, said",
    [
        (json.dumps({**WEATHER, "agnet": {}}), "agnet: unknown field; known: "),
        (json.dumps(WEATHER)[:-9], "not JSON: "),
        ("[1]", "expected an object, found an array"),
    ],
)
def test_a_faulty_scenario_is_told_and_the_others_are_run(line, said, file, tmp_path, capsys):
    faulty = tmp_path / "faulty.jsonl"
    faulty.write_text(line + "\n" + file.read_text("utf-8"), "utf-8")
    assert main(["trace", str(faulty), str(file)]) == 2
    printed = capsys.readouterr()
    assert [json.loads(line)["name"] for line in printed.out.splitlines()] == ["a", "b", "a", "b"]
    assert printed.err.startswith(f"adknb: {faulty}:1") and said in printed.err
    assert printed.err.count("\n") == 1


def test_nothing_is_run_when_a_file_cannot_be_read(file, tmp_path, capsys):
    assert main(["trace", str(file), str(tmp_path / "gone.jsonl")]) == 2
    printed = capsys.readouterr()
    assert (printed.out, printed.err) == ("", f"adknb: {tmp_path / 'gone.jsonl'}: there is no such file\n")


def test_what_is_not_built_yet_is_said_on_stderr(file, capsys, monkeypatch):
    def not_built(*args):
        raise NotBuiltYet("songs")

    monkeypatch.setattr(ScriptedModel, "generate_content", not_built)
    assert main(["trace", str(file)]) == 0
    assert capsys.readouterr().err == "adknb: a: not built yet: songs\nadknb: b: not built yet: songs\n"


@pytest.mark.parametrize(
    "arguments", [[], ["trace"], ["trace", "--fast", "x"], ["sing"], ["open"], ["open", "f", "--event"]]
)
def test_wrong_usage_ends_with_status_2(arguments, capsys):
    try:
        status = main(arguments)
    except SystemExit as ended:
        status = ended.code
    assert status == 2
    assert "usage: adknb" in capsys.readouterr().err


def test_a_file_that_is_not_there_is_one_line(capsys):
    assert main(["trace", "gone.jsonl"]) == 2
    assert capsys.readouterr().err == "adknb: gone.jsonl: there is no such file\n"


def test_a_text_that_is_no_unicode_is_escaped():
    assert as_line({"a": "杭\ud800"}) == '{"a": "\\u676d\\ud800"}'
    assert as_line({"a": "杭"}) == '{"a": "杭"}'


def shell(command, **environment):
    """Run a command with python -m adknb as $ADKNB."""
    adknb = f"{sys.executable} -m adknb"
    return subprocess.run(
        ["bash", "-c", command], capture_output=True, text=True, env={**os.environ, "ADKNB": adknb, **environment}
    )


def test_whoever_reads_us_may_leave(file, tmp_path):
    many = tmp_path / "many.jsonl"
    many.write_text(file.read_text("utf-8") * 60, "utf-8")  # more than a pipe holds
    done = shell(f"set -o pipefail; $ADKNB trace {many} | head -1")
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["name"] == "a"


def test_standard_input_is_read_and_written_in_utf8_in_any_locale(file):
    done = shell(f"$ADKNB trace - < {file}", LC_ALL="C", PYTHONIOENCODING="latin-1", PYTHONUTF8="0")
    assert (done.returncode, done.stderr) == (0, "")
    assert "杭州当前气温为 26°C。" in done.stdout
