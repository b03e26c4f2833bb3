"""The panel: a Stepper as one widget. State goes out as a small `view` per stop, wishes come back as messages.

Every message is handled under the Stepper's lock, on whatever thread it arrives. An error in a handler is kept in
`errors` and shown in the panel: Jupyter would show it nowhere.

    out   view (each command) · stops, rows (what is new) · page, assembly, fates, row, text, problem (when asked)
    in    the commands · until, rewind, break · page, assemble, fates, row, text, check, edit, unedit · sync
"""

from __future__ import annotations

import traceback
from collections.abc import Callable
from typing import Any

import anywidget
import traitlets

from adknb.engine.errors import AdknbError, BadData
from adknb.lens.request_changes import Change
from adknb.stepper.edits import Problem, check_request, request_text
from adknb.widgets import present
from adknb.widgets.book import book
from adknb.widgets.event_rows import EventRows
from adknb.widgets.panel import answers, assets
from adknb.widgets.panel.wishes import key_of, wish_of
from adknb.widgets.printed import caught_prints
from adknb.widgets.timeline import Timeline
from adknb.widgets.wire import clean, cut

TABS = ("Request", "Contents", "Events", "State")

Json = dict[str, Any]


class Panel(anywidget.AnyWidget):
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

    def __init__(self, stepper: Any) -> None:
        self.stepper = stepper
        self.errors: list[str] = []
        self.heard = False
        """Whether a view has ever asked for something: a front end has drawn it."""
        self._problem = self._printed = ""
        self._timeline, self._events = Timeline(), EventRows()
        self._sent = 0
        self._changes: list[Change] | None = None
        self._record: Any = None
        self._invocation: Any = None
        self._before_edit: tuple[Any, str] | None = None
        with stepper.lock:
            self._take_in()
            marks, past = hasattr(stepper, "break_at"), hasattr(stepper, "rewind")
            offered = book(present.commands_of(stepper), marks, past, len(TABS))
            self._keys = [stage["key"] for stage in offered["stages"]]
            super().__init__(book=clean(offered), view=self._view(), **self._whole())
            stepper.subscribe(self.refresh)
        self.on_msg(self._on_message)

    def __repr__(self) -> str:
        """Say what it shows: never an address, so that a notebook's output stays the same."""
        with self.stepper.lock:
            record = present.record_of(self.stepper)
            return f"Panel({'run over' if record is None else f'stop {record.number}: {present.words(record)}'})"

    def get_state(self, key: Any = None, drop_defaults: bool = False) -> Json:
        """The state as ipywidgets wants it, with all stops and rows: messages have only carried what was new."""
        with self.stepper.lock:
            self._trait_values.update(self._whole())
            return super().get_state(key, drop_defaults)

    def refresh(self) -> None:
        """Tell all views what is new. The Stepper calls it after each command, on that command's thread."""
        with self.stepper.lock:
            kept, changed, events_kept = self._take_in()
            new = [row.to_json() for row in self._timeline.rows[kept:]]
            if new or changed:
                patches = [[i, self._timeline.rows[i].to_json()] for i in sorted(changed)]
                self._tell("stops", at=kept, rows=new, set=patches)
            if events_kept < len(self._events.rows):
                self._tell("rows", at=events_kept, rows=self._events.rows[events_kept:])
            self.view = self._view()

    # ----------------------------------------------------------------------------------------------------- what to show

    def _take_in(self) -> tuple[int, set[int], int]:
        """Bring the rows up to the Stepper; gives how many stops stayed, which changed, how many events stayed."""
        stepper, before = self.stepper, self._record
        kept, changed = self._timeline.update(stepper.stops, stepper.events)
        events_kept = self._events.update(stepper.events, self._timeline.turn_of_event)
        self._changes = None
        self._record = record = present.record_of(stepper)
        ctx = stepper.here.holds.get("ctx") if stepper.here is not None else None
        same_step = before is not None and record is not None and _step(before) == _step(record)
        self._invocation = getattr(ctx, "invocation", ctx) or (self._invocation if same_step else None)
        if record is not before:
            self._before_edit = None
        return kept, changed, events_kept

    def changes(self) -> list[Change]:
        """What changed in the request since the last pause."""
        if self._changes is None:
            self._changes = present.changes_of(self.stepper)
        return self._changes

    def _whole(self) -> Json:
        stops = [row.to_json() for row in self._timeline.rows]
        return {"stops": stops, "rows": list(self._events.rows), "base": self._sent}

    def _view(self) -> Json:
        stepper = self.stepper
        stages, here = present.stages(stepper, self._timeline)
        viewer = answers.viewer_here(stepper, self._invocation)
        marks = getattr(stepper, "breakpoints", ())
        keys = dict.fromkeys([*self._keys, *(row.key for row in self._timeline.rows if row.key)]) if marks else {}
        view = {
            "title": getattr(stepper.play, "name", "") or "run",
            **present.notes(stepper, self._problem, self._printed),
            "at": present.at(stepper, self._timeline),
            "stages": stages,
            "here": here,
            "marks": [[key_of(wish, keys), wish.words] for wish in marks],
            "nstops": len(self._timeline.rows),
            "nrows": len(self._events.rows),
            "sent": self._sent,
            "agents": present.agents_of(stepper, viewer),
            "over": stepper.here is None,
            "edited": self._before_edit is not None,
            "locked": present.why_not_editable(stepper),
        }
        return dict(clean(view))

    # --------------------------------------------------------------------------------------------------------- messages

    def _on_message(self, _widget: Any, message: Any, _buffers: Any) -> None:
        self.heard = True
        with self.stepper.lock:
            try:
                kind = message.get("type") if isinstance(message, dict) else None
                if kind in present.commands_of(self.stepper):
                    return self._run(getattr(self.stepper, str(kind)))
                handlers: dict[Any, Callable[[Json], Any]] = {
                    "until": lambda m: self._run(lambda: self.stepper.until(wish_of(m["at"]))),
                    "rewind": lambda m: self._run(lambda: self.stepper.rewind(int(m["stop"]))),
                    "break": self._break,
                    "page": self._page,
                    "assemble": self._assemble,
                    "fates": lambda m: self._tell("fates", **answers.fates(self.stepper, self._invocation)),
                    "row": lambda m: self._tell("row", i=m["i"], json=self.stepper.events[m["i"]].to_json()),
                    "text": self._text,
                    "check": lambda m: self._problem_of(m["text"]),
                    "edit": self._edit,
                    "unedit": self._unedit,
                    "sync": self._sync,
                }
                if kind not in handlers:
                    raise BadData("message", f"the panel knows no message {kind!r}")
                handlers[kind](message)
            except Exception as error:
                self._failed(error)

    def _run(self, command: Callable[[], Any]) -> None:
        """Run a command of the Stepper; what it prints is kept and shown."""
        self._problem = self._printed = ""
        with caught_prints() as said:
            try:
                command()
            finally:
                self._printed = said.getvalue()
        self.view = self._view()  # the Stepper tells only when it has moved

    def _break(self, message: Json) -> None:
        self._problem = ""
        if "words" in message:
            self.stepper.unbreak(next(b for b in self.stepper.breakpoints if b.words == message["words"]))
        else:
            key = message["at"]
            self._keys += [] if key in self._keys else [key]
            (self.stepper.break_at if message["on"] else self.stepper.unbreak)(wish_of(key))

    def _page(self, message: Json) -> None:
        name, against = message["name"], message.get("against", "stop")
        changes = self.changes() if against == "stop" else ()
        self._tell("page", name=name, **answers.page(self.stepper, name, against, changes))

    def _assemble(self, message: Json) -> None:
        asked, opened = message.get("viewer"), message.get("open") or ()
        shown = answers.assembly(self.stepper, self._events.rows, self._invocation, asked, opened)
        self._tell("assembly", ask=message.get("ask"), **shown)

    def _text(self, message: Json) -> None:
        if self.stepper.request is None:
            raise BadData("request", "no request is being built at this stop")
        text = request_text(self.stepper.request)
        self._tell("text", why=message.get("why"), text=text, stop=self._record and self._record.number)

    def _problem_of(self, text: str) -> bool:
        """Say what is wrong with a draft, or that nothing is. Gives whether something is."""
        problems = check_request(text, self.stepper.request)
        first = problems[0] if problems else Problem("", 0, "")
        where = first.path or ("JSON" if problems else "")
        self._tell("problem", line=first.line, where=where, message=first.message, more=max(0, len(problems) - 1))
        return bool(problems)

    def _edit(self, message: Json) -> None:
        """Apply a draft, or say why not: the request is then as it was."""
        stepper, request = self.stepper, self.stepper.request
        refused = present.why_not_editable(stepper)
        if not refused and message.get("stop") != self._record.number:
            refused = "The run has moved on since this draft was begun: keep what you need of it, leave and edit again."
        if refused:
            return self._tell("problem", line=1, where="request", message=refused, more=0)
        if self._problem_of(message["text"]):
            return None
        before = self._before_edit or (request, request_text(request))
        self._problem = ""
        stepper.edit("request", message["text"])
        self._before_edit = before
        self._tell("applied")
        self.view = self._view()
        return None

    def _unedit(self, message: Json) -> None:
        if self._before_edit is not None and self._before_edit[0] is self.stepper.request:
            self.stepper.edit("request", self._before_edit[1])
        self._before_edit = None
        self.view = self._view()

    # -------------------------------------------------------------------------------------------------------- transport

    def _sync(self, message: Json) -> None:
        """A view lacks messages that were sent before its module was loaded: send what it lacks."""
        have = message.get("rows")
        have = have if isinstance(have, int) and 0 <= have <= len(self._events.rows) else 0
        self._tell("stops", at=0, rows=[row.to_json() for row in self._timeline.rows], set=[])
        self._tell("rows", at=have, rows=self._events.rows[have:])
        self.view = self._view()

    def _tell(self, kind: str, **data: Any) -> None:
        if kind in ("stops", "rows"):
            self._sent += 1
            data["sent"] = self._sent
        self.send({"type": kind, **clean(data)})

    def _failed(self, error: Exception) -> None:
        """Keep an error and show it; for one that is not of adknb's own the type is told too."""
        self.errors.append("".join(traceback.format_exception(error)))
        told = str(error) if isinstance(error, AdknbError) else f"{type(error).__name__}: {error}"
        self._problem = cut(told, 2_000)
        self.view = self._view()


def _step(record: Any) -> tuple[Any, ...]:
    return (record.turn, record.agent, record.step)
