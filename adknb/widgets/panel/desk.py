"""The kernel's side of a panel: wishes come in as messages, answers and a small `view` go out. Nothing here draws.

    out   view (each command) · stops, rows (what is new) · page, look, assembly, matrix, meeting, where, fates, row,
          text, form, problem, applied (when asked) · busy, idle (a command takes long) · pong
    in    the commands · until, rewind, choose, break · page, look, assemble, matrix, meet, where, fates, row, text,
          form, check, edit, undo, unedit · sync · stop, ping

An answer carries the `re` of its question, so that a browser can keep it for the day the kernel is gone. An error in a
handler is kept in `errors` and shown: Jupyter would show it nowhere.
"""

from __future__ import annotations

import contextlib
import traceback
from collections.abc import Callable
from typing import Any

from adknb.engine.errors import AdknbError, BadData
from adknb.lens.request_changes import Change
from adknb.stepper import Wish
from adknb.widgets import findings, present
from adknb.widgets.book import book
from adknb.widgets.changing import Changes, Unreadable, offered
from adknb.widgets.event_rows import EventRows
from adknb.widgets.forms import Fault
from adknb.widgets.panel import answers, requests
from adknb.widgets.panel.wishes import key_of, wish_of
from adknb.widgets.past import Past
from adknb.widgets.printed import caught_prints
from adknb.widgets.timeline import Timeline
from adknb.widgets.wire import clean, clean_text, cut

TABS = ("Request", "Contents", "Branches", "Events", "State", "Where", "Source", "Findings")

Json = dict[str, Any]

STOPPED = "stopped by the reader; the run stands at the stop it had come to"


