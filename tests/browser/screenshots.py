"""Takes the README's pictures again, and pictures of every tab in light and dark to look at.

    python -m tests.browser.screenshots                       # the README's, into notebooks/images
    python -m tests.browser.screenshots FOLDER                # and FOLDER/{scene}-{light,dark}-{width}.png
    python -m tests.browser.screenshots FOLDER request events # only these scenes, and not the README's

The README's first picture is taken in JupyterLab, all others of the real panel on a page of its own (widgets/page.py).
Needs what the browser tests need, and a font with Chinese in it: the agent of notebook 01 is asked in Chinese (Debian:
fonts-wqy-microhei).
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page

import adknb
from adknb import at
from adknb.scenarios.streams import DRAW, drawing_line, safe_stream
from tests.browser import harness
from tests.live.voice_turn import voice_turn
from tests.widgets.page import PanelPage, browser, served
from tests.widgets.runs import weather
from tests.widgets.runs_a import merging, relay, trip

CLONE = Path(__file__).resolve().parents[2]
IMAGES = CLONE / "notebooks" / "images"
NOTEBOOK = "notebooks/01-one-turn.ipynb"
LOOKS = [(theme, width) for theme in ("light", "dark") for width in (1400, 800, 360)]

Act = Callable[[PanelPage], Any]


def press(*keys: str, on: str = ".adk") -> Act:
    """Press keys in an element of the panel."""

    def do(panel: PanelPage) -> None:
        panel.page.locator(on).first.focus()
        for key in keys:
            panel.page.keyboard.press(key)
            panel.settle()

    return do


def wrong_json(panel: PanelPage) -> None:
    """A draft with a fault in it."""
    press("1", "e")(panel)
    panel.page.get_by_role("radio", name="JSON").click()
    panel.settle()
    area = panel.page.get_by_role("textbox", name="As JSON")
    area.fill(area.input_value().replace('"role": "model"', '"role": 5', 1))
    panel.page.wait_for_timeout(400)


def wrong_field(panel: PanelPage) -> None:
    """A form with a fault in it."""
    press("1", "e")(panel)
    panel.page.get_by_role("textbox", name="temperature").fill("warm")
    panel.page.wait_for_timeout(400)


def drawing() -> Any:
    """Where the drawing agent's first chunk is on its way."""
    dbg = adknb.step(drawing_line(safe_stream), DRAW, run_config=adknb.RunConfig("sse"))
    return dbg.until(adknb.event(author="drawAgent"))


def takes_long(panel: PanelPage) -> None:
    """The strip of a command that takes long."""
    told = (
        '[["msg", {"type": "busy", "what": "resume", "seconds": 4.2, "stops": 1234, "at": "before tool find_trains"}]]'
    )
    panel.page.evaluate("(m) => window.take(m)", told)


def since_the_step_began(panel: PanelPage) -> None:
    """All that this step has written."""
    panel.page.get_by_role("radio", name="step began").click()
    panel.settle()


@dataclass(frozen=True)
class Scene:
    """A picture: its name, the run it is of, the tab, what is done first."""

    name: str
    run: Callable[[], Any]
    tab: str
    act: Act | None = None


SCENES = [
    Scene("request", trip, "Request", since_the_step_began),
    Scene("request-past", trip, "Request", press("<", "<", "<", "<", "<", "<")),
    Scene("request-form", lambda: weather().until(at("model", step=2)), "Request", press("1", "e")),
    Scene("request-form-fault", trip, "Request", wrong_field),
    Scene("request-json-fault", trip, "Request", wrong_json),
    Scene("request-tool", lambda: weather().until(at(tool="get_weather")).next(), "Request"),
    Scene("request-arguments", lambda: weather().until(at(tool="get_weather")), "Request", press("1", "e")),
    Scene("event-form", lambda: weather().until(at(seam="event")), "Request", press("1", "e")),
    Scene("contents", trip, "Contents", press("End", "ArrowUp", on="[role=listbox]")),
    Scene("contents-pass", trip, "Contents", press("[", "[", "[", on="[role=listbox]")),
    Scene("contents-5000", lambda: relay(5_000), "Contents"),
    Scene("branches", trip, "Branches", press("End", on="[role=grid]")),
    Scene("events", trip, "Events", press("End", on="[role=grid]")),
    Scene("events-past", trip, "Events", press("<", "<", "<")),
    Scene("events-5000", lambda: relay(5_000), "Events", press("End", on="[role=grid]")),
    Scene("state", merging, "State"),
    Scene("where", trip, "Where"),
    Scene("source", trip, "Source"),
    Scene("findings", trip, "Findings"),
    Scene("live", voice_turn, "Live"),
    Scene("screen", drawing, "Screen"),
    Scene("keys", weather, "Request", press("?")),
    Scene("busy", trip, "Request", takes_long),
]

README = {"panel-request.png": "request", "panel-contents.png": "contents"}
"""Pictures of the README that are scenes, in light and wide."""


def main() -> int:
    """Take the pictures; exit status 2 if something is missing here."""
    parser = argparse.ArgumentParser(prog="python -m tests.browser.screenshots", description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", type=Path, help="where the scenes' pictures go (default: none are taken)")
    parser.add_argument("scenes", nargs="*", help=f"only these of {', '.join(scene.name for scene in SCENES)}")
    asked = parser.parse_args()
    if missing := harness.what_is_missing():
        print(f"missing here: {missing}", file=sys.stderr)
        return 2
    if not asked.scenes:
        in_jupyterlab()
    with served() as address, browser() as chromium:
        for scene in SCENES:
            wanted = not asked.scenes or scene.name in asked.scenes
            for theme, width in LOOKS if wanted and asked.folder else ():
                take(chromium, address, scene, theme, width, asked.folder / f"{scene.name}-{theme}-{width}.png")
        for name, of in README.items() if not asked.scenes else ():
            scene = next(s for s in SCENES if s.name == of)
            take(chromium, address, scene, "light", 1280, IMAGES / name)
    return 0


def take(chromium: Browser, address: str, scene: Scene, theme: str, width: int, path: Path) -> None:
    """One picture; what went wrong on the page or behind it is told."""
    path.parent.mkdir(parents=True, exist_ok=True)
    panel = PanelPage(chromium.new_page(), address, scene.run(), theme, width, 760)
    panel.page.get_by_role("tab", name=scene.tab).click()
    panel.page.wait_for_timeout(600)  # the ribbons take their time
    if scene.act is not None:
        scene.act(panel)
        panel.page.wait_for_timeout(600)
    panel.page.mouse.move(0, 0)
    panel.page.screenshot(path=path)
    print(path, *panel.errors, *panel.panel.errors)
    panel.page.close()


def in_jupyterlab() -> None:
    """Notebook 01 after its first cell, as JupyterLab shows it."""
    with tempfile.TemporaryDirectory(prefix="adknb-pictures-") as name:
        shutil.copytree(CLONE / "notebooks", Path(name) / "notebooks")
        with harness.jupyterlab(Path(name)) as lab, harness.browser(1280, 860) as screen:
            paused(screen.page, lab)
            screen.page.screenshot(path=IMAGES / "first-stop.png")
            print(IMAGES / "first-stop.png", *screen.real_errors())


def paused(page: Page, lab: harness.Lab) -> None:
    """Notebook 01 after its first cell."""
    harness.open_notebook(page, lab, NOTEBOOK)
    assert harness.run_first_cells(page, 1)
    harness.settle(page, ".adk")
    page.mouse.move(0, 0)


if __name__ == "__main__":
    sys.exit(main())
