"""The figures of the design, printed as tables: `python tests/bench/bench.py [table …]`. See README.md beside this file."""

from __future__ import annotations

import gc
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from google.genai import types

HERE = Path(__file__).parent
GOLDEN = HERE.parent / "golden" / "scenarios.jsonl"


def best_of(n: int, work: Callable[[], Any]) -> float:
    """The shortest of n runs, in milliseconds."""
    times = []
    for _ in range(n):
        start = time.perf_counter()
        work()
        times.append((time.perf_counter() - start) * 1000)
    return min(times)


def side_by_side(works: dict[Any, Callable[[], Any]], rounds: int = 9) -> dict[Any, list[float]]:
    """CPU time in milliseconds of each work in each round. They take turns, so that what disturbs one disturbs all."""
    times: dict[Any, list[float]] = {name: [] for name in works}
    for _ in range(rounds):
        for name, work in works.items():
            gc.collect()
            start = time.process_time()
            made = work()
            times[name].append((time.process_time() - start) * 1000)
            del made
    return times


def middle(values: Iterable[float]) -> float:
    """The median."""
    return statistics.median(values)


def show(title: str, head: list[str], rows: list[list[Any]]) -> None:
    """Print one table, columns aligned."""
    texts = [[f"{v:.1f}" if isinstance(v, float) else str(v) for v in row] for row in rows]
    widths = [max(len(r[i]) for r in [head, *texts]) for i in range(len(head))]
    print(f"\n{title}")
    for row in [head, *texts]:
        print(
            "  "
            + "  ".join(v.ljust(w) if i == 0 else v.rjust(w) for i, (v, w) in enumerate(zip(row, widths, strict=True)))
        )


def history(n: int) -> list[Any]:
    """n events in fours: question, call, response, answer. One agent, no branches."""
    from adknb import Event

    events = []
    for i in range(n):
        call = types.FunctionCall(id=f"c{i // 4}", name="look", args={"place": f"shelf {i}", "deep": {"n": i}})
        answer = types.FunctionResponse(
            id=f"c{i // 4}", name="look", response={"found": [i, i + 1], "text": "book " * 10}
        )
        author, role, part = [
            ("user", "user", types.Part(text=f"question {i} " * 5)),
            ("agent", "model", types.Part(function_call=call)),
            ("agent", "user", types.Part(function_response=answer)),
            ("agent", "model", types.Part(text=f"answer {i} " * 5)),
        ][i % 4]
        events.append(
            Event(
                author=author,
                content=types.Content(role=role, parts=[part]),
                id=str(i),
                timestamp=float(i),
                invocation_id=f"e{i // 4}",
            )
        )
    return events


def contents() -> None:
    """Contents assembly: ours beside google-adk, and how it grows."""
    from adknb.engine.processors.contents import Viewer, assemble

    try:
        from google.adk.events.event import Event as AdkEvent
        from google.adk.flows.llm_flows import contents as adk
    except ImportError:
        adk = None

    def theirs_of(event: Any) -> Any:
        return AdkEvent(
            author=event.author,
            content=event.content,
            id=event.id,
            timestamp=event.timestamp,
            invocation_id=event.invocation_id,
        )

    works: dict[Any, Callable[[], Any]] = {}
    for n in (1_000, 5_000, 10_000):
        events = history(n)
        assert len(assemble(events, Viewer("agent")).contents) >= n
        works[n, "adknb"] = lambda events=events: assemble(events, Viewer("agent"))
        if adk is not None:
            given = [theirs_of(event) for event in events]
            works[n, "adk"] = lambda given=given: adk._get_contents(None, given, "agent")
    times = side_by_side(works)
    rows = []
    for n in (1_000, 5_000, 10_000):
        ours, theirs = times[n, "adknb"], times.get((n, "adk"))
        grown = min(ours) / min(times[1_000, "adknb"])
        beside = [min(theirs), middle(t / o for t, o in zip(theirs, ours, strict=True))] if theirs else ["-", "-"]
        rows.append([f"{n:,} events", min(ours), middle(ours), grown, *beside])
    head = ["", "adknb ms", "its median", "t(n)/t(1,000)", "google-adk ms", "google-adk / adknb, median"]
    show("contents assembly, CPU time, best and median of 9", head, rows)


