"""What can go wrong between Gemini and a run: each fault of the wire once, through the real client, Flow and session."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from google.genai import errors, types
from hypothesis import given, settings
from hypothesis import strategies as st

import adknb
from adknb import Gemini, LlmAgent, Runner, at
from adknb.engine.context import RunConfig
from adknb.engine.event_json import response_to_json, to_json
from adknb.engine.gemini import ModelCallFailed
from adknb.engine.model import LLMRequest
from adknb.engine.platform import counted
from adknb.scenarios.fake_gemini import FakeGemini

NAMES = ("GOOGLE_GENAI_USE_ENTERPRISE", "GOOGLE_GENAI_USE_VERTEXAI", "GOOGLE_API_KEY", "GEMINI_API_KEY")
HELLO = "Grüße aus 杭州 👋🏽 — ok."


@pytest.fixture(autouse=True)
def _no_settings_of_this_machine(monkeypatch: Any) -> None:
    for name in NAMES:
        monkeypatch.delenv(name, raising=False)


def chunk(*parts: Any, finish: str = "", **rest: Any) -> dict[str, Any]:
    """A raw reply with one candidate."""
    content = {"role": "model", "parts": [{"text": p} if isinstance(p, str) else p for p in parts]}
    return {"candidates": [{"content": content, **({"finishReason": finish} if finish else {})}], **rest}


def says(*words: str, finish: str = "STOP", **how: Any) -> dict[str, Any]:
    """A call that is answered by these words, a chunk each."""
    return {"chunks": [chunk(w) for w in words[:-1]] + [chunk(words[-1], finish=finish)], **how}


def gemini(server: FakeGemini, **options: Any) -> Gemini:
    return Gemini("gemini-2.5-flash", **{"api_key": "none", "http_options": server.http_options, **options})


def asking(text: str = "hi") -> LLMRequest:
    return LLMRequest(contents=[types.Content(role="user", parts=[types.Part(text=text)])])


class Told:
    """One turn against a script of the API: what a reader was given, what is stored, and how it ended."""

    def __init__(self, *calls: dict[str, Any], sse: bool = True, **agent: Any) -> None:
        with FakeGemini(calls) as server:
            model = gemini(server)
            runner = Runner(LlmAgent("clerk", model=model, output_key="answer", **agent), platform=counted())
            self.events: list[Any] = []
            self.error: Exception | None = None
            try:
                for event in runner.run("hi", run_config=RunConfig("sse" if sse else "")):
                    self.events.append(event)
            except Exception as error:
                self.error = error
            model.close()
            self.asked = len(server.received)
            self.bodies = [received.body for received in server.received]
        session = runner.session_service.get("adknb", "user", "session-1")
        self.stored, self.state = session.events[1:], session.state

    @property
    def shape(self) -> str:
        """`~` for a chunk, `.` for a complete event, `!` for the error that ended it."""
        return "".join("~" if e.partial else "." for e in self.events) + ("!" if self.error else "")


def size_of(reply: Any) -> int:
    """How many bytes a chunk has on the wire."""
    return len(f"data: {json.dumps(reply, ensure_ascii=False)}\r\n\r\n".encode())


# --------------------------------------------------------------------------------------------- how a stream can end

ENDINGS: list[tuple[str, dict[str, Any], str, dict[str, Any]]] = [
    # what, the call, what the reader is given, the stored event (and the key, if it is written)
    ("an error before the first chunk", {"status": 503, "error": "busy"}, "!", {}),
    ("an error in mid-stream", {"chunks": [chunk("Bo"), chunk("go")], "error": "down"}, "~~!", {}),
    ("a stream that ends without a finish reason", {"chunks": [chunk("Bo"), chunk("gota")]}, "~~.",
     {"text": "Bogota", "key": "Bogota"}),
    ("a stream that is cut off between two chunks", {**says("Bo", "gota"), "cut_off": size_of(chunk("Bo"))}, "~.", {"text": "Bo", "key": "Bo"}),
    ("a stream that is cut off in a chunk", {**says("Bo", "gota"), "cut_off": size_of(chunk("Bo")) + 20}, "~!", {}),
    ("MAX_TOKENS", says("Once upon", " a", finish="MAX_TOKENS"), "~~.",
     {"text": "Once upon a", "finish": "MAX_TOKENS", "key": "Once upon a"}),
    ("SAFETY without a word", {"chunks": [{"candidates": [{"finishReason": "SAFETY"}]}]}, "~.", {"finish": "SAFETY", "code": "SAFETY"}),
    ("SAFETY in mid-stream", {"chunks": [chunk("Well, "), {"candidates": [{"finishReason": "SAFETY"}]}]}, "~~.",
     {"text": "Well, ", "finish": "SAFETY", "code": "SAFETY", "key": "Well, "}),
    ("a blocked prompt", {"chunks": [{"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}}]}, "~.", {"code": "PROHIBITED_CONTENT"}),
    ("no candidates, only usage", {"chunks": [{"usageMetadata": {"totalTokenCount": 3}}]}, "~.", {}),
    ("an empty list of candidates", {"chunks": [{"candidates": []}]}, "~.", {}),
    ("no chunk at all", {"chunks": []}, "", {}),
    ("an empty text at the end", {"chunks": [chunk("Lima"), chunk("", finish="STOP")]}, "~~.", {"text": "Lima", "finish": "STOP", "key": "Lima"}),
]  # fmt: skip


@pytest.mark.parametrize("call, shape, stored", [r[1:] for r in ENDINGS], ids=[r[0] for r in ENDINGS])
def test_however_a_stream_ends_the_run_knows_and_nothing_is_asked_twice(
    call: dict[str, Any], shape: str, stored: dict[str, Any]
) -> None:
    told = Told(call, says("never"))
    assert (told.shape, told.asked) == (shape, 1)
    assert len(told.stored) == shape.count(".")
    if told.stored:
        [event] = told.stored
        text = "".join(p.text or "" for p in event.content.parts)
        assert (text, event.finish_reason, event.error_code) == (
            stored.get("text", ""),
            stored.get("finish", ""),
            stored.get("code", ""),
        )
    assert told.state == ({"answer": stored["key"]} if "key" in stored else {})


@pytest.mark.parametrize(
    "call, cause",
    [
        ({"status": 503, "error": "busy"}, errors.ServerError),
        ({"chunks": []}, None),
        ({"chunks": [{"candidates": []}]}, None),
        ({"chunks": [{"promptFeedback": {"blockReason": "SAFETY"}}]}, None),
    ],
    ids=["error", "no chunk", "no candidates", "blocked prompt"],
)
def test_without_streaming_a_reply_without_candidates_is_an_error(call: dict[str, Any], cause: Any) -> None:
    told = Told(call, sse=False)
    assert told.shape == "!"
    assert isinstance(told.error, ModelCallFailed)
    assert (type(told.error.__cause__) if told.error.__cause__ else None) is cause


@pytest.mark.parametrize("sse", [True, False])
def test_an_error_can_be_recovered_by_a_callback_and_the_run_goes_on(sse: bool) -> None:
    def sorry(ctx: Any, request: Any, error: Exception) -> Any:
        assert "busy" in str(error)
        from adknb.engine.model import as_response

        return as_response("Sorry, try later.")

    told = Told({"chunks": [chunk("Bo")] if sse else [], "error": "busy"}, sse=sse, on_model_error=sorry)
    assert told.shape == ("~." if sse else ".")
    assert told.state == {"answer": "Sorry, try later."}


# -------------------------------------------------------------------------------------------------- 429, and retries


TOO_FAST = {"status": 429, "error": "too fast", "headers": {"retry-after": "7"}}


@pytest.mark.parametrize("stream", [False, True])
def test_429_is_raised_at_once_and_says_when_to_come_back(stream: bool) -> None:
    """The adapter retries nothing; who wants to wait finds the header on the client's error."""
    with FakeGemini([TOO_FAST, says("never")]) as server:
        began = time.monotonic()
        with pytest.raises((ModelCallFailed, errors.ClientError), match="429") as raised:
            list(gemini(server).generate_content(asking(), stream))
        assert time.monotonic() - began < 3
        assert len(server.received) == 1
    error = raised.value.__cause__ if isinstance(raised.value, ModelCallFailed) else raised.value
    assert isinstance(error, errors.ClientError)
    assert (error.code, error.response.headers["retry-after"]) == (429, "7")


