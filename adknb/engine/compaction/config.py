"""What is configured for compaction, and what is refused.

Go: session/compaction/compaction.go, Config, Config.Validate, Summarizer; runner/runner.go, resolveCompactionConfig
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from google.genai import types

from adknb.engine.agent import Agent
from adknb.engine.compaction.summarizer import LLMSummarizer
from adknb.engine.errors import FlowError, SetupRefused
from adknb.engine.event import Event

Usage = types.GenerateContentResponseUsageMetadata

DEFAULT_TIMEOUT = 60.0
"""Seconds that the summarizer has which the runner makes itself: nobody asked for that call, so nobody waits for it."""


class CompactionFailed(FlowError):
    """Old events could not be summed up. The turn itself is stored; only the next prompts stay long.

    Go: session/compaction/compaction.go, ErrCompaction
    """


class Summarizer(Protocol):
    """Condenses events. It is handed copies and returns the summary alone; the record is the framework's business.

    Go: session/compaction/compaction.go, Summarizer
    """

    def summarize_events(self, events: Sequence[Event]) -> tuple[types.Content | None, Usage | None]:
        """The summary and what it cost, each None if there is none; no summary means *not now*. May raise."""


@dataclass
class CompactionConfig:
    """When events are summed up, and by whom; 0 switches a way off (spec/compaction.md 1).

    token_threshold        prompt tokens at which tail retention fires
    event_retention_size   newest events that it keeps as they are
    compaction_interval    new invocations behind which the sliding window fires
    overlap_size           earlier invocations that it takes in again
    summarizer             a Summarizer, or a function of the events; None: the root agent's own model is asked

    Go: session/compaction/compaction.go, Config
    """

    token_threshold: int = 0
    event_retention_size: int = 0
    compaction_interval: int = 0
    overlap_size: int = 0
    summarizer: Summarizer | Callable[[Sequence[Event]], Any] | None = None

    def check(self) -> None:
        """Raise SetupRefused at the first thing that is wrong (1.2)."""
        for name in ("compaction_interval", "overlap_size", "token_threshold", "event_retention_size"):
            if getattr(self, name) < 0:
                raise SetupRefused(f"compaction: {name} is {getattr(self, name)}; 0 is off, and less cannot be")
        for set_name, needed, why in DEPENDS:
            if getattr(self, set_name) and not getattr(self, needed):
                raise SetupRefused(f"compaction: {set_name} is {getattr(self, set_name)} but {needed} is 0: {why}")
        if not (self.token_threshold or self.compaction_interval):
            raise SetupRefused(
                "compaction is configured but never runs: set token_threshold with event_retention_size, or "
                "compaction_interval, or leave the whole configuration out"
            )


DEPENDS = (
    ("overlap_size", "compaction_interval", "without an interval there is no window that could overlap"),
    ("token_threshold", "event_retention_size", "the question that is being answered would be summed up too"),
    ("event_retention_size", "token_threshold", "without a threshold tail retention never fires"),
)
"""What must be set together: this, that, and why."""


def prepare(config: CompactionConfig | None, root: Agent) -> CompactionConfig | None:
    """A checked copy of a configuration, with a summarizer; None stays None: no compaction.

    Raises:
        SetupRefused: something is wrong with it, or it needs a summarizer and the root agent has no model to ask.

    Go: runner/runner.go, resolveCompactionConfig
    """
    if config is None:
        return None
    config.check()
    summarizer = config.summarizer
    if summarizer is None:
        model = getattr(root, "model", None) if root.kind == "llm" else None
        if model is None:
            lacks = "has no model" if root.kind == "llm" else "is no LLM agent"
            raise SetupRefused(f"compaction needs a summarizer: root agent {root.name!r} {lacks}, so none can be made")
        settings = getattr(root, "generate_content_config", None)
        summarizer = LLMSummarizer(model, timeout=DEFAULT_TIMEOUT, generate_content_config=settings)
    elif not callable(getattr(summarizer, "summarize_events", summarizer)):
        raise SetupRefused(
            f"compaction: a summarizer has a method summarize_events(events), or is a function; not {summarizer!r}"
        )
    return replace(config, summarizer=summarizer)
