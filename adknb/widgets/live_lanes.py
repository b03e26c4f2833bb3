"""A live run as two lanes, to the model and from it, in the order in which things passed; as text, HTML and JSON.

Chunks of audio that follow each other in one direction are one row, with one waveform. What the model heard and said
(transcriptions) stands beside it, interruptions and lost lines are marked.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from html import escape
from typing import Any

from google.genai import types

from adknb.engine.event import parts_of
from adknb.engine.live.receiving import kind_of as kind_received
from adknb.engine.live.sending import kind_of as kind_sent
from adknb.lens.words import one_line
from adknb.stepper.live_play import LivePlay, WireMessage
from adknb.widgets.sound_wave import BARS, HEIGHT, sound

Json = dict[str, Any]
LONG = 220
MARKED = ("interrupted", "go_away", "lost", "refused", "tool_call_cancellation")
"""Kinds that a reader should not miss."""


def rows_of(play: LivePlay) -> list[Json]:
    """A row for what passed: `way`, `connection`, `stop`, `at` (seconds), `kind`, `says`.

    Audio has also a `sound` (sound_wave.sound) and how many `chunks` it came in.
    `stop` is the position of the first stop it belongs to, `way` is "to", "from" or "dial".
    """
    rows: list[Json] = []
    pending: list[tuple[WireMessage, types.Blob]] = []
    for message in play.wire:
        blob = _only_audio(message)
        if pending and (blob is None or not _together(pending[-1], message, blob)):
            rows.append(_audio_row(pending))
            pending = []
        if blob is not None:
            pending.append((message, blob))
        else:
            rows.append(_row(message))
    if pending:
        rows.append(_audio_row(pending))
    return rows


def _together(last: tuple[WireMessage, types.Blob], message: WireMessage, blob: types.Blob) -> bool:
    before, old = last
    here, there = (before.way, before.connection), (message.way, message.connection)
    return here == there and (blob.mime_type or old.mime_type) == old.mime_type


def _only_audio(message: WireMessage) -> types.Blob | None:
    """The blob of a message that is nothing but audio."""
    if message.way == "to" and isinstance(message.what, dict):
        told = message.what.get("realtimeInput") or {}
        chunks = told.get("mediaChunks") or [{}]
        given = told.get("audio") or (chunks[0] if len(chunks) == 1 else {})
        if given.get("data") and str(given.get("mimeType", "audio/pcm")).startswith("audio/"):
            return types.Blob(data=_bytes(given["data"]), mime_type=given.get("mimeType"))
    if message.way == "from" and isinstance(message.what, types.LiveServerMessage):
        content = message.what.server_content
        parts = parts_of(content.model_turn) if content is not None else []
        marks = content is not None and any(
            (content.turn_complete, content.interrupted, content.input_transcription, content.output_transcription)
        )
        if len(parts) == 1 and parts[0].inline_data is not None and not marks and message.what.tool_call is None:
            blob = parts[0].inline_data
            return blob if (blob.mime_type or "audio/").startswith("audio/") else None
    return None


def _bytes(text: str) -> bytes:
    return base64.b64decode(text.replace("-", "+").replace("_", "/") + "=" * (-len(text) % 4))


def _audio_row(pending: list[tuple[WireMessage, types.Blob]]) -> Json:
    first, blob = pending[0]
    data = b"".join(b.data or b"" for _, b in pending)
    made = sound(data, blob.mime_type or "", first.way)
    length = f"{made['seconds']:.2f} s of {made['type']}" if "seconds" in made else f"{made['bytes']:,} bytes"
    row = _base(first, "audio", f"{length}, {len(pending)} {'chunk' if len(pending) == 1 else 'chunks'}")
    return row | {"sound": made, "chunks": len(pending)}


def _base(message: WireMessage, kind: str, says: str) -> Json:
    return {
        "way": message.way,
        "connection": message.connection,
        "stop": message.stop,
        "at": message.at,
        "kind": kind,
        "says": one_line(says, LONG),
        "marked": kind in MARKED,
    }


def _row(message: WireMessage) -> Json:
    what = message.what
    if message.way == "dial":
        if isinstance(what, Exception):
            return _base(message, "refused", f"connection {message.connection} could not be made: {what}")
        return _base(message, "connect", f"connection {message.connection}")
    if isinstance(what, Exception):
        return _base(message, "lost", f"connection {message.connection} ended: {what}")
    if message.way == "to":
        sent = types.LiveClientMessage.model_validate_json(json.dumps(what))
        return _base(message, kind_sent(sent), "; ".join(_sent(sent)))
    row = _base(message, kind_received(what), "; ".join(_received(what)))
    blobs = [p.inline_data for p in parts_of(what.server_content.model_turn) if p.inline_data] if _turn(what) else []
    audio = [b for b in blobs if b.data and (b.mime_type or "audio/").startswith("audio/")]
    if audio:
        row |= {"sound": sound(b"".join(b.data or b"" for b in audio), audio[0].mime_type or "", "from"), "chunks": 1}
    return row


def _turn(message: types.LiveServerMessage) -> bool:
    return message.server_content is not None and message.server_content.model_turn is not None


def _sent(message: types.LiveClientMessage) -> Iterator[str]:
    if message.client_content is not None:
        turns = message.client_content.turns or []
        if len(turns) > 1:
            yield f"{len(turns)} contents"
        yield from (said for turn in turns[-1:] for said in _parts(turn))
    if message.tool_response is not None:
        for answer in message.tool_response.function_responses or []:
            yield f"{answer.name} = {json.dumps(answer.response, ensure_ascii=False, default=str)}"
    if message.realtime_input is not None:
        given = message.realtime_input
        if given.text:
            yield repr(given.text)
        for blob in (given.audio, given.video, *(given.media_chunks or ())):
            if blob is not None:
                yield f"{len(blob.data or b''):,} bytes of {blob.mime_type}"


def _received(message: types.LiveServerMessage) -> Iterator[str]:
    content = message.server_content
    if content is not None:
        for who, heard in (("heard", content.input_transcription), ("spoken", content.output_transcription)):
            if heard is not None:
                yield f"{who} {heard.text or ''!r}"
        yield from _parts(content.model_turn)
        kind = kind_received(message)  # said already
        for mark in ("interrupted", "turn_complete", "generation_complete"):
            if getattr(content, mark) and kind != mark:
                yield mark.replace("_", " ")
    if message.tool_call is not None:
        for call in message.tool_call.function_calls or []:
            yield f"{call.name}({', '.join(f'{k}={v!r}' for k, v in (call.args or {}).items())})"
    if message.tool_call_cancellation is not None:
        yield f"cancels {', '.join(message.tool_call_cancellation.ids or [])}"
    if message.go_away is not None:
        yield f"goes away in {message.go_away.time_left}"
    if message.session_resumption_update is not None:
        yield "a new handle" if message.session_resumption_update.new_handle else "no handle"
    if message.usage_metadata is not None:
        yield f"{message.usage_metadata.total_token_count or 0:,} tokens"


def _parts(content: types.Content | None) -> Iterator[str]:
    for part in parts_of(content):
        if part.text:
            yield repr(part.text)
        if part.inline_data is not None:
            yield f"{len(part.inline_data.data or b''):,} bytes of {part.inline_data.mime_type}"
        if part.function_response is not None:
            yield f"{part.function_response.name} = {part.function_response.response!r}"


# ---------------------------------------------------------------------------------------------------------- as it shows

ARROWS = {"to": "→", "from": "←", "dial": "—"}
QUIET = "opacity:.72"
CELL = "padding:2px 10px;border:0;border-top:1px solid rgba(128,128,128,.35);text-align:left;vertical-align:top"


class LiveLanes:
    """What passed on the wire of a live run, for a cell: text that is the same every time, and HTML with the sound."""

    def __init__(self, play: LivePlay) -> None:
        self.rows = rows_of(play)

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        """A line for each row, without times."""
        return "\n".join(f"{ARROWS[r['way']]} {r['kind']:<22} {r['says']}".rstrip() for r in self.rows) or "nothing yet"

    def _repr_html_(self) -> str:
        head = "".join(
            f'<th style="{CELL};font-weight:600" scope="col">{name}</th>'
            for name in ("stop", "to the model", "from the model")
        )
        body = "".join(_html_row(row) for row in self.rows)
        return (
            '<table style="width:100%;max-width:1100px;table-layout:fixed;border-collapse:collapse;font-size:13px">'
            '<colgroup><col style="width:5em"><col><col></colgroup>'
            f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        )


def _html_row(row: Json) -> str:
    stop = f'<td style="{CELL};{QUIET}">{row["stop"]}</td>'
    kind = escape(row["kind"].replace("_", " "))
    label = f"<b>{kind}</b>" if row["marked"] else f'<span style="{QUIET}">{kind}</span>'
    says = f"{label} {escape(row['says'])}"
    made = row.get("sound") or {}
    if made.get("path"):
        says += (
            f'<br><svg viewBox="0 0 {BARS} {HEIGHT}" width="{BARS * 3}" height="{HEIGHT}" preserveAspectRatio="none" '
            f'role="img" aria-label="waveform"><path d="{made["path"]}" stroke="currentColor" fill="none"/></svg>'
        )
    if made.get("src"):
        says += f'<br><audio controls preload="none" style="height:28px" src="{made["src"]}"></audio>'
    if row["way"] == "dial":
        return f'<tr>{stop}<td colspan="2" style="{CELL};background:rgba(128,128,128,.10)">{says}</td></tr>'
    empty = f'<td style="{CELL}"></td>'
    said = f'<td style="{CELL};overflow-wrap:anywhere">{says}</td>'
    return f"<tr>{stop}{said}{empty}</tr>" if row["way"] == "to" else f"<tr>{stop}{empty}{said}</tr>"