@pytest.mark.parametrize("stream", [False, True])
def test_the_client_retries_if_it_is_told_to(stream: bool) -> None:
    with FakeGemini([TOO_FAST, {"status": 503, "error": "busy"}, says("at last")]) as server:
        patience = types.HttpRetryOptions(attempts=3, initial_delay=0.01, max_delay=0.02, jitter=0.01)
        options = server.http_options.model_copy(update={"retry_options": patience})
        told = [response_to_json(r) for r in gemini(server, http_options=options).generate_content(asking(), stream)]
        assert told[-1]["content"]["parts"] == [{"text": "at last"}]
        assert len(server.received) == 3


def test_what_has_begun_to_stream_is_not_tried_again_even_then() -> None:
    """A chunk is on the screen: asking again would say it twice."""
    with FakeGemini([{"chunks": [chunk("Bo")], "error": "down"}, says("Bogota")]) as server:
        patience = types.HttpRetryOptions(attempts=3, initial_delay=0.01, max_delay=0.02, jitter=0.01)
        options = server.http_options.model_copy(update={"retry_options": patience})
        stream = gemini(server, http_options=options).generate_content(asking(), True)
        assert next(stream).partial
        with pytest.raises(errors.ServerError, match="down"):
            next(stream)
        assert len(server.received) == 1


