"""The check of lesson 12: settings of a compaction under which one exchange stays as it was said."""

from __future__ import annotations

from typing import Any

from adknb.course.checks.trying import verdict, want
from adknb.scenarios import scenario
from adknb.stepper import step

READ = (30, 80, 140, 210, 290)
"""Prompt tokens that the model reports, turn by turn, in the check's conversation of five turns."""


@verdict
def check_one_exchange_stays(threshold: int, retention: int) -> str:
    """12: five turns, 30, 80, 140, 210 and 290 prompt tokens. In the fifth request exactly one exchange stands as said.

    And the summarizer has been asked once. `threshold` and `retention` are the two settings of the compaction.
    """
    talk = scenario("12a-what-the-summary-hides")
    talk["compaction"] |= {"token_threshold": threshold, "event_retention_size": retention}
    talk["agent"]["model"]["calls"] = [
        {"responses": [{"content": _text("model", f"answer {n}"), "usageMetadata": {"promptTokenCount": tokens}}]}
        for n, tokens in enumerate(READ, 1)
    ]
    talk["turns"] = [{"message": _text("user", f"question {n}")} for n in range(1, 6)]
    dbg = step(talk).resume()
    want(dbg.error is None, f"the run ended with {dbg.error}")
    summaries = [n for n, event in enumerate(dbg.events) if event.actions.compaction is not None]
    want(summaries, f"threshold {threshold}: nothing is ever summed up")
    want(len(summaries) == 1, f"threshold {threshold}: the summarizer is asked {len(summaries)} times, not once")
    seen = [part["text"] for content in dbg.requests[-1]["contents"] for part in content["parts"]]
    kept = [text for text in seen if text.startswith(("question", "answer"))]
    want(kept == ["question 4", "answer 4", "question 5"], f"the fifth request has, as said: {', '.join(kept)}")
    return "the fifth request has the summary, question 4 with its answer, and question 5."


def _text(role: str, text: str) -> dict[str, Any]:
    return {"role": role, "parts": [{"text": text}]}
