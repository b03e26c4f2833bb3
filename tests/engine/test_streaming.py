"""Chunks in, partial responses and one whole response out. The first column is the rule of spec/streaming.md."""

import copy
import itertools

import pytest
from google.genai import types
from hypothesis import given
from hypothesis import strategies as st

from adknb.engine.converters import genai_to_llm_response
from adknb.engine.event_json import response_to_json, to_json
from adknb.engine.streaming import StreamingResponseAggregator, keys_of, write_partial_arg

SIGNATURE, OTHER_SIGNATURE = "c2ln", "b3RoZXI="


def reply(*parts, finish=None, **rest):
    """A raw reply with one candidate that has these parts."""
    candidate = {"content": {"role": "model", "parts": list(parts)}}
    if finish:
        candidate["finishReason"] = finish
    return types.GenerateContentResponse.model_validate({"candidates": [candidate], **copy.deepcopy(rest)})


def raw(data):
    return types.GenerateContentResponse.model_validate(copy.deepcopy(data))


def aggregated(chunks):
    """All partial responses, and the whole one."""
    aggregator = StreamingResponseAggregator()
    return [aggregator.process_response(chunk) for chunk in chunks], aggregator.close()


def parts_after(*chunks):
    """The parts of the whole response, as JSON; a chunk is a list of parts."""
    whole = aggregated([reply(*parts) for parts in chunks])[1]
    return to_json(whole.content.parts)


def text(words):
    return {"text": words}


def thought(words):
    return {"text": words, "thought": True}


def call(name="", /, *, signature=None, **fields):
    """A part with a function call; `to` makes a piece of an argument: `to={"$.city": "Oslo"}`."""
    made = {"name": name} if name else {}
    if "to" in fields:
        kinds = {
            str: "stringValue",
            bool: "boolValue",
            float: "numberValue",
            int: "numberValue",
            type(None): "nullValue",
        }
        made["partialArgs"] = [
            {"jsonPath": path, kinds[type(value)]: "NULL_VALUE" if value is None else value}
            for path, value in fields.pop("to").items()
        ]
    if "more" in fields:
        made["willContinue"] = fields.pop("more")
    part = {"functionCall": {**made, **fields}}
    return part if signature is None else {**part, "thoughtSignature": signature}


def whole(name, signature=None, **fields):
    """A part with a finished call, as it stands in the whole response."""
    part = {"functionCall": {"name": name, **fields}}
    return part if signature is None else {**part, "thoughtSignature": signature}


# --------------------------------------------------------------------------------------- 3: one reply, one response

TEXT_CONTENT = {"role": "model", "parts": [{"text": "Lima"}]}


