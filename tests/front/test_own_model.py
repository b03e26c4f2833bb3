"""The README's model of one's own: it runs, against a local server that speaks the OpenAI way."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

import adknb

README = (Path(__file__).resolve().parents[2] / "README.md").read_text(encoding="utf-8")


@pytest.fixture
def server() -> Iterator[HTTPServer]:
    class Answers(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            self.server.asked.append((self.headers["Authorization"], body))  # type: ignore[attr-defined]
            said = json.dumps({"choices": [{"message": {"content": "It rains."}}]}).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(said)))
            self.end_headers()
            self.wfile.write(said)

        def log_message(self, *args: Any) -> None:
            pass

    running = HTTPServer(("127.0.0.1", 0), Answers)
    running.asked = []  # type: ignore[attr-defined]
    threading.Thread(target=running.serve_forever, args=(0.01,), daemon=True).start()
    yield running
    running.shutdown()
    running.server_close()


def test_a_model_of_ones_own_is_one_method_and_can_be_stepped(server: HTTPServer, tmp_path: Path) -> None:
    (block,) = re.findall(r"^```py\n(.*?)^```", README, re.DOTALL | re.MULTILINE)
    names: dict[str, Any] = {}
    exec(block, names)
    model = names["Chat"]("gpt-x", f"http://127.0.0.1:{server.server_port}/v1/chat/completions", "k")
    agent = adknb.LlmAgent("weather", model=model, instruction="Be brief.")
    dbg = adknb.step(agent, ["How is it?", "And now?"]).resume()
    while dbg.here is not None:
        dbg.resume()
    key, body = server.asked[-1]  # type: ignore[attr-defined]
    assert key == "Bearer k" and body["model"] == "gpt-x"
    assert [m["role"] for m in body["messages"]] == ["system", "user", "assistant", "user"]
    assert body["messages"][0]["content"].startswith("Be brief.")
    assert dbg.events[-1].content.parts[0].text == "It rains."
    dbg.save(tmp_path / "run.json")
    assert adknb.replay(tmp_path / "run.json", agent, offline=True).here is None
    assert len(server.asked) == 2  # type: ignore[attr-defined]


def test_the_block_is_about_ten_lines_of_code() -> None:
    (block,) = re.findall(r"^```py\n(.*?)^```", README, re.DOTALL | re.MULTILINE)
    assert len([line for line in block.splitlines() if line.strip()]) <= 11
