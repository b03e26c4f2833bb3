"""How a figure is taken and printed: works take turns, CPU time counts, and a table says median and spread."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

Work = Callable[[], Any]


class Table(NamedTuple):
    """A title, the heads of its columns, and its rows."""

    title: str
    head: list[str]
    rows: list[list[Any]]


def best_of(n: int, work: Work) -> float:
    """The shortest of n runs, in milliseconds by the clock on the wall."""
    times = []
    for _ in range(n):
        start = time.perf_counter()
        work()
        times.append((time.perf_counter() - start) * 1000)
    return min(times)


def cpu_ms(work: Work) -> float:
    """Milliseconds of CPU, of all threads of this process."""
    gc.collect()
    start = time.process_time()
    made = work()
    took = (time.process_time() - start) * 1000
    del made
    return took


def side_by_side(works: dict[Any, Work], rounds: int = 9) -> dict[Any, list[float]]:
    """CPU milliseconds of each work in each round. They take turns, so that what disturbs one disturbs all.

    A round before the first is not counted: what is imported or made once is done there.
    """
    times: dict[Any, list[float]] = {name: [] for name in works}
    for _ in range(rounds + 1):
        for name, work in works.items():
            times[name].append(cpu_ms(work))
    return {name: found[1:] for name, found in times.items()}


def middle(values: Iterable[float]) -> float:
    """The median."""
    return statistics.median(values)


def spread(values: Iterable[float]) -> str:
    """`8.1 (7.9 to 9.4)`: the median, the smallest and the largest."""
    found = sorted(values)
    digits = 2 if found[-1] < 10 else 1
    return f"{middle(found):.{digits}f} ({found[0]:.{digits}f} to {found[-1]:.{digits}f})"


def ratios(above: Iterable[float], below: Iterable[float]) -> str:
    """`spread` of the ratios, round by round."""
    return spread(a / b for a, b in zip(above, below, strict=True))


def _cell(value: Any) -> str:
    return f"{value:.1f}" if isinstance(value, float) else str(value)


def text_of(table: Table) -> str:
    """A table as text, columns aligned."""
    lines = [table.head, *[[_cell(v) for v in row] for row in table.rows]]
    widths = [max(len(line[i]) for line in lines) for i in range(len(table.head))]
    told = [table.title]
    for line in lines:
        cells = [v.ljust(w) if i == 0 else v.rjust(w) for i, (v, w) in enumerate(zip(line, widths, strict=True))]
        told.append("  " + "  ".join(cells).rstrip())
    return "\n".join(told)


def markdown_of(table: Table) -> str:
    """The same in Markdown."""
    lines = [table.head, ["---"] * len(table.head), *[[_cell(v) for v in row] for row in table.rows]]
    body = "\n".join("| " + " | ".join(v.replace("|", "\\|") for v in line) + " |" for line in lines)
    return f"### {table.title}\n\n{body}"


def show(title: str, head: list[str], rows: list[list[Any]]) -> None:
    """Print one table."""
    print("\n" + text_of(Table(title, head, rows)))
