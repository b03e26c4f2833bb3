"""The recording of a live run as JSON, for a saved journal: what came and what was sent, connection by connection.

    {"config": {…}                                              the LiveConfig
     "connections": [{"received": [null, {…}, {"raise": …}],    null: nothing had come when it was asked
                      "sent": [{…}, …]}, {"raise": {…}}],       {"raise"}: it could not be made
     "sends": [{"told": 12, "request": {…}}, {"told": 30, "close": true}],
     "chunks": [{"looked": 4, "request": {…}}],                 of streaming tools
     "taken": [2, 9], "times": [0.0, 0.12], "running": [true]}

See `live_play.LiveTape`. An error keeps its type, its message and, if it has one, its code.
"""

from __future__ import annotations

from dataclasses import fields as fields_of
from enum import Enum
from typing import Any

from google.genai import types
from pydantic import BaseModel

from adknb.engine.context import LiveConfig
from adknb.engine.errors import BadData
from adknb.engine.live import LiveRequest
from adknb.engine.stops import Raise
from adknb.stepper.json_values import decode, encode, outcome_from_json, outcome_to_json, record_from_json
from adknb.stepper.json_values import record_to_json as written
from adknb.stepper.live_play import CLOSE, Arrival, LivePlay, LiveTape, TapedConnection

Json = dict[str, Any]

RECORDS: dict[str, type[BaseModel]] = {
    "speech_config": types.SpeechConfig,
    "input_audio_transcription": types.AudioTranscriptionConfig,
    "output_audio_transcription": types.AudioTranscriptionConfig,
    "session_resumption": types.SessionResumptionConfig,
    "realtime_input_config": types.RealtimeInputConfig,
    "proactivity": types.ProactivityConfig,
}
"""The fields of a LiveConfig that are records of google-genai."""
PLAIN: dict[str, type] = {
    "response_modalities": list,
    "save_live_blob": bool,
    "enable_affective_dialog": bool,
    "max_llm_calls": int,
}


def live_to_json(play: LivePlay) -> Json:
    """The recording of a play, all that is known of it. Raises NoJsonForm."""
    tape = play.whole_tape()
    return {
        "config": _config_to_json(play.config),
        "connections": [_connection_to_json(one, f"connection {n}") for n, one in enumerate(tape.connections, 1)],
        "sends": [
            {"told": told, **({"close": True} if sent is CLOSE else {"request": _request_to_json(sent, "a send")})}
            for told, sent in tape.sends
        ],
        "chunks": [{"looked": n, "request": _request_to_json(sent, "a chunk")} for n, sent in tape.chunks],
        "taken": list(tape.taken),
        "times": list(tape.times),
        "running": list(tape.running),
    }


def live_from_json(given: Any, where: str) -> tuple[LiveConfig, LiveTape]:
    """Config and recording. Raises BadData naming the place."""
    from adknb.stepper.journal_file import fields

    kinds = {
        "config": dict,
        "connections": list,
        "sends": list,
        "chunks": list,
        "taken": list,
        "times": list,
        "running": list,
    }
    read = fields(given, where, kinds)
    tape = LiveTape(
        [_connection(one, f"{where}.connections[{n}]") for n, one in enumerate(read.get("connections", []))]
    )
    for n, one in enumerate(read.get("sends", [])):
        at = f"{where}.sends[{n}]"
        send = fields(one, at, {"told": int, "request": dict, "close": bool}, "told")
        sent = CLOSE if send.get("close") else _request(send.get("request", {}), f"{at}.request")
        tape.sends.append((send["told"], sent))
    for n, one in enumerate(read.get("chunks", [])):
        at = f"{where}.chunks[{n}]"
        chunk = fields(one, at, {"looked": int, "request": dict}, "looked", "request")
        tape.chunks.append((chunk["looked"], _request(chunk["request"], f"{at}.request")))
    tape.taken = [_of(one, int, f"{where}.taken[{n}]") for n, one in enumerate(read.get("taken", []))]
    tape.times = [float(_of(one, float, f"{where}.times[{n}]")) for n, one in enumerate(read.get("times", []))]
    tape.running = [_of(one, bool, f"{where}.running[{n}]") for n, one in enumerate(read.get("running", []))]
    return _config(read.get("config", {}), f"{where}.config"), tape


