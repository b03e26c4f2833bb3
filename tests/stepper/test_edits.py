"""The request as JSON: drafts are checked as a whole and applied to the live request."""

import copy
import json

import pytest
from google.genai import types

from adknb.engine.errors import BadData
from adknb.engine.model import LLMRequest
from adknb.engine.tool import FunctionTool
from adknb.stepper.edits import apply_request, check_request, request_json, request_text
from adknb.stepper.json_places import line_of


def get_weather(city: str) -> dict:
    """Tells the weather."""
    return {"city": city}


@pytest.fixture
def request_():
    request = LLMRequest(model="offline-demo")
    request.append_instructions("You tell the weather.")
    request.contents = [
        types.Content(role="user", parts=[types.Part(text="杭州天气怎么样？")]),
        types.Content(
            role="model",
            parts=[
                types.Part(function_call=types.FunctionCall(id="w-1", name="get_weather", args={"city": "Hangzhou"}))
            ],
        ),
        types.Content(role="user", parts=[types.Part(inline_data=types.Blob(data=b"\x00\xff", mime_type="image/png"))]),
    ]
    request.config.temperature = 0.2
    request.config.http_options = types.HttpOptions(headers={"x-goog-api-key": "secret"})
    request.pack_tool(FunctionTool(get_weather))
    return request


def edited(request, change):
    data = request_json(request)
    change(data)
    return json.dumps(data, indent=2)


def test_the_json_of_a_request_has_what_is_sent_and_the_names_of_local_tools(request_):
    data = request_json(request_)
    assert list(data) == ["model", "contents", "config", "tools"]
    assert data["contents"][1]["parts"][0]["functionCall"] == {
        "id": "w-1",
        "name": "get_weather",
        "args": {"city": "Hangzhou"},
    }
    assert data["config"]["tools"][0]["functionDeclarations"][0]["name"] == "get_weather"
    assert data["tools"] == ["get_weather"]
    assert "secret" not in json.dumps(data)


def test_the_text_of_a_request_is_a_good_draft_of_it(request_):
    assert check_request(request_text(request_), request_) == []


FAULTS = [
    ("not an object", "[]", "", 1, "expected an object with model, contents, config, found a list"),
    (
        "cut off",
        '{\n "model": "m",\n "contents": [',
        "",
        3,
        "not JSON: expecting value; the text ends too early: was it cut off? (column 15)",
    ),
    (
        "a comma too much",
        '{"model": "m",\n}',
        "",
        1,
        "not JSON: illegal trailing comma before end of object (column 14)",
    ),
    (
        "no number",
        '{"model": "m", "contents": [],\n "config": {"temperature": NaN}}',
        "",
        2,
        "NaN is not a number that JSON knows (column 28)",
    ),
    (
        "a field twice",
        '{"model": "m",\n "model": "n"}',
        "",
        2,
        "the key 'model' is given twice in one object (column 2)",
    ),
    ("a field missing", '{"model": "m", "contents": []}', "", 1, "the field 'config' is missing"),
    (
        "an unknown field",
        '{"model": "m", "contents": [], "config": {},\n "content": []}',
        "content",
        2,
        "a request has no field 'content'; its fields are model, contents, config, tools",
    ),
    (
        "contents are no list",
        '{"model": "m", "config": {},\n "contents": {}}',
        "contents",
        2,
        "expected a list, found an object",
    ),
    ("a content is a text", {"contents": ["hi"]}, "contents[0]", 4, 'expected an object, found a text "hi"'),
    (
        "an unknown field of a part",
        {"contents": [{"role": "user", "parts": [{"tex": "a"}]}]},
        "contents[0].parts[0].tex",
        8,
        "Part has no field 'tex'",
    ),
    (
        "args are a text",
        {"contents": [{"role": "model", "parts": [{"functionCall": {"name": "f", "args": "Hangzhou"}}]}]},
        "contents[0].parts[0].functionCall.args",
        10,
        'expected an object, found a text "Hangzhou"',
    ),
    ("a role is a number", {"contents": [{"role": 1}]}, "contents[0].role", 5, "expected a text, found a number 1"),
    (
        "no base64",
        {"contents": [{"parts": [{"inlineData": {"data": "@@"}}]}]},
        "contents[0].parts[0].inlineData.data",
        8,
        "expected base64",
    ),
    (
        "a half surrogate",
        {"contents": [{"parts": [{"text": "a\ud800b"}]}]},
        "contents[0].parts[0].text",
        7,
        "half of a surrogate pair",
    ),
    (
        "a word for a number",
        {"config": {"temperature": "hot"}},
        "config.temperature",
        5,
        'expected a number, found a text "hot"',
    ),
    (
        "an unknown setting",
        {"config": {"temprature": 1}},
        "config.temprature",
        5,
        "GenerateContentConfig has no field 'temprature'",
    ),
    (
        "an instruction's part is wrong",
        {"config": {"systemInstruction": {"parts": [{"text": 5}]}}},
        "config.systemInstruction.parts[0].text",
        8,
        "expected a text, found a number 5",
    ),
    (
        "a declaration is wrong",
        {"config": {"tools": [{"functionDeclarations": [{"name": "f", "descripton": "x"}]}]}},
        "config.tools[0].functionDeclarations[0].descripton",
        10,
        "FunctionDeclaration has no field 'descripton'",
    ),
    ("a tool is a text", {"config": {"tools": ["f"]}}, "config.tools[0]", 6, 'expected an object, found a text "f"'),
    ("the connection", {"config": {"httpOptions": {}}}, "config.httpOptions", 5, "it may hold keys"),
    ("the local table", {"tools": ["other"]}, "tools", 5, "cannot be edited as JSON"),
]


