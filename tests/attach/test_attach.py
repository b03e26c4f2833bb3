"""Unmodified google-adk agents under the Stepper: six kinds, stepped to their end, edited, answered, gone back."""

from __future__ import annotations

import asyncio
import gc
import importlib
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("google.adk.runners", reason="google-adk is not installed (extra adk)")
sys.path.insert(0, str(Path(__file__).parent))

from doubles import calls, model, says
from google.adk.agents import LlmAgent, LoopAgent, ParallelAgent, SequentialAgent
from google.adk.apps.app import App
from google.adk.plugins.base_plugin import BasePlugin
from google.adk.runners import InMemoryRunner
from google.adk.tools.function_tool import FunctionTool
from google.adk.tools.long_running_tool import LongRunningFunctionTool
from google.genai import types
from pydantic import BaseModel

import adknb
from adknb.attach import MissingSeam, from_adk, to_adk
from adknb.attach.adk import SEAMS
from adknb.engine.stops import Phase, Seam

RAN: list[str] = []


def get_weather(city: str) -> dict[str, Any]:
    """The weather of a city."""
    RAN.append(city)
    return {"city": city, "celsius": 26}


async def get_time(city: str) -> dict[str, Any]:
    """The time in a city."""
    await asyncio.sleep(0)
    RAN.append(f"time {city}")
    return {"time": "12:00"}


class City(BaseModel):
    name: str


class Watcher(BasePlugin):
    async def before_model_callback(self, *, callback_context: Any, llm_request: Any) -> None:
        callback_context.state["asked"] = True

    async def on_event_callback(self, *, invocation_context: Any, event: Any) -> None:
        return None


def note(callback_context: Any, **more: Any) -> None:
    callback_context.state["noted"] = callback_context.state.get("noted", 0) + 1


def before_tool(tool: Any, args: Any, tool_context: Any) -> None:
    return None


def after_tool(tool: Any, args: Any, tool_context: Any, tool_response: Any) -> None:
    return None


HANGZHOU = calls(("get_weather", {"city": "Hangzhou"}))


def tools() -> Any:
    both = calls(("get_weather", {"city": "Hangzhou"}), ("get_time", {"city": "Hangzhou"}))
    return LlmAgent(name="root", model=model(both, says("26 at noon")), tools=[get_weather, get_time])


def callbacks() -> Any:
    agent = LlmAgent(
        name="root", model=model(HANGZHOU, says("26")), tools=[get_weather], before_agent_callback=note,
        after_agent_callback=note, before_model_callback=note, after_model_callback=note,
        before_tool_callback=before_tool, after_tool_callback=after_tool,
    )  # fmt: skip
    return App(name="with_plugins", root_agent=agent, plugins=[Watcher(name="watcher")])


def transfer() -> Any:
    sub = LlmAgent(name="sub", model=model(says("done by sub")), description="knows")
    return LlmAgent(
        name="root", model=model(calls(("transfer_to_agent", {"agent_name": "sub"}))), sub_agents=[sub]
    )  # fmt: skip


def workflow() -> Any:
    pair = ParallelAgent(
        name="pair",
        sub_agents=[LlmAgent(name="a", model=model(says("A"))), LlmAgent(name="b", model=model(says("B")))],
    )
    loop = LoopAgent(name="loop", max_iterations=2, sub_agents=[LlmAgent(name="c", model=model(says("1"), says("2")))])
    return SequentialAgent(name="root", sub_agents=[pair, loop])


def structured() -> Any:
    answer = calls(("set_model_response", {"name": "Hangzhou"}))
    return LlmAgent(name="root", model=model(HANGZHOU, answer), tools=[get_weather], output_schema=City)


def confirming() -> Any:
    def book(city: str) -> dict[str, Any]:
        """Book."""
        RAN.append(f"book {city}")
        return {"booked": city}

    def wait(city: str) -> None:
        """Wait for somebody."""

    both = calls(("book", {"city": "Hangzhou"}), ("wait", {"city": "Hangzhou"}))
    booking = FunctionTool(book, require_confirmation=True)
    return LlmAgent(name="root", model=model(both, says("waiting")), tools=[booking, LongRunningFunctionTool(wait)])


COMMON = {"processor", "model", "response_processor", "append", "event"}
SAMPLES = [
    ("tools", tools, COMMON | {"tool"}),
    ("callbacks", callbacks,
     COMMON | {"tool", "before_agent", "after_agent", "before_model", "after_model", "before_tool", "after_tool",
               "on_event"}),
    ("transfer", transfer, COMMON | {"tool"}),
    ("workflow", workflow, COMMON),
    ("structured", structured, COMMON | {"tool"}),
    ("confirming", confirming, COMMON),
]  # fmt: skip


