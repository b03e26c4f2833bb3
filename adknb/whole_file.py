"""Writing a file all at once: whatever happens, there is the old file or the new one, and nothing beside it."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from adknb.engine.errors import BadData


def write_whole(path: str | os.PathLike[str], text: str) -> None:
    """Write a file all at once: whatever happens, there is the old file or the new one.

    Raises:
        BadData: it cannot be written.
    """
    target, name = Path(path), ""
    try:
        target = target.resolve() if target.is_symlink() else target
        mode = target.stat().st_mode & 0o777 if target.exists() else 0o666 & ~_umask()
        handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, mode)
        os.replace(name, target)
    except (OSError, ValueError) as error:
        if name:
            Path(name).unlink(missing_ok=True)
        raise BadData(str(path), f"cannot be written: {getattr(error, 'strerror', None) or error}") from None


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
