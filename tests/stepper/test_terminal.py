"""`adknb step`: a session is a table of commands and the lines that answer the last of them."""

from __future__ import annotations

import contextlib
import io
import json
import os
import pty
import select
import signal
import subprocess
import sys
from typing import Any

import pytest

import adknb
from adknb import at, changed, event
from adknb.cli import main
from adknb.engine.errors import BadData
from adknb.scenarios import ScriptedModel, scenario
from adknb.stepper import terminal
from adknb.stepper.terminal_words import Misspelt, wish_of

WEATHER = scenario("01a-one-turn")


def told(*commands: str, which: str = "01a-one-turn", runner: str | None = None) -> list[str]:
    """What the last command prints."""
    out = io.StringIO()
    marked = [*commands[:-1], "save", commands[-1], "save"]  # a command that only complains: it marks the place
    assert terminal.main(which, runner=runner, stdin=io.StringIO("\n".join(marked) + "\n"), stdout=out) == 0
    return out.getvalue().split("*** save takes a file name\n")[1].splitlines()


SESSIONS: list[tuple[tuple[str, ...], list[str]]] = [
    (("s",), ["stop 1 · after append user · turn 1"]),
    (("n", "n"), ["stop 3 · after processor basic · turn 1, weather_agent, step 1"]),
    (("until contents",), ["stop 17 · after processor contents · turn 1, weather_agent, step 1"]),
    (("unt contents step=2",), ["stop 62 · after processor contents · turn 1, weather_agent, step 2"]),
    (("unt contents phase=before | tool=get_weather",), ["stop 16 · before processor contents"]),
    (("unt ~ agent=weather_agent & ~ seam=append",), ["stop 1 · after append user"]),
    (("unt changed config.tools",), ["stop 28 · after tool_declaration"]),
    (("unt event author=weather_agent final=true",), ["stop 80 · before event weather_agent"]),
    (("unt contents", "r"), ["stop 47 · before processor basic · turn 1, weather_agent, step 2"]),
    (("c",), ["run over · 1 turn, 85 stops"]),
    (("continue",), ["run over"]),
    (("c", "s"), ["*** the run is over; back, rewind and restart go on from there"]),
    (("c", "back"), ["stop 84 · end of turn 1"]),
    (("b tool=get_weather",), ["  0  at(tool='get_weather')"]),
    (("b model", "b tool=get_weather", "b"), ["  0  at('model')", "  1  at(tool='get_weather')"]),
    (("b model", "b contents", "cl 0"), ["  0  at('contents')"]),
    (("b model", "b contents", "cl model"), ["  0  at('contents')"]),
    (("b model", "b contents", "cl"), ["no breakpoints"]),
    (("b model", "cl 3"), ["*** there is no breakpoint 3; there are 1, counted from 0"]),
    (("b model", "cl contents"), ["*** there is no breakpoint at('contents')"]),
    (("b contents", "c"), ["stop 17 · after processor contents", "  note      breakpoint at('contents')"]),
    (("unt contents", "w"), ["-> stop 17, after processor contents (turn 1, weather_agent, step 1)"]),
    (
        ("unt seam=append agent=weather_agent", "w"),
        ["-> stop 37, before append weather_agent (turn 1, weather_agent, step 1)"],
    ),
    (("unt tool=get_weather", "p args"), ["{", '  "city": "Hangzhou"', "}"]),
    (("unt tool=get_weather", "p args.city"), ['"Hangzhou"']),
    (("unt model", "p request.contents.0.parts[0].text"), ['"杭州现在多少度？"']),
    (("unt model", "p request.config.system_instruction.role"), ['"user"']),
    (("p args",), ["null"]),
    (("p request.contents",), ["*** request is null: there is nothing inside it"]),
    (("unt model", "p request.contents.7"), ["*** request.contents has 1 items, counted from 0: there is no '7'"]),
    (("unt model", "p request.songs"), ["*** request has no 'songs'; it has: model, contents, config, tools"]),
    (("p __import__('os')",), ["*** there is no \"__import__('os')\" to look at; there are: request, args, response,"]),
    (("c", "p tools_run"), ["[", '  "get_weather"', "]"]),
    (("unt tool=get_weather", 'e args.city "Oslo"', "p edits.0.value"), ['"Oslo"']),
    (("unt tool=get_weather", 'e args {"city": "Oslo"}'), ["stop 39 · before tool get_weather", "  call      get_weather(c"]),
    (("unt tool=get_weather", "e args 5"), ["*** args: expected an object"]),
    (("unt tool=get_weather", "e args.city Oslo"), ["*** not JSON: expecting value"]),
    (("unt tool=get_weather", "e args.city"), ["*** edit takes a path and a JSON value"]),
    (("unt tool=get_weather", "e song.x 1"), ["*** there is no 'song' to edit at this stop; there are: args, request, state"]),
    (("unt tool=get_weather", "n", "e result.temperature -40", "p result.temperature"), ["-40"]),
    (("unt tool=get_weather", 'e state.mood "good"', "p state.mood"), ['"good"']),
    (("unt contents", 'e request.contents.0.parts.0.text "Hi"', "p request.contents.0.parts.0.text"), ['"Hi"']),
    (("unt contents", "e request.config.temperature 0.5", "p request.config.temperature"), ["0.5"]),
    (("unt contents", "e request.contents.0.parts.0.text 5"), ["*** request, line", "contents[0].parts[0].text"]),
    (("unt contents", "e request.songs 5"), ["*** request", "a request has no field 'songs'"]),
    (
        ("unt model phase=after", 'e response.content.parts.0.functionCall.args.city "Oslo"',
         "p response.content.parts.0.functionCall.args"),
        ["{", '  "city": "Oslo"', "}"],
    ),
    (("unt model phase=after", "e response.content.parts 5"), ["*** response"]),
    (("unt model phase=after", 'e response "x"'), ["*** say which part of the response, as in: edit response.content."]),
    (("unt event", 'e event.author "me"', "p event.author"), ['"me"']),
    (("c", 'e args.city "x"'), ["*** the run is over: there is nothing to edit"]),
    (("unt tool=get_weather", 'skip {"temperature": 1}', "p result"), ["{", '  "temperature": 1', "}"]),
    (("unt model", 'skip "A made-up answer."', "p response.content.parts.0.text"), ['"A made-up answer."']),
    (("unt model", 'skip {"role": "model", "parts": [{"text": "Hi"}]}', "p response.content.parts.0.text"), ['"Hi"']),
    (("unt model", 'skip {"parts": 5}'), ["*** answer.parts: "]),
    (("unt tool=get_weather", "fail out of order", "c", "p events.2.content.parts.0.functionResponse.response"),
     ["{", '  "error": "out of order"', "}"]),
    (("s", "s", "back"), ["stop 1 · after append user · turn 1", "  note      back at stop 1"]),
    (("c", "rewind 17"), ["stop 17 · after processor contents"]),
    (("rewind 17",), ["*** ValueError: there is no stop 17; the run so far has stops 0 to 0"]),
    (("rewind home",), ["*** expected the number of a stop, 0 to 0, not 'home'"]),
    (("c", "restart"), ["stop 0 · before append user"]),
    (("c", "restart fresh", "p stops"), ["[", '  "before append user"', "]"]),
    (("restart quickly",), ["*** it is restart, or restart fresh"]),
    (("lanes",), ["nothing runs side by side here"]),
    (("choose x",), ["*** no lane is called 'x'"]),
    (("c", "send And now?"), ["stop 85 · before append user · turn 2"]),
    (("sing",), ["*** no command 'sing'; "]),
    (("untill contents",), ["*** no command 'untill'; did you mean 'until'?"]),
    (("until",), ["*** where to? A name or key=value words"]),
    (("until contennts",), ["*** no stop is called 'contennts'. ", "Did you mean 'contents'?"]),
    (("until 'contents",), ['*** "\'contents": no closing quotation']),
    (("help until",), ["unt(il) WISH: go on until it comes true."]),
    (("?e",), ['e(dit) PATH JSON: change what this stop holds: edit args.city "Oslo".']),
    (("# a remark",), []),
    (("",), []),
]  # fmt: skip


