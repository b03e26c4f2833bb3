"""The doctor: named checks on a recorded session, each a small function in a table (table.py).

    examine(session_from_json({"events": [...]})) -> [Finding(check="orphan-response", events=(2,), …)]

    what a check says         finding.py
    what it reads             session.py, entry.py, definitions.py, templates.py, secrets.py
    where that comes from     loading.py (JSON), run.py (a run of ours)
    the requests behind it    requests.py, pieces.py
    the checks, by section    A calls.py  B sight.py  C streaming.py, answers.py  D state.py, instructions.py
                              E record.py  F handing.py, confirmation.py  G tools.py  H summaries.py  I size.py

Source: spec/doctor.md; the letters are its sections
"""

from __future__ import annotations

from adknb.lens.doctor.definitions import Definitions, definitions_from_json, definitions_of
from adknb.lens.doctor.finding import ERROR, NOTE, SEVERITIES, WARNING, Finding
from adknb.lens.doctor.loading import beside, session_from_json
from adknb.lens.doctor.run import findings_of_run
from adknb.lens.doctor.session import DoctorSession, SentRequest
from adknb.lens.doctor.table import CHECKS, Check, examine, known

__all__ = [
    "CHECKS", "ERROR", "NOTE", "SEVERITIES", "WARNING", "Check", "Definitions", "DoctorSession", "Finding",
    "SentRequest", "beside", "definitions_from_json", "definitions_of", "examine", "findings_of_run", "known",
    "session_from_json",
]  # fmt: skip
