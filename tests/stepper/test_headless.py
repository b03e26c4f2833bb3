"""Waiting for a reader: with a panel or a terminal it waits, without either it says so at once and never hangs."""

from __future__ import annotations

import asyncio
import io
import sys
import time
from collections.abc import Iterator
from typing import Any

import pytest

import adknb
from adknb import Stepper, at
from adknb.scenarios import scenario
from adknb.stepper import terminal, waiting
from adknb.stepper.waiting import HeadlessPause

WEATHER = scenario("01a-one-turn")


@pytest.fixture
def dbg() -> Stepper:
    return adknb.step(WEATHER)


class Tty(io.StringIO):
    def isatty(self) -> bool:
        return True


class Heard:
    heard = True


class Shown:
    heard = False


NOBODY = [
    pytest.param(lambda m, d: m.setattr(sys, "stdin", io.StringIO()), id="no terminal"),
    pytest.param(lambda m, d: m.setattr(sys, "stdin", None), id="no standard input"),
    pytest.param(lambda m, d: setattr(d, "_panel", Shown()), id="a panel that was shown where no front end is"),
]


@pytest.mark.parametrize("without", NOBODY)
def test_waiting_for_nobody_is_refused_at_once_and_names_the_stop(dbg, monkeypatch, without):
    monkeypatch.delenv("JPY_SESSION_NAME", raising=False)
    without(monkeypatch, dbg)
    dbg.until(at("contents"))
    begun = time.monotonic()
    with pytest.raises(HeadlessPause) as refused:
        asyncio.run(dbg.finished())
    assert time.monotonic() - begun < 0.5
    assert refused.value.stop == "stop 17, after processor contents (turn 1, weather_agent, step 1)"
    assert str(refused.value).startswith(f"the run is paused at {refused.value.stop}, and nobody is here to step it")
    assert str(dbg.here) == "after processor contents"


def test_a_run_that_is_over_needs_nobody(dbg):
    dbg.resume()
    assert asyncio.run(dbg.finished()) is dbg


@pytest.mark.parametrize("panel", [True, False])
def test_it_waits_until_another_task_has_stepped_to_the_end(dbg, monkeypatch, panel):
    if panel:
        dbg._panel = Heard()
    else:
        monkeypatch.setattr(sys, "stdin", Tty())

    async def cell() -> Stepper:
        async def clicks() -> None:
            for click in (dbg.next, dbg.until, dbg.resume):
                await asyncio.sleep(0.02)
                await asyncio.to_thread(click, *(["contents"] if click == dbg.until else []))

        task = asyncio.create_task(clicks())
        done = await dbg.finished(timeout=10)
        await task
        return done

    assert asyncio.run(cell()).here is None


def test_it_waits_no_longer_than_it_may(dbg):
    dbg._panel = Heard()
    with pytest.raises(TimeoutError, match=r"not over after 0.05 s: it is paused at stop 0, before append user"):
        asyncio.run(dbg.finished(timeout=0.05))
    assert dbg.position == 0


def test_a_front_end_has_a_moment_to_draw_the_panel_and_no_more(dbg, monkeypatch):
    monkeypatch.setenv("JPY_SESSION_NAME", "lesson.ipynb")
    monkeypatch.setattr(waiting, "TO_APPEAR", 0.2)
    dbg._panel = Shown()
    begun = time.monotonic()
    with pytest.raises(HeadlessPause):
        asyncio.run(dbg.finished())
    assert 0.2 <= time.monotonic() - begun < 2


# ---- in a kernel


class Kernel:
    def __init__(self) -> None:
        from jupyter_client.manager import start_new_kernel

        self.manager, self.client = start_new_kernel(kernel_name="python3")

    def send(self, code: str, **metadata: Any) -> str:
        content = {"code": code, "silent": False, "store_history": True, "user_expressions": {}, "allow_stdin": False,
                   "stop_on_error": True}  # fmt: skip
        message = self.client.session.msg("execute_request", content, metadata=metadata)
        self.client.shell_channel.send(message)
        return str(message["header"]["msg_id"])

    def comm(self, model_id: str, **content: Any) -> None:
        data = {"comm_id": model_id, "data": {"method": "custom", "content": content}}
        self.client.shell_channel.send(self.client.session.msg("comm_msg", data))

    def result(self, asked: str) -> str:
        """What the cell came to, printed, or raised."""
        out = ""
        while True:
            message = self.client.get_iopub_msg(timeout=40)
            if message["parent_header"].get("msg_id") != asked:
                continue
            kind, content = message["msg_type"], message["content"]
            if kind == "stream":
                out += content["text"]
            elif kind == "error":
                out += f"{content['ename']}: {content['evalue']}"
            elif kind == "execute_result":
                out += content["data"]["text/plain"]
            elif kind == "status" and content["execution_state"] == "idle":
                return out

    def run(self, code: str, **metadata: Any) -> str:
        return self.result(self.send(code, **metadata))


