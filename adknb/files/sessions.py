"""The sessions of a file, and the requests of a session: lists whose items are made when they are looked at."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, overload

from adknb.engine.errors import BadData
from adknb.files.reading import SessionFiles
from adknb.files.rebuild import Material, Rebuilt, rebuild
from adknb.files.whose import is_model_event
from adknb.lens.words import one_line

if TYPE_CHECKING:
    from adknb.files.recording import Recording

MOST_NAMES = 8
"""So many sessions are named where one is not found."""


def pick(files: SessionFiles, session: str | int | None) -> int:
    """The place of a session in its file, by its id or its place; the first without either.

    Raises:
        BadData: there is none of that id, or several; names some that there are.
    """
    if session is None:
        return 0
    entries = files.entries
    if isinstance(session, int) and not isinstance(session, bool) and 0 <= session < len(entries):
        return session
    wanted = str(session)
    at = [i for i, entry in enumerate(entries) if entry.session_id == wanted]
    if not at:  # the user's too, where ids are not unique
        at = [
            i
            for i, e in enumerate(entries)
            if wanted in (f"{e.user_id}/{e.session_id}", f"{e.app_name}/{e.user_id}/{e.session_id}")
        ]
    if len(at) == 1:
        return at[0]
    if at:
        several = ", ".join(f"{entries[i].app_name}/{entries[i].user_id}/{wanted}" for i in at[:MOST_NAMES])
        raise BadData(
            files.name,
            f"several sessions have the id {one_line(wanted, 60)!r}: {several}, or by place {at[:MOST_NAMES]}",
        )
    if wanted.isdecimal() and int(wanted) < len(entries):
        return int(wanted)
    names = ", ".join(one_line(e.session_id or str(i), 60) for i, e in enumerate(entries[:MOST_NAMES]))
    more = f" and {len(entries) - MOST_NAMES} more" if len(entries) > MOST_NAMES else ""
    raise BadData(files.name, f"no session has the id {one_line(wanted, 60)!r}; the sessions here: {names}{more}")


class Sessions(Sequence["Recording"]):
    """The sessions of a file, in its order; each is read when it is first looked at."""

    def __init__(self, files: SessionFiles, first: Recording) -> None:
        self._files, self._first = files, first
        self._read: dict[int, Recording] = {}

    def __len__(self) -> int:
        return len(self._files.entries)

    @overload
    def __getitem__(self, at: int) -> Recording: ...
    @overload
    def __getitem__(self, at: slice) -> list[Recording]: ...
    def __getitem__(self, at: int | slice) -> Recording | list[Recording]:
        from adknb.files.recording import Recording

        if isinstance(at, slice):
            return [self[i] for i in range(*at.indices(len(self)))]
        place = range(len(self))[at]
        if place not in self._read:
            first = self._first
            at_hand = place == (first._place or 0)
            session = first._session if at_hand else self._files.entries[place].load()
            made = Recording(session, first.path, self._files, place)
            if at_hand:
                made.events, made.state = first.events, first.state
            if made.definition is None:
                made.definition = first.definition
            self._read[place] = made
        return self._read[place]

    def read(self) -> list[Recording]:
        """Those that were looked at."""
        return list(self._read.values())

    def __repr__(self) -> str:
        lines = [f"{i}: {e.session_id or '(no id)'}" for i, e in enumerate(self._files.entries[:20])]
        more = [f"… and {len(self) - 20} more"] if len(self) > 20 else []
        return "\n".join([*lines, *more])


class Requests(Sequence[Rebuilt]):
    """The requests of a session's model events, in order; each is put together when it is looked at."""

    def __init__(self, material: Material) -> None:
        self.material = material
        events = material.events
        self.events = [i for i in range(len(events)) if is_model_event(events, i)]
        """Positions of the answers."""

    def __len__(self) -> int:
        return len(self.events)

    @overload
    def __getitem__(self, at: int) -> Rebuilt: ...
    @overload
    def __getitem__(self, at: slice) -> list[Rebuilt]: ...
    def __getitem__(self, at: int | slice) -> Rebuilt | list[Rebuilt]:
        if isinstance(at, slice):
            return [self[i] for i in range(*at.indices(len(self)))]
        return rebuild(self.material, self.events[at], None)

    def __repr__(self) -> str:
        return f"Requests({len(self)} of {self.material.name})"
