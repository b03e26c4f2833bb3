"""The two graphs: what is in them, how they are laid out, and that names stay names."""

import itertools
import shutil
import subprocess
import xml.etree.ElementTree as ET

import graphviz
import pytest

import adknb
from adknb import Plugin, at
from adknb.engine.llm_agent import LlmAgent
from adknb.engine.model import FunctionModel
from adknb.engine.processors import REQUEST_PROCESSORS
from adknb.engine.runner import Runner
from adknb.engine.workflow_agents import LoopAgent, ParallelAgent, SequentialAgent
from adknb.widgets import layout as layouts
from adknb.widgets.dot import Edge, Graph, Node, dot_of, quoted
from adknb.widgets.drawing import svg_of
from adknb.widgets.graphs import agent_graph, agents_of, flow_graph, flow_of
from adknb.widgets.layout import layout, own_layout
from adknb.widgets.panel.answers import graph_json
from tests.widgets.runs import HOSTILE, golden, names, weather
from tests.widgets.runs_a import family, trip

HAS_DOT = pytest.mark.skipif(not shutil.which("dot"), reason="no dot here")


def looks(graph):
    return {n.label: set(n.looks) for n in graph.nodes}


@pytest.mark.parametrize(
    "wish, here, done, to_come",
    [
        (at("basic", phase="before"), "basic", ["new request"], ["tools", "model"]),
        (at("contents"), "contents", ["basic", "compaction"], ["transfer", "declare", "model event"]),
        (at(seam="tool_declaration"), "declare", ["display_name"], ["model"]),
        (at(seam="model", phase="after"), "model", ["declare"], ["model event", "tool"]),
        (at(seam="append", phase="before", agent="weather_agent"), "model event", ["model"], ["tool", "tool event"]),
        (at(tool="get_weather"), "tool", ["model event"], ["merge", "tool event"]),
        (at(seam="merge"), "merge", ["tool"], ["tool event"]),
        (at("basic", step=2), "basic", ["new request"], ["tools", "tool", "tool event"]),
    ],
)
def test_the_present_stage_is_lit_and_finished_ones_are_ticked(wish, here, done, to_come):
    found = looks(flow_of(weather().until(wish)))
    assert [label for label, of in found.items() if "here" in of] == [here]
    assert all("done" in found[label] for label in done)
    assert all("next" in found[label] for label in to_come)


def test_noops_and_hooks_that_nobody_listens_to_are_dashed():
    found = looks(flow_of(weather()))
    dashed = {label for label, of in found.items() if "noop" in of}
    assert {"auth", "planning", "code_execution", "response processors", "before_model", "after_tool"} <= dashed
    assert not dashed & {"basic", "contents", "model", "tool"}


def test_a_flow_has_the_agents_own_processors_and_counts_who_listens():
    def shout(ctx, request, flow):
        """Own."""

    agent = LlmAgent(
        "a",
        FunctionModel(lambda r: "x", name="m"),
        request_processors=[shout, *REQUEST_PROCESSORS[:3]],
        before_model=[lambda ctx, r: None, lambda ctx, r: None],
    )
    runner = Runner(agent, plugins=[Plugin("p", before_model=lambda ctx, r: None)])
    graph = flow_of(adknb.step(runner, "hi").until(at("shout")))
    labels = [n.label for n in graph.nodes if n.column == 0]
    assert labels == ["new request", "shout", "basic", "tools", "auth"]
    assert looks(graph)["before_model 3"] == {"next"}
    assert looks(graph)["shout"] == {"here", "after"}


def edges(graph):
    called = {n.id: n.key for n in graph.nodes}
    return {(called[e.tail], called[e.head]): (e.looks, e.label, e.way) for e in graph.edges}


def test_the_tree_tells_modes_and_ways_to_hand_over():
    found = edges(agents_of(family()))
    assert found["root", "billing"] == (("tree", "went"), "↓1", "both")
    assert found["billing", "refunds"] == (("tree", "went"), "↓1", "both")
    assert found["root", "address_check"] == (("tree", "delegates"), "", "forward")
    assert found["billing", "shipping"] == (("peer",), "", "both")
    assert {n.key: n.sub for n in agents_of(family()).nodes}["address_check"] == "single_turn"


@pytest.mark.parametrize(
    "more, down, up",
    [
        ({}, True, True),
        ({"disallow_transfer_to_parent": True}, True, False),
        ({"mode": "task"}, True, False),
    ],
)
def test_a_head_stands_where_a_transfer_may_go(more, down, up):
    child = LlmAgent("child", FunctionModel(lambda r: "x", name="m"), **more)
    root = LlmAgent("root", FunctionModel(lambda r: "x", name="m"), sub_agents=[child])
    (edge,) = agents_of(adknb.step(root, "hi")).edges
    assert (edge.way in ("forward", "both"), edge.way in ("back", "both")) == (down, up)


def test_workflow_agents_have_their_kind_and_no_heads():
    one, two = (LlmAgent(n, FunctionModel(lambda r: "x", name="m")) for n in "ab")
    root = SequentialAgent(
        "s", sub_agents=[ParallelAgent("p", sub_agents=[one]), LoopAgent("l", sub_agents=[two], max_iterations=1)]
    )
    graph = agents_of(adknb.step(root, "hi"))
    assert [(n.key, n.sub) for n in graph.nodes] == [
        ("s", "sequential"), ("p", "parallel"), ("a", "llm"), ("l", "loop"), ("b", "llm"),
    ]  # fmt: skip
    assert {e.way for e in graph.edges} == {"none"}


