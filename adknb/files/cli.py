"""`adknb open FILE [--event N] [--agent A] …`: a recorded session in the terminal.

Plain text where it is piped; in a terminal the same words in colours, if rich is there.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from dataclasses import dataclass
from typing import TextIO

from adknb.engine.errors import AdknbError, BadData
from adknb.files.as_json import rebuilt_json, recording_json
from adknb.files.colours import are_wanted, in_pieces, show
from adknb.files.listing import last_model_event, lines_of, plain
from adknb.files.recording import Recording, open
from adknb.files.whose import AGENT_ARGUMENT
from adknb.lens.words import ELLIPSIS, one_line


@dataclass(frozen=True)
class Wanted:
    """What the command line asks for. `event`: position or id. `definition`: a file with the agents' definition."""

    event: str | int | None = None
    agent: str | None = None
    session: str | int | None = None
    definition: str | None = None
    html: str | None = None
    json: bool = False
    full: bool = False
    trust: bool = False


def main_open(
    path: str,
    event: str | int | None = None,
    agent: str | None = None,
    full: bool = False,
    wanted: Wanted | None = None,
) -> int:
    """Print the events of a session file; with an event, what the model saw before it.

    `full`: every content in full, not cut to the width; it takes an event or an agent.

    Returns 0, or 2 with one line on standard error if the file, the event or the agent cannot be made out.
    """
    wanted = wanted or Wanted(event, agent, full=full)
    try:
        recording = open(path, wanted.session, agent=wanted.definition, trust=wanted.trust)
        _show(recording, wanted)
    except AdknbError as error:
        said = str(error).replace(f"({AGENT_ARGUMENT})", "(--agent NAME)")
        _write(sys.stderr, f"adknb open: {one_line(said)}\n")
        return 2
    return 0


def _show(recording: Recording, wanted: Wanted) -> None:
    """Print what is wanted, or write the HTML file. Raises AdknbError."""
    event = wanted.event
    if event is None and wanted.agent is not None:
        event = last_model_event(recording, wanted.agent)
    if event is None and wanted.full:
        raise BadData("--full", "shows the contents before an event in full: say which with --event")
    if wanted.html is not None:
        recording.to_html(wanted.html)
        if event is None and not wanted.json:
            _write(sys.stdout, f"{wanted.html}: {one_line(recording.label)}, {recording.summary()}\n")
            return
    width = _width()
    if event is None:
        if wanted.json:
            _write(sys.stdout, _as_text(recording_json(recording)))
        elif are_wanted():
            show(lines_of(recording, width))
        else:
            _write(sys.stdout, plain(lines_of(recording, width)) + "\n")
        return
    rebuilt = recording.request_before(event, wanted.agent)
    if wanted.json:
        _write(sys.stdout, _as_text(rebuilt_json(rebuilt)))
        return
    text = rebuilt.text(width, wanted.full)
    if not wanted.full and ELLIPSIS in text:
        text += "\n\nTexts that end in … are cut: --full shows the contents in full."
    if are_wanted():
        show(in_pieces(text))
    else:
        _write(sys.stdout, text + "\n")


def _as_text(value: object) -> str:
    """JSON for another program: in UTF-8 as it is, escaped where a text is no Unicode."""
    text = json.dumps(value, ensure_ascii=False, indent=2, default=str)
    try:
        text.encode()
    except UnicodeEncodeError:
        text = json.dumps(value, indent=2, default=str)
    return text + "\n"


def _width() -> int:
    """The terminal's width, 160 at most; 100 where there is none, so that piped output is the same everywhere."""
    if not sys.stdout.isatty():
        return 100
    return min(shutil.get_terminal_size((100, 24)).columns, 160)


def _write(out: TextIO, text: str) -> None:
    """Write what the stream's encoding can say; a reader who leaves early (`| head`) is no error."""
    encoding = out.encoding or "utf-8"
    try:
        out.write(text.encode(encoding, "replace").decode(encoding))
        out.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), out.fileno())