# --------------------------------------------------------------------------------------------- a slow, a cut stream


def test_a_slow_stream_comes_chunk_by_chunk() -> None:
    with FakeGemini([says("a", "b", "c", pause=0.3)]) as server:
        began = time.monotonic()
        stream = gemini(server).generate_content(asking(), True)
        assert response_to_json(next(stream))["content"]["parts"] == [{"text": "a"}]
        assert time.monotonic() - began < 0.3 + 0.25  # the first is there before the second is sent
        assert [r.partial for r in stream] == [True, True, False]


def test_a_reader_who_leaves_a_slow_stream_is_free_at_once_and_nothing_is_stored() -> None:
    with FakeGemini([says("a", "b", pause=20.0)]) as server:
        model = gemini(server)
        runner = Runner(LlmAgent("clerk", model=model, output_key="answer"), platform=counted())
        turn = runner.run("hi", run_config=RunConfig("sse"))
        assert next(turn).partial
        began = time.monotonic()
        turn.close()  # type: ignore[attr-defined]
        model.close()
        assert time.monotonic() - began < 3
        session = runner.session_service.get("adknb", "user", "session-1")
        assert ([e.author for e in session.events], session.state) == (["user"], {})


def test_a_slow_stream_can_be_stepped_and_left_between_two_chunks() -> None:
    with FakeGemini([says("a", "b", pause=20.0)]) as server:
        agent = LlmAgent("clerk", model=gemini(server))
        dbg = adknb.step(agent, "hi", run_config=RunConfig("sse")).until(at(seam="model", phase="after"))
        assert dbg.response.partial and dbg.response.content.parts[0].text == "a"
        began = time.monotonic()
        dbg.close()
        assert time.monotonic() - began < 3


WHOLE = says(*HELLO.split(" "), finish="STOP")


@pytest.mark.parametrize("piece", [1, 2, 3, 5, 7, 64])
def test_a_chunk_may_be_split_at_any_byte(piece: int) -> None:
    """In the middle of a character, of a line, of a line break."""
    told = Told({**WHOLE, "piece": piece})
    assert told.shape == "~" * len(HELLO.split(" ")) + "."
    assert told.state == {"answer": HELLO.replace(" ", "")}


@settings(max_examples=12, deadline=None)
@given(
    st.lists(st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8), min_size=1, max_size=4),
    st.integers(1, 9),
)
def test_whatever_is_said_and_however_it_is_split_it_arrives(words: list[str], piece: int) -> None:
    with FakeGemini([says(*words, piece=piece)]) as server:
        *chunks, whole = gemini(server).generate_content(asking(), True)
    assert [c.content.parts[0].text for c in chunks] == words  # type: ignore[union-attr, index]
    assert whole.content.parts[0].text == "".join(words)  # type: ignore[union-attr, index]


@pytest.mark.parametrize("cut_off", [1, 40, 90, 140, 150])
def test_a_stream_that_is_cut_anywhere_gives_what_had_arrived_or_an_error_and_never_half_a_chunk(cut_off: int) -> None:
    told = Told({**says("Bo", "gota"), "cut_off": cut_off}, says("never"))
    assert told.asked == 1
    said = [p.text for e in told.events if e.partial for p in e.content.parts]
    assert said in ([], ["Bo"], ["Bo", "gota"])
    assert [e.content.parts[0].text for e in told.stored] == ([] if told.error or not said else ["".join(said)])


# ------------------------------------------------------------------------- thoughts, signatures, structured output


def look(where: str) -> str:
    """Looks somewhere."""
    return f"nothing in {where}"


@pytest.mark.parametrize("sse", [True, False])
def test_a_thoughts_signature_comes_back_in_the_next_request_where_it_came(sse: bool) -> None:
    thinks = chunk(
        {"text": "I look.", "thought": True},
        {"functionCall": {"name": "look", "args": {"where": "Oslo"}}, "thoughtSignature": "U0lH"},
        finish="STOP",
    )
    told = Told({"chunks": [thinks]}, says("Nothing there."), sse=sse, tools=[look])
    assert told.state == {"answer": "Nothing there."}
    model_turn = told.bodies[1]["contents"][1]
    call = next(p for p in model_turn["parts"] if "functionCall" in p)
    assert call["thoughtSignature"] == "U0lH"
    assert [p.get("thoughtSignature") for p in model_turn["parts"] if "functionCall" not in p] == [None]
    stored = next(p for p in told.stored[0].content.parts if p.function_call)
    assert stored.thought_signature == b"SIG"


