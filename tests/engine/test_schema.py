"""The two checkers: JSON Schema for a function tool's arguments, the strict one for structured output."""

import pytest
from google.genai import types

from adknb.engine.schema import check_json_schema, check_strict, found, same_json

CITY = {"type": "object", "properties": {"city": {"type": "string"}, "n": {"type": "integer"}}, "required": ["city"]}
CLOSED = {**CITY, "additionalProperties": False}
NESTED = {
    "type": "object",
    "properties": {"stops": {"type": "array", "items": CLOSED}, "by": {"enum": ["train", 1, None]}},
}


@pytest.mark.parametrize(
    "schema, value",
    [
        (CITY, {"city": "Oslo"}),
        (CITY, {"city": "Oslo", "n": 3}),
        (CITY, {"city": "Oslo", "n": 3.0}),  # a float without fraction is a whole number
        (CITY, {"city": "Oslo", "extra": [1]}),  # nothing forbids it
        (CLOSED, {"city": ""}),
        (NESTED, {"stops": [{"city": "A"}, {"city": "B", "n": 0}], "by": "train"}),
        (NESTED, {"by": 1.0}),  # 1 and 1.0 are one number
        (NESTED, {"by": None}),
        ({}, {"anything": None}),
        (True, 5),
        ({"type": ["string", "null"]}, None),
        ({"type": "number"}, 1.5),
        ({"type": "null"}, None),
        ({"const": {"a": [1]}}, {"a": [1.0]}),
        ({"anyOf": [{"type": "string"}, {"type": "integer"}]}, 3),
        ({"oneOf": [{"type": "string"}, {"type": "integer"}]}, "x"),
        ({"allOf": [{"minimum": 1}, {"maximum": 3}]}, 2),
        ({"not": {"type": "string"}}, 2),
        ({"minimum": 1, "maximum": 3}, "not a number: bounds of numbers say nothing"),
        ({"minLength": 2, "maxLength": 2}, "城市"),  # characters, not bytes
        ({"pattern": "^a.c"}, "abcd"),
        ({"pattern": "b"}, "abc"),  # anywhere in the text
        ({"minItems": 1, "maxItems": 2, "items": {"type": "boolean"}}, [True]),
        ({"prefixItems": [{"type": "string"}], "items": {"type": "integer"}}, ["a", 1, 2]),
        ({"additionalProperties": {"type": "integer"}}, {"a": 1}),
        ({"$defs": {"T": {"type": "string"}}, "properties": {"a": {"$ref": "#/$defs/T"}}}, {"a": "x"}),
        ({"type": "string", "format": "date", "x-mine": 1, "title": "T"}, "not a date: unknown keywords say nothing"),
    ],
)
def test_a_value_that_fits_its_json_schema_passes(schema, value):
    assert check_json_schema(value, schema) is None


@pytest.mark.parametrize(
    "schema, value, message",
    [
        (CITY, {}, "args: 'city' is missing"),
        (CITY, {"city": 3}, "args.city: expected a string, found number 3"),
        (CITY, {"city": None}, "args.city: expected a string, found null"),
        (CITY, {"city": "A", "n": 1.5}, "args.n: expected a whole number, found number 1.5"),
        (CITY, {"city": "A", "n": True}, "args.n: expected a whole number, found true"),
        (CITY, {"city": "A", "n": "3"}, "args.n: expected a whole number, found string '3'"),
        (CITY, {"city": "A", "n": float("inf")}, "args.n: expected a whole number, found number inf"),
        (CITY, ["city"], "args: expected an object, found an array"),
        (CLOSED, {"city": "A", "town": 1}, "args: 'town' is not allowed; known: city, n"),
        ({"additionalProperties": False}, {"a": 1}, "args: 'a' is not allowed; no keys are"),
        (NESTED, {"stops": [{"city": "A"}, {"city": []}]}, "args.stops[1].city: expected a string, found an array"),
        (NESTED, {"by": "car"}, "args.by: expected 'train' or 1 or None, found string 'car'"),
        (NESTED, {"by": True}, "args.by: expected 'train' or 1 or None, found true"),  # true is not 1
        (False, 1, "args: nothing is allowed here"),
        ({"type": ["string", "null"]}, {}, "args: expected a string or null, found an object"),
        ({"type": "number"}, True, "args: expected a number, found true"),
        ({"const": 1}, 2, "args: expected 1, found number 2"),
        (
            {"anyOf": [{"type": "string"}, {"minimum": 5}]},
            3,
            "args: none of 2 alternatives fits (args: expected a string, found number 3; "
            "args: expected a number of at least 5, found number 3)",
        ),
        ({"oneOf": [{"minimum": 1}, {"maximum": 9}]}, 5, "args: 2 alternatives fit, exactly one must"),
        ({"allOf": [{"minimum": 1}, {"maximum": 3}]}, 4, "args: expected a number of at most 3, found number 4"),
        ({"not": {"type": "string"}}, "x", "args: string 'x' is just what is not allowed here"),
        ({"exclusiveMinimum": 1}, 1, "args: expected a number above 1, found number 1"),
        ({"exclusiveMaximum": 1}, 1, "args: expected a number below 1, found number 1"),
        ({"minLength": 3}, "ab", "args: expected at least 3 characters, found string 'ab'"),
        ({"maxLength": 1}, "ab", "args: expected at most 1 characters, found string 'ab'"),
        ({"minItems": 1}, [], "args: expected at least 1 items, found an array"),
        ({"maxItems": 1}, [1, 2], "args: expected at most 1 items, found an array"),
        ({"minProperties": 1}, {}, "args: expected at least 1 keys, found an object"),
        ({"pattern": "^b"}, "ab", "args: expected a string that matches '^b', found string 'ab'"),
        ({"prefixItems": [{"type": "string"}]}, [1], "args[0]: expected a string, found number 1"),
        (
            {"additionalProperties": {"type": "integer"}},
            {"a": "x"},
            "args.a: expected a whole number, found string 'x'",
        ),
        (
            {"$defs": {"T": {"type": "string"}}, "properties": {"a": {"$ref": "#/$defs/T"}}},
            {"a": 1},
            "args.a: expected a string, found number 1",
        ),
    ],
)
def test_a_value_that_does_not_fit_is_refused_with_its_path(schema, value, message):
    with pytest.raises(ValueError) as refused:
        check_json_schema(value, schema)
    assert str(refused.value) == message


