"""Recording: a recorded session, opened. What an engineer with a wrong answer in production asks first."""

from __future__ import annotations

import gc
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from adknb.engine.copies.frozen import garbage_collection_waits
from adknb.engine.errors import BadData
from adknb.engine.event import Event
from adknb.files.agents import Agents, Parents, guessed_parents
from adknb.files.glance import glance
from adknb.files.reading import SessionFiles, read_file
from adknb.files.rebuild import Material, Rebuilt, rebuild
from adknb.files.session_file import Json, SessionFile, sent_in
from adknb.files.sessions import Requests, Sessions, pick
from adknb.files.states import state_after
from adknb.lens.frame import event_frame
from adknb.lens.table import turns
from adknb.lens.words import one_line

if TYPE_CHECKING:
    import pandas

    from adknb.files.comparing import Comparison
    from adknb.files.definition import Definition
    from adknb.files.replaying import Replay


MANY = 5_000
"""Events of a long session."""


def open(
    path: str | os.PathLike[str], session: str | int | None = None, *, agent: Any = None, trust: bool = False
) -> Recording:
    """Open what was recorded; the file is only read.

    `path`: a file, a folder with google-adk's conformance cases, `sqlite:///FILE`, or an http address. ADK session JSON
    of any published shape, evaluation sets, YAML, JSON lines and ADK's SQLite databases are told apart by what is in
    them. Of several sessions `session` picks one, by its id or place; without it the first is shown, and `sessions` has
    all. `agent` attaches a definition (`with_agent`). `trust`: read what an old database pickled, too, as plain data.

    Example: `adknb.open("parcel.session.json").request_before(9)`

    Raises:
        BadData: it is missing, or holds no session, or not as it should be; names file and place.
    """
    files = read_file(path, trust)
    at = pick(files, session)
    recording = Recording(files.entries[at].load(), os.fspath(path), files, at if session is not None else None)
    if len(recording.events) > MANY and gc.isenabled():
        gc.collect(1)  # it looks at all that was made, once: now, and not while somebody waits for a request
    return recording if agent is None else recording.with_agent(agent)


