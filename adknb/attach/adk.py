"""google-adk, if it is here: importing it, and finding the seams that the attached Stepper needs.

Whether a version can be attached is told by its names, not by its number.
"""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from adknb.engine.errors import AdknbError

SEAMS = (
    ("google.adk.agents.llm_agent", "SingleFlow"),
    ("google.adk.agents.llm_agent", "AutoFlow"),
    ("google.adk.flows.llm_flows.base_llm_flow", "BaseLlmFlow._get_llm"),
    ("google.adk.flows.llm_flows.base_llm_flow", "BaseLlmFlow._run_one_step_async"),
    ("google.adk.flows.llm_flows.tools._caller", "_call_tool_async"),
    ("google.adk.flows.llm_flows.tools._caller", "_run_callbacks"),
    ("google.adk.flows.llm_flows.tools._error_handler", "_run_callbacks"),
    ("google.adk.flows.llm_flows.core._finalizer", "_run_callbacks"),
    ("google.adk.agents.base_agent", "_run_callbacks"),
    ("google.adk.plugins.plugin_manager", "PluginManager._run_callbacks"),
)
"""(module, name): what has to be there."""


class NoGoogleAdk(AdknbError, ImportError):
    """google-adk is not installed."""


class MissingSeam(AdknbError):
    """This google-adk has no place of a name at which the attached Stepper pauses."""

    def __init__(self, seam: str) -> None:
        super().__init__(
            f"google-adk {adk_version()} cannot be attached: it has no {seam}. Known to work: google-adk>=2.11,<3"
        )
        self.seam = seam


def adk_version() -> str:
    """The installed version, or "(unknown)"."""
    try:
        return version("google-adk")
    except PackageNotFoundError:
        return "(unknown)"


def adk(name: str = "google.adk") -> Any:
    """A module of google-adk.

    Raises:
        NoGoogleAdk: it is not installed.
    """
    try:
        import_module("google.adk")
    except ImportError as error:
        raise NoGoogleAdk(f"attach() needs google-adk: pip install 'adknb[adk]' ({error})") from None
    return import_module(name)


def must_have_seams() -> None:
    """See that every seam is there.

    Raises:
        NoGoogleAdk: google-adk is not installed.
        MissingSeam: names the first one that is missing.
    """
    adk()
    for module, name in SEAMS:
        try:
            at: Any = import_module(module)
            for word in name.split("."):
                at = getattr(at, word)
        except (ImportError, AttributeError):
            raise MissingSeam(f"{module}.{name}") from None