@pytest.mark.parametrize("commands, lines", SESSIONS, ids=[" ; ".join(c) for c, _ in SESSIONS])
def test_a_session(commands, lines):
    printed = told(*commands)
    if printed and printed[0].startswith("***"):
        assert len(printed) == 1  # what went wrong is one line
        assert all(line in printed[0] for line in lines), printed
    else:
        assert all(any(p.startswith(line) for p in printed) for line in lines), printed
        assert bool(lines) == bool(printed)


def test_the_timeline_shows_what_is_around_here():
    printed = told("until contents", "l")
    assert [line[:40].rstrip() for line in printed[-2:]] == [
        "     16  before processor contents",
        "->   17  after processor contents",
    ]
    assert printed[-1].endswith("turn 1, weather_agent, step 1 · 1 content")
    assert [int(line[2:8]) for line in told("c", "l 20")] == list(range(15, 26))
    assert told("c", "l")[-1] == "->       the run is over"


def test_every_command_is_helped_and_every_alias_leads_to_one():
    names = terminal.Prompt(adknb.step(WEATHER), io.StringIO("q\n"), io.StringIO()).commands()
    printed = told("help")
    assert len(printed) == len(names)
    assert set(terminal.ALIASES.values()) <= {*names}
    for name in names:
        assert told(f"help {name}")[0].strip()


