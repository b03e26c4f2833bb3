"""Runs that several tests of the widgets look at."""

from __future__ import annotations

import functools
import json
from pathlib import Path

import adknb
from adknb.engine.llm_agent import LlmAgent
from adknb.engine.model import FunctionModel

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "scenarios.jsonl"


@functools.cache
def _lines():
    return {json.loads(line)["name"]: line for line in GOLDEN.read_text(encoding="utf-8").splitlines()}


def golden(name):
    """A golden scenario, a new dict each time."""
    return json.loads(_lines()[name])


def names(family):
    """The names of a family's scenarios."""
    return [name for name in _lines() if name.startswith(family + "/")]


def weather():
    """The weather turn of seed 000, at its first stop."""
    return adknb.step(golden("seed/weather_question"))


def said(*texts, user="hello", instruction="Be brief.", **settings):
    """A run of one agent whose model says these texts, a turn each; the user says `user` every time."""
    answers = iter(texts)
    agent = LlmAgent(
        "speaker", model=FunctionModel(lambda request: next(answers), name="m"), instruction=instruction, **settings
    )
    return adknb.step(agent, [user] * len(texts))


HOSTILE = [
    "<script>window.hit = 1</script>",
    "<img src=x onerror=window.hit=1>",
    "<svg/onload=window.hit=1>",
    "</script><script>window.hit=1</script>",
    "</textarea><b>bold</b>",
    '"><iframe src="javascript:window.hit=1">',
    "' onmouseover='window.hit=1",
    "javascript:window.hit=1",
    "<a href='javascript:window.hit=1'>x</a>",
    "<!-- -->",
    "<![CDATA[x]]>",
    "&lt;script&gt;",
    "{{7*7}} ${7*7} <%= 7 %>",
    "\u202eright to left\u202c",
    "\u2066isolated",
    "zero\u200bwidth",
    "nul\x00 bell\x07 escape\x1b[31m",
    "a\u2028b\u2029c",
    "\ud83d half a pair",
    "half \udc00 the other",
    "🏳️‍🌈 é e\u0301",
    "x" * 5_000,
    "w " * 3_000,
    "line\n" * 400,
    "\t\ttabs\t",
    "杭州" * 300,
    "'\"`\\",
    "%00%0a%0d",
    "__proto__",
    "constructor",
]
"""Texts that want to be something else."""
