"""Messages in a line: served in order on a thread of the panel's own; a long command is told, and can be stopped."""

import threading
import time

import pytest

import adknb
from adknb import at
from adknb.engine.llm_agent import LlmAgent
from adknb.engine.model import FunctionModel
from adknb.widgets.panel import line as line_module
from adknb.widgets.panel.line import Line
from tests.widgets.runs import said, weather
from tests.widgets.test_panel import Wire


@pytest.fixture(autouse=True)
def _impatient(monkeypatch):
    monkeypatch.setattr(line_module, "PATIENCE", 0.05)
    monkeypatch.setattr(line_module, "REPORT", 0.01)


def wait_for(condition, seconds=10.0):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it has not come true"
        time.sleep(0.005)


def test_messages_are_served_in_order_whoever_hands_them_in():
    served = []
    line = Line(served.append, lambda message, seconds: None)
    for n in range(100):
        line.take(n)
    wait_for(lambda: served == list(range(100)))


def test_the_one_who_hands_in_a_slow_message_is_not_held_and_others_wait_behind_it():
    gate, served = threading.Event(), []

    def serve(message):
        if message == "slow":
            gate.wait(10)
        served.append(message)

    line = Line(serve, lambda message, seconds: None)
    start = time.monotonic()
    line.take("slow")
    line.take("quick")
    assert time.monotonic() - start < 2
    assert served == []
    gate.set()
    wait_for(lambda: served == ["slow", "quick"])


def test_what_takes_long_is_reported_again_and_again_and_then_no_more():
    gate, told = threading.Event(), []
    line = Line(lambda message: gate.wait(10), lambda message, seconds: told.append(message))
    line.take("slow")
    wait_for(lambda: len(told) > 3)
    gate.set()
    wait_for(lambda: not line._watched)
    count = len(told)
    time.sleep(0.05)
    assert (set(told), len(told)) == ({"slow"}, count)


def test_an_interrupt_ends_what_is_served_and_the_next_message_is_served():
    served, running = [], threading.Event()

    def serve(message):
        if message == "endless":
            running.set()
            while True:
                time.sleep(0.001)
        served.append(message)

    line = Line(serve, lambda message, seconds: None)
    line.take("endless")
    assert running.wait(5)
    assert line.interrupt()
    line.take("next")
    wait_for(lambda: served == ["next"])
    assert not line.interrupt()


def test_without_threads_a_message_is_served_at_once(monkeypatch):
    def no_threads(self):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", no_threads)
    served = []
    line = Line(served.append, lambda message, seconds: None)
    line.take(1)
    line.take(2)
    assert served == [1, 2]  # no waiting: there is nobody else who could serve them


# ---- a panel


def slow_run(gate, turns=60):
    """A run whose model waits at a gate, once."""
    texts = ["yes"] * turns

    def answer(request):
        if not gate.is_set():
            gate.wait(10)
        return texts.pop()

    return adknb.step(LlmAgent("a", model=FunctionModel(answer, name="m")), ["hi"] * turns)


def hand_in(wire, **message):
    wire.panel._on_message(wire.panel, message, [])


def test_a_slow_command_is_told_with_how_far_it_has_come_and_then_that_it_is_over():
    gate = threading.Event()
    wire = Wire(slow_run(gate, turns=1))
    hand_in(wire, type="resume")
    wait_for(lambda: any(m["type"] == "busy" and m["at"] == "before model m" for m in wire.heard))
    told = [m for m in wire.heard if m["type"] == "busy"][-1]
    assert (told["what"], told["stops"]) == ("resume", len(wire.stepper.stops))
    gate.set()
    wait_for(lambda: any(m["type"] == "idle" for m in wire.heard))
    assert wire.stepper.here is None


@pytest.mark.parametrize("command", [{"type": "resume"}, {"type": "finish"}, {"type": "until", "at": "after_run"}])
def test_stop_ends_a_long_command_at_the_next_stop(command):
    gate = threading.Event()
    wire = Wire(slow_run(gate).until(at("model")))
    hand_in(wire, **command)
    wait_for(lambda: any(m["type"] == "busy" for m in wire.heard))
    hand_in(wire, type="stop")
    gate.set()
    wait_for(lambda: any(m["type"] == "idle" for m in wire.heard))
    assert str(wire.stepper.here) == "after model m"
    assert wire.view["note"].startswith("stopped by the reader")
    assert wire.view["marks"] == []
    assert wire.stepper.breakpoints == []
    wire.send(type="next")
    wait_for(lambda: wire.view["note"] == "")


