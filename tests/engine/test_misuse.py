"""What cannot work is refused where it is said, in words."""

from __future__ import annotations

from typing import Any

import pytest

from adknb import LlmAgent, ParallelAgent, Plugin, Runner, ScriptedModel


@pytest.mark.parametrize(
    "make, complaint",
    [
        (lambda: Plugin("p", before_model=5), "hook before_model is a function, not 5"),
        (lambda: Plugin("p", before_modle=print), "a plugin has no hook 'before_modle'"),
        (lambda: LlmAgent("a", before_model=["x"]), "a callback is a function, not 'x'"),
        (lambda: Runner(LlmAgent("a"), plugins=["x"]), "a plugin is a Plugin, not 'x'"),
        (lambda: LlmAgent("a", tools=[5]), "a tool is a Tool, a Toolset or a function, not int"),
        (lambda: ParallelAgent("a", [LlmAgent("b")]), "agent 'a': description is a text, not a list"),
        (lambda: ParallelAgent("a", sub_agents=["b"]), "agent 'a': sub_agents holds agents, not a str"),
        (lambda: LlmAgent("a", model=5), "a model has a name and generate_content, or is a function"),
    ],
)
def test_a_wrong_part_is_refused_at_once(make: Any, complaint: str) -> None:
    with pytest.raises(TypeError, match=complaint):
        make()


@pytest.mark.parametrize("hook", ["before_agent", "after_agent"])
def test_an_agent_callback_that_answers_with_a_text_is_told_what_is_wanted(hook: str) -> None:
    agent = LlmAgent("a", model=ScriptedModel(["hi"]), **{hook: lambda ctx: "bye"})
    with pytest.raises(TypeError, match=f"a {hook} callback returns a Content or None, not str"):
        list(Runner(agent).run("hello"))
