"""`adknb step`: the Stepper at a prompt, with pdb's letters. Commands may be piped in, a line each.

    stop 24 · before model offline-demo · turn 1, weather_agent, step 1
    (adknb) until tool=get_weather
    (adknb) edit args.city "Oslo"
    (adknb) n

After each command the text form is printed. What was wrong with a command is one line, and the run stays where it is.
"""

from __future__ import annotations

import cmd
import difflib
import json
import os
import re
import select
import sys
from collections.abc import Callable
from pathlib import Path
from stat import S_ISFIFO, S_ISSOCK
from typing import IO, Any

from adknb.engine.errors import AdknbError, BadData
from adknb.scenarios import load, scenario, shipped
from adknb.stepper.journal_file import TASKS
from adknb.stepper.plays import known_names
from adknb.stepper.stepper import OVER, NotPaused, Stepper, step
from adknb.stepper.terminal_words import Misspelt, answer_of, edit, json_of, looked_up, wish_of
from adknb.stepper.waiting import HeadlessPause, where

ALIASES = {
    "s": "step", "n": "next", "r": "finish", "return": "finish", "c": "resume", "cont": "resume", "continue": "resume",
    "unt": "until", "b": "break", "tbreak": "break", "cl": "clear", "w": "where", "bt": "where", "p": "print",
    "pp": "print", "l": "list", "e": "edit", "q": "quit", "exit": "quit", "h": "help", "?": "help",
}  # fmt: skip
"""What else a command may be called; pdb's letters above all."""

TO_SPEAK = 5.0
"""Seconds that a pipe may stay silent at the start before it is taken for nobody."""
AROUND = 5
UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def main(
    path: str,
    name: str | None = None,
    runner: str | None = None,
    stdin: IO[str] | None = None,
    stdout: IO[str] | None = None,
) -> int:
    """Step a scenario of a file, or one that ships, until the reader quits or the commands end.

    `runner` says how several calls of one answer are run: `interleaved` has lanes to choose from.

    Raises:
        BadData: there is no such scenario, or it is not as it should be.
        HeadlessPause: there is neither a terminal nor a command.
    """
    dbg = step(scenario_of(path, name), runner=TASKS[runner] if runner else None)
    try:
        Prompt(dbg, sys.stdin if stdin is None else stdin, sys.stdout if stdout is None else stdout).run()
    finally:
        dbg.close()
    return 0


def scenario_of(path: str, name: str | None) -> dict[str, Any]:
    """The scenario of a file, by name if it has several; without such a file, the shipped one of that name."""
    if path == "-":
        raise BadData("-", "the commands come from standard input, so the scenario cannot: give a file")
    if not Path(path).exists() and path in shipped():
        return scenario(path)
    found = {str(one["name"]): one for one in load(path)}
    if name is None and len(found) == 1:
        return next(iter(found.values()))
    if name in found:
        return found[str(name)]
    near = difflib.get_close_matches(name or "", found, 1)
    names = ", ".join([*found][:12]) + (f" and {len(found) - 12} more" if len(found) > 12 else "")
    hint = f" Did you mean {near[0]!r}?" if near else ""
    wrong = f"there is no scenario {name!r}" if name is not None else "it has several scenarios: choose with --name"
    raise BadData(path, f"{wrong}; there are: {names}.{hint}")


