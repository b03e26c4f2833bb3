"""Go ↔ Python: where each Go file and function of the Flow lives here, gathered from the engine's docstrings.

A docstring names its Go home in its last lines or behind its sentence, and may go on on the next line:

    Go: internal/llminternal/base_flow.go, Flow.Run, runOneStep; runner/runner.go

`python -m adknb.gomap` prints the table, `python -m adknb.gomap README.md` writes it between the file's two markers.
Nothing of the engine is imported: the files are read with `ast`.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ENGINE = Path(__file__).parent / "engine"
BEGIN, END = "<!-- gomap -->", "<!-- /gomap -->"

_LINE = re.compile(r"(?:^|\. ) *Go:\s+(.*?)\s*(?:\n\s*\n|\Z)", re.DOTALL | re.MULTILINE)
_HOME = re.compile(r"(?P<file>[\w.-]+(?:/[\w.-]+)*)(?P<names>(?:, [A-Za-z]\w*(?:\.[A-Za-z]\w*)?)*)")


class Entry(NamedTuple):
    """One Go name and one place of ours: `("runner/runner.go", "Runner.Run", "adknb.engine.runner.Runner.iter", …)`.

    `go_file` is a file of ADK-Go, or the import path of another package of Go; `go_name` is empty where the whole file
    is meant. `source` is the Python file, relative to the package's parent.
    """

    go_file: str
    go_name: str
    python: str
    source: str


def entries(engine: Path = ENGINE) -> list[Entry]:
    """Every Go home that a docstring of the engine names, in the order of files and lines.

    Raises:
        ValueError: a Go line cannot be read; names its place.
    """
    found = []
    for path in sorted(engine.rglob("*.py")):
        source = path.relative_to(engine.parents[1])
        module = ".".join(source.with_suffix("").parts).removesuffix(".__init__")
        for python, text in _docstrings(ast.parse(path.read_text(encoding="utf-8")), module):
            found += [Entry(*home, python, source.as_posix()) for home in go_homes(text, python)]
    return found


def go_homes(docstring: str, where: str = "docstring") -> list[tuple[str, str]]:
    """The (file, name) pairs of one docstring.

    Example: "Go: a/b.go, F, T.m; c.go" -> [("a/b.go", "F"), ("a/b.go", "T.m"), ("c.go", "")]
    """
    homes = []
    for line in _LINE.findall(docstring):
        for part in " ".join(line.split()).split("; "):
            read = _HOME.fullmatch(part)
            if read is None:
                raise ValueError(f"{where}: expected 'path/file.go, Name, Type.Name; …' after 'Go:', found {part!r}")
            homes += [(read["file"], name) for name in read["names"].split(", ")[1:] or [""]]
    return homes


def table(engine: Path = ENGINE) -> str:
    """The README's table: a row for each file of ADK-Go, with the Python files and what of it lies in each."""
    homes: dict[str, dict[str, list[str]]] = {}
    for entry in entries(engine):
        if entry.go_file.endswith(".go"):
            homes.setdefault(entry.go_file, {}).setdefault(entry.source, []).append(entry.go_name)
    rows = ["| ADK-Go | `adknb/engine` |", "| --- | --- |"]
    for go_file, sources in sorted(homes.items()):
        cells = [" ".join([f"[{_short(s)}]({s})", *_named(names)]) for s, names in sources.items()]
        rows.append(f"| `{go_file}` | {'<br>'.join(cells)} |")
    return "\n".join(rows)


def write(readme: Path) -> None:
    """Put the table between the markers of a file.

    Raises:
        ValueError: the file has not both markers, once each and in order.
    """
    before, _, after = split(readme.read_text(encoding="utf-8"))
    readme.write_text(f"{before}{BEGIN}\n{table()}\n{END}{after}", encoding="utf-8")


def split(text: str) -> tuple[str, str, str]:
    """A text before, between and behind the two markers. Raises ValueError."""
    parts = re.split(f"{BEGIN}|{END}", text)
    if len(parts) != 3 or text.index(BEGIN) > text.index(END):
        raise ValueError(f"expected {BEGIN} and then {END}, once each")
    return parts[0], parts[1], parts[2]


def _docstrings(node: ast.AST, name: str) -> Iterator[tuple[str, str]]:
    """The docstrings of a module, its classes and its functions, with their dotted names."""
    if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
        yield name, ast.get_docstring(node) or ""
    for child in ast.iter_child_nodes(node):
        named = isinstance(child, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        yield from _docstrings(child, f"{name}.{child.name}" if named else name)  # type: ignore[attr-defined]


def _named(names: list[str]) -> list[str]:
    """Each name once, in the order of the docstrings; `Event.IsFinalResponse` says `IsFinalResponse` too."""
    tails = {name.rpartition(".")[2] for name in names if "." in name}
    return [f"`{name}`" for name in dict.fromkeys(names) if name and name not in tails]


def _short(source: str) -> str:
    """`adknb/engine/flow.py` -> `flow`, `adknb/engine/processors/contents/__init__.py` -> `processors/contents`."""
    return source.removeprefix("adknb/engine/").removesuffix(".py").removesuffix("/__init__")


if __name__ == "__main__":
    if sys.argv[1:]:
        write(Path(sys.argv[1]))
    else:
        print(table())
