"""A small graph as data, and in the DOT language.

Names of agents and stages are data: they are quoted, so that none is ever an escape, an attribute or HTML.
"""

from __future__ import annotations

from dataclasses import dataclass

from adknb.lens.words import cells
from adknb.widgets.wire import clean_text

CHARACTER, SLIM, TALL = 6.9, 24, 38
"""Points a character of a label takes, and heights of nodes with one line and with two."""


@dataclass(frozen=True)
class Node:
    """A box. `looks` are words that drawing goes by (here, done, noop, …); `key` names what it stands for."""

    id: str
    label: str
    sub: str = ""
    looks: tuple[str, ...] = ()
    tip: str = ""
    key: str = ""
    column: int = -1

    @property
    def size(self) -> tuple[float, float]:
        """Width and height in points."""
        widest = max(cells(self.label) + 2, cells(self.sub))
        return max(64.0, min(220.0, CHARACTER * widest + 22)), TALL if self.sub else SLIM


@dataclass(frozen=True)
class Edge:
    """A line between two boxes. `way`: which ends have heads: forward, back, both, none. Not `ranks`: it moves none."""

    tail: str
    head: str
    looks: tuple[str, ...] = ()
    label: str = ""
    way: str = "forward"
    ranks: bool = True


@dataclass(frozen=True)
class Graph:
    """Boxes and lines. `direction` is TB or LR; `columns` are the titles of columns, where the boxes say theirs."""

    name: str
    direction: str
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    columns: tuple[str, ...] = ()


LOOKS = {
    "here": 'fillcolor="#1766b8" fontcolor="#ffffff" color="#1766b8"',
    "done": 'fillcolor="#dfe3e8"',
    "noop": 'style="rounded,filled,dashed" fontcolor="#555555"',
    "silent": 'style="rounded,filled,dashed"',
}
EDGE_LOOKS = {
    "peer": "style=dashed",
    "delegates": "style=bold",
    "went": 'color="#8f4b00" fontcolor="#8f4b00" penwidth=2',
    "loop": "style=dashed",
}


SPACE = {"LR": "nodesep=0.16; ranksep=0.42;", "TB": "nodesep=0.4; ranksep=0.55;"}


def dot_of(graph: Graph, plain: bool = False) -> str:
    """The graph in the DOT language; `plain` leaves out what makes no difference to where things are."""
    lines = [f"digraph {graph.name} {{", f"  rankdir={graph.direction}; {SPACE[graph.direction]}"]
    if not plain:
        lines.append('  bgcolor=white; fontname="Helvetica"; fontsize=11;')
        lines.append('  node [shape=box style="rounded,filled" fillcolor=white color="#555555"];')
        lines.append('  node [fontname="Helvetica" fontsize=11];')
        lines.append('  edge [color="#555555" fontname="Helvetica" fontsize=9 arrowsize=0.7];')
    columns = [[n.id for n in graph.nodes if n.column == k] for k in range(len(graph.columns))]
    if columns:  # their tops on one line; what goes between them has no say in where they are
        lines.append("  splines=ortho;")
        lines += ["  { rank=same; " + "; ".join(ids) + " }" for ids in columns]
        lines.append("  " + " -> ".join(ids[0] for ids in columns if ids) + " [style=invis weight=100];")
    of = {n.id: n.column for n in graph.nodes}
    for n in graph.nodes:
        wide, high = n.size
        size = f"width={wide / 72:.3f} height={high / 72:.3f} fixedsize=true"
        lines.append(f"  {n.id} [shape=box {size}]" if plain else f"  {n.id} [label={_label(n)} {size}{_looks(n)}]")
    for e in graph.edges:
        given = [f"dir={e.way}"] if e.way != "forward" else []
        given += ["constraint=false"] if not e.ranks else []
        given += ["weight=0"] if columns and e.ranks and of[e.tail] != of[e.head] else []
        given += [f"{'xlabel' if columns else 'label'}={quoted(e.label)}"] if e.label else []
        given += [] if plain else [EDGE_LOOKS[look] for look in e.looks if look in EDGE_LOOKS]
        lines.append(f"  {e.tail} -> {e.head}" + (f" [{' '.join(given)}]" if given else ""))
    return "\n".join([*lines, "}", ""])


def _label(n: Node) -> str:
    tick = "✓ " if "done" in n.looks else "▸ " if "here" in n.looks else ""
    return quoted(tick + n.label) if not n.sub else quoted(f"{tick}{n.label}\n{n.sub}")


def _looks(n: Node) -> str:
    said = " ".join(LOOKS[look] for look in n.looks if look in LOOKS)
    return f" {said} tooltip={quoted(n.tip)}" if n.tip else f" {said}" if said else ""


def quoted(text: str) -> str:
    """A text as a DOT string: never an escape, an attribute or HTML."""
    safe = clean_text(text).replace("\\", "\\\\").replace('"', '\\"').replace("\r", "")
    return '"' + "".join(c if c == "\n" or c.isprintable() else " " for c in safe).replace("\n", "\\n") + '"'
