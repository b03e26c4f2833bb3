"""The two things called tools: what is declared to the model, and what this process can run (seed 000, 二.1)."""

from __future__ import annotations

import re
from typing import Any

from adknb.widgets.brief import Json
from adknb.widgets.wire import clean_text


def tools_table(request: Json | None, live: Any, stop: Any) -> list[Json]:
    """One row for each tool that is declared, in the local table, or listed by the Flow and not declared yet.

    `request` is the request's JSON, `live` the LLMRequest. See `pages.request_page` for the shape.
    """
    rows: dict[str, Json] = {}
    table = dict(getattr(live, "tools", None) or {})
    for j, tool in enumerate(((request or {}).get("config") or {}).get("tools") or []):
        for k, declared in enumerate(tool.get("functionDeclarations") or []):
            name = clean_text(str(declared.get("name") or "?"))
            path = f"/config/tools/{j}/functionDeclarations/{k}"
            rows[name] = {"name": name, "declared": declared, "local": "", "path": path}
        for kind in tool:
            if kind != "functionDeclarations":
                rows[kind] = {"name": kind, "declared": {}, "local": "", "remote": "runs at the provider"}
    for name, tool in table.items():
        row = rows.setdefault(clean_text(name), {"name": clean_text(name), "declared": None, "local": ""})
        row["local"] = what_it_is(tool)
    flow = stop.holds.get("flow") if stop is not None else None
    for tool in getattr(flow, "tools", None) or ():
        rows.setdefault(
            clean_text(tool.name), {"name": clean_text(tool.name), "declared": None, "local": "", "listed": True}
        )
    return list(rows.values())


def what_it_is(tool: Any) -> str:
    """`function tool, long-running, asks first`."""
    name = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", type(tool).__name__).strip("_ ").lower()
    said = [name]
    said += ["long-running"] * bool(getattr(tool, "is_long_running", False))
    said += ["streaming"] * bool(getattr(tool, "is_streaming", False))
    said += ["asks first"] * bool(getattr(tool, "require_confirmation", False))
    return ", ".join(said)
