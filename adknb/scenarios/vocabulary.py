"""The whole vocabulary of a scenario file, as tables: what may be written where, and of what kind it is.

A field that is not here is an error. `Need` marks what must be there; everything else may be left out.

Source: golden/README.md (A scenario; Agent; Model; Tool; Act); for ADK's own records adknb.engine.event_json.
"""

from __future__ import annotations

from google.genai import types

from adknb.engine.event_json import MODELS, camel
from adknb.scenarios.kinds import (
    ANYTHING,
    COUNT,
    FLAG,
    INTEGER,
    NAME,
    NUMBER,
    OBJECT,
    TEXT,
    WHOLE,
    ByField,
    ByFlag,
    GenAI,
    Kind,
    Later,
    ListOf,
    MapOf,
    Need,
    OneOf,
    Record,
    Time,
)

# -------------------------------------------------------------------------------------------------- ADK's own records

CONTENT, SCHEMA = GenAI(types.Content), GenAI(types.Schema)

RESPONSE_FIELDS: dict[str, Kind] = {
    **{camel(name): GenAI(record) for name, record in MODELS.items()},  # content, usageMetadata, inputTranscription, …
    "partial": FLAG,
    "turnComplete": FLAG,
    "interrupted": FLAG,
    "errorCode": TEXT,
    "errorMessage": TEXT,
    "finishReason": TEXT,
    "avgLogprobs": NUMBER,
    "sessionResumptionHandle": TEXT,
    "modelVersion": TEXT,
    "customMetadata": OBJECT,
}
RESPONSE = Record(RESPONSE_FIELDS, of_adk=True)

CONFIRMATION = Record({"hint": TEXT, "confirmed": FLAG, "payload": ANYTHING})
COMPACTION = Record(
    {
        "startTimestamp": Time(),
        "endTimestamp": Time(),
        "compactedContent": CONTENT,
        "excludedEvents": ListOf(Record({"invocationId": TEXT, "timestamp": Time()}, of_adk=True)),
    },
    of_adk=True,
)
ACTIONS = Record(
    {
        "stateDelta": OBJECT,
        "artifactDelta": MapOf(WHOLE),
        "requestedToolConfirmations": MapOf(CONFIRMATION),
        "skipSummarization": FLAG,
        "transferToAgent": TEXT,
        "escalate": FLAG,
        "compaction": COMPACTION,
        # written by other ADKs; kept with the event, never read
        "requestedAuthConfigs": OBJECT,
        "agentState": OBJECT,
        "endOfAgent": FLAG,
        "rewindBeforeInvocationId": TEXT,
        "renderUiWidgets": ANYTHING,
        "route": ANYTHING,
    },
    of_adk=True,
)
EVENT = Record(
    {
        "author": Need(TEXT),  # an empty one is nobody's, and foreign to every agent
        "id": TEXT,
        "invocationId": TEXT,
        "timestamp": Time(),
        "branch": TEXT,
        "isolationScope": TEXT,
        "longRunningToolIds": ListOf(TEXT),
        "actions": ACTIONS,
        **RESPONSE_FIELDS,
        # as above
        "nodeInfo": OBJECT,
        "output": ANYTHING,
        "routes": ANYTHING,
        "requestedInput": ANYTHING,
    },
    of_adk=True,
)

# ----------------------------------------------------------------------------------------------------------- callbacks

ANY_HOOK: dict[str, Kind] = {"only": WHOLE, "state": OBJECT, "artifact": MapOf(TEXT), "error": TEXT}
TOOL_HOOK: dict[str, Kind] = {**ANY_HOOK, "tool": TEXT, "return": OBJECT}

AGENT_HOOKS: dict[str, Record] = {
    "before_agent": Record({**ANY_HOOK, "return": CONTENT}),
    "after_agent": Record({**ANY_HOOK, "return": CONTENT}),
}
LLM_HOOKS: dict[str, Record] = {
    **AGENT_HOOKS,
    "before_model": Record(
        {**ANY_HOOK, "system": TEXT, "temperature": NUMBER, "drop_first": WHOLE, "return": RESPONSE}
    ),
    "after_model": Record({**ANY_HOOK, "text": TEXT, "return": RESPONSE}),
    "on_model_error": Record({**ANY_HOOK, "return": RESPONSE}),
    "before_tool": Record({**TOOL_HOOK, "args": OBJECT}),
    "after_tool": Record(TOOL_HOOK),
    "on_tool_error": Record(TOOL_HOOK),
}
PLUGIN_HOOKS: dict[str, Record] = {
    **LLM_HOOKS,
    "on_user_message": Record({**ANY_HOOK, "return": CONTENT}),
    "before_run": Record({**ANY_HOOK, "return": CONTENT}),
    "after_run": Record({name: kind for name, kind in ANY_HOOK.items() if name != "error"}),  # Go's returns nothing
    "on_event": Record({**ANY_HOOK, "text": TEXT}),
}

