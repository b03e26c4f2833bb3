"""The Gemini adapter: the real client, against a fake API on this machine."""

import copy
import gc
import logging
import socket
import threading
import time
from contextlib import suppress
from importlib.metadata import version

import pytest
from google.genai import Client, errors, types

from adknb import FunctionTool, LlmAgent, Runner
from adknb.engine.context import RunConfig
from adknb.engine.event import Event
from adknb.engine.event_json import response_to_json, to_json
from adknb.engine.gemini import Gemini, ModelCallFailed, product
from adknb.engine.model import LLM, LLMRequest
from adknb.engine.platform import counted
from adknb.engine.processors.contents.emit import CONTINUE
from adknb.scenarios.fake_gemini import FakeGemini

CHOICES = ("GOOGLE_GENAI_USE_ENTERPRISE", "GOOGLE_GENAI_USE_VERTEXAI")
KEYS = ("GOOGLE_API_KEY", "GEMINI_API_KEY", "GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_LOCATION")


@pytest.fixture(autouse=True)
def _no_settings_of_this_machine(monkeypatch):
    for name in CHOICES + KEYS:
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def serve():
    """Start a fake API with these calls; gone after the test."""
    servers = []

    def start(*calls):
        servers.append(FakeGemini(calls))
        return servers[-1]

    yield start
    for server in servers:
        server.close()


def chunk(*parts, finish=None, **rest):
    """A raw reply with one candidate."""
    content = {"role": "model", "parts": [{"text": p} if isinstance(p, str) else p for p in parts]}
    return {"candidates": [{"content": content, **({"finishReason": finish} if finish else {})}], **rest}


def says(*words):
    """A call that is answered by these words, a chunk each."""
    return {"chunks": [chunk(w) for w in words[:-1]] + [chunk(words[-1], finish="STOP")]}


def gemini(server, name="gemini-x", **options):
    return Gemini(name, **{"api_key": "none", "http_options": server.http_options, **options})


def content(role, *parts):
    return types.Content(role=role, parts=[types.Part(text=p) if isinstance(p, str) else p for p in parts])


def asking(*contents, config=None, model=""):
    contents = list(contents) or [content("user", "hi")]
    return LLMRequest(model=model, contents=contents, config=config or types.GenerateContentConfig())


def answers(model, request=None, stream=False):
    return [response_to_json(r) for r in model.generate_content(request or asking(), stream)]


def in_the_middle(error):
    """A call that yields one chunk and breaks off then."""
    return {"chunks": [chunk("Bo")], "error": error}


# ---------------------------------------------------------------------------------------------------------- the request


def test_it_is_a_model():
    model = Gemini("gemini-x", api_key="none")
    assert isinstance(model, LLM)
    assert model.name == "gemini-x"


@pytest.mark.parametrize("stream, method", [(False, "generateContent"), (True, "streamGenerateContent")])
def test_one_call_of_the_model_is_one_request(serve, stream, method):
    server = serve(says("hi"))
    config = types.GenerateContentConfig(
        temperature=0.5,
        system_instruction=content("user", "Be brief."),
        tools=[types.Tool(function_declarations=[types.FunctionDeclaration(name="look")])],
    )
    answers(gemini(server), asking(config=config), stream)
    [sent] = server.received
    assert sent.method == method
    assert sent.path.split("?")[0].endswith(f"/models/gemini-x:{method}")
    assert sent.headers["x-goog-api-key"] == "none"
    assert sent.body["contents"] == [{"role": "user", "parts": [{"text": "hi"}]}]
    assert sent.body["systemInstruction"]["parts"] == [{"text": "Be brief."}]
    assert sent.body["generationConfig"] == {"temperature": 0.5}
    assert sent.body["tools"] == [{"functionDeclarations": [{"name": "look"}]}]
    assert set(sent.body) == {"contents", "systemInstruction", "generationConfig", "tools"}


@pytest.mark.parametrize("stream", [False, True])
def test_2_3_both_headers_hold_the_clients_product_and_ours_once_each(serve, stream):
    server = serve(says("hi"))
    theirs = {"User-Agent": "mine/1", "X-Goog-Api-Client": "mine/1", "x-other": "kept"}
    request = asking(config=types.GenerateContentConfig(http_options=types.HttpOptions(headers=theirs)))
    answers(gemini(server), request, stream)
    [sent] = server.received
    for header in ("user-agent", "x-goog-api-client"):
        words = sent.headers[header].split(" ")
        assert words[0].startswith("google-genai-sdk/")
        assert " ".join(words[-2:]) == product()
        assert "mine/1" not in words
    assert sent.headers["x-other"] == "kept"
    assert product().startswith("adknb/")
    assert " gl-python/3." in product()


