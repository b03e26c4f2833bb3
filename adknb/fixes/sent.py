"""Fixes of what is sent: contents that are put back, or added, when the passes of `contents` are done."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from google.genai import types

from adknb.engine.agent import Agent
from adknb.engine.context import InvocationContext
from adknb.engine.event import Event, function_calls_of, function_responses_of, parts_of
from adknb.engine.model import LLMRequest
from adknb.engine.processors.contents import Viewer, assemble
from adknb.engine.processors.contents.fates import KEPT, LEFT_OUT, Added, Because
from adknb.fixes.assembling import RULE, Fix, Mended, Note, behind_contents
from adknb.fixes.stored import _with_parts

NO_RESULT = {"error": "no result of this call is in the history"}
PENDING = {"status": "pending"}

# ------------------------------------------------------------------------------- words between a call and its answer


def put_back(mended: Mended, fix: str, only: Iterable[int] | None = None) -> None:
    """Put back what R5.19 has dropped, each event where it was said; the pair that is answered now stays last."""
    dropped = [f.event for f in mended.fates if f.kind == LEFT_OUT and f.reasons[0].rule == "R5.19"]
    mended.__dict__.pop("fates", None)  # they are told anew when all is done
    chosen = [at for at in dropped if only is None or at in set(only)]
    if not chosen:
        return
    keys = _order(mended)
    tail = _tail(mended)
    because = Because(fix, RULE, "it was said before the answer came, and is sent before the call and its answer")
    for at in chosen:
        content = _alone(mended.events[at], mended.ledger.viewer)
        if content is None:
            continue
        place = 1 + max((i for i in range(tail) if keys[i] <= at), default=-1)
        mended.insert(place, content, at)
        keys.insert(place, at)
        tail += 1
        mended.ledger.note(at, KEPT, because)


def _tail(mended: Mended) -> int:
    """Where the calls begin that the last event answers."""
    last_response = len(mended.ledger.sent) - 1
    last_event = max(mended.whose(last_response))
    return min(i for i in range(len(mended.ledger.sent)) if last_event in mended.whose(i)) - 1


def _order(mended: Mended) -> list[int]:
    """For each content the event position it stands at: its own, its call's, or the first that a summary stands for."""
    covered: dict[int, int] = {}
    for at, by in mended.ledger.covered.items():
        for record in by:
            covered[record] = min(at, covered.get(record, at))
    keys: list[int] = []
    for index in range(len(mended.ledger.sent)):
        stems = mended.whose(index)
        if not stems or min(stems) < 0:
            keys.append(keys[-1] if keys else -1)
        elif index and function_responses_of(mended.contents[index]):
            keys.append(keys[-1])
        else:
            keys.append(covered.get(min(stems), min(stems)))
    return keys


def _alone(event: Event, viewer: Viewer) -> types.Content | None:
    """The event as its viewer would be sent it if it were the only one."""
    plain = replace(viewer, include_contents="default", user_content=None)
    one = assemble([event], plain, continuation=False)
    return next((c for c, owner in zip(one.contents, one.ledger.sent, strict=False) if owner in (0, (0,))), None)


def _late_response_keeps_words(mended: Mended, note: Note) -> None:
    put_back(mended, "late_response_keeps_words")


@behind_contents(Fix("late_response_keeps_words", sent=_late_response_keeps_words))
def late_response_keeps_words(ctx: InvocationContext, request: LLMRequest, flow: Any) -> None:
    """Keep what was said between a call and the late response that ends the history (C06, its note).

    ADK leaves it out of this one request (R5.19). Here it stands where it was said, and the call with its response
    behind all of it, so that the response is still what the model reacts to.

    call a · FR a=pending · "and the budget?" · FR a=done -> "and the budget?" · call a · FR a=done
    """


# ------------------------------------------------------------------------------------- words in an orphan's own part


def _is_orphan_with_text(part: types.Part | None, known: set[str]) -> bool:
    response = part.function_response if part is not None else None
    return bool(part is not None and part.text and response is not None and response.id and response.id not in known)


