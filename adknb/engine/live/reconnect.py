"""When a live run connects again (spec/live.md §12): the table, and how long it waits before.

Go: internal/llminternal/base_flow.go, Flow.RunLive
"""

from __future__ import annotations

from collections.abc import Callable

CODES = (1006, 1008)
"""Gone without a close frame; refused by policy, which is how the API ends a session that has lasted its time."""
WORDS = ("EOF", "broken pipe", "connection reset", "1008", "GoAway")
"""Any of these in the text of an error, also in a close reason."""
MANY = 3
"""So many connections without one message, and the stop says that this is a loop."""

Backoff = Callable[[int], float] | float | None
"""Seconds to wait before a reconnect; or a function of how many connections in a row brought nothing, 0 at first."""


def reconnects(error: BaseException) -> bool:
    """Whether the line is dialled again after this error of sending or receiving.

    Go: internal/llminternal/base_flow.go, Flow.RunLive
    """
    text = str(error)
    return getattr(error, "code", None) in CODES or any(word in text for word in WORDS)


def waits(backoff: Backoff, in_vain: int) -> float:
    """Seconds before the next connection; the reference waits 0.

    Raises:
        ValueError: the backoff gives a negative number.
    """
    if backoff is None:
        return 0.0
    seconds = float(backoff(in_vain) if callable(backoff) else backoff)
    if not seconds >= 0:
        raise ValueError(f"live_backoff gives the seconds to wait, not {seconds}")
    return seconds


def finding(in_vain: int, backoff: Backoff) -> str:
    """What is to be said about connections that bring nothing; empty while there is nothing to say."""
    if in_vain < MANY:
        return ""
    remedy = "" if backoff else " ADK-Go has no limit and no delay here; Runner(live_backoff=…) slows it down."
    return f"{in_vain} connections in a row were lost before the server had sent anything.{remedy}"