def graphs():
    runs = [weather(), trip(), family(), adknb.step(golden(names("delegation")[0]))]
    return [make(run) for run in runs for make in (agents_of, flow_of)]


def overlap(graph, at):
    boxes = [(at.nodes[n.id], n.size) for n in graph.nodes]
    return any(
        abs(a[0] - b[0]) < (w1 + w2) / 2 - 1 and abs(a[1] - b[1]) < (h1 + h2) / 2 - 1
        for (a, (w1, h1)), (b, (w2, h2)) in itertools.combinations(boxes, 2)
    )


@pytest.mark.parametrize("place", [own_layout, pytest.param(layout, marks=HAS_DOT)])
def test_every_box_has_a_place_of_its_own_and_every_line_two_ends(place):
    for graph in graphs():
        at = place(graph)
        assert at.nodes.keys() == {n.id for n in graph.nodes}
        assert not overlap(graph, at)
        assert all(0 <= x <= at.width + 1 and 0 <= y <= at.height + 1 for x, y in at.nodes.values())
        for e, curve in zip(graph.edges, at.edges, strict=True):
            assert len(curve) >= 4 and len(curve) % 3 == 1
            for end, box in ((curve[0], e.tail), (curve[-1], e.head)):
                node = next(n for n in graph.nodes if n.id == box)
                (x, y), (w, h) = at.nodes[box], node.size
                assert abs(end[0] - x) <= w / 2 + 14 and abs(end[1] - y) <= h / 2 + 14


@HAS_DOT
def test_the_program_is_asked_once_however_often_the_run_is_stepped(monkeypatch):
    layouts._asked.cache_clear()
    ran = []
    real = subprocess.run
    monkeypatch.setattr(subprocess, "run", lambda *a, **k: ran.append(a) or real(*a, **k))
    dbg = weather().until(at("basic"))
    for _ in range(8):
        assert layout(flow_of(dbg.step())).by == "dot"
    assert len(ran) == 1


@pytest.mark.parametrize("how", ["nothing installed", "it fails", "it writes nonsense", "it leaves a box out"])
def test_without_a_program_that_works_we_draw_ourselves(monkeypatch, how):
    graph = agents_of(family())
    answer = {"it writes nonsense": b"graph 1 x y\n", "it leaves a box out": b"graph 1 2 3\nstop\n"}.get(how, b"")

    def run(*args, **kwargs):
        if how == "it fails":
            raise subprocess.CalledProcessError(1, "dot")
        return subprocess.CompletedProcess(args, 0, answer, b"")

    layouts._asked.cache_clear()
    monkeypatch.setattr(layouts, "program", lambda: [] if how == "nothing installed" else ["dot"])
    monkeypatch.setattr(layouts.subprocess, "run", run)
    assert layout(graph).by == "adknb"
    layouts._asked.cache_clear()


@pytest.mark.parametrize("found", [["dot"], ["graphviz-pure"], []])
def test_dot_is_asked_first_then_graphviz_pure(monkeypatch, tmp_path, found):
    monkeypatch.setattr(layouts.shutil, "which", lambda name: f"/bin/{name}" if name in found else None)
    monkeypatch.setattr(layouts.sys, "executable", str(tmp_path / "python"))
    assert layouts.program() == [f"/bin/{name}" for name in found]
    (tmp_path / "graphviz-pure").touch()  # beside this Python, as pip installs it
    assert layouts.program() == ([f"/bin/{name}" for name in found] or [str(tmp_path / "graphviz-pure")])


@pytest.mark.parametrize("text", [*HOSTILE, '"]; x [label="', "a\\", "<b>html</b>", "\\N", "new\nline"])
def test_a_name_is_never_an_attribute_or_an_element(text):
    graph = Graph(
        "g", "TB", (Node("a", text[:40], text[:20], (), text, text), Node("b", "b")), (Edge("a", "b", (), text),)
    )
    dot = dot_of(graph)
    inner = quoted(text)[1:-1]
    assert inner.replace("\\\\", "").replace('\\"', "").count('"') == 0
    root = ET.fromstring(svg_of(graph))
    assert {e.tag.split("}")[1] for e in root.iter()} <= {"svg", "rect", "g", "title", "text", "path"}
    if shutil.which("dot"):
        drawn = subprocess.run(["dot", "-Tplain"], input=dot.encode(), capture_output=True, check=True).stdout.decode()
        assert [line.split()[1] for line in drawn.splitlines() if line.startswith("node")] == ["a", "b"]


@HAS_DOT
@pytest.mark.parametrize("make", [flow_graph, agent_graph])
def test_the_static_pictures_are_graphviz_sources(make):
    picture = make(family())
    assert isinstance(picture, graphviz.Source)
    assert picture.source == make(family()).source
    svg = picture._repr_mimebundle_()["image/svg+xml"]
    assert "refunds" in svg or "contents" in svg


@pytest.mark.parametrize("make", [flow_graph, agent_graph])
def test_the_static_pictures_show_themselves_without_a_program_too(monkeypatch, make):
    monkeypatch.setattr("adknb.widgets.drawing.program", list)
    svg = make(family())._repr_mimebundle_()["image/svg+xml"]
    ET.fromstring(svg)
    assert ("contents" in svg) == (make is flow_graph)


def test_the_panel_is_sent_numbers_and_texts():
    data = graph_json(flow_of(trip()))
    assert len(data["nodes"][0]) == 10 and len(data["edges"][0]) == 8
    assert data["columns"] == ["build the request", "ask the model", "run the calls", "go on?"]
