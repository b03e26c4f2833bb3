"""Streaming tools of a live run: they run in the background and speak to the model by themselves (spec/live.md §10.9).

Go: internal/llminternal/base_flow.go, handleFunctionCalls
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from contextlib import closing
from contextvars import copy_context
from typing import Any

from google.genai import types

from adknb.engine.context import Context
from adknb.engine.live.sending import LiveRequest
from adknb.engine.loops import PrivateLoop, on
from adknb.engine.stops import Seam, Steps, call
from adknb.engine.tool import FunctionTool

STARTED = "The function runs in the background. Its results follow as messages."
STOPPED = "All running instances of {!r} were stopped."
NONE_RUNNING = "No streaming function {!r} is running."

Recall = Callable[[Callable[[], bool]], bool]


def ask(question: Callable[[], bool]) -> bool:
    """The answer as it is now."""
    return question()


class StreamingTools:
    """The streaming tools that run, by name and call id. `send` hands a chunk over and waits until it is taken.

    They outlive a reconnect; only `stop_streaming` cancels them. One whose chunk cannot be sent ends, too. `recall` is
    given what asks whether any runs: a run that is played again answers from what it has recorded.

    Go: internal/llminternal/base_flow.go, handleFunctionCalls
    """

    def __init__(self, send: Callable[[LiveRequest], None], recall: Recall | None = None) -> None:
        self._send = send
        self._recall = recall or ask
        self._running: dict[str, dict[str, threading.Event]] = {}
        self._lock = threading.Lock()

    @property
    def names(self) -> list[str]:
        """The names of those that run, in the order in which they were first started."""
        with self._lock:
            return [name for name, instances in self._running.items() if instances]

    def start(self, ctx: Context, tool: FunctionTool, args: dict[str, Any]) -> Steps[dict[str, Any]]:
        """Start a tool; the answer says no more than that. No tool callback is asked."""
        result = yield from call(Seam.TOOL, tool.name, self._start, ctx, tool, args, tool=tool, args=args, ctx=ctx)
        return result  # type: ignore[no-any-return]

    def stop(self, name: Any) -> dict[str, Any]:
        """Cancel all instances of a name: their contexts say so, and what they still give is dropped."""
        ran = self._recall(lambda: self._cancel(name))
        return {"status": (STOPPED if ran else NONE_RUNNING).format(name)}

    def _cancel(self, name: Any) -> bool:
        """Cancel all instances of a name; whether there were any."""
        with self._lock:
            instances = self._running.pop(name, {}) if isinstance(name, str) else {}
        for cancelled in instances.values():
            cancelled.set()
        return bool(instances)

    def _start(self, ctx: Context, tool: FunctionTool, args: dict[str, Any]) -> dict[str, Any]:
        cancelled = threading.Event()
        with self._lock:
            self._running.setdefault(tool.name, {})[ctx.function_call_id] = cancelled
        own = Context(ctx.invocation, ctx.actions, ctx.function_call_id, ctx.tool_confirmation, cancelled)
        work = lambda: self._run(own, tool, args)  # noqa: E731
        threading.Thread(target=copy_context().run, args=(work,), name=f"adknb-{tool.name}", daemon=True).start()
        return {"status": STARTED}

    def _run(self, ctx: Context, tool: FunctionTool, args: dict[str, Any]) -> None:
        with closing(PrivateLoop()) as loop, on(loop):  # an async tool's own, not that of the run around it
            self._send_chunks(ctx, tool, args)

    def _send_chunks(self, ctx: Context, tool: FunctionTool, args: dict[str, Any]) -> None:
        chunks = tool.run_stream(ctx, args)
        try:
            for chunk in chunks:
                if ctx.cancelled.is_set():
                    return
                text = f"Function {tool.name} returned: {chunk}"
                content = types.Content(role="user", parts=[types.Part(text=text)])
                try:
                    self._send(LiveRequest(content))
                except EOFError as closed:
                    print(f"streaming tool {tool.name!r} ends: {closed}", file=sys.stderr)
                    return
        except Exception as error:
            print(f"streaming tool {tool.name!r} failed: {error}", file=sys.stderr)
        finally:
            try:
                chunks.close()
            finally:
                with self._lock:
                    self._running.get(tool.name, {}).pop(ctx.function_call_id, None)
