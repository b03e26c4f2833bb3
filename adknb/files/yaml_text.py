"""YAML from outside, as strict as JSON: plain data only, each fault with its place, no bomb goes off.

What comes out is what JSON could hold. Built straight from the parser's events, without its tree of nodes: nothing is
recursive, a mapping cannot have a key twice, an alias counts as all that it stands for. A date stays the text it is.

    a: &x [1, 2]
    b: *x          -> {"a": [1, 2], "b": [1, 2]}
"""

from __future__ import annotations

import base64
import binascii
import math
import re
from dataclasses import dataclass, field
from typing import Any

from adknb.engine.errors import BadData
from adknb.json_text import DEPTH

MOST_BY_ALIAS = 200_000
"""More values than this are not made by aliases: each stands for a copy of what it names."""

_TAG = "tag:yaml.org,2002:"
_BROKEN = re.compile(r"[\ud800-\udfff]")


def parse_yaml(text: str, name: str) -> Any:
    """The value that a YAML document stands for.

    Raises:
        BadData: with line and column for a syntax error, a key given twice, a tag that is not plain data, an alias to
            nothing, `.nan`, a second document; also for one that is nested too deeply or that unfolds to too much.
    """
    import yaml

    if broken := _BROKEN.search(text):  # the C parser takes bytes
        raise _fault(name, text, broken.start(), "half a surrogate pair, which is no text")
    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    builder = _Builder(name)
    try:
        for event in yaml.parse(text, Loader=loader):
            builder.take(event)
    except yaml.YAMLError as error:
        raise _syntax_error(error, name, text) from None
    if not builder.documents:
        raise BadData(name, "the file is empty")
    return builder.documents[0]


def _fault(name: str, text: str, at: int, message: str) -> BadData:
    line = text.count("\n", 0, at) + 1
    return BadData(f"{name}:{line}:{at - text.rfind(chr(10), 0, at)}", message)


def _syntax_error(error: Any, name: str, text: str) -> BadData:
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    problem = getattr(error, "problem", None) or getattr(error, "reason", None) or "it cannot be read"
    where = f"{name}:{mark.line + 1}:{mark.column + 1}" if mark is not None else name
    if mark is None and isinstance(position := getattr(error, "position", None), int):
        where = f"{name}:{text.count(chr(10), 0, position) + 1}"
    return BadData(where, f"not YAML: {problem}")


@dataclass
class _Open:
    """A list or mapping that is being read; `size` counts the values in it."""

    value: Any
    anchor: str | None
    size: int = 1
    key: str | None = None
    """The key whose value comes next; None while a key is awaited."""
    merges: bool = False
    """Whether that key is a merge: `<<` without quotes."""
    merged: list[dict[str, Any]] = field(default_factory=list)


MERGE = "<<"
"""The key that takes over what other mappings have."""


