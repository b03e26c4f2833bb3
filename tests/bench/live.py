"""A live run under load: 1,000 messages a second for 10 s, over TLS, read as they come; or while the reader sleeps.

    .venv/bin/python -m tests.bench.live            # 10 s
    .venv/bin/python -m tests.bench.live 3          # so many seconds

Every message has a number and 1,920 bytes of audio (40 ms), so that nothing is stored and memory should stay flat. The
server is in the same process, on a thread of its own; its share of the time counts in. Nothing is asserted but that all
messages came, in order.
"""

from __future__ import annotations

import base64
import gc
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from adknb.engine.context import LiveConfig
from adknb.engine.gemini import Gemini
from adknb.engine.live import LiveSession
from adknb.engine.llm_agent import LlmAgent
from adknb.engine.runner import Runner
from adknb.engine.stops import Stop
from adknb.scenarios.fake_live import FakeLive

PER_SECOND = 1_000
AUDIO = base64.b64encode(bytes(1_920)).decode()
MESSAGE = {
    "serverContent": {
        "modelTurn": {"role": "model", "parts": [
            {"text": "#"}, {"inlineData": {"mimeType": "audio/pcm;rate=24000", "data": AUDIO}},
        ]}
    }
}  # fmt: skip
HEAD = ["how it is read", "sent", "read", "in order", "slowest [ms]", "CPU [%]", "MB at 1 s", "MB at the end"]


def megabytes() -> float:
    """The memory of this process that is in use."""
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * 4096 / 1e6


def threaded(runner: Runner) -> Iterator[Any]:
    """On a thread of its own."""
    with runner.run_live(live_config=LiveConfig()) as live:
        live.send("go")
        yield from live.turn()


def stepped(runner: Runner) -> Iterator[Any]:
    """One generator, its stops passed over."""
    session = LiveSession()
    session.send("go")
    for item in runner.iter_live(session, live_config=LiveConfig()):
        if not isinstance(item, Stop):
            yield item
            if item.turn_complete:
                session.close()


def paused(runner: Runner) -> Iterator[Any]:
    """Stepped; the reader stands still for a second in the middle."""
    for n, event in enumerate(stepped(runner)):
        if n == PER_SECOND:
            time.sleep(1)
        yield event


def measured(name: str, read: Any, seconds: int) -> list[Any]:
    """One row."""
    times = PER_SECOND * seconds
    flood = {"message": MESSAGE, "times": times, "per_second": PER_SECOND}
    done = {"send": {"serverContent": {"turnComplete": True}}}
    with FakeLive([[{"get": 1}, {"flood": flood}, done]]) as server:
        model = Gemini("gemini-live-x", api_key="none", http_options=server.http_options)
        numbers: list[int] = []
        start, cpu, last, slowest, early = 0.0, time.process_time(), 0.0, 0.0, 0.0
        for event in read(Runner(LlmAgent("voice", model))):
            if event.content is None:
                continue
            now = time.perf_counter()
            start = start or now
            slowest = max(slowest, now - last if last else 0.0)
            last = now
            numbers.append(int(event.content.parts[0].text))
            if len(numbers) == PER_SECOND:
                early = megabytes()
                last = time.perf_counter()
        taken = time.perf_counter() - start
        share = (time.process_time() - cpu) / taken * 100
        model.close()
        late = megabytes()
    return [name, times, len(numbers), numbers == list(range(times)), slowest * 1000, share, early, late]


def rows(seconds: int = 10) -> list[list[Any]]:
    """The table, a row for each way of reading; see HEAD."""
    ways = {"a thread of its own": threaded, "stepped": stepped, "stepped, 1 s pause": paused}
    return [measured(name, read, seconds) for name, read in ways.items()]


if __name__ == "__main__":
    from tests.bench.measure import show

    show(f"{PER_SECOND} messages a second", HEAD, rows(*map(int, sys.argv[1:])))
