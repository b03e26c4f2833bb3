"""What several test files share: the score against the reference, printed at the end of a run that measured it."""

from __future__ import annotations

from typing import Any

import pytest

GOLDEN_SCORE = pytest.StashKey[dict[str, tuple[int, int]]]()
"""family -> (scenarios that agree with ADK-Go, scenarios)."""


@pytest.fixture(scope="session")
def golden_score(request: pytest.FixtureRequest) -> dict[str, tuple[int, int]]:
    """Where test_against_go leaves the score, for the summary."""
    return request.config.stash.setdefault(GOLDEN_SCORE, {})


def pytest_sessionfinish(session: pytest.Session) -> None:
    """With several workers (pytest-xdist): the one that measured the score hands it on."""
    if GOLDEN_SCORE in session.config.stash and hasattr(session.config, "workeroutput"):
        session.config.workeroutput["golden score"] = session.config.stash[GOLDEN_SCORE]


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """… to the process that prints the summary."""
    if score := getattr(node, "workeroutput", {}).get("golden score"):
        node.config.stash.setdefault(GOLDEN_SCORE, {}).update(score)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Print the score by family."""
    score = config.stash.get(GOLDEN_SCORE, {})
    if not score:
        return
    terminalreporter.section("agreement with ADK-Go, by family")
    for family, (agree, of) in sorted(score.items()):
        terminalreporter.line(f"{family:14}{agree:4} of {of}{'' if agree == of else '   ' + '·' * (of - agree)}")
    terminalreporter.line(f"{'all':14}{sum(a for a, _ in score.values()):4} of {sum(n for _, n in score.values())}")