def test_2_1_the_request_itself_shows_what_was_changed(serve):
    request = asking(content("model", "I have an idea."))
    answers(gemini(serve(says("hi"))), request)
    assert [c.role for c in request.contents] == ["model", "user"]
    assert request.config.http_options.headers == {"x-goog-api-client": product(), "user-agent": product()}
    assert request.config.automatic_function_calling is None  # what the client is told to leave off is not in it


def test_2_3_options_that_others_hold_too_are_left_as_they_are(serve):
    shared = types.HttpOptions(headers={"User-Agent": "mine/1"}, timeout=5000)
    request = asking(config=types.GenerateContentConfig(http_options=shared))
    answers(gemini(serve(says("hi"))), request)
    assert shared.headers == {"User-Agent": "mine/1"}
    assert request.config.http_options.timeout == 5000


@pytest.mark.parametrize(
    "contents, added",
    [
        ([content("user", "hi")], False),
        ([content("user", "hi"), content("model", "Hello.")], True),
        ([content("user", "hi"), types.Content(parts=[types.Part(text="no role")])], True),
        ([content("user", "hi"), content("User", "not exactly")], True),
        ([content("model", "a"), content("user", "b")], False),
    ],
)
def test_2_2_the_user_has_the_last_word(serve, contents, added):
    server = serve(says("hi"))
    answers(gemini(server), asking(*contents))
    last = {"role": "user", "parts": [{"text": CONTINUE}]}
    assert server.received[0].body["contents"][len(contents) :] == ([last] if added else [])


def test_2_2_an_empty_list_of_contents_stays_empty(serve):
    request = LLMRequest(contents=[])
    with pytest.raises(ModelCallFailed, match="contents are required"):
        answers(gemini(serve(says("hi"))), request)
    assert request.contents == []


@pytest.mark.parametrize("asked, sent", [("", "gemini-x"), ("gemini-y", "gemini-y")])
def test_2_4_the_requests_model_goes_before_the_constructors(serve, asked, sent):
    server = serve(says("hi"))
    answers(gemini(server), asking(model=asked))
    assert f"/models/{sent}:generateContent" in server.received[0].path


def test_2_5_the_constructor_copies_its_options(serve):
    server = serve(says("hi"))
    options = server.http_options
    options.base_url, options.headers = None, {"x-mine": "1"}
    before = copy.copy(options)
    model = Gemini("gemini-x", api_key="none", base_url=server.url, http_options=options)
    options.headers["x-mine"] = "2"
    answers(model)
    assert server.received[0].headers["x-mine"] == "1"
    assert (options.base_url, options.client_args) == (before.base_url, before.client_args)


def test_2_5_the_callers_http_client_is_used_and_left_open(serve):
    httpx = pytest.importorskip("httpx")
    server = serve(says("hi"), says("hi"))
    with httpx.Client(headers={"x-mine": "1"}, trust_env=False) as theirs:
        model = gemini(server, http_options=server.http_options.model_copy(update={"httpx_client": theirs}))
        answers(model)
        model.close()
        assert not theirs.is_closed
        answers(model)
    assert [r.headers["x-mine"] for r in server.received] == ["1", "1"]


@pytest.mark.parametrize("stream, error", [(False, ModelCallFailed), (True, ValueError)])
def test_16_7_what_the_client_refuses_is_refused_before_anything_is_sent(serve, stream, error):
    server = serve(says("hi"))
    stored = types.Part(function_call=types.FunctionCall(name="f", will_continue=False))
    with pytest.raises(error, match="will_continue"):
        answers(gemini(server), asking(content("model", stored), content("user", "hi")), stream)
    assert server.received == []


@pytest.mark.parametrize("stream", [False, True])
def test_2_6_labels_are_refused_before_anything_is_sent_as_gos_client_does(serve, stream):
    server = serve(says("hi"))
    with pytest.raises(ModelCallFailed, match="labels are for Vertex"):
        answers(gemini(server), asking(config=types.GenerateContentConfig(labels={"team": "a"})), stream)
    assert server.received == []


