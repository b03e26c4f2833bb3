"""An assembly that nobody sends: made to be looked at, so the warnings of one that is sent are not given again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from adknb.engine.event import Event
from adknb.engine.processors.compaction import MEASURING
from adknb.engine.processors.contents import Assembly, Viewer, assemble


def looked_at(events: Sequence[Event], viewer: Viewer, **how: Any) -> Assembly:
    """`assemble`, without its warnings: an orphan is told in the fates.

    Raises:
        UnmatchedResponse: as `assemble`.
    """
    token = MEASURING.set(True)
    try:
        return assemble(events, viewer, **how)
    finally:
        MEASURING.reset(token)
