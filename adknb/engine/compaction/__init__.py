"""Compaction: old events of a session are summed up, so that prompts stay small.

Nothing is ever deleted. A *record*, one more event, says which range of time a summary stands for; assembling contents
obeys it (processors/contents/summaries.py). Two ways to get there, each off unless configured:

    tail retention    inside a turn, before a model call: the prompt has grown past `token_threshold` tokens
    sliding window    behind a turn: `compaction_interval` invocations are new

    config.py       what is configured, and what is refused when the runner is made
    runtime.py      one turn: when to try, the summarizer's call, storing the record
    window.py       which events are summed up
    coverage.py     which events a record stands for
    record.py       what the summarizer is handed, and the record that its answer becomes
    summarizer.py   the summarizer that asks a model

A tail summary does not pass by plugins and nobody is handed it as an event; the summary of a sliding window is shown to
plugins.

Source: seed 000, 四.1.6 and 四.2.6; spec/compaction.md

Go: session/compaction/compaction.go; internal/compactioninternal/compactor.go
"""

from __future__ import annotations

from adknb.engine.compaction.config import CompactionConfig, CompactionFailed, Summarizer
from adknb.engine.compaction.runtime import CompactionRuntime
from adknb.engine.compaction.summarizer import LLMSummarizer

__all__ = ["CompactionConfig", "CompactionFailed", "CompactionRuntime", "LLMSummarizer", "Summarizer"]
