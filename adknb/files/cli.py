"""`adknb open FILE [--event N] [--agent A] [--full]`: a recorded session in the terminal, in plain text."""

from __future__ import annotations

import os
import shutil
import sys
from typing import TextIO

from adknb.engine.errors import AdknbError, BadData
from adknb.files.listing import last_model_event, listing
from adknb.files.recording import open
from adknb.files.whose import AGENT_ARGUMENT
from adknb.lens.words import ELLIPSIS, one_line


def main_open(path: str, event: str | int | None = None, agent: str | None = None, full: bool = False) -> int:
    """Print the events of a session file; with `event` (position or id), what the model saw before that event.

    `full`: every content in full, not cut to the width; it takes an event or an agent.

    Returns 0, or 2 with one line on standard error if the file, the event or the agent cannot be made out.
    """
    try:
        recording = open(path)
        if event is None and agent is not None:
            event = last_model_event(recording, agent)
        width = _width()
        if event is None and full:
            raise BadData("--full", "shows the contents before an event in full: say which with --event")
        text = listing(recording, width) if event is None else recording.request_before(event, agent).text(width, full)
        if event is not None and not full and ELLIPSIS in text:
            text += "\n\nTexts that end in … are cut: --full shows the contents in full."
    except AdknbError as error:
        said = str(error).replace(f"({AGENT_ARGUMENT})", "(--agent NAME)")
        _write(sys.stderr, f"adknb open: {one_line(said)}\n")
        return 2
    _write(sys.stdout, text + "\n")
    return 0


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
