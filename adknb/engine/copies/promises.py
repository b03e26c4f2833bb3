"""Contents that are built when somebody looks.

Most contents of a long history are assembled again and again, to be counted, compared or explained, and looked at once
or never. So what a content will hold is copied at once, as plain data, and the records around it are made at the first
touch. From then on it is an ordinary `types.Content`, and even its class says so. Tests hold a promise against the real
thing, whichever way it is touched.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import Any

from google.genai import types
from pydantic import BaseModel

from adknb.engine.copies.frozen import fill
from adknb.engine.copies.packed import Packed, unpack

_new = object.__new__
_role_slot = BaseModel.__dict__["__pydantic_extra__"]
_parts_slot = BaseModel.__dict__["__pydantic_private__"]
_set_role, _set_parts = _role_slot.__set__, _parts_slot.__set__
_lock = Lock()
_kept = 0


class PromisedContent(types.Content):
    """A content that nobody has looked at. What it will hold lies in two slots that pydantic has for other things."""

    def __getattribute__(self, name: str) -> Any:
        """Any attribute, `__dict__` and methods included: keep the promise, then look again."""
        return getattr(keep(self), name)


def promise(role: str | None, parts: list[Packed]) -> types.Content:
    """`Content(role=role, parts=…)`, unchecked, of packed parts."""
    made = _new(PromisedContent)
    _set_role(made, role)
    _set_parts(made, parts)
    return made


def packed_of(content: types.Content) -> tuple[str | None, tuple[Packed, ...]] | None:
    """Role and packed parts of a content that nobody has touched; None for any other.

    One with parts that would not be copied by sharing them (plain dictionaries) is touched by this.
    """
    if type(content) is PromisedContent:
        with _lock:
            if type(content) is PromisedContent:
                packed = _parts_slot.__get__(content)
                for part in packed:
                    if type(part) is dict:
                        break
                else:
                    return _role_slot.__get__(content), tuple(packed)
    return None


def how_many_kept() -> int:
    """How many promises have been kept so far, by whomever: as long as it is the same, nobody has looked at any."""
    return _kept


def keep(content: types.Content) -> types.Content:
    """Make an ordinary content of a promised one, in place. Of several threads that ask, the first does it."""
    global _kept
    with _lock:
        if type(content) is PromisedContent:
            role, packed = _role_slot.__get__(content), _parts_slot.__get__(content)
            parts = [unpack(part) for part in packed]
            fill(content, {"parts": parts, "role": role}, {"parts", "role"})
            object.__setattr__(content, "__class__", types.Content)
            _kept += 1
    return content


def _special(name: str) -> Callable[..., Any]:
    """A method that Python looks up in the class, past `__getattribute__`: keep the promise, then call the real one."""

    def method(self: types.Content, *args: Any, **kwargs: Any) -> Any:
        return getattr(types.Content, name)(keep(self), *args, **kwargs)

    return method


for _name in ("__copy__", "__deepcopy__", "__eq__", "__iter__", "__repr__", "__str__", "__setattr__", "__delattr__"):
    setattr(PromisedContent, _name, _special(_name))
