"""`adknb new-notebook` writes a notebook that passes nbval where it stands, and nothing over anything."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from nbval.plugin import get_sanitize_patterns

import adknb
from adknb.cli import main
from adknb.course.exercises import exercise
from adknb.new_notebook import rules

SESSION = Path(__file__).resolve().parents[1] / "notebooks" / "data" / "parcel.session.json"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def outputs(path: Path) -> str:
    cells = json.loads(path.read_text("utf-8"))["cells"]
    return "".join("".join(o["text"]) for cell in cells for o in cell.get("outputs", []))


def test_in_a_fresh_folder_plain_pytest_runs_it_and_fails_for_the_one_that_was_changed(folder):
    (folder / "sessions").mkdir()
    (folder / "sessions" / "parcel.json").write_bytes(SESSION.read_bytes())
    adknb.step(adknb.scenario("08a-approved")).resume().save("run.json")
    assert main(["new-notebook"]) == 0
    assert main(["new-notebook", "kept/parcel.ipynb", "--session", "sessions/parcel.json"]) == 0
    assert main(["new-notebook", "kept/seat.ipynb", "--session", "run.json"]) == 0
    exercise(adknb.open("sessions/parcel.json")).save("exercise.ipynb")
    changed = (folder / "kept" / "seat.ipynb").read_text("utf-8")
    assert changed.count("Seat 14A is yours.") > 1
    (folder / "changed.ipynb").write_text(
        changed.replace("../run.json", "run.json").replace("yours.", "ours."), encoding="utf-8"
    )
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", "-ra"], capture_output=True, text=True, check=False)
    assert {line.split("::")[0] for line in done.stdout.splitlines() if line.startswith("FAILED")} == {
        "FAILED changed.ipynb"
    }
    assert re.search(r"2 failed, 22 passed", done.stdout), done.stdout


def test_a_notebook_of_a_session_tells_what_is_wrong_with_it_and_what_its_model_was_given(folder):
    assert main(["new-notebook", "parcel.ipynb", "--session", str(SESSION)]) == 0
    told = outputs(folder / "parcel.ipynb")
    for text in (
        "error: missing-call-id",
        "left out: the call '' is answered again by event 6",
        "shop_desk: Your parcel: one spade.",
    ):
        assert text in told


@pytest.mark.parametrize("force, says", [([], "is there already"), (["--force"], "")], ids=["untold", "told"])
def test_nothing_is_written_over_without_being_told(force, says, folder, capsys):
    (folder / "stepped.ipynb").write_text("mine")
    assert main(["new-notebook", *force]) == (2 if says else 0)
    assert ((folder / "stepped.ipynb").read_text("utf-8") == "mine") is bool(says)
    assert says in capsys.readouterr().err
    assert len(list(folder.iterdir())) == (1 if says else 3)


def test_rules_and_settings_of_the_teams_own_stay_as_they_are(folder, capsys):
    (folder / "pyproject.toml").write_text('[project]\nname = "ours"\n')
    (folder / "kept").mkdir()
    (folder / "kept" / "nbval.cfg").write_text("# ours\n")
    assert main(["new-notebook", "kept/one.ipynb"]) == 0
    assert (folder / "pyproject.toml").read_text() == '[project]\nname = "ours"\n'
    assert (folder / "kept" / "nbval.cfg").read_text() == "# ours\n"
    assert '"--nbval-sanitize-with=kept/nbval.cfg"' in capsys.readouterr().out


def test_settings_that_are_there_are_not_told_again(folder, capsys):
    assert main(["new-notebook", "one.ipynb"]) == 0
    assert main(["new-notebook", "two.ipynb"]) == 0
    assert "--nbval" not in capsys.readouterr().out


BAD = [
    ("a name that is no notebook's", ["kept/notes.txt"], "a notebook's name ends in .ipynb"),
    ("no such session", ["kept/a.ipynb", "--session", "gone.json"], "there is no such file"),
    ("no session", ["kept/a.ipynb", "--session", "bad.json"], "bad.json"),
    ("a run that is none", ["kept/a.ipynb", "--session", "run.json"], "run.json"),
]


@pytest.mark.parametrize("case, arguments, says", BAD, ids=[case for case, *_ in BAD])
def test_bad_input_is_told_in_one_line_and_nothing_is_written(case, arguments, says, folder, capsys):
    (folder / "bad.json").write_text('{"events": 3}')
    (folder / "run.json").write_text('{"format": 1, "entries": []}')
    assert main(["new-notebook", *arguments]) == 2
    err = capsys.readouterr().err
    assert says in err and err.count("\n") == 1
    assert sorted(f.name for f in folder.iterdir()) == ["bad.json", "run.json"]


VARY = [
    ("an address", "<object at 0x7f3a2b1c9d50>", "<object at 0x55d0c0ffee10>"),
    ("an id", "adk-8d3e1f60-1111-4a2b-9c3d-0123456789ab", "adk-00000000-2222-4a2b-9c3d-ba9876543210"),
    ("a time of day", "at 2026-05-01T12:00:00.123Z.", "at 2027-01-31 09:08:07+02:00."),
    ("seconds since 1970", "timestamp=1777636800.123456", "timestamp=1800000000.5"),
]
STAY = [("a temperature", "26 °C", "31 °C"), ("a date", "due 2026-05-01", "due 2026-05-02"), ("an order", "A-1", "A-2"),
        ("a phone number", "1777636800", "1777636801"), ("a colour", "0xff", "0xfe")]  # fmt: skip


def sanitised(text: str) -> str:
    for regex, replace in get_sanitize_patterns(rules()):
        text = re.sub(regex, replace, text)
    return text


@pytest.mark.parametrize("case, one, other", VARY, ids=[case for case, *_ in VARY])
def test_what_differs_between_two_runs_is_sanitised(case, one, other):
    assert sanitised(one) == sanitised(other) != one


@pytest.mark.parametrize("case, one, other", STAY, ids=[case for case, *_ in STAY])
def test_what_the_code_decides_is_still_compared(case, one, other):
    assert sanitised(one) != sanitised(other)
