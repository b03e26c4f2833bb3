"""What the panel is told once: the commands, the keys, and the stages of the Flow with a sentence each."""

from __future__ import annotations

from typing import Any

COMMANDS: list[tuple[str, str, str, str]] = [
    ("step", "Step", "s", "Stop at the very next seam"),
    ("next", "Next", "n", "Go over this call"),
    ("finish", "Finish", "f", "Go on until this level is done"),
    ("resume", "Resume", "r", "Go on to the next breakpoint, or to the end"),
    ("back", "Back", "b", "One stop back; no model and no tool runs again"),
    ("restart", "Restart", "R", "Begin this run again"),
]
"""Method of the Stepper, label, key, what it does. A panel offers those that its Stepper has."""

PROCESSORS: list[tuple[str, str, str]] = [
    (
        "basic",
        "basicRequestProcessor",
        "Copies the agent's generation config, so that nothing later touches the original.",
    ),
    ("tools", "toolProcessor", "Lists the agent's tools and asks its toolsets. The request itself is not touched yet."),
    ("auth", "authPreprocessor", ""),
    (
        "confirmation",
        "RequestConfirmationRequestProcessor",
        "Looks for an answered request for approval and runs the approved call before the model is asked.",
    ),
    (
        "instructions",
        "instructionsRequestProcessor",
        "Writes the root's global instruction and the agent's own, with {keys} filled in from state.",
    ),
    ("identity", "identityRequestProcessor", "Tells the model the name and description of the agent it speaks for."),
    ("compaction", "CompactionRequestProcessor", "Stores a summary of old events when the prompt has grown too long."),
    ("contents", "ContentsRequestProcessor", "Turns the session's events into contents, as this agent may see them."),
    ("planning", "nlPlanningRequestProcessor", ""),
    ("code_execution", "codeExecutionRequestProcessor", ""),
    (
        "output_schema",
        "outputSchemaRequestProcessor",
        "Adds set_model_response where the model cannot take tools and a schema together.",
    ),
    (
        "transfer",
        "AgentTransferRequestProcessor",
        "Offers transfer_to_agent when there is an agent this one may hand over to.",
    ),
    ("display_name", "removeDisplayNameIfExists", "Takes the display names off files, for the Gemini API only."),
]
"""The 13 request processors: name, Go name, what each does. Without a sentence it is a no-op in ADK-Go 2.4.0."""

NOTHING_YET = "Does nothing in ADK-Go 2.4.0: its place is kept so that the order is."

BEHIND: list[tuple[str, str, str]] = [
    (
        "declare",
        "toolPreprocess",
        "Every listed tool adds itself: a declaration for the model, an entry in the local table.",
    ),
    ("model", "callLLM", "Asks the model; plugins and callbacks may answer in its place or change what it says."),
    ("tools", "handleFunctionCalls", "Runs the calls the model asked for, each in a lane of its own."),
    ("merge", "mergeParallelFunctionResponseEvents", "Joins all results into one event, in the order of the calls."),
]
"""What follows in a step once the request is built."""

DECLARE, MODEL, TOOLS, MERGE = range(len(PROCESSORS), len(PROCESSORS) + len(BEHIND))

STAGE_OF_SEAM = {
    "tool_declaration": DECLARE,
    "before_model": MODEL,
    "model": MODEL,
    "on_model_error": MODEL,
    "after_model": MODEL,
    "response_processor": MODEL,
    "before_tool": TOOLS,
    "tool": TOOLS,
    "on_tool_error": TOOLS,
    "after_tool": TOOLS,
    "merge": MERGE,
}
"""Which stage a seam belongs to; a processor's is found by its name."""

STAGE_OF_PROCESSOR = {name: k for k, (name, _, _) in enumerate(PROCESSORS)}

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

KEYS: list[tuple[str, str]] = [
    ("t", "To the timeline"),
    ("← ↑ → ↓", "Move in the focused list, track or table"),
    ("Enter", "Open: fold or unfold, unfold a turn, go to the event"),
    ("[ ]", "Contents: one pass back or on"),
    ("p", "Contents: play the passes"),
    ("/", "Events: filter"),
    ("e", "Request: edit as JSON"),
    ("Ctrl+Enter", "Apply the edit"),
    ("Esc", "Leave a field or the editor"),
    ("?", "This sheet"),
]
"""Keys beside those of the commands and the tabs."""


def book(commands: set[str], breakpoints: bool, rewind: bool, tabs: int) -> dict[str, Any]:
    """Everything above as JSON, without commands that the Stepper at hand does not have."""
    offered = [list(c) for c in COMMANDS if c[0] in commands]
    stages = [
        {"id": name, "key": ("processor:" if k < DECLARE else "stage:") + name, "go": go, "says": says or NOTHING_YET}
        | {"noop": not says}
        for k, (name, go, says) in enumerate(PROCESSORS + BEHIND)
    ]
    keys = [[key, label] for _, label, key, _ in offered] + [[f"1 … {tabs}", "The tabs"]]
    keys += [[".", "Breakpoint on the focused stage or stop"]] if breakpoints else []
    return {
        "commands": offered,
        "stages": stages,
        "processors": len(PROCESSORS),
        "passes": [list(p) for p in PASSES],
        "keys": keys + [list(k) for k in KEYS],
        "breakpoints": breakpoints,
        "rewind": rewind,
    }
