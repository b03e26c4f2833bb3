"""The Chinese twin of a notebook: the same cells in the same order, the same code, text cells of its own.

    python -m adknb.course.twin notebooks/02-name.ipynb          # brings 02-name.zh.ipynb in step
    python -m adknb.course.twin --done notebooks/02-name.ipynb   # its texts say what the English ones say

The twin's texts live in the twin. Each remembers which English text it translates, so that a changed one is found. The
twin is not run by the tests, whose time it would double: its code is the English notebook's, to the letter. Of outputs
it keeps the first paused run only, so that an opened twin shows where the lesson starts.
"""

from __future__ import annotations

import copy
import hashlib
import json
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from adknb import json_text
from adknb.engine.errors import AdknbError, BadData

Json = dict[str, Any]

STOP = re.compile(r"stop \d+ ")


def twin_of(path: Path) -> Path:
    """`02-name.ipynb` → `02-name.zh.ipynb`."""
    return path.with_suffix(".zh.ipynb")


def in_step(english: Json, chinese: Json | None) -> Json:
    """The twin with the code, order and metadata of the English notebook, and its own texts.

    A text cell that the twin has not yet is taken over in English, to be translated.
    """
    own = {cell["id"]: cell for cell in (chinese or {"cells": []})["cells"] if cell["cell_type"] == "markdown"}
    out = {name: copy.deepcopy(value) for name, value in english.items() if name != "cells"}
    out["cells"], paused = [], False
    for cell in english["cells"]:
        new = copy.deepcopy(cell)
        if cell["cell_type"] == "markdown":
            new = copy.deepcopy(own.get(cell["id"], new | {"metadata": {"adknb": {"translates": ""}}}))
        elif cell["cell_type"] == "code":
            shows = not paused and any(_is_paused(output) for output in cell["outputs"])
            paused = paused or shows
            new |= {} if shows else {"outputs": [], "execution_count": None}  # nbval refuses outputs without a count
        out["cells"].append(new)
    return out


def not_translated(english: Json, chinese: Json) -> list[str]:
    """The ids of text cells whose Chinese is missing or is older than the English; for cells in step."""
    return [
        cell["id"]
        for cell, other in zip(english["cells"], chinese["cells"], strict=True)
        if cell["cell_type"] == "markdown" and other["metadata"].get("adknb", {}).get("translates") != mark(cell)
    ]


def differences(english: Json, chinese: Json) -> list[str]:
    """What keeps a twin from being in step, in words; empty if it is."""
    rows = [[(c["id"], c["cell_type"]) for c in nb["cells"]] for nb in (english, chinese)]
    if rows[0] != rows[1]:
        return ["the cells are not the same, or not in the same order"]
    pairs = zip(english["cells"], chinese["cells"], strict=True)
    wrong = [f"cell {a['id']}: other code" for a, b in pairs if a["cell_type"] == "code" and a["source"] != b["source"]]
    return wrong + [f"cell {name}: not translated" for name in not_translated(english, chinese)]


def all_translated(english: Json, chinese: Json) -> Json:
    """The twin with every text marked as saying what the English one says now."""
    marks = {cell["id"]: mark(cell) for cell in english["cells"] if cell["cell_type"] == "markdown"}
    out = copy.deepcopy(chinese)
    for cell in out["cells"]:
        if cell["id"] in marks:
            cell["metadata"] = {"adknb": {"translates": marks[cell["id"]]}}
    return out


def mark(cell: Json) -> str:
    """What stands for an English text: a short hash of it."""
    return hashlib.sha256("".join(cell["source"]).encode()).hexdigest()[:8]


def read(path: Path) -> Json:
    """A notebook as plain data.

    Raises:
        BadData: it cannot be read, or is no notebook.
    """
    found = json_text.parse(json_text.utf8(json_text.read_bytes(path), path.name), path.name)
    if not isinstance(found, dict) or not isinstance(found.get("cells"), list):
        raise BadData(path.name, "expected a notebook: an object with a list `cells`")
    return found


def write(path: Path, notebook: Json) -> None:
    """Write a notebook as Jupyter does."""
    path.write_text(json.dumps(notebook, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def _is_paused(output: Json) -> bool:
    data = output.get("data", {})
    return "text/html" in data and STOP.match("".join(data.get("text/plain", ""))) is not None


def main(arguments: Sequence[str]) -> int:
    """Bring twins in step; 1 if texts are left to translate, 2 for a file that is no notebook."""
    left = 0
    try:
        for name in [a for a in arguments if a != "--done"]:
            path = Path(name)
            english = read(path)
            chinese = in_step(english, read(twin_of(path)) if twin_of(path).exists() else None)
            if "--done" in arguments:
                chinese = all_translated(english, chinese)
            write(twin_of(path), chinese)
            for cell in not_translated(english, chinese):
                print(f"{twin_of(path).name}: cell {cell} is to be translated")
                left = 1
    except AdknbError as error:
        print(error, file=sys.stderr)
        return 2
    return left


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
