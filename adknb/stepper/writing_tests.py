"""A run kept: saved to a file, as a pytest file, or as a notebook that nbval checks.

A test is two files: `test_turn.py`, which is there to be read, and `test_turn.recording.json` beside it, which is what
`save` writes (`adknb.replay` opens it). The test plays the recording again without any model and compares what is told:

    def test_request_1(run):
        assert run.request(1) == [
            "model: scripted",
            "instruction: You are a weather agent.",
            …
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from typing import Any

from adknb.engine.errors import BadData
from adknb.engine.stops import Seam
from adknb.scenarios import Built
from adknb.stepper.journal_file import CannotSave, Json, document_of, expect, fields, read_file, text_of
from adknb.stepper.record import StopRecord
from adknb.stepper.redact import Pattern
from adknb.stepper.replays import AgentNeeded, agent_of, path_of, replay
from adknb.stepper.stepper import Stepper
from adknb.stepper.telling import agreeing, event_lines, request_lines, state_lines
from adknb.whole_file import write_whole

INLINE = 40
"""What has more lines stays in the recording; the test compares with it there."""

Where = str | os.PathLike[str]


class Kept:
    """A recording played again, and what there is to compare. Requests are counted from 1.

    Where a secret was taken out of the recording, any text agrees.
    """

    def __init__(self, dbg: Stepper, recorded: Json) -> None:
        self.dbg = dbg
        self.recorded = recorded
        """What was told when the recording was made."""
        self._told = told_of(dbg)

    @property
    def asked(self) -> int:
        """How many requests were sent to models."""
        return len(self._told["requests"])

    def request(self, number: int) -> list[str]:
        """The lines of a request as it was sent. Raises LookupError if there were not so many."""
        if not 1 <= number <= self.asked:
            raise LookupError(f"there is no request {number}: models were asked {self.asked} times")
        return self._lines(self._told["requests"][number - 1], self._recorded_requests(number))

    @property
    def tools(self) -> list[str]:
        """The tools that ran, in order."""
        return list(self._told["tools"])

    @property
    def events(self) -> list[str]:
        """The lines of the stored events."""
        return self._lines(self._told["events"], self.recorded.get("events", []))

    @property
    def state(self) -> list[str]:
        """The state at the end, a key a line."""
        return self._lines(self._told["state"], self.recorded.get("state", []))

    @property
    def error(self) -> str:
        """What ended the last turn, if it was an error."""
        return self._lines([self._told["error"]], [self.recorded.get("error", "")])[0]

    def _recorded_requests(self, number: int) -> list[str]:
        requests = self.recorded.get("requests", [])
        return requests[number - 1] if number <= len(requests) else []

    def _lines(self, told: list[str], recorded: list[str]) -> list[str]:
        return agreeing(told, recorded)


def replayed(path: Where) -> Kept:
    """Play a recording again, without any model. Raises what `adknb.replay` raises."""
    return _kept(read_file(path), Path(path).name)


def _kept(document: Json, name: str) -> Kept:
    kinds = {"requests": list, "tools": list, "events": list, "state": list, "error": str}
    told = fields(document.get("told", {}), f"{name}: told", kinds)
    for key in ("tools", "events", "state"):
        _texts(told.get(key, []), f"{name}: told.{key}")
    for n, request in enumerate(told.get("requests", [])):
        _texts(request, f"{name}: told.requests[{n}]")
    return Kept(replay(document, offline=True), told)


def _texts(given: Any, where: str) -> None:
    for n, item in enumerate(expect(given, list, where)):
        expect(item, str, f"{where}[{n}]")


def told_of(dbg: Stepper) -> Json:
    """What a run has told so far."""
    return {
        "requests": [request_lines(sent) for sent in dbg.requests],
        "tools": list(dbg.tools_run),
        "events": event_lines(dbg.events),
        "state": state_lines(dbg.state),
        "error": "" if dbg.error is None else f"{type(dbg.error).__name__}: {dbg.error}",
    }


# ---- writing


def save(dbg: Stepper, path: Where, redact: Iterable[Pattern] = (), agent: str = "") -> Stepper:
    """Write a run to a file; see `Stepper.save`."""
    with dbg.lock:
        run = dbg._run
        where = "" if isinstance(run.play, Built) else agent or path_of(run.play)
        write_whole(path, text_of(document_of(run, where, redact)))
        dbg.notice = f"saved to {Path(path).name}"
    return dbg


def write_test(dbg: Stepper, path: Where, agent: str = "", redact: Iterable[Pattern] = ()) -> Stepper:
    """Keep a run as a pytest file; see `Stepper.to_test`."""
    target, beside = _targets(path, ".py", "a pytest file")
    with dbg.lock:
        document = _recording(dbg, agent, redact)
        text = _test_text(document, _asked_at(dbg), beside.name)
        _write_both(target, text, beside, document)
        dbg.notice = f"kept as {target.name}"
    return dbg


def write_notebook(dbg: Stepper, path: Where, agent: str = "", redact: Iterable[Pattern] = ()) -> Stepper:
    """Keep a run as a notebook that nbval checks; see `Stepper.to_notebook`."""
    try:
        nbformat: Any = import_module("nbformat")
    except ImportError:
        raise CannotSave(
            "a notebook is written with nbformat, which is not installed: pip install 'adknb[lab]'"
        ) from None
    target, beside = _targets(path, ".ipynb", "a notebook")
    with dbg.lock:
        document = _recording(dbg, agent, redact)
        text: str = nbformat.writes(_notebook(document, _asked_at(dbg), beside.name))
        _write_both(target, text + "\n", beside, document)
        dbg.notice = f"kept as {target.name}"
    return dbg


def _targets(path: Where, suffix: str, what: str) -> tuple[Path, Path]:
    target = Path(path)
    if target.suffix != suffix:
        raise BadData(str(target), f"{what} ends in {suffix}")
    return target, target.with_suffix(".recording.json")


def _write_both(target: Path, text: str, beside: Path, document: Json) -> None:
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadData(str(target.parent), f"cannot be made: {error.strerror}") from None
    write_whole(beside, text_of(document))
    write_whole(target, text)


def _recording(dbg: Stepper, agent: str, redact: Iterable[Pattern]) -> Json:
    """The document with what was told; it has been played again once, and told the same.

    Raises:
        AgentNeeded, CannotSave: it would not pass.
    """
    run = dbg._run
    where = "" if isinstance(run.play, Built) else _place_of_agent(dbg, agent)
    document = document_of(run, where, redact, told=told_of(dbg))
    kept = _kept(json.loads(text_of(document)), "recording")
    told: Json = document.get("told", {})
    pairs = [(kept.request(n + 1), lines) for n, lines in enumerate(told["requests"][: kept.asked])]
    pairs += [(kept.tools, told["tools"]), (kept.events, told["events"]), (kept.state, told["state"])]
    pairs += [([kept.error], [told["error"]]), ([str(kept.asked)], [str(len(told["requests"]))])]
    for again, before in pairs:
        if again != before:
            n = next((i for i, (a, b) in enumerate(zip(again, before, strict=False)) if a != b), 0)
            says = [lines[n] if n < len(lines) else "nothing" for lines in (before, again)]
            raise CannotSave(
                f"the test would not pass: played again, the run tells {says[1]!r} where it told {says[0]!r}. "
                "Has the agent changed since, or does it depend on something outside?"
            )
    return document


def _place_of_agent(dbg: Stepper, agent: str) -> str:
    name = dbg.play.runner.agent.name
    if agent.startswith("__main__:"):
        agent = ""
    where = agent or path_of(dbg.play)
    if not where:
        needs = "a runner with its plugins" if dbg.play.runner.plugins else "an agent"
        raise AgentNeeded(
            f"the agent {name!r} stands in no module that a test could import: it was made in a notebook, in __main__ "
            f"or inside a function. Write {needs} in a module (my_agents.py) and say where it is: "
            'agent="my_agents:agent" ("package.module:name"; a function there that makes one will do)'
        )
    agent_of(where, name)
    return where


def _asked_at(dbg: Stepper) -> list[StopRecord]:
    """The stops at which requests were sent."""
    return [dbg.stops[e.number] for e in dbg._run.journal if e.question and dbg.stops[e.number].seam is Seam.MODEL]


def _title(document: Json) -> str:
    if "scenario" in document:
        return f"scenario {_harmless(document['scenario']['name'])}"
    return f"agent {_harmless(document['agent']['name'])} ({_harmless(document['agent']['path'])})"


def _harmless(text: str) -> str:
    """A name as it may stand in a docstring or in Markdown: nothing in it can end that."""
    return re.sub(r"[^\w .:/-]", "", text)


def _test_text(document: Json, asked: list[StopRecord], recording: str) -> str:
    told = document["told"]
    out = [
        f'''"""A run kept as a test: {_title(document)}.

