"""The live path through the Flow: one request, one line to the model, everything else in its loop (spec/live.md §9).

Go: internal/llminternal/base_flow.go, Flow.RunLive

No model callbacks, no response processors, no compaction, no steps: a message comes, an event goes up, its calls are
run, their answer goes back. When the line breaks it may be dialled again (reconnect.py).
"""

from __future__ import annotations

import time
from collections.abc import Generator
from dataclasses import fields
from typing import Any

from google.genai import types

from adknb.engine.context import InvocationContext, LiveConfig
from adknb.engine.event import Event, function_responses_of
from adknb.engine.flow import Flow
from adknb.engine.live.audio import AudioCache
from adknb.engine.live.config import connect_config, history_message
from adknb.engine.live.connection import LiveConnection, LiveModel
from adknb.engine.live.errors import (
    LiveCancelled,
    LiveConfigMissing,
    LiveConnectFailed,
    LiveReceiveFailed,
    LiveSendFailed,
    LiveUnsupported,
)
from adknb.engine.live.items import YieldedError
from adknb.engine.live.receiving import Receiver
from adknb.engine.live.receiving import kind_of as kind_received
from adknb.engine.live.reconnect import finding, reconnects, waits
from adknb.engine.live.sending import LiveRequest, messages_of, tool_response
from adknb.engine.live.sending import kind_of as kind_sent
from adknb.engine.live.session import LiveSession
from adknb.engine.live.streaming_tools import StreamingTools
from adknb.engine.llm_settings import backend_of
from adknb.engine.model import LLMRequest
from adknb.engine.response import LLMResponse
from adknb.engine.stops import Phase, Seam, Steps, Stop, call

TASK_COMPLETED = "task_completed"
LAST_WORDS = 0.1
"""Seconds between a completed task and the end of its connection (§10.8)."""


class _Broke(Exception):
    """The line broke while it was talked on; whether it is dialled again is decided outside."""

    def __init__(self, error: Exception, failed: type[LiveSendFailed] | type[LiveReceiveFailed]) -> None:
        super().__init__(str(error))
        self.error = error
        self.failed = failed


def live_model(model: Any, agent: str) -> LiveModel:
    """The model, if it can be talked to live.

    Raises:
        LiveUnsupported: it cannot, or there is none.

    Go: internal/llminternal/base_flow.go, Flow.RunLive
    """
    if isinstance(model, LiveModel):
        return model
    what = "no model" if model is None else f"model {getattr(model, 'name', model)!r}, which has no connect_live"
    raise LiveUnsupported(f"agent {agent!r} cannot run live: it has {what}; give it a Gemini model")


def live_config(ctx: InvocationContext) -> LiveConfig:
    """The live config of the run. Raises LiveConfigMissing if there is none."""
    if ctx.run_config.live is None:
        raise LiveConfigMissing(
            f"agent {ctx.agent.name!r} cannot run live without a LiveConfig: run_live(live_config=…)"
        )
    return ctx.run_config.live


