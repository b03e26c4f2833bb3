"""What can go wrong in a live run (spec/live.md §12).

FlowError
├── LiveUnsupported, LiveConfigMissing      before anything is sent
├── LiveConnectFailed                       a connection cannot be made; never tried again
├── LiveSendFailed, LiveReceiveFailed       an open one fails, and reconnecting is not called for
├── BadLiveInput                            what the reader sends cannot be sent
└── LiveCancelled                           somebody has called `cancel`
LiveSessionClosed, NoActiveAgent            told to whoever sends too late, or too early
LiveBroken                                  a connection's own word for its end: close code and reason
"""

from __future__ import annotations

from adknb.engine.errors import AdknbError, FlowError


class LiveUnsupported(FlowError):
    """The agent, or its model, cannot run live."""


class LiveConfigMissing(FlowError):
    """A live run without a LiveConfig."""


class LiveConnectFailed(FlowError):
    """The live connection could not be made. The connection's own error is the cause."""


class LiveSendFailed(FlowError):
    """Sending failed for good. The connection's own error is the cause."""


class LiveReceiveFailed(FlowError):
    """Receiving failed for good. The connection's own error is the cause."""


class BadLiveInput(FlowError):
    """The reader has sent what no live connection takes."""


class LiveCancelled(FlowError):
    """The run was cancelled."""


class LiveSessionClosed(AdknbError, EOFError):
    """`send` on a session that is closed, or was closed while it waited."""


class NoActiveAgent(AdknbError):
    """`send` while no member of a sequence is running."""


class LiveBroken(AdknbError):
    """The line broke. `code` is the WebSocket close code, 1006 where there was no close frame.

    Both are read from the message, so that one that comes out of a file has them, too.
    """

    def __init__(self, code: int, reason: str = "") -> None:
        super().__init__(f"close {code}" + (f": {reason}" if reason else ""))

    @property
    def code(self) -> int:
        """The close code."""
        return int(str(self).partition(":")[0].removeprefix("close "))

    @property
    def reason(self) -> str:
        """What the close frame says."""
        return str(self).partition(": ")[2]

    def __reduce__(self) -> tuple[type[LiveBroken], tuple[int, str]]:
        return LiveBroken, (self.code, self.reason)
