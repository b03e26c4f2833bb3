"""A local stand-in for the Live API: the real client dials it over TLS, on the loopback interface, without a key.

    with FakeLive([[{"get": 1}, {"send": {"serverContent": {"turnComplete": True}}}]]) as server:
        model = Gemini("gemini-live-x", api_key="none", http_options=server.http_options)

The scripts are those of live_script.py. The certificate is made for this process and trusted by `http_options` only.

Source: golden/README.md (Live); spec/live.md §18.
"""

from __future__ import annotations

import asyncio
import datetime
import ipaddress
import json
import ssl
import tempfile
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from functools import cache
from pathlib import Path
from typing import Any

from google.genai import types

from adknb.engine.event_json import to_json
from adknb.scenarios.live_script import LogEntry, Step, checked, flooding, outgoing, refuses
from adknb.scenarios.local_server import LocalServer

HOST = "127.0.0.1"
ACKNOWLEDGED = '{"setupComplete": {}}'


class FakeLive(LocalServer):
    """A server whose n-th connection plays `connections[n]`; `log` says what happened.

    `greeting` is what it answers to a setup; left out, it acknowledges it.

    It runs until `close`, or until nobody holds it any more; then its thread and its sockets are gone.
    """

    def __init__(self, connections: Sequence[Sequence[Step]], greeting: str = ACKNOWLEDGED) -> None:
        server = _Server(checked(connections), greeting)
        self.log: list[LogEntry] = server.log
        self._begin("fake Live", server.run, server.stop)
        self.url = f"https://{HOST}:{server.port.result()}"

    @property
    def http_options(self) -> types.HttpOptions:
        """Options for a client that trusts this server and nobody else."""
        return self._options(_client_side())


class _Server:
    """The server's side, on a loop of its own."""

    def __init__(self, connections: list[list[Step]], greeting: str) -> None:
        self.connections, self.greeting = connections, greeting
        self.log: list[LogEntry] = []
        self.port: Future[int] = Future()
        self._dialled = 0
        self._open: set[Any] = set()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stopped: asyncio.Event | None = None

    def run(self) -> None:
        asyncio.run(self._serve())

    def stop(self) -> None:
        if self._loop is not None and self._stopped is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._stopped.set)

    async def _serve(self) -> None:
        from websockets.asyncio.server import serve

        self._loop, self._stopped = asyncio.get_running_loop(), asyncio.Event()
        try:
            serving = serve(
                self._talk, HOST, 0, ssl=_server_side(), process_request=self._admit, ping_interval=None, max_size=None
            )
            async with serving as server:
                self.port.set_result(next(iter(server.sockets)).getsockname()[1])
                await self._stopped.wait()
                for connection in list(self._open):
                    connection.transport.abort()
        except Exception as error:
            if self.port.done():
                raise
            self.port.set_exception(error)

    def _admit(self, connection: Any, request: Any) -> Any:
        self._dialled += 1
        connection.n = self._dialled
        if connection.n > len(self.connections) or refuses(self.connections[connection.n - 1]):
            self.log.append((connection.n, "refuses", None))
            return connection.respond(503, f"connection {connection.n} is refused\n")
        return None

    async def _talk(self, connection: Any) -> None:
        from websockets import ConnectionClosed

        n = connection.n
        self._open.add(connection)
        try:
            self.log.append((n, "setup", _as_camel(json.loads(await connection.recv())["setup"])))
            await connection.send(self.greeting)
            for step in self.connections[n - 1]:
                await self._do(n, connection, step)
            async for text in connection:
                self._got(n, text)
        except ConnectionClosed:
            pass
        finally:
            await connection.wait_closed()  # else the loop may end before the socket is closed
            self._open.discard(connection)

    async def _do(self, n: int, connection: Any, step: Step) -> None:
        message = outgoing(step)
        if message is not None:
            self.log.append((n, "sends", message))
            await connection.send(json.dumps(message))
        elif "get" in step:
            for _ in range(step["get"]):
                self._got(n, await connection.recv())
        elif "flood" in step:
            self.log.append((n, "sends", dict(step["flood"])))
            await self._flood(connection, step["flood"])
        elif "text" in step:
            await connection.send(step["text"])
        elif "wait" in step:
            await asyncio.sleep(step["wait"])
        elif "close" in step:
            self.log.append((n, "closes", f"{step['close']} {step.get('reason', '')}".strip()))
            await connection.close(step["close"], step.get("reason", ""))
        elif "drop" in step:
            connection.transport.abort()

    async def _flood(self, connection: Any, flood: Mapping[str, Any]) -> None:
        loop = asyncio.get_running_loop()
        start, rate = loop.time(), flood.get("per_second")
        for n, text in enumerate(flooding(flood)):
            if rate and (early := start + n / rate - loop.time()) > 0:
                await asyncio.sleep(early)
            await connection.send(text)

    def _got(self, n: int, text: str | bytes) -> None:
        self.log.append((n, "got", to_json(types.LiveClientMessage.model_validate_json(text))))


def _as_camel(setup: Any) -> Any:
    """Some clients write a few keys of the setup with underscores."""
    if isinstance(setup, list):
        return [_as_camel(one) for one in setup]
    if not isinstance(setup, dict):
        return setup
    return {_camel(key): value if _is_free(key) else _as_camel(value) for key, value in setup.items()}


def _is_free(key: str) -> bool:
    return key in ("parameters", "response", "args") or key.lower().replace("_", "").endswith("jsonschema")


def _camel(key: str) -> str:
    first, *rest = key.split("_")
    return first + "".join(word.capitalize() for word in rest)


# ----------------------------------------------------------------------------------------------------- the certificate


@cache
def _server_side() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "both.pem")
        path.write_bytes(b"".join(_certificate()))
        context.load_cert_chain(path)
    return context


@cache
def _client_side() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.load_verify_locations(cadata=_certificate()[1].decode())
    return context


@cache
def _certificate() -> tuple[bytes, bytes]:
    """A key and a certificate for the loopback interface, as PEM, good for a day; nothing else trusts it.

    `cryptography` comes with google-genai.
    """
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "adknb fake Live")])
    now = datetime.datetime.now(datetime.UTC)
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(hours=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address(HOST))]), critical=False)
        .sign(key, hashes.SHA256())
    )
    plain = serialization.NoEncryption()
    return (
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, plain),
        certificate.public_bytes(serialization.Encoding.PEM),
    )
