"""How an answer is kept out of sight: the right option as a salted hash, what is told afterwards as a packed text.

This keeps it from the eye of an honest reader; whoever wants to know finds out.
"""

from __future__ import annotations

import base64
import hashlib
import json
import zlib
from typing import Any

from adknb import json_text
from adknb.engine.errors import BadData


def fingerprint(salt: str, key: str) -> str:
    """What is kept of a right option: `fingerprint("07.1.3fa9", "b")` is 16 hexadecimal digits."""
    return hashlib.sha256(f"{salt}:{key}".encode()).hexdigest()[:16]


def pack(value: Any) -> str:
    """JSON as a text that nobody reads at a glance."""
    plain = json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode()
    return base64.b64encode(zlib.compress(plain, 9)).decode()


def unpack(text: str, where: str) -> Any:
    """What `pack` was given.

    Raises:
        BadData: the text is not a packed one.
    """
    try:
        return json_text.parse(zlib.decompress(base64.b64decode(text, validate=True)).decode(), where)
    except (ValueError, zlib.error):
        raise BadData(where, "this is not what adknb.course.sealing writes; seal the plain form again") from None
