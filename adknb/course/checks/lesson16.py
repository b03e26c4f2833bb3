"""The check of lesson 16: a google-adk agent that was stepped and left runs as it did before."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from adknb.course.checks.trying import verdict, want


def seams_now() -> dict[str, Any]:
    """What stands at each place of google-adk where an attached run pauses."""
    from adknb.attach.adk import SEAMS

    found = {}
    for module, name in SEAMS:
        at: Any = import_module(module)
        for word in name.split("."):
            at = getattr(at, word)
        found[f"{module}.{name}"] = at
    return found


@verdict
def check_as_before(agent: Any, texts: Callable[[Any], list[str]], step_and_leave: Callable[[Any], Any]) -> str:
    """16: `texts(agent)` runs the agent by google-adk alone and tells its events; twice, a stepped run between them.

    `step_and_leave(agent)` attaches to it, steps, and detaches.
    """
    seams, before = seams_now(), texts(agent)
    want(before, "a run of the agent tells nothing")
    want(before == texts(agent), "two runs differ before anybody has attached: use a model that answers the same")
    dbg = step_and_leave(agent)
    want(
        dbg is not None and getattr(dbg, "position", 0) > 0,
        "the attached run has not gone a step: give back the stepper",
    )
    changed = [name for name, found in seams_now().items() if found is not seams[name]]
    want(not changed, f"{changed[0] if changed else ''} is not google-adk's own any more: dbg.detach()")
    after = texts(agent)
    want(after == before, f"expected {before}, got {after}")
    return f"{len(before)} events, the same before and after; nothing of google-adk's is replaced."
