"""Compaction in a run: when it is tried, what is stored, who is told, and what a failure does (spec/compaction.md)."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from google.genai import types

from adknb import LlmAgent, ParallelAgent, Plugin, Raise, Return, Runner, ScriptedModel, SequentialAgent
from adknb.engine.compaction import CompactionConfig, CompactionFailed, LLMSummarizer
from adknb.engine.context import InvocationContext
from adknb.engine.errors import SetupRefused
from adknb.engine.event import Event, EventCompaction
from adknb.engine.platform import counted
from adknb.engine.processors import REQUEST_PROCESSORS, compaction
from adknb.engine.processors.compaction import characters, estimate_tokens, prompt_tokens
from adknb.engine.response import LLMResponse
from adknb.engine.session import InMemorySessionService, Session
from adknb.engine.stops import Phase, Seam, Stop
from tests.engine.compaction_notation import history, names

Usage = types.GenerateContentResponseUsageMetadata


def said(text: str, tokens: int = 0, call_id: str = "") -> LLMResponse:
    """A model's answer, or its call of `look`, with the size of the prompt that it has read."""
    part = types.Part(text=text)
    if call_id:
        part = types.Part(function_call=types.FunctionCall(id=call_id, name="look", args={}))
    usage = Usage(prompt_token_count=tokens) if tokens else None
    return LLMResponse(content=types.Content(role="model", parts=[part]), usage_metadata=usage)


def look() -> dict[str, Any]:
    """Looks."""
    return {"seen": True}


class Sums:
    """A summarizer that gives the next of its answers (the last one for ever) and keeps what it was handed."""

    def __init__(self, *answers: Any) -> None:
        self.answers, self.handed = list(answers) or ["sum"], []

    def summarize_events(self, events: Sequence[Event]) -> Any:
        self.handed.append(list(events))
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer(events) if callable(answer) else answer

    @property
    def texts(self) -> list[list[str]]:
        """What it was handed, each time, as texts."""
        return [[text_of(event.content) for event in events] for events in self.handed]


def text_of(content: types.Content | None) -> str:
    if content is None:
        return "-"
    return "+".join(
        p.text or (f"F({p.function_call.id})" if p.function_call else f"R({p.function_response.id})")  # type: ignore[union-attr]
        for p in content.parts or ()
    )


class Conversation:
    """A session with compaction: each turn's question is `q0`, `q1`, …"""

    def __init__(
        self,
        answers: Any,
        sums: Any,
        threshold: int = 0,
        retain: int = 0,
        interval: int = 0,
        overlap: int = 0,
        **more: Any,
    ) -> None:
        self.agent = LlmAgent("me", model=ScriptedModel(answers), tools=[look], **more.pop("agent", {}))
        self.sums = sums
        config = CompactionConfig(threshold, retain, interval, overlap, summarizer=sums)
        self.runner = Runner(self.agent, platform=counted(), compaction=config, **more)
        self.turns = 0

    def turn(self, answer: Callable[[Stop], None] | None = None) -> list[Event]:
        """One more turn; `answer` may answer at each stop."""
        got = []
        for item in self.iter():
            if isinstance(item, Event):
                got.append(item)
            elif answer is not None:
                answer(item)
        return got

    def iter(self) -> Any:
        self.turns += 1
        return self.runner.iter(f"q{self.turns - 1}")

    @property
    def events(self) -> list[Event]:
        return self.runner.session_service.get("adknb", "user", "session-1").events

    @property
    def records(self) -> list[EventCompaction]:
        return [e.actions.compaction for e in self.events if e.actions.compaction is not None]

    def prompt(self, turn: Callable[[], Any]) -> list[str]:
        """The contents of the last request of a turn, as texts."""
        requests = []
        for item in turn():
            if isinstance(item, Stop) and item.seam is Seam.MODEL and item.phase is Phase.BEFORE:
                requests.append([text_of(content) for content in item.holds["request"].contents])
        return requests[-1]


