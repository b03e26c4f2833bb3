"""ADK's Agent Config: `root_agent.yaml` and the files it names, as trees in the fields of a scenario.

    name: desk                          agent_class: LlmAgent | SequentialAgent | ParallelAgent | LoopAgent
    model: gemini-2.5-flash             sub_agents: [{config_path: guide.yaml}]
    instruction: Help {user_name?}.     tools: [{name: google_search}, {name: my_tools.track}]

A file names Python code for its tools, callbacks and schemas. That code is never imported: what it would add to a
request is listed as untold.

Source: google-adk 2.13, agents/llm_agent_config.py, base_agent_config.py, config_agent_utils.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from adknb.engine.errors import BadData
from adknb.engine.event_json import snake
from adknb.files.session_file import Json
from adknb.files.shapes import expect
from adknb.files.yaml_text import parse_yaml
from adknb.json_text import name_of, read_bytes, utf8

CLASSES = {"LlmAgent": "llm", "SequentialAgent": "sequential", "ParallelAgent": "parallel", "LoopAgent": "loop"}
"""ADK's agent classes by their names, with or without the module in front."""

TEXTS = ("description", "instruction", "global_instruction", "output_key", "include_contents", "mode")
FLAGS = ("disallow_transfer_to_parent", "disallow_transfer_to_peers")
CODE = {
    "static_instruction": "The static instruction of {}: it goes in front of the contents, by Python's rules.",
    "input_schema": "The input schema of {}: the definition names Python code ({}).",
    "output_schema": "The output schema of {}: the definition names Python code ({}).",
    "model_code": "The model of {}: the definition names Python code ({}).",
    "planner": "The planner of {}: the definition names Python code ({}).",
    "code_executor": "The code executor of {}: the definition names Python code ({}).",
}
DEEPEST = 20
"""Agents stand below each other no more often than this."""

Untold = dict[str, list[str]]
"""Agent -> what its definition does not say."""


def read_config(path: Path) -> tuple[Json, Untold]:
    """The tree that an Agent Config describes, with its sub-agents from their files.

    Raises:
        BadData: a file is missing, no YAML, or no agent; or files name each other in a circle.
    """
    untold: Untold = {}
    return _read(path, untold, ()), untold


def _read(path: Path, untold: Untold, above: Sequence[Path]) -> Json:
    here = path.resolve()
    name = name_of(path)
    if here in above:
        raise BadData(name, "is a sub-agent of itself: the files name each other in a circle")
    if len(above) >= DEEPEST:
        raise BadData(name, f"sub-agents stand below each other more than {DEEPEST} times")
    value = parse_yaml(utf8(read_bytes(path), name), name)
    return tree_of_config(value, name, untold, path.parent, (*above, here))


def tree_of_config(value: Any, name: str, untold: Untold, folder: Path, above: Sequence[Path] = ()) -> Json:
    """One agent of a config. Raises BadData, naming the place."""
    given = {snake(key): item for key, item in expect(value, dict, name).items()}
    agent = expect(given.pop("name", None), str, f"{name}: name")
    missing = untold.setdefault(agent, [])
    tree: Json = {"type": _type(given, agent, name, missing), "name": agent}
    for key in TEXTS if tree["type"] == "llm" else TEXTS[:1]:
        if given.get(key) is not None:
            tree[key] = expect(given.pop(key), str, f"{name}: {key}")
    if tree["type"] == "llm":
        _settings(given, tree, agent, name, missing)
    elif tree["type"] == "loop" and given.get("max_iterations") is not None:
        tree["max_iterations"] = expect(given.pop("max_iterations"), int, f"{name}: max_iterations")
    subs = expect(given.pop("sub_agents", None) or [], list, f"{name}: sub_agents")
    children = [_child(item, f"{name}: sub_agents[{i}]", untold, folder, above, missing) for i, item in enumerate(subs)]
    if known := [child for child in children if child is not None]:
        tree["sub_agents"] = known
    _code(given, agent, missing)
    left = [key for key, item in given.items() if item not in (None, "", [], {}, False)]
    if left:
        missing.append(f"Fields of {agent}'s definition that are not read: {', '.join(left)}.")
    return tree


def _type(given: Json, agent: str, name: str, missing: list[str]) -> str:
    said = expect(given.pop("agent_class", None) or "LlmAgent", str, f"{name}: agent_class")
    kind = CLASSES.get(said.rpartition(".")[2])
    if kind is not None:
        return kind
    kind = "llm" if {"instruction", "model"} & given.keys() or not given.get("sub_agents") else "sequential"
    missing.append(f"What {agent} does: its class {said} is Python code; taken as {kind}.")
    return kind


def _settings(given: Json, tree: Json, agent: str, name: str, missing: list[str]) -> None:
    for key in FLAGS:
        if given.get(key) is not None:
            tree[key] = expect(given.pop(key), bool, f"{name}: {key}")
    model = given.pop("model", None)
    if isinstance(model, str) and model:
        tree["model"] = {"name": model}
    elif model is not None:
        raise BadData(f"{name}: model", f"expected a text, found {type(model).__name__}")
    config = given.pop("generate_content_config", None)
    if config is not None:
        tree["generate_content_config"] = expect(config, dict, f"{name}: generate_content_config")
    tools = []
    for i, item in enumerate(expect(given.pop("tools", None) or [], list, f"{name}: tools")):
        tool = {"name": item} if isinstance(item, str) else expect(item, dict, f"{name}: tools[{i}]")
        tools.append(expect(tool.get("name"), str, f"{name}: tools[{i}].name"))
    if tools:
        tree["tools"] = [tool.rpartition(".")[2] for tool in tools]


def _child(
    item: Any, where: str, untold: Untold, folder: Path, above: Sequence[Path], missing: list[str]
) -> Json | None:
    ref = expect(item, dict, where)
    path = ref.get("config_path")
    if path is not None:
        try:
            return _read(folder / expect(path, str, f"{where}.config_path"), untold, above)
        except BadData as error:
            raise BadData(f"{where}: {error.where}", error.message) from None
    if "code" in ref:
        missing.append(f"The sub-agent {ref['code']}: the definition names Python code.")
        return None
    return tree_of_config(ref, where, untold, folder, above)


def _code(given: Json, agent: str, missing: list[str]) -> None:
    """Take out what is code, and say what of it cannot be told."""
    for key, sentence in CODE.items():
        if given.get(key) is not None:
            value = given.pop(key)
            missing.append(sentence.format(agent, value.get("name", "") if isinstance(value, dict) else value))
    hooks = [key for key in given if key.endswith(("_callback", "_callbacks")) and given[key]]
    for key in hooks:
        given.pop(key)
    if hooks:
        missing.append(f"What the callbacks of {agent} change: {', '.join(hooks)} are Python code.")
