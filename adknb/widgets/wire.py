"""What may travel to a browser: JSON without half surrogate pairs and without numbers JSON does not have."""

from __future__ import annotations

import math
from typing import Any

MAX_TEXT = 20_000
"""A longer text is cut for display; its JSON can still be had."""


def clean(value: Any) -> Any:
    """A copy that Jupyter's packer takes: odd numbers and foreign objects as texts, bad characters as U+FFFD."""
    if value is None or value is True or value is False:
        return value
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, dict):
        return {clean_text(str(k)): clean(v) for k, v in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [clean(v) for v in value]
    return clean_text(repr(value))


def clean_text(text: str) -> str:
    """The text with U+FFFD in the place of every half of a surrogate pair."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return "".join("\ufffd" if "\ud800" <= c <= "\udfff" else c for c in text)
    return text


def cut(text: str, length: int = MAX_TEXT) -> str:
    """At most so many characters; the last is then an ellipsis."""
    return text if len(text) <= length else text[: length - 1] + "…"
