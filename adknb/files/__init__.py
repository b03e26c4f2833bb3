"""Session files: `adknb.open(path)` gives a Recording, which can say what the model saw before any event.

what is read      source (a path, an address) -> reading, kinds -> session_file, shapes, quick_content
                  evalsets, case_events; conformance; databases, database_file, pickled; json_lines, yaml_text
what one asks     recording, sessions; states, agents, comparing; findings (the doctor)
a request         whose, glance, delegates -> rebuild, unknown; with a definition: definition, agent_config, attached
in words          explain, wording, full, beside; listing, colours, as_json -> cli
what one makes    html (in a notebook), page, page_requests, page_style, walk; writing, saving;
                  replaying, replay_voices, replay_tools, replay_tree
"""

from adknb.files.reading import SessionFile, read_session
from adknb.files.rebuild import Rebuilt
from adknb.files.recording import Recording
from adknb.files.recording import open as open

__all__ = ["Rebuilt", "Recording", "SessionFile", "read_session"]  # without `open`: a star must not hide Python's own
