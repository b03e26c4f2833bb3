"""JupyterLab and Debian's Chromium, end to end, on the loopback interface only.

Nothing here sleeps and hopes: the notebook is driven through JupyterLab's own command registry, and every wait is for
something that the page or the kernel says. Used by the browser tests and by `screenshots.py`.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.sync_api import Page

CHROMIUM_FLAGS = [
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync", "--disable-dev-shm-usage"),
]
HARMLESS = "restore the debugger state"  # JupyterLab says so in the console of every fresh notebook


def chromium() -> str | None:
    """The browser's program: ADKNB_CHROMIUM, else Debian's chromium, else Google's."""
    return os.environ.get("ADKNB_CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")


def what_is_missing() -> str:
    """Why no browser test can run here; empty if all is there."""
    missing = [
        name for name in ("jupyterlab", "anywidget", "playwright", "axe_playwright_python") if not find_spec(name)
    ]
    if not chromium():
        missing.append("a Chromium (apt-get install chromium)")
    return ", ".join(missing)


def free_port() -> int:
    """A port that was free a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def own_folders(home: Path) -> dict[str, str]:
    """Environment variables that keep a JupyterLab inside one fresh folder."""
    names = {
        "HOME": "",
        "JUPYTER_CONFIG_DIR": "config",
        "JUPYTER_DATA_DIR": "data",
        "JUPYTER_RUNTIME_DIR": "runtime",
        "IPYTHONDIR": "ipython",
        "JUPYTERLAB_SETTINGS_DIR": "settings",
        "JUPYTERLAB_WORKSPACES_DIR": "workspaces",
    }
    return {name: str(home / folder) for name, folder in names.items()}


def write_settings(home: Path, dark: bool) -> None:
    """JupyterLab's settings: no news pop-up, and the theme."""
    settings: dict[str, Any] = {"notification": {"fetchNews": "false", "checkForUpdates": False}}
    if dark:
        settings["themes"] = {"theme": "JupyterLab Dark"}
    for name, value in settings.items():
        file = home / "settings" / "@jupyterlab" / "apputils-extension" / f"{name}.jupyterlab-settings"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(value))


@dataclass
class Lab:
    """A running server."""

    url: str
    token: str
    log: Path
    data: Path
    """Its data folder; the signatures of trusted notebooks are in it."""


