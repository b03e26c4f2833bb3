"""`adknb new-notebook`: a stepped session kept as a notebook that nbval checks, in a team's own repository.

Three files, each written whole or not at all, and none over another:

    stepped.ipynb     the notebook, its outputs in it: `pytest` runs its cells again and compares
    nbval.cfg         beside it: what may differ between two runs (new_notebook.cfg of this package); one that is
                      there is the team's own, and stays
    pyproject.toml    pytest's settings, where no folder above has some; where there are, they are printed instead

The cells run once in this process to get their outputs; they print, so no kernel is needed for that.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any

from adknb.engine.errors import BadData
from adknb.whole_file import write_whole

DEFAULT = "stepped.ipynb"
RULES, PROJECT = "nbval.cfg", "pyproject.toml"

Cell = tuple[str, str]
"""(kind, text): `markdown` or `code`."""


@dataclass
class Written:
    """What `new_notebook` did: the files it wrote, and the settings that still have to be put into a pyproject.toml."""

    files: list[Path] = field(default_factory=list)
    settings: str = ""
    project: Path | None = None


def main(path: str | None, session: str | None, force: bool) -> int:
    """Write, and say what was written and what to type next; gives the exit status. Raises BadData."""
    written = new_notebook(path or DEFAULT, session, force)
    for file in written.files:
        print(f"written: {_shown(file)}")
    if written.settings and written.project is not None:
        print(f"\nTo be added to {_shown(written.project)}, so that `pytest` runs it:\n\n{written.settings}")
    print("Needs pytest and nbval (pip install pytest nbval 'adknb[lab]'); then: pytest")
    return 0


def new_notebook(path: str | os.PathLike[str], session: str | os.PathLike[str] | None = None,
                 force: bool = False) -> Written:  # fmt: skip
    """Write a template notebook, its sanitising rules and pytest's settings.

    `session` is a file that `adknb.open` reads, or a run that `dbg.save` wrote; without one the notebook steps a small
    agent of its own. `force`: write over what is there.

    Raises:
        BadData: the name is no notebook's, the session cannot be read or played again, or a file is there already;
            nothing is written then.
    """
    target = Path(path)
    if target.suffix != ".ipynb":
        raise BadData(str(path), "a notebook's name ends in .ipynb")
    if target.exists() and not force:
        raise BadData(str(path), "is there already; --force writes over it")
    folder = Path(os.path.abspath(target)).parent
    cells = _cells(folder, session)
    written = Written()
    with _made(folder):
        plan = {target: _notebook(_run(cells, folder))}
        if not (folder / RULES).exists():
            plan[target.parent / RULES] = rules()
        written.project = _project(folder)
        home = written.project.parent if written.project else _home(folder)
        settings = _settings(Path(os.path.relpath(folder / RULES, home)).as_posix())
        if written.project is None:
            plan[home / PROJECT] = settings
        elif not _is_set(written.project):
            written.settings = settings
        for file, text in plan.items():
            write_whole(file, text)
            written.files.append(file)
    return written


def rules() -> str:
    """The sanitising rules as nbval reads them."""
    return (files("adknb") / "new_notebook.cfg").read_text(encoding="utf-8")


# ------------------------------------------------------------------------------------------------------------ the cells

TITLE = """# A stepped session, kept

`pytest` runs every cell again and compares what it prints with what stands here. Where it fails, the code now asks or
stores something else; if that is meant, run the notebook, look at it, and save it.

Cells print plain lines without times and ids. A cell that ends in `dbg` shows the panel, whose text is compared."""

OWN_AGENT = '''import adknb
from adknb import at, event
from google.genai import types


def get_weather(city: str) -> dict:
    """The weather of a city."""
    return {"city": city, "sky": "rain"}


ask = types.Part.from_function_call(name="get_weather", args={"city": "Hangzhou"})
model = adknb.ScriptedModel([types.Content(role="model", parts=[ask]), "It rains in Hangzhou."])
agent = adknb.LlmAgent("weather", model=model, instruction="Say what it is like.", tools=[get_weather])

dbg = adknb.step(agent, "What is the weather in Hangzhou?")
dbg.until(at("contents", step=2))
print(dbg.here)'''

SHOW_REQUEST = """from adknb.stepper.writing_tests import told_of

