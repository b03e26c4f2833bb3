"""`async def` tools, callbacks and models: run to their end with and without a running loop, and nothing is left behind."""

from __future__ import annotations

import asyncio
import gc
import subprocess
import sys
import threading
import warnings
import weakref
from collections.abc import Callable
from contextlib import closing
from typing import Any

import pytest
from google.genai import types

import adknb
from adknb import LlmAgent, Runner, at, event
from adknb.engine.loops import PrivateLoop, run_to_its_end
from adknb.engine.model import FunctionModel, LLMRequest, answers_of
from adknb.engine.platform import Platform, concurrent, counted, interleaved
from adknb.engine.response import LLMResponse
from adknb.stepper import nest
from adknb.stepper.nest import CannotNest


def without_a_loop(work: Callable[[], Any]) -> Any:
    return work()


def in_a_running_loop(work: Callable[[], Any]) -> Any:
    async def notebook() -> Any:
        return work()

    return asyncio.run(notebook())


PLACES = pytest.mark.parametrize("where", [without_a_loop, in_a_running_loop])


def calls(*names: str) -> types.Content:
    parts = [types.Part(function_call=types.FunctionCall(name=name, args={})) for name in names]
    return types.Content(role="model", parts=parts)


def chunk(text: str) -> LLMResponse:
    return LLMResponse(content=types.Content(role="model", parts=[types.Part(text=text)]), partial=True)


def answered(request: LLMRequest) -> bool:
    return any(p.function_response for c in request.contents for p in c.parts or [])


class Client:
    """Like an HTTP client: it is bound to the loop it was first used on."""

    def __init__(self) -> None:
        self.loop: Any = None
        self.threads: set[str] = set()

    async def get(self) -> str:
        loop = asyncio.get_running_loop()
        self.loop = self.loop or loop
        if self.loop is not loop:
            raise RuntimeError("bound to a different event loop")
        self.threads.add(threading.current_thread().name)
        await asyncio.sleep(0)
        return "got"


def agent(client: Client, *tools: str, **more: Any) -> LlmAgent:
    async def model(request: LLMRequest) -> Any:
        if answered(request):
            yield chunk("Do")
            await client.get()
            yield chunk("ne")
            yield "Done."
        else:
            yield calls(*tools)

    async def one() -> str:
        """One."""
        return await client.get()

    async def two(ctx: Any) -> str:
        """Two."""
        ctx.state["two"] = await client.get()
        return "two"

    async def parts() -> Any:
        """A streaming tool."""
        yield await client.get()
        yield " more"

    async def before_model(ctx: Any, request: Any) -> None:
        await client.get()

    return LlmAgent("lab", model=model, tools=[one, two, parts], before_model=before_model, **more)


@PLACES
def test_tools_callbacks_and_models_share_the_one_loop_of_a_plain_run(where):
    client = Client()
    runner = Runner(agent(client, "one", "two", "parts"), platform=counted())
    events = where(lambda: list(runner.run("go")))
    responses = [p.function_response.response for p in events[-4].content.parts]
    assert responses == [{"result": "got"}, {"result": "two"}, {"result": "got more"}]
    assert [e.content.parts[0].text for e in events[-3:]] == ["Do", "ne", "Done."]
    assert client.threads == {"MainThread" if where is without_a_loop else "adknb-async"}
    assert client.loop.is_closed()
    assert threading.active_count() == 1


@PLACES
@pytest.mark.parametrize("tasks", [None, interleaved])
def test_under_the_stepper_the_loop_lasts_over_turns_and_forks(where, tasks):
    client = Client()

    def session() -> None:
        dbg = adknb.step(agent(client, "one", "two"), ["go", "again"], runner=tasks)
        dbg.until(at(tool="one", phase="after"))
        assert dbg.result == "got"
        assert threading.active_count() == 1
        fork = dbg.fork()
        for run in (dbg, fork):
            assert run.resume().error is None
        assert [e.to_json() for e in dbg.events] == [e.to_json() for e in fork.events]
        assert dbg.send("once more").resume().error is None
        assert dbg.tools_run == ["one", "two"]  # the model of the later turns sees the answers
        assert not client.loop.is_closed()
        dbg.close()
        fork.close()

    where(session)
    gc.collect()
    assert client.loop.is_closed()
    assert threading.active_count() == 1


