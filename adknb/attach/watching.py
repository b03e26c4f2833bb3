"""watch(): every google-adk run inside a block is recorded, without pausing; a Recording for each session.

Only `Runner.run_async` and the model are looked at. A request is written down as it is, when it is sent.
"""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator
from typing import Any

from adknb.attach.adk import adk, must_have_seams
from adknb.attach.convert import from_adk
from adknb.engine.event_json import to_json
from adknb.engine.session import Session
from adknb.files.recording import Recording
from adknb.files.session_file import SessionFile


class Watched:
    """What was recorded in a `with adknb.watch() as seen:` block."""

    def __init__(self) -> None:
        self.requests: list[tuple[str, int, Any]] = []
        """(session id, events in the session by then, the LlmRequest as JSON), in the order in which they were sent."""
        self._sessions: dict[tuple[str, str, str], Any] = {}
        self._saved: list[tuple[Any, str, Any]] = []
        self._lock = threading.Lock()

    def __enter__(self) -> Watched:
        """Begin. Raises NoGoogleAdk, MissingSeam."""
        must_have_seams()
        runner, flow = adk("google.adk.runners").Runner, adk("google.adk.flows.llm_flows.base_llm_flow").BaseLlmFlow
        self._patch(runner, "run_async", self._run_async(runner.run_async))
        self._patch(flow, "_get_llm", self._get_llm(flow._get_llm))
        return self

    def __exit__(self, *error: object) -> None:
        """End: google-adk is as it was; what was recorded stays."""
        while self._saved:
            owner, name, value = self._saved.pop()
            setattr(owner, name, value)

    @property
    def recordings(self) -> list[Recording]:
        """A Recording for each session that ran, as it stood at the end of its last run, with its requests as sent."""
        with self._lock:
            kept, requests = list(self._sessions.values()), list(self.requests)
        found = []
        for theirs in kept:
            ours: Session = from_adk(theirs)
            found.append(
                Recording(
                    SessionFile(
                        name=ours.id,
                        session_id=ours.id,
                        app_name=ours.app_name,
                        user_id=ours.user_id,
                        state=ours.state,
                        state_known=True,
                        events=ours.events,
                        last_update_time=ours.last_update_time,
                        sent={at: sent for session, at, sent in requests if session == ours.id},
                    )
                )
            )
        return found

    def _patch(self, owner: Any, name: str, value: Any) -> None:
        self._saved.append((owner, name, getattr(owner, name)))
        setattr(owner, name, value)

    def _run_async(self, original: Any) -> Any:
        watched = self

        async def run_async(runner: Any, **given: Any) -> AsyncIterator[Any]:
            events = original(runner, **given)
            try:
                async for event in events:
                    yield event
            finally:
                await events.aclose()
                await watched._keep(runner, given)

        return run_async

    async def _keep(self, runner: Any, given: dict[str, Any]) -> None:
        key = (runner.app_name, given["user_id"], given["session_id"])
        session = await runner.session_service.get_session(app_name=key[0], user_id=key[1], session_id=key[2])
        if session is not None:
            with self._lock:
                self._sessions[key] = session

    def _get_llm(self, original: Any) -> Any:
        watched = self

        async def _get_llm(flow: Any, invocation_context: Any) -> Any:
            llm = await original(flow, invocation_context)
            return _Overheard(llm, watched, invocation_context.session)

        return _get_llm


class _Overheard:
    """A model whose requests are written down."""

    def __init__(self, inner: Any, watched: Watched, session: Any) -> None:
        self._inner, self._watched, self._session = inner, watched, session

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def generate_content_async(self, llm_request: Any, stream: bool = False) -> Any:
        """Write the request down and ask."""
        sent = {
            "model": llm_request.model,
            "contents": [to_json(content) for content in llm_request.contents],
            "config": to_json(llm_request.config),
        }
        self._watched.requests.append((self._session.id, len(self._session.events), sent))
        return self._inner.generate_content_async(llm_request, stream=stream)


def watch() -> Watched:
    """Record every google-adk run inside a block; nothing pauses, and behind the block nothing is left patched.

        with adknb.watch() as seen:
            ...
        seen.recordings[0]

    Raises:
        NoGoogleAdk, MissingSeam: on entering the block.
    """
    return Watched()
