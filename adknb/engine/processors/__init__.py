"""The request processors, in the order in which they build a request.

Go: internal/llminternal/base_flow.go, DefaultRequestProcessors, DefaultResponseProcessors

A processor is a plain function `(ctx, request, flow)`: it changes the request in place. One that has events of its own
(confirmation, compaction) is a generator. Order is data dependency: each place has its reason.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from adknb.engine.processors import (
    auth,
    basic,
    code_execution,
    compaction,
    confirmation,
    contents,
    display_name,
    identity,
    instructions,
    output_schema,
    planning,
    tools,
    transfer,
)

REQUEST_PROCESSORS: list[Callable[..., Any]] = [
    basic.basic,  # first: it starts the config that the others write to
    tools.tools,  # the list that confirmation looks tools up in
    auth.auth,  # no-op
    confirmation.confirmation,  # before instructions and contents: both read what an approved tool has just written
    instructions.instructions,
    identity.identity,  # behind the instructions: the order of the paragraphs is the order of the stages
    compaction.compaction,  # before contents: a summary written now is read by this very request
    contents.contents,
    planning.planning,  # no-op
    code_execution.code_execution,  # no-op
    output_schema.output_schema,  # its tool is declared before the agent's own
    transfer.transfer,
    display_name.display_name,  # last: it cleans the contents, not what tools add afterwards
]

RESPONSE_PROCESSORS: list[Callable[..., Any]] = [planning.planning_response, code_execution.code_execution_response]
"""Both are no-ops in Go v2.4.0."""
