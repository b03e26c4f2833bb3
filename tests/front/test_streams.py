"""The two adapters: however an answer is cut, the safe one gives the same; the faulty one does not (seed 003)."""

from __future__ import annotations

from typing import Any

import pytest
from google.genai import types
from hypothesis import given, settings
from hypothesis import strategies as st

import adknb
from adknb import LlmAgent, Runner, ScriptedModel, SequentialAgent, at
from adknb.engine.context import RunConfig
from adknb.engine.event_json import to_json
from adknb.engine.model import LLM, LLMRequest
from adknb.engine.platform import counted
from adknb.engine.response import LLMResponse
from adknb.scenarios import DRAW, drawing_line, faulty_stream, safe_stream, scenario, trace

SSE = RunConfig("sse")


def two_agents(model: Any) -> tuple[list[Any], dict[str, Any], list[Any]]:
    """A writer behind this model, then a reader of its key: stored events, state, and the reader's request."""
    asked: list[Any] = []

    def reads(request: LLMRequest) -> str:
        asked.append([*to_json(request.contents), to_json(request.config.system_instruction)])
        return "read"

    writer = LlmAgent("writer", model=model, output_key="draft")
    reader = LlmAgent("reader", model=reads, instruction="Read this: {draft?}")
    runner = Runner(SequentialAgent("line", sub_agents=[writer, reader]), platform=counted())
    list(runner.run("write", run_config=SSE))
    session = runner.session_service.get("adknb", "user", "session-1")
    final = [to_json(e.content) for e in session.events if e.author == "writer"]
    return final, session.state, asked


def cut(text: str, cuts: list[int]) -> list[str]:
    places = sorted({n % (len(text) + 1) for n in cuts})
    return [text[a:b] for a, b in zip([0, *places], [*places, len(text)], strict=True)]


CUTS = st.lists(st.integers(0, 200), max_size=6)
ANSWERS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=30).filter(lambda t: t.strip())


@settings(max_examples=60, deadline=None)
@given(ANSWERS, CUTS)
def test_however_an_answer_is_cut_the_safe_adapter_gives_the_same_event_state_and_next_prompt(
    text: str, cuts: list[int]
) -> None:
    whole = two_agents(safe_stream(ScriptedModel([[text]])))
    assert two_agents(safe_stream(ScriptedModel([cut(text, cuts)]))) == whole
    assert whole[:2] == ([{"role": "model", "parts": [{"text": text}]}], {"draft": text})
    assert whole[2] == two_agents(ScriptedModel([text]))[2]  # and the same as without any stream


@settings(max_examples=60, deadline=None)
@given(ANSWERS, CUTS)
def test_the_faulty_adapter_differs_whenever_there_is_more_than_one_chunk(text: str, cuts: list[int]) -> None:
    chunks = [c for c in cut(text, cuts) if c]
    stored, state, asked = two_agents(faulty_stream(ScriptedModel([chunks])))
    safe = two_agents(safe_stream(ScriptedModel([chunks])))
    if len(chunks) == 1:
        assert (stored, state) == safe[:2]
        return
    assert stored != safe[0] and len(stored) == len(chunks)  # each fragment is a turn of its own
    assert asked != safe[2]
    assert state["draft"] == chunks[-1] != text  # the last one stays; nothing joins them


PIECES = st.lists(st.tuples(st.booleans(), st.text("ab ", min_size=1, max_size=5)), min_size=1, max_size=4)


@settings(max_examples=60, deadline=None)
@given(PIECES, st.data())
def test_thoughts_and_calls_are_put_together_too(pieces: list[tuple[bool, str]], data: st.DataObject) -> None:
    """Text, thoughts and a whole call behind them: one event, the call in it once, run once."""
    ran = []

    def look(where: str) -> str:
        """Looks."""
        ran.append(where)
        return "seen"

    def parts(cuts: bool) -> list[Any]:
        chunks = []
        for is_thought, text in pieces:
            for piece in cut(text, data.draw(CUTS)) if cuts else [text]:
                chunks.append(types.Content(role="model", parts=[types.Part(text=piece, thought=is_thought or None)]))
        call = types.FunctionCall(id="c", name="look", args={"where": "here"})
        return [*chunks, types.Content(role="model", parts=[types.Part(function_call=call)])]

    told = []
    for cuts in (False, True):
        agent = LlmAgent("a", model=safe_stream(ScriptedModel([parts(cuts), "done"])), tools=[look])
        runner = Runner(agent, platform=counted())
        events = list(runner.run("x", run_config=SSE))
        assert not any(p.function_call for e in events if e.partial for p in e.content.parts)  # held until it is whole
        stored = runner.session_service.get("adknb", "user", "session-1").events
        told.append([to_json(e.content) for e in stored])
    assert told[0] == told[1]
    assert ran == ["here", "here"]


