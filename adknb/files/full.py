"""Contents in full: every text, call and response on as many lines as it takes.

Line breaks and blanks stay, for a prompt's layout matters; any other control character is made visible.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from google.genai import types

from adknb.engine.event import parts_of
from adknb.lens.table import part_texts
from adknb.lens.words import cells, one_line, wrap

if TYPE_CHECKING:
    from adknb.files.rebuild import Rebuilt


def contents_in_full(rebuilt: Rebuilt, width: int) -> list[str]:
    """The contents of the request: for each a line that says whose it is, then all of it, indented."""
    from adknb.files.explain import added_text, count_of, sources

    if not rebuilt.contents:
        return ["THE CONTENTS OF THE REQUEST: none; the model is called with nothing to read"]
    lines = [count_of(rebuilt)]
    for i, (content, origin) in enumerate(zip(rebuilt.contents, sources(rebuilt), strict=True)):
        role = one_line(content.role or "–", 12)
        stems = origin if origin == "added" else f"event{'s' if ',' in origin or '–' in origin else ''} {origin}"
        lines += [f"  {line}" for line in wrap(f"content {i}, {stems}, {role}:", width - 2)]
        lines += [f"      {line}" for line in parts_in_full(content, width - 6)]
    lines += [f"  {line}" for added in rebuilt.added for line in wrap(added_text(added), width - 2)]
    return [line.rstrip() for line in lines]


def parts_in_full(content: types.Content, width: int) -> list[str]:
    """Each part on lines of at most `width` cells; of several each begins with a dash."""
    texts = part_texts(content)
    for i, part in enumerate(parts_of(content)):
        if part.function_response is not None and part.text:
            texts[i] += f"\n{part.text}"
    if len(texts) < 2:
        return [line.rstrip() for text in texts or ["(no parts)"] for line in wrapped(text, width)]
    lines = []
    for text in texts:
        first, *others = wrapped(text, width - 2)
        lines += [f"– {first}".rstrip(), *(f"  {line}".rstrip() for line in others)]
    return lines


def wrapped(text: str, width: int) -> list[str]:
    """A text of several lines, each broken at blanks where it is longer than `width` cells; nothing is left out."""
    lines = []
    for line in text.replace("\r\n", "\n").split("\n"):
        lines += [piece.rstrip() for piece in _broken(made_visible(line), width)]
    return lines


def _broken(line: str, width: int) -> list[str]:
    if cells(line) <= width:
        return [line]
    lines, now, used = [], "", 0
    for token in re.findall(r" +|[^ ]+", line):
        size = cells(token)
        if used + size <= width:
            now, used = now + token, used + size
            continue
        if token[0] == " ":  # blanks at a break are the break
            lines.append(now)
            now, used = "", 0
            continue
        if now.strip():
            lines.append(now)
            now, used = "", 0
        if used + size <= width:
            now, used = now + token, used + size
            continue
        for c in token:  # a word longer than a line is cut into pieces
            if used + cells(c) > width:
                lines.append(now)
                now, used = "", 0
            now, used = now + c, used + cells(c)
    return [*lines, now] if now else lines


def made_visible(line: str) -> str:
    """A line with what would act on a terminal or a page shown as what it is."""
    return line if line.isprintable() else "".join(map(_visible, line))


def _visible(c: str) -> str:
    return c if c.isprintable() or c in "\u200c\u200d" else repr(c)[1:-1]
