"""Every Chinese twin has the code of its English notebook, and a translation of every text as it is now."""

from __future__ import annotations

import copy
import re
from pathlib import Path

import pytest

from adknb.course import twin
from adknb.course.words import language_of_notebook

NOTEBOOKS = Path(__file__).resolve().parents[2] / "notebooks"
TWINS = sorted(NOTEBOOKS.glob("*.zh.ipynb"))


def english_of(path):
    return path.with_name(path.name.replace(".zh.ipynb", ".ipynb"))


def test_the_lessons_that_ask_have_twins():
    asking = [
        p for p in NOTEBOOKS.glob("*.ipynb") if not p.name.endswith(".zh.ipynb") and "begin(" in p.read_text("utf-8")
    ]
    assert asking and [p.name for p in asking if not twin.twin_of(p).exists()] == []


@pytest.mark.parametrize("path", TWINS, ids=lambda path: path.name)
def test_a_twin_is_in_step(path):
    english, chinese = twin.read(english_of(path)), twin.read(path)
    assert twin.differences(english, chinese) == []
    assert twin.in_step(english, chinese) == chinese  # its first paused run too


@pytest.mark.parametrize("path", TWINS, ids=lambda path: path.name)
def test_a_twin_speaks_chinese_and_links_to_twins(path):
    texts = ["".join(cell["source"]) for cell in twin.read(path)["cells"] if cell["cell_type"] == "markdown"]
    assert [text for text in texts if len(text) > 40 and not re.search("[一-鿿]", text)] == []
    for name in re.findall(r"\]\(([\w.-]+\.ipynb)\)", "\n".join(texts)):
        assert not (NOTEBOOKS / name.replace(".ipynb", ".zh.ipynb")).exists(), f"{name} has a twin"


@pytest.mark.parametrize("path", sorted(NOTEBOOKS.glob("*.ipynb")), ids=lambda path: path.name)
def test_every_notebook_it_links_to_is_there(path):
    texts = ["".join(cell["source"]) for cell in twin.read(path)["cells"] if cell["cell_type"] == "markdown"]
    links = re.findall(r"\]\(([\w./-]+\.ipynb)\)", "\n".join(texts))
    assert [name for name in links if not (NOTEBOOKS / name).exists()] == []


def cell(kind, name, source, **more):
    code = {"outputs": [], "execution_count": 1} if kind == "code" else {}
    return {"cell_type": kind, "id": name, "metadata": {}, "source": [source], **code, **more}


PANEL = {"output_type": "execute_result", "data": {"text/plain": ["stop 3 · after"], "text/html": ["<b>3</b>"]}}
ENGLISH = {
    "cells": [
        cell("markdown", "a", "# Why?"),
        cell("code", "b", "dbg", outputs=[PANEL]),
        cell("code", "c", "dbg.next()", outputs=[PANEL]),
    ],
    "metadata": {"kernelspec": {"name": "python3"}},
}


def translated():
    chinese = twin.in_step(ENGLISH, None)
    chinese["cells"][0]["source"] = ["# 为什么？"]
    return twin.all_translated(ENGLISH, chinese)


def test_a_new_twin_is_english_until_it_is_translated():
    new = twin.in_step(ENGLISH, None)
    assert twin.differences(ENGLISH, new) == ["cell a: not translated"]
    assert twin.differences(ENGLISH, translated()) == []


def test_a_twin_keeps_the_first_paused_run_only():
    assert [c["outputs"] for c in translated()["cells"][1:]] == [[PANEL], []]


@pytest.mark.parametrize(
    "change, found",
    [
        (lambda cells: cells[0].update(source=["# Why not?"]), ["cell a: not translated"]),
        (lambda cells: cells[2].update(source=["dbg.step()"]), ["cell c: other code"]),
        (lambda cells: cells.append(cell("code", "d", "1")), ["the cells are not the same, or not in the same order"]),
        (lambda cells: cells.reverse(), ["the cells are not the same, or not in the same order"]),
    ],
)
def test_what_changes_in_english_is_found(change, found):
    english = copy.deepcopy(ENGLISH)
    change(english["cells"])
    assert twin.differences(english, translated()) == found
    again = twin.in_step(english, translated())
    assert twin.differences(english, again) in ([], ["cell a: not translated"])
    assert again["metadata"] == english["metadata"]


def test_the_command_writes_a_twin_and_says_what_is_to_be_translated(tmp_path, capsys):
    path = tmp_path / "01-why.ipynb"
    twin.write(path, ENGLISH)
    assert twin.main([str(path)]) == 1
    assert capsys.readouterr().out == "01-why.zh.ipynb: cell a is to be translated\n"
    assert twin.main(["--done", str(path)]) == 0
    assert twin.differences(ENGLISH, twin.read(tmp_path / "01-why.zh.ipynb")) == []
    (tmp_path / "no.ipynb").write_text("[]")
    assert twin.main([str(tmp_path / "no.ipynb")]) == 2 and "expected a notebook" in capsys.readouterr().err


@pytest.mark.parametrize(
    "environment, language",
    [
        ({}, "en"),
        ({"JPY_SESSION_NAME": "/home/x/01-one-turn.ipynb"}, "en"),
        ({"JPY_SESSION_NAME": "/home/x/01-one-turn.zh.ipynb"}, "zh"),
        ({"ADKNB_LANGUAGE": "zh"}, "zh"),
        ({"ADKNB_LANGUAGE": "fr", "JPY_SESSION_NAME": "a.zh.ipynb"}, "zh"),
        ({"ADKNB_LANGUAGE": "en", "JPY_SESSION_NAME": "a.zh.ipynb"}, "en"),
    ],
)
def test_a_question_is_asked_in_the_notebooks_language(environment, language, monkeypatch):
    for name in ("JPY_SESSION_NAME", "ADKNB_LANGUAGE"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert language_of_notebook() == language