dbg.until(event(call="get_weather") | event(final=True))  # the model has been asked
print(*told_of(dbg)["requests"][-1], sep="\\n")"""
SHOW_END = """dbg.resume()
told = told_of(dbg)
print("tools:", *told["tools"])
print(*told["events"], *told["state"], f"error: {told['error'] or 'none'}", sep="\\n")"""


def _cells(folder: Path, session: str | os.PathLike[str] | None) -> list[Cell]:
    if session is None:
        return _of_own_agent()
    file = Path(session)
    if not file.is_file():
        raise BadData(str(session), "there is no such file")
    try:
        relative = Path(os.path.relpath(file.resolve(), folder.resolve())).as_posix()
    except ValueError:  # another drive
        raise BadData(str(session), f"cannot be reached from {folder} by a relative path") from None
    return _of_saved_run(relative) if _is_saved_run(file) else _of_session(file, relative)


def _of_own_agent() -> list[Cell]:
    return [
        ("markdown", TITLE),
        ("markdown", "## Your agent\n\nPut yours in the place of this one: import it, and script its model or replay "
                     "a run that `dbg.save` wrote."),
        ("code", OWN_AGENT),
        ("markdown", "## The second request\n\nQuestion, call and answer, as the model is sent them."),
        ("code", SHOW_REQUEST),
        ("markdown", "## What is stored in the end"),
        ("code", SHOW_END),
    ]  # fmt: skip


def _of_saved_run(relative: str) -> list[Cell]:
    return [
        ("markdown", TITLE),
        ("markdown", "## The run\n\nPlayed again from the file that `dbg.save` wrote, without any model: processors "
                     "and callbacks run again, models and tools are answered."),
        ("code", f"import adknb\nfrom adknb.stepper.writing_tests import told_of\n\n"
                 f"dbg = adknb.replay({json.dumps(relative)}, offline=True)\nprint(dbg.here or 'the run is over')"),
        ("markdown", "## The requests that were sent"),
        ("code", 'for number, request in enumerate(told_of(dbg)["requests"], 1):\n'
                 '    print(f"request {number}", *request, "", sep="\\n")'),
        ("markdown", "## What is stored"),
        ("code", SHOW_END.removeprefix("dbg.resume()\n")),
    ]  # fmt: skip


def _of_session(file: Path, relative: str) -> list[Cell]:
    from adknb.files import open as open_session

    recording = open_session(file)
    cells: list[Cell] = [
        ("markdown", TITLE),
        ("markdown", "## The session\n\nThe file is read, never written. Where the agent can be imported, "
                     "`session.with_agent(agent)` adds its instruction and tools to what is rebuilt."),
        ("code", f"import adknb\n\nsession = adknb.open({json.dumps(relative)})\nprint(session)\n"
                 'for found in session.findings():\n    print(f"{found.severity}: {found.check}: {found.why}")'),
    ]  # fmt: skip
    answer = next((n for n in reversed(range(len(recording.events))) if _is_answer(recording.events[n])), None)
    if answer is None:
        return cells
    last = recording.turns
    return [
        *cells,
        ("markdown", "## What the model was given before its last answer"),
        ("code", f"print(session.request_before({answer}).text(width=100))"),
        ("markdown", "## The last turn, played again\n\nThe turns before it are the history; the model says what "
                     "it said."),
        ("code", "from adknb.stepper.writing_tests import told_of\n\n"
                 f"dbg = adknb.step(session.to_scenario(from_turn={last}))\n{SHOW_END}"),
    ]  # fmt: skip


def _is_answer(event: Any) -> bool:
    return event.author != "user" and event.content is not None and event.content.role != "user"


def _is_saved_run(file: Path) -> bool:
    try:
        document = json.loads(file.read_bytes())
    except (ValueError, RecursionError):
        return False
    return isinstance(document, dict) and {"format", "entries"} <= document.keys()


# ---------------------------------------------------------------------------------------------------------- the outputs


def _run(cells: list[Cell], folder: Path) -> list[dict[str, Any]]:
    """The cells as a notebook has them, with what they print; run in the notebook's folder, as its kernel will."""
    out: list[dict[str, Any]] = []
    names: dict[str, Any] = {"__name__": "__main__"}
    count = 0
    with _inside(folder):
        for number, (kind, text) in enumerate(cells):
            cell: dict[str, Any] = {"cell_type": kind, "id": f"cell-{number}", "metadata": {}, "source": _lines(text)}
            if kind == "code":
                count += 1
                said = io.StringIO()
                with contextlib.redirect_stdout(said):
                    exec(compile(text, f"cell {count}", "exec"), names)
                stream = {"name": "stdout", "output_type": "stream", "text": _lines(said.getvalue())}
                cell |= {"execution_count": count, "outputs": [stream]}
            out.append(cell)
    return out


@contextlib.contextmanager
def _inside(folder: Path) -> Iterator[None]:
    before, path = Path.cwd(), list(sys.path)
    os.chdir(folder)
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        os.chdir(before)
        sys.path[:] = path


@contextlib.contextmanager
def _made(folder: Path) -> Iterator[None]:
    """The folder is there; the ones that were made for it go again when nothing could be written."""
    missing = [up for up in (folder, *folder.parents) if not up.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadData(str(folder), f"cannot be made: {error.strerror}") from None
    try:
        yield
    except BaseException:
        for up in missing:
            with contextlib.suppress(OSError):
                up.rmdir()
        raise


def _notebook(cells: list[dict[str, Any]]) -> str:
    metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    document = {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def _lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


# --------------------------------------------------------------------------------------------------------- the settings


def _project(folder: Path) -> Path | None:
    """The pyproject.toml that pytest takes its settings from, here or above."""
    return next((file for up in (folder, *folder.parents) if (file := up / PROJECT).is_file()), None)


def _home(folder: Path) -> Path:
    """Where to put a pyproject.toml: where one stands and will type `pytest`, if the notebook is below."""
    return Path.cwd() if folder.is_relative_to(Path.cwd()) else folder


def _settings(rules: str) -> str:
    return f"""[tool.pytest.ini_options]
addopts = [
    "--nbval",              # every cell is run again, its output compared with the kept one
    "--nbval-current-env",  # in the Python that runs pytest
    "--nbval-sanitize-with={rules}",
]
"""


def _is_set(project: Path) -> bool:
    """Whether a pyproject.toml already has pytest run notebooks by these rules."""
    import tomllib

    try:
        options = tomllib.loads(project.read_text(encoding="utf-8"))["tool"]["pytest"]["ini_options"]["addopts"]
    except (OSError, ValueError, KeyError, TypeError):
        return False
    given = options.split() if isinstance(options, str) else [str(option) for option in options]
    return "--nbval" in given and any(option.startswith("--nbval-sanitize-with") for option in given)


def _shown(file: Path) -> str:
    return os.path.relpath(file)
