"""What changed between two requests, as plain data.

Both are given as JSON (`adknb.stepper.edits.request_json`). Steps share most of their contents, so equal items of a
list are aligned first and text is compared only inside an item that changed: 1,500 contents take some 10 ms.
"""

from __future__ import annotations

import json
import marshal
import re
from collections import defaultdict, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any, Literal

MAX_WORDS = 2_000
"""Above this a changed text is compared by line: matching words takes time that grows with their square."""

Op = Literal["add", "remove", "replace", "move"]
Words = tuple[tuple[str, str], ...]

_ABSENT: Any = object()


@dataclass(frozen=True)
class Change:
    """One difference, shaped as a JSON patch operation.

    `path` is a JSON pointer into the request after; for a `remove`, into the request before. A `move` has the pointer
    of the old place in `before` and the item in `after`. A `replace` of text by text has `words`: ("=", same),
    ("-", gone), ("+", new), in reading order.
    """

    op: Op
    path: str
    before: Any = None
    after: Any = None
    words: Words = ()


def request_changes(before: dict[str, Any] | None, after: dict[str, Any]) -> list[Change]:
    """The changes that lead from one request to the other, contents last; none when there is no request before.

    request_changes({"contents": [A, B]}, {"contents": [B, A, C]})
    -> [Change("move", "/contents/0", "/contents/1", B), Change("add", "/contents/2", None, C)]
    """
    if before is None:
        return []
    keys = sorted({*before, *after}, key=lambda k: (k == "contents", k))
    return [c for k in keys for c in _values(pointer(k), before.get(k, _ABSENT), after.get(k, _ABSENT))]


def pointer(*steps: str | int) -> str:
    """A JSON pointer (RFC 6901): `pointer("a/b", 0)` -> `/a~1b/0`."""
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in steps)


def words(before: str, after: str) -> Words:
    """Two texts aligned word by word, by line where one of them is long. Joined without "-" it is `after` again.

    A word carries the blanks before it, so that an appended paragraph is one addition; each Chinese, Japanese or Korean
    character is a word of its own.
    """
    a, b = _WORD.findall(before), _WORD.findall(after)
    if max(len(a), len(b)) > MAX_WORDS:
        a, b = before.splitlines(keepends=True), after.splitlines(keepends=True)
    if max(len(a), len(b)) > MAX_WORDS:
        return tuple(pair for pair in (("-", before), ("+", after)) if pair[1])
    out: list[tuple[str, str]] = []
    for tag, i, j, k, m in _opcodes(a, b):
        if tag == "equal":
            out.append(("=", "".join(a[i:j])))
            continue
        out += [("-", "".join(a[i:j]))] * (j > i) + [("+", "".join(b[k:m]))] * (m > k)
    return tuple(out)


_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
_WORD = re.compile(rf"\s*(?:[{_CJK}]|[^\s{_CJK}]+)|\s+")


def _values(path: str, before: Any, after: Any) -> Iterator[Change]:
    """Changed leaves below a path."""
    if before is _ABSENT:
        yield Change("add", path, None, after)
    elif after is _ABSENT:
        yield Change("remove", path, before)
    elif isinstance(before, dict) and isinstance(after, dict):
        for key in sorted({*before, *after}):
            yield from _values(path + pointer(key), before.get(key, _ABSENT), after.get(key, _ABSENT))
    elif isinstance(before, list) and isinstance(after, list):
        yield from _lists(path, before, after)
    elif _key(before) != _key(after):
        both = isinstance(before, str) and isinstance(after, str)
        yield Change("replace", path, before, after, words(before, after) if both else ())


def _lists(path: str, before: list[Any], after: list[Any]) -> Iterator[Change]:
    """Items are aligned by value: first those in the same order, then equal ones elsewhere, which have moved.

    Without the first pass repeated items (the same call made twice) would look moved. What is left over in the same
    gap is an item that was edited.
    """
    head, tail = _shared(before, after)
    if len(before) == head + tail or len(after) == head + tail:  # nothing to align: the first contents of a request
        yield from (Change("add", f"{path}/{n}", None, after[n]) for n in range(head, len(after) - tail))
        yield from (Change("remove", f"{path}/{n}", before[n]) for n in range(head, len(before) - tail))
        return
    a, b = ([_key(x) for x in side[head : len(side) - tail]] for side in (before, after))
    gaps = [(i + head, j + head, k + head, m + head) for tag, i, j, k, m in _opcodes(a, b) if tag != "equal"]
    free: dict[bytes, deque[int]] = defaultdict(deque)
    for i, j, _, _ in gaps:
        for n in range(i, j):
            free[a[n - head]].append(n)
    moved: dict[int, int] = {}
    for _, _, k, m in gaps:
        for n in range(k, m):
            if free[b[n - head]]:
                moved[n] = free[b[n - head]].popleft()
    gone_elsewhere = set(moved.values())
    for i, j, k, m in gaps:
        old = deque(n for n in range(i, j) if n not in gone_elsewhere)
        for n in range(k, m):
            if n in moved:
                yield Change("move", f"{path}/{n}", f"{path}/{moved[n]}", after[n])
            elif old and _alike(before[old[0]], after[n]):
                yield from _values(f"{path}/{n}", before[old.popleft()], after[n])
            else:
                yield Change("add", f"{path}/{n}", None, after[n])
        for n in old:
            yield Change("remove", f"{path}/{n}", before[n])


def _shared(before: list[Any], after: list[Any]) -> tuple[int, int]:
    """How many items both begin and end with that are the very same objects: two steps share nearly all of theirs."""
    head, end = 0, min(len(before), len(after))
    while head < end and before[head] is after[head]:
        head += 1
    tail = 0
    while tail < end - head and before[-1 - tail] is after[-1 - tail]:
        tail += 1
    return head, tail


def _alike(before: Any, after: Any) -> bool:
    """Whether one may be an edited form of the other: contents of one role, declarations of one tool, plain values."""
    if isinstance(before, dict) and isinstance(after, dict):
        return all(before.get(k) == after.get(k) for k in ("role", "name")) and before.keys() == after.keys()
    return type(before) is type(after)


def _key(item: Any) -> bytes:
    """What tells items apart: 1 and true are two things. Marshal is some ten times as quick as JSON."""
    try:
        return marshal.dumps(item, 2)
    except ValueError:
        return json.dumps(item, sort_keys=True, default=str).encode("utf-8", "surrogatepass")


def _opcodes(a: Sequence[Any], b: Sequence[Any]) -> list[tuple[str, int, int, int, int]]:
    """Opcodes as difflib has them; what both begin and end with is set aside first, as that is nearly everything."""
    head, end = 0, min(len(a), len(b))
    while head < end and a[head] == b[head]:
        head += 1
    tail = 0
    while tail < end - head and a[-1 - tail] == b[-1 - tail]:
        tail += 1
    i, j, k, m = head, len(a) - tail, head, len(b) - tail
    out = [("equal", 0, head, 0, head)] if head else []
    if i == j or k == m:
        out += [("delete" if k == m else "insert", i, j, k, m)] if (i, k) != (j, m) else []
    else:
        codes = SequenceMatcher(None, a[i:j], b[k:m], autojunk=False).get_opcodes()
        out += [(tag, i + p, i + q, k + r, k + s) for tag, p, q, r, s in codes]
    return out + ([("equal", j, len(a), m, len(b))] if tail else [])
