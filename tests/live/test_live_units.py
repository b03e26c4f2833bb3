"""Single rules of spec/live.md, at the function that keeps them."""

from __future__ import annotations

from typing import Any

import pytest
from google.genai import types

from adknb.engine.context import LiveConfig
from adknb.engine.event import Event, EventActions, EventCompaction
from adknb.engine.live.config import connect_config, history_message
from adknb.engine.live.receiving import Receiver, kind_of
from adknb.engine.live.reconnect import finding, reconnects, waits
from adknb.engine.live.running import HeldBack, is_stored
from adknb.engine.live.sending import LiveRequest, as_live_request, messages_of
from adknb.engine.llm_agent import LlmAgent
from adknb.engine.model import LLMRequest
from adknb.engine.runner import Runner
from adknb.scenarios.live_script import ScriptedLive
from tests.live.golden import PONG
from tests.live.harness import DONE, text_of

RESUMPTION = types.SessionResumptionConfig


def request(**config: Any) -> LLMRequest:
    return LLMRequest(model="other", config=types.GenerateContentConfig(**config))


def test_only_instruction_and_tools_come_from_the_request() -> None:
    made = connect_config(
        request(system_instruction=text_of("user", "Be"), temperature=0.5, labels={"a": "b"}), LiveConfig(), "", False
    )
    assert made.model_dump(exclude_none=True) == {"system_instruction": {"parts": [{"text": "Be"}], "role": "user"}}


def test_the_fields_that_nothing_reads_are_not_sent() -> None:
    unread = LiveConfig(
        realtime_input_config=types.RealtimeInputConfig(),
        enable_affective_dialog=True,
        proactivity=types.ProactivityConfig(proactive_audio=True),
        max_llm_calls=1,
        save_live_blob=True,
    )
    assert connect_config(request(), unread, "", False).model_dump(exclude_none=True) == {}


@pytest.mark.parametrize(
    "given, handle, on_vertex, sent",
    [
        (None, "", False, None),
        (None, "h1", False, {"handle": "h1"}),
        (None, "h1", True, {"handle": "h1", "transparent": True}),
        (RESUMPTION(), "", True, {}),
        (RESUMPTION(handle="mine"), "", True, {"handle": "mine"}),
        (RESUMPTION(handle="mine"), "h1", False, {"handle": "h1"}),
        (RESUMPTION(handle="mine"), "h1", True, {"handle": "h1", "transparent": True}),
    ],
)
def test_the_resumption_handle(given: Any, handle: str, on_vertex: bool, sent: Any) -> None:
    live = LiveConfig(session_resumption=given)
    made = connect_config(request(), live, handle, on_vertex).session_resumption
    assert (made and made.model_dump(exclude_none=True)) == sent
    assert made is given or given is None, "the caller's own object gets the handle"


def inline(mime_type: str) -> types.Part:
    return types.Part(inline_data=types.Blob(data=b"1", mime_type=mime_type))


@pytest.mark.parametrize(
    "contents, turns, complete",
    [
        ([text_of("user", "a")], [["user", "a"]], True),
        ([text_of("user", "a"), text_of("model", "b")], [["user", "a"], ["model", "b"]], False),
        ([text_of("model", "b"), types.Content(role="user", parts=[inline("audio/pcm")])], [["model", "b"]], False),
        ([types.Content(role="user", parts=[inline("audio/pcm"), inline("image/png")])], [["user", None]], True),
        ([types.Content(role="user", parts=[inline("audio/pcm")])], None, None),
        ([types.Content(role="user"), types.Content(role="user", parts=[])], None, None),
        ([], None, None),
    ],
)
def test_the_history_goes_as_one_message(contents: Any, turns: Any, complete: Any) -> None:
    message = history_message(contents, "gemini-live-x")
    if turns is None:
        assert message is None
        return
    sent = message.client_content
    assert [[c.role, c.parts[0].text] for c in sent.turns] == turns
    assert sent.turn_complete is complete


def test_a_request_sends_its_content_before_it_looks_at_the_rest() -> None:
    sent = messages_of(LiveRequest(text_of("user", "a"), realtime_input=3), "m", "gemini_api")
    assert next(sent).client_content is not None
    with pytest.raises(Exception, match="not int"):
        next(sent)


@pytest.mark.parametrize("given", [3, None, {"text": "x"}, ["x"], b"x", types.Part(text="x")])
def test_what_cannot_be_sent_is_refused_at_once(given: Any) -> None:
    with pytest.raises(TypeError, match="send"):
        as_live_request(given)


def server(**fields: Any) -> types.LiveServerMessage:
    return types.LiveServerMessage.model_validate(fields)


@pytest.mark.parametrize(
    "message, kind",
    [
        (server(setupComplete={}), "setup_complete"),
        (server(serverContent={"modelTurn": {"parts": []}}), "model_turn"),
        (server(serverContent={"turnComplete": True, "modelTurn": {"parts": []}}), "turn_complete"),
        (server(serverContent={"interrupted": True}), "interrupted"),
        (server(serverContent={"inputTranscription": {"text": "a"}}), "input_transcription"),
        (server(serverContent={"generationComplete": True}), "server_content"),
        (server(toolCall={"functionCalls": []}), "tool_call"),
        (server(toolCallCancellation={"ids": ["a"]}), "tool_call_cancellation"),
        (server(goAway={"timeLeft": "1s"}), "go_away"),
        (server(usageMetadata={"totalTokenCount": 1}), "usage_metadata"),
        (server(sessionResumptionUpdate={}), "session_resumption_update"),
        (server(), "message"),
    ],
)
def test_every_message_has_a_name_and_a_response(message: types.LiveServerMessage, kind: str) -> None:
    assert kind_of(message) == kind
    assert len(Receiver().responses(message)) == 1


