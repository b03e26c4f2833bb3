"""LlmAgent: an agent whose body is a Flow.

Go: agent/llmagent/llmagent.go, New, llmAgent.run, maybeSaveOutputToState
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from typing import Any

from google.genai import types

from adknb.engine.agent import Agent, Callbacks
from adknb.engine.context import InvocationContext
from adknb.engine.coordinator import Outputs, coordinate
from adknb.engine.delegation import delegation_tools
from adknb.engine.event import Event, visible_text_of
from adknb.engine.flow import Flow
from adknb.engine.function_calls import ToolCallbacks
from adknb.engine.live.flow import LiveFlow
from adknb.engine.live.session import LiveSession
from adknb.engine.llm_settings import MODES, Instruction, LlmSettings
from adknb.engine.model import LLM, FunctionModel
from adknb.engine.model_call import ModelCallbacks
from adknb.engine.plugin import as_callbacks
from adknb.engine.processors import REQUEST_PROCESSORS
from adknb.engine.stops import Steps, Stop
from adknb.engine.tool import FunctionTool, Tool, Toolset


class LlmAgent(Agent, LlmSettings):
    """An agent that a model speaks for.

    `model` is an LLM or a plain function of the request; `tools` are tools, toolsets or plain functions; every callback
    is a function or a list of them. `request_processors` is the list of stages: drop, insert or reorder at will.

    Raises:
        ValueError: an unknown mode.
        TypeError: a tool or model that is neither of these.

    Go: agent/llmagent/llmagent.go, New
    """

    kind = "llm"

    def __init__(
        self,
        name: str,
        model: LLM | Callable[..., Any] | None = None,
        instruction: Instruction = "",
        description: str = "",
        tools: Sequence[Tool | Toolset | Callable[..., Any]] = (),
        sub_agents: Sequence[Agent] = (),
        global_instruction: Instruction = "",
        output_key: str = "",
        output_schema: types.Schema | None = None,
        input_schema: types.Schema | None = None,
        include_contents: str = "",
        mode: str = "",
        disallow_transfer_to_parent: bool = False,
        disallow_transfer_to_peers: bool = False,
        generate_content_config: types.GenerateContentConfig | None = None,
        before_agent: Callbacks = None,
        after_agent: Callbacks = None,
        before_model: Callbacks = None,
        after_model: Callbacks = None,
        on_model_error: Callbacks = None,
        before_tool: Callbacks = None,
        after_tool: Callbacks = None,
        on_tool_error: Callbacks = None,
        request_processors: Sequence[Callable[..., Any]] = REQUEST_PROCESSORS,
    ) -> None:
        Agent.__init__(self, name, description, sub_agents, before_agent, after_agent)
        if mode not in MODES:
            raise ValueError(f"agent {name!r}: mode is one of {', '.join(map(repr, MODES))}, not {mode!r}")
        own, toolsets = _sorted_out(name, tools)
        LlmSettings.__init__(
            self,
            model=_as_model(name, model),
            instruction=instruction,
            global_instruction=global_instruction,
            tools=own + delegation_tools(self, mode, output_schema),
            toolsets=toolsets,
            output_key=output_key,
            output_schema=output_schema,
            input_schema=input_schema,
            include_contents=include_contents,
            mode=mode,
            disallow_transfer_to_parent=disallow_transfer_to_parent,
            disallow_transfer_to_peers=disallow_transfer_to_peers,
            generate_content_config=generate_content_config,
        )
        self.model_callbacks = ModelCallbacks(
            as_callbacks(before_model), as_callbacks(after_model), as_callbacks(on_model_error)
        )
        self.tool_callbacks = ToolCallbacks(
            as_callbacks(before_tool), as_callbacks(after_tool), as_callbacks(on_tool_error)
        )
        self.request_processors = list(request_processors)

    def __repr__(self) -> str:
        return f"LlmAgent({self.name!r})"

    def run_node(self, ctx: InvocationContext) -> Steps[Outputs | None]:
        """Run by mode: between two runs of a chat agent run what it delegates as tasks, and so on."""
        return (yield from coordinate(self, ctx.derive(agent=self)))

    def run_body(self, ctx: InvocationContext) -> Generator[Any, None, None]:
        """A new Flow for this run; its final texts go to the output key on the way up.

        Go: agent/llmagent/llmagent.go, llmAgent.run
        """
        for item in self._flow().run(ctx):
            if not isinstance(item, Stop):
                self._save_output_to_state(item)
            yield item

    def run_live(self, ctx: InvocationContext, session: LiveSession) -> Generator[Any, None, None]:
        """A live run: a new Flow, and a line to the model. No agent callback is asked (spec/live.md §15).

        Raises:
            LiveUnsupported, LiveConfigMissing: at once.

        Go: agent/llmagent/llmagent.go, llmAgent.RunLive
        """
        return self._told_live(LiveFlow(self._flow(), ctx.derive(agent=self), session))

    def _told_live(self, live: LiveFlow) -> Generator[Any, None, None]:
        for item in live.run():
            if isinstance(item, Stop):
                item.agent, item.step = item.agent or self.name, item.step or 1
            elif isinstance(item, Event):
                self._save_output_to_state(item)
            yield item

    def _flow(self) -> Flow:
        return Flow(
            model=self.model,
            toolsets=self.toolsets,
            request_processors=self.request_processors,
            model_callbacks=self.model_callbacks,
            tool_callbacks=self.tool_callbacks,
        )

    def _save_output_to_state(self, event: Event) -> None:
        """The visible text of a final event of this agent, under the output key; a string even with a schema.

        Go: agent/llmagent/llmagent.go, maybeSaveOutputToState
        """
        if not self.output_key or event.author != self.name or event.partial or not event.is_final_response():
            return
        text = visible_text_of(event.content)
        if text and not (self.output_schema is not None and not text.strip()):
            event.actions.state_delta[self.output_key] = text


def _sorted_out(agent: str, given: Sequence[Any]) -> tuple[list[Tool], list[Toolset]]:
    tools: list[Tool] = []
    toolsets: list[Toolset] = []
    for member in given:
        if isinstance(member, Toolset):
            toolsets.append(member)
        elif isinstance(member, Tool):
            tools.append(member)
        elif callable(member):
            tools.append(FunctionTool(member))
        else:
            raise TypeError(f"agent {agent!r}: a tool is a Tool, a Toolset or a function, not {type(member).__name__}")
    return tools, toolsets


def _as_model(agent: str, given: Any) -> LLM | None:
    if given is None or isinstance(given, LLM):
        return given
    if callable(given):
        return FunctionModel(given)
    raise TypeError(f"agent {agent!r}: a model has a name and generate_content, or is a function; not {given!r}")