def test_lanes_go_in_the_order_that_is_chosen():
    session: dict[str, Any] = {"which": "07a-merging", "runner": "interleaved"}
    lanes = told("until seam=tool phase=before", "lanes", **session)
    assert len(lanes) == 3
    for lane in lanes:
        printed = told("until seam=tool phase=before", f"choose {lane}", **session)
        assert printed[0].endswith(f"lane {lane}"), printed
    assert told("until seam=tool phase=before", "lanes", which="07a-merging") == ["nothing runs side by side here"]


def test_a_saved_session_can_be_replayed(tmp_path):
    path = tmp_path / "turn.json"
    assert told("until tool=get_weather", 'edit args.city "Oslo"', "n", f"save {path}") == [f"saved {path}"]
    dbg = adknb.replay(path)
    assert str(dbg.here) == "after tool get_weather"
    assert dbg.args == {"city": "Oslo"}


def test_text_of_a_model_cannot_steer_the_terminal():
    evil = json.loads(json.dumps(WEATHER).replace("Hangzhou", "\\u001b[2J\\u009b\\u202e"))
    out = io.StringIO()
    prompt = terminal.Prompt(adknb.step(evil), io.StringIO("until tool=get_weather\np args\nl\nw\n"), out)
    prompt.run()
    assert not terminal.UNSAFE.search(out.getvalue())
    assert "\\x9b\\u202e" in out.getvalue()


@pytest.mark.parametrize(
    "words, wish",
    [
        ("contents turn=2", at("contents", turn=2)),
        ("tool=get_weather", at(tool="get_weather")),
        ("at model", at("model")),
        ("event", event()),
        ("event author=x final=true partial=false", event(author="x", final=True, partial=False)),
        ("changed config.tools step=1", changed("config.tools", step=1)),
        ('"my stop" agent=a', at("my stop", agent="a")),
        ("a | b & c", at("a") | at("b") & at("c")),
        ("~a & ~ b", ~at("a") & ~at("b")),
    ],
)
def test_a_wish_in_words(words, wish):
    assert repr(wish_of(words)) == repr(wish)


@pytest.mark.parametrize(
    "words, wrong",
    [
        ("", "where to"),
        ("|", "where to"),
        ("contents identity", "where to"),
        ("event x", "where to"),
        ("changed", "where to"),
        ("contents turn=two", "turn= takes a number, not 'two'"),
        ("contents song=1", "at knows no 'song'; it knows seam, tool, agent, turn, step, phase"),
        ("event final=yes", "final= takes true or false, not 'yes'"),
    ],
)
def test_a_wish_that_cannot_be_read(words, wrong):
    with pytest.raises(Misspelt, match=wrong):
        wish_of(words)


# ---- which scenario


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "two.jsonl"
    path.write_text("".join(json.dumps({**WEATHER, "name": n}) + "\n" for n in ("sun", "rain")), "utf-8")
    return str(path)


