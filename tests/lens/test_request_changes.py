"""What changed between two requests."""

import json
import time

import pytest

from adknb.lens.request_changes import MAX_WORDS, Change, pointer, request_changes, words


def say(text, role="user"):
    return {"role": role, "parts": [{"text": text}]}


A, B, C, D = say("a"), say("b"), say("c"), say("d")
CALL = {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {"n": 1}}}]}


@pytest.mark.parametrize(
    ("before", "after", "changes"),
    [
        ([A, B], [A, B], []),
        ([A], [A, B], [Change("add", "/contents/1", None, B)]),
        ([A, B], [B], [Change("remove", "/contents/0", A)]),
        ([A, B, C], [A, C], [Change("remove", "/contents/1", B)]),
        # moved: it kept its value and changed its place
        ([A, B, C], [B, C, A], [Change("move", "/contents/2", "/contents/0", A)]),
        ([A, B], [B, A, C], [Change("move", "/contents/0", "/contents/1", B), Change("add", "/contents/2", None, C)]),
        # the same call made twice has not moved
        ([CALL, A, CALL, A], [CALL, A, CALL, A, B], [Change("add", "/contents/4", None, B)]),
        ([CALL, CALL], [CALL], [Change("remove", "/contents/1", CALL)]),
        # edited in place: what changed inside it
        (
            [A, say("the fare is 80 yuan"), C],
            [A, say("the fare is 73 yuan"), C],
            [
                Change(
                    "replace",
                    "/contents/1/parts/0/text",
                    "the fare is 80 yuan",
                    "the fare is 73 yuan",
                    (("=", "the fare is"), ("-", " 80"), ("+", " 73"), ("=", " yuan")),
                )
            ],
        ),
        # another role is another content, not an edit
        (
            [A],
            [say("a", "model")],
            [Change("add", "/contents/0", None, say("a", "model")), Change("remove", "/contents/0", A)],
        ),
        ([A, B], [C, D, A], None),
    ],
)
def test_contents_are_aligned_by_value(before, after, changes):
    found = request_changes({"contents": before}, {"contents": after})
    if changes is not None:
        assert found == changes
    assert _applied(before, after, found) == after


@pytest.mark.parametrize(
    ("before", "after", "changes"),
    [
        ({"model": "m"}, {"model": "n"}, [Change("replace", "/model", "m", "n", (("-", "m"), ("+", "n")))]),
        ({}, {"config": {"temperature": 0.2}}, [Change("add", "/config", None, {"temperature": 0.2})]),
        ({"config": {}}, {"config": {"seed": 1}}, [Change("add", "/config/seed", None, 1)]),
        ({"config": {"seed": 1}}, {"config": {"seed": True}}, [Change("replace", "/config/seed", 1, True)]),
        ({"config": {"x": "1"}}, {"config": {"x": 1}}, [Change("replace", "/config/x", "1", 1)]),
        ({"config": {"seed": 1}}, {"config": {}}, [Change("remove", "/config/seed", 1)]),
        ({"tools": ["a"]}, {"tools": ["a", "b"]}, [Change("add", "/tools/1", None, "b")]),
        ({"config": {"a/b": {"~": 1}}}, {"config": {"a/b": {"~": 2}}}, [Change("replace", "/config/a~1b/~0", 1, 2)]),
        (None, {"contents": [A]}, []),
    ],
)
def test_everything_else_is_compared_field_by_field(before, after, changes):
    assert request_changes(before, after) == changes


def test_a_changed_declaration_is_told_apart_from_a_new_one():
    tool = {"name": "f", "description": "finds trains"}
    before = {"config": {"tools": [{"functionDeclarations": [tool]}]}}
    after = {
        "config": {"tools": [{"functionDeclarations": [{**tool, "description": "finds late trains"}, {"name": "g"}]}]}
    }
    assert [(c.op, c.path) for c in request_changes(before, after)] == [
        ("replace", "/config/tools/0/functionDeclarations/0/description"),
        ("add", "/config/tools/0/functionDeclarations/1"),
    ]


@pytest.mark.parametrize(
    ("before", "after", "ops"),
    [
        ("", "new", [("+", "new")]),
        ("old", "", [("-", "old")]),
        ("same", "same", [("=", "same")]),
        ("杭州天气怎么样", "上海天气怎么样", [("-", "杭州"), ("+", "上海"), ("=", "天气怎么样")]),
        ("one  two\nthree", "one  2\nthree", [("=", "one"), ("-", "  two"), ("+", "  2"), ("=", "\nthree")]),
        ("Be brief.", "Be brief.\n\nYou are an agent.", [("=", "Be brief."), ("+", "\n\nYou are an agent.")]),
    ],
)
def test_words_of_two_texts_are_aligned(before, after, ops):
    assert list(words(before, after)) == ops


@pytest.mark.parametrize("n", [5, MAX_WORDS, MAX_WORDS + 1, 3 * MAX_WORDS])
@pytest.mark.parametrize("joint", [" ", "\n"])
def test_both_texts_can_be_read_off_the_words(n, joint):
    before, after = joint.join(f"w{i % 97}" for i in range(n)), joint.join(f"w{i % 89}" for i in range(n))
    ops = words(before, after)
    assert "".join(t for op, t in ops if op != "+") == before
    assert "".join(t for op, t in ops if op != "-") == after


def test_a_pointer_escapes_its_steps():
    assert pointer("contents", 0, "a/b", "c~d") == "/contents/0/a~1b/c~0d"


def test_fifteen_hundred_contents_are_compared_in_some_twenty_milliseconds():
    old = [say(f"question {i} " + "about the weather in the city " * 6) for i in range(1_500)]
    new = [*old[1:700], say("edited"), *old[701:], old[0], say("one more")]
    before, after = {"contents": old}, {"contents": json.loads(json.dumps(new))}
    best = min(_timed(request_changes, before, after) for _ in range(5))
    assert sorted(c.op for c in request_changes(before, after)) == ["add", "move", "replace"]
    assert best < 0.1  # 15 ms on the reference machine; the limit leaves room for a busy one


def _timed(function, *args):
    start = time.perf_counter()
    function(*args)
    return time.perf_counter() - start


def _applied(before, after, changes):
    """The list after, rebuilt from the list before and the changes alone, but for edits inside an item."""
    edited = {int(c.path.split("/")[2]) for c in changes if c.path.count("/") > 2}
    placed = {int(c.path[10:]): c.after for c in changes if c.op in ("add", "move") and c.path.count("/") == 2}
    left = {int(c.before[10:]) for c in changes if c.op == "move"} | {
        int(c.path[10:]) for c in changes if c.op == "remove"
    }
    stayed = iter([x for i, x in enumerate(before) if i not in left])
    out = []
    for n in range(len(after)):
        out.append(placed[n] if n in placed else next(stayed))
        if n in edited:
            out[-1] = after[n]
    assert next(stayed, None) is None
    return out
