"""Platform seams: the clock, the ids, and who runs several calls at once. Carried by the context.

Go: platform/time.go, Now; platform/uuid.go, NewUUID; platform/exec.go, TaskRunner, RunTasks, WithTaskRunner

A task is a generator: its items (Stops, and Events of agents used as tools) go up to whoever steps, its result is what
it returns. Results are always placed in the order in which the tasks were given, whichever finished first.
"""

from __future__ import annotations

import itertools
import queue
import threading
import time
import uuid
from collections.abc import Callable, Generator, Sequence
from contextvars import copy_context
from dataclasses import dataclass
from typing import Any, TypeVar

T = TypeVar("T")
Task = Generator[Any, None, T]
TaskRunner = Callable[[Sequence[Task[Any]]], Generator[Any, None, list[Any]]]


def in_order(tasks: Sequence[Task[Any]]) -> Generator[Any, None, list[Any]]:
    """One after the other."""
    results = []
    for task in tasks:
        results.append((yield from task))
    return results


def reverse(tasks: Sequence[Task[Any]]) -> Generator[Any, None, list[Any]]:
    """Last first: shows that results keep the order of the calls, not of their ends."""
    results = []
    for task in reversed(tasks):
        results.append((yield from task))
    return results[::-1]


def interleaved(tasks: Sequence[Task[Any]]) -> Generator[Any, None, list[Any]]:
    """Each task has a turn, one item long: concurrency that can be stepped."""
    results: list[Any] = [None] * len(tasks)
    live = dict(enumerate(tasks))
    try:
        while live:
            for i, task in list(live.items()):
                try:
                    yield next(task)
                except StopIteration as done:
                    results[i] = done.value
                    del live[i]
    finally:
        for task in live.values():
            task.close()
    return results


def concurrent(tasks: Sequence[Task[Any]]) -> Generator[Any, None, list[Any]]:
    """A thread each, so that waiting overlaps. Every item still goes up through the caller, one at a time.

    A single task needs no thread; where threads cannot be started (Pyodide) the tasks run in order.
    """
    if len(tasks) < 2:
        return (yield from in_order(tasks))
    outbox: queue.SimpleQueue[tuple[int, str, Any]] = queue.SimpleQueue()
    go_on = [threading.Semaphore(0) for _ in tasks]
    abandoned = threading.Event()

    def work(i: int, task: Task[Any]) -> None:
        try:
            while not abandoned.is_set():
                outbox.put((i, "item", next(task)))
                go_on[i].acquire()
            task.close()
        except StopIteration as done:
            outbox.put((i, "done", done.value))
        except BaseException as error:  # told to the caller, who raises it in its own thread
            outbox.put((i, "error", error))

    threads = [threading.Thread(target=copy_context().run, args=(work, *p), daemon=True) for p in enumerate(tasks)]
    try:
        for thread in threads:
            thread.start()
    except RuntimeError:
        return (yield from in_order(tasks))
    results: list[Any] = [None] * len(tasks)
    errors: dict[int, BaseException] = {}
    running = len(tasks)
    try:
        while running:
            i, kind, value = outbox.get()
            if kind == "item":
                yield value
                go_on[i].release()
                continue
            running -= 1
            if kind == "done":
                results[i] = value
            else:
                errors[i] = value
    finally:
        abandoned.set()
        for gate in go_on:
            gate.release()
    if errors:
        raise errors[min(errors)]
    return results


@dataclass
class Platform:
    """The clock (seconds since the epoch), the ids and the task runner of one runner.

    `start_again` makes a platform that gives the same readings from the start; None for one that cannot. `readings`
    says how to get there, as JSON: `{"counted": start}` or `{"times": […], "ids": […]}`.

    Go: platform/time.go, Now; platform/uuid.go, NewUUID; platform/exec.go, WithTaskRunner
    """

    clock: Callable[[], float] = time.time
    new_id: Callable[[], str] = lambda: str(uuid.uuid4())
    run_tasks: TaskRunner = concurrent
    start_again: Callable[[], Platform] | None = None
    readings: Callable[[], dict[str, Any]] | None = None

    def again(self) -> Platform:
        """The same clock and ids from the start. A platform must be `counted` or `recorded` for that."""
        if self.start_again is None:
            raise TypeError("this platform keeps no record of its readings; use counted() or recorded()")
        return self.start_again()

    def recorded(self, times: Sequence[float] = (), ids: Sequence[str] = ()) -> Platform:
        """A platform that keeps what this one reads, so that it can be read again; first it repeats what is given."""
        if self.start_again is not None:
            return self
        kept_times: list[float] = []
        kept_ids: list[str] = []

        def reading(old: Sequence[T], kept: list[T], read: Callable[[], T]) -> T:
            kept.append(old[len(kept)] if len(kept) < len(old) else read())
            return kept[-1]

        return Platform(
            clock=lambda: reading(times, kept_times, self.clock),
            new_id=lambda: reading(ids, kept_ids, self.new_id),
            run_tasks=self.run_tasks,
            start_again=lambda: self.recorded(kept_times, kept_ids),
            readings=lambda: {
                "times": [*kept_times, *times[len(kept_times) :]],
                "ids": [*kept_ids, *ids[len(kept_ids) :]],
            },
        )


def counted(run_tasks: TaskRunner = in_order, start: float = 1_700_000_000.0) -> Platform:
    """A platform that gives the same run every time: ids are counted, the clock moves a millisecond a reading."""
    ids, ticks = itertools.count(1), itertools.count()
    return Platform(
        clock=lambda: start + next(ticks) / 1000,
        new_id=lambda: f"id-{next(ids)}",
        run_tasks=run_tasks,
        start_again=lambda: counted(run_tasks, start),
        readings=lambda: {"counted": start},
    )
