"""`adknb lab`: JupyterLab on the first notebook.

The notebook of the clone is opened where it is; without a clone, a copy in `./adknb-notebooks`. The server listens on
the loopback interface only, with a token; its address is printed as soon as it answers, and opened where there is a
screen.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
import urllib.request
import webbrowser
from collections.abc import Sequence
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import quote

from adknb.engine.errors import AdknbError, BadData

FIRST = "01-one-turn.ipynb"
HERE = Path(__file__).resolve().parent.parent
"""The clone, when adknb is installed from one (`pip install -e`)."""
PACKAGED = Path(sys.prefix, "share", "adknb", "notebooks")
"""Where an installed wheel has the notebooks."""
SETTINGS = Path(__file__).resolve().parent / "lab_settings"
"""Defaults that only JupyterLab's settings have: no news, no look for updates, and no pop-up that asks about them."""

DEFAULTS = {
    "--ServerApp.ip": "127.0.0.1",
    "--ServerApp.answer_yes": "True",  # Ctrl+C ends it without a question
    "--Application.log_level": "WARN",
}
SHORT = {"--ip": "--ServerApp.ip", "-y": "--ServerApp.answer_yes", "--log-level": "--Application.log_level"}


def main(notebook: str | Path | None = None, arguments: Sequence[str] = (), browser: bool | None = None) -> int:
    """Start JupyterLab on a notebook (the first one if none is named), and stay until it ends.

    `arguments` go to JupyterLab as they are and win over our own. `browser`: open one; None: where there is a screen.
    Gives the exit status: JupyterLab's own, 0 after Ctrl+C.

    Raises:
        AdknbError: JupyterLab is not installed, or ended before it answered.
        BadData: no such notebook.
    """
    if find_spec("jupyterlab") is None:
        raise AdknbError("JupyterLab is not installed here: pip install 'adknb[lab]'")
    path = our_notebook() if notebook is None else Path(notebook).resolve()
    if not path.is_file():
        raise BadData(str(notebook), "no such notebook")
    root = HERE if path.is_relative_to(HERE) else path.parent
    if browser is None:
        browser = "--no-browser" not in arguments and has_screen()
    if path.parent in (HERE / "notebooks", Path.cwd() / "adknb-notebooks"):
        trust(path)
    page = f"/lab/tree/{quote(path.relative_to(root).as_posix())}"
    print(f"Starting JupyterLab for {path.name} …", flush=True)
    settings = [path for path in (os.environ.get("JUPYTER_CONFIG_PATH"), str(SETTINGS)) if path]
    environment = {**os.environ, "JUPYTER_CONFIG_PATH": os.pathsep.join(settings)}
    process = subprocess.Popen(command(root, [f"--LabApp.default_url={page}", *arguments]), env=environment)
    previous = signal.signal(signal.SIGTERM, _leave)
    try:
        address = wait_for(process) + page
        running = running_server(process.pid)
        if running["token"]:
            address += f"?token={running['token']}"
        print(f"{path.name} is open at\n\n    {address}\n\nCtrl+C here ends it.", flush=True)
        if browser:
            webbrowser.open(address)
        return process.wait()
    except KeyboardInterrupt:
        with suppress(subprocess.TimeoutExpired, KeyboardInterrupt):
            process.wait(5)  # Ctrl+C in a terminal reached JupyterLab too: it is ending its kernels
        return 0
    finally:
        signal.signal(signal.SIGTERM, previous)
        _end(process)


def our_notebook() -> Path:
    """The first notebook: the clone's, else a copy of the packaged one that the reader may change.

    Raises:
        AdknbError: this installation came without notebooks.
    """
    if (HERE / "notebooks" / FIRST).is_file():
        return HERE / "notebooks" / FIRST
    copy = Path.cwd() / "adknb-notebooks"
    if not copy.exists():
        if not PACKAGED.is_dir():
            raise AdknbError(f"this installation has no notebooks ({PACKAGED} is missing)")
        shutil.copytree(PACKAGED, copy)
    return copy / FIRST


def trust(path: Path) -> None:
    """Sign a notebook of our own (as `jupyter trust` does): JupyterLab then shows its committed outputs as they are."""
    import nbformat
    from nbformat.sign import NotebookNotary

    NotebookNotary().sign(nbformat.read(path, as_version=4))


def has_screen() -> bool:
    """Whether a browser window could appear."""
    return sys.platform in ("darwin", "win32") or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def command(root: Path, arguments: Sequence[str]) -> list[str]:
    """JupyterLab's command line: our defaults, less those that the arguments set, then the arguments."""
    given = {SHORT.get(name, name) for name in (argument.split("=")[0] for argument in arguments)}
    ours = [f"{name}={value}" for name, value in DEFAULTS.items() if name not in given]
    return [
        *(sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", f"--ServerApp.root_dir={root}"),
        *ours,
        *(argument for argument in arguments if argument not in ("--no-browser", "--allow-root")),
    ]


def wait_for(process: subprocess.Popen[bytes], seconds: float = 120) -> str:
    """Wait until JupyterLab answers, and give its address without the path.

    Raises:
        AdknbError: it ended, or did not answer in time.
    """
    give_up = time.monotonic() + seconds
    while time.monotonic() < give_up:
        if process.poll() is not None:
            raise AdknbError(f"JupyterLab ended at once, with status {process.returncode}; its own message is above")
        try:
            url = str(running_server(process.pid)["url"]).rstrip("/")
            urllib.request.urlopen(f"{url}/api", timeout=5).close()
            return url
        except OSError:
            time.sleep(0.1)
    raise AdknbError(f"JupyterLab did not answer within {seconds:.0f} s")


def running_server(pid: int) -> dict[str, Any]:
    """What a running server has written down about itself: its url and token, whatever port it found free."""
    from jupyter_core.paths import jupyter_runtime_dir

    try:
        written: dict[str, Any] = json.loads(Path(jupyter_runtime_dir(), f"jpserver-{pid}.json").read_text())
    except ValueError as error:  # half written
        raise FileNotFoundError(str(error)) from error
    return written


def _leave(*_: Any) -> None:
    raise SystemExit(143)


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(10)
        except (subprocess.TimeoutExpired, KeyboardInterrupt):
            process.kill()
            process.wait()
