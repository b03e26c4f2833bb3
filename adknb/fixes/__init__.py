"""Optional stages where users want otherwise than ADK-Go does. All are off until they are put into an agent's list.

    from adknb import fixes
    agent = LlmAgent("clerk", model=…, request_processors=fixes.processors(fixes.answer_open_calls))
    dbg.what_if(request_processors=fixes.processors(fixes.late_response_keeps_words))   # the same run, mended

The engine itself answers as ADK-Go does; a fix changes what is *sent*, never what is stored. Each is a plain function
`(ctx, request, flow)`, so it is a stop of its own, and what it changed is seen there like any other stage's work. On a
history that has nothing to mend it changes nothing.

behind `contents`: the history is assembled once more, with what the fix says (assembling.py)

    stage                       what users met                                                            case
    late_response_keeps_words   what was said between a call and its late answer is missing                C06 note
    orphan_keeps_words          a text in the very part of a response without a call is lost               C06
    answer_open_calls           a provider refuses a call without response on every later turn             C07
    ids_by_order                calls stored without ids all show the last response                        C08
    joined_branches_are_seen    a later parallel group does not see the earlier one                        C20
    quote_relayed_words         what another agent relays poses as the framework's own words               C24
    foreign_thoughts_stay_out   another agent's thoughts are told as if it had said them                   R5.10

instead of a stage

    instructions_as_meant       (instructions) code samples fail the run; braces; numbers             I01 I02 I04 I05
    approvals_count_once        (confirmation) an approval that is sent twice runs the tool twice          H03

in front of all

    step_limit(n)               a model that calls tools for ever                                          F08

Callbacks for what no request can mend are in `adknb.fixes.callbacks` (S04, X01, H11). What a stream's adapter spoils
(S01, S18) is mended there: `adknb.scenarios.safe_stream`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from adknb.engine.processors import REQUEST_PROCESSORS
from adknb.fixes.approvals import approvals_count_once
from adknb.fixes.assembling import Mended, contents, mended
from adknb.fixes.callbacks import known_targets_only, refused_tools_stay_off, whole_answer
from adknb.fixes.limits import step_limit
from adknb.fixes.sent import answer_open_calls, late_response_keeps_words, orphan_keeps_words
from adknb.fixes.stored import foreign_thoughts_stay_out, ids_by_order, joined_branches_are_seen, quote_relayed_words
from adknb.fixes.templates import instructions_as_meant

__all__ = [
    "BEHIND_CONTENTS",
    "CASES",
    "Mended",
    "answer_open_calls",
    "approvals_count_once",
    "foreign_thoughts_stay_out",
    "ids_by_order",
    "instructions_as_meant",
    "joined_branches_are_seen",
    "known_targets_only",
    "late_response_keeps_words",
    "mended",
    "orphan_keeps_words",
    "processors",
    "quote_relayed_words",
    "refused_tools_stay_off",
    "step_limit",
    "whole_answer",
]

Stage = Callable[..., Any]

BEHIND_CONTENTS: tuple[Stage, ...] = (
    ids_by_order,
    foreign_thoughts_stay_out,
    quote_relayed_words,
    joined_branches_are_seen,
    orphan_keeps_words,
    late_response_keeps_words,
    answer_open_calls,
)
"""The fixes of a history; in whatever order they stand in a list, the outcome is the same."""

INSTEAD_OF: dict[Stage, str] = {instructions_as_meant: "instructions", approvals_count_once: "confirmation"}

CASES: dict[str, tuple[Stage, ...]] = {
    "C06": (orphan_keeps_words, late_response_keeps_words),
    "C07": (answer_open_calls,),
    "C08": (ids_by_order,),
    "C20": (joined_branches_are_seen,),
    "C24": (quote_relayed_words,),
    "F08": (step_limit,),
    "H03": (approvals_count_once,),
    "H11": (refused_tools_stay_off,),
    "I01": (instructions_as_meant,),
    "I02": (instructions_as_meant,),
    "I04": (instructions_as_meant,),
    "I05": (instructions_as_meant,),
    "S04": (whole_answer,),
    "X01": (known_targets_only,),
}
"""Case of a public report -> the fixes that give what its users wanted (tests/cases)."""


def processors(*fixes: Stage, base: list[Stage] | None = None) -> list[Stage]:
    """An agent's request processors with these fixes in their places; `base` is what to put them into.

    processors(answer_open_calls) -> ADK's thirteen, and `answer_open_calls` right behind `contents`

    Raises:
        ValueError: a place is not in `base`, or two fixes want the same.
        TypeError: what is given is no stage (a callback of `adknb.fixes.callbacks`, say).
    """
    stages = list(REQUEST_PROCESSORS if base is None else base)
    behind = [fix for fix in fixes if fix in BEHIND_CONTENTS]
    for fix in fixes:
        if fix in INSTEAD_OF:
            stages[_place(stages, INSTEAD_OF[fix], fix)] = fix
        elif getattr(fix, "in_front", False):
            stages.insert(0, fix)
        elif fix not in BEHIND_CONTENTS:
            raise TypeError(f"{getattr(fix, '__name__', fix)!r} is no request processor of adknb.fixes")
    if behind:
        at = _place(stages, "contents", behind[0])
        stages[at : at + 1] = [contents, *dict.fromkeys(behind)]
    return stages


def _place(stages: list[Stage], name: str, fix: Stage) -> int:
    for at, stage in enumerate(stages):
        if getattr(stage, "__name__", "") == name:
            return at
    raise ValueError(f"{fix.__name__} stands at {name!r}, and there is no such stage in this list")
