"""The sections of live_transcripts.txt as scenarios: what the reference was run with, read off what it told."""

from __future__ import annotations

from typing import Any

from google.genai import types

from adknb.engine.context import ArtifactService, InMemoryArtifactService, LiveConfig
from adknb.engine.live import LiveRequest
from adknb.engine.plugin import Plugin
from adknb.engine.workflow_agents import SequentialAgent
from tests.live.harness import (
    DONE,
    GET,
    Log,
    Scenario,
    audio,
    blob,
    calls,
    content,
    heard,
    hooks,
    model_says,
    sends,
    spoken,
    text_of,
    voice,
)

PONG = model_says("pong", done=True)
AUDIO_16K = "audio/pcm;rate=16000"


class NoMp3(InMemoryArtifactService):
    """Takes no MP3: how the reference was made to fail at a save."""

    def save(self, session: Any, name: str, part: types.Part) -> int:
        if name.endswith(".mp3"):
            raise OSError("no room for MP3")
        return super().save(session, name, part)


def not_today(log: Log) -> list[Plugin]:
    def before_run(ctx: Any) -> types.Content:
        log.say("PLUG before_run")
        return text_of("model", "not today")

    return [Plugin("early", before_run=before_run, after_run=lambda ctx: log.say("PLUG after_run"))]


def no_service() -> ArtifactService | None:
    return None


def everything() -> LiveConfig:
    return LiveConfig(
        response_modalities=[types.Modality.AUDIO],
        speech_config=types.SpeechConfig(language_code="en-US"),
        input_audio_transcription=types.AudioTranscriptionConfig(),
        output_audio_transcription=types.AudioTranscriptionConfig(),
        session_resumption=types.SessionResumptionConfig(handle="h0"),
    )


def sequence(model: Any, log: Log) -> SequentialAgent:
    return SequentialAgent("seq", sub_agents=[voice(name=name)(model, log) for name in ("one", "two")])


def read_then_close(n: int) -> list[tuple[Any, ...]]:
    return [("read", n), ("close",)]


WEATHER = ("get_weather", "t1")

