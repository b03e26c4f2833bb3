"""`adknb open FILE [--event N] [--agent A]`: a recorded session in the terminal, in plain text."""

from __future__ import annotations

import os
import shutil
import sys
from typing import TextIO

from adknb.engine.errors import AdknbError
from adknb.files.listing import last_model_event, listing
from adknb.files.recording import open
from adknb.lens.words import one_line


def main_open(path: str, event: str | int | None = None, agent: str | None = None) -> int:
    """Print the events of a session file; with `event` (position or id), what the model saw before that event.

    Returns 0, or 2 with one line on standard error if the file, the event or the agent cannot be made out.
    """
    try:
        recording = open(path)
        if event is None and agent is not None:
            event = last_model_event(recording, agent)
        width = _width()
        text = listing(recording, width) if event is None else recording.request_before(event, agent).text(width)
    except AdknbError as error:
        _write(sys.stderr, f"adknb open: {one_line(str(error))}\n")
        return 2
    _write(sys.stdout, text + "\n")
    return 0


def _width() -> int:
    """The terminal's width; 100 where there is none, so that piped output is the same everywhere."""
    if not sys.stdout.isatty():
        return 100
    return min(shutil.get_terminal_size((100, 24)).columns, 140)


def _write(out: TextIO, text: str) -> None:
    """Write what the stream's encoding can say; a reader who leaves early (`| head`) is no error."""
    encoding = out.encoding or "utf-8"
    try:
        out.write(text.encode(encoding, "replace").decode(encoding))
        out.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), out.fileno())