@pytest.mark.parametrize(
    "rule, data, response",
    [
        (
            "3 with a part",
            {"candidates": [{"content": TEXT_CONTENT, "avgLogprobs": -0.5}], "modelVersion": "g", "responseId": "r"},
            {"content": TEXT_CONTENT, "avgLogprobs": -0.5, "modelVersion": "g"},
        ),
        (
            "3 only the first candidate counts",
            {
                "candidates": [
                    {"content": TEXT_CONTENT},
                    {"content": {"parts": [{"text": "no"}]}, "finishReason": "STOP"},
                ]
            },
            {"content": TEXT_CONTENT},
        ),
        (
            "3 one empty part is a part",
            {"candidates": [{"content": {"role": "model", "parts": [{}]}, "finishReason": "SAFETY"}]},
            {"content": {"role": "model", "parts": [{}]}, "finishReason": "SAFETY"},
        ),
        (
            "3.1 cut at the limit, with text: no error",
            {"candidates": [{"content": TEXT_CONTENT, "finishReason": "MAX_TOKENS"}]},
            {"content": TEXT_CONTENT, "finishReason": "MAX_TOKENS"},
        ),
        ("3.3 STOP without content", {"candidates": [{"finishReason": "STOP"}]}, {"finishReason": "STOP"}),
        (
            "3 STOP with a content of no parts",
            {"candidates": [{"finishReason": "STOP", "content": {"role": "model", "parts": []}}]},
            {"finishReason": "STOP", "content": {"role": "model", "parts": []}},
        ),
        (
            "3 any other candidate",
            {
                "candidates": [
                    {"content": {"parts": []}, "finishReason": "SAFETY", "finishMessage": "no", "avgLogprobs": -1}
                ],
                "usageMetadata": {"totalTokenCount": 3},
            },
            {
                "errorCode": "SAFETY",
                "errorMessage": "no",
                "finishReason": "SAFETY",
                "usageMetadata": {"totalTokenCount": 3},
            },
        ),
        ("3 a candidate that says nothing", {"candidates": [{}]}, {}),
        (
            "3 a blocked prompt",
            {"promptFeedback": {"blockReason": "SAFETY", "blockReasonMessage": "no"}, "modelVersion": "g"},
            {"errorCode": "SAFETY", "errorMessage": "no", "modelVersion": "g"},
        ),
        ("3 feedback without a reason", {"promptFeedback": {}}, {}),
        (
            "3.2 feedback beside a candidate is ignored",
            {"candidates": [{"content": TEXT_CONTENT}], "promptFeedback": {"blockReason": "SAFETY"}},
            {"content": TEXT_CONTENT},
        ),
        (
            "3 neither candidate nor feedback",
            {"usageMetadata": {"totalTokenCount": 3}},
            {"content": {"role": "model", "parts": []}, "usageMetadata": {"totalTokenCount": 3}},
        ),
    ],
)
def test_a_raw_reply_becomes_a_response(rule, data, response):
    assert response_to_json(genai_to_llm_response(raw(data))) == response


# -------------------------------------------------------------------------------------------------- 5: the partials


@pytest.mark.parametrize(
    "rule, data, response",
    [
        (
            "5.1 partial, content as it came",
            {"candidates": [{"content": TEXT_CONTENT}], "modelVersion": "g"},
            {"content": TEXT_CONTENT, "modelVersion": "g", "partial": True},
        ),
        (
            "5.2 the last chunk is partial and complete",
            {"candidates": [{"content": TEXT_CONTENT, "finishReason": "STOP"}]},
            {"content": TEXT_CONTENT, "finishReason": "STOP", "partial": True, "turnComplete": True},
        ),
        ("5.4 no parts, no reason", {"candidates": [{"content": {"role": "model", "parts": []}}]}, {"partial": True}),
        (
            "5.4 usage only",
            {"usageMetadata": {"totalTokenCount": 3}},
            {"content": {"role": "model", "parts": []}, "usageMetadata": {"totalTokenCount": 3}, "partial": True},
        ),
        (
            "5.4 an empty text",
            {"candidates": [{"content": {"role": "model", "parts": [{"text": ""}]}}]},
            {"content": {"role": "model", "parts": [{"text": ""}]}, "partial": True},
        ),
        (
            "5.5 stopped without content",
            {"candidates": [{"finishReason": "SAFETY"}]},
            {"errorCode": "SAFETY", "finishReason": "SAFETY", "partial": True, "turnComplete": True},
        ),
        (
            "5.2 blocked: no candidate, not complete",
            {"promptFeedback": {"blockReason": "OTHER"}},
            {"errorCode": "OTHER", "partial": True},
        ),
    ],
)
def test_every_chunk_yields_one_partial_response(rule, data, response):
    partials, final = aggregated([raw(data)])
    assert [response_to_json(p) for p in partials] == [response]
    assert final is not None
    assert not final.partial
    assert not final.turn_complete


# -------------------------------------------------------------------------------- 6 to 9: the parts of the whole one

UPLOADED = {"fileData": {"fileUri": "gs://a", "mimeType": "image/png"}}
LONE_SIGNATURE = {"thoughtSignature": SIGNATURE}


