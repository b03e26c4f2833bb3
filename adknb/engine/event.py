"""Event: one record of a session; and the actions it carries.

Go: session/session.go, Event, EventActions, IsFinalResponse;
tool/toolconfirmation/tool_confirmation.go, ToolConfirmation

Author, role and ids say different things (seed 000, 二.3): `author` is who ran, `content.role` is what the model
protocol calls the message (a tool's answer has role `user`), `id` names the event, a call's own id names the call.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from google.genai import types

from adknb.engine.response import LLMResponse


@dataclass(slots=True)
class ToolConfirmation:
    """A tool's request for approval, or the decision that came back for it.

    Go: tool/toolconfirmation/tool_confirmation.go, ToolConfirmation
    """

    hint: str = ""
    confirmed: bool = False
    payload: Any = None


@dataclass(slots=True)
class EventCompaction:
    """A summary standing for the events between two times (seconds since the epoch, both included).

    `excluded` names events inside the range that the summary does not stand for: (invocation id, time).

    Go: session/session.go, EventCompaction
    """

    start_timestamp: float = 0.0
    end_timestamp: float = 0.0
    compacted_content: types.Content | None = None
    excluded: list[tuple[str, float]] = field(default_factory=list)


@dataclass(slots=True)
class EventActions:
    """What an event does besides carrying content: state to write, a transfer, an approval to ask for.

    Go: session/session.go, EventActions
    """

    state_delta: dict[str, Any] = field(default_factory=dict)
    artifact_delta: dict[str, int] = field(default_factory=dict)
    requested_tool_confirmations: dict[str, ToolConfirmation] = field(default_factory=dict)
    skip_summarization: bool = False
    transfer_to_agent: str = ""
    escalate: bool = False
    compaction: EventCompaction | None = None


@dataclass(slots=True)
class Event(LLMResponse):
    """One record of a session: a response with author, place and actions.

    `timestamp` is in seconds since the epoch. `branch` and `isolation_scope` decide who sees it later
    (seed 000, 四.2.2 and 四.2.3).

    Go: session/session.go, Event
    """

    id: str = ""
    invocation_id: str = ""
    author: str = ""
    timestamp: float = 0.0
    branch: str = ""
    isolation_scope: str = ""
    long_running_tool_ids: list[str] = field(default_factory=list)
    actions: EventActions = field(default_factory=EventActions)
    extra: dict[str, Any] = field(default_factory=dict)
    """Fields of a file that this version does not know, by path: kept, shown, written back."""

    def is_final_response(self) -> bool:
        """Whether a Flow whose step ends with this event may stop (seed 000, 三.1.1).

        Two exceptions come first: a compaction record never is, a skip or a long-running call always is.

        Go: session/session.go, Event.IsFinalResponse
        """
        if self.actions.compaction is not None:
            return False
        if self.actions.skip_summarization or self.long_running_tool_ids:
            return True
        return not (
            self.partial
            or function_calls_of(self.content)
            or function_responses_of(self.content)
            or _ends_with_code_result(self.content)
        )

    def to_json(self) -> dict[str, Any]:
        """The event as ADK's camelCase JSON, empty fields left out."""
        from adknb.engine.event_json import event_to_json

        return event_to_json(self)

    @classmethod
    def from_json(cls, data: Any, where: str = "event") -> Event:
        """Read ADK's JSON, camelCase or snake_case.

        Raises:
            BadData: naming the place and what was expected there.
        """
        from adknb.engine.event_json import event_from_json

        return event_from_json(data, where)


def parts_of(content: types.Content | None) -> list[types.Part]:
    """The parts of a content; none when there is no content."""
    return (content.parts or []) if content is not None else []


def function_calls_of(content: types.Content | None) -> list[types.FunctionCall]:
    """The function calls of a content, in order.

    Go: internal/utils/utils.go, FunctionCalls
    """
    return [p.function_call for p in parts_of(content) if p is not None and p.function_call is not None]


def function_responses_of(content: types.Content | None) -> list[types.FunctionResponse]:
    """The function responses of a content, in order.

    Go: internal/utils/utils.go, FunctionResponses
    """
    return [p.function_response for p in parts_of(content) if p is not None and p.function_response is not None]


def visible_text_of(content: types.Content | None) -> str:
    """The texts of a content joined, thoughts left out."""
    return "".join(p.text for p in parts_of(content) if p is not None and p.text and not p.thought)


def _ends_with_code_result(content: types.Content | None) -> bool:
    parts = parts_of(content)
    return bool(parts) and parts[-1] is not None and parts[-1].code_execution_result is not None
