"""Every live test leaves nothing behind: no thread, no task, no socket."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator

import pytest

from tests.live.harness import eventually


def sockets() -> set[str]:
    """The sockets that this process has open."""
    found = set()
    for fd in os.listdir("/proc/self/fd") if os.path.isdir("/proc/self/fd") else ():
        try:
            target = os.readlink(f"/proc/self/fd/{fd}")
        except OSError:
            continue
        if target.startswith("socket:"):
            found.add(target)
    return found


@pytest.fixture(autouse=True)
def nothing_left() -> Iterator[None]:
    threads, open_before = set(threading.enumerate()), sockets()
    yield
    eventually(lambda: _names(set(threading.enumerate()) - threads) == [], "all threads are gone")
    eventually(lambda: sorted(sockets() - open_before) == [], "all sockets are closed")


def _names(threads: set[threading.Thread]) -> list[str]:
    return sorted(thread.name for thread in threads)
