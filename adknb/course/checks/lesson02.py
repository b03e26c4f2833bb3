"""Checks of lesson 02: what the stages write, and which of them could go."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from adknb.course.checks.trying import verdict, want
from adknb.engine.llm_agent import LlmAgent
from adknb.engine.processors import REQUEST_PROCESSORS
from adknb.scenarios import scenario
from adknb.stepper import Stepper, step

LESSON = "02-who-wrote-the-request"
NO_OPS = {"auth", "planning", "code_execution"}
TRIED_ON = (
    *(LESSON, "01b-every-hook", "03a-who-sees-what", "04a-the-late-answer", "05a-when-does-it-end"),
    *("06-who-may-answer", "08a-approved", "09b-json-by-tool", "10a-transfer"),
)
"""Scenarios whose requests must be the same with the shortened list."""

Processors = Sequence[Callable[..., Any]]


@verdict
def check_without_no_ops(stages: Processors) -> str:
    """02 A: REQUEST_PROCESSORS without the three that never do anything; no request of any lesson changes."""
    want(isinstance(stages, (list, tuple)) and all(map(callable, stages)), "a list of processors is wanted")
    left = [getattr(stage, "__name__", "?") for stage in stages]
    still = sorted(NO_OPS & set(left))
    want(not still, f"still in the list, of those that never do anything: {len(still)}")
    for name in TRIED_ON:
        before, after = _requests(name, REQUEST_PROCESSORS), _requests(name, stages)
        want(before == after, f"the requests of {name} have changed")
    missing = [p.__name__ for p in REQUEST_PROCESSORS if p.__name__ not in NO_OPS | set(left)]
    want(not missing, f"{', '.join(missing)} is gone too: no lesson here shows it, but it does something")
    return f"the requests of {len(TRIED_ON)} lessons are as before."


def _requests(name: str, stages: Processors) -> list[dict[str, Any]]:
    dbg = step(scenario(name))
    for agent in dbg.play.runner.agent.tree():
        if isinstance(agent, LlmAgent):
            agent.request_processors = list(stages)
    return dbg.resume().requests


@verdict
def check_table(table: Mapping[str, Any]) -> str:
    """02 B: stage -> the fields it writes in this lesson's request, such as `config.temperature`; in any order."""
    want(isinstance(table, Mapping), "a dict is wanted: stage -> list of fields")
    written = fields_by_stage(step(scenario(LESSON)).until("tool_declaration"))
    for stage, fields in written.items():
        want(stage in table, f"{stage} writes something too")
        given = {table[stage]} if isinstance(table[stage], str) else set(table[stage])
        wrong = sorted(map(str, given - fields))
        want(not wrong, f"{stage} does not write {', '.join(wrong)} here")
        want(given == fields, f"{stage} writes more here than {', '.join(sorted(given)) or 'nothing'}")
    more = sorted(set(table) - set(written))
    want(not more, f"{', '.join(more)} writes nothing in this request")
    return f"{len(written)} stages and their fields."


def fields_by_stage(dbg: Stepper) -> dict[str, set[str]]:
    """Processor -> the fields it wrote: `contents`, `tools`, and those of the config by name."""
    out: dict[str, set[str]] = {}
    names = {p.__name__ for p in REQUEST_PROCESSORS}
    before: dict[str, Any] = {}
    for stage in dbg.stages:
        now = {name: value for name, value in stage.request.items() if name != "config"}
        now |= {f"config.{name}": value for name, value in (stage.request.get("config") or {}).items()}
        changed = {name for name in now.keys() | before.keys() if now.get(name) != before.get(name)}
        if stage.name in names and changed:
            out[stage.name] = changed
        before = now
    return out
