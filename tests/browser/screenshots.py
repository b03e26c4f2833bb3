"""Takes the README's picture again, and pictures of the panel's tabs in light and dark to look at.

    python -m tests.browser.screenshots                 # notebooks/images/first-stop.png
    python -m tests.browser.screenshots FOLDER          # and FOLDER/{light,dark}-{request,contents,…}.png

Needs what the browser tests need, and a font with Chinese in it: the agent of notebook 01 is asked in Chinese (Debian:
fonts-wqy-microhei).
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Page

from tests.browser import harness

CLONE = Path(__file__).resolve().parents[2]
PICTURE = CLONE / "notebooks" / "images" / "first-stop.png"
NOTEBOOK = "notebooks/01-one-turn.ipynb"


def main() -> int:
    """Take the pictures; exit status 2 if something is missing here."""
    parser = argparse.ArgumentParser(prog="python -m tests.browser.screenshots", description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", type=Path, help="where the tabs' pictures go (default: none are taken)")
    folder: Path | None = parser.parse_args().folder
    if missing := harness.what_is_missing():
        print(f"missing here: {missing}", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory(prefix="adknb-pictures-") as name:
        shutil.copytree(CLONE / "notebooks", Path(name) / "notebooks")
        with harness.jupyterlab(Path(name)) as lab:
            with harness.browser(1280, 860) as screen:
                paused(screen.page, lab, dark=False)
                screen.page.screenshot(path=PICTURE)
            print(PICTURE)
            for dark in (False, True) if folder else ():
                with harness.browser(1400, 1000, dark=dark) as screen:
                    paused(screen.page, lab, dark)
                    tabs(screen.page, folder / ("dark" if dark else "light"))
    return 0


def paused(page: Page, lab: harness.Lab, dark: bool) -> None:
    """Notebook 01 after its first cell."""
    harness.open_notebook(page, lab, NOTEBOOK)
    harness.set_theme(page, dark)
    assert harness.run_first_cells(page, 1)
    harness.settle(page, ".adk")
    page.mouse.move(0, 0)


def tabs(page: Page, stem: Path) -> None:
    """One picture a tab, of the panel alone, after the tool has answered."""
    stem.parent.mkdir(parents=True, exist_ok=True)
    panel = page.locator(".adk").first
    harness.evaluate(page, "dbg.until(at('model', step=2))")
    for tab in panel.get_by_role("tab").all():
        if tab.is_visible():
            tab.click()
            page.wait_for_timeout(600)  # the ribbons take their time
            name = tab.inner_text().split()[0].lower()
            panel.screenshot(path=f"{stem}-{name}.png")
            print(f"{stem}-{name}.png")


if __name__ == "__main__":
    sys.exit(main())