@pytest.mark.parametrize("stream", [False, True])
def test_2_8_the_client_runs_no_function_by_itself(serve, stream, caplog):
    ran = []

    def look(where: str) -> str:
        """Look somewhere."""
        ran.append(where)
        return "seen"

    asks = chunk({"functionCall": {"name": "look", "args": {"where": "here"}}}, finish="STOP")
    server = serve({"chunks": [asks]}, says("hi"))
    with caplog.at_level(logging.WARNING):
        answers(gemini(server), asking(config=types.GenerateContentConfig(tools=[look])), stream)
    assert ran == []
    assert len(server.received) == 1
    assert caplog.records == []


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.filterwarnings("ignore:CONTINUATION is not a valid FinishReason")  # google-genai 2.30 may not know it
def test_2_8_the_client_asks_for_no_continuation_by_itself(serve, stream):
    halfway = chunk("Once upon", finish="CONTINUATION")
    halfway["candidates"][0]["continuationToken"] = "c2ln"
    server = serve({"chunks": [halfway]}, says("a time"))
    told = answers(gemini(server), stream=stream)
    assert len(server.received) == 1
    assert {r["finishReason"] for r in told} == {"CONTINUATION"}


# ------------------------------------------------------------------------------------------- backend, key, construction


@pytest.mark.parametrize("vertexai", [None, True, False])
@pytest.mark.parametrize("enterprise_variable", [None, "true", "0"])
@pytest.mark.parametrize("vertexai_variable", [None, "True", "1", "no"])
@pytest.mark.filterwarnings("ignore:Warning. Both GOOGLE_GENAI")
def test_the_backend_is_the_one_that_the_client_will_use(
    serve, monkeypatch, vertexai, enterprise_variable, vertexai_variable
):
    for name, value in zip(CHOICES, (enterprise_variable, vertexai_variable), strict=True):
        if value is not None:
            monkeypatch.setenv(name, value)
    options = {"api_key": "none", "vertexai": vertexai, "http_options": serve().http_options}
    client = Client(**options)
    assert Gemini("gemini-x", **options).backend == ("vertex" if client.vertexai else "gemini_api")


def test_an_agent_can_be_built_without_a_key_and_misses_it_when_it_asks():
    model = Gemini("gemini-x")
    LlmAgent("clerk", model=model)
    assert model.backend == "gemini_api"
    with pytest.raises(ValueError, match="API key"):
        answers(model)


def test_a_key_is_not_shown():
    assert repr(Gemini("gemini-x", api_key="secret-1")) == "Gemini('gemini-x', backend='gemini_api')"


def test_vertex_is_asked_in_its_own_way_and_tells_the_finish_message(serve):
    server = serve({"chunks": [{"candidates": [{"finishReason": "SAFETY", "finishMessage": "not that"}]}]})
    model = gemini(server, vertexai=True)
    assert answers(model) == [{"finishReason": "SAFETY", "errorCode": "SAFETY", "errorMessage": "not that"}]
    assert "/publishers/google/models/gemini-x:generateContent" in server.received[0].path


# ---------------------------------------------------------------------------------------------------- without streaming


def test_4_4_the_reply_as_it_came(serve):
    reply = chunk("Lima", {"text": "why", "thought": True}, finish="STOP", modelVersion="g", responseId="r")
    assert answers(gemini(serve({"chunks": [reply]}))) == [
        {
            "content": {"role": "model", "parts": [{"text": "Lima"}, {"text": "why", "thought": True}]},
            "finishReason": "STOP",
            "modelVersion": "g",
        }
    ]


def test_3_4_the_developer_api_tells_no_finish_message(serve):
    server = serve({"chunks": [{"candidates": [{"finishReason": "SAFETY", "finishMessage": "not that"}]}]})
    assert answers(gemini(server)) == [{"finishReason": "SAFETY", "errorCode": "SAFETY"}]


@pytest.mark.parametrize(
    "call, message, cause",
    [
        (
            {"status": 429, "error": "too fast"},
            "the call of model 'gemini-x' failed: 429.*too fast",
            errors.ClientError,
        ),
        ({"status": 503, "error": "busy"}, "the call of model 'gemini-x' failed: 503.*busy", errors.ServerError),
        ({"error": "no status"}, "the call of model 'gemini-x' failed: 500.*no status", errors.ServerError),
        ({"chunks": [{"candidates": 3}]}, "the call of model 'gemini-x' failed", Exception),
        ({"chunks": []}, "the reply of model 'gemini-x' is empty: it has no candidate$", None),
        ({"chunks": [{"usageMetadata": {"totalTokenCount": 3}}]}, "no candidate$", None),
        (
            {"chunks": [{"promptFeedback": {"blockReason": "SAFETY", "blockReasonMessage": "no"}}]},
            r"no candidate \(SAFETY: no\)$",
            None,
        ),
    ],
)
def test_4_a_call_that_fails_is_one_error_with_its_cause(serve, call, message, cause):
    server = serve(call, says("hi"))
    with pytest.raises(ModelCallFailed, match=message) as raised:
        answers(gemini(server))
    assert len(server.received) == 1  # nothing is tried again
    if cause is None:
        assert raised.value.__cause__ is None
    else:
        assert isinstance(raised.value.__cause__, cause)


