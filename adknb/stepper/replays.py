"""`replay`: a saved run, played again from its file. Models and tools are answered from the recording."""

from __future__ import annotations

import importlib
import os
import re
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from sys import modules
from typing import Any

from google.genai import types

from adknb.engine.agent import Agent
from adknb.engine.context import LiveConfig, RunConfig
from adknb.engine.errors import AdknbError, BadData
from adknb.engine.event_json import event_from_json
from adknb.engine.platform import Platform, TaskRunner, counted
from adknb.engine.runner import Runner
from adknb.engine.session import Session
from adknb.scenarios import Turn, build, check
from adknb.stepper.journal_file import TASKS, Json, checked, entries_of, expect, fields, memory_of, read_file
from adknb.stepper.json_values import decode, record_from_json
from adknb.stepper.live_file import live_from_json
from adknb.stepper.live_play import LivePlay, LiveTape
from adknb.stepper.live_stepper import LiveStepper
from adknb.stepper.plays import AgentPlay, Play
from adknb.stepper.run import Run
from adknb.stepper.stepper import Stepper


class AgentNeeded(AdknbError):
    """An agent is Python code: a file can say where it is, not what it is."""


def replay(
    path: str | os.PathLike[str] | Mapping[str, Any],
    agent: Agent | Runner | str | None = None,
    *,
    offline: bool = False,
) -> Stepper:
    """A saved run, standing where it stood when it was saved. No model is asked and no tool is run on the way there.

    A scenario is in the file. For an agent give the agent, its runner, or where it is (`"package.module:name"`); left
    out, it is imported from where the file says. Going on behind the recording uses the scenario's doubles or the
    models and tools of the agent that was given; without an agent given, or `offline`, models fail with TapeEnded.

    Raises:
        BadData: the file is not as it should be; names the place.
        AgentNeeded: the file does not say where its agent is, or it is not there.
        ReplayDiverged: the code has changed since.
    """
    if isinstance(path, Mapping):
        document, name = checked(dict(path), "document"), "document"
    else:
        document, name = read_file(path), Path(path).name
    entries, memory = entries_of(document, name), memory_of(document, name)
    play = play_of_document(document, name, agent)
    run = Run(play)
    run.offline = offline or ("agent" in document and agent is None)
    if isinstance(play, LivePlay):
        play.offline = run.offline
    try:
        run.follow(entries, as_it_was_left=True, over=document.get("over", False))
    except BadData as error:
        raise BadData(f"{name}: an edit at {error.where}", error.message) from error
    run.memory = memory
    dbg = (LiveStepper if isinstance(play, LivePlay) else Stepper)(run=run)
    dbg.notice = f"replayed {name}"
    return dbg


# ---- what is played


def play_of_document(document: Json, name: str, agent: Agent | Runner | str | None) -> Play:
    """The scenario of a document, or its agent, ready to run from the start. Raises BadData, AgentNeeded."""
    tasks = TASKS[document["tasks"]] if "tasks" in document else None
    turns = [_turn(turn, f"{name}: turns[{n}]") for n, turn in enumerate(document.get("turns", []))]
    if "agent" in document:
        live = live_from_json(document["live"], f"{name}: live") if "live" in document else None
        return _agent_play(document["agent"], f"{name}: agent", agent, tasks, turns, live)
    if agent is not None:
        raise TypeError("this recording is of a scenario, which is in the file; leave agent out")
    built = build(check(document["scenario"], f"{name}: scenario"), run_tasks=tasks)
    built.turns += turns
    return built


