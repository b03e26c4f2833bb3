"""`adknb doctor FILE… [--json]`: what the doctor finds, in the terminal or as JSON for another program."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator, Sequence
from typing import Any

from adknb.engine.errors import AdknbError
from adknb.files.colours import are_wanted, show
from adknb.files.findings import doctor_session
from adknb.files.listing import Line, Piece, plain
from adknb.files.recording import Recording, open
from adknb.lens.doctor import CHECKS, ERROR, SEVERITIES, DoctorSession, Finding, examine, known
from adknb.lens.words import one_line, positions, wrap

FINE, ERRORS, BAD_INPUT = 0, 1, 2
STYLES = {"error": "gone", "warning": "note", "note": "soft"}
EVENTS_SHOWN = 12
"""So many events of a finding are named; `--json` has all."""

Examined = tuple[Recording, DoctorSession, list[Finding]]


def main_doctor(paths: Sequence[str], as_json: bool = False, definition: str | None = None, trust: bool = False) -> int:
    """Examine every session of every file and print what is found.

    Returns 0, or 1 if a finding is an error, or 2 with a line on standard error for each file that cannot be read.
    """
    status, told = FINE, []
    for path in paths:
        try:
            for recording in open(path, agent=definition, trust=trust).sessions:
                session = doctor_session(recording)
                found = examine(session)
                if any(finding.severity == ERROR for finding in found):
                    status = max(status, ERRORS)
                if as_json:
                    told += [_as_json(recording, session, finding) for finding in found]
                else:
                    _print(_lines((recording, session, found), _width()))
        except AdknbError as error:
            print(f"adknb doctor: {one_line(str(error))}", file=sys.stderr)
            status = BAD_INPUT
    if as_json:
        print(_text(told))
    return status


def _as_json(recording: Recording, session: DoctorSession, finding: Finding) -> dict[str, Any]:
    """A finding with its file, its session, and the ids of its events."""
    ids = [session.secrets.without(recording.events[at].id) for at in finding.events]
    return {"file": recording.path, "session": recording.session_id, **finding.to_json(), "event_ids": ids}


def _text(value: Any) -> str:
    """JSON in UTF-8 as it is; escaped where a text is no Unicode."""
    text = json.dumps(value, ensure_ascii=False, indent=2, default=str)
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(value, indent=2, default=str)
    return text


def _print(lines: Iterator[Line]) -> None:
    if are_wanted():
        show(lines)
    else:
        print(plain(lines))


def _width() -> int:
    """The terminal's width, 160 at most; 100 where there is none, so that piped output is the same everywhere."""
    return min(shutil.get_terminal_size((100, 24)).columns, 160) if sys.stdout.isatty() else 100


def _lines(examined: Examined, width: int) -> Iterator[Line]:
    """The file, a line for each finding with why and what to do below it, and the count."""
    recording, session, found = examined
    yield [Piece(session.secrets.without(f"{one_line(recording.label)}: {recording.summary()}"), "title")]
    for finding in found:
        yield [
            Piece(f"{finding.severity:<8}", STYLES[finding.severity]),
            Piece(finding.check, "head"),
            Piece(f" ({finding.case})" if finding.case else ""),
            Piece(f"  {_events(finding)}" if finding.events else "", "soft"),
        ]
        for line in wrap(finding.why, width - 4):
            yield [Piece(f"    {line}")]
        for nth, line in enumerate(wrap(finding.do, width - 8)):
            yield [Piece("    → " if nth == 0 else "      "), Piece(line)]
    yield [Piece(_count(found), "head"), Piece(_silent(session), "soft")]


def _events(finding: Finding) -> str:
    shown = finding.events[:EVENTS_SHOWN]
    more = f" and {len(finding.events) - len(shown)} more" if len(finding.events) > len(shown) else ""
    return f"{'event' if len(finding.events) == 1 else 'events'} {positions(shown)}{more}"


def _count(found: Sequence[Finding]) -> str:
    """`3 findings: 1 error, 2 warnings`."""
    if not found:
        return "no findings"
    numbers = {severity: sum(finding.severity == severity for finding in found) for severity in SEVERITIES}
    parts = [f"{n} {severity}{'' if n == 1 else 's'}" for severity, n in numbers.items() if n]
    return f"{len(found)} finding{'' if len(found) == 1 else 's'}: {', '.join(parts)}"


def _silent(session: DoctorSession) -> str:
    """How many checks have nothing to go by here, and what was not looked at."""
    silent = sum(not known(session) & set(check.needs.split(" or ")) for check in CHECKS)
    told = f"; {silent} of {len(CHECKS)} checks have nothing to go by" if silent else ""
    if missed := session.requests.incomplete:
        told += f"; {missed} of {len(session.requests.all)} requests were too entangled to be rebuilt in full"
    return told
