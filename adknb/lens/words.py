"""Texts on one line: shortened, measured as a terminal measures them, with nothing in them that a terminal would obey.

What a model or a file says may hold escape sequences, right-to-left marks or half a surrogate pair. Here each becomes
visible text, so that a listing shows it and does not act on it.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterable
from typing import Any

ELLIPSIS = "…"


def one_line(text: str, width: int = 0) -> str:
    """A text on one line: white space joined, control characters made visible, cut to `width` cells (0: not cut).

    Example: one_line("a   b") -> "a b"; one_line("abcdef", 4) -> "abc…"
    """
    if width and len(text) > 20 * width + 200:
        text = text[: 20 * width + 200]  # a cut text needs no more, and a page of HTML is not walked to its end
    text = " ".join(text.split())
    if not text.isprintable():
        text = "".join(_visible(c) for c in text)
    return shorten(text, width) if width else text


def shorten(text: str, width: int) -> str:
    """The text in at most `width` cells, an ellipsis standing for what is cut off."""
    if _fits(text, width):
        return text
    return _head(text, width - 1).rstrip() + ELLIPSIS


def fit(texts: list[str], width: int) -> str:
    """Several texts on one line: if there is no room for all, each gives way, the long ones first.

    So a call behind a long sentence is still seen. What does not fit even so is counted.
    """
    gap = "  "
    if _fits(gap.join(texts), width):
        return gap.join(texts)
    texts = [text[: 4 * width + 40] for text in texts]  # no more than this is ever shown of one
    shown = texts[: max(1, (width + len(gap)) // 10)]
    more = f"{gap}+{len(texts) - len(shown)} more" if len(shown) < len(texts) else ""
    room = width - len(more) - len(gap) * (len(shown) - 1)
    shares: dict[int, int] = {}
    for nth, i in enumerate(sorted(range(len(shown)), key=lambda i: cells(shown[i]))):
        shares[i] = min(
            cells(shown[i]), room // (len(shown) - nth)
        )  # the short ones first; the long ones share the rest
        room -= shares[i]
    return gap.join(shorten(text, shares[i]) for i, text in enumerate(shown)) + more


def pad(text: str, width: int) -> str:
    """The text filled with blanks to `width` cells."""
    return text + " " * max(0, width - cells(text))


def cells(text: str) -> int:
    """How many columns of a terminal a text takes: a Chinese character two, a combining mark none."""
    return len(text) if text.isascii() else sum(map(_cell, text))


def wrap(text: str, width: int) -> list[str]:
    """A sentence on lines of at most `width` cells, broken at blanks; a word that is longer is cut into pieces."""
    lines: list[str] = []
    for word in text.split():
        if lines and cells(lines[-1]) + 1 + cells(word) <= width:
            lines[-1] += " " + word
            continue
        while cells(word) > width:
            piece = _head(word, width)
            lines.append(piece)
            word = word[len(piece) :]
        lines.append(word)
    return lines or [""]


def compact(value: Any) -> str:
    """A JSON value without blanks, other scripts as they are."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)


def positions(numbers: Iterable[int]) -> str:
    """Positions as one reads them aloud: [0, 1, 2, 5] -> "0–2, 5"."""
    runs: list[list[int]] = []
    for n in sorted(numbers):
        if runs and n == runs[-1][1] + 1:
            runs[-1][1] = n
        else:
            runs.append([n, n])
    return ", ".join(f"{a}" if a == b else f"{a}, {b}" if b == a + 1 else f"{a}–{b}" for a, b in runs)


def named(noun: str, numbers: Iterable[int]) -> str:
    """Positions with what they are positions of: [3] -> "event 3"; [3, 4, 5] -> "events 3–5"."""
    numbers = list(numbers)
    return f"{noun}{'' if len(numbers) == 1 else 's'} {positions(numbers)}"


def _fits(text: str, width: int) -> bool:
    """Whether a text has at most `width` cells; a page of text is not walked to its end to see that it has more."""
    return len(text) <= 4 * width + 40 and cells(text) <= width


def _head(text: str, width: int) -> str:
    """As much of the text as `width` cells hold, one character at least."""
    used = 0
    for i, c in enumerate(text):
        used += _cell(c)
        if used > width:
            return text[: max(i, 1)]
    return text


def _cell(c: str) -> int:
    if unicodedata.combining(c):
        return 0
    return 2 if unicodedata.east_asian_width(c) in "WF" else 1


def _visible(c: str) -> str:
    if c.isprintable():
        return c
    # what joins letters or emoji belongs to the writing; what turns its direction round does not
    if c in "\u200c\u200d":
        return c
    return repr(c)[1:-1]
