"""Transfer: a tool that names another agent, and the text that says when to use it.

Go: internal/llminternal/agent_transfer.go, AgentTransferRequestProcessor, transferTargets, TransferToAgentTool
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from google.genai import types

from adknb.engine.context import Context, InvocationContext
from adknb.engine.llm_settings import SINGLE_TURN, TASK, delegates_to, is_llm, settings_of
from adknb.engine.tool import Tool

if TYPE_CHECKING:
    from adknb.engine.agent import Agent
    from adknb.engine.model import LLMRequest

TRANSFER_TO_AGENT = "transfer_to_agent"


def transfer(ctx: InvocationContext, request: LLMRequest, flow: Any) -> None:
    """Offer the agents that may take over (spec/request.md §7).

    In task and single_turn mode the text is empty, yet still appended (R7.6).

    Raises:
        DuplicateTool: the request has a tool `transfer_to_agent` already.
    """
    targets = transfer_targets(ctx.agent)
    if not targets:
        return
    request.pack_tool(TransferToAgent(targets))
    quiet = ctx.effective_mode in (TASK, SINGLE_TURN)
    request.append_instructions("" if quiet else _advice(ctx.agent, targets))


def transfer_targets(agent: Agent) -> list[Agent]:
    """Who may be transferred to, in order: own sub-agents, the parent, the peers (R7.2).

    Sub-agents and peers declared task or single_turn are left out; parent and peers count only under an LLM parent.
    The same list decides at run time whom a transfer may reach.
    """
    settings, parent = settings_of(agent), agent.parent
    if settings is None:
        return []
    targets = [child for child in agent.sub_agents if not delegates_to(child)]
    if parent is not None and is_llm(parent):
        if not settings.disallow_transfer_to_parent:
            targets.append(parent)
        if not settings.disallow_transfer_to_peers:
            targets += [peer for peer in parent.sub_agents if peer is not agent and not delegates_to(peer)]
    return targets


def _advice(agent: Agent, targets: list[Agent]) -> str:
    """The text of R7.5: targets with descriptions, when to call, the names sorted, the parent to fall back on."""
    listed = "\n".join(f"- {t.name}: {t.description}" for t in targets)
    names = ", ".join(sorted(t.name for t in targets))
    text = (
        f"These agents can take over the conversation:\n{listed}\n"
        "Answer yourself if the question is yours by your description. If another agent fits it better, call the tool "
        f"{TRANSFER_TO_AGENT} with that agent's name and write no other text beside the call.\n"
        f"Names you may give: {names}."
    )
    settings = settings_of(agent)
    if agent.parent is not None and settings is not None and not settings.disallow_transfer_to_parent:
        text += f"\nIf neither you nor any of them fits, hand over to your parent agent {agent.parent.name}."
    return text


class TransferToAgent(Tool):
    """Sets `transfer_to_agent` on its event; the Flow takes it up after the event is stored (seed 000, 四.7)."""

    name = TRANSFER_TO_AGENT
    description = "Hands the question over to another agent that is better suited to answer it."

    def __init__(self, targets: list[Agent]) -> None:
        self.targets = targets

    def declaration(self) -> types.FunctionDeclaration:
        """One required text, `agent_name`, out of the targets' names."""
        names = [t.name for t in self.targets]
        name = {"type": "string", "description": "The agent that takes over.", "enum": names}
        return types.FunctionDeclaration(
            name=self.name,
            description=self.description,
            parameters_json_schema={"type": "object", "properties": {"agent_name": name}, "required": ["agent_name"]},
        )

    def run(self, ctx: Context, args: dict[str, Any]) -> dict[str, Any]:
        """Note the name; it is checked when the transfer takes effect. Raises ValueError without a name."""
        name = args.get("agent_name")
        if not isinstance(name, str) or not name:
            raise ValueError("agent_name must be the name of an agent")
        ctx.actions.transfer_to_agent = name
        return {}
