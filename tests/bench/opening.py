"""How long a session of 50,000 events (100 MB) takes to open, and how much memory; its last request; the doctor.

    .venv/bin/python -m tests.bench.opening            # 50,000 events of 2,000 bytes
    .venv/bin/python -m tests.bench.opening 5000 600   # other sizes: events, bytes an event

Everything is measured in a process of its own, so that the memory is that of opening and nothing else.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

EVENTS, BYTES = 50_000, 2_000
WORDS = "The parcel left Lyon on Tuesday and is due on Thursday before noon, says the depot. " * 40


def write_session(path: Path, events: int = EVENTS, size: int = BYTES, ids: bool = True) -> int:
    """Write a session in Python's spelling: question, call, response, answer, again and again. Gives its bytes."""
    with path.open("w", encoding="utf-8") as file:
        file.write('{"id": "long", "app_name": "shop", "user_id": "ann", "state": {}, "events": [\n')
        for i in range(events):
            file.write((",\n" if i else "") + json.dumps(event_of(i, size, ids)))
        file.write(f'\n], "last_update_time": {1_700_000_000 + events}}}\n')
    return path.stat().st_size


def event_of(i: int, size: int, ids: bool = True) -> dict[str, Any]:
    """The i-th event, of about `size` bytes."""
    words = f"{i}: " + WORDS[: max(0, size - 420)]
    call_id = {"id": f"adk-{i // 4}"} if ids else {}
    part: dict[str, Any] = [
        {"text": words},
        {"function_call": {**call_id, "name": "track", "args": {"order": f"O-{i}", "note": words}}},
        {"function_response": {**call_id, "name": "track", "response": {"where": "Lyon", "told": words}}},
        {"text": words},
    ][i % 4]
    return {
        "id": f"event-{i}",
        "invocation_id": f"e-{i // 4}",
        "author": "desk" if i % 4 else "user",
        "timestamp": 1_700_000_000 + i / 2,
        "content": {"role": "user" if i % 4 in (0, 2) else "model", "parts": [part]},
        "actions": {
            "state_delta": {"last": i} if i % 4 == 2 else {},
            "artifact_delta": {},
            "requested_auth_configs": {},
            "requested_tool_confirmations": {},
        },
    }


MEASURE = """
import json, resource, sys, time
import adknb, adknb.files.recording
wall, cpu = time.perf_counter(), time.process_time()
tape = adknb.open(sys.argv[1])
opened = time.perf_counter() - wall, time.process_time() - cpu
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
wall, cpu = time.perf_counter(), time.process_time()
rebuilt = tape.request_before(len(tape.events) - 1)
made = len(rebuilt.contents), time.perf_counter() - wall, time.process_time() - cpu
wall, cpu = time.perf_counter(), time.process_time()
fates, text = len(rebuilt.fates), len(rebuilt.text())
told = time.perf_counter() - wall, time.process_time() - cpu
wall, cpu = time.perf_counter(), time.process_time()
tape.findings()
examined = time.perf_counter() - wall, time.process_time() - cpu
print(json.dumps([len(tape.events), opened, peak, made, told, examined, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024]))
"""


def opening(events: int = EVENTS, size: int = BYTES) -> list[tuple[str, str, str]]:
    """Rows of a table: what, how much, what is aimed at."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "long.session.json"
        data = write_session(path, events, size)
        done = subprocess.run([sys.executable, "-c", MEASURE, str(path)], capture_output=True, text=True, check=True)
    count, opened, peak, made, told, examined, last_peak = json.loads(done.stdout)
    return [
        (f"open {count:,} events, {data / 1e6:.0f} MB", f"{opened[0]:.1f} s ({opened[1]:.1f} s CPU)", "≤ 10 s"),
        ("memory while opening", f"{peak:.0f} MB", "≤ 1,000 MB"),
        (f"the last request ({made[0]:,} contents)", f"{made[1]:.2f} s ({made[2]:.2f} s CPU)", "≤ 1 s"),
        ("its fates and the explanation", f"{told[0]:.2f} s ({told[1]:.2f} s CPU)", ""),
        ("what the doctor finds", f"{examined[0]:.1f} s ({examined[1]:.1f} s CPU)", "≤ 10 s"),
        ("memory in the end", f"{last_peak:.0f} MB", ""),
    ]


def html(events: int = 5_000, size: int = 500) -> list[tuple[str, str, str]]:
    """Rows for the HTML file of a session."""
    import adknb

    with tempfile.TemporaryDirectory() as folder:
        path, out = Path(folder) / "s.json", Path(folder) / "s.html"
        write_session(path, events, size)
        tape = adknb.open(path)
        wall, cpu = time.perf_counter(), time.process_time()
        tape.to_html(out)
        took = time.perf_counter() - wall, time.process_time() - cpu
        written = out.stat().st_size
    return [
        (f"HTML of {events:,} events", f"{written / 1e6:.2f} MB in {took[0]:.1f} s ({took[1]:.1f} s CPU)", "≤ 1.5 MB")
    ]


def main() -> None:
    """Print the tables."""
    sizes = [int(a) for a in sys.argv[1:3]]
    for row in [*opening(*sizes), *html()]:
        print(f"{row[0]:<44}{row[1]:<32}{row[2]}")
    print(f"this process: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")


if __name__ == "__main__":
    main()
