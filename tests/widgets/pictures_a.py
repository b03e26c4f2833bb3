"""Pictures of the views Contents, Branches, State, Where, Source and Findings, to be looked at.

    python -m tests.widgets.pictures_a FOLDER [NAME …]

`PICTURES` says what is shown: a name, the run, the tab, what is done there first.
"""

from __future__ import annotations

import sys
from pathlib import Path

from tests.widgets.page import PanelPage, browser, served
from tests.widgets.runs import weather
from tests.widgets.runs_a import family, merging, relay, trip


def keys(*pressed, on=None):
    """Presses keys in an element of the panel."""

    def do(panel):
        if on:
            panel.page.locator(on).first.focus()
        for key in pressed:
            panel.page.keyboard.press(key)
            panel.settle()

    return do


def click(name, role="button"):
    """Clicks a control by its name."""
    return lambda panel: panel.page.get_by_role(role, name=name).first.click()


def what_if(panel):
    """Asks what another setting would do; a narrow panel has the fields behind a button."""
    more = panel.page.get_by_role("button", name="What if")
    if more.is_visible():
        more.click()
    panel.page.get_by_role("radio", name="none").first.click()


PICTURES = [
    ("contents", trip, "Contents", keys("End", "ArrowUp", on="[role=listbox]")),
    ("contents-pass", trip, "Contents", keys("[", "[", "[", on="[role=listbox]")),
    ("contents-what-if", trip, "Contents", what_if),
    ("contents-5000", lambda: relay(5_000), "Contents", None),
    ("branches", trip, "Branches", keys("ArrowLeft", "ArrowLeft", "ArrowLeft", "ArrowLeft", "ArrowLeft", "ArrowLeft", "ArrowLeft", "ArrowDown", "ArrowDown", on="[role=grid]")),
    ("branches-turned", trip, "Branches", click("Events as rows", "radio")),
    ("branches-5000", lambda: relay(5_000), "Branches", keys("End", on="[role=grid]")),
    ("state", merging, "State", None),
    ("state-key", merging, "State", click("city")),
    ("where", trip, "Where", None),
    ("where-transfers", family, "Where", None),
    ("source", trip, "Source", None),
    ("source-own", lambda: trip().until(__import__("adknb").at(seam="before_model")), "Source", None),
    ("findings", trip, "Findings", None),
    ("findings-weather", weather, "Findings", None),
]  # fmt: skip
LOOKS = [("light", 1280), ("dark", 1280), ("light", 360), ("dark", 360)]


def take(folder: Path, names=()) -> None:
    """Write the pictures, each in light and dark, wide and narrow."""
    folder.mkdir(parents=True, exist_ok=True)
    with served() as address, browser() as chromium:
        for name, run, tab, first in PICTURES:
            if names and name not in names:
                continue
            for theme, width in LOOKS:
                panel = PanelPage(chromium.new_page(), address, run(), theme, width, 800)
                panel.page.get_by_role("tab", name=tab).click()
                panel.settle()
                panel.page.wait_for_timeout(700)
                if first is not None:
                    first(panel)
                panel.page.wait_for_timeout(700)  # the ribbons take their time
                panel.page.screenshot(path=folder / f"{name}-{theme}-{width}.png")
                print(folder / f"{name}-{theme}-{width}.png", panel.errors, panel.panel.errors[-1:])
                panel.page.close()


if __name__ == "__main__":
    take(Path(sys.argv[1]), sys.argv[2:])
