"""Every kind of file is told by its content; what holds no session gets one error; addresses are followed."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from adknb.engine.errors import BadData
from adknb.engine.event import parts_of
from adknb.files.reading import read_session

CUT = "; the text ends too early: was it cut off?"


def texts(session: Any) -> list[str]:
    return ["".join(p.text or "" for p in parts_of(e.content)) for e in session.events]


SERVED = {
    "id": "s1",
    "events": [{"author": a, "content": {"parts": [{"text": t}]}} for a, t in (("user", "hi"), ("desk", "hello"))],
}


@pytest.mark.parametrize(
    "data, kind, expected",
    [
        (b"app_name: shop\nevents:\n- author: user\n  content: {parts: [{text: hi}]}\n", "session", ["hi"]),
        (b"- author: user\n  content: {parts: [{text: hi}]}\n", "session", ["hi"]),
        (b"# kept by hand\n---\nevents: []\n", "session", []),
        (b'{"author": "user", "content": {"parts": [{"text": "hi"}]}}\n{"author": "desk"}\n', "session", ["hi", ""]),
        (
            b'data: {"author": "user", "content": {"parts": [{"text": "hi"}]}}\n\ndata: {"author": "desk"}\n\n',
            "session",
            ["hi", ""],
        ),
        (b'{"id": "a", "events": []}\n{"id": "b", "events": []}\n', "session", []),
        (b'[{"name": "a", "data": [{"query": "hi"}]}]', "evaluation case", ["hi"]),
        (b'[{"query": "hi", "expected_tool_use": []}]', "evaluation case", ["hi"]),
        (b'{"eval_id": "a", "conversation": []}', "evaluation case", []),
        (b'[{"id": "s1", "events": []}]', "session", []),
        (b'{"sessions": [{"id": "s1", "events": [{"author": "user"}]}]}', "session", [""]),
        (b'"{\\"events\\": []}"', "session", []),  # JSON inside of a text, as older evaluation results are
    ],
)
def test_every_kind_of_file_is_told_by_its_content(tmp_path: Path, data: bytes, kind: str, expected: list[str]) -> None:
    file = tmp_path / "f.whatever"
    file.write_bytes(data)
    session = read_session(file)
    assert (session.kind, texts(session)) == (kind, expected)
    assert file.read_bytes() == data


@pytest.mark.parametrize(
    "data, message",
    [
        (b'{"sessionEvents": []}', "f.json: these are session events of Vertex AI's API; "),
        (b'{"eval_set_id": "s", "eval_cases": []}', "f.json: the evaluation set has no cases"),
        (b"agent_class: LlmAgent\nname: desk\n", "f.json: this is an agent's definition, not a session: "),
        (b'{"nbformat": 4, "cells": []}', "f.json: this is a notebook, not a session"),
        (b"SQLite format 3\x00rest", "f.json: cannot be read as an SQLite database: "),
        (b"\x1f\x8brest", "f.json: is an archive; unpack it first"),
        (b'{"author": "user"}\n{"author": ', "f.json:2:11: not JSON: expecting value" + CUT),
        (b'{"author": "user"}\n\n{"author": 5}\n', "f.json:3: author: expected a text, found a number 5"),
        (b'{"author": "user"}\n{"events": []}\n', "f.json:1: expected a session, an object with `events`"),
        (b'{"events": []}\n{"events": [5]}\n', "f.json:2: events[0]: expected an object, found a number 5"),
        (b"events:\n- author: user\n  author: desk\n", "f.json:3:3: the key 'author' is given twice in one mapping"),
        (b"events: {a: 1}\n", "f.json: events: expected a list, found an object"),
    ],
)
def test_what_is_no_session_gets_one_error(tmp_path: Path, data: bytes, message: str) -> None:
    file = tmp_path / "f.json"
    file.write_bytes(data)
    with pytest.raises(BadData) as caught:
        read_session(file)
    assert str(caught.value).startswith(message)
    assert file.read_bytes() == data


@pytest.mark.parametrize(
    "address, message",
    [
        ("postgresql://ann:secret@db/prod", "postgresql://…: of databases only SQLite is read"),
        ("mysql+pymysql://ann:secret@db/prod", "mysql+pymysql://…: of databases only SQLite is read"),
        ("s3://bucket/key", "s3://…: expected a path, sqlite:///FILE or http(s)://…"),
        ("sqlite://", "sqlite://: names no file"),
        ("sqlite:///gone.db", "gone.db: there is no such file"),
        ("http://ann:secret@localhost:1/a/b.json?key=secret", "b.json: cannot be fetched"),
        ("http://localhost:bad/b.json", "b.json: cannot be fetched"),
    ],
)
def test_an_address_that_leads_nowhere_is_named_without_its_secrets(address: str, message: str) -> None:
    with pytest.raises(BadData) as caught:
        read_session(address)
    assert str(caught.value).startswith(message)
    assert "secret" not in str(caught.value)


def test_what_a_server_answers_is_read(tmp_path: Path) -> None:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            found = self.path == "/apps/shop/users/ann/sessions/s1"
            body = json.dumps(SERVED).encode() if found else b"no"
            self.send_response(200 if found else 404)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        base = f"http://127.0.0.1:{server.server_port}"
        assert texts(read_session(f"{base}/apps/shop/users/ann/sessions/s1")) == ["hi", "hello"]
        with pytest.raises(BadData, match="s2: the server answers 404"):
            read_session(f"{base}/apps/shop/users/ann/sessions/s2")
    finally:
        server.shutdown()
        server.server_close()
