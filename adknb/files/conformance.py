"""google-adk's conformance cases: what a test says to the agent, what was recorded, and the session that came of it.

    spec.yaml                        description, agent, initial_state, user_messages
    generated-session[-sse].yaml     the session: an ordinary one
    generated-recordings[-sse].yaml  every request to a model with its responses, every tool call with its result

A folder of such files is read as one: the session, with the requests that were really sent beside it. Without a session
one is put together from the recordings.

Source: google-adk 2.13, cli/conformance/test_case.py, cli/plugins/recordings_schema.py, recordings_plugin.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from google.genai import types

from adknb.engine.errors import BadData
from adknb.engine.event import Event, function_calls_of, function_responses_of
from adknb.engine.event_json import snake
from adknb.files.session_file import Json, SessionFile
from adknb.files.shapes import event_of, expect
from adknb.files.whose import is_model_event
from adknb.files.yaml_text import parse_yaml
from adknb.json_text import read_bytes, utf8

MOST_FOLDERS = 2_000
"""A folder with more folders in it than this is no folder of cases."""


def is_spec(value: Any) -> bool:
    """Whether a document is the specification of a conformance case."""
    return isinstance(value, dict) and "user_messages" in value and "agent" in value


def is_recordings(value: Any) -> bool:
    """Whether a document is a list of recordings."""
    if not isinstance(value, dict) or not isinstance(value.get("recordings"), list):
        return False
    first = next((item for item in value["recordings"] if isinstance(item, dict)), None)
    return first is None or "user_message_index" in first or "userMessageIndex" in first


# ----------------------------------------------------------------------------------------------------------------- spec


def spec_session(value: Json, name: str) -> SessionFile:
    """The messages of a specification, which nobody has answered yet. Raises BadData."""
    session = SessionFile(name, app_name=str(expect(value["agent"], str, f"{name}: agent")), kind="test spec")
    session.events = [event_of(raw, at) for raw, at in _messages(value, name)]
    if value.get("initial_state") is not None:
        session.state, session.state_known = expect(value["initial_state"], dict, f"{name}: initial_state"), True
    session.extra = {k: v for k, v in value.items() if k not in ("agent", "user_messages", "initial_state")}
    session.notes.append("A test's specification: the messages that are sent; answers are in generated-session.yaml.")
    return session


def _messages(spec: Json, name: str) -> Iterator[tuple[Json, str]]:
    for i, item in enumerate(expect(spec["user_messages"] or [], list, f"{name}: user_messages")):
        at = f"{name}: user_messages[{i}]"
        message = expect(item, dict, at)
        content = message.get("content")
        if content is None:
            content = {"parts": [{"text": expect(message.get("text") or "", str, f"{at}.text")}]}
        content = {**expect(content, dict, f"{at}.content"), "role": "user"}
        delta = expect(message.get("state_delta") or {}, dict, f"{at}.state_delta")
        yield {"author": "user", "content": content, "actions": {"state_delta": delta}, "invocation_id": f"m-{i}"}, at


# ----------------------------------------------------------------------------------------------------------- recordings


def recordings_session(value: Json, name: str, spec: Json | None = None) -> SessionFile:
    """The session that recordings tell of: messages, answers of models, results of tools; each answer with its request.

    Raises:
        BadData: naming the recording.
    """
    session = SessionFile(name, kind="recordings", notes=[PUT_TOGETHER])
    session.extra = {k: v for k, v in value.items() if k != "recordings"}
    messages = [raw for raw, _ in _messages(spec, name)] if spec is not None else []
    if spec is not None:
        session.app_name = str(spec.get("agent") or "")
        if isinstance(spec.get("initial_state"), dict):
            session.state, session.state_known = spec["initial_state"], True
    now = -1
    for i, item in enumerate(value["recordings"]):
        at = f"{name}: recordings[{i}]"
        entry = _snake(expect(item, dict, at))
        index = expect(entry.get("user_message_index", 0), int, f"{at}.user_message_index")
        agent = expect(entry.get("agent_name") or "", str, f"{at}.agent_name")
        model, tool = entry.get("llm_recording"), entry.get("tool_recording")
        asked = _object(model, f"{at}.llm_recording")
        request = _object(asked.get("llm_request"), f"{at}.llm_recording.llm_request")
        _object(request.get("config"), f"{at}.llm_recording.llm_request.config")
        if index != now:
            now = index
            message = messages[index] if 0 <= index < len(messages) else _message_in(request, index)
            if message is not None:
                session.events.append(event_of(message, at))
        if model is not None:
            _answers(session, asked, request, agent, f"m-{index}", f"{at}.llm_recording")
        elif tool is not None:
            _result(session, _object(tool, f"{at}.tool_recording"), agent, f"m-{index}", at)
    return session


PUT_TOGETHER = (
    "Put together from recordings: ids of events, times, state and what events did besides speaking are not in them."
)


def _message_in(request: Json, index: int) -> Json | None:
    """The message that a first request of a turn ends with."""
    contents = request.get("contents")
    last = contents[-1] if isinstance(contents, list) and contents else None
    if not isinstance(last, dict) or last.get("role") != "user":
        return None
    return {"author": "user", "content": last, "invocation_id": f"m-{index}"}


def _answers(session: SessionFile, model: Json, request: Json, agent: str, turn: str, at: str) -> None:
    responses = model.get("llm_responses")
    if responses is None:
        responses = [model["llm_response"]] if model.get("llm_response") is not None else []
    for k, item in enumerate(expect(responses, list, f"{at}.llm_responses")):
        response = expect(item, dict, f"{at}.llm_responses[{k}]")
        if response.get("partial"):
            continue  # a chunk: never stored
        event = event_of({**response, "author": agent, "invocation_id": turn}, f"{at}.llm_responses[{k}]")
        if request:
            session.sent[len(session.events)] = request
        session.events.append(event)


def _result(session: SessionFile, tool: Json, agent: str, turn: str, at: str) -> None:
    """Add the result of a call; results of calls that stand in one event are one event, in the order of the calls."""
    response = tool.get("tool_response")
    if response is None:
        return
    part = {"function_response": expect(response, dict, f"{at}.tool_recording.tool_response")}
    event = event_of(
        {"author": agent, "invocation_id": turn, "content": {"role": "user", "parts": [part]}}, f"{at}.tool_recording"
    )
    for answer in function_responses_of(event.content):
        _name_the_call(session.events, agent, answer)
    last = session.events[-1] if session.events else None
    if last is not None and last.author == agent and last.content is not None and last.content.parts and event.content:
        answered = [p.function_response for p in last.content.parts]
        if all(answered):
            last.content.parts += event.content.parts or []
            return
    session.events.append(event)


def _name_the_call(events: list[Event], agent: str, answer: types.FunctionResponse) -> None:
    """Responses are recorded before their calls get an id: give the call the id that its result has."""
    for event in reversed(events):
        for call in function_calls_of(event.content) if event.author == agent else ():
            if call.id == answer.id:
                return
            if not call.id and call.name == answer.name:
                call.id = answer.id
                return


# --------------------------------------------------------------------------------------------------------------- folder


def folder_sessions(folder: Path, name: str) -> list[SessionFile]:
    """The sessions of a folder: of one case, or of the cases in the folders below it, in the order of their names.

    Raises:
        BadData: there is no case in it, or one cannot be read.
    """
    found = [session for case in _cases(folder, name) for session in _case(case, folder)]
    if not found:
        raise BadData(name, "this is a folder; name a file in it, or a folder with google-adk's conformance cases")
    return found


NAMES = ("spec.yaml", "generated-session.yaml", "generated-recordings.yaml", "generated-session-sse.yaml",
         "generated-recordings-sse.yaml")  # fmt: skip


def _cases(folder: Path, name: str) -> list[Path]:
    cases, waiting, seen = [], [folder], 0
    while waiting:
        at = waiting.pop()
        seen += 1
        if seen > MOST_FOLDERS:
            raise BadData(name, f"this is a folder with more than {MOST_FOLDERS} folders in it; name a file")
        try:
            if any((at / file).is_file() for file in NAMES):
                cases.append(at)
                continue
            waiting += [one for one in at.iterdir() if one.is_dir() and not one.is_symlink() and one.name[:1] != "."]
        except OSError as error:
            raise BadData(at.name, f"cannot be read: {error.strerror}") from None
    return sorted(cases)


def _case(case: Path, folder: Path) -> Iterator[SessionFile]:
    inside = case.relative_to(folder).as_posix()
    label = f"{folder.name}/{inside}" if inside != "." else folder.name or str(folder)
    spec = _document(case / "spec.yaml")
    if spec is not None and not is_spec(spec):
        raise BadData(f"{label}/spec.yaml", "expected `agent` and `user_messages`")
    told = False
    for mode in ("", "-sse"):
        stored = _document(case / f"generated-session{mode}.yaml")
        recorded = _document(case / f"generated-recordings{mode}.yaml")
        if stored is None and recorded is None:
            continue
        told = True
        yield _one(stored, recorded, spec, f"{label}{mode}", mode)
    if spec is not None and not told:
        session = spec_session(spec, f"{label}/spec.yaml")
        session.session_id = session.session_id or label
        yield session


def _one(stored: Any, recorded: Any, spec: Json | None, label: str, mode: str) -> SessionFile:
    from adknb.files.kinds import sessions_in

    made = None
    if recorded is not None:
        if not is_recordings(recorded):
            raise BadData(f"{label}: generated-recordings{mode}.yaml", "expected an object with `recordings`")
        made = recordings_session(recorded, f"{label}/generated-recordings{mode}.yaml", spec)
    if stored is None:
        assert made is not None
        made.session_id = made.session_id or label
        return made
    session = sessions_in(stored, f"{label}/generated-session{mode}.yaml")[0]
    session.name = label
    if spec is not None:
        session.extra = {**session.extra, "spec": spec}
    if made is not None:
        session.sent = _aligned(made, session.events)
    return session


def _aligned(made: SessionFile, events: list[Event]) -> dict[int, Json]:
    """The recorded requests by the positions of the answers in the session: the n-th of an agent is its n-th."""
    waiting: dict[str, list[Json]] = {}
    for at, request in sorted(made.sent.items()):
        waiting.setdefault(made.events[at].author, []).append(request)
    sent = {}
    for i, event in enumerate(events):
        if is_model_event(events, i) and waiting.get(event.author):
            sent[i] = waiting[event.author].pop(0)
    return sent


def _document(path: Path) -> Any:
    """The YAML of a file; None if there is no such file, or nothing in it."""
    if not path.is_file():
        return None
    text = utf8(read_bytes(path), path.name)
    return parse_yaml(text, path.name) if text.strip() else None


def _snake(value: Json) -> Json:
    return {snake(key): item for key, item in value.items()}


def _object(value: Any, where: str) -> Json:
    return {} if value is None else _snake(expect(value, dict, where))
