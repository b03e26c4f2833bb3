"""A browser for the tests of a file, and a way to show a Stepper's panel in it."""

from __future__ import annotations

import os

import pytest

from tests.browser.harness import what_is_missing
from tests.widgets.page import PanelPage, browser, served


@pytest.fixture(scope="module")
def chromium():
    missing = what_is_missing()
    if missing and os.environ.get("ADKNB_BROWSER") != "require":
        pytest.skip(f"no browser test here, this is missing: {missing}")
    with browser() as opened:
        yield opened


@pytest.fixture(scope="module")
def address():
    with served() as url:
        yield url


@pytest.fixture
def show(chromium, address):
    """Shows a Stepper; at the end no error has happened, on either side."""
    shown = []

    def open_page(stepper, **look):
        shown.append(PanelPage(chromium.new_page(), address, stepper, **look))
        return shown[-1]

    yield open_page
    for panel in shown:
        panel.page.close()
        assert (panel.errors, panel.panel.errors) == ([], [])
