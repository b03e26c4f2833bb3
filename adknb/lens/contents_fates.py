"""What became of each event of a session in one request, and by which rule: an Assembly told as plain data.

The decisions are the assembly's own (`Assembly.fates`); here each gets its pass, its home in Go and a short tag.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

PASSES: list[tuple[str, str, str, str, str]] = [
    (
        "collect",
        "Collect",
        "Takes every event; a compaction record counts only in a run that is set up for compaction.",
        "kind",
        "ContentsRequestProcessor",
    ),
    (
        "turn",
        "Turn",
        "Keeps the whole session, or only the current turn.",
        "author",
        "buildContentsCurrentTurnContextOnly",
    ),
    (
        "filter",
        "Filter",
        "Keeps what has content, a visible branch and the same scope, and is no talk with the framework.",
        "place",
        "buildContentsDefault",
    ),
    (
        "foreign",
        "Foreign",
        "Rewords what another agent said or did as context from the user's side.",
        "author",
        "ConvertForeignEvent",
    ),
    ("summaries", "Summary", "Puts a stored summary in the place of the events it covers.", "kind", "Apply"),
    (
        "transcription",
        "Speech",
        "Joins neighbouring transcriptions of speech into one text.",
        "speech",
        "buildContentsDefault",
    ),
    (
        "orphans",
        "Orphans",
        "Drops responses whose call stands nowhere in the session.",
        "call ids",
        "dropOrphanedFunctionResponses",
    ),
    (
        "latest",
        "Latest",
        "A response that ends the history goes to its call; what is said between them is left out.",
        "call ids",
        "rearrangeEventsForLatestFunctionResponse",
    ),
    (
        "history",
        "Pairing",
        "Puts every response right after its call; the newest response to a call wins.",
        "call ids",
        "rearrangeEventsForFunctionResponsesInHistory",
    ),
    (
        "emit",
        "Copy",
        "Copies what is left, without empty parts and without the ids that ADK made up.",
        "call ids",
        "buildContentsDefault",
    ),
    (
        "additions",
        "Ends",
        "Puts the task of a scope in front, and a user's turn behind if the model spoke last.",
        "role",
        "ContentsRequestProcessor",
    ),
]
"""The passes of the assembly: id, label, sentence, what of an event each reads, its home in Go."""

PASS_OF_STAGE = {name: k for k, (name, *_) in enumerate(PASSES, 1)} | {"task input": len(PASSES)}
"""Which pass a reason's stage is, from 1; 0 is the session."""

GO_OF_RULE = {
    "R5.6": "EventBelongsToBranch",
    "R5.8": "shouldExcludeEvent",
    "R5.22": "mergeFunctionResponseEvents",
    "R5.31": "buildTaskInputUserContent",
}
"""Rules with a Go function of their own; the others live in that of their pass."""

TAGS = {
    "R5.1": "compaction is off",
    "R5.3": "earlier turn",
    "R5.5": "no content",
    "R5.6": "other branch",
    "R5.7": "other scope",
    "R5.8": "not for the model",
    "R5.13": "covered",
    "R5.14": "no place",
    "R5.15": "no such call",
    "R5.19": "inside a pair",
    "R5.22": "newer response",
    "R5.25": "newer response",
    "R5.26": "call not seen",
    "R5.29": "empty",
}
"""Why an event is left out, in two or three words, by the deciding rule."""

GO_FILE = "internal/llminternal/contents_processor.go"
OF_FIXES = "fix"
"""The rule of what adknb.fixes changed: that has no home in Go."""

GO_FILES = {
    "EventBelongsToBranch": "internal/utils/utils.go",
    "Apply": "internal/compactioninternal/apply.go",
}
"""Where the Go functions are that are not in GO_FILE."""

AS_IT_IS = "R5.27"
"""The rule of an event that nothing changes: not worth a reason of its own."""


@dataclass(frozen=True)
class Step:
    """One reason for a fate: the position of its pass (from 1), rule, Go function and file, and a whole sentence."""

    passed: int
    rule: str
    go: str
    go_file: str
    why: str


@dataclass(frozen=True)
class EventFate:
    """What became of one event. `kind` is a Fate's; `contents` are positions; `tag` says of a left-out one why."""

    event: int
    kind: str
    steps: tuple[Step, ...]
    contents: tuple[int, ...]
    tag: str = ""


@dataclass(frozen=True)
class AddedContent:
    """A content that stands for no event of the session, and why it is there."""

    content: int
    step: Step


@dataclass(frozen=True)
class PassAt:
    """A pass over the working list: how many records it left, and how many events it touched."""

    name: str
    left: int
    touched: int


@dataclass(frozen=True)
class ContentsFates:
    """A request's contents explained: one fate an event, what was added, the passes, how many there are of each kind.

    `passes` begins with the session itself; it is empty for an assembly that was made without `passes=True`.
    """

    fates: tuple[EventFate, ...]
    added: tuple[AddedContent, ...]
    passes: tuple[PassAt, ...]
    tally: dict[str, int]


def contents_fates(assembly: Any) -> ContentsFates:
    """An Assembly (`processors.contents.assemble`) as JSON-ready data; see `dataclasses.asdict`.

    user "weather?" · me call get_weather · me response 26
        -> three fates "kept", no steps, contents (0,), (1,), (2,)
    """
    fates = tuple(
        EventFate(
            fate.event,
            fate.kind,
            tuple(step_of(*reason) for reason in fate.reasons if reason.rule != AS_IT_IS),
            fate.contents,
            tag_of(fate),
        )
        for fate in assembly.fates
    )
    added = tuple(AddedContent(a.content, step_of("additions", a.rule, a.why)) for a in assembly.added)
    tally = dict(Counter(fate.kind for fate in fates)) | ({"added": len(added)} if added else {})
    return ContentsFates(fates, added, _passes(assembly, fates), tally)


def tag_of(fate: Any) -> str:
    """Why an event is left out, in two or three words; empty for every other fate."""
    return TAGS.get(fate.reasons[0].rule, "left out") if fate.kind == "left_out" else ""


def step_of(stage: str, rule: str, why: str) -> Step:
    """A Reason with its pass and its home in Go; what a fix did has its home in adknb.fixes."""
    k = PASS_OF_STAGE.get(stage, len(PASSES))
    why = why[:1].upper() + why[1:] + ("" if why.endswith(".") else ".")
    if rule == OF_FIXES:
        return Step(k, rule, "adknb.fixes", "adknb/fixes", why)
    go = GO_OF_RULE.get(rule) or PASSES[k - 1][4]
    return Step(k, rule, go, GO_FILES.get(go, GO_FILE), why)


def touched_by(fates: Any) -> list[set[int]]:
    """The events that each pass has a reason for; position 0, the session, touches none."""
    touched = [set[int]() for _ in range(len(PASSES) + 1)]
    for fate in fates:
        for reason in fate.reasons:
            if reason.rule != AS_IT_IS:
                touched[PASS_OF_STAGE.get(reason.stage, len(PASSES))].add(fate.event)
    return touched


def _passes(assembly: Any, fates: tuple[EventFate, ...]) -> tuple[PassAt, ...]:
    if assembly.passes is None:
        return ()
    touched = Counter(k for fate in fates for k in {step.passed for step in fate.steps})
    left = [len(fates), *(len(snapshot.records) for snapshot in assembly.passes[1:]), len(assembly.contents)]
    names = ["session", *(name for name, *_ in PASSES)]
    return tuple(PassAt(name, n, touched[k]) for k, (name, n) in enumerate(zip(names, left, strict=True)))