class Recording:
    """The events and the state of one recorded session.

    `events`: in the order they happened. `state`: as the file has it at the end; `state_known` says whether it has one.
    `extra`: fields of the session that adknb does not know. `kind`: what the file was. `notes`: what one must know of
    how the events came about. `expectations`: they are what an evaluation expects. `sent`: requests as they were really
    sent, by the position of the answer.
    """

    def __init__(
        self, session: SessionFile, path: str = "", files: SessionFiles | None = None, place: int | None = None
    ) -> None:
        self.path = path
        self.name = session.name
        self.app_name = session.app_name
        self.user_id = session.user_id
        self.session_id = session.session_id
        self.last_update_time = session.last_update_time
        self.events = session.events
        self.state = session.state
        self.state_known = session.state_known
        self.extra = session.extra
        self.bare_list = session.bare_list
        self.kind = session.kind
        self.notes = session.notes
        self.expectations = session.expectations
        self.sent = session.sent
        self.definition: Definition | None = None
        self._session, self._files, self._place = session, files, place
        self._sessions: Sessions | None = None
        self._parents: Parents = {}
        self._attach_own()

    # ------------------------------------------------------------------------------------------------------- what it is

    @property
    def sessions(self) -> Sequence[Recording]:
        """All sessions of the file, each as a Recording; just this one, if there is no other."""
        if self._files is None or len(self._files.entries) < 2:
            return [self]
        if self._sessions is None:
            self._sessions = Sessions(self._files, self)
        return self._sessions

    def looked_at(self) -> list[Recording]:
        """Those of `sessions` that somebody has looked at."""
        return self._sessions.read() if self._sessions is not None else []

    @property
    def label(self) -> str:
        """The file, and the session where the file has several."""
        several = self._files is not None and len(self._files.entries) > 1
        return f"{self.name}, session {self.session_id or self._place or 0}" if several else self.name

    @property
    def agents(self) -> Agents:
        """Names of agents in the order they appear; `.parents` says who stands under whom, `.put` corrects it."""
        parents = guessed_parents(self.events)
        if self.definition is not None:
            parents |= self.definition.parents()
        return Agents(glance(self.events).agents, parents, self._parents)

    @property
    def turns(self) -> int:
        """How many turns there are."""
        return max(turns(self.events), default=0)

    @property
    def agent_trees(self) -> list[Json]:
        """The attached definitions, in the fields of a scenario; empty without any."""
        return self.definition.trees if self.definition is not None else []

    def with_agent(self, agent: Any) -> Recording:
        """The same recording with the agents' definition attached, so that whole requests can be rebuilt.

        `agent`: an agent of adknb, a path to ADK's Agent Config (`root_agent.yaml`), or a tree in a scenario's fields.

        Raises:
            BadData: it is none of these, or not as it should be.
        """
        from adknb.files.definition import definition_of

        other = Recording(self._session, self.path, self._files, self._place)
        other.events, other.state, other._parents = self.events, self.state, self._parents
        other.definition = definition_of(agent)
        return other

    def _attach_own(self) -> None:
        """A file may bring definitions along, under `agents`, as the doctor's vectors do."""
        given = self.extra.get("agents")
        if (
            isinstance(given, list)
            and given
            and all(isinstance(t, dict) and {"type", "name"} <= t.keys() for t in given)
        ):
            from adknb.files.definition import definition_of

            try:
                self.definition = definition_of(given)
            except BadData as error:
                self.notes = [*self.notes, f"The definitions under `agents` are not read: {error}."]

    # ------------------------------------------------------------------------------------------------- what one can ask

    def find(self, event: int | str | Event) -> int:
        """The position of an event, given its position or its id (or the event itself).

        Raises:
            BadData: there is no such event, or several have that id.
        """
        if isinstance(event, Event):
            event = next((i for i, e in enumerate(self.events) if e is event), event.id)
        if isinstance(event, bool) or not isinstance(event, (int, str)):
            raise BadData(self.name, f"an event is named by its position or its id, not by {event!r}")
        if isinstance(event, int) and 0 <= event < len(self.events):
            return event
        wanted = str(event)
        at = [i for i, e in enumerate(self.events) if e.id == wanted]
        if len(at) == 1:
            return at[0]
        if at:
            raise BadData(self.name, f"events {', '.join(map(str, at))} all have the id {wanted!r}: give a position")
        if isinstance(event, str) and event.isdecimal() and int(event) < len(self.events):
            return int(event)
        number = wanted.lstrip("-").isdecimal()
        what = f"no event {wanted}" if number else f"no event has the id {one_line(wanted, 60)!r}"
        where = f"the file has events 0 to {len(self.events) - 1}" if self.events else "the file has no events"
        raise BadData(self.name, f"{what}: {where}")

    def state_at(self, event: int | str | Event) -> Json:
        """The state once an event was stored: a copy. Keys that no event writes are taken to have been there always.

        Raises:
            BadData: no such event.
        """
        return state_after(self.events, self.find(event), self.state)

    def request_before(self, event: int | str | Event, agent: str | None = None) -> Rebuilt:
        """What the model saw before it wrote an event: the contents of that request, and each earlier event's fate.

        For an event that no model wrote (a message, a tool's answer, a record): what its agent's next model call would
        have been given; the event itself counts in. `whose.ask` says whose call that is; `agent` names another agent
        (any name, where no agent speaks in the file; `unknown` says so).

        Raises:
            BadData: no such event, no such agent.
        """
        with garbage_collection_waits():
            rebuilt = rebuild(self._material(), self.find(event), agent)
            _ = rebuilt.contents  # as the session is now, whatever is done to it later
        return rebuilt

    def requests(self) -> Requests:
        """The request of every event that a model wrote, in order; each is put together when it is looked at."""
        return Requests(self._material())

    def _material(self) -> Material:
        seen, sent = glance(self.events), {**sent_in(self.extra.get("requests"), len(self.events)), **self.sent}
        return Material(self.events, self.name, seen, self.bare_list, self.state, self.definition, sent, self.notes)

    def compare(self, other: Recording) -> Comparison:
        """The first event in which another recording differs, and how; ids and times apart."""
        from adknb.files.comparing import compare

        return compare(self, other)

    def findings(self) -> Any:
        """What the doctor finds in this session: a list of Findings."""
        from adknb.files.findings import findings

        return findings(self)

    def table(self) -> pandas.DataFrame:
        """The events as a pandas DataFrame, one row each; the columns are those of `lens.event_table`.

        Raises:
            AdknbError: pandas is not installed.
        """
        return event_frame(self.events)

    # ------------------------------------------------------------------------------------------------ what one can make

    def to_scenario(self, from_turn: int = 1) -> Replay:
        """A scenario that plays this session again with the recorded answers: for `adknb.step` and `adknb trace`.

        Turns before `from_turn` (from 1) are not played; their events are there from the start. The scenario is a dict;
        its `unknown` says what of the session it cannot bring back.

        Raises:
            BadData: nobody says anything in the session, or there is no such turn.
        """
        from adknb.files.replaying import replay_of

        return replay_of(self, from_turn)

    def to_html(self, path: str | os.PathLike[str]) -> None:
        """Write one file that needs nothing else: the events, and every model event's request with its reasons.

        Raises:
            BadData: it cannot be written.
        """
        from adknb.files.page import page
        from adknb.whole_file import write_whole

        write_whole(path, page(self))

    def save(self, path: str | os.PathLike[str], as_session: bool = False) -> None:
        """Write the file again, all at once: every field as it came, in its spelling, but for what was changed since.

        A Recording that was opened without `session=` stands for its whole file. What a file does not say in events
        (evaluation cases, recordings) can be written back unchanged only, or, with `as_session`, as a session.

        Raises:
            BadData: it cannot be written, or has no place in the file that it came from.
        """
        from adknb.files.saving import save

        save(self, path, as_session)

    def panel(self) -> Any:
        """The panel over the recorded session: every event, and the request before the one that is chosen.

        Raises:
            AdknbError: anywidget is not installed.
        """
        from adknb.files.showing import panel_of

        return panel_of(self)

    # ------------------------------------------------------------------------------------------------------ as it looks

    def __len__(self) -> int:
        return len(self.events)

    def __repr__(self) -> str:
        return f"Recording({self.label}: {self.summary()})"

    def summary(self) -> str:
        """How much there is: `34 events in 11 turns; agents: cymbal_retail_agent; state: customer_profile`."""
        parts = [f"{_count(len(self.events), 'event')} in {_count(self.turns, 'turn')}"]
        agents = glance(self.events).agents
        if agents:
            parts.append(("agent: " if len(agents) == 1 else "agents: ") + _list(agents, 6))
        if self.state:
            parts.append("state: " + _list(list(self.state), 6))
        return "; ".join(parts)

    def _repr_html_(self) -> str:
        from adknb.files.html import recording_html

        return recording_html(self)

    def unread(self) -> Json:
        """Fields of the session that adknb does not know and that hold something."""
        return {key: value for key, value in self.extra.items() if value not in (None, "", [], {})}


def _count(n: int, noun: str) -> str:
    return f"{n} {noun}" + ("" if n == 1 else "s")


def _list(names: list[str], most: int) -> str:
    shown = ", ".join(one_line(name, 60) for name in names[:most])
    return shown + (f" and {len(names) - most} more" if len(names) > most else "")
