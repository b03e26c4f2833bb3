"""An interrupt inside a slow tool or model: back at the pause where the command began, and nothing that ended runs again."""

from __future__ import annotations

import _thread
import asyncio
import os
import re
import signal
import time
from collections.abc import Callable
from typing import Any

import pytest
from google.genai import types

import adknb
from adknb import LlmAgent, Stepper, at
from adknb.engine.platform import interleaved
from adknb.engine.processors import REQUEST_PROCESSORS
from adknb.engine.response import LLMResponse


class Lab:
    """A model that asks for two tools, `fast` and `slow`; `slow` and the model's last chunk may be interrupted once."""

    def __init__(self, interrupt: Callable[[], Any], inside: str = "slow") -> None:
        self.interrupt, self.inside = interrupt, inside
        self.used: list[str] = []

    def trouble(self, where: str) -> None:
        self.used.append(where)
        if where == self.inside:
            self.inside = ""
            self.interrupt()

    def agent(self) -> LlmAgent:
        def model(request: Any) -> Any:
            if not any(p.function_response for c in request.contents for p in c.parts):
                self.trouble("model")
                calls = [types.Part(function_call=types.FunctionCall(name=n, args={})) for n in ("fast", "slow")]
                yield types.Content(role="model", parts=calls)
                return
            self.trouble("model again")
            yield LLMResponse(content=types.Content(role="model", parts=[types.Part(text="Do")]), partial=True)
            self.trouble("chunk")
            yield "Done."

        def fast(ctx: Any) -> str:
            """Fast."""
            self.trouble("fast")
            ctx.state["fast"] = True
            return "ready"

        def slow(ctx: Any) -> str:
            """Slow."""
            ctx.state["half"] = "done"
            self.trouble("slow")
            return "ready"

        def callback(ctx: Any, request: Any) -> None:
            self.trouble("callback")

        return LlmAgent("lab", model=model, tools=[fast, slow], before_model=callback)

    def step(self, **how: Any) -> Stepper:
        return adknb.step(self.agent(), "go", **how)


def raised() -> None:
    raise KeyboardInterrupt


def signalled() -> None:
    signal.raise_signal(signal.SIGINT)


def from_a_thread() -> None:
    _thread.interrupt_main()
    for _ in range(500):
        time.sleep(0.01)


def left() -> None:
    raise SystemExit(3)


STARTS = [
    pytest.param(lambda d: d, "resume", id="from the first stop to the end"),
    pytest.param(lambda d: d.until(at(tool="slow")), "step", id="right before the tool"),
    pytest.param(lambda d: d.until(at(tool="fast", phase="after")), "finish", id="behind the other tool"),
    pytest.param(lambda d: d.until(at("model")), "resume", id="before the model"),
]


@pytest.mark.parametrize("interrupt", [raised, signalled, from_a_thread, left])
@pytest.mark.parametrize("go, command", STARTS)
def test_an_interrupt_in_a_tool_leads_back_to_where_the_command_began(interrupt, go, command):
    lab = Lab(interrupt)
    dbg = lab.step()
    go(dbg)
    here, stops, state = str(dbg.here), [str(s) for s in dbg.stops], dict(dbg.state)
    for _ in range(100):
        here, stops, state = str(dbg.here), [str(s) for s in dbg.stops], dict(dbg.state)
        try:
            getattr(dbg, command)()
        except (KeyboardInterrupt, SystemExit):
            break
    assert (str(dbg.here), [str(s) for s in dbg.stops], dict(dbg.state)) == (here, stops, state)
    assert dbg.notice.startswith(f"interrupted ({'SystemExit' if interrupt is left else 'KeyboardInterrupt'}) behind ")
    assert "half" not in dbg.state
    dbg.resume()
    assert dbg.here is None
    assert [u for u in lab.used if u != "callback"] == ["model", "fast", "slow", "slow", "model again", "chunk"]
    assert dbg.tools_run == ["fast", "slow"]
    assert dbg.events[-1].content.parts[0].text == "Done."


@pytest.mark.parametrize(
    "inside, used",
    [
        ("model", ["model", "model", "fast", "slow", "model again", "chunk"]),
        ("model again", ["model", "fast", "slow", "model again", "model again", "chunk"]),
        ("chunk", ["model", "fast", "slow", "model again", "chunk", "model again", "chunk"]),
        ("callback", ["model", "fast", "slow", "model again", "chunk"]),
    ],
)
@pytest.mark.parametrize("tasks", [None, interleaved])
def test_a_model_or_callback_may_be_interrupted_too(inside, used, tasks):
    lab = Lab(signalled, inside)
    dbg = lab.step(runner=tasks)
    with pytest.raises(KeyboardInterrupt):
        dbg.resume()
    assert dbg.position == 0
    dbg.resume()
    assert [u for u in lab.used if u != "callback"] == used
    whole = Lab(signalled, "").step(runner=tasks).resume()
    assert [e.to_json() for e in dbg.events] == [e.to_json() for e in whole.events]
    assert [str(s) for s in dbg.stops] == [str(s) for s in whole.stops]
    assert dbg.requests == whole.requests