It is played again from {_harmless(recording)} without any model: processors and callbacks run again, models and tools
are answered. Where it fails, the code now asks or does something else. If that is meant, keep the run anew.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from adknb.stepper.writing_tests import Kept, replayed


@pytest.fixture(scope="module")
def run() -> Kept:
    return replayed(Path(__file__).with_name({_literal(recording)}))
'''
    ]
    for n, (lines, stop) in enumerate(zip(told["requests"], asked, strict=True), 1):
        out.append(
            f'''

def test_request_{n}(run: Kept) -> None:
    """Turn {stop.turn}, step {stop.step} of {_harmless(stop.agent) or "the agent"}: as it was sent."""
    assert run.request({n}) == {_lines(lines, f"run.recorded['requests'][{n - 1}]")}
'''
        )
    out.append(
        f"""

def test_what_ran(run: Kept) -> None:
    assert run.asked == {len(asked)}
    assert run.tools == {_lines(told["tools"], "run.recorded['tools']")}
    assert run.error == {_literal(told["error"])}


def test_the_events(run: Kept) -> None:
    assert run.events == {_lines(told["events"], "run.recorded['events']")}


def test_the_state(run: Kept) -> None:
    assert run.state == {_lines(told["state"], "run.recorded['state']")}
"""
    )
    return "".join(out)


def _lines(lines: list[str], elsewhere: str) -> str:
    if len(lines) > INLINE:
        return elsewhere.replace("'", '"')
    if not lines:
        return "[]"
    return "[\n" + "".join(f"        {_literal(line)},\n" for line in lines) + "    ]"


def _literal(text: str) -> str:
    """A Python text, in double quotes unless it is full of them; what cannot be seen is written as an escape."""
    shown = json.dumps(text, ensure_ascii=False)
    if '"' in text and "'" not in text:
        shown = "'" + shown[1:-1].replace('\\"', '"') + "'"
    return "".join(c if c.isprintable() else c.encode("unicode_escape", "surrogatepass").decode() for c in shown)


def _notebook(document: Json, asked: list[StopRecord], recording: str) -> Any:
    v4: Any = import_module("nbformat.v4")
    told = document["told"]
    cells: list[Any] = []

    def say(text: str) -> None:
        cells.append(v4.new_markdown_cell(text, id=f"cell-{len(cells)}"))

    def show(code: str, lines: list[str] | None = None) -> None:
        outputs = [v4.new_output("stream", name="stdout", text="\n".join(lines) + "\n")] if lines else []
        number = 1 + sum(cell.cell_type == "code" for cell in cells)
        cells.append(v4.new_code_cell(code, execution_count=number, outputs=outputs, id=f"cell-{len(cells)}"))

    say(
        f"# A run kept: {_title(document)}\n\n"
        f"It is played again from `{_harmless(recording)}` without any model: processors and callbacks run again, "
        "models and tools are answered. `pytest --nbval` runs it and compares. `run.dbg` is the Stepper."
    )
    show(f"from adknb.stepper.writing_tests import replayed\n\nrun = replayed({_literal(recording)})")
    for n, (lines, stop) in enumerate(zip(told["requests"], asked, strict=True), 1):
        say(f"## Request {n}: turn {stop.turn}, step {stop.step} of {_harmless(stop.agent) or 'the agent'}")
        show(f'print(*run.request({n}), sep="\\n")', lines)
    say("## What ran, what was stored, and the state")
    show(
        'print(run.asked, "requests;", "tools:", *run.tools)',
        [" ".join([str(len(asked)), "requests;", "tools:", *told["tools"]])],
    )
    show('print(*run.events, sep="\\n")', told["events"] or [""])
    show('print(*run.state, run.error, sep="\\n")', [*told["state"], told["error"]])
    notebook = v4.new_notebook(cells=cells)
    notebook.metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    return notebook
