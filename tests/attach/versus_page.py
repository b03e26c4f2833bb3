"""Writes adknb/attach/VERSUS.md: the golden scenarios on both engines, what is the same and what differs, and why.

python -m tests.attach.versus_page     # needs google-adk
"""

from __future__ import annotations

import json
import logging
from collections import Counter
from pathlib import Path

from adknb.attach import Untranslatable, versus
from adknb.attach.adk import adk_version
from adknb.attach.known import RULES

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "adknb" / "attach" / "VERSUS.md"
SCENARIOS = ROOT / "tests" / "golden" / "scenarios.jsonl"

HEAD = """\
# ADK-Go's rules and google-adk, side by side

`adknb.versus(scenario)` runs a scenario on our engine, which does what ADK-Go v2.4.0 does, and on google-adk, and names the first thing
that is not the same: what a model is asked (its contents), or what the reader is told (the events). System instructions are not compared:
their wording is each engine's own.

This page is written by `python -m tests.attach.versus_page`, which plays the {total} golden scenarios on google-adk {version}.
A scenario counts once, by its first difference: what comes behind it is not looked at.

## By family

| family | the same | differ, known | differ, not known | not translated |
| --- | ---: | ---: | ---: | ---: |
"""


def page() -> str:
    """The whole page, for the installed google-adk."""
    families: dict[str, Counter[str]] = {}
    known: dict[str, list[str]] = {}
    unknown: list[str] = []
    untranslated: Counter[str] = Counter()
    for line in SCENARIOS.read_text("utf-8").splitlines():
        scenario = json.loads(line)
        name = scenario["name"]
        family = families.setdefault(name.split("/")[0], Counter())
        try:
            first = versus(scenario).first
        except Untranslatable as error:
            family["untranslated"] += 1
            untranslated[error.what.split(":")[-1].split(", ")[-1].strip()] += 1
            continue
        if first is None:
            family["same"] += 1
        elif first.known is None:
            family["unknown"] += 1
            unknown.append(name)
        else:
            family["known"] += 1
            known.setdefault(first.known.name, []).append(name)
    total = sum(families.values(), Counter())
    columns = ("same", "known", "unknown", "untranslated")
    rows = [(name, families[name]) for name in sorted(families)] + [("**all**", total)]
    text = HEAD.format(total=sum(total.values()), version=adk_version())
    text += "".join(f"| {name} | {' | '.join(str(count[c] or '–') for c in columns)} |\n" for name, count in rows)
    text += "\n## Where they differ\n\n| | ADK-Go | google-adk | first seen in |\n| --- | --- | --- | --- |\n"
    for rule, _ in RULES:
        seen = known.get(rule.name, [])
        where = f"{len(seen)}: `{'`, `'.join(seen[:3])}`{', …' if len(seen) > 3 else ''}" if seen else "–"
        text += f"| {rule.name} | {rule.go} | {rule.python} | {where} |\n"
    if unknown:
        text += f"\nNot explained: `{'`, `'.join(unknown)}`.\n"
    text += "\n## What is not translated\n\nScenarios by the first thing that google-adk is not told: "
    text += ", ".join(f"{what} ({n})" for what, n in untranslated.most_common()) + ".\n"
    return text


if __name__ == "__main__":
    logging.disable(logging.CRITICAL)
    PAGE.write_text(page(), encoding="utf-8")
