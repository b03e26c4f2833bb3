"""The rules of spec/live.md that the reference's transcripts do not show: each once, and every fault once.

A row is a rule, what is run, and what comes of it: what the reader is told, what the server gets, what is stored. Each
is run over the real client, over a scripted connection, and stepped.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pytest
from google.genai import types

from adknb.engine.context import LiveConfig
from adknb.engine.live import LiveRequest
from adknb.engine.plugin import Plugin
from adknb.engine.session import InMemorySessionService
from adknb.engine.workflow_agents import SequentialAgent
from tests.live.golden import PONG, read_then_close
from tests.live.harness import (
    DONE,
    GET,
    WAYS,
    Log,
    Scenario,
    audio,
    blob,
    calls,
    content,
    fits,
    heard,
    hooks,
    model_says,
    play,
    sends,
    spoken,
    text_of,
    voice,
)
from tests.live.words import in_few_words

EMPTY = "voice:"
W = "get_weather"
T1 = {"t": 1}
SEEN = "voice: get_weather#t1={'t': 1} {'seen': 1}"
GOT_T1 = "1 got tool get_weather#t1={'t': 1}"
CALL = "voice: get_weather#t1()"
DROP = {"drop": True}
WIRE_ONLY, NOT_STEPPED = ("wire",), ("wire", "scripted")


@dataclass
class Row:
    """A rule of the spec, the scenario, and what comes of it. What is None is not looked at."""

    rule: str
    scenario: Scenario
    told: Sequence[str] | None = None
    server: Sequence[str] | None = None
    stored: Sequence[str] | None = None
    ways: Sequence[str] = WAYS


def response(name: str, call_id: str, **result: Any) -> types.Part:
    return types.Part(function_response=types.FunctionResponse(id=call_id, name=name, response=result))


def user(*parts: types.Part | str) -> types.Content:
    return types.Content(role="user", parts=[p if isinstance(p, types.Part) else types.Part(text=p) for p in parts])


def resumes(handle: str | None = None) -> LiveConfig:
    return LiveConfig(session_resumption=types.SessionResumptionConfig(handle=handle))


def new_handle(handle: str | None) -> dict[str, Any]:
    return sends(sessionResumptionUpdate={"newHandle": handle, "resumable": False} if handle else {"resumable": True})


def failing_events(log: Log) -> list[Plugin]:
    def on_event(ctx: Any, event: Any) -> Any:
        if event.content is not None:
            raise RuntimeError("no events with content, please")

    return [Plugin("strict", on_event=on_event, after_run=lambda ctx: log.say("PLUG after_run"))]


def replacing(log: Log) -> list[Plugin]:
    def on_event(ctx: Any, event: Any) -> Any:
        return ctx.invocation.new_event(content=text_of("model", "another")) if event.content is not None else None

    return [Plugin("other words", on_event=on_event)]


class Full(InMemorySessionService):
    """Stores nothing that holds a text."""

    def append_event(self, session: Any, event: Any) -> None:
        if event.content is not None and event.author != "user":
            raise OSError("the disk is full")
        super().append_event(session, event)


def members(*agents: Any) -> Any:
    return lambda model, log: SequentialAgent("seq", sub_agents=[agent(model, log) for agent in agents])


def plain_agent(name: str) -> Any:
    from adknb.engine.workflow_agents import LoopAgent

    return lambda model, log: LoopAgent(name)


TASK_DONE = calls(("task_completed", "t"))
ONE_IS_DONE = ["one:", "one: task_completed#t()", "one: task_completed#t={'result': 'Task completion signaled.'}"]

# fmt: off
ROWS = [
    # §1, §6: what the reader sends
    Row("1.2 a request with nothing in it sends nothing",
        Scenario(voice(), [[GET, PONG]], [("read", 1), ("send", LiveRequest()), ("send", "x"), *read_then_close(1)]),
        [EMPTY, "voice: 'pong' done"], ["1 setup", "1 got content user 'x'"]),
    Row("6.2 a content that begins with a call's answer is a tool response; its other parts are lost",
        Scenario(voice(), [[GET, PONG]],
                 [("read", 1), ("send", user(response("f", "1", a=1), "lost", response("g", "2"))), *read_then_close(1)]),
        server=["1 setup", "1 got tool f#1={'a': 1} g#2={}"], stored=[EMPTY, "voice: 'pong' done"]),
    Row("6.2 an answer behind a text goes as content; it is not stored",
        Scenario(voice(), [[GET, PONG]], [("read", 1), ("send", user("here", response("f", "1"))), *read_then_close(1)]),
        server=["1 setup", "1 got content user 'here' f#1={}"], stored=[EMPTY, "voice: 'pong' done"]),
    Row("6.2 the role stays as given, even the model's",
        Scenario(voice(), [[GET, PONG]], [("read", 1), ("send", text_of("model", "I said")), *read_then_close(1)]),
        server=["1 setup", "1 got content model 'I said'"], stored=[EMPTY, "user: 'I said'", "voice: 'pong' done"]),
    Row("6.4 a lone text goes to a 3.1 model as realtime text, two parts as content",
        Scenario(voice(), [[{"get": 2}, PONG]],
                 [("read", 1), ("send", "one"), ("send", user("one", "two")), *read_then_close(1)],
                 model="gemini-3.1-flash-live"),
        server=["1 setup", "1 got text one", "1 got content user 'one' 'two'"],
        stored=[EMPTY, "user: 'one'", "user: 'one' 'two'", "voice: 'pong' done"]),
    Row("6.5 blobs go to a 3.1 model as video or audio",
        Scenario(voice(), [[{"get": 3}, PONG]],
                 [("read", 1), ("send", blob(b"\x01", "image/jpeg")), ("send", blob(b"\x02", "audio/mp3")),
                  ("send", blob(b"\x89PNG\r\n\x1a\n")), *read_then_close(1)],
                 model="gemini-3.1-flash-live"),
        server=["1 setup", "1 got video <image/jpeg AQ==>", "1 got audio <audio/mp3 Ag==>",
                "1 got video <image/png iVBORw0KGgo=>"]),
    Row("6.5 a blob without a type: PNG by its first bytes, else audio",
        Scenario(voice(), [[{"get": 2}, PONG]],
                 [("read", 1), ("send", blob(b"\x89PNG\r\n\x1a\n")), ("send", blob(b"\x89PN")), *read_then_close(1)]),
        server=["1 setup", "1 got media <image/png iVBORw0KGgo=>", "1 got media <audio/pcm iVBO>"],
        stored=[EMPTY, "voice: 'pong' done"]),
    Row("6.1 and 13.1 send on a closed session fails; close may be repeated",
        Scenario(voice(), [[]], [("read", 1), ("close",), ("close",), ("send", "late")]),
        [EMPTY, "SEND LiveSessionClosed"], ["1 setup"], [EMPTY]),
    Row("13.2 a run that ended from inside is closed",
        Scenario(voice(), [[{"close": 1000}]], [("read", 2), ("send", "late")]),
        [EMPTY, "ERR LiveReceiveFailed", "SEND LiveSessionClosed"], stored=[EMPTY]),
    Row("13.3 whoever leaves the iterator may still send, and it is stored",
        Scenario(voice(), [[GET, PONG]], [("read", 1), ("send", "still there?"), ("close",)]),
        stored=[EMPTY, "user: 'still there?'"], ways=NOT_STEPPED),
    # §2, §3: the start
    Row("2.4 a plugin's answer: no connection, the session is closed",
        Scenario(voice(), [[]], [("send", "x"), ("close",)],
                 plugins=lambda log: [Plugin("p", before_run=lambda ctx: text_of("model", "no"))]),
        ["SEND LiveSessionClosed", "voice: 'no'"], [], ["voice: 'no'"], NOT_STEPPED),
    Row("2.6 after_run fires when the run ends, whatever ends it",
        Scenario(voice(), [[{"close": 1011, "reason": "busy"}]], plugins=hooks),
        ["PLUG before_run", "PLUG on_event partial=false", EMPTY, "PLUG after_run", "ERR LiveReceiveFailed"]),
    Row("3.1 an error of a stage is told and ends the run",
        Scenario(voice(request_processors=[lambda ctx, request, flow: 1 / 0]), [[]], plugins=hooks),
        ["PLUG before_run", "PLUG after_run", "ERR ZeroDivisionError"], []),
    # §4, §12: connecting
    Row("4.1 a first connect that fails ends the run",
        Scenario(voice(), [[{"refuse": True}]]), ["ERR LiveConnectFailed"], ["SERVER refuses connection 1"], []),
    Row("4.1 a later connect that fails ends the run",
        Scenario(voice(), [[PONG, DROP]]),
        [EMPTY, "voice: 'pong' done", "ERR LiveConnectFailed"], ["1 setup", "SERVER refuses connection 2"]),
    Row("12.2 without a handle it connects as well, as a new conversation",
        Scenario(voice(), [[model_says("a"), DROP], [PONG]], read_then_close(4)),
        [EMPTY, "voice: 'a'", EMPTY, "voice: 'pong' done"], ["1 setup", "2 setup"]),
    Row("5.1 the history is sent on every connection, also a resumed one",
        Scenario(voice(), [[GET, new_handle("h1"), DROP], [GET, PONG]], read_then_close(4),
                 history=[("user", text_of("user", "hi"))]),
        [EMPTY, "voice: handle h1", EMPTY, "voice: 'pong' done"],
        ["1 setup", "1 got content user 'hi'", "2 setup", "2 got content user 'hi'"]),
    Row("5.1 a history of nothing but audio is not sent",
        Scenario(voice(), [[GET, PONG]], [("read", 1), ("send", "x"), *read_then_close(1)],
                 history=[("user", types.Content(role="user", parts=[types.Part(inline_data=blob(b"1", "audio/x"))]))]),
        server=["1 setup", "1 got content user 'x'"]),
    Row("5.3 a 3.1 model is sent no history",
        Scenario(voice(), [[GET, PONG]], [("read", 1), ("send", "x"), *read_then_close(1)],
                 history=[("user", text_of("user", "hi"))], model="gemini-3.1-flash-live"),
        server=["1 setup", "1 got text x"]),
    Row("12.3 what is sent after a reconnect goes to the new connection",
        Scenario(voice(), [[GET, DROP], [GET, PONG]],
                 [("read", 1), ("send", "a"), ("read", 1), ("send", "b"), *read_then_close(1)]),
        [EMPTY, EMPTY, "voice: 'pong' done"],
        ["1 setup", "1 got content user 'a'", "2 setup", "2 got content user 'b'"]),
    Row("12 go-away: an empty event, and only the break behind it counts",
        Scenario(voice(), [[{"go_away": "5s"}, PONG, DROP], [{"go_away": "1s"}, PONG]], read_then_close(6)),
        [EMPTY, EMPTY, "voice: 'pong' done", EMPTY, EMPTY, "voice: 'pong' done"]),
    Row("12 a server that takes its time", Scenario(voice(), [[{"wait": 0.2}, PONG]], read_then_close(2)),
        [EMPTY, "voice: 'pong' done"]),
    Row("12 a server that sends faster than anybody reads loses nothing",
        Scenario(voice(), [[{"flood": {"message": model_says("#")["send"], "times": 200}}, PONG]], read_then_close(202)),
        [EMPTY, *(f"voice: '{n}'" for n in range(200)), "voice: 'pong' done"]),
    Row("12 nonsense ends the run", Scenario(voice(), [[PONG, {"text": "{not JSON"}]]),
        [EMPTY, "voice: 'pong' done", "ERR LiveReceiveFailed"]),
    Row("12 JSON that is no message ends the run", Scenario(voice(), [[{"text": "[1, 2]"}]]),
        [EMPTY, "ERR LiveReceiveFailed"]),
    Row("12 a cancelled run tells so", Scenario(voice(), [[]], [("read", 1), ("cancel",)], plugins=hooks),
        ["PLUG before_run", "PLUG on_event partial=false", EMPTY, "PLUG after_run", "ERR LiveCancelled"]),
    # §7, §8: from message to event
    Row("7 a resumption update hides what else is in its message; an empty one is an empty event",
        Scenario(voice(), [[sends(sessionResumptionUpdate={"newHandle": "h1"}, serverContent={"turnComplete": True}),
                            new_handle(None), PONG]], read_then_close(4)),
        [EMPTY, "voice: handle h1", EMPTY, "voice: 'pong' done"]),
    Row("7 what means nothing to the Flow is an empty event",
        Scenario(voice(), [[sends(usageMetadata={"totalTokenCount": 9}), content(generationComplete=True),
                            sends(toolCallCancellation={"ids": ["x"]}), content(groundingMetadata={}), PONG]],
                 read_then_close(6)),
        [EMPTY] * 5 + ["voice: 'pong' done"], stored=[EMPTY] * 5 + ["voice: 'pong' done"]),
    Row("7 an interruption, too, ends what is being transcribed",
        Scenario(voice(), [[heard("stop"), spoken("Once upon"), content(interrupted=True), DONE]], read_then_close(7)),
        [EMPTY, "voice: partial in 'stop'", "voice: partial out 'Once upon'", "voice: whole in 'stop'",
         "voice: whole out 'Once upon'", "voice: interrupted", "voice: done"],
        stored=[EMPTY, "voice: whole in 'stop'", "voice: whole out 'Once upon'", "voice: interrupted", "voice: done"]),
    Row("7 both directions in one message make one chunk",
        Scenario(voice(), [[heard("a", outputTranscription={"text": "b"}), DONE]], read_then_close(5)),
        [EMPTY, "voice: partial in 'a' out 'b'", "voice: whole in 'a'", "voice: whole out 'b'", "voice: done"]),
    Row("7.1 transcriptions out of order: each direction is joined by itself",
        Scenario(voice(), [[spoken("B1 "), heard("A1 "), spoken("B2"), heard("A2"), DONE]], read_then_close(8)),
        [EMPTY, "voice: partial out 'B1 '", "voice: partial in 'A1 '", "voice: partial out 'B2'",
         "voice: partial in 'A2'", "voice: whole in 'A1 A2'", "voice: whole out 'B1 B2'", "voice: done"]),
    Row("7.2 without a transcription a call beside the turn's end is kept",
        Scenario(voice(W), [[sends(serverContent={"turnComplete": True},
                                   toolCall={"functionCalls": [{"id": "t1", "name": W}]}), GET, PONG]],
                 read_then_close(4)),
        [EMPTY, "TOOL get_weather map[]", "voice: get_weather#t1() done", SEEN, "voice: 'pong' done"]),
    Row("7.6 what was half said is forgotten at a reconnect",
        Scenario(voice(), [[heard("half "), DROP], [heard("whole"), DONE]], read_then_close(6)),
        [EMPTY, "voice: partial in 'half '", EMPTY, "voice: partial in 'whole'", "voice: whole in 'whole'",
         "voice: done"]),
    Row("8.1 calls without id get none from us",
        Scenario(voice("later"), [[sends(toolCall={"functionCalls": [{"name": "later"}]}), PONG]], read_then_close(3)),
        [EMPTY, "TOOL later", "voice: later#None()", "voice: 'pong' done"]),
    Row("8.3 transcriptions and audio never set the output key",
        Scenario(voice(output_key="ans"), [[spoken("said"), audio(), DONE]], read_then_close(5)),
        [EMPTY, "voice: partial out 'said'", "voice: <audio/pcm AAEC>", "voice: whole out 'said'", "voice: done"]),
    # §9, §10: tools
    Row("10.1 several calls of one message: one answer, in the order of the calls",
        Scenario(voice(W, "fails"), [[calls((W, "a"), ("fails", "b"), (W, "c")), GET, PONG]], read_then_close(4)),
        server=["1 setup", "1 got tool get_weather#a={'t': 1} fails#b={'error': 'out of paper'} get_weather#c={'t': 1}"]),
    Row("10.1 input is sent while a tool runs",
        Scenario(voice("slow"), [[calls(("slow", "s")), {"get": 2}, PONG]],
                 [("read", 2), ("send", "hurry"), *read_then_close(2)]),
        server=["1 setup", "1 got content user 'hurry'", "1 got tool slow#s={'done': true}"], ways=NOT_STEPPED),
    Row("10.3 an error is the answer",
        Scenario(voice("fails"), [[calls(("fails", "f")), GET, PONG]], read_then_close(4)),
        [EMPTY, "voice: fails#f()", "voice: fails#f={'error': 'out of paper'}", "voice: 'pong' done"]),
    Row("10.4 a long-running tool without an answer: no event, nothing sent",
        Scenario(voice("later"), [[calls(("later", "l")), PONG, GET, PONG]],
                 [("read", 3), ("send", user(response("later", "l", at="last"))), *read_then_close(1)]),
        [EMPTY, "TOOL later", "voice: later#l()", "voice: 'pong' done", "voice: 'pong' done"],
        ["1 setup", "1 got tool later#l={'at': 'last'}"],
        [EMPTY, "voice: later#l()", "voice: 'pong' done", "voice: 'pong' done"]),
    Row("10.7 a tool's answer that cannot be sent ends the run, even on a broken line",
        Scenario(voice("slow"), [[calls(("slow", "s")), DROP], [PONG]]),
        [EMPTY, "voice: slow#s()", "TOOL slow", "voice: slow#s={'done': true}", "ERR LiveSendFailed"], ["1 setup"]),
    Row("10.11 a streaming tool's error ends it; the run goes on",
        Scenario(voice("breaks"), [[calls(("breaks", "b")), {"get": 2}, PONG]], read_then_close(4)),
        [EMPTY, "voice: breaks#b()", "voice: breaks#b={'status': '<text>'}", "voice: 'pong' done"]),
    Row("10.12 a streaming tool goes on over a reconnect",
        Scenario(voice("ticker", "stop_streaming"),
                 [[calls(("ticker", "t")), {"get": 2}, DROP],
                  [GET, calls(("stop_streaming", "s", {"function_name": "ticker"})), GET, PONG]], read_then_close(7)),
        [EMPTY, "voice: ticker#t()", "voice: ticker#t={'status': '<text>'}", EMPTY,
         "voice: stop_streaming#s(function_name=ticker)", "voice: stop_streaming#s={'status': '<text>'}",
         "voice: 'pong' done"]),
    Row("10.12 stop_streaming cancels all instances of a name",
        Scenario(voice("ticker", "stop_streaming"),
                 [[calls(("ticker", "1"), ("ticker", "2")), {"get": 3},
                   calls(("stop_streaming", "s", {"function_name": "ticker"})), GET, {"wait": 0.3}, PONG]],
                 read_then_close(6)),
        [EMPTY, "voice: ticker#1() ticker#2()", "voice: ticker#1={'status': '<text>'} ticker#2={'status': '<text>'}",
         "voice: stop_streaming#s(function_name=ticker)", "voice: stop_streaming#s={'status': 'All <text>'}",
         "voice: 'pong' done"]),
    Row("10.13 nothing to stop, and no argument to say what",
        Scenario(voice(), [[calls(("stop_streaming", "s")), GET, PONG]], read_then_close(4)),
        [EMPTY, "voice: stop_streaming#s()", "voice: stop_streaming#s={'status': 'No <text>'}", "voice: 'pong' done"]),
    # §11: audio
    Row("11.2 the type is that of a batch's first chunk; one without goes on with the last type",
        Scenario(voice(), [[audio("AQ==", "audio/mp3"), audio("Ag==", "audio/x"), DONE, audio("Aw==", ""), DONE]],
                 read_then_close(8), config=lambda: LiveConfig(save_live_blob=True)),
        [EMPTY, "voice: <audio/mp3 AQ==>", "voice: <audio/x Ag==>", "voice: done",
         "voice: <audio/mp3 at artifact://demo/u/s/_adk_live/adk_live_audio_storage_output_audio_<ms>.mp3#1>",
         "voice: <? Aw==>", "voice: done",  # a batch of the same millisecond is version 2 of the same name
         "voice: <audio/mp3 at artifact://demo/u/s/_adk_live/adk_live_audio_storage_output_audio_<ms>.mp3#<ms>>"]),
    Row("11.3 audio of both sides is saved at the turn's end, the reader's first, over a reconnect",
        Scenario(voice(), [[GET, audio(), DROP], [audio("Aw=="), DONE]],
                 [("read", 1), ("send", blob(b"\x01", "audio/pcm;rate=16000")), *read_then_close(6)],
                 config=lambda: LiveConfig(save_live_blob=True)),
        [EMPTY, "voice: <audio/pcm AAEC>", EMPTY, "voice: <audio/pcm Aw==>", "voice: done",
         "user: <audio/pcm;rate=16000 at <text>input_audio_<ms>.pcm#1>",
         "voice: <audio/pcm at <text>output_audio_<ms>.pcm#1>"]),
    Row("11.3 nothing is saved at a close",
        Scenario(voice(), [[audio()]], read_then_close(2), config=lambda: LiveConfig(save_live_blob=True)),
        [EMPTY, "voice: <audio/pcm AAEC>"], stored=[EMPTY]),
    Row("11.6 no artifact service: an error, at the moment of saving",
        Scenario(voice(), [[audio(), DONE]], config=lambda: LiveConfig(save_live_blob=True), artifacts=lambda: None),
        [EMPTY, "voice: <audio/pcm AAEC>", "voice: done", "ERR ArtifactError"]),
    # §14: the runner
    Row("14.2 a plugin's error drops the event; the run goes on, also its tools",
        Scenario(voice(W), [[calls((W, "t1")), GET, DONE]], [("read", 4), ("close",)], plugins=failing_events),
        [EMPTY, "ERR RuntimeError", "TOOL get_weather map[]", "ERR RuntimeError", "voice: done", "PLUG after_run"],
        ["1 setup", GOT_T1], [EMPTY, "voice: done"]),
    Row("14.2 a plugin may replace an event",
        Scenario(voice(), [[PONG]], read_then_close(2), plugins=replacing),
        [EMPTY, "voice: 'another'"], stored=[EMPTY, "voice: 'another'"]),
    Row("14.5 what holds bytes is told and not stored, be it audio or an image",
        Scenario(voice(), [[audio(), audio("AQ==", "image/png"), DONE]], read_then_close(4)),
        [EMPTY, "voice: <audio/pcm AAEC>", "voice: <image/png AQ==>", "voice: done"], stored=[EMPTY, "voice: done"]),
    Row("14.7 a run that ends while transcribing loses what it held back",
        Scenario(voice(W), [[heard("what"), calls((W, "t1")), GET, {"close": 1000}]]),
        [EMPTY, "voice: partial in 'what'", "TOOL get_weather map[]", "ERR LiveReceiveFailed"],
        ["1 setup", GOT_T1], [EMPTY]),
    Row("14.8 a call riding on a chunk is run, told late, and stored without its call",
        Scenario(voice(W), [[sends(serverContent={"outputTranscription": {"text": "hm"}},
                                   toolCall={"functionCalls": [{"id": "t1", "name": W}]}), GET, DONE]],
                 read_then_close(5)),
        [EMPTY, "TOOL get_weather map[]", "voice: whole out 'hm'", "voice: partial out 'hm' get_weather#t1()", SEEN,
         "voice: done"],
        ["1 setup", GOT_T1], [EMPTY, "voice: whole out 'hm'", SEEN, "voice: done"]),
    Row("14.9 an event that cannot be stored is an error; the run goes on",
        Scenario(voice(), [[PONG, DONE]], read_then_close(3), options={"session_service": Full()}),
        [EMPTY, "ERR OSError", "voice: done"], stored=[EMPTY, "voice: done"]),
    # §16: sequences
    Row("16.3 an error while a member runs is told, and the next one begins",
        Scenario(members(voice(name="one"), voice(name="two")), [[{"close": 1000}], [TASK_DONE]]),
        ["one:", "ERR LiveReceiveFailed", "two:", "two: task_completed#t()",
         "two: task_completed#t={'result': 'Task completion signaled.'}"]),
    Row("16.3 a member that cannot start ends the sequence",
        Scenario(members(voice(name="one"), plain_agent("loop"), voice(name="three")), [[TASK_DONE]] * 3),
        [*ONE_IS_DONE, "ERR LiveUnsupported"]),
    Row("16.4 close ends the present member only: the next one connects, and send is refused",
        Scenario(members(voice(name="one"), voice(name="two")), [[], [TASK_DONE]],
                 [("read", 1), ("close",), ("send", "x"), ("read", 1), ("send", "y")]),
        ["one:", "SEND LiveSessionClosed", "two:", "SEND LiveSessionClosed", "two: task_completed#t()",
         "two: task_completed#t={'result': 'Task completion signaled.'}"]),
    # §19
    Row("19 the worked run",
        Scenario(voice("get_weather"), [[heard("who "), heard("won"), calls((W, "t1")), GET,
                                         spoken("Ana", modelTurn={"role": "model", "parts": [
                                             {"inlineData": {"data": "AAEC", "mimeType": "audio/pcm"}}]}), DONE]],
                 read_then_close(9)),
        [EMPTY, "voice: partial in 'who '", "voice: partial in 'won'", "TOOL get_weather map[]",
         "voice: partial out 'Ana' <audio/pcm AAEC>", "voice: whole in 'who won'", CALL, SEEN, "voice: whole out 'Ana'",
         "voice: done"],
        stored=[EMPTY, "voice: whole in 'who won'", CALL, SEEN, "voice: whole out 'Ana'", "voice: done"]),
]
# fmt: on

UNORDERED = ("TOOL",)
"""A tool runs as soon as its call was told, or sooner if that was held back: only that it ran is looked at."""


def agree(wanted: Sequence[str], got: Sequence[str]) -> None:
    for lines in (
        lambda given: [line for line in given if not line.startswith(UNORDERED)],
        lambda given: sorted(line for line in given if line.startswith(UNORDERED)),
    ):
        one, other = lines(wanted), lines(got)
        assert len(one) == len(other) and all(map(fits, one, other)), "\n".join(["wanted:", *one, "got:", *other])


@pytest.mark.parametrize("row, way", [pytest.param(r, w, id=f"{r.rule} [{w}]") for r in ROWS for w in r.ways])
def test_a_rule_of_the_spec(row: Row, way: str) -> None:
    if "session_service" in row.scenario.options:
        row.scenario.options["session_service"] = Full()
    told = play(row.scenario, way)
    if row.told is not None:
        agree(row.told, [in_few_words(line) for line in told.reader])
    if row.server is not None:
        seen = [line for line in told.server if " sends " not in line and " closes " not in line]
        agree(row.server, [in_few_words(line) for line in seen])
    if row.stored is not None:
        agree(row.stored, [in_few_words(line) for line in told.stored])


# fmt: off
RECONNECTS = [(1006, None), (1008, ""), (1008, "policy"), (1011, "got EOF"), (1000, "GoAway now"), (1001, "1008 times"),
              (1011, "broken pipe"), (1002, "connection reset by peer")]
ENDS = [(1000, ""), (1000, "done"), (1001, ""), (1002, ""), (1003, "no"), (1007, ""), (1011, "internal"),
        (1011, "goaway"), (1012, ""), (1013, "later"), (4000, "our own")]
# fmt: on


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("code, reason, again", [*((*c, True) for c in RECONNECTS), *((*c, False) for c in ENDS)])
def test_which_closes_are_followed_by_a_new_connection(code: int, reason: str | None, again: bool, way: str) -> None:
    step = DROP if reason is None else {"close": code, **({"reason": reason} if reason else {})}
    told = play(Scenario(voice(), [[step], [PONG]], read_then_close(3) if again else ()), way)
    expected = [EMPTY, EMPTY, "voice: 'pong' done"] if again else [EMPTY, "ERR LiveReceiveFailed"]
    assert [in_few_words(line) for line in told.reader] == expected


def test_there_are_at_least_forty_scenarios() -> None:
    assert len(ROWS) + len(RECONNECTS) + len(ENDS) >= 40
    assert len({row.rule for row in ROWS}) == len(ROWS)
