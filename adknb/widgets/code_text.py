"""The Python text behind a callable: where it is, its home in Go, cut into coloured tokens. Nothing of it is run."""

from __future__ import annotations

import functools
import inspect
import io
import keyword
import token
import tokenize
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FunctionType, MethodType
from typing import Any

from adknb import gomap
from adknb.widgets.brief import Json
from adknb.widgets.wire import clean_text

PACKAGE = Path(gomap.__file__).parent


def unwrapped(function: Any) -> Any:
    """What `inspect` can read of a callable: through partials, decorators and bound methods; an object's `__call__`."""
    for _ in range(20):
        if isinstance(function, functools.partial):
            function = function.func
        elif isinstance(function, (MethodType, staticmethod, classmethod)):
            function = function.__func__
        elif isinstance(function, (FunctionType, CodeType, type)) or not callable(function):
            return getattr(function, "__wrapped__", function) if isinstance(function, FunctionType) else function
        elif inspect.isbuiltin(function) or inspect.ismethoddescriptor(function):
            return function
        else:
            function = type(function).__call__
    return function


def source_of(function: Any) -> Json | None:
    """`{"file", "line", "text"}` of a callable; None where there is no Python text (built in, made by `exec`).

    A file of adknb is named from the package on; of others the last two parts tell enough.
    """
    read = unwrapped(function)
    try:
        path = inspect.getsourcefile(read) or inspect.getfile(read)
        lines, first = inspect.getsourcelines(read)
    except (OSError, TypeError, IndexError, SyntaxError, tokenize.TokenError):
        return None
    if path == "<string>":  # `exec` and `eval`: what Python finds under that name is another text
        return None
    return {"file": _named(path), "line": max(1, first), "text": inspect.cleandoc("\n" + "".join(lines))}


def _named(path: str) -> str:
    place = Path(path)
    if place.is_relative_to(PACKAGE):
        return place.relative_to(PACKAGE.parent).as_posix()
    if path.startswith("<"):
        return path
    return "a cell of this notebook" if "ipykernel_" in path else "/".join(place.parts[-2:])


def go_home(function: Any) -> str:
    """`internal/llminternal/base_flow.go, Flow.Run`: where a function of the engine has its home in Go.

    By its docstring, else by its class's or module's; empty for anybody else's function.
    """
    read = unwrapped(function)
    module = inspect.getmodule(read)
    if module is None or not module.__name__.startswith("adknb.engine"):
        return ""
    owner = getattr(module, getattr(read, "__qualname__", "").split(".")[0], None)
    for documented in (read, owner, module):
        try:
            homes = gomap.go_homes(inspect.getdoc(documented) or "") if documented is not None else []
        except ValueError:  # a line that cannot be read: tests/test_gomap.py tells
            homes = []
        if homes:
            files: dict[str, list[str]] = {}
            for file, name in homes:
                files.setdefault(file, []).append(name)
            return "; ".join(", ".join([file, *filter(None, names)]) for file, names in files.items())
    return ""


def called(function: Any) -> str:
    """What a callable is called: `Flow.preprocess`."""
    read = unwrapped(function)
    return str(getattr(read, "__qualname__", None) or type(read).__name__).replace(".<locals>", "")


KINDS = {token.NAME: "", token.NUMBER: "num", token.STRING: "str", token.COMMENT: "com", token.OP: "op"}
KINDS |= {kind: "str" for name, kind in vars(token).items() if name.startswith("FSTRING")}


def coloured(text: str) -> Iterator[list[list[str]]]:
    """The lines of a Python text as `[kind, characters]`: kw, def, num, str, com, op, or "" for the rest.

    A text that Python cannot read, half a lambda's line say, is coloured as far as it can be.
    """
    lines = text.split("\n")
    marks: list[list[tuple[int, int, str]]] = [[] for _ in lines]
    before = ""
    try:
        for t in tokenize.generate_tokens(io.StringIO(text + "\n").readline):
            kind = KINDS.get(t.type)
            if kind is None:
                continue
            if t.type == token.NAME:
                kind = "kw" if keyword.iskeyword(t.string) else "def" if before in ("def", "class") else ""
                before = t.string
            elif t.type == token.OP:
                before = "@" if t.string == "@" else ""
            _mark(marks, lines, t.start, t.end, kind)
    except (tokenize.TokenError, SyntaxError, UnicodeError):  # the last: half a surrogate pair, from Python 3.12
        pass
    for line, found in zip(lines, marks, strict=True):
        out: list[list[str]] = []
        at = 0
        for start, end, kind in found:
            if start > at:
                out.append(["", clean_text(line[at:start])])
            if end > max(at, start):
                out.append([kind, clean_text(line[max(at, start) : end])])
                at = end
        out += [["", clean_text(line[at:])]] if at < len(line) else []
        yield _joined(out)


def _mark(
    marks: list[list[tuple[int, int, str]]], lines: list[str], start: tuple[int, int], end: tuple[int, int], kind: str
) -> None:
    for row in range(start[0] - 1, min(end[0], len(lines))):
        first = start[1] if row == start[0] - 1 else 0
        last = end[1] if row == end[0] - 1 else len(lines[row])
        if last > first:
            marks[row].append((first, last, kind))


def _joined(pieces: list[list[str]]) -> list[list[str]]:
    """Neighbours of one kind as one piece: fewer to send, fewer to draw."""
    out: list[list[str]] = []
    for kind, characters in pieces:
        if out and (out[-1][0] == kind or not characters.strip()):
            out[-1][1] += characters
        else:
            out.append([kind, characters])
    return out
