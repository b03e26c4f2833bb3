"""Source: the Python text of what runs at a stop, its home in Go, and the sections of the articles that explain it.

A function is found, read and cut into coloured tokens; nothing of it is ever run. What can be shown at one stop: the
function at hand (a reader's own, too), the engine's function around it, and each pass where the contents are built.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from adknb.engine import agent as agents
from adknb.engine import coordinator, flow, function_calls, model_call, runner
from adknb.engine.compaction.runtime import CompactionRuntime
from adknb.engine.live.flow import LiveFlow
from adknb.engine.model import FunctionModel
from adknb.engine.processors import REQUEST_PROCESSORS
from adknb.engine.processors.contents import PASSES, assemble
from adknb.engine.processors.contents.emit import add_continuation_turn, emit
from adknb.engine.stops import Seam
from adknb.engine.tool import FunctionTool
from adknb.lens.flow_position import BEHIND, NOTHING_YET, PROCESSORS, READERS_OWN
from adknb.lens.sections import ARTICLES, sections_of
from adknb.lens.words import one_line
from adknb.widgets.brief import Json, plural
from adknb.widgets.code_text import called, coloured, go_home, source_of, unwrapped
from adknb.widgets.pages import Block
from adknb.widgets.wire import clean_text, cut

MOST_LINES, LONGEST_LINE = 400, 500
"""Of longer functions the beginning is shown."""

AROUND: dict[Seam, Callable[..., Any]] = {
    Seam.ON_USER_MESSAGE: runner.Runner.iter,
    Seam.BEFORE_RUN: runner.Runner._run_agent,
    Seam.BEFORE_AGENT: agents.Agent._run,
    Seam.PROCESSOR: flow.Flow.preprocess,
    Seam.TOOL_DECLARATION: flow.Flow.preprocess,
    Seam.BEFORE_MODEL: model_call.call_llm,
    Seam.MODEL: model_call.generate_content,
    Seam.ON_MODEL_ERROR: model_call.call_llm,
    Seam.AFTER_MODEL: model_call.call_llm,
    Seam.RESPONSE_PROCESSOR: flow.Flow.postprocess,
    Seam.LIVE_CONNECT: LiveFlow.connect,
    Seam.LIVE_SEND: LiveFlow.write,
    Seam.LIVE_WAIT: LiveFlow.next_message,
    Seam.LIVE_RECEIVE: LiveFlow.talk,
    Seam.EVENT: runner.Runner._replace_and_append,
    Seam.ON_EVENT: runner.Runner._on_event,
    Seam.APPEND: runner.Runner._replace_and_append,
    Seam.BEFORE_TOOL: function_calls.call_tool,
    Seam.TOOL: function_calls.call_tool,
    Seam.ON_TOOL_ERROR: function_calls.call_tool,
    Seam.AFTER_TOOL: function_calls.call_tool,
    Seam.MERGE: function_calls.handle_function_calls,
    Seam.HANDOVER: flow.Flow.run_one_step,
    Seam.DELEGATE: coordinator.coordinate,
    Seam.SUMMARIZE: CompactionRuntime._ask,
    Seam.AFTER_AGENT: agents.Agent._run,
    Seam.AFTER_RUN: runner.Runner.iter,
    Seam.TURN: flow.Flow.run,
}
"""The engine's function that a seam is in."""

BEHIND_THE_REQUEST: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "declare": (flow.Flow.declare_tools, flow.Flow.preprocess),
    "model": (model_call.call_llm, flow.Flow.run_one_step),
    "tools": (function_calls.call_tool, function_calls.handle_function_calls),
    "merge": (function_calls.merge_events, function_calls.handle_function_calls),
}
"""The later stages of a step: the function of each, and the one around it."""

OF_THE_CONTENTS: dict[str, Callable[..., Any]] = {
    **PASSES,
    "emit": emit,
    "additions": add_continuation_turn,
    "assemble": assemble,
}


def source_page(stepper: Any, stage: int = -1, show: str = "here") -> Json:
    """The page: what can be shown (`options`), what is (`show`), and it as blocks.

    `stage` is a stage of the track that the reader has picked, -1: where the run is.
    """
    title, key, says, choices = _at_stage(stepper, stage) if stage >= 0 else _at_stop(stepper)
    if not choices:
        return {"columns": [[["p", ["mut", "The run is over: no code is about to run."]]]], "options": [], "show": ""}
    show = show if show in choices else next(iter(choices))
    _, function = choices[show]
    if show.startswith("pass:"):
        key = _pass_key(show.removeprefix("pass:"))
    blocks: list[Block] = [["h", cut(clean_text(title), 200)]]
    blocks += [["p", says]] if says else []
    blocks += _sections(key)
    caller = choices["around"][1] if show == "here" and "around" in choices else None
    blocks += code_blocks(function, caller)
    options = [[value, clean_text(cut(label, 80))] for value, (label, _) in choices.items()]
    return {"columns": [blocks], "options": options, "show": show, "picked": stage >= 0}


def text(stepper: Any) -> str:
    """Where the code of this stop is, and which sections explain it; the code itself has a file for that.

    source    contents · adknb/engine/processors/contents/__init__.py
      go      internal/llminternal/contents_processor.go, ContentsRequestProcessor
      000 四.2  History is not copied …
    """
    title, key, _, choices = _at_stop(stepper)
    if not choices:
        return "source    the run is over"
    _, function = next(iter(choices.values()))
    found = source_of(function)
    where = found["file"] if found else "no Python source"
    lines = [f"source    {one_line(title, 60)} · {where}"]
    home = go_home(function)
    lines += [f"  go        {home}"] if home else []
    lines += [f"  {s.article} {s.number:<6} {one_line(s.summary, 90)}" for s in sections_of(key)]
    return "\n".join(lines)


