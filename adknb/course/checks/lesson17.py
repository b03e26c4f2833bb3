"""Checks of lesson 17: processors of one's own, on histories that the reader has not seen.

A processor is `(ctx, request, flow)`, as everywhere, and is put right behind `contents`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from adknb.course.checks.trying import Missed, verdict, want
from adknb.engine.llm_agent import LlmAgent
from adknb.engine.processors import REQUEST_PROCESSORS
from adknb.lens.invariants import broken
from adknb.scenarios import build
from adknb.stepper import Stepper, at

Processor = Callable[[Any, Any, Any], Any]
Shown = list[dict[str, Any]]
Said = tuple[str, ...]
"""(who, texts or call ids): `user` and `desk` say texts, the desk `calls`, a tool `gives`, the user `sends`."""


@verdict
def check_every_call_is_answered(processor: Processor) -> str:
    """17 A: a call without an answer gets one right behind it; nothing else changes, and nothing in the session."""
    for what, history in OPEN:
        before, after, _ = _requests(processor, history)
        for place, content in enumerate(after):
            wanted = _ids(content, "functionCall")
            found = _ids(after[place + 1], "functionResponse") if place + 1 < len(after) else []
            want(not wanted or found == wanted, f"{what}: behind the call {wanted} stands {found or 'no answer'}")
        new = [content for content in after if content not in before]
        invented = [c for c in new if not all("functionResponse" in part for part in c["parts"])]
        want(not invented, f"{what}: something else than an answer was added: {invented}")
        twice = _answered(before) & {call for content in new for call in _ids(content, "functionResponse")}
        want(not twice, f"{what}: {sorted(twice)} had an answer, and has two now")
        want(all(c["role"] == "user" for c in new), f"{what}: an answer stands in the role 'user'")
        _kept_in_order(before, after, what)
        want(len(after) == len(before) + len(new), f"{what}: an answer stands there twice")
    return f"{len(OPEN)} histories: every call has its answer right behind it, and what was there is as it was."


@verdict
def check_words_come_back(processor: Processor) -> str:
    """17 B: texts lost behind a late answer are in the request again, before the call that is answered last."""
    for what, history, lost in LATE:
        before, after, dbg = _requests(processor, history)
        texts = [part["text"] for content in after for part in content["parts"] if "text" in part]
        want([text for text in texts if text in lost] == lost, f"{what}: expected {lost} again, in this order; {texts}")
        said = {word for who, *words in history if who in ("user", "desk") for word in words}
        want(set(texts) <= said, f"{what}: nobody has said {sorted(set(texts) - said)}")
        want(len(texts) == len(set(texts)), f"{what}: a text stands there twice: {texts}")
        want(_ids(after[-1], "functionResponse"), f"{what}: the late answer is to stay last")
        assert dbg.request is not None
        wrong = broken(dbg.request.contents, dbg.events)
        want(not wrong, f"{what}: {[f'{found.name}: {found.why}' for found in wrong]}")
        _kept_in_order(before, after, what)
    return f"{len(LATE)} histories: the words are back, the late answer is last, and nothing is invented."


def _answered(contents: Shown) -> set[str]:
    return {call for content in contents for call in _ids(content, "functionResponse")}


def _ids(content: dict[str, Any], kind: str) -> list[str]:
    return [part[kind].get("id", "") for part in content["parts"] if kind in part]


def _requests(processor: Processor, history: Sequence[Said]) -> tuple[Shown, Shown, Stepper]:
    """The contents without and with the processor, and the Stepper of the latter, before its model."""
    plain = _paused(history, list(REQUEST_PROCESSORS))
    place = 1 + [p.__name__ for p in REQUEST_PROCESSORS].index("contents")
    dbg = _paused(history, [*REQUEST_PROCESSORS[:place], processor, *REQUEST_PROCESSORS[place:]])
    if dbg.here is None or dbg.request is None:
        raise Missed(f"the processor raised {type(dbg.error).__name__}: {dbg.error}") from dbg.error
    stored = [[event.to_json() for event in run.events] for run in (plain, dbg)]
    want(stored[0] == stored[1], "the session has changed; only the request may")
    return _contents(plain), _contents(dbg), dbg


def _paused(history: Sequence[Said], stages: list[Processor]) -> Stepper:
    """A desk with this history, before its model; the last thing said is the message of the turn."""
    *before, last = [_event(said, turn) for turn, said in enumerate(history)]
    play = build(
        {
            "name": "histories",
            "agent": {
                "type": "llm",
                "name": "desk",
                "instruction": "You help.",
                "model": {
                    "name": "scripted",
                    "calls": [{"responses": [{"content": {"role": "model", "parts": [{"text": "Yes."}]}}]}],
                },
            },
            "events": before,
            "turns": [{"message": last["content"]}],
        }
    )
    assert isinstance(play.runner.agent, LlmAgent)
    play.runner.agent.request_processors = stages
    return Stepper(play).until(at("model"))


def _event(said: Said, turn: int) -> dict[str, Any]:
    who, *what = said
    parts: list[dict[str, Any]] = []
    for text in what:
        if who == "calls":
            parts.append({"functionCall": {"name": "look", "args": {"for": text}, "id": text}})
        elif who in ("gives", "sends"):
            parts.append({"functionResponse": {"name": "look", "response": {"found": text}, "id": text}})
        else:
            parts.append({"text": text})
    author = "user" if who in ("user", "sends") else "desk"
    role = "model" if who in ("desk", "calls") else "user"
    return {"author": author, "invocationId": f"t{turn}", "content": {"role": role, "parts": parts}, "actions": {}}


def _contents(dbg: Stepper) -> Shown:
    assert dbg.request_now is not None
    return list(dbg.request_now["contents"])


def _kept_in_order(before: Shown, after: Shown, what: str) -> None:
    left = iter(after)
    for content in before:
        want(any(content == other for other in left), f"{what}: a content is gone, changed or moved: {content}")


OPEN: list[tuple[str, list[Said]]] = [
    ("one open call", [("user", "Renew it."), ("calls", "r-1"), ("user", "Hello?")]),
    (
        "an open one behind an answered one",
        [
            ("user", "Find it."),
            ("calls", "f-1"),
            ("gives", "f-1"),
            ("calls", "r-1"),
            ("user", "And?"),
            ("desk", "Hm."),
            ("user", "So?"),
        ],
    ),
    ("two in one answer", [("user", "Both!"), ("calls", "a-1", "b-1"), ("user", "Well?")]),
    ("two turns that broke off", [("user", "1"), ("calls", "a-1"), ("user", "2"), ("calls", "b-1"), ("user", "3")]),
    (
        "nothing open",
        [("user", "Find it."), ("calls", "f-1"), ("gives", "f-1"), ("desk", "Found."), ("user", "Thanks.")],
    ),
    ("no calls at all", [("user", "Hello."), ("desk", "Hello!"), ("user", "How are you?")]),
]
"""17 A: (what it is, the history)"""

LATE: list[tuple[str, list[Said], list[str]]] = [
    (
        "a question in between",
        [
            ("user", "Order it."),
            ("calls", "o-1"),
            ("gives", "o-1"),
            ("desk", "Ordered."),
            ("user", "And gauze?"),
            ("sends", "o-1"),
        ],
        ["Ordered.", "And gauze?"],
    ),
    (
        "a second pair in between",
        [
            ("user", "Order it."),
            ("calls", "o-1"),
            ("gives", "o-1"),
            ("desk", "Ordered."),
            ("user", "Count it."),
            ("calls", "c-1"),
            ("gives", "c-1"),
            ("desk", "Forty."),
            ("sends", "o-1"),
        ],
        ["Ordered.", "Count it.", "Forty."],
    ),
    (
        "earlier words stay where they are",
        [
            ("user", "Hello."),
            ("desk", "Hello!"),
            ("user", "Order it."),
            ("calls", "o-1"),
            ("gives", "o-1"),
            ("user", "Is it safe?"),
            ("sends", "o-1"),
        ],
        ["Is it safe?"],
    ),
    ("an answer in time", [("user", "Order it."), ("calls", "o-1"), ("sends", "o-1")], []),
]
"""17 B: (what it is, the history, the texts that are lost without the processor)"""

RECAP = {
    1: (False, "01"), 2: (False, "02"), 3: (False, "03"), 4: (False, "05"), 5: (False, "06"),
    6: (True, "07"), 7: (True, "08"), 8: (True, "09"), 9: (False, "12"), 10: (True, "02"),
}  # fmt: skip
"""Statement of the recap -> whether it is true, and the lesson that shows it."""


@verdict
def check_recap(mine: dict[int, bool | None]) -> str:
    """17, the recap: for each of the ten statements, whether it is true."""
    want(isinstance(mine, dict) and mine.keys() == RECAP.keys(), f"expected a dict with the keys 1 to {len(RECAP)}")
    for number, (true, lesson) in RECAP.items():
        want(mine[number] is not None, f"statement {number} is open")
        want(mine[number] is true, f"statement {number}: look at lesson {lesson} again")
    return f"{len(RECAP)} statements."