def call_pieces(*pieces: dict[str, Any]) -> list[Any]:
    return [
        LLMResponse(content=types.Content(role="model", parts=[types.Part(function_call=types.FunctionCall(**p))]))
        for p in pieces
    ]


def test_a_call_in_pieces_is_whole_behind_the_safe_adapter_and_run_too_early_behind_the_faulty_one() -> None:
    def write(title: str = "nothing") -> str:
        """Writes."""
        ran.append(title)
        return "ok"

    pieces = call_pieces(
        {"name": "write", "id": "w", "will_continue": True},
        {"partial_args": [types.PartialArg(json_path="$.title", string_value="Hel")], "will_continue": True},
        {"partial_args": [types.PartialArg(json_path="$.title", string_value="lo")]},
    )
    for adapter, expected in ((safe_stream, ["Hello"]), (faulty_stream, ["nothing"])):
        ran: list[str] = []
        list(
            Runner(LlmAgent("a", model=adapter(ScriptedModel([pieces, "done"])), tools=[write])).run(
                "x", run_config=SSE
            )
        )
        assert ran == expected, adapter.__name__


# ------------------------------------------------------------------------------------------------- chunk by chunk


def responses(adapter: Any, *items: Any, stream: bool = True) -> list[tuple[str, bool, bool]]:
    """What an adapter hands on of one call: text, partial, turn_complete."""
    model = adapter(ScriptedModel([list(items)]))
    return [
        (
            "".join(p.text or "!" for p in r.content.parts or []) if r.content else r.error_code,
            r.partial,
            r.turn_complete,
        )
        for r in model.generate_content(LLMRequest(), stream)
    ]


def marked(text: str, **fields: Any) -> LLMResponse:
    content = types.Content(role="model", parts=[types.Part(text=text)])
    return LLMResponse(content=content, partial=True, **fields)


def whole(text: str) -> LLMResponse:
    return LLMResponse(content=types.Content(role="model", parts=[types.Part(text=text)]))


@pytest.mark.parametrize(
    "items, stream, safe, faulty",
    [
        (["#", " need", "s"], True,
         [("#", True, False), (" need", True, False), ("s", True, False), ("# needs", False, True)],
         [("#", False, False), (" need", False, False), ("s", False, False)]),
        (["#", " needs"], False,  # chunks are chunks, whatever was asked for
         [("#", True, False), (" needs", True, False), ("# needs", False, True)], [("#", False, False), (" needs", False, False)]),
        (["one"], True, [("one", True, False), ("one", False, True)], [("one", False, False)]),
        (["one"], False, [("one", False, False)], [("one", False, False)]),
        ([marked("a"), marked("b", turn_complete=True, finish_reason="STOP"), whole("ab")], True,  # the model's own aggregate is left out
         [("a", True, False), ("b", True, False), ("ab", False, True)], [("a", False, False), ("b", False, True)]),
        ([], True, [], []),
        (["", "a"], True, [("a", True, False), ("a", False, True)], [("!", False, False), ("a", False, False)]),
        ([LLMResponse(error_code="SAFETY", finish_reason="SAFETY")], True, [("", False, True)], [("SAFETY", False, False)]),
    ],
)  # fmt: skip
def test_which_chunks_are_marked_how(items: Any, stream: bool, safe: Any, faulty: Any) -> None:
    assert responses(safe_stream, *items, stream=stream) == safe
    assert responses(faulty_stream, *items, stream=stream) == faulty


def test_a_refusal_is_told_with_its_code_at_the_end() -> None:
    model = safe_stream(ScriptedModel([[marked("Well, "), LLMResponse(error_code="SAFETY", finish_reason="SAFETY")]]))
    *_, last = model.generate_content(LLMRequest(), True)
    assert (last.error_code, last.finish_reason, last.partial, last.content.parts[0].text) == (
        "SAFETY",
        "SAFETY",
        False,
        "Well, ",
    )


def test_a_call_that_only_the_models_own_aggregate_holds_is_not_lost() -> None:
    """A safe stream behind a safe stream, or any model that holds calls until they are whole."""
    call = types.Content(
        role="model",
        parts=[types.Part(text="Look: "), types.Part(function_call=types.FunctionCall(name="look", args={}))],
    )

    def look() -> str:
        """Looks."""
        return "seen"

    for adapter in (safe_stream, faulty_stream):
        model = adapter(safe_stream(ScriptedModel([[call], "done"])))
        events = list(Runner(LlmAgent("a", model=model, tools=[look])).run("x", run_config=SSE))
        assert sum(bool(p.function_response) for e in events for p in e.content.parts) == 1, adapter.__name__
    once = two_agents(safe_stream(ScriptedModel([["a ", "b"]])))
    assert two_agents(safe_stream(safe_stream(ScriptedModel([["a ", "b"]])))) == once