# ---- the parts


def _config_to_json(config: LiveConfig) -> Json:
    out: Json = {}
    for name in (f.name for f in fields_of(config)):
        value = getattr(config, name)
        if isinstance(value, BaseModel):
            value = written(value, f"LiveConfig.{name}")
        elif isinstance(value, list):
            value = [one.value if isinstance(one, Enum) else one for one in value]
        if value not in (None, False):
            out[name] = value
    return out


def _config(given: Json, where: str) -> LiveConfig:
    config = LiveConfig()
    for name, value in given.items():
        if name in RECORDS:
            value = record_from_json(RECORDS[name], value, f"{where}.{name}")
        elif name not in PLAIN:
            raise BadData(where, f"unknown field {name!r}; known: {', '.join([*PLAIN, *RECORDS])}")
        else:
            _of(value, PLAIN[name], f"{where}.{name}")
        setattr(config, name, value)
    return config


def _connection_to_json(one: TapedConnection | Exception, where: str) -> Json:
    if isinstance(one, Exception):
        return _error_to_json(one, where)
    return {"received": [_arrival_to_json(a, where) for a in one.received], "sent": encode(one.sent, where)}


def _connection(given: Any, where: str) -> TapedConnection | Exception:
    from adknb.stepper.journal_file import fields

    read = fields(given, where, {"received": list, "sent": list, "raise": dict, "code": int})
    if "raise" in read:
        return _error(given, where)
    received = [_arrival(one, f"{where}.received[{n}]") for n, one in enumerate(read.get("received", []))]
    return TapedConnection(received, decode(read.get("sent", []), f"{where}.sent"))


def _arrival_to_json(arrived: Arrival, where: str) -> Json | None:
    if arrived is None:
        return None
    return _error_to_json(arrived, where) if isinstance(arrived, Exception) else dict(written(arrived, where))


def _arrival(given: Any, where: str) -> Arrival:
    if given is None:
        return None
    if isinstance(given, dict) and "raise" in given:
        return _error(given, where)
    message: types.LiveServerMessage = record_from_json(types.LiveServerMessage, _of(given, dict, where), where)
    return message


def _error_to_json(error: Exception, where: str) -> Json:
    code = getattr(error, "code", None)
    return outcome_to_json(Raise(error), where) | ({"code": code} if isinstance(code, int) else {})


def _error(given: Json, where: str) -> Exception:
    outcome = outcome_from_json({"raise": given["raise"]}, where)
    assert isinstance(outcome, Raise)
    if "code" in given:
        code = _of(given["code"], int, f"{where}.code")
        if not hasattr(outcome.error, "code"):
            outcome.error.code = code  # type: ignore[attr-defined]
    return outcome.error


def _request_to_json(request: LiveRequest, where: str) -> Json:
    content = request.content
    return {
        **({} if content is None else {"content": written(content, where)}),
        **({} if request.realtime_input is None else {"realtime_input": encode(request.realtime_input, where)}),
    }


def _request(given: Any, where: str) -> LiveRequest:
    from adknb.stepper.journal_file import fields

    read = fields(given, where, {"content": dict, "realtime_input": dict})
    content = record_from_json(types.Content, read["content"], f"{where}.content") if "content" in read else None
    realtime = read.get("realtime_input")
    return LiveRequest(content, None if realtime is None else decode(realtime, f"{where}.realtime_input"))


def _of(value: Any, kind: type, where: str) -> Any:
    from adknb.stepper.journal_file import expect

    return expect(value, kind, where)