# fmt: off
GOLDEN: dict[str, Scenario] = {
    "basic": Scenario(
        voice(output_key="ans"),
        [[GET, sends(serverContent={"modelTurn": {"parts": [{"text": "po"}], "role": "model"}},
                     usageMetadata={"totalTokenCount": 7}), DONE]],
        [("read", 1), ("send", "ping"), *read_then_close(2)],
        plugins=hooks,
    ),
    "config": Scenario(voice("get_weather"), [[]], read_then_close(1), config=everything),
    "history": Scenario(
        voice(),
        [[GET, PONG]],
        read_then_close(2),
        history=[
            ("user", text_of("user", "h1")),
            ("voice", text_of("model", "h2")),
            ("user", types.Content(role="user", parts=[
                types.Part(text="with audio"),
                types.Part(inline_data=blob(b"\x01", "audio/pcm")),
                types.Part(inline_data=blob(b"\x01", "image/png")),
            ])),
            ("voice", text_of("model", "h4")),
        ],
    ),
    "realtime": Scenario(
        voice(),
        [[]],
        [
            ("read", 1),
            ("send", blob(b"\x01\x02")),
            ("send", blob(b"\x01\x02", AUDIO_16K)),
            ("send", types.ActivityStart()),
            ("send", types.ActivityEnd()),
            ("send", LiveRequest(text_of("user", "both"), types.ActivityEnd())),
            ("send", LiveRequest(realtime_input="nothing that could be sent")),
        ],
    ),
    "emptycontent": Scenario(voice(), [[]], [("read", 1), ("send", types.Content(role="user"))]),
    "tool": Scenario(
        voice("get_weather", log_callbacks=True),
        [[calls((*WEATHER, {"city": "Oslo"})), GET, PONG]],
        read_then_close(4),
        plugins=hooks,
    ),
    "tool_unknown": Scenario(voice("get_weather"), [[calls(("nope", "t1")), GET, PONG]], read_then_close(4)),
    "tool_completed_unknown": Scenario(voice("get_weather"), [[calls(("task_completed", "t1"))]]),
    "transfer": Scenario(
        voice(name="root", sub_agents=[voice(name="child")]),
        [[calls(("transfer_to_agent", "t1", {"agent_name": "child"})), GET, PONG]],
        read_then_close(4),
    ),
    "transcription": Scenario(
        voice("get_weather"),
        [[
            heard("what "), heard("weather"), calls(WEATHER), GET,
            spoken("sunny", modelTurn=audio()["send"]["serverContent"]["modelTurn"]),
            content(generationComplete=True),
            sends(serverContent={"turnComplete": True}, usageMetadata={"totalTokenCount": 3}),
        ]],
        read_then_close(10),
    ),
    "transcr_finished_flag": Scenario(
        voice(),
        [[content(inputTranscription={"text": "what ", "finished": True}),
          spoken("x", turnComplete=True, modelTurn={"role": "model", "parts": [{"text": "t"}]})]],
        read_then_close(5),
    ),
    "tool_same_msg": Scenario(
        voice("get_weather"),
        [[spoken("x"), sends(serverContent={"turnComplete": True},
                             toolCall={"functionCalls": [{"id": "q", "name": "get_weather", "args": {}}]})]],
        read_then_close(3),
    ),
    "close1000": Scenario(voice(), [[{"close": 1000, "reason": "done"}]]),
    "close1006": Scenario(voice(), [[{"drop": True}], [PONG]], read_then_close(3)),
    "loopforever": Scenario(voice(), [[{"drop": True}]] * 4),
    "servererror": Scenario(voice(), [[{"error": {"code": 500, "message": "boom"}}]]),
    "stopiter": Scenario(voice(), [[]], read_then_close(1), plugins=hooks),
    "audio": Scenario(
        voice(),
        [[
            {"get": 3}, audio(mime_type="audio/pcm;rate=24000"), content(interrupted=True),
            audio(mime_type="audio/mp3"), DONE,
        ]],
        [("read", 1), ("send", blob(b"\x01\x02", AUDIO_16K)), ("send", blob(b"\x03", "image/png")),
         ("send", blob(b"\x04", AUDIO_16K))],
        config=lambda: LiveConfig(save_live_blob=True),
        artifacts=NoMp3,
    ),
    "streamtool": Scenario(
        voice("ticker", "stop_streaming"),
        [[
            calls(("ticker", "t1")), {"get": 3},
            calls(("stop_streaming", "t2", {"function_name": "ticker"})), GET,
            calls(("stop_streaming", "t3", {"function_name": "ticker"})), GET, PONG,
        ]],
        read_then_close(8),
    ),
    "streamclose": Scenario(voice("ticker"), [[calls(("ticker", "t1"))]], read_then_close(3)),
    "early": Scenario(voice(), [[]], plugins=not_today),
    "sendearly": Scenario(voice(), [[GET, PONG]], [("send", "early"), *read_then_close(2)]),
    "seq": Scenario(sequence, [[calls(("task_completed", "t"))]] * 2, [("send", "too early")]),
    "x_chunks": Scenario(
        voice(output_key="ans"),
        [[model_says("Hel"), model_says("lo"),
          content(modelTurn={"role": "model", "parts": [{"text": "hid", "thought": True}]}), DONE]],
        read_then_close(5),
    ),
    "x_toolinturn": Scenario(
        voice("get_weather"),
        [[
            sends(serverContent={"modelTurn": {"role": "model", "parts": [{"text": "let me see"}]}},
                  toolCall={"functionCalls": [{"id": "q", "name": "get_weather", "args": {}}]},
                  usageMetadata={"totalTokenCount": 4}),
            GET, sends(toolCallCancellation={"ids": ["q"]}),
        ]],
        read_then_close(4),
    ),
    "x_reason": Scenario(voice(), [[{"close": 1011, "reason": "server sent GoAway"}], [PONG]], read_then_close(3)),
    "x_confirm": Scenario(voice("pay"), [[calls(("pay", "q")), GET, PONG]], read_then_close(4)),
    "noart": Scenario(voice(), [[PONG]], read_then_close(2), artifacts=no_service),
}
# fmt: on
"""Section -> what it was run with."""
