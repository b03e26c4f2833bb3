"""A request to take away: as a curl command and as Python code, checked against what google-genai itself would send."""

import json
import re
import subprocess
import sys

import pytest
from google.genai import types

from adknb import at
from adknb.engine.model import LLMRequest
from adknb.stepper.edits import request_json
from adknb.widgets.copies import WAYS, as_body, as_curl, as_python
from tests.widgets.runs import HOSTILE, golden, said, weather


def text(words, role="user", **more):
    return types.Content(role=role, parts=[types.Part(text=words, **more)])


REQUESTS = {
    "texts": LLMRequest("gemini-2.5-flash", [text("hi"), text("hello", "model")]),
    "settings": LLMRequest(
        "models/gemini-2.5-pro",
        [text("hi")],
        types.GenerateContentConfig(
            temperature=0.2,
            top_k=40,
            seed=7,
            stop_sequences=["END"],
            response_mime_type="application/json",
            response_json_schema={"type": "object"},
            thinking_config=types.ThinkingConfig(thinking_budget=10),
            safety_settings=[
                types.SafetySetting(category="HARM_CATEGORY_HARASSMENT", threshold="BLOCK_ONLY_HIGH"),
            ],
            cached_content="cachedContents/1",
            labels=None,
        ),
    ),
    "an instruction as text": LLMRequest(
        "m", [text("hi")], types.GenerateContentConfig(system_instruction="Be brief.")
    ),
    "calls and files": LLMRequest(
        "m",
        [
            types.Content(
                role="model",
                parts=[types.Part(function_call=types.FunctionCall(id="c", name="f", args={"a": [1, None]}))],
            ),
            types.Content(
                role="user",
                parts=[
                    types.Part(function_response=types.FunctionResponse(id="c", name="f", response={"b": {"c": "d"}})),
                    types.Part(inline_data=types.Blob(mime_type="image/png", data=b"\x00\xff")),
                    types.Part(file_data=types.FileData(file_uri="https://x/y", mime_type="text/plain")),
                ],
            ),
        ],
        types.GenerateContentConfig(
            tools=[
                types.Tool(
                    function_declarations=[
                        types.FunctionDeclaration(
                            name="f", description="Does.", parameters_json_schema={"type": "object", "properties": {}}
                        )
                    ]
                ),
                types.Tool(google_search=types.GoogleSearch()),
            ],
            tool_config=types.ToolConfig(function_calling_config=types.FunctionCallingConfig(mode="ANY")),
        ),
    ),
}


class Sent(Exception):
    pass


def client(sent):
    """A real client whose requests end here."""
    from google import genai

    made = genai.Client(api_key="a-key-of-no-use")

    def request(method, path, data, options=None, *args):
        sent.append({k: v for k, v in data.items() if not k.startswith("_")})
        raise Sent

    made._api_client.request = request
    return made


def sent_by(code, monkeypatch):
    """What the client would send if this code ran."""
    from google import genai

    sent = []
    made = client(sent)
    monkeypatch.setattr(genai, "Client", lambda: made)
    with pytest.raises(Sent):
        exec(compile(code, "copied", "exec"), {})
    return json.loads(
        json.dumps(sent[0], default=lambda v: v.model_dump(mode="json", by_alias=True, exclude_none=True))
    )


@pytest.mark.parametrize("name", REQUESTS)
def test_the_code_runs_and_sends_what_the_command_sends(name, monkeypatch):
    request = request_json(REQUESTS[name])
    told = sent_by(as_python(request), monkeypatch)
    body = as_body(request)
    for part in (p for c in body["contents"] for p in c["parts"] if "inlineData" in p):
        part["inlineData"]["data"] = part["inlineData"]["data"].replace("_", "/")  # two alphabets of base64
    assert {k: v for k, v in ordered(told).items() if v != {}} == ordered(body)


def ordered(data):
    """In one spelling and order, without fields that are empty: the client tidies up after this."""
    if isinstance(data, dict):
        named = {re.sub(r"_(\w)", lambda m: m[1].upper(), k): ordered(v) for k, v in data.items() if v is not None}
        return dict(sorted(named.items()))
    return sorted(map(ordered, data), key=str) if isinstance(data, list) else data


@pytest.mark.parametrize(
    "name, beside, inside",
    [
        ("settings", {"safetySettings", "cachedContent"}, {"temperature", "topK", "seed", "thinkingConfig"}),
        ("an instruction as text", {"systemInstruction"}, set()),
        ("calls and files", {"tools", "toolConfig"}, set()),
    ],
)
def test_a_body_has_its_fields_where_the_api_wants_them(name, beside, inside):
    body = as_body(request_json(REQUESTS[name]))
    assert beside <= body.keys()
    assert inside <= body.get("generationConfig", {}).keys()
    assert not {"tools", "model", "config"} & body.get("generationConfig", {}).keys()


def shell(command):
    """What a shell would hand to curl: its arguments and its input."""
    script = "curl() { printf '%s\\0' \"$@\"; printf 'INPUT\\0'; cat; }\n" + command
    done = subprocess.run(
        ["sh", "-c", script], capture_output=True, env={"GEMINI_API_KEY": "k3y", "PATH": "/usr/bin:/bin"}
    )
    assert done.returncode == 0, done.stderr
    arguments, _, body = done.stdout.partition(b"INPUT\0")
    return [a.decode() for a in arguments.split(b"\0")[:-1]], body


@pytest.mark.skipif(sys.platform == "win32", reason="needs a shell")
@pytest.mark.parametrize("hostile", HOSTILE)
def test_no_text_leaves_its_place_in_the_command(hostile):
    request = request_json(LLMRequest("m", [text(hostile + "\nREQUEST\n`id` $(id) $GEMINI_API_KEY")]))
    arguments, body = shell(as_curl(request))
    assert arguments[1].endswith("/models/m:generateContent")
    assert "x-goog-api-key: k3y" in arguments
    assert json.loads(body) == as_body(request)


@pytest.mark.parametrize("model", ['m"; touch /tmp/x; "', "a b", "../../x", "模型", "$(id)", "`id`", ""])
def test_a_model_name_stays_a_name_in_the_address(model):
    address = as_curl({"model": model, "contents": []}).splitlines()[0]
    assert re.fullmatch(r'curl -sS "https://[a-z.]+/v1beta/models/[\w.%-]*:generateContent" \\', address)


def test_no_way_of_writing_it_down_holds_a_key():
    dbg = said("one").until(at("model"))
    dbg.request.config.http_options = types.HttpOptions(
        headers={"x-goog-api-key": "sec-ret", "Authorization": "sec-ret"}
    )
    for way in WAYS.values():
        assert "sec-ret" not in way(dbg.request_now)


def test_the_code_of_a_real_run_can_be_read(monkeypatch):
    code = as_python(weather().until(at("model", step=2)).request_now)
    assert "args={'city': 'Hangzhou'}" in code
    assert max(map(len, code.splitlines())) < 160
    assert sent_by(code, monkeypatch)["contents"][0]["parts"][0]["text"] == "杭州天气怎么样？"


@pytest.mark.parametrize("name", ["contents/0", "callbacks/0", "parallel/7", "seed/weather_question"])
def test_every_request_of_a_run_can_be_written_down_every_way(name):
    import adknb

    for request in adknb.step(golden(name)).resume().requests:
        for way in WAYS.values():
            assert way(request)
        compile(as_python(request), "copied", "exec")