@pytest.mark.parametrize(
    "rule, chunks, parts",
    [
        ("6.1 empty parts are skipped", [[text("a"), {}, text("")], [{}]], [text("a")]),
        ("6.1 a lone thought flag is kept", [[text("a")], [{"thought": True}]], [text("a"), {"thought": True}]),
        ("6.1 a lone signature is kept", [[LONE_SIGNATURE]], [LONE_SIGNATURE]),
        ("6.2 a flip of the flag", [[thought("hm"), text("a")], [text("b"), thought("c")]],
         [thought("hm"), text("ab"), thought("c")]),
        ("6.2 thought: false is no flip", [[text("a")], [{"text": "b", "thought": False}]], [text("ab")]),
        ("6.3 text loses its signature", [[{**text("a"), **LONE_SIGNATURE}]], [text("a")]),
        ("6.4 no flush at borders", [[text("Bo")], [text("go")], [text("ta")]], [text("Bogota")]),
        ("6.4 a whole call", [[text("a")], [call("f", args={})], [text("b")]],
         [text("a"), whole("f", args={}), text("b")]),
        ("6.4 thoughts around a call", [[thought("a")], [call("f")], [thought("b")]],
         [thought("a"), whole("f"), thought("b")]),
        ("6.5 a file", [[text("a")], [UPLOADED], [text("b")]], [text("a"), UPLOADED, text("b")]),
        ("6.5 code and its result",
         [[text("a"), {"executableCode": {"code": "1", "language": "PYTHON"}}],
          [{"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "1"}}]],
         [text("a"), {"executableCode": {"code": "1", "language": "PYTHON"}},
          {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "1"}}]),
        ("6.5 a function response", [[{"functionResponse": {"name": "f", "response": {}}}]],
         [{"functionResponse": {"name": "f", "response": {}}}]),

        ("7.1 will_continue: false stays", [[call("f", more=False)]], [whole("f", willContinue=False)]),
        ("7.3 a call without a name", [[call()], [call(args={"a": 1})]], []),
        ("7.3 which flushes nothing", [[text("a")], [call()], [text("b")]], [text("ab")]),
        ("7.3 and ends no streamed call", [[call("f", to={"$.a": "x"}, more=True)], [call()], [text("t")]],
         [text("t"), whole("f", args={"a": "x"})]),
        ("7.4 many calls keep their order", [[call("f"), call("g")], [call("f", id="2")]],
         [whole("f"), whole("g"), whole("f", id="2")]),

        ("8 partial_args: [] counts as streamed", [[call("f", partialArgs=[])]], [whole("f", args={})]),
        ("8.1 the last name and id", [[call("f", id="1", more=True)], [call("g", id="2", to={"$.a": True})]],
         [whole("g", id="2", args={"a": True})]),
        ("8.1 its own args are ignored", [[call("f", args={"a": 1}, more=True)], [call(args={"b": 1}, partialArgs=[])]],
         [whole("f", args={})]),
        ("8.2 no path, no value", [[call("f", partialArgs=[{"stringValue": "x"}, {"jsonPath": "$.a"}])]],
         [whole("f", args={})]),
        ("8.3 kinds", [[call("f", to={"$.s": "x", "$.n": 2, "$.b": False, "$.z": None})]],
         [whole("f", args={"s": "x", "n": 2.0, "b": False, "z": None})]),
        ("8.3 an empty text is none", [[call("f", to={"$.a": ""})]], [whole("f", args={})]),
        ("8.3 the first kind that applies",
         [[call("f", partialArgs=[{"jsonPath": "$.a", "stringValue": "", "boolValue": False,
         "nullValue": "NULL_VALUE"}])]],
         [whole("f", args={"a": False})]),
        ("8.3 a piece's own will_continue", [[call("f", partialArgs=[{"jsonPath": "$.a", "stringValue": "x",
         "willContinue": True}])]], [whole("f", args={"a": "x"})]),
        ("8.7 false ends it, text first", [[call("f", more=True)], [text("t")], [call(to={"$.a": "x"}, more=False)],
         [text("u")]], [text("t"), whole("f", args={"a": "x"}), text("u")]),
        ("8.8 without a name nothing ends", [[call(to={"$.a": "x"})], [text("t")], [call("f", to={"$.a": "y"})]],
         [text("t"), whole("f", args={"a": "xy"})]),
        ("8.8 but the text does", [[text("a")], [call(to={"$.a": "x"})], [text("b")]], [text("a"), text("b")]),
        ("8.8 id and signature stay too", [[call(id="7", to={"$.a": "x"}, signature=SIGNATURE)],
         [call("f", partialArgs=[])]], [whole("f", SIGNATURE, id="7", args={"a": "x"})]),
        ("8.8 reset behind a named one", [[call("f", id="7", to={"$.a": "x"}, signature=SIGNATURE)],
         [call("g", to={"$.b": "y"})]], [whole("f", SIGNATURE, id="7", args={"a": "x"}), whole("g", args={"b": "y"})]),
        ("8.9 a whole call inside an open one", [[call("f", to={"$.a": "x"}, more=True)], [call("g")],
         [call(partialArgs=[])]], [whole("g"), whole("f", args={"a": "x"})]),
        ("8.9 two that fuse", [[call("f", id="1", to={"$.city": "Quito"}, more=True)], [call()],
         [call("g", id="2", to={"$.city": "Bern"}, more=True)], [call()]],
         [whole("g", id="2", args={"city": "QuitoBern"})]),

        ("9.1 the last signature", [[{**thought("a"), **LONE_SIGNATURE}],
         [{**thought("b"), "thoughtSignature": OTHER_SIGNATURE}], [call("f")]],
         [thought("ab"), whole("f", OTHER_SIGNATURE)]),
        ("9.2 only the first call takes it", [[{**thought("a"), **LONE_SIGNATURE}], [call("f"), call("g")]],
         [thought("a"), whole("f", SIGNATURE), whole("g")]),
        ("9.2 its own wins, and empties the slot", [[{**thought("a"), **LONE_SIGNATURE}],
         [call("f", signature=OTHER_SIGNATURE), call("g")]],
         [thought("a"), whole("f", OTHER_SIGNATURE), whole("g")]),
        ("9.2 a nameless call does not empty it", [[{**thought("a"), **LONE_SIGNATURE}], [call()], [call("f")]],
         [thought("a"), whole("f", SIGNATURE)]),
        ("9.3 a streamed call never takes it", [[{**thought("a"), **LONE_SIGNATURE}], [call("f", partialArgs=[])]],
         [thought("a"), whole("f", args={})]),
        ("9.3 it keeps the first of its own", [[call("f", more=True, signature=SIGNATURE)],
         [call(partialArgs=[], signature=OTHER_SIGNATURE)]], [whole("f", SIGNATURE, args={})]),
        ("9.3 and leaks it to the next", [[call("f", partialArgs=[], signature=SIGNATURE)], [call("g")]],
         [whole("f", SIGNATURE, args={}), whole("g", SIGNATURE)]),
        ("9.4 a lone signature feeds the slot", [[LONE_SIGNATURE], [call("f")]],
         [LONE_SIGNATURE, whole("f", SIGNATURE)]),

        ("11.3 what is open is flushed: text, then call", [[call("f", more=True)], [text("t")]],
         [text("t"), whole("f", args={})]),
        ("11.3 an open call without a name is lost", [[call(to={"$.a": "x"}, more=True)]], []),
    ],
)  # fmt: skip
def test_the_parts_of_the_whole_response(rule, chunks, parts):
    assert parts_after(*chunks) == parts


@pytest.mark.parametrize(
    "path, keys",
    [
        ("$.city", ["city"]),
        ("city", ["city"]),
        ("$.location.city", ["location", "city"]),
        ("$.list[0]", ["list[0]"]),
        ("$['q']", ["$['q']"]),
        ("$", ["$"]),
        ("$.", []),
        ("", []),
        ("$..x", ["", "x"]),
        ("$.$.x", ["$", "x"]),
        ("a.", ["a", ""]),
    ],
)
def test_8_5_a_path_is_keys_between_dots(path, keys):
    assert keys_of(path) == keys


@pytest.mark.parametrize(
    "rule, pieces, args",
    [
        ("seed 8.2", [("$.location.city", "To"), ("$.location.city", "kyo")], {"location": {"city": "Tokyo"}}),
        ("8.4 a text behind a number", [("$.a", 7), ("$.a", "a"), ("$.a", "b")], {"a": "ab"}),
        ("8.4 a text behind nothing", [("$.a", "a"), ("$.a", None), ("$.a", "y")], {"a": "y"}),
        ("8.4 numbers and flags replace", [("$.a", "a"), ("$.a", 1), ("$.a", 2), ("$.a", True)], {"a": True}),
        ("8.4 a text in a dict's place", [("$.a.b", "x"), ("$.a", "y")], {"a": "y"}),
        ("8.5 $. writes nothing", [("$.", "x")], {}),
        ("8.5 an empty key", [("$..x", "y")], {"": {"x": "y"}}),
        ("8.6 a text in the way", [("$.city", "A"), ("$.city.sub", "B")], {"city": {"sub": "B"}}),
        ("8.6 neighbours stay", [("$.a.b", "x"), ("$.a.c.d", False), ("$.a.b", "y")],
         {"a": {"b": "xy", "c": {"d": False}}}),
        ("8.3 an empty text makes no step either", [("$.a.b", "")], {}),
    ],
)  # fmt: skip
def test_pieces_of_arguments_are_written_at_their_paths(rule, pieces, args):
    written = {}
    for path, value in pieces:
        write_partial_arg(
            written, types.PartialArg.model_validate(call(to={path: value})["functionCall"]["partialArgs"][0])
        )
    assert written == args


def test_16_9_a_streamed_number_is_a_float():
    written = {}
    write_partial_arg(written, types.PartialArg(json_path="$.n", number_value=3))
    assert type(written["n"]) is float


# --------------------------------------------------------------------------------------- 7.2: one call, one object


def test_7_2_an_id_written_into_the_chunk_stands_in_the_whole_response_too():
    aggregator = StreamingResponseAggregator()
    partial = aggregator.process_response(reply({**thought("hm"), **LONE_SIGNATURE}, call("f", args={"a": 1})))
    given_to_the_reader = partial.content.parts[1].function_call
    given_to_the_reader.id = "adk-1"
    final = aggregator.close()
    assert final.content.parts[1].function_call is given_to_the_reader
    assert final.content.parts[1].function_call.id == "adk-1"


def test_5_3_a_signature_moved_onto_a_call_is_seen_in_its_chunk():
    partials, _ = aggregated([reply({**thought("hm"), **LONE_SIGNATURE}), reply(call("f"))])
    assert partials[1].content.parts[0].thought_signature == b"sig"


def test_8_10_a_streamed_call_has_ids_of_its_own():
    aggregator = StreamingResponseAggregator()
    partial = aggregator.process_response(reply(call("f", partialArgs=[])))
    partial.content.parts[0].function_call.id = "adk-1"
    assert aggregator.close().content.parts[0].function_call.id is None


# ----------------------------------------------------------------------------------- 10 and 11: what else it carries

CITED = {"citations": [{"uri": "http://a"}]}
GROUNDED = {"webSearchQueries": ["a"]}


@pytest.mark.parametrize(
    "rule, chunks, carried",
    [
        (
            "10.1 the last of each",
            [
                {"candidates": [{"content": TEXT_CONTENT, "citationMetadata": CITED}],
                 "usageMetadata": {"totalTokenCount": 1}},
                {"candidates": [{"content": TEXT_CONTENT, "groundingMetadata": GROUNDED, "finishReason": "STOP"}],
                 "usageMetadata": {"totalTokenCount": 2}},
                {"candidates": [{"content": TEXT_CONTENT}]},
            ],
            {"finishReason": "STOP", "usageMetadata": {"totalTokenCount": 2}, "citationMetadata": CITED,
             "groundingMetadata": GROUNDED},
        ),
        (
            "10.2 not carried",
            [{"candidates": [{"content": TEXT_CONTENT, "avgLogprobs": -1, "logprobsResult": {"chosenCandidates": []}}],
              "modelVersion": "g"}],
            {},
        ),
        (
            "10.3 the last chunk's error",
            [{"candidates": [{"content": TEXT_CONTENT, "finishReason": "MAX_TOKENS"}]},
             {"promptFeedback": {"blockReason": "SAFETY", "blockReasonMessage": "no"}}],
            {"finishReason": "MAX_TOKENS", "errorCode": "SAFETY", "errorMessage": "no"},
        ),
        (
            "10.3 an earlier error is forgotten, its reason is not",
            [{"candidates": [{"finishReason": "SAFETY"}]}, {"candidates": [{"content": TEXT_CONTENT}]}],
            {"finishReason": "SAFETY"},
        ),
        (
            "10.3 no error behind STOP",
            [{"candidates": [{"content": TEXT_CONTENT, "finishReason": "STOP"}]},
             {"promptFeedback": {"blockReason": "SAFETY"}}],
            {"finishReason": "STOP"},
        ),
        (
            "10.3 nor if STOP comes last",
            [{"promptFeedback": {"blockReason": "SAFETY"}}, {"candidates": [{"finishReason": "STOP"}]}],
            {"finishReason": "STOP"},
        ),
        ("11.3 even a sequence of no parts makes a whole response", [{"usageMetadata": {"totalTokenCount": 3}}],
         {"usageMetadata": {"totalTokenCount": 3}}),
    ],
)  # fmt: skip
def test_what_the_whole_response_carries_beside_its_parts(rule, chunks, carried):
    final = response_to_json(aggregated([raw(chunk) for chunk in chunks])[1])
    assert final.pop("content")["role"] == "model"
    assert final == carried


def test_11_2_without_a_chunk_there_is_no_whole_response():
    assert StreamingResponseAggregator().close() is None


def test_6_6_the_role_is_always_model():
    chunk = raw({"candidates": [{"content": {"role": "user", "parts": [{"text": "a"}]}}]})
    assert aggregated([chunk])[1].content.role == "model"


def test_14_the_worked_example():
    partials, final = aggregated(
        [
            reply(thought("sum")),
            reply(text("It is ")),
            reply(call("w", more=True)),
            reply(call(to={"$.q": "Os"}, more=True)),
            reply(call(to={"$.q": "lo"})),
            reply(text(""), finish="STOP", usageMetadata={"totalTokenCount": 9}),
        ]
    )
    assert [p.partial for p in partials] == [True] * 6
    assert [p.turn_complete for p in partials] == [False] * 5 + [True]
    assert response_to_json(final) == {
        "content": {"role": "model", "parts": [thought("sum"), text("It is "), whole("w", args={"q": "Oslo"})]},
        "finishReason": "STOP",
        "usageMetadata": {"totalTokenCount": 9},
    }


# ---------------------------------------------------------------------------------------------------- properties

PIECES = st.lists(st.text(min_size=1, max_size=3), min_size=1, max_size=4)
"""A text, cut."""
RUNS = st.lists(st.tuples(PIECES, st.booleans()), min_size=1, max_size=4)


@given(RUNS, st.lists(st.integers(0, 3), max_size=16))
def test_however_texts_and_thoughts_are_cut_the_whole_response_is_the_same(runs, sizes):
    runs = [("".join(pieces), flag, pieces) for pieces, flag in runs]
    pieces = [{"text": piece, "thought": flag} for _, flag, pieces in runs for piece in pieces]
    at_once = parts_after([{"text": words, "thought": flag} for words, flag, _ in runs])
    chunks = []
    for size in sizes:  # any number of parts in a chunk, none too
        chunks.append(pieces[:size])
        pieces = pieces[size:]
    assert parts_after(*chunks, pieces) == at_once
    for flag in (False, True):
        said = "".join(p["text"] for p in at_once if p.get("thought", False) is flag)
        assert said == "".join(words for words, is_thought, _ in runs if is_thought is flag)
    assert all(a.get("thought") != b.get("thought") for a, b in itertools.pairwise(at_once))


KEYS = st.text(alphabet="abc", min_size=1, max_size=2)
LEAVES = PIECES | st.booleans() | st.none() | st.floats(allow_nan=False, allow_infinity=False)
ARGS = st.dictionaries(KEYS, LEAVES | st.dictionaries(KEYS, LEAVES, min_size=1, max_size=2), max_size=3)


def joined(args):
    """Arguments as they were before their texts were cut."""
    return {k: joined(v) if isinstance(v, dict) else "".join(v) if isinstance(v, list) else v for k, v in args.items()}


def cut(args, path="$"):
    for key, value in args.items():
        if isinstance(value, dict):
            yield from cut(value, f"{path}.{key}")
        else:
            yield from ({f"{path}.{key}": piece} for piece in (value if isinstance(value, list) else [value]))


@given(ARGS, st.integers(1, 3))
def test_however_arguments_are_cut_the_call_is_the_same(args, at_once):
    pieces = [call(to=piece, more=True) for piece in cut(args)]
    chunks = [pieces[n : n + at_once] for n in range(0, len(pieces), at_once)]
    chunks = [[call("f", id="1", more=True)], *chunks, [call(partialArgs=[])]]
    assert parts_after(*chunks) == [whole("f", id="1", args=joined(args))]


SOME_PART = st.sampled_from(
    [
        {}, text(""), text("a"), thought("b"), {"thought": True}, UPLOADED, LONE_SIGNATURE, call("f"), call(),
        call("f", id="1"), call("g", signature=OTHER_SIGNATURE), call("f", more=True), call(to={"$.a.b": 1}),
        call(to={"$.a": "x"}, more=True), call("g", more=False), {**thought("c"), **LONE_SIGNATURE},
    ]
)  # fmt: skip
SOME_CHUNK = st.lists(SOME_PART, max_size=3)


@given(st.lists(SOME_CHUNK, min_size=1, max_size=8), st.sampled_from([None, "STOP", "MAX_TOKENS"]))
def test_whatever_comes_every_chunk_goes_out_at_once_and_the_whole_one_last(chunks, finish):
    raws = [reply(*parts) for parts in chunks[:-1]] + [reply(*chunks[-1], finish=finish)]
    contents = [c.candidates[0].content for c in raws]
    partials, final = aggregated(raws)
    assert len(partials) == len(chunks)
    for partial, content in zip(partials, contents, strict=True):
        assert partial.partial
        assert partial.content is (content if content.parts or partial.finish_reason == "STOP" else None)
    assert not final.partial
    assert not final.turn_complete
    assert final.finish_reason == (finish or "")
    streamed = [p for p in final.content.parts if p.function_call and p.function_call.partial_args is not None]
    assert streamed == []
    named = [p.function_call for c in contents for p in c.parts if p.function_call and p.function_call.name]
    kept = [p.function_call for p in final.content.parts if p.function_call]
    wholes = [f for f in named if f.partial_args is None and not f.will_continue]
    assert [f for f in kept if any(f is w for w in wholes)] == wholes  # 7.2: the very objects, in order
    said = "".join(p.text for c in contents for p in c.parts if p.text and not p.thought)
    assert "".join(p.text for p in final.content.parts if p.text and not p.thought) == said
