"""A promised content is the real thing, whichever way it is touched first."""

import copy
import pickle
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from typing import Any

import pytest
from google.genai import types
from pydantic import BaseModel, TypeAdapter

from adknb.engine.copies.packed import pack_set
from adknb.engine.copies.promises import PromisedContent, promise

PARTS = [
    types.Part(text="t", thought=True),
    types.Part(function_call=types.FunctionCall(id="a", name="n", args={"x": [1, {"y": None}]})),
    types.Part(function_call=types.FunctionCall(name="n", args={"x": 1})),
    types.Part(function_call=types.FunctionCall(id="a", name="n", args={"x": date(2026, 1, 2)})),
    types.Part(function_response=types.FunctionResponse(id="a", name="n", response={"x": [1.5, None, True, "é"]})),
    types.Part(function_response=types.FunctionResponse(id="a", name="n", response={"x": 1}, will_continue=True)),
    types.Part(text="t"),
    types.Part(inline_data=types.Blob(data=b"x", mime_type="a/b")),
]


NOBODY: Any = "model"


class Holder(BaseModel):
    """A record of somebody else's that holds contents."""

    contents: list[types.Content]


def promised() -> types.Content:
    made = promise("model", pack_set(PARTS))
    assert type(made) is PromisedContent
    return made


def built() -> types.Content:
    return types.Content(role="model", parts=copy.deepcopy(PARTS))


def set_role(content: types.Content) -> Any:
    content.role = "user"
    return content.model_dump(), content.model_fields_set


def empty(content: types.Content) -> Any:
    assert content.parts is not None
    content.parts.clear()
    return content


def delete_role(content: types.Content) -> Any:
    del content.role
    return sorted(content.__dict__)


TOUCHES: dict[str, Callable[[types.Content], Any]] = {
    "role": lambda c: c.role,
    "parts": lambda c: c.parts,
    "set": set_role,
    "delete": delete_role,
    "edit": empty,
    "fields set": lambda c: c.model_fields_set,
    "extra and private": lambda c: (c.__pydantic_extra__, c.__pydantic_private__),
    "vars": vars,
    "dict": dict,
    "iter": lambda c: list(iter(c)),
    "repr": repr,
    "str": str,
    "format": lambda c: f"{c}",
    "equal": lambda c: (c == built(), built() == c, c != built(), c == NOBODY),
    "equal to a promise": lambda c: c == promised(),
    "in a list": lambda c: [c] == [built()] and [built()].index(c),
    "model_dump": lambda c: c.model_dump(exclude_none=True),
    "model_dump by alias": lambda c: c.model_dump(mode="json", by_alias=True, exclude_unset=True),
    "model_dump_json": lambda c: c.model_dump_json(exclude_none=True),
    "model_copy": lambda c: c.model_copy(deep=True),
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": lambda c: pickle.loads(pickle.dumps(c)),
    "validate": types.Content.model_validate,
    "hold": lambda c: Holder(contents=[c]).model_dump(exclude_none=True),
    "hold as json": lambda c: Holder(contents=[c]).model_dump_json(exclude_none=True),
    "hold and compare": lambda c: Holder(contents=[c]) == Holder(contents=[built()]),
    "dump a list": lambda c: TypeAdapter(list[types.Content]).dump_python([c], exclude_none=True),
    "dump a union": lambda c: TypeAdapter(list[types.Content | types.Part | str]).dump_json([c], exclude_none=True),
    "class": lambda c: c.__class__,
    "isinstance": lambda c: isinstance(c, types.Content),
    "hash": lambda c: c.__hash__,
}


@pytest.mark.parametrize("touch", TOUCHES.values(), ids=list(TOUCHES))
@pytest.mark.filterwarnings("error")
def test_touched_in_any_way_it_answers_as_a_built_one(touch: Callable[[types.Content], Any]) -> None:
    content, real = promised(), built()
    answer, expected = touch(content), touch(real)
    assert answer == expected
    assert repr(answer) == repr(expected)
    assert type(answer) is type(expected)
    assert content.__class__ is types.Content
    assert type(content) is types.Content
    assert vars(content) == vars(real)


def test_it_is_as_unhashable_as_a_built_one() -> None:
    with pytest.raises(TypeError, match="unhashable"):
        hash(promised())


def test_what_was_frozen_does_not_follow_the_original() -> None:
    part = types.Part(function_call=types.FunctionCall(id="a", name="n", args={"x": [1]}))
    content = promise("model", pack_set([part]))
    assert part.function_call is not None
    assert part.function_call.args is not None
    part.function_call.args["x"].append(2)
    part.function_call.name, part.text = "other", "edited"
    assert content.parts == [types.Part(function_call=types.FunctionCall(id="a", name="n", args={"x": [1]}))]


def test_threads_that_look_at_once_see_the_same_parts() -> None:
    with ThreadPoolExecutor(8) as pool:
        for _ in range(50):
            content = promised()
            seen = list(pool.map(lambda _, c=content: id(c.parts), range(8)))
            assert set(seen) == {id(content.parts)}
