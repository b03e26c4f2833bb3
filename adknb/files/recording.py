"""Recording: a recorded session, opened. What an engineer with a wrong answer in production asks first."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from adknb.engine.errors import BadData
from adknb.engine.event import Event
from adknb.files.reading import SessionFile, read_session
from adknb.files.rebuild import Rebuilt, rebuild
from adknb.files.whose import agents_of
from adknb.lens.frame import event_frame
from adknb.lens.table import turns
from adknb.lens.words import one_line

if TYPE_CHECKING:
    import pandas


def open(path: str | os.PathLike[str]) -> Recording:
    """Open a recorded session: ADK session JSON of any published shape. The file is only read.

    Example: `adknb.open("parcel.session.json").request_before(9)`

    Raises:
        BadData: the file is missing, is no JSON, or is no session; names file and place.
        NotBuiltYet: the file is an evaluation set, a database, YAML or JSON lines; names which.
    """
    return Recording(read_session(path), os.fspath(path))


class Recording:
    """The events and the state of one recorded session.

    `events`: in the order they happened. `state`: as the file has it at the end. `agents`: who says something or is
    handed over to, in order of appearance. `extra`: fields of the session that adknb does not know.
    """

    def __init__(self, session: SessionFile, path: str = "") -> None:
        self.path = path
        self.name = session.name
        self.app_name = session.app_name
        self.user_id = session.user_id
        self.session_id = session.session_id
        self.last_update_time = session.last_update_time
        self.events = session.events
        self.state = session.state
        self.extra = session.extra
        self.bare_list = session.bare_list

    @property
    def agents(self) -> list[str]:
        """Names of agents, in the order they appear."""
        return agents_of(self.events)

    @property
    def turns(self) -> int:
        """How many turns there are."""
        return max(turns(self.events), default=0)

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

    def request_before(self, event: int | str | Event, agent: str | None = None) -> Rebuilt:
        """What the model saw before it wrote an event: the contents of that request, and each earlier event's fate.

        For an event that no model wrote (a message, a tool's answer, a record): what its agent's next model call would
        have been given; the event itself counts in. `whose.ask` says whose call that is; `agent` names another agent
        (any name, where no agent speaks in the file; `unknown` says so).

        Raises:
            BadData: no such event, no such agent.
        """
        return rebuild(self.events, self.find(event), agent, self.name, self.bare_list)

    def table(self) -> pandas.DataFrame:
        """The events as a pandas DataFrame, one row each; the columns are those of `lens.event_table`.

        Raises:
            AdknbError: pandas is not installed.
        """
        return event_frame(self.events)

    def __len__(self) -> int:
        return len(self.events)

    def __repr__(self) -> str:
        return f"Recording({self.name}: {self.summary()})"

    def summary(self) -> str:
        """How much there is: `34 events in 11 turns; agents: cymbal_retail_agent; state: customer_profile`."""
        parts = [f"{_count(len(self.events), 'event')} in {_count(self.turns, 'turn')}"]
        if self.agents:
            parts.append(("agent: " if len(self.agents) == 1 else "agents: ") + _list(self.agents, 6))
        if self.state:
            parts.append("state: " + _list(list(self.state), 6))
        return "; ".join(parts)

    def _repr_html_(self) -> str:
        from adknb.files.html import recording_html

        return recording_html(self)

    def unread(self) -> dict[str, Any]:
        """Fields of the session that adknb does not know and that hold something."""
        return {key: value for key, value in self.extra.items() if value not in (None, "", [], {})}


def _count(n: int, noun: str) -> str:
    return f"{n} {noun}" + ("" if n == 1 else "s")


def _list(names: list[str], most: int) -> str:
    shown = ", ".join(one_line(name, 60) for name in names[:most])
    return shown + (f" and {len(names) - most} more" if len(names) > most else "")
