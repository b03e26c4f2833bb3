"""The panel: a Stepper as one widget. State goes out as a small `view` per stop, wishes come back as messages.

What the messages are and how they are answered: `desk.py`. Here is how they travel: each is served in its turn, under
the Stepper's lock, on a thread of the panel's own (`line.py`), whatever thread it comes in on; *stop* and *ping* pass.
"""

from __future__ import annotations

from typing import Any

import anywidget
import traitlets

from adknb.widgets import present
from adknb.widgets.panel import assets
from adknb.widgets.panel.desk import TABS, Desk
from adknb.widgets.panel.line import Line
from adknb.widgets.wire import clean

__all__ = ["TABS", "Panel"]

Json = dict[str, Any]


class Panel(Desk, anywidget.AnyWidget):
    """The widget of one Stepper. Its views share one state; a new view, or a reload, gets everything.

    `errors` are the tracebacks of handlers that failed, newest last.
    """

    _esm = assets.module()
    _css = assets.styles()
    book = traitlets.Dict().tag(sync=True)
    view = traitlets.Dict().tag(sync=True)
    stops: Any = traitlets.List().tag(sync=True)
    rows: Any = traitlets.List().tag(sync=True)
    base = traitlets.Int().tag(sync=True)
    """How many messages with stops or rows had been sent when `stops` and `rows` were written."""
    kept = traitlets.Dict().tag(sync=True)
    """Answers that a browser keeps, by question: so a saved notebook can be browsed when its kernel is gone."""

    def __init__(self, stepper: Any) -> None:
        Desk.__init__(self, stepper)
        self.heard = False
        """Whether a view has ever asked for something: a front end has drawn it."""
        self._line = Line(self.serve, self.report)
        with stepper.lock:
            offers = self.start()
            anywidget.AnyWidget.__init__(self, book=offers, view=self.look(), **self.whole())
            stepper.subscribe(self.refresh)
        self.on_msg(self._on_message)

    def __repr__(self) -> str:
        """Say what it shows: never an address, so that a notebook's output stays the same."""
        with self.stepper.lock:
            record = present.record_of(self.stepper)
            return f"Panel({'run over' if record is None else f'stop {record.number}: {present.words(record)}'})"

    def send(self, content: Json, buffers: Any = None) -> None:
        """Tell all views something."""
        anywidget.AnyWidget.send(self, content, buffers)

    def get_state(self, key: Any = None, drop_defaults: bool = False) -> Json:
        """The state as ipywidgets wants it, with all stops and rows: messages have only carried what was new."""
        wanted = {key} if isinstance(key, str) else set(key) if key is not None else {"stops"}
        with self.stepper.lock:
            if wanted & {"stops", "rows", "base"}:
                self._trait_values.update(self.whole())
            return dict(anywidget.AnyWidget.get_state(self, key, drop_defaults))

    def to_html(self, path: Any) -> None:
        """Write what the panel shows as one file that needs no kernel and no network; see `widgets.export`."""
        from adknb.widgets.export import to_html

        to_html(self.stepper, path)

    def _on_message(self, _widget: Any, message: Any, _buffers: Any) -> None:
        self.heard = True
        kind = message.get("type") if isinstance(message, dict) else None
        if kind == "ping":
            self.send({"type": "pong", "re": clean(message.get("re"))})
        elif kind == "stop" and message.get("now"):
            self._line.interrupt()
        elif kind == "stop":
            self.halt()
        else:
            self._line.take(message)