def test_an_edit_made_where_the_command_began_is_kept():
    lab = Lab(raised)
    dbg = lab.step().until(at("model"))
    dbg.request.contents[0].parts[0].text = "hurry"
    with pytest.raises(KeyboardInterrupt):
        dbg.resume()
    assert dbg.request.contents[0].parts[0].text == "hurry"
    assert [op["value"] for op in dbg.edits] == ["hurry"]
    dbg.resume()
    assert dbg.requests[0]["contents"][0]["parts"][0]["text"] == "hurry"
    assert lab.used.count("model") == 1


def test_a_command_that_answered_is_taken_back():
    lab = Lab(raised, "fast")
    dbg = lab.step(runner=interleaved).until(at(tool="slow"))
    with pytest.raises(KeyboardInterrupt):
        dbg.skip("not made")
    assert dbg.here.answer is None
    dbg.resume()
    assert lab.used.count("slow") == 1


def test_the_runs_beside_it_stay_as_they_were():
    lab = Lab(raised, "chunk")
    dbg = lab.step().until(at("model", step=2, phase="after"))
    fork = dbg.fork()
    with pytest.raises(KeyboardInterrupt):
        dbg.resume()
    fork.resume()
    dbg.resume()
    assert [e.to_json() for e in fork.events] == [e.to_json() for e in dbg.events]


@pytest.mark.parametrize("in_a_loop", [False, True])
def test_an_async_tool_that_is_interrupted_is_cancelled(in_a_loop):
    ended = []

    async def slow() -> str:
        """Slow."""
        try:
            if len(ended) == 0:
                asyncio.get_running_loop().run_in_executor(None, os.kill, os.getpid(), signal.SIGINT)
                await asyncio.sleep(30)
        finally:
            ended.append(True)
        return "ready"

    def model(request: Any) -> Any:
        answered = any(p.function_response for c in request.contents for p in c.parts)
        call = types.Part(function_call=types.FunctionCall(name="slow", args={}))
        return "Done." if answered else types.Content(role="model", parts=[call])

    def session() -> None:
        dbg = adknb.step(LlmAgent("lab", model=model, tools=[slow]), "go").until(at(tool="slow"))
        with pytest.raises(KeyboardInterrupt):
            dbg.step()
        assert str(dbg.here) == "before tool slow"
        assert ended == [True]
        assert dbg.step().result == "ready"

    async def notebook() -> None:
        signal.signal(signal.SIGINT, signal.default_int_handler)  # as a kernel does while a cell runs
        session()

    begun = time.monotonic()
    asyncio.run(notebook()) if in_a_loop else session()
    assert time.monotonic() - begun < 10


def test_a_run_that_cannot_be_brought_back_ends_its_turn_and_says_so():
    lab = Lab(raised)
    names = iter("abcdefghij")

    def moody(ctx: Any, request: Any) -> None:
        """Each time it is another callback: the second run does not meet the stops of the first."""

    agent = lab.agent()
    dbg = adknb.step(agent, "go").until(at("before_model"))
    agent.model_callbacks.before_model[:] = [moody]
    moody.__name__ = next(names)
    with pytest.raises(KeyboardInterrupt):
        dbg.until(at("turn"))
    assert str(dbg.here) == "after turn turn 1"
    assert "could not be brought back" in dbg.notice
    assert "when it was recorded; the replay reached" in dbg.problem
    assert dbg.tools_run == ["fast", "slow"]


def test_who_interrupts_the_way_back_too_keeps_what_there_is_to_see_and_can_begin_anew():
    armed: list[bool] = []

    def stubborn(ctx, request, flow):
        if armed:
            raise KeyboardInterrupt

    def slow() -> str:
        """Is interrupted the first time."""
        if not armed:
            armed.append(True)
            raise KeyboardInterrupt
        return "done"

    call = types.Part(function_call=types.FunctionCall(id="c", name="slow", args={}))
    model = adknb.ScriptedModel([types.Content(role="model", parts=[call]), "Done."])
    agent = adknb.LlmAgent("agent", model=model, tools=[slow], request_processors=[*REQUEST_PROCESSORS, stubborn])
    dbg = adknb.step(agent, "go").until(at(tool="slow"))
    with pytest.raises(KeyboardInterrupt):
        dbg.step()
    assert str(dbg.here) == "after turn turn 1" and "could not be brought back" in dbg.notice
    assert [e.author for e in dbg.events] == ["user", "agent"] and dbg.error is not None
    armed.clear()
    armed_again = dbg.restart().until("stubborn")
    assert armed_again.here is not None and armed_again.here.name == "stubborn"


@pytest.mark.parametrize(
    "name, hint",
    [
        ("reqest", "did you mean 'request'?"),
        ("breakpoint", "'breakpoints'"),
        ("city", "in place"),
        ("args", "in place"),
    ],
)
def test_a_name_that_is_none_is_refused(name, hint):
    dbg = adknb.step(adknb.scenario("01a-one-turn"))
    with pytest.raises(AttributeError, match=re.escape(hint)):
        setattr(dbg, name, 1)
