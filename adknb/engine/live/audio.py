"""Audio of a live run: kept until a turn ends, then saved as an artifact (spec/live.md §11).

Go: internal/llminternal/audio_cache_manager.go, AudioCacheManager
"""

from __future__ import annotations

import threading
from collections.abc import Iterator

from google.genai import types

from adknb.engine.context import InvocationContext
from adknb.engine.errors import ArtifactError
from adknb.engine.event import Event, parts_of
from adknb.engine.live.sending import DEFAULT_AUDIO

FOLDER = "_adk_live"


class Batch:
    """Audio in one direction: bytes as they came, glued together. No rate is read or converted.

    The first chunk of a batch says when it began and, if it has one, of what type it is; else the type of the batch
    before goes on, at first `audio/pcm`.
    """

    def __init__(self) -> None:
        self.mime_type = DEFAULT_AUDIO
        self.start = 0.0
        self.data = bytearray()
        self.chunks = 0
        self._lock = threading.Lock()  # the reader may send while a turn's end is saved

    def add(self, blob: types.Blob, now: float) -> None:
        """Add a chunk; anything whose type is not audio is left out. A chunk without a type counts as audio."""
        if blob.mime_type and not blob.mime_type.startswith("audio/"):
            return
        with self._lock:
            if not self.chunks:
                self.start = now
                self.mime_type = blob.mime_type or self.mime_type
            self.data += blob.data or b""
            self.chunks += 1

    def take(self) -> tuple[float, str, bytes] | None:
        """When it began (seconds since the epoch), its type, and all of it, if there is any; it is empty then."""
        with self._lock:
            if not self.chunks:
                return None
            data, self.chunks = bytes(self.data), 0
            self.data.clear()
            return self.start, self.mime_type, data


class AudioCache:
    """Both directions of one agent's live run; kept over reconnects.

    Go: internal/llminternal/audio_cache_manager.go, AudioCacheManager
    """

    def __init__(self, ctx: InvocationContext) -> None:
        self._ctx = ctx
        live = ctx.run_config.live
        self._saves = live is not None and live.save_live_blob
        self.input, self.output = Batch(), Batch()

    def sent(self, given: object) -> None:
        """A blob goes to the model. It is kept even when nothing will be saved, as in the reference (§11.7).

        Go: internal/llminternal/audio_cache_manager.go, CacheInput
        """
        if isinstance(given, types.Blob):
            self.input.add(given, self._ctx.platform.clock())

    def received(self, event: Event) -> None:
        """The model's audio; only when it will be saved.

        Go: internal/llminternal/audio_cache_manager.go, CacheOutput
        """
        for part in parts_of(event.content) if self._saves else ():
            if part is not None and part.inline_data is not None:
                self.output.add(part.inline_data, self._ctx.platform.clock())

    def flush(self, event: Event) -> Iterator[Event]:
        """Save what an event ends: interrupted -> the output; turn complete -> the input, then the output.

        Gives an event for each; what comes later is saved when the one before it was told.

        Raises:
            ArtifactError: there is no artifact service. Exception: the service's own.

        Go: internal/llminternal/audio_cache_manager.go, FlushCaches
        """
        if not self._saves:
            return
        model = (self.output, "output_audio", self._ctx.agent.name, "model")
        ended = [model] if event.interrupted else []
        if event.turn_complete:
            ended += [(self.input, "input_audio", "user", "user"), model]
        for what in ended:
            saved = self._save(*what)
            if saved is not None:
                yield saved

    def _save(self, batch: Batch, kind: str, author: str, role: str) -> Event | None:
        taken = batch.take()
        if taken is None:
            return None
        start, mime_type, data = taken
        service, session = self._ctx.artifact_service, self._ctx.session
        if service is None:
            raise ArtifactError("save_live_blob: this run has no artifact service to keep the audio in")
        ending = "mp3" if mime_type == "audio/mp3" else "pcm"
        name = f"adk_live_audio_storage_{kind}_{round(start * 1000)}.{ending}"
        blob = types.Blob(data=data, mime_type=mime_type)
        version = service.save(session, name, types.Part(inline_data=blob))
        uri = f"artifact://{session.app_name}/{session.user_id}/{session.id}/{FOLDER}/{name}#{version}"
        part = types.Part(file_data=types.FileData(file_uri=uri, mime_type=mime_type))
        saved = self._ctx.new_event(author=author, content=types.Content(role=role, parts=[part]))
        saved.timestamp = start  # older than its neighbours
        return saved