@pytest.mark.parametrize("adapter, before", [(safe_stream, [True]), (faulty_stream, [False])])
def test_an_error_in_mid_stream_is_passed_on_and_nothing_whole_follows(adapter: Any, before: list[bool]) -> None:
    model = adapter(ScriptedModel([["#", RuntimeError("down")]]))
    told: list[LLMResponse] = []
    with pytest.raises(RuntimeError, match="down"):
        told.extend(model.generate_content(LLMRequest(), True))
    assert [r.partial for r in told] == before


def test_a_reader_who_leaves_in_the_middle_closes_the_models_stream() -> None:
    left = []

    class Model:
        name = "m"

        def generate_content(self, request: Any, stream: bool) -> Any:
            try:
                yield "a"
                yield "b"
            finally:
                left.append(True)

    stream = safe_stream(Model()).generate_content(LLMRequest(), True)
    assert next(stream).partial
    stream.close()
    assert left == [True]


# ---------------------------------------------------------------------------------------------- which models, and stepping


async def speaks(request: LLMRequest) -> Any:
    for word in ("a", "b"):
        yield word


@pytest.mark.parametrize("model", [lambda request: ["a", "b"], speaks, ScriptedModel([["a", "b"]])])
def test_any_model_may_stand_behind(model: Any) -> None:
    adapted = safe_stream(model)
    assert isinstance(adapted, LLM)
    [*chunks, last] = Runner(LlmAgent("a", model=adapted)).run("x", run_config=SSE)
    assert ([e.partial for e in chunks], last.content.parts[0].text) == ([True, True], "ab")


def test_what_is_no_model_is_refused() -> None:
    with pytest.raises(TypeError, match="a model has a name and generate_content"):
        safe_stream("gemini-2.5-flash")  # type: ignore[arg-type]


def test_the_backend_and_the_name_are_the_models() -> None:
    class Model(ScriptedModel):
        backend = "vertex"

    assert (safe_stream(Model([], name="m")).backend, safe_stream(Model([], name="m")).name) == ("vertex", "m")
    assert not hasattr(safe_stream(lambda r: "x"), "backend")
    assert not hasattr(safe_stream(lambda r: "x"), "uses")


@pytest.mark.parametrize("adapter", [safe_stream, faulty_stream])
def test_a_run_behind_an_adapter_can_be_rewound_forked_and_replayed(adapter: Any, tmp_path: Any) -> None:
    agent = LlmAgent("a", model=adapter(ScriptedModel([["a", "b"], ["c", "d"]])), output_key="k")
    dbg = adknb.step(agent, ["one", "two"])
    dbg.until(at(seam="model", phase="after"))
    fork = dbg.fork()
    dbg.resume()
    first = [e.to_json()["content"] for e in dbg.events]
    assert [e.to_json()["content"] for e in fork.resume().events] == first
    dbg.restart().resume()
    assert [e.to_json()["content"] for e in dbg.events] == first
    dbg.save(tmp_path / "run.json")
    again = adknb.replay(tmp_path / "run.json", agent=agent, offline=True)
    assert [e.to_json()["content"] for e in again.events] == first


# ------------------------------------------------------------------------------------------------- the line of seed 003


@pytest.mark.parametrize("adapter, name", [(faulty_stream, "11a-line-faulty"), (safe_stream, "11b-line-safe")])
def test_the_line_of_agents_does_what_its_scenario_does(adapter: Any, name: str) -> None:
    runner = Runner(drawing_line(adapter))
    events = list(runner.run(DRAW, run_config=SSE))
    session = runner.session_service.get("adknb", "user", "session-1")
    done = trace(scenario(name))
    told = [e["event"] for e in done["trace"] if e["at"] == "event"]
    assert [(e.author, to_json(e.content), e.partial) for e in events] == [
        (e["author"], e["content"], e.get("partial", False)) for e in told
    ]
    assert [to_json(e.content) for e in session.events] == [e["content"] for e in done["session"]["events"]]
    assert session.state == done["session"]["state"]


def test_the_drawer_is_told_a_fragment_behind_the_faulty_adapter_and_the_analysis_behind_the_safe_one() -> None:
    told = []
    for adapter in (faulty_stream, safe_stream):
        dbg = adknb.step(drawing_line(adapter), DRAW).until(at("instructions", agent="drawAgent"))
        told.append(dbg.request.config.system_instruction.parts[0].text.splitlines()[0])
    assert told == ["输入需求来自：：登录流程，三步", "输入需求来自：# 需求：登录流程，三步"]
