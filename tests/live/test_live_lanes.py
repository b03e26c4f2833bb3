"""The two lanes of a live run: rows, waveforms, WAV, and text that is only ever text."""

from __future__ import annotations

import struct

import pytest

import adknb
from adknb.scenarios.live_script import ScriptedLive
from adknb.widgets.sound_wave import is_pcm, peaks, rate_of, sound, wav
from tests.live.harness import GET, model_says
from tests.live.voice_turn import voice_turn


def pcm(*samples: int) -> bytes:
    return struct.pack(f"<{len(samples)}h", *samples)


@pytest.mark.parametrize(
    "data, bars, found",
    [
        (b"", 4, []),
        (b"\x01", 4, []),
        (pcm(0, 0), 4, [0.0, 0.0]),
        (pcm(32767, 0, -32768, 16384), 2, [1.0, 1.0]),
        (pcm(0, 16384, 8192, 0), 2, [0.5, 0.25]),
        (pcm(*range(1000)), 96, None),
    ],
)
def test_peaks_are_the_loudest_of_equal_stretches(data: bytes, bars: int, found: list[float] | None) -> None:
    made = peaks(data, bars)
    assert len(made) == bars and made == sorted(made) if found is None else made == found


@pytest.mark.parametrize(
    "kind, way, pcm_there, rate",
    [
        ("audio/pcm;rate=16000", "from", True, 16_000),
        ("audio/pcm", "to", True, 16_000),
        ("", "from", True, 24_000),
        ("audio/mp3", "to", False, 16_000),
    ],
)
def test_the_type_says_the_rate_and_whether_it_can_be_drawn(kind: str, way: str, pcm_there: bool, rate: int) -> None:
    assert (is_pcm(kind), rate_of(kind, way)) == (pcm_there, rate)
    assert ("path" in sound(pcm(1, 2), kind, way)) == pcm_there


def test_a_wav_has_its_length_and_rate_in_its_head() -> None:
    made = wav(pcm(1, 2, 3) + b"\x07", 24_000)
    assert (made[:4], made[8:12], len(made)) == (b"RIFF", b"WAVE", 50)
    assert struct.unpack_from("<I", made, 4) == (42,) and struct.unpack_from("<I", made, 24) == (24_000,)


def test_a_voice_turn_reads_as_two_lanes() -> None:
    dbg = voice_turn()
    assert repr(dbg.wire).splitlines() == [
        "— connect                connection 1",
        "→ activity_start",
        "→ audio                  0.20 s of audio/pcm;rate=16000, 2 chunks",
        "→ activity_end",
        "← setup_complete",
        "← input_transcription    heard 'How is the weather?'",
        "← session_resumption_update a new handle",
        "← tool_call              get_weather(city='Hangzhou')",
        '→ tool_response          get_weather = {"city": "Hangzhou", "sky": "clear"}',
        "← audio                  0.20 s of audio/pcm;rate=24000, 2 chunks",
        "← output_transcription   spoken 'It is 24'",
        "← interrupted",
        "← turn_complete",
        "← go_away                goes away in 5s",
        "← lost                   connection 1 ended: close 1006: no close frame",
        "— connect                connection 2",
        "← setup_complete",
    ]
    fork = dbg.fork()
    assert fork.wire.rows == dbg.wire.rows  # times, too
    assert [row["marked"] for row in dbg.wire.rows].count(True) == 3
    dbg.close()
    fork.close()


def test_texts_are_only_ever_text() -> None:
    agent = adknb.LlmAgent("voice", ScriptedLive([[GET, model_says("<script>1</script>")]]))
    dbg = adknb.step_live(agent, patience=0).send("<img src=x>")
    dbg.resume()
    html = dbg.wire._repr_html_()
    assert "<script" not in html and "<img" not in html and "&lt;script&gt;" in html
    dbg.close()