def test_stop_now_breaks_off_what_runs_and_goes_back_to_where_the_command_began():
    running, calls = threading.Event(), []

    def endless(request):
        calls.append(1)
        running.set()
        while len(calls) == 1:
            time.sleep(0.001)
        return "done"

    wire = Wire(adknb.step(LlmAgent("a", model=FunctionModel(endless, name="m")), "hi").until(at("model")))
    hand_in(wire, type="next")
    assert running.wait(5)
    hand_in(wire, type="stop", now=True)
    wait_for(lambda: "interrupted" in wire.view["note"])
    assert str(wire.stepper.here) == "before model m"
    wire.send(type="next")
    wait_for(lambda: str(wire.stepper.here) == "after model m")
    assert wire.panel.errors == []


def test_stop_now_breaks_off_a_rewind_and_the_run_stands_where_it_stood():
    running, replays = threading.Event(), []

    def callback(ctx, request):
        if replays:
            running.set()
            while replays:
                time.sleep(0.001)

    dbg = adknb.step(LlmAgent("a", model=FunctionModel(lambda r: "yes", name="m"), before_model=callback), "hi")
    dbg.until(at("model", phase="after"))
    wire = Wire(dbg)
    before, position = repr(dbg), dbg.position
    replays.append(1)
    hand_in(wire, type="rewind", stop=position - 1)
    assert running.wait(5)
    hand_in(wire, type="stop", now=True)
    wait_for(lambda: "broken off" in wire.view["note"])
    replays.clear()
    assert dbg.position == position
    assert repr(dbg).splitlines()[0] == before.splitlines()[0]
    wire.send(type="rewind", stop=position - 1)
    wait_for(lambda: dbg.position == position - 1)
    assert wire.panel.errors == []


def test_a_stop_when_nothing_runs_does_nothing():
    wire = Wire(weather().until(at("contents")))
    hand_in(wire, type="stop")
    hand_in(wire, type="stop", now=True)
    wire.send(type="next")
    wait_for(lambda: str(wire.stepper.here) == "after processor planning")
    assert wire.stepper.breakpoints == []
    assert wire.view["marks"] == []


def test_a_cell_that_runs_long_can_be_stopped_from_the_panel_too():
    gate = threading.Event()
    dbg = slow_run(gate)
    wire = Wire(dbg)
    cell = threading.Thread(target=dbg.resume)
    cell.start()
    wait_for(lambda: str(dbg.stops[-1]) == "before model m")
    hand_in(wire, type="stop")
    gate.set()
    cell.join(10)
    assert not cell.is_alive()
    assert str(dbg.here) == "after model m"
    assert dbg.breakpoints == []


def test_a_ping_is_answered_while_a_command_runs():
    gate = threading.Event()
    wire = Wire(slow_run(gate, turns=1))
    hand_in(wire, type="resume")
    hand_in(wire, type="ping", re=7)
    assert {"type": "pong", "re": 7} in wire.heard
    gate.set()
    wait_for(lambda: wire.stepper.here is None)


def test_an_answer_carries_the_mark_of_its_question():
    wire = Wire(weather().until(at("model")))
    wire.panel.serve({"type": "page", "name": "State", "re": 41})
    assert [(m["type"], m["re"]) for m in wire.heard] == [("page", 41)]
    wire.heard.clear()
    wire.panel.serve({"type": "next", "re": 42})
    assert all("re" not in m for m in wire.heard)


def test_the_many_errors_of_a_run_that_ends_badly_are_not_lost():
    def fails(request):
        raise ValueError("no")

    wire = Wire(adknb.step(LlmAgent("a", model=FunctionModel(fails, name="m")), "hi"))
    wire.send(type="resume")
    wait_for(lambda: "ValueError: no" in wire.view["problem"])
    wire = Wire(said("one"))
    wire.send(type="rewind", stop=99)
    wait_for(lambda: "no stop 99" in wire.view["problem"])
    assert len(wire.panel.errors) == 1
