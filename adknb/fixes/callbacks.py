"""Callbacks for what no request can mend. Like the stages they are off until an agent is given them.

LlmAgent(…, before_tool=known_targets_only)

callback                where          what users met                                                    case
known_targets_only      before_tool    a transfer to an unknown agent ends the run                       X01
refused_tools_stay_off  before_tool    a tool of one's own kind runs although a person said no           H11
whole_answer            after_agent    the output key holds the last text only, not those beside calls   S04
"""

from __future__ import annotations

from typing import Any

from adknb.engine.context import Context
from adknb.engine.event import visible_text_of
from adknb.engine.llm_settings import settings_of
from adknb.engine.processors.transfer import TRANSFER_TO_AGENT, transfer_targets


def known_targets_only(ctx: Context, tool: Any, args: dict[str, Any]) -> dict[str, Any] | None:
    """Tell the model whom it may transfer to when it names another; else the run would fail (X01).

    ADK takes the transfer up unseen, stores a response that looks like success, and then fails (execution.md 10.2).
    """
    if getattr(tool, "name", "") != TRANSFER_TO_AGENT:
        return None
    names = [target.name for target in transfer_targets(ctx.invocation.agent)]
    if args.get("agent_name") in names:
        return None
    return {"error": f"there is no agent {args.get('agent_name')!r} to transfer to; there are: {', '.join(names)}"}


def refused_tools_stay_off(ctx: Context, tool: Any, args: dict[str, Any]) -> dict[str, Any] | None:
    """Answer for a tool that a person has refused, of whatever kind it is (H11).

    ADK dispatches the call on a refusal too; its function tools refuse by themselves, others must look.
    """
    decision = ctx.tool_confirmation
    if decision is None or decision.confirmed:
        return None
    return {"error": f"the call of tool {getattr(tool, 'name', '')!r} was refused by a person"}


def whole_answer(ctx: Context) -> None:
    """Write all that the agent has said in this turn under its output key, texts beside calls included (S04).

    ADK saves the text of the final event alone. It is one more event, of state only.
    """
    settings = settings_of(ctx.invocation.agent)
    if settings is None or not settings.output_key:
        return
    said = [
        visible_text_of(event.content)
        for event in ctx.session.events
        if event.invocation_id == ctx.invocation_id
        and event.author == ctx.agent_name
        and event.branch == ctx.invocation.branch
    ]
    if (text := "".join(said)) and ctx.state.get(settings.output_key) != text:
        ctx.state[settings.output_key] = text
