"""A run's journal as a file: canonical JSON that can be played again without a model.

    {"format": 1,
     "scenario": {…}                             what was played, embedded; or
     "agent": {"name", "path", "app", …}         an agent: where it can be imported from, clock and ids, its session
     "tasks": "interleaved"                      how several calls of one answer were run, where it was chosen
     "turns": [{"message", "state_delta"}, …]    the messages; for a scenario only those that were added
     "entries": [{"place", "edits", "answer", "tape", "effect", "closes", "lane"}, …]    a stop each
     "live": {…}                                of a live run: config, messages, sends (live_file.py)
     "memory": {"tapes", "effects"}              what was performed behind the place that the reader went back to
     "over": true,                               the run was over
     "told": {…}}                                what a test compares (writing_tests.py)

Keys are sorted, nothing says when it was written, one stop is one line: saving twice gives the same bytes. Secrets are
taken out (redact.py). What a reader did, models said and tools came to is written by json_values.py.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping
from typing import Any

from google.genai import types

from adknb.engine.errors import AdknbError, BadData
from adknb.engine.event_json import event_to_json
from adknb.engine.platform import concurrent, in_order, interleaved, reverse
from adknb.engine.response import LLMResponse
from adknb.engine.stops import Raise, Return, Seam
from adknb.json_text import name_of, parse, read_bytes, utf8
from adknb.scenarios import Built
from adknb.stepper.journal import Effect, Entry, Memory
from adknb.stepper.json_values import (
    actions_from_json,
    actions_to_json,
    decode,
    encode,
    outcome_from_json,
    outcome_to_json,
    record_from_json,
    record_to_json,
    strict,
)
from adknb.stepper.lanes import Lanes
from adknb.stepper.live_file import live_to_json
from adknb.stepper.live_play import LivePlay
from adknb.stepper.plays import AgentPlay
from adknb.stepper.redact import Pattern, redacted
from adknb.stepper.run import Run
from adknb.stepper.tape import Tape

FORMAT = 1

TASKS = {"in_order": in_order, "reverse": reverse, "interleaved": interleaved, "concurrent": concurrent}

Json = dict[str, Any]


class CannotSave(AdknbError):
    """A run that no file can bring back."""


# -------------------------------------------------------------------------------------------------------------- writing


def document_of(run: Run, path: str = "", redact: Iterable[Pattern] = (), told: Json | None = None) -> Json:
    """The journal of a run as plain JSON data, secrets taken out. `path` says where its agent can be imported from.

    Raises:
        NoJsonForm: a tool came to a value that has no JSON form; names the stop.
        CannotSave: what is played cannot be rebuilt, or the run was closed.
        BadData: a pattern is no regular expression.
    """
    if run.here is not None:
        run.journal[-1].edits = run.edits()
    document: Json = {
        "format": FORMAT,
        **_played(run, path),
        "entries": [_entry(entry, run.stops[entry.number]) for entry in run.journal],
        "over": run.here is None,
    }
    memory = {
        "tapes": [{"key": key, "tape": _tape(tape, "the memory of the run")} for key, tape in run.memory.tapes],
        "effects": [{"key": key, "effect": _effect(e, "the memory of the run")} for key, e in run.memory.effects],
    }
    document["memory"] = {name: kept for name, kept in memory.items() if kept}
    if told is not None:
        document["told"] = told
    clean: Json = redacted(document, redact)
    for entry, given in zip(clean["entries"], document["entries"], strict=True):
        entry["place"] = given["place"]  # names of the program; a replay must meet them
    return {key: value for key, value in clean.items() if value not in ({}, [], False, None)}


def text_of(document: Mapping[str, Any]) -> str:
    """The canonical text of a document: sorted keys, an entry a line."""
    rows = []
    for key, value in sorted(document.items()):
        if isinstance(value, list):
            text = "[\n" + ",\n".join(_dumps(item) for item in value) + "\n]"
        else:
            text = _dumps(value, indent=1)
        rows.append(f"{_dumps(key)}: {text}")
    return "{\n" + ",\n".join(rows) + "\n}\n"


def _dumps(value: Any, indent: int | None = None) -> str:
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, allow_nan=False, indent=indent)
    return re.sub("[\ud800-\udfff]", lambda m: f"\\u{ord(m.group()):04x}", text)  # half of a pair is no UTF-8


def _played(run: Run, path: str) -> Json:
    play = run.play
    if len(play.turns) < run.turn:
        raise CannotSave("the run was closed, and its messages are gone; save before close()")
    if isinstance(play, Built):
        added = play.turns[len(play.scenario["turns"]) :]
        tasks = {} if play.run_tasks is None else {"tasks": _name_of_tasks(play.run_tasks)}
        return {"scenario": strict(play.scenario, "the scenario"), "turns": [_turn(t) for t in added], **tasks}
    if not isinstance(play, AgentPlay):
        raise CannotSave(f"a {type(play).__name__} cannot be written to a file; an agent or a scenario can")
    platform = play.runner.platform
    if platform.readings is None:
        raise CannotSave("the platform of this run keeps no record of its clock and ids")
    session = play.first
    return {
        "agent": {
            "name": play.runner.agent.name,
            **({"path": path} if path else {}),
            "app": play.runner.app_name,
            **({"streaming_mode": mode} if (mode := play.run_config.streaming_mode) else {}),
            "platform": platform.readings(),
            "session": {
                "state": encode(session.state, "the session's state at the start"),
                "events": [strict(event_to_json(e), f"session event {n}") for n, e in enumerate(session.events)],
            },
        },
        "tasks": _name_of_tasks(platform.run_tasks),
        "turns": [_turn(t) for t in play.turns],
        **({"live": live_to_json(play)} if isinstance(play, LivePlay) else {}),
    }


def _name_of_tasks(run_tasks: Any) -> str:
    if isinstance(getattr(run_tasks, "__self__", None), Lanes):
        return "interleaved"
    name = next((name for name, known in TASKS.items() if known is run_tasks), "")
    if not name:
        raise CannotSave(f"the task runner {run_tasks!r} is none of {', '.join(TASKS)}: a file cannot name it")
    return name


def _turn(turn: Any) -> Json:
    message = turn.message
    out: Json = {
        "message": record_to_json(message, "a message") if isinstance(message, types.Content) else message,
        "stop_after": turn.stop_after,
    }
    if turn.state_delta:
        out["state_delta"] = encode(turn.state_delta, "a turn's state_delta")
    return {key: value for key, value in out.items() if value is not None}


def _entry(entry: Entry, stop: Any) -> Json:
    where = f"stop {entry.number}, {str(stop)!r}"
    out: Json = {"place": entry.place, "lane": entry.lane, "edits": encode(entry.edits, f"{where}, an edit")}
    if entry.answer is not None:
        out["answer"] = outcome_to_json(entry.answer, f"{where}, the answer", stop.seam)
    if entry.tape is not None:
        out["tape"] = _tape(entry.tape, where)
    if entry.effect is not None:
        out |= {"effect": _effect(entry.effect, where, stop.seam), "closes": entry.closes}
    return {key: value for key, value in out.items() if value not in (None, [])}


def _tape(tape: Tape, where: str) -> Json:
    kept = [outcome_to_json(outcome, f"{where}, answer {n}") for n, outcome in enumerate(tape.kept)]
    wrote = encode(tape.wrote or [], f"{where}, a change")
    out = {"ended": tape.ended, "uses": tape.uses, "wrote": wrote}
    return {"kept": kept, **{key: value for key, value in out.items() if value not in (None, [])}}


def _effect(effect: Effect, where: str, seam: Seam = Seam.TOOL) -> Json:
    out: Json = {"outcome": outcome_to_json(effect.outcome, f"{where}, the result", seam), "uses": effect.uses}
    if effect.actions is not None:
        out["actions"] = actions_to_json(effect.actions, f"{where}, the actions")
        out["args"] = encode(effect.args, f"{where}, the arguments")
        out["artifacts"] = {n: record_to_json(p, f"{where}, file {n!r}") for n, p in effect.artifacts.items()}
    return {key: value for key, value in out.items() if value is not None and not (key == "artifacts" and not value)}


# -------------------------------------------------------------------------------------------------------------- reading


def read_file(path: str | os.PathLike[str]) -> Json:
    """A document from a file, its outline checked.

    Raises:
        BadData: the file cannot be read, is not JSON, is of another format or not as it should be; names the place.
    """
    name = name_of(path)
    return checked(parse(utf8(read_bytes(path), name), name), name)


FIELDS: dict[str, type] = {
    "format": int,
    "scenario": dict,
    "agent": dict,
    "tasks": str,
    "turns": list,
    "live": dict,
    "entries": list,
    "memory": dict,
    "over": bool,
    "told": dict,
}


def checked(document: Any, name: str) -> Json:
    """The outline of a document: its format, its fields and their kinds. Raises BadData."""
    read: Json = expect(document, dict, name)
    if "format" not in read:
        raise BadData(name, 'this is no saved run: it has no "format"')
    if read["format"] != FORMAT or isinstance(read["format"], bool):
        raise BadData(f"{name}: format", f"{read['format']!r} is not known; this adknb reads format {FORMAT}")
    for key, value in read.items():
        if key not in FIELDS:
            raise BadData(name, f"unknown field {key!r}; known: {', '.join(FIELDS)}")
        expect(value, FIELDS[key], f"{name}: {key}")
    if ("scenario" in read) == ("agent" in read):
        raise BadData(name, "expected a scenario or an agent, one of the two")
    if not read.get("entries"):
        raise BadData(f"{name}: entries", "there is none; a run has at least its first stop")
    if read.get("tasks", "in_order") not in TASKS:
        raise BadData(f"{name}: tasks", f"{read['tasks']!r} is none of {', '.join(TASKS)}")
    return read


def entries_of(document: Json, name: str) -> list[Entry]:
    """The entries of a document. Raises BadData."""
    entries = []
    for n, given in enumerate(document["entries"]):
        where = f"{name}: entries[{n}]"
        read = fields(given, where, {"place": str, "lane": str, "edits": list, "answer": dict, "tape": dict}
                      | {"effect": dict, "closes": int}, "place")  # fmt: skip
        entry = Entry(n, read["place"], lane=read.get("lane"))
        entry.edits = [_edit(op, f"{where}.edits[{i}]") for i, op in enumerate(read.get("edits", []))]
        if "answer" in read:
            entry.answer = outcome_from_json(read["answer"], f"{where}.answer")
        if "tape" in read:
            entry.tape = tape_of(read["tape"], f"{where}.tape")
        if "effect" in read:
            entry.effect = effect_of(read["effect"], f"{where}.effect")
            entry.closes = read.get("closes")
            if entry.closes is None or not 0 <= entry.closes < n:
                raise BadData(f"{where}.closes", "expected the number of the stop before this call")
        entries.append(entry)
    return entries


def memory_of(document: Json, name: str) -> Memory:
    """What was performed behind the place. Raises BadData."""
    where = f"{name}: memory"
    read = fields(document.get("memory", {}), where, {"tapes": list, "effects": list})
    kinds = {"key": str, "tape": dict, "effect": dict}
    tapes, effects = [], []
    for n, given in enumerate(read.get("tapes", [])):
        item = fields(given, f"{where}.tapes[{n}]", kinds, "key", "tape")
        tapes.append((item["key"], tape_of(item["tape"], f"{where}.tapes[{n}].tape")))
    for n, given in enumerate(read.get("effects", [])):
        item = fields(given, f"{where}.effects[{n}]", kinds, "key", "effect")
        effects.append((item["key"], effect_of(item["effect"], f"{where}.effects[{n}].effect")))
    return Memory(tapes, effects)


def _edit(given: Any, where: str) -> Json:
    op = fields(given, where, {"op": str, "path": str, "from": str, "value": object}, "op", "path")
    needs = {"add": "value", "replace": "value", "remove": "path", "move": "from", "copy": "from"}.get(op["op"])
    if needs is None:
        raise BadData(f"{where}.op", f"{op['op']!r} is none of add, replace, remove, move, copy")
    if needs not in op:
        raise BadData(where, f"the field {needs!r} is missing")
    for key in ("path", "from"):
        if not op.get(key, "/").startswith("/"):
            raise BadData(f"{where}.{key}", f"expected a path that starts with '/', found {op[key]!r}")
    return {**op, "value": decode(op["value"], f"{where}.value")} if "value" in op else op


def tape_of(given: Any, where: str) -> Tape:
    """A tape that was written down. Raises BadData."""
    read = fields(given, where, {"kept": list, "ended": bool, "uses": int, "wrote": list}, "kept")
    kept: list[Return | Raise] = []
    for n, item in enumerate(read["kept"]):
        outcome = outcome_from_json(item, f"{where}.kept[{n}]")
        if isinstance(outcome, Return) and not isinstance(outcome.value, LLMResponse):
            raise BadData(f"{where}.kept[{n}].return", "expected an LLMResponse")
        kept.append(outcome)
    tape = Tape(kept=kept, ended=read.get("ended", False))
    tape.uses = read.get("uses")
    tape.wrote = [_edit(op, f"{where}.wrote[{i}]") for i, op in enumerate(read.get("wrote", []))]
    return tape


def effect_of(given: Any, where: str) -> Effect:
    """An effect that was written down. Raises BadData."""
    kinds = {"outcome": dict, "actions": dict, "args": dict, "artifacts": dict, "uses": int}
    read = fields(given, where, kinds, "outcome")
    actions = actions_from_json(read["actions"], f"{where}.actions") if "actions" in read else None
    artifacts = {
        name: record_from_json(types.Part, part, f"{where}.artifacts.{name}")
        for name, part in read.get("artifacts", {}).items()
    }
    args = decode(read.get("args", {}), f"{where}.args")
    outcome = outcome_from_json(read["outcome"], f"{where}.outcome")
    return Effect(outcome, actions, args, artifacts, read.get("uses"))


def fields(given: Any, where: str, kinds: Mapping[str, type], *needed: str) -> Json:
    """An object with these fields and no others. Raises BadData."""
    read: Json = expect(given, dict, where)
    for key, value in read.items():
        if key not in kinds:
            raise BadData(where, f"unknown field {key!r}; known: {', '.join(kinds)}")
        expect(value, kinds[key], f"{where}.{key}")
    for key in needed:
        if key not in read:
            raise BadData(where, f"the field {key!r} is missing")
    return read


def expect(value: Any, kind: type, where: str) -> Any:
    """The value, if it is of that kind. Raises BadData."""
    if isinstance(value, kind) and not (isinstance(value, bool) and kind not in (bool, object)):
        return value
    raise BadData(where, f"expected {_NAMES[kind]}, found {'null' if value is None else _NAMES[type(value)]}")


_NAMES: dict[type, str] = {
    dict: "an object",
    list: "a list",
    str: "a text",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
}