def draft(given):
    if isinstance(given, str):
        return given
    return json.dumps({"model": "m", "contents": [], "config": {}, **given}, indent=2)


@pytest.mark.parametrize(("given", "path", "line", "message"), [f[1:] for f in FAULTS], ids=[f[0] for f in FAULTS])
def test_a_wrong_draft_is_told_with_field_line_and_reason(given, path, line, message):
    first, *_ = check_request(draft(given), LLMRequest())
    assert (first.path, first.line) == (path, line)
    assert message in first.message


@pytest.mark.parametrize("given", [f[1] for f in FAULTS], ids=[f[0] for f in FAULTS])
def test_a_wrong_draft_leaves_the_request_as_it_was(request_, given):
    before, contents, config = copy.deepcopy(request_json(request_)), list(request_.contents), request_.config
    with pytest.raises(BadData, match=r"^request, line"):
        apply_request(request_, draft(given))
    assert request_json(request_) == before
    assert all(a is b for a, b in zip(request_.contents, contents, strict=True))
    assert request_.config is config


def test_every_fault_of_a_draft_is_told_in_the_order_of_its_lines():
    text = draft({"contents": [{"role": 1}, {"parts": 2}], "config": {"temperature": "hot"}})
    assert [(p.path, p.line) for p in check_request(text)] == [
        ("contents[0].role", 5),
        ("contents[1].parts", 8),
        ("config.temperature", 12),
    ]


def test_an_edit_reaches_the_live_request_and_leaves_the_rest_in_place(request_):
    first, call, picture = request_.contents
    listed = request_.contents

    def change(data):
        data["contents"][0]["parts"][0]["text"] = "上海天气怎么样？"
        data["config"]["temperature"] = 0.9
        data["config"]["systemInstruction"]["parts"].append({"text": "Be brief."})

    apply_request(request_, edited(request_, change))
    assert request_.contents is listed
    assert request_.contents[0].parts[0].text == "上海天气怎么样？"
    assert request_.contents[1] is call
    assert request_.contents[2] is picture
    assert request_.config.temperature == 0.9
    assert [p.text for p in request_.config.system_instruction.parts] == ["You tell the weather.", "Be brief."]
    assert request_.config.http_options.headers == {"x-goog-api-key": "secret"}
    assert list(request_.tools) == ["get_weather"]
    assert first not in request_.contents


@pytest.mark.parametrize(
    ("change", "seen"),
    [
        (lambda d: d["contents"].pop(0), lambda r: len(r.contents) == 2),
        (lambda d: d["contents"].append(d["contents"][0]), lambda r: r.contents[3] is not r.contents[0]),
        (lambda d: d["contents"].reverse(), lambda r: _bytes(r, 0) == b"\x00\xff"),
        (
            lambda d: d["contents"][2]["parts"][0]["inlineData"].update(data="AQI="),
            lambda r: _bytes(r, 2) == b"\x01\x02",
        ),
        (lambda d: d["config"].pop("temperature"), lambda r: r.config.temperature is None),
        (lambda d: d["config"].pop("tools"), lambda r: r.config.tools is None and list(r.tools) == ["get_weather"]),
        (lambda d: d["config"].pop("systemInstruction"), lambda r: r.system_instruction is None),
        (lambda d: d["config"].update(systemInstruction="Short."), lambda r: r.config.system_instruction == "Short."),
        (lambda d: d.update(model="other"), lambda r: r.model == "other"),
        (lambda d: d.pop("tools"), lambda r: list(r.tools) == ["get_weather"]),
    ],
)
def test_every_part_of_a_request_can_be_edited(request_, change, seen):
    apply_request(request_, edited(request_, change))
    assert seen(request_)


def test_a_config_that_was_not_edited_stays_the_same_object(request_):
    config = request_.config
    apply_request(request_, edited(request_, lambda d: d["contents"].pop()))
    assert request_.config is config


def test_values_without_a_json_form_are_left_out_and_carried_over(request_):
    request_.config.tools = [get_weather]
    assert "tools" not in request_json(request_)["config"]
    apply_request(request_, edited(request_, lambda d: d["config"].update(seed=7)))
    assert request_.config.seed == 7
    assert request_.config.tools == [get_weather]


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ((), 1),
        (("a",), 2),
        (("b",), 3),
        (("b", 0), 4),
        (("b", 1), 5),
        (("b", 1, "c"), 6),
        (("b", 1, "gone"), 5),
        (("b", 7), 3),
        (('q"', "x"), 9),
    ],
)
def test_a_path_is_found_in_the_text(path, line):
    text = '{\n "a": "]}\\"[{",\n "b": [\n  1,\n  {\n   "c": null\n  }\n ],\n "q\\"": {"x": 1}\n}'
    assert line_of(text, path) == line


def _bytes(request, i):
    return request.contents[i].parts[0].inline_data.data