@pytest.mark.parametrize(
    "name, wrong",
    [
        (None, "it has several scenarios: choose with --name; there are: sun, rain."),
        ("rian", "there is no scenario 'rian'; there are: sun, rain. Did you mean 'rain'?"),
    ],
)
def test_a_file_of_several_scenarios_needs_a_name(file, name, wrong):
    with pytest.raises(BadData) as refused:
        terminal.scenario_of(file, name)
    assert str(refused.value) == f"{file}: {wrong}"
    assert terminal.scenario_of(file, "rain")["name"] == "rain"


@pytest.mark.parametrize("path", ["-", "no-such-file.json"])
def test_a_scenario_that_is_not_there_ends_with_status_2(path, capsys):
    assert main(["step", path]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith(f"adknb: {path}")
    assert printed.err.count("\n") == 1


# ---- the command itself


def command(*arguments: str, **how: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "adknb", "step", *arguments], capture_output=True, text=True, timeout=60, **how
    )


def test_commands_are_piped_in_and_the_end_of_them_is_the_end(file):
    done = command(file, "--name", "rain", input="until tool=get_weather\nn\np result.temperature\n")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[-1] == "26"
    assert "(adknb)" not in done.stdout


def test_the_text_form_is_printed_at_the_start_and_after_each_command():
    dbg = adknb.step(WEATHER)
    forms = [repr(dbg), repr(dbg.next()), repr(dbg.until("contents"))]
    done = command("01a-one-turn", input="n\nuntil contents\nq\nc\n")
    assert done.stdout == "\n".join(forms) + "\n"


def test_without_a_terminal_and_without_commands_it_ends_at_once_with_status_2():
    done = command("01a-one-turn", stdin=subprocess.DEVNULL)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("adknb: the run is paused at stop 0, before append user (turn 1), and nobody is here")
    assert done.stderr.count("\n") == 1


def test_a_pipe_that_nobody_writes_to_does_not_hang_it(monkeypatch):
    monkeypatch.setattr(terminal, "TO_SPEAK", 0.1)
    read, write = os.pipe()
    with os.fdopen(read) as silent, os.fdopen(write, "w"), pytest.raises(terminal.HeadlessPause):
        terminal.main("01a-one-turn", stdin=silent, stdout=io.StringIO())


def test_a_person_at_a_terminal_has_a_prompt_repeats_with_enter_and_may_interrupt():
    child, terminal_fd = pty.fork()
    if child == 0:
        os.environ["TERM"] = "dumb"
        os.execv(sys.executable, [sys.executable, "-m", "adknb", "step", "01a-one-turn"])
    seen = ""

    def until(text: str) -> None:
        """Read on until the text comes; what follows it stays to be read."""
        nonlocal seen
        while text not in seen:
            assert select.select([terminal_fd], [], [], 60)[0], f"no {text!r} in {seen!r}"
            seen += os.read(terminal_fd, 4096).decode(errors="replace")
        seen = seen[seen.index(text) + len(text) :]

    until("(adknb) ")
    os.write(terminal_fd, b"n\n")
    until("stop 1 ")
    until("(adknb) ")
    os.write(terminal_fd, b"\n")
    until("stop 3 ")
    until("(adknb) ")
    os.write(terminal_fd, b"\x03")
    while not select.select([terminal_fd], [], [], 3)[0]:  # Python misses one that comes just before it waits
        os.write(terminal_fd, b"\x03")
    until("(adknb) ")
    os.write(terminal_fd, b"\x04")
    with contextlib.suppress(OSError):  # the other side has closed it
        while os.read(terminal_fd, 4096):
            pass
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_an_interrupted_command_is_told_and_the_session_goes_on(monkeypatch):
    answer = ScriptedModel.generate_content
    interrupts = iter([True])

    def slow(self: Any, request: Any, stream: bool) -> Any:
        if next(interrupts, False):
            signal.raise_signal(signal.SIGINT)
        return answer(self, request, stream)

    monkeypatch.setattr(ScriptedModel, "generate_content", slow)
    assert told("until model", "c")[:2] == [
        "stop 29 · before model offline-demo · turn 1, weather_agent, step 1",
        "  note      interrupted (KeyboardInterrupt) behind before model offline-demo; back where the command began",
    ]