# ------------------------------------------------------------------------------------------------------- with streaming


def test_5_each_chunk_and_then_the_whole(serve):
    server = serve({"chunks": [chunk("Bo", modelVersion="g"), chunk("go"), chunk("ta", finish="STOP")]})
    told = answers(gemini(server), stream=True)
    assert [(r["content"]["parts"][0]["text"], r.get("partial"), r.get("turnComplete")) for r in told] == [
        ("Bo", True, None),
        ("go", True, None),
        ("ta", True, True),
        ("Bogota", None, None),
    ]
    assert told[0]["modelVersion"] == "g"
    assert "modelVersion" not in told[3]


def test_16_1_a_blocked_prompt_is_a_response_when_streaming(serve):
    server = serve({"chunks": [{"promptFeedback": {"blockReason": "SAFETY"}}]})
    assert answers(gemini(server), stream=True) == [
        {"errorCode": "SAFETY", "partial": True},
        {"errorCode": "SAFETY", "content": {"role": "model", "parts": []}},
    ]


def test_16_8_a_stream_without_chunks_yields_nothing(serve):
    assert answers(gemini(serve({"chunks": []})), stream=True) == []


@pytest.mark.parametrize(
    "call, error, before",
    [
        ({"status": 429, "error": "too fast"}, errors.ClientError, 0),
        ({"status": 500, "error": "down"}, errors.ServerError, 0),
        ({"chunks": [chunk("Bo"), chunk("go")], "error": "down"}, errors.ServerError, 2),
        ({"chunks": [chunk("Bo"), {"candidates": 3}]}, Exception, 1),
    ],
)
def test_12_1_the_clients_own_error_ends_the_stream_and_there_is_no_whole_response(serve, call, error, before):
    server = serve(call, says("hi"))
    told = []
    with pytest.raises(error) as raised:
        told.extend(gemini(server).generate_content(asking(), True))
    assert not isinstance(raised.value, ModelCallFailed)
    assert [r.partial for r in told] == [True] * before
    assert len(server.received) == 1


@pytest.mark.xfail(
    tuple(map(int, version("google-genai").split(".")[:2])) < (3, 4),
    raises=errors.UnknownApiResponseError,
    reason="google-genai before 3.4 ends a line of the stream at U+2028 and U+0085",
    strict=True,
)
def test_a_line_separator_in_a_text_breaks_no_chunk(serve):
    words = "a\u2028b\u0085c\n\nd 城市"
    assert answers(gemini(serve(says(words))), stream=True)[-1]["content"]["parts"] == [{"text": words}]


def test_structured_text_may_come_in_pieces(serve, caplog):
    schema = types.Schema(type=types.Type.OBJECT, properties={"a": types.Schema(type=types.Type.INTEGER)})
    config = types.GenerateContentConfig(response_schema=schema, response_mime_type="application/json")
    with caplog.at_level(logging.WARNING):
        told = answers(gemini(serve(says('{"a"', ": 1}"))), asking(config=config), stream=True)
    assert told[-1]["content"]["parts"] == [{"text": '{"a": 1}'}]
    assert caplog.records == []


# ------------------------------------------------------------------------------------------------------- under the Flow


def run(model, *, sse=True, message="hi", tools=()):
    runner = Runner(LlmAgent("clerk", model=model, output_key="answer", tools=list(tools)), platform=counted())
    given = list(runner.run(message, run_config=RunConfig("sse" if sse else "")))
    return given, runner.session_service.get("adknb", "user", "session-1")


def test_7_2_one_call_has_one_id_in_the_chunk_the_whole_and_the_answer(serve):
    weather = {"functionCall": {"name": "weather", "args": {"city": "Oslo"}}}
    server = serve({"chunks": [chunk("Let me see. "), chunk(weather, finish="STOP")]}, says("26 °C."))
    asked = []

    def get(ctx, city: str) -> dict:
        asked.append(city)
        return {"t": 26}

    given, session = run(gemini(server), tools=[FunctionTool(get, name="weather")])
    in_chunk = given[1].content.parts[0].function_call
    stored = session.events[1].content.parts[1].function_call
    answer = session.events[2].content.parts[0].function_response
    assert given[1].partial
    assert in_chunk.id == stored.id == answer.id
    assert in_chunk.id.startswith("adk-")
    assert asked == ["Oslo"]
    assert session.state == {"answer": "26 °C."}
    assert [e.partial for e in session.events] == [False] * 4
    second = server.received[1].body["contents"]
    assert [list(p) for c in second for p in c["parts"]] == [["text"], ["text"], ["functionCall"], ["functionResponse"]]


