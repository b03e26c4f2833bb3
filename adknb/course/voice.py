"""Lesson 13's model at the other end of a line: what it sends, message by message, and how its sounds are made.

    line = [{"get": 1}, hears("Where is Emma?"), calls("find_book", title="Emma"), {"get": 1}, speaks(440), DONE]
    ScriptedLive([line])

The messages are the Gemini Live API's own; `{"get": n}` waits for n of ours (scenarios/live_script.py).
"""

from __future__ import annotations

import base64
import math
import struct
from typing import Any

from adknb.engine.event import Event, function_calls_of, function_responses_of, parts_of

Json = dict[str, Any]

RATE_IN, RATE_OUT = 16_000, 24_000
"""Samples a second: of what is said to the model, and of what it says."""


def tone(hertz: float, seconds: float = 0.05, rate: int = RATE_IN) -> bytes:
    """A tone that swells and fades, as 16-bit PCM: somebody's voice."""
    n = int(seconds * rate)
    return b"".join(
        struct.pack("<h", int(24_000 * math.sin(math.pi * i / n) * math.sin(2 * math.pi * hertz * i / rate)))
        for i in range(n)
    )


def server(**content: Any) -> Json:
    """A message with server content, its fields in camelCase."""
    return {"send": {"serverContent": content}}


def hears(text: str) -> Json:
    """The model's side has understood a piece of what the user says."""
    return server(inputTranscription={"text": text})


def speaks(hertz: float) -> Json:
    """The model speaks for a twentieth of a second."""
    data = base64.b64encode(tone(hertz, rate=RATE_OUT)).decode()
    blob = {"data": data, "mimeType": f"audio/pcm;rate={RATE_OUT}"}
    return server(modelTurn={"role": "model", "parts": [{"inlineData": blob}]})


def spoken(text: str) -> Json:
    """What the model has just said, as text."""
    return server(outputTranscription={"text": text})


def writes(text: str) -> Json:
    """The model writes a piece of text."""
    return server(modelTurn={"role": "model", "parts": [{"text": text}]})


def calls(name: str, **args: Any) -> Json:
    """The model calls a tool."""
    return {"send": {"toolCall": {"functionCalls": [{"id": "7", "name": name, "args": args}]}}}


DONE = server(turnComplete=True)
INTERRUPTED = server(interrupted=True)
HANDLE = {"send": {"sessionResumptionUpdate": {"newHandle": "h-1", "resumable": True}}}
"""A handle by which a line that is lost can be taken up again."""


def tells(event: Event) -> str:
    """What an event of a live run tells, in a few words: "heard 'Where is '", "call", "sound", "turn_complete"."""
    heard, said = event.input_transcription, event.output_transcription
    for name, piece in (("heard", heard), ("spoken", said)):
        if piece is not None:
            return f"{name} {piece.text!r}" + (" finished" if piece.finished else "")
    if function_calls_of(event.content):
        return "call"
    if responses := function_responses_of(event.content):
        return f"answer {responses[0].response}"
    if any(part.inline_data for part in parts_of(event.content)):
        return "sound"
    return ", ".join(mark for mark in ("interrupted", "turn_complete") if getattr(event, mark)) or "(empty)"
