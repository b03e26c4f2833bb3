"""Answers that are none (spec/doctor.md, C, second half): thoughts only, empty, an error, cut short."""

from __future__ import annotations

from collections.abc import Iterator

from google.genai import types

from adknb.engine.copies.frozen import is_set
from adknb.lens.doctor.entry import FINISH_TASK, SET_MODEL_RESPONSE, Call, Entry, id_of, name_of, same
from adknb.lens.doctor.finding import Sign, name, place
from adknb.lens.doctor.handing import transfers
from adknb.lens.doctor.session import DoctorSession
from adknb.lens.doctor.streaming import runs


def thought_only_loop(session: DoctorSession) -> Iterator[Sign]:
    """Three or more final events in a row hold nothing but thoughts.

    Source: spec/doctor.md thought-only-loop; X3.1, X3.3
    """
    for run in runs(session, lambda entry: entry.thought_only and entry.final and entry.author not in ("", "user")):
        if len(run) > 2:
            capped = len(run) >= 10
            yield Sign(
                [entry.at for entry in run],
                {"agent": run[0].author, "count": len(run), "capped": capped},
                f"{name(run[0].author)} gave {len(run)} answers in a row that are thoughts only "
                f"({place([entry.at for entry in run])}): each is a paid call without an answer"
                + ("; after ten the run ends." if capped else "."),
                "Change the thinking budget or the output limit, or ask in the instruction for a visible answer.",
            )


def empty_answer(session: DoctorSession) -> Iterator[Sign]:
    """A turn ends with nothing to read (a), has no answer at all (b), or ends at a tool's result (c).

    A picture is an answer, mere thoughts are another check's. The last message or result may still be at work.
    Source: spec/doctor.md empty-answer; X3.4, X14.24, S3.3
    """
    for number, turn in enumerate(session.turns):
        said = [entry for entry in turn if _has_content(entry) and entry.record is None and not entry.protocol]
        last = said[-1] if said else None
        following = session.turns[number + 1][0] if number + 1 < len(session.turns) else None
        if last is not None and last.author not in ("", "user") and _is_empty(last):
            yield Sign(
                [last.at],
                {"agent": last.author, "finish_reason": last.event.finish_reason or None},
                f"The turn ends with {place(last.at)} of {name(last.author)}, which says nothing: an empty reply ends "
                "a run without an error.",
                "Ask again; look at the output limit and the finish reason in the model's logs.",
                case="a",
            )
        if following is None or session.transcribed or not turn:
            continue
        first = turn[0]
        silent = number and first.has_text and _is_unanswered(turn)
        if silent and first.place == following.place and _is_another(following, first):
            yield Sign(
                [first.at],
                {"agent": None, "finish_reason": None, "next": following.at},
                f"Nothing answers the user's words in {place(first.at)}: an empty reply of the model ends a turn with "
                "no event and no error, and a call that fails leaves no event either.",
                "Ask again; look at the model's logs for this turn.",
                case="b",
            )
        stopped = last is not None and last.responses and last.author not in ("", "user")
        if last is not None and stopped and _is_another(following, last) and not _ends_rightly(session, turn, last):
            yield Sign(
                [last.at],
                {"agent": last.author, "finish_reason": last.event.finish_reason or None, "next": following.at},
                f"The turn ends at the result in {place(last.at)}: when {name(last.author)} was asked what to make of "
                "it, the model returned nothing.",
                "Ask again; look at the model's logs for this turn.",
                case="c",
            )


def _has_content(entry: Entry) -> bool:
    return entry.event.content is not None


def _is_empty(entry: Entry) -> bool:
    """Whether an event has nothing for a reader: no words, no data, no code, no error, and is not mere thoughts."""
    shown = any(is_set(part) and _holds_more(part) for part in entry.parts)
    words = entry.has_text or entry.heard.strip() or entry.spoken.strip()
    return not (shown or words or entry.event.error_code or entry.thought_only)


_WORDS = {"text", "thought", "thought_signature", "video_metadata", "media_resolution", "part_metadata"}


def _holds_more(part: types.Part) -> bool:
    """Whether a part holds something besides words: a call, data, code."""
    return any(value is not None for field, value in part.__dict__.items() if field not in _WORDS)


