"""A graph as a picture that needs nothing else: `graphviz.Source`, and SVG made here where no program draws it."""

from __future__ import annotations

import subprocess
from functools import cache
from html import escape
from typing import TYPE_CHECKING, Any

from adknb.engine.errors import AdknbError
from adknb.lens.words import one_line
from adknb.widgets.dot import Graph, Node, dot_of
from adknb.widgets.layout import SECONDS, Point, own_layout, program
from adknb.widgets.wire import clean_text

if TYPE_CHECKING:
    import graphviz


def drawing(graph: Graph) -> graphviz.Source:
    """The graph as a `graphviz.Source` that also shows itself where there is no `dot`.

    Raises:
        AdknbError: the package graphviz is not installed.
    """
    return _source_class()(dot_of(graph), graph)


@cache
def _source_class() -> Any:
    try:
        import graphviz
    except ImportError:
        raise AdknbError("a drawing needs graphviz, which comes with the extra: pip install 'adknb[lab]'") from None

    class Drawing(graphviz.Source):
        """DOT that is drawn by `dot`, else by graphviz-pure, else by ourselves."""

        def __init__(self, source: str, graph: Graph) -> None:
            super().__init__(source)
            self.graph = graph

        def _repr_mimebundle_(self, include: Any = None, exclude: Any = None, **_: Any) -> dict[str, str]:
            return {"image/svg+xml": svg_by_program(self.source) or svg_of(self.graph)}

    return Drawing


def svg_by_program(dot: str) -> str:
    """DOT text drawn by the program there is; empty where there is none, or where it cannot."""
    command = program()
    if not command:
        return ""
    try:
        done = subprocess.run([*command, "-Tsvg"], input=dot.encode(), capture_output=True, timeout=SECONDS, check=True)
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.decode("utf-8", "replace")


def svg_of(graph: Graph) -> str:
    """The graph as SVG, laid out and drawn without any program: black on white, the same bytes every time."""
    at = own_layout(graph)
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{at.width:.0f}" height="{at.height:.0f}"'
        f' viewBox="0 0 {at.width:.0f} {at.height:.0f}" font-family="Helvetica,Arial,sans-serif" font-size="11">',
        '<rect width="100%" height="100%" fill="white"/>',
    ]
    for e, curve, label in zip(graph.edges, at.edges, at.labels, strict=True):
        went = "went" in e.looks
        dashed = ' stroke-dasharray="4 3"' if {"peer", "loop"} & set(e.looks) else ""
        ink = "#8f4b00" if went else "#555555"
        line = "M" + _points(curve[:1]) + "C" + _points(curve[1:])
        out.append(f'<path d="{line}" fill="none" stroke="{ink}" stroke-width="{2 if went else 1}"{dashed}/>')
        for tip in heads(curve, e.way):
            out.append(f'<path d="M{_points(tip)}Z" fill="{ink}"/>')
        if e.label and label is not None:
            out.append(f'<text x="{label[0]:.1f}" y="{label[1]:.1f}" fill="{ink}">{_xml(e.label)}</text>')
    for n in graph.nodes:
        out.append(_box(n, at.nodes[n.id]))
    return "\n".join([*out, "</svg>", ""])


def heads(curve: tuple[Point, ...], way: str) -> list[tuple[Point, ...]]:
    """The triangles at the ends of a curve, which stops ten points before the box."""
    ends: list[tuple[Point, ...]] = {"forward": [curve], "back": [curve[::-1]], "both": [curve, curve[::-1]]}.get(
        way, []
    )
    out: list[tuple[Point, ...]] = []
    for points in ends:
        bx, by = points[-1]
        ax, ay = next((p for p in points[::-1] if abs(p[0] - bx) + abs(p[1] - by) > 0.5), (bx, by - 1))
        long = ((bx - ax) ** 2 + (by - ay) ** 2) ** 0.5
        dx, dy = (bx - ax) / long, (by - ay) / long
        out.append(((bx + 9 * dx, by + 9 * dy), (bx - 3.5 * dy, by + 3.5 * dx), (bx + 3.5 * dy, by - 3.5 * dx)))
    return out


def _box(n: Node, at: Point) -> str:
    wide, high = n.size
    here, dashed = "here" in n.looks, {"noop", "silent"} & set(n.looks)
    fill = "#1766b8" if here else "#dfe3e8" if "done" in n.looks else "white"
    ink = "white" if here else "black"
    x, y = at[0] - wide / 2, at[1] - high / 2
    tick = "✓ " if "done" in n.looks else "▸ " if here else ""
    first = at[1] + (-3 if n.sub else 4)
    texts = [(tick + n.label, first), *([(n.sub, at[1] + 12)] if n.sub else [])]
    drawn = "".join(
        f'<text x="{at[0]:.1f}" y="{ty:.1f}" text-anchor="middle" fill="{ink}">{_xml(text)}</text>'
        for text, ty in texts
    )
    edge = ' stroke-dasharray="4 3"' if dashed else ""
    size = f'width="{wide:.1f}" height="{high:.1f}"'
    box = f'<rect x="{x:.1f}" y="{y:.1f}" {size} rx="4" fill="{fill}" stroke="#555555"{edge}/>'
    return f"<g><title>{_xml(n.tip)}</title>{box}{drawn}</g>"


def _xml(text: str) -> str:
    """A text as XML has it: no character that XML forbids, none that begins an element."""
    return escape(one_line(clean_text(text)))


def _points(points: tuple[Point, ...]) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
