"""The other path through the Flow: one long run over an open connection, input and output at the same time.

Read in this order:

    connection.py       the seam: connect -> send / receive / close
    config.py           what a connection is told at its start: config, history
    sending.py          what the reader sends -> messages            session.py   the reader's end, and the line
    receiving.py        a message -> responses                       audio.py     audio, kept until a turn ends
    flow.py             the loop                                     reconnect.py when the line is dialled again
    streaming_tools.py  tools that go on in the background           sequential.py several agents, one after the other
    running.py          the runner's part: what is stored            handle.py    a run with a thread of its own
    gemini_live.py      the real connection

Spec: spec/live.md; seed 000, 四.9.
"""

from adknb.engine.live.errors import (
    BadLiveInput,
    LiveBroken,
    LiveCancelled,
    LiveConfigMissing,
    LiveConnectFailed,
    LiveReceiveFailed,
    LiveSendFailed,
    LiveSessionClosed,
    LiveUnsupported,
    NoActiveAgent,
)
from adknb.engine.live.handle import Live
from adknb.engine.live.items import Gate, YieldedError
from adknb.engine.live.sending import LiveRequest
from adknb.engine.live.session import LiveSession

__all__ = [
    "BadLiveInput",
    "Gate",
    "Live",
    "LiveBroken",
    "LiveCancelled",
    "LiveConfigMissing",
    "LiveConnectFailed",
    "LiveReceiveFailed",
    "LiveRequest",
    "LiveSendFailed",
    "LiveSession",
    "LiveSessionClosed",
    "LiveUnsupported",
    "NoActiveAgent",
    "YieldedError",
]