class Coded(Exception):
    def __init__(self, code: Any) -> None:
        super().__init__("closed")
        self.code = code


@pytest.mark.parametrize(
    "error, again",
    [
        (EOFError("EOF"), True),
        (OSError("write: broken pipe"), True),
        (OSError("read: connection reset by peer"), True),
        (ValueError("close 1008"), True),
        (ValueError("GoAway"), True),
        (ValueError("goaway"), False),
        (ValueError("eof"), False),
        (Coded(1006), True),
        (Coded(1008), True),
        (Coded(1000), False),
        (Coded("1006"), False),
        (Coded(None), False),
    ],
)
def test_which_errors_are_followed_by_a_new_connection(error: Exception, again: bool) -> None:
    assert reconnects(error) is again


@pytest.mark.parametrize("backoff, seconds", [(None, 0), (2, 2), (0.5, 0.5), (lambda n: n / 10, 0.3)])
def test_the_wait_before_a_reconnect(backoff: Any, seconds: float) -> None:
    assert waits(backoff, 3) == seconds


@pytest.mark.parametrize("backoff", [-1, lambda n: float("nan")])
def test_a_wait_that_is_no_time_is_refused(backoff: Any) -> None:
    with pytest.raises(ValueError, match="live_backoff"):
        waits(backoff, 1)


@pytest.mark.parametrize(
    "in_vain, backoff, says", [(0, None, ""), (2, None, ""), (3, None, "live_backoff"), (4, 1, "4 con")]
)
def test_a_loop_without_progress_is_named(in_vain: int, backoff: Any, says: str) -> None:
    assert (says in finding(in_vain, backoff)) and bool(says) == bool(finding(in_vain, backoff))


def event(kind: str) -> Event:
    """`chunk`, `whole`, `call`, `answer`, `chunk+call`, `text`, `bytes`."""
    transcribed = {"output_transcription": types.Transcription(text="a")} if "chunk" in kind or kind == "whole" else {}
    part = {
        "call": types.Part(function_call=types.FunctionCall(name="f")),
        "answer": types.Part(function_response=types.FunctionResponse(name="f")),
        "text": types.Part(text="t"),
        "bytes": inline("image/png"),
    }.get(kind.partition("+")[2] or kind)
    content = types.Content(role="model", parts=[part]) if part else None
    return Event(author=kind, content=content, partial="chunk" in kind, **transcribed)


@pytest.mark.parametrize(
    "comes, passes",
    [
        ("call answer", "call answer"),
        ("chunk call answer whole text", "chunk whole call answer text"),
        ("chunk text bytes whole", "chunk text bytes- whole"),
        ("chunk call whole answer whole", "chunk whole call answer whole"),
        ("chunk+call answer whole", "whole chunk+call- answer"),
        ("chunk call", "chunk"),
        ("chunk call chunk answer whole whole", "chunk chunk whole call answer whole"),
        ("whole call", "whole call"),
    ],
)
def test_calls_wait_while_somebody_is_transcribed(comes: str, passes: str) -> None:
    held = HeldBack()
    told = [
        one.author + ("" if stored or one.author == "chunk" else "-")
        for kind in comes.split()
        for one, stored in held.passing(event(kind))
    ]
    assert told == passes.split()


@pytest.mark.parametrize("kind, stored", [("chunk", False), ("text", True), ("bytes", False), ("none", True)])
def test_what_is_stored(kind: str, stored: bool) -> None:
    assert is_stored(event(kind)) is stored


def test_the_request_is_built_once_however_often_the_line_breaks() -> None:
    asked = []

    def instruction(ctx: Any) -> str:
        asked.append(ctx)
        return "Be"

    model = ScriptedLive([[{"drop": True}], [{"drop": True}], [PONG]])
    with Runner(LlmAgent("voice", model, instruction=instruction)).run_live(live_config=LiveConfig()) as live:
        assert len(list(live.turn())) == 4
    assert len(asked) == 1 and model.dialled == 3


def test_compaction_is_off_its_records_are_ignored() -> None:
    model = ScriptedLive([[{"get": 1}, DONE]])
    runner = Runner(LlmAgent("voice", model))
    session = runner.session_service.create("adknb", "user", "session-1")
    record = EventCompaction(0.0, 3.0, text_of("model", "they talked"))
    for n, given in enumerate([text_of("user", "one"), text_of("model", "two"), None, text_of("user", "three")], 1):
        actions = EventActions(compaction=None if given else record)
        author = "voice" if n == 2 else "user"
        runner.session_service.append_event(
            session, Event(id=str(n), invocation_id="old", author=author, timestamp=n, content=given, actions=actions)
        )
    with runner.run_live(live_config=LiveConfig()) as live:
        list(live.turn())
    (sent,) = [data for _, verb, data in model.log if verb == "got"]
    texts = [part["text"] for turn in sent["clientContent"]["turns"] for part in turn["parts"]]
    assert texts == ["one", "two", "three"]
