"""The figures of the design, as tables: `python -m tests.bench [table …] [--save]`. See README.md beside this file."""

from __future__ import annotations

import argparse
import datetime
import os
import platform
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from tests.bench import engine, live, opening, panel, stepping
from tests.bench.measure import Table, markdown_of, text_of

RESULTS = Path(__file__).parent / "RESULTS.md"
PACKAGES = ("google-genai", "pydantic", "google-adk", "pandas", "anywidget", "jupyterlab")


def panel_at_the_comm() -> Table:
    """The panel over 5,000 events, counted at the comm."""
    return Table("the panel at the comm, CPU time", *panel.rows())


def opened() -> Table:
    """A session file of 50,000 events, and the HTML of 5,000."""
    return Table("session files", ["", "measured", "aim"], [list(row) for row in [*opening.opening(), *opening.html()]])


def live_load() -> Table:
    """1,000 Live messages a second, over TLS."""
    return Table("Live, 1,000 messages a second for 3 s", live.HEAD, live.rows(3))


TABLES: dict[str, Callable[[], Table]] = {
    "contents": engine.contents,
    "loop": engine.loop,
    "stepper": stepping.stepper,
    "memory": stepping.memory,
    "replay": stepping.replay,
    "tools": engine.tools,
    "import": engine.imports,
    "golden": engine.golden,
    "panel": panel_at_the_comm,
    "files": opened,
    "live": live_load,
}


def versions() -> str:
    """What was measured with, in a line."""
    found = [f"Python {platform.python_version()}"]
    for name in PACKAGES:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            found.append(f"no {name}")
    return f"{', '.join(found)}; {os.cpu_count()} CPUs"


def main() -> None:
    """Measure, print, and save when told to."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("tables", nargs="*", metavar="table", help=", ".join(TABLES))
    parser.add_argument("--save", action="store_true", help=f"write {RESULTS.name}: every table, with versions")
    given = parser.parse_args()
    if unknown := [name for name in given.tables if name not in TABLES]:
        parser.error(f"no table {unknown[0]!r}; there are: {', '.join(TABLES)}")
    if given.save and given.tables:
        parser.error("--save writes every table: name none")
    print(versions())
    done = []
    for name in given.tables or TABLES:
        done.append(TABLES[name]())
        print("\n" + text_of(done[-1]), flush=True)
    if given.save:
        day = datetime.datetime.now(datetime.UTC).date()
        head = f"# Figures\n\nMeasured on {day} with {versions()}, by `python -m tests.bench --save`."
        RESULTS.write_text("\n\n".join([head, *map(markdown_of, done)]) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
