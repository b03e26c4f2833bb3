"""Go's ways of writing values, as tables: rules R5.11, R3.10 and R4.2 of spec/request.md."""

import math
from typing import Any

import pytest
from google.genai import types

from adknb.engine.go_text import as_go_reads_json, go_json, go_quote, go_value


@pytest.mark.parametrize(
    "value, text",
    [
        (None, "null"),
        (True, "true"),
        (False, "false"),
        ({}, "{}"),
        ([], "[]"),
        ((1, "a"), '[1,"a"]'),
        ({"b": [1, 2], "a": 1}, '{"a":1,"b":[1,2]}'),
        ({"b": 2.0, "a": "x<é"}, '{"a":"x\\u003cé","b":2}'),
        ({"z": {"y": 1, "x": 2}}, '{"z":{"x":2,"y":1}}'),  # sorted at every level
        ({"é": 1, "z": 2, "Z": 3}, '{"Z":3,"z":2,"é":1}'),  # by code point
        ({2: "b", 1: "a"}, '{"1":"a","2":"b"}'),
        ("<a href='x'>&", "\"\\u003ca href='x'\\u003e\\u0026\""),
        ("\u2028\u2029", '"\\u2028\\u2029"'),
        ('\n\r\t\b\f"\\', '"\\n\\r\\t\\b\\f\\"\\\\"'),
        ("\x00\x01\x1f", '"\\u0000\\u0001\\u001f"'),
        ("\x7f é 杭州 👋🏽", '"\x7f é 杭州 👋🏽"'),  # everything else stays as it is
        ("\ud83d\udc4b", '"👋"'),  # the two halves of a pair
        ("a\ud800b", '"a\ufffdb"'),  # half a pair
        (b"\x00\xff", '"AP8="'),
        (types.FunctionCall(name="t", args={}), '{"args":{},"name":"t"}'),
    ],
)
def test_json_is_written_as_go_writes_it(value: Any, text: str) -> None:
    assert go_json(value) == text


@pytest.mark.parametrize(
    "number, text",
    [
        (0, "0"),
        (-3, "-3"),
        (0.0, "0"),
        (-0.0, "-0"),
        (2.0, "2"),
        (1.5, "1.5"),
        (-0.25, "-0.25"),
        (0.1, "0.1"),
        (1e6, "1000000"),
        (123456789012345680.0, "123456789012345680"),
        (1e20, "100000000000000000000"),
        (1e21, "1e+21"),
        (1.5e300, "1.5e+300"),
        (0.000001, "0.000001"),
        (0.0000012, "0.0000012"),
        (1e-7, "1e-7"),
        (1.25e-10, "1.25e-10"),
        (5e-324, "5e-324"),
        (2**63 - 1, "9223372036854775807"),  # a native integer keeps its digits
        (10**21, "1e+21"),  # no native integer is that large
    ],
)
def test_numbers_in_json_have_no_needless_fraction_or_exponent(number: float, text: str) -> None:
    assert go_json(number) == text


@pytest.mark.parametrize("value", [math.nan, math.inf, [-math.inf]])
def test_what_is_no_number_has_no_json(value: Any) -> None:
    with pytest.raises(ValueError, match="no form"):
        go_json(value)


def test_what_has_no_json_is_refused_by_type() -> None:
    with pytest.raises(TypeError, match="no form for set"):
        go_json({"a": {1}})


@pytest.mark.parametrize(
    "value, text",
    [
        ("Ada", "Ada"),
        ("", ""),
        (None, ""),
        (True, "true"),
        (False, "false"),
        ([1, "y", True, None, 2.5], "[1 y true <nil> 2.5]"),
        ([], "[]"),
        ([[1, 2], ["a b"]], "[[1 2] [a b]]"),
        ((1, (2,)), "[1 [2]]"),
        ({"b": 1, "a": "x", "c": {"z": [1, 2]}}, "map[a:x b:1 c:map[z:[1 2]]]"),
        ({}, "map[]"),
        ({"k": None}, "map[k:<nil>]"),
        (2.0, "2"),
        (1.5, "1.5"),
        (0.0, "0"),
        (-0.0, "-0"),
        (123456.7, "123456.7"),
        (999999.5, "999999.5"),
        (0.0001, "0.0001"),
        (0.00012, "0.00012"),
        (1e6, "1e+06"),
        (1234567.0, "1.234567e+06"),
        (-1234567.0, "-1.234567e+06"),
        (1e-5, "1e-05"),
        (1.5e-7, "1.5e-07"),
        (1e20, "1e+20"),
        (1e100, "1e+100"),
        (math.nan, "NaN"),
        (math.inf, "+Inf"),
        (-math.inf, "-Inf"),
        (1_000_000, "1000000"),  # a native integer
        (-12345678, "-12345678"),
        (b"\x01\x02", "[1 2]"),
    ],
)
def test_state_values_are_printed_as_go_prints_them(value: Any, text: str) -> None:
    assert go_value(value) == text


def test_large_whole_numbers_of_json_print_as_floats() -> None:
    state = as_go_reads_json({"id": 12345678, "neg": -1_000_000, "n": 999_999, "ok": True, "l": [10**21, "x"]})
    assert go_value(state) == "map[id:1.2345678e+07 l:[1e+21 x] n:999999 neg:-1e+06 ok:true]"
    assert go_json(state) == '{"id":12345678,"l":[1e+21,"x"],"n":999999,"neg":-1000000,"ok":true}'
    assert isinstance(state["n"], int)


@pytest.mark.parametrize(
    "text, quoted",
    [
        ("", '""'),
        ("agent_1", '"agent_1"'),
        ('say "hi"', r'"say \"hi\""'),
        ("back\\slash", r'"back\\slash"'),
        ("\a\b\f\n\r\t\v", r'"\a\b\f\n\r\t\v"'),
        ("\x00\x1b\x7f", r'"\x00\x1b\x7f"'),
        ("\x80\u00a0\u00ad\u200b\ufeff", r'"\u0080\u00a0\u00ad\u200b\ufeff"'),
        ("\U000e0001", r'"\U000e0001"'),
        ("助手 é 👋 <b>&", '"助手 é 👋 <b>&"'),  # printable texts stay, and nothing is escaped for HTML
        ("\ud800", '"\ufffd"'),
    ],
)
def test_names_are_quoted_as_go_quotes_them(text: str, quoted: str) -> None:
    assert go_quote(text) == quoted
