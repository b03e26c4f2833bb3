"""The agents of a replay: from a definition, or from what the events give away.

Who stands under whom is `recording.agents`. An agent that never speaks and whose name stands in branches is a parallel
one. Agents that speak one behind the other without a transfer are run in a sequence, in rounds if they come again. A
branch that ends in `name@n` is a single_turn agent's, events in a scope are a task's.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from adknb.engine.delegation import FINISH_TASK
from adknb.engine.errors import BadData
from adknb.engine.event import Event, function_calls_of, function_responses_of, visible_text_of
from adknb.engine.processors.output_schema import SET_MODEL_RESPONSE
from adknb.files.glance import TRANSFER_TOOLS
from adknb.files.replay_tools import ToolRuns
from adknb.files.replay_voices import Voice, Voices, by_the_model
from adknb.files.session_file import Json
from adknb.files.whose import is_structured_final
from adknb.lens.table import turns
from adknb.lens.words import one_line

if TYPE_CHECKING:
    from adknb.files.recording import Recording

DELEGATED = ("task", "single_turn")
"""Modes of agents that another one calls like a tool."""

WORKFLOW = "workflow"
"""What a workflow agent is called whose name is nowhere in the file."""


def tree_for(
    recording: Recording, played: Sequence[Event], voices: Voices, tools: ToolRuns, unknown: list[str]
) -> Json:
    """The agent of the scenario, with what each model says and each tool answers.

    Raises:
        BadData: no agent says anything.
    """
    names = [name for name, voice in voices.of.items() if voice.calls]
    if recording.definition is not None:
        tree = _defined(recording, names, unknown)
    else:
        tree = _guessed(recording, played, names, unknown)
    if not tree:
        raise BadData(recording.label, "no agent says anything in it, so there is nothing to play again")
    _give_schemas(tree, played)
    for node, parent in _with_parents(tree):
        voice = voices.of.get(node["name"], Voice())
        acts = {"before_agent": voice.before_agent, "after_agent": voice.after_agent}
        if node["type"] == "llm":
            acts["after_model"] = _fill(node, parent, played, voice, tools)
        node.pop("callbacks", None)
        if any(acts.values()):
            node["callbacks"] = {hook: listed for hook, listed in acts.items() if listed}
    return tree


def nodes_of(tree: Json) -> list[Json]:
    """An agent's spec and those below it."""
    return [tree, *(node for child in tree.get("sub_agents", []) for node in nodes_of(child))]


def looped_in(trees: Sequence[Json]) -> set[str]:
    """The agents that stand under a loop agent."""
    loops = [node for tree in trees for node in nodes_of(tree) if node.get("type") == "loop"]
    return {node["name"] for loop in loops for node in nodes_of(loop)}


def _with_parents(tree: Json, parent: Json | None = None) -> Iterator[tuple[Json, Json | None]]:
    yield tree, parent
    for child in tree.get("sub_agents", []):
        yield from _with_parents(child, tree)


def _fill(node: Json, parent: Json | None, played: Sequence[Event], voice: Voice, tools: ToolRuns) -> list[Json]:
    """Give an agent its script: model, tools, output key. What its `after_model` callbacks write comes back."""
    name = node["name"]
    node["model"] = {"name": node.get("model", {}).get("name") or "recorded", "calls": voice.calls}
    own = {tool["name"]: tool for tool in node.get("tools", []) if isinstance(tool, dict)}
    by_name = {tool for tool in node.get("tools", []) if isinstance(tool, str)}
    for tool in tools.of(name, _has_already(node, parent)):
        own[tool["name"]] = {**own.get(tool["name"], {}), **tool}
    for tool_name in by_name - own.keys():
        own[tool_name] = {"name": tool_name}
    for tool in own.values():
        if tool["name"] in tools.runs:
            tool["runs"] = tools.runs[tool["name"]]
    node.pop("tools", None)
    if own:
        node["tools"] = list(own.values())
    key = node.get("output_key") or _output_key(name, played)
    if not key:
        return voice.after_model
    node["output_key"] = key
    acts = [{**act, "state": {k: v for k, v in act["state"].items() if k != key}} for act in voice.after_model]
    return [act for act in acts if act["state"]]


def _has_already(node: Json, parent: Json | None) -> set[str]:
    """Tools that an agent has by its place in the tree and its settings."""
    children = node.get("sub_agents", [])
    names = {child["name"] for child in children if child.get("mode") in DELEGATED}
    if node.get("mode") == "task":
        names.add(FINISH_TASK)
    elif node.get("output_schema"):
        names.add(SET_MODEL_RESPONSE)
    if len(children) > len(names & {child["name"] for child in children}) or (parent and parent["type"] == "llm"):
        names.add(TRANSFER_TOOLS[0])
    return names


def _give_schemas(tree: Json, played: Sequence[Event]) -> None:
    """What a delegate takes and gives, read off its calls: other arguments than it says would be refused."""
    answered = {r.id: r.response or {} for e in played for r in function_responses_of(e.content)}
    for node in nodes_of(tree):
        if node.get("mode") not in DELEGATED:
            continue
        for event in played:
            for call in function_calls_of(event.content):
                args = call.args or {}
                if "error" in answered.get(call.id, {}):
                    continue
                if call.name == node["name"] and not _takes_a_request(args):
                    node.setdefault("input_schema", _schema(args))
                if event.author == node["name"] and call.name == FINISH_TASK and not _takes_a_result(args):
                    node.setdefault("output_schema", _schema(args))


def _takes_a_request(args: Mapping[str, Any]) -> bool:
    return list(args) == ["request"] and isinstance(args["request"], str)


def _takes_a_result(args: Mapping[str, Any]) -> bool:
    return list(args) == ["result"] and isinstance(args["result"], str)