@pytest.mark.parametrize(
    "schema, part",
    [
        ("string", "its schema is string 'string'"),
        ({"type": "STRING"}, "its schema names the type 'STRING'"),
        ({"$ref": "#/$defs/Gone"}, "refers to '#/$defs/Gone'"),
        ({"pattern": "("}, "its schema's pattern '(' cannot be used"),
    ],
)
def test_a_schema_that_cannot_be_used_says_so(schema, part):
    with pytest.raises(ValueError, match="args: ") as refused:
        check_json_schema("x", schema)
    assert part in str(refused.value)


def test_checking_deep_arguments_takes_a_time_that_grows_with_them_only():
    schema, value = {"type": "string"}, "x"
    for _ in range(40):  # looked at once per keyword, this would take 3 ** 40 steps
        schema = {"properties": {"a": schema}, "required": ["a"], "additionalProperties": False}
        value = {"a": value}
    check_json_schema(value, schema)


S = types.Schema.model_validate(
    {
        "type": "OBJECT",
        "properties": {
            "city": {"type": "STRING", "enum": ["Oslo"]},
            "n": {"type": "integer", "maximum": 3, "nullable": True},
            "x": {"type": "NUMBER"},
            "ok": {"type": "BOOLEAN"},
            "tags": {"type": "ARRAY", "items": {"type": "STRING"}},
            "bare": {"type": "ARRAY"},
            "in": {"type": "OBJECT", "properties": {"a": {"type": "STRING"}}, "required": ["a"]},
            "loose": {},
        },
        "required": ["city"],
    }
)


@pytest.mark.parametrize(
    "value",
    [
        {"city": "Oslo"},
        {"city": "Rome"},  # enum is not looked at
        {"city": "", "n": 4},  # nor are bounds
        {"city": "", "n": 2.0, "x": 1, "ok": False},
        {"city": "", "tags": [], "in": {"a": "b"}},
        {"city": "", "tags": ["a", "b"]},
    ],
)
def test_strict_arguments_that_fit_pass(value):
    assert check_strict(value, S) is None


@pytest.mark.parametrize(
    "value, message",
    [
        ({}, "args: 'city' is missing"),
        ({"city": "a", "town": 1}, "args: 'town' is not allowed; known: bare, city, in, loose, n, ok, tags, x"),
        ({"city": None}, "args.city: expected a string, found null"),
        ({"city": "a", "n": None}, "args.n: expected a whole number, found null"),  # nullable is not looked at
        ({"city": "a", "n": 1.5}, "args.n: expected a whole number, found number 1.5"),
        ({"city": "a", "n": "1"}, "args.n: expected a whole number, found string '1'"),
        ({"city": "a", "x": True}, "args.x: expected a number, found true"),
        ({"city": "a", "ok": 1}, "args.ok: expected true or false, found number 1"),
        ({"city": "a", "tags": "b"}, "args.tags: expected an array, found string 'b'"),
        ({"city": "a", "tags": ["b", 1]}, "args.tags[1]: expected a string, found number 1"),
        ({"city": "a", "bare": []}, "args.bare: its schema does not say what the items are"),
        ({"city": "a", "in": {}}, "args.in: 'a' is missing"),
        ({"city": "a", "in": {"a": "b", "c": 1}}, "args.in: 'c' is not allowed; known: a"),
        ({"city": "a", "in": []}, "args.in: expected an object, found an array"),
        (
            {"city": "a", "loose": 1},
            "args.loose: its schema says no type, and only STRING, INTEGER, NUMBER, BOOLEAN, ARRAY or OBJECT "
            "can be checked",
        ),
        ("Oslo", "args: expected an object, found string 'Oslo'"),
    ],
)
def test_strict_arguments_that_do_not_fit_are_refused_with_their_path(value, message):
    with pytest.raises(ValueError) as refused:
        check_strict(value, S)
    assert str(refused.value) == message


def test_a_list_answer_is_checked_item_by_item():
    schema = types.Schema.model_validate({"type": "ARRAY", "items": {"type": "INTEGER"}})
    check_strict([1, 2.0], schema, "answer")
    with pytest.raises(ValueError, match=r"answer\[1\]: expected a whole number"):
        check_strict([1, "x"], schema, "answer")


@pytest.mark.parametrize(
    "a, b, same",
    [(1, 1.0, True), (True, 1, False), ([1], [1.0], True), ({"a": False}, {"a": 0}, False), ("", None, False)],
)
def test_json_equality_knows_true_from_one(a, b, same):
    assert same_json(a, b) is same


def test_a_long_value_is_shortened_in_an_error():
    assert found("x" * 500) == "string '" + "x" * 56 + "…"
