"""Evaluation sets, cases and results: every case becomes a session of what is expected.

    old     [{"name", "data": [{"query", "expected_tool_use", "expected_intermediate_agent_responses", "reference"}],
              "initial_session"}], or the list under `data` alone (`*.test.json`)
    new     {"eval_set_id", "eval_cases": [{"eval_id", "conversation": [{"user_content", "final_response",
              "intermediate_data"}], "session_input"}]}, or such cases, or one of them
    results {"eval_case_results": [{"session_details": …}]}: a session each, as it ran

A case says what was asked and what should come of it. Who spoke, in which order, and by which call id is not always in
it; what this reader makes up it marks as such (`SessionFile.notes`, ids that begin with `adk-eval-`).

Source: google-adk 2.13, evaluation/eval_case.py, eval_set.py, eval_result.py, local_eval_sets_manager.py (old format).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from adknb.engine.event_json import snake
from adknb.files.case_events import CaseEvents
from adknb.files.session_file import Json, SessionFile, session_of_object
from adknb.files.shapes import expect

EXPECTED = "Made from an evaluation case: the events are what is expected, not what was said, and times are not in it."


def is_eval(value: Any) -> bool:
    """Whether a document is an evaluation set, a case, a list of these, or a set of results."""
    if isinstance(value, list):
        first = next((item for item in value if isinstance(item, dict)), {})
        return is_eval(first) or "query" in first or ("data" in first and isinstance(first["data"], list))
    if not isinstance(value, dict):
        return False
    names = {snake(key) for key in value}
    return bool(names & {"eval_cases", "eval_set_id", "eval_case_results"}) or (
        "eval_id" in names and bool(names & {"conversation", "conversation_scenario"})
    )


def eval_sessions(value: Any, name: str) -> list[SessionFile]:
    """A session for each case of a document that `is_eval`.

    Raises:
        BadData: naming the case and what was expected there.
    """
    return list(_sessions(value, name, f"{name}: "))


def _sessions(value: Any, name: str, where: str) -> Iterator[SessionFile]:
    if isinstance(value, list):
        first = next((item for item in value if isinstance(item, dict)), {})
        if "query" in first:
            yield _old_case({"name": "", "data": value}, name, where, "")
            return
        for i, item in enumerate(value):
            at = f"{where}[{i}]"
            case = expect(item, dict, at)
            if "data" in case:
                yield _old_case(case, name, f"{at}.", "data")
            else:
                yield from _sessions(case, name, f"{at}.")
        return
    fields = _snake(value)
    if "eval_case_results" in fields:
        yield from _results(fields, name, where)
    elif "eval_id" in fields:
        yield _new_case(fields, name, where)
    else:
        key = "eval_cases" if "eval_cases" in value else "evalCases"
        for i, case in enumerate(expect(fields.get("eval_cases"), list, where + key)):
            at = f"{where}{key}[{i}]"
            session = _new_case(_snake(expect(case, dict, at)), name, f"{at}.")
            of_the_set = {k: v for k, v in fields.items() if k != "eval_cases"}
            session.extra = {**session.extra, "eval_set": of_the_set}
            yield session


def _snake(value: Json) -> Json:
    """The fields of one object under their Python names."""
    return {snake(key): item for key, item in value.items()}


# ----------------------------------------------------------------------------------------------------------- old format


def _old_case(case: Json, name: str, where: str, key: str) -> SessionFile:
    first = _snake(expect(case.get("initial_session") or {}, dict, where + "initial_session"))
    events = CaseEvents(speaker=_first_speaker(case["data"]))
    for i, item in enumerate(expect(case["data"], list, where + key)):
        at = f"{where}{key}[{i}]"
        turn = expect(item, dict, at)
        said = {
            "user_content": _content("user", expect(turn.get("query"), str, f"{at}.query")),
            "final_response": _content("model", expect(turn.get("reference") or "", str, f"{at}.reference")),
            "tool_uses": [
                {"name": use.get("tool_name"), "args": use.get("tool_input") or {}}
                for use in _objects(turn.get("expected_tool_use"), f"{at}.expected_tool_use")
            ],
            "intermediate_responses": [
                [answer.get("author"), [{"text": answer.get("text")}]]
                for answer in _objects(
                    turn.get("expected_intermediate_agent_responses"), f"{at}.expected_intermediate_agent_responses"
                )
            ],
        }
        known = {"query", "reference", "expected_tool_use", "expected_intermediate_agent_responses"}
        events.turn(said, at, {k: v for k, v in turn.items() if k not in known})
    session = SessionFile(name, session_id=_text(case.get("name"), where + "name"), kind="evaluation case")
    session.extra = {k: v for k, v in case.items() if k not in ("name", "data", "initial_session")}
    _start(session, first, where + "initial_session")
    return _finished(session, events)


def _first_speaker(turns: Any) -> str:
    """Who speaks first, as near as an old case tells: the first author of an answer before anybody hands over."""
    for turn in turns if isinstance(turns, list) else ():
        if not isinstance(turn, dict):
            break
        for answer in turn.get("expected_intermediate_agent_responses") or ():
            if isinstance(answer, dict) and isinstance(answer.get("author"), str):
                return str(answer["author"])
        if any(
            isinstance(use, dict) and "transfer" in str(use.get("tool_name"))
            for use in turn.get("expected_tool_use") or ()
        ):
            break
    return ""


# ----------------------------------------------------------------------------------------------------------- new format


def _new_case(case: Json, name: str, where: str) -> SessionFile:
    session = SessionFile(name, session_id=_text(case.get("eval_id"), where + "eval_id"), kind="evaluation case")
    events = CaseEvents()
    for i, item in enumerate(expect(case.get("conversation") or [], list, where + "conversation")):
        at = f"{where}conversation[{i}]"
        turn = _snake(expect(item, dict, at))
        data = _snake(expect(turn.get("intermediate_data") or {}, dict, f"{at}.intermediate_data"))
        known = {"user_content", "final_response", "invocation_id", "creation_timestamp"}
        rest = {k: v for k, v in turn.items() if k not in {*known, "intermediate_data"}}
        said = {**{k: turn.get(k) for k in known}, **data, "agents": _agent_names(turn.get("app_details"))}
        events.turn(said, at, rest)
    scenario = case.get("conversation_scenario")
    if scenario is not None:
        plan = expect(scenario, dict, where + "conversation_scenario")
        start = plan.get("starting_prompt", plan.get("startingPrompt"))
        if isinstance(start, str) and start:
            events.turn({"user_content": _content("user", start)}, where + "conversation_scenario", {})
        session.notes.append("The user of this case is simulated: only the starting prompt is in the file.")
    known = {"eval_id", "conversation", "session_input"}
    session.extra = {k: v for k, v in case.items() if k not in known}
    given = case.get("session_input")
    _start(session, _snake(expect(given or {}, dict, where + "session_input")), where + "session_input")
    return _finished(session, events)


def _agent_names(details: Any) -> list[str]:
    agents = _snake(details).get("agent_details") if isinstance(details, dict) else None
    return [str(name) for name in agents] if isinstance(agents, dict) else []


def _start(session: SessionFile, given: Json, where: str) -> None:
    """The app, the user and the state that a case begins with."""
    session.app_name = _text(given.pop("app_name", None), f"{where}.app_name")
    session.user_id = _text(given.pop("user_id", None), f"{where}.user_id")
    state = given.pop("state", None)
    if state is not None:
        session.state, session.state_known = expect(state, dict, f"{where}.state"), True
    if given:
        session.extra["session_input"] = given


def _finished(session: SessionFile, events: CaseEvents) -> SessionFile:
    session.events, session.expectations = events.events, True
    session.notes = [EXPECTED, *events.notes(), *session.notes]
    return session


# -------------------------------------------------------------------------------------------------------------- results


def _results(fields: Json, name: str, where: str) -> Iterator[SessionFile]:
    for i, item in enumerate(expect(fields["eval_case_results"], list, where + "eval_case_results")):
        at = f"{where}eval_case_results[{i}]"
        result = _snake(expect(item, dict, at))
        ran = result.pop("session_details", None)
        if ran is None:
            session = SessionFile(name, session_id=_text(result.get("session_id"), f"{at}.session_id"))
            session.notes.append("The result of an evaluation, without the session that it judges.")
        else:
            session = session_of_object(expect(ran, dict, f"{at}.session_details"), name, f"{at}.session_details.")
        session.kind = "evaluation result"
        session.extra.update(result)
        yield session


# ---------------------------------------------------------------------------------------------------------------- parts


def _content(role: str, text: str) -> Json | None:
    return {"role": role, "parts": [{"text": text}]} if text else None


def _text(value: Any, where: str) -> str:
    return "" if value is None else str(expect(value, str, where))


def _objects(value: Any, where: str) -> list[Json]:
    return [expect(item, dict, f"{where}[{i}]") for i, item in enumerate(expect(value or [], list, where))]
