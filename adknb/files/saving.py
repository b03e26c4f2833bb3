"""Recording.save: which document is written, and in which form.

Three sorts of files: those that hold sessions as they are (what was changed is written into them), those that sessions
were made of (cases, recordings: written back unchanged only), and those that are never written (databases, folders: the
session becomes JSON).
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adknb.engine.errors import BadData
from adknb.engine.event_json import snake
from adknb.files.kinds import sessions_in
from adknb.files.reading import SessionFiles
from adknb.files.session_file import SessionFile
from adknb.files.writing import as_text, session_document
from adknb.whole_file import write_whole

if TYPE_CHECKING:
    from adknb.files.recording import Recording

FORMS = {".json": "json", ".yaml": "yaml", ".yml": "yaml", ".jsonl": "lines", ".ndjson": "lines"}
"""What the end of a name says about the form."""


def save(recording: Recording, path: str | os.PathLike[str], as_session: bool) -> None:
    """Write a recording; see `Recording.save`. Raises BadData."""
    files = recording._files
    if as_session or files is None:
        document = _session(recording, anew=as_session)
    elif recording._place is not None or len(files.entries) == 1:
        document = _one(recording, files)
    else:
        document = _whole(recording, files)
    form = files.form if files is not None and not as_session else "json"
    write_whole(path, as_text(document, _form(form, path, document), files.indent if files is not None else 2))


def _form(form: str, path: str | os.PathLike[str], document: Any) -> str:
    """As the name says; else as it came, a database or folder as JSON."""
    wanted = FORMS.get(Path(path).suffix.lower(), form if form in ("json", "lines", "yaml") else "json")
    return "json" if wanted == "lines" and not isinstance(document, list) else wanted


def _session(recording: Recording, anew: bool = False) -> Any:
    """The session alone; `anew`: as if it came from no file."""
    session = recording._session
    if anew:
        time = session.last_update_time
        session = SessionFile("", session.session_id, session.app_name, session.user_id, last_update_time=time)
    return session_document(session, recording.events, recording.state)


def _one(recording: Recording, files: SessionFiles) -> Any:
    """One session of a file, or what it was made of."""
    if recording._session.raw is not None or files.document is None:
        return _session(recording)
    _must_be_unchanged([recording], files)
    return _part(files.document, recording._place or 0) if len(files.entries) > 1 else files.document


def _whole(recording: Recording, files: SessionFiles) -> Any:
    """A file of several sessions, with what was changed in those that were looked at."""
    if recording._session.raw is None and files.document is not None:
        looked_at = [recording, *(one for one in recording.looked_at() if one._place != 0)]
        _must_be_unchanged(looked_at, files)
        return files.document
    return _put_back(files.document, [_session(one) for one in recording.sessions])


def _must_be_unchanged(recordings: Iterable[Recording], files: SessionFiles) -> None:
    """What was made of something else cannot be put back into it once it was changed. Raises BadData."""
    again = sessions_in(files.document, files.name)
    for one in recordings:
        made = again[one._place or 0]
        if made.events != one.events or made.state != one.state:
            raise BadData(
                one.label,
                f"was made of an {one.kind}, and what was changed has no place there: save(path, as_session=True) "
                "writes it as a session",
            )


def _part(document: Any, place: int) -> Any:
    """An evaluation set with one of its cases alone."""
    if isinstance(document, list):
        return [document[place]]
    key = next((k for k in document if snake(k) in ("eval_cases", "eval_case_results")), None)
    return document if key is None else {**document, key: [document[key][place]]}


def _put_back(document: Any, sessions: list[Any]) -> Any:
    """Sessions in the place where they stood in the file; a list of them, if there was none."""
    if not isinstance(document, dict):
        return sessions
    if "sessions" in document:
        return {**document, "sessions": sessions}
    results = next((k for k in document if snake(k) == "eval_case_results"), "")
    if not results:
        return sessions
    items = []
    for item, session in zip(document[results], sessions, strict=True):
        key = next((k for k in item if snake(k) == "session_details"), "")
        items.append({**item, key: session} if key and item[key] is not None else item)
    return {**document, results: items}
