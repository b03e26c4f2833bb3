"""Two graphs: the agents with their modes and transfers, and one step of the Flow with the present stage lit.

`agent_graph(stepper)` and `flow_graph(stepper)` give `graphviz.Source`; `agents_of` and `flow_of` give the data behind
them, which the panel draws itself. Layout: layout.py.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from adknb.engine.agent import Agent
from adknb.engine.llm_settings import delegates_to, is_llm, settings_of
from adknb.engine.plugin import hooks_of
from adknb.engine.processors import REQUEST_PROCESSORS
from adknb.engine.processors.transfer import transfer_targets
from adknb.engine.stops import is_noop, name_of
from adknb.lens.flow_position import PROCESSORS
from adknb.lens.words import one_line, shorten
from adknb.widgets.brief import plural
from adknb.widgets.dot import Edge, Graph, Node
from adknb.widgets.drawing import drawing

if TYPE_CHECKING:
    import graphviz

MOST_PEERS = 10
"""More transfers between peers than these are told, not drawn."""


def flow_graph(stepper: Any) -> graphviz.Source:
    """One step of the running agent's Flow as a drawing: the present stage filled, finished ones ticked, no-ops dashed.

    Raises:
        AdknbError: the package graphviz is not installed (extra `lab`).
    """
    return drawing(flow_of(stepper))


def agent_graph(stepper: Any) -> graphviz.Source:
    """The tree of agents as a drawing: modes, who may hand over to whom, and what has been handed over so far.

    Raises:
        AdknbError: the package graphviz is not installed (extra `lab`).
    """
    return drawing(agents_of(stepper))


# ---- agents


def agents_of(stepper: Any) -> Graph:
    """The tree of agents. A line without a head is only the tree; a head says that a transfer may go that way."""
    root = stepper.play.runner.agent
    agents = list(root.tree())
    ids = {agent.name: f"a{k}" for k, agent in enumerate(agents)}
    said = Counter(event.author for event in stepper.events)
    running = _running(stepper)
    nodes = [_agent_node(agent, ids[agent.name], said[agent.name], running) for agent in agents]
    done = transfers_of(stepper.events)
    return Graph("agents", "TB", tuple(nodes), tuple(_agent_edges(agents, ids, done)))


def _running(stepper: Any) -> str:
    stops = stepper.stops
    return next((r.agent for r in reversed(stops) if r.agent), "") if stops and stepper.here is not None else ""


def _agent_node(agent: Agent, id: str, said: int, running: str) -> Node:
    settings = settings_of(agent)
    mode = settings.mode if settings is not None else ""
    sub = " ".join(filter(None, [mode or agent.kind, f"{said:,}" if said else ""]))
    looks = [agent.kind, *(["here"] if agent.name == running else []), *([] if said else ["silent"])]
    tip = [f"{agent.name}: {agent.kind} agent", *([f"declared {mode}"] if mode else [])]
    tip += [plural(said, "event")] if said else ["has not spoken yet"]
    tip += [one_line(agent.description, 160)] if agent.description else []
    targets = [t.name for t in transfer_targets(agent)]
    tip += [f"may transfer to {', '.join(targets)}"] if targets else []
    return Node(id, shorten(one_line(agent.name), 24), sub, tuple(looks), "; ".join(tip), agent.name)


def _agent_edges(agents: Sequence[Agent], ids: dict[str, str], done: Counter[tuple[str, str]]) -> Iterable[Edge]:
    """Lines of the tree, dashed ones between peers; on each how often it was gone. Then the ways that have no line."""
    peers: list[tuple[Agent, Agent, str]] = []
    drawn: set[frozenset[str]] = set()
    for agent in agents:
        targets = {a.name: {t.name for t in transfer_targets(a)} for a in (agent, *agent.sub_agents)}
        for child in agent.sub_agents:
            way = _way(child.name in targets[agent.name], agent.name in targets[child.name])
            delegated = delegates_to(child) and is_llm(agent)
            looks = ("tree", "delegates") if delegated else ("tree",)
            drawn.add(frozenset((agent.name, child.name)))
            yield _edge(agent.name, child.name, looks, "forward" if delegated else way, ids, done)
        for a, b in itertools.combinations(agent.sub_agents, 2):
            way = _way(b.name in targets[a.name], a.name in targets[b.name])
            if way != "none":
                peers.append((a, b, way))
    for a, b, way in peers if len(peers) <= MOST_PEERS else ():
        drawn.add(frozenset((a.name, b.name)))
        yield _edge(a.name, b.name, ("peer",), way, ids, done)
    for tail, head in sorted(done):
        if tail in ids and head in ids and frozenset((tail, head)) not in drawn:
            drawn.add(frozenset((tail, head)))
            yield _edge(tail, head, ("other",), "none", ids, done)


def _edge(
    a: str, b: str, looks: tuple[str, ...], way: str, ids: dict[str, str], done: Counter[tuple[str, str]]
) -> Edge:
    there, back = done[a, b], done[b, a]
    if there or back:
        looks += ("went",)
        way = _way(way in ("forward", "both") or there > 0, way in ("back", "both") or back > 0)
    label = " ".join([*([f"↓{there}"] if there else []), *([f"↑{back}"] if back else [])])
    return Edge(ids[a], ids[b], looks, label, way, "tree" in looks)


def _way(there: bool, back: bool) -> str:
    return "both" if there and back else "forward" if there else "back" if back else "none"


def transfers_of(events: Iterable[Any]) -> Counter[tuple[str, str]]:
    """Who has handed over to whom in a session, and how often."""
    return Counter((e.author, e.actions.transfer_to_agent) for e in events if e.actions.transfer_to_agent)


# ---- the flow

MODEL_SIDE = [
    ("declare", "tool_declaration", "Every listed tool adds itself to the request."),
    ("before_model", "before_model", "Plugins, then the agent's callbacks; an answer skips the model."),
    ("model", "model", "The model is asked."),
    ("on_model_error", "on_model_error", "An answer stands in for the model's error."),
    ("after_model", "after_model", "Asked for every chunk and for the whole answer."),
    ("response processors", "response_processor", "Planning and code execution: no-ops in ADK-Go 2.4.0."),
    ("model event", "append", "The answer goes up as an event and is stored."),
]
TOOL_SIDE = [
    ("before_tool", "before_tool", "An answer is the result: the tool is skipped."),
    ("tool", "tool", "The calls run, each in a lane of its own."),
    ("on_tool_error", "on_tool_error", "An answer stands in for the tool's error."),
    ("after_tool", "after_tool", "Asked behind a result, an error and a skipped tool."),
    ("merge", "merge", "All results in one event, in the order of the calls."),
    ("tool event", "append", "The results go up as one event and are stored."),
]
"""The later columns of a step: label, seam, a sentence."""


def flow_of(stepper: Any) -> Graph:
    """One step as three columns: build the request, ask the model, run the calls; then whether there is another."""
    passed, here = _seams_of_the_step(stepper.stops)
    agent = _agent_at(stepper)
    processors = list(getattr(agent, "request_processors", REQUEST_PROCESSORS))
    go = {name: name_in_go for name, name_in_go, _ in PROCESSORS}
    begun = ("done",) if passed or (here is not None and here[0] == "processor") else ("next",)
    columns = [[Node("s", "new request", "", begun, "It holds nothing but the model's name.", "", 0)], [], [], []]
    for k, processor in enumerate(processors):
        name = name_of(processor)
        looks = _state(("processor", name), passed, here) + (("noop",) if is_noop(processor) else ())
        tip = go.get(name) or "a processor of this agent's own"
        columns[0].append(Node(f"p{k}", shorten(one_line(name), 22), "", looks, tip, f"processor:{name}", 0))
    asked = _hooks(stepper, agent)
    for column, side in ((1, MODEL_SIDE), (2, TOOL_SIDE)):
        for k, (label, seam, tip) in enumerate(side):
            looks = _state((seam, label), passed, here)
            if seam == "response_processor" or asked.get(seam) == 0:
                looks += ("noop",)
            sub = f" {asked[seam]}" if asked.get(seam) else ""
            columns[column].append(Node(f"{'pmt'[column]}{k}", label + sub, "", looks, tip, f"stage:{seam}", column))
    columns[3] = [
        Node(
            "d0",
            "transfer?",
            "",
            _state(("handover", ""), passed, here),
            "The other agent runs inside this step.",
            "",
            3,
        ),
        Node("d1", "final?", "", (), "Asked of the step's last event.", "", 3),
        Node("d2", "done", "", (), "The agent's run is over.", "", 3),
    ]
    return Graph("flow", "LR", tuple(n for c in columns for n in c), tuple(_flow_edges(columns)), COLUMNS)


COLUMNS = ("build the request", "ask the model", "run the calls", "go on?")


def _flow_edges(columns: Sequence[Sequence[Node]]) -> Iterable[Edge]:
    for column in columns[:3]:
        for a, b in itertools.pairwise(column):
            yield Edge(a.id, b.id, ("then",))
    build, ask, run, on = columns
    yield Edge(build[-1].id, ask[0].id, ("then",), "", "forward")
    yield Edge(ask[-1].id, run[0].id, ("then",), "calls", "forward")
    yield Edge(ask[-1].id, on[1].id, ("then",), "no calls", "forward", False)
    yield Edge(run[-1].id, on[0].id, ("then",), "", "forward")
    yield Edge(on[0].id, on[1].id, ("then",), "no")
    yield Edge(on[1].id, on[2].id, ("then",), "yes")
    yield Edge(on[1].id, build[0].id, ("loop",), "no", "forward", False)


def _agent_at(stepper: Any) -> Any:
    """The LLM agent whose step it is, or was last; before the first, the root."""
    root = stepper.play.runner.agent
    name = next((r.agent for r in reversed(stepper.stops) if r.agent and r.step), "")
    return root.find(name) or next((a for a in root.tree() if is_llm(a)), root)


def _hooks(stepper: Any, agent: Any) -> dict[str, int]:
    """How many functions listen at each hook of a step: plugins' and the agent's own."""
    own: dict[str, int] = {}
    for group in (getattr(agent, "model_callbacks", None), getattr(agent, "tool_callbacks", None)):
        for hook, functions in vars(group).items() if group is not None else ():
            own[hook] = len(functions)
    names = ("before_model", "after_model", "on_model_error", "before_tool", "after_tool", "on_tool_error")
    return {hook: own.get(hook, 0) + len(hooks_of(stepper.play.runner.plugins, hook)) for hook in names}


def _seams_of_the_step(stops: Sequence[Any]) -> tuple[Counter[tuple[str, str]], tuple[str, str, str] | None]:
    """Seam and name of what the present step has been through, with how often; and where it stands now."""
    last = stops[-1] if stops else None
    if last is None:
        return Counter(), None
    place = next(((r.turn, r.agent, r.step) for r in reversed(stops) if r.agent and r.step), None)
    passed: Counter[tuple[str, str]] = Counter()
    for record in reversed(stops):
        if record.turn != last.turn:
            break
        if (record.turn, record.agent, record.step) == place and record.phase == "after":
            seam = str(record.seam)
            passed[seam, record.name if seam == "processor" else ""] += 1
    return passed, (str(last.seam), str(last.name), str(last.phase))


def _state(
    what: tuple[str, str], passed: Counter[tuple[str, str]], here: tuple[str, str, str] | None
) -> tuple[str, ...]:
    seam, label = what
    key = (seam, label if seam == "processor" else "")
    need = 2 if label == "tool event" else 1
    done = passed[key] >= need
    if here is not None and here[0] in (seam, *(("event", "on_event") if seam == "append" else ())):
        events = passed["append", ""] - (here[2] == "after" and here[0] == "append")
        mine = label == here[1] if seam == "processor" else seam != "append" or events == need - 1
        if mine:
            return ("here", here[2])
    return ("done",) if done else ("next",)
