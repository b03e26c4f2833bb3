"""The instructions: the root's global text, then the agent's own, placeholders filled in.

Go: internal/llminternal/instruction_processor.go, instructionsRequestProcessor, InjectSessionState
"""

from __future__ import annotations

import re
import unicodedata
from typing import Any

from adknb.engine.context import Context, InvocationContext
from adknb.engine.errors import ArtifactError, FlowError, StateKeyMissing
from adknb.engine.go_text import go_value
from adknb.engine.llm_settings import Instruction, settings_of
from adknb.engine.model import LLMRequest

TOKEN = re.compile(r"\{+[^{}]*\}+")
"""One or more `{`, no brace, one or more `}`: all of its braces belong to the token (R3.4)."""

SCOPES = ("app:", "user:", "temp:")
GO_SPACE = " \t\n\v\f\r\x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B)))
"""What Go counts as white space around a key."""


def instructions(ctx: InvocationContext, request: LLMRequest, flow: Any) -> None:
    """Append the global instruction of the root, then the agent's own (R3.1).

    A root that is no LLM agent has none: then the agent's own global text is taken.

    Raises:
        StateKeyMissing, ArtifactError: a placeholder that is not optional cannot be filled.
    """
    agent = settings_of(ctx.agent)
    if agent is None:
        return
    first = settings_of(ctx.agent.root) or agent
    for text, which in ((first.global_instruction, "global instruction"), (agent.instruction, "instruction")):
        filled = _text_of(ctx, text, f"{which} of agent {ctx.agent.name!r}")
        if filled is not None:
            request.append_instructions(filled)


def _text_of(ctx: InvocationContext, given: Instruction, which: str) -> str | None:
    """A provider's text as it is, a template filled in; None for no template (R3.3)."""
    if callable(given):
        try:
            return given(Context(ctx))
        except Exception as error:
            raise FlowError(f"the provider of the {which} failed: {error}") from error
    return fill(ctx, given, which) if given else None


def fill(ctx: InvocationContext, template: str, which: str = "instruction") -> str:
    """Replace the placeholders of a template; what is no valid placeholder stays as it stands (R3.4 to R3.11).

    state {"name": "Ada"}: "Hi {name}, {gone?}{1abc}" -> "Hi Ada, {1abc}"

    Raises:
        StateKeyMissing, ArtifactError: see `instructions`.
    """
    return TOKEN.sub(lambda found: _value_of(ctx, found.group(0), which), template)


def _value_of(ctx: InvocationContext, token: str, which: str) -> str:
    key = token.strip("{}").strip(GO_SPACE)
    optional = key.endswith("?")
    if optional:
        key = key[:-1]
    if key.startswith("artifact."):
        return _artifact_text(ctx, key.removeprefix("artifact."), optional, which)
    if not is_state_key(key):
        return token
    if key not in ctx.session.state:
        if optional:
            return ""
        raise StateKeyMissing(
            f"the {which} asks for state key {key!r}, which is not in the session; "
            f"write {{{key}?}} if it may be missing"
        )
    value = ctx.session.state[key]
    return "" if value is None else go_value(value)


def is_state_key(key: str) -> bool:
    """An identifier, or `app:`, `user:`, `temp:` and an identifier: Go's letters and decimal digits (R3.7)."""
    for scope in SCOPES:
        if key.startswith(scope):
            key = key.removeprefix(scope)
            break
    return bool(key) and all(
        c == "_" or unicodedata.category(c).startswith("L") or (i > 0 and unicodedata.category(c) == "Nd")
        for i, c in enumerate(key)
    )


def _artifact_text(ctx: InvocationContext, name: str, optional: bool, which: str) -> str:
    """The text of an artifact; without an artifact service it fails even with `?` (R3.9)."""
    if ctx.artifact_service is None:
        raise ArtifactError(f"the {which} asks for artifact {name!r}, but this run has no artifact service")
    part = ctx.artifact_service.load(ctx.session, name) if name else None
    if part is not None:
        return part.text or ""
    if optional:
        return ""
    raise ArtifactError(f"the {which} asks for artifact {name!r}, which is not there")