# ------------------------------------------------------------------------------------------------------- configuration


@pytest.mark.parametrize(
    "config, complaint",
    [
        ({"compaction_interval": -1}, "compaction_interval is -1"),
        ({"overlap_size": -1}, "overlap_size is -1"),
        ({"token_threshold": -2, "event_retention_size": 1}, "token_threshold is -2"),
        ({"event_retention_size": -2}, "event_retention_size is -2"),
        ({"overlap_size": 1}, "overlap_size is 1 but compaction_interval is 0"),
        ({"overlap_size": 1, "token_threshold": 1}, "overlap_size is 1 but"),  # the first of two
        ({"token_threshold": 1}, "token_threshold is 1 but event_retention_size is 0"),
        ({"event_retention_size": 1}, "event_retention_size is 1 but token_threshold is 0"),
        ({"compaction_interval": 1, "event_retention_size": 1}, "event_retention_size is 1 but"),
        ({}, "never runs"),
        ({"compaction_interval": 1, "summarizer": "me"}, "not 'me'"),
    ],
)
def test_a_runner_refuses_what_cannot_be(config: dict[str, Any], complaint: str) -> None:
    agent = LlmAgent("me", model=ScriptedModel([]))
    with pytest.raises(SetupRefused, match=complaint):
        Runner(agent, compaction=CompactionConfig(**config))


def test_both_ways_may_be_on_and_the_callers_configuration_is_left_alone() -> None:
    model = ScriptedModel([])
    settings = types.GenerateContentConfig(temperature=0.1)
    given = CompactionConfig(9, 1, 2, 1)
    runner = Runner(LlmAgent("me", model=model, generate_content_config=settings), compaction=given)
    assert given == CompactionConfig(9, 1, 2, 1)
    made = runner.compaction.summarizer if runner.compaction else None
    assert isinstance(made, LLMSummarizer)
    assert (made.model, made.timeout, made.generate_content_config) == (model, 60, settings)


@pytest.mark.parametrize(
    "agent, complaint",
    [
        (LlmAgent("me"), "'me' has no model"),
        (SequentialAgent("line", sub_agents=[LlmAgent("one")]), "'line' is no LLM agent"),
    ],
)
def test_without_summarizer_the_root_agents_model_is_needed(agent: Any, complaint: str) -> None:
    with pytest.raises(SetupRefused, match=complaint):
        Runner(agent, compaction=CompactionConfig(9, 1))
    assert Runner(agent, compaction=CompactionConfig(9, 1, summarizer=Sums())).compaction


def test_without_configuration_records_are_nothing() -> None:
    runner = Runner(LlmAgent("me", model=ScriptedModel(["a0"])))
    assert runner.compaction is None
    assert [e.author for e in runner.run("q0")] == ["me"]


# -------------------------------------------------------------------------------------------------------------- tokens


def context(events: list[Event], branch: str = "", scope: str = "") -> InvocationContext:
    session = Session("s", "adknb", "user", events=events)
    agent = LlmAgent("me", model=ScriptedModel([]))
    service = InMemorySessionService()
    return InvocationContext(agent, session, service, counted(), branch=branch, isolation_scope=scope)


def counting(line: str, **tokens: int) -> list[Event]:
    """A history whose events named so carry the size of a prompt."""
    events = history(line)
    for event in events:
        if event.id in tokens:
            event.usage_metadata = Usage(prompt_token_count=tokens[event.id])
    return events


