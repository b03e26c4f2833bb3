"""A scenario whose model is the Gemini adapter, against a fake API."""

import threading

import pytest

from adknb import at, step
from adknb.engine.errors import BadData
from adknb.scenarios import build, trace

LOOK = {"functionCall": {"name": "look", "args": {"where": "here"}}}


def chunk(part, **more):
    return {"candidates": [{"content": {"role": "model", "parts": [part]}, **more}]}


def made(*calls, streaming_mode="sse", **more):
    return {
        "name": "test",
        "agent": {
            "type": "llm",
            "name": "clerk",
            "model": {"gemini": True, "name": "gemini-x", "calls": list(calls)},
            "tools": [{"name": "look", "parameters": {"type": "object"}}],
        },
        "run_config": {"streaming_mode": streaming_mode},
        "turns": [{"message": {"role": "user", "parts": [{"text": "hi"}]}, **more}],
    }


ASKS_AND_SAYS = (
    {"chunks": [chunk(LOOK, finishReason="STOP")]},
    {"chunks": [chunk({"text": "No"}), chunk({"text": "thing."}, finishReason="STOP")]},
)


def steps(done):
    """A trace in short: `model_response` with `~` for a chunk, and what else happened."""
    return [
        e["at"] + ("~" if (e.get("response") or e.get("event") or {}).get("partial") else "")
        for e in done["trace"]
        if e["at"] != "turn"
    ]


def fakes():
    return [t for t in threading.enumerate() if t.name == "fake Gemini"]


def test_what_goes_in_and_what_comes_out_is_logged():
    done = trace(made(*ASKS_AND_SAYS))
    assert steps(done) == [
        *("model_request", "model_response~", "event~", "model_response", "event", "tool", "event"),
        *("model_request", "model_response~", "event~", "model_response~", "event~", "model_response", "event"),
    ]
    request, response = done["trace"][1:3]
    assert (request["agent"], request["model"], request["stream"]) == ("clerk", "gemini-x", True)
    assert response["response"]["content"]["parts"] == [LOOK]  # before the Flow gave it an id
    assert fakes() == []


def test_without_streaming_the_first_chunk_is_the_reply():
    done = trace(made(*ASKS_AND_SAYS, streaming_mode="none"))
    assert steps(done)[-3:] == ["model_request", "model_response", "event"]
    assert done["trace"][-1]["event"]["content"]["parts"] == [{"text": "No"}]


@pytest.mark.parametrize("streaming_mode", ["none", "sse"])
@pytest.mark.parametrize(
    "calls, note",
    [
        ([{"status": 429, "error": "too fast"}], "too fast"),
        ([], "has replies for 0 requests; this is request 1"),
    ],
)
def test_an_error_of_the_api_ends_the_turn(calls, note, streaming_mode):
    done = trace(made(*calls, streaming_mode=streaming_mode))
    assert steps(done) == ["model_request", "error"]
    assert done["trace"][-1]["where"] == "run"
    assert note in done["trace"][-1]["note"]
    assert fakes() == []


def test_a_reader_who_leaves_between_two_chunks_leaves_no_server_behind():
    done = trace(made(ASKS_AND_SAYS[1], stop_after=1))
    assert steps(done) == ["model_request", "model_response~", "event~"]
    assert fakes() == []


def test_the_same_scenario_gives_the_same_trace():
    assert trace(made(*ASKS_AND_SAYS)) == trace(made(*ASKS_AND_SAYS))


def test_the_double_does_not_tell_its_backend():
    model = build(made(*ASKS_AND_SAYS)).runner.agent.model
    assert not hasattr(model, "backend")


def test_a_gemini_model_is_given_no_finished_responses():
    with pytest.raises(BadData, match=r"agent.model.calls\[1\].responses"):
        build(made({"chunks": []}, {"responses": []}))


def test_it_can_be_stepped_and_left_in_the_middle_of_a_stream():
    dbg = step(made(*ASKS_AND_SAYS))
    dbg.until(at(seam="model", phase="after"))
    assert dbg.response.partial
    assert len(fakes()) == 1  # the stream is open, so the server is there
    dbg.close()
    assert fakes() == []


def test_stepped_to_its_end_it_says_the_same():
    dbg = step(made(*ASKS_AND_SAYS))
    dbg.until(at(seam="model", phase="after"))
    dbg.resume()
    assert [e.author for e in dbg.events] == ["user", "clerk", "clerk", "clerk"]
    assert dbg.events[-1].content.parts[0].text == "Nothing."
    assert fakes() == []