@contextmanager
def jupyterlab(root: Path, dark: bool = False) -> Iterator[Lab]:
    """Start JupyterLab over a folder; end it, by its id, when the block is left.

    Raises:
        RuntimeError: it ended early or did not answer; the message is the server's log.
    """
    home = Path(tempfile.mkdtemp(prefix="adknb-lab-"))
    write_settings(home, dark)
    port, token, log = free_port(), secrets.token_hex(16), home / "lab.log"
    command = [
        *(sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root"),
        *("--ServerApp.ip=127.0.0.1", f"--ServerApp.port={port}", "--ServerApp.port_retries=0"),
        *(f"--IdentityProvider.token={token}", f"--ServerApp.root_dir={root}", "--ServerApp.terminals_enabled=False"),
        *("--LabApp.news_url=", "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate"),
        *("--LabApp.extension_manager=readonly", "--LabApp.expose_app_in_browser=True"),
    ]
    with log.open("wb") as out:
        process = subprocess.Popen(
            command,
            stdout=out,
            stderr=subprocess.STDOUT,
            env={**os.environ, **own_folders(home)},
            start_new_session=True,
        )
    try:
        url = f"http://127.0.0.1:{port}"
        wait_until_it_answers(process, f"{url}/api/status?token={token}", log)
        yield Lab(url, token, log, home / "data")
    finally:
        stop(process)
        shutil.rmtree(home, ignore_errors=True)


def wait_until_it_answers(process: subprocess.Popen[bytes], url: str, log: Path, seconds: float = 90) -> None:
    """Poll a server's status page.

    Raises:
        RuntimeError: it ended early or did not answer; the message is the server's log.
    """
    give_up = time.monotonic() + seconds
    while True:
        if process.poll() is not None or time.monotonic() > give_up:
            raise RuntimeError(f"JupyterLab does not answer:\n{log.read_text()[-4000:]}")
        try:
            urllib.request.urlopen(url, timeout=5).close()
            return
        except OSError:
            time.sleep(0.1)


def stop(process: subprocess.Popen[bytes]) -> None:
    """End one process: SIGINT, then SIGTERM, then SIGKILL."""
    for how, seconds in ((signal.SIGINT, 5), (signal.SIGTERM, 10), (signal.SIGKILL, 10)):
        if process.poll() is None:
            process.send_signal(how)
        try:
            process.wait(seconds)
            return
        except subprocess.TimeoutExpired:
            continue


@dataclass
class Screen:
    """A browser page, and what went wrong on it."""

    page: Page
    errors: list[str] = field(default_factory=list)

    def real_errors(self) -> list[str]:
        """Page errors and console errors, less the one that every notebook has."""
        return [error for error in self.errors if HARMLESS not in error]


@contextmanager
def browser(width: int = 1400, height: int = 1000, dark: bool = False, scale: float = 1) -> Iterator[Screen]:
    """A page of a fresh headless Chromium."""
    from playwright.sync_api import sync_playwright

    profile = tempfile.mkdtemp(prefix="adknb-chromium-")
    try:
        with sync_playwright() as playwright:
            context = playwright.chromium.launch_persistent_context(
                profile,
                executable_path=chromium(),
                headless=True,
                args=CHROMIUM_FLAGS,
                viewport={"width": width, "height": height},
                device_scale_factor=scale,
                color_scheme="dark" if dark else "light",
            )
            page = context.pages[0] if context.pages else context.new_page()
            page.set_default_timeout(30_000)
            screen = Screen(page)
            page.on("pageerror", lambda error: screen.errors.append(str(error)))
            page.on("console", lambda said: screen.errors.append(said.text) if said.type == "error" else None)
            try:
                yield screen
            finally:
                context.close()
    finally:
        shutil.rmtree(profile, ignore_errors=True)


def write_notebook(path: Path, *cells: str) -> Path:
    """A notebook of code cells without outputs."""
    import nbformat

    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.write(notebook, str(path))
    return path


def open_notebook(page: Page, lab: Lab, name: str) -> None:
    """Open a notebook alone on the page, and wait until its kernel has answered.

    A workspace of its own and `reset`: no tabs from an earlier page come back.
    """
    page.goto(f"{lab.url}/doc/workspaces/e2e/tree/{name}?token={lab.token}&reset", wait_until="domcontentloaded")
    page.wait_for_function("() => window.jupyterapp && window.jupyterapp.shell", timeout=60_000)
    page.evaluate("() => window.jupyterapp.restored")
    page.wait_for_selector(".jp-Notebook .jp-Cell", timeout=60_000)
    page.evaluate(
        """async () => {
            const notebook = window.jupyterapp.shell.currentWidget;
            await notebook.context.ready;
            await notebook.sessionContext.ready;
            await notebook.sessionContext.session.kernel.info;
        }"""
    )


def shut_down(page: Page) -> None:
    """End the open notebook's kernel."""
    page.evaluate("() => window.jupyterapp.shell.currentWidget.sessionContext.shutdown()")


def run_all(page: Page) -> bool:
    """Run every cell and wait for the last; False if one raised."""
    done: bool = page.evaluate("() => window.jupyterapp.commands.execute('notebook:run-all-cells')")
    return done


def run_first_cells(page: Page, count: int) -> bool:
    """Run the first `count` code cells, one after another, and wait for the last; False if one raised."""
    done: bool = page.evaluate(
        """async (count) => {
            const { commands, shell } = window.jupyterapp, notebook = shell.currentWidget.content;
            for (let at = 0; at < notebook.widgets.length && count > 0; at++) {
                if (notebook.widgets[at].model.type !== 'code') continue;
                notebook.activeCellIndex = at;
                notebook.deselectAll();
                if (!(await commands.execute('notebook:run-cell'))) return false;
                count--;
            }
            return true;
        }""",
        count,
    )
    return done


def evaluate(page: Page, expression: str) -> str:
    """What a Python expression is worth in the notebook's kernel, as its repr; leaves no trace in the notebook.

    Raises:
        AssertionError: it raised.
    """
    answer: dict[str, Any] = page.evaluate(
        """async (expression) => {
            const kernel = window.jupyterapp.shell.currentWidget.sessionContext.session.kernel;
            const asked = kernel.requestExecute({ code: '', silent: true, user_expressions: { it: expression } });
            return (await asked.done).content.user_expressions.it;
        }""",
        expression,
    )
    assert answer["status"] == "ok", f"{expression}: {answer.get('evalue')}"
    text: str = answer["data"]["text/plain"]
    return text


def settle(page: Page, selector: str) -> None:
    """Wait until an element is there and nothing around it is still fading in."""
    page.wait_for_selector(selector)
    page.wait_for_function(
        """(selector) => {
            for (let e = document.querySelector(selector); e; e = e.parentElement)
                if (getComputedStyle(e).opacity !== '1' || e.getAnimations().length) return false;
            return true;
        }""",
        arg=selector,
    )


def cell_outputs(page: Page) -> list[str]:
    """The `text/plain` (or the streams and errors) of every code cell, in order, as the notebook's model holds them."""
    texts: list[str] = page.evaluate(
        """() => {
            const whole = (text) => (Array.isArray(text) ? text.join('') : text ?? '');
            const said = (output) => whole(output.text ?? output.data?.['text/plain'] ?? output.evalue);
            const cells = [...window.jupyterapp.shell.currentWidget.content.model.cells];
            return cells.filter((c) => c.type === 'code').map((c) => c.toJSON().outputs.map(said).join(''));
        }"""
    )
    return texts


def axe_findings(page: Page, selector: str, allowed: frozenset[str] = frozenset()) -> list[str]:
    """What axe-core has against an element, if serious or critical: one line a finding."""
    from axe_playwright_python.sync_playwright import Axe

    found = Axe().run(page, context=selector).response["violations"]
    return [
        f"{rule['impact']} {rule['id']}: {rule['help']} ({', '.join(str(n['target']) for n in rule['nodes'][:3])})"
        for rule in found
        if rule["impact"] in ("serious", "critical") and rule["id"] not in allowed
    ]


def set_theme(page: Page, dark: bool) -> None:
    """Switch JupyterLab's theme and wait until the page wears it."""
    name = "JupyterLab Dark" if dark else "JupyterLab Light"
    page.evaluate("(theme) => window.jupyterapp.commands.execute('apputils:change-theme', { theme })", name)
    page.wait_for_selector(f'body[data-jp-theme-name="{name}"]', state="attached")
