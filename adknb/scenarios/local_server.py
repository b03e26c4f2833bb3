"""What the local stand-ins share: a thread that ends with them, and options for a client that talks to nobody else."""

from __future__ import annotations

import ssl
import threading
import weakref
from collections.abc import Callable
from typing import Any, Self

from google.genai import types


class LocalServer:
    """A server of this process on the loopback interface; it runs until `close`, or until nobody holds it any more.

    `url` is where it listens.
    """

    url: str

    def _begin(self, name: str, serve: Callable[[], None], stop: Callable[[], None]) -> None:
        """Serve in a thread of that name. Neither function may hold this object: it would never be let go."""
        self._thread = threading.Thread(target=serve, name=name, daemon=True)
        self._thread.start()
        self._stop = weakref.finalize(self, stop)

    def _options(self, trust: ssl.SSLContext, **more: Any) -> types.HttpOptions:
        """Options for a client that dials this server and trusts no more than that."""
        trusting: dict[str, Any] = {"verify": trust, **more}
        return types.HttpOptions(base_url=self.url, client_args=trusting, async_client_args={**trusting, "ssl": trust})

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the server; returns when it is gone. What is still being sent is cut off."""
        self._stop()
        self._thread.join()
