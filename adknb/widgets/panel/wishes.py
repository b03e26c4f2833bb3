"""Keys of stages and rows, as the browser names them, and the wishes they stand for."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from adknb.stepper import Wish, at

_SEAMS = {"declare": "tool_declaration", "tools": "tool"}
"""Stages of the track that are called otherwise than their seam."""


def wish_of(key: str) -> Wish:
    """The wish of a key: `processor:contents`, `tool:get_weather`, `append`, `stage:model`.

    Raises:
        ValueError: no seam is called so.
    """
    seam, _, name = key.partition(":")
    if seam == "stage":
        return at(seam=_SEAMS.get(name, name))
    return at(name, seam=seam) if name else at(seam=seam)


def key_of(wish: Any, keys: Iterable[str]) -> str:
    """The key whose wish is asked in the same words; empty for a wish of another kind."""
    return next((key for key in keys if wish_of(key).words == wish.words), "")
