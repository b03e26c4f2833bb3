"""The twelve faults of the clinic are each found along their written path, and only in the broken scenario.

A page's first code block walks the broken scenario, its second looks at the mended one. Both run as they stand; each
must fail on the other scenario, else it would show nothing.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import adknb
from adknb import at, changed, event, when
from adknb.course import answers, calls, says

PAGES = sorted((Path(__file__).parent / "faults").glob("f*.md"))
CODE = re.compile(r"^```python\n(.*?)^```$", re.M | re.S)


def code_of(page):
    """(the shortest path, the look at the mended scenario), compiled so that an error shows its line of the page."""
    text = page.read_text(encoding="utf-8")
    found = list(CODE.finditer(text))
    assert len(found) == 2, f"{page.name} has {len(found)} blocks of code"
    return [compile("\n" * (text.count("\n", 0, m.start()) + 1) + m.group(1), str(page), "exec") for m in found]


def walk(code, broken, mended):
    """Run a block with these two scenarios in scope."""
    names = {"adknb": adknb, "at": at, "event": event, "changed": changed, "when": when}
    exec(code, names | {"says": says, "calls": calls, "answers": answers, "scenario": broken, "mended": mended})


@pytest.fixture(params=PAGES, ids=lambda page: page.stem)
def fault(request):
    """(path, look, broken scenario, mended scenario)."""
    name = request.param.stem
    return *code_of(request.param), adknb.scenario(name), adknb.scenario(f"{name}.mended")


def test_there_are_twelve():
    assert [page.stem[:3] for page in PAGES] == [f"f{n:02}" for n in range(1, 13)]


def test_the_written_path_finds_the_fault(fault):
    path, _, broken, mended = fault
    walk(path, broken, mended)


def test_the_mended_scenario_is_without_it(fault):
    _, look, broken, mended = fault
    walk(look, broken, mended)


def test_the_path_finds_nothing_in_the_mended_scenario(fault):
    path, _, _, mended = fault
    with pytest.raises((AssertionError, AttributeError, KeyError, IndexError)):
        walk(path, mended, mended)


def test_the_look_at_the_mended_scenario_fails_on_the_broken_one(fault):
    _, look, broken, _ = fault
    with pytest.raises((AssertionError, AttributeError, KeyError, IndexError)):
        walk(look, broken, broken)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_path_pauses_no_more_often_than_the_clinic_allows(page):
    path = CODE.search(page.read_text(encoding="utf-8")).group(1)
    assert 1 <= len(re.findall(r"# pause \d", path)) <= 5