# ------------------------------------------------------------------------------------------------------ models, tools

ANY_MODEL: dict[str, Kind] = {"name": TEXT, "gemini": FLAG}
MODEL = ByFlag(
    "gemini",
    when_true=Record(  # the Gemini adapter; chunks are GenerateContentResponse JSON, sent as they are
        {**ANY_MODEL, "calls": ListOf(Record({"chunks": ListOf(OBJECT), "status": WHOLE, "error": TEXT}))}
    ),
    otherwise=Record({**ANY_MODEL, "calls": ListOf(Record({"responses": ListOf(RESPONSE), "error": TEXT}))}),
)

RUN = Record(
    {
        "state": OBJECT,
        "artifact": MapOf(TEXT),
        "transfer": TEXT,
        "escalate": FLAG,
        "skip_summarization": FLAG,
        "request_confirmation": TEXT,
        "error": TEXT,
        "nothing": FLAG,
        "echo": FLAG,
        "return": ANYTHING,
    }
)
TOOL = Record(
    {
        "name": Need(NAME),
        "description": TEXT,
        "parameters": OBJECT,
        "long_running": FLAG,
        "require_confirmation": FLAG,
        "runs": ListOf(RUN),
        "chunks": ListOf(TEXT),
    }
)

# --------------------------------------------------------------------------------------------------------------- agents

ANY_AGENT: dict[str, Kind] = {
    "type": Need(TEXT),
    "name": Need(NAME),
    "description": TEXT,
    "sub_agents": ListOf(Later(lambda: AGENT)),
    "callbacks": Record({hook: ListOf(act) for hook, act in AGENT_HOOKS.items()}),
}
AGENT: ByField = ByField(
    "type",
    {
        "llm": Record(
            {
                **ANY_AGENT,
                "callbacks": Record({hook: ListOf(act) for hook, act in LLM_HOOKS.items()}),
                "instruction": TEXT,
                "instruction_provided": TEXT,
                "global_instruction": TEXT,
                "model": MODEL,
                "tools": ListOf(TOOL),
                "output_key": TEXT,
                "output_schema": SCHEMA,
                "input_schema": SCHEMA,
                "include_contents": OneOf(("", "default", "none")),
                "mode": OneOf(("", "chat", "task", "single_turn")),
                "disallow_transfer_to_parent": FLAG,
                "disallow_transfer_to_peers": FLAG,
                "generate_content_config": GenAI(types.GenerateContentConfig),
            }
        ),
        "sequential": Record(ANY_AGENT),
        "parallel": Record(ANY_AGENT),
        "loop": Record({**ANY_AGENT, "max_iterations": WHOLE}),
    },
)

# ------------------------------------------------------------------------------------------------------------- scenario

SCENARIO = Record(
    {
        "name": Need(NAME),
        "app": NAME,
        "user": NAME,
        "session": NAME,
        "agent": Need(AGENT),
        "plugins": ListOf(
            Record(
                {"name": NAME, "callbacks": Record({hook: ListOf(act, most=1) for hook, act in PLUGIN_HOOKS.items()})}
            )
        ),
        "run_config": Record({"streaming_mode": OneOf(("", "none", "sse"))}),
        "state": OBJECT,
        "artifacts": MapOf(TEXT),
        "events": ListOf(EVENT),
        "turns": Need(ListOf(Record({"message": Need(CONTENT), "state_delta": OBJECT, "stop_after": COUNT}))),
        "compaction": Record(  # numbers below 0 are the runner's to refuse
            {"token_threshold": INTEGER, "event_retention_size": INTEGER, "summary": TEXT, "error": TEXT}
        ),
        "tool_order": OneOf(("in_order", "reverse")),
        "event_limit": COUNT,
        "by_agent": FLAG,
    }
)
