"""The request processor: what it takes from the context, and what it leaves in the request."""

from types import SimpleNamespace
from typing import Any

import pytest
from google.genai import types

from adknb.engine.agent import Agent
from adknb.engine.context import InvocationContext
from adknb.engine.errors import UnmatchedResponse
from adknb.engine.model import LLMRequest
from adknb.engine.platform import counted
from adknb.engine.processors.contents import Assembly, Viewer, viewer_of
from adknb.engine.processors.contents import contents as processor
from adknb.engine.session import InMemorySessionService, Session
from tests.engine.histories import call, fates, lines, me, response, user

MESSAGE = types.Content(role="user", parts=[types.Part(text="message")])


def context(*events: Any, agent_settings: dict[str, str] | None = None, **fields: Any) -> InvocationContext:
    agent = Agent("me")
    for name, value in (agent_settings or {}).items():
        setattr(agent, name, value)
    session = Session("s", "app", "u", events=list(events))
    return InvocationContext(agent, session, InMemorySessionService(), counted(), **fields)


def test_the_viewer_is_the_running_agent() -> None:
    ctx = context(
        agent_settings={"mode": "task", "include_contents": "none"},
        branch="p.me",
        isolation_scope="fc-1",
        binding=("me", "single_turn"),
        compaction=object(),
        user_content=MESSAGE,
    )
    assert viewer_of(ctx) == Viewer("me", "p.me", "fc-1", "none", "task", "single_turn", True, MESSAGE)


def test_a_binding_of_another_agent_is_none() -> None:
    assert viewer_of(context(binding=("other", "single_turn"))) == Viewer("me")


def test_it_appends_to_the_request_and_leaves_the_assembly_for_explanations() -> None:
    request, flow = LLMRequest(contents=[MESSAGE]), SimpleNamespace(assembly=None)
    processor(context(user("u"), me("m")), request, flow)
    assert lines(request.contents) == ["user: message", "user: u", "model: m", "user: <continue>"]
    assert isinstance(flow.assembly, Assembly)
    assert fates(flow.assembly) == ["kept 0", "kept 1"]
    assert request.contents[1] is flow.assembly.contents[0]  # an edit of the request is seen by whoever explains it


@pytest.mark.parametrize(
    "there, sent",
    [
        ([], []),
        (["user"], ["user: x"]),
        (["model"], ["model: x", "user: <continue>"]),  # the whole request counts
    ],
)
def test_the_continuation_turn_looks_at_the_whole_request(there: list[str], sent: list[str]) -> None:
    request = LLMRequest(contents=[types.Content(role=role, parts=[types.Part(text="x")]) for role in there])
    processor(context(), request, None)
    assert lines(request.contents) == sent


def test_private_events_are_seen_behind_those_that_were_there_at_the_start() -> None:
    ctx = context(user("old"), me(call("t")), me(response("t")), binding=("me", "single_turn"))
    ctx.private_events = [user("input")]
    ctx.private_after = 1
    request = LLMRequest()
    processor(ctx, request, None)
    assert lines(request.contents) == ["user: input", "model: call t", "user: t=ok"]


def test_a_failure_leaves_the_request_as_it_was() -> None:
    request = LLMRequest()
    with pytest.raises(UnmatchedResponse):
        processor(context(user("u"), user(response(""))), request, SimpleNamespace(assembly=None))
    assert request.contents == []


def test_a_stop_is_called_contents() -> None:
    assert processor.__name__ == "contents"
