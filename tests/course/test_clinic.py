"""The clinic: complaints, hints, counted pauses, paths that are checked, solutions that are folded, pages of one's own."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

import adknb
from adknb import at, changed, event, when
from adknb.course import answers, calls, pages, says
from adknb.course.clinic import FAULTS, fault, faults
from adknb.engine.errors import BadData

PAGES = sorted((Path(__file__).parent / "faults").glob("f*.md"))


def test_every_page_ships_sealed_and_says_the_same():
    assert [page.stem for page in PAGES] == sorted(file.stem for file in FAULTS.glob("*.json"))
    for page in PAGES:
        written, shipped = pages.load(page), pages.load(FAULTS / f"{page.stem}.json")
        assert {**written, "zh": shipped["zh"]} == shipped
        assert len(shipped["zh"]["hints"]) == len(written["en"]["hints"]) == 3


@pytest.mark.parametrize("name", faults())
def test_a_fault_shows_its_complaint_and_nothing_that_gives_it_away(name):
    for language in ("en", "zh"):
        one = fault(name, language)
        page = pages.load(next(FAULTS.glob(f"{name}-*.json")))
        shown = [repr(one), one._repr_html_(), repr(one.solution()), one.solution()._repr_html_()]
        shown.append(next(FAULTS.glob(f"{name}-*.json")).read_text("utf-8"))
        for text in (
            page[language]["cause"],
            page[language]["mend"],
            page["path"].splitlines()[-1],
            *page[language]["hints"],
        ):
            assert not [form for form in shown if text in form]
        assert one._repr_html_().startswith("<div") and "0" in repr(one).splitlines()[-1]


@pytest.mark.parametrize("name", faults())
def test_the_written_path_is_within_the_count_and_passes_its_check(name):
    page = pages.load(next(FAULTS.glob(f"{name}-*.json")))
    body = page["path"].replace("dbg = adknb.step(scenario)\n", "", 1)
    names = {"adknb": adknb, "at": at, "event": event, "changed": changed, "when": when}
    names |= {"says": says, "calls": calls, "answers": answers}

    def walk(dbg):
        exec(body, {**names, "dbg": dbg})
        return True

    verdict = fault(name).check(walk)
    assert verdict, verdict
    assert 1 <= int(re.search(r"found in (\d)", verdict.says).group(1)) <= pages.PAUSES


def f01_path(dbg):
    dbg.until(at("contents", turn=3))
    return says(dbg.events, "aspirin") and not says(dbg.request, "aspirin")


def too_long(dbg):
    for _ in range(6):
        dbg.step()
    return f01_path(dbg)


@pytest.mark.parametrize(
    "path, ok, says_",
    [
        (f01_path, True, "found in 1 pause,"),
        (lambda dbg: True, False, "the same in the mended agent"),
        (lambda dbg: says(dbg.until(at("contents", turn=3)).events, "aspirin"), False, "the same in the mended agent"),
        (lambda dbg: False, False, "gave False"),
        (lambda dbg: dbg.nothing, False, "AttributeError"),
        (too_long, False, "it paused 7 times; 5 are enough"),
        (None, False, "a function is wanted"),
    ],
)
def test_a_path_is_held_against_both_agents(path, ok, says_):
    verdict = fault("f01").check(path)
    assert verdict.ok is ok and says_ in verdict.says


def test_every_pause_counts_and_the_end_does_not():
    one = fault("f01")
    assert one.pauses == 0 and one.dbg.position == 0 and one.pauses == 0
    one.dbg.step()
    one.dbg.next()
    assert one.pauses == 2 and "2 of 5 pauses" in repr(one)
    one.dbg.until(at("contents", turn=3))
    one.dbg.resume()
    assert one.dbg.here is None and one.pauses == 3
    one.dbg.restart()
    one.dbg.step()
    assert one.pauses == 5


def test_hints_come_one_by_one():
    one = fault("f10", "en")
    assert [str(one.hint())[:11] for _ in range(4)] == [*(f"Hint {i} of 3"[:11] for i in (1, 2, 3)), "Those were "]


def test_a_page_of_ones_own_of_the_same_shape(tmp_path):
    stem = PAGES[0].stem
    text = PAGES[0].read_text("utf-8").replace("# f01 The question in between", "# f13 One of my own")
    (tmp_path / "f13-own.md").write_text(text, encoding="utf-8")
    for ending, name in (("", stem), (".mended", f"{stem}.mended")):
        (tmp_path / f"f13-own{ending}.json").write_text(json.dumps(adknb.scenario(name)), encoding="utf-8")
    own = fault(tmp_path / "f13-own.md", "zh")
    assert repr(own).startswith("f13 One of my own") and own.language == "en"
    assert own.check(f01_path) and own.solution(opened=True)
    sealed = tmp_path / "sealed" / "f13-own.json"
    sealed.parent.mkdir()
    assert pages.main(["seal", str(tmp_path / "f13-own.md"), str(sealed)]) == 0
    shutil.copy(tmp_path / "f13-own.json", sealed.with_suffix(".scenario.json"))
    shutil.copy(tmp_path / "f13-own.mended.json", sealed.with_suffix(".mended.json"))
    assert fault(sealed).check(f01_path)


@pytest.mark.parametrize(
    "spoil, says_",
    [
        (lambda text: text.replace("# f01", "# fault 1"), "expected a first line"),
        (lambda text: text.replace("**Cause.**", "**Why.**"), "expected the heading **Cause."),
        (
            lambda text: text.replace("**Hints.**", "**Mend.** x").replace("**Mend.** W", "**Hints.** W"),
            "in this order",
        ),
        (lambda text: text.replace("```python", "```"), "a block of python"),
        (lambda text: text.replace("# pause 1", "# here"), "1 to 5 lines"),
        (
            lambda text: text.replace("# pause 1", "# pause 1 # pause 2 # pause 3 # pause 4 # pause 5 # pause 6"),
            "1 to 5 lines",
        ),
    ],
)
def test_a_page_of_another_shape_is_told_what_is_missing(spoil, says_):
    with pytest.raises(BadData, match=re.escape(says_)):
        pages.parse(spoil(PAGES[0].read_text("utf-8")), "f01.md")


def test_an_unknown_fault_is_told_which_there_are():
    with pytest.raises(BadData, match="expected one of f01, f02"):
        fault("f99")
    with pytest.raises(BadData, match="no such file"):
        fault("f99-nowhere.md")
