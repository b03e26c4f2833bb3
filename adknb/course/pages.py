"""The page of a fault as it is written, and as it ships: the complaint plain, all that gives the fault away packed.

    python -m adknb.course.pages seal f01-name.md adknb/course/faults/f01-name.json [f01-name.zh.json]
    python -m adknb.course.pages open adknb/course/faults/f01-name.json

A page has a title, then **The user says.**, **Hints.**, **Shortest path** with code, **Cause.**, **Mend.** with code,
and **Seen on the reference.** The first code walks the broken scenario in at most five pauses, the second looks at the
mended one. The Chinese file holds `{"title", "complaint", "hints", "cause", "mend"}`.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from adknb import json_text
from adknb.course.packing import pack, unpack
from adknb.engine.errors import AdknbError, BadData

Json = dict[str, Any]

HEADS = ("The user says.", "Hints.", "Shortest path", "Cause.", "Mend.", "Seen on the reference")
CODE = re.compile(r"^```python\n(.*?)^```$", re.M | re.S)
PAUSES = 5
"""How often a reader may pause to find a fault."""

TOLD = ("title", "complaint", "hints", "cause", "mend")
"""What is told in the reader's language."""


def parse(text: str, where: str) -> Json:
    """A page as data: name, the texts in English, `path` and `look` (code), `seen`.

    Raises:
        BadData: a heading or code is missing, there are no hints, or the path pauses too often.
    """
    title = re.match(r"# (f\d+) (.+)\n", text)
    if title is None:
        raise BadData(where, "expected a first line such as '# f01 The question in between'")
    parts = _sections(text, where)
    codes = [CODE.search(parts[head]) for head in ("Shortest path", "Mend.")]
    if codes[0] is None or codes[1] is None:
        raise BadData(where, "expected a block of python under **Shortest path** and one under **Mend.**")
    path, look = codes[0].group(1), codes[1].group(1)
    if not 1 <= path.count("# pause ") <= PAUSES:
        raise BadData(where, f"expected 1 to {PAUSES} lines marked '# pause N' in the shortest path")
    hints = [hint.strip() for hint in re.split(r"(?:^|\s)\d\. ", parts["Hints."]) if hint.strip()]
    if not hints:
        raise BadData(where, "expected hints, '1. … 2. …'")
    english = {
        "title": title.group(2).strip(),
        "complaint": _unwrapped(parts["The user says."]).strip('"“”'),
        "hints": hints,
        "cause": _unwrapped(parts["Cause."]),
        "mend": _unwrapped(CODE.sub("", parts["Mend."])),
    }
    seen = _unwrapped(parts["Seen on the reference"].lstrip(".* "))
    return {"name": title.group(1), "en": english, "path": path, "look": look, "seen": seen}


def seal(page: Json, chinese: Json | None = None) -> Json:
    """The shipped form: name, title and complaint plain, the rest packed; in English only without a Chinese file."""
    texts: Json = {"en": page["en"]} | ({"zh": {name: chinese[name] for name in TOLD}} if chinese else {})
    plain: Json = {say: {name: text[name] for name in ("title", "complaint")} for say, text in texts.items()}
    packed: Json = {say: {name: text[name] for name in ("hints", "cause", "mend")} for say, text in texts.items()}
    packed |= {name: page[name] for name in ("path", "look", "seen")}
    return {"name": page["name"], **plain, "packed": pack(packed)}


def opened(sealed: Json, where: str) -> Json:
    """The page of a shipped form, as `parse` gives it, with `zh` where there is one."""
    packed = unpack(sealed["packed"], where)
    page: Json = {say: {**sealed[say], **packed[say]} for say in ("en", "zh") if say in sealed}
    return page | {"name": sealed["name"], "path": packed["path"], "look": packed["look"], "seen": packed["seen"]}


def load(path: Path) -> Json:
    """The page in a file, written (`.md`) or shipped (`.json`).

    Raises:
        BadData: it cannot be read, or is neither.
    """
    text = json_text.utf8(json_text.read_bytes(path), path.name)
    if path.suffix == ".md":
        return parse(text, path.name)
    try:
        return opened(json_text.parse(text, path.name), path.name)
    except (KeyError, TypeError, AttributeError):
        raise BadData(path.name, "this is not what adknb.course.pages writes; seal the page again") from None


def _sections(text: str, where: str) -> dict[str, str]:
    places = [(text.find(f"**{head}"), head) for head in HEADS]
    missing = [head for place, head in places if place < 0]
    if missing:
        raise BadData(where, f"expected the heading **{missing[0]}**")
    ends = [place for place, _ in places[1:]] + [len(text)]
    if sorted(ends) != ends:
        raise BadData(where, f"expected the headings in this order: {', '.join(HEADS)}")
    return {head: text[place:end].split("**", 2)[2].strip() for (place, head), end in zip(places, ends, strict=True)}


def _unwrapped(text: str) -> str:
    """A paragraph without its line breaks."""
    return " ".join(text.split())


def main(arguments: Sequence[str]) -> int:
    """Seal a page, or print a shipped one; 0, or 2 after one line about what is wrong."""
    try:
        if list(arguments[:1]) == ["seal"] and len(arguments) in (3, 4):
            chinese = json_text.parse(Path(arguments[3]).read_text("utf-8"), arguments[3]) if arguments[3:] else None
            data = seal(load(Path(arguments[1])), chinese)
            Path(arguments[2]).write_text(json.dumps(data, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
        elif list(arguments[:1]) == ["open"] and len(arguments) == 2:
            print(json.dumps(load(Path(arguments[1])), ensure_ascii=False, indent=1))
        else:
            raise BadData("pages", "expected: seal PAGE.md SEALED.json [CHINESE.json], or: open SEALED.json")
    except AdknbError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
