"""What a panel costs over a session of 5,000 events, counted at the comm: kernel time and bytes on the wire.

    python -m tests.bench.panel

The kernel's side is the real one, from the button to the last byte handed to Jupyter; the comm writes down what it is
given, packed as Jupyter packs it. Each tab is kept open while a turn is stepped from its first stop to its last: a step
is the command and all that the open tab then asks for. Times are the CPU's, of all threads of this process. What Python's
garbage collector takes is told beside them: now and then it looks at every object of the kernel, whoever made them.
"""

from __future__ import annotations

import gc
import json
import statistics
import time
from collections.abc import Callable
from typing import Any

from google.genai import types

EVENTS = 5_000
LIMITS = {"first": (300.0, 1_000.0), "step": (50.0, 100.0)}
"""Milliseconds of kernel time and kB on the wire that may not be passed (issue 6)."""

Json = dict[str, Any]

QUESTIONS: dict[str, list[Json]] = {
    "Request": [{"type": "page", "name": "Request", "against": "stop"}],
    "Contents": [{"type": "assemble", "ask": 1, "viewer": None, "open": []}],
    "Branches": [{"type": "matrix"}],
    "Events": [{"type": "fates"}],
    "State": [{"type": "page", "name": "State"}],
    "Where": [{"type": "where"}],
    "Source": [{"type": "page", "name": "Source"}],
    "Findings": [{"type": "page", "name": "Findings"}],
}
"""What each tab asks when the run has moved."""

KEPT = ("assemble", "matrix")
"""Questions that say which version the view holds already."""


class Wire:
    """Stands in for the comm of every widget made inside it; counts the bytes of what is published."""

    def __init__(self) -> None:
        self.bytes = self.messages = 0
        self._collecting = self._began = 0.0

    def _collector(self, phase: str, info: Json) -> None:
        if phase == "start":
            self._began = time.process_time()
        else:
            self._collecting += time.process_time() - self._began

    def __enter__(self) -> Wire:
        import comm
        from comm.base_comm import BaseComm

        wire = self

        class Counting(BaseComm):
            def publish_msg(
                self, msg_type: str, data: Any = None, metadata: Any = None, buffers: Any = None, **keys: Any
            ) -> None:
                wire.messages += 1
                text = json.dumps([msg_type, data, metadata, keys], ensure_ascii=False, allow_nan=False)
                wire.bytes += len(text.encode()) + sum(memoryview(b).nbytes for b in buffers or ())

        self._before = comm.create_comm
        comm.create_comm = lambda *args, **kwargs: Counting(*args, **kwargs)
        gc.callbacks.append(self._collector)
        return self

    def __exit__(self, *error: Any) -> None:
        import comm

        comm.create_comm = self._before
        gc.callbacks.remove(self._collector)

    def of(self, work: Callable[[], Any]) -> tuple[float, float, float]:
        """What some work takes: milliseconds of CPU, kB on the wire, milliseconds of garbage collection beside it."""
        self.bytes = self.messages = 0
        self._collecting = 0.0
        start = time.process_time()
        work()
        took = time.process_time() - start
        return (took - self._collecting) * 1000, self.bytes / 1000, self._collecting * 1000


def run() -> Any:
    """A turn with a tool call, at its first stop, in a session of 5,000 events (histories.history)."""
    import adknb
    from adknb import LlmAgent, Runner, ScriptedModel
    from adknb.engine.platform import counted, in_order
    from tests.bench.histories import history

    def look(place: str) -> Json:
        """Looks."""
        return {"place": place}

    call = types.Part(function_call=types.FunctionCall(id="c", name="look", args={"place": "shelf"}))
    answers = [types.Content(role="model", parts=[call]), "done"]
    agent = LlmAgent("agent", model=ScriptedModel(answers), tools=[look], instruction="Be brief.")
    runner = Runner(agent, platform=counted(in_order))
    session = runner.session_service.create("adknb", "user", "session-1")
    for event in history(EVENTS):
        runner.session_service.append_event(session, event)
    return adknb.step(runner, "hi")


def opened(wire: Wire, best_of: int = 3) -> tuple[float, float, float]:
    """The first panel: made, sent, and its first page answered."""
    from adknb.widgets.panel.widget import Panel

    found = []
    for _ in range(best_of):
        dbg = run()
        made: list[Panel] = []

        def show(dbg: Any = dbg, made: list[Panel] = made) -> None:
            made.append(Panel(dbg))
            made[0].serve(QUESTIONS["Request"][0])

        found.append(wire.of(show))
        made[0].close()
    return min(found)


def stepped(wire: Wire, tab: str, command: str = "step") -> list[tuple[str, float, float, float]]:
    """(stop that was left, ms, kB, ms of garbage collection) of every step of the turn with a tab open."""
    from adknb.widgets.panel.widget import Panel

    dbg = run()
    gc.collect()  # what an earlier row left behind is not this one's to clear away
    panel = Panel(dbg)
    have: dict[str, int] = {}
    told: list[Json] = []
    send = panel.send
    panel.send = lambda content, buffers=None: (told.append(content), send(content, buffers))

    def ask() -> None:
        for question in QUESTIONS[tab]:
            kind = question["type"]
            asked = {**question, "have": have[kind]} if kind in have else question
            panel.serve(asked)
            for answer in told:
                if kind in KEPT and "v" in answer:
                    have[kind] = answer["v"]
            told.clear()

    def press() -> None:
        panel.serve({"type": command})
        ask()

    ask()
    found = []
    while dbg.here is not None:
        left = str(dbg.here)
        found.append((left, *wire.of(press)))
    assert panel.errors == [], panel.errors[-1]
    panel.close()  # ipywidgets holds every widget until then
    return found


def rows(tabs: list[str] | None = None) -> tuple[list[str], list[list[Any]]]:
    """Head and rows of the table: the first panel, then a row a tab; what passes a limit is marked."""
    head = ["5,000 events", "median ms", "worst ms", "at", "worst gc ms", "median kB", "worst kB", ""]
    with Wire() as wire:
        ms, kb, collecting = opened(wire)
        table: list[list[Any]] = [["first panel", ms, ms, "", collecting, kb, kb, verdict("first", ms, kb)]]
        for tab in tabs or QUESTIONS:
            found = stepped(wire, tab)
            left, worst, *_ = max(found, key=lambda f: f[1])
            times, sizes, collecting = ([f[at] for f in found] for at in (1, 2, 3))
            row: list[Any] = [f"a step, {tab} open", statistics.median(times), worst, left, max(collecting)]
            row += [statistics.median(sizes), max(sizes)]
            table.append([*row, verdict("step", worst, max(sizes))])
    return head, table


def verdict(what: str, ms: float, kb: float) -> str:
    """Whether a figure is within its limit."""
    most_ms, most_kb = LIMITS[what]
    over = [f"over {most_ms:.0f} ms"] * (ms > most_ms) + [f"over {most_kb:.0f} kB"] * (kb > most_kb)
    return ", ".join(over) or "ok"


def main() -> None:
    """Print the table."""
    import sys

    from tests.bench.measure import show

    show("the panel at the comm, CPU time", *rows(sys.argv[1:] or None))


if __name__ == "__main__":
    main()