@pytest.mark.parametrize(
    "events, tokens",
    [
        ([], None),
        (history("."), None),  # an estimate of 0 says nothing
        (counting("u1 a1", a1=50), 50),
        (counting("u1 a1 a2", a1=50, a2=7), 7),  # the newest
        (counting("u1 a1 a2", a1=50, a2=0), 50),  # + "a2", two characters
        (counting(f"u1 a1 u{'x' * 40}", a1=50), 50 + 41 // 4),
        (counting(f"u1 a1~other u{'x' * 9}", a1=50), 12 // 4),
        (counting("u1 a1 <1..1>@3", a1=50), 50 + len("sum <1..1>") // 4),  # records are applied in what follows
        (history(f"u{'x' * 19} a{'y' * 19}"), 10),
        (history(f"u{'x' * 18} a{'y' * 19}"), 9),
    ],
)
def test_tokens_are_the_models_last_count_and_an_estimate_of_what_has_come_since(
    events: list[Event], tokens: int | None
) -> None:
    assert prompt_tokens(context(events)) == tokens


@pytest.mark.parametrize(
    "branch, tokens", [("", 50), ("root", 50), ("root.a", 50), ("ro", None), ("root.a.b", 50), ("rooted", None)]
)
def test_only_readings_that_the_agent_sees_count(branch: str, tokens: int | None) -> None:
    assert prompt_tokens(context(counting("u1 a1#root", a1=50), branch)) == tokens


def test_a_records_usage_and_a_total_alone_are_no_reading() -> None:
    events = history("u1 a1 <1..1>")
    events[2].usage_metadata = Usage(prompt_token_count=999)
    events[1].usage_metadata = Usage(total_token_count=999)
    assert prompt_tokens(context(events)) == (len("sum <1..1>") + len("a1")) // 4


def test_a_response_whose_call_stands_before_the_reading_counts_nothing_and_nobody_is_warned(
    caplog: pytest.LogCaptureFixture,
) -> None:
    events = counting("u1 F(x) R(x)", **{"F(x)": 50})
    respond(events[2], {"result": "x" * 2000})
    assert prompt_tokens(context(events)) == 50
    assert caplog.records == []
    events = counting("u1 a1 F(x) R(x)", a1=50)
    respond(events[3], {"result": "x" * 2000})
    assert prompt_tokens(context(events)) == 50 + (len("tool") + len("tool") + 2000 + len('{"result":""}')) // 4


def respond(event: Event, response: dict[str, Any]) -> None:
    assert event.content is not None
    assert event.content.parts is not None
    found = event.content.parts[0].function_response
    assert found is not None
    found.response = response


@pytest.mark.parametrize(
    "part, count",
    [
        (types.Part(text="häß"), 3),
        (types.Part(text="hm", thought=True), 2),
        (types.Part(function_call=types.FunctionCall(name="look", args={})), 4),
        (
            types.Part(function_call=types.FunctionCall(name="look", args={"b": 1, "a": "é"})),
            4 + len('{"a":"é","b":1}'),
        ),
        (types.Part(function_call=types.FunctionCall(args={"a": "<"})), len('{"a":"\\u003c"}')),
        (types.Part(function_call=types.FunctionCall(name="look", args={"a": float("nan")})), 4),  # has no JSON
        (
            types.Part(function_response=types.FunctionResponse(name="look", response={"r": [1.0]})),
            4 + len('{"r":[1]}'),
        ),
        (types.Part(inline_data=types.Blob(data=b"x" * 99, mime_type="image/png")), 0),
    ],
)
def test_characters_are_those_of_texts_names_and_payloads(part: types.Part, count: int) -> None:
    assert characters([types.Content(role="model", parts=[part])]) == count


def test_a_history_that_makes_no_contents_is_estimated_as_nothing() -> None:
    events = history("u1 F(x)~other R(x)")  # ends with an answer to a call that is not visible
    assert estimate_tokens(context(events), events) == 0


def test_an_estimate_sees_all_of_history_even_if_the_agent_does_not() -> None:
    ctx = context(history(f"u{'x' * 19} a{'y' * 19} u"))
    ctx.agent.include_contents = "none"  # type: ignore[attr-defined]
    assert prompt_tokens(ctx) == 41 // 4


# ------------------------------------------------------------------------------------------------------ tail retention


def test_the_worked_turn_of_the_specification() -> None:
    answers = [
        said("a0", 5),
        said("", 5, "1"), said("", 5, "2"), said("", 50, "3"), said("end", 3),
        said("a2", 50),
        said("a3", 5),
    ]  # fmt: skip
    talk = Conversation(answers, Sums(("sum one", Usage(prompt_token_count=77)), "sum two"), threshold=30, retain=1)
    talk.turn()
    assert talk.prompt(talk.iter) == ["sum one", "q1", "F(3)", "R(3)"]
    assert talk.sums.texts == [["q0", "a0", "F(1)", "R(1)", "F(2)", "R(2)"]]
    events = talk.events
    q0, q1, r2 = events[0], events[2], events[6]
    (first,) = talk.records
    assert (first.start_timestamp, first.end_timestamp) == (q0.timestamp, r2.timestamp)
    assert first.excluded == [(q1.invocation_id, q1.timestamp)]

    stored = next(e for e in events if e.actions.compaction)
    assert (stored.author, stored.content, stored.branch, stored.is_final_response()) == ("user", None, "", False)
    assert stored.usage_metadata == Usage(prompt_token_count=77)
    assert stored.invocation_id not in {e.invocation_id for e in events if e is not stored}
    assert stored.timestamp > r2.timestamp
    assert first.compacted_content == types.Content(role="model", parts=[types.Part(text="sum one")])

    talk.turn()  # below the threshold
    assert len(talk.records) == 1
    assert talk.prompt(talk.iter) == ["sum two", "a2", "q3"]
    assert talk.sums.texts[1] == ["sum one", "q1", "F(3)", "R(3)", "end", "q2"]
    assert [e.author for e in talk.sums.handed[1]][:2] == ["model", "user"]
    second = talk.records[1]
    assert (second.start_timestamp, second.excluded) == (q0.timestamp, [])


@pytest.mark.parametrize("tokens, asked", [(29, 0), (30, 1), (31, 1)])
def test_it_fires_at_the_threshold(tokens: int, asked: int) -> None:
    talk = Conversation([said("a0", tokens), said("a1", 5)], Sums(), threshold=30, retain=1)
    talk.turn()
    talk.turn()
    assert len(talk.sums.handed) == asked


def calls_then(end: str, *tokens: int) -> list[LLMResponse]:
    """Calls of a tool that report these sizes, then an answer."""
    return [said("", size, str(n)) for n, size in enumerate(tokens)] + [said(end, 1)]


@pytest.mark.parametrize(
    "answers, tokens, asked, stored",
    [
        (["sum"], [50, 50, 50], 1, 1),  # a stored record closes the gate …
        (["sum"], [50, 50, 5, 50], 2, 2),  # … until the prompt is below the threshold
        ([RuntimeError("down")], [50, 5, 50], 1, 0),  # a failure closes it for the turn
        ([None], [50, 5, 50], 1, 0),  # a refusal too
        ([""], [50, 5, 50], 1, 0),  # and a summary of nothing
        ([RuntimeError("down"), "sum"], [50, 5, 50], 1, 0),
    ],
)
def test_at_most_one_useful_attempt_is_made(answers: list[Any], tokens: list[int], asked: int, stored: int) -> None:
    talk = Conversation(
        [said("a0", 5), said("b0", 5), *calls_then("end", *tokens)], Sums(*answers), threshold=30, retain=1
    )
    talk.turn()
    talk.turn()
    assert talk.turn()[-1].content is not None
    assert (len(talk.sums.handed), len(talk.records)) == (asked, stored)


def test_the_next_invocation_starts_with_an_open_gate_and_a_stale_reading() -> None:
    talk = Conversation([said("a0", 50), "a1", "a2"], Sums(RuntimeError("down"), "sum"), threshold=30, retain=1)
    for _ in range(3):
        talk.turn()
    assert (len(talk.sums.handed), len(talk.records)) == (2, 1)


def test_without_a_window_the_gate_stays_open() -> None:
    talk = Conversation(calls_then("end", 50, 50, 50), Sums(), threshold=30, retain=3)
    talk.turn()
    assert talk.sums.texts == [["F(0)", "R(0)"]]  # with the third reading: the first without the question


@pytest.mark.parametrize(
    "part",
    [
        types.Part(text="hm", thought=True),
        types.Part(function_call=types.FunctionCall(id="x", name="look")),
        types.Part(text="and a call", function_call=types.FunctionCall(id="x", name="look")),
        types.Part(text=""),
        types.Part(text="and a file", file_data=types.FileData(file_uri="gs://x")),
    ],
)
def test_only_what_can_be_read_is_kept_of_a_summary(part: types.Part) -> None:
    signed = types.Part(text="sum", thought_signature=b"s")
    summary = types.Content(role="user", parts=[part, signed])
    talk = Conversation([said("a0", 50), "a1"], Sums(summary), threshold=30, retain=1)
    talk.turn()
    talk.turn()
    assert [r.compacted_content for r in talk.records] == [types.Content(role="model", parts=[signed])]
    talk = Conversation([said("a0", 50), "a1"], Sums(types.Content(parts=[part])), threshold=30, retain=1)
    talk.turn()
    talk.turn()
    assert talk.records == []


def test_the_summarizer_is_handed_copies_of_what_was_said_and_no_more() -> None:
    def scribbles(events: Sequence[Event]) -> str:
        for event in events:
            event.author = "nobody"
            if event.content is not None:
                event.content.parts = []
        return "sum"

    talk = Conversation([said("a0", 50), "a1"], scribbles, threshold=30, retain=1)
    talk.runner.session_service.create("adknb", "user", "session-1")
    session = talk.runner.session_service.get("adknb", "user", "session-1")
    old = Event(id="e1", invocation_id="i1", author="other", timestamp=1, model_version="x")
    old.actions.state_delta["key"] = 1
    old.usage_metadata = Usage(prompt_token_count=3)
    talk.runner.session_service.append_event(session, old)
    seen: list[Event] = []
    talk.turn()
    talk.turn(lambda stop: seen.extend(stop.holds["events"]) if is_summarize(stop) and not seen else None)
    assert seen[0] == Event(id="e1", invocation_id="i1", author="nobody", timestamp=1)
    assert [text_of(e.content) for e in talk.events] == ["-", "q0", "a0", "q1", "-", "a1"]
    assert [e.author for e in talk.events] == ["other", "user", "me", "user", "user", "me"]


def is_summarize(stop: Stop, phase: Phase = Phase.BEFORE) -> bool:
    return stop.seam is Seam.SUMMARIZE and stop.phase is phase


@pytest.mark.parametrize(
    "answer, records, prompt",
    [
        (Return("mine"), 1, ["mine", "a0", "q1"]),
        (Return((types.Content(parts=[types.Part(text="mine")]), None)), 1, ["mine", "a0", "q1"]),
        (Return(None), 0, ["q0", "a0", "q1"]),
        (Return(7), 0, ["q0", "a0", "q1"]),
        (Raise(RuntimeError("no")), 0, ["q0", "a0", "q1"]),
    ],
)
def test_a_reader_may_answer_for_the_summarizer_or_let_it_fail(answer: Any, records: int, prompt: list[str]) -> None:
    talk = Conversation([said("a0", 50), "a1"], Sums(), threshold=30, retain=1)
    talk.turn()
    sent: list[list[str]] = []

    def at(stop: Stop) -> None:
        if is_summarize(stop):
            assert (stop.name, stop.agent, stop.step) == ("summarize", "me", 1)
            stop.answer = answer
        if stop.seam is Seam.MODEL and stop.phase is Phase.BEFORE:
            sent.append([text_of(content) for content in stop.holds["request"].contents])

    assert [text_of(e.content) for e in talk.turn(at)] == ["a1"]
    assert (sent, len(talk.records), talk.sums.handed) == ([prompt], records, [])


@pytest.mark.parametrize("left", ["fails", "empties"])
def test_a_record_that_cannot_be_stored_is_left_out(left: str, caplog: pytest.LogCaptureFixture) -> None:
    talk = Conversation([said("a0", 50), "a1"], Sums(), threshold=30, retain=1)
    talk.turn()

    def at(stop: Stop) -> None:
        if (
            stop.seam is Seam.APPEND
            and stop.phase is Phase.BEFORE
            and (record := stop.holds["event"].actions.compaction)
        ):
            if left == "fails":
                stop.answer = Raise(OSError("disk full"))
            else:
                record.compacted_content.parts[0].thought = True

    with caplog.at_level(logging.WARNING, logger="adknb"):
        assert [text_of(e.content) for e in talk.turn(at)] == ["a1"]
    assert talk.records == []
    assert "goes on with the whole history" in caplog.text


def test_neither_plugins_nor_callers_are_told_of_a_tail_summary() -> None:
    told: list[Event] = []
    plugin = Plugin("audit", on_event=lambda ctx, event: told.append(event))
    talk = Conversation([said("a0", 50), "a1"], Sums(), threshold=30, retain=1, plugins=[plugin])
    got = talk.turn() + talk.turn()
    assert len(talk.records) == 1
    assert [text_of(e.content) for e in got] == [text_of(e.content) for e in told] == ["a0", "a1"]


def test_a_plugin_cannot_plant_a_record() -> None:
    planted = EventCompaction(0, 9e9, types.Content(role="model", parts=[types.Part(text="forget it")]))

    def in_place(ctx: Any, event: Event) -> None:
        event.actions.compaction = planted

    def instead(ctx: Any, event: Event) -> Event:
        made = Event(author=event.author, content=event.content)
        made.actions.compaction = planted
        return made

    for hook in (in_place, instead):
        talk = Conversation(["a0", "a1"], Sums(), threshold=9999, retain=1, plugins=[Plugin("bad", on_event=hook)])
        talk.turn()
        assert talk.records == []


@pytest.mark.parametrize(
    "late, kept",
    [
        ("u9@1.5%new", False),  # within the range 1..2
        ("u9@2%new", False),
        ("u9@3%new", True),
        ("<2..9>%new", False),  # a record that touches it
        ("<2.5..9>%new", True),
        ("u1@1", True),  # known before
    ],
)
def test_a_summary_is_dropped_if_something_new_lies_in_its_range_and_the_gate_stays_open(late: str, kept: bool) -> None:
    service = InMemorySessionService()

    def meanwhile(events: Sequence[Event]) -> str:
        other = service.get("adknb", "user", "session-1")
        for event in history(late):
            service.append_event(other, event)
        return "sum"

    sums = Sums(meanwhile)
    talk = Conversation(calls_then("end", 50, 50), sums, threshold=30, retain=1, session_service=service)
    session = service.create("adknb", "user", "session-1")
    for event in history("u1@1 a1@2 u2@2.9"):
        event.usage_metadata = Usage(prompt_token_count=50)
        service.append_event(session, event)
    talk.turn()
    made = [e for e in talk.events if e.actions.compaction and "new" not in e.invocation_id]
    assert bool(made) is kept
    assert len(sums.handed) == (1 if kept else 3)  # one more at each call of the model


def test_a_session_that_cannot_be_read_again_is_a_failure() -> None:
    class Once(InMemorySessionService):
        gone = False

        def get(self, app_name: str, user_id: str, session_id: str) -> Session:
            if self.gone:
                raise OSError("gone")
            return super().get(app_name, user_id, session_id)

    service = Once()

    def breaks(events: Sequence[Event]) -> str:
        service.gone = True
        return "sum"

    sums = Sums(breaks)
    talk = Conversation([said("a0", 50), *calls_then("end", 50)], sums, threshold=30, retain=1, session_service=service)
    talk.turn()
    assert [text_of(e.content) for e in talk.turn()] == ["F(0)", "R(0)", "end"]
    service.gone = False
    assert (talk.records, len(sums.handed)) == ([], 1)


def test_a_summarizer_that_is_interrupted_ends_the_turn() -> None:
    def interrupted(events: Sequence[Event]) -> str:
        raise KeyboardInterrupt

    talk = Conversation([said("a0", 50), "a1"], interrupted, threshold=30, retain=1)
    talk.turn()
    with pytest.raises(KeyboardInterrupt):
        talk.turn()


def test_with_include_contents_none_the_question_drops_out() -> None:
    talk = Conversation([said("a0", 50), "a1"], Sums(), threshold=30, retain=1, agent={"include_contents": "none"})
    talk.turn()
    summary, nudge = talk.prompt(talk.iter)
    assert summary == "sum"
    assert nudge.startswith("Continue processing")


def test_behind_contents_a_summary_comes_too_late_for_this_request() -> None:
    at, swapped = REQUEST_PROCESSORS.index(compaction.compaction), list(REQUEST_PROCESSORS)
    swapped[at], swapped[at + 1] = swapped[at + 1], swapped[at]
    talk = Conversation(
        [said("a0", 50), "a1", "a2"], Sums(), threshold=30, retain=1, agent={"request_processors": swapped}
    )
    talk.turn()
    assert talk.prompt(talk.iter) == ["q0", "a0", "q1"]
    assert len(talk.records) == 1


def test_gates_are_apart_for_each_agent_and_branch() -> None:
    one, two = (LlmAgent(n, model=ScriptedModel([said(f"{n}0", 50), said(f"{n}1", 50)])) for n in ("one", "two"))
    sums = Sums()
    runner = Runner(
        ParallelAgent("both", sub_agents=[one, two]),
        platform=counted(),
        compaction=CompactionConfig(30, 1, summarizer=sums),
    )
    list(runner.run("q0"))
    list(runner.run("q1"))
    # the second agent's window is the rest of the first one's branch: what it has to pay for is not its own (14.2)
    assert sums.texts == [["q0"], ["one0"]]


# ------------------------------------------------------------------------------------------------------ sliding window


def test_every_so_many_turns_are_summed_up_behind_the_last_of_them() -> None:
    talk = Conversation([f"a{n}" for n in range(6)], Sums("sum one", "sum two"), interval=2)
    for _ in range(4):
        talk.turn()
    assert talk.sums.texts == [["q0", "a0", "q1", "a1"], ["q2", "a2", "q3", "a3"]]
    assert talk.prompt(talk.iter) == ["sum one", "sum two", "q4"]
    first, second = talk.records
    assert (first.start_timestamp, first.end_timestamp) == (talk.events[0].timestamp, talk.events[3].timestamp)
    assert (first.excluded, second.excluded) == ([], [])


def test_an_overlap_is_summed_up_twice() -> None:
    talk = Conversation([f"a{n}" for n in range(4)], Sums(), interval=2, overlap=1)
    for _ in range(4):
        talk.turn()
    assert talk.sums.texts == [["q0", "a0", "q1", "a1"], ["q1", "a1", "q2", "a2", "q3", "a3"]]


def test_plugins_see_the_record_and_callers_do_not() -> None:
    told: list[Event] = []
    plugin = Plugin(
        "audit", on_event=lambda ctx, event: told.append(event), after_run=lambda ctx: told.append(Event(id="end"))
    )
    talk = Conversation(["a0"], Sums(), interval=1, plugins=[plugin])
    assert [text_of(e.content) for e in talk.turn()] == ["a0"]
    assert [e.author for e in told] == ["me", "user", ""]  # before the turn's last hook
    assert told[1].actions.compaction == talk.records[0]


@pytest.mark.parametrize(
    "parts, kept",
    [
        ([types.Part(text="better"), types.Part(function_call=types.FunctionCall(name="look"))], "better"),
        ([types.Part(text="hm", thought=True)], None),
    ],
)
def test_a_plugin_may_put_another_summary_in_its_place(parts: list[types.Part], kept: str | None) -> None:
    def better(ctx: Any, event: Event) -> Event | None:
        if event.actions.compaction is None:
            return None
        old = event.actions.compaction
        made = Event(id="mine", author="user", invocation_id="mine", timestamp=event.timestamp)
        made.actions.compaction = EventCompaction(old.start_timestamp, old.end_timestamp, types.Content(parts=parts))
        return made

    talk = Conversation(["a0"], Sums(), interval=1, plugins=[Plugin("editor", on_event=better)])
    talk.turn()
    assert [text_of(r.compacted_content) for r in talk.records] == ([kept] if kept else [])


def test_a_failure_is_raised_behind_the_turn_and_the_window_is_tried_again() -> None:
    ends: list[str] = []
    plugin = Plugin("audit", after_run=lambda ctx: ends.append("end"))
    talk = Conversation(["a0", "a1"], Sums(RuntimeError("down"), "sum"), interval=1, plugins=[plugin])
    with pytest.raises(CompactionFailed, match="down"):
        talk.turn()
    assert [text_of(e.content) for e in talk.events] == ["q0", "a0"]
    assert ends == ["end"]
    talk.turn()
    assert talk.sums.texts == [["q0", "a0"], ["q0", "a0"]]
    assert len(talk.records) == 1


def test_no_window_behind_a_turn_that_failed() -> None:
    talk = Conversation([RuntimeError("model down")], Sums(), interval=1)
    with pytest.raises(RuntimeError, match="model down"):
        talk.turn()
    assert talk.sums.handed == []


@pytest.mark.parametrize("answer, records", [("sum", 1), (RuntimeError("down"), 0)])
def test_a_reader_who_leaves_early_is_no_obstacle(answer: Any, records: int, caplog: pytest.LogCaptureFixture) -> None:
    talk = Conversation(["a0"], Sums(answer), interval=1)
    items = talk.iter()
    for item in items:
        if isinstance(item, Event):
            break
    items.close()
    assert len(talk.records) == records
    assert ("down" in caplog.text) is (records == 0)


def test_who_leaves_at_the_summarizers_stop_is_not_summed_up_behind_his_back() -> None:
    talk = Conversation(["a0"], Sums(), interval=1)
    items = talk.iter()
    for item in items:
        if isinstance(item, Stop) and is_summarize(item):
            break
    items.close()
    assert (talk.sums.handed, talk.records) == ([], [])


def test_the_sliding_window_stands_down_when_the_tail_was_summed_up_in_this_turn() -> None:
    talk = Conversation([said("a0", 50), said("a1", 5)], Sums("tail", "slide"), threshold=30, retain=1, interval=2)
    talk.turn()
    talk.turn()
    assert [text_of(r.compacted_content) for r in talk.records] == ["tail"]


def test_an_interval_of_one_starves_tail_retention() -> None:
    talk = Conversation([said(f"a{n}", 50) for n in range(3)], Sums(), threshold=30, retain=1, interval=1)
    for _ in range(3):
        talk.turn()
    assert talk.sums.texts == [["q0", "a0"], ["q1", "a1"], ["q2", "a2"]]


def test_what_comes_in_while_plugins_look_at_it_drops_a_summary() -> None:
    service = InMemorySessionService()

    def slow(ctx: Any, event: Event) -> None:
        if event.actions.compaction is not None:
            late = history("u9%late")[0]
            late.timestamp = event.actions.compaction.start_timestamp
            service.append_event(service.get("adknb", "user", "session-1"), late)

    talk = Conversation(["a0"], Sums(), interval=1, session_service=service, plugins=[Plugin("slow", on_event=slow)])
    talk.turn()
    assert talk.records == []


def test_names_reads_a_history_back() -> None:
    assert names(history("u1 F(x) R(x)+C(x) . a1")) == "u1 F(x) R(x)+C(x) . a1"