def plain(subject: Any) -> list[Any]:
    """What google-adk tells without us: author, content without ids, state delta."""

    async def run() -> list[Any]:
        runner = InMemoryRunner(app=subject) if isinstance(subject, App) else InMemoryRunner(subject, app_name="adknb")
        await runner.session_service.create_session(app_name=runner.app_name, user_id="u", session_id="s")
        message = types.Content(role="user", parts=[types.Part(text="go")])
        async for _ in runner.run_async(user_id="u", session_id="s", new_message=message):
            pass
        session = await runner.session_service.get_session(app_name=runner.app_name, user_id="u", session_id="s")
        return told(session.events)

    return asyncio.run(run())


def told(events: list[Any]) -> list[Any]:
    rows = []
    for event in events:
        content = event.content.model_dump(exclude_none=True) if event.content else None
        for part in (content or {}).get("parts", []):
            for kind in ("function_call", "function_response"):
                part.get(kind, {}).pop("id", None)
                if part.get(kind, {}).get("name") == "adk_request_confirmation":
                    part[kind].pop("args", None)
        rows.append((event.author, content, dict(event.actions.state_delta), event.actions.transfer_to_agent))
    return rows


@pytest.mark.parametrize(("case", "make", "seams"), SAMPLES)
def test_a_sample_steps_to_its_end_and_tells_what_it_tells_unattached(case: str, make: Any, seams: Any) -> None:
    dbg = adknb.attach(make(), "go")
    while dbg.here is not None:
        dbg.step()
    assert dbg.error is None
    met = Counter(str(stop.seam) for stop in dbg.stops)
    assert seams <= met.keys()
    assert met["model"] == 2 * len(dbg.requests)
    key = lambda row: str(row)  # noqa: E731 - parallel agents may finish in either order
    assert sorted(told(dbg.adk_session.events), key=key) == sorted(plain(make()), key=key)


