"""The JSON that is kept is the JSON that would be written now, whatever was done to the request in between."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from google.genai import types
from hypothesis import given, settings
from hypothesis import strategies as st

from adknb.engine.copies.packed import pack
from adknb.engine.copies.promises import promise
from adknb.engine.model import LLMRequest
from adknb.stepper.dumps import Dumps
from adknb.stepper.edits import request_json


def promised() -> LLMRequest:
    """The same, of contents that nobody has looked at."""
    live = request()
    live.contents = [promise(c.role, [pack(part) for part in c.parts or ()]) for c in live.contents]
    return live


def equal_in_its_place(live: LLMRequest) -> None:
    live.contents[0] = live.contents[0].model_copy(deep=True)


def request() -> LLMRequest:
    call = types.FunctionCall(id="c", name="f", args={"deep": {"n": [1, 2]}})
    answer = types.FunctionResponse(id="c", name="f", response={"found": [1]})
    blob = types.Part(inline_data=types.Blob(data=b"x", mime_type="a/b"))
    return LLMRequest(
        "m",
        [
            types.Content(role="user", parts=[types.Part(text="q"), blob]),
            types.Content(role="model", parts=[types.Part(function_call=call), types.Part(text="t", thought=True)]),
            types.Content(role="user", parts=[types.Part(function_response=answer)]),
        ],
    )


CHANGES: dict[str, Any] = {
    "nothing": lambda r: None,
    "a text": lambda r: setattr(r.contents[0].parts[0], "text", "other"),
    "a role": lambda r: setattr(r.contents[0], "role", "model"),
    "deep in the arguments": lambda r: r.contents[1].parts[0].function_call.args["deep"]["n"].append(3),
    "deep in the response": lambda r: r.contents[2].parts[0].function_response.response["found"].clear(),
    "an id": lambda r: setattr(r.contents[1].parts[0].function_call, "id", "d"),
    "a thought": lambda r: setattr(r.contents[1].parts[1], "thought", False),
    "a signature": lambda r: setattr(r.contents[1].parts[1], "thought_signature", b"s"),
    "bytes": lambda r: setattr(r.contents[0].parts[1].inline_data, "data", b"y"),
    "a part more": lambda r: r.contents[0].parts.append(types.Part(text="more")),
    "a part less": lambda r: r.contents[0].parts.pop(),
    "no parts": lambda r: setattr(r.contents[0], "parts", None),
    "a content more": lambda r: r.contents.insert(0, types.Content(role="user", parts=[types.Part(text="first")])),
    "a content less": lambda r: r.contents.pop(0),
    "the order": lambda r: r.contents.reverse(),
    "another content in its place": lambda r: r.contents.__setitem__(0, types.Content(role="user", parts=[])),
    "an equal content in its place": equal_in_its_place,
    "a file beside a text": lambda r: setattr(r.contents[0].parts[0], "file_data", types.FileData(file_uri="u")),
    "the config": lambda r: setattr(r.config, "temperature", 0.5),
}


@pytest.mark.parametrize("make", [request, promised])
@pytest.mark.parametrize("change", list(CHANGES))
def test_a_change_is_seen(change: str, make: Callable[[], LLMRequest]) -> None:
    live, dumps = make(), Dumps()
    before = dumps.request(live)
    CHANGES[change](live)
    after = dumps.request(live)
    assert after.json == request_json(live)
    assert (after == before) is (change in ("nothing", "an equal content in its place"))


@settings(max_examples=50, deadline=None)
@given(st.sampled_from([request, promised]), st.lists(st.sampled_from(list(CHANGES)), max_size=8))
def test_any_series_of_changes_is_seen(make: Callable[[], LLMRequest], changes: list[str]) -> None:
    live, dumps = make(), Dumps()
    dumps.request(live)
    for change in changes:
        try:
            CHANGES[change](live)
        except (AttributeError, IndexError, TypeError, KeyError):
            continue  # an earlier change took its place away
        dumps.touched(live.contents)
        assert dumps.request(live).json == request_json(live)


@pytest.mark.parametrize("make", [request, promised])
def test_what_a_reader_may_have_touched_is_told(make: Callable[[], LLMRequest]) -> None:
    live, dumps = make(), Dumps()
    dumps.request(live)
    live.contents[1].role = "user"
    assert 1 in dumps.touched(live.contents)
    live.contents[2] = "no content"  # type: ignore[call-overload]
    assert 2 in dumps.touched(live.contents)


texts = st.text(st.characters(), max_size=5)  # surrogates among them
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | texts | st.binary(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
data = st.dictionaries(texts, values, max_size=3)
ids = st.none() | texts
parts = st.one_of(
    st.builds(lambda text: types.Part(text=text), texts),
    st.builds(lambda i, n, d: types.Part(function_call=types.FunctionCall(id=i, name=n, args=d)), ids, ids, data),
    st.builds(
        lambda i, n, d: types.Part(function_response=types.FunctionResponse(id=i, name=n, response=d)), ids, ids, data
    ),
)


@given(st.none() | texts, st.lists(parts, max_size=3))
def test_what_is_written_without_building_it_is_what_would_be(role: str | None, some: list[types.Part]) -> None:
    live = LLMRequest("m", [types.Content(role=role, parts=some)])
    assert repr(Dumps().request(live).json["contents"]) == repr(request_json(live)["contents"])
