"""Where the boxes and lines of a graph are: asked of `dot` where it is, else of graphviz-pure, else found by ourselves.

Only positions are asked (`-Tplain`): whoever draws has colours and letters of their own.
"""

from __future__ import annotations

import itertools
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from adknb.widgets.dot import TALL, Graph, dot_of

SECONDS = 10
"""How long the program may take; a graph of agents takes it some milliseconds."""

Point = tuple[float, float]


@dataclass(frozen=True)
class Layout:
    """Where things are, in points, y downwards: centres of nodes, curves (start, then three points each), labels."""

    width: float
    height: float
    nodes: dict[str, Point]
    edges: tuple[tuple[Point, ...], ...]
    labels: tuple[Point | None, ...]
    by: str = ""


def program() -> list[str]:
    """The command that lays out DOT: `dot` on PATH, else `graphviz-pure` there or beside this Python; empty: none."""
    beside = Path(sys.executable).parent / "graphviz-pure"
    found = shutil.which("dot") or shutil.which("graphviz-pure") or (str(beside) if beside.is_file() else "")
    return [found] if found else []


def layout(graph: Graph) -> Layout:
    """Where everything is. How a node looks makes no difference, so a step of the run costs nothing here."""
    command = program()
    drawn = _asked(tuple(command), dot_of(graph, plain=True)) if command else None
    return (_read(graph, drawn, Path(command[0]).name) if drawn else None) or own_layout(graph)


