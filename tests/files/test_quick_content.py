"""Contents that are made by hand: the same as pydantic makes, or left to it."""

from typing import Any

import pytest
from google.genai import types
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from adknb.files.quick_content import quick_content

CALL = {"id": "c1", "name": "look", "args": {"at": "Lima", "deep": {"a": [1, None, 2.5]}}}


@pytest.mark.parametrize(
    "raw",
    [
        {"role": "user", "parts": [{"text": "hi"}]},
        {"parts": [{"text": ""}, {"text": "天气 🌦"}], "role": "model"},
        {"role": "model", "parts": [{"functionCall": CALL}]},
        {"role": "model", "parts": [{"function_call": {"name": "look", "args": {}}}, {"text": "x"}]},
        {"role": "user", "parts": [{"function_response": {"id": "c1", "name": "look", "response": {"t": 26}}}]},
        {"role": "user", "parts": []},
        {"parts": [{"functionResponse": {}}]},
        {"role": ""},
        {},
    ],
)
def test_plain_contents_are_made_by_hand_as_pydantic_makes_them(raw: dict[str, Any]) -> None:
    made = quick_content(raw)
    assert made is not None
    same(made, types.Content.model_validate(raw))


@pytest.mark.parametrize(
    "raw",
    [
        None,
        [],
        {"role": None, "parts": []},
        {"role": "user", "parts": None},
        {"role": "user", "parts": [None]},
        {"role": "user", "parts": [{}]},
        {"role": "user", "parts": [{"text": None}]},
        {"role": "user", "parts": [{"text": 5}]},
        {"role": "user", "parts": [{"text": "\ud800"}]},
        {"role": "user", "parts": [{"text": "hm", "thought": True}]},
        {"role": "user", "parts": [{"inlineData": {"mimeType": "a/b", "data": ""}}]},
        {"role": "user", "parts": [{"functionCall": {"name": 5}}]},
        {"role": "user", "parts": [{"functionCall": {"name": "a", "args": None}}]},
        {"role": "user", "parts": [{"functionCall": {"name": "a", "willContinue": True}}]},
        {"role": "user", "parts": [{"functionCall": {"args": {"\ud800": 1}}}]},
        {"role": "user", "parts": [], "mood": "good"},
        {"Role": "user", "Parts": []},
    ],
)
def test_whatever_else_there_is_goes_to_pydantic(raw: Any) -> None:
    assert quick_content(raw) is None


def same(made: types.Content, real: types.Content) -> None:
    assert made == real
    assert made.model_dump(exclude_unset=True) == real.model_dump(exclude_unset=True)
    assert made.model_fields_set == real.model_fields_set
    for a, b in zip(made.parts or [], real.parts or [], strict=True):
        assert a.model_fields_set == b.model_fields_set
        for kind in ("function_call", "function_response"):
            one, other = getattr(a, kind), getattr(b, kind)
            assert one is None or one.model_fields_set == other.model_fields_set


JSON = st.none() | st.booleans() | st.integers() | st.text(max_size=4) | st.lists(st.integers(), max_size=2)
PART = st.fixed_dictionaries(
    {},
    optional={
        "text": JSON,
        "thought": JSON,
        "functionCall": st.dictionaries(
            st.sampled_from(["id", "name", "args", "x"]), JSON | st.dictionaries(st.text(max_size=3), JSON)
        ),
        "function_response": st.dictionaries(st.sampled_from(["id", "name", "response"]), JSON | st.just({"a": 1})),
    },
)


@settings(max_examples=300, deadline=None)
@given(st.fixed_dictionaries({}, optional={"role": JSON, "parts": st.lists(PART | st.none(), max_size=3)}))
def test_what_is_made_by_hand_is_what_pydantic_makes(raw: dict[str, Any]) -> None:
    made = quick_content(raw)
    if made is None:
        return
    try:
        real = types.Content.model_validate(raw)
    except ValidationError as error:
        pytest.fail(f"made by hand, but pydantic refuses it: {error}")
    same(made, real)
