"""A local stand-in for the Gemini API: the real client talks to it over HTTP, on the loopback interface, without a key.

    hello = {"candidates": [{"content": {"role": "model", "parts": [{"text": "Hello"}]}, "finishReason": "STOP"}]}
    with FakeGemini([{"chunks": [hello]}]) as server:
        model = Gemini("gemini-2.5-flash", api_key="none", http_options=server.http_options)

Source: golden/README.md (Model, `gemini`).
"""

from __future__ import annotations

import itertools
import json
import re
import socket
import ssl
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from socketserver import TCPServer
from typing import Any
from urllib.parse import urlsplit

from google.genai import types

from adknb.scenarios.local_server import LocalServer

METHOD = re.compile(r".*:(generateContent|streamGenerateContent)")


@dataclass(frozen=True)
class Received:
    """One request as it came in: which method, at which path, with which headers (lower case) and JSON."""

    method: str
    path: str
    headers: dict[str, str]
    body: Any


class FakeGemini(LocalServer):
    """A server whose n-th request is answered by `calls[n]`; one that has no call left gets an error.

    A call is `{"chunks": [raw GenerateContentResponse JSON, …]}`: all of them as a stream, the first alone when not
    streaming. Or `{"status": 429, "error": text}`. An `error` without a status comes behind the chunks, in the stream.

    How it is sent: `headers` are sent along; `piece` is how many bytes are written at once (a chunk may be split in the
    middle of a character); `pause` is how many seconds the server waits between two writes, which without `piece` are
    the chunks; `cut_off` is how many bytes are sent before the connection ends.

    `count` gives each request its number; left out, the server counts by itself. The server runs until `close`, or
    until nobody holds it any more; then its thread and its sockets are gone.
    """

    def __init__(self, calls: Sequence[Mapping[str, Any]], count: Callable[[], int] | None = None) -> None:
        listener = _Listener(calls, count or itertools.count().__next__)
        self.url = f"http://127.0.0.1:{listener.server_address[1]}"
        self.received: list[Received] = listener.received
        """What was asked so far."""
        self._begin("fake Gemini", listener.serve, listener.stop)

    @property
    def http_options(self) -> types.HttpOptions:
        """Options for a client: past any proxy, and without loading certificates, which takes 0.2 s."""
        return self._options(_no_certificates(), trust_env=False)


class _Listener(TCPServer):
    """Takes one request after the other, in a thread of its own, until it is told to stop."""

    def __init__(self, calls: Sequence[Mapping[str, Any]], count: Callable[[], int]) -> None:
        self.calls, self.count = calls, count
        self.received: list[Received] = []
        self.talking_to: socket.socket | None = None
        self._stopped = threading.Event()
        super().__init__(("127.0.0.1", 0), _Handler)

    def serve(self) -> None:
        with self:
            while not self._stopped.is_set():
                self.handle_request()

    def stop(self) -> None:
        """Wake the thread, whatever it waits for: a reader that does not read, or the next request."""
        self._stopped.set()
        with suppress(OSError):
            if self.talking_to is not None:
                self.talking_to.shutdown(socket.SHUT_RDWR)
        with suppress(OSError):
            socket.create_connection(self.server_address, timeout=1).close()  # type: ignore[arg-type]

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of a reader who left."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)

    def reply(self, method: str) -> tuple[int, list[Any], Mapping[str, Any]]:
        """The status and the JSON of the next reply, and the call that says how it is sent."""
        n = self.count()
        if n >= len(self.calls):
            return *_error(500, f"the script has replies for {len(self.calls)} requests; this is request {n + 1}"), {}
        call = self.calls[n]
        chunks, error = list(call.get("chunks") or ()), call.get("error")
        if call.get("status"):
            return *_error(call["status"], error or ""), call
        if method == "streamGenerateContent":
            return 200, chunks if error is None else chunks + _error(500, error)[1], call
        if error is not None and not chunks:
            return *_error(500, error), call
        return 200, chunks[:1] or [{}], call

    def wait(self, seconds: float) -> bool:
        """Wait, but not when the server is told to stop; whether it goes on."""
        return not self._stopped.wait(seconds)


class _Handler(BaseHTTPRequestHandler):
    """One connection: HTTP/1.0, so it ends with its reply."""

    server: _Listener
    timeout = 10
    disable_nagle_algorithm = True

    def setup(self) -> None:
        super().setup()
        self.server.talking_to = self.connection

    def finish(self) -> None:
        self.server.talking_to = None
        super().finish()

    def do_POST(self) -> None:
        """Note the request, send the reply that is its turn."""
        asked = METHOD.fullmatch(urlsplit(self.path).path)
        if asked is None:
            return self.send(*_error(404, f"{self.path} is no method of this server"), {})
        text = self.rfile.read(int(self.headers.get("content-length") or 0))
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.server.received.append(Received(asked[1], self.path, headers, json.loads(text or b"null")))
        status, replies, call = self.server.reply(asked[1])
        return self.send(status, replies, call, as_events=status == 200 and asked[1] == "streamGenerateContent")

    def send(self, status: int, replies: list[Any], how: Mapping[str, Any], as_events: bool = False) -> None:
        """Send JSON, or JSON texts as server-sent events, in the pieces that the call asks for."""
        kind = "text/event-stream" if as_events else "application/json"
        texts = [json.dumps(reply, ensure_ascii=False) for reply in replies]
        writes = [(f"data: {text}\r\n\r\n" if as_events else text).encode("utf-8", "replace") for text in texts]
        self.send_response(status)
        for name, value in {"content-type": kind, **how.get("headers", {})}.items():
            self.send_header(name, value)
        self.end_headers()
        for n, piece in enumerate(_pieces(writes, how.get("piece", 0), how.get("cut_off"))):
            if n and how.get("pause") and not self.server.wait(how["pause"]):
                return
            self.wfile.write(piece)

    def log_message(self, *_: Any) -> None:
        """Nothing: standard error belongs to the program."""


def _pieces(writes: list[bytes], size: int, cut_off: int | None) -> list[bytes]:
    """What is written at once: `size` bytes, or as it is; no more than `cut_off` bytes in all."""
    if cut_off is not None:
        writes = [b"".join(writes)[:cut_off]]
    if size:
        body = b"".join(writes)
        return [body[at : at + size] for at in range(0, len(body), size)]
    return writes


@cache
def _no_certificates() -> ssl.SSLContext:
    """An SSL context that trusts nobody; one for all clients."""
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


def _error(status: int, message: str) -> tuple[int, list[Any]]:
    """An error as the API words it."""
    known = status in HTTPStatus._value2member_map_
    name = HTTPStatus(status).phrase.upper().replace(" ", "_") if known else "UNKNOWN"
    return status, [{"error": {"code": status, "message": message, "status": name}}]