def _is_unanswered(turn: list[Entry]) -> bool:
    return not any((entry.full and not entry.by_user) or entry.event.error_code for entry in turn)


def _is_another(following: Entry, entry: Entry) -> bool:
    """Whether what begins the next turn belongs to another invocation, as far as is known."""
    a, b = following.event.invocation_id, entry.event.invocation_id
    return not a or not b or a != b


def _ends_rightly(session: DoctorSession, turn: list[Entry], last: Entry) -> bool:
    """Whether a turn may end at a tool's result: it was told to, or waits for somebody."""
    actions = last.event.actions
    return (
        actions.skip_summarization
        or last.at in session.once(_handed_over)
        or actions.escalate
        or bool(actions.requested_tool_confirmations)
        or any(name_of(response) == FINISH_TASK for response in last.responses)
        or any(entry.long_running for entry in turn)
        or any(entry.protocol and entry.calls for entry in turn)
    )


def _handed_over(session: DoctorSession) -> set[int]:
    return {entry.at for entry, _ in session.once(transfers)}


def answer_is_error(session: DoctorSession) -> Iterator[Sign]:
    """A structured answer failed its check and became the answer (a), or a turn's answer is an error code (b).

    A schema may have a field `error` of its own; a good answer after the error takes its place.
    Source: spec/doctor.md answer-is-error; X9.2, X14.23, S3
    """
    for n, entry in enumerate(session.full):
        for response in entry.responses:
            told = response.response or {}
            if name_of(response) != SET_MODEL_RESPONSE or set(told) != {"error"} or not isinstance(told["error"], str):
                continue
            call = session.call_of(entry, id_of(response)) or _idless_call(session, entry)
            if call is not None and same(call[1].args or {}, told):
                continue
            after = next((e for e in session.full[n + 1 :] if e.place == entry.place and not e.protocol), None)
            became = after is not None and after.author == entry.author and after.has_text
            yield Sign(
                [entry.at, *([after.at] if after is not None and became else [])],
                {"error": told["error"], "agent": entry.author},
                f"The structured answer of {name(entry.author)} failed its check ({place(entry.at)}), and the error "
                "became the final answer, under the output key too. The model is not asked again.",
                "Validate the answer and ask again; loosen the schema where the model cannot know a value.",
                case="a",
            )
    for turn in session.turns:
        for n, entry in enumerate(turn):
            code = entry.event.error_code
            if code and not entry.by_user and not any(_is_good(after, entry) for after in turn[n + 1 :]):
                yield Sign(
                    [entry.at],
                    {"code": code, "agent": entry.author},
                    f"The turn's last word of {name(entry.author)} is the error {name(code)} ({place(entry.at)}); "
                    "nothing was raised.",
                    "Ask again; look up what the provider means by this code.",
                    case="b",
                )


def _idless_call(session: DoctorSession, entry: Entry) -> tuple[Entry, Call] | None:
    calls = [one for one in session.calls.get("", []) if one[1].name == SET_MODEL_RESPONSE and one[0].at < entry.at]
    return calls[-1] if calls else None


def _is_good(after: Entry, entry: Entry) -> bool:
    return after.full and after.author == entry.author and not after.event.error_code and not after.responses


def answer_cut_short(session: DoctorSession) -> Iterator[Sign]:
    """An answer's finish reason says that it is not whole.

    Source: spec/doctor.md answer-cut-short; S3.1, S16.5
    """
    for entry in session.full:
        reason = (entry.event.finish_reason or "").rpartition(".")[2]
        ended = reason.upper() in ("", "STOP", "FINISH_REASON_UNSPECIFIED", "UNSPECIFIED")
        if ended or entry.author in ("", "user") or not entry.has_text or entry.calls or entry.event.error_code:
            continue
        key = next((key for key, value in entry.delta.items() if value == entry.text), None)
        saved = f", and is saved under {name(key)}" if key else ""
        yield Sign(
            [entry.at],
            {"reason": reason, "agent": entry.author, "key": key},
            f"The answer of {name(entry.author)} in {place(entry.at)} was cut short ({reason}); it counts as a clean "
            f"answer{saved}.",
            "Raise the limit that stopped it, and look at the finish reason before the text is used.",
        )