@PLACES
def test_each_chunk_of_an_async_model_is_a_stop_before_the_next_is_asked_for(where):
    said = []

    async def model(request: LLMRequest) -> Any:
        for text in ("a", "b"):
            said.append(text)
            await asyncio.sleep(0)
            yield chunk(text)
        yield "ab"

    def session() -> None:
        dbg = adknb.step(LlmAgent("lab", model=model), "go")
        dbg.until(event(partial=True))
        assert said == ["a"]
        fork = dbg.fork()
        fork.until(event(final=True, partial=False))
        assert said == ["a", "b"]
        dbg.resume()
        assert said == ["a", "b"]
        assert dbg.events[-1].content.parts[0].text == "ab"

    where(session)


class Async:
    """A model with the protocol's method, in each of the forms it may have."""

    name = "async-model"

    def __init__(self, answer: Callable[[], Any]) -> None:
        self.answer = answer

    def generate_content(self, request: LLMRequest, stream: bool) -> Any:
        return self.answer()


async def gives(value: Any) -> Any:
    await asyncio.sleep(0)
    return value


async def streams(*values: Any) -> Any:
    for value in values:
        await asyncio.sleep(0)
        yield value


@PLACES
@pytest.mark.parametrize("stepped", [False, True])
@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(lambda: streams(chunk("D"), "Done."), id="async generator"),
        pytest.param(lambda: gives("Done."), id="coroutine of one answer"),
        pytest.param(lambda: gives([chunk("D"), "Done."]), id="coroutine of a list"),
        pytest.param(lambda: gives(streams(chunk("D"), "Done.")), id="coroutine of an async generator"),
        pytest.param(lambda: ["Done."], id="list"),
    ],
)
def test_a_model_may_answer_in_any_form(where, stepped, answer):
    lab = LlmAgent("lab", model=Async(answer))
    last = lambda: (adknb.step(lab, "go").resume().events if stepped else list(Runner(lab).run("go")))[-1]  # noqa: E731
    assert where(last).content.parts[0].text == "Done."


@PLACES
@pytest.mark.parametrize("stepped", [False, True])
def test_the_error_of_an_async_model_or_tool_is_told_like_any_other(where, stepped):
    async def model(request: LLMRequest) -> Any:
        if answered(request):
            raise ValueError("no words")
        return calls("broken")

    async def broken() -> str:
        """Broken."""
        await asyncio.sleep(0)
        raise TimeoutError("slow")

    lab = LlmAgent("lab", model=model, tools=[broken])

    def session() -> list[Any]:
        if stepped:
            dbg = adknb.step(lab, "go").until(at("turn"))
            assert str(dbg.error) == "no words"
            return dbg.events
        events = []
        with pytest.raises(ValueError, match="no words"):
            events.extend(iter_into(events, Runner(lab).run("go")))
        return events

    assert where(session)[-1].content.parts[0].function_response.response == {"error": "slow"}


def iter_into(events: list[Any], items: Any) -> list[Any]:
    for item in items:
        events.append(item)
    return []


@PLACES
def test_async_tools_overlap_when_they_run_concurrently(where):
    meet = threading.Barrier(2, timeout=5)

    async def meeting() -> str:
        """Ends only if two of it run at once."""
        meet.wait()
        return "met"

    model = lambda request: "Done." if answered(request) else calls("meeting", "meeting")  # noqa: E731
    runner = Runner(LlmAgent("lab", model=model, tools=[meeting]), platform=Platform(run_tasks=concurrent))
    events = where(lambda: list(runner.run("go")))
    assert [p.function_response.response for p in events[1].content.parts] == [{"result": "met"}] * 2


@PLACES
def test_an_async_tool_may_run_an_agent_of_its_own(where):
    async def inner() -> str:
        """Runs an agent."""
        client = Client()
        return list(Runner(agent(client, "one")).run("go"))[-1].content.parts[0].text

    model = lambda request: "Outer." if answered(request) else calls("inner")  # noqa: E731
    events = where(lambda: list(Runner(LlmAgent("lab", model=model, tools=[inner])).run("go")))
    assert events[1].content.parts[0].function_response.response == {"result": "Done."}


# ---- nothing is left behind


def sync_model(ended: list[str]) -> Any:
    def model(request: LLMRequest) -> Any:
        try:
            yield chunk("D")
            yield "Done."
        finally:
            ended.append("closed")

    return model


