"""Flow: the loop of an LLM agent. Build a request, ask the model, run its calls, decide whether to go on.

Go: internal/llminternal/base_flow.go, Flow.Run, runOneStep, preprocess, postprocess, finalizeModelResponseEvent

A Flow lives as long as one run of its agent; every step starts with a request that holds nothing but the model's name.
Events are handed up one by one: the one with the calls is stored before any tool runs (seed 000, 三).
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass, field, fields
from typing import Any

from google.genai import types

from adknb.engine.agent import Agent
from adknb.engine.context import Context, InvocationContext
from adknb.engine.errors import FlowError, ModelMissing, TransferRefused
from adknb.engine.event import Event, EventActions, ToolConfirmation, parts_of
from adknb.engine.function_calls import (
    ToolCallbacks,
    handle_function_calls,
    long_running_ids,
    populate_client_function_call_ids,
    request_confirmation_event,
)
from adknb.engine.model import LLM, LLMRequest
from adknb.engine.model_call import ModelCallbacks, call_llm
from adknb.engine.processors import REQUEST_PROCESSORS, RESPONSE_PROCESSORS
from adknb.engine.processors.output_schema import structured_answer
from adknb.engine.processors.transfer import transfer_targets
from adknb.engine.response import LLMResponse
from adknb.engine.stops import Phase, Seam, Steps, Stop, call, name_of
from adknb.engine.tool import Tool, Toolset

MAX_CONSECUTIVE_THOUGHT_ONLY_TURNS = 10


@dataclass
class Flow:
    """One run of an LLM agent. `tools` is filled by the processor of that name and kept for all steps.

    Go: internal/llminternal/base_flow.go, Flow
    """

    model: LLM | None
    toolsets: list[Toolset] = field(default_factory=list)
    request_processors: list[Callable[..., Any]] = field(default_factory=lambda: list(REQUEST_PROCESSORS))
    response_processors: list[Callable[..., Any]] = field(default_factory=lambda: list(RESPONSE_PROCESSORS))
    model_callbacks: ModelCallbacks = field(default_factory=ModelCallbacks)
    tool_callbacks: ToolCallbacks = field(default_factory=ToolCallbacks)
    tools: list[Tool] = field(default_factory=list)
    assembly: Any = None
    """How the contents of the present request came about (processors.contents.Assembly)."""

    def run(self, ctx: InvocationContext) -> Generator[Any, None, None]:
        """Steps until the last event of one is final, or partial, or there is none. Yields Events and Stops.

        A step of nothing but thoughts is asked to go on, ten times in a row at most (seed 000, 三.1.2).

        Go: internal/llminternal/base_flow.go, Flow.Run
        """
        thought_only_turns = 0
        while True:
            step = ctx.steps[ctx.agent.name] = ctx.steps.get(ctx.agent.name, 0) + 1  # counted per agent and turn
            last: Event | None = None
            for item in self.run_one_step(ctx):
                if isinstance(item, Stop):
                    if item.step is None:  # an agent further in has counted its own
                        item.step = step
                elif ctx.is_own(item):
                    last = item
                yield item
            if last is None:
                return
            if last.is_final_response():
                if not _is_thought_only(last):
                    return
                thought_only_turns += 1
                if thought_only_turns >= MAX_CONSECUTIVE_THOUGHT_ONLY_TURNS:
                    return
            else:
                thought_only_turns = 0
            if last.partial:  # a stream that never closed: asking again would not help
                return

    def run_one_step(self, ctx: InvocationContext) -> Generator[Any, None, None]:
        """One request, the model's answers to it, and their tool calls.

        Go: internal/llminternal/base_flow.go, runOneStep
        """
        if self.model is None:
            raise ModelMissing(f"agent {ctx.agent.name!r} has no model")
        request = LLMRequest(model=self.model.name)
        yield from self.preprocess(ctx, request)
        if ctx.ended:
            return
        state_delta: dict[str, Any] = {}  # one for all model events of the step, chunks too
        responses = call_llm(ctx, self.model, request, self.model_callbacks, state_delta)
        try:
            for item in responses:
                if isinstance(item, Stop):
                    yield item
                    continue
                response: LLMResponse = item
                if not (yield from self.postprocess(ctx, request, response)):
                    continue
                yield self.finalize_model_response_event(ctx, response, request.tools, state_delta)
                if response.partial:  # a chunk runs nothing, even if a call is in it
                    continue
                answered = yield from self.handle_function_calls(ctx, request.tools, response.content)
                if answered is None:  # no calls, or all answers come later: read on
                    continue
                yield answered
                if (asks := request_confirmation_event(ctx, response.content, answered)) is not None:
                    yield asks
                if (text := structured_answer(answered)) is not None:
                    yield ctx.new_event(content=types.Content(role="model", parts=[types.Part(text=text)]))
                if not answered.actions.transfer_to_agent:
                    return  # ends this step only; what is left of the stream is not read
                yield from self.hand_over(ctx, answered.actions.transfer_to_agent)
        finally:
            responses.close()

    def preprocess(self, ctx: InvocationContext, request: LLMRequest) -> Steps[None]:
        """The request processors in order, then the tools, then the toolsets.

        Go: internal/llminternal/base_flow.go, preprocess, toolPreprocess, toolsetPreprocess
        """
        for processor in self.request_processors:
            yield from call(
                Seam.PROCESSOR, name_of(processor), processor, ctx, request, self, request=request, ctx=ctx, flow=self
            )
        self.declare_tools(ctx, request)
        yield Stop(
            Seam.TOOL_DECLARATION, "tool_declaration", Phase.AFTER, {"request": request, "ctx": ctx, "flow": self}
        )

    def declare_tools(self, ctx: InvocationContext, request: LLMRequest) -> None:
        """Every tool adds itself to the request; a toolset that knows how may adjust it then (R1.4).

        Each is given a context of its own, and there is no call yet whose id it could have: one is made.

        Raises:
            FlowError: naming the tool or toolset that cannot.
        """
        for kind, group in (("tool", self.tools), ("toolset", self.toolsets)):
            for member in group:
                process_request = getattr(member, "process_request", None)
                if process_request is None:
                    if kind == "tool":
                        raise FlowError(f"tool {member.name!r} cannot add itself to a request")
                    continue
                try:
                    process_request(Context(ctx, function_call_id=ctx.platform.new_id()), request)
                except FlowError:
                    raise
                except Exception as error:
                    raise FlowError(f"{kind} {member.name!r} cannot add itself to the request: {error}") from error

    def postprocess(self, ctx: InvocationContext, request: LLMRequest, response: LLMResponse) -> Steps[bool]:
        """The response processors; then whether the response says anything an event could carry.

        Go: internal/llminternal/base_flow.go, postprocess
        """
        for processor in self.response_processors:
            yield from call(
                Seam.RESPONSE_PROCESSOR, name_of(processor), processor, ctx, request, response,
                request=request, response=response, ctx=ctx,
            )  # fmt: skip
        return response.content is not None or bool(response.error_code) or response.interrupted

    def finalize_model_response_event(
        self, ctx: InvocationContext, response: LLMResponse, tools: dict[str, Any], state_delta: dict[str, Any]
    ) -> Event:
        """Wrap a response as an event; nothing is run here.

        Artifacts that model callbacks saved are on no event, as in Go v2.4.0 (seed 000, 四.4).

        Go: internal/llminternal/base_flow.go, finalizeModelResponseEvent
        """
        populate_client_function_call_ids(ctx, response.content)
        carried = {f.name: getattr(response, f.name) for f in fields(LLMResponse)}
        return ctx.new_event(
            **carried,
            actions=EventActions(state_delta=state_delta),
            long_running_tool_ids=long_running_ids(response.content, tools),
        )

    def handle_function_calls(
        self,
        ctx: InvocationContext,
        tools: dict[str, Any],
        content: types.Content | None,
        confirmations: dict[str, ToolConfirmation] | None = None,
    ) -> Steps[Event | None]:
        """Run the calls of a content with this agent's callbacks. See `function_calls`."""
        return (yield from handle_function_calls(ctx, tools, content, self.tool_callbacks, confirmations))

    def hand_over(self, ctx: InvocationContext, name: str) -> Steps[None]:
        """A transfer takes effect: the target runs inside this step, with its own callbacks (seed 000, 四.7).

        Raises:
            TransferRefused: the name is not among the targets.

        Go: internal/llminternal/base_flow.go, agentToRun
        """
        target = agent_to_run(ctx.agent, name)
        binding = (target.name, getattr(target, "mode", "") or "chat")
        target_ctx = ctx.derive(binding=binding)
        yield from call(Seam.HANDOVER, target.name, target.run_node, target_ctx, agent=target, ctx=ctx)


def agent_to_run(agent: Agent, name: str) -> Agent:
    """The agent that a transfer reaches.

    Raises:
        TransferRefused: it is none of the legal targets; names them.
    """
    targets = transfer_targets(agent)
    for target in targets:
        if target.name == name:
            return target
    legal = ", ".join(repr(t.name) for t in targets) or "none"
    raise TransferRefused(f"agent {agent.name!r} cannot transfer to {name!r}; it may transfer to: {legal}")


def _is_thought_only(event: Event) -> bool:
    parts = parts_of(event.content)
    return bool(parts) and not event.partial and all(p.thought for p in parts)