class Prompt(cmd.Cmd):
    """The conversation. Each command is a method; its docstring is its help."""

    doc_header = "Commands"

    def __init__(self, dbg: Stepper, stdin: IO[str] | None, stdout: IO[str]) -> None:
        super().__init__(stdin=stdin, stdout=stdout)
        self.dbg = dbg
        self.person = stdin is not None and not stdin.closed and stdin.isatty()
        self.use_rawinput = self.person and stdin is sys.stdin
        self.prompt = "(adknb) " if self.person else ""
        if not self.person:
            self.cmdqueue = [self._first_line(stdin)]

    def run(self) -> None:
        """Talk until the end."""
        self.show()
        while True:
            try:
                self.cmdloop()
                return
            except KeyboardInterrupt:  # at the prompt: there is nothing to interrupt
                self.say("")

    def show(self) -> None:
        """The text form of where the run stands."""
        from adknb.widgets.text import describe

        with self.dbg.lock:
            self.say(describe(self.dbg))

    def say(self, text: str) -> None:
        """Print; what could steer the terminal is written as an escape."""
        print(UNSAFE.sub(lambda m: ascii(m[0])[1:-1], text), file=self.stdout, flush=True)

    def onecmd(self, line: str) -> bool:
        """One command. Whatever is wrong with it is one line."""
        word = line.split(maxsplit=1)[0] if line.strip() else ""
        if word.startswith("#"):
            return False
        try:
            return bool(super().onecmd(ALIASES.get(word, word) + line.strip()[len(word) :]))
        except KeyboardInterrupt:
            self.show()
        except Exception as error:
            told = str(error) if isinstance(error, AdknbError) else f"{type(error).__name__}: {error}"
            self.say("*** " + " ".join(told.split()))
        return False

    def emptyline(self) -> bool:
        """A person who presses Enter means the last command again; in a script an empty line means nothing."""
        return bool(self.person and self.lastcmd and self.onecmd(self.lastcmd))

    def default(self, line: str) -> None:
        """No such command."""
        if line == "EOF":
            return
        word = line.split()[0]
        near = difflib.get_close_matches(word, self.commands(), 1)
        raise Misspelt(f"no command {word!r}{f'; did you mean {near[0]!r}?' if near else '; help lists them'}")

    def commands(self) -> list[str]:
        """The names of all commands, in the order of this file."""
        return [name[3:] for name in vars(type(self)) if name.startswith("do_") and name != "do_EOF"]

    # ------------------------------------------------------------------------------------------------------- going on

    def do_step(self, arg: str) -> None:
        """S(tep): go to the very next stop."""
        self._go(self.dbg.step)

    def do_next(self, arg: str) -> None:
        """N(ext): go over a call, from before it to after it."""
        self._go(self.dbg.next)

    def do_finish(self, arg: str) -> None:
        """R(eturn), finish: go out of what is running."""
        self._go(self.dbg.finish)

    def do_resume(self, arg: str) -> None:
        """C(ontinue), resume: go on to the next breakpoint, or to the end."""
        self._go(self.dbg.resume)

    def do_until(self, arg: str) -> None:
        """Unt(il) WISH: go on until it comes true.

        contents turn=2 · tool=get_weather · event author=x final=true · changed config.tools
        Wishes are combined with | and &, and turned round with ~.
        """
        wish = wish_of(arg)
        self._go(lambda: self.dbg.until(wish))

    def do_choose(self, arg: str) -> None:
        """Choose LANE: let this lane go next."""
        self._go(lambda: self.dbg.choose(arg))

    def do_send(self, arg: str) -> None:
        """Send TEXT: add a turn with this message."""
        self._go(lambda: self.dbg.send(arg), when_over=True)

    # ----------------------------------------------------------------------------------------------------- breakpoints

    def do_break(self, arg: str) -> None:
        """B(reak) [WISH]: stop there from now on; without a wish, list the breakpoints."""
        if arg:
            self.dbg.break_at(wish_of(arg))
        self._list_breakpoints()

    def do_clear(self, arg: str) -> None:
        """Cl(ear) [NUMBER | WISH]: take a breakpoint away, or all."""
        marks = self.dbg.breakpoints
        if not arg:
            self.dbg.unbreak()
        elif arg.isdecimal():
            if int(arg) >= len(marks):
                raise Misspelt(f"there is no breakpoint {arg}; there are {len(marks)}, counted from 0")
            self.dbg.unbreak(marks[int(arg)])
        else:
            wish = wish_of(arg)
            if wish.words not in [mark.words for mark in marks]:
                raise Misspelt(f"there is no breakpoint {wish.words}")
            self.dbg.unbreak(wish)
        self._list_breakpoints()

    def _list_breakpoints(self) -> None:
        marks = self.dbg.breakpoints
        self.say("\n".join(f"{n:3}  {mark.words}" for n, mark in enumerate(marks)) or "no breakpoints")

    # --------------------------------------------------------------------------------------------------------- looking

    def do_where(self, arg: str) -> None:
        """W(here): the calls this stop stands inside of, the innermost last; then the stop itself."""
        stop = self.dbg.here
        if stop is None:
            raise NotPaused(OVER)
        with self.dbg.lock:
            around = [*self.dbg._run.open.around(stop), stop]
        for n, one in enumerate(around):
            place = [f"turn {one.turn}", one.agent, f"step {one.step}" if one.step else "", one.lane]
            mark = "->" if one is stop else "  "
            self.say(f"{mark} {'  ' * n}stop {one.number}, {one} ({', '.join(p for p in place if p)})")

    def do_list(self, arg: str) -> None:
        """L(ist) [STOP]: the timeline around here, or around a stop."""
        stops, here = self.dbg.stops, self.dbg.position
        middle = self._number(arg) if arg else here
        low = max(0, min(middle, len(stops)) - AROUND * (1 if arg else 2))
        for record in stops[low : middle + AROUND + 1]:
            place = ", ".join(p for p in (record.agent, f"step {record.step}" if record.step else "", record.lane) if p)
            note = f" · {record.error or record.wrote}" if record.error or record.wrote else ""
            mark = "->" if record.number == here else "  "
            line = f"{mark} {record.number:4}  {'  ' * record.depth}{record}"
            self.say(f"{line:<60}  turn {record.turn}{', ' if place else ''}{place}{note}")
        if here == len(stops) <= middle + AROUND:
            self.say("->       the run is over")

    def do_print(self, arg: str) -> None:
        """P(rint) PATH: request, request.contents.0, args, response, result, event, state, events, requests, …"""
        self.say(json.dumps(looked_up(self.dbg, arg), indent=2, ensure_ascii=False, default=str))

    def do_lanes(self, arg: str) -> None:
        """Lanes: calls and agents that run side by side and can go on; choose LANE lets one go next."""
        self.say("\n".join(self.dbg.lanes) or "nothing runs side by side here")

    # ----------------------------------------------------------------------------------------------- editing, answering

    def do_edit(self, arg: str) -> None:
        """E(dit) PATH JSON: change what this stop holds: edit args.city "Oslo"."""
        path, _, text = arg.partition(" ")
        if not text.strip():
            raise Misspelt('edit takes a path and a JSON value: edit args.city "Oslo"')
        with self.dbg.lock:
            edit(self.dbg, path, json_of(text))
        self.show()

    def do_skip(self, arg: str) -> None:
        """Skip [JSON]: answer for the call instead of making it."""
        stop = self.dbg.here
        if stop is None:
            raise NotPaused(OVER)
        self._go(lambda: self.dbg.skip(answer_of(stop, json_of(arg) if arg else None)))

    def do_fail(self, arg: str) -> None:
        """Fail TEXT: make the call fail with this message."""
        self._go(lambda: self.dbg.fail(arg or "made to fail"))

    # ------------------------------------------------------------------------------------------------------------ time

    def do_back(self, arg: str) -> None:
        """Back: one stop back."""
        self._go(self.dbg.back, when_over=True)

    def do_rewind(self, arg: str) -> None:
        """Rewind STOP: go back to the stop of that number; nothing that ran is run again."""
        number = self._number(arg)
        self._go(lambda: self.dbg.rewind(number), when_over=True)

    def do_restart(self, arg: str) -> None:
        """Restart [fresh]: begin anew; with fresh, models and tools are asked again."""
        if arg not in ("", "fresh"):
            raise Misspelt("it is restart, or restart fresh")
        self._go(lambda: self.dbg.restart(fresh=bool(arg)), when_over=True)

    # --------------------------------------------------------------------------------------------------------- the rest

    def do_save(self, arg: str) -> None:
        """Save FILE: keep the run as JSON, for adknb.replay."""
        if not arg:
            raise Misspelt("save takes a file name")
        self.dbg.save(arg)
        self.say(f"saved {arg}")

    def do_help(self, arg: str) -> None:
        """H(elp) [COMMAND]: what the commands do."""
        name = ALIASES.get(arg, arg)
        if not arg:
            self.say("\n".join(self._help_of(name).split("\n")[0] for name in self.commands()))
        elif name in self.commands():
            self.say(self._help_of(name))
        else:
            self.default(arg)

    def do_quit(self, arg: str) -> bool:
        """Q(uit): leave; the run is closed."""
        return True

    def do_EOF(self, arg: str) -> bool:
        """The commands are at their end."""
        if self.person:
            self.say("")
        return True

    def completenames(self, text: str, *ignored: Any) -> list[str]:
        """The commands that begin so."""
        return [name for name in self.commands() if name.startswith(text)]

    def completedefault(self, *given: Any) -> list[str]:
        """The names this run can stop at, for until and break."""
        return [name for name in sorted(known_names(self.dbg.play.runner)["stop"]) if name.startswith(given[0])]

    # -------------------------------------------------------------------------------------------------------- mechanism

    def _go(self, command: Callable[[], object], when_over: bool = False) -> None:
        if self.dbg.here is None and not when_over:
            raise NotPaused("the run is over; back, rewind and restart go on from there")
        command()
        self.show()

    def _number(self, text: str) -> int:
        if not text.isdecimal():
            raise Misspelt(f"expected the number of a stop, 0 to {len(self.dbg.stops) - 1}, not {text!r}")
        return int(text)

    def _help_of(self, name: str) -> str:
        lines = [line.strip() for line in (getattr(self, f"do_{name}").__doc__ or "").strip().split("\n")]
        return "\n".join([lines[0][:1].lower() + lines[0][1:], *(f"    {line}" for line in lines[1:] if line)])

    def _first_line(self, stdin: IO[str] | None) -> str:
        """The first piped command; waits for it only a moment. Raises HeadlessPause where there is none."""
        line = "" if stdin is None or stdin.closed or _is_silent(stdin) else stdin.readline()
        if not line:
            raise HeadlessPause(where(self.dbg))
        return line


def _is_silent(stdin: IO[str]) -> bool:
    """Whether it is a pipe that nobody writes to: reading it would hang."""
    try:
        mode = os.fstat(stdin.fileno()).st_mode
        if not (S_ISFIFO(mode) or S_ISSOCK(mode)):
            return False
        return not select.select([stdin], [], [], TO_SPEAK)[0]
    except (OSError, ValueError):  # no file (a test's text), or a system that cannot tell
        return False
