"""The README's promises that can be checked without a browser: its example runs, its two commands are there."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

CLONE = Path(__file__).resolve().parents[1]
README = (CLONE / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", README, re.DOTALL | re.MULTILINE)


def test_the_example_does_what_it_says() -> None:
    example, _ = blocks("python")
    names: dict[str, Any] = {}
    exec(example, names)
    dbg = names["dbg"]
    assert dbg.here is None
    asked = dbg.requests[1]["contents"][-1]["parts"][0]["functionResponse"]["response"]
    stored = dbg.events[2].content.parts[0].function_response.response
    assert (asked["sky"], stored["sky"]) == ("rain", "clear")


def test_going_back_does_what_it_says(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    example, time = blocks("python")
    names: dict[str, Any] = {}
    exec(example, names)
    back, what_if, save, to_test = time.splitlines()
    exec(f"{back}\n{save}\nfound = {what_if}", names)
    assert names["dbg"].here.number == 17
    assert [c.path for c in names["found"].present] == ["/config/systemInstruction/parts/0/text"]
    assert names["adknb"].replay("turn.json", agent=names["agent"]).here.number == 17
    assert to_test.startswith('dbg.to_test("test_turn.py", agent=')  # needs a module to import; see test_keep.py


def test_each_of_the_two_commands_is_one_line_that_sets_up_and_runs() -> None:
    commands = [block for block in blocks("sh") if "venv" in block]
    assert [command.split(" && ")[-1] for command in commands] == [
        ".venv/bin/adknb lab\n",
        ".venv/bin/pytest -n 2 --dist loadfile\n",
    ]
    assert all(command.startswith("python3 -m venv .venv && .venv/bin/pip install ") for command in commands)
    assert all(command.count("\n") == 1 for command in commands)


@pytest.mark.parametrize("name", re.findall(r"\]\(([^)#:]+)\)|`(engine/[\w/.]+)`", README))
def test_every_file_it_points_to_is_there(name: tuple[str, str]) -> None:
    link, module = name
    assert (CLONE / link if link else CLONE / "adknb" / module).exists()
