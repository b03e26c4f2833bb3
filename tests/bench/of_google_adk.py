"""The same work done by google-adk, for comparison; only where the extra `adk` is installed."""

from __future__ import annotations

import asyncio
import logging
from importlib.util import find_spec
from typing import Any

from google.genai import types

from tests.bench.histories import asks, look

HERE = find_spec("google.adk") is not None
"""Whether google-adk is installed."""


def events_of(events: list[Any]) -> list[Any]:
    """Our events as google-adk's."""
    from google.adk.events.event import Event

    return [
        Event(author=e.author, content=e.content, id=e.id, timestamp=e.timestamp, invocation_id=e.invocation_id)
        for e in events
    ]


def contents_of(events: list[Any]) -> Any:
    """Its contents assembly, on its own events."""
    from google.adk.flows.llm_flows import contents

    logging.getLogger("google_adk").setLevel(logging.ERROR)
    return contents._get_contents(None, events, "agent")


def turn(events: list[Any], calls: int) -> Any:
    """What runs one turn over a copy of a session of these events, when called: so many tool calls, then an answer."""
    from google.adk.agents import LlmAgent
    from google.adk.models.base_llm import BaseLlm
    from google.adk.models.llm_response import LlmResponse
    from google.adk.runners import InMemoryRunner

    class Scripted(BaseLlm):
        asked: int = 0

        async def generate_content_async(self, llm_request: Any, stream: bool = False) -> Any:
            self.asked += 1
            done = types.Content(role="model", parts=[types.Part(text="done")])
            yield LlmResponse(content=asks(self.asked) if self.asked <= calls else done)

    agent = LlmAgent(name="agent", model=Scripted(model="scripted"), instruction="Be brief.", tools=[look])
    runner = InMemoryRunner(agent=agent, app_name="app")
    asyncio.run(runner.session_service.create_session(app_name="app", user_id="u", session_id="s"))
    runner.session_service.sessions["app"]["u"]["s"].events.extend(events)
    message = types.Content(role="user", parts=[types.Part(text="hi")])

    async def run() -> None:
        async for _ in runner.run_async(user_id="u", session_id="s", new_message=message):
            pass

    return lambda: asyncio.run(run())
