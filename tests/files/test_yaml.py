"""YAML from outside: what it stands for, and what is refused. Held against PyYAML's safe loader."""

from typing import Any

import pytest
import yaml
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from adknb.engine.errors import BadData
from adknb.files.yaml_text import parse_yaml


@pytest.mark.parametrize(
    "text, value",
    [
        ("a: 1\nb: [x, 2.5, true, null, ~]", {"a": 1, "b": ["x", 2.5, True, None, None]}),
        ("- a\n- b: c\n", ["a", {"b": "c"}]),
        ("text: |\n  two\n  lines\n", {"text": "two\nlines\n"}),
        ("a: '1'\nb: \"true\"\nc: !!str 5", {"a": "1", "b": "true", "c": "5"}),
        ("a: 2024-05-01\nb: 2024-05-01 10:00:00", {"a": "2024-05-01", "b": "2024-05-01 10:00:00"}),  # JSON has no dates
        ("1: a\nyes: b\n~: c", {"1": "a", "yes": "b", "~": "c"}),  # keys are texts, as they are written
        ("a: &x [1, 2]\nb: *x", {"a": [1, 2], "b": [1, 2]}),
        ("base: &b {x: 1, y: 2}\nc:\n  <<: *b\n  y: 3", {"base": {"x": 1, "y": 2}, "c": {"y": 3, "x": 1}}),
        ("'<<': 1", {"<<": 1}),
        (
            "a: 012\nb: 0x1f\nc: 1_000\nd: 1:30\ne: .5\nf: 1e5",
            {"a": 10, "b": 31, "c": 1000, "d": 90, "e": 0.5, "f": "1e5"},
        ),
        ("a: !!binary aGVs\n  bG8=", {"a": "aGVsbG8="}),
        ("!!float 3", 3.0),
        ("a:\n", {"a": None}),
        ("# nothing but\n---\n", None),
    ],
)
def test_plain_data_is_read(text: str, value: Any) -> None:
    assert parse_yaml(text, "f.yaml") == value


@pytest.mark.parametrize(
    "text, message",
    [
        ("a: [1,\n2", "f.yaml:3:1: not YAML: did not find expected ',' or ']'"),
        ("a: 'x", "f.yaml:1:6: not YAML: found unexpected end of stream"),
        ("\tx: 1", "f.yaml:1:1: not YAML: found character that cannot start any token"),
        ("a: 1\nb:\n  c: 1\n  c: 2", "f.yaml:4:3: the key 'c' is given twice in one mapping"),
        ("a: *x", "f.yaml:1:4: *x stands for nothing that is finished before it"),
        ("a: &x [*x]", "f.yaml:1:8: *x stands for nothing that is finished before it"),
        ("? [a]\n: b", "f.yaml:1:3: expected a plain key, found a list or a mapping"),
        ("a: .nan", "f.yaml:1:4: .nan is not a number that JSON knows"),
        ("a: -.inf", "f.yaml:1:4: -.inf is not a number that JSON knows"),
        (
            "a: !!python/object/apply:os.system [x]",
            "f.yaml:1:4: the tag tag:yaml.org,2002:python/object/apply:os.system is no",
        ),
        ("a: !mine {}", "f.yaml:1:4: the tag !mine is no plain data"),
        ("a: !!int x", "f.yaml:1:4: 'x' is no int"),
        ("a: !!binary '*'", "f.yaml:1:4: not base64"),
        ("--- 1\n--- 2", "f.yaml:2:1: a second document begins here; one is expected"),
        ("", "f.yaml: the file is empty"),
        ("a: \ud800", "f.yaml:1:4: half a surrogate pair, which is no text"),
        ("a: \x01", "f.yaml:1: not YAML: control characters are not allowed"),
        ("- " * 300 + "x", "f.yaml:1:401: nested deeper than 200 levels"),
        ("{a: " * 5000, "f.yaml:1:801: nested deeper than 200 levels"),
        ("[" * 100_000, "f.yaml:1:1001: not YAML: exceeded maximum nesting depth"),
    ],
)
def test_what_is_no_plain_data_is_refused_with_its_place(text: str, message: str) -> None:
    with pytest.raises(BadData) as caught:
        parse_yaml(text, "f.yaml")
    assert str(caught.value).startswith(message)


def test_a_bomb_of_aliases_does_not_go_off() -> None:
    rows = ["a: &a [x, x, x, x, x, x, x, x, x]"]
    rows += [f"{c}: &{c} [{', '.join(['*' + b] * 9)}]" for b, c in zip("abcdefghijk", "bcdefghijkl", strict=True)]
    with pytest.raises(BadData, match="aliases unfold to more than 200000 values"):
        parse_yaml("\n".join(rows), "f.yaml")


SCALARS = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=12)
)
DATA = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=12,
)


@settings(max_examples=150, deadline=None)
@given(DATA)
def test_what_pyyaml_writes_reads_as_it_was(value: Any) -> None:
    text = yaml.safe_dump(value, allow_unicode=True)
    assume(yaml.safe_load(text) == value)  # it does not read all that it writes
    assert parse_yaml(text, "f.yaml") == value


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet="ab:-[]{},&*!#|>'\"\n ?%@~.0 1", max_size=40))
def test_any_text_is_data_or_one_error(text: str) -> None:
    where = "f.yaml"
    try:
        ours = parse_yaml(text, "f.yaml")
    except BadData as error:
        where, ours = error.where, None
    assert where.startswith("f.yaml")
    if ours is None:
        return
    theirs = yaml.load(text, Loader=getattr(yaml, "CBaseLoader", yaml.BaseLoader))  # all scalars are texts there
    assert type(ours) is type(theirs) or not isinstance(theirs, (dict, list))
