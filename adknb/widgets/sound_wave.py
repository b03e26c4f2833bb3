"""Audio as a picture and as something to play: 16-bit PCM to peaks, to an SVG path and to a WAV file. No library."""

from __future__ import annotations

import array
import base64
import itertools
import re
import struct
import sys
from typing import Any

BARS, HEIGHT = 96, 26
"""How many bars a waveform has at most; each is one unit wide, and so many units high."""
MOST_PLAYABLE = 4_000_000
"""Bytes of audio that are put into a page to be played."""
RATES = {"to": 16_000, "from": 24_000}
"""Samples a second where the type does not say: what the Live API takes, and what it gives."""


def rate_of(mime_type: str, way: str) -> int:
    """Samples a second: `;rate=16000` of the type, else what is usual in that direction."""
    found = re.search(r"rate=(\d{3,6})\b", mime_type)
    return int(found.group(1)) if found else RATES[way]


def is_pcm(mime_type: str) -> bool:
    """Whether it is raw 16-bit samples: then it can be drawn and played. A type that is missing counts."""
    kind = mime_type.partition(";")[0].strip().lower()
    return kind in ("", "audio/pcm", "audio/l16")


def peaks(pcm: bytes, bars: int = BARS) -> list[float]:
    """The largest sample of each of at most `bars` equal stretches, from 0 to 1.

    `pcm`: 16 bits a sample, little-endian, one channel; half a sample at the end is left out.
    """
    samples = array.array("h", pcm[: len(pcm) // 2 * 2])
    if sys.byteorder == "big":
        samples.byteswap()
    count = min(bars, len(samples))
    edges = [i * len(samples) // count for i in range(count + 1)] if count else []
    stretches = [samples[a:b] for a, b in itertools.pairwise(edges)]
    return [round(min(1.0, max(max(s), -min(s)) / 32767), 3) for s in stretches]


def path_of(heights: list[float]) -> str:
    """An SVG path of upright bars about the middle, in a box of `BARS` by `HEIGHT`."""
    middle = HEIGHT / 2
    step = BARS / max(1, len(heights))
    halves = [max(0.5, h * (middle - 1)) for h in heights]
    return "".join(f"M{(i + 0.5) * step:g} {middle - h:.1f}v{2 * h:.1f}" for i, h in enumerate(halves))


def wav(pcm: bytes, rate: int) -> bytes:
    """The samples as a WAV file, one channel of 16 bits."""
    data = pcm[: len(pcm) // 2 * 2]
    form = struct.pack("<4sIHHIIHH", b"fmt ", 16, 1, 1, rate, rate * 2, 2, 16)
    return (
        struct.pack("<4sI4s", b"RIFF", 36 + len(data), b"WAVE") + form + struct.pack("<4sI", b"data", len(data)) + data
    )


def sound(data: bytes, mime_type: str, way: str) -> dict[str, Any]:
    """Audio as JSON: `bytes`, `type`; of PCM also `seconds`, `path`, `src` (a WAV as a data URL, empty if too long)."""
    told: dict[str, Any] = {"bytes": len(data), "type": mime_type or "audio/pcm"}
    if not is_pcm(mime_type):
        return told
    rate = rate_of(mime_type, way)
    playable = 0 < len(data) <= MOST_PLAYABLE
    src = "data:audio/wav;base64," + base64.b64encode(wav(data, rate)).decode() if playable else ""
    return told | {"seconds": round(len(data) / 2 / rate, 3), "path": path_of(peaks(data)), "src": src}
