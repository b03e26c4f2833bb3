"""The panel's JavaScript module and its style sheet: parts, one to a view, joined here so that no bundler is needed."""

from __future__ import annotations

import re
from pathlib import Path

HERE = Path(__file__).parent

JS = (
    *("elements", "store", "pieces", "toolbar", "flow", "look", "timeline", "page", "editor", "request"),
    *("contents", "branches", "events", "state", "where", "source", "findings", "live", "screen", "panel"),
)
"""The files of `js/` in the order they are joined. They share one scope; `panel` is last and exports `render`."""

CSS = (
    *("panel", "timeline", "request", "contents", "branches", "events", "state", "where", "source", "findings"),
    *("live", "screen", "widths"),
)
"""The files of `css/`; later ones may overrule earlier ones."""


def module() -> str:
    """The text of the ECMAScript module that draws the panel, without indentation and lines that only comment.

    It travels with every panel and stands in every notebook that is saved with one. No text of it goes over lines.
    """
    text = "\n".join((HERE / "js" / f"{name}.js").read_text(encoding="utf-8") for name in JS)
    return re.sub(r"(?m)^[ \t]*(//.*\n)?", "", text)


def styles() -> str:
    """The text of the style sheet."""
    return "\n".join((HERE / "css" / f"{name}.css").read_text(encoding="utf-8") for name in CSS)