class Desk:
    """Answers the messages of one Stepper's panel. A subclass says how things travel: `send`, and `view` as a trait.

    `errors` are the tracebacks of handlers that failed, newest last.
    """

    view: Any

    def __init__(self, stepper: Any) -> None:
        self.stepper = stepper
        self.errors: list[str] = []
        self._problem = self._printed = ""
        self._timeline, self._events, self._past, self._edits = Timeline(), EventRows(), Past(), Changes()
        self._kept = answers.Kept()
        self._sent = 0
        self._re: Any = None
        """The mark of the question that is being answered."""
        self._changes: list[Change] | None = None
        self._record: Any = None
        self._invocation: Any = None
        self._told = self._told_busy = False
        self._halts = False
        self._halt = Wish(self._halting, STOPPED, always=True)

    def send(self, content: Json) -> None:
        """Tell all views something."""
        raise NotImplementedError

    def start(self) -> Json:
        """Take in what there is; gives the book. To be called once, under the Stepper's lock."""
        self._take_in()
        marks, past = hasattr(self.stepper, "break_at"), hasattr(self.stepper, "rewind")
        extra = answers.extra_tabs(self.stepper)
        offers = book(present.commands_of(self.stepper), marks, past, len(TABS) + len(extra)) | {"extra": extra}
        self._keys = [stage["key"] for stage in offers["stages"]]
        return dict(clean(offers))

    def refresh(self) -> None:
        """Tell all views what is new. The Stepper calls it after each command, on that command's thread."""
        with self.stepper.lock:
            self._told = True
            self._drop_halt()
            kept, changed, events_kept = self._take_in()
            new = [row.to_json() for row in self._timeline.rows[kept:]]
            if new or changed:
                patches = [[i, self._timeline.rows[i].to_json()] for i in sorted(changed)]
                self._tell("stops", at=kept, rows=new, set=patches)
            if events_kept < len(self._events.rows):
                self._tell("rows", at=events_kept, rows=self._events.rows[events_kept:])
            self.view = self.look()

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
            self._edits.forget()
        return kept, changed, events_kept

    def changes(self, now: Json | None) -> list[Change]:
        """What changed since the last pause; `now` is the request as it stands."""
        if self._changes is None:
            self._changes = present.changes_of(self.stepper, now)
        return self._changes

    def whole(self) -> Json:
        """All stops and rows, and how many messages had been sent by now."""
        stops = [row.to_json() for row in self._timeline.rows]
        return {"stops": stops, "rows": list(self._events.rows), "base": self._sent}

    def look(self) -> Json:
        """The `view`: all that is small."""
        stepper = self.stepper
        stages, here = present.stages(stepper, self._timeline)
        viewer = answers.viewer_here(stepper, self._invocation)
        marks = [wish for wish in getattr(stepper, "breakpoints", ()) if wish is not self._halt]
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
            "runs": len(stepper.stops),
            "sent": self._sent,
            "agents": present.agents_of(stepper, viewer),
            "lanes": list(getattr(stepper, "lanes", ())),
            "over": stepper.here is None,
            "edits": [list(pair) for pair in offered(stepper)],
            "edited": bool(self._edits),
            "locked": present.why_not_editable(stepper),
            "alerts": findings.alerts(stepper),
        }
        return dict(clean(view))

    # --------------------------------------------------------------------------------------------------------- messages

    def handlers(self) -> dict[str, Callable[[Json], Any]]:
        """What is done about each message, besides the commands."""
        stepper = self.stepper
        return {
            "until": lambda m: self._run(lambda: stepper.until(wish_of(m["at"]))),
            "rewind": lambda m: self._run(lambda: stepper.rewind(int(m["stop"]))),
            "choose": lambda m: self._run(lambda: stepper.choose(m["lane"])),
            "break": self._break,
            "page": self._page,
            "look": lambda m: self._tell("look", **requests.look(stepper, self._past, self._timeline, int(m["stop"]))),
            "assemble": self._assemble,
            "matrix": self._matrix,
            "meet": lambda m: self._tell("meeting", **self._meet(m)),
            "where": lambda m: self._tell("where", **answers.where(stepper)),
            "fates": lambda m: self._tell("fates", **answers.fates(stepper, self._invocation, self._kept)),
            "row": lambda m: self._tell("row", i=m["i"], json=stepper.events[m["i"]].to_json()),
            "text": self._text,
            "form": self._form,
            "check": lambda m: self._told_problem(self._edits.faults(stepper, m.get("what", "request"), m)),
            "edit": self._edit,
            "undo": lambda m: self._undo(all_of_them=False),
            "unedit": lambda m: self._undo(all_of_them=True),
            "sync": self._sync,
        }

    def serve(self, message: Any) -> None:
        """Answer a message, under the Stepper's lock."""
        with self.stepper.lock:
            try:
                kind = message.get("type") if isinstance(message, dict) else None
                self._re = message.get("re") if isinstance(message, dict) else None
                if kind in present.commands_of(self.stepper):
                    return self._run(getattr(self.stepper, str(kind)))
                handler = self.handlers().get(str(kind))
                if handler is None:
                    raise BadData("message", f"the panel knows no message {kind!r}")
                handler(message)
            except Exception as error:
                self._failed(error)
            except BaseException as error:  # the command is broken off; the Stepper tells where it stands, if it moved
                if not self.stepper.notice.startswith("interrupted"):
                    self.stepper.notice = f"broken off ({type(error).__name__}); the run stands where it stood"
                self.view = self.look()
            finally:
                self._re = None
                if self._told_busy:
                    self._told_busy = False
                    self.send({"type": "idle"})
        return None

    def _run(self, command: Callable[[], Any]) -> None:
        """Run a command of the Stepper; what it prints is kept and shown."""
        self._problem = self._printed = ""
        self._halts = self._told = False
        with caught_prints() as said:
            try:
                command()
            finally:
                self._printed = said.getvalue()
                self._drop_halt()
                if self._halts and self.stepper.notice == f"breakpoint {STOPPED}":
                    self.stepper.notice = STOPPED
        if not self._told or self._printed or self._halts:  # the Stepper tells only when it has moved
            self.view = self.look()

    def _break(self, message: Json) -> None:
        self._problem = ""
        if "words" in message:
            self.stepper.unbreak(next(b for b in self.stepper.breakpoints if b.words == message["words"]))
        else:
            key = message["at"]
            self._keys += [] if key in self._keys else [key]
            (self.stepper.break_at if message["on"] else self.stepper.unbreak)(wish_of(key))

    def _page(self, message: Json) -> None:
        name = message["name"]
        if name == "Request":
            shown = requests.page(self.stepper, self._past, message, self.changes)
        else:
            shown = answers.page(self.stepper, name, message, self._invocation, self._kept)
        self._tell("page", name=name, **shown)

    def _assemble(self, message: Json) -> None:
        asked, opened, have = message.get("viewer"), message.get("open") or (), message.get("have")
        if message.get("anew"):
            self._kept.forget()
        here = (self.stepper, self._events.rows, self._invocation)
        self._tell("assembly", ask=message.get("ask"), **answers.assembly(*here, asked, opened, self._kept, have))

    def _matrix(self, message: Json) -> None:
        if message.get("anew"):
            self._kept.forget()
        here, have = (self.stepper, self._invocation, self._kept), message.get("have")
        self._tell("matrix", **answers.matrix(*here, self.view.get("agents") or (), have))

    def _meet(self, message: Json) -> Json:
        return answers.meet(self.stepper, self._invocation, self._kept, str(message["agent"]), int(message["event"]))

    # ---------------------------------------------------------------------------------------------------------- editing

    def _text(self, message: Json) -> None:
        what, way = message.get("what", "request"), message.get("as", "json")
        if message.get("why") == "edit":
            carries = {"text", "fields"} & message.keys()  # a draft that began as a form
            try:
                text = self._edits.text(self.stepper, what, message if carries else None)
            except Unreadable as wrong:
                self._told_problem(wrong.faults)
                return
        else:
            text = requests.copied(self.stepper, self._past, message.get("stop"), way)
        self._tell("text", why=message.get("why"), what=what, text=text, stop=self._number())

    def _form(self, message: Json) -> None:
        """The fields of a form; of a draft in JSON, if one comes along, which is then what the fields change."""
        what, base = message.get("what", "request"), message.get("text")
        try:
            groups = self._edits.form(self.stepper, what, base)
        except Unreadable as wrong:
            self._told_problem(wrong.faults)
            return
        self._tell("form", what=what, groups=groups, base=base, stop=self._number())

    def _number(self) -> int | None:
        return None if self._record is None else int(self._record.number)

    def _told_problem(self, faults: list[Fault]) -> bool:
        """Say what is wrong with a draft, or that nothing is. Gives whether something is."""
        told = [[f.at, f.line, requests.where(f.at), f.message] for f in faults[:50]]
        _, line, where, message = told[0] if told else ("", 0, "", "")
        where = where or ("JSON" if told else "")
        self._tell("problem", line=line, where=where, message=message, more=max(0, len(faults) - 1), faults=told)
        return bool(faults)

    def _edit(self, message: Json) -> None:
        """Apply a draft, or say why not: what it would change is then as it was."""
        what = message.get("what", "request")
        refused = present.why_not_editable(self.stepper) if what == "request" else ""
        if not refused and message.get("stop") != self._number():
            refused = "The run has moved on since this draft was begun: keep what you need of it, leave and edit again."
        if refused:
            self._told_problem([Fault(f"/{what}", refused, 1)])
            return
        self._problem = ""
        if not self._told_problem(self._edits.apply(self.stepper, what, message)):
            self._tell("applied", what=what)
            self._changed()

    def _undo(self, all_of_them: bool) -> None:
        while self._edits.undo(self.stepper) and all_of_them:
            pass
        self._changed()

    def _changed(self) -> None:
        """What the run holds is another than it was; it stands where it stood."""
        self._changes = None
        self.view = self.look()

    # -------------------------------------------------------------------------------------------------------- stopping

    def halt(self) -> None:
        """Let a command that is under way end at the next stop. Called on any thread, without the lock."""
        if self.stepper.lock.acquire(blocking=False):  # nothing is under way
            self.stepper.lock.release()
            return
        if self._halt not in self.stepper.breakpoints:
            self.stepper.breakpoints.append(self._halt)

    def _halting(self, stop: Any, turn: int) -> bool:
        self._halts = True
        return True

    def _drop_halt(self) -> None:
        if self._halt in self.stepper.breakpoints:
            self.stepper.breakpoints.remove(self._halt)

    def report(self, message: Any, seconds: float) -> None:
        """Say that a message takes long, and how far the run has come. Called without the lock."""
        kind = message.get("type") if isinstance(message, dict) else ""
        stops = self.stepper.stops
        at = present.words(stops[-1]) if stops else ""
        self._told_busy = True
        self.send({"type": "busy", "what": kind, "seconds": round(seconds, 1), "stops": len(stops), "at": at})

    # -------------------------------------------------------------------------------------------------------- transport

    def _sync(self, message: Json) -> None:
        """A view lacks messages that were sent before its module was loaded: send what it lacks."""
        have = message.get("rows")
        have = have if isinstance(have, int) and 0 <= have <= len(self._events.rows) else 0
        self._tell("stops", at=0, rows=[row.to_json() for row in self._timeline.rows], set=[])
        self._tell("rows", at=have, rows=self._events.rows[have:])
        self.view = self.look()

    def _tell(self, kind: str, **data: Any) -> None:
        if kind in ("stops", "rows"):
            self._sent += 1
            data["sent"] = self._sent
        elif self._re is not None:
            data["re"] = self._re
        self.send({"type": kind, **clean(data)})

    def _failed(self, error: Exception) -> None:
        """Keep an error and show it; for one that is not of adknb's own the type is told too."""
        self.errors.append("".join(traceback.format_exception(error)))
        told = str(error) if isinstance(error, AdknbError) else f"{type(error).__name__}: {error}"
        self._problem = clean_text(cut(told, 2_000))
        with contextlib.suppress(Exception):  # what broke the handler may break the view, too
            self.view = self.look()


def _step(record: Any) -> tuple[Any, ...]:
    return (record.turn, record.agent, record.step)