@cache
def _asked(command: tuple[str, ...], dot: str) -> str:
    try:
        done = subprocess.run(
            [*command, "-Tplain"], input=dot.encode(), capture_output=True, timeout=SECONDS, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.decode("utf-8", "replace")


def _read(graph: Graph, text: str, by: str) -> Layout | None:
    """The plain format: `node id x y w h …`, `edge tail head n x1 y1 … [label x y] …`, inches, y upwards."""
    nodes: dict[str, Point] = {}
    curves: dict[tuple[str, str], list[tuple[tuple[Point, ...], Point | None]]] = {}
    width = height = 0.0
    try:
        for line in text.splitlines():
            words = shlex.split(line)
            if words[:1] == ["graph"]:
                width, height = float(words[2]) * 72, float(words[3]) * 72
            elif words[:1] == ["node"]:
                nodes[words[1]] = (float(words[2]) * 72, height - float(words[3]) * 72)
            elif words[:1] == ["edge"]:
                n = int(words[3])
                at = [float(w) * 72 for w in words[4 : 4 + 2 * n]]
                points = tuple((x, height - y) for x, y in zip(at[::2], at[1::2], strict=True))
                rest = words[4 + 2 * n :]
                label = (float(rest[1]) * 72, height - float(rest[2]) * 72) if len(rest) >= 5 else None
                curves.setdefault((words[1], words[2]), []).append((points, label))
        found = [curves[e.tail, e.head].pop() for e in graph.edges]  # one that is not drawn stands before the others
    except (ValueError, IndexError, KeyError):
        return None
    if nodes.keys() != {n.id for n in graph.nodes}:
        return None
    labels = (at or _beside(points, e.ranks) for (points, at), e in zip(found, graph.edges, strict=True))
    return Layout(width, height, nodes, tuple(p for p, _ in found), tuple(labels), by)


# ---- our own layout


def own_layout(graph: Graph) -> Layout:
    """Where everything is, without any program: columns where the graph has them, else a tree."""
    return _columns(graph) if graph.columns else _tree(graph)


def _columns(graph: Graph) -> Layout:
    """Columns side by side, their boxes from top to bottom; lines between them go round corners, back over the top."""
    top, gap, x = 34.0, 54.0, 8.0
    nodes: dict[str, Point] = {}
    lefts, tallest = [], 0.0
    for column in range(len(graph.columns)):
        own = [n for n in graph.nodes if n.column == column]
        wide, y = max((n.size[0] for n in own), default=60.0), top
        lefts.append(x)
        for n in own:
            nodes[n.id] = (x + wide / 2, y + n.size[1] / 2)
            y += n.size[1] + 14
        tallest, x = max(tallest, y), x + wide + gap
    sizes, of = {n.id: n.size for n in graph.nodes}, {n.id: n.column for n in graph.nodes}
    edges = []
    for k, e in enumerate(graph.edges):
        (ax, ay), (bx, by) = nodes[e.tail], nodes[e.head]
        (aw, ah), (bw, bh) = sizes[e.tail], sizes[e.head]
        if of[e.tail] == of[e.head]:
            corners = [(ax, ay + ah / 2), (bx, by - bh / 2 - 10)]
        elif of[e.tail] < of[e.head]:
            turn = lefts[of[e.head]] - 22 - 6 * (k % 3)
            corners = [(ax + aw / 2, ay), (turn, ay), (turn, by), (bx - bw / 2 - 10, by)]
        else:
            right = ax + aw / 2 + 16
            corners = [(ax + aw / 2, ay), (right, ay), (right, 10), (bx, 10), (bx, by - bh / 2 - 10)]
        edges.append(_line(corners))
    labels = tuple(_beside(curve, e.ranks) for curve, e in zip(edges, graph.edges, strict=True))
    return Layout(x - gap + 24, tallest, nodes, tuple(edges), labels, "adknb")


def _tree(graph: Graph) -> Layout:
    """Leaves side by side, every other box above the middle of its children; other lines bend below their boxes."""
    children: dict[str, list[str]] = {n.id: [] for n in graph.nodes}
    for e in graph.edges:
        if "tree" in e.looks:
            children[e.tail].append(e.head)
    below = {c for cs in children.values() for c in cs}
    sizes = {n.id: n.size for n in graph.nodes}
    nodes: dict[str, Point] = {}
    right = 8.0

    def place(id: str, depth: int) -> None:
        nonlocal right
        for child in children[id]:
            place(child, depth + 1)
        if children[id]:
            x = (nodes[children[id][0]][0] + nodes[children[id][-1]][0]) / 2
        else:
            x = right + sizes[id][0] / 2
            right += sizes[id][0] + 20
        nodes[id] = (x, 8 + TALL / 2 + depth * (TALL + 44))

    for n in graph.nodes:
        if n.id not in below:
            place(n.id, 0)
    edges: list[tuple[Point, ...]] = []
    for e in graph.edges:
        (ax, ay), (bx, by) = nodes[e.tail], nodes[e.head]
        out, into = 10.0 * (e.way in ("back", "both")), 10.0 * (e.way in ("forward", "both"))  # room for heads
        if "tree" in e.looks:
            start, end = (ax, ay + TALL / 2 + out), (bx, by - TALL / 2 - into)
            edges.append((start, (ax, start[1] + 18), (bx, end[1] - 18), end))
        else:
            low = max(ay, by) + TALL / 2 + 34
            edges.append(((ax, ay + TALL / 2 + out), (ax, low), (bx, low), (bx, by + TALL / 2 + into)))
    height = max((y for _, y in nodes.values()), default=0.0) + TALL / 2 + 36
    return Layout(max(right, 60.0), height, nodes, tuple(edges), tuple(map(_middle, edges)), "adknb")


def _beside(curve: tuple[Point, ...], ranks: bool) -> Point:
    """Where a label stands beside a line with corners: where it leaves its box, else under its longest level piece."""
    if ranks:
        return curve[0][0] + 5, curve[0][1] - 4
    level = [(abs(b[0] - a[0]), a, b) for a, b in itertools.pairwise(curve) if abs(a[1] - b[1]) < 1]
    _, a, b = max(level, default=(0.0, curve[0], curve[0]))
    return (a[0] + b[0]) / 2, a[1] + 11


def _line(corners: list[Point]) -> tuple[Point, ...]:
    """Straight pieces, as the curves that everything else is."""
    out = [corners[0]]
    for a, b in itertools.pairwise(corners):
        out += [a, b, b]
    return tuple(out)


def _middle(curve: tuple[Point, ...]) -> Point:
    a, b, c, d = curve[:4]
    return (a[0] + 3 * b[0] + 3 * c[0] + d[0]) / 8 + 4, (a[1] + 3 * b[1] + 3 * c[1] + d[1]) / 8
