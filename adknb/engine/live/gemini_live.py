"""The real connection: google-genai's own client and websocket, on an asyncio loop in a thread of its own.

Go: model/gemini/gemini.go, Client; internal/llminternal/googlellm/live_connection.go, NewLiveConnection

What the client does differently from Go's is put right here: closes come as errors of several kinds and leave as
LiveBroken with their code; the acknowledgement of the setup, which the client swallows, is handed on as the first
message; and reading goes on behind a completed turn, where the client's own iterator ends (spec/live.md §18).
"""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeout
from typing import TYPE_CHECKING, Any

from google.genai import types

from adknb.engine.live.connection import Arrivals, Bell
from adknb.engine.live.errors import LiveBroken

if TYPE_CHECKING:
    from google.genai import Client

GONE = 1006
"""The close code that stands for: no close frame."""
PATIENCE = 2.0
"""Seconds that a close may take before the socket is just dropped."""
LOOK = 0.1
"""Seconds between two looks at whether anybody still waits for the connection."""


def connect(client: Client, model: str, config: types.LiveConnectConfig, bell: Bell) -> GeminiLive:
    """Dial, wait for the acknowledgement, give the open connection.

    Raises:
        Exception: the client's own, or LiveBroken if the server closed; nothing is left open then.
    """
    connection = GeminiLive(bell)
    try:
        connection.dial(client, model, config)
    except BaseException:
        connection.close()
        raise
    return connection


class GeminiLive:
    """One connection. All its coroutines run in its own thread; `send`, `receive` and `close` may be called from any.

    Go: internal/llminternal/googlellm/live_connection.go, LiveConnection
    """

    def __init__(self, bell: Bell) -> None:
        self._bell = bell
        self._arrivals = Arrivals(bell)
        self._connected: Future[None] = Future()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[None] | None = None
        self._session: Any = None
        self._thread: threading.Thread | None = None
        self._closing = threading.Lock()
        self._closed = False

    def dial(self, client: Client, model: str, config: types.LiveConnectConfig) -> None:
        """Start the thread and wait until the server has acknowledged, or nobody waits any more."""
        work = lambda: asyncio.run(self._talk(client, model, config))  # noqa: E731
        self._thread = threading.Thread(target=work, name="adknb-live-wire", daemon=True)
        self._thread.start()
        while True:
            try:
                return self._connected.result(LOOK)
            except FutureTimeout:
                if self._connected.done():  # the client's own timeout
                    raise
                if self._bell.closed:
                    raise LiveBroken(GONE, "closed while connecting") from None

    async def _talk(self, client: Client, model: str, config: types.LiveConnectConfig) -> None:
        with self._closing:
            self._loop, self._task = asyncio.get_running_loop(), asyncio.current_task()
            if self._closed:  # before the thread had begun
                self._connected.set_exception(LiveBroken(GONE, "closed while connecting"))
                return
        end: Exception = LiveBroken(GONE, "closed on this side")
        try:
            async with client.aio.live.connect(model=model, config=config) as session:
                self._session = session
                acknowledged = session.setup_complete or types.LiveServerSetupComplete()
                self._arrivals.put(types.LiveServerMessage(setup_complete=acknowledged))
                self._connected.set_result(None)
                while True:
                    async for message in session.receive():
                        self._arrivals.put(message)
        except asyncio.CancelledError:
            pass
        except Exception as error:
            end = _told(error)
        finally:
            self._session = None
            if not self._connected.done():
                self._connected.set_exception(end)
            self._arrivals.put(end)

    def send(self, message: types.LiveClientMessage) -> None:
        """Write one message; returns when the socket has taken it.

        Raises:
            LiveBroken: the connection is gone. ValueError: the client cannot send this.
        """
        if self._loop is None or self._session is None:
            raise LiveBroken(GONE, "broken pipe: the connection is gone")
        writing = self._write(self._session, message)
        try:
            written = asyncio.run_coroutine_threadsafe(writing, self._loop)
        except RuntimeError as error:  # the loop has ended meanwhile
            writing.close()
            raise LiveBroken(GONE, "broken pipe: the connection is gone") from error
        while True:
            try:
                return written.result(LOOK)
            except FutureTimeout:
                if written.done():
                    raise
                if self._thread is None or not self._thread.is_alive():
                    raise LiveBroken(GONE, "broken pipe: the connection is gone") from None

    async def _write(self, session: Any, message: types.LiveClientMessage) -> None:
        try:
            if message.tool_response is not None:
                await session.send_tool_response(function_responses=message.tool_response.function_responses)
            elif message.client_content is not None:
                content = message.client_content
                await session.send_client_content(turns=content.turns, turn_complete=bool(content.turn_complete))
            elif message.realtime_input is not None:
                await session.send_realtime_input(**_realtime(message.realtime_input))
        except Exception as error:
            raise _told(error) from error

    def receive(self) -> types.LiveServerMessage | None:
        """The next message that has arrived, or None. Behind the last one raises how it ended."""
        return self._arrivals.take()

    def close(self) -> None:
        """Close the socket and end the thread. A server that does not answer the close is left after two seconds."""
        with self._closing:
            first, self._closed = not self._closed, True
        thread = self._thread
        for _ in range(2):
            if thread is None or not thread.is_alive() or thread is threading.current_thread():
                return
            if first and self._loop is not None and self._task is not None and not self._loop.is_closed():
                self._loop.call_soon_threadsafe(self._task.cancel)  # once: a second would break off the closing
            thread.join(PATIENCE)


def _realtime(given: types.LiveClientRealtimeInput) -> dict[str, Any]:
    """The one argument of `send_realtime_input` that a message stands for."""
    if given.media_chunks:
        return {"media": given.media_chunks[0]}
    names = ("audio", "video", "text", "activity_start", "activity_end")
    return {name: value for name in names if (value := getattr(given, name)) is not None}


def _told(error: Exception) -> Exception:
    """A close as LiveBroken, whichever way the client tells it; what it cannot read, in plainer words."""
    frame = getattr(error, "rcvd", None)
    if hasattr(error, "rcvd"):  # websockets' own ConnectionClosed
        return LiveBroken(frame.code if frame else GONE, frame.reason if frame else "no close frame")
    code = getattr(error, "code", None)
    if isinstance(code, int):  # google-genai's APIError
        return LiveBroken(code, str(getattr(error, "details", None) or getattr(error, "message", None) or ""))
    if isinstance(error, TypeError):  # how the client stumbles over an error object
        return ValueError(f"the server sent an error, or something that is no message ({error})")
    return error
