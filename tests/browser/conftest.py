"""Fixtures of the browser tests: one JupyterLab for all of them, a fresh Chromium for each."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.browser import harness

CLONE = Path(__file__).resolve().parents[2]
FAILURES = CLONE / "browser-failures"


@pytest.fixture(scope="session")
def tools() -> None:
    """Skip, with the reason, where something is missing; fail instead under ADKNB_BROWSER=require."""
    missing = harness.what_is_missing()
    if missing and os.environ.get("ADKNB_BROWSER") == "require":
        pytest.fail(f"ADKNB_BROWSER=require, but this is missing: {missing}", pytrace=False)
    if missing:
        pytest.skip(f"no browser test here, this is missing: {missing}")


@pytest.fixture(scope="session")
def folder(tools: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The server's folder: a copy of the notebooks, so that no test writes into the clone."""
    root = tmp_path_factory.mktemp("lab-root")
    shutil.copytree(CLONE / "notebooks", root / "notebooks", ignore=shutil.ignore_patterns(".ipynb_checkpoints"))
    return root


@pytest.fixture(scope="session")
def lab(folder: Path) -> Iterator[harness.Lab]:
    with harness.jupyterlab(folder) as running:
        yield running


@pytest.fixture
def screen(lab: harness.Lab, request: pytest.FixtureRequest) -> Iterator[harness.Screen]:
    """A page. Of a failed test, a picture, the page's errors and the server's last words are kept."""
    with harness.browser() as opened:
        yield opened
        report = getattr(request.node, "report", None)
        if report is None or report.failed:
            keep(request.node.name, opened, lab)


def keep(name: str, screen: harness.Screen, lab: harness.Lab) -> None:
    """Write down what a failed test's page looked like."""
    FAILURES.mkdir(exist_ok=True)
    stem = FAILURES / re.sub(r"\W+", "-", name)
    screen.page.screenshot(path=f"{stem}.png")
    said = "\n".join(["page errors:", *screen.errors, "", "server:", lab.log.read_text()[-4000:]])
    Path(f"{stem}.txt").write_text(said)
    print(f"kept: {stem}.png and .txt\n{said[-2000:]}")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    report = yield
    if report.when == "call":
        item.report = report
    return report


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker("browser")