class LiveFlow:
    """One live run of an LLM agent.

    Go: internal/llminternal/base_flow.go, Flow.RunLive
    """

    def __init__(self, flow: Flow, ctx: InvocationContext, session: LiveSession) -> None:
        self.model = live_model(flow.model, ctx.agent.name)
        self.config = live_config(ctx)
        self.flow = flow
        self.backend = backend_of(flow.model)
        self.session = session
        self.line = session.new_line(self.write)
        self.streaming = StreamingTools(lambda request: self.line.send(request, rendezvous=True), session.recall)
        self.ctx = ctx.derive(live=self.streaming)
        self.audio = AudioCache(self.ctx)
        self.request = LLMRequest(model=self.model.name)
        self.handle = ""
        """The newest resumption handle."""
        self.in_vain = 0
        """How many connections in a row have brought nothing but their acknowledgement."""

    def run(self) -> Generator[Any, None, None]:
        """Build the request once, then talk until the end, over as many connections as it takes.

        Raises:
            FlowError: what ended the run: a stage, a connect, the history, a tool's answer, or a broken line.

        Go: internal/llminternal/base_flow.go, Flow.RunLive
        """
        try:
            yield from self._run()
        except Exception:
            if not self.line.closed:  # closing tells no error
                raise
        finally:
            self.line.close()

    def _run(self) -> Generator[Any, None, None]:
        yield from self.flow.preprocess(self.ctx, self.request)
        attempt = 0
        while not self.line.closed:
            attempt += 1
            connection = yield from self.connect(attempt)
            try:
                yield from self.send_history(connection)
                self.line.open(connection)
                yield from self.talk(connection)
                return
            except _Broke as broke:
                if not reconnects(broke.error):
                    raise _final(broke) from broke.error
            finally:
                self.line.shut()
                connection.close()
            self.pause()

    def connect(self, attempt: int) -> Steps[LiveConnection]:
        """Dial. A connect that fails ends the run; there is no second try (§4.1).

        Go: internal/llminternal/base_flow.go, Flow.RunLive
        """
        config = connect_config(self.request, self.config, self.handle, self.backend == "vertex")
        name = "connect" if attempt == 1 else "reconnect"
        self.in_vain += 1
        try:
            connection: LiveConnection = yield from call(
                Seam.LIVE_CONNECT, name, self.session.dial, self.model, config, self.line,
                config=config, attempt=attempt, finding=finding(self.in_vain - 1, self.session.backoff), ctx=self.ctx,
            )  # fmt: skip
        except Exception as error:
            raise LiveConnectFailed(f"the live connection to model {self.model.name!r} failed: {error}") from error
        return connection

    def pause(self) -> None:
        """Wait before the next connection, as the runner's backoff says; a closed run does not wait."""
        until = time.monotonic() + waits(self.session.backoff, self.in_vain)
        while not self.line.closed and (left := until - time.monotonic()) > 0:
            self.line.quiet()
            self.line.wait(left)

    def send_history(self, connection: LiveConnection) -> Steps[None]:
        """On every connection, also a resumed one (§5). A failure is final.

        Go: internal/llminternal/googlellm/live_connection.go, SendHistory
        """
        message = history_message(self.request.contents, self.model.name)
        if message is None:
            return
        try:
            yield from self._sending("history", connection.send, message)
        except Exception as error:
            raise LiveSendFailed(f"sending the history failed: {error}") from error

    # ---------------------------------------------------------------------------------------------------- the main loop

    def talk(self, connection: LiveConnection) -> Generator[Any, None, None]:
        """One thing at a time: what the reader sends, what the model says. Returns when the run is over (§9).

        Raises:
            _Broke: the line broke.

        Go: internal/llminternal/base_flow.go, Flow.RunLive
        """
        receiver = Receiver()
        while True:
            message = yield from self.next_message(connection)
            if message is None:
                return
            try:
                taken = yield from call(
                    Seam.LIVE_RECEIVE, kind_received(message), _as_it_came, message, message=message, ctx=self.ctx
                )
            except Exception as error:  # the reader lets it break here
                raise _Broke(error, LiveReceiveFailed) from error
            if taken is None:  # the reader has dropped it
                continue
            if taken.setup_complete is None:
                self.in_vain = 0
            for response in receiver.responses(taken):
                if (yield from self.told(connection, response)):
                    return

    def next_message(self, connection: LiveConnection) -> Steps[types.LiveServerMessage | None]:
        """Wait for the next message; in a stepped run put on the line meanwhile what was sent. None: closed.

        Raises:
            _Broke: the line broke. LiveCancelled: the run was cancelled.

        Go: internal/llminternal/base_flow.go, Flow.RunLive
        """
        line = self.line
        while True:
            line.quiet()
            if line.cancelled:
                raise LiveCancelled("the live run was cancelled")
            if line.closed:
                return None
            pending = self.session.taking(line)
            if pending is not None:
                yield from self.send_pending(connection, pending)
                continue
            failure = line.failure()
            if failure is not None:
                raise _Broke(failure, LiveSendFailed) from failure
            try:
                message = connection.receive()
            except Exception as error:
                raise _Broke(error, LiveReceiveFailed) from error
            if message is not None:
                return message
            if line.stepped:
                yield Stop(Seam.LIVE_WAIT, "wait", Phase.BEFORE, {"ctx": self.ctx, "streaming": self.streaming.names})
            line.wait()

    def told(self, connection: LiveConnection, response: LLMResponse) -> Steps[bool]:
        """Tell a response as an event, save audio that is whole, run its calls. True: the run is over.

        Go: internal/llminternal/base_flow.go, Flow.RunLive
        """
        event = self.event_of(response)
        self.audio.received(event)
        if self.line.over():
            return True
        yield event
        if self.line.over():
            return True
        yield from self.audio.flush(event)
        tools = {tool.name: tool for tool in self.flow.tools}  # the agent's own: not what processors have added (§10.2)
        answered = yield from handle_calls(self.flow, self.ctx, tools, event.content)
        if answered is None or self.line.over():
            return self.line.over()
        yield answered
        if any(r.name == TASK_COMPLETED for r in function_responses_of(answered.content)):
            time.sleep(LAST_WORDS)
            return True
        try:
            respond = lambda message: self.line.respond(connection, message)  # noqa: E731
            yield from self._sending("tool_response", respond, tool_response(answered.content))
        except Exception as error:
            raise LiveSendFailed(f"sending the answer of the tools failed: {error}") from error
        return False

    def event_of(self, response: LLMResponse) -> Event:
        """A response as an event of the agent, even what the user was heard to say (§8).

        No branch, no ids of ours, no state.

        Go: internal/llminternal/base_flow.go, Flow.RunLive
        """
        self.handle = response.session_resumption_handle or self.handle
        event = self.ctx.new_event(**{f.name: getattr(response, f.name) for f in fields(LLMResponse)})
        event.branch = ""
        return event

    # ---------------------------------------------------------------------------------------------------------- sending

    def send_pending(self, connection: LiveConnection, pending: Any) -> Steps[None]:
        """Put on the line what was queued in a stepped run; it is stored first."""
        if pending.store is not None:
            try:
                yield from pending.store(pending.request)
            except Exception as error:
                yield YieldedError(error)
        try:
            yield from self.write(connection, pending.request)
        except Exception as error:
            raise _Broke(error, LiveSendFailed) from error

    def write(self, connection: LiveConnection, request: LiveRequest) -> Steps[None]:
        """Send a request's messages, one stop each; its audio is kept first (§6.7). Raises what went wrong.

        Go: internal/llminternal/base_flow.go, Flow.RunLive
        """
        self.audio.sent(request.realtime_input)
        for message in messages_of(request, self.model.name, self.backend):
            yield from self._sending(kind_sent(message), connection.send, message)

    def _sending(self, name: str, send: Any, message: types.LiveClientMessage) -> Steps[None]:
        yield from call(Seam.LIVE_SEND, name, send, message, message=message, ctx=self.ctx)


def handle_calls(
    flow: Flow, ctx: InvocationContext, tools: dict[str, Any], content: types.Content | None
) -> Steps[Event | None]:
    """The calls of a content, partial or not; the same as in a normal run (§10).

    Go: internal/llminternal/base_flow.go, handleFunctionCalls
    """
    return (yield from flow.handle_function_calls(ctx, tools, content))


def _as_it_came(message: types.LiveServerMessage) -> types.LiveServerMessage:
    return message


def _final(broke: _Broke) -> Exception:
    if broke.failed is LiveReceiveFailed:
        return LiveReceiveFailed(f"receiving from the live connection failed: {broke.error}")
    return LiveSendFailed(f"sending to the live connection failed: {broke.error}")
