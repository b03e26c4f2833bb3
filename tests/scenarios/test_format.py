"""What a scenario file may say, and how a faulty one is refused."""

import copy
import io
import json
import sys

import pytest

from adknb.engine.errors import BadData
from adknb.scenarios import check, load, scenario, shipped

WEATHER = scenario("01a-one-turn")


def changed(*path_and_value):
    """The weather scenario with the value at a path replaced; a list is appended to at its length."""
    made = copy.deepcopy(WEATHER)
    at, *path, last, value = (made, *path_and_value)
    for step in path:
        at = at[step]
    if isinstance(at, list) and last == len(at):
        at.append(value)
    else:
        at[last] = value
    return made


def without(*path):
    made = at = copy.deepcopy(WEATHER)
    for step in path[:-1]:
        at = at[step]
    del at[path[-1]]
    return made


AGENT = ("agent",)
TOOL = ("agent", "tools", 0)
CALL = ("agent", "model", "calls", 0)
PART = (*CALL, "responses", 0, "content", "parts", 0)


@pytest.mark.parametrize(
    "faulty, message",
    [
        # unknown fields, at every level
        (changed("agnet", {}), "agnet: unknown field; known: name, app, user, session, agent, "),
        (changed("agnet", {}), "; did you mean 'agent'?"),
        (
            changed(*TOOL, "runs", 1, {"retrun": 1}),
            "agent.tools[0].runs[1].retrun: unknown field; known: state, artifact, transfer, escalate, "
            "skip_summarization, request_confirmation, error, nothing, echo, return; did you mean 'return'?",
        ),
        (changed(*AGENT, "models", {}), "agent.models: unknown field; known: type, name, "),
        (
            changed(*AGENT, "sub_agents", [{"type": "llm", "name": "a", "tool": []}]),
            "agent.sub_agents[0].tool: unknown",
        ),
        (changed(*TOOL, "longrunning", True), "did you mean 'long_running'?"),
        (
            changed(*CALL, "respones", []),
            "agent.model.calls[0].respones: unknown field; known: responses, error; did you mean 'responses'?",
        ),
        (changed(*CALL, "chunks", []), "agent.model.calls[0].chunks: unknown field; known: responses, error"),
        (changed("agent", "model", "gemini", True), "calls[0].responses: unknown field; known: chunks, status, error"),
        (changed(*CALL, "responses", 0, {"contents": {}}), "calls[0].responses[0].contents: unknown field"),
        (changed(*PART, {"functionCal": {}}), "content.parts[0].functionCal: unknown field; known: "),
        (changed(*PART, {"functionCal": {}}), "; did you mean 'functionCall'?"),
        (changed(*PART, "functionCall", {"nme": "x"}), "parts[0].functionCall.nme: unknown field; known: "),
        (
            changed(*AGENT, "callbacks", {"before_mdel": []}),
            "agent.callbacks.before_mdel: unknown field; known: before_",
        ),
        (
            changed(*AGENT, "callbacks", {"after_tool": [{}, {"args": {}}]}),
            "agent.callbacks.after_tool[1].args: unknown",
        ),
        (changed(*AGENT, "callbacks", {"on_event": []}), "agent.callbacks.on_event: unknown field"),  # a plugin's
        (changed("plugins", [{"name": "p", "hooks": {}}]), "plugins[0].hooks: unknown field; known: name, callbacks"),
        (
            changed("plugins", [{"callbacks": {"after_run": [{"error": "x"}]}}]),
            "plugins[0].callbacks.after_run[0].error",
        ),
        (changed("events", [{"author": "a", "actions": {"stateDlta": {}}}]), "events[0].actions.stateDlta: unknown"),
        (changed("turns", 0, "stopafter", 1), "turns[0].stopafter: unknown field; known: message, state_delta, stop"),
        (changed("run_config", {"streaming": "sse"}), "run_config.streaming: unknown field; known: streaming_mode"),
        (changed("compaction", {"tokens": 1}), "compaction.tokens: unknown field; known: token_threshold, "),
        (
            changed(*AGENT, {"type": "sequential", "name": "line", "model": {}}),
            "agent.model: unknown field; known: type, name, description, sub_agents, callbacks",
        ),
        (
            changed(*AGENT, {"type": "parallel", "name": "p", "max_iterations": 2}),
            "agent.max_iterations: unknown field",
        ),
        (changed(*AGENT, "output_schema", {"typ": "STRING"}), "agent.output_schema.typ: unknown field; known: "),
        (changed(*AGENT, "generate_content_config", {"temperatur": 1}), "did you mean 'temperature'?"),
        # what must be there
        (without("name"), "'name' is missing"),
        (without("agent"), "'agent' is missing"),
        (without("turns"), "'turns' is missing"),
        (without("agent", "type"), "agent: 'type' is missing"),
        (without("agent", "name"), "agent: 'name' is missing"),
        (without("agent", "tools", 0, "name"), "agent.tools[0]: 'name' is missing"),
        (without("turns", 0, "message"), "turns[0]: 'message' is missing"),
        (changed("events", [{"content": {}}]), "events[0]: 'author' is missing"),
        # wrong kinds
        ([], "expected an object, found an array"),
        (changed("name", ""), "name: expected a text that is not empty, found string ''"),
        (changed("agent", "hello"), "agent: expected an object, found string 'hello'"),
        (
            changed(*AGENT, "type", "lm"),
            "agent.type: expected 'llm' or 'sequential' or 'parallel' or 'loop', found string",
        ),
        (changed(*AGENT, "instruction", None), "agent.instruction: expected a text, found null"),
        (changed(*AGENT, "tools", {}), "agent.tools: expected a list, found an object"),
        (
            changed(*AGENT, "mode", "tasks"),
            "agent.mode: expected '' or 'chat' or 'task' or 'single_turn', found string",
        ),
        (changed(*AGENT, "disallow_transfer_to_peers", "yes"), "expected true or false, found string 'yes'"),
        (changed(*TOOL, "chunks", ["a", 1]), "agent.tools[0].chunks[1]: expected a text, found number 1"),
        (
            changed(*TOOL, "runs", 0, "escalate", 1),
            "agent.tools[0].runs[0].escalate: expected true or false, found number 1",
        ),
        (
            changed(*TOOL, "runs", 0, "artifact", {"a.txt": 1}),
            "runs[0].artifact.a.txt: expected a text, found number 1",
        ),
        (
            changed(*AGENT, "callbacks", {"before_tool": [{"only": -1}]}),
            "[0].only: expected a whole number from 0, found",
        ),
        (changed(*AGENT, "callbacks", {"before_tool": [{"only": True}]}), "expected a whole number from 0, found true"),
        (
            changed(*AGENT, "callbacks", {"before_tool": [{"return": "x"}]}),
            "[0].return: expected an object, found string",
        ),
        (
            changed(*AGENT, "callbacks", {"before_agent": [{"return": {"parts": 1}}]}),
            "[0].return.parts: expected a valid",
        ),
        (changed("plugins", [{"callbacks": {"on_event": [{}, {}]}}]), "callbacks.on_event: at most 1 here, found 2"),
        (changed(*PART, {"text": 3}), "content.parts[0].text: expected a valid string, found number 3"),
        (changed(*PART, 5), "content.parts[0]: expected a valid dictionary"),
        (changed("events", ["hello"]), "events[0]: expected an object, found string 'hello'"),
        (
            changed("events", [{"author": "a", "timestamp": "now"}]),
            "events[0].timestamp: expected seconds or an ISO 8601",
        ),
        (
            changed("events", [{"author": "a", "partial": "no"}]),
            "events[0].partial: expected true or false, found string",
        ),
        (changed("turns", 0, "message", "hi"), "turns[0].message: expected an object, found string 'hi'"),
        (changed("turns", 0, "stop_after", 0), "turns[0].stop_after: expected a whole number from 1, found number 0"),
        (changed("tool_order", "random"), "tool_order: expected 'in_order' or 'reverse', found string 'random'"),
        (changed("event_limit", 2.5), "event_limit: expected a whole number from 1, found number 2.5"),
        (changed("artifacts", {"a.txt": None}), "artifacts.a.txt: expected a text, found null"),
        (changed(*AGENT, "output_schema", {"type": "SONG"}), "agent.output_schema: SONG is not a valid Type"),
        (changed(*AGENT, "output_schema", {"type": 5}), "agent.output_schema: a word is expected somewhere in it"),
    ],
)
def test_a_faulty_scenario_is_refused_with_the_place(faulty, message):
    with pytest.raises(BadData) as refused:
        check(faulty)
    assert str(refused.value).startswith("scenario: ")
    assert message in str(refused.value)


