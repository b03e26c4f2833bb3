"""A page with the real panel in it: its module in Chromium, the real `Panel` behind it, no Jupyter between.

The browser's messages are handled by the very handler that a comm would call; what the panel sends goes to the page.
"""

from __future__ import annotations

import contextlib
import functools
import http.server
import json
import shutil
import tempfile
import threading
from pathlib import Path

from adknb.widgets.panel import assets
from adknb.widgets.panel.widget import Panel
from tests.browser.harness import CHROMIUM_FLAGS, chromium

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-dev-shm-usage",
]

THEMES = {
    "light": "--jp-layout-color1:#fff;--jp-ui-font-color0:#000;--jp-brand-color1:#1976d2",
    "dark": "--jp-layout-color1:#212121;--jp-ui-font-color0:#fff;--jp-brand-color1:#2196f3",
    "contrast": "--jp-layout-color1:#111;--jp-ui-font-color0:#fff;--jp-brand-color1:#319bf2",
}

PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><title>panel</title><link rel="icon" href="data:,">
<link rel="stylesheet" href="panel.css"><style>body{margin:0;background:var(--jp-layout-color1)}</style><body>
<main id="out"></main><script type="module">
  import panel from "./panel.js";
  const on = {}, state = (window.state = await window.kernel({ type: "__state" }).then(JSON.parse));
  window.take = (text) => { for (const [kind, data] of JSON.parse(text)) {
    if (kind === "msg") (on["msg:custom"] || []).forEach((f) => f(data, []));
    else { state[kind] = data; (on["change:" + kind] || []).forEach((f) => f()); }
  } };
  const model = { get: (k) => state[k], set(k, v) { state[k] = v; }, save_changes() {}, off() {},
    get widget_manager() { return window.manager; }, // a front end's, where a test gives one
    on: (k, f) => (on[k] = [...(on[k] || []), f]),
    send: (m) => { window.listening?.(m); return window.kernel(m).then((text) => window.take(text)); } };
  window.again = (el) => panel.render({ model, el, signal: new AbortController().signal });
  const el = document.createElement("div"); // attached after drawing, as JupyterLab does now and then
  panel.render({ model, el, signal: new AbortController().signal });
  document.getElementById("out").append(el);
</script>"""


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *args):
        pass


@contextlib.contextmanager
def served():
    """The address of a folder with panel.js and panel.css as they are now."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "panel.js").write_text(assets.module(), encoding="utf-8")
        Path(folder, "panel.css").write_text(assets.styles(), encoding="utf-8")
        Path(folder, "index.html").write_text(PAGE, encoding="utf-8")
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=folder))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/index.html"
        finally:
            server.shutdown()
            server.server_close()


class PanelPage:
    """A Stepper's panel in a browser page. `errors` are the page's own; `bytes` is what has travelled to it."""

    def __init__(self, page, address, stepper, theme="light", width=1280, height=760):
        self.page, self.stepper = page, stepper
        self.panel = stepper if isinstance(stepper, Panel) else Panel(stepper)
        self.outbox, self.errors, self.bytes = [], [], 0
        self.panel.send = lambda content, buffers=None: self.outbox.append(["msg", content])
        self.panel.observe(lambda change: self.outbox.append(["view", change["new"]]), "view")
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("console", lambda m: m.type == "error" and self.errors.append(m.text))
        page.set_viewport_size({"width": width, "height": height})
        page.expose_function("kernel", self._kernel)
        page.add_init_script(
            f"addEventListener('DOMContentLoaded', () => {{ document.body.style.cssText = {THEMES[theme]!r};"
            f" document.body.dataset.jpThemeName = {'High Contrast' if theme == 'contrast' else theme!r}; }})"
        )
        page.goto(address)
        page.wait_for_selector(".adk .page > div, .adk .empty")

    def _kernel(self, message):
        if message["type"] == "__state":
            state = self.panel.get_state()
            return json.dumps({k: state[k] for k in ("book", "view", "stops", "rows", "base", "kept")})
        self.panel._on_message(self.panel, message, [])
        self.panel._line.join(60)
        return self.flush()

    def flush(self):
        out, self.outbox = json.dumps(self.outbox, ensure_ascii=False, allow_nan=False), []
        self.bytes += len(out.encode())
        return out

    def cell(self, command):
        """Drive the Stepper from outside the panel, as a notebook cell does."""
        command(self.stepper)
        self.page.evaluate("(text) => window.take(text)", self.flush())

    def settle(self):
        self.page.wait_for_timeout(80)


@contextlib.contextmanager
def browser():
    """A fresh headless Chromium."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=chromium(), headless=True, args=CHROMIUM_FLAGS)
        try:
            yield running
        finally:
            running.close()
