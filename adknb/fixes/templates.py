"""Instructions filled in as their writers meant them: a stage instead of `instructions`."""

from __future__ import annotations

import json
from typing import Any

from adknb.engine.context import Context, InvocationContext
from adknb.engine.errors import ArtifactError, FlowError, StateKeyMissing
from adknb.engine.llm_settings import settings_of
from adknb.engine.model import LLMRequest
from adknb.engine.processors.instructions import GO_SPACE, TOKEN, fill


def instructions_as_meant(ctx: InvocationContext, request: LLMRequest, flow: Any) -> None:
    """The global and the own instruction, as `instructions` appends them (R3.1, R3.3), but filled in by these rules.

        {{city}}                -> {city}       two or more braces are an escape: one pair goes (I02)
        ({ page }) => {}        -> as it is     a key that is not in the state is text; only `{key}` is looked up (I01)
        {n}, n is 12345678.0    -> 12345678     a whole number has no fraction and no exponent (I05)
        {m}, m is {"a": [1]}    -> {"a": [1]}   lists and maps are JSON (I05)
        {artifact.f?}           -> empty        also where the run has no artifact service (I04)

    The price: a misspelt key fails no run any more; it is sent as it stands.

    Raises:
        FlowError: a provider of an instruction fails.
    """
    agent = settings_of(ctx.agent)
    if agent is None:
        return
    first = settings_of(ctx.agent.root) or agent
    for given in (first.global_instruction, agent.instruction):
        if callable(given):
            try:
                request.append_instructions(given(Context(ctx)))
            except Exception as error:
                raise FlowError(f"the instruction provider of agent {ctx.agent.name!r} failed: {error}") from error
        elif given:
            request.append_instructions(TOKEN.sub(lambda found: _value_of(ctx, found.group(0)), given))


def _value_of(ctx: InvocationContext, token: str) -> str:
    if token.startswith("{{") and token.endswith("}}"):
        return token[1:-1]
    key = token.strip("{}").strip(GO_SPACE)
    try:
        text = fill(ctx, token)
    except StateKeyMissing:
        return token
    except ArtifactError:
        if key.endswith("?"):
            return ""
        raise
    value = ctx.session.state.get(key.removesuffix("?"))
    return text if value is None or isinstance(value, str) or text == token else _plain(value)


def _plain(value: Any) -> str:
    """JSON as people write it; a whole float without its fraction."""
    try:
        return json.dumps(_whole(value), ensure_ascii=False)
    except (TypeError, ValueError):
        return str(value)


def _whole(value: Any) -> Any:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, dict):
        return {key: _whole(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_whole(item) for item in value]
    return value