@pytest.mark.parametrize(
    "fine",
    [
        WEATHER,
        changed("events", [{"author": "a", "invocation_id": "e-1", "actions": {"state_delta": {}}}]),  # snake_case
        changed("events", [{"author": "a", "content": None, "errorCode": None}]),  # null is: not there
        changed("events", [{"author": "a", "nodeInfo": {"path": "x"}, "output": 1}]),  # of other ADKs
        changed("events", [{"author": "a", "timestamp": "2026-01-02T03:04:05Z"}]),
        changed(*TOOL, "runs", 0, {"return": ["any", "JSON"]}),
        changed(*TOOL, "runs", 0, {"return": None}),
        changed(*AGENT, "model", {"name": "g", "gemini": True, "calls": [{"chunks": [{"any": 1}], "status": 500}]}),
        changed(*AGENT, {"type": "loop", "name": "l", "max_iterations": 0}),
        changed("turns", []),
    ],
)
def test_the_vocabulary_takes(fine):
    assert check(fine) is fine


@pytest.mark.parametrize("number", [10**400, -(10**309), float("inf")])
def test_a_number_beyond_a_float_is_refused(number):
    with pytest.raises(BadData, match=r"^scenario: state\.deep\[1\]\.n: a number that no 64-bit float can hold$"):
        check(changed("state", {"deep": [0, {"n": number}]}))


