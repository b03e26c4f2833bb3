"""Requests written down, over and over: a content that is as it was is not written out again.

A pause writes the request down so that an edit can be told, a call to the model so that it can be looked at later, and
the views want it too. What a content says is kept in a few bytes; its JSON is made when somebody reads it. A content
that nobody has touched since it was assembled has not even changed hands: telling that takes a look at its class.
"""

from __future__ import annotations

import marshal
import re
from typing import Any

from google.genai import types

from adknb.engine.copies.packed import CALL, Packed, pack, unpack
from adknb.engine.copies.promises import PromisedContent, how_many_kept, packed_of
from adknb.engine.model import LLMRequest
from adknb.stepper.edits import content_json, rest_json

Json = dict[str, Any]

_SURROGATE = re.compile(r"[\ud800-\udfff]")

ORDER = ("model", "contents", "config", "tools")
"""The fields of a request's JSON."""


class Said:
    """What one content said at a moment."""

    __slots__ = ("_json", "parts", "role")

    def __init__(self, role: Any, parts: tuple[Packed | None, ...] | None, json: Json | None = None) -> None:
        self.role = role
        self.parts = parts
        self._json = json

    @property
    def json(self) -> Json:
        """As JSON; the same object whenever it is asked for: to be looked at, not changed."""
        if self._json is None:
            self._json = _said_plainly(self.role, self.parts) or content_json(self._content())
        return self._json

    def _content(self) -> types.Content:
        parts = None if self.parts is None else [None if part is None else unpack(part) for part in self.parts]
        return types.Content.model_construct(role=self.role, parts=parts)


class AsItWas:
    """A request as it was at a moment: its JSON without the contents, and what each content said."""

    __slots__ = ("_json", "contents", "rest")

    def __init__(self, rest: Json, contents: list[Said]) -> None:
        self.rest = rest
        self.contents = contents
        self._json: Json | None = None

    @property
    def json(self) -> Json:
        """As `edits.request_json` gave it then. Its parts are shared: to be looked at, not changed."""
        if self._json is None:
            whole = {**self.rest, "contents": [said.json for said in self.contents]}
            self._json = {name: whole[name] for name in ORDER}
        return self._json

    def differs_from(self, other: AsItWas) -> tuple[str, ...]:
        """The fields that say something else: of `("model", "contents", "config", "tools")`, in this order."""
        return tuple(
            name
            for name in ORDER
            if (self._says_others(other) if name == "contents" else self.rest.get(name) != other.rest.get(name))
        )

    def _says_others(self, other: AsItWas) -> bool:
        if self.contents is other.contents:
            return False
        if len(self.contents) != len(other.contents):
            return True
        return any(a is not b and a.json != b.json for a, b in zip(self.contents, other.contents, strict=True))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AsItWas) and not self.differs_from(other)

    __hash__ = None  # type: ignore[assignment]


class Dumps:
    """Writes requests down. Remembers what the contents of the latest one said, and shares it with the next."""

    def __init__(self) -> None:
        self._live: list[Any] = []
        self._said: list[Said] = []
        """The contents of the latest request, and what each of them said."""
        self._known: dict[tuple[Any, ...], Said] = {}
        """The same by what they say."""
        self._open: list[int] = []
        """The positions of those that somebody has touched, and may touch again."""
        self._kept = 0

    def request(self, request: LLMRequest) -> AsItWas:
        """The request as it is now; one that a reader has broken is told as far as it goes."""
        live: Any = request  # a reader may have put anything in its places
        try:
            rest = rest_json(live)
        except Exception as error:
            rest = {"config": {"broken": str(error)}, "tools": []}
        rest["model"] = str(live.model)
        return AsItWas(rest, self._contents(live.contents if isinstance(live.contents, list) else []))

    def touched(self, live: list[Any]) -> list[int]:
        """The positions of the contents that somebody has touched, or put there, and may touch again."""
        if self._is_known(live):
            return self._open if how_many_kept() == self._kept else _touchable(live)
        return _touchable(live)

    def _is_known(self, live: list[Any]) -> bool:
        """Whether these are the latest request's contents; how lists are compared, the same object costs nothing."""
        return len(live) == len(self._live) and live == self._live

    def _contents(self, live: list[Any]) -> list[Said]:
        same = self._is_known(live)  # comparing keeps the promise of a content whose place an equal one has taken
        kept = how_many_kept()
        if same and kept == self._kept:
            now, known, open_ = self._said, self._known, self._open
        elif same:
            now, known, open_ = self._said, self._known, _touchable(live)
        else:
            before = dict(zip(map(id, self._live), self._said, strict=True))
            now, known = [before.get(id(content), NOTHING) for content in live], {}
            open_ = _touchable(live)
            now = [self._write(live[at], known) if said is NOTHING else said for at, said in enumerate(now)]
        fresh = [(at, said) for at in open_ if (said := self._write(live[at], known)) is not now[at]]
        if fresh:
            now = now.copy()
            for at, said in fresh:
                now[at] = said
        if not same or kept != self._kept:
            self._live = live.copy()
        self._said, self._known, self._open, self._kept = now, known or self._known, open_, kept
        return now

    def _write(self, content: Any, known: dict[tuple[Any, ...], Said]) -> Said:
        """What a content says: as was written down for one that says the same, if there is such."""
        try:
            key = packed_of(content) or _packed(content)
            role, parts = key
            for part in parts or ():
                if type(part) is dict:
                    return Said(role, parts)
            said = known.get(key) or self._known.get(key)
            if said is None:
                said = Said(role, parts)
            known[key] = said
            return said
        except Exception:
            return Said("", None, {"role": "", "parts": [{"text": f"(not a Content: {content!r})"}]})


NOTHING = Said(None, None)


def _said_plainly(role: Any, parts: tuple[Packed | None, ...] | None) -> Json | None:
    """What `edits.content_json` gives of texts, calls and responses that hold plain JSON; None for all else.

    Histories consist of such contents, and it is much quicker to write them than to build them and write those.
    """
    if type(role) is not str or not parts:
        return None
    written: list[Json] = []
    for part in parts:
        if type(part) is str:
            if not _is_plain(part):
                return None
            written.append({"text": part})
        elif type(part) is tuple:
            kind, call_id, name, packed = part
            data = marshal.loads(packed)
            if not (call_id and name and type(data) is dict and _is_plain([call_id, name, data])):
                return None
            at, holds = ("functionCall", "args") if kind == CALL else ("functionResponse", "response")
            written.append({at: {"id": call_id, "name": name, holds: data}})
        else:
            return None
    return {"role": role, "parts": written}


def _is_plain(value: Any) -> bool:
    """Whether JSON says it as it is: no null, which is left out there, no float, whose text is pydantic's affair."""
    kind = type(value)
    if kind is str:
        return value.isascii() or not _SURROGATE.search(value)
    if kind is dict:
        return all(type(name) is str and _is_plain(name) and _is_plain(inner) for name, inner in value.items())
    return all(map(_is_plain, value)) if kind is list else kind is int or kind is bool


def _touchable(live: list[Any]) -> list[int]:
    return [at for at, content in enumerate(live) if type(content) is not PromisedContent]


def _packed(content: types.Content) -> tuple[Any, tuple[Packed | None, ...] | None]:
    parts = content.parts
    return content.role, None if parts is None else tuple(None if part is None else pack(part) for part in parts)
