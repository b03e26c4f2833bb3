"""The public failure cases that need a live run: L01, L02, L04 of tests/cases/cases.json."""

from __future__ import annotations

from google.genai import types

from adknb.engine.context import LiveConfig
from adknb.engine.plugin import Plugin
from tests.cases import given
from tests.live.golden import PONG, read_then_close
from tests.live.harness import GET, Scenario, calls, play, sends, text_of, voice
from tests.live.words import in_few_words

LIVE_CASES = {"L01", "L02", "L04"}


def test_l01_a_reconnect_uses_the_handle_and_sends_the_history_again_as_the_reference_does() -> None:
    """The case's right answer would be not to send it again; the reference differs, and is followed."""
    assert given.CASES["L01"]["expected"]["differs"] is True
    resumption = types.SessionResumptionConfig(handle="h0")
    handle = sends(sessionResumptionUpdate={"newHandle": "h1", "resumable": True})
    scenario = Scenario(
        voice(),
        [[GET, handle, {"close": 1011, "reason": "EOF"}], [GET, PONG]],
        read_then_close(4),
        config=lambda: LiveConfig(session_resumption=resumption),
        history=[("user", text_of("user", "hi"))],
    )
    told = play(scenario, "wire")
    setups = [line for line in told.server if " setup " in line]
    assert ['"handle":"h0"' in line for line in setups] == [True, False]
    assert ['"handle":"h1"' in line for line in setups] == [False, True]
    assert resumption.handle == "h1", "the handle is written into the caller's own object"
    got = [in_few_words(line) for line in told.server if " got " in line]
    assert got == ["1 got content user 'hi'", "2 got content user 'hi'"]


def test_l02_three_calls_of_one_message_make_one_event_and_one_answer() -> None:
    message = calls(*((call["name"], call["id"]) for call in given.CASES["L02"]["input"]["server"][0]["toolCall"]))
    told = play(Scenario(voice(), [[message, GET, PONG]], read_then_close(4)), "wire")
    events = [in_few_words(line) for line in told.reader]
    assert events[1] == "voice: a#1() b#2() c#3()"
    assert '"role":"model"' in told.reader[1]
    assert [one.partition("=")[0] for one in events[2].removeprefix("voice: ").split("} ")] == ["a#1", "b#2", "c#3"]
    (answer,) = [line for line in told.server if " got " in line]
    assert answer.count('"name"') == 3


def test_l04_no_model_callback_is_asked_in_a_live_run_tool_callbacks_are() -> None:
    asked: list[str] = []

    def says(name: str):  # type: ignore[no-untyped-def]
        return lambda *args: asked.append(name)

    names = ("before_model", "after_model", "on_model_error", "before_agent", "after_agent")
    agent = voice("get_weather", log_callbacks=True, **{name: says(name) for name in names})
    plugins = lambda log: [Plugin("p", **{name: says(f"plugin {name}") for name in names})]  # noqa: E731
    scenario = Scenario(agent, [[calls(("get_weather", "t")), GET, PONG]], read_then_close(4), plugins=plugins)
    told = play(scenario, "scripted")
    assert asked == []
    assert [line for line in told.reader if line.startswith("CB")] == [
        "CB before_tool get_weather",
        "CB after_tool get_weather",
    ]