def test_a_signature_in_a_chunk_of_its_own_goes_to_the_call_behind_it() -> None:
    chunks = [
        chunk({"text": "I look.", "thought": True}),
        chunk({"text": "", "thoughtSignature": "U0lH"}),
        chunk({"functionCall": {"name": "look", "args": {"where": "a"}}}),
        chunk({"functionCall": {"name": "look", "args": {"where": "b"}}}, finish="STOP"),
    ]
    told = Told({"chunks": chunks}, says("Done."), tools=[look])
    calls = [p for p in told.bodies[1]["contents"][1]["parts"] if "functionCall" in p]
    assert [(c["functionCall"]["args"], c.get("thoughtSignature")) for c in calls] == [
        ({"where": "a"}, "U0lH"),
        ({"where": "b"}, None),
    ]


SCHEMA = types.Schema(type=types.Type.OBJECT, properties={"n": types.Schema(type=types.Type.INTEGER)}, required=["n"])


@pytest.mark.parametrize("sse", [True, False])
def test_structured_output_is_asked_for_in_the_config_and_saved_as_text(sse: bool) -> None:
    told = Told(says('{"n": ', "3}") if sse else says('{"n": 3}'), sse=sse, output_schema=SCHEMA)
    sent = told.bodies[0]["generationConfig"]
    assert sent["responseMimeType"] == "application/json"
    assert sent["responseSchema"]["required"] == ["n"]
    assert told.state == {"answer": '{"n": 3}'}


def test_structured_output_beside_tools_is_asked_for_through_a_tool() -> None:
    answers = {"functionCall": {"name": "set_model_response", "args": {"n": 3}}}
    told = Told({"chunks": [chunk(answers, finish="STOP")]}, says("never"), output_schema=SCHEMA, tools=[look])
    declared = [d["name"] for tool in told.bodies[0]["tools"] for d in tool["functionDeclarations"]]
    assert declared == ["set_model_response", "look"]
    assert "responseSchema" not in told.bodies[0].get("generationConfig", {})
    assert (told.state, told.asked) == ({"answer": '{"n":3}'}, 1)


def test_grounding_and_usage_of_a_stream_are_on_the_stored_event() -> None:
    last = chunk("b", finish="STOP", usageMetadata={"totalTokenCount": 9})
    last["candidates"][0]["groundingMetadata"] = {"webSearchQueries": ["q"]}
    [event] = Told({"chunks": [chunk("a"), last]}).stored
    assert event.usage_metadata.total_token_count == 9
    assert event.grounding_metadata.web_search_queries == ["q"]


# ----------------------------------------------------------------------------------- recorded once, replayed offline


def weather(city: str) -> dict[str, Any]:
    """Tells the weather."""
    return {"t": 26}


def clerk(model: Gemini) -> LlmAgent:
    return LlmAgent("clerk", model=model, output_key="answer", tools=[weather])


@pytest.mark.parametrize("sse", [True, False])
def test_a_run_is_recorded_once_and_replayed_without_key_server_or_network(
    sse: bool, tmp_path: Any, monkeypatch: Any
) -> None:
    asks = chunk(
        {"functionCall": {"name": "weather", "args": {"city": "Oslo"}}, "thoughtSignature": "U0lH"}, finish="STOP"
    )
    script = [
        {"chunks": [chunk("Let me see. "), asks] if sse else [asks]},
        says("26 ", "°C.") if sse else says("26 °C."),
    ]
    with FakeGemini(script) as server:
        model = gemini(server, api_key="AIzaSyA-very-secret-key-that-must-not-be-kept")
        dbg = adknb.step(clerk(model), "hi", run_config=RunConfig("sse" if sse else "")).resume()
        model.close()
    first = [to_json(e.content) for e in dbg.events]
    path = tmp_path / "run.json"
    dbg.save(path)
    assert "very-secret" not in path.read_text(encoding="utf-8")
    json.loads(path.read_text(encoding="utf-8"))

    def no_network(*_: Any) -> None:
        raise AssertionError("the network was used")

    monkeypatch.setattr("socket.socket.connect", no_network)
    again = adknb.replay(path, agent=clerk(Gemini("gemini-2.5-flash")), offline=True)
    assert [to_json(e.content) for e in again.events] == first
    assert (again.state, again.tools_run == dbg.tools_run) == ({"answer": "26 °C."}, True)
    again.rewind(0).resume()
    assert [to_json(e.content) for e in again.events] == first
