"""The panel of a Recording: the views of a run's panel over a recorded session, at whichever event is chosen."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from adknb.engine.errors import BadData
from adknb.widgets import recording_pages
from adknb.widgets.book import book
from adknb.widgets.panel import answers
from adknb.widgets.panel.widget import Panel
from adknb.widgets.recording_tape import Tape
from adknb.widgets.wire import clean, clean_text, cut

if TYPE_CHECKING:
    from adknb.files.recording import Recording

Json = dict[str, Any]

TABS = ("Request", "Contents", "Branches", "Events", "State", "Findings")
"""Views that a recording has: nobody recorded where in the Flow it was, or which code ran."""

COMMANDS = [
    ["step", "Step", "s", "To the next event"],
    ["next", "Next answer", "n", "To the next event that a model wrote"],
    ["back", "Back", "b", "To the event before"],
]
"""Ways to another event: name, label, key, what it does. A click on the timeline goes to any."""

KEYS_OF_A_RUN = (".", "e", "u", "Ctrl+Enter", "Shift+Enter")
"""Keys that change a run or a draft."""

MANY = 1_000
"""In longer requests the invariants are checked when the findings are looked at."""

ROW_OF_EVENT_KIND, ROW_OF_EVENT_TEXT = 6, 7
"""Places in a row of the event table."""


class RecordingPanel(Panel):
    """The widget of one Recording. It stands at the last event that a model wrote, until a reader goes to another."""

    stepper: Tape

    def __init__(self, recording: Recording) -> None:
        Panel.__init__(self, Tape(recording))

    def __repr__(self) -> str:
        """Say what it shows; never an address."""
        tape = self.stepper
        return f"Panel({tape.recording.label}: event {tape.position} of {len(tape.stops)})"

    def to_html(self, path: Any) -> None:
        """Write the recording as one file that needs no kernel and no network."""
        self.stepper.recording.to_html(path)

    def halt(self) -> None:
        """Nothing here takes so long that it could be stopped."""

    def start(self) -> Json:
        """As `Desk.start`: ways to other events in the place of commands, no stages and no breakpoints."""
        self._take_in()
        self._keys: list[str] = []
        offers = book(set(), False, False, len(TABS))
        keys = [[key, what] for _, _, key, what in COMMANDS]
        keys += [["< >", "To the event before, or behind"], ["Enter", "Open: fold or unfold, go to the event"]]
        told = {key for key, _ in keys}
        keys += [pair for pair in offers["keys"] if pair[0] not in told and pair[0] not in KEYS_OF_A_RUN]
        offers |= {"commands": COMMANDS, "keys": keys, "stages": [], "processors": 0}
        return dict(clean(offers | {"tabs": TABS, "against": recording_pages.AGAINST, "recording": True}))

    def _take_in(self) -> tuple[int, set[int], int]:
        """All events are there from the start; what moves is where the reader stands."""
        tape, events = self.stepper, self.stepper.recording.events
        kept, changed = self._timeline.update(tape.stops, events)
        events_kept = self._events.update(events, self._timeline.turn_of_event)
        for row in self._timeline.rows[kept:]:
            if row.event >= 0:
                told = self._events.rows[row.event]
                row.kind, row.note = str(told[ROW_OF_EVENT_KIND]), str(told[ROW_OF_EVENT_TEXT])
        self._record = tape.stops[tape.position] if tape.position >= 0 else None
        self._invocation = tape.invocation
        return kept, changed, events_kept

    def look(self) -> Json:
        """The `view`: as of a run that stands at the event."""
        tape, record = self.stepper, self._record
        few = tape.rebuilt is not None and len(tape.events) <= MANY
        view = {
            "title": tape.recording.label,
            "note": tape.notice,
            "problem": cut(self._problem, 2_000),
            "printed": "",
            "at": self._at(),
            "stages": [],
            "here": -1,
            "marks": [],
            "nstops": len(self._timeline.rows),
            "nrows": len(self._events.rows),
            "runs": tape.position + 1,
            "upto": len(tape.events),
            "sent": self._sent,
            "agents": self._agents(),
            "lanes": [],
            "over": record is None,
            "edits": [],
            "edited": False,
            "locked": "A recording is as it is; adknb.step(recording.to_scenario()) can be edited.",
            "alerts": sum(not one.holds for one in tape.invariants) if few else 0,
        }
        return dict(clean(view))

    def _at(self) -> Json:
        record, tape = self._record, self.stepper
        if record is None:
            return {"crumb": [], "name": "no events", "phase": "", "stop": "", "row": -1, "say": "There are no events."}
        crumb = [f"Turn {record.turn}", record.name or "no author"]
        crumb += [f"Step {record.step}"] if record.step else []
        return {
            "crumb": [clean_text(c) for c in crumb],
            "name": f"event {record.number}",
            "phase": "",
            "stop": f"of {len(tape.stops):,}",
            "row": self._timeline.row_of[record.number],
            "say": clean_text(f"Event {record.number} of {record.name}, turn {record.turn}."),
        }

    def _agents(self) -> list[Json]:
        """The agents that speak, with branch and scope as they last were; how deep, as near as one can tell."""
        tape, depths = self.stepper, _depths(self.stepper.recording.agents.parents)
        return [
            {"name": clean_text(v.agent_name), "depth": depths.get(v.agent_name, 0), "llm": True}
            | {"branch": clean_text(v.branch), "scope": clean_text(v.isolation_scope)}
            for v in tape.viewers(answers.viewer_here(tape, self._invocation))
        ]

    # --------------------------------------------------------------------------------------------------------- messages

    def handlers(self) -> dict[str, Callable[[Json], Any]]:
        """As of a run, without what would change one."""
        whole, events = super().handlers(), self.stepper.recording.events
        kept = {name: whole[name] for name in ("assemble", "matrix", "meet", "fates", "text", "sync", "rewind")}
        return kept | {
            "page": self._page,
            "row": lambda m: self._tell("row", i=m["i"], json=events[m["i"]].to_json()),
        }

    def _page(self, message: Json) -> None:
        shown = recording_pages.page(self.stepper, message)
        if shown is None:
            raise BadData("page", f"a recording has no page {message.get('name')!r}")
        self._tell("page", name=message["name"], **shown)

    def _assemble(self, message: Json) -> None:
        if message.get("anew"):
            self._kept.forget()
        rows = self._events.rows[: len(self.stepper.events)]
        asked, opened, have = message.get("viewer"), message.get("open") or (), message.get("have")
        shown = answers.assembly(self.stepper, rows, self._invocation, asked, opened, self._kept, have)
        self._tell("assembly", ask=message.get("ask"), **shown)


def _depths(parents: Any) -> dict[str, int]:
    """How many agents stand above each."""
    depths: dict[str, int] = {}
    for name in parents:
        above, up = 0, parents.get(name)
        while up is not None and above <= len(parents):
            above, up = above + 1, parents.get(up)
        depths[name] = above
    return depths
