"""What is written for readers: its spelling, its links, and what Binder is told."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
NOTEBOOKS = sorted((ROOT / "notebooks").rglob("*.ipynb"))
PAGES = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "notebooks").rglob("*.md")), *NOTEBOOKS]

LINK = re.compile(r"!?\[(?:[^\]\[]|\[[^\]]*\])*\]\(([^)\s]+)(?:\s+\"[^\"]*\")?\)")
CODE = re.compile(r"```.*?```|`[^`\n]*`", re.S)
LESSON = re.compile(r"(\d\d)-[\w-]+(\.zh)?\.ipynb")


def prose(page: Path) -> str:
    """The text that is read: a page as it is, of a notebook its text cells."""
    if page.suffix != ".ipynb":
        return page.read_text("utf-8")
    cells = json.loads(page.read_text("utf-8"))["cells"]
    return "\n\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")


def slug(heading: str) -> str:
    """The anchor that a heading has on GitHub."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def fault(target: str, page: Path, text: str) -> str:
    """What is wrong with a link of a page; empty if it leads somewhere."""
    if re.match(r"[a-z]+:", target):
        return "" if target.startswith(("https://", "mailto:")) else "neither in the repository nor https"
    path, _, anchor = target.partition("#")
    found = page if not path else page.parent / path
    if not found.exists():
        # one of a lesson that has yet to be written is let pass; one that there is under another name is not
        lesson = LESSON.fullmatch(found.name)
        there = [
            p.name for p in NOTEBOOKS if (m := LESSON.fullmatch(p.name)) and lesson and m.groups() == lesson.groups()
        ]
        return "" if lesson and not there else f"leads nowhere; did you mean {there}?"
    if anchor and found.suffix in (".md", ".ipynb"):
        headings = re.findall(r"^#+ (.*)$", CODE.sub("", prose(found)) if path else CODE.sub("", text), re.M)
        return "" if anchor in map(slug, headings) else f"{found.name} has no heading {anchor!r}"
    return ""


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_link_leads_somewhere(page: Path) -> None:
    text = prose(page)
    faults = {target: wrong for target in LINK.findall(CODE.sub("", text)) if (wrong := fault(target, page, text))}
    assert faults == {}


FAULTY = [
    ("gone.md", "leads nowhere"),
    ("TEACHING.md#no-such-heading", "has no heading"),
    ("#nowhere", "has no heading"),
    ("01-another-name.ipynb", "did you mean"),
    ("http://example.org", "neither"),
    ("file:///etc/passwd", "neither"),
]


@pytest.mark.parametrize("target, says", FAULTY, ids=[target for target, _ in FAULTY])
def test_a_link_that_leads_nowhere_is_found(target: str, says: str) -> None:
    page = ROOT / "notebooks" / "TEACHING.md"
    assert says in fault(target, page, prose(page))


def test_the_spelling(tmp_path: Path) -> None:
    """codespell knows common mistakes, and takes a few of our words for one; those are named here."""
    for number, page in enumerate(PAGES):
        (tmp_path / f"{number:02}-{page.stem}.txt").write_text(prose(page), encoding="utf-8")
    (tmp_path / "wrong.txt").write_text("Teh modle recieves it.\n")
    command = [sys.executable, "-m", "codespell_lib", "--ignore-words-list", "fo,ans,te,hel", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    found = [line for line in done.stdout.splitlines() if "wrong.txt" not in line]
    assert found == [] and done.stdout.count("wrong.txt") == 3, done.stdout + done.stderr


def test_binder_installs_what_the_project_has() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    python = (ROOT / "binder" / "runtime.txt").read_text().strip().removeprefix("python-")
    assert f"Programming Language :: Python :: {python}" in project["classifiers"]
    wanted = re.fullmatch(r"\.\[([\w,]+)\]", (ROOT / "binder" / "requirements.txt").read_text().strip())
    assert wanted and set(wanted[1].split(",")) <= project["optional-dependencies"].keys()