class _Builder:
    """Makes values of the events of a parser, one by one."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.documents: list[Any] = []
        self.open: list[_Open] = []
        self.anchors: dict[str, tuple[Any, int]] = {}
        self.by_alias = 0
        self.takes = {
            "ScalarEvent": self._scalar,
            "AliasEvent": self._alias,
            "SequenceStartEvent": self._start,
            "MappingStartEvent": self._start,
            "SequenceEndEvent": self._end,
            "MappingEndEvent": self._end,
            "DocumentStartEvent": self._document,
        }

    def take(self, event: Any) -> None:
        """Go on by one event. Raises BadData."""
        if (work := self.takes.get(type(event).__name__)) is not None:
            work(event)

    def _document(self, event: Any) -> None:
        self.anchors = {}
        if self.documents:
            self._refuse(event, "a second document begins here; one is expected")

    def _scalar(self, event: Any) -> None:
        top = self.open[-1] if self.open else None
        if top is not None and type(top.value) is dict and top.key is None:
            if event.tag not in (None, "!", _TAG + "str", _TAG + "merge"):
                self._refuse(event, f"expected a plain key, found one with the tag {event.tag}")
            self._key(top, event.value, event, merges=event.value == MERGE and event.implicit[0])
            if event.anchor:
                self.anchors[event.anchor] = (event.value, 1)
            return
        self._put(_value_of(event, self._refuse), 1, event)
        if event.anchor:
            self.anchors[event.anchor] = (self.documents[-1] if top is None else _last(top), 1)

    def _key(self, top: _Open, key: str, event: Any, merges: bool = False) -> None:
        if key in top.value and not merges:
            self._refuse(event, f"the key {key[:40]!r} is given twice in one mapping")
        top.key, top.merges = key, merges

    def _alias(self, event: Any) -> None:
        if event.anchor not in self.anchors:
            self._refuse(event, f"*{event.anchor} stands for nothing that is finished before it")
        value, size = self.anchors[event.anchor]
        self.by_alias += size
        if self.by_alias > MOST_BY_ALIAS:
            self._refuse(event, f"aliases unfold to more than {MOST_BY_ALIAS} values")
        top = self.open[-1] if self.open else None
        if top is not None and type(top.value) is dict and top.key is None:
            if not isinstance(value, str):
                self._refuse(event, "expected a plain key, found an alias to something else")
            self._key(top, value, event)
            return
        self._put(value, size, event)

    def _start(self, event: Any) -> None:
        if len(self.open) >= DEPTH:
            self._refuse(event, f"nested deeper than {DEPTH} levels")
        is_list = type(event).__name__ == "SequenceStartEvent"
        if event.tag not in (None, "!", _TAG + ("seq" if is_list else "map")):
            self._refuse(event, f"the tag {event.tag} is no plain data")
        top = self.open[-1] if self.open else None
        if top is not None and type(top.value) is dict and top.key is None:
            self._refuse(event, "expected a plain key, found a list or a mapping")
        self.open.append(_Open([] if is_list else {}, event.anchor))

    def _end(self, event: Any) -> None:
        done = self.open.pop()
        for other in done.merged:  # the first that has a key wins, and what is written here wins over all
            for key, value in other.items():
                done.value.setdefault(key, value)
        self._put(done.value, done.size, event)
        if done.anchor:
            self.anchors[done.anchor] = (done.value, done.size)

    def _put(self, value: Any, size: int, event: Any) -> None:
        if not self.open:
            self.documents.append(value)
            return
        top = self.open[-1]
        top.size += size
        if type(top.value) is list:
            top.value.append(value)
            return
        assert top.key is not None
        if top.merges and _mergeable(value):
            top.merged += value if isinstance(value, list) else [value]
        else:
            top.value[top.key] = value
        top.key = None

    def _refuse(self, event: Any, message: str) -> Any:
        mark = event.start_mark
        raise BadData(f"{self.name}:{mark.line + 1}:{mark.column + 1}", message)


def _last(top: _Open) -> Any:
    """The scalar that was just put into a list or mapping."""
    return top.value[-1] if type(top.value) is list else next(reversed(top.value.values()), None)


def _mergeable(value: Any) -> bool:
    return isinstance(value, dict) or (isinstance(value, list) and all(isinstance(one, dict) for one in value))


# -------------------------------------------------------------------------------------------------------------- scalars

_NULL = re.compile(r"~|null|Null|NULL|")
_TRUE = re.compile(r"yes|Yes|YES|true|True|TRUE|on|On|ON")
_FALSE = re.compile(r"no|No|NO|false|False|FALSE|off|Off|OFF")
_INT = re.compile(r"[-+]?(0b[0-1_]+|0x[0-9a-fA-F_]+|0[0-7_]+|(?:0|[1-9][0-9_]*))")
_SIXTY = re.compile(r"[-+]?[1-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?")
_FLOAT = re.compile(r"[-+]?(?:[0-9][0-9_]*)\.[0-9_]*(?:[eE][-+][0-9]+)?|[-+]?\.[0-9][0-9_]*(?:[eE][-+][0-9]+)?")
_NO_NUMBER = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")
_MAY_BE = set("-+0123456789.~nNyYtToOfF")
"""How a plain scalar begins that may be something else than a text."""


def _value_of(event: Any, refuse: Any) -> Any:
    """What a scalar stands for, by YAML 1.1 as PyYAML's safe loader reads it; dates stay texts."""
    text: str = event.value
    tag = event.tag
    if tag is None:
        if not event.implicit[0]:  # quoted, or a block
            return text
        if text and text[0] not in _MAY_BE:
            return text
        return _plain(text, event, refuse)
    kind = tag.removeprefix(_TAG)
    if kind in ("!", "str", "timestamp"):
        return text
    if kind == "binary":
        return _base64(text, event, refuse)
    value = _plain(text, event, refuse) if kind in ("null", "bool", "int", "float") else None
    fits = {"null": value is None, "bool": isinstance(value, bool), "int": type(value) is int}
    if kind == "float" and isinstance(value, (int, float)) and not isinstance(value, bool):
        return float(value)
    if fits.get(kind):
        return value
    return refuse(
        event, f"the tag {tag} is no plain data" if kind not in (*fits, "float") else f"{text[:40]!r} is no {kind}"
    )


def _plain(text: str, event: Any, refuse: Any) -> Any:
    if _NULL.fullmatch(text):
        return None
    if _TRUE.fullmatch(text):
        return True
    if _FALSE.fullmatch(text):
        return False
    if len(text) > 1000:  # no number
        return text
    if _INT.fullmatch(text) and text[-1] != "_":
        return _whole(text.replace("_", ""))
    if _FLOAT.fullmatch(text):
        number = float(text.replace("_", ""))
        return refuse(event, f"{text[:40]} is not a number that JSON knows") if math.isinf(number) else number
    if _NO_NUMBER.fullmatch(text):
        return refuse(event, f"{text} is not a number that JSON knows")
    if _SIXTY.fullmatch(text):
        return _by_sixties(text.replace("_", ""))
    return text


def _whole(digits: str) -> int:
    sign = -1 if digits[0] == "-" else 1
    digits = digits.lstrip("+-")
    if digits[:2] in ("0b", "0x"):
        return sign * int(digits, 0)
    return sign * int(digits, 8 if len(digits) > 1 and digits[0] == "0" else 10)


def _by_sixties(text: str) -> int | float:
    """`1:30` is 90 in YAML 1.1."""
    sign = -1 if text[0] == "-" else 1
    value: int | float = 0
    for digits in text.lstrip("+-").split(":"):
        value = value * 60 + (float(digits) if "." in digits else int(digits))
    return sign * value


def _base64(text: str, event: Any, refuse: Any) -> Any:
    """Bytes stay what they are in JSON: base64, on one line."""
    try:
        return base64.b64encode(base64.b64decode("".join(text.split()), validate=True)).decode()
    except (binascii.Error, ValueError):
        return refuse(event, "not base64")
