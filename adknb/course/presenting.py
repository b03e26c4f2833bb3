"""Present mode: the notebook in large type, for a room. The panel then has room for one view, and shows one."""

from __future__ import annotations

from adknb.engine.errors import BadData

SMALLEST, LARGEST = 1.0, 3.0


class Presenting:
    """How large a notebook is shown; as long as its cell's output stands there."""

    def __init__(self, scale: float) -> None:
        self.scale = scale

    def __repr__(self) -> str:
        return "the usual size" if self.scale == 1 else f"{self.scale:g} times the usual size; present(1) goes back"

    def _repr_html_(self) -> str:
        zoom = f"{self.scale:g}"
        tall = "740px" if self.scale == 1 else f"calc(78vh / {zoom})"
        size = f"font-size: calc(var(--jp-content-font-size1, 14px) * {zoom}) !important"
        code = f"font-size: calc(var(--jp-code-font-size, 13px) * {zoom}) !important"
        return (
            f"<style>.adk, .adkcard {{ zoom: {zoom}; max-width: none !important }} .adk {{ height: {tall} !important }}"
            f" .jp-Notebook :is(.jp-RenderedHTMLCommon, .jp-RenderedHTMLCommon table) {{ {size} }}"
            f" .jp-Notebook :is(.cm-editor, .jp-RenderedText pre) {{ {code} }}</style>{self!r}"
        )


def present(scale: float = 1.5) -> Presenting:
    """Show this notebook in large type, `scale` times the usual size; `present(1)` goes back.

    From about 1.4 on the panel of a window as wide as a screen shows one view at a time: the timeline is a tab then.

    Raises:
        BadData: not a number from 1 to 3.
    """
    if isinstance(scale, bool) or not isinstance(scale, (int, float)) or not SMALLEST <= scale <= LARGEST:
        raise BadData("present", f"expected a number from {SMALLEST:g} to {LARGEST:g}, not {scale!r}")
    return Presenting(scale)
