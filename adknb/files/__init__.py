"""Session files: `adknb.open(path)` gives a Recording, which can say what the model saw before any event.

Reading order: `reading` (what a file says), `shapes` and `kinds` (its many forms), `recording` (what one can ask),
`whose` and `rebuild` (the request before an event), `explain`, `wording` and `full` (in words), `cli` (in a terminal).
"""

from adknb.files.reading import SessionFile, read_session
from adknb.files.rebuild import Rebuilt
from adknb.files.recording import Recording
from adknb.files.recording import open as open

__all__ = ["Rebuilt", "Recording", "SessionFile", "read_session"]  # without `open`: a star must not hide Python's own