@pytest.mark.parametrize(("case", "make", "seams"), SAMPLES)
def test_each_kind_of_pause_can_be_gone_back_to_and_nothing_runs_twice(case: str, make: Any, seams: Any) -> None:
    dbg = adknb.attach(make(), "go").resume()
    ran, places, requests = list(RAN), [str(s) for s in dbg.stops], dbg.requests
    first = {str(s): s.number for s in reversed(dbg.stops)}
    for number in sorted(first.values(), reverse=True)[:: max(1, len(first) // 6)]:
        dbg.rewind(number)
        assert str(dbg.here) == places[number]
    dbg.resume()
    assert [str(s) for s in dbg.stops] == places
    assert dbg.requests == requests
    assert ran == RAN


@pytest.mark.parametrize(("seam", "phase", "edit", "seen"), [
    ("model", "before", lambda d: setattr(d.request.contents[0].parts[0], "text", "edited"),
     lambda m: m.seen[0][2][0].parts[0].text == "edited"),
    ("model", "before", lambda d: setattr(d.request.config, "temperature", 0.5), lambda m: m.seen[0][1] == 0.5),
    ("model", "before", lambda d: d.request.append_instructions("Be brief."),
     lambda m: m.seen[0][0].endswith("Be brief.")),
    ("tool", "before", lambda d: d.args.update(city="Suzhou"),
     lambda m: m.seen[1][2][-1].parts[0].function_response.response["city"] == "Suzhou"),
    ("tool", "after", lambda d: d.result.update(celsius=1),
     lambda m: m.seen[1][2][-1].parts[0].function_response.response["celsius"] == 1),
])  # fmt: skip
def test_an_edit_takes_effect_in_google_adk(seam: str, phase: str, edit: Any, seen: Any) -> None:
    script = model(HANGZHOU, says("26"))
    dbg = adknb.attach(LlmAgent(name="root", model=script, instruction="Help.", tools=[get_weather]), "go")
    dbg.until(adknb.at(seam=seam, phase=phase))
    edit(dbg)
    dbg.resume()
    assert dbg.error is None
    assert seen(script)
    assert dbg.events[0].content.parts[0].text == "go"


@pytest.mark.parametrize(("seam", "command", "asked", "final"), [
    ("model", lambda d: d.skip("no need"), 0, "no need"),
    ("tool", lambda d: d.skip({"celsius": 0}), 2, "26"),
    ("model", lambda d: d.fail("overloaded"), 0, "RuntimeError"),
    ("tool", lambda d: d.fail("no net"), 1, "RuntimeError"),
])  # fmt: skip
def test_skip_and_fail_answer_for_a_call(seam: str, command: Any, asked: int, final: str) -> None:
    RAN.clear()
    script = model(HANGZHOU, says("26"))
    dbg = adknb.attach(LlmAgent(name="root", model=script, tools=[get_weather]), "go").until(adknb.at(seam=seam))
    command(dbg).resume()
    last = dbg.events[-1].content.parts[0] if dbg.error is None else None
    assert len(script.seen) == asked
    assert (type(dbg.error).__name__ if last is None else last.text) == final
    assert RAN == []


def test_parallel_tools_are_lanes_and_the_reader_chooses_who_is_next() -> None:
    dbg = adknb.attach(tools(), "go").until(adknb.at(tool="get_weather"))
    assert len(dbg.lanes) == 2
    lane = next(name for name in dbg.lanes if name.startswith("get_time"))
    dbg.choose(lane)
    assert dbg.here.lane == lane
    dbg.resume()
    assert dbg.error is None


def test_a_fork_goes_its_own_way() -> None:
    dbg = adknb.attach(tools(), "go").until(adknb.at(tool="get_weather"))
    other = dbg.fork()
    other.skip({"celsius": -1})
    assert dbg.here.phase is Phase.BEFORE
    dbg.resume()
    other.resume()
    results = [d.events[2].content.parts[0].function_response.response for d in (dbg, other)]
    assert [r["celsius"] for r in results] == [26, -1]


def test_nothing_is_left_patched_after_detach() -> None:
    def places() -> list[Any]:
        found = []
        for module, name in SEAMS:
            at: Any = importlib.import_module(module)
            for word in name.split("."):
                at = getattr(at, word)
            found.append(at)
        return found

    gc.collect()  # runs that other tests have dropped
    before = places()
    dbg = adknb.attach(tools(), "go").until(adknb.at(seam="model"))
    assert places() != before
    dbg.detach()
    assert places() == before


def test_a_missing_seam_is_one_clear_error(monkeypatch: pytest.MonkeyPatch) -> None:
    from google.adk.flows.llm_flows.tools import _caller

    monkeypatch.delattr(_caller, "_call_tool_async")
    with pytest.raises(MissingSeam, match=r"it has no google\.adk\.flows\.llm_flows\.tools\._caller\._call_tool_async"):
        adknb.attach(tools(), "go")


def test_it_works_where_a_loop_is_running() -> None:
    async def cell() -> Any:
        dbg = adknb.attach(tools(), "go")
        asyncio.get_running_loop().call_later(0.05, dbg.resume)
        dbg.resume()
        return await dbg.finished(5)

    assert asyncio.run(cell()).error is None


def test_a_streamed_answer_stops_at_each_chunk() -> None:
    from google.adk.agents.run_config import RunConfig, StreamingMode

    script = model([says("Hang", partial=True), says("zhou", partial=True), says("Hangzhou")])
    dbg = adknb.attach(
        LlmAgent(name="root", model=script), "go", run_config=RunConfig(streaming_mode=StreamingMode.SSE)
    ).resume()
    assert sum(s.seam is Seam.MODEL and s.phase is Phase.AFTER for s in dbg.stops) == 3
    assert len(dbg.events) == 2


@pytest.mark.parametrize("given", ["agent", 7, None])
def test_something_else_is_refused(given: Any) -> None:
    with pytest.raises(TypeError, match="a google-adk agent, Runner or App"):
        adknb.attach(given, "go")


def test_watch_records_runs_without_pausing_with_the_requests_as_they_were_sent() -> None:
    script = model(HANGZHOU, says("26"))
    agent = LlmAgent(name="root", model=script, instruction="Help.", tools=[get_weather])
    with adknb.watch() as seen:
        events = plain(agent)
    [recording] = seen.recordings
    assert len(recording.events) == len(events) == 4
    assert sorted(recording.sent) == [1, 3]
    assert [len(sent["contents"]) for sent in recording.sent.values()] == [1, 3]
    assert recording.request_before(3) is not None


def test_watch_leaves_nothing_patched() -> None:
    from google.adk.flows.llm_flows.base_llm_flow import BaseLlmFlow
    from google.adk.runners import Runner

    before = (Runner.run_async, BaseLlmFlow._get_llm)
    with adknb.watch():
        assert (Runner.run_async, BaseLlmFlow._get_llm) != before
    assert (Runner.run_async, BaseLlmFlow._get_llm) == before


def test_records_go_to_google_adk_and_back() -> None:
    dbg = adknb.attach(tools(), "go").resume()
    session = from_adk(dbg.adk_session)
    again = from_adk(to_adk(session))
    assert [e.to_json() for e in again.events] == [e.to_json() for e in session.events]