def async_model(ended: list[str]) -> Any:
    async def model(request: LLMRequest) -> Any:
        try:
            yield chunk("D")
            await asyncio.sleep(0)
            yield "Done."
        finally:
            await asyncio.sleep(0)
            ended.append("closed")

    return model


@PLACES
@pytest.mark.parametrize("kind", [sync_model, async_model])
@pytest.mark.parametrize("leave", ["dropped", "closed", "forked and dropped"])
def test_an_abandoned_stepper_leaves_no_thread_and_no_open_stream(where, kind, leave):
    ended: list[str] = []
    before = set(threading.enumerate())

    def session() -> None:
        dbg = adknb.step(LlmAgent("lab", model=kind(ended)), "go").until(event(partial=True))
        assert ended == []
        gone = weakref.ref(dbg)
        if leave == "closed":
            dbg.close()
            assert ended == ["closed"]
        other = dbg.fork() if leave == "forked and dropped" else None
        del dbg
        gc.collect()
        assert gone() is None
        if other is not None:
            assert ended == []
            del other
            gc.collect()
        assert ended == ["closed"]
        assert set(threading.enumerate()) == before

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        where(session)


@PLACES
def test_a_stream_left_in_its_middle_is_asked_for_again_and_repeats_nothing(where):
    ended: list[str] = []

    def session() -> None:
        dbg = adknb.step(LlmAgent("lab", model=async_model(ended)), "go").until(event(partial=True))
        dbg.rewind(0)
        gc.collect()
        assert ended == ["closed"]
        dbg.resume()
        assert dbg.error is None
        told = [s for s in dbg.stops if s.seam == "model" and s.phase == "after"]
        assert len(told) == 2

    where(session)


def test_a_background_thread_of_an_async_tool_ends_with_the_loop():
    async def work() -> str:
        return await asyncio.to_thread(lambda: threading.current_thread().name)

    with closing(PrivateLoop()) as loop:
        assert loop.run(work()).startswith("asyncio_")
        assert threading.active_count() == 2
    assert threading.active_count() == 1
    assert run_to_its_end(gives(3)) == 3


def test_an_async_generator_is_closed_with_what_reads_it():
    ended = []

    async def stream() -> Any:
        try:
            yield 1
            yield 2
        finally:
            ended.append(True)

    items = iter(answers_of(stream()))
    assert next(items) == 1
    items.close()
    assert ended == [True]


def test_plain_answers_are_not_wrapped():
    given = [chunk("a")]
    assert answers_of(given) is given
    assert list(answers_of("a")) == ["a"]
    assert [r.content.parts[0].text for r in FunctionModel(lambda r: gives("x")).generate_content(None, False)] == ["x"]


# ---- the notebook's own loop


def test_with_nest_a_client_of_an_earlier_cell_can_be_used():
    program = """
import asyncio, threading
import adknb
from adknb import LlmAgent, at
from google.genai import types
from tests.stepper.test_async import Client, agent

async def notebook():
    client = Client()
    await client.get()                       # an earlier cell: bound to the notebook's loop
    dbg = adknb.step(agent(client, "one", "two"), "go", nest=True)
    dbg.until(at(tool="one", phase="after"))
    print(dbg.result, dbg.stops[-1].error)
    await asyncio.to_thread(dbg.step)        # a click, on another thread
    dbg.fork().resume()
    print(dbg.resume().events[-1].content.parts[0].text, sorted(client.threads), dbg.error)
    without = adknb.step(agent(client, "one"), "go").until(at("turn"))
    print(type(without.error).__name__, without.error)

asyncio.run(notebook())
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert done.stderr == ""
    assert done.stdout.splitlines() == [
        "got ",
        "Done. ['MainThread'] None",
        "RuntimeError bound to a different event loop",
    ]


def test_nest_says_what_it_lacks(monkeypatch):
    lab = LlmAgent("lab", model=lambda request: "Done.")
    with pytest.raises(CannotNest, match="nest=True is for a notebook: no loop is running here"):
        adknb.step(lab, "go", nest=True)
    monkeypatch.setattr(nest, "PACKAGES", ("no_such_package",))

    async def notebook() -> None:
        adknb.step(lab, "go", nest=True)

    with pytest.raises(CannotNest, match=r"needs nest-asyncio2 \(or nest-asyncio\): pip install 'adknb\[lab\]'"):
        asyncio.run(notebook())