def _without_orphans(events: Sequence[Event], viewer: Viewer, agent: Agent | None, note: Note) -> list[Event]:
    counted = [e for e in events if viewer.compaction or e.actions.compaction is None]
    known = {call.id or "" for e in counted for call in function_calls_of(e.content)}
    view = []
    for at, event in enumerate(events):
        parts = parts_of(event.content)
        if any(_is_orphan_with_text(part, known) for part in parts):
            cut = [
                part.model_copy(update={"function_response": None})
                if part is not None and _is_orphan_with_text(part, known)
                else part
                for part in parts
            ]
            event = _with_parts(event, cut)
            note(at, "its text is kept without the response in the same part, whose call nobody has made")
        view.append(event)
    return view


def _orphans_words_are_put_back(mended: Mended, note: Note) -> None:
    name = "orphan_keeps_words"
    touched = [at for at, notes in mended.ledger.notes.items() if any(because.stage == name for _, because, _ in notes)]
    put_back(mended, name, touched)


@behind_contents(Fix("orphan_keeps_words", stored=_without_orphans, sent=_orphans_words_are_put_back))
def orphan_keeps_words(ctx: InvocationContext, request: LLMRequest, flow: Any) -> None:
    """Keep a text that shares its part with a response to no call, wherever it stands; drop the response alone (C06).

    ADK drops the part as a whole (R5.15).
    """


# -------------------------------------------------------------------------------------------- calls without response


def _answer_open_calls(mended: Mended, note: Note) -> None:
    for index in reversed(range(len(mended.ledger.sent))):
        stems = mended.whose(index)
        calls = function_calls_of(mended.contents[index])
        if not calls or len(stems) != 1 or stems[0] < 0 or function_responses_of(mended.contents[index]):
            continue
        event = mended.events[stems[0]]
        missing = _open_calls(mended, index, _shown(event), calls)
        if not missing:
            continue
        parts = [_answer(call, stored, event) for call, stored in missing]
        following = mended.contents[index + 1] if index + 1 < len(mended.contents) else None
        if function_responses_of(following):
            assert following is not None
            mended.contents[index + 1] = types.Content(role=following.role, parts=[*parts_of(following), *parts])
        else:
            why = Added(index + 1, RULE, "answer_open_calls: calls that nothing answers, and providers refuse so")
            mended.insert(index + 1, types.Content(role="user", parts=parts), None, why)
        names = tuple(stored.name or "" for _, stored in missing)
        note(stems[0], "nothing answers its call of {}, so an answer that says so is sent behind it", names)


Pair = tuple[types.FunctionCall, types.FunctionCall]
"""A call as it is sent, its made-up id taken off, and as it is stored."""


def _shown(event: Event) -> types.Content | None:
    """What an event shows: its content, or the summary that it carries."""
    return event.content if event.actions.compaction is None else event.actions.compaction.compacted_content


def _open_calls(mended: Mended, index: int, shown: types.Content | None, calls: list[types.FunctionCall]) -> list[Pair]:
    """The calls of a content that the next one does not answer. They are told apart by the ids that were stored."""
    given = function_responses_of(mended.contents[index + 1]) if index + 1 < len(mended.contents) else []
    stems = mended.whose(index + 1) if given else ()
    answered = [r for at in stems if at >= 0 for r in function_responses_of(mended.events[at].content)]
    ids = {response.id for response in answered if response.id}
    nameless = [response.name for response in answered if not response.id]
    missing = []
    for call, stored in zip(calls, function_calls_of(shown), strict=True):
        if stored.id:
            if stored.id not in ids:
                missing.append((call, stored))
        elif stored.name in nameless:
            nameless.remove(stored.name)
        else:
            missing.append((call, stored))
    return missing


def _answer(call: types.FunctionCall, stored: types.FunctionCall, event: Event) -> types.Part:
    result = PENDING if (stored.id or "") in event.long_running_tool_ids else NO_RESULT
    return types.Part(function_response=types.FunctionResponse(id=call.id, name=call.name, response=dict(result)))


@behind_contents(Fix("answer_open_calls", sent=_answer_open_calls))
def answer_open_calls(ctx: InvocationContext, request: LLMRequest, flow: Any) -> None:
    """Give each call without a response one that says so, right behind it (C07).

    An error for an ordinary call, whose turn has died; `pending` for a long-running one. Nothing is stored.
    """