def test_12_1_what_broke_off_is_not_stored(serve):
    runner = Runner(LlmAgent("clerk", model=gemini(serve(in_the_middle("down"))), output_key="answer"))
    events = runner.run("hi", run_config=RunConfig("sse"))
    assert next(events).partial
    with pytest.raises(errors.ServerError, match="down"):
        next(events)
    session = runner.session_service.get("adknb", "user", "session-1")
    assert [e.author for e in session.events] == ["user"]
    assert session.state == {}


def test_2_7_the_developer_api_is_sent_no_display_names(serve):
    server = serve(says("a picture"), says("a picture"))
    picture = types.Part(inline_data=types.Blob(data=b"x", mime_type="image/png", display_name="mine.png"))
    _, session = run(gemini(server), message=content("user", picture), sse=False)
    assert "mine.png" not in str(server.received[0].body)
    assert session.events[0].content.parts[0].inline_data.display_name == "mine.png"
    run(gemini(server, vertexai=True), message=content("user", picture), sse=False)
    assert "mine.png" in str(server.received[1].body)


def test_the_agents_own_config_stays_as_it_was(serve):
    server = serve(says("hi"))
    config = types.GenerateContentConfig(temperature=0.5)
    before = to_json(config)
    agent = LlmAgent("clerk", model=gemini(server), generate_content_config=config)
    assert [type(e) for e in Runner(agent).run("hi")] == [Event]
    assert to_json(config) == before


# ------------------------------------------------------------------------------------------------- nothing is left over


def fakes():
    return [t for t in threading.enumerate() if t.name == "fake Gemini"]


def takes_connections(server):
    try:
        socket.create_connection(("127.0.0.1", int(server.url.rsplit(":", 1)[1])), timeout=1).close()
    except OSError:
        return False
    return True


def test_a_server_is_gone_when_it_is_closed_and_may_be_closed_twice():
    server = FakeGemini([says("hi")])
    assert takes_connections(server)
    server.close()
    assert fakes() == []
    assert not takes_connections(server)
    server.close()


def test_closing_waits_for_nothing():
    server = FakeGemini([])
    silent = socket.create_connection(("127.0.0.1", int(server.url.rsplit(":", 1)[1])))  # says nothing, reads nothing
    try:
        time.sleep(0.05)
        began = time.monotonic()
        server.close()
        assert time.monotonic() - began < 2
        assert fakes() == []
    finally:
        silent.close()


def test_a_server_that_nobody_holds_ends_by_itself():
    server = FakeGemini([says("hi")])
    [thread] = fakes()
    del server
    gc.collect()
    thread.join(5)
    assert not thread.is_alive()


def test_a_request_too_many_is_an_error_that_says_so(serve):
    server = serve(says("hi"))
    model = gemini(server)
    answers(model)
    with pytest.raises(ModelCallFailed, match="has replies for 1 requests; this is request 2"):
        answers(model)


HUGE = {"chunks": [chunk("x" * 1_000_000) for _ in range(20)]}
"""More than fits between the two ends: the server cannot finish while nobody reads."""


def test_a_reader_who_stops_in_the_middle_closes_the_connection(serve):
    server = serve(HUGE, says("hi"))
    patient = server.http_options.model_copy(update={"timeout": 5000})
    model = gemini(server, http_options=patient)
    stream = model.generate_content(asking(), True)
    assert next(stream).partial
    stream.close()
    assert answers(model)[0]["content"]["parts"] == [{"text": "hi"}]  # the server, one at a time, was set free


def test_a_server_can_be_closed_while_a_reader_is_in_the_middle():
    server = FakeGemini([HUGE])
    stream = gemini(server).generate_content(asking(), True)
    assert next(stream).partial
    began = time.monotonic()
    server.close()
    assert time.monotonic() - began < 2
    assert fakes() == []
    stream.close()


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("call", [says("Bo", "gota"), {"status": 500, "error": "down"}, in_the_middle("down")])
def test_a_closed_model_has_closed_its_client_and_makes_another_when_asked(serve, stream, call):
    model = gemini(serve(call, says("hi")))
    with suppress(errors.ServerError, ModelCallFailed):
        answers(model, stream=stream)
    used = model.client
    model.close()
    with pytest.raises(RuntimeError, match="closed"):
        used.models.generate_content(model="gemini-x", contents="hi")
    assert answers(model)[0]["content"]["parts"] == [{"text": "hi"}]
    assert model.client is not used
