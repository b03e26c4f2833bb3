"""A voice turn with everything in it: activity, audio both ways, transcription, a tool, a barge-in, a lost line."""

from __future__ import annotations

import base64
import math
import struct
from typing import Any

from google.genai import types

import adknb
from adknb.scenarios.live_script import ScriptedLive


def tone(samples: int, hertz: int, rate: int) -> bytes:
    """A tone that swells and fades, 16 bits a sample."""
    swell = [math.sin(math.pi * i / samples) * math.sin(2 * math.pi * hertz * i / rate) for i in range(samples)]
    return b"".join(struct.pack("<h", int(24000 * s)) for s in swell)


def content(**what: Any) -> dict[str, Any]:
    """A message of the server with server content."""
    return {"send": {"serverContent": what}}


def says(pcm: bytes) -> dict[str, Any]:
    """A message of the server with sound."""
    blob = {"data": base64.b64encode(pcm).decode(), "mimeType": "audio/pcm;rate=24000"}
    return content(modelTurn={"role": "model", "parts": [{"inlineData": blob}]})


CALL = {"send": {"toolCall": {"functionCalls": [{"id": "w", "name": "get_weather", "args": {"city": "Hangzhou"}}]}}}
HEARD = types.Blob(data=tone(1600, 220, 16000), mime_type="audio/pcm;rate=16000")
GET = {"get": 1}
CONNECTIONS = [
    [{"get": 4}, content(inputTranscription={"text": "How is the weather?"}),
     {"send": {"sessionResumptionUpdate": {"newHandle": "h-1", "resumable": True}}}, CALL, GET,
     says(tone(2400, 440, 24000)), says(tone(2400, 330, 24000)), content(outputTranscription={"text": "It is 24"}),
     content(interrupted=True), content(turnComplete=True), {"go_away": "5s"}, {"drop": True}],
    [GET, says(tone(2400, 440, 24000)), content(turnComplete=True)],
]  # fmt: skip


def get_weather(city: str) -> dict[str, str]:
    """The weather of a city."""
    return {"city": city, "sky": "clear"}


def voice_turn() -> adknb.LiveStepper:
    """A Stepper that has come through the first connection and waits on the second."""
    agent = adknb.LlmAgent("voice", ScriptedLive(CONNECTIONS), tools=[get_weather])
    dbg = adknb.step_live(agent, adknb.LiveConfig(response_modalities=["AUDIO"]), patience=0)
    for what in (types.ActivityStart(), HEARD, HEARD, types.ActivityEnd()):
        dbg.send(what)
    dbg.resume()
    return dbg