def test_nesting_without_end_is_refused():
    deep = value = []
    for _ in range(5000):
        value.append([])
        value = value[0]
    with pytest.raises(BadData, match="nested more than 100 levels deep"):
        check(changed("state", {"deep": deep}))


LINE = json.dumps(WEATHER)
FAULTY = json.dumps(changed("agnet", {}))


@pytest.mark.parametrize(
    "name, text, message",
    [
        ("s.jsonl", f"{LINE}\n\n{FAULTY}\n", "s.jsonl:3: agnet: unknown field"),
        ("s.jsonl", f"{LINE}\n{LINE[:60]}\n", "s.jsonl:2:61: not JSON: "),
        ("s.jsonl", f"{LINE}\n[]\n", "s.jsonl:2: expected an object, found an array"),
        ("s.json", FAULTY, "s.json: agnet: unknown field"),
        ("s.json", f"[{LINE}, {FAULTY}]", "s.json: [1].agnet: unknown field"),
        ("s.json", '{\n  "name": "a",\n  "agent" 1}', "s.json:3:11: not JSON: expecting ':' delimiter"),
        ("s.json", f"{LINE}\n{LINE}", "s.json:2:1: not JSON: extra data; for one object a line call the file .jsonl"),
        ("s.json", "", "s.json: no scenario in it"),
        ("s.jsonl", "\n \n", "s.jsonl: no scenario in it"),
        ("s.json", "[]", "s.json: no scenario in it"),
        ("s.jsonl", '{"name": "a", "name": "b"}', "s.jsonl:1:15: the key 'name' is given twice in one object"),
        ("s.jsonl", '{"state": {"x": 1e999}}', "s.jsonl:1:17: 1e999 is not a number that JSON knows"),
        (
            "s.jsonl",
            '{"state": {"x": 1' + "0" * 400 + "}}",
            "s.jsonl:1: state.x: a number that no 64-bit float can hold",
        ),
        ("s.jsonl", '{"state": {"x": NaN}}', "s.jsonl:1:17: NaN is not a number that JSON knows"),
        ("s.jsonl", b'{"name":\n "caf\xe9"}', "s.jsonl:2: is not UTF-8 text: byte 14 is 0xe9"),
        ("s.json", "[" * 100_000, "s.json: nested deeper than 200 levels"),
        ("s.json", '{"event_limit": ' + "9" * 5000 + "}", "s.json:1:17: a number with too many digits"),
        ("s.txt", f"{LINE}\n{FAULTY}", "s.txt:2: agnet: unknown field"),  # neither: told by its first line
        ("s.txt", json.dumps(changed("agnet", {}), indent=1), "s.txt: agnet: unknown field"),
    ],
)
def test_a_faulty_file_is_refused_with_file_and_line(tmp_path, monkeypatch, name, text, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(BadData) as refused:
        load(name)
    assert str(refused.value).startswith(message)


def test_a_file_that_is_not_there_or_a_folder_is_refused(tmp_path):
    with pytest.raises(BadData, match="there is no such file"):
        load(tmp_path / "gone.jsonl")
    with pytest.raises(BadData, match="this is a folder"):
        load(tmp_path)


@pytest.mark.parametrize(
    "text, number",
    [
        (f"{LINE}\n{LINE}\n", 2),
        (LINE, 1),
        (json.dumps(WEATHER, indent=2), 1),
        (f"[{LINE}, {LINE}, {LINE}]", 3),
        ("\ufeff" + LINE, 1),  # a byte order mark
    ],
)
def test_standard_input_may_be_either_form(monkeypatch, text, number):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode()), "utf-8"))
    assert load("-") == [WEATHER] * number


def test_a_line_separator_inside_a_text_ends_no_line(tmp_path):
    file = tmp_path / "s.jsonl"
    file.write_text(json.dumps(changed("agent", "instruction", "one\u2028two\x85three"), ensure_ascii=False))
    assert load(file)[0]["agent"]["instruction"] == "one\u2028two\x85three"


def test_a_shipped_scenario_comes_new_each_time():
    scenario("01a-one-turn")["agent"]["name"] = "changed"
    assert scenario("01a-one-turn")["agent"]["name"] == "weather_agent"


def test_an_unknown_shipped_scenario_lists_those_there_are():
    with pytest.raises(LookupError) as refused:
        scenario("01-one-turn")
    assert str(refused.value) == (
        f"no scenario '01-one-turn' ships with adknb; there are: {', '.join(shipped())}. Did you mean '01a-one-turn'?"
    )


@pytest.mark.parametrize("name", shipped())
def test_every_shipped_scenario_is_well_formed(name):
    assert scenario(name)["name"].endswith(name)
