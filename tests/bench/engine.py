"""The engine's figures: contents, the step of a tool loop, tools side by side, imports, the golden scenarios."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from google.genai import types

from tests.bench import of_google_adk
from tests.bench.histories import history, runner
from tests.bench.measure import Table, Work, best_of, middle, ratios, side_by_side, spread

GOLDEN = Path(__file__).parent.parent / "golden" / "scenarios.jsonl"
LOOP = 20
"""Tool calls of the long turn; a step is what it takes beyond a turn with one, divided by the difference."""


def contents() -> Table:
    """Contents assembly: ours beside google-adk, and how it grows."""
    from adknb.engine.processors.contents import Viewer, assemble

    sizes = (10, 1_000, 5_000, 10_000)
    works: dict[Any, Work] = {}
    for n in sizes:
        events = history(n)
        assert len(assemble(events, Viewer("agent")).contents) >= n
        works[n, "adknb"] = lambda events=events: assemble(events, Viewer("agent"))
        if of_google_adk.HERE:
            theirs = of_google_adk.events_of(events)
            works[n, "adk"] = lambda theirs=theirs: of_google_adk.contents_of(theirs)
    times = side_by_side(works)
    rows = []
    for n in sizes:
        ours, adk = times[n, "adknb"], times.get((n, "adk"))
        grown = min(ours) / min(times[1_000, "adknb"])
        beside = [spread(adk), ratios(adk, ours)] if adk else ["-", "-"]
        rows.append([f"{n:,} events", spread(ours), f"{grown:.2f}", *beside])
    head = ["", "adknb ms", "t(n)/t(1,000)", "google-adk ms", "google-adk / adknb"]
    return Table("contents assembly, CPU time, 9 rounds", head, rows)


def loop() -> Table:
    """One step of a tool loop (request, model, tool, two events), ours beside google-adk."""
    rows = []
    for n in (10, 1_000, 5_000):
        rounds = 5 if n < 5_000 else 3
        found = {}
        for who, make in {"adknb": _ours, "adk": _theirs}.items():
            if who == "adknb" or of_google_adk.HERE:
                found[who] = _a_step(make, n, rounds)
        beside = [spread(found["adk"]), ratios(found["adk"], found["adknb"])] if "adk" in found else ["-", "-"]
        rows.append([f"{n:,} events", spread(found["adknb"]), *beside])
    head = ["", "adknb ms", "google-adk ms", "google-adk / adknb"]
    return Table("a step of a tool loop, CPU time", head, rows)


def _ours(n: int, calls: int) -> Work:
    made = runner(n, calls)
    return lambda: list(made.run("hi"))


def _theirs(n: int, calls: int) -> Work:
    work: Work = of_google_adk.turn(of_google_adk.events_of(history(n)), calls)
    return work


def _a_step(make: Callable[[int, int], Work], n: int, rounds: int) -> list[float]:
    made = {calls: [make(n, calls) for _ in range(rounds + 1)] for calls in (1, LOOP)}
    works: dict[Any, Work] = {calls: lambda calls=calls: made[calls].pop()() for calls in made}
    times = side_by_side(works, rounds)
    return [(long - short) / (LOOP - 1) for long, short in zip(times[LOOP], times[1], strict=True)]


def tools() -> Table:
    """Two tools that each wait 0.2 s."""
    from adknb import LlmAgent, Runner, ScriptedModel
    from adknb.engine.platform import concurrent, counted, in_order, interleaved

    def wait_a() -> str:
        """Waits."""
        time.sleep(0.2)
        return "a"

    def wait_b() -> str:
        """Waits."""
        time.sleep(0.2)
        return "b"

    rows = []
    for run_tasks in (concurrent, in_order, interleaved):
        calls = [types.Part(function_call=types.FunctionCall(id=n, name=n)) for n in ("wait_a", "wait_b")]
        model = ScriptedModel([types.Content(role="model", parts=calls), "done"])
        r = Runner(LlmAgent("agent", model=model, tools=[wait_a, wait_b]), platform=counted(run_tasks))
        took = best_of(1, lambda r=r: list(r.run("hi")))
        rows.append([run_tasks.__name__, took, took / 200])
    return Table("two tools of 200 ms in one answer", ["task runner", "ms", "of one tool"], rows)


def imports() -> Table:
    """What `import adknb` adds to `import google.genai.types`."""

    def seconds(code: str) -> float:
        program = f"import time; s = time.process_time(); {code}; print(time.process_time() - s)"
        return float(subprocess.check_output([sys.executable, "-c", program]))

    codes = {
        "google.genai.types": "import google.genai.types",
        "and adknb": "import google.genai.types, adknb",
        "and its names used": "import google.genai.types, adknb; adknb.step, adknb.LlmAgent, adknb.open",
    }
    times: dict[str, list[float]] = {name: [] for name in codes}
    for _ in range(5):
        for name, code in codes.items():
            times[name].append(seconds(code))
    base = middle(times["google.genai.types"])
    rows = [[name, spread(found), f"{middle(found) - base:.2f}"] for name, found in times.items()]
    return Table("import, CPU time, 5 rounds", ["", "s", "added s"], rows)


def golden() -> Table:
    """All golden scenarios, traced."""
    from adknb.scenarios import load, trace

    scenarios = load(str(GOLDEN))
    took = best_of(1, lambda: [trace(s) for s in scenarios])
    row = [f"{len(scenarios)} scenarios", f"{took / 1000:.1f}", took / len(scenarios)]
    return Table("golden scenarios", ["", "s", "ms each"], [row])
