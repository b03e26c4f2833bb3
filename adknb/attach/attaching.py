"""attach(): an unmodified google-adk agent, app or runner under the Stepper."""

from __future__ import annotations

import copy
from typing import Any

from adknb.attach.adk import adk, must_have_seams
from adknb.attach.play import AdkPlay, Subject, as_content
from adknb.engine.loops import PrivateLoop, on, run_to_its_end
from adknb.stepper.nest import NotebookLoop
from adknb.stepper.run import Run
from adknb.stepper.stepper import Stepper

USER, SESSION = "user", "session-1"


def attach(
    agent_or_runner_or_app: Any,
    message: Any,
    *,
    session: Any = None,
    user_id: str = USER,
    run_config: Any = None,
    nest: bool = False,
) -> AttachedStepper:
    """Begin a run of a google-adk agent, Runner or App, and pause at its first stop.

    `message` is what the user says (a text or a Content; a list: one a turn). `session` is a google-adk Session to
    begin with, or the id of one in the Runner's service; it is copied, and what is stored there is not written to.
    `run_config` is a google-adk RunConfig. The run has an event loop of its own; with `nest` it uses the notebook's.

    Raises:
        NoGoogleAdk: google-adk is not installed. MissingSeam: this version has no place of that name to pause at.
        TypeError: it is none of these, or the message is no message. CannotNest: see `nest.NotebookLoop`.
        ValueError: the Runner's service has no such session.
    """
    must_have_seams()
    loop = NotebookLoop() if nest else PrivateLoop()
    with on(loop):
        subject = _subject(agent_or_runner_or_app, session, user_id)
    subject.run_config = run_config
    messages = message if isinstance(message, list | tuple) else [message]
    run = Run(AdkPlay(subject, [as_content(m) for m in messages]), loop)  # type: ignore[arg-type]
    run.advance()
    return AttachedStepper(run=run)


class AttachedStepper(Stepper):
    """A paused run of a google-adk agent. Commands, breakpoints, journal and panel are the Stepper's."""

    def detach(self) -> None:
        """Leave: the run is cancelled, and with the last attached run google-adk is as it was."""
        self.close()

    @property
    def adk_session(self) -> Any:
        """The run's session as google-adk's own Session, as it is stored now."""
        with self.lock, on(self._run.loop):
            play: Any = self._run.play
            return play.adk_session


def _subject(given: Any, session: Any, user_id: str) -> Subject:
    app_kind, runner_kind = adk("google.adk.apps.app").App, adk("google.adk.runners").Runner
    services: dict[str, Any] = {}
    app, plugins, service = None, [], None
    if isinstance(given, runner_kind):
        root, app, app_name, service = given.agent, None, given.app_name, given.session_service
        plugins = list(given.plugin_manager.plugins)
        services = {
            name: value
            for name in ("artifact_service", "memory_service", "credential_service")
            if (value := getattr(given, name, None)) is not None
        }
        configured = getattr(given, "app", None)
        if configured is not None:
            app = configured.model_copy(update={"plugins": plugins})
    elif isinstance(given, app_kind):
        root, app, app_name, plugins = given.root_agent, given, given.name, list(given.plugins)
    elif hasattr(given, "name") and type(given).__module__ and hasattr(given, "model_fields_set"):
        root, app_name = given, "adknb"
    else:
        raise TypeError(f"attach() takes a google-adk agent, Runner or App, not {type(given).__name__}")
    if "artifact_service" not in services:
        services["artifact_service"] = adk("google.adk.artifacts.in_memory_artifact_service").InMemoryArtifactService()
    kind = adk("google.adk.sessions.session").Session
    if isinstance(session, str):
        found = None
        if service is not None:
            found = run_to_its_end(service.get_session(app_name=app_name, user_id=user_id, session_id=session))
        if found is None:
            raise ValueError(f"there is no session {session!r} of user {user_id!r} in the app {app_name!r}")
        session = found
    if session is not None and not isinstance(session, kind):
        raise TypeError(f"session is a google-adk Session or its id, not {type(session).__name__}")
    first = copy.deepcopy(session) if session is not None else kind(id=SESSION, app_name=app_name, user_id=user_id)
    first.app_name = app_name
    return Subject(root, app, app_name, plugins, services, first)