def _agent_play(
    given: Json,
    where: str,
    agent: Agent | Runner | str | None,
    tasks: TaskRunner | None,
    turns: list[Turn],
    live: tuple[LiveConfig, LiveTape] | None,
) -> AgentPlay:
    kinds = {"name": str, "path": str, "app": str, "streaming_mode": str, "platform": dict, "session": dict}
    read = fields(given, where, kinds, "name", "app", "platform", "session")
    session = fields(read["session"], f"{where}.session", {"state": dict, "events": list}, "state", "events")
    place = f"{where}.session.events"
    first = Session(
        AgentPlay.session_id,
        read["app"],
        AgentPlay.user,
        state=decode(session["state"], f"{where}.session.state"),
        events=[event_from_json(event, f"{place}[{n}]") for n, event in enumerate(session["events"])],
    )
    platform = _platform(read["platform"], f"{where}.platform", tasks or TASKS["interleaved"])
    found = agent_of(agent if agent is not None else read.get("path"), read["name"])
    runner = found if isinstance(found, Runner) else Runner(found, read["app"], platform=counted())
    started = Runner(
        runner.agent, read["app"], plugins=runner.plugins, platform=platform, compaction=runner.compaction
    )  # fmt: skip
    if live is not None:
        config, tape = live
        play: AgentPlay = LivePlay(started, config, first)
        play.recorded(tape)  # type: ignore[attr-defined]
        return play.again(platform)
    play = AgentPlay(started, [], first, RunConfig(read.get("streaming_mode", "")))
    play.turns = turns
    return play.again(platform)


def _platform(given: Json, where: str, tasks: TaskRunner) -> Platform:
    read = fields(given, where, {"counted": object, "times": list, "ids": list})
    if "counted" in read:
        return counted(tasks, float(_number(read["counted"], f"{where}.counted")))
    times = [float(_number(t, f"{where}.times[{n}]")) for n, t in enumerate(read.get("times", []))]
    ids = [expect(text, str, f"{where}.ids[{n}]") for n, text in enumerate(read.get("ids", []))]
    return Platform(run_tasks=tasks).recorded(times, ids)


def _number(given: Any, where: str) -> Any:
    if isinstance(given, bool) or not isinstance(given, (int, float)):
        raise BadData(where, f"expected a number, found {given!r}")
    return given


def _turn(given: Any, where: str) -> Turn:
    read = fields(given, where, {"message": dict, "state_delta": dict, "stop_after": int}, "message")
    message: Any = record_from_json(types.Content, read["message"], f"{where}.message")
    delta = read.get("state_delta")
    return Turn(message, None if delta is None else decode(delta, f"{where}.state_delta"), read.get("stop_after"))


# ---- where agents are


def agent_of(given: Agent | Runner | str | None, name: str) -> Agent | Runner:
    """The agent or runner that is given, or that stands at `"package.module:name"`; a function there makes one.

    Raises:
        AgentNeeded: nothing is given, or there is no agent there.
    """
    if given is None:
        raise AgentNeeded(
            f"this recording is of the agent {name!r}, which is Python code and not in the file. "
            'Give it: replay(path, agent=the_agent) or agent="package.module:name"'
        )
    found: Any = imported(given) if isinstance(given, str) else given
    if not isinstance(found, (Agent, Runner)):
        where = f"at {given!r} " if isinstance(given, str) else ""
        raise AgentNeeded(f"{where}expected an agent or a runner, found a {type(found).__name__}")
    return found


def imported(path: str) -> Any:
    """What stands at `"package.module:name"`; a function there is called. Raises AgentNeeded."""
    if not re.fullmatch(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*(\.[^\W\d]\w*)*", path):
        raise AgentNeeded(f'an agent\'s place is written "package.module:name", not {path!r}')
    module, _, names = path.partition(":")
    try:
        at: Any = importlib.import_module(module)
    except ModuleNotFoundError as error:
        raise AgentNeeded(f"{path!r}: there is no module {error.name!r} here") from None
    for name in names.split("."):
        if not hasattr(at, name):
            raise AgentNeeded(f"{path!r}: there is no {name!r} in {getattr(at, '__name__', at)!r}")
        at = getattr(at, name)
    if callable(at) and not isinstance(at, (Agent, Runner)):
        return at()
    return at


def path_of(play: Play) -> str:
    """Where the agent of a play can be imported from: `package.module:name`; empty if no module has it by a name.

    With plugins or a compaction the agent alone would not run alike: then it is the place of a Runner.
    """
    runner = play.runner
    needs_runner = bool(runner.plugins or runner.compaction)
    for module_name, module in sorted(modules.items()):
        if module_name == "__main__":
            continue
        for name, value in list(getattr(module, "__dict__", {}).items()):
            it = isinstance(value, Runner) and value.agent is runner.agent if needs_runner else value is runner.agent
            if it and _can_be_imported(module_name):
                return f"{module_name}:{name}"
    return ""


def _can_be_imported(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except (ImportError, ValueError, AttributeError):
        return False
