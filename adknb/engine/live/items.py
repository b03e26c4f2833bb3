"""What a live run tells besides Events and Stops.

Go: internal/llminternal/base_flow.go, eventOrError
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class YieldedError:
    """An error that the run tells of and survives; one that ends it is raised (spec/live.md §14.2, §14.9, §16.3).

    Go: internal/llminternal/base_flow.go, pushError
    """

    error: Exception


@dataclass(frozen=True)
class Gate:
    """Nothing goes on behind this until somebody reads. A stepped run has no gates: who steps is a reader.

    Before an event is stored (§9.1, §13.4), and, with `parks`, before a member of a sequence begins (§16.2): nothing of
    the run is left in between then, not even its thread.
    """

    parks: bool = False


BEFORE_EVENT = Gate()
BEFORE_MEMBER = Gate(parks=True)
