"""The Stepper's figures: beside a plain run, one stop over a long history, memory a stop, and a replay."""

from __future__ import annotations

import gc
import tracemalloc
from typing import Any

from tests.bench.histories import runner
from tests.bench.measure import Table, cpu_ms, ratios, side_by_side, spread


def stepper() -> Table:
    """A run under the Stepper beside the plain run, and what one stop costs over a long history."""
    import adknb
    from adknb import at

    rows = []
    for n in (10, 100, 1_000, 10_000):
        rounds = 3 if n == 10_000 else 9
        given = [runner(n) for _ in range(2 * rounds + 2)]  # a run adds to its session: each needs its own
        times = side_by_side(
            {
                "plain": lambda given=given: list(given.pop().run("hi")),
                "stepped": lambda given=given: adknb.step(given.pop(), "hi").resume(),
            },
            rounds,
        )
        dbg = adknb.step(runner(n), "hi").until(at("contents"))
        one = [cpu_ms(dbg.step) for _ in range(10)]
        plain, stepped = times["plain"], times["stepped"]
        rows.append([f"{n:,} events", spread(plain), spread(stepped), ratios(stepped, plain), spread(one)])
    head = ["", "plain ms", "stepper ms", "stepper / plain", "one step behind contents, ms"]
    return Table("one turn with a tool call, CPU time", head, rows)


def memory() -> Table:
    """What the Stepper keeps of about 1,000 stops over 1,000 events."""
    import adknb

    made = runner(1_000, calls=21)
    gc.collect()
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    dbg = adknb.step(made, "hi")
    while dbg.here is not None and len(dbg.stops) < 1_000:
        dbg.step()
    gc.collect()
    kept = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    row = [f"{len(dbg.stops):,}", f"{kept / 1e6:.1f}", f"{kept / len(dbg.stops) / 1000:.1f}"]
    return Table("memory of a stepped run over 1,000 events", ["stops", "MB", "kB a stop"], [row])


def replay() -> Table:
    """Going back to the start and forward again, from the journal, beside the first run."""
    import adknb

    rows: list[list[Any]] = []
    for n in (100, 5_000):
        rounds = 5
        given = [runner(n, calls=10) for _ in range(rounds)]
        first, again = [], []
        for made in given:
            dbg = adknb.step(made, "hi")
            first.append(cpu_ms(dbg.resume))
            again.append(cpu_ms(lambda dbg=dbg: dbg.fork()))
        rows.append([f"{n:,} events, {len(dbg.stops)} stops", spread(first), spread(again), ratios(again, first)])
    return Table("a replay from the journal, CPU time", ["", "first ms", "replayed ms", "replayed / first"], rows)