def _schema(value: Any) -> Json:
    """A schema that a value fits."""
    if isinstance(value, dict):
        return {"type": "OBJECT", "properties": {key: _schema(item) for key, item in value.items()}}
    if isinstance(value, list):
        return {"type": "ARRAY", **({"items": _schema(value[0])} if value else {})}
    kinds = {bool: "BOOLEAN", int: "INTEGER", float: "NUMBER"}
    return {"type": kinds.get(type(value), "STRING")}


def _output_key(name: str, played: Sequence[Event]) -> str:
    """The key under which every final text of an agent is written, if there is one."""
    keys: set[str] | None = None
    for i, event in enumerate(played):
        words = event.content is not None and not event.partial and event.is_final_response()
        if event.author != name or not words or not (by_the_model(played, i) or is_structured_final(played, i)):
            continue
        text = visible_text_of(event.content)
        if text:
            written = {key for key, value in event.actions.state_delta.items() if value == text}
            keys = written if keys is None else keys & written
    return sorted(keys)[0] if keys else ""


# ---------------------------------------------------------------------------------------------------------- as defined


def _defined(recording: Recording, names: Sequence[str], unknown: list[str]) -> Json:
    definition = recording.definition
    assert definition is not None
    trees = copy.deepcopy(definition.trees)
    of_each = [{node["name"] for node in nodes_of(tree)} for tree in trees]
    best = max(range(len(trees)), key=lambda i: len(of_each[i] & set(names)))
    for missing in [name for name in names if name not in of_each[best]]:
        unknown.append(f"What {missing} says: the definition has no agent of that name.")
    return trees[best]


# ---------------------------------------------------------------------------------------------------------- as guessed


def _guessed(recording: Recording, played: Sequence[Event], names: Sequence[str], unknown: list[str]) -> Json:
    agents = recording.agents
    speaking = list(dict.fromkeys([*names, *(n for n in agents if n in names)]))
    if not speaking:
        return {}
    parents = dict(agents.parents)
    wanted = set(speaking)
    for name in speaking:  # whoever stands above one that speaks is there too
        at = parents.get(name)
        while at is not None and at not in wanted:
            wanted.add(at)
            at = parents.get(at)
    wanted |= {name for name in agents if parents.get(name) in wanted}  # those handed over to that never answer
    modes = _modes(played)
    _put_delegates(parents, modes, played, wanted)

    def node(name: str) -> Json:
        children = [node(child) for child in parents if child in wanted and parents.get(child) == name]
        if name not in speaking and name not in agents:
            return {
                "type": "parallel" if _is_parallel(name, played) else "sequential",
                "name": name,
                "sub_agents": children,
            }
        made: Json = {"type": "llm", "name": name}
        if name in modes:
            made["mode"] = modes[name]
        return {**made, "sub_agents": children} if children else made

    order = {name: i for i, name in enumerate(_first_words(played, parents))}
    roots = sorted(
        (n for n in parents if n in wanted and parents.get(n) is None), key=lambda n: order.get(n, len(order))
    )
    if not roots:  # a circle: whoever speaks first is at its top
        parents[speaking[0]] = None
        roots = [speaking[0]]
    if len(roots) == 1:
        return node(roots[0])
    rounds = _rounds(played, roots, parents)
    name = WORKFLOW
    while name in parents:
        name += "_"
    kind: Json = {"type": "loop", "max_iterations": rounds} if rounds > 1 else {"type": "sequential"}
    unknown.append(
        f"How {one_line(', '.join(roots), 200)} are run: nothing in the events says so; taken as "
        + (f"a loop of {rounds} rounds." if rounds > 1 else "a sequence.")
    )
    return {**kind, "name": name, "sub_agents": [node(root) for root in roots]}


def _modes(played: Sequence[Event]) -> dict[str, str]:
    modes: dict[str, str] = {}
    for event in played:
        if event.author in ("", "user"):
            continue
        if event.branch.rpartition(".")[2].startswith(f"{event.author}@"):
            modes[event.author] = "single_turn"
        elif event.isolation_scope:
            modes[event.author] = "task"
    return modes


def _put_delegates(
    parents: dict[str, str | None], modes: Mapping[str, str], played: Sequence[Event], wanted: set[str]
) -> None:
    """A delegate stands under whoever calls a tool of its name."""
    for event in played:
        for call in function_calls_of(event.content):
            if (
                call.name in modes
                and call.name in wanted
                and event.author != call.name
                and parents.get(call.name) is None
            ):
                parents[call.name] = event.author


def _is_parallel(name: str, played: Sequence[Event]) -> bool:
    return any(name in event.branch.split(".")[:-1] for event in played if event.branch)


def _root_of(name: str, parents: Mapping[str, str | None]) -> str:
    seen = {name}
    while (above := parents.get(name)) is not None and above not in seen:
        seen.add(above)
        name = above
    return name


def _first_words(played: Sequence[Event], parents: Mapping[str, str | None]) -> list[str]:
    """The roots in the order in which they, or those below them, first speak."""
    return list(dict.fromkeys(_root_of(e.author, parents) for e in played if e.author not in ("", "user")))


def _rounds(played: Sequence[Event], roots: Sequence[str], parents: Mapping[str, str | None]) -> int:
    """How often the roots come round in the longest turn: a, b, a, b -> 2."""
    most = 1
    numbers = turns(played)
    for turn in dict.fromkeys(numbers):
        order: list[Any] = []
        for event, number in zip(played, numbers, strict=True):
            speaks = event.author not in ("", "user") and not function_responses_of(event.content)
            if number == turn and speaks and event.content is not None:
                root = _root_of(event.author, parents)
                if not order or order[-1] != root:
                    order.append(root)
        most = max(most, *(order.count(root) for root in roots), 1)
    return most
