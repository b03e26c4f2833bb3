"""The command line: `adknb step | trace | open | doctor | lab | new-notebook`.

Exit status: 0 fine, 1 a difference or an error-severity finding, 2 bad input (one line on stderr, no traceback),
130 interrupted.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import sys
from collections.abc import Sequence
from typing import Any

OK, BAD_INPUT, INTERRUPTED = 0, 2, 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; gives the exit status. Bad usage raises SystemExit(2), as argparse does."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8")  # scenarios speak Chinese, whatever the terminal's locale
    parser = _parser()
    options, others = parser.parse_known_args(argv)
    if others and options.command != "lab":
        parser.error(f"unknown: {' '.join(others)}")
    options.others = others
    if options.command is None:
        parser.print_help(sys.stderr)
        return BAD_INPUT
    from adknb.engine.errors import AdknbError

    try:
        status = int(options.run(options))
        sys.stdout.flush()
        return status
    except AdknbError as error:
        print(f"adknb: {error}", file=sys.stderr)
        return BAD_INPUT
    except BrokenPipeError:  # whoever read us has seen enough: `adknb trace … | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # so that Python's own last flush is quiet too
        return OK
    except OSError as error:  # a full disk, behind stdout perhaps
        print(f"adknb: {error.filename or 'standard output'}: {error.strerror or error}", file=sys.stderr)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return BAD_INPUT
    except KeyboardInterrupt:
        return INTERRUPTED


def _parser() -> argparse.ArgumentParser:
    from adknb import __version__

    parser = argparse.ArgumentParser(
        prog="adknb", description="Step through one turn of an LLM agent: ADK's Flow, paused at every stage."
    )
    parser.add_argument("--version", action="version", version=f"adknb {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")

    stepping = commands.add_parser("step", help="step through a scenario at a prompt, with pdb's letters")
    stepping.add_argument("scenario", metavar="SCENARIO", help="a file of scenarios, or the name of one that ships")
    stepping.add_argument("--name", metavar="NAME", help="which one, if the file has several")
    orders = ("in_order", "reverse", "interleaved", "concurrent")
    stepping.add_argument("--runner", choices=orders, help="how several calls of one answer run (default: as it says)")
    stepping.set_defaults(run=_step)

    trace = commands.add_parser("trace", help="run scenarios to their end; print one JSON trace a line")
    trace.add_argument("files", nargs="+", metavar="FILE", help="a .jsonl or .json file of scenarios, or - for stdin")
    trace.set_defaults(run=_trace)

    opened = commands.add_parser("open", help="read a session file; explain what the model saw at an event")
    opened.add_argument(
        "file", metavar="FILE", help="a session, an evaluation set, a database, a conformance case: told by its content"
    )
    opened.add_argument("--event", type=_event, metavar="N|ID", help="the event, by its 0-based position or its id")
    opened.add_argument("--agent", metavar="NAME", help="the agent that was asked (default: the event's author)")
    opened.add_argument("--session", type=_event, metavar="ID|N", help="which session, if the file has several")
    opened.add_argument("--definition", metavar="YAML", help="the agents' definition: ADK's root_agent.yaml")
    opened.add_argument("--html", metavar="OUT", help="write one HTML file with every event and every request")
    opened.add_argument("--json", action="store_true", help="print JSON for other programs")
    opened.add_argument("--full", action="store_true", help="with --event: every content in full, not cut to the width")
    opened.add_argument(
        "--trust", action="store_true", help="read what an old database has pickled, as plain data only"
    )
    opened.set_defaults(run=_open)

    doctor = commands.add_parser("doctor", help="examine session files: what is wrong, why it matters, what to do")
    doctor.add_argument("files", nargs="+", metavar="FILE", help="what `adknb open` takes, or - for stdin")
    doctor.add_argument("--json", action="store_true", help="print a JSON list of the findings for other programs")
    doctor.add_argument("--definition", metavar="YAML", help="the agents' definition: ADK's root_agent.yaml")
    doctor.add_argument("--trust", action="store_true", help="as for `adknb open`")
    doctor.set_defaults(run=_doctor)

    lab = commands.add_parser(
        "lab",
        help="open a notebook in JupyterLab, paused at its first stop",
        epilog="Other options go to JupyterLab, written with =: --port=8890",
    )
    lab.add_argument("notebook", nargs="?", metavar="NOTEBOOK", help="which notebook (default: the first)")
    lab.set_defaults(run=_lab)

    new = commands.add_parser("new-notebook", help="write a notebook that keeps a stepped session as a test of nbval's")
    new.add_argument("path", nargs="?", metavar="PATH", help="the notebook (default: stepped.ipynb)")
    new.add_argument("--session", metavar="FILE", help="a session, as `adknb open` takes it, or a run dbg.save wrote")
    new.add_argument("--force", action="store_true", help="write over the notebook if it is there")
    new.set_defaults(run=_new_notebook)
    return parser


def _step(options: argparse.Namespace) -> int:
    from adknb.stepper.terminal import main as main_step

    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(encoding="utf-8", errors="replace")
    return main_step(options.scenario, options.name, options.runner)


def _event(text: str) -> int | str:
    """A position if it is a number, else an id."""
    try:
        return int(text)
    except ValueError:
        return text


def _trace(options: argparse.Namespace) -> int:
    """All files are read before anything runs; a scenario that is not as it should be is told, the others are run."""
    from adknb.engine.errors import BadData
    from adknb.scenarios import load_each, trace
    from adknb.scenarios.trace import UNBUILT

    status = OK
    for scenario in [scenario for file in options.files for scenario in load_each(file)]:
        if isinstance(scenario, BadData):
            print(f"adknb: {scenario}", file=sys.stderr)
            status = BAD_INPUT
            continue
        done = trace(scenario)
        print(as_line(done))
        for entry in done["trace"]:
            if entry.get("where") == UNBUILT:
                print(f"adknb: {done['name']}: not built yet: {entry['note']}", file=sys.stderr)
    return status


def as_line(value: Any) -> str:
    """JSON in one line, in UTF-8 as it is; escaped where a text is no Unicode (half a surrogate pair)."""
    line = json.dumps(value, ensure_ascii=False)
    try:
        line.encode()
    except UnicodeEncodeError:
        return json.dumps(value)
    return line


def _open(options: argparse.Namespace) -> int:
    from adknb.files.cli import Wanted, main_open

    wanted = Wanted(**{name: getattr(options, name) for name in Wanted.__dataclass_fields__})
    return main_open(options.file, wanted=wanted)


def _doctor(options: argparse.Namespace) -> int:
    from adknb.files.doctor_cli import main_doctor

    return main_doctor(options.files, options.json, options.definition, options.trust)


def _lab(options: argparse.Namespace) -> int:
    from adknb.lab import main as main_lab

    return main_lab(options.notebook, options.others)


def _new_notebook(options: argparse.Namespace) -> int:
    from adknb.new_notebook import main as main_new_notebook

    return main_new_notebook(options.path, options.session, options.force)


if __name__ == "__main__":
    sys.exit(main())