def _at_stop(stepper: Any) -> tuple[str, str, str, dict[str, tuple[str, Any]]]:
    """Title, key of the sections, a sentence, and what can be shown, of the present stop."""
    stop = stepper.here
    if stop is None:
        return "", "", "", {}
    around = AROUND[stop.seam]
    function = function_at(stop) or around
    key = stop.name if stop.seam is Seam.PROCESSOR else str(stop.seam)
    says = _says(stop.name) if stop.seam is Seam.PROCESSOR else ""
    title = stop.name if stop.seam is Seam.PROCESSOR else f"{str(stop.seam).replace('_', ' ')} {stop.name}"
    choices = {"here": (f"{called(function)}, here", function)}
    if around is not function:
        choices["around"] = (f"{called(around)}, around it", around)
    return title, key, says, choices | _passes(function)


def _at_stage(stepper: Any, stage: int) -> tuple[str, str, str, dict[str, tuple[str, Any]]]:
    """The same of a stage that the reader has picked: the running flow's own processor of that name, if it has one."""
    if stage >= len(PROCESSORS):
        name, _, says = BEHIND[min(stage - len(PROCESSORS), len(BEHIND) - 1)]
        inner, outer = BEHIND_THE_REQUEST[name]
        choices = {"here": (called(inner), inner), "around": (f"{called(outer)}, around it", outer)}
        return name, {"tools": "tools_run"}.get(name, name), says, choices
    name = PROCESSORS[stage][0]
    running = getattr((stepper.here.holds.get("flow") if stepper.here else None), "request_processors", ())
    named = {getattr(p, "__name__", ""): p for p in (*REQUEST_PROCESSORS, *running)}
    function = named[name]
    choices = {"here": (f"{name}", function), "around": ("Flow.preprocess, around it", flow.Flow.preprocess)}
    return name, name, _says(name), choices | _passes(function)


def _passes(function: Any) -> dict[str, tuple[str, Any]]:
    """The passes, where the function is the one that builds the contents."""
    if function is not next(p for p in REQUEST_PROCESSORS if p.__name__ == "contents"):
        return {}
    return {f"pass:{name}": (f"{called(f)}, its pass {name}", f) for name, f in OF_THE_CONTENTS.items()}


def _pass_key(name: str) -> str:
    return {"turn": "turn_cut", "assemble": "contents"}.get(name, name)


def _says(processor: str) -> str:
    said = {name: says or NOTHING_YET for name, _, says in PROCESSORS}
    return said.get(processor, READERS_OWN)


def function_at(stop: Any) -> Any:
    """What runs at a stop, without the engine's wrapping: a tool's own function, the function that is the model."""
    tool = stop.holds.get("tool")
    if stop.seam is Seam.TOOL:
        return tool.function if isinstance(tool, FunctionTool) else getattr(tool, "run", None)
    if stop.seam is Seam.MERGE:
        return function_calls.merge_events
    if stop.seam is Seam.TOOL_DECLARATION:
        return flow.Flow.declare_tools
    if stop.seam is Seam.EVENT:
        return runner.Runner._on_event
    owner = getattr(stop.function, "__self__", None)
    return owner.function if isinstance(owner, FunctionModel) else stop.function


# ---- drawing


def _sections(key: str) -> list[Block]:
    found = sections_of(key)
    rows = [{"by": [["mut", f"{s.article} {s.number}"]], "text": [[s.summary]]} for s in found]
    names = " · ".join(f"{a} {ARTICLES[a]}" for a in dict.fromkeys(s.article for s in found))
    return [["h", "In the articles", ["mut", names]], ["rows", "articles", rows]]


def code_blocks(function: Any, caller: Any = None) -> list[Block]:
    """Where a function is, its home in Go, and its text in colours: `["source", first line, lines of tokens]`.

    What is not the engine's has no home in Go; then `caller`, which is, tells from where it is called.
    """
    found = source_of(function)
    if found is None:
        kind = "built into Python" if inspect.isbuiltin(unwrapped(function)) else "not in a file that can be read"
        name = cut(clean_text(called(function)), 200)
        return [["h", name], ["p", ["mut", f"There is no Python text to show: it is {kind}."]]]
    lines = list(coloured(found["text"]))
    shown = [_short(line) for line in lines[:MOST_LINES]]
    where = f"{found['file']}, line {found['line']}"
    blocks: list[Block] = [["h", cut(clean_text(called(function)), 200), ["mut", clean_text(cut(where, 300))]]]
    home = go_home(function)
    if home:
        blocks.append(["p", ["mut", "Go: "], ["code", home]])
    elif caller is not None and (called_by := go_home(caller)):
        blocks.append(["p", ["mut", "Called by "], ["code", called(caller)], ["mut", ", Go: "], ["code", called_by]])
    blocks.append(["source", found["line"], shown])
    if len(lines) > MOST_LINES:
        blocks.append(["p", ["mut", f"and {plural(len(lines) - MOST_LINES, 'more line')}"]])
    return blocks


def _short(line: list[list[str]]) -> list[list[str]]:
    """A line of at most LONGEST_LINE characters."""
    room, out = LONGEST_LINE, []
    for kind, characters in line:
        if room <= 0:
            break
        out.append([kind, cut(characters, room)])
        room -= len(characters)
    return out
