"""Every section of the reference's live transcripts, over the real client and without it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.live.golden import GOLDEN
from tests.live.harness import WAYS, Told, eventually, line_fits, play

READER = ("EVENT", "ERR", "PLUG", "CB", "TOOL", "TICKER")


def sections() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for line in Path(__file__).with_name("live_transcripts.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("### "):
            lines = found[line[4:]] = []
        elif line.startswith("   "):
            lines.append(line.strip())
    return found


SECTIONS = sections()
TAIL_OF_ANOTHER = {"sendearly": 1}
"""Sections that begin with lines of the section before: its server had not ended."""
LATE = {"streamclose": "SERVER1 got", "streamtool": "SERVER1 got", "seq": "SERVER2 got"}
"""What the server may get at the end, or not: the reader closes at that moment. A ticker's chunks race with it."""
EITHER_ORDER = {"streamtool": "got"}
"""What may come in either order: the answer of a streaming tool, and its first chunk (spec/live.md §10.10)."""


def expected(name: str, *starts: str) -> list[str]:
    return [line for line in SECTIONS[name] if line.startswith(starts)]


def same(wanted: list[str], got: list[str]) -> None:
    assert len(wanted) == len(got), "\n".join(["wanted:", *wanted, "got:", *got])
    for one, other in zip(wanted, got, strict=True):
        assert line_fits(one, other), f"wanted {one}\ngot    {other}"


def of_the_reader(told: Told) -> list[str]:
    return [line if not line.startswith("ERR") else "ERR <text>" for line in told.reader if line.startswith(READER)]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", GOLDEN)
def test_a_section_is_told_as_the_reference_tells_it(name: str, way: str) -> None:
    told = play(GOLDEN[name], way)
    if name == "streamclose":
        eventually(lambda: any(line.startswith("TICKER") for line in told.reader))
    wanted = [line.replace("consumer at 0", "consumer at <ms>") for line in expected(name, *READER)]  # at which is luck
    same(wanted, of_the_reader(told))
    same(expected(name, "STORED"), [f"STORED {line}" for line in told.stored])
    same(expected(name, "STATE"), [f"STATE {_state(told)}"])
    server = expected(name, "SERVER")[TAIL_OF_ANOTHER.get(name, 0) :]
    got = list(told.server)
    if name in LATE:
        kept = [line for line in server if not line.startswith(LATE[name])]
        same(kept, [line for line in got if not line.startswith(LATE[name])])
        server, got = ([line for line in lines if line.startswith(LATE[name])] for lines in (server, got))
        assert all(any(line_fits(one, line) for line in got) for one in server) or name == "streamclose"
        return
    if way != "wire":  # what a client makes of the config is the client's own
        server, got = ([line for line in lines if " setup " not in line] for lines in (server, got))
    same(server, got)


def _state(told: Told) -> str:
    from tests.live.harness import dumped

    return dumped(told.state)


def test_every_section_is_played() -> None:
    assert set(GOLDEN) == set(SECTIONS)
