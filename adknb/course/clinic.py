"""The clinic: agents in which something goes visibly wrong, to be found by stepping, in at most five pauses.

f01 = fault("f01")       # the complaint
f01.dbg                  # the run, paused at its first stop; every pause is counted
f01.hint()               # one hint after the other
f01.check(my_path)       # does my_path(dbg) find the fault, and only there?
f01.solution()           # path, cause and mend, folded
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cached_property
from html import escape
from pathlib import Path
from typing import Any

from adknb import json_text
from adknb.course import pages
from adknb.course.cards import FRAME, QUIET, Said, veiled
from adknb.course.verdict import Verdict, not_yet, passed, told
from adknb.course.words import checked, language_of_notebook, word
from adknb.engine.errors import BadData
from adknb.scenarios import scenario, shipped
from adknb.stepper import Stepper, step

FAULTS = Path(__file__).parent / "faults"

Json = dict[str, Any]


class Fault:
    """One agent in which something is wrong.

    `dbg` is its run, `pauses` how often that was paused so far, `mended()` a run of the mended agent.
    """

    def __init__(self, page: Json, broken: Json, mended: Json, language: str = "") -> None:
        asked = checked(language) if language else language_of_notebook()
        self.language = asked if asked in page else "en"
        self.name: str = page["name"]
        self._page, self._broken, self._mended = page, broken, mended
        self._texts: Json = {name: _told(text) for name, text in page[self.language].items()}
        self._count: Callable[[], int] = lambda: 0
        self.hints_read = 0

    @cached_property
    def dbg(self) -> Stepper:
        """The run, paused at its first stop. Its pauses are counted, by whichever command or click they come."""
        dbg = step(self._broken)
        self._count = counted(dbg)
        return dbg

    @property
    def pauses(self) -> int:
        """How often the run was paused since it began; its very first stop and its end are none."""
        return self._count()

    def mended(self) -> Stepper:
        """A run of the mended agent, paused at its first stop."""
        return step(self._mended)

    def hint(self) -> Said:
        """The next hint, from far to near; after the last, that there is none."""
        hints: list[str] = self._texts["hints"]
        if self.hints_read == len(hints):
            return Said(word(self.language, "no_more"))
        self.hints_read += 1
        head = word(self.language, "hint_n", n=self.hints_read, all=len(hints))
        return Said(f"{head}. {hints[self.hints_read - 1]}")

    def check(self, path: Any) -> Verdict:
        """Whether a path finds the fault: `path(dbg)` steps a fresh run and gives True where the fault is.

        It must do so on this agent in at most five pauses, and must not on the mended one, where it may fail as well.
        """
        if not callable(path):
            return not_yet("a function is wanted: path(dbg) steps to the fault and gives True where it is.")
        dbg = step(self._broken)
        count = counted(dbg)
        try:
            found = path(dbg)
        except Exception as error:  # whatever a reader's code raises
            return not_yet(f"on this agent it raised {told(error)}.")
        if not found:
            return not_yet(f"on this agent it gave {found!r}.")
        if count() > pages.PAUSES:
            return not_yet(f"it paused {count()} times; {pages.PAUSES} are enough.")
        try:
            also = bool(path(self.mended()))
        except Exception:  # where nothing is wrong a path may well lead nowhere
            also = False
        if also:
            return not_yet("it finds the same in the mended agent, so it has not found what is wrong.")
        return passed(f"found in {_pauses(count())}, and not in the mended agent.")

    def solution(self, opened: bool = False) -> Solution:
        """The shortest path, the cause and the mend; folded unless `opened`."""
        return Solution(self.name, self._page, self.language, opened)

    def __repr__(self) -> str:
        say = self.language
        used = word(say, "pauses", n=self.pauses, all=pages.PAUSES)
        return f"{self.name} {self._texts['title']}\n  {word(say, 'user_says')} “{self._texts['complaint']}”\n  {used}"

    def _repr_html_(self) -> str:
        say = self.language
        head = f'<div style="{QUIET}">{self.name} · {word(say, "pauses", n=self.pauses, all=pages.PAUSES)}</div>'
        title, complaint = (escape(self._texts[name]) for name in ("title", "complaint"))
        code = word(say, "clinic_code", f=self.name)
        return (
            f'<div style="{FRAME}">{head}<div><b>{title}</b></div><div>{word(say, "user_says")} “{complaint}”</div>'
            f'<div style="{QUIET}">{code}</div></div>'
        )


class Solution:
    """Path, cause and mend of a fault, folded: its text form tells nothing unless it is opened."""

    def __init__(self, name: str, page: Json, language: str, opened: bool) -> None:
        self.name, self.language, self.is_open = name, language, opened
        texts = {name: _told(text) for name, text in page[language].items()}
        self._lines = [
            ("path", page["path"]),
            ("text", f"{word(language, 'cause')} {texts['cause']}"),
            ("text", f"{word(language, 'mend')} {texts['mend']}"),
            ("path", page["look"]),
            ("text", f"{word(language, 'reference')} {_told(page['seen'])}"),
        ]

    def __repr__(self) -> str:
        if not self.is_open:
            return word(self.language, "solution_folded", f=self.name)
        return "\n".join(text for _, text in self._lines)

    def _repr_html_(self) -> str:
        body = "".join(
            f'<pre style="margin:4px 0">{veiled(text)}</pre>' if kind == "path" else f"<p>{veiled(text)}</p>"
            for kind, text in self._lines
        )
        head = f"<summary><b>{word(self.language, 'solution', f=self.name)}</b></summary>"
        return f'<details{" open" if self.is_open else ""} style="{FRAME}">{head}{body}</details>'


def counted(dbg: Stepper) -> Callable[[], int]:
    """Count the pauses of a run from here on: what gives how many there were. Its end is none."""
    seen = [dbg.position]

    def look() -> None:
        if dbg.position != seen[-1]:
            seen.append(dbg.position)
            if dbg.here is None:
                ends.append(1)

    ends: list[int] = []
    dbg.subscribe(look)
    return lambda: len(seen) - 1 - len(ends)


def faults() -> list[str]:
    """The faults that ship: `["f01", "f02", …]`."""
    return sorted(path.name.split("-")[0] for path in FAULTS.glob("f*.json"))


def fault(name: str | Path, language: str = "") -> Fault:
    """A fault by its name, such as "f01", or by the page of one's own.

    Args:
        name: "f01", or the path of a page (`.md` as written or `.json` as sealed) of the shape that `pages` describes;
            beside it lie its scenarios, of the same name: `f13-name.md`, `f13-name.json` and `f13-name.mended.json`,
            or `f13-name.scenario.json` where the page itself is `f13-name.json`.
        language: "en" or "zh"; else that of the notebook. A page without Chinese is told in English.

    Raises:
        BadData: there is no such fault, or its files are not of that shape.
    """
    path = Path(name)
    if path.suffix in (".md", ".json"):
        broken = path.with_suffix(".json") if path.suffix == ".md" else path.with_suffix(".scenario.json")
        return Fault(pages.load(path), _scenario(broken), _scenario(path.with_suffix(".mended.json")), language)
    found = [file for file in FAULTS.glob("f*.json") if file.name.split("-")[0] == str(name)]
    if not found:
        raise BadData(f"fault {name!r}", f"expected one of {', '.join(faults())}, or the path of a page")
    whole = found[0].stem
    assert whole in shipped()
    return Fault(pages.load(found[0]), scenario(whole), scenario(f"{whole}.mended"), language)


def _scenario(path: Path) -> Json:
    data = json_text.parse(json_text.utf8(json_text.read_bytes(path), path.name), path.name)
    if not isinstance(data, dict):
        raise BadData(path.name, "expected a scenario: an object")
    return data


def _told(text: Any) -> Any:
    """A text of a page, or several, without Markdown's marks: emphasis goes, a link tells its address."""
    if isinstance(text, list):
        return [_told(one) for one in text]
    return re.sub(r"\[([^]]*)\]\(([^)]*)\)", r"\1 <\2>", re.sub(r"(?<!\w)\*([^*]+)\*(?!\w)", r"\1", text))


def _pauses(n: int) -> str:
    return "1 pause" if n == 1 else f"{n} pauses"
