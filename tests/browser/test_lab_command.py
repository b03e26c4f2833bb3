"""`adknb lab`, the README's first command, as a person would use it: start, open the address, end it."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from tests.browser import harness


@pytest.mark.parametrize("how, status", [(signal.SIGINT, 0), (signal.SIGTERM, 143)])
def test_it_prints_an_address_that_opens_the_notebook_and_leaves_nothing_running(
    tools: None, folder: Path, tmp_path: Path, how: signal.Signals, status: int
) -> None:
    del tools
    notebook = harness.write_notebook(folder / "a first.ipynb", "6 * 7")
    process = subprocess.Popen(
        [sys.executable, "-m", "adknb", "lab", str(notebook), "--no-browser"],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, **harness.own_folders(tmp_path)},
    )
    try:
        address = first_address(process)
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/lab/tree/a%20first\.ipynb\?token=\w+", address)
        if how is signal.SIGTERM:  # only the end is another one with Ctrl-C
            with harness.browser() as screen:
                screen.page.goto(address, wait_until="domcontentloaded")
                screen.page.get_by_text("6 * 7").wait_for(timeout=60_000)
                assert "official Jupyter news" not in screen.page.inner_text("body")
        with pytest.raises(urllib.error.HTTPError, match="403"):
            urllib.request.urlopen(re.sub(r"/lab.*", "/api/contents", address), timeout=5)
    finally:
        process.send_signal(how)
        process.wait(20)
    assert process.returncode == status
    with pytest.raises(urllib.error.URLError):
        urllib.request.urlopen(re.sub(r"/lab.*", "/api", address), timeout=5)


def first_address(process: subprocess.Popen[str]) -> str:
    assert process.stdout
    for line in process.stdout:
        if "http://" in line:
            return line.strip()
    raise AssertionError(f"`adknb lab` ended with status {process.wait()} and printed no address")
