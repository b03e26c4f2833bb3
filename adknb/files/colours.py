"""Colours for a terminal, where rich is installed; the words are the same with and without them."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from importlib.util import find_spec

from adknb.files.listing import Line, Piece

STYLES = {
    "title": "bold",
    "head": "bold",
    "soft": "dim",
    "note": "yellow",
    "user": "blue",
    "agent": "green",
    "kind": "dim",
    "rule": "dim",
    "gone": "red",
}
"""What a piece of a line is, and how it looks."""

_HEADING = re.compile(r"(THE |NOT IN IT|IN IT|WHAT THE FILE)[A-Z ,]*")
_RULE = re.compile(r"\(R5\.\d+[^)]*\)")
_SOURCE = re.compile(r"^( +\d+ +(?:\S+|\d[\d–, ]*) +)(user|model)( )")


def are_wanted() -> bool:
    """Whether a person looks at a terminal that can show colours, and rich is there to make them."""
    return sys.stdout.isatty() and find_spec("rich") is not None


def show(lines: Iterable[Line]) -> None:
    """Print lines in colours."""
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False, soft_wrap=True)
    for line in lines:
        text = Text()
        for piece in line:
            text.append(piece.text, STYLES.get(piece.what))
        text.rstrip()
        console.print(text, markup=False, emoji=False)


def in_pieces(text: str) -> Iterator[Line]:
    """An explanation in pieces: headings, who is meant, and the rules in brackets."""
    gone = False
    for nth, line in enumerate(text.split("\n")):
        if heading := _HEADING.match(line):
            gone = line.startswith(("NOT IN IT", "THE REQUEST CANNOT"))
            yield [Piece(heading.group(), "gone" if gone else "head"), Piece(line[heading.end() :], "head")]
        elif nth == 0:
            yield [Piece(line, "title")]
        elif line.startswith("R5.x:"):
            yield [Piece(line, "soft")]
        elif source := _SOURCE.match(line):
            role = source.group(2)
            who = Piece(role, "user" if role == "user" else "agent")
            yield [Piece(source.group(1), "soft"), who, Piece(line[source.end(2) :])]
        else:
            yield list(_with_rules(line))


def _with_rules(line: str) -> Iterator[Piece]:
    at = 0
    for rule in _RULE.finditer(line):
        yield Piece(line[at : rule.start()])
        yield Piece(rule.group(), "rule")
        at = rule.end()
    yield Piece(line[at:])