def stepper() -> None:
    """A run under the Stepper beside the plain run, and what one stop costs over a long history."""
    import adknb
    from adknb import LlmAgent, Runner, ScriptedModel, at
    from adknb.engine.platform import counted, in_order

    def agent() -> Any:
        def look(place: str) -> dict[str, Any]:
            """Looks."""
            return {"place": place}

        call = types.Part(function_call=types.FunctionCall(id="c", name="look", args={"place": "shelf"}))
        answers = [types.Content(role="model", parts=[call]), "done"]
        return LlmAgent("agent", model=ScriptedModel(answers), tools=[look], instruction="Be brief.")

    def runner(n: int) -> Any:
        r = Runner(agent(), platform=counted(in_order))
        session = r.session_service.create("adknb", "user", "session-1")
        for event in history(n):
            r.session_service.append_event(session, event)
        return r

    rows = []
    for n in (10, 100, 1_000, 10_000):
        rounds = 3 if n == 10_000 else 9
        given = [runner(n) for _ in range(2 * rounds)]  # a run adds to its session: each needs its own
        times = side_by_side(
            {
                "plain": lambda given=given: list(given.pop().run("hi")),
                "stepped": lambda given=given: adknb.step(given.pop(), "hi").resume(),
            },
            rounds,
        )
        dbg = adknb.step(runner(n), "hi").until(at("contents"))
        early = [best_of(1, dbg.step) for _ in range(6)]
        plain, stepped = min(times["plain"]), min(times["stepped"])
        rows.append([f"{n:,} events", plain, stepped, f"{stepped / plain:.2f}", f"{middle(early):.2f}"])
    head = ["", "plain ms", "stepper ms", "ratio", "one step behind contents, ms"]
    show("one turn with a tool call, CPU time, best of 9", head, rows)


def tools() -> None:
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
    show("two tools of 200 ms in one answer", ["task runner", "ms", "of one tool"], rows)


def imports() -> None:
    """What `import adknb` adds to `import google.genai.types`."""

    def seconds(code: str) -> float:
        program = f"import time; s = time.perf_counter(); {code}; print(time.perf_counter() - s)"
        return min(float(subprocess.check_output([sys.executable, "-c", program])) for _ in range(3))

    base = seconds("import google.genai.types")
    lean = seconds("import google.genai.types, adknb")
    full = seconds("import google.genai.types, adknb; adknb.step, adknb.LlmAgent, adknb.open")
    show(
        "import, best of 3",
        ["", "s", "added s"],
        [
            ["google.genai.types", f"{base:.2f}", ""],
            ["and adknb", f"{lean:.2f}", f"{lean - base:.2f}"],
            ["and its names used", f"{full:.2f}", f"{full - base:.2f}"],
        ],
    )


def golden() -> None:
    """All golden scenarios, traced."""
    from adknb.scenarios import load, trace

    scenarios = load(str(GOLDEN))
    took = best_of(1, lambda: [trace(s) for s in scenarios])
    show(
        "golden scenarios",
        ["", "s", "ms each"],
        [[f"{len(scenarios)} scenarios", f"{took / 1000:.1f}", took / len(scenarios)]],
    )


TABLES = {"contents": contents, "stepper": stepper, "tools": tools, "import": imports, "golden": golden}

if __name__ == "__main__":
    wanted = sys.argv[1:] or list(TABLES)
    unknown = [name for name in wanted if name not in TABLES]
    if unknown:
        sys.exit(f"no table {unknown[0]!r}; there are: {', '.join(TABLES)}")
    for name in wanted:
        TABLES[name]()
