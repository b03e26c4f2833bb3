"""Plugins: callbacks for the whole app, asked before an agent's own.

Go: plugin/plugin.go, Plugin; internal/plugininternal/plugin_manager.go

Every hook settles the same way: return an answer, return None, or raise; the first answer wins.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

HOOKS: dict[str, str] = {
    "on_user_message": "(ctx, content) -> Content: replaces the message",
    "before_run": "(ctx) -> Content: ends the run",
    "before_agent": "(ctx) -> Content: in the agent's place",
    "before_model": "(ctx, request) -> LLMResponse: in the model's place",
    "after_model": "(ctx, response) -> LLMResponse: in its place",
    "on_model_error": "(ctx, request, error) -> LLMResponse: in the error's place",
    "before_tool": "(ctx, tool, args) -> dict: in the tool's place",
    "after_tool": "(ctx, tool, args, result, error) -> dict: in the result's place",
    "on_tool_error": "(ctx, tool, args, error) -> dict: in the error's place",
    "on_event": "(ctx, event) -> Event: in its place",
    "after_agent": "(ctx) -> Content: one more event",
    "after_run": "(ctx): the turn is over, however it ended",
}
"""Every hook, what it is given and what its answer does."""


class Plugin:
    """A named set of hooks. Give functions, or subclass and write methods of those names.

        Plugin("audit", before_tool=lambda ctx, tool, args: print(tool.name))

    Raises:
        TypeError: a hook of an unknown name.
    """

    def __init__(self, name: str = "", **hooks: Callable[..., Any]) -> None:
        unknown = sorted(set(hooks) - set(HOOKS))
        if unknown:
            raise TypeError(f"a plugin has no hook {unknown[0]!r}; the hooks are {', '.join(HOOKS)}")
        self.name = name or type(self).__name__
        for hook, function in hooks.items():
            setattr(self, hook, _callable(function, f"hook {hook}"))


def hooks_of(plugins: Iterable[Plugin], hook: str) -> list[Callable[..., Any]]:
    """The functions of one hook, in the order in which the plugins were registered."""
    return [function for p in plugins if (function := getattr(p, hook, None)) is not None]


def as_callbacks(given: Any) -> list[Callable[..., Any]]:
    """An agent's callbacks for one hook: none, one function, or several in order."""
    if given is None:
        return []
    return [given] if callable(given) else [_callable(function, "a callback") for function in given]


def _callable(function: Any, what: str) -> Callable[..., Any]:
    if not callable(function):
        raise TypeError(f"{what} is a function, not {function!r}")
    return function  # type: ignore[no-any-return]
