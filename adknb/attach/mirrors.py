"""Live objects of google-adk as a reader sees them: copies that are kept up to date, and edits taken back.

A copy, because google-adk shares contents and arguments between a request and the stored session: an edit made in the
shared object would change the past. An edit goes back only where something is other than it was shown.
"""

from __future__ import annotations

import copy
from typing import Any

from google.genai import types

from adknb.attach.convert import actions_from, event_from, from_adk, to_adk, update_actions, update_adk
from adknb.engine.context import InvocationContext
from adknb.engine.event import Event, EventActions
from adknb.engine.model import LLMRequest
from adknb.engine.session import Session


class RequestMirror:
    """One LlmRequest as an LLMRequest of ours, which stays the same object as long as the request does."""

    def __init__(self, theirs: Any) -> None:
        self.theirs = theirs
        self.ours = LLMRequest()
        self._pairs: list[tuple[Any, types.Content]] = []
        """(google-adk's content, the copy a reader sees), in order."""
        self._seen: Any = None

    def pull(self) -> LLMRequest:
        """Bring the copy up to what the request is now."""
        theirs, ours = self.theirs, self.ours
        known = {id(content): mine for content, mine in self._pairs}
        self._pairs = [(c, _same(known.get(id(c)), c)) for c in theirs.contents]
        ours.contents = [mine for _, mine in self._pairs]
        ours.model, ours.tools = theirs.model or "", dict(theirs.tools_dict)
        self._seen, ours.config = _config(theirs.config), _config(theirs.config)
        return ours

    def push(self) -> None:
        """Take back what a reader, or a replay, has changed since `pull`."""
        theirs, ours = self.theirs, self.ours
        if ours.model != (theirs.model or ""):
            theirs.model = ours.model
        origin = {id(mine): content for content, mine in self._pairs}
        now = [c if (c := origin.get(id(mine))) is not None and c == mine else _valid(mine) for mine in ours.contents]
        if len(now) != len(theirs.contents) or any(a is not b for a, b in zip(now, theirs.contents, strict=True)):
            theirs.contents = now
        for name in set(theirs.tools_dict) - set(ours.tools):
            del theirs.tools_dict[name]
        for name in type(ours.config).model_fields:
            value = getattr(ours.config, name)
            if value != getattr(self._seen, name):
                was_text = isinstance(theirs.config.system_instruction, str | None)
                setattr(theirs.config, name, _text(value) if name == "system_instruction" and was_text else value)


class ValueMirror:
    """A response or event of google-adk as ours."""

    def __init__(self, theirs: Any) -> None:
        self.theirs = theirs
        self.ours = from_adk(theirs)
        self._seen = from_adk(theirs)

    def push(self) -> None:
        """Take back what has been changed."""
        if self.ours != self._seen:
            update_adk(self.theirs, self.ours, self._seen)
            self._seen = copy.deepcopy(self.ours)


def theirs_of(value: Any, given: ValueMirror | None) -> Any:
    """What google-adk is handed for a value that a reader has seen or made; its own object where it is that."""
    if given is not None and value is given.ours:
        given.push()
        return given.theirs
    return to_adk(value)


class Context:
    """What a stop holds as `ctx`: session, state, actions and invocation of a google-adk context, as ours."""

    def __init__(self, mirrors: Mirrors, invocation_context: Any, own: Any = None) -> None:
        self._own = own
        self._actions = getattr(own, "actions", None)
        self.session = mirrors.session(invocation_context.session, own)
        self.state: Any = own.state if own is not None else self.session.state
        self.actions = EventActions() if self._actions is None else actions_from(self._actions)
        self._seen = copy.deepcopy(self.actions)
        self._state = copy.deepcopy(self.session.state)
        self._theirs = invocation_context.session
        confirmation = getattr(own, "tool_confirmation", None)
        self.tool_confirmation = None if confirmation is None else from_adk(confirmation).model_dump()
        self.invocation = InvocationContext(
            agent=mirrors.agent(invocation_context.agent),
            session=self.session,
            session_service=mirrors.runner.session_service,
            platform=mirrors.runner.platform,
            invocation_id=invocation_context.invocation_id,
            branch=invocation_context.branch or "",
            isolation_scope=getattr(invocation_context, "isolation_scope", None) or "",
            user_content=invocation_context.user_content,
        )

    def push(self) -> None:
        """Take back what has been changed in the state or the actions."""
        target = self._own.state if self._own is not None else self._theirs.state
        for key, value in self.session.state.items():
            if key not in self._state or self._state[key] != value:
                target[key] = value
        for key in self._state.keys() - self.session.state.keys():
            self._theirs.state.pop(key, None)
        if self._actions is not None and self.actions != self._seen:
            self.actions.state_delta.update(self._actions.state_delta)
            update_actions(self._actions, self.actions)
        self._state, self._seen = copy.deepcopy(self.session.state), copy.deepcopy(self.actions)

    def save_artifact(self, name: str, part: types.Part) -> None:
        """Nothing: the runs of one attached agent share their artifacts."""


class Mirrors:
    """The mirrors of one run."""

    def __init__(self, runner: Any) -> None:
        self.runner = runner
        self._request: RequestMirror | None = None
        self._requests: dict[int, RequestMirror] = {}
        self._events: dict[int, tuple[Any, Event]] = {}

    def request(self, theirs: Any) -> RequestMirror:
        """The mirror of a request, up to date."""
        if id(theirs) not in self._requests:
            self._requests[id(theirs)] = RequestMirror(theirs)
        mirror = self._requests[id(theirs)]
        mirror.pull()
        return mirror

    def session(self, theirs: Any, own: Any = None) -> Session:
        """A session as ours; events that were seen before are not converted again."""
        events = []
        for event in theirs.events:
            if id(event) not in self._events or self._events[id(event)][0] is not event:
                self._events[id(event)] = (event, event_from(event))
            events.append(self._events[id(event)][1])
        state = copy.deepcopy(own.state.to_dict() if own is not None else theirs.state)
        return Session(theirs.id, theirs.app_name, theirs.user_id, state, events, theirs.last_update_time)

    def agent(self, theirs: Any) -> Any:
        """The agent of that name in our tree; the root for one that is not part of it."""
        root = self.runner.agent
        return root.find(getattr(theirs, "name", "")) or root


def _same(mine: types.Content | None, theirs: types.Content) -> types.Content:
    return mine if mine is not None and mine == theirs else copy.deepcopy(theirs)


def _valid(content: types.Content) -> types.Content:
    """A copy of an edited content; google-genai does not check what is assigned."""
    return types.Content.model_validate(content.model_dump(exclude_none=True))


def _config(config: types.GenerateContentConfig) -> types.GenerateContentConfig:
    """A copy that a reader may edit: of what cannot be copied (clients, schemas as classes) the same."""
    mine = config.model_copy()
    for name in type(mine).model_fields:
        value = getattr(mine, name)
        if value is not None and name != "http_options":
            try:
                setattr(mine, name, copy.deepcopy(value))
            except Exception:
                continue
    if isinstance(mine.system_instruction, str):
        parts = [types.Part(text=mine.system_instruction)]
        mine.system_instruction = types.Content(role="user", parts=parts)
    return mine


def _text(instruction: Any) -> str | None:
    if instruction is None or isinstance(instruction, str):
        return instruction
    texts = [part.text for part in (instruction.parts or ()) if part.text]
    return "\n\n".join(texts)
