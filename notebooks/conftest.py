"""A notebook whose packages are not here is left out, and the run says so."""

from importlib.util import find_spec

NEEDS_ADK = ["16-my-own-adk-agent.ipynb"]

collect_ignore = [] if find_spec("google.adk") else NEEDS_ADK


def pytest_report_header() -> str:
    """Name what is left out, and why."""
    return f"left out: {', '.join(collect_ignore)} (extra adk is not installed)" if collect_ignore else ""