@pytest.fixture(scope="module")
def kernel() -> Iterator[Kernel]:
    pytest.importorskip("ipykernel")
    pytest.importorskip("anywidget")
    kernel = Kernel()
    yield kernel
    kernel.client.stop_channels()
    kernel.manager.shutdown_kernel(now=True)


def test_in_a_kernel_without_a_front_end_it_is_refused_at_once(kernel):
    kernel.run("import adknb; from IPython.display import display")
    kernel.run("dbg = adknb.step(adknb.scenario('01a-one-turn')); display(dbg)")
    begun = time.monotonic()
    assert kernel.run("await dbg.finished()").startswith("HeadlessPause: the run is paused at stop 0, before append")
    assert time.monotonic() - begun < 5
    assert kernel.run("str(dbg.step().here)") == "'after append user'"


def test_in_a_kernel_clicks_step_the_run_while_a_cell_waits(kernel):
    kernel.run("import adknb; from IPython.display import display")
    kernel.run("dbg = adknb.step(adknb.scenario('01a-one-turn')); display(dbg)", cellId="a")
    model = kernel.run("print(dbg._panel.comm.comm_id)").strip()
    asked = kernel.send("(await dbg.finished(timeout=30)).here is None", cellId="b")
    time.sleep(0.5)
    for click in ("step", "next", "resume"):
        kernel.comm(model, type=click)
    assert kernel.result(asked) == "True"


def test_in_a_kernel_the_waiting_can_be_interrupted(kernel):
    kernel.run("import adknb; from IPython.display import display")
    kernel.run("dbg = adknb.step(adknb.scenario('01a-one-turn')); display(dbg)", cellId="a")
    asked = kernel.send("await dbg.finished()", cellId="b")
    time.sleep(1)
    kernel.manager.interrupt_kernel()
    begun = time.monotonic()
    assert "Error" in kernel.result(asked) or "Interrupt" in kernel.result(asked)
    assert time.monotonic() - begun < 5
    assert kernel.run("str(dbg.step().here)") == "'after append user'"


SLOW = """
import asyncio, time, adknb
from google.genai import types
used = []
def model(request):
    used.append("model")
    call = types.Part(function_call=types.FunctionCall(name="slow", args={}))
    return "Done." if len(request.contents) > 1 else types.Content(role="model", parts=[call])
def work():
    used.append("slow")
    return used.count("slow") == 1
"""


@pytest.mark.parametrize(
    "tool",
    [
        "def slow() -> str:\n    while work(): time.sleep(30)\n    print('ready'); return 'ready'",
        "async def slow() -> str:\n    while work(): await asyncio.sleep(30)\n    print('ready'); return 'ready'",
    ],
)
def test_in_a_kernel_the_interrupt_of_a_slow_tool_leads_back_to_the_same_pause(kernel, tool):
    kernel.run(SLOW)
    kernel.run(tool)
    kernel.run("dbg = adknb.step(adknb.LlmAgent('lab', model=model, tools=[slow]), 'go').until(adknb.at(tool='slow'))")
    asked = kernel.send("dbg.resume()")
    time.sleep(1)
    begun = time.monotonic()
    kernel.manager.interrupt_kernel()
    assert "KeyboardInterrupt" in kernel.result(asked)
    assert time.monotonic() - begun < 5
    assert kernel.run("print(dbg.here, used)") == "before tool slow ['model', 'slow']\n"
    assert kernel.run("d = dbg.resume(); print(d.here, used)") == "ready\nNone ['model', 'slow', 'slow', 'model']\n"


# ---- at the prompt


@pytest.mark.parametrize("stdin", [None, io.StringIO("")])
def test_the_prompt_without_a_terminal_and_without_commands_is_refused(stdin, monkeypatch):
    monkeypatch.setattr(sys, "stdin", stdin)
    out = io.StringIO()
    with pytest.raises(HeadlessPause, match=r"paused at stop 0, before append user \(turn 1\)"):
        terminal.main("01a-one-turn", stdout=out)
    assert out.getvalue() == ""
