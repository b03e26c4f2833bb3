"""adknb: step through one turn of an LLM agent inside Jupyter.

    import adknb
    dbg = adknb.step(agent, "What is the weather in Hangzhou?")

The names of lesson 1 live here and are fetched from their homes when first used, so `import adknb` costs nothing.
"""

from __future__ import annotations

import logging
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from adknb.engine.context import LiveConfig, RunConfig
    from adknb.engine.event import Event
    from adknb.engine.gemini import Gemini
    from adknb.engine.live import LiveRequest, LiveSession, YieldedError
    from adknb.engine.llm_agent import LlmAgent
    from adknb.engine.plugin import Plugin
    from adknb.engine.runner import Runner
    from adknb.engine.stops import Raise, Return
    from adknb.engine.tool import FunctionTool
    from adknb.engine.workflow_agents import LoopAgent, ParallelAgent, SequentialAgent
    from adknb.files import open as open
    from adknb.files.findings import doctor
    from adknb.scenarios import ScriptedModel, scenario
    from adknb.stepper import Stepper, at, changed, event, step, when
    from adknb.stepper.live_stepper import LiveStepper, step_live
    from adknb.stepper.replays import replay

__version__ = "0.1.0"

logging.getLogger("adknb").addHandler(logging.NullHandler())  # who wants to read what is dropped adds a handler

__all__ = [  # without `open`: `from adknb import *` must not hide Python's own
    "Event",
    "FunctionTool",
    "Gemini",
    "LiveConfig",
    "LiveRequest",
    "LiveSession",
    "LiveStepper",
    "LlmAgent",
    "LoopAgent",
    "ParallelAgent",
    "Plugin",
    "Raise",
    "Return",
    "RunConfig",
    "Runner",
    "ScriptedModel",
    "SequentialAgent",
    "Stepper",
    "YieldedError",
    "at",
    "attach",
    "changed",
    "doctor",
    "event",
    "replay",
    "scenario",
    "step",
    "step_live",
    "versus",
    "watch",
    "when",
]

_HOMES = {
    "Event": "adknb.engine.event",
    "FunctionTool": "adknb.engine.tool",
    "Gemini": "adknb.engine.gemini",
    "LiveConfig": "adknb.engine.context",
    "LiveRequest": "adknb.engine.live",
    "LiveSession": "adknb.engine.live",
    "LiveStepper": "adknb.stepper.live_stepper",
    "LlmAgent": "adknb.engine.llm_agent",
    "LoopAgent": "adknb.engine.workflow_agents",
    "ParallelAgent": "adknb.engine.workflow_agents",
    "Plugin": "adknb.engine.plugin",
    "Raise": "adknb.engine.stops",
    "Return": "adknb.engine.stops",
    "RunConfig": "adknb.engine.context",
    "Runner": "adknb.engine.runner",
    "ScriptedModel": "adknb.scenarios",
    "SequentialAgent": "adknb.engine.workflow_agents",
    "Stepper": "adknb.stepper",
    "YieldedError": "adknb.engine.live",
    "at": "adknb.stepper",
    "attach": "adknb.attach",
    "changed": "adknb.stepper",
    "doctor": "adknb.files.findings",
    "event": "adknb.stepper",
    "open": "adknb.files",
    "replay": "adknb.stepper.replays",
    "scenario": "adknb.scenarios",
    "step": "adknb.stepper",
    "step_live": "adknb.stepper.live_stepper",
    "versus": "adknb.attach",
    "watch": "adknb.attach",
    "when": "adknb.stepper",
}


def __getattr__(name: str) -> Any:
    """Fetch a public name from its home.

    Raises:
        AttributeError: there is no such name.
    """
    if name in _HOMES:
        value = globals()[name] = getattr(import_module(_HOMES[name]), name)
        return value
    raise AttributeError(f"module 'adknb' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*__all__, "open", "__version__"})
